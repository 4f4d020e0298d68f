# SPDX-License-Identifier: Apache-2.0
"""Which configuration was in force is in the log, files of it are closed and kept as configured, and an export has who was asked. As root and as an ordinary user."""
import json
import subprocess


def lines(s):
    files = sorted((s.state / "audit").glob("audit-*.jsonl")) + [s.state / "audit/audit.jsonl"]
    return [json.loads(x) for f in files for x in f.read_text().splitlines()]


def test_another_configuration_is_recorded_once_with_its_files(sessions):
    sessions.file("c.json5", "{ limits: { timeout_s: 20 } }")
    for args in ([], [], ["-c", "creel:c.json5"], ["-c", "creel:c.json5"], []):
        sessions(*args, "call", "--session", "agent:main:main", "exec", "--", "true", status=0)
    said = [r for r in lines(sessions) if r["kind"] == "config"]
    assert [r["what"] for r in said] == ["read", "changed"]  # a log begins with what is built in
    assert "c.json5" in said[0]["files"] and "c.json5" not in said[1]["files"] and said[0]["digest"] != said[1]["digest"]


def test_files_are_closed_and_kept_as_configured_and_show_and_export_go_over_them(sessions):
    conf = ["--set", "audit.rotate_size=64k", "--set", "audit.keep=2"]
    call = [*conf, "call", "--session", "agent:main:main", "exec", "--"]
    for i in range(70):
        sessions(*call, "true", "x" * 500, "y" * 500, "z" * 500, "w" * 500, status=0)
    old = sorted(f.name for f in (sessions.state / "audit").glob("audit-*.jsonl"))
    got = sessions("audit", "verify", "--json", status=0).json
    assert got["whole"] and got["files"] == len(old) + 1 and len(old) <= 2
    assert len(sessions("audit", "show", "-q").out.splitlines()) == got["records"]
    doc = sessions("incident", "export", "--session", "agent:main:main", status=0).json
    assert len(doc["calls"]) > 20 and doc["log"]["whole"]


def test_who_follows_goes_with_the_log_from_file_to_file(sessions):
    conf = ["--set", "audit.rotate_size=64k", "--set", "audit.keep=2"]
    call = [*conf, "call", "--session", "agent:main:main", "exec", "--"]
    sessions(*call, "true", status=0)
    with subprocess.Popen(sessions.argv("audit", "follow", "--json"), env=sessions.env, cwd=sessions.cwd, stdout=subprocess.PIPE, text=True) as follow:
        heard = [json.loads(follow.stdout.readline())["seq"]]
        for _ in range(60):
            sessions(*call, "true", "x" * 500, "y" * 500, "z" * 500, "w" * 500, status=0)
        last = lines(sessions)[-1]["seq"]
        while heard[-1] < last:
            heard.append(json.loads(follow.stdout.readline())["seq"])
        follow.terminate()
    assert heard == list(range(heard[0], last + 1)) and len(list((sessions.state / "audit").glob("audit-*.jsonl"))) >= 2
    sessions("audit", "verify", status=0)


def test_an_export_has_who_was_asked_and_no_secret(sessions):
    got = sessions("--set", "tools.exec.mode=ask", "--set", "approvals.timeout_s=1", "call", "--session", "agent:main:main", "--request-id", "r1", "exec", "--",
                   "sh", "-c", "X_TOKEN=abcdef123 make", status=126)
    assert got.json["error"] == "approval_timeout"
    doc = sessions("incident", "export", "--request", "r1", status=0)
    assert [r["what"] for r in doc.json["approvals"]] == ["asked", "expired"] and "abcdef123" not in doc.out
