# SPDX-License-Identifier: Apache-2.0
"""What OpenClaw's settings promise of a sandbox, shown by what runs in one: who shares it, what it sees of the agent's workspace, which tools go there."""
import json

import pytest

NEW = "*** Begin Patch\n*** Add File: {}\n+new\n*** End Patch\n"
SESSIONS = ["agent:main:a", "agent:main:b", "agent:work:a"]


def configure(sessions, **sandbox):
    """Arguments that name an openclaw.json with these settings of the sandbox, and the agent's workspace."""
    workspace = sessions.home / "workspace-of-main"
    if not workspace.exists():
        workspace.mkdir()
        (workspace / "seen").write_text("as it was\n")
        for path in (workspace, workspace / "seen"):
            sessions.give(path)
    agents = {"defaults": {"workspace": str(workspace), "sandbox": {"mode": "all", **sandbox}}, "list": [{"id": "main"}, {"id": "work"}]}
    sessions.file("openclaw.json", {"agents": agents})
    return ["-c", "openclaw:openclaw.json"], workspace


def ask(sessions, options, tool, arguments, session="agent:main:a", status=0):
    return sessions(*options, "call", "--session", session, tool, "-", input=json.dumps(arguments), status=status).json


def sh(sessions, options, command, session="agent:main:a", env=None):
    arguments = {"command": command, **({"env": env} if env else {})}
    return ask(sessions, options, "exec", arguments, session)["stdout"]


@pytest.mark.parametrize("scope, shared", [
    ("session", {}),
    ("agent", {"agent:main:b": ["agent:main:a"]}),
    ("shared", {"agent:main:b": ["agent:main:a"], "agent:work:a": ["agent:main:a", "agent:main:b"]}),
])
def test_s1_12_to_14_a_scope_shares_files_tmp_and_processes_with_whom_it_says(sessions, scope, shared):
    options, _ = configure(sessions, scope=scope)
    for session in SESSIONS:
        before = ask(sessions, options, "exec", {"command": "ls -1 /tmp; ls -1; cat /proc/[0-9]*/cmdline | tr '\\0' '\\n' | grep ^9999; true"}, session)
        marks = [s.replace(":", "-") for s in shared.get(session, [])]
        sleeps = [f"9999.{SESSIONS.index(s)}" for s in shared.get(session, [])]
        assert sorted(before["stdout"].split()) == sorted(marks * 2 + sleeps), (session, before)
        mark = session.replace(":", "-")
        ask(sessions, options, "exec", {"command": f"touch /tmp/{mark} {mark}"}, session)
        ask(sessions, options, "exec", {"command": f"sleep 9999.{SESSIONS.index(session)}", "background": True}, session)
    assert len(sessions.listed()) == len(SESSIONS) - len(shared)


def test_what_one_call_was_given_is_not_in_the_environment_of_the_next_even_in_a_shared_sandbox(sessions):
    options, _ = configure(sessions, scope="shared")
    assert sh(sessions, options, "echo $MINE", env={"MINE": "only mine"}) == "only mine\n"
    for session in SESSIONS:
        assert sh(sessions, options, "env | grep -c MINE; true", session) == "0\n"


@pytest.mark.parametrize("access, seen", [("none", False), ("rw", True)])
def test_s1_15_s1_18_none_is_a_directory_of_the_sandbox_and_rw_is_the_workspace(sessions, access, seen):
    options, workspace = configure(sessions, scope="session", workspaceAccess=access)
    assert sh(sessions, options, "pwd; ls -d /agent 2>/dev/null; ls; echo changed > made") == "/workspace\n" + ("seen\n" if seen else "")
    assert (workspace / "made").exists() is seen
    ask(sessions, options, "write", {"path": "written", "content": "x"})
    ask(sessions, options, "edit", {"path": "written", "oldText": "x", "newText": "y"})
    ask(sessions, options, "apply_patch", {"input": NEW.format("patched")})
    assert ask(sessions, options, "read", {"path": "written"})["text"] == "y"
    assert sh(sessions, options, "cat written patched made") == "ynew\nchanged\n"
    assert sorted(p.name for p in workspace.iterdir()) == (["made", "patched", "seen", "written"] if seen else ["seen"])


def test_s1_16_s1_17_ro_is_the_workspace_at_agent_and_takes_the_tools_that_write(sessions):
    options, workspace = configure(sessions, scope="session", workspaceAccess="ro")
    assert sh(sessions, options, "cat /agent/seen; echo x 2>/dev/null > /agent/seen || echo refused") == "as it was\nrefused\n"
    assert sh(sessions, options, "pwd; echo $CREEL_WORKSPACE; cat seen") == "/agent\n/agent\nas it was\n"
    for path in ("/agent/seen", "seen"):
        assert ask(sessions, options, "read", {"path": path})["text"] == "as it was\n"
    for tool, arguments in [("write", {"path": "/agent/a", "content": "x"}), ("write", {"path": "/tmp/a", "content": "x"}),
                            ("edit", {"path": "/agent/seen", "oldText": "as", "newText": "x"}), ("apply_patch", {"input": NEW.format("/agent/a")})]:
        refused = ask(sessions, options, tool, arguments, status=126)
        assert refused["message"] == 'workspaceAccess "ro" disables write, edit and apply_patch', refused
        assert refused["error"] == "tool_denied_by_policy" and refused["reason"] == "refused"
    assert [p.name for p in workspace.iterdir()] == ["seen"] and (workspace / "seen").read_text() == "as it was\n"


