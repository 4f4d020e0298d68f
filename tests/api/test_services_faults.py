# SPDX-License-Identifier: Apache-2.0
"""All services together when something fails: one of them is killed amid calls, the disk is full, more callers come than there are places."""
import concurrent.futures
import contextlib
import glob
import json
import mmap
import os
import pathlib
import re
import resource
import signal
import socket
import struct
import subprocess
import time

import pytest

from guard_lab import BUILD, wait_for
from runner_lab import as_users
from services_lab import Ordinary, alive, audit, call_body, children, parent_of, running, still_there, stream

CALLS, SESSIONS = 200, 10
CONNECTIONS = 10000


# ---- services that are killed ----


def shell(mark, seconds):
    return ["sh", "-c", f"echo up; sleep {seconds}; echo done # {mark}"]


def one_of_many(s, i):
    """'done', or how it failed; an answer that is neither is a defect."""
    try:
        got = s.ask("POST", "/v1/calls", call_body(shell(f"many-{s.port}-{i}", 1), f"agent:g-coder:s{i % SESSIONS}", request_id=f"many-{i}"))
    except (OSError, EOFError):
        return "closed"
    if got.status == 200 and got.json["ok"]:
        assert got.json["stdout"] == "up\ndone\n" and got.json["request_id"] == f"many-{i}", got
        return "done"
    assert got.status in (502, 503) or got.json.get("reason") in ("lost", "cancelled"), got
    return "failed"


def victim_of(s, name):
    """A worker is one that runs a call now: the log has who that is."""
    if name != "a worker":
        return s.service(name)
    ended = {r["decided"] for r in audit(s) if r["kind"] == "finished"}
    return next(r["pid"] for r in audit(s) if r["kind"] == "decided" and r["seq"] not in ended)


def groups(pids):
    """Names of the cgroups that were made for sandboxes of these."""
    found = set()
    for pid in pids:
        with contextlib.suppress(OSError):
            found |= set(re.findall(r"/(creel-[^/\n]+)", pathlib.Path(f"/proc/{pid}/cgroup").read_text()))
    return found


def check_log(s, ends):
    log = audit(s)
    finished = {r["decided"]: r for r in log if r["kind"] == "finished"}
    decided = [r for r in log if r["kind"] == "decided"]
    assert sorted(finished) == sorted(r["seq"] for r in decided), "each that was begun has its end"
    how = {r["request"]: finished[r["seq"]] for r in decided}
    for i, end in enumerate(ends):
        if end == "done":
            assert (how[f"many-{i}"]["reason"], how[f"many-{i}"]["exit"]) == ("exited", 0)
        elif f"many-{i}" in how:
            assert how[f"many-{i}"]["reason"] in ("lost", "cancelled", "exited", "error", "killed"), how[f"many-{i}"]
    s.creel("audit", "verify")


def check_nothing_is_left(s, everybody, made):
    wait_for("no service is left", lambda: not still_there(s))
    s.creel("kill", "--all", "-q")
    wait_for("no process is left", lambda: not [p for p in everybody if os.path.exists(f"/proc/{p}")])
    assert str(s.dir) not in pathlib.Path("/proc/self/mountinfo").read_text()
    wait_for("no group is left", lambda: not [g for name in made for g in glob.glob(f"/sys/fs/cgroup/**/{name}", recursive=True)])
    assert not [p for p in (s.state / "run").iterdir() if p.is_socket()]
    assert not [p for p in (s.state / "live").iterdir()] if (s.state / "live").exists() else True
    assert not list((s.dir / "t").iterdir()), "temporary files"


