# SPDX-License-Identifier: Apache-2.0
"""Number 41 and --tty: a terminal of its own, that does what terminals do; and nobody types into ours."""
import contextlib
import fcntl
import os
import pty
import select
import signal
import struct
import subprocess
import termios
import time

import pytest
from conftest import needs_root, wait_until


class Terminal:
    """The operator's terminal: creel runs on it, in a session whose controlling terminal it is."""

    def __init__(self, box, argv, size=(24, 80)):
        self.master, slave = pty.openpty()
        self.resize(*size)
        self.text = b""

        def take():
            os.setsid()
            fcntl.ioctl(slave, termios.TIOCSCTTY, 0)
        self.process = subprocess.Popen(argv, stdin=slave, stdout=slave, stderr=slave, preexec_fn=take, cwd=box.ws, env=box.env)
        self.slave = slave
        box.closing.append(self.close)

    def resize(self, rows, columns):
        fcntl.ioctl(self.master, termios.TIOCSWINSZ, struct.pack("HHHH", rows, columns, 0, 0))

    def type(self, text):
        os.write(self.master, text.encode())

    def read(self, seconds=0.1):
        while select.select([self.master], [], [], seconds)[0]:
            try:
                got = os.read(self.master, 65536)
            except OSError:
                return
            if not got:
                return
            self.text += got

    def expect(self, text, seconds=10):
        end = time.monotonic() + seconds
        while text.encode() not in self.text:
            assert time.monotonic() < end, f"waited for {text!r}, have {self.text!r}"
            self.read(0.05)

    def wait(self, seconds=10):
        end = time.monotonic() + seconds
        while self.process.poll() is None:
            assert time.monotonic() < end, f"does not end: {self.text!r}"
            self.read(0.05)
        self.read()
        return self.process.returncode

    def pending(self):
        """Bytes that wait to be read from the terminal, as if somebody had typed them."""
        settings = termios.tcgetattr(self.slave)
        settings[3] &= ~termios.ICANON
        termios.tcsetattr(self.slave, termios.TCSANOW, settings)
        return struct.unpack("i", fcntl.ioctl(self.slave, termios.FIONREAD, b"\0" * 4))[0]

    def close(self):
        self.process.kill()
        self.process.wait()
        for fd in (self.master, self.slave):
            with contextlib.suppress(OSError):
                os.close(fd)


TYPING = ["tiocsti={}", "tiocsti_high={}", "tiocsti_sign={}", "tioclinux={}", "tioclinux_high={}", "tioccons={}"]


def answers(terminal):
    return [line.split(": ")[1] for line in terminal.text.decode().replace("\r", "").splitlines() if ": " in line]


@pytest.mark.parametrize("tty", [False, True], ids=["plain", "tty"])
def test_e41_s08_nobody_types_into_the_operators_terminal(box, tty):
    """The operator's terminal is what creel was started on; the sandbox may get it as standard streams, or one of its own."""
    needs_root()
    control = Terminal(box, [box.ws / "term", "tiocsti=0"])  # as root: a kernel may keep TIOCSTI to the administrator
    control.wait()
    assert b"tiocsti: DONE" in control.text and control.pending() >= 4, control.text
    asks = [t.format(fd) for t in TYPING for fd in (0, 1, 2, "tty")]
    t = Terminal(box, box.creel("./term", *asks, options=["--tty"] if tty else []))
    assert t.wait() == 0, t.text
    said = answers(t)
    assert len(said) == len(asks) and set(said) <= {"EPERM", "ENOTTY", "ENXIO", "EACCES", "EIO", "EINVAL"}, t.text
    assert t.pending() == 0


def test_e41_a_plain_run_does_not_get_the_controlling_terminal(box):
    t = Terminal(box, box.creel("sh", "-c", "./term tiocsctty=0 tiocsctty=1; (: </dev/tty); echo status $?"))
    assert t.wait() == 0
    assert "DONE" not in answers(t) and "status 0" not in t.text.decode(), t.text


def test_e41_job_control_of_the_operator_is_untouched(box):
    """A plain run cannot take the foreground: a key that interrupts reaches creel, which passes it on."""
    t = Terminal(box, box.creel("sh", "-c", "trap 'echo interrupted; exit 5' INT; echo ready; while :; do sleep 0.05; done"))
    t.expect("ready")
    t.type("\x03")
    assert t.wait() == 5 and b"interrupted" in t.text


