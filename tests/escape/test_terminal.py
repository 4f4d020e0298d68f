# SPDX-License-Identifier: Apache-2.0
"""Numbers 41 and 53, S8 and S9: the caller's terminal never goes in, nobody types into it, and what comes out cannot command it."""
import hashlib
import itertools
import os
import pathlib
import signal
import subprocess
import termios
import time

import pytest
from conftest import descendants, needs_root, wait_until
from operator_terminal import Terminal

TYPING = ["tiocsti={}", "tiocsti_high={}", "tiocsti_sign={}", "tioclinux={}", "tioclinux_high={}", "tioccons={}"]


def answers(terminal):
    return [line.split(": ")[1] for line in terminal.text.decode().replace("\r", "").splitlines() if ": " in line]


# ---- in ----

@pytest.mark.parametrize("tty", [False, True], ids=["plain", "tty"])
def test_e41_s08_nobody_types_into_the_operators_terminal(box, tty):
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


def test_e41_s08_nobody_changes_the_operators_terminal(box):
    """Inside it works, because the terminal there is another one."""
    control = Terminal(box, box.as_user([box.ws / "term", "settings=0"]))
    control.wait()
    assert control.modes() != control.before, "the control outside failed, so the test shows nothing"
    t = Terminal(box, box.creel("./term", "settings=0", "settings=1", "settings=2", "settings=tty", "tiocsctty=0", "tiocsctty=tty"))
    assert t.wait() == 0 and answers(t) == ["DONE"] * 4 + ["EPERM"] * 2, t.text
    assert t.modes() == t.before


@pytest.mark.parametrize("tty", [False, True], ids=["plain", "tty"])
def test_s08_no_process_behind_the_walls_holds_the_operators_terminal(box, tty):
    control = Terminal(box, ["sh", "-c", "sleep 60 & wait"])
    assert wait_until(lambda: len(control.holders(descendants(control.process.pid))) == 1)
    t = Terminal(box, box.creel("sh", "-c", "echo started; sleep 60", options=["--tty"] if tty else []))
    t.expect("started")
    inside = descendants(t.process.pid)
    assert len(inside) >= 3 and t.holders([t.process.pid]), inside
    assert t.holders(inside) == set()


def test_the_terminal_inside_is_one_of_its_own(box):
    t = Terminal(box, box.creel("sh", "-c", "tty; echo $(ls /dev/pts); echo $(ps -o tty= -p $$); readlink /proc/self/fd/2"))
    assert t.wait() == 0, t.text
    assert t.text.decode().replace("\r", "").splitlines() == ["/dev/pts/0", "0 ptmx", "pts/0", "/dev/pts/0"], t.text


@pytest.mark.parametrize("terminals", list(itertools.product([True, False], repeat=3)),
                         ids=lambda c: "".join("T" if x else "-" for x in c))
def test_only_streams_that_are_terminals_become_one(light, terminals):
    """All eight: the rest is passed as it is, and what is written there arrives untouched, byte by byte."""
    evil = "\033]0;title\007\r\n"
    files = [light.file(f"stream{n}", "from a file\n") for n in range(3)]
    given = [None if is_tty else open(f, "r+b") for is_tty, f in zip(terminals, files)]
    t = Terminal(light, light.creel("sh", "-c", "exec 3> /tmp/seen; for n in 0 1 2; do test -t $n && echo $n >&3; done; read line; "
                                    f"printf '%s' '{evil}' >&2; printf '%s' '{evil}'; "
                                    "echo $line $(cat /tmp/seen) > said", access="rw"),
                 **{name: f for name, f in zip(("stdin", "stdout", "stderr"), given) if f})
    if terminals[0]:
        t.type("from the keys\n")
    assert t.wait() == 0, t.text
    ttys = [str(n) for n in range(3) if terminals[n]]
    assert (light.ws / "said").read_text().split() == ["from", *(["the", "keys"] if terminals[0] else ["a", "file"]), *ttys]
    for n in (1, 2):
        assert terminals[n] or files[n].read_bytes() == evil.encode(), n
    assert t.text.count(b"^[]0;title") == terminals[1] + terminals[2], t.text
    assert b"\033]" not in t.text and t.modes() == t.before


def test_without_a_terminal_there_is_none_inside(light):
    result = light.run("sh", "-c", "ls /dev/pts; test -t 0 || test -t 1 || test -t 2 || echo none; (: < /dev/tty) || echo no tty")
    assert result.out.split() == ["ptmx", "none", "no", "tty"], result


def test_the_kind_of_terminal_is_known_inside(light):
    t = Terminal(light, light.creel("sh", "-c", "echo it is $TERM"), env={"TERM": "vt220"})
    t.expect("it is vt220")
    t = Terminal(light, light.creel("sh", "-c", "echo it is $TERM", options=["--env", "TERM=ansi"]), env={"TERM": "vt220"})
    t.expect("it is ansi")
    assert "TERM" not in light.run("env", env={"TERM": "vt220"}).out


# ---- out: what is rendered, spelled out independently of the filter ----