@pytest.mark.serial
@pytest.mark.parametrize("user", as_users())
@pytest.mark.parametrize("victim", ["creel-guard", "creel-runner", "a worker", "creel-egress"])
def test_a_service_killed_amid_two_hundred_calls_is_back_and_nothing_is_left(user, victim):
    s = Ordinary(user, **({"limits": {"pids": 500}} if user == "root" else {}))
    (s.dir / "t").mkdir()
    s.give(s.dir / "t")
    s.env["TMPDIR"] = str(s.dir / "t")
    with running(s), concurrent.futures.ThreadPoolExecutor(CALLS) as pool:
        asked = [pool.submit(one_of_many, s, i) for i in range(CALLS)]
        wait_for("some have ended and many run", lambda: sum(a.done() for a in asked) >= 10 and len(alive(f"many-{s.port}-")) >= 10)
        pid = victim_of(s, victim)
        os.kill(pid, signal.SIGKILL)
        ends = [a.result() for a in asked]
        assert ends.count("done") >= 10
        if victim == "creel-egress":
            assert ends == ["done"] * CALLS, "no call needed it"
        if victim == "a worker":
            assert ends.count("done") == CALLS - 1, "it has one call at a time"
        if victim != "a worker":
            wait_for("another in its place", lambda: s.service(victim) not in (pid, None))
        wait_for("a call works", lambda: one_of_many(s, CALLS) == "done")
        wait_for("nothing of the calls is left", lambda: not alive(f"many-{s.port}-"))
        wait_for("the log has them all", lambda: len([r for r in audit(s) if r["kind"] == "decided"]) == len([r for r in audit(s) if r["kind"] == "finished"]))
        check_log(s, ends)
        keepers = [x["supervisor"] for x in json.loads(s.creel("list", "--json"))["sandboxes"]]
        everybody = {*keepers, *(p for k in keepers for p in children(k)), *children(s.p.pid)}
        made = groups(everybody)
        assert len(still_there(s)) >= 4 and keepers and (made or s.uid)
        assert s.stop() == 0
        check_nothing_is_left(s, everybody, made)


# ---- a disk that is full ----


def fill(path):
    with open(path, "wb", buffering=0) as f:
        for size in (65536, 4096, 1):
            with contextlib.suppress(OSError):
                while f.write(b"x" * size):
                    pass


@pytest.mark.skipif(os.getuid() != 0, reason="mounts a small file system")
@pytest.mark.parametrize("user", as_users())
def test_on_a_full_state_directory_calls_are_refused_and_none_goes_unlogged(user):
    s = Ordinary(user, mode={"when": "off"})
    small = s.dir / "small"
    small.mkdir()
    subprocess.run(["mount", "-t", "tmpfs", "-o", f"size=2m,mode=0711,uid={s.uid},gid={s.uid}", "small", str(small)], check=True)
    try:
        subprocess.run(["cp", "-a", f"{s.state}/.", f"{small}/state"], check=True)
        s.state = small / "state"
        proof = s.home / "ran"
        with running(s):
            def call(i):
                return s.call("exec", {"command": ["sh", "-c", f"echo {i} >> {proof}"]})

            assert call(-1).json["ok"]
            fill(small / "ballast")
            ends = [call(i) for i in range(40)]
            refused = [e for e in ends if not e.json["ok"]]
            assert refused and {(e.status, e.json["error"]) for e in refused} == {(503, "audit_unavailable")}, refused
            assert s.run("file_read", {"path": "x"}).status == 502, "the runner does not run it"
            assert s.ask("GET", "/health").status == 200 and s.ask("GET", "/v1/tools").status == 200
            (small / "ballast").unlink()
            assert call(99).json["ok"], "with room again, without a restart"
            ran = proof.read_text().split()
            logged = [r for r in audit(s) if r["kind"] == "decided" and r["verdict"] == "ALLOW"]
            assert len(ran) == 42 - len(refused) and len(logged) == len(ran)
            s.creel("audit", "verify")
            assert s.stop() == 0
    finally:
        subprocess.run(["umount", "-l", str(small)], check=True)


# ---- more callers than places ----


