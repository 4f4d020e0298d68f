# SPDX-License-Identifier: Apache-2.0
"""What a result tells: the same members whatever was called and whatever became of it, what was made, what was left running."""
import json

import pytest

from conftest import wait_until

ALWAYS = {"request_id", "ok", "tool", "reason", "exit", "artifacts", "duration_ms", "denials", "warnings", "sandbox", "walls"}
PROGRAM = {"stdout", "stdoutBytes", "stdoutTruncated", "stderr", "stderrBytes", "stderrTruncated", "truncated", "usage"}
PATCH = """*** Begin Patch
*** Add File: new.txt
+new
*** Update File: a.txt
*** Move to: b.txt
@@
-one
+two
*** Delete File: gone.txt
*** End Patch
"""


def once(pairs):
    """A member that is there twice is read differently by different readers."""
    keys = [k for k, _ in pairs]
    assert len(set(keys)) == len(keys), sorted(k for k in keys if keys.count(k) > 1)
    return dict(pairs)


def call(sessions, tool, args, *options):
    got = sessions("call", "--session", "agent:main:test", "--sandbox", "light", *options, tool, json.dumps(args))
    result = json.loads(got.out, object_pairs_hook=once)
    assert ALWAYS <= set(result), (tool, args, sorted(ALWAYS - set(result)))
    assert result["exit"] is None or result["exit"] == got.status, got
    return result


def test_every_result_has_the_same_members_whatever_became_of_the_call(anybody):
    programs = [
        ("exec", {"command": "echo a"}, "exited", 0),
        ("bash", {"command": "exit 3"}, "exited", 3),
        ("shell", {"command": ["sh", "-c", "kill -9 $$"]}, "signaled", 137),
        ("execute", {"command": "sleep 100", "timeout": 1}, "timeout", 124),
        ("exec", {"command": "echo a", "pty": True}, "exited", 0),
        ("exec", {"command": "echo a", "yieldMs": 20000}, "exited", 0),
        ("code_exec", {"language": "python", "code": "print(1)"}, "exited", 0),
        ("code_exec", {"language": "bash", "code": "exit 4", "session": True}, "exited", 4),
        ("git", {"args": ["--version"]}, "exited", 0),
    ]
    for tool, args, reason, status in programs:
        result = call(anybody, tool, args)
        assert PROGRAM <= set(result), (tool, args, sorted(PROGRAM - set(result)))
        assert (result["reason"], result["exit"], result["ok"]) == (reason, status, status == 0), result
        assert len(result["walls"]) == 64 and result["artifacts"] == []
    others = [
        ("write", {"path": "a", "content": "x\n"}, "done", 0),
        ("read", {"path": "a"}, "done", 0),
        ("edit", {"path": "a", "oldText": "x", "newText": "y"}, "done", 0),
        ("ls", {}, "done", 0),
        ("search", {"pattern": "y"}, "done", 0),
        ("file_read", {"path": "a"}, "done", 0),
        ("process", {"action": "list"}, "done", 0),
        ("message", {"to": "somebody", "text": "x"}, "decided", 0),
        ("read", {"path": "missing"}, "error", 125),
        ("read", {"path": "a", "nonsense": 1}, "error", 125),
        ("web_fetch", {"url": "http://a.example/"}, "refused", 126),
        ("exec", {"command": ["no-such-program"]}, "error", 127),
    ]
    for tool, args, reason, status in others:
        result = call(anybody, tool, args)
        assert (result["reason"], result["exit"], result["ok"]) == (reason, status, status == 0), result


def test_a_program_that_runs_has_no_exit_and_the_list_of_them_has_its_own(anybody):
    running = call(anybody, "exec", {"command": "read line; read last; exit 3", "background": True})
    assert (running["status"], running["exit"], running["reason"]) == ("running", None, "running")
    job = {"sessionId": running["sessionId"]}
    for action in ("poll", "log"):
        assert call(anybody, "process", {"action": action, **job})["exit"] is None
    assert call(anybody, "process", {"action": "submit", "data": "x", **job})["exit"] is None
    # Whether it has ended by the answer to this is anybody's guess.
    anybody.call("process", json.dumps({"action": "submit", "data": "x", **job}), status=None)
    anybody.call("process", json.dumps({"action": "poll", "timeout": 20000, **job}), status=None)
    listed = call(anybody, "process", {"action": "list"})
    assert (listed["exit"], listed["reason"]) == (0, "done")
    assert [(j["exit"], j["reason"], j["status"]) for j in listed["sessions"]] == [(3, "exited", "failed")]


def test_for_what_this_build_does_not_have_nothing_is_made_and_nobody_told_of_the_host(anybody):
    for options in (["--session", "agent:main:main"], ["--session", "agent:main:test", "-e", "mode.when=all"]):
        got = anybody("call", *options, "web_fetch", "url=http://a.example/", status=125)
        assert got.json["error"] == "unavailable" and "not available in this build" in got.json["message"], got
        assert got.json["warnings"] == [] and got.err == "", got
    assert anybody.listed("--all") == {}


def test_artifacts_are_the_files_that_a_call_has_made_or_changed(anybody):
    assert call(anybody, "write", {"path": "d/a.txt", "content": "one\n"})["artifacts"] == [{"path": "d/a.txt", "type": "file"}]
    assert call(anybody, "write", {"path": "gone.txt", "content": ""})["ok"] and call(anybody, "write", {"path": "a.txt", "content": "one\n"})["ok"]
    assert call(anybody, "edit", {"path": "d/a.txt", "oldText": "one", "newText": "1"})["artifacts"] == [{"path": "d/a.txt", "type": "file"}]
    assert [a["path"] for a in call(anybody, "apply_patch", {"patch": PATCH})["artifacts"]] == ["new.txt", "b.txt"]
    assert call(anybody, "apply_patch", {"patch": PATCH})["artifacts"] == []  # it does not fit any more
    assert call(anybody, "file_write", {"path": "f", "content": "x"})["artifacts"] == [{"path": "f", "type": "file"}]


def test_what_a_command_left_running_is_ended_and_told(sessions):
    got = call(sessions, "exec", {"command": "sleep 9871 & setsid sleep 9872 & sleep 0.1; echo started"})
    assert got["ok"] and got["stdout"] == "started\n"
    assert [w for w in got["warnings"] if w.startswith("2 processes that the command left running were ended") and "background=true" in w], got
    assert "987" not in sessions.sh("cat /proc/[0-9]*/cmdline | tr '\\0' ' '").replace("cat /proc", "")
    assert call(sessions, "exec", {"command": "sleep 0.01 & wait"})["warnings"] == []


@pytest.mark.parametrize("umask", [0o077, 0o027, 0])
def test_a_umask_takes_nothing_from_the_sandbox(sessions, umask):
    assert sessions.sh("echo a > a; cat a", umask=umask) == "a\n"
    assert sessions.call("read", "path=a", umask=umask)["text"] == "a\n"
    assert sessions.state.stat().st_mode & 0o777 == 0o711
    assert wait_until(lambda: sessions.listed()["agent:main:test"]["state"] == "ready")
