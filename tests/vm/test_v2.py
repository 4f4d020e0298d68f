# SPDX-License-Identifier: Apache-2.0
"""cgroup v2 as a host has it: who may make groups where, what creel does about its rules, and that nothing of it stays.

Runs in the guest alone (run.py), as root. The ordinary user's groups are given out by hand, as systemd does for Delegate=yes.
"""
import json
import os
import pathlib
import subprocess
import sys
import uuid

import pytest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "escape"))
from conftest import CREEL, Box, processes, wait_until  # noqa: E402
from delegate import ORDINARY, ROOT, delegate, turn_on  # noqa: E402

LIMITS = ["--memory", "64m", "--pids", "32", "--cpus", "0.5"]
AS_USER = ["setpriv", "--reuid", str(ORDINARY), "--regid", str(ORDINARY), "--clear-groups"]
ENTER = 'echo $$ >"$0/cgroup.procs" && exec "$@"'


@pytest.fixture
def given():
    """A group that belongs to the ordinary user, and what is below it; gone with the test."""
    path = delegate(ROOT / f"given-{uuid.uuid4().hex[:8]}", ORDINARY)
    yield path
    remove(path)


@pytest.fixture
def user():
    b = Box("user", "light")
    yield b
    b.done()


@pytest.fixture
def root():
    b = Box("root", "light")
    yield b
    b.done()


def children(group):
    return sorted(p for p in group.iterdir() if p.is_dir())


def remove(group):
    (group / "cgroup.kill").write_text("1")
    for child in children(group):
        remove(child)
    assert wait_until(lambda: not try_rmdir(group), 5), group


def try_rmdir(group):
    """The error, or None."""
    try:
        os.rmdir(group)
    except OSError as e:
        return e
    return None


def read(group, name):
    return (group / name).read_text().strip()


