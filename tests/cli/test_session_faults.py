# SPDX-License-Identifier: Apache-2.0
"""Sessions where something around them is not as usual: the umask, a keeper that is stopped or of another version, what others have left."""
import os
import signal
import stat
import subprocess

import pytest

from conftest import wait_until
from test_kills import below, lives


def modes(top):
    """What lies below the state directory, by name; what the kernel makes for an overlay is its own."""
    found = {}
    for at, dirs, files in os.walk(top):
        dirs[:] = [d for d in dirs if not d.startswith(("upper", "work"))]
        for name in dirs + files:
            path = os.path.join(at, name)
            if not stat.S_ISSOCK(os.lstat(path).st_mode):
                found[os.path.relpath(path, top)] = stat.S_IMODE(os.lstat(path).st_mode)
    return found


@pytest.mark.parametrize("mask", [0o777, 0o277, 0o077, 0])
def test_the_umask_of_the_caller_changes_nothing_in_the_state_directory(sessions, mask):
    command = "echo $$ > f; umask; cat f >/dev/null && echo read"
    assert sessions.sh(command, umask=mask) == "0022\nread\n"
    sessions.call("exec", "command=seq 3000000", umask=mask)  # more than is told: there is a spill
    sessions.call("exec", '{"command": "sleep 4323", "background": true}', umask=mask)
    assert sessions("run", "--", "sh", "-c", "umask", umask=mask, status=0).out == f"{mask:04o}\n"
    assert sessions.sh(command) == "0022\nread\n", "the next one has a umask like everybody"
    passed = {"", "layers", "live", "own", "sessions", "spare"}
    for name, mode in modes(sessions.state).items():
        isdir = (sessions.state / name).is_dir()
        assert mode == (0o711 if name in passed else 0o700 if isdir else 0o600), name
    assert stat.S_IMODE(sessions.state.stat().st_mode) == 0o711
    sessions("kill", "--all", status=0)
    assert sessions.sh(command, umask=mask) == "0022\nread\n", "made anew, with the layers that are there"


@pytest.mark.parametrize("who", ["the keeper", "the warden outside", "pid 1", "all of them"])
def test_a_sandbox_that_is_stopped_is_ended_as_any_other(sessions, who):
    sessions.call("exec", '{"command": "sleep 4324", "background": true}')
    keeper = sessions.listed()["agent:main:test"]["supervisor"]
    everybody = below(keeper)
    wardens = everybody[:3]
    for pid in wardens if who == "all of them" else [wardens[["the keeper", "the warden outside", "pid 1"].index(who)]]:
        os.kill(pid, signal.SIGSTOP)
    assert sessions.listed().keys() == {"agent:main:test"}
    assert sessions("kill", "--all", status=0).out == "agent:main:test: ended\n"
    assert wait_until(lambda: not any(map(lives, everybody)))
    [left] = (sessions.state / "sessions").iterdir()
    assert os.listdir(left) == ["keeper.lock"], "it went by itself: one that is killed leaves its logs"
    assert sessions.listed() == {}
    assert sessions.sh("echo again") == "again\n"


@pytest.mark.parametrize("removed", ["sessions", "sessions/*", "sessions/*/socket", "registry"])
def test_a_keeper_that_nobody_can_reach_any_more_is_in_nobodys_way(sessions, removed):
    sessions.sh("echo kept > file")
    keeper = sessions.listed()["agent:main:test"]["supervisor"]
    for path in sessions.state.glob(removed):
        subprocess.run(["rm", "-rf", str(path)], check=True)
    assert sessions.sh("cat file") == "kept\n"
    assert sessions.listed().keys() == {"agent:main:test"}
    if removed != "registry":  # what lives is found again without it
        assert wait_until(lambda: not lives(keeper))
    sessions("kill", "--all", status=0)
    assert wait_until(lambda: not lives(keeper))
