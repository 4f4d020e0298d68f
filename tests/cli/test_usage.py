# SPDX-License-Identifier: Apache-2.0
"""The command line itself: help, mistakes, output that cannot be written, and what it costs."""
import fcntl
import os
import re
import subprocess
import time

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from conftest import CREEL

COMMANDS = [["explain"], ["config"], ["config", "check"], ["config", "show"], ["config", "import"],
            ["config", "schema"], ["config", "keys"], ["version"], ["help"]]


@pytest.mark.parametrize("command", COMMANDS, ids=" ".join)
def test_every_command_has_help(creel, command):
    shown = creel(*command, "--help", status=0)
    assert shown.out.startswith(f"Usage: creel {' '.join(command)} ")
    assert shown.err == ""
    assert creel("help", *command, status=0).out == shown.out
    assert creel("--help", *command, status=0).out == shown.out
    assert max(map(len, shown.out.splitlines())) <= 120


def test_help_lists_what_exists_and_nothing_else(creel):
    listed = re.search(r"Commands:\n((?:  .*\n)+)", creel("--help", status=0).out)[1]
    names = [line.split()[0] for line in listed.splitlines()]
    assert {"explain", "config", "version", "help"} <= set(names)
    assert not {"completion", "manual"} & set(names)  # for the build, not for people
    for name in names:
        assert creel(name, "--help", status=0).out.startswith(f"Usage: creel {name} ")
    for name in {"call", "list", "kill", "serve", "doctor", "image", "mcp", "audit", "token"} - set(names):
        creel(name, status=125)


def test_version_is_told_three_ways(creel):
    text = creel("version", status=0).out
    assert re.fullmatch(r"creel \d+\.\d+\.\d+\n", text)
    assert creel("--version", status=0).out == text
    assert creel("version", "--json", status=0).json["version"] == text.split()[1]


@pytest.mark.parametrize("args, message", [
    ([], "creel: which command? one of "),
    (["explian"], "unknown command 'explian', did you mean 'explain'?"),
    (["config", "shwo"], "creel config: unknown command 'shwo', did you mean 'show'?"),
    (["explain", "--sesion", "x"], "unknown option '--sesion', did you mean '--session'?"),
    (["explain", "--session"], "'--session' needs a value: --session KEY"),
    (["--tool", "exec", "explain"], "option '--tool' belongs to the command 'explain'"),
    (["recreate", "--all", "--force"], "'recreate' has no option '--force'"),  # and not: write it after 'import'
    (["explain", "--sandbox", "dokcer"], "--sandbox: 'dokcer' is not none, light, docker or readonly (did you mean 'docker'?)"),
    (["explain", "--profile", "nope"], "--profile: 'nope' is not none, openclaw, athena, tier1, bilrost, openclaw-net or ci"),
    (["explain", "--compat", "openclaw"], "--compat: 'openclaw' is not documents or openclaw-2026.9"),
    (["explain", "--agent", "  "], "--agent must not be blank"),
    (["explain", "--session", ""], "--session must not be blank"),
    (["run", "--session", " ", "--", "id"], "--session must not be blank"),
    (["explain", "--matrix", "--session", ""], "--session must not be blank"),
    (["explain", "--tool", ""], "--tool must not be blank"),
    (["explain", "--timeout", "soon"], "--timeout: 'soon' is not a whole number"),
    (["explain", "make"], "unexpected 'make': write a command after '--'"),
    (["explain", "--command", "x", "--", "y"], "exclude each other"),
    (["explain", "-q", "-v"], "'--quiet' and '--verbose' exclude each other"),
    (["explain", "--matrix", "--as", "openclaw"], "'--matrix' and '--as' exclude each other"),
    (["explain", "--assume-backends", "podman"], "'podman' is not native, docker or opensandbox"),
    (["explain", "-c", "yaml:x"], "yaml"),
    (["config", "show", "--as", "opneclaw"], "did you mean 'openclaw'?"),
    (["config", "import", "openclaw"], "FILE is missing"),
    (["config", "import", "openclaw", "a", "b"], "a PATH needs --write"),
    (["help", "nothing"], "there is no command 'nothing'"),
])
def test_wrong_usage_is_one_line_and_125(creel, args, message):
    got = creel(*args, status=125)
    assert got.out == ""
    assert len(got.error_lines) == 1, got
    assert got.err.startswith("creel")
    assert message in got.err


def test_a_control_character_in_an_argument_cannot_reach_the_terminal(creel):
    got = creel("explain", "--\x1b[31mred", status=125)
    assert "\x1b" not in got.err


