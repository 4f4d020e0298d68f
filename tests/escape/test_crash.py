# SPDX-License-Identifier: Apache-2.0
"""kill -9 of anything, at any moment: within a second no process, namespace, mount, cgroup, temporary file or ghost is left."""
import contextlib
import glob
import os
import pathlib
import random
import signal
import subprocess
import time

import pytest
from conftest import IS_ROOT, descendants, digest, family, stat_of, wait_until

# Not mnt: to hold one would keep its mounts, and whoever is in it is in the others, too.
NAMESPACES = ["net", "pid", "user", "ipc", "uts", "cgroup"]
GROUPS = "/sys/fs/cgroup/*/creel-{0}-*", "/sys/fs/cgroup/creel-{0}-*", "/sys/fs/cgroup/*/*/creel-{0}-*"


class Watch:
    """Everything that one run of creel made, as far as the host can see it. Its namespaces are held open: the kernel gives the number of
    one that has gone to the next, which may be another test's."""

    def __init__(self, box, process):
        self.box, self.pid = box, process.pid
        self.processes, self.spaces, self.held = {}, set(), contextlib.ExitStack()
        self.ours = {n: os.readlink(f"/proc/self/ns/{n}") for n in NAMESPACES}
        self.look()

    def look(self):
        for d, begun in family(self.pid).items():
            found = {}
            for n in NAMESPACES:
                with contextlib.suppress(OSError):
                    f = open(f"/proc/{d}/ns/{n}", "rb")
                    found[os.readlink(f"/proc/self/fd/{f.fileno()}")] = f
            self.processes.setdefault(d, begun)
            still = (stat_of(d) or (0, 0, 0))[2] == begun
            for ns, f in found.items():
                if still and ns not in self.spaces and ns not in self.ours.values():
                    self.spaces.add(ns)
                    self.held.enter_context(f)
                else:
                    f.close()

    def living(self):
        now = {p: stat_of(p) for p in self.processes}
        return [p for p, begun in self.processes.items() if now[p] and now[p][0] != "Z" and now[p][2] == begun]

    def entered(self):
        """Processes that are still in a namespace of the sandbox. One that is dead and not yet waited for is init's business."""
        found = []
        for ns in glob.glob("/proc/[0-9]*/ns/*"):
            with contextlib.suppress(OSError):
                if os.readlink(ns) in self.spaces and " Z " not in pathlib.Path(ns).parents[1].joinpath("stat").read_text():
                    found.append(ns)
        return found

    def groups(self):
        return [g for pattern in GROUPS for g in glob.glob(pattern.format(self.pid))]

    def mounts(self):
        text = pathlib.Path("/proc/self/mountinfo").read_text()
        return [line for line in text.splitlines() if str(self.box.base) in line]


def state_of(box):
    return box.state if box.user == "root" else box.home / ".local/state/creel"


def left_in_state(box):
    return [p for name in ("runs", "live") for p in (state_of(box) / name).glob("*")] + list((state_of(box) / "live").glob(".*"))


def assert_gone(watch, before, groups=True, files=False):
    """groups=False: whoever would remove the cgroups was killed too. They are empty, and a later run sweeps them.
    files=True: somebody was left to remove the private directory, and there was nothing to keep."""
    assert wait_until(lambda: not watch.living(), 1), f"still running: {watch.living()}"
    with watch.held:
        assert wait_until(lambda: not watch.entered(), 1), f"namespaces in use: {watch.entered()}"
    if groups:
        assert wait_until(lambda: not watch.groups(), 1), f"cgroups left: {watch.groups()}"
    for g in watch.groups():
        assert wait_until(lambda at=g: not os.path.exists(at) or not pathlib.Path(at, "cgroup.procs").read_text(), 1), g
        with contextlib.suppress(OSError):
            os.rmdir(g)
    assert not watch.mounts(), watch.mounts()
    if files:
        assert wait_until(lambda: not left_in_state(watch.box), 1), left_in_state(watch.box)
    assert digest(watch.box.ws) == before, sorted(p.name for p in watch.box.ws.iterdir())


VICTIMS = ["creel", "outside", "inside", "payload", "all"]


