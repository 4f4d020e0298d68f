# SPDX-License-Identifier: Apache-2.0
"""The documents' own samples, pasted as they stand there, and what they decide; and the map of requirements itself."""
import fnmatch
import itertools
import json
import re
import shutil
import subprocess

import pytest

from conftest import ROOT

GROUP = "agent:main:telegram:group:-100123"


def decide(creel, *args, tool="exec", command=("true",), **kw):
    """The record of one call; a command only where the tool takes one."""
    words = ["--", *command] if tool in ("exec", "bash", "shell", "execute", "code_exec") else []
    return creel("explain", "--json", *args, "--tool", tool, *words, **kw).json


def binds(record):
    return {m["target"]: (m["host"], m["writable"]) for m in record["mounts"] if m["source"] in ("bind", "vault")}


# ---- S0: .athena/settings.yaml ----

ATHENA = """# .athena/settings.yaml
sandbox:
  default_mode: none
  
  rules:
    # clients
    - match: "client:*"
      mode: light
      deny: [secrets, external_api, git_push]
    
    # strangers
    - match: "untrusted:*"
      mode: docker
      allow: [bash, read, edit]
      deny: [browser, network, git]
    
    # readers
    - match: "analysis:*"
      mode: readonly
      allow: [read, search]
      deny: [write, bash, git]
"""
S0_ANSWERS = {  # session: mode, what it may, what it may not
    "client:leon": ("light", ["read", "write", "edit", "bash", "git", "browser"],
                    ["secrets", "external_api", "git_push", "network", "web_fetch"]),
    "untrusted:pr-482": ("docker", ["bash", "read", "edit"], ["browser", "network", "git", "write", "search", "secrets"]),
    "analysis:q3": ("readonly", ["read", "search"], ["write", "edit", "bash", "git", "network", "browser"]),
    "agent:code:feature-x": ("none", ["read", "write", "bash", "git", "git_push", "network", "secrets", "browser"], []),
}


@pytest.mark.parametrize("session", S0_ANSWERS)
def test_s0_12_to_14_the_printed_settings_decide_as_they_say(creel, session):
    creel.file(".athena/settings.yaml", ATHENA)
    mode, may, may_not = S0_ANSWERS[session]
    for tool in may:
        record = decide(creel, "--session", session, tool=tool)
        assert (record["verdict"], record["mode"]["trust"]) == ("ALLOW", mode), tool
    for tool in may_not:
        record = decide(creel, "--session", session, tool=tool)
        assert (record["verdict"], record["code"]) == ("DENY", "capability_denied"), tool
        assert record["message"] == f"Action '{tool}' denied in sandbox mode '{mode}'"


def test_s0_9_the_file_belongs_to_the_project_in_which_one_stands(creel):
    creel.file(".athena/settings.yaml", ATHENA.replace("client:*", "team:*"))
    assert creel.explain("--session", "team:x")["mode"]["trust"] == "light"
    elsewhere = creel.home / "elsewhere"
    elsewhere.mkdir()
    assert creel.explain("--session", "team:x", cwd=elsewhere)["mode"]["trust"] == "none"


@pytest.mark.parametrize("session, mode", [("main:x", "none"), ("client:leon", "light"), ("untrusted:x", "docker"),
                                           ("analysis:x", "readonly"), ("proxy:draft", "light"), ("anything", "none")])
def test_s0_25_explain_tells_the_mode_of_a_session_without_any_file(creel, session, mode):
    assert creel.explain("--session", session)["mode"]["trust"] == mode


PATTERNS = ["client:*", "*", "c?ient:leon", "client", "*:leon", "[ac]*", "[!c]*", "client:[l-n]*", "*e*:*o*", "clien[", "CLIENT:*",
            "*.*", "**", "client:\\*"]
KEYS = ["client:leon", "client:", "Client:leon", "analysis:x", "xclient:leon", "clien[", "client:a.b/c", "client:*"]


