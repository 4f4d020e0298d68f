# SPDX-License-Identifier: Apache-2.0
"""creel explain: what it shows, in which shape, with which exit status."""
import itertools
import json
import re

import pytest

ROWS = ["identity", "mode", "tool", "backend", "network", "mounts", "env", "limits", "verdict"]
RECORD = ["request_id", "identity", "mode", "tool", "backend", "network", "mounts", "env", "limits", "verdict", "code",
          "reasons", "fixIt"]


def rows(text):
    """label -> the row with its further lines"""
    found, label = {}, None
    for line in text.splitlines():
        head = line[:11].strip()
        if head and not line.startswith("    -"):
            label = head
            found[label] = line[11:]
        elif label:
            found[label] += "\n" + line.strip()
    return found


def test_rows_stand_in_the_order_of_the_decision(creel):
    out = creel("explain", "--tool", "exec", "--", "true", status=0).out
    assert [r for r in rows(out) if r in ROWS] == ROWS


def test_the_record_has_every_member_of_the_decision(creel):
    record = creel.explain("--tool", "exec", "--", "true", status=0)
    assert [k for k in record if k in RECORD] == RECORD
    assert record["verdict"] == "ALLOW"
    assert record["code"] == "ok"
    for reason in record["reasons"]:
        assert set(reason) == {"stage", "what", "value", "reason", "source"}


@pytest.mark.item("C2")
def test_a_word_never_stands_without_its_axis(creel):
    creel.file("c.json5", "{ mode: { when: 'all' }, network: { primary: 'none' }, mounts: { workspace: { access: 'none' } } }")
    out = rows(creel("explain", "-c", "c.json5", "--tool", "exec", "--", "true", status=0).out)
    assert "trust=none" in out["mode"]
    assert "when=all" in out["mode"]
    assert "provider=None" in out["backend"]
    assert "network=none" in out["network"]
    assert "workspace=none" in out["mounts"]
    text = " ".join(out.values())
    assert re.findall(r"(?<![=\w])(?<! is )none\b", text) == []


@pytest.mark.item("S0-61", "S0-63")
@pytest.mark.parametrize("session, mode", [("client:leon", "light"), ("untrusted:x", "docker"), ("analysis:x", "readonly"),
                                           ("proxy:x", "light")])
def test_banner_names_the_mode(creel, session, mode):
    out = creel("explain", "--session", session).out
    assert out.splitlines()[0] == f"🔒 Sandbox mode: {mode}"


@pytest.mark.item("S0-63")
def test_no_banner_for_full_trust_and_none_for_programs(creel):
    assert "🔒" not in creel("explain", "--session", "main:x").out
    assert "🔒" not in creel("explain", "--session", "client:x", "-q").out
    assert "🔒" not in creel("explain", "--session", "client:x", "--json").out


@pytest.mark.item("S0-58", "C14")
def test_the_flag_tightens_and_weakening_needs_a_second_flag(creel):
    assert creel.explain("--sandbox", "docker")["mode"]["trust"] == "docker"
    refused = creel.explain("--session", "untrusted:x", "--sandbox", "none", status=126)
    assert (refused["verdict"], refused["code"]) == ("DENY", "weaken_refused")
    assert creel.explain("--session", "untrusted:x", "--sandbox", "light", "--allow-weaken")["mode"]["trust"] == "light"


def test_a_refusal_shows_code_message_place_and_fix(creel):
    creel.file("c.json5", "{ mode: { when: 'all' },\n  tools: { sandbox: { deny: ['exec'] } } }")
    got = creel("explain", "-c", "c.json5", "--tool", "bash", "--", "true", status=126)
    verdict = rows(got.out)["verdict"]
    assert verdict.startswith("DENY tool_denied_by_policy")
    assert "c.json5:2:" in verdict
    assert rows(got.out)["fixIt"]
    assert list(rows(got.out))[-3:-1] == ["verdict", "fixIt"] or "fixIt" in rows(got.out)


def test_rows_behind_the_refusal_are_not_invented(creel):
    got = creel("explain", "--session", "analysis:x", "--tool", "exec", "--", "true", status=126)
    assert set(rows(got.out)) & {"backend", "network", "mounts", "env", "limits"} == set()
    record = creel.explain("--session", "analysis:x", "--tool", "exec", "--", "true")
    assert record["stopped_at"] == "tool"
    assert [record[k] for k in ("backend", "network", "mounts", "env", "limits")] == [None] * 5


def test_verbose_shows_every_reason_with_its_place(creel):
    creel.file("c.json5", "{ mode: { trust: { rules: [\n { match: 'x:*', trust: 'light' } ] } } }")
    args = ["-c", "c.json5", "--session", "x:1", "--tool", "exec", "--", "true"]
    text = creel("explain", "-v", *args, status=0).out
    record = creel.explain(*args)
    shown = re.findall(r"^    - (\S+?)(?:=.*)? \[(.*)\]$", text, re.M)
    assert len(shown) == len(record["reasons"]) > 8
    assert [w for _, w in shown] == [r["source"] for r in record["reasons"]]
    assert any(w.startswith("c.json5:2:") for _, w in shown)