def visible(text):
    return b"".join(b"^" + bytes([c ^ 64]) if c < 32 or c == 127 else b"\\x%02x" % c if c > 127 else bytes([c]) for c in text)


def printed():
    """(what is printed, what the terminal gets) for every control character, escape and final."""
    passes = b"\a\b\t\n\r\x0e\x0f"
    for c in [*range(27), *range(28, 32), 127]:
        yield bytes([c]), bytes([c]) if c in passes else visible(bytes([c]))
    for c in range(128, 160):
        yield bytes([c]), visible(bytes([c]))
        yield chr(c).encode(), visible(chr(c).encode())
    for c in range(32, 127):
        if c not in b"[()":
            yield b"\033" + bytes([c]), b"\033" + bytes([c]) if c in b"78DEM=>" else visible(b"\033" + bytes([c]))
    for c in range(64, 127):
        for marker, allowed in ((b"", b"@ABCDEFGHIJKLMPSTXZ`abdefmr"), (b"?", b""), (b">", b""), (b"=", b""), (b"<", b"")):
            seq = b"\033[" + marker + b"2" + bytes([c])
            yield seq, seq if c in allowed else visible(seq)
    for text in (b"\033]52;c;ZXZpbA==\a", b"\033]0;title\033\\", b"\033]8;;http://x/\033\\x", b"\033]11;?\a", b"\033]50;font\a"):
        yield text, visible(text).replace(b"^G", b"\a")
    for text in (b"\033P$qm\033\\", b"\033P+q544e\033\\", b"\033_Gi=1;x\033\\", b"\033^x\033\\", b"\033Xx\033\\", b"\033[6n", b"\033[c",
                 b"\033[>0q", b"\033[?2026$p", b"\033[21t", b"\033[14t", b"\033[5i", b"\033[?5i", b"\033[3J", b"\033c", b"\033[?3h"):
        yield text, visible(text)
    for text in ("plain é ěščř 漢字 🦞".encode(), b"\033[1;38;5;9mred\033[0m", b"\033[2K\r50%\033[A", b"\033[?25l\033[?25h",
                 b"\033[?1049h\033[?1049l", b"\033[?1;1000;1006;2004h\033[?1;1000;1006;2004l"):
        yield text, text


def show(box, what, options=()):
    """The bytes of a file on the terminal; nothing but creel stands between."""
    (box.ws / "bytes").write_bytes(what + b"<END>")
    box.give(box.ws / "bytes")
    t = Terminal(box, box.creel("sh", "-c", "stty -opost; cat bytes", options=options))
    assert t.wait() == 0
    return t.text


def test_s09_what_is_printed_cannot_command_the_terminal(light):
    cases = list(printed())
    got, after = show(light, b"".join(b"<%d>%s" % (i, what) for i, (what, _) in enumerate(cases))).split(b"<END>")
    for i, (what, want) in enumerate(cases):
        shown = got.split(b"<%d>" % i, 1)[1].split(b"<%d>" % (i + 1), 1)[0]
        assert shown == want, f"{what!r}: the terminal got {shown!r} instead of {want!r}"
    assert set(after.split(b"\033")) <= {b"", b"7", b"8", b"[r", b"[m", b"(B", b")B", b">"}, after


def test_s09_a_terminal_that_does_not_read_utf8_gets_none(light):
    light.env["LC_ALL"] = "cs_CZ.ISO-8859-2"
    assert show(light, "ě".encode()) == b"\\xc4\\x9b<END>"


def test_s09_raw_bytes_are_for_those_who_ask(light):
    text = b"".join(what for what, _ in printed())
    assert show(light, text, ["--tty"]) == text + b"<END>"


def test_the_terminal_is_left_as_it_is_normally(light):
    got = show(light, b"\033[?1049h\033[?25l\033[31m\033[?1003h\033(0")
    assert got.split(b"<END>")[1] == b"\033[?1049l\033[?25h\033[?1003l\033(B\033[m", got


def test_only_who_has_the_keys_says_what_they_send(light):
    """In a pipeline somebody else reads them: modes of mouse and paste do not pass there."""
    out = open(light.file("out"), "wb")
    t = Terminal(light, light.creel("printf", r"%b", r"\033[?2004l\033[?1000h\033[31m", options=["-q"]), stdout=out)
    assert t.wait() == 0
    t = Terminal(light, light.creel("sh", "-c", r"printf '\033[?2004l\033[?1000h\033[31m' >&2"), stdout=out)
    assert t.wait() == 0 and t.text == b"^[[?2004l^[[?1000h\033[31m\033[m", t.text


# ---- much of it ----

def test_much_output_arrives_whole_and_in_order(light):
    t = Terminal(light, light.creel("seq", "1400000"))
    assert t.wait(120) == 0
    want = "".join(f"{n}\n" for n in range(1, 1400001)).encode()
    assert len(want) > 10_000_000
    assert hashlib.sha256(t.text.replace(b"\r\n", b"\n")).digest() == hashlib.sha256(want).digest()


def peak_kb(pid):
    return int(pathlib.Path(f"/proc/{pid}/status").read_text().split("VmHWM:")[1].split()[0])


