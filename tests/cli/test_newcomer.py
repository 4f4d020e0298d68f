# SPDX-License-Identifier: Apache-2.0
"""Whoever has installed creel today: what is typed in good faith and is not quite right is answered with what is."""
import os
import shlex
import subprocess

import pytest

from conftest import CREEL
from test_docs import bash_offers

DENIES = '{tools: {sandbox: {deny: ["group:runtime"]}}}'


# ---- commands and words ----

@pytest.mark.parametrize("words, instead", [
    (["ps"], "unknown command 'ps': write 'creel list'"),
    (["exec", "ls"], "write 'creel call exec -- COMMAND'"),
    (["shell"], "write 'creel run -t -- sh'"),
    (["logs"], "write 'creel audit show'"),
    (["stop"], "write 'creel kill'"),
    (["audit", "tail"], "write 'creel audit show --last 10' or 'creel audit follow'"),
    (["token", "create"], "write 'creel token new'"),
    (["approvals", "approve"], "write 'creel approvals allow'"),
    (["config", "check", "openclaw.json"], "unexpected 'openclaw.json': a file is given with -c"),
    (["config", "show", "openclaw.json"], "unexpected 'openclaw.json': a file is given with -c"),
    (["run", "--report", "-", "ls"], "--report: '-' is not accepted: 1 is standard output"),
    (["run", "--timeout", "10s", "ls"], "--timeout: '10s' is not a whole number of seconds"),
    (["config", "get", "mode.when"], "write 'creel config show --all'"),
    (["make", "test"], "unknown command 'make'; a program is run with 'creel run -- make'"),
    (["./build.sh"], "a program is run with 'creel run -- ./build.sh'"),
    (["test"], "write 'creel run -- COMMAND'"),
    (["sandbox", "explain"], "write 'creel explain' or 'creel list'"),
    (["help", "runn"], "there is no command 'runn', did you mean 'run'?"),
    (["help", "config", "chekc"], "did you mean 'check'?"),
    (["run", "-it", "--", "sh"], "unknown option '-i': standard input is passed anyway"),
    (["run", "--rm", "ls"], "unknown option '--rm': leave it out"),
    (["run", "--network", "none", "ls"], "unknown option '--network': write --net"),
    (["run", "--user", "0", "ls"], "unknown option '--user': a sandbox has one user"),  # and not: did you mean '--set'?
    (["run", "-p", "80:80", "ls"], "unknown option '-p': nobody reaches into a sandbox"),
    (["run", "--gpus", "all", "ls"], "unknown option '--gpus': no device of the host"),  # and not: did you mean '--cpus'?
    (["run", "--cap-add", "NET_ADMIN", "ls"], "unknown option '--cap-add': no sandbox has a capability"),
    (["run", "--security-opt", "seccomp=unconfined", "ls"], "unknown option '--security-opt': the filter is always there"),
    (["run", "--ulimit", "nofile=10", "ls"], "unknown option '--ulimit': --memory, --pids"),
    (["run", "--share-net", "ls"], "unknown option '--share-net': a sandbox has no network"),
    (["run", "--dev-bind", "/", "/", "ls"], "unknown option '--dev-bind': no device of the host"),
    (["run", "--die-with-parent", "ls"], "unknown option '--die-with-parent': leave it out"),
    (["run", "--clearenv", "ls"], "unknown option '--clearenv': leave it out: the command has no variable of yours"),
    (["run", "--private", "ls"], "unknown option '--private': --workspace-access none"),
    (["run", "--whitelist=x", "ls"], "unknown option '--whitelist': --workspace DIR"),
    (["run", "--noprofile", "ls"], "unknown option '--noprofile': a profile counts only"),  # and not: did you mean '--profile'?
    (["run", "--yolo", "ls"], "unknown option '--yolo': --no-sandbox runs it on the host, without any wall"),
    (["run", "--dry-run", "ls"], "unknown option '--dry-run': --plan prints the steps"),
    (["-V"], "unknown option '-V': write --version"),
    (["build", "."], "write 'creel run --image DIR'"),
    (["system", "prune"], "write 'creel prune' or 'creel doctor'"),
    (["call", "--volume", ".:/x", "exec", "ls"], "unknown option '--volume': --workspace DIR"),
    (["run", "-e", "FOO=bar", "ls"], "a variable of the command is given with --env FOO"),
    (["call", "-e", "FOO=bar", "exec", "ls"], "a variable of the command is given with --env FOO"),
    (["list", "--name", "x"], "'list' has no option '--name' ('token new' has one)"),
    (["token", "revoke"], "TOKEN is missing"),
    (["serve"], "SERVICE is missing: guard, runner, egress or all"),
    (["config", "import", "openclaw.json"], "FILE is missing: it takes FORMAT FILE"),
    (["call", "run", "ls"], "unknown tool 'run', did you mean 'exec'?"),
    (["call", "cat", "x"], "unknown tool 'cat', did you mean 'read'?"),  # and not: git
    (["call", "grep", "x"], "did you mean 'search'?"),
    (["help", "call", "exec"], "'creel call exec --help' tells about a tool"),
    (["call", "shell_exec", "ls -l"], "it takes no text; write a command's words after '--'"),
    (["call", "search", "{pattern:TODO}"], "a shell has taken the quotes away from '{pattern:TODO}'"),
    (["call", "write", "a.txt", "hello"], "write: 'hello' is not NAME=VALUE, and there already is a 'path'; it takes path, content, append"),
])
def test_what_other_programs_call_it_is_answered_with_our_name(anybody, words, instead):
    got = anybody(*words, status=125)
    assert len(got.error_lines) == 1, got
    assert instead in got.err, got


