# SPDX-License-Identifier: Apache-2.0
"""Calls that a person has to allow: they wait, run after "allow", exactly once and exactly as they were shown. As root and as an ordinary user."""
import json
import os
import signal

import pytest
from conftest import wait_until

KEY = "agent:main:main"
ASK = ["--set", "tools.exec.mode=ask"]


class Waiters:
    """Calls that wait, and the answers. What is left at the end is killed."""

    def __init__(self, sessions):
        self.s, self.all = sessions, []

    def call(self, *argv, session=KEY, timeout=30, more=(), tool="exec"):
        p = self.s.spawn(*ASK, "--set", f"approvals.timeout_s={timeout}", "call", "--session", session, *more, tool, *argv)
        self.all.append(p)
        return p

    def list(self, *args):
        return self.s("approvals", "list", "--json", *args, status=0).json["approvals"]

    def waiting(self, n=1):
        """The n that wait, oldest first."""
        assert wait_until(lambda: len([a for a in self.list() if a["state"] == "waiting"]) == n, 20), self.list("--all")
        return [a for a in self.list() if a["state"] == "waiting"]

    def allow(self, which, *args, status=0):
        return self.s("approvals", "allow", which["id"], *args, status=status)

    def deny(self, which, *args, status=0):
        return self.s("approvals", "deny", which["id"], *args, status=status)

    def done(self, p):
        out, err = p.communicate(timeout=40)
        return json.loads(out), p.returncode, err

    def events(self):
        """What the log has about approvals: (what, id)."""
        lines = (self.s.state / "audit/audit.jsonl").read_text().splitlines()
        return [r for r in map(json.loads, lines) if r["kind"] == "approval"]

    def whats(self):
        return [r["what"] for r in self.events()]

    def end(self):
        for p in self.all:
            if p.poll() is None:
                p.kill()
            p.communicate(timeout=20)
        verdict = self.s("audit", "verify", "--json").json
        assert verdict["whole"], verdict


@pytest.fixture
def people(sessions):
    made = Waiters(sessions)
    yield made
    made.end()


@pytest.mark.item("S1-57")
def test_a_call_that_has_to_be_asked_about_waits_and_runs_once_it_is_allowed(people):
    p = people.call("--", "touch", "ran")
    [a] = people.waiting()
    assert (a["kind"], a["session"], a["tool"], a["command"], a["workdir"]) == ("host", KEY, "exec", "touch ran", str(people.s.cwd))
    assert not (people.s.cwd / "ran").exists()
    assert people.allow(a).out == f"{a['id']}: allowed once\n"
    got, status, err = people.done(p)
    assert status == 0 and got["ok"] and (people.s.cwd / "ran").exists()
    assert got["approval"]["id"] == a["id"] and got["approval"]["state"] == "used" and f"uid {people.s.uid}" in got["approval"]["by"]
    assert "waits for a person" in err and f"creel --state-dir {people.s.state} approvals allow {a['id']}" in err
    assert people.whats() == ["asked", "allowed", "used"] and people.list() == []
    assert {r["approval"] for r in people.events()} == {a["id"]} and {r["request"] for r in people.events()} == {got["request_id"]}
    again = people.allow(a, status=125)  # over
    assert "allowed already" in again.err and people.whats() == ["asked", "allowed", "used"]


def test_a_denied_call_does_not_run_and_its_caller_is_told_why(people):
    p = people.call("--", "touch", "ran")
    [a] = people.waiting()
    people.deny(a, "--reason", "not today")
    got, status, _ = people.done(p)
    assert status == 126 and got["error"] == "approval_denied" and "not today" in got["message"] and not (people.s.cwd / "ran").exists()
    assert people.whats() == ["asked", "denied"] and people.events()[1]["reason"] == "not today"


def test_no_answer_is_a_refusal(people):
    got, status, _ = people.done(people.call("--", "touch", "ran", timeout=1))
    assert status == 126 and got["error"] == "approval_timeout" and not (people.s.cwd / "ran").exists()
    assert people.whats() == ["asked", "expired"] and people.list() == []
    got, status, err = people.done(people.call("--", "touch", "ran", timeout=0))
    assert status == 126 and got["error"] == "approval_required" and "waits" not in err and people.whats() == ["asked", "expired"]