@pytest.mark.parametrize("what", ["x", "\033[1;", "\033]"], ids=["text", "sequence", "string"])
def test_e53_a_flood_without_newline_costs_no_memory(light, what):
    """Nobody looks at the terminal for a while: the command waits, and creel does not grow; then all of it arrives."""
    (light.ws / "bytes").write_bytes(what.encode() * (100000 // len(what)))
    light.give(light.ws / "bytes")
    t = Terminal(light, light.creel("sh", "-c", "for n in $(seq 20); do cat bytes; done; printf '<END>'; read x"))
    wait_until(lambda: len(t.holders([t.process.pid])) > 0 and peak_kb(t.process.pid) > 2000, 5)
    wait_until(lambda: False, 0.5)
    base = peak_kb(t.process.pid)
    end = time.monotonic() + 120
    size = 0
    while b"<END>" not in t.seen:
        assert time.monotonic() < end, "the flood does not arrive"
        t.read(0)
        size += max(0, len(t.seen) - 16)
        del t.seen[:-16]
    assert size + len(t.seen) >= (light.ws / "bytes").stat().st_size * 20
    assert peak_kb(t.process.pid) < base + 1024
    t.type("\n")
    assert t.wait() == 0


def test_a_limit_on_the_output_counts_the_terminal_too(light):
    t = Terminal(light, light.creel("sh", "-c", "stty -opost; head -c 5000 /dev/zero | tr '\\0' x; sleep 60", options=["--output-limit", "5k"]))
    assert not wait_until(lambda: t.read(0) or t.process.poll() is not None, 1), t.text
    t.process.terminate()
    assert t.wait() == 143 and t.text == b"x" * 5000
    t = Terminal(light, light.creel("sh", "-c", "stty -opost; head -c 6000 /dev/zero | tr '\\0' x; sleep 60", options=["--output-limit", "5k"]))
    assert t.wait() == 137 and t.text.startswith(b"x" * 5120 + b"creel run: ended"), t.text
    assert t.modes() == t.before
    with open(light.file("out"), "wb") as out:
        t = Terminal(light, light.creel("sh", "-c", "head -c 3000 /dev/zero; head -c 3000 /dev/zero | tr '\\0' x >&2; sleep 60",
                                        options=["--output-limit", "5k"]), stdout=out)
        assert t.wait() == 137 and t.text.startswith(b"x" * 2120 + b"creel run: ended"), t.text


# ---- its end ----

def gone(box):
    return wait_until(lambda: subprocess.run(["pgrep", "-f", box.mark], capture_output=True, check=False).returncode == 1)


@pytest.mark.parametrize("options", [[], ["--tty"]], ids=["plain", "tty"])
def test_the_command_dies_with_creel(light, options):
    t = Terminal(light, light.creel("sh", "-c", f"echo started; sleep 60; : {light.mark}", options=options))
    t.expect("started")
    t.process.kill()
    t.process.wait()
    assert gone(light)


@pytest.mark.parametrize("options", [[], ["--tty"]], ids=["plain", "tty"])
def test_a_terminal_that_hangs_up_ends_the_command(light, options):
    t = Terminal(light, light.creel("sh", "-c", f"echo started; sleep 60; : {light.mark}", options=options))
    t.expect("started")
    os.close(t.slave)
    os.close(t.master)
    t.master, t.slave = os.pipe()
    assert wait_until(lambda: t.process.poll() is not None, 5), "creel lives on without its terminal"
    assert gone(light)


def test_a_terminal_that_nobody_reads_does_not_keep_creel_alive(light):
    t = Terminal(light, light.creel("sh", "-c", "echo started; sleep 1; exec cat /dev/zero"))
    t.expect("started")
    wait_until(lambda: False, 2)
    assert wait_until(lambda: t.process.poll() is not None or t.process.send_signal(signal.SIGTERM), 10), "creel waits for the terminal"
    assert t.process.returncode == 128 + signal.SIGTERM and t.modes() == t.before


def test_tty_without_one_outside(light):
    """Standard streams of creel are pipes: with --tty the command still has a terminal."""
    result = light.run("sh", "-c", "./term isatty=0 isatty=1; read x; echo got $x; cat; echo over", options=["--tty"], stdin="hello\nand more")
    assert result.status == 0 and "isatty: DONE" in result.out and "got hello" in result.out and "over" in result.out, result


def test_the_settings_of_the_operators_terminal_are_those_inside(light):
    """Its erase key, for one; the modes of whoever has the terminal in a pipeline are not."""
    t = Terminal(light, ["sh", "-c", "stty erase '#' -echo; exec \"$@\"", "sh", *light.creel("stty", "-a")])
    assert t.wait() == 0 and b"erase = #" in t.text and b" -echo " in t.text, t.text
    out = light.file("out")
    t = Terminal(light, ["sh", "-c", "stty erase '#' raw -echo; exec \"$@\"", "sh", *light.creel("stty", "-a")], stdout=open(out, "wb"))
    assert t.wait() == 0 and {"icanon", "echo", "opost", "isig"} <= set(out.read_text().split()) and "erase = #" in out.read_text()
    assert not t.modes()[3] & termios.ICANON, "a program that only looks has changed the terminal"
