# SPDX-License-Identifier: Apache-2.0
"""Number 22: what a command may take of the host's disk. The host's own count of what is free is the oracle."""
import os
import pathlib
import signal
import subprocess

import pytest
from calls import fails
from conftest import CREEL, digest, needs_root, wait_until
from test_crash import left_in_state

MIB = 1 << 20
LIMIT = ["--disk", "32m"]
OTHERS = 60  # seconds in which another test gives back what it took of the same file system
# Each takes 160 MiB, five times of what it may, and then waits to be ended.
FILL = {
    "files": "for i in range(160): open(f'f{i}', 'wb').write(b'x' * MIB)",
    "fallocate": "for i in range(8): os.posix_fallocate(os.open(f'f{i}', 66, 0o600), 0, 20 * MIB)",
    "appended": "fs = [open(f'f{i}', 'wb') for i in range(8)]\nfor i in range(20): [(f.write(b'x' * MIB), f.flush()) for f in fs]",
    "deep": "for i in range(1500): os.mkdir('d'); os.chdir('d')\nfor i in range(8): open(f'f{i}', 'wb').write(b'x' * 20 * MIB)",
    "evil names": "for i in range(8): open(f'\\n\\x1b[2J\\udcff{i}', 'wb').write(b'x' * 20 * MIB)",
    "locked away": "for i in range(8):\n os.mkdir(f'd{i}'); f = open(f'd{i}/f', 'wb'); os.chmod(f'd{i}', 0); f.write(b'x' * 20 * MIB); f.flush()",
    "hidden in dots": "os.makedirs('.../.. /...'); [open(f'.../.. /.../.{i}', 'wb').write(b'x' * 20 * MIB) for i in range(8)]",
}


def filler(what, stay=20):
    return ["python3", "-c", f"import os, time\nMIB = 1 << 20\n{what}\nprint('filled', flush=True)\ntime.sleep({stay})"]


def fills_outside(box, what):
    """The control: where nobody counts, it gets all of it."""
    done = subprocess.run(box.as_user(filler(what, 0)), cwd=box.tmp, env=box.env, capture_output=True, check=False)
    assert done.stdout == b"filled\n", done


def free(path):
    s = os.statvfs(path)
    return s.f_bavail * s.f_frsize


def ended_for_its_disk(result, *words):
    assert result.status == 128 + 9 and result.report["reason"] == "disk" and result.report["signal"] == 9, result
    assert all(w in result.err and w in result.report["message"] for w in words), result
    assert result.report["walls"]["probes"] and result.report["walls"]["landlock"] > 0, result


@pytest.mark.parametrize("how", FILL)
def test_e22_the_changes_are_bounded(light, how):
    fills_outside(light, FILL[how])
    before, ws = free(light.base), digest(light.ws)
    result = light.run(*filler(FILL[how]), options=LIMIT)
    ended_for_its_disk(result, "32m", "--disk", "limits.disk")
    assert wait_until(lambda: before - free(light.base) < 16 * MIB, OTHERS), "the space was not given back"
    assert not left_in_state(light) and digest(light.ws) == ws


def test_e22_the_number_of_files_is_bounded(light):
    make = "os.mkdir('d')\nfor i in range(7000): os.close(os.open(f'd/{i}', 66))"
    fills_outside(light, make)
    before = os.statvfs(light.base).f_favail
    result = light.run(*filler(make), options=LIMIT)
    ended_for_its_disk(result, "4096 files", "--disk")
    assert wait_until(lambda: before - os.statvfs(light.base).f_favail < 2000, OTHERS) and not left_in_state(light)


@pytest.mark.parametrize("make, words", [("head -c 3000000 /dev/zero | split -b 100000", "1m of disk"), ("mkdir d; cd d; seq -f %g 6000 | xargs touch", "4096 files")])
def test_e22_who_ends_before_anybody_looks_keeps_nothing_more_either(light, make, words):
    ws = digest(light.ws)
    ended_for_its_disk(light.run("sh", "-c", make, options=["--disk", "1m"]), words, "--disk")
    assert not left_in_state(light) and digest(light.ws) == ws
    kept = light.run("sh", "-c", make, options=["--disk", "256m"], status=0)
    assert kept.report["changes"]["total"] >= 30


HIDE = ["chmod 0 d", "chmod 0400 d", "chmod 0500 d; chmod 0600 .", "mkdir -p $(seq -s / 300); mv d $(seq -s / 300)", "mkdir -p $(seq -s / 1500); mv d $(seq -s / 1500); chmod 0 1/2 1", "chmod 0 ."]


