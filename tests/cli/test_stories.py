# SPDX-License-Identifier: Apache-2.0
"""What people come with: the stories and recipes, typed as they would type them."""
import json
import subprocess

import pytest

from test_explain import rows

MINIMAL = """{
  agents: { defaults: { sandbox: { mode: "non-main", scope: "session", workspaceAccess: "none" } } },
}"""
GROUPS = """{
  agents: { defaults: { sandbox: { mode: "non-main", scope: "session", workspaceAccess: "none" } } },
  tools: { sandbox: { tools: {
    allow: ["group:messaging", "group:sessions"],
    deny: ["group:runtime", "group:fs", "group:ui", "nodes", "cron", "gateway"],
  } } },
}"""
GROUP = "agent:main:telegram:group:-100123"


def verdict(creel, *args):
    record = creel.explain(*args)
    return record["verdict"], record["code"]


# ---- the author of an agent framework ----

def test_untrusted_session_gets_a_container_without_any_file(creel):
    assert creel("config", "check", status=0).out.startswith("ok, 0 errors")
    got = creel("explain", "--session", "untrusted:pr-482", "--tool", "bash", "--", "pytest", "-q", status=0)
    row = rows(got.out)
    assert row["identity"] == "agent=main session=untrusted:pr-482 main=no via=cli"
    assert row["mode"].startswith("trust=docker (built-in prefix untrusted:*)")
    assert "caps=fs.read,fs.write,proc.exec" in row["mode"]
    assert row["tool"].startswith("exec (alias bash) allowed")
    assert row["backend"].startswith("native container, lifetime=session, enforce=require")
    assert row["network"].startswith("network=none")
    assert "capability net" in row["network"]
    assert f"{creel.cwd} -> /sandbox (workspace, read-only lower + private upper)" in row["mounts"]
    assert "LANG" in row["env"]
    assert row["limits"].startswith("30 s, 512m, 128 pids")
    assert "stdout 80000" in row["limits"]
    assert row["verdict"] == "ALLOW"


def test_secrets_are_withheld_from_an_untrusted_session(creel):
    creel.file("c.json5", "{ env: { set: { GH_TOKEN: '${GH_TOKEN}' } } }")
    args = ["-c", "c.json5", "--session", "untrusted:pr-482", "--tool", "exec", "--", "true"]
    assert "GH_TOKEN withheld (" in rows(creel("explain", *args, env={"GH_TOKEN": "x"}).out)["env"]
    assert creel.explain(*args)["env"]["GH_TOKEN"] == "withheld"


@pytest.mark.item("S0-36")
def test_git_is_refused_in_s0s_words(creel):
    record = creel.explain("--session", "untrusted:pr-482", "--tool", "git", "--", "git", "push", status=126)
    assert record["code"] == "capability_denied"
    assert record["message"] == "Action 'git' denied in sandbox mode 'docker'"


# ---- the operator at home ----

@pytest.mark.item("S1-60")
def test_minimal_recipe_sandboxes_groups_and_not_the_main_session(creel):
    creel.file("openclaw.json", MINIMAL)
    main = creel.explain("-c", "openclaw.json", "--session", "agent:main:main", "--tool", "exec", "--", "true", status=0)
    assert (main["backend"]["place"], main["mode"]["sandboxed"]) == ("host", False)
    group = creel.explain("-c", "openclaw.json", "--session", GROUP, "--tool", "exec", "--", "true", status=0)
    assert (group["backend"]["place"], group["mode"]["sandboxed"]) == ("container", True)
    assert group["network"]["route"] == "none"


@pytest.mark.item("S1-61", "S1-62")
def test_groups_recipe(creel):
    creel.file("openclaw.json", GROUPS)
    for tool in ["exec", "process", "read", "write", "edit", "apply_patch", "browser", "canvas", "nodes", "cron", "gateway"]:
        command = ["--", "true"] if tool == "exec" else []
        got = verdict(creel, "-c", "openclaw.json", "--session", GROUP, "--tool", tool, *command)
        assert got == ("DENY", "tool_denied_by_policy"), tool
        got = verdict(creel, "-c", "openclaw.json", "--session", "agent:main:main", "--tool", tool, *command)
        assert got == ("ALLOW", "ok"), tool
    for tool in ["message", "sessions_list", "sessions_send", "session_status"]:
        assert verdict(creel, "-c", "openclaw.json", "--session", GROUP, "--tool", tool) == ("ALLOW", "ok"), tool


def test_refusal_names_the_list_and_the_fix(creel):
    creel.file("openclaw.json", GROUPS)
    got = creel("explain", "--config", "openclaw.json", "--session", GROUP, "--tool", "exec", "--", "true", status=126)
    assert "DENY tool_denied_by_policy" in got.out
    assert "openclaw.json:5:" in got.out
    assert "fixIt      tools.sandbox.deny: remove " in got.out


def test_guard_caller_of_a_listed_pair(creel):
    creel.file("allowlist.json", {"telegram": [{"agent": "g-coder", "chat_id": "-100123"}]})
    guard = ["-c", "allowlist:allowlist.json", "--via", "guard", "--channel", "telegram", "--agent", "g-coder"]
    env = {"SANDBOX_GUARD_TOKEN": "t"}
    ok = creel("explain", "--json", *guard, "--chat-id", "-100123", "--tool", "file_read", env=env, status=0).json
    assert ok["identity"]["session_key"] == "agent:g-coder:telegram:group:-100123"
    assert ok["backend"]["lifetime"] == "job"
    other = creel("explain", "--json", *guard, "--chat-id", "-999", "--tool", "file_read", env=env, status=126).json
    assert other["code"] == "pair_not_allowed"
    shell = creel("explain", "--json", *guard, "--chat-id", "-100123", "--tool", "shell_exec", "--", "bash", "-c", "id",
                  env=env, status=126).json
    assert shell["code"] == "shell_denied"