def test_what_was_assumed_is_said(creel):
    assert "assumed    backends that work here: native" in creel("explain").out
    assert creel.explain()["assumed"] == {"backends": ["native"], "token": False}
    assert creel.explain("--assume-backends", "none")["assumed"]["backends"] == []


def test_a_sandbox_that_cannot_be_had_is_a_refusal(creel):
    got = creel.explain("--session", "untrusted:x", "--tool", "exec", "--assume-backends", "none", "--", "true", status=126)
    assert got["code"] == "sandbox_unavailable"
    creel("explain", "--session", "untrusted:x", "--tool", "exec", "--assume-backends", "docker", "--", "true")


def test_a_command_alone_is_a_call_of_exec(creel):
    assert creel.explain("--", "make", "test")["tool"]["name"] == "exec"
    assert creel.explain("--command", "make test")["tool"]["name"] == "exec"
    assert creel.explain()["tool"]["name"] is None


def test_argv_is_shown_as_it_would_be_executed(creel):
    assert creel.explain("--", "printf", "%s\\n", "a b")["tool"]["argv"] == ["printf", "%s\\n", "a b"]


def test_defaults_of_identity(creel):
    who = creel.explain()["identity"]
    assert (who["agent"], who["session_key"], who["is_main"]) == ("main", "agent:main:main", True)
    who = creel.explain("--compat", "openclaw-2026.9")["identity"]
    assert (who["agent"], who["session_key"]) == ("main", "agent:main:main")


def test_home_comes_from_the_account_when_the_variable_is_missing(creel):
    del creel.env["HOME"]
    creel("explain", "--no-default-config", status=0)


def test_state_dir_by_flag_and_variable(creel):
    creel.file("c.json", {"agents": {"entries": {"b": {}, "main": {"default": True}}}})
    args = ["explain", "--compat", "openclaw-2026.9", "--as", "openclaw", "--json", "-c", "openclaw:c.json", "--agent", "b"]
    assert creel(*args).json["sandbox"]["effectiveHostWorkspaceRoot"] == f"{creel.home}/.openclaw/workspace-b"
    got = creel(*args, env={"OPENCLAW_STATE_DIR": "/st"})
    assert got.json["sandbox"]["effectiveHostWorkspaceRoot"] == "/st/workspace-b"
    got = creel(*args, "--state-dir", "/flag", env={"OPENCLAW_STATE_DIR": "/st"})
    assert got.json["sandbox"]["effectiveHostWorkspaceRoot"] == "/flag/workspace-b"


def test_same_question_same_answer(creel):
    args = ["explain", "--session", "untrusted:x", "--tool", "exec", "-v", "--", "true"]
    assert creel(*args).out == creel(*args).out


# ---- the same verdict in every shape ----

SESSIONS = ["agent:main:main", "agent:main:telegram:group:1", "main:x", "client:x", "untrusted:x", "analysis:x"]
TOOLS = ["read", "write", "exec", "web_fetch", "browser", "message"]
CONFIGS = {
    "none": "{}",
    "non-main": "{ mode: { when: 'non-main' } }",
    "denied": "{ mode: { when: 'all' }, tools: { deny: ['group:fs'], sandbox: { allow: ['exec', 'read'] } } }",
    "bilrost": "{ profile: 'bilrost' }",
    "ci": "{ profile: 'ci' }",
}


@pytest.mark.parametrize("config", CONFIGS)
def test_text_json_matrix_and_exit_status_agree(creel, config):
    creel.file("c.json5", CONFIGS[config])
    cells = {(c["session"], c["tool"]): c for s in SESSIONS
             for c in creel("explain", "--matrix", "--json", "-c", "c.json5", "--session", s, status=0).json}
    for session, tool in itertools.product(SESSIONS, TOOLS):
        command = ["--", "true"] if tool == "exec" else []
        args = ["-c", "c.json5", "--session", session, "--tool", tool, *command]
        record, text = creel("explain", "--json", *args), creel("explain", *args)
        verdict = record.json["verdict"]
        assert rows(text.out)["verdict"].split()[0] == verdict
        assert record.status == text.status == (0 if verdict == "ALLOW" else 126)
        assert (cells[session, tool]["verdict"], cells[session, tool]["code"]) == (verdict, record.json["code"])


# ---- matrix ----