def test_every_command_that_is_named_instead_exists(creel):
    for word in ["ps", "ls", "sandboxes", "sessions", "tools", "logs", "history", "stop", "rm", "restart", "start", "up", "check", "init", "why", "stats", "info"]:
        instead = creel(word, status=125).err.split("write 'creel ")[1].split("'")[0].split(" ")
        creel(*[w for w in instead if not w.startswith("-")], "--help", status=0)


def test_a_text_on_standard_input_is_told_apart_from_json(anybody):
    for text, fix in [("--- a/x\n+++ b/x\n", "NAME=@- takes a text"), ("{pattern:x}", "a shell has taken the quotes"), ('{"x": ', "standard input:1:")]:
        assert fix in anybody("call", "apply_patch", "-", input=text, status=125).err


def test_a_quoted_command_line_is_told_to_be_one_word(anybody):
    assert "it is one word here: leave out the quotes" in anybody("run", "ls -l", status=127).err
    assert "one word" not in anybody("run", "lss", status=127).err
    assert "one word" not in anybody("run", "no such", "x", status=127).err


def test_a_program_that_is_not_there_is_answered_by_what_it_looks_like(anybody):
    script = anybody.cwd / "script"
    script.write_text("#!/no/such/interpreter\n")
    script.chmod(0o755)
    for words, why in [(["cd", "/tmp"], "it is a shell's own: use sh -c '...'"), (["A_1=x", "ls"], "given with --env NAME=VALUE"),
                       (["./script"], "the interpreter that its first line names"), (["-v", "/tmp:/x", "ls"], "-v is --verbose here")]:
        assert why in anybody("run", *words, status=127).err, words
    assert anybody("run", "nosuch=", status=127).err.endswith("--env NAME=VALUE\n")
    assert anybody("run", "nosuch", status=127).err.endswith("command not found in the sandbox\n")


def test_a_program_of_the_home_directory_can_be_had_as_the_message_says(anybody):
    tools = anybody.home / "my tools"
    tools.mkdir()
    (tools / "mytool").write_text("#!/bin/sh\necho ran\n")
    (tools / "mytool").chmod(0o755)
    anybody.env["PATH"] = f"{tools}:/usr/bin:/bin"
    got = anybody("run", "mytool", status=127).err
    assert f"on the host it is in '{tools}'" in got, got
    options = shlex.split(got.split("which ")[1].split(" shows")[0])
    assert anybody("run", *options, "mytool", status=0).out == "ran\n"