def test_s0_29_a_pattern_matches_exactly_what_fnmatch_matches(creel):
    for pattern in PATTERNS:
        creel.file("s.yaml", "sandbox:\n  rules:\n    - match: '%s'\n      mode: readonly\n" % pattern)
        for key in KEYS:
            rule = creel.explain("-c", "athena:s.yaml", "-e", "athena.literal_compat=true", "--session", key)["mode"]["pattern"]
            assert (rule == pattern) == fnmatch.fnmatchcase(key, pattern), (pattern, key)


def test_s0_36_the_command_line_enforces_and_says_so_with_its_exit_status(creel):
    refused = creel("explain", "--session", "untrusted:x", "--tool", "git", status=126)
    assert "Action 'git' denied in sandbox mode 'docker'" in refused.out
    assert "fixIt      mode.trust.rules: add " in refused.out and " --sandbox light --allow-weaken\n" in refused.out
    assert "\n\tfix: --sandbox docker\n" in creel("run", "--sandbox", "readonly", "--", "ls", status=126).err
    creel("explain", "--session", "main:x", "--tool", "git", status=0)


def test_s0_60_to_63_at_the_start_the_mode_of_this_session_is_told_unless_it_is_none(creel):
    creel.file(".athena/settings.yaml", ATHENA)
    assert creel("explain", "--session", "client:leon").out.splitlines()[0] == "🔒 Sandbox mode: light"
    own = creel("explain")
    assert "agent:main:main" in own.out
    assert "🔒" not in own.out


# ---- S1: openclaw.json ----

BINDS = """{
  agents: {
    defaults: {
      sandbox: {
        docker: {
          binds: [
            "/home/user/source:/source:ro",
            "/var/data/myapp:/data:ro",
          ],
        },
      },
    },
    list: [{
      id: "build",
      sandbox: {
        docker: {
          binds: ["/mnt/cache:/cache:rw"],  // its own
        },
      },
    }],
  },
}
"""
DOCKER = """{
  agents: {
    defaults: {
      sandbox: {
        docker: {
          network: "none",              // nothing goes out
          // network: "bridge",
          readOnlyRoot: true,
          user: "1000:1000",
          setupCommand: "apt-get update && apt-get install -y python3",
          env: {                        // inside
            MY_VAR: "value",
          },
        },
      },
    },
  },
}
"""
SUPPORT = """{
  agents: {
    list: [{
      id: "support",
      sandbox: {
        mode: "all",                    // this agent alone
        scope: "session",
        workspaceAccess: "none",
        docker: { binds: [] },
      },
      tools: {
        sandbox: {
          tools: {
            allow: ["group:messaging"],
            deny: ["group:runtime", "group:fs"],
          },
        },
      },
    }],
  },
}
"""
MINIMAL = """{
  agents: {
    defaults: {
      sandbox: {
        mode: "non-main",
        scope: "session",
        workspaceAccess: "none",
      },
    },
  },
}
"""


def test_s1_21_s1_22_the_bind_sample_mounts_both_lists_and_shows_that_they_are_the_hosts(creel):
    creel.file("openclaw.json", BINDS)
    args = ["-c", "openclaw.json", "-e", "mode.when=all", "--session", "agent:build:main"]
    record = decide(creel, *args)
    assert record["verdict"] == "ALLOW"
    assert binds(record) == {"/source": ("/home/user/source", False), "/data": ("/var/data/myapp", False),
                             "/cache": ("/mnt/cache", True)}
    text = creel("explain", *args, "-v", "--tool", "read", status=0).out
    for shown in ["/home/user/source -> /source (bind, ro", "/mnt/cache -> /cache (bind, rw", "shows the host's files as they are"]:
        assert shown in text
    # as it stands there, without a mode, nothing is sandboxed, so nothing is mounted
    assert decide(creel, "-c", "openclaw.json")["mounts"] == []