def test_one_answer_lets_one_of_two_same_calls_run(people):
    both = [people.call("--", "sh", "-c", "echo x >> ran") for _ in range(2)]
    first, second = people.waiting(2)
    assert first["call"] == second["call"] and first["id"] != second["id"]
    people.allow(first)
    assert wait_until(lambda: any(p.poll() is not None for p in both))
    [other] = people.waiting(1)
    assert other["id"] == second["id"] and (people.s.cwd / "ran").read_text() == "x\n"
    people.deny(second)
    ends = sorted(people.done(p)[1] for p in both)
    assert ends == [0, 126] and (people.s.cwd / "ran").read_text() == "x\n" and people.whats().count("used") == 1


def test_allowed_for_a_time_is_the_same_call_and_no_other(people):
    p = people.call("--", "echo", "hi")
    [a] = people.waiting()
    people.allow(a, "--for", "10m")
    assert people.done(p)[0]["approval"]["state"] == "granted"
    got, status, err = people.done(people.call("--", "echo", "hi"))  # again
    assert status == 0 and got["stdout"] == "hi\n" and "waits" not in err and got["approval"]["id"] == a["id"]
    for other in (dict(argv=["--", "echo", "ho"]), dict(argv=["--", "echo", "hi"], session="agent:main:other"),
                  dict(argv=["--", "echo", "hi"], more=["--env", "A=b"]), dict(argv=['{"argv": ["echo", "hi"], "env": {"A": "b"}}'])):
        got, status, _ = people.done(people.call(*other.pop("argv"), timeout=1, **other))
        assert got.get("error") in ("approval_timeout", "invalid_arguments"), got
    people.deny(a)  # taken back
    assert people.done(people.call("--", "echo", "hi", timeout=1))[0]["error"] == "approval_timeout"
    used = [r for r in people.events() if r["what"] == "used"]
    assert [("granted_to" in r) for r in used] == [False, True] and people.whats()[-3:] == ["denied", "asked", "expired"]


def test_a_changed_argument_is_asked_about_again(people):
    p = people.call("--", "echo", "one")
    [a] = people.waiting()
    q = people.call("--", "echo", "two")
    a2 = [x for x in people.waiting(2) if x["id"] != a["id"]][0]
    assert a2["call"] != a["call"]
    people.allow(a)
    assert people.done(p)[0]["stdout"] == "one\n"
    assert [x["id"] for x in people.waiting()] == [a2["id"]]
    people.deny(a2)
    assert people.done(q)[1] == 126


def test_a_waiter_that_is_killed_or_interrupted_leaves_nothing_to_answer(people):
    p = people.call("--", "touch", "ran")
    [a] = people.waiting()
    [pid] = {r["pid"] for r in people.events()}
    os.kill(pid, signal.SIGKILL)
    p.communicate(timeout=20)
    assert people.list() == []
    assert "has gone" in people.allow(a, status=125).err and people.whats() == ["asked", "withdrawn"]
    q = people.call("--", "touch", "ran")
    [b] = people.waiting()
    os.kill(people.events()[-1]["pid"], signal.SIGTERM)
    q.communicate(timeout=20)
    assert people.list() == [] and people.whats()[-2:] == ["asked", "withdrawn"]
    assert "has gone" in people.allow(b, status=125).err and not (people.s.cwd / "ran").exists()


def test_what_a_terminal_would_obey_is_shown_and_not_sent(people):
    evil = "\x1b]0;owned\x07\x1b[2J\r\x9b31m‮gnp"
    p = people.call("--", "echo", evil)
    [a] = people.waiting()
    seen = people.s("approvals", "list").out + people.s("approvals", "show", a["id"]).out + people.s("approvals", "list", "--json").out
    for bad in ("\x1b", "\x07", "\r", "\x9b", "‮"):
        assert bad not in seen
    assert "owned" in seen
    people.deny(a)
    _, _, err = people.done(p)
    assert "\x1b" not in err and "‮" not in err


def test_secrets_that_are_known_or_marked_are_not_shown(people):
    p = people.call("--", "sh", "-c", "X_TOKEN=abcdef123 make", more=["--env", "S3CRET"], session=KEY)
    [a] = people.waiting()
    assert "abcdef123" not in json.dumps(a) and "X_TOKEN=<redacted> make" in a["command"]
    people.deny(a)
    people.done(p)