def test_a_command_is_looked_for_in_the_path_that_it_is_given(anybody):
    (anybody.cwd / "bin").mkdir()
    (anybody.cwd / "bin/mytool").write_text("#!/bin/sh\necho ran $PATH\n")
    (anybody.cwd / "bin/mytool").chmod(0o755)
    path = "/sandbox/bin:/usr/bin:/bin"
    assert anybody("run", "--env", f"PATH={path}", "mytool", status=0).out == f"ran {path}\n"
    assert anybody("run", "--env", "PATH=/nowhere", "ls", status=127).err == "creel run: 'ls': command not found in the sandbox\n"
    assert anybody("run", "mytool", status=127).out == ""


def test_who_runs_out_of_processes_is_told_which_option_gives_more(creel):
    forks = "for i in 1 2 3 4 5 6 7 8 9; do sleep 5 & done; wait"
    assert "refused processes over 6; fix: --pids N" in creel("run", "--pids", "6", "sh", "-c", forks, status=2).err
    assert "--pids" not in creel("run", "-q", "--pids", "6", "sh", "-c", forks, status=2).err


def test_without_home_and_account_the_fix_is_named(creel):
    done = subprocess.run(["setpriv", "--reuid", "54321", "--regid", "54321", "--clear-groups", CREEL, "run", "ls"], env={}, cwd="/",
                          capture_output=True, text=True, check=False)
    assert done.returncode == 125, done
    assert "fix: HOME=DIR creel" in done.stderr, done


@pytest.mark.parametrize("command", [["run", "ls"], ["call", "exec", "ls"], ["list"], ["explain", "--", "ls"]], ids=" ".join)
def test_in_a_directory_that_is_gone_the_fix_is_named(anybody, command):
    gone = anybody.home / "gone"
    gone.mkdir()
    done = subprocess.run(["sh", "-c", 'cd "$0" && rmdir "$0" && exec "$@"', gone, *anybody.argv(*command)], env=anybody.env,
                          capture_output=True, text=True, check=False)
    assert done.returncode == 125, done
    assert "the current directory does not exist any more; fix: cd to one that does" in done.stderr


def test_a_state_directory_that_cannot_be_made_is_named_as_such(creel):
    got = creel("--state-dir", "/proc/nothing", "run", "true", status=125)
    assert "state directory '/proc/nothing': create '/proc/nothing'" in got.err and "fix: name another with --state-dir" in got.err, got
    assert "--state-dir" in creel("--state-dir", "/proc/nothing", "call", "--text", "exec", "true", status=125).err


def test_an_option_that_nobody_knows_is_answered_with_the_list(creel):
    assert "'creel config keys' lists them" in creel("-e", "foo=1", "run", "true", status=125).err
    assert "limits.timeout_s" in creel("-e", "limits.timeout=1", "run", "true", status=125).err


# ---- refusals ----

def test_run_names_the_place_of_the_rule_that_refuses(anybody):
    rules = anybody.file("mine.json5", DENIES)
    got = anybody("run", "-c", rules, "ls", status=126)
    assert "\tfrom: mine.json5:1:" in got.err, got
    assert "\tfix: tools.sandbox.deny: remove group:runtime\n" in got.err


def test_a_built_in_rule_has_no_place_to_look_up(anybody):
    assert "\tfrom: " not in anybody("run", "--workspace", "/", "ls", status=126).err


def test_call_names_the_fix_and_the_question_that_tells_the_rule(anybody):
    rules = anybody.file("mine.json5", DENIES)
    got = anybody("call", "-c", rules, "--text", "exec", "ls", status=126)
    assert "\tfix: tools.sandbox.deny: remove group:runtime\n" in got.err, got
    assert "\tdenied: call" not in got.err  # the first line has said that
    question = got.err.split("\twhy: creel ")[1].split(", with the same -c and -e")[0].replace("'", "").split()
    assert "decided by tool: mine.json5:1:" in anybody(*question, "-c", rules, status=126).out


