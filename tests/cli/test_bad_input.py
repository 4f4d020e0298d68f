# SPDX-License-Identifier: Apache-2.0
"""A configuration with an error is refused whole: one clear line for each error, exit 125, nothing on standard output."""
import os
import re

import pytest

PLACE = re.compile(r"^(?P<file>[^:]+):(?P<line>\d+):(?P<column>\d+): (?P<rest>.+)$")

# name, file name, text, how many errors, where the first one is, what its line must say
CASES = [
    ("unknown key", "c.json5", "{\n  mode: { wehn: 'all' } }", "2:11", ["wehn", "did you mean 'when'"]),
    ("unknown top key", "c.json5", "{ nope: 1 }", "1:3", ["nope"]),
    ("wrong type", "c.json5", "{ limits: {\n pids: 'many' } }", "2:8", ["limits.pids", "many"]),
    ("list instead of text", "c.json5", "{ backend: { image: [] } }", "1:21", ["backend.image"]),
    ("number below the range", "c.json5", "{ limits: { pids: 0 } }", "1:19", ["limits.pids", "1", "4194304"]),
    ("number above the range", "c.json5", "{ limits: { timeout_s: 99999999 } }", "1:24", ["limits.timeout_s", "86400"]),
    ("not a size", "c.json5", "{ limits: { memory: 'lots' } }", "1:21", ["limits.memory"]),
    ("unknown mode", "c.json5", "{ mode: { when: 'non-mian' } }", "1:17",
     ["mode.when", "off, non-main or all", "did you mean 'non-main'"]),
    ("unknown trust", "c.json5", "{ mode: { trust: { default: 'full' } } }", "1:29",
     ["mode.trust.default", "none, light, docker or readonly"]),
    ("rule without match", "c.json5", "{ mode: { trust: { rules: [ { trust: 'light' } ] } } }", "1:29", ["match"]),
    ("rule without mode", "a.yaml", "sandbox:\n  rules:\n    - match: 'x:*'\n", "3:7", ["mode"]),
    ("unknown athena mode", "a.yaml", "sandbox:\n  default_mode: dcoker\n", "2:17",
     ["none, light, docker or readonly", "did you mean 'docker'"]),
    ("version of the future", "c.json5", "{ version: 2 }", "1:12", ["version"]),
    ("syntax", "c.json5", "{ mode: ", "1:9", ["end"]),
    ("rest behind the end", "c.json5", "{} {}", "1:4", []),
    ("invalid UTF-8", "c.json5", b"{ profile: '\xff' }", "1:13", []),
    ("NUL in a string", "c.json5", "{ backend: { image: 'a\\u0000b' } }", "1:21", ["backend.image"]),
    ("NUL byte", "c.json5", b"{ backend: { image: 'a\0b' } }", "1:21", []),
    ("empty file", "openclaw.json", "", "1:1", []),
    ("100,000 nested brackets", "c.json5", "[" * 100000, "1:65", ["nest"]),
    ("100,000 nested brackets in YAML", "a.yaml", "[" * 100000, "1:", []),
    ("alias bomb", "a.yaml", "a: &a [x, x]\nb: &b [*a, *a]\nsandbox: *b\n", "1:4", ["anchor"]),
    ("tag", "a.yaml", "sandbox: !!python/object:os.system {}\n", "1:10", ["tag"]),
    ("openclaw unknown key", "openclaw.json", '{"agents": {"defaults": {"sandbox": {"frobnicate": 1}}}}', "1:38",
     ["frobnicate"]),
    ("openclaw unknown scope", "openclaw.json", '{"agents": {"defaults": {"sandbox": {"scope": "each"}}}}', "1:47",
     ["'session', 'agent' or 'shared'"]),
    ("missing include", "openclaw.json", '{"agents": {"$include": "./nope.json5"}}', "1:25", ["nope.json5"]),
    ("include that leaves the directory", "openclaw.json", '{"agents": {"$include": "../../x.json5"}}', "1:25", []),
    ("include loop", "openclaw.json", '{"agents": {"$include": "./openclaw.json"}}', "1:25", []),
    ("import that is missing", "c.json5", "{ import: [ { format: 'athena', path: 'nope.yaml' } ] }", "1:", ["nope.yaml"]),
    ("import loop", "c.json5", "{ import: [ { format: 'creel', path: 'c.json5' } ] }", "1:", []),
    ("allowlist that is no object", "allowlist.json", "[1]", "1:1", []),
    ("appsettings with a wrong mode", "appsettings.json",
     '{"OpenClaw": {"Sandbox": {"Tools": {"shell": {"Mode": "Maybe"}}}}}', "1:55", ["Maybe"]),
    ("ansible value", "vars.yml", "sandbox_scope: everything\n", "1:16", ["session, agent or shared"]),
]
FORMAT = {"c.json5": "creel", "a.yaml": "athena", "openclaw.json": "openclaw", "allowlist.json": "allowlist",
          "appsettings.json": "openclaw-net", "vars.yml": "ansible"}
COMMANDS = [["explain"], ["explain", "--json"], ["explain", "--matrix"], ["config", "check"], ["config", "show"],
            ["config", "show", "--as", "openclaw"]]


def refused(got, count=1):
    assert got.status == 125, got
    assert got.out == ""
    assert len(got.error_lines) == count, got
    return got.error_lines


