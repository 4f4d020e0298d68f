# SPDX-License-Identifier: Apache-2.0
"""Sessions on cgroup v2: the sandbox that stays has its limits, they end what is too much with the right word, and no group outlives it.

Runs in the guest alone (run.py), as root; the ordinary user has a group of its own, as systemd gives one for Delegate=yes.
"""
import json
import os
import pathlib
import re
import signal
import subprocess
import sys

import pytest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "cli"))
from conftest import DELEGATED, sessions, wait_until  # noqa: E402, F401
from delegate import delegate  # noqa: E402

ROOT = pathlib.Path("/sys/fs/cgroup")
LIMITS = ["--memory", "64m", "--pids", "32", "--cpus", "0.5"]
HOG = "import sys\nb = [bytearray(1 << 20) for _ in range(int(sys.argv[1]))]\nprint(len(b))"
FORKS = "import os, sys, time\nfor i in range(100):\n    try:\n        pid = os.fork()\n    except OSError:\n        sys.exit(3)\n    if pid == 0:\n        time.sleep(60)"
SPIN = "import time\nend, used = time.time() + 3, time.process_time()\nwhile time.time() < end: pass\nprint(time.process_time() - used)"
# root has the whole tree: there is nothing to see with it
ORDINARY_ALONE = pytest.mark.parametrize("sessions", ["user"], indirect=True)


def groups():
    """Those that creel has made, wherever."""
    # os.walk does not mind one that goes while it looks
    return sorted(p for d, _, _ in os.walk(ROOT) if (p := pathlib.Path(d)).name.startswith("creel-"))


def limited(sessions, *words, status=0, options=LIMITS, session="agent:main:limits"):
    got = sessions("call", "--session", session, "--sandbox", "light", *options, "exec", "--", *words, status=status)
    return got.json


def rules(result):
    return {(d["rule"], d["verdict"]) for d in result["denials"] if d["layer"] == "cgroup"}


@pytest.fixture(autouse=True)
def nothing_stays():
    assert not groups(), "left by another test"
    yield
    assert wait_until(lambda: not groups(), 10), groups()


def test_a_session_has_one_group_with_its_limits(sessions):
    limited(sessions, "true")
    mine = groups()
    assert len(mine) == 1, mine
    box = mine[0]
    assert (box / "memory.max").read_text() == f"{64 << 20}\n" and (box / "cpu.max").read_text().startswith("50000 ")
    assert int((box / "pids.max").read_text()) in (32, 33)
    assert DELEGATED is None or sessions.uid == 0 or box.is_relative_to(DELEGATED), box
    limited(sessions, "true")
    assert groups() == mine, "the same sandbox"
    told = sessions.listed()["agent:main:limits"]
    assert told["memory_of"] == "cgroup" and 0 < told["memory_bytes"] < 64 << 20, told
    sessions("kill", "--all", status=0)
    assert wait_until(lambda: not groups()), groups()


def test_too_much_memory_ends_the_call_and_the_session_goes_on(sessions):
    limited(sessions, "sh", "-c", "echo kept > /tmp/kept")
    got = limited(sessions, "python3", "-c", HOG, "200", status=None)
    assert got["reason"] == "signaled" and rules(got) == {("limits.memory", "killed")}, got
    assert limited(sessions, "python3", "-c", HOG, "5")["stdout"] == "5\n"
    assert limited(sessions, "cat", "/tmp/kept")["stdout"] == "kept\n", "the same sandbox"


def test_too_many_processes_are_refused_and_the_session_goes_on(sessions):
    got = limited(sessions, "python3", "-c", FORKS, status=3)
    assert rules(got) == {("limits.pids", "refused")}, got
    assert limited(sessions, "echo", "on")["stdout"] == "on\n"


def test_a_spinner_has_half_a_processor(sessions):
    used = float(limited(sessions, "python3", "-c", SPIN)["stdout"])
    assert used < 2.4, f"{used} s of 3"
    assert limited(sessions, "python3", "-c", SPIN, options=[], session="agent:main:free")["ok"], "the control"


