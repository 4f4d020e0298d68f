# SPDX-License-Identifier: Apache-2.0
"""kill -9 of creel, of its warden and of the command before and after every system call that they make.

Which call is the last one is chosen by a tracer (killat.c), so no moment is left to chance. A run of the suite takes every
STRIDE-th of the about 2,300 moments, another one in each setting; CREEL_EVERY_STEP=1 takes all.
"""
import contextlib
import glob
import os
import pathlib
import subprocess

import pytest
from conftest import ATTACKS, CREEL, ORDINARY, PROGRAMS, digest, wait_until

STRIDE = 1 if os.environ.get("CREEL_EVERY_STEP") else 19
VICTIMS = {"creel": 0, "outside": 1, "inside": 2, "payload": 3, "all": "all"}
MOMENTS = {"creel": 200, "outside": 80, "inside": 300, "payload": 100, "all": 800}  # there are at least as many
SETTINGS = {"overlay": ("overlay", []), "rw": ("rw", []), "limits": ("rw", ["--memory", "256m", "--pids", "64", "--cpus", "1"])}


def groups(creel="*", known=frozenset()):
    """known: of another creel that once had the same number, and was killed with its warden."""
    return {g for depth in ("*", "*/*", "*/*/*") for g in glob.glob(f"/sys/fs/cgroup/{depth}/creel-{creel}-*")} - known


def mounts(box):
    return [line for line in pathlib.Path("/proc/self/mountinfo").read_text().splitlines() if str(box.base) in line]


PROPOSED = [f"/var/tmp/creel-{uid}" for uid in (0, ORDINARY)]


def temporary():
    """Names that are ours where everybody may write: we should have none. But for the state directory that a message proposes, which another test takes at the same time."""
    return {n for d in ("/tmp", "/var/tmp", "/dev/shm", "/run") for g in ("creel-[0-9]*", ".creel*", "creel-warden*", "creel-plan*")
            for n in glob.glob(f"{d}/{g}") if n not in PROPOSED}


def state_of(box):
    return box.state if box.user == "root" else box.home / ".local/state/creel"


def left_in_state(box):
    return [p for name in ("runs", "live") for p in (state_of(box) / name).glob("*")]


def kill_at(box, victim, moment, command):
    """creel's number, as long as there was such a moment."""
    wrapped = [*box.as_user([PROGRAMS / "killat", VICTIMS[victim], moment]), *command[len(box.as_user([])):]]
    done = subprocess.run(wrapped, cwd=box.ws, env=box.env, capture_output=True, text=True, timeout=60, check=True)
    said = done.stdout.splitlines()
    assert said and said[0].split()[0] in ("killed", "ended"), done
    assert len(said) == 1, f"{victim} was killed at {moment}, and a second later: {done}"
    return said[0].split()[1] if said[0].startswith("killed") else None


def assert_no_groups(creel, known, victim, at):
    """Who is killed together cannot remove them: they are empty, and a later run sweeps them."""
    if victim != "all":
        assert wait_until(lambda: not groups(creel, known), 1), f"{at}: {groups(creel, known)}"
    for g in groups(creel, known):
        assert wait_until(lambda g=g: not os.path.exists(g) or not pathlib.Path(g, "cgroup.procs").read_text(), 1), f"{at}: {g}"
        with contextlib.suppress(FileNotFoundError):
            os.rmdir(g)


def assert_nothing_left(box, before, victim, at):
    """What the host can see, by whatever name. Of those who are killed together nobody can remove the directory: the next run does."""
    if victim != "all":
        assert wait_until(lambda: not left_in_state(box), 1), f"{at}: {left_in_state(box)}"
    assert mounts(box) == [], at
    assert (temporary(), digest(box.ws)) == before, at
    assert {p.name for p in box.base.iterdir()} <= {"home", "ws", "tmp", "state"}, at


@pytest.mark.parametrize("victim", VICTIMS)
@pytest.mark.parametrize("setting", SETTINGS)
def test_s07_killed_at_any_system_call_nothing_is_left(light, victim, setting):
    access, options = SETTINGS[setting]
    if options and not light.may_limit():
        access, options = "ro", []  # an ordinary user has no groups here
    for p in ATTACKS:
        (light.ws / p).unlink()
    light.file("ws/dir/file", "x")
    light.run("/bin/true", access=access, options=options, status=0)
    known, before = groups(), (temporary(), digest(light.ws))
    moment = 1 + (list(SETTINGS).index(setting) * 2 + (light.user == "root")) * 7 % STRIDE
    while creel := kill_at(light, victim, moment, light.creel("/bin/true", access=access, options=options)):
        at = f"{victim} killed at {moment}"
        assert_no_groups(creel, known, victim, at)
        assert_nothing_left(light, before, victim, at)
        moment += STRIDE
    assert moment > MOMENTS[victim], f"only {moment} moments: the tracer does not see what it should"
    light.run("/bin/true", access=access, options=options, status=0)
    # A name with a dot is one that is just being made, as far as others can know: it is swept after a minute.
    left = [p for p in left_in_state(light) if victim != "all" or not p.name.startswith(".")]
    assert left == [], "what a killed run leaves must be gone when the next one has run"


def test_s07_a_job_that_is_killed_at_any_system_call_leaves_nothing(light):
    """Its warden is begun before it is known what it will do, and before it has groups."""
    limits = SETTINGS["limits"][1] if light.may_limit() else []
    state = ["--state-dir", light.state] if light.user == "root" else []
    command = light.as_user(["/bin/sh", "-c", 'exec "$@" >/dev/null', "sh", CREEL, "call", *state, "--workspace", light.ws, "--workspace-access", "overlay", "--sandbox", "light",
                             "-e", "backend.scope=job", *limits, "exec", "--", "/bin/true"])
    subprocess.run(command, cwd=light.ws, env=light.env, check=True, capture_output=True, timeout=60)
    known, before = groups(), (temporary(), digest(light.ws))
    moment = 1 + (light.user == "root") * 7 % STRIDE
    while creel := kill_at(light, "creel", moment, command):
        at = f"creel killed at {moment}"
        assert_no_groups(creel, known, "creel", at)
        assert_nothing_left(light, before, "creel", at)
        moment += STRIDE
    assert moment > MOMENTS["creel"], f"only {moment} moments"