@pytest.mark.parametrize("name, file, text, place, words", CASES, ids=[c[0] for c in CASES])
def test_one_error_is_one_line_with_its_place(creel, name, file, text, place, words):
    creel.file(file, text)
    (line,) = refused(creel("config", "check", "-c", f"{FORMAT[file]}:{file}"))
    found = PLACE.match(line)
    assert found, line
    assert found["file"].endswith(file)
    where = f"{found['line']}:{found['column']}"
    assert where == place or (place.endswith(":") and where.startswith(place)), line
    for word in words:
        assert word in found["rest"], line


@pytest.mark.parametrize("command", COMMANDS, ids=" ".join)
def test_every_command_refuses_the_same_way(creel, command):
    creel.file("c.json5", "{ limits: { pids: 0 } }")
    (line,) = refused(creel(*command, "-c", "c.json5"))
    assert line.startswith("c.json5:1:19: limits.pids: ")


def test_all_errors_are_told_at_once(creel):
    creel.file("c.json5", "{ limits: { pids: 0, nope: 1,\n timeout_s: 'x' }, mode: { when: 'never' } }")
    lines = refused(creel("config", "check", "-c", "c.json5"), count=4)
    assert [PLACE.match(line)["line"] for line in lines] == ["1", "1", "2", "2"]


def test_a_file_of_10_mb_is_refused_quickly(creel):
    creel.file("c.json5", "{ tools: { deny: [" + '"x",' * 2_600_000 + "] } }")
    (line,) = refused(creel("config", "check", "-c", "c.json5"))
    assert "c.json5" in line


def test_a_yaml_file_of_10_mb_is_refused_quickly(creel):
    creel.file("a.yaml", "sandbox:\n" + "# padding padding\n" * 600_000)
    (line,) = refused(creel("config", "check", "-c", "athena:a.yaml"))
    assert "a.yaml" in line


@pytest.mark.parametrize("make", ["missing", "directory", "fifo", "device"])
def test_what_is_no_readable_file_is_refused(creel, make):
    path = creel.cwd / "c.json5"
    if make == "directory":
        path.mkdir()
    elif make == "fifo":
        os.mkfifo(path)
    elif make == "device":
        path = "/dev/zero"
    (line,) = refused(creel("config", "check", "-c", f"creel:{path}"))
    assert str(path) in line


def test_a_file_that_cannot_be_read_is_refused(creel):
    path, why = creel.cwd / creel.file("c.json5", "{}"), "Permission denied"
    path.chmod(0)
    if os.getuid() == 0:  # root may read everything but this
        path, why = "/proc/self/mem", ": I"  # "I/O error" or "Input/output error", as the C library has it
    (line,) = refused(creel("config", "check", "-c", f"creel:{path}"))
    assert str(path) in line
    assert why in line


def test_one_bad_file_among_good_ones_refuses_all(creel):
    creel.file("good.json5", "{ profile: 'ci' }")
    creel.file("bad.json5", "{ profile: 'cii' }")
    (line,) = refused(creel("config", "show", "-c", "good.json5", "-c", "bad.json5"))
    assert line.startswith("bad.json5:1:")


@pytest.mark.parametrize("setting, words", [
    ("nope.key=1", ["nope.key"]),
    ("limits.pids=0", ["limits.pids", "4194304"]),
    ("limits.pids", ["key=value"]),
    ("{'a", ["1:"]),
    ("mode.when=sometimes", ["off, non-main or all"]),
    ("sandbox_mode=everything", ["off, non-main or all"]),
    ("sandbox_netwrok_allow=x", ["sandbox_netwrok_allow"]),
])
def test_a_wrong_setting_is_one_line_too(creel, setting, words):
    (line,) = refused(creel("explain", "-e", setting))
    for word in words:
        assert word in line


def test_control_characters_of_a_file_do_not_reach_the_terminal(creel):
    creel.file("c.json5", "{ '\\u001b[31mred': 1 }")
    (line,) = refused(creel("config", "check", "-c", "c.json5"))
    assert "\x1b" not in line


def test_check_as_json_lists_errors_with_their_places(creel):
    creel.file("c.json5", "{ limits: { pids: 0 }, nope: 1 }")
    got = creel("config", "check", "--json", "-c", "c.json5", status=125)
    assert got.json["ok"] is False
    assert got.json["errors"] == 2
    assert [(f["severity"], f["line"], f["column"]) for f in got.json["findings"]] == [("error", 1, 19), ("error", 1, 24)]
    assert all(f["code"] and f["message"] for f in got.json["findings"])


def test_errors_in_openclaws_shape_are_its_envelope(creel):
    creel.file("openclaw.json", '{"agents": {"defaults": {"sandbox": {"mode": "some"}}}}')
    got = creel("explain", "--as", "openclaw", "--json", "-c", "openclaw:openclaw.json", status=125)
    assert got.json["ok"] is False
    assert got.json["error"]["type"] == "cli_error"
    assert [i["path"] for i in got.json["issues"]] == ["agents.defaults.sandbox.mode"]
    assert len(got.error_lines) == 1


def test_too_many_agents_are_one_error_and_cost_little(creel):
    agents = {f"a{i}": {} for i in range(40000)}
    creel.file("many.json5", {"agents": agents})
    got = creel("config", "check", "-c", "many.json5", status=125)
    assert "agents: accepted: at most 4096 agents" in got.err
    assert len(got.error_lines) == 1
    creel.file("some.json5", {"agents": dict(list(agents.items())[:4096])})
    creel("config", "check", "-c", "some.json5", status=0)
