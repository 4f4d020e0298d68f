# SPDX-License-Identifier: Apache-2.0
"""All services together when something fails: one of them is killed amid calls, the disk is full, more callers come than there are places."""
import concurrent.futures
import contextlib
import glob
import json
import os
import pathlib
import re
import resource
import signal
import socket
import subprocess

import pytest

from guard_lab import CODER, wait_for
from runner_lab import as_users
from services_lab import Ordinary, alive, audit, call_body, children, parent_of, running, still_there

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