@pytest.mark.item("S3-30", "S3-41", "S3-44", "D3-1")
def test_bilrost_routes_gh_and_isolates_what_only_looks_like_it(creel):
    common = ["--profile", "bilrost", "--session", "agent:main:main", "--tool", "execute"]
    env = {"GH_TOKEN": "t"}
    ok = creel.explain(*common, "--", "gh", "pr", "create", "--title", "Fix bug", env=env, status=0)
    assert (ok["network"]["route"], ok["network"]["network"]) == ("network", "bridge")
    assert ok["env"]["GH_TOKEN"] == "set"
    text = creel.explain(*common, "--command", 'gh pr create --title "Fix bug"', env=env, status=0)
    assert text["network"]["route"] == "network"
    assert text["tool"]["argv"] == ["gh", "pr", "create", "--title", "Fix bug"]
    for command in ["gh --version; curl https://evil.example", "gh `id`", "GH_HOST=x gh pr list", "env gh pr list",
                    "gh pr list | sh"]:
        isolated = creel.explain(*common, "--command", command, env=env)
        assert isolated["network"]["network"] == "none", command
        assert isolated["env"].get("GH_TOKEN") != "set", command


def test_story_pipe_to_jq(creel):
    shown = creel("--profile", "bilrost", "-e", '{"sandbox_network_exec_allow_extra":["npm"]}', "config", "show", "--as",
                  "openclaw-json5", status=0).out
    out = subprocess.run(["jq", "-c", ".agents.defaults.sandbox.networkExecAllow"], input=shown, capture_output=True,
                         text=True, check=True).stdout
    assert json.loads(out) == ["gh", "npm"]


# ---- continuous integration ----

def test_ci_profile(creel):
    record = creel.explain("--profile", "ci", "--session", "untrusted:pr-7", "--tool", "exec", "--", "make", "test",
                           env={"GH_TOKEN": "x", "HOME_SECRET": "y"}, status=0)
    assert record["mode"]["enforce"] == "require"
    assert record["network"]["network"] == "none"
    assert record["mounts"][0]["overlay"] is True
    assert (record["limits"]["pids"], record["limits"]["cpus"], record["limits"]["memory"]) == (512, 2, 2 << 30)
    assert "GH_TOKEN" not in [name for name, state in record["env"].items() if state == "set"]
    assert {"CI", "LANG"} <= set(record["env"])


# ---- the security reviewer ----

def test_reviewer_compares_two_configurations(creel):
    creel.file("old.json5", "{ mode: { when: 'all' } }")
    creel.file("new.json5", "{ mode: { when: 'all' }, tools: { sandbox: { alsoAllow: ['browser'] } } }")
    a, b = (creel("explain", "--matrix", "--config", c, status=0).out for c in ("old.json5", "new.json5"))
    changed = [y for x, y in zip(a.splitlines(), b.splitlines()) if x != y]
    assert changed and all(" browser " in line for line in changed)


def test_reviewer_is_warned(creel):
    creel.file("c.json5", """{
      identity: { tokens: [ { ref: 'env:T', pairs: '*' } ] },
      serve: { bind: '0.0.0.0:8080' }, tools: { per: { shell: { enforce: 'prefer' } } },
      mounts: { binds: ['/srv/data:/data:rw'] },
    }""")
    got = creel("config", "check", "--strict", "-c", "c.json5", status=125)
    assert got.out.count("warning: ") >= 3


@pytest.mark.parametrize("config, code", [
    ("{ mode: { when: 'all' }, network: { primary: 'host' } }", "network_host_blocked"),
    ("{ mode: { when: 'all' }, network: { primary: 'HOST' } }", "network_host_blocked"),
    ("{ mode: { when: 'all' }, network: { primary: ' container:abc' } }", "network_join_blocked"),
    ("{ mode: { when: 'all' }, mounts: { binds: ['/var/run/docker.sock:/s:ro'] } }", "bind_blocked"),
    ("{ mode: { when: 'all' }, mounts: { binds: ['/etc:/e:ro'] } }", "bind_blocked"),
    ("{ mode: { when: 'all' }, mounts: { binds: ['/srv/../proc:/p:ro'] } }", "bind_blocked"),
    ("{ mode: { when: 'all' }, mounts: { binds: ['/:/r:ro'] } }", "bind_blocked"),
    ("{ mode: { when: 'all' }, mounts: { binds: ['/srv/x:/workspace:ro'] } }", "bind_reserved_target"),
])
def test_reviewer_sees_dangerous_settings_refused(creel, config, code):
    creel.file("c.json5", config)
    record = creel.explain("-c", "c.json5", "--tool", "exec", "--", "true", status=126)
    assert record["code"] == code


def test_requests_of_a_caller_do_not_change_policy_from_another_door(creel):
    creel.file("allowlist.json", {"telegram": [{"agent": "g", "chat_id": "-1"}]})
    args = ["-c", "allowlist:allowlist.json", "--via", "guard", "--channel", "telegram", "--agent", "g", "--chat-id", "-1",
            "--tool", "file_read"]
    plain = creel.explain(*args)
    flagged = creel.explain(*args, "--sandbox", "none", "--allow-weaken")
    assert flagged["mode"] == plain["mode"]
    assert flagged["backend"]["place"] == plain["backend"]["place"]
