# SPDX-License-Identifier: Apache-2.0
"""The terminal of a sandbox in the hands of an operator: keys, jobs, pipelines, sizes, and modes that are given back."""
import signal
import subprocess
import termios
import time

import pytest
from conftest import wait_until
from operator_terminal import Shell, Terminal

BOTH = pytest.mark.parametrize("options", [[], ["--tty"]], ids=["plain", "tty"])
TICK = "while :; do echo tick; sleep 0.1; done"


# ---- keys and sizes ----

@BOTH
def test_the_size_is_right_and_followed(light, options):
    t = Terminal(light, light.creel("sh", "-c", "stty size; trap 'stty size; exit 0' WINCH; echo started; while :; do sleep 0.05; done",
                                    options=options), size=(33, 101))
    t.expect("33 101")
    t.expect("started")
    t.resize(44, 132)
    t.expect("44 132")
    assert t.wait() == 0


def test_the_size_is_followed_in_a_pipeline(light):
    s = Shell(light, size=(33, 101))
    s.run("{} | cat", "sh", "-c", "stty size </dev/tty; trap 'stty size </dev/tty; exit 0' WINCH; echo started; while :; do sleep 0.05; done")
    s.expect("33 101")
    s.expect("started")
    s.resize(44, 132)
    s.expect("44 132")


@BOTH
def test_lines_quit_and_end_of_file(light, options):
    t = Terminal(light, light.creel("sh", "-c", "trap 'echo int' INT; trap 'echo quit' QUIT; echo started; "
                                    "while read x; do echo got $x; done; echo eof", options=options))
    t.expect("started")
    t.type("one\n")
    t.expect("got one")
    t.type("\x1c")
    t.expect("quit")
    t.type("\x04")
    t.expect("eof")
    assert t.wait() == 0


@BOTH
def test_interrupt_ends_a_program(light, options):
    t = Terminal(light, light.creel("sh", "-c", "echo started; exec sleep 60", options=options))
    t.expect("started")
    t.type("\x03")
    assert t.wait() == -signal.SIGINT
    assert t.modes() == t.before


@BOTH
def test_a_shell_inside_has_jobs(light, options):
    t = Terminal(light, light.creel("bash", "--norc", "-i", options=[*options, "--env", "PS1=> "]))
    t.expect("> ")
    t.type("sleep 60\n")
    time.sleep(0.3)
    t.type("\x1a")
    t.expect("Stopped")
    t.type("jobs; kill %1; wait; echo over $((40+2))\n")
    t.expect("over 42")
    t.type("stty -echo; stty -a | grep -o -e -echo\n")
    t.expect("-echo")
    t.type("exit 6\n")
    assert t.wait() == 6
    assert t.modes() == t.before


def test_a_key_for_stopping_without_a_shell_stops_nothing_for_ever(light):
    """Nobody could continue creel, so the kernel would not have stopped the command either."""
    t = Terminal(light, light.creel("sh", "-c", "echo started; while read x; do echo got $x; done"))
    t.expect("started")
    t.type("\x1a")
    time.sleep(0.3)
    t.type("more\n")
    t.expect("got more")
    t.type("\x04")
    assert t.wait() == 0


# ---- jobs of the operator ----

@BOTH
def test_a_job_is_stopped_and_continued(light, options):
    s = Shell(light)
    before = s.modes()
    s.run("{}", "sh", "-c", "echo started; while read x; do echo got $x; done; exit 4", options=options)
    s.expect("started")
    s.type("one\n")
    s.expect("got one")
    assert s.is_raw()
    s.type("\x1a")
    s.expect("Stopped")
    s.expect("ready> ")
    assert s.modes() == before, "the modes were not given back"
    s.type("fg\n")
    s.expect("creel")
    assert wait_until(s.is_raw, 5)
    s.type("two\n")
    s.expect("got two")
    s.type("\x04")
    s.expect("ready> ")
    assert s.modes() == before
    s.type("echo status $?\n")
    s.expect("status 4")


def test_a_stopped_job_goes_on_in_the_background(light):
    s = Shell(light)
    before = s.modes()
    s.run("{}", "sh", "-c", TICK)
    s.expect("tick")
    s.type("\x1a")
    s.expect("Stopped")
    s.expect("ready> ")
    s.type("bg\n")
    s.expect("tick")
    s.expect("tick")
    assert s.modes() == before
    s.type("kill %1; wait; echo over $((40+2))\n")
    s.expect("over 42")
    assert s.modes() == before


def test_a_background_job_leaves_the_terminal_alone(light):
    s = Shell(light)
    s.type("stty -echo\n")
    s.expect("ready> ")
    before = s.modes()
    s.run("{} &", "sh", "-c", "sleep 0.5; echo from behind; sleep 0.5; echo 'not ''stopped'")
    s.expect("ready> ")
    s.type("read line; echo got $line\n")
    s.expect("from behind")
    assert s.modes() == before
    s.type("typed\n")
    s.expect("got typed")
    s.expect("not stopped")
    s.type("wait; echo over $((40+2))\n")
    s.expect("over 42")
    assert s.modes() == before