def test_tty_is_one_of_its_own(box):
    t = Terminal(box, box.creel("sh", "-c", "./term isatty=0 isatty=1 isatty=2; tty; ls /dev/pts; echo -n $(ps -o tty= -p $$)",
                                options=["--tty"]))
    assert t.wait() == 0, t.text
    assert answers(t) == ["DONE"] * 3 and b"/dev/pts/0" in t.text, t.text
    assert os.ttyname(t.slave).encode() not in t.text or os.ttyname(t.slave) == "/dev/pts/0"


def test_tty_without_one_outside(light):
    """Standard streams of creel are pipes: the command still has a terminal."""
    result = light.run("sh", "-c", "./term isatty=0 isatty=1; read x; echo got $x", options=["--tty"], stdin="hello\n")
    assert result.status == 0 and "isatty: DONE" in result.out and "got hello" in result.out, result


def test_tty_has_the_size_and_follows_it(light):
    t = Terminal(light, light.creel("sh", "-c", "stty size; trap 'stty size; exit 0' WINCH; echo ready; while :; do sleep 0.05; done",
                                    options=["--tty"]), size=(33, 101))
    t.expect("ready")
    assert b"33 101" in t.text
    t.resize(44, 132)
    t.process.send_signal(signal.SIGWINCH)
    t.expect("44 132")
    assert t.wait() == 0


def test_tty_interrupt_quit_and_end_of_file(light):
    t = Terminal(light, light.creel("sh", "-c", "trap 'echo int' INT; trap 'echo quit' QUIT; echo ready; "
                                    "while read x; do echo got $x; done; echo eof", options=["--tty"]))
    t.expect("ready")
    t.type("one\n")
    t.expect("got one")
    t.type("\x1c")
    t.expect("quit")
    t.type("\x04")
    t.expect("eof")
    assert t.wait() == 0


def test_tty_interrupt_ends_a_program(light):
    t = Terminal(light, light.creel("sh", "-c", "echo ready; exec sleep 60", options=["--tty"]))
    t.expect("ready")
    t.type("\x03")
    assert t.wait() == 128 + 2


def test_tty_job_control(light):
    """An interactive shell inside: stop, list, continue."""
    t = Terminal(light, light.creel("bash", "--norc", "-i", options=["--tty", "--env", "PS1=> "]))
    t.expect("> ")
    t.type("sleep 60\n")
    time.sleep(0.3)
    t.type("\x1a")
    t.expect("Stopped")
    t.type("jobs; kill %1; wait; echo over $((40+2))\n")
    t.expect("over 42")
    t.type("exit 6\n")
    assert t.wait() == 6


def test_tty_is_given_back_as_it_was(light):
    t = Terminal(light, light.creel("sh", "-c", "stty -echo raw; echo changed", options=["--tty"]))
    before = termios.tcgetattr(t.slave)
    assert t.wait() == 0
    assert termios.tcgetattr(t.slave)[:6] == before[:6] or termios.tcgetattr(t.slave)[3] & termios.ECHO


def test_tty_is_given_back_when_creel_is_ended(light):
    t = Terminal(light, light.creel("sh", "-c", "echo ready; exec sleep 60", options=["--tty"]))
    t.expect("ready")
    t.process.terminate()
    assert t.wait() == 128 + 15
    assert termios.tcgetattr(t.slave)[3] & termios.ECHO


def test_tty_copies_everything(light):
    """A megabyte through the terminal arrives whole, also what is printed last."""
    t = Terminal(light, light.creel("sh", "-c", "stty -opost; head -c 1000000 /dev/zero | tr '\\0' x; echo; echo end", options=["--tty"]))
    assert t.wait(30) == 0
    assert t.text.count(b"x") == 1000000 and t.text.rstrip().endswith(b"end")


def test_tty_dies_with_creel(light):
    t = Terminal(light, light.creel("sh", "-c", f"echo ready; sleep 60; : {light.mark}", options=["--tty"]))
    t.expect("ready")
    t.process.kill()
    t.process.wait()
    assert wait_until(lambda: subprocess.run(["pgrep", "-f", light.mark], capture_output=True, check=False).returncode == 1)


def test_tty_that_hangs_up_ends_the_command(light):
    t = Terminal(light, light.creel("sh", "-c", f"echo ready; sleep 60; : {light.mark}", options=["--tty"]))
    t.expect("ready")
    os.close(t.slave)
    os.close(t.master)
    t.master, t.slave = os.pipe()
    assert wait_until(lambda: t.process.poll() is not None, 5), "creel lives on without its terminal"
    assert wait_until(lambda: subprocess.run(["pgrep", "-f", light.mark], capture_output=True, check=False).returncode == 1)
