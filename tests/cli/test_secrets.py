# SPDX-License-Identifier: Apache-2.0
"""Values of secrets are in no output, wherever a configuration refers to them and however one asks."""
import itertools
import json
import re

import pytest

SECRET = "S3cr3t-4f9c1e7b"
ENV = {name: SECRET for name in [
    "GH_TOKEN", "BRAVE_API_KEY", "OPEN_SANDBOX_API_KEY", "SANDBOX_GUARD_TOKEN", "MY_PATH", "MY_IMAGE", "MY_NET", "MY_TOOL",
    "MY_HOST", "MY_SENDER", "MY_AGENT", "MY_MODE", "MY_NUMBER"]}

OPENCLAW = {
    "agents": {
        "defaults": {
            "workspace": "/srv/${MY_PATH}/ws",
            "sandbox": {
                "mode": "all", "scope": "session", "workspaceAccess": "ro", "workspaceRoot": "/srv/${MY_PATH}",
                "docker": {
                    "image": "${MY_IMAGE}:1", "network": "net-${MY_NET}", "workdir": "/w/${MY_PATH}", "user": "${MY_PATH}",
                    "setupCommand": "echo ${MY_PATH}", "dns": ["${MY_HOST}"], "extraHosts": ["${MY_HOST}:1.2.3.4"],
                    "binds": ["/srv/${MY_PATH}/ws/x:/data/${MY_PATH}:ro"], "containerPrefix": "p-${MY_PATH}-",
                    "env": {"GH_TOKEN": "${GH_TOKEN}", "MIXED": "a-${BRAVE_API_KEY}-b", "PLAIN_PASSWORD": SECRET},
                    "tmpfs": ["/t/${MY_PATH}"], "capDrop": ["ALL"], "memory": "1g",
                },
            },
        },
        "list": [{"id": "main", "default": True, "workspace": "/srv/${MY_PATH}/own"}],
    },
    "tools": {
        "allow": ["exec", "read", "${MY_TOOL}"], "deny": ["x-${MY_TOOL}"],
        "sandbox": {"tools": {"allow": ["exec", "s-${MY_TOOL}"], "deny": ["d-${MY_TOOL}"]}},
        "elevated": {"enabled": True, "allowFrom": {"telegram": ["${MY_SENDER}"]}},
    },
}
CREEL = """{
  env: { set: { GH_TOKEN: "${GH_TOKEN}", API_SECRET: "%(s)s", MIX: "x${BRAVE_API_KEY}y" }, secrets: ["BRAVE_API_KEY"] },
  identity: { tokens: [ { ref: "env:SANDBOX_GUARD_TOKEN", pairs: "*" }, { ref: "raw:%(s)s", pairs: "*" } ] },
  backend: { opensandbox: { provider: "OpenSandbox", apiKey: "raw:%(s)s" } },
  mode: { when: "all" },
}""" % {"s": SECRET}
NET = {"OpenClaw": {"Sandbox": {"Provider": "OpenSandbox", "Endpoint": "http://localhost:5000", "ApiKey": "raw:" + SECRET,
                                "Tools": {"shell": {"Mode": "Require", "Template": "a:1"}}}}}
ANSIBLE = "sandbox_mode: all\nsandbox_docker_env:\n  GH_TOKEN: '{{ lookup(\"env\", \"GH_TOKEN\") }}'\n"
# The same, with a name that speaks of a secret in every place where a value may refer to a variable.
EVERYWHERE = re.sub(r"\$\{\w+\}", "${GH_TOKEN}", json.dumps(OPENCLAW))
FILES = {"openclaw": ("openclaw.json", json.dumps(OPENCLAW)), "openclaw-all": ("all.json", EVERYWHERE), "creel": ("creel.json5", CREEL),
         "openclaw-net": ("appsettings.json", json.dumps(NET))}
FORMAT = {"openclaw": "openclaw", "openclaw-all": "openclaw", "creel": "creel", "openclaw-net": "openclaw-net"}