def test_a_background_job_that_reads_is_stopped_until_it_is_in_front(light):
    s = Shell(light)
    before = s.modes()
    s.run("{} &", "sh", "-c", "read x; echo got $x")
    s.expect("ready> ")
    assert wait_until(lambda: s.type("\n") or s.read(0.2) or b"Stopped" in s.text, 10), s.text
    assert s.modes() == before
    s.type("fg\n")
    s.expect("creel")
    assert wait_until(s.is_raw, 5)
    s.type("typed\n")
    s.expect("got typed")
    s.expect("ready> ")
    assert s.modes() == before


def test_interrupt_in_a_pipeline_reaches_both(light):
    s = Shell(light)
    s.run("{} | cat; echo status ${PIPESTATUS[0]}", "sh", "-c", "echo started; exec sleep 60")
    s.expect("started")
    s.type("\x03")
    s.expect("ready> ")
    for head in ("sh -c 'echo started; exec sleep 60'", "{}"):  # without creel, and with it
        s.run(head + " | (trap '' INT; cat); echo went on", "sh", "-c", "echo started; exec sleep 60")
        s.expect("started\r\n")
        s.type("\x03")
        assert wait_until(lambda: s.read(0.05) or b"ready> " in s.text, 20), s.text
        assert b"went on" not in s.text, s.text
        s.expect("ready> ")
        s.run("echo status $?")
        s.expect("status 130")
        s.expect("ready> ")


def test_in_a_pipeline_the_keys_are_for_whoever_reads_them(light):
    """creel run -- ls | less: the pager has the keys and the modes, also when the command ends."""
    s = Shell(light)
    s.run("{} | bash -c 'stty -echo -icanon </dev/tty; echo reader; IFS= read -rn1 k </dev/tty; echo key=$k; cat >/dev/null; "
          "stty -a </dev/tty | grep -o -e -icanon; stty echo icanon </dev/tty'", "sh", "-c", "sleep 1")
    s.expect("reader")
    s.type("q")
    s.expect("key=q")
    s.expect("-icanon")


def test_a_command_that_reads_at_the_head_of_a_pipeline_gets_the_keys(light):
    s = Shell(light)
    before = s.modes()
    s.run("{} | tr a-z A-Z", "sh", "-c", "read x; echo got $x; read y; echo and $y")
    s.type("one\n")
    s.expect("GOT ONE\r\n")
    s.type("two\n")
    s.expect("AND TWO\r\n")
    s.expect("ready> ")
    assert s.modes() == before


def test_a_pager_at_the_end_of_a_pipeline_gets_the_keys(light):
    s = Shell(light)
    before = s.modes()
    s.run("seq 100 | {}", "less", options=["--env", "TERM=xterm"])
    s.expect("\033[?1049h")
    s.expect("22")
    s.type("G")
    s.expect("100")
    s.type("q")
    s.expect("\033[?1049l")
    s.expect("ready> ")
    assert s.modes() == before


# ---- modes are given back ----

@BOTH
@pytest.mark.parametrize("how", [signal.SIGTERM, signal.SIGHUP, signal.SIGINT])
def test_the_modes_are_given_back_when_creel_is_ended(light, how, options):
    t = Terminal(light, light.creel("sh", "-c", "stty raw -echo; echo started; exec sleep 60", options=options))
    t.expect("started")
    assert wait_until(t.is_raw, 5)
    t.process.send_signal(how)
    assert t.wait() == (-how if how == signal.SIGINT else 128 + how)
    assert t.modes() == t.before


@pytest.mark.parametrize("command,options,status", [
    (["no-such-command"], [], 127), (["/etc/passwd"], [], 126), (["sh", "-c", "stty raw -echo; kill -9 $$"], [], 137),
    (["sh", "-c", "stty raw -echo; sleep 60"], ["--timeout", "1"], 124), (["true"], ["--image", "/nonexistent"], 125),
    (["sh", "-c", "stty raw; exec 0<&- 1>&- 2>&-; exit 3"], [], 3)])
def test_the_modes_are_given_back_however_it_ends(light, command, options, status):
    t = Terminal(light, light.creel(*command, options=options))
    assert t.wait() == status, t.text
    assert t.modes() == t.before


def test_creel_stopped_from_outside_goes_on_in_raw_mode(light):
    s = Shell(light)
    s.run("{}", "sh", "-c", "echo started; while read x; do echo got $x; done")
    s.expect("started")
    assert wait_until(s.is_raw, 5)
    creel = int(subprocess.run(["pgrep", "-P", str(s.process.pid)], capture_output=True, text=True, check=True).stdout.split()[0])
    subprocess.run(["kill", "-STOP", str(creel)], check=True)
    s.expect("Stopped")
    s.expect("ready> ")
    s.type("fg\n")
    s.expect("creel")
    assert wait_until(s.is_raw, 5)
    s.type("more\n")
    s.expect("got more")
    s.type("\x04")
    s.expect("ready> ")
    assert s.modes()[3] & termios.ECHO


def test_a_command_that_stops_itself_stops_creel_and_nobody_else(light):
    """A neighbour in the pipeline goes on: only a key of the operator's stops all of them."""
    s = Shell(light)
    s.run("{} | (while sleep 0.1; do echo neighbour; done)", "sh", "-c", "echo started >&2; kill -STOP $$; echo went on >&2; sleep 60")
    s.expect("started")
    for _ in range(5):
        s.expect("neighbour")
    s.type("\x03")
    s.expect("ready> ")
