# SPDX-License-Identifier: Apache-2.0
"""kill -9 of any one process while calls run: what was finished is told, what was running is told as lost, the next call works, and nothing is left."""
import contextlib
import glob
import json
import os
import re
import signal
import subprocess
import time

import pytest

from conftest import wait_until


def stat(pid):
    """(name, state, parent) of a process; None when there is none."""
    try:
        with open(f"/proc/{pid}/stat", encoding="utf-8", errors="replace") as f:
            text = f.read()
    except OSError:
        return None
    name, rest = text[text.index("(") + 1:text.rindex(")")], text[text.rindex(")") + 2:].split()
    return name, rest[0], int(rest[1])


def below(pid):
    """The process and all below it, those above first."""
    parents = {int(p): stat(p) for p in os.listdir("/proc") if p.isdigit()}
    found = [pid]
    for parent in found:
        found += [p for p, s in parents.items() if s and s[2] == parent]
    return found


def lives(pid):
    found = stat(pid)
    return found is not None and found[1] not in "ZX"


def groups(pid):
    """Names of the cgroups that were made for the sandbox of this process."""
    with open(f"/proc/{pid}/cgroup", encoding="utf-8") as f:
        return set(re.findall(r"/(creel-[^/\n]+)", f.read()))


def groups_left(names):
    return [g for name in names for g in glob.glob(f"/sys/fs/cgroup/**/{name}", recursive=True)]


def supervisor(sessions):
    return sessions.listed()["agent:main:test"]["supervisor"]


def start(sessions, tool, *args):
    return sessions.spawn("call", "--session", "agent:main:test", "--sandbox", "light", tool, *args)


def marked(mark):
    """The process of the sandbox whose command line is exactly this."""
    for pid in filter(str.isdigit, os.listdir("/proc")):
        try:
            with open(f"/proc/{pid}/cmdline", "rb") as f:
                if f.read() == mark:
                    return int(pid)
        except OSError:
            pass
    return 0


VICTIMS = {
    "the caller": lambda sessions, calls, inside: calls[-1].pid,
    "the keeper": lambda sessions, calls, inside: supervisor(sessions),
    "the warden outside": lambda sessions, calls, inside: below(supervisor(sessions))[1],
    "the warden inside": lambda sessions, calls, inside: below(supervisor(sessions))[2],
    "the payload": lambda sessions, calls, inside: inside,
}
ALL_LOST = {"the keeper", "the warden outside", "the warden inside"}


@pytest.mark.parametrize("who", VICTIMS)
def test_whoever_is_killed_no_finished_result_is_lost_and_nothing_is_left(sessions, who):
    seconds = f"98{os.getpid()}"
    if sessions.uid == 0:  # who may have cgroups
        (sessions.home / ".openclaw").mkdir()
        (sessions.home / ".openclaw/creel.json5").write_text("{ limits: { pids: 200 } }")
    sessions.sh("true")
    # Three that have ended, of which nobody has read anything yet, and two that go on.
    done = [start(sessions, "exec", f"command=echo {i}; touch ended-{i}") for i in range(3)]
    assert wait_until(lambda: sessions.sh("ls").split() == [f"ended-{i}" for i in range(3)], 20)
    running = [start(sessions, "exec", "--", "sleep", seconds + str(i)) for i in range(2)]
    inside = [0, 0]
    for i in range(2):
        mark = f"sleep\0{seconds}{i}\0".encode()
        assert wait_until(lambda: marked(mark), 20)
        inside[i] = marked(mark)
    everybody, made = below(supervisor(sessions)), groups(inside[0])
    assert made or sessions.uid
    assert set(inside) <= set(everybody)
    os.kill(VICTIMS[who](sessions, running, inside[1]), signal.SIGKILL)
    for i, call in enumerate(done):
        assert json.loads(call.communicate(timeout=20)[0])["stdout"] == f"{i}\n"
    out, _ = running[1].communicate(timeout=20)
    if who == "the caller":
        assert running[1].returncode == -signal.SIGKILL and not out
    else:
        result = json.loads(out)
        assert result["ok"] is False and (result["reason"] == "lost") is (who in ALL_LOST), result
    assert wait_until(lambda: not lives(inside[1]))
    if who in ALL_LOST:
        assert json.loads(running[0].communicate(timeout=20)[0])["reason"] == "lost"
        assert wait_until(lambda: not any(map(lives, everybody)))
    else:
        assert lives(inside[0]) and running[0].poll() is None  # nobody else was disturbed
        assert supervisor(sessions) == everybody[0]
    assert sessions.sh("echo again; ls") == "again\n" + "".join(f"ended-{i}\n" for i in range(3))
    rest = below(supervisor(sessions))
    sessions("kill", "--all", "-y", status=0)
    running[0].communicate(timeout=20)
    assert wait_until(lambda: not any(map(lives, rest)))
    assert wait_until(lambda: not groups_left(made))
    assert sessions.listed("--all") == {}


def clerk_of(warden):
    """The clerk, who stands beside the payloads; 0 when there is none at the moment."""
    with open(f"/proc/{warden}/task/{warden}/children", encoding="utf-8") as f:
        return next((int(p) for p in f.read().split() if (stat(p) or [""])[0] == "creel-clerk"), 0)