@pytest.mark.parametrize("hide", HIDE)
def test_e22_who_ends_early_hides_nothing_either(light, hide):
    make = f"mkdir d; for i in 1 2 3 4 5 6 7 8 9 10; do head -c 2000000 /dev/zero >d/$i; done; {hide}"
    ended_for_its_disk(light.run("sh", "-c", make, options=["--disk", "16m"]), "16m", "--disk")
    assert not left_in_state(light)


@pytest.mark.parametrize("hide", HIDE)
def test_e22_what_is_hidden_and_small_enough_is_kept_as_it_is(light, hide):
    result = light.run("sh", "-c", f"mkdir d; echo x >d/f; {hide}", options=["--disk", "16m"], status=0)
    assert result.report["reason"] == "ok", result
    kept = pathlib.Path(result.report["changes"]["kept_in"])
    locked = {"chmod 0 d": {"d": 0}, "chmod 0 .": {".": 0}, "chmod 0400 d": {"d": 0o400}, "chmod 0500 d; chmod 0600 .": {".": 0o600}}
    for name, mode in locked.get(hide, {"1": 0} if "1500" in hide else {}).items():
        assert (kept / name).stat().st_mode & 0o777 == mode


def test_e22_a_locked_workspace_that_was_moved_meanwhile_is_kept(light):
    """What the open of the one says is not what the open of the other said."""
    p = light.spawn("sh", "-c", "echo x >f; chmod 0 .; echo ready; cat", options=["--disk", "16m"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    assert p.stdout.readline() == b"ready\n"
    light.ws.rename(light.ws.parent / "elsewhere")
    try:
        p.communicate(timeout=60)
    finally:
        (light.ws.parent / "elsewhere").rename(light.ws)
    assert p.returncode == 0
    state = light.state if light.user == "root" else light.home / ".local/state/creel"
    found = [root for root, _, files in os.walk(state / "runs") if "f" in files]
    assert len(found) == 1, found


def test_e22_one_file_cannot_be_larger(light):
    """Where nothing else counts: in an overlay such a file is the whole limit, and its directory is more than that."""
    control = light.control("hog", f"fill={light.tmp}/big,40")
    assert control.notes() == ["40 MiB"]
    result = light.attack("hog", "fill=big,40", "sparse=sparse,1024", options=LIMIT, access="rw")
    assert result.answers() == ["SIGXFSZ", "SIGXFSZ"], result
    script = "trap '' XFSZ; exec ./hog sparse=sparse,1024 fill=big,40"
    ignored = light.run("sh", "-c", script, options=LIMIT, access="rw", status=0)
    assert ignored.answers() == ["EFBIG", "EFBIG"] and ignored.notes() == ["32 MiB"], ignored
    assert (light.ws / "big").stat().st_size == 32 << 20


def test_e22_what_stays_below_is_left_alone(light):
    """Names of the same file are one file, and what was removed again does not count."""
    script = ("dd if=/dev/zero of=f bs=1M count=20 status=none; for i in 1 2 3 4 5 6 7 8; do ln f l$i; done; "
              "for i in 1 2 3 4 5 6 7 8; do dd if=/dev/zero of=g bs=1M count=8 status=none; rm g; done; sleep 3; echo ended")
    result = light.run("sh", "-c", script, options=LIMIT, status=0)
    assert result.out == "ended\n" and result.report["reason"] == "ok" and result.report["changes"]["total"] == 9, result


def test_e22_what_others_write_is_not_counted(light):
    """On the same file system, more than the limit, while the command sleeps."""
    p = light.spawn("sh", "-c", "mkdir d; echo x >d/f; echo ready; sleep 3; echo ended", options=LIMIT, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    assert p.stdout.readline() == b"ready\n"
    for i in range(3):
        (light.base / f"theirs{i}").write_bytes(b"x" * (32 << 20))
    out, err = p.communicate(timeout=60)
    for i in range(3):
        (light.base / f"theirs{i}").unlink()
    assert (out, err, p.returncode) == (b"ended\n", b"", 0)


def test_e22_no_limit_when_that_is_asked_for(light):
    result = light.run(*filler(FILL["files"], 1), options=["--disk", "0"], status=0)
    assert result.out == "filled\n", result
    assert light.attack("hog", "limit=1", options=["--disk", "0"]).notes() == ["-1 -1"]
    assert light.attack("hog", "limit=1").notes() == [f"{10 << 30} {10 << 30}"]
    for bad in ("x", "-1", "10q", ""):
        assert "limits.disk" in light.run("true", options=["--disk", bad], status=125).err
    assert light.attack("hog", "limit=1", options=["-e", "limits.disk=64m"]).notes() == [f"{64 * MIB} {64 * MIB}"]


def alive(pid):
    """Anything in the sandbox of this creel: everything below the warden outside."""
    kids = subprocess.run(["ps", "-o", "pid=", "--ppid", str(pid)], capture_output=True, text=True, check=False).stdout.split()
    return any(subprocess.run(["ps", "-o", "pid=", "--ppid", k], capture_output=True, text=True, check=False).stdout.strip() for k in kids)


def test_e22_a_stopped_creel_stops_no_limit(light):
    """Whoever pauses creel, as ^Z does, does not pause who counts."""
    p = light.spawn("sh", "-c", "echo ready; read go; " + " ".join(f"./hog fill=f{i},20;" for i in range(8)) + " sleep 60",
                    options=LIMIT, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    assert p.stdout.readline() == b"ready\n" and alive(p.pid)
    os.kill(p.pid, signal.SIGSTOP)
    p.stdin.write(b"go\n")
    p.stdin.flush()
    assert wait_until(lambda: not alive(p.pid), 8)
    os.kill(p.pid, signal.SIGCONT)
    assert p.wait(10) == 128 + 9 and b"--disk" in p.stderr.read()


def on_a_small_disk(box, place, size, argv):
    """The same command, where `place` is a file system of its own; prints afterwards how much of it is left."""
    needs_root()
    script = 'mount -t tmpfs -o size=$0,mode=1777 none "$1"; shift; "$@"; echo "status $?"; df -k --output=avail "$P" | tail -1'
    return subprocess.run(["unshare", "-m", "sh", "-c", script, size, str(place), *map(str, argv)], cwd=box.base, capture_output=True, text=True,
                          env={**box.env, "P": str(place)}, timeout=60, check=False)


# Not so fast that the last 20 MiB go between two looks: the machine has other work.
UNLINKED = "fs = []\nfor i in range(250): f = open('f', 'wb'); os.unlink('f'); f.write(b'x' * 2 * MIB); f.flush(); fs.append(f); time.sleep(0.04)"
SLOW = "for i in range(500): open(f'f{i}', 'wb').write(b'x' * MIB); time.sleep(0.02)"


@pytest.mark.parametrize("how", [UNLINKED, SLOW], ids=["deleted and open", "files"])
def test_e22_the_last_of_a_disk_is_left_to_others(light, how):
    """Far below its limit; a part of it lies where nobody can count it."""
    place = light.base / "small"
    place.mkdir()
    argv = [a for a in light.creel(*filler(how), state=place / "state") if a != "-q"]
    done = on_a_small_disk(light, place, "160m", argv)
    assert "status 137" in done.stdout and "nearly full" in done.stderr and "filled" not in done.stdout, done
    assert int(done.stdout.split()[-1]) > 150 * 1024, done


def test_e22_a_writable_workspace_leaves_the_last_of_its_disk(light):
    place = light.base / "small"
    place.mkdir()
    argv = [a for a in light.creel(*filler(SLOW), access="rw", ws=place, options=["--disk", "10g"]) if a != "-q"]
    done = on_a_small_disk(light, place, "160m", argv)
    assert "status 137" in done.stdout and "nearly full" in done.stderr and "filled" not in done.stdout, done
    assert int(done.stdout.split()[-1]) > 1024, done


def test_a_disk_limit_needs_a_sandbox(light):
    done = subprocess.run(light.as_user([CREEL, "run", "--no-sandbox", "--disk", "1m", "true"]), cwd=light.ws, env=light.env,
                          capture_output=True, text=True, check=False)
    assert done.returncode == 125 and "--disk needs a sandbox" in done.stderr


def test_e22_more_names_than_are_listed_are_counted(light):
    make = "os.mkdir('d')\nfor i in range(12000): os.close(os.open(f'd/\\x1b{i}', 66))"
    result = light.run(*filler(make, 0), timeout=120, status=0)
    changes = result.report["changes"]
    assert changes["total"] == 12001 and len(changes["paths"]) == 10000 and changes["complete"] is False, result.status
    assert os.path.isdir(changes["kept_in"]) and all("\n" not in p["path"] for p in changes["paths"])


@pytest.mark.parametrize("access", ["overlay", "rw"])
def test_what_cannot_be_watched_does_not_run(light, access):
    """On a kernel that does not say how much is free; without a limit nobody asks it."""
    refuse = fails("fstatfs", 38)
    result = light.run("echo", "ran", access=access, fault=refuse, status=125)
    assert result.out == "" and "watch the disk" in result.err, result
    assert light.run("echo", "ran", access=access, fault=refuse, options=["--disk", "0"], status=0).out == "ran\n"
