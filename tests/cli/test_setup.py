# SPDX-License-Identifier: Apache-2.0
"""backend.setupCommand: once in each sandbox that is made, before its first call. As root and as an ordinary user."""
import json

import pytest

KEY = "agent:main:test"


def with_setup(sessions, text, *args, **kw):
    return sessions("--set", f"backend.setupCommand={text}", "call", "--session", KEY, "--sandbox", "light", *args, **kw)


def test_s1_39_setup_runs_once_when_the_sandbox_is_made_and_again_when_it_is_made_anew(sessions):
    text = "echo ran in $PWD >> /tmp/setup"
    first = with_setup(sessions, text, "read", "/tmp/setup", status=0).json["text"]  # a file tool can be the first
    assert first.startswith("ran in /") and first.count("ran") == 1
    assert with_setup(sessions, text, "exec", "--", "cat", "/tmp/setup", status=0).json["stdout"] == first
    sessions("recreate", "--session", KEY, status=0)
    assert with_setup(sessions, text, "exec", "--", "cat", "/tmp/setup", status=0).json["stdout"] == first
    assert with_setup(sessions, text, "--scope", "job", "exec", "--", "ls", "/tmp", status=0).json["stdout"] == ""


def test_s1_39_what_setup_starts_in_the_background_stays(sessions):
    got = with_setup(sessions, "sleep 4321 & echo $! > /tmp/pid", "exec", "command=cat /proc/$(cat /tmp/pid)/cmdline | tr '\\0' ' '", status=0)
    assert got.json["stdout"] == "sleep 4321 "


def test_s1_39_a_setup_that_fails_refuses_the_call_with_its_output_and_leaves_no_sandbox(sessions):
    text = "echo half way; echo no such package >&2; exit 3"
    got = with_setup(sessions, text, "exec", "--", "true", status=125).json
    assert got["error"] == "setup_failed" and "status 3" in got["message"] and "no such package" in got["message"]
    assert got["setup"] == {"exit": 3, "stdout": "half way\n", "stderr": "no such package\n"}
    assert sessions.listed("--all") == {}
    shown = with_setup(sessions, text, "--text", "exec", "--", "true", status=125)
    assert shown.out == "" and "half way\nno such package\n" in shown.err
    records = [json.loads(l) for l in (sessions.state / "audit/audit.jsonl").read_text().splitlines()]
    assert [r["what"] for r in records if r["kind"] == "sandbox"] == ["set-up failed"] * 2
    assert with_setup(sessions, "true", "exec", "--", "true", status=0).json["ok"]


def test_s1_39_setup_that_takes_too_long_is_ended(anybody):
    got = anybody("--set", "limits.timeout_max_s=1", "--set", "backend.setupCommand=sleep 100", "call", "--session", KEY,
                  "--sandbox", "light", "exec", "--", "true", status=125).json
    assert got["error"] == "setup_failed" and "limits.timeout_max_s" in got["message"]


def test_setup_sees_variables_and_no_secret_and_stays_behind_the_walls(sessions):
    config = sessions.file("c.json5", {"env": {"set": {"PLAIN": "yes", "KEY": "${CREEL_TEST_KEY}"}, "secret_scope": "both"}, "mode": {"when": "all"}})
    ask = ["-c", config, "--set", "backend.setupCommand=env > /tmp/env; touch /usr/x 2>> /tmp/env; true", "call", "--session", KEY]
    given = sessions(*ask, "exec", "--", "env", env={"CREEL_TEST_KEY": "s3cret"}, status=0).json["stdout"]
    seen = sessions(*ask, "read", "/tmp/env", env={"CREEL_TEST_KEY": "s3cret"}, status=0).json["text"]
    assert "KEY=s3cret" in given  # or the next line would prove nothing
    assert "PLAIN=yes" in seen and "s3cret" not in seen and "Read-only file system" in seen


@pytest.mark.parametrize("text", ["true", "true; true"])
def test_another_setup_is_another_sandbox(anybody, text):
    before = with_setup(anybody, "true", "exec", "--", "true", status=0).json
    after = with_setup(anybody, text, "exec", "--", "true", status=0).json
    assert (before["walls"] == after["walls"]) is (text == "true")
    assert bool(after["warnings"]) is (text != "true")  # in use: it goes on for five minutes, and that is told