def test_call_on_a_whole_file_system_says_what_to_type(anybody):
    got = anybody("call", "--workspace", "/", "--text", "exec", "ls", status=126)
    assert "\tfix: --workspace DIR (or cd there" in got.err, got


# ---- lists ----

def test_tools_that_creel_does_not_run_are_one_paragraph(anybody):
    rows, gateway = anybody("call", "--list", status=0).out.split("\n\n")
    assert [line.split()[0] for line in rows.splitlines()][:2] == ["TOOL", "read"]
    assert gateway.startswith("The agent's gateway carries these out; creel decides whether they may be called:\n  git_push, ")
    assert max(map(len, gateway.splitlines())) <= 100
    every = anybody("call", "--list", "-q", status=0).out.split()
    named = [line.split()[0] for line in rows.splitlines()[1:]] + gateway.split(":\n")[1].replace(",", " ").split()
    assert sorted(named) == sorted(every)


def test_the_last_records_are_the_last_of_all(anybody):
    for i in range(4):
        anybody("call", "exec", "--", "echo", str(i), status=0)
    every = anybody("audit", "show", status=0).out.splitlines()
    assert anybody("audit", "show", "--last", "3", status=0).out.splitlines() == [every[0], *every[-3:]]
    assert anybody("audit", "show", "-n", "10000", status=0).out.splitlines() == every
    chosen = anybody("audit", "show", "--tool", "exec", "--json", status=0).out.splitlines()
    assert anybody("audit", "show", "--tool", "exec", "--json", "-n2", status=0).out.splitlines() == chosen[-2:]
    assert "no records like that" in anybody("audit", "show", "-n1", "--tool", "write", status=0).err
    for wrong in ["0", "10001"]:
        assert "--last is 1..10000" in anybody("audit", "show", "--last", wrong, status=125).err


def test_quiet_lists_are_ids_alone(anybody):
    assert anybody("token", "list", "-q", status=0).out == ""
    anybody("token", "new", "-q", "--pairs", "a:1", status=0)
    made = anybody("token", "list", "--json", status=0).json["tokens"]
    assert anybody("token", "list", "-q", status=0).out.split() == [t["id"] for t in made]
    assert anybody("approvals", "list", "-q", status=0).out == ""


# ---- configuration ----

def test_check_says_what_it_has_read_when_nobody_named_a_file(creel):
    assert "note: no file was read" in creel("config", "check", status=0).err
    (creel.home / ".openclaw").mkdir()
    (creel.home / ".openclaw/openclaw.json").write_text("{}")
    assert f"creel config check -c {creel.home}/.openclaw/openclaw.json" in creel("config", "check", status=0).err
    mine = creel.home / ".openclaw/creel.json5"
    mine.write_text("{version: 1}")
    assert creel("config", "check", status=0).err == f"note: read {mine}\n"
    assert creel("config", "check", "-q", status=0).err == ""
    assert creel("config", "check", "-c", mine, status=0).err == ""


def test_import_says_whether_the_file_counts(creel):
    creel.file("openclaw.json", "{}")
    at = ["config", "import", "openclaw", "openclaw.json", "--write"]
    assert "note: from now on every command reads it" in creel(*at, status=0).err
    assert creel("config", "check", status=0).err == f"note: read {creel.home}/.openclaw/creel.json5\n"
    assert "note: it counts where it is named: -c x.json5" in creel(*at, "x.json5", status=0).err
    first = creel.home / ".config/creel/creel.json5"
    first.parent.mkdir(parents=True)
    first.write_text("{version: 1}")
    assert f"note: it is not read while there is {first}" in creel(*at, "--force", status=0).err
    assert creel("config", "check", status=0).err == f"note: read {first}\n"
    assert creel(*at, "--force", "-q", status=0).err == ""