def test_s1_31_to_42_the_docker_sample_decides_and_its_setup_is_diagnosed(creel):
    creel.file("openclaw.json", DOCKER)
    record = decide(creel, "-c", "openclaw.json", "-e", "mode.when=all", env={"OPENAI_API_KEY": "k", "MY_OTHER": "v"})
    assert (record["verdict"], record["network"]["network"]) == ("ALLOW", "none")
    assert record["env"]["MY_VAR"] == "set"
    assert not {"OPENAI_API_KEY", "MY_OTHER"} & set(record["env"])
    assert record["limits"]["run_setup"] is True
    shown = creel("config", "show", "-c", "openclaw.json", "--as", "openclaw", status=0).json
    docker = shown["agents"]["defaults"]["sandbox"]["docker"]
    assert (docker["user"], docker["readOnlyRoot"]) == ("1000:1000", True)
    assert docker["setupCommand"] == "apt-get update && apt-get install -y python3"
    found = creel("config", "check", "-c", "openclaw.json", "-e", "mode.when=all", "--json", status=0).json["findings"]
    assert {"setup_needs_root", "setup_readonly_root", "setup_no_network"} <= {f["code"] for f in found}


@pytest.mark.parametrize("network, code", [("host", "network_host_blocked"), ("container:abc", "network_join_blocked")])
def test_s1_33_s1_34_the_two_forbidden_networks_are_refused_in_the_same_place(creel, network, code):
    creel.file("openclaw.json", DOCKER.replace('network: "none",', f'network: "{network}",'))
    assert decide(creel, "-c", "openclaw.json", "-e", "mode.when=all", status=126)["code"] == code


@pytest.mark.parametrize("source", ["/var/run/docker.sock", "/etc", "/proc", "/sys", "/dev", "/etc/passwd", "/proc/1/root"])
def test_s1_23_to_27_a_dangerous_source_in_the_bind_sample_is_refused(creel, source):
    creel.file("openclaw.json", BINDS.replace("/var/data/myapp", source))
    record = decide(creel, "-c", "openclaw.json", "-e", "mode.when=all", status=126)
    assert record["code"] == "bind_blocked"
    assert source in record["message"]


def test_s1_45_no_setting_takes_the_password_from_the_browsers_observer(creel):
    keys = [k for k in creel("config", "keys", status=0).out.split() if "vnc" in k.lower()]
    assert sorted(keys) == ["browser.noVncEnabled", "browser.noVncPort", "browser.vncPort"]
    assert "password" in creel("config", "schema", status=0).json["properties"]["browser"]["properties"]["noVncEnabled"]["description"]
    for key in ["noVncPassword", "noVncAuth"]:
        creel.file("openclaw.json", {"agents": {"defaults": {"sandbox": {"browser": {key: ""}}}}})
        creel("config", "check", "-c", "openclaw:openclaw.json", status=125)


def test_s1_54_the_support_sample_leaves_that_agent_messages_and_nothing_else(creel):
    creel.file("openclaw.json", SUPPORT)
    args = ["-c", "openclaw.json", "--session", "agent:support:main"]
    assert creel.explain(*args)["mode"] | {"caps": 0} == {
        "trust": "none", "when": "all", "enforce": "require", "sandboxed": True, "place_min": "container", "caps": 0, "pattern": None}
    assert decide(creel, *args, tool="message")["verdict"] == "ALLOW"
    for tool in ["exec", "process", "read", "write", "edit", "apply_patch", "sessions_list", "browser"]:
        assert decide(creel, *args, tool=tool)["code"] == "tool_denied_by_policy", tool
    assert creel.explain(*args)["workspace_access"] == "none"