EXPLAIN = [
    [], ["-v"], ["--json"], ["--as", "openclaw"], ["--as", "openclaw", "--json"], ["--matrix"], ["--matrix", "--json"],
    ["--tool", "exec", "-v", "--", "gh", "pr", "list"], ["--tool", "web_fetch", "-v"],
    ["--tool", "exec", "--elevated", "--sender", "7", "--channel", "telegram", "-v", "--", "true"],
    ["--session", "untrusted:x", "--tool", "exec", "--json", "--", "true"],
    ["--compat", "openclaw-2026.9", "--as", "openclaw", "--json"], ["--compat", "openclaw-2026.9", "-v"],
    ["--assume-backends", "none", "-v"], ["--assume-backends", "docker", "--json"],
]
SHOW = [[], ["--origin"], ["--all"], ["--all", "--origin"], ["--json"], ["--as", "openclaw"], ["--as", "openclaw-net"],
        ["--as", "athena"], ["--as", "allowlist"], ["--as", "ansible"]]
CHECK = [[], ["--strict"], ["--json"], ["-v"]]
COMMANDS = ([["explain", *a] for a in EXPLAIN] + [["config", "show", *a] for a in SHOW] +
            [["config", "check", *a] for a in CHECK])


def environment(command):
    """OpenClaw prints paths filled in, and so does its shape here, unless the variable's name speaks of a secret."""
    if command[0] == "explain" and "openclaw" in command:
        return {name: value for name, value in ENV.items() if not name.startswith("MY_")}
    return ENV


def no_secret(got):
    assert got.status in (0, 125, 126)
    for stream in (got.out, got.err):
        assert SECRET.lower() not in stream.lower(), got


@pytest.mark.parametrize("name, command", itertools.product(FILES, COMMANDS),
                         ids=[f"{n}-{' '.join(c)}" for n, c in itertools.product(FILES, COMMANDS)])
def test_no_command_prints_a_secret(creel, name, command):
    file, text = FILES[name]
    creel.file(file, text)
    head, *rest = command
    if head == "config":
        head, rest = [command[0], command[1]], command[2:]
    else:
        head = [head]
    no_secret(creel(*head, "-c", f"{FORMAT[name]}:{file}", *rest, env=environment(command)))


@pytest.mark.parametrize("name", FILES)
def test_the_file_was_read_so_the_search_means_something(creel, name):
    file, text = FILES[name]
    creel.file(file, text)
    got = creel("config", "show", "-c", f"{FORMAT[name]}:{file}", env=ENV, status=0)
    assert len(got.out) > 60


@pytest.mark.parametrize("name", FILES)
def test_an_import_that_is_printed_hides_literal_secrets(creel, name):
    file, text = FILES[name]
    creel.file(file, text)
    no_secret(creel("config", "import", FORMAT[name], file, env=ENV))


def test_an_import_that_is_written_keeps_them_for_the_owner_alone(creel):
    creel.file("creel.json5", CREEL)
    no_secret(creel("config", "import", "creel", "creel.json5", "--write=out.json5", env=ENV, status=0))
    out = creel.cwd / "out.json5"
    assert SECRET in out.read_text()
    assert out.stat().st_mode & 0o777 == 0o600
    assert "${GH_TOKEN}" in out.read_text()


@pytest.mark.parametrize("path, value", [
    ("agents.defaults.sandbox.mode", "${MY_MODE}"),
    ("agents.defaults.sandbox.docker.pidsLimit", "${MY_NUMBER}"),
    ("agents.defaults.sandbox.docker.network", "host\x00${MY_NET}"),
    ("agents.defaults.sandbox.docker.seccompProfile", "unconfined${MY_NET}"),
    ("agents.defaults.sandbox.docker.binds", ["${MY_PATH}:/x"]),
    ("agents.defaults.sandbox.docker.env", {"A B": "${GH_TOKEN}"}),
    ("agents.defaults.sandbox.docker.env", {"PASSWORD": "line\n${GH_TOKEN}"}),
    ("tools.profile", "${MY_TOOL}"),
    ("tools.exec.host", "${MY_HOST}"),
])
def test_an_error_names_the_place_and_not_the_value(creel, path, value):
    config = node = {}
    *parents, last = path.split(".")
    for key in parents:
        node[key] = node = {}
    node[last] = value
    creel.file("openclaw.json", config)
    for command in [["explain"], ["config", "check"], ["config", "check", "--json"],
                    ["explain", "--as", "openclaw", "--json"]]:
        no_secret(creel(*command, "-c", "openclaw:openclaw.json", env=ENV))


