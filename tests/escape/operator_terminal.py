# SPDX-License-Identifier: Apache-2.0
"""The operator's terminal, with somebody who types on it and looks at what it shows."""
import contextlib
import fcntl
import os
import pathlib
import pty
import select
import shlex
import struct
import subprocess
import termios
import time

STREAMS = ("stdin", "stdout", "stderr")


class Terminal:
    """A process, creel or a shell, in a session whose controlling terminal this is. Streams can be something else."""

    def __init__(self, box, argv, size=(24, 80), env=(), **streams):
        self.master, slave = pty.openpty()
        self.resize(*size)
        self.seen = bytearray()
        self.before = termios.tcgetattr(slave)

        def take():
            os.setsid()
            fcntl.ioctl(slave, termios.TIOCSCTTY, 0)
        self.process = subprocess.Popen(argv, preexec_fn=take, cwd=box.ws, env={**box.env, **dict(env)},
                                        **{name: streams.get(name, slave) for name in STREAMS})
        self.slave = slave
        box.closing.append(self.close)

    @property
    def text(self):
        """What it shows, since the last that was expected."""
        return bytes(self.seen)

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
            self.seen += got

    def expect(self, text, seconds=20):
        """Waits for it, and forgets what came before."""
        end = time.monotonic() + seconds
        while text.encode() not in self.seen:
            assert time.monotonic() < end, f"waited for {text!r}, have {self.text!r}"
            self.read(0.05)
        del self.seen[:self.seen.index(text.encode()) + len(text.encode())]

    def wait(self, seconds=20):
        end = time.monotonic() + seconds
        while self.process.poll() is None:
            assert time.monotonic() < end, f"does not end: {self.text[-1000:]!r}"
            self.read(0.05)
        self.read()
        return self.process.returncode

    def modes(self):
        return termios.tcgetattr(self.slave)

    def is_raw(self):
        return not self.modes()[3] & termios.ICANON

    def identity(self, fd=None):
        st = os.fstat(self.slave if fd is None else fd)
        return st.st_dev, st.st_rdev

    def holders(self, pids):
        """Those that have this terminal open, by any descriptor."""
        found = set()
        for pid in pids:
            for link in pathlib.Path(f"/proc/{pid}/fd").glob("*"):
                with contextlib.suppress(OSError):
                    st = link.stat()
                    if (st.st_dev, st.st_rdev) == self.identity():
                        found.add(pid)
        return found

    def pending(self):
        """Bytes that wait to be read from the terminal, as if somebody had typed them."""
        settings = self.modes()
        settings[3] &= ~termios.ICANON
        termios.tcsetattr(self.slave, termios.TCSANOW, settings)
        return struct.unpack("i", fcntl.ioctl(self.slave, termios.FIONREAD, b"\0" * 4))[0]

    def close(self):
        self.process.kill()
        self.process.wait()
        for fd in (self.master, self.slave):
            with contextlib.suppress(OSError):
                os.close(fd)


class Shell(Terminal):
    """An interactive shell, as the operator has it; {} in a command line is creel run."""

    def __init__(self, box, **kw):
        super().__init__(box, ["bash", "--norc", "--noediting", "-i"], env={"PS1": "ready> ", "PS2": ""}, **kw)
        self.box = box
        self.expect("ready> ")

    def run(self, line, *command, **kw):
        self.type(line.replace("{}", shlex.join(self.box.creel(*command, **kw))) + "\n")
        self.expect("\n")
        return self
