# SPDX-License-Identifier: Apache-2.0
"""creel call, list, inspect, kill, recreate, prune: what is typed wrong is one line that says what is right, and nothing runs."""
import json
import subprocess

import pytest

from conftest import CREEL

WRONG = [
    (["call"], "which tool?"),
    (["call", " "], "TOOL must not be blank"),
    (["call", "raed", "path=x"], "unknown tool 'raed', did you mean 'read'?"),
    (["call", "frobnicate"], "'creel call --list' prints those that exist"),
    (["call", "--list", "exec"], "--list is about all tools"),
    (["call", "--list", "--schema"], "'--list' and '--schema' exclude each other"),
    (["call", "--text", "--json", "ls"], "'--text' and '--json' exclude each other"),
    (["call", "exec", "ls", "-la"], "unknown option '-la': what belongs to a command stands behind '--'"),
    (["call", "exec", "ls", "x"], "write a command's words after '--'"),
    (["call", "exec", "--"], "no command after '--'"),
    (["call", "read", "--", "a"], "read: takes no command after '--'"),
    (["call", "read", "pth=a"], "read: unknown argument 'pth', did you mean 'path'? It takes path"),
    (["call", "read", "path=a", "path=b"], "read: 'path' is given twice"),
    (["call", "read", "path=a", "file_path=b"], "read: 'path' is given twice"),
    (["call", "read", "path=a", "limit=ten"], "read: 'limit' is 'ten', and must be an integer"),
    (["call", "write", "path=a", "content=", "append=maybe"], "write: 'append' is 'maybe', and must be true or false"),
    (["call", "edit", "path=a", "edits=[{"], "edit: 'edits' is an array, written as JSON: edits:1:"),
    (["call", "read", "{"], "arguments:1:2: "),
    (["call", "read", '{"path": "a",\n "path": "b"}'], "arguments:2:2: duplicate key 'path'"),
    (["call", "read", '["a"]'], "arguments:1:1: arguments are one JSON object"),
    (["call", "read", '{"path": "a"}', "limit=3"], "a JSON object is all of the arguments"),
    (["call", "read", "-", "limit=3"], "'-' (JSON from standard input) is all of the arguments"),
    (["call", "code_exec", "print(1)"], """code_exec: 'language' is missing (python, javascript or bash (also: lang)); arguments are NAME=VALUE words """
     """or one JSON object: creel call code_exec '{"language":"python","code":"print(1)"}'"""),
    (["call", "code_exec", "print('x')"], r"""creel call code_exec '{"language":"python","code":"print('\''x'\'')"}'"""),
    (["call", "code_exec", "language=bash"], """'code' is missing (the text to run); arguments are NAME=VALUE words or one JSON object: creel call code_exec """
     """'{"code":"...","language":"bash"}'"""),
    (["call", "code_exec", "x" * 5000], """creel call code_exec '{"name": value, ...}'"""),
    (["call", "write", "a"], """write: 'content' is missing"""),
    (["call", "write", "path=@-", "content=@-"], "standard input can be read once"),
    (["call", "write", "path=x", "content=@/no/such/file"], "'@/no/such/file': read '/no/such/file'"),
    (["call", "--session", "", "exec", "--", "true"], "--session must not be blank"),
    (["call", "--agent", " ", "exec", "--", "true"], "--agent must not be blank"),
    (["call", "--workspace", "", "exec", "--", "true"], "--workspace must not be blank"),
    (["call", "--timeout", "soon", "exec", "--", "true"], "--timeout: 'soon' is not a whole number"),
    (["call", "--timeout", "0", "exec", "--", "true"], "--timeout: 0 would be no limit, accepted: 1 second and more"),
    (["call", "--scope", "word", "exec", "--", "true"], "--scope: 'word' is not"),
    (["call", "--report", "99", "exec", "--", "true"], "--report: file descriptor 99 is not open"),
    (["call", "-e", "no.such.key=1", "--list"], "no.such.key"),
    (["list", "x"], "unexpected 'x'"),
    (["list", "--session", ""], "--session must not be blank"),
    (["inspect"], "which sandbox?"),
    (["inspect", "a", "b"], "unexpected 'b'"),
    (["inspect", "a", "--session", "b"], "exclude each other"),
    (["inspect", "nothing"], "no sandbox 'nothing'; 'creel list --all' shows"),
    (["kill"], "which sandboxes?"),
    (["kill", "nothing"], "no sandbox 'nothing'"),
    (["kill", "--session", "nothing"], "no sandbox of that session"),
    (["kill", "x", "--all"], "exclude each other"),
    (["kill", "--all", "--agent", "main"], "--all means every sandbox"),
    (["recreate"], "which sandboxes?"),
    (["recreate", "--agent", "nobody"], "no sandbox of that agent"),
    (["prune", "--session", "x"], "prune goes by age"),
    (["prune", "--idle-hours", "-1"], "--idle-hours"),
    (["prune", "--idle-hours", "99999999"], "--idle-hours is 0..87600"),
]


