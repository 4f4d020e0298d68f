# SPDX-License-Identifier: Apache-2.0
"""Numbers 50 to 52 and 87 to 89, S21, S22 and O8: what changes while somebody looks at it, and who is stopped in the middle."""
import contextlib
import os
import pathlib
import signal
import socket
import subprocess
import time

import pytest
from conftest import descendants, digest, family, processes, stat_of, wait_until

# ---- memory that changes during a call ----


def test_e50_s21_a_path_that_changes_during_open(box):
    secret = box.secret("home/secret")
    box.file("ws/mine", "mine\n")
    box.control("flip", f"open={box.ws}/mine,{secret},1000000")
    # ENOTDIR: the kernel read half of either name, "mine/…"
    result = box.refused("flip", f"open=mine,{secret},300000", errors={"ENOENT", "EACCES", "ENOTDIR"})
    assert int(result.notes()[0]) > 1000, f"the harmless file was never opened: nothing was shown\n{result}"


def test_e50_s21_a_program_that_changes_during_exec(light):
    program = light.file("home/evil", "#!/bin/sh\nexit 77\n", 0o755)
    light.control("flip", f"exec=/bin/true,{program},20000")
    result = light.refused("flip", f"exec=/bin/true,{program},1500", errors={"ENOENT", "EACCES"})
    assert int(result.notes()[0]) > 10, result


@pytest.mark.parametrize("how", ["connect", "sendmsg"])
def test_e50_s21_an_address_that_changes_during_a_call(light, listener, how):
    kind = socket.SOCK_STREAM if how == "connect" else socket.SOCK_DGRAM
    path = light.base / "host.sock"
    heard = listener(socket.AF_UNIX, str(path), kind)
    path.chmod(0o666)
    light.base.chmod(0o755)
    outer = light.outside("flip", f"{how}={light.tmp}/mine,{path},30000")
    assert wait_until(lambda: heard.heard, 2), f"the control did not reach it: {outer}"
    time.sleep(0.3)
    before = len(heard.heard)
    result = light.refused("flip", f"{how}=/tmp/mine,{path},50000", errors={"ENOENT", "EACCES", "ECONNREFUSED", "EAGAIN"})
    assert int(result.notes()[0]) > 20, result
    time.sleep(0.3)
    assert len(heard.heard) == before


@pytest.mark.parametrize("user", ["user"])  # root has a thousand, in test_programs.py
def test_s22_ten_thousand_pipelines(light):
    """A hundred shells with a hundred pipelines of three each: none hangs, none loses a line."""
    script = ('n=0; while [ $n -lt 100 ]; do n=$((n+1)); dash -c \'i=0; while [ $i -lt 100 ]; do i=$((i+1)); '
              'echo $1.$i | while read a; do echo $a; done | while read b; do echo $b; done; done\' dash $n; done | cksum')
    result = light.run("dash", "-c", script, status=0, timeout=180)
    want = "".join(f"{n}.{i}\n" for n in range(1, 101) for i in range(1, 101))
    assert result.out == subprocess.run(["cksum"], input=want, capture_output=True, text=True, check=True).stdout


# ---- somebody is stopped or killed in the middle ----

LOOP = "i=0; while :; do i=$((i+1)); echo $i >count; mkdir d; rmdir d; done"


def chain(p):
    """creel, the warden outside, the warden inside."""
    line = [p.pid]
    assert wait_until(lambda: len(descendants(p.pid)) >= 3, 5)
    while len(line) < 3:
        line.append(min(d for d in descendants(line[-1]) if (stat_of(d) or (0, 0))[1] == line[-1]))
    return dict(zip(("creel", "outside", "inside"), line))


def living(known):
    return [p for p, begun in known.items() if (s := stat_of(p)) and s[0] != "Z" and s[2] == begun]