@pytest.mark.serial
@pytest.mark.parametrize("user", as_users()[-1:])
def test_ten_thousand_connections_are_bounded_and_calls_go_on(user):
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    if hard < CONNECTIONS + 1000:
        pytest.skip("needs as many open files")
    resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))
    held = []
    try:
        with running(Ordinary(user)) as s:
            guard = s.service("creel-guard")

            def resident():
                return int(next(x for x in open(f"/proc/{guard}/status", encoding="utf-8") if x.startswith("VmRSS")).split()[1])

            before = resident()
            for i in range(CONNECTIONS + 500):
                one = socket.socket()
                one.settimeout(60)
                one.bind((f"127.0.0.{1 + i % 100}", 0))  # ports of one address are not enough
                one.connect(("127.0.0.1", s.port))
                held.append(one)
            for _ in range(5):
                assert s.call("exec", {"command": ["echo", "on"]}).json["stdout"] == "on\n"
            text = s.ask("GET", "/metrics").body.decode()
            n = int(re.search(r"^creel_guard_connections (\d+)$", text, re.M).group(1))
            assert CONNECTIONS // 2 < n <= CONNECTIONS, "all that there are places for, and not more"
            assert len(os.listdir(f"/proc/{guard}/fd")) < CONNECTIONS + 200
            assert resident() - before < 200 << 10
            for one in held:
                one.close()
            assert s.service("creel-guard") == guard
            wait_for("they have gone", lambda: b"\ncreel_guard_connections 1\n" in s.ask("GET", "/metrics").body)
            assert s.stop() == 0
    finally:
        for one in held:
            one.close()
        resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))


# ---- memory ----

MEMORY_CALLS, WARM = 20000, 2000


@pytest.mark.skipif(b"__asan_init" in (BUILD / "src/server/guard/creel-guard").read_bytes(), reason="an instrumented program needs more")
@pytest.mark.parametrize("user", as_users()[-1:])
def test_memory_of_guard_and_runner_is_flat_over_twenty_thousand_calls(user):
    with running(Ordinary(user)) as s, contextlib.closing(s.wire()) as wire:
        def call():
            wire.ask("POST", "/v1/calls", [("Authorization", f"Bearer {s.token}")], call_body(["true"]))
            assert wire.answer().json["ok"]

        def memory():
            """Of the guard, the runner and its workers: KiB and descriptors, by process."""
            runner = s.service("creel-runner")
            pids = [s.service("creel-guard"), runner, *(p for p in children(runner) if parent_of(p) == runner)]
            return {p: (int(next(x for x in open(f"/proc/{p}/status", encoding="utf-8") if x.startswith("VmRSS")).split()[1]), len(os.listdir(f"/proc/{p}/fd")))
                    for p in pids}

        for _ in range(WARM):
            call()
        before = memory()
        for _ in range(MEMORY_CALLS - WARM):
            call()
        after = memory()
        assert len(after) <= len(before) + 1 and s.service("creel-guard") in before
        for pid, (kib, fds) in after.items():
            assert kib <= before.get(pid, (kib, fds))[0] + 1024 and fds <= before.get(pid, (kib, fds))[1] + 1, (before, after)
        assert len([r for r in audit(s) if r["kind"] == "finished"]) == MEMORY_CALLS
        assert s.stop() == 0


# ---- a clock that jumps ----