def test_a_clerk_that_is_killed_fails_its_call_alone_and_the_next_call_has_another(sessions):
    sessions.sh("mkdir many; cd many; for d in $(seq 20); do mkdir $d; for f in $(seq 50); do echo $f > $d/$f; done; done")
    keeper, _, warden = below(supervisor(sessions))
    other = start(sessions, "exec", "command=echo before; sleep 0.5; echo after")
    clerk = 0
    while not clerk:
        search = start(sessions, "search", "pattern=nothing holds this")
        while not clerk and search.poll() is None:
            clerk = clerk_of(warden)
    os.kill(clerk, signal.SIGKILL)
    result = json.loads(search.communicate(timeout=20)[0])
    # One that had not heard of it yet took nothing with it: the call has another.
    assert result["found"] == 0 if result["ok"] else "clerk" in result["message"], result
    assert json.loads(other.communicate(timeout=20)[0])["stdout"] == "before\nafter\n"
    assert sessions.call("search", "pattern=^7$", "path=many/5")["found"] == 1
    assert supervisor(sessions) == keeper and wait_until(lambda: not clerk_of(warden))


MANY = {
    "a caller": lambda calls, session, keeper: next(c.pid for (s, _), c in calls.items() if s == session and c.poll() is None),
    "a keeper": lambda calls, session, keeper: keeper,
    "a warden inside": lambda calls, session, keeper: below(keeper)[2],
}


@pytest.mark.parametrize("who", MANY)
def test_200_calls_over_20_sessions_each_tell_their_own_output_whoever_is_killed_in_the_middle(anybody, who):
    calls = {}
    for i in range(10):
        for s in range(20):
            calls[s, i] = anybody.spawn("call", "--session", f"agent:main:s{s}", "--sandbox", "light", "exec",
                                        f"command=echo {s}.{i}; touch ended-{i}; sleep {i % 3}")
    assert wait_until(lambda: sum(c.poll() is not None for c in calls.values()) >= 40, 120)
    victim = None
    while victim is None:  # one whose sandbox has something to do
        busy = [b for b in anybody.listed().values() if b["running"]]
        assert busy, "all of them have ended before anybody was killed"
        session = int(busy[0]["session"].rpartition("s")[2])
        try:
            victim = MANY[who](calls, session, busy[0]["supervisor"])
        except (StopIteration, IndexError):
            continue
    os.kill(victim, signal.SIGKILL)
    failed = []
    for (s, i), call in calls.items():
        out, err = call.communicate(timeout=120)
        result = json.loads(out) if out else {"ok": False, "reason": "killed" if call.returncode == -signal.SIGKILL else err}
        if result["ok"]:
            assert result["stdout"] == f"{s}.{i}\n"
        else:
            failed.append((s, i, result["reason"], result.get("error")))
    assert all(s == session for s, *_ in failed), failed
    if who == "a caller":  # who may just have told its result
        assert len(failed) <= 1 and all(f[2] == "killed" for f in failed), failed
    else:  # what ran, and what was about to be asked for
        assert all(f[2] == "lost" or f[3] == "sandbox_unavailable" for f in failed), failed
    ended = {(s, i) for s, i in calls} - {(s, i) for s, i, *_ in failed}
    for s in range(20):  # what was told as done was done, and the session goes on
        names = anybody.sh("ls", session=f"agent:main:s{s}").split()
        assert {f"ended-{i}" for t, i in ended if t == s} <= set(names)
    assert len(anybody.listed()) == 20
    anybody("audit", "verify", status=0)
    everybody = [p for b in anybody.listed().values() for p in below(b["supervisor"])]
    anybody("kill", "--all", "-y", status=0)
    assert wait_until(lambda: not any(map(lives, everybody)), 20)
    assert anybody.listed("--all") == {}


def test_a_keeper_that_is_stopped_is_told_and_nothing_is_lost(sessions):
    sessions.sh("echo kept > /tmp/a")
    supervisor = json.loads(sessions("inspect", "--session", "agent:main:test", "--json", status=0).out)["supervisor"]
    os.kill(supervisor, signal.SIGSTOP)
    try:
        got = sessions.call("exec", "command=true", status=125)
        assert f"process {supervisor}, which keeps the sandbox" in got["message"] and "creel recreate 'agent:main:test'" in got["message"], got
    finally:
        os.kill(supervisor, signal.SIGCONT)
    assert list(sessions.listed()) == ["agent:main:test"]
    assert sessions.sh("cat /tmp/a") == "kept\n"


# ---- a disk that is full ----

def fill(path):
    with open(path, "wb", buffering=0) as f:
        for size in (4096, 1):
            with contextlib.suppress(OSError):
                while True:
                    f.write(b"x" * size)


