# SPDX-License-Identifier: Apache-2.0
"""After ten thousand runs nothing has grown: CREEL_RUNS says how many there are to be."""
import glob
import os
import pathlib
import subprocess
import time

import pytest
from conftest import ACCESSES, ATTACKS, IS_ROOT, PROGRAMS, digest, needs_root, wait_until

pytestmark = pytest.mark.serial
RUNS = int(os.environ.get("CREEL_RUNS", "10000"))
SLABS = ["net_namespace", "mnt_cache", "cred_jar", "pid", "pid_namespace", "task_struct", "user_namespace", "nsproxy", "uts_namespace",
         "mqueue_inode_cache", "sock_inode_cache", "overlay_inode", "proc_inode_cache"]
SPARE_MAX = 8  # layers that wait for the next run
ROOM = RUNS // 8 + 200  # of kernel objects: other programs on this host make some too, and the kernel frees late


def lines(path):
    return pathlib.Path(path).read_text().splitlines()


def slabs():
    """Objects in use, where the kernel says so. What it has merged with others has no line of its own."""
    try:
        return {w[0]: int(w[1]) for w in map(str.split, lines("/proc/slabinfo")[2:]) if w[0] in SLABS}
    except OSError:
        return {}


def groups():
    return {g for depth in ("*", "*/*", "*/*/*") for g in glob.glob(f"/sys/fs/cgroup/{depth}/creel-*")}


def kernel():
    """What may be a little more, because we are not alone here, but never a part of all those runs."""
    return {**slabs(), "keys": len(lines("/proc/keys")), "sockets": len(lines("/proc/net/unix")),
            "files": int(lines("/proc/sys/fs/file-nr")[0].split()[0]), "mounts": len(lines("/proc/self/mountinfo")),
            "groups": sum(int(line.split()[2]) for line in lines("/proc/cgroups")[1:]),
            "processes": len(glob.glob("/proc/[0-9]*"))}


def run_many(box, n, sets):
    """Two at once, with the given options in turn."""
    argv = []
    for access, options in sets:
        command = box.creel("/bin/true", access=access, options=options)[len(box.as_user([])):]
        argv += [*(["+"] if argv else command[:1]), *command[1:]]
    done = subprocess.run(box.as_user([PROGRAMS / "many", n, 2, *argv]), cwd=box.ws, env=box.env, capture_output=True, text=True,
                          timeout=900, check=False)
    assert done.stdout == f"ran {n} failed 0 orphans 0 descriptors 0\n", done


def grown(before):
    return {k: (before[k], n) for k, n in kernel().items() if n > before.get(k, n) + ROOM}


def names_in(box):
    """In the home and the state directory: a workspace of the kind `none` is kept there for the next run, as one for all. Of layers that
    wait for the next run there are as many as there were runs at once, and never more than a few."""
    found = {str(p) for top in (box.home, box.state) for p in top.rglob("*")}
    spare = [p for p in found if "/spare/" in p]
    assert len({p.split("/spare/")[1].split("/")[0] for p in spare}) <= SPARE_MAX, spare
    return found - set(spare)


def assert_nothing_grew(box, work):
    """Runs the work once in small, so that every cache is warm, and then in full."""
    for p in ATTACKS:
        (box.ws / p).unlink()
    box.file("ws/dir/file", "x")
    work(20)
    before, ws, known, kept = kernel(), digest(box.ws), groups(), names_in(box)
    places = {d: set(os.listdir(d)) for d in ("/tmp", "/var/tmp", "/dev/shm", "/run")}
    work(RUNS // 2)
    assert digest(box.ws) == ws and {p.name for p in box.base.iterdir()} <= {"home", "ws", "tmp", "state"}
    assert names_in(box) == kept
    new = [f"{d}/{n}" for d, names in places.items() for n in set(os.listdir(d)) - names if len(set(os.listdir(d))) > len(names) + 50]
    assert new == []
    assert not [line for line in lines("/proc/self/mountinfo") if str(box.base) in line]
    assert wait_until(lambda: len(groups() - known) < 20, 5), groups() - known
    assert wait_until(lambda: not grown(before), 30), grown(before)


def test_after_ten_thousand_runs_nothing_grew(light):
    """Half of them as root, half as an ordinary user; every kind of workspace in turn."""
    assert_nothing_grew(light, lambda n: run_many(light, n, [(a, []) for a in ACCESSES]))


def test_after_many_runs_with_limits_nothing_grew(light):
    """Groups are made and removed each time. A few hundred: they are slower."""
    if light.user != "root":
        light.run("true", options=["--pids", "32"], status=125)
        return
    needs_root()
    options = ["--memory", "256m", "--pids", "64", "--cpus", "1"]
    assert_nothing_grew(light, lambda n: run_many(light, max(20, n // 25), [("overlay", options), ("rw", options[:4])]))


@pytest.mark.skipif(not IS_ROOT, reason="only root sees the kernel's own counts")
def test_the_counts_show_what_leaks():
    """The control: namespaces and files that are kept are seen in the counts that the other tests compare."""
    def seen():
        before = kernel()
        held = [subprocess.Popen(["unshare", "-n", "-m", "sleep", "60"]) for _ in range(60)]
        files = [open("/dev/null", "rb") for _ in range(400)]  # pylint: disable=consider-using-with
        time.sleep(0.5)
        after = kernel()
        for p in held:
            p.kill()
            p.wait()
        for f in files:
            f.close()
        return (after["processes"] >= before["processes"] + 50 and after["files"] >= before["files"] + 300
                and after.get("net_namespace", 40) >= before.get("net_namespace", 0) + 40)
    assert wait_until(seen, 30)