def test_a_workspace_that_is_not_the_current_directory_is_told(anybody):
    anybody.file("openclaw.json", "{}")
    anybody.file("here.txt", "x")
    private = "the workspace is a private directory of the session, and not '"
    got = anybody("run", "-c", "openclaw.json", "ls", status=0)
    assert got.out == "" and f"{private}{anybody.cwd}'" in got.err and "--workspace-access overlay shows that" in got.err, got
    assert "here.txt" in anybody("run", "-c", "openclaw.json", "--workspace-access", "overlay", "ls", status=0).out
    for silent in [["-q"], ["--workspace-access", "none"]]:
        assert private not in anybody("run", "-c", "openclaw.json", *silent, "ls", status=0).err
    assert private not in anybody("run", "ls", status=0).err


def test_import_tells_where_commands_work_from_then_on(creel):
    creel.file("openclaw.json", "{}")
    creel.file("overlay.json", '{agents: {defaults: {sandbox: {workspaceAccess: "rw"}}}}')
    at = ["config", "import", "openclaw"]
    assert "note: commands work in a private directory" in creel(*at, "openclaw.json", "--write", status=0).err
    assert "private directory" not in creel(*at, "overlay.json", "--write", "--force", status=0).err
    assert "private directory" not in creel(*at, "openclaw.json", "--write=x.json5", status=0).err


def test_explain_of_the_main_session_says_what_run_adds(creel):
    assert "--sandbox light shows it" in creel("explain", "--", "ls", status=0).err
    for named in [["--session", "agent:main:main"], ["--sandbox", "light"], ["-q"], ["--json"]]:
        assert creel("explain", *named, "--", "ls", status=0).err == "", named


# ---- completion ----

def test_bash_takes_words_with_colons_for_one(anybody):
    anybody("call", "--session", "untrusted:pr-482", "exec", "--", "true", status=0)
    creel = anybody.home / "bin/creel"
    creel.parent.mkdir()
    creel.write_text(f'#!/bin/sh\nexec {CREEL} --state-dir {anybody.state} "$@"\n')
    creel.chmod(0o755)
    anybody.env["PATH"] = f"{creel.parent}:/usr/bin:/bin"
    assert bash_offers(anybody, "kill", "untr") == ["untrusted:pr-482"]
    assert bash_offers(anybody, "kill", "untrusted", ":") == ["pr-482"]
    assert bash_offers(anybody, "kill", "untrusted", ":", "pr") == ["pr-482"]
    assert bash_offers(anybody, "audit", "show", "--session", "untrusted", ":", "pr") == ["pr-482"]
    assert bash_offers(anybody, "--session", "untrusted", ":", "pr-482", "cal") == ["call"]
    anybody("token", "new", "-q", "--pairs", "a:1", status=0)
    assert bash_offers(anybody, "token", "revoke", "") == anybody("token", "list", "-q", status=0).out.split()


def test_bash_offers_files_behind_a_format_and_programs_to_run(creel):
    creel.file("claw.json", "{}")
    assert bash_offers(creel, "-c", "openclaw", ":", "cl") == ["claw.json"]
    assert "help" not in bash_offers(creel, "help", "co")
    assert bash_offers(creel, "help", "co") == ["config"]
    assert "env" in bash_offers(creel, "run", "en")
    assert "env" in bash_offers(creel, "run", "--workspace", "=", ".", "en")
    assert bash_offers(creel, "run", "env", "en") == []  # files are the shell's own to offer


def test_the_manual_can_be_read_in_any_locale(tmp_path):
    for page in (CREEL.parents[2] / "man").glob("*.[1-8]"):
        shown = subprocess.run(["man", "--warnings", "-l", page], env={**os.environ, "LC_ALL": "C", "MANWIDTH": "80"}, capture_output=True,
                               text=True, check=True)
        assert shown.stderr == "", page