@pytest.mark.skipif(os.getuid() != 0, reason="mounts a small file system")
@pytest.mark.parametrize("how", [["kill", "--all"], ["kill", "--session", "agent:main:test"], ["recreate", "-y", "--all"]], ids=lambda how: how[0] + how[1])
def test_a_full_disk_keeps_nobody_from_ending_a_sandbox(sessions, how):
    """Whoever is inside may be the one who has filled it."""
    sessions.state.mkdir()
    subprocess.run(["mount", "-t", "tmpfs", "-o", f"size=4m,mode=0711,uid={sessions.uid},gid={sessions.uid}", "small", str(sessions.state)], check=True)
    try:
        # Without --disk: with it the warden itself ends what lives on a full disk, a moment later.
        sessions("call", "--session", "agent:main:test", "--sandbox", "light", "--disk", "0", "exec", "command=sleep 1000", "background=true", status=0)
        supervisor = json.loads(sessions("inspect", "--session", "agent:main:test", "--json", status=0).out)["supervisor"]
        fill(sessions.state / "ballast")
        # The first may still fit into what was there already; in the end nothing can be written.
        for i in range(40):
            if sessions("call", "--session", f"agent:main:{i}", "--sandbox", "light", "exec", "--", "true").status:
                break
        assert lives(supervisor)
        assert "agent:main:test: ended" in sessions(*how, status=0).out
        wait_until(lambda: not lives(supervisor))
        sessions("list", "--all", status=0)
        (sessions.state / "ballast").unlink()
        assert sessions.sh("echo again") == "again\n"
        sessions("kill", "--all", status=0)
        assert sessions.listed() == {}
    finally:
        (sessions.state / "ballast").unlink(missing_ok=True)
        sessions("kill", "--all", "-q")
        subprocess.run(["umount", "-l", str(sessions.state)], check=True)


@pytest.mark.skipif(os.getuid() != 0, reason="mounts a small file system")
@pytest.mark.parametrize("between", [[], ["list"], ["prune"]], ids=lambda b: "".join(b) or "nothing")
def test_who_was_ended_for_the_disk_is_told_about(sessions, between):
    """The disk was filled by somebody else, while nobody called: the list, the next call and the log say why the processes are gone."""
    sessions.state.mkdir()
    subprocess.run(["mount", "-t", "tmpfs", "-o", f"size=40m,mode=0711,uid={sessions.uid},gid={sessions.uid}", "small", str(sessions.state)], check=True)
    ballast = sessions.state / "ballast"
    call = ["call", "--json", "--session", "agent:main:test", "--sandbox", "light"]
    try:
        sessions(*call, "exec", "command=echo mine > kept; sleep 1000", "background=true", status=0)
        box = json.loads(sessions("inspect", "--session", "agent:main:test", "--json", status=0).out)
        ballast.write_bytes(b"x" * (39 << 20))
        assert wait_until(lambda: not lives(box["supervisor"]))
        ballast.unlink()
        if between == ["list"]:
            assert "lost: the disk is nearly full" in sessions("list", status=0).out
            row = json.loads(sessions("list", "--json", status=0).out)["sandboxes"][0]
            assert row["state"] == "lost" and row["why"] == "the disk is nearly full"
        elif between:
            assert "agent:main:test" in sessions(*between, status=0).out
            assert json.loads(sessions("list", "--all", "--json", status=0).out)["sandboxes"] == []
        first, second = (json.loads(sessions(*call, "exec", "--", "cat", "kept", status=0).out) for _ in range(2))
        assert first["stdout"] == second["stdout"] == "mine\n"
        said = [w for w in first["warnings"] if "the disk is nearly full" in w]
        assert len(said) == (between != ["prune"]) and not [w for w in second["warnings"] if "nearly full" in w]
        log = sessions("audit", "show", "--json", status=0).out
        assert log.count('"the disk is nearly full"') == 1, log
    finally:
        ballast.unlink(missing_ok=True)
        sessions("kill", "--all", "-q")
        subprocess.run(["umount", "-l", str(sessions.state)], check=True)


@pytest.mark.parametrize("how", [(), ("yieldMs=60000",)], ids=["waited for", "in the background"])
def test_who_waits_for_a_program_hears_that_its_sandbox_was_ended(sessions, how):
    """And not that a process was not found: that would be 127, as of a program that is not there."""
    running = start(sessions, "exec", "command=echo told; sleep 9867", *how)
    assert wait_until(lambda: marked(b"sleep\x009867\x00"), 20)
    sessions("kill", "--session", "agent:main:test", "-y", status=0)
    result = json.loads(running.communicate(timeout=20)[0])
    assert running.returncode == result["exit"] == 125, result
    assert (result["ok"], result["reason"], result["error"], result["stdout"]) == (False, "lost", "lost", "told\n"), result


def test_who_asks_about_a_background_process_hears_that_its_sandbox_was_ended(sessions):
    started = sessions.call("exec", "command=sleep 9866", "background=true")
    asking = start(sessions, "process", "action=poll", f"sessionId={started['sessionId']}", "timeout=60000")
    assert wait_until(lambda: marked(b"sleep\x009866\x00"), 20)
    time.sleep(0.5)
    sessions("kill", "--session", "agent:main:test", "-y", status=0)
    result = json.loads(asking.communicate(timeout=20)[0])
    assert result["error"] == "unavailable" and "the sandbox was ended" in result["message"], result