def test_too_many_that_wait_are_refused_and_others_are_not_in_their_way(people):
    waiting = [people.call("--", "echo", str(i)) for i in range(16)]
    people.waiting(16)
    got, _, _ = people.done(people.call("--", "echo", "one too many"))
    assert got["error"] == "approval_limit"
    other = people.call("--", "echo", "hi", session="agent:main:other")
    [a] = [x for x in people.waiting(17) if x["session"] == "agent:main:other"]
    people.allow(a)
    assert people.done(other)[1] == 0
    for p in waiting:
        p.terminate()


@pytest.mark.item("S1-5", "S1-6", "C27")
def test_elevated_exec_runs_on_the_host_and_says_so_everywhere(people):
    s = people.s
    # full trust, sandboxed, and the sender listed
    conf = ["--set", "mode.when=all", "--set", "tools.elevated.enabled=true", "--set", '{"tools":{"elevated":{"allowFrom":{"telegram":["42"]}}}}']
    who = ["--session", "agent:main:telegram:direct:42", "--channel", "telegram", "--sender", "42"]
    inside = s(*conf, "call", *who, "exec", "--", "sh", "-c", "echo in > /tmp/mark; test -e " + str(s.home) + "/state && echo host").json
    assert inside["sandbox"]["place"] != "host" and "elevated" not in inside and inside["stdout"] == ""
    p = s.spawn(*conf, "call", *who, "--elevated", "exec", "--", "test", "-e", str(s.home) + "/state")
    people.all.append(p)
    [a] = people.waiting()
    assert a["kind"] == "elevated"
    people.allow(a)
    got, status, err = people.done(p)
    assert status == 0 and got["elevated"] is True and got["sandbox"]["place"] == "host" and got["sandbox"]["backend"] == "host"
    assert any("elevated" in w for w in got["warnings"]) and "elevated" in err
    lines = [json.loads(x) for x in (s.state / "audit/audit.jsonl").read_text().splitlines()]
    mine = [r for r in lines if r.get("request") == got["request_id"]]
    assert [(r["kind"], r.get("elevated"), r.get("type")) for r in mine] == [
        ("decided", True, None), ("approval", None, "elevated"), ("approval", None, "elevated"), ("approval", None, "elevated"), ("finished", True, None)]
    assert mine[-1]["approval"] == a["id"] and s(*conf, "call", *who, "exec", "--", "cat", "/tmp/mark").json["stdout"] == "in\n"
    # not for others
    for args, word in ((["--session", "agent:main:telegram:direct:43", "--channel", "telegram", "--sender", "43"], "elevated_refused"),
                       (["--session", "untrusted:x", "--channel", "telegram", "--sender", "42"], "elevated_refused")):
        refused = s(*conf, "call", *args, "--elevated", "exec", "--", "true", status=126).json
        assert refused["error"] == word and refused["elevated"] is False
    full = s(*conf, "--set", "tools.exec.mode=full", "call", *who, "--elevated", "exec", "--", "true", status=0).json
    assert full["elevated"] is True and "approval" not in full


def test_an_answer_that_cannot_be_recorded_does_not_count(people):
    p = people.call("--", "touch", "ran", timeout=4)
    [a] = people.waiting()
    log = people.s.state / "audit/audit.jsonl"
    log.chmod(0o644)  # what others can read is not written to
    refused = people.allow(a, status=125)
    assert "audit.jsonl" in refused.err
    assert [x["state"] for x in json.loads(json.dumps([a]))] == ["waiting"] and not (people.s.cwd / "ran").exists()
    log.chmod(0o600)
    people.allow(a)
    assert people.done(p)[1] == 0


@pytest.mark.parametrize("args", [["allow"], ["allow", "x"], ["allow", "zzzzzzzz", "--for", "3"], ["allow", "zzzzzzzz", "--for", "25h"],
                                  ["allow", "zzzzzzzz"], ["deny", "zzzzzzzz"], ["show", "zzzzzzzz"], ["deny", "zzzzzzzz", "--reason", ""]])
def test_answers_to_nothing_are_refused(anybody, args):
    got = anybody("approvals", *args, status=125)
    assert got.out == "" and got.err.count("\n") <= 2