def test_matrix_has_the_sessions_of_rules_agents_and_prefixes(creel):
    creel.file("c.json5", """{ agents: { list: [ { id: 'a', default: true }, { id: 'b' } ] },
        mode: { trust: { rules: [ { match: 'vip:*', trust: 'none' } ] } } }""")
    got = creel("explain", "--matrix", "--json", "-c", "c.json5")
    if got.status:  # the canonical form of agents may be a map
        creel.file("c.json5", """{ agents: { a: { default: true }, b: {} },
            mode: { trust: { rules: [ { match: 'vip:*', trust: 'none' } ] } } }""")
        got = creel("explain", "--matrix", "--json", "-c", "c.json5", status=0)
    sessions = list(dict.fromkeys(c["session"] for c in got.json))
    for expected in ["agent:a:main", "agent:b:main", "vip:x", "main:x", "client:x", "untrusted:x", "analysis:x", "proxy:x"]:
        assert expected in sessions


def test_matrix_lines_differ_where_the_decisions_differ(creel):
    creel.file("old.json5", "{}")
    creel.file("new.json5", "{ tools: { deny: ['browser'] } }")
    old = creel("explain", "--matrix", "-c", "old.json5", status=0).out.splitlines()
    new = creel("explain", "--matrix", "-c", "new.json5", status=0).out.splitlines()
    assert len(old) == len(new)
    changed = [n for o, n in zip(old, new) if o != n]
    assert changed
    assert all("browser" in line and "tool_denied_by_policy" in line for line in changed)


def test_matrix_is_deterministic_and_narrows(creel):
    whole = creel("explain", "--matrix", status=0).out
    assert whole == creel("explain", "--matrix", status=0).out
    one = creel("explain", "--matrix", "--tool", "bash", "--session", "untrusted:x", status=0).out
    assert len(one.splitlines()) == 1
    assert one in whole
    assert not any(line.endswith(" ") for line in whole.splitlines())


@pytest.mark.item("S0-17", "S0-18", "S0-19", "S0-20", "S0-21", "S0-22", "S0-23", "S0-24")
def test_matrix_shows_s0s_permissions(creel):
    cells = {(c["session"], c["tool"]): c["verdict"] == "ALLOW" for c in creel("explain", "--matrix", "--json").json}
    want = {  # none, light, docker, readonly
        "read": "yyyy", "write": "yyyn", "exec": "yyyn", "git": "yynn", "web_fetch": "ynnn", "browser": "yynn",
        "external_api": "ynnn", "secrets": "ynnn", "network": "ynnn",
    }
    for tool, marks in want.items():
        for session, mark in zip(["main:x", "client:x", "untrusted:x", "analysis:x"], marks):
            if (session, tool) in cells:
                assert cells[session, tool] == (mark == "y"), (session, tool)


def test_json_is_one_document(creel):
    for args in [["explain", "--json"], ["explain", "--matrix", "--json"], ["explain", "--as", "openclaw", "--json"],
                 ["config", "check", "--json"], ["config", "schema"], ["version", "--json"]]:
        json.loads(creel(*args, status=0).out)


def test_the_workspace_s_access_is_the_one_that_was_given(creel):
    """Not the configured one: untrusted sessions have an overlay, tier-1 tools ro or rw each."""
    assert creel.explain("--session", "untrusted:x", "--tool", "exec")["workspace_access"] == "overlay"
    creel.file("allowlist.json", {"telegram": [{"agent": "a", "chat_id": "1"}]})
    guard = ["-c", "allowlist:allowlist.json", "--via", "guard", "--agent", "a", "--channel", "telegram", "--chat-id", "1"]
    assert creel.explain(*guard, "--tool", "file_read")["workspace_access"] == "ro"
    assert creel.explain(*guard, "--tool", "file_write")["workspace_access"] == "rw"


def test_reasons_are_clean_text(creel):
    for session in ["agent:main:main", "untrusted:x"]:
        for reason in creel.explain("--session", session, "--tool", "exec")["reasons"]:
            assert reason["reason"] == reason["reason"].strip()


def test_the_matrix_shows_rules_whose_pattern_has_sets(creel):
    patterns = ["job-[0-9]*", "lab:[!x]?", "a[]]b", "q[abc][x-z]", "client:*"]
    creel.file("c.json5", {"mode": {"trust": {"rules": [{"match": p, "trust": "docker"} for p in patterns]}}})
    rows = creel("explain", "--matrix", "--tool", "exec", "--json", "-c", "c.json5", status=0).json
    seen = {row["session"] for row in rows if row["trust"] == "docker"}
    assert {"job-0x", "lab:yx", "a]b", "client:x"} <= seen
    assert any(len(s) == 3 and s[0] == "q" for s in seen)


def test_the_matrix_of_an_unknown_tool_is_not_empty(creel):
    rows = creel("explain", "--matrix", "--tool", "bsah", "--json", status=0).json
    assert len(rows) >= 10
    assert {(row["tool"], row["code"]) for row in rows} == {("bsah", "tool_not_allowed")}
    creel.file("c.json5", '{ tools: { allow: ["group:all", "exec", "my_plugin"] } }')
    line = creel("explain", "--matrix", "--tool", "my_plugin", "--session", "agent:main:main", "-c", "c.json5", status=0).out
    assert line.split() == ["agent:main:main", "my_plugin", "ALLOW", "backend=gateway"]