def test_s1_60_the_minimal_recipe_as_printed(creel):
    creel.file("openclaw.json", MINIMAL)
    main = decide(creel, "-c", "openclaw.json", "--session", "agent:main:main", status=0)
    group = decide(creel, "-c", "openclaw.json", "--session", GROUP, status=0)
    assert (main["backend"]["place"], group["backend"]["place"]) == ("host", "container")
    assert (group["backend"]["lifetime"], group["backend"]["key"], group["workspace_access"]) == ("session", GROUP, "none")
    assert group["mounts"][0]["host"].startswith(f"{creel.home}/.openclaw/sandboxes/")


def test_s1_61_s1_62_the_groups_recipe_as_printed(creel):
    shutil.copy(ROOT / "tests/data/openclaw/groups.json5", creel.cwd / "openclaw.json")
    for tool in ["exec", "process", "read", "write", "edit", "apply_patch", "browser", "canvas", "nodes", "cron", "gateway"]:
        assert decide(creel, "-c", "openclaw.json", "--session", GROUP, tool=tool)["code"] == "tool_denied_by_policy", tool
        assert decide(creel, "-c", "openclaw.json", tool=tool)["verdict"] == "ALLOW", tool
    for tool in ["message", "sessions_list", "sessions_history", "sessions_send", "sessions_spawn", "session_status"]:
        assert decide(creel, "-c", "openclaw.json", "--session", GROUP, tool=tool)["verdict"] == "ALLOW", tool


# ---- S3: openclaw.json of the two containers, and the role's variables ----

BILROST = """{
  "agents": {
    "defaults": {
      "sandbox": {
        "mode": "all",
        "scope": "session",
        "workspaceAccess": "rw",
        "docker": {
          "network": "none",
          "env": {
            "GH_TOKEN": "${GH_TOKEN}",
            "BRAVE_API_KEY": "${BRAVE_API_KEY}"
          }
        },
        "networkAllow": ["web_fetch", "web_search"],
        "networkExecAllow": ["gh"],
        "networkDocker": {
          "network": "bridge"
        }
      }
    }
  }
}
"""
KEYS_SET = {"GH_TOKEN": "t", "BRAVE_API_KEY": "k"}
ROLE = "ansible/roles/sandbox/defaults/main.yml"


def route(creel, *args, command=None, tool="execute"):
    words = ["--command", command] if command else []
    record = creel("explain", "--json", *args, "--session", "agent:main:main", "--tool", tool, *words, env=KEYS_SET, status=0).json
    return record["network"]["network"], record["env"].get("GH_TOKEN"), record["network"]["twin"]


def test_s3_32_to_40_the_sample_of_the_two_containers_routes_as_it_says(creel):
    creel.file("openclaw.json", BILROST)
    sample = ["-c", "openclaw.json"]
    assert route(creel, *sample, command='gh pr create --title "Fix bug"') == ("bridge", "set", True)
    assert route(creel, *sample, tool="web_fetch") == ("bridge", "set", True)
    assert route(creel, *sample, tool="web_search") == ("bridge", "set", True)
    assert route(creel, *sample, tool="read") == ("none", "withheld", True)
    assert route(creel, *sample, command="npm install") == ("none", "withheld", True)
    assert route(creel, *sample, command="gh x; curl y") == ("none", "withheld", True)
    record = decide(creel, *sample)
    assert (record["mode"]["when"], record["backend"]["lifetime"], record["workspace_access"]) == ("all", "session", "rw")
    assert record["mounts"][0]["target"] == "/workspace" and record["mounts"][0]["writable"]
    creel("config", "check", "--strict", *sample, status=0)


@pytest.mark.parametrize("lists, line", [({"networkExecAllow": ["gh"]}, "gh api"), ({"networkAllow": ["execute"]}, "ls; curl y")])
def test_d3_2_one_of_the_two_lists_is_enough_for_the_network_container(creel, lists, line):
    sandbox = {"mode": "all", "docker": {"network": "none"}, "networkDocker": {"network": "bridge"}, **lists}
    creel.file("openclaw.json", {"agents": {"defaults": {"sandbox": sandbox}}})
    network, _, twin = route(creel, "-c", "openclaw.json", command=line)
    assert (network, twin) == ("bridge", True)


