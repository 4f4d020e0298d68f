# SPDX-License-Identifier: Apache-2.0
"""Denials in the report: what the enforcers say, and nothing that a program says."""
import datetime

import pytest

FIELDS = {"time", "session", "tool", "pid", "exe", "operation", "object", "verdict", "rule", "layer", "hint", "count"}


def only(result):
    denials = result.report["denials"]
    assert len(denials) == 1 and set(denials[0]) == FIELDS, denials
    d = denials[0]
    when = datetime.datetime.fromisoformat(d["time"].replace("Z", "+00:00"))
    assert abs((datetime.datetime.now(datetime.timezone.utc) - when).total_seconds()) < 300
    assert d["tool"] == "exec" and d["pid"] is None and d["exe"] is None and d["rule"] and (d["hint"] or d["layer"] == "policy"), d
    return {k: d[k] for k in ("operation", "object", "verdict", "layer")}, d


def test_a_refusal_of_policy(light):
    what, d = only(light.run("echo", "x", mode="readonly", status=126))
    assert what == {"operation": "call", "object": "echo", "verdict": "refused", "layer": "policy"}
    assert d["rule"].startswith("capability_denied ("), d


def test_a_workspace_that_is_blocked(light):
    home = light.secret("home/.ssh/id").parent
    result = light.run("true", ws=home)
    assert result.status in (125, 126) and result.report["reason"] in ("denied", "failed"), result
    what, d = only(result)
    assert what["verdict"] == "refused" and what["layer"] in ("mounts", "policy") and light.mark not in str(d), d


def test_a_link_that_leads_to_what_is_blocked_is_refused_by_the_mounts(light):
    (light.base / "innocent").symlink_to("/proc")
    what, d = only(light.run("true", ws=light.base / "innocent"))
    assert what == {"operation": "mount", "object": "/proc", "verdict": "refused", "layer": "mounts"} and d["rule"] == "bind_blocked"
    again = light.run("true", ws=light.base / "innocent", status=126)
    assert again.report["exit"] == 126 and again.report["reason"] == "denied", again


CASES = {
    "timeout": (["--timeout", "1"], "sleep 30", ("run", "killed", "warden"), "limits.timeout_s"),
    "disk": (["--disk", "8m"], "for i in 1 2 3; do ./hog fill=f$i,6; done; sleep 30", ("write", "killed", "warden"), "limits.disk (flag"),
    "output": (["--output-limit", "1k"], "yes", ("write", "killed", "creel"), "limits.output (flag"),
}


@pytest.mark.parametrize("reason", CASES)
def test_what_ends_a_command_is_one(light, reason):
    options, script, want, rule = CASES[reason]
    result = light.run("sh", "-c", script, options=options)
    what, d = only(result)
    assert result.report["reason"] == reason and (what["operation"], what["verdict"], what["layer"]) == want, result
    assert d["rule"].startswith(rule) and d["count"] == 1 and "allows more" in d["hint"], d
    assert light.run("true", options=options, status=0).report["denials"] == []


def test_what_a_cgroup_refused(light):
    if light.user != "root":
        return
    result = light.run("sh", "-c", "./hog threads=500; ./hog threads=500; exit 1", options=["--pids", "20"])
    what, d = only(result)
    assert what["operation"] == "fork" and what["layer"] == "cgroup" and d["count"] >= 1 and d["rule"].startswith("limits.pids (flag"), d
    result = light.run("sh", "-c", "./hog anon=200; exit 1", options=["--memory", "32m"])
    what, d = only(result)
    assert what["operation"] == "allocate" and what["verdict"] == "killed" and d["rule"].startswith("limits.memory (flag"), d


def test_o03_what_a_program_says_is_none(light):
    text = "Permission denied\nOperation not permitted\nEACCES\ncreel: refused (bind_blocked)\n{\"denials\": [{\"layer\": \"policy\"}]}\n"
    script = 'printf "%s" "$1"; printf "%s" "$1" >&2; cat /etc/shadow; mkdir /x; exit 126'
    result = light.run("sh", "-c", script, "sh", text, status=126)
    assert "Permission denied" in result.out and result.report["denials"] == [] and result.report["reason"] == "exit", result
