# SPDX-License-Identifier: Apache-2.0
"""Inside a container: doctor says what run then does, and the one command that it names makes it work. A dockerd of the test's own,
below a directory of its own, with a root that holds creel and a handful of programs; nothing is fetched, and nothing stays."""
import json
import pathlib
import shutil
import subprocess
import tarfile

import pytest
from conftest import CREEL, needs_root, skip, wait_until

pytestmark = pytest.mark.serial  # its daemon mounts where everybody sees it
SUGGESTED = ["--user", "1000:1000", "--security-opt", "systempaths=unconfined", "--security-opt", "seccomp=unconfined",
             "--tmpfs", "/state:mode=1777"]
OPTIONS = {
    "root": [],
    "user": SUGGESTED[:2],
    "user-unfiltered": SUGGESTED[:2] + SUGGESTED[4:6],
    "user-no-state": SUGGESTED[:6],
    "suggested": SUGGESTED,
}


def fill_root(root):
    """creel, its warden, sh and true, and what they are linked with."""
    for d in ("usr/bin", "etc", "tmp", "w", "proc", "dev", "src/cli", "src/sandbox"):
        (root / d).mkdir(parents=True)
    for name, to in (("bin", "usr/bin"), ("lib", "usr/lib"), ("lib64", "usr/lib64")):
        (root / name).symlink_to(to)
    shutil.copy(CREEL, root / "src/cli/creel")
    shutil.copy(CREEL.parents[1] / "sandbox/creel-warden", root / "src/sandbox/creel-warden")
    programs = [CREEL, "/bin/sh", "/bin/true"]
    for p in programs[1:]:
        shutil.copy(p, root / "usr/bin")
    said = subprocess.run(["ldd", *programs], capture_output=True, text=True, check=False).stdout  # creel may be static
    for lib in {w for line in said.splitlines() for w in line.split() if w.startswith("/") and not w.endswith(":")}:
        at = root / ("usr" + lib if not lib.startswith("/usr/") else lib[1:])
        at.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(lib, at)
    for d in ("tmp", "w"):
        (root / d).chmod(0o1777)


@pytest.fixture(scope="module")
def docker(tmp_path_factory):
    needs_root()
    if not shutil.which("dockerd") or not shutil.which("docker"):
        skip("no dockerd")
    base = pathlib.Path(tmp_path_factory.mktemp("dk"))
    log = (base / "log").open("w")
    daemon = subprocess.Popen(["dockerd", "--data-root", base / "data", "--exec-root", base / "exec", "-H", f"unix://{base}/s", "--pidfile",
                               base / "pid", "--bridge", "none", "--iptables=false", "--ip6tables=false"], stdout=log, stderr=log)
    client = ["docker", "-H", f"unix://{base}/s"]
    try:
        assert wait_until(lambda: subprocess.run([*client, "version"], capture_output=True, check=False).returncode == 0, 40), \
            (base / "log").read_text()[-2000:]
        fill_root(base / "root")
        with tarfile.open(base / "root.tar", "w") as t:
            t.add(base / "root", arcname=".")
        subprocess.run([*client, "import", base / "root.tar", "creel-test"], check=True, capture_output=True)
        yield client
    finally:
        daemon.terminate()
        daemon.wait(30)
        log.close()
        mounts = [line.split()[4] for line in pathlib.Path("/proc/self/mountinfo").read_text().splitlines()]
        for at in sorted((m for m in mounts if m.startswith(f"{base}/")), reverse=True):
            subprocess.run(["umount", "-l", at], check=False)
        shutil.rmtree(base, ignore_errors=True)


def inside(docker, options, *command):
    return subprocess.run([*docker, "run", "--rm", "--network", "none", "-e", "HOME=/tmp", "-w", "/w", *options, "creel-test", "/src/cli/creel",
                           *command], capture_output=True, text=True, timeout=60, check=False)


@pytest.mark.parametrize("name", OPTIONS)
def test_o04_doctor_in_a_container_says_what_run_does(docker, name):
    state = ["--state-dir", "/state/creel" if name == "suggested" else "/tmp/creel"]
    does = inside(docker, OPTIONS[name], "run", *state, "--", "true")
    said = inside(docker, OPTIONS[name], "doctor", "--json", *state)
    found = json.loads(said.stdout)
    assert does.returncode in (0, 125) and said.returncode == does.returncode and found["ok"] == (does.returncode == 0), (does, said)
    about = {f["name"]: f for f in found["findings"]}
    assert all(f.get("cause") and f.get("fix") for f in about.values() if f["state"] != "ok"), about
    if does.returncode:
        assert about["sandbox"]["cause"] in does.stderr and "fix: " in does.stderr, (about, does)
        assert all(word in about["container"]["fix"] for word in SUGGESTED), about["container"]
    else:
        assert about["container"]["state"] == "ok"
    assert (does.returncode == 0) == (name == "suggested"), (does, said)