def kill(p, victim):
    """-9 to one of the processes of a run; which is which is told by its place in the family."""
    line = [p.pid]
    while len(line) < 4:
        children = [d for d in descendants(line[-1]) if (stat_of(d) or (0, 0))[1] == line[-1]]
        if not children:
            break
        line.append(children[0])
    names = dict(zip(VICTIMS, line))
    targets = line if victim == "all" else [names.get(victim, line[-1])]
    for t in targets:
        with contextlib.suppress(ProcessLookupError):
            os.kill(t, signal.SIGKILL)


def options_of(box, limited):
    return ["--memory", "256m", "--pids", "64", "--cpus", "1"] if limited and box.may_limit() else []


V2 = os.path.exists("/sys/fs/cgroup/cgroup.controllers")  # there every sandbox that can has a group: entering it costs nothing


@pytest.mark.parametrize("victim", VICTIMS)
@pytest.mark.parametrize("limited", [False, True], ids=["plain", "limits"])
@pytest.mark.parametrize("access", ["overlay", "rw"])
def test_kill_while_the_command_runs(light, victim, limited, access):
    limited = limited and light.may_limit()
    before = digest(light.ws)
    p = light.spawn("sh", "-c", "setsid sleep 60 & echo x >/tmp/x; echo ready; exec sleep 60", access=access,
                    options=options_of(light, limited), stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
    assert p.stdout.readline() == b"ready\n"
    w = Watch(light, p)
    assert len(w.processes) >= 4 and len(w.spaces) >= 6, (w.processes, w.spaces)
    assert bool(w.groups()) == bool(limited or (V2 and light.may_limit())), w.groups()
    kill(p, victim)
    p.wait(5)
    assert p.returncode in (-9, 128 + 9, 125), p.returncode
    assert_gone(w, before, groups=victim != "all", files=victim != "all")


@pytest.mark.parametrize("victim", ["creel", "outside", "inside", "all"])
def test_kill_at_any_moment_of_the_start(light, victim):
    """The delay walks over the whole start: from exec of creel to the command, and a little beyond."""
    before = digest(light.ws)
    begin = time.monotonic()
    light.run("true", report=False)
    whole = max(0.01, (time.monotonic() - begin) * 1.2)
    rounds = 24
    for i in range(rounds):
        p = light.spawn("sleep", "60", options=options_of(light, i % 4 == 0), stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        time.sleep(whole * i / rounds + random.random() * whole / rounds)
        w = Watch(light, p)
        kill(p, victim)
        w.look()
        p.kill()
        p.wait(5)
        assert_gone(w, before, groups=victim == "creel", files=victim == "creel")


@pytest.mark.parametrize("command", ["true", "echo x >made; exec sleep 60"], ids=["short", "long"])
def test_kill_leaves_no_temporary_file(light, command):
    """Whenever it comes: before the command, while it runs, and while its end is being looked at."""
    begin = time.monotonic()
    light.run("true", report=False)
    whole = (time.monotonic() - begin) * 1.5
    for i in range(32):
        p = light.spawn("sh", "-c", command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        time.sleep(whole * i / 32)
        p.kill()
        p.wait()
        assert wait_until(lambda: not left_in_state(light), 1), left_in_state(light)
    assert not list(pathlib.Path("/tmp").glob("creel-[0-9]*")) and not list(light.home.glob("*.tmp"))


HOSTILE = r"""./hog deep=.,2100; mkdir -p no/rights/here 'a
b' "$(printf '\033[2J')" "$(printf '\377\376')" ~1/~2/~3 ...; touch no/rights/here/x -- -rf; mkdir -p half/in; touch half/in/x; ln -s / root; ln -s ../../../.. up
mkfifo p; ln -s /agent/loop loop; rm -f hog; chmod 0 no/rights no; chmod 500 half/in; chmod 400 half; echo ready; exec sleep 60"""


def start_hostile(box):
    """A run that has made a tree which is hard to remove: deeper than a path can be, without rights, with names of any bytes."""
    p = box.spawn("sh", "-c", HOSTILE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
    while p.stdout.readline() not in (b"ready\n", b""):
        pass
    live = list((state_of(box) / "live").glob("*"))
    assert len(live) == 1
    depth = subprocess.run(["find", live[0], "-mindepth", "1000", "-maxdepth", "1001"], capture_output=True, check=False).stdout
    assert depth, "the tree is not deep"
    return p, live[0]


def seconds_of_rm(box):
    """What this file system, on this machine and now, takes to lose as many directories."""
    tree = box.base / "control"
    tree.mkdir()
    at = os.open(tree, os.O_RDONLY)
    for _ in range(2100):
        os.mkdir("d", dir_fd=at)
        down = os.open("d", os.O_RDONLY, dir_fd=at)
        os.close(at)
        at = down
    os.close(at)
    begin = time.monotonic()
    subprocess.run(["rm", "-rf", tree], check=True)
    return time.monotonic() - begin


def test_a_killed_run_with_a_hostile_tree_leaves_nothing(light):
    """Within a second, unless losing so many directories takes longer than that by itself."""
    allowed = max(1, 3 * seconds_of_rm(light))
    before = digest(light.base / "ws")
    outside = light.file("precious", "x")
    p, _ = start_hostile(light)
    p.kill()
    p.wait()
    assert wait_until(lambda: not left_in_state(light), allowed), (allowed, left_in_state(light))
    assert digest(light.base / "ws") == before and outside.read_text() == "x"


def test_s16_killed_together_with_its_warden_it_is_swept_by_the_next_run(light):
    p, live = start_hostile(light)
    light.run("true", status=0)
    assert live.exists(), "a run that lives was swept"
    kill(p, "all")
    p.wait()
    assert live.exists(), "nobody was left who could have removed it: the test shows nothing"
    assert wait_until(lambda: not subprocess.run(["pgrep", "-P", str(p.pid)], capture_output=True, check=False).stdout, 1)
    light.run("true", status=0)
    assert wait_until(lambda: not left_in_state(light), 1), left_in_state(light)


def test_s07_no_ghost_files_after_fifty_kills(light):
    """In a repository: git sees nothing, and nothing is newer than the first of them."""
    subprocess.run(["git", "init", "-q", light.ws], check=True, env=light.env)
    subprocess.run(["chown", "-R", str(light.uid if IS_ROOT else os.getuid()), light.ws], check=True)
    before = digest(light.ws)
    for i in range(50):
        access = ["overlay", "rw", "ro", "none"][i % 4]
        p = light.spawn("sleep", "60", access=access, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        time.sleep(0.0012 * i)
        p.kill()
        p.wait()
    assert wait_until(lambda: not subprocess.run(["pgrep", "-f", str(light.ws)], capture_output=True, check=False).stdout, 1)
    assert digest(light.ws) == before


def test_a_shell_that_ends_creel_leaves_nothing(light):
    """The caller's whole process group is killed, as a terminal that goes away does."""
    before = digest(light.ws)
    p = light.spawn("sh", "-c", "echo ready; exec sleep 60", stdout=subprocess.PIPE, start_new_session=True)
    assert p.stdout.readline() == b"ready\n"
    w = Watch(light, p)
    os.killpg(p.pid, signal.SIGKILL)
    p.wait()
    assert_gone(w, before)


@pytest.mark.serial
def test_many_runs_let_nothing_grow(light):
    """Eighty in a row: no process, cgroup, mount, key or file of ours is more than before."""
    def count():
        mounts = pathlib.Path("/proc/self/mountinfo").read_text().splitlines()
        return (len(glob.glob("/sys/fs/cgroup/**/creel-*", recursive=True)), sum(str(light.base) in line for line in mounts),
                len(pathlib.Path("/proc/keys").read_text().splitlines()) // 50)
    light.run("true", status=0)
    before, ws = count(), digest(light.ws)
    for i in range(80):
        light.run("true", report=False, access=["overlay", "rw"][i % 2], status=0, options=options_of(light, i % 10 == 0))
    assert digest(light.ws) == ws
    assert not [p for name in ("runs", "live") for p in (state_of(light) / name).glob("*")]
    after = count()
    assert after[1] == before[1] and after[2] <= before[2] + 1 and after[0] <= before[0], (before, after)


def test_the_sandbox_ends_when_the_warden_outside_is_stopped_and_killed(light):
    """Stopped first, so that it cannot do anything: the kernel ends the rest."""
    before = digest(light.ws)
    p = light.spawn("sh", "-c", "echo ready; exec sleep 60", stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
    assert p.stdout.readline() == b"ready\n"
    w = Watch(light, p)
    outside = min(d for d in descendants(p.pid) if os.path.exists(f"/proc/{d}"))
    os.kill(outside, signal.SIGSTOP)
    os.kill(outside, signal.SIGKILL)
    assert p.wait(5) in (128 + 9, 125)
    assert_gone(w, before)