@pytest.mark.parametrize("who", ["creel", "inside"])
def test_e51_s22_stopped_for_ever_the_deadline_is_kept(light, who):
    """The one who holds it is neither of them."""
    p = light.spawn("sh", "-c", LOOP, options=["--timeout", "2"], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    line = chain(p)
    known = family(p.pid)
    os.kill(line[who], signal.SIGSTOP)
    inside = {k: v for k, v in known.items() if k not in (line["creel"], line["outside"])}
    assert wait_until(lambda: not living(inside), 8), living(inside)
    with contextlib.suppress(ProcessLookupError):
        os.kill(line[who], signal.SIGCONT)
    assert p.wait(5) == 124
    assert wait_until(lambda: not living(known), 1), living(known)


@pytest.mark.parametrize("stopped", ["outside", "inside"])
@pytest.mark.parametrize("access", ["overlay", "rw"])
def test_e51_s22_killed_while_a_warden_is_stopped(light, stopped, access):
    """A warden that can do nothing: creel is killed, and the command does not outlive it."""
    before = digest(light.ws) if access == "overlay" else None
    p = light.spawn("sh", "-c", LOOP, access=access, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    line = chain(p)
    known = family(p.pid)
    os.kill(line[stopped], signal.SIGSTOP)
    p.kill()
    p.wait()
    rest = {k: v for k, v in known.items() if k != line["outside"]}
    assert wait_until(lambda: not living(rest), 1), [(q, processes().get(q)) for q in living(rest)]
    with contextlib.suppress(ProcessLookupError):
        os.kill(line["outside"], signal.SIGCONT)
    assert wait_until(lambda: not living(known), 1), living(known)
    assert before is None or digest(light.ws) == before
    state = light.state if light.user == "root" else light.home / ".local/state/creel"
    assert wait_until(lambda: not list(state.glob("live/*")), 1)


@pytest.mark.parametrize("who", ["outside", "inside"])
def test_e51_s22_a_killed_warden_ends_the_command_in_the_middle(light, who):
    p = light.spawn("sh", "-c", LOOP, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
    line = chain(p)
    known = family(p.pid)
    os.kill(line[who], signal.SIGKILL)
    assert p.wait(5) in (128 + 9, 125)
    assert wait_until(lambda: not living(known), 1), living(known)


def memory(pids):
    """KiB that belong to these processes alone or in part."""
    total = 0
    for p in pids:
        text = pathlib.Path(f"/proc/{p}/status").read_text()
        total += sum(int(line.split()[1]) for line in text.splitlines() if line.startswith(("VmRSS", "VmPTE")))
    return total


def test_e52_a_flood_of_refused_calls_costs_its_keepers_nothing(light):
    """Millions of them: creel and both wardens need not a page more, and another sandbox starts and ends as ever."""
    p = light.spawn("sh", "-c", "./hog denied=100000; echo ready; while :; do ./hog denied=1000000; done", stdout=subprocess.PIPE,
                    stderr=subprocess.DEVNULL, options=["--timeout", "30"])
    while p.stdout.readline() not in (b"ready\n", b""):
        pass
    line = chain(p)
    before = memory(line.values())
    for _ in range(10):
        light.run("true", status=0)
        time.sleep(0.1)
    after = memory(line.values())
    p.kill()
    p.wait()
    assert after <= before + 64, (before, after)


# ---- what is read back ----

HOSTILE = """
import os, socket
os.mkdir('d'); os.symlink('d', 'to-dir'); os.symlink(SECRET, 'to-secret'); os.symlink('to-secret', 'chain'); os.symlink('loop', 'loop')
os.symlink(HOME, 'd/home'); os.symlink('../' * 40 + HOME.lstrip('/'), 'd/up'); os.link('to-secret', 'hard', follow_symlinks=False)
os.mkfifo('pipe'); socket.socket(socket.AF_UNIX).bind('sock'); os.mkdir('d/x'); os.mkdir('n' * 255)
with open('sparse', 'wb') as f: f.truncate(1 << 32)
try: os.unlink('old'); os.symlink(HOME, 'old')
except OSError: pass
"""


def hostile(box):
    return f"SECRET={str(box.home / 'secret')!r}; HOME={str(box.home)!r}\n{HOSTILE}"


def test_e87_what_a_payload_leaves_is_listed_and_never_followed(box):
    """Links out, pipes that would block a reader, gigabytes of nothing, a file that became a link to the home directory."""
    secret = box.secret("home/secret")
    box.file("ws/old/kept", "x")
    box.file("ws/old2", "x")
    before = digest(box.home / "secret"), digest(box.ws)
    access = os.stat(secret).st_atime_ns
    script = hostile(box).replace("os.unlink('old')", "os.unlink('old/kept'); os.rmdir('old')")
    begin = time.monotonic()
    result = box.run("python3", "-c", script, status=0)
    assert time.monotonic() - begin < 10
    paths = {c["path"] for c in result.report["changes"]["paths"]}
    assert {"to-secret", "chain", "loop", "d/home", "d/up", "hard", "pipe", "sock", "sparse", "old", "n" * 255} <= paths, paths
    assert not [p for p in paths if p.startswith(("to-dir/", "d/home/", "d/up/", "old/s", "chain/"))], paths
    assert (digest(secret), digest(box.ws)) == before and os.stat(secret).st_atime_ns == access
    assert result.report["changes"]["complete"] is True


def listed(result):
    return {c["path"] for c in result.report["changes"]["paths"]}


def kept(result):
    top = pathlib.Path(result.report["changes"]["kept_in"])
    return {str(p.relative_to(top)) for p in top.rglob("*")}


SWAP = """
import os, sys
os.mkdir('a'); open('a/inside', 'w').close(); os.symlink(sys.argv[1], 'b')
for _ in range(2):
    if os.fork() == 0:
        os.setsid()
        import ctypes
        swap = ctypes.CDLL(None).renameat2
        while True: swap(-100, b'a', -100, b'b', 2)
print('ready', flush=True)
"""


@pytest.mark.parametrize("access", ["overlay"])
def test_e88_a_directory_and_a_link_swapped_while_the_changes_are_read(light, access):
    """The payload leaves somebody behind who exchanges the two as fast as it can; its end is the end of that, too."""
    light.secret("home/secret")
    light.file("home/many/file", "x")
    for _ in range(25):
        result = light.run("python3", "-c", SWAP, light.home, access=access, status=0)
        assert {"a", "b"} <= listed(result) <= {"a", "b", "a/inside", "b/inside"}, result.report["changes"]
        assert listed(result) == {p for p in kept(result) if p.count("/") < 2 and not p.endswith(("secret", "many"))}, result


WRITERS = """
import os
for w in range(4):
    if os.fork() == 0:
        os.setsid()
        n = 0
        while True:
            n += 1
            open(f'w{w}-{n}', 'w').close()
            if n > 3: os.unlink(f'w{w}-{n - 3}')
while len({n[:2] for n in os.listdir('.') if n[0] == 'w' and '-' in n}) < 4: pass
END
"""


@pytest.mark.parametrize("end", ["os._exit(0)", "os.kill(os.getpid(), 9)", "while True: pass"], ids=["exit", "killed", "deadline"])
def test_e89_changes_are_read_when_everything_inside_is_dead(light, end):
    """Four processes make and remove files until the very end: what the report lists is what is kept, to the last name."""
    for _ in range(8 if "while" not in end else 2):
        result = light.run("python3", "-c", WRITERS.replace("END", end), options=["--timeout", "1"] if "while" in end else [])
        first = kept(result)
        assert listed(result) == first and len(first) >= 4, (listed(result) ^ first, result)
        time.sleep(0.05)
        assert kept(result) == first, "somebody still writes"


def test_e89_two_runs_on_one_workspace_see_nothing_of_each_other(light):
    light.file("ws/shared", "base\n")
    before = digest(light.ws)
    script = ('echo $1 >>shared; echo $1 >only-$1; rm -f procs; i=0; while [ ! -e stop ] && [ $i -lt 20 ]; do i=$((i+1)); sleep 0.05; '
              'done; cat shared; ls only-*')
    running = [light.spawn("sh", "-c", script, "sh", n, stdout=subprocess.PIPE, text=True) for n in ("one", "two")]
    said = [p.communicate(timeout=20)[0] for p in running]
    assert said == ["base\none\nonly-one\n", "base\ntwo\nonly-two\n"]
    assert digest(light.ws) == before
    state = light.state if light.user == "root" else light.home / ".local/state/creel"
    uppers = sorted(sorted(p.name for p in next(d.glob("upper*")).iterdir()) for d in (state / "runs").iterdir())
    assert uppers == [["only-one", "procs", "shared"], ["only-two", "procs", "shared"]]


def test_e89_the_base_changes_while_a_run_goes_on(light):
    """The host writes to the workspace during a run: both keep their own, nothing is overwritten."""
    mine = light.file("ws/file", "base\n")
    p = light.spawn("sh", "-c", "echo inside >file; echo ready; read x; cat file", stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    assert p.stdout.readline() == "ready\n"
    mine.write_text("host\n")
    out, _ = p.communicate("\n", timeout=20)
    assert out == "inside\n" and mine.read_text() == "host\n"