def run_with(creel, stdout, *args, **kw):
    return subprocess.run([str(CREEL), *args], stdout=stdout, stderr=subprocess.PIPE, env=creel.env, cwd=creel.cwd,
                          text=True, check=False, timeout=60, **kw)


@pytest.mark.parametrize("args", [["explain"], ["config", "show", "--all"], ["--help"], ["explain", "--matrix"]],
                         ids=" ".join)
def test_full_disk_is_an_error(creel, args):
    with open("/dev/full", "w") as full:
        done = run_with(creel, full, *args)
    assert done.returncode == 125
    assert "write standard output: No space left on device" in done.stderr


def test_a_reader_that_went_away_is_an_error_and_not_a_crash(creel):
    reader, writer = os.pipe()
    os.close(reader)
    try:
        done = run_with(creel, writer, "explain", "--matrix")
    finally:
        os.close(writer)
    assert done.returncode == 125
    assert done.stderr == ""


def test_closed_standard_output_is_an_error(creel):
    done = subprocess.run(["/bin/sh", "-c", f"exec {CREEL} explain >&-"], stderr=subprocess.PIPE, env=creel.env,
                          cwd=creel.cwd, text=True, check=False)
    assert done.returncode == 125
    assert "write standard output: Bad file descriptor" in done.stderr


def test_all_standard_descriptors_closed_is_no_crash(creel):
    done = subprocess.run(["/bin/sh", "-c", f"exec {CREEL} config show <&- >&- 2>&-"], env=creel.env, cwd=creel.cwd,
                          check=False)
    assert done.returncode == 125


def peak_kib(pid):
    status = dict(line.split(":", 1) for line in open(f"/proc/{pid}/status"))
    return int(status["VmHWM"].split()[0]), status["State"].split()[0]


@pytest.mark.parametrize("args", [["explain", "--tool", "exec", "--", "true"], ["explain", "--json"]], ids=" ".join)
def test_explain_needs_less_than_8_mb(creel, args):
    """It hangs writing into a full pipe, all work done: then the kernel knows its peak."""
    reader, writer = os.pipe()
    fcntl.fcntl(writer, fcntl.F_SETPIPE_SZ, 4096)
    os.write(writer, b"x" * 4096)
    child = subprocess.Popen([str(CREEL), *args], stdout=writer, env=creel.env, cwd=creel.cwd)
    try:
        deadline = time.monotonic() + 10
        seen = 0
        while seen < 3 and time.monotonic() < deadline:
            time.sleep(0.02)
            peak, state = peak_kib(child.pid)
            seen = seen + 1 if state == "S" else 0
        assert seen == 3, "it never came to write"
        assert peak < (256 if b"__asan_init" in CREEL.read_bytes() else 8) * 1024  # a sanitizer needs its own
    finally:
        os.close(reader)
        os.close(writer)
        assert child.wait(10) == 125


def test_no_colours_without_a_terminal(creel):
    assert "\x1b" not in creel("explain").out


def test_colours_on_a_terminal_unless_no_color(creel):
    def on_a_terminal(**env):
        done = subprocess.run(["script", "-qec", f"{CREEL} explain", "/dev/null"], env={**creel.env, **env},
                              cwd=creel.cwd, capture_output=True, text=True, check=True)
        return done.stdout

    assert "\x1b[" in on_a_terminal()
    assert "\x1b[" not in on_a_terminal(NO_COLOR="1")


WORDS = ["--session", "--agent", "--tool", "exec", "read", "--json", "--as", "openclaw", "--matrix", "-e", "-q", "-v", "--", "-",
         "--sandbox", "docker", "--profile", "ci", "--compat", "openclaw-2026.9", "--via", "guard", "--set", "--timeout", "7",
         "--command", "--elevated", "--channel", "telegram", "--chat-id", "--assume-backends", "none", "--strict",
         "--origin", "--all", "untrusted:x", "agent:main:main", "limits.pids=3", "{}", "--no-default-config"]
word = st.sampled_from(WORDS) | st.text(st.characters(blacklist_characters="\0", blacklist_categories=["Cs"]), max_size=12)


@settings(max_examples=300, deadline=None, database=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(command=st.sampled_from(["explain", "config check", "config show", "version", "help"]), words=st.lists(word, max_size=8))
def test_no_words_at_all_make_it_crash(creel, command, words):
    got = creel(*command.split(), *words)
    assert got.status in (0, 125, 126), got
    assert got.status != 125 or got.err or got.out.startswith("not ok"), got
    assert "\x1b" not in got.out + got.err