@pytest.mark.parametrize("args, message", WRONG, ids=lambda v: " ".join(v)[:60] if isinstance(v, list) else "")
def test_wrong_usage_is_one_line_and_125(anybody, args, message):
    got = anybody(*args, status=125)
    assert got.out == ""
    assert len(got.error_lines) == 1, got
    assert message in got.err, got
    assert anybody.listed("--all") == {}


def test_bad_json_on_standard_input_has_its_place(anybody):
    got = anybody("call", "read", "-", input='{"path": "a",\n  oops}', status=125)
    assert "standard input:2:3: " in got.err


def test_more_input_than_a_call_takes_is_refused_with_the_limit(anybody):
    reader = subprocess.Popen(anybody.argv("call", "write", "-"), stdin=subprocess.PIPE, stderr=subprocess.PIPE, env=anybody.env,
                              cwd=anybody.cwd)
    try:
        for _ in range(65):
            reader.stdin.write(b" " * (1 << 20))
    except BrokenPipeError:
        pass
    _, err = reader.communicate()
    assert reader.returncode == 125
    assert b"standard input: more than 67108864 bytes (64 MiB)" in err


@pytest.mark.parametrize("args", [["path=a\udcff"], ["{\"path\": \"a\udcff\"}"]])
def test_what_is_not_utf8_is_refused(anybody, args):
    got = anybody("call", "read", *args, status=125)
    assert "UTF-8" in got.err, got


def test_a_command_that_is_not_utf8_is_refused(anybody):
    assert "UTF-8" in anybody("call", "exec", "--", "ls", "a\udcff", status=125).err


def test_without_its_second_program_creel_says_where_it_looked(tmp_path, anybody):
    alone = tmp_path / "creel"
    alone.write_bytes(CREEL.read_bytes())
    alone.chmod(0o755)
    done = subprocess.run([alone, "list"], env=anybody.env, capture_output=True, text=True, check=False)
    assert done.returncode == 125
    assert "creel-session is not installed: expected /" in done.stderr
    assert subprocess.run([alone, "list", "--help"], env=anybody.env, capture_output=True, check=False).returncode == 0


def test_the_second_program_does_nothing_of_the_first(anybody):
    done = subprocess.run([CREEL.parent / "creel-session", "run", "--", "true"], env=anybody.env, capture_output=True, text=True,
                          check=False)
    assert done.returncode == 125
    assert "started by creel" in done.stderr


def test_help_is_the_same_from_both_programs(creel):
    for command in ["call", "list", "inspect", "kill", "recreate", "prune"]:
        both = [subprocess.run([program, command, "--help"], env=creel.env, capture_output=True, text=True, check=True).stdout
                for program in (CREEL, CREEL.parent / "creel-session")]
        assert both[0] == both[1]