@pytest.mark.parametrize("victim", ["creel-keeper", "creel-warden"])
def test_killed_it_leaves_no_group(sessions, victim):
    limited(sessions, "sh", "-c", "sleep 1000 & true")
    assert groups()
    for p in filter(str.isdigit, os.listdir("/proc")):
        try:
            if pathlib.Path(f"/proc/{p}/comm").read_text().strip() == victim:
                os.kill(int(p), signal.SIGKILL)
        except (FileNotFoundError, ProcessLookupError):
            pass
    assert wait_until(lambda: not groups()), groups()
    assert limited(sessions, "echo", "again")["stdout"] == "again\n"


@ORDINARY_ALONE
def test_a_user_without_a_group_is_told_what_helps(sessions):
    alone = sessions.argv("call", "--sandbox", "light", *LIMITS, "exec", "true")
    done = subprocess.run(alone[4:], capture_output=True, text=True, cwd=sessions.cwd, env=sessions.env, check=False, timeout=200)
    text = done.stdout + done.stderr
    assert done.returncode == 125 and re.search("memory.*pids.*cpu", text) and "systemd-run --user --scope" in text, text


@ORDINARY_ALONE
def test_limits_of_a_session_that_was_begun_in_a_scope_stay_when_the_caller_has_gone(sessions):
    """As with systemd-run --user --scope -p Delegate=yes: nobody is in it but the caller, and then nobody but who keeps the sandbox."""
    scope = delegate(ROOT / "scope", sessions.uid)
    os.rmdir(scope / "session")
    enter = 'echo $$ >"$0/cgroup.procs" && exec "$@"'

    argv = sessions.argv("call", "--session", "agent:main:scope", "--sandbox", "light", *LIMITS, "exec", "--", "echo", "first")[4:]
    first = subprocess.run(["sh", "-c", enter, str(scope), *argv], capture_output=True, text=True, cwd=sessions.cwd, env=sessions.env, check=False,
                           stdin=subprocess.DEVNULL, timeout=200)
    assert first.returncode == 0 and json.loads(first.stdout)["stdout"] == "first\n", first
    assert len([p for p in scope.iterdir() if p.is_dir()]) == 2, "the sandbox, and who keeps it"
    second = limited(sessions, "python3", "-c", HOG, "200", status=None, session="agent:main:scope")
    assert rules(second) == {("limits.memory", "killed")}, second
    sessions("kill", "--all", status=0)
    assert wait_until(lambda: not [p for p in scope.iterdir() if p.is_dir()]), list(scope.iterdir())
    assert not (scope / "cgroup.procs").read_text(), "nobody stays in it"
    os.rmdir(scope)


@pytest.fixture
def scope(sessions):
    """As with systemd-run --user --scope -p Delegate=yes: its parent decides which limits there are."""
    parent = ROOT / "scopes"
    given = delegate(parent / "scope", sessions.uid)
    os.rmdir(given / "session")
    yield given
    os.rmdir(given)
    os.rmdir(parent)


def job_in(sessions, scope, *words):
    """Nobody is in it but the caller, and the warden that it has begun by then."""
    argv = sessions.argv("call", "--session", "agent:main:job", "--sandbox", "light", "-e", "backend.scope=job", *LIMITS, "exec", "--", *words)[4:]
    return subprocess.run(["sh", "-c", 'echo $$ >"$0/cgroup.procs" && exec "$@"', str(scope), *argv], capture_output=True, text=True, cwd=sessions.cwd, env=sessions.env,
                          check=False, stdin=subprocess.DEVNULL, timeout=200)


@ORDINARY_ALONE
def test_a_job_that_is_alone_in_its_scope_has_limits_and_leaves_it_as_it_was(sessions, scope):
    for words, want in ((["true"], set()), (["python3", "-c", HOG, "200"], {("limits.memory", "killed")})):
        done = job_in(sessions, scope, *words)
        assert done.returncode != 125 and rules(json.loads(done.stdout)) == want, done
        assert wait_until(lambda: not [p for p in scope.iterdir() if p.is_dir()]), list(scope.iterdir())


@ORDINARY_ALONE
def test_a_job_whose_scope_lacks_a_limit_is_refused_and_leaves_it_as_it_was(sessions, scope):
    (scope.parent / "cgroup.subtree_control").write_text("-cpu")
    done = job_in(sessions, scope, "true")
    assert done.returncode == 125 and "cpu" in done.stdout, done
    assert wait_until(lambda: not [p for p in scope.iterdir() if p.is_dir()]), "who was to inherit its groups has gone back with it"