def in_group(box, group, *command, options=(), access="overlay", shell=ENTER, wait=True):
    """creel run, started by its user from this group. The shell ends before creel begins, unless it says otherwise."""
    argv = ["sh", "-c", shell, str(group), *box.creel(*command, options=options, access=access)]
    run = subprocess.run if wait else subprocess.Popen
    kw = {"check": False, "capture_output": True, "timeout": 60} if wait else {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
    return run(argv, cwd=box.ws, env=box.env, text=True, **kw)


def report_of(box, group, *command, options=(), **kw):
    path = box.file("home/report", "")
    done = in_group(box, group, *command, options=["--report", path, *options], **kw)
    return done, json.loads(path.read_text() or "null")


def held(report):
    return set(report["walls"]["limits"].values())


# ---- the machine ----


def test_the_guest_has_version_2_alone():
    kinds = [line.split()[2] for line in pathlib.Path("/proc/mounts").read_text().splitlines()]
    assert "cgroup2" in kinds and "cgroup" not in kinds
    assert pathlib.Path("/proc/self/cgroup").read_text() == "0::/\n"
    assert set("memory pids cpu".split()) <= set(read(ROOT, "cgroup.controllers").split())


# ---- given to a user ----


def test_limits_hold_in_a_group_that_was_given(user, given):
    done, report = report_of(user, given / "session", "sh", "-c", "ulimit -v; cat /proc/self/cgroup", options=LIMITS)
    assert done.returncode == 0 and "0::/\n" in done.stdout, done
    assert held(report) == {"cgroup-v2"}, report
    assert children(given) == [given / "session"]


def test_a_user_without_a_group_is_told_what_helps(user):
    """And that it helps is a test of its own."""
    group = ROOT / "nobody"
    group.mkdir()
    done = in_group(user, group, "touch", "ran", options=LIMITS, access="rw")
    assert done.returncode == 125 and "memory, pids, cpu" in done.stderr and not (user.ws / "ran").exists(), done
    assert "fix: systemd-run --user --scope -p Delegate=yes creel …" in done.stderr
    plain, report = report_of(user, group, "true")
    assert plain.returncode == 0 and held(report) == {"none", "rlimit"}, (plain, report)
    os.rmdir(group)


def scope(path):
    """As a service with User= and Delegate=yes has it: the user's own, nobody else in it, and what is above it is root's."""
    os.rmdir(path / "session")
    return path


def test_a_scope_that_creel_is_alone_in_is_divided_and_left_as_it_was(user, given):
    group = scope(given)
    busy = 'echo $$ >"$0/cgroup.procs"; cat "$1" >"$2"; exit $?'
    wish = user.file("wish", "+memory")
    shared = subprocess.run(["sh", "-c", busy, str(group), wish, group / "cgroup.subtree_control"], capture_output=True, text=True,
                            check=False)
    assert "busy" in shared.stderr, f"the control: with processes in it, it cannot be divided, even by root: {shared}"
    done, report = report_of(user, group, "sh", "-c", "exec ./hog anon=400", options=LIMITS)
    assert report["reason"] == "oom" and held(report) == {"cgroup-v2"}, (done, report)
    assert wait_until(lambda: not children(group)), children(group)
    assert read(group, "cgroup.subtree_control") == "" and read(group, "cgroup.type") == "domain"
    again, report = report_of(user, group, "true", options=LIMITS)
    assert again.returncode == 0 and held(report) == {"cgroup-v2"}, again


def test_a_scope_holds_the_sandbox_and_creel_apart(user, given):
    group = scope(given)
    p = in_group(user, group, "sh", "-c", "echo ready; sleep 60", options=LIMITS, wait=False)
    assert p.stdout.readline() == "ready\n"
    mine = pathlib.Path(f"/proc/{p.pid}/cgroup").read_text().strip().removeprefix("0::/")
    assert (ROOT / mine).parent == group, mine
    others = [c for c in children(group) if c != ROOT / mine]
    assert len(others) == 1 and read(others[0], "memory.max") == str(64 << 20) and read(others[0], "pids.max") == "32"
    assert len(read(others[0], "cgroup.procs").split()) >= 2 and str(p.pid) not in read(others[0], "cgroup.procs").split()
    p.terminate()
    assert p.wait(10) == 128 + 15
    assert wait_until(lambda: not children(group)), children(group)


def test_a_scope_that_others_are_in_is_left_alone(user, given):
    """Turning on pids alone would be taken, and make it a group for threads."""
    group = scope(given)
    shell = 'echo $$ >"$0/cgroup.procs"; "$@"; exit $?'
    done, report = report_of(user, group, "true", shell=shell)
    assert done.returncode == 0 and held(report) == {"none", "rlimit"}, (done, report)
    for limit in (LIMITS[:2], LIMITS[2:4], LIMITS[4:]):
        done = in_group(user, group, "touch", "ran", options=limit, access="rw", shell=shell)
        assert done.returncode == 125 and "fix: " in done.stderr and not (user.ws / "ran").exists(), done
    assert read(group, "cgroup.subtree_control") == "" and read(group, "cgroup.type") == "domain" and not children(group)


def test_a_group_for_threads_is_not_used(user, given):
    """Left by somebody who turned on pids with processes inside: what is made below it cannot be entered."""
    group = scope(given)
    sleeper = subprocess.Popen(["sh", "-c", ENTER, str(group), *AS_USER, "sleep", "60"])
    assert wait_until(lambda: str(sleeper.pid) in read(group, "cgroup.procs").split(), 5)
    (group / "cgroup.subtree_control").write_text("+pids +cpu")
    assert read(group, "cgroup.type") == "domain threaded", "the control: the kernel takes it"
    done, report = report_of(user, group, "true")
    assert done.returncode == 0 and held(report) == {"none", "rlimit"}, (done, report)
    refused = in_group(user, group, "true", options=["--pids", "32"])
    assert refused.returncode == 125 and "fix: " in refused.stderr, refused
    sleeper.kill()
    sleeper.wait()


def test_a_directory_without_its_files_is_not_enough(user, given):
    """The user may make groups in it and not move anything: that is no group for limits, and no reason not to start."""
    os.chown(given / "cgroup.procs", 0, 0)
    done, report = report_of(user, given / "session", "true")
    assert done.returncode == 0 and held(report) == {"none", "rlimit"}, (done, report)
    refused = in_group(user, given / "session", "true", options=LIMITS)
    assert refused.returncode == 125 and "fix: " in refused.stderr, refused
    assert children(given) == [given / "session"]


def test_some_controllers_are_some_limits(user):
    """What was not handed down cannot be had: asked for, it is refused; else the report says so."""
    mine = delegate(ROOT / "part" / "mine", ORDINARY)
    (mine.parent / "cgroup.subtree_control").write_text("-cpu")
    place = mine / "session"
    done, report = report_of(user, place, "true", options=LIMITS[:4])
    assert done.returncode == 0, done
    assert report["walls"]["limits"] == {"memory": "cgroup-v2", "pids": "cgroup-v2", "cpu": "none"}, report
    refused = in_group(user, place, "true", options=LIMITS)
    assert refused.returncode == 125 and "limit on cpu" in refused.stderr, refused
    remove(mine.parent)


# ---- the fix that creel names ----


@pytest.fixture
def manager(user, given):
    """systemd's manager of a user's units, in a group that was given to the user, as user@.service is. Yields a group for a terminal."""
    runtime = pathlib.Path("/run/user") / str(ORDINARY)
    runtime.mkdir(parents=True, mode=0o700)
    os.chown(runtime, ORDINARY, ORDINARY)
    os.makedirs("/run/systemd/system", exist_ok=True)  # what says that systemd is process 1
    user.env["XDG_RUNTIME_DIR"] = str(runtime)
    p = subprocess.Popen(["sh", "-c", ENTER, str(scope(given)), *AS_USER, "/usr/lib/systemd/systemd", "--user"], env=user.env,
                         stdout=subprocess.DEVNULL)
    assert wait_until(lambda: (runtime / "systemd/private").exists(), 30), p.poll()
    terminal = given / "terminal"
    terminal.mkdir()
    for name in ("", "cgroup.procs", "cgroup.subtree_control"):
        os.chown(terminal / name, ORDINARY, ORDINARY)
    yield terminal
    p.kill()
    p.wait()
    subprocess.run(["rm", "-rf", runtime, "/run/systemd"], check=True)


def test_the_fix_works_with_systemd(user, manager):
    """Word for word what the message and doctor say, around a command that then meets its limits."""
    os.chown(manager.parent, 0, 0)  # else creel would find a place by itself, as it does in a desktop's terminal
    os.chown(manager.parent / "cgroup.procs", 0, 0)
    before = in_group(user, manager, "true", options=LIMITS, shell='echo $$ >"$0/cgroup.procs"; "$@"; exit $?')
    assert before.returncode == 125 and "fix: systemd-run --user --scope -p Delegate=yes creel …" in before.stderr, before
    os.chown(manager.parent, ORDINARY, ORDINARY)
    os.chown(manager.parent / "cgroup.procs", ORDINARY, ORDINARY)
    report = user.file("home/report", "")
    argv = user.creel("sh", "-c", "exec ./hog anon=400", options=["--report", report, *LIMITS])
    creel = argv.index(str(CREEL))
    fix = ["systemd-run", "--user", "--scope", "-p", "Delegate=yes"]
    done = subprocess.run(["sh", "-c", ENTER, str(manager), *argv[:creel], *fix, *argv[creel:]], env=user.env, cwd=user.ws, check=False,
                          capture_output=True, text=True, timeout=60)
    said = json.loads(report.read_text() or "null")
    assert said and said["reason"] == "oom" and held(said) == {"cgroup-v2"}, (done, said)
    # os.walk does not mind that the scope goes while it looks
    assert wait_until(lambda: not [d for d, _, _ in os.walk(manager.parent) if pathlib.Path(d).name.startswith("creel-")], 5)


# ---- named ----


def test_a_parent_that_is_named_is_used(user, given):
    other = given / "other"
    other.mkdir()
    for name in ("", "cgroup.procs", "cgroup.subtree_control"):
        os.chown(other / name, ORDINARY, ORDINARY)
    unready = in_group(user, given / "session", "true", options=["--cgroup-parent", other, *LIMITS])
    assert unready.returncode == 125 and "cgroup.controllers" in unready.stderr, unready
    turn_on(given)
    p = in_group(user, given / "session", "sh", "-c", "echo ready; sleep 60", options=["--cgroup-parent", other, *LIMITS], wait=False)
    assert p.stdout.readline() == "ready\n"
    assert len(children(other)) == 1 and read(children(other)[0], "memory.max") == str(64 << 20)
    p.terminate()
    p.wait(10)
    assert wait_until(lambda: not children(other))


def test_a_parent_that_cannot_be_used_is_refused(user, root, given):
    fake = user.base / "fake"
    fake.mkdir()
    for name in ("cgroup.controllers", "cgroup.subtree_control", "cgroup.procs"):
        (fake / name).write_text("memory pids cpu\n")
    for p in (fake, *fake.iterdir()):
        user.give(p)
    bad = {given / "session": "without processes", ROOT: "cgroup.procs", user.base / "none": "cgroup v2 directory", fake: "",
           user.file("plain", "x"): "cgroup v2 directory"}
    for parent, words in bad.items():
        done = in_group(user, given / "session", "touch", "ran", options=["--cgroup-parent", parent, *LIMITS], access="rw")
        assert done.returncode == 125 and words in done.stderr and not (user.ws / "ran").exists(), (parent, done)
    done = in_group(root, ROOT, "true", options=["--cgroup-parent", given, *LIMITS])
    assert done.returncode == 0, done


def test_a_parent_that_cannot_be_entered_from_here_is_refused_by_name(user, given):
    """The user owns it, but comes from a group beside it: the kernel asks for the right on what is above both."""
    done = in_group(user, ROOT, "touch", "ran", options=["--cgroup-parent", given, *LIMITS], access="rw")
    assert done.returncode == 125 and f"'{ROOT}/cgroup.procs'" in done.stderr and not (user.ws / "ran").exists(), done
    assert children(given) == [given / "session"]


# ---- root ----


def test_root_in_a_group_of_a_service(root):
    """Processes in it, as systemd's services have: its parent takes the sandbox."""
    service = ROOT / f"slice-{uuid.uuid4().hex[:8]}" / "service"
    service.mkdir(parents=True)
    done, report = report_of(root, service, "true", options=LIMITS, shell='echo $$ >"$0/cgroup.procs"; "$@"; exit $?')
    assert done.returncode == 0 and held(report) == {"cgroup-v2"}, (done, report)
    assert read(service, "cgroup.type") == "domain" and read(service, "cgroup.subtree_control") == ""
    assert not children(service) and children(service.parent) == [service]
    os.rmdir(service)
    os.rmdir(service.parent)


# ---- the end ----


@pytest.mark.parametrize("who", ["root", "user"])
def test_what_was_put_into_the_group_ends_with_it(who, request, given):
    """By somebody on the host: the kernel kills the whole group, not creel a list of numbers."""
    box = request.getfixturevalue(who)
    p = in_group(box, given / "session", "sh", "-c", "echo ready; sleep 60", options=LIMITS, wait=False)
    assert p.stdout.readline() == "ready\n"
    group = next(c for c in children(given) if c.name.startswith("creel-"))
    stranger = subprocess.Popen(["sh", "-c", ENTER, str(group), "sleep", "60"])
    assert wait_until(lambda: str(stranger.pid) in read(group, "cgroup.procs").split(), 5)
    p.terminate()
    p.wait(10)
    assert stranger.wait(10) == -9 and wait_until(lambda: not group.exists())


@pytest.mark.parametrize("victim", ["creel", "outside", "inside"])
def test_killed_in_a_scope(user, given, victim):
    """creel is in a group of its own then; what is left of that is empty."""
    group = scope(given)
    p = in_group(user, group, "sh", "-c", "setsid sleep 60 & echo ready; exec sleep 61", options=LIMITS, wait=False)
    assert p.stdout.readline() == "ready\n"
    line = [p.pid]
    while len(line) < 3:
        line.append(next(n for n, (parent, _) in processes().items() if parent == line[-1]))
    os.kill(dict(zip(["creel", "outside", "inside"], line))[victim], 9)
    p.wait(10)
    assert wait_until(lambda: read(group, "cgroup.events").splitlines()[0] == "populated 0", 2)
    if victim == "creel":
        assert wait_until(lambda: len(children(group)) <= 1, 2), children(group)
    elif victim == "inside":
        assert wait_until(lambda: not children(group), 2), children(group)


# ---- what doctor says is what run does ----


@pytest.mark.parametrize("place", ["given", "scope", "shared", "none"])
def test_doctor_is_right_about_cgroups(user, given, place):
    group = {"given": given / "session", "none": ROOT}.get(place) or scope(given)
    shell = 'echo $$ >"$0/cgroup.procs"; "$@"; exit $?' if place == "shared" else ENTER
    said = subprocess.run(["sh", "-c", shell, str(group), *AS_USER, str(CREEL), "doctor", "--json"], capture_output=True, text=True,
                          check=False, env=user.env, cwd=user.ws)
    found = next(f for f in json.loads(said.stdout)["findings"] if f["name"] == "cgroup")
    ran = in_group(user, group, "true", options=LIMITS, shell=shell)
    assert (found["state"] == "ok") == (ran.returncode == 0) == (place in ("given", "scope")), (found, ran)


# ---- an older kernel ----


def test_a_file_system_without_user_attributes(user):
    """tmpfs before Linux 6.6 cannot remember that a directory was replaced: then it is not said to work."""
    user.file("ws/dir/old", "x")
    state = pathlib.Path("/dev/shm") / uuid.uuid4().hex
    state.mkdir()
    os.chown(state, ORDINARY, ORDINARY)
    script = "rm -r dir && mkdir dir && ls -A dir && echo y >dir/new && ls dir"
    result = user.run("sh", "-c", script, state=state)
    assert (result.status == 0 and result.out == "new\n") or result.status == 125 or (result.status != 0 and result.err), result
    assert (user.ws / "dir/old").exists()
    subprocess.run(["rm", "-rf", state], check=True)
