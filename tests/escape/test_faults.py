# SPDX-License-Identifier: Apache-2.0
"""The engine's tests again on kernels with a hole: one system call answers ENOSYS or EPERM wherever creel or its warden makes it.

Each test then has to end as it does otherwise, or with a refusal: exit 125, a line that says why, and nothing has run
(CREEL_FAULT, see conftest.py). cgroups that cannot be written are the same by other means. A run of the suite takes a part of it;
CREEL_FAULTS=all takes the whole of tests/escape for each hole.
"""
import glob
import os
import pathlib
import re
import subprocess
import sys

import pytest
from calls import fails
from conftest import CREEL, FAULT, IS_ROOT, PROGRAMS

HERE = pathlib.Path(__file__).parent
FAULTS = ["openat2", "clone3", "landlock_create_ruleset", "landlock_add_rule", "landlock_restrict_self", "fsopen", "fsconfig", "fsmount",
          "open_tree", "move_mount", "mount_setattr", "memfd_create", "pidfd_open"]
WALLS_OPEN = {"openat2", "clone3", "fsopen", "fsconfig", "fsmount", "move_mount", "landlock_add_rule", "landlock_restrict_self"}
CORE = {"test_files.py": ["e01_secrets", "e02", "e04", "e07", "e12_no", "e15", "e18"],
        "test_walls.py": ["e13", "e33_s16", "e42_s18", "e47_nobody", "e49"],
        "test_ipc.py": ["e55", "e59", "e63_there"],
        "test_processes.py": ["e31_no", "e32_s20"],
        "test_terminal.py": ["tty_without_one"]}
NAMES = " or ".join(n for names in CORE.values() for n in names)
PART = [*[str(HERE / f) for f in CORE], "-k", f"({NAMES}) and not docker and not -rw and not -ro"]
WHOLE = [str(HERE), "--ignore", str(HERE / "test_faults.py")]
ALL = os.environ.get("CREEL_FAULTS") == "all"


def suite(fault):
    """In a process of its own: (how many passed, how many of them were refusals)."""
    env = {**os.environ, "CREEL_FAULT": fault, "CREEL_BIN": str(CREEL), "CREEL_ATTACKS": str(PROGRAMS), "PYTEST_ADDOPTS": ""}
    done = subprocess.run([sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "-p", "no:randomly",
                           *(WHOLE if ALL else PART)],
                          env=env, capture_output=True, text=True, timeout=7200 if ALL else 600, check=False)
    assert done.returncode == 0, done.stdout[-100000 if ALL else -3000:]
    said = re.search(r"^refused (\d+) of (\d+)$", done.stdout, re.MULTILINE)
    return int(said[2]), int(said[1])


@pytest.mark.skipif(FAULT is not None, reason="this is what starts the others")
@pytest.mark.parametrize("name", FAULTS)
@pytest.mark.parametrize("error", [1, 38], ids=["EPERM", "ENOSYS"])
def test_o04_the_engine_suite_on_a_kernel_with_a_hole(name, error):
    passed, refused = suite(fails(name, error))
    assert passed > 25, (passed, refused)
    if name in WALLS_OPEN:
        assert refused == passed, "a wall that stands on this call was built without it"


# ---- cgroups that cannot be written ----

SEALED = ('for c in $SEAL; do mount --bind "$c" "$c" && mount -o remount,bind,ro "$c" || exit 99; done; exec "$@"')
LIMITS = ["--memory", "256m", "--pids", "64", "--cpus", "1"]


def sealed(box, controllers, options):
    """creel run where these hierarchies are read-only."""
    argv = box.creel("touch", "ran", access="rw", options=options)
    return subprocess.run(["unshare", "-m", "sh", "-c", SEALED, "sh", *argv], cwd=box.ws, capture_output=True, text=True, check=False,
                          env={**box.env, "SEAL": " ".join(controllers)}, timeout=30)


def hierarchies():
    """Mount points of all of them: v1 has one for each controller, v2 one for all."""
    text = pathlib.Path("/proc/self/mountinfo").read_text()
    return [line.split()[4] for line in text.splitlines() if line.split(" - ")[1].split()[0] in ("cgroup", "cgroup2")]


def groups():
    return {g for depth in ("*", "*/*", "*/*/*") for g in glob.glob(f"/sys/fs/cgroup/{depth}/creel-*")}


@pytest.mark.serial
@pytest.mark.skipif(not IS_ROOT, reason="only root can make a limit here")
@pytest.mark.parametrize("which", ["all", "memory", "pids", "cpu"])
def test_o04_limits_without_a_writable_cgroup_are_a_refusal(light, which):
    """Also when only one of three cannot be had: the other two are taken back, and nothing has run."""
    if light.user != "root":
        light.run("touch", "ran", access="rw", options=LIMITS, status=125)
        assert not (light.ws / "ran").exists()
        return
    chosen = [h for h in hierarchies() if which == "all" or h.rstrip("/").endswith(f"/{which}")] or hierarchies()
    working = sealed(light, [], LIMITS)
    assert working.returncode == 0 and (light.ws / "ran").exists(), working
    (light.ws / "ran").unlink()
    known = groups()
    done = sealed(light, chosen, LIMITS)
    assert done.returncode == 125 and "no cgroup for the limit" in done.stderr and "fix: " in done.stderr, done
    assert which == "all" or re.search(rf"limit on {which}:", done.stderr) or len(hierarchies()) == 1, done
    assert not (light.ws / "ran").exists() and not groups() - known


@pytest.mark.skipif(not IS_ROOT, reason="only root can seal a hierarchy")
def test_o04_without_limits_a_sealed_cgroup_tree_changes_nothing(light):
    if light.user == "root":
        done = sealed(light, hierarchies(), [])
        assert done.returncode == 0 and (light.ws / "ran").exists(), done
