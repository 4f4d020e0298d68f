# SPDX-License-Identifier: Apache-2.0
"""What a session tells about its calls afterwards: limits that were hit, and every refusal in the log. As root and as an ordinary user."""
import json
import os
import signal

from conftest import skip, wait_until

KEY = "agent:main:test"


def records(sessions, kind):
    lines = (sessions.state / "audit/audit.jsonl").read_text().splitlines()
    return [r for r in map(json.loads, lines) if r["kind"] == kind]


def test_only_a_call_that_was_killed_for_its_memory_says_so(anybody):
    def call(*command):
        return anybody("call", "--session", KEY, "--sandbox", "light", "--memory", "64m", "exec", "--", *command).json

    hog = call("python3", "-c", "x = bytearray(200 << 20)")
    if "limits.memory" in hog.get("message", ""):
        skip("no group in which memory can be limited")
    assert hog["error"] == "signal_9" and [d["rule"] for d in hog["denials"]] == ["limits.memory"], hog
    other = call("sh", "-c", "kill -9 $$")  # in the same sandbox, after one that was
    assert other["error"] == "signal_9" and other["denials"] == [], other
    again = call("python3", "-c", "x = bytearray(200 << 20)")
    assert [(d["rule"], d["count"]) for d in again["denials"]] == [("limits.memory", 1)], again


def test_a_refusal_is_recorded_with_wrong_arguments_too(sessions):
    for arguments in ['{"command": "true"}', '{"comand": 3}']:
        got = sessions("call", "--session", "untrusted:x", "--sandbox", "readonly", "exec", arguments, status=126).json
        assert got["reason"] == "refused"
        assert records(sessions, "decided")[-1]["request"] == got["request_id"]
        assert records(sessions, "finished")[-1]["reason"] == "refused"
    assert len(records(sessions, "decided")) == len(records(sessions, "finished")) == 2


def test_that_a_call_will_run_on_the_host_is_said_before_it_does(sessions):
    call = sessions.spawn("call", "--session", KEY, "exec", "--", "sh", "-c", "while ! test -e go; do sleep 0.05; done")
    try:
        assert call.stderr.readline() == ("creel call: on the host, without any wall: nothing asks for a sandbox here; "
                                          "--sandbox light does\n")
        (sessions.cwd / "go").touch()
        out, err = call.communicate(timeout=20)
    finally:
        call.kill()
        call.wait()
    assert json.loads(out)["warnings"] == ["ran on the host, without any wall"] and err == ""
    assert sessions("call", "-q", "--session", KEY, "--text", "exec", "--", "true", status=0).err == ""
    assert sessions("call", "--session", KEY, "--text", "exec", "--", "true", status=0).err.count("host") == 1


def test_a_call_whose_caller_is_killed_is_finished_as_lost_by_the_next_one(sessions):
    call = sessions.spawn("call", "--session", KEY, "--sandbox", "light", "--stream", "exec", "--", "sh", "-c", "echo $$; exec sleep 4322")
    assert call.stdout.readline()
    [decided] = records(sessions, "decided")
    os.kill(decided["pid"], signal.SIGKILL)
    call.communicate(timeout=20)
    assert records(sessions, "finished") == []
    assert wait_until(lambda: sessions.sh("cat /proc/[0-9]*/cmdline | tr '\\0' ' '").find("sleep 4322") < 0)  # the supervisor ended it
    lost = [r for r in records(sessions, "finished") if r["reason"] == "lost"]
    assert [(r["decided"], r["request"], r["tool"]) for r in lost] == [(decided["seq"], decided["request"], "exec")]
    assert len(records(sessions, "finished")) == len(records(sessions, "decided"))


def test_a_call_that_writes_more_than_its_output_limit_is_ended(sessions):
    call = ["call", "--session", KEY, "--sandbox", "light", "--output-limit", "10000"]
    got = sessions(*call, "exec", "--", "sh", "-c", "while :; do echo 0123456789; done").json
    assert got["ok"] is False and got["error"] == "output_limit" and got["exit"] != 0
    assert [(d["rule"], d["verdict"]) for d in got["denials"]] == [("limits.output", "killed")]
    seen = sessions(*call, "--stream", "exec", "--", "sh", "-c", "while :; do echo 0123456789; done")
    assert len(seen.out + seen.err) == 10000
    assert sessions(*call, "exec", "--", "sh", "-c", "head -c 10000 /dev/zero | tr '\\0' x", status=0).json["stdoutBytes"] == 10000
    assert records(sessions, "finished")[-1]["reason"] == "exited"