def test_the_list_of_tools_names_what_each_needs(anybody):
    table, gateway = anybody("call", "--list", status=0).out.split("\n\n")
    rows = table.splitlines()
    assert rows[0].split()[:2] == ["TOOL", "NEEDS"]
    needs = {r.split()[0]: r.split()[1] for r in rows[1:]}
    assert needs["exec"] == "proc.exec" and needs["read"] == "fs.read" and needs["write"] == "fs.write"
    names = anybody("call", "--list", "-q", status=0).out.split()
    assert set(names) == set(needs) | set(gateway.split(":")[1].replace(",", " ").split()) and len(names) == len(set(names))
    listed = anybody("call", "--list", "--json", status=0).json
    assert [t["name"] for t in listed] == names


def test_every_tool_tells_its_arguments_and_a_schema(anybody):
    tools = anybody("call", "--list", "--json", status=0).json
    for tool in [t for t in tools if "inputSchema" in t]:
        told = anybody("call", tool["name"], "--help", status=0).out
        schema = anybody("call", tool["name"], "--schema", status=0).json
        assert schema == tool["inputSchema"] and schema["additionalProperties"] is False
        for name in schema["properties"]:
            assert f"\n  {name} " in told
    for alias in ["bash", "shell", "EXEC"]:
        assert anybody("call", alias, "--help", status=0).out == anybody("call", "exec", "--help", status=0).out


def test_a_tool_of_the_gateway_is_told_as_that(anybody):
    assert "gateway carries it out" in anybody("call", "message", "--help", status=0).out
    assert "gateway" in anybody("call", "message", "--schema", status=125).err


def test_the_schema_accepts_what_the_tool_accepts(anybody):
    jsonschema = pytest.importorskip("jsonschema")
    schema = anybody("call", "read", "--schema", status=0).json
    jsonschema.validate({"path": "a", "limit": 3}, schema)
    for bad in [{}, {"path": 3}, {"path": "a", "limit": 0}, {"path": "a", "more": 1}]:
        with pytest.raises(jsonschema.ValidationError):
            jsonschema.validate(bad, schema)


def test_no_sandboxes_is_said_to_people_and_an_empty_list_to_programs(anybody):
    assert "no sandboxes; 'creel call exec -- COMMAND' makes one" in anybody("list", status=0).err
    assert anybody("list", status=0).out == ""
    assert anybody("list", "--json", status=0).json == {"sandboxes": []}
    assert anybody("list", "-q", status=0).out == ""
    assert anybody("kill", "--all", status=0).err == "no sandboxes\n"
    assert anybody("prune", status=0).err == "nothing to prune\n"
    assert json.loads(anybody("prune", "--dry-run", "--json", status=0).out) == {"would_end": []}


def test_a_network_that_no_sandbox_has_is_refused_with_a_way_that_works(anybody):
    for command in (["run", "--net", "bridge", "--", "true"], ["run", "--net", "example.org", "--", "true"], ["call", "--text", "--net", "bridge", "exec", "true"]):
        got = anybody(*command, status=126)
        assert f"--net {command[command.index('--net') + 1]}: mode 'light' has no network" in got.err and "--no-sandbox" in got.err, got
    assert anybody("run", "--no-sandbox", "--", "echo", "hi", status=0).out == "hi\n"
    assert anybody("call", "--text", "--net", "none", "exec", "echo hi", status=0).out == "hi\n"
    on_host = anybody("call", "--text", "--sandbox", "none", "--net", "bridge", "exec", "true", status=125)
    assert "--net needs a sandbox, and this call runs on the host" in on_host.err, on_host


@pytest.mark.parametrize("command", [["run", "--"], ["call", "--text", "exec", "--"]], ids=["run", "call"])
def test_a_variable_that_is_not_set_is_told(anybody, command):
    name, rest = command[0], [*command[1:], "sh", "-c", "echo \"${A-none} ${B-none} ${C-none}\""]
    got = anybody(name, "--env", "A", "--env", "B", "--env", "C=c", *rest, env={"B": ""}, status=0)
    assert got.out == "none  c\n", got
    assert f"creel {name}: --env A: not set here, so it is left out; --env NAME=VALUE gives it a value" in got.err and "--env B" not in got.err, got
    quiet = anybody(name, "-q", "--env", "A", *rest, status=0)
    assert quiet.err == "", quiet