def test_s3_43_s3_44_s3_48_extras_on_the_command_line_join_the_lists(creel):
    extra = ["-e", '{"sandbox_network_allow_extra": ["mcp_fetch"]}', "-e", '{"sandbox_network_exec_allow_extra": ["curl", "npm"]}']
    shown = creel(*extra, "config", "show", "--as", "openclaw", status=0).json["agents"]["defaults"]["sandbox"]
    assert shown["networkAllow"] == ["web_fetch", "web_search", "mcp_fetch"]
    assert shown["networkExecAllow"] == ["gh", "curl", "npm"]
    for line in ["gh api", "curl https://example.com", "npm ci"]:
        assert route(creel, *extra, command=line)[0] == "bridge", line
    assert route(creel, *extra, command="make")[0] == "none"


def test_s3_49_one_bridge_for_every_tool(creel):
    flag = ["-e", "sandbox_docker_network=bridge"]
    for line in ["ls", "gh api", "npm install"]:
        assert route(creel, *flag, command=line) == ("bridge", "set", False), line
    assert route(creel, *flag, tool="read")[0] == "bridge"


def test_s3_50_no_network_for_any_tool(creel):
    flag = ["-e", '{"sandbox_network_allow": [], "sandbox_network_exec_allow": []}']
    for line in ["ls", "gh api", "npm install"]:
        assert route(creel, *flag, command=line) == ("none", "withheld", False), line
    assert route(creel, *flag, tool="web_fetch")[0] == "none"


def test_s3_54_two_containers_are_what_one_gets_without_asking(creel):
    assert route(creel, "--profile", "bilrost", command="gh api") == ("bridge", "set", True)
    assert route(creel, "--profile", "bilrost", command="make") == ("none", "withheld", True)


def test_s3_71_s3_74_the_vault_sample_and_its_lock(creel):
    creel.file("openclaw.json", """{
  "agents": {
    "defaults": {
      "sandbox": {
        "docker": {
          "binds": ["/workspace-obsidian:/workspace-obsidian:rw"]
        }
      }
    }
  }
}
""")
    record = decide(creel, "-c", "openclaw.json", "-e", "mode.when=all", status=0)
    assert binds(record) == {"/workspace-obsidian": ("/workspace-obsidian", True)}
    record = decide(creel, "-e", "sandbox_vault_access=ro", status=0)
    assert binds(record) == {"/workspace-obsidian": ("/workspace-obsidian", False)}
    assert [m["optional"] for m in record["mounts"] if m["source"] == "vault"] == [True]


@pytest.mark.parametrize("flag", ["sandbox_docker_network=host", "sandbox_network_docker_network=host"])
def test_s3_86_s3_91_the_word_host_is_read_and_never_carried_out(creel, flag):
    record = creel("explain", "--json", "-e", flag, "--tool", "execute", "--command", "gh api", env=KEYS_SET, status=126).json
    assert record["code"] == "network_host_blocked"


def test_s3_95_any_variable_is_overridden_on_the_command_line(creel):
    both = ["-e", "sandbox_docker_network=none", "-e", "sandbox_workspace_access=ro"]
    record = decide(creel, *both, status=0)
    assert (record["network"]["network"], record["workspace_access"]) == ("none", "ro")
    assert decide(creel, *both, tool="write", status=126)["code"] == "tool_denied_by_policy"


def test_s3_23_s3_24_the_roles_file_becomes_the_block_of_openclaw_json(creel):
    shutil.copytree(ROOT / "examples/bilrost", (creel.cwd / ROLE).parent)
    shown = creel("config", "show", "-c", ROLE, "--as", "openclaw", status=0)
    creel.file("openclaw.json", shown.out)
    want = json.loads(BILROST)["agents"]["defaults"]["sandbox"]
    have = shown.json["agents"]["defaults"]["sandbox"]
    for key in ["mode", "scope", "workspaceAccess", "networkAllow", "networkExecAllow", "networkDocker"]:
        assert have[key] == want[key], key
    assert {k: have["docker"][k] for k in ("network", "env")} == want["docker"]
    for question in [{"tool": "read"}, {"command": "gh api"}, {"command": "make"}, {"tool": "web_search"}]:
        assert route(creel, "-c", ROLE, **question) == route(creel, "-c", "openclaw.json", **question), question