@pytest.mark.skipif(b"__asan_init" in (BUILD / "src/server/guard/creel-guard").read_bytes(), reason="a sanitizer has to be the first that is preloaded")
@pytest.mark.parametrize("user", as_users())
def test_a_clock_that_jumps_makes_no_approval_longer(user):
    s = Ordinary(user, mode={"when": "off"}, tools={"exec": {"mode": "always"}}, approvals={"timeout_s": 3})
    clock = s.dir / "clock"
    clock.write_bytes(struct.pack("q", 0))
    clock.chmod(0o644)
    shared = mmap.mmap(os.open(clock, os.O_RDWR), 8)
    s.env |= {"LD_PRELOAD": str(BUILD / "tests/tools/clockjump.so"), "CREEL_TEST_CLOCK": str(clock)}

    def jump(seconds):
        shared[:8] = struct.pack("q", seconds)

    def asked(word, for_s=None, before=lambda: None):
        """How it ended, and whether somebody was asked."""
        waited = False
        with stream(s, "POST", "/v1/calls", call_body(["echo", word])) as events:
            for kind, data, _ in events:
                if kind == "waiting":
                    waited = True
                    before()
                    if for_s:
                        assert s.ask("POST", f"/v1/approvals/{data['approval']['id']}", {"answer": "allow", "for_s": for_s}).status == 200
                if kind == "result":
                    return data.get("stdout"), waited
        raise AssertionError("no result")

    with running(s):
        assert asked("hour", 3600) == ("hour\n", True) and asked("hour") == ("hour\n", False)
        old = s.service("creel-runner")
        os.kill(old, signal.SIGKILL)
        # Until then a worker of the old one, which ends with it, may still answer.
        wait_for("the runner is back", lambda: s.service("creel-runner") not in (None, old) and s.ask("GET", "/v1/tools").status == 200)
        assert asked("hour") == ("hour\n", False), "it outlives the services"
        jump(-7200)
        assert asked("hour") == ("hour\n", False), "an hour is not over"
        assert asked("short", 3) == ("short\n", True)
        jump(-86400)
        time.sleep(3.2)
        assert asked("short") == (None, True), "three seconds are over, whatever the clock says"
        jump(0)
        assert asked("hour") == ("hour\n", False)
        jump(3700)
        assert asked("hour") == (None, True), "nor does it go on after the time that was said"
        jump(0)
        assert asked("late", 60, before=lambda: jump(86400)) == ("late\n", True), "who waits is not cut off"
        assert s.stop() == 0


@pytest.mark.skipif(b"__asan_init" in (BUILD / "src/server/guard/creel-guard").read_bytes(), reason="a sanitizer has to be the first that is preloaded")
@pytest.mark.parametrize("user", as_users())
def test_a_clock_that_jumps_ends_tokens_and_nothing_else(user):
    s = Ordinary(user, serve={"rate": 600, "burst": 100})
    clock = s.dir / "clock"
    with open(clock, "wb") as f:
        f.write(struct.pack("q", 0))
    clock.chmod(0o644)
    shared = mmap.mmap(os.open(clock, os.O_RDWR), 8)

    def jump(seconds):
        shared[:8] = struct.pack("q", seconds)

    hour = s.new_token("--pairs", "*", "--name", "hour", "--expires", "1h")
    s.env |= {"LD_PRELOAD": str(BUILD / "tests/tools/clockjump.so"), "CREEL_TEST_CLOCK": str(clock)}
    with running(s), concurrent.futures.ThreadPoolExecutor(3) as pool:
        def runs(mark, token=None):
            return s.ask("POST", "/v1/calls", call_body(["sh", "-c", f"echo {mark} >> /tmp/marks; cat /tmp/marks"], request_id=mark), token)

        assert runs("now", hour).json["ok"]
        for seconds, good in ((7200, False), (-7200, True), (86400 * 400, False), (0, True)):
            held = pool.submit(s.ask, "POST", "/v1/calls", call_body(shell(f"jump-{s.port}", 1), request_id=f"held{seconds}"))
            wait_for("a call runs", lambda: alive(f"jump-{s.port}"))
            jump(seconds)
            assert runs(f"at{seconds}", hour).status == (200 if good else 401), "an hour is over when the clock says so"
            assert runs(f"at{seconds}").json["ok"], "a token without an end goes on"
            got = held.result()
            assert got.status == 200 and got.json["ok"] and got.json["stdout"] == "up\ndone\n", "deadlines do not jump"
        assert runs("end").json["stdout"].split()[0] == "now", "it is the same sandbox"
        seen = [r["time"] for r in audit(s) if r["kind"] == "decided"]
        assert seen != sorted(seen), "the log has jumped, too"
        numbers = [r["seq"] for r in audit(s)]
        assert numbers == list(range(1, len(numbers) + 1))
        s.creel("audit", "verify")
        assert s.stop() == 0
