# SPDX-License-Identifier: Apache-2.0
"""--output-limit: what a command may write to the caller. What the caller really got is the oracle."""
import hashlib
import os
import signal
import subprocess
import time

import pytest
from conftest import descendants, wait_until

WRITE = "import sys, os\nfor n, s in eval(sys.argv[1]):\n while n: n -= os.write(s, b'x' * min(n, 65536))"


def limit(size):
    return ["--output-limit", str(size)]


def ended_for_its_output(result, *words):
    assert result.status == 128 + 9 and result.report["reason"] == "output" and result.report["signal"] == 9, result
    assert all(w in result.report["message"] for w in ("--output-limit", "limits.output", *words)), result


@pytest.mark.parametrize("size", [1, 4096, 100000, 1 << 20])
def test_all_of_the_limit_and_no_byte_more(light, size):
    exact = light.run("python3", "-c", WRITE, repr([(size, 1)]), options=limit(size), status=0)
    assert len(exact.out) == size and exact.report["reason"] == "ok" and exact.err == "", exact.report
    control = light.run("python3", "-c", WRITE, repr([(size + 1, 1)]), status=0)
    assert len(control.out) == size + 1
    over = light.run("python3", "-c", WRITE, repr([(size + 1, 1)]), options=limit(size))
    assert len(over.out) == size
    ended_for_its_output(over)


def test_both_streams_are_counted_together(light):
    result = light.run("python3", "-c", WRITE, repr([(600, 1), (300, 2)]), options=limit(1000), status=0)
    assert (len(result.out), len(result.err)) == (600, 300)
    over = light.run("python3", "-c", WRITE, repr([(600, 1), (600, 2)]), options=limit(1000))
    assert len(over.out) == 600 and over.err.startswith("x" * 400 + "creel run: ended"), over
    ended_for_its_output(over, "1000")
    by_key = light.run("python3", "-c", WRITE, repr([(600, 1), (600, 2)]), options=["-e", "limits.output=1000"])
    ended_for_its_output(by_key, "1000")


def test_what_is_below_the_limit_arrives_as_it_was(light):
    """Binary, in odd pieces, on both streams, through a pipe, a file and a file that is appended to."""
    script = ("import os, random, sys\nr = random.Random(7)\nfor i in range(3000):\n"
              " os.write(1, r.randbytes(r.randrange(1, 3000))); i % 100 or os.write(2, r.randbytes(50))")
    plain = light.run("python3", "-c", script, text=False, status=0)
    through = light.run("python3", "-c", script, text=False, options=limit("1g"), status=0)
    assert len(plain.out) > 1 << 22 and through.out == plain.out and through.err == plain.err
    for mode in ("wb", "ab"):
        with open(light.tmp / "out", mode) as out:
            subprocess.run(light.creel("python3", "-c", script, options=limit("1g")), stdout=out, stderr=subprocess.DEVNULL, env=light.env,
                           cwd=light.ws, check=True)
    want = hashlib.sha256(plain.out + plain.out).digest()
    assert hashlib.sha256((light.tmp / "out").read_bytes()).digest() == want


@pytest.mark.parametrize("how", ["yes", "trap '' PIPE TERM; while :; do yes; done", "(setsid yes &) ; yes >&2 & sleep 60", "cat /dev/zero"])
def test_what_never_ends_is_ended(light, how):
    p = light.spawn("sh", "-c", how, options=limit("3m"), stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    got = p.stdout.read(1)
    inside = descendants(p.pid)
    got += p.stdout.read()
    assert p.wait(10) == 128 + 9 and len(inside) >= 2
    text, _, word = got.partition(b"creel run: ended")
    assert len(text) == 3 << 20 and b"--output-limit" in word
    assert wait_until(lambda: not [i for i in inside if os.path.exists(f"/proc/{i}")], 2)


def test_a_reader_that_waits_makes_the_command_wait(light):
    p = light.spawn("python3", "-c", WRITE + "\nopen('written', 'w').close()", repr([(1 << 20, 1)]), access="rw", options=limit("1g"),
                    stdout=subprocess.PIPE)
    assert not wait_until((light.ws / "written").exists, 0.7), "a megabyte was taken that nobody had read"
    assert len(p.stdout.read()) == 1 << 20
    assert p.wait(10) == 0 and (light.ws / "written").exists()


def test_a_reader_that_goes_ends_the_command_as_without_us(light):
    for options in ([], limit("1g")):
        p = light.spawn("yes", options=options, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
        assert p.stdout.read(2) == b"y\n"
        p.stdout.close()
        assert p.wait(10) == 128 + signal.SIGPIPE, options


@pytest.mark.parametrize("closed", [0, 1, 2])
def test_streams_that_are_closed(light, closed):
    done = subprocess.run(["sh", "-c", f'exec "$@" {closed}>&-', "sh", *light.creel("sh", "-c", "echo a; echo b >&2; exit 3", options=limit("1k"))],
                          env=light.env, cwd=light.ws, capture_output=True, timeout=20, check=False)
    assert done.returncode == 3, done
    assert done.stdout == (b"" if closed == 1 else b"a\n") and done.stderr == (b"" if closed == 2 else b"b\n"), done


def test_the_deadline_holds_when_nobody_reads(light):
    begin = time.monotonic()
    p = light.spawn("yes", options=[*limit("1g"), "--timeout", "1"], stdout=subprocess.PIPE)
    assert p.wait(20) == 124 and time.monotonic() - begin < 15
    q = light.spawn("yes", options=limit("1g"), stdout=subprocess.PIPE)
    assert q.stdout.read(2) == b"y\n"
    time.sleep(0.3)
    q.send_signal(signal.SIGTERM)
    assert q.wait(20) == 128 + signal.SIGTERM


def test_without_a_limit_the_streams_are_the_callers_own(light):
    r, w = os.pipe()
    for options, same in ([[], True], [limit("1m"), False]):
        p = light.spawn("stat", "-Lc", "%i", "/proc/self/fd/1", options=options, stdout=w)
        assert p.wait(10) == 0
        assert (int(os.read(r, 100)) == os.fstat(w).st_ino) is same
    os.close(r)
    os.close(w)


def test_what_cannot_be_limited_is_refused(light):
    assert "--output-limit" in light.run("true", options=[*limit(100), "--tty"], status=125).err
    for bad in ("x", "-1", ""):
        assert "limits.output" in light.run("true", options=limit(bad), status=125).err
    assert light.run("echo", "x", options=limit(0), status=0).out == "x\n"


SPIN = "i=0; while [ $i -lt 30000 ]; do i=$((i+1)); done; "


@pytest.mark.parametrize("reason, options, then", [
    ("output", ["--output-limit", "1000"], "yes"),
    ("timeout", ["--timeout", "1"], "trap '' TERM; while :; do :; done"),
    ("disk", ["--disk", "2m"], "trap '' XFSZ; while :; do for i in 1 2 3 4 5; do head -c 1000000 /dev/zero >f$i; done; done"),
])
def test_whoever_is_ended_has_used_something_all_the_same(light, reason, options, then):
    result = light.run("sh", "-c", SPIN + then, options=options)
    assert result.report["reason"] == reason, result
    assert result.report["user_us"] > 0 and result.report["peak_memory_bytes"] >= 4096, result