def test_variables_of_openclaw_net_are_not_shown(creel):
    env = {"OpenClaw__Sandbox__Provider": "OpenSandbox", "OpenClaw__Sandbox__ApiKey": SECRET,
           "OpenClaw__Sandbox__Endpoint": "http://localhost:1"}
    creel.file("appsettings.json", json.dumps(NET))
    for command in COMMANDS:
        no_secret(creel(*command, "-c", "openclaw-net:appsettings.json", env={**ENV, **env}))


def test_a_flag_that_holds_a_secret_is_not_echoed(creel):
    for setting in ["backend.opensandbox.apiKey=raw:" + SECRET, 'env.set={"GH_TOKEN": "%s"}' % SECRET,
                    '{"env": {"set": {"GH_TOKEN": "%s"}}}' % SECRET]:
        for command in COMMANDS:
            no_secret(creel("-e", setting, *command, env=ENV))


def test_states_of_variables_are_shown_by_name(creel):
    creel.file("c.json5", "{ profile: 'bilrost', env: { set: { A_TOKEN: '${SET_ONE}', B_TOKEN: '${UNSET_ONE}' } } }")
    env = creel.explain("-c", "c.json5", "--tool", "exec", "--", "gh", "pr", "list", env={"SET_ONE": SECRET})["env"]
    assert env["A_TOKEN"] == "set"
    assert env["B_TOKEN"] == "unset"


@pytest.mark.parametrize("value", ["node", "main", "exec", "verdict", "user", "none", "non-main", "/tmp", '": "'])
def test_an_innocent_variable_does_not_garble_what_is_printed(creel, value):
    """USER=node is not a secret, and 'nodes' is not ${USER}s."""
    creel.file("openclaw.json", '{ agents: { defaults: { workspace: "/srv/${USER}/ws", sandbox: { mode: "all" } } } }')
    asked = ["--tool", "nodes", "--session", "agent:main:main", "-c", "openclaw:openclaw.json"]
    got = creel.explain(*asked, env={"USER": value})
    want = creel.explain(*asked, env={"USER": "S0mething-else"})
    assert {k: got[k] for k in ("identity", "mode", "tool", "verdict")} == {
        k: want[k] for k in ("identity", "mode", "tool", "verdict")}
    shown = creel("config", "show", "--json", "-c", "openclaw:openclaw.json", env={"USER": value}, status=0).json
    assert shown["mounts"]["workspace"]["path"] == "/srv/${USER}/ws"


def test_a_secret_is_replaced_once(creel):
    creel.file("openclaw.json", '{ agents: { defaults: { workspace: "/srv/${MY_TOKEN}/ws" } } }')
    got = creel("config", "show", "-c", "openclaw:openclaw.json", env={"MY_TOKEN": "my_token"}, status=0)
    assert "MY_TOKEN}" in got.out
    assert "${${${" not in got.out


def test_it_is_told_that_a_redacted_value_does_not_read_back(creel):
    creel.file("creel.json5", CREEL)
    for command in [["config", "show", "-c", "creel.json5"], ["config", "import", "creel", "creel.json5"]]:
        assert "<redacted> does not read back" in creel(*command, env=ENV, status=0).err
        assert "<redacted>" not in creel(*command, "-q", env=ENV, status=0).err
    assert "<redacted>" not in creel("config", "import", "creel", "creel.json5", "--write=out.json5", env=ENV, status=0).err


def test_it_is_told_which_variables_a_written_import_holds(creel):
    creel.file("openclaw.json", json.dumps(OPENCLAW))
    got = creel("config", "import", "openclaw", "openclaw.json", "--write=out.json5", env=ENV, status=0)
    assert re.search(r"^note: the file holds the values of \$MY_PATH, ", got.err, re.M)
    no_secret(got)
    creel.file("plain.json", '{ agents: { defaults: { sandbox: { docker: { env: { A: "${GH_TOKEN}" } } } } } }')
    got = creel("config", "import", "openclaw", "plain.json", "--write=plain.json5", env=ENV, status=0)
    assert "holds the values" not in got.err


def test_a_value_of_the_wrong_type_is_not_quoted_where_secrets_stand(creel):
    name = creel.file("openclaw.json", '{agents:{defaults:{sandbox:{docker:{env:{DB_PASSWORD: 731958264}}}}}, tools:{web:{search:{apiKey: 731958264}}}}')
    for extra in ([], ["--compat", "openclaw-2026.9"]):
        r = creel("config", "check", *extra, "-c", f"openclaw:{name}", status=125)
        assert "DB_PASSWORD" in r.err
        assert "731958264" not in r.out + r.err