# ---- S4: appsettings.json ----

NET = """{
  "OpenClaw": {
    "Sandbox": {
      "Provider": "OpenSandbox",
      "Endpoint": "http://localhost:5000",
      "ApiKey": "env:OPEN_SANDBOX_API_KEY",
      "DefaultTTL": 300,
      "Tools": {
        "shell": {
          "Mode": "Prefer",
          "Template": "alpine:3.20",
          "TTL": 300
        },
        "code_exec": {
          "Mode": "Prefer",
          "Template": "nikolaik/python-nodejs:python3.12-nodejs22-slim",
          "TTL": 300
        },
        "browser": {
          "Mode": "Prefer",
          "Template": "mcr.microsoft.com/playwright:v1.52.0-noble",
          "TTL": 600
        }
      }
    }
  }
}
"""
STRICT = NET.replace('"Prefer"', '"Require"', 1)
OPT_OUT = '{ "OpenClaw": { "Sandbox": { "Provider": "None" } } }\n'
LOCAL = """{
  "OpenClaw": {
    "Sandbox": {
      "Provider": "None"
    }
  }
}
"""
THERE = ["--assume-backends", "opensandbox"]


def backend(creel, text, tool, *args, **kw):
    creel.file("appsettings.json", text)
    return decide(creel, "-c", "appsettings.json", *args, tool=tool, **kw)["backend"]


@pytest.mark.parametrize("text", [OPT_OUT, LOCAL, "{}", '{ "Logging": {} , "OpenClaw": {} }'],
                         ids=["S4-6", "S4-34", "empty", "no sandbox"])
def test_s4_2_s4_5_s4_6_s4_34_without_a_provider_everything_is_local_and_nothing_is_in_the_way(creel, text):
    for tool in ["shell", "code_exec", "browser", "read"]:
        got = backend(creel, text, tool, status=0)
        assert (got["place"], got["provider"]) == ("host", "None"), tool
    creel("config", "check", "--strict", "-c", "appsettings.json", status=0)


@pytest.mark.parametrize("tool, image, ttl", [
    ("shell", "alpine:3.20", 300),
    ("code_exec", "nikolaik/python-nodejs:python3.12-nodejs22-slim", 300),
    ("browser", "mcr.microsoft.com/playwright:v1.52.0-noble", 600),
])
def test_s4_31_to_33_the_sample_gives_each_tool_its_image_and_lifetime(creel, tool, image, ttl):
    got = backend(creel, NET, tool, *THERE, status=0)
    assert (got["name"], got["place"], got["lifetime"]) == ("opensandbox", "remote", "lease")
    assert (got["image"], got["ttl_s"], got["may_fall_back"]) == (image, ttl, True)
    assert got["key"] == f"agent:main:main:{tool}"


def test_s4_36_the_stricter_sample_requires_the_sandbox_for_the_shell_alone(creel):
    assert backend(creel, STRICT, "shell", *THERE, status=0)["may_fall_back"] is False
    assert backend(creel, STRICT, "code_exec", *THERE, status=0)["may_fall_back"] is True
    public = ["-e", "serve.bind=0.0.0.0"]
    assert backend(creel, STRICT, "shell", *THERE, *public, status=0)["place"] == "remote"
    creel.file("appsettings.json", NET)
    found = creel("config", "check", "-c", "appsettings.json", *public, "--json").json["findings"]
    assert "prefer_public_bind" in {f["code"] for f in found}