def test_s1_2_every_tool_of_the_list_works_in_the_sandbox_and_not_on_the_host(sessions):
    options, _ = configure(sessions, scope="session")
    inside = {"exec": {"command": "true"}, "bash": {"command": "true"}, "process": {"action": "list"},
              "write": {"path": "/tmp/only-inside", "content": "x"}, "read": {"path": "/tmp/only-inside"},
              "edit": {"path": "/tmp/only-inside", "oldText": "x", "newText": "y"}, "apply_patch": {"input": NEW.format("/tmp/also-inside")}}
    for tool, arguments in inside.items():
        result = ask(sessions, options, tool, arguments)
        assert result["ok"] and result["sandbox"]["place"] == "container", (tool, result)
    assert sh(sessions, options, "cat /tmp/only-inside /tmp/also-inside") == "ynew\n"
    assert not any((sessions.home.parent / name).exists() for name in ("only-inside", "also-inside"))


@pytest.mark.parametrize("scope", ["agent", "shared"])
def test_a_session_that_shares_a_sandbox_is_told_which_and_what_ends_it(sessions, scope):
    options, _ = configure(sessions, scope=scope)
    for session in SESSIONS[:2]:
        sh(sessions, options, "true", session)
    (made,) = sessions.listed()
    assert made == SESSIONS[0]
    key = sessions.listed()[made]["key"]
    shown = sessions(*options, "list", "--session", SESSIONS[1], "--json", status=0).json["sandboxes"]
    assert [b["key"] for b in shown] == [key]
    for how in (["--session", SESSIONS[1]], [SESSIONS[1]]):
        got = sessions(*options, "kill", *how, status=125)
        assert f"uses '{key}' (scope {scope})" in got.err and f"creel kill {key}" in got.err, got
    assert list(sessions.listed()) == [SESSIONS[0]]  # nothing has ended
    assert sessions(*options, "kill", key, status=0).out == f"{SESSIONS[0]}: ended\n"
    assert sessions.listed("--all") == {}


def test_c16_a_lease_is_of_one_conversation_and_tool_and_of_nobody_whose_key_reads_the_same(sessions):
    def lease(conversation, tool, *args, status=0):
        return sessions("call", "--session", "agent:main:a", "--sandbox", "light", "--scope", "lease", "--session-id", conversation, tool, *args, status=status)
    assert lease("one", "exec", "echo mine > /tmp/a").json["sandbox"]["key"] == "one:shell"
    assert lease("one", "bash", "cat /tmp/a").json["stdout"] == "mine\n"
    assert "No such file" in lease("two", "exec", "cat /tmp/a", status=1).json["stderr"]
    assert "No such file" in lease("one", "code_exec", "language=bash", "code=cat /tmp/a", status=1).json["stderr"]
    job = lease("one", "exec", json.dumps({"command": "echo up; sleep 1000", "background": True})).json["sessionId"]
    assert lease("one", "process", "action=poll", f"sessionId={job}", "timeout=20000").json["status"] == "running"
    assert lease("two", "process", "action=poll", f"sessionId={job}", status=125).json["ok"] is False
    listed = sessions("list", "--json", status=0).json["sandboxes"]
    assert sorted((b["key"], b["scope"]) for b in listed) == [("one:code_exec", "lease"), ("one:shell", "lease"), ("two:shell", "lease")]
    other = sessions("call", "--session", "one:shell", "--sandbox", "light", "exec", "cat /tmp/a")
    assert other.status == 126 and "one:shell" in other.json["message"], other


@pytest.mark.parametrize("scope", ["agent", "shared"])
def test_a_shared_sandbox_has_nobodys_git_name_but_the_callers(sessions, scope):
    options, _ = configure(sessions, scope=scope)
    commit = "rm -rf /tmp/r && git init -q /tmp/r && cd /tmp/r && git commit -q --allow-empty -m x && git log -1 '--format=%an <%ae> %cn <%ce>'"

    def who_commits(name, session, command=commit):
        config = sessions.home / f"{name}.gitconfig"
        config.write_text(f"[user]\n\tname = {name} \u00e4 x\n\temail = {name}@example.org\n" if name != "nobody" else "")
        return sessions(*options, "call", "--session", session, "exec", "-", input=json.dumps({"command": command}),
                        env={"GIT_CONFIG_GLOBAL": str(config)}).json

    for name, session in [("ann", "agent:main:a"), ("ben", "agent:main:b"), ("ann", "agent:main:a")]:
        whole = f"{name} \u00e4 x <{name}@example.org>"
        assert who_commits(name, session)["stdout"] == f"{whole} {whole}\n"
    assert len(sessions.listed()) == 1
    assert "tell me who you are" in who_commits("nobody", "agent:main:b")["stderr"]
    assert who_commits("ben", "agent:main:b", "GIT_AUTHOR_NAME=other; export GIT_AUTHOR_NAME; " + commit)["stdout"].startswith("other <ben@")
    seen = who_commits("nobody", "agent:main:b", "cat /etc/gitconfig; env | grep GIT_; git config user.name; true")
    assert "ann" not in seen["stdout"] and "ben" not in seen["stdout"], seen