@pytest.mark.parametrize("text", [NET, STRICT], ids=["prefer", "require"])
def test_s4_3_s4_4_s4_23_the_standard_build_says_which_option_is_missing(creel, text):
    creel.file("appsettings.json", text)
    record = decide(creel, "-c", "appsettings.json", tool="shell", status=126)
    assert record["code"] == "backend_not_built"
    assert "-Dopensandbox=true" in record["message"]
    assert "-Dopensandbox=true" in creel("config", "check", "-c", "appsettings.json", status=125).err
    assert record["fixIt"][0].startswith("backend.opensandbox.provider=None with mode.when=all")
    there = decide(creel, "-c", "appsettings.json", "-e", "backend.opensandbox.provider=None", "-e", "mode.when=all", tool="shell", status=0)
    assert there["backend"]["place"] == "container"


def test_s4_16_s4_37_provider_none_wins_over_modes_that_are_still_there(creel):
    for text, tool in itertools.product([NET, STRICT], ["shell", "code_exec", "browser"]):
        got = backend(creel, text.replace('"OpenSandbox"', '"None"'), tool, status=0)
        assert got["place"] == "host", tool


# ---- the map ----

CHECK = ROOT / "scripts/check-checklist.py"


def check_map(root):
    return subprocess.run(["/usr/bin/python3", CHECK, root], capture_output=True, text=True, check=False)


@pytest.fixture
def tree(tmp_path):
    """The map and the tests that it names, to be spoilt."""
    for part in ["docs", "tests", "fuzz"]:
        shutil.copytree(ROOT / part, tmp_path / "tree" / part, ignore=shutil.ignore_patterns("vectors", "corpus", "__pycache__"))
    return tmp_path / "tree"


def spoil(tree, pattern, replacement):
    path = tree / "docs/checklist.md"
    text, count = re.subn(pattern, replacement, path.read_text(), count=1, flags=re.M)
    assert count == 1
    path.write_text(text)


def test_the_map_is_complete(tree):
    done = check_map(tree)
    assert done.returncode == 0, done.stdout


@pytest.mark.parametrize("pattern, replacement, complaint", [
    (r"^\| S0-4 \|.*\n", "", "S0-4 has no row"),
    (r"^\| C33 \|.*\n", "", "C33 has no row"),
    (r"^(\| S0-5 \|.*\n)", r"\1\1", "S0-5 has two rows"),
    (r"^\| S0-6 \| ([^|]*) \|.*\n", r"| S0-6 | \1 | a_test_that_nobody_wrote |\n", "no test is called a_test_that_nobody_wrote"),
    (r"^\| S0-6 \| ([^|]*) \|.*\n", r"| S0-6 | \1 | later: services |\n", "S0-6 needs a test"),
    (r"^\| S4-51 \| ([^|]*) \|.*\n", r"| S4-51 | \1 | later: |\n", "later, but not what it waits for"),
    (r"^\| S4-51 \| ([^|]*) \|.*\n", r"| S4-51 | \1 |  |\n", "S4-51 has neither a test nor what it waits for"),
    (r"^\| S4-53 \|", "| S4-54 |", "S4-54 is no requirement"),
    (r"^\| S4-52 \| ([^|]*) \|", "| S4-52 |  |", "S4-52 does not say what it is about"),
])
def test_a_map_with_a_hole_is_refused(tree, pattern, replacement, complaint):
    spoil(tree, pattern, replacement)
    done = check_map(tree)
    assert done.returncode == 1
    assert complaint in done.stdout


def test_a_test_in_a_file_that_is_not_built_does_not_count(tree):
    path = tree / "tests/unit/meson.build"
    text = path.read_text()
    assert "'contradictions', " in text
    path.write_text(text.replace("'contradictions', ", ""))
    done = check_map(tree)
    assert done.returncode == 1
    assert "tests/unit/policy/test_contradictions.c is not built" in done.stdout
