# SPDX-License-Identifier: Apache-2.0
"""kill -9 of creel, of its warden and of the command before and after every system call that they make.

Which call is the last one is chosen by a tracer (killat.c), so no moment is left to chance. A run of the suite takes every
STRIDE-th of the about 2,300 moments, another one in each setting; CREEL_EVERY_STEP=1 takes all.
"""
import glob
import os
import pathlib
import subprocess

import pytest
from conftest import ATTACKS, PROGRAMS, digest, wait_until

STRIDE = 1 if os.environ.get("CREEL_EVERY_STEP") else 11
VICTIMS = {"creel": 0, "outside": 1, "inside": 2, "payload": 3, "all": "all"}
MOMENTS = {"creel": 300, "outside": 100, "inside": 300, "payload": 100, "all": 1000}  # there are at least as many
SETTINGS = {"overlay": ("overlay", []), "rw": ("rw", []), "limits": ("rw", ["--memory", "256m", "--pids", "64", "--cpus", "1"])}


def groups():
    return {g for depth in ("*", "*/*", "*/*/*") for g in glob.glob(f"/sys/fs/cgroup/{depth}/creel-*")}


def mounts():
    return pathlib.Path("/proc/self/mountinfo").read_text()


def temporary():
    """Names that could be ours where everybody may write; those of other tests have another form."""
    return {n for d in ("/tmp", "/var/tmp", "/dev/shm", "/run") for n in glob.glob(f"{d}/*creel*") if "creel-escape-" not in n}


def state_of(box):
    return box.state if box.user == "root" else box.home / ".local/state/creel"


def left_in_state(box):
    return [p for name in ("runs", "live") for p in (state_of(box) / name).glob("*")]


def kill_at(box, victim, moment, access, options):
    """True as long as there was such a moment."""
    command = box.creel("/bin/true", access=access, options=options)
    wrapped = [*box.as_user([PROGRAMS / "killat", VICTIMS[victim], moment]), *command[len(box.as_user([])):]]
    done = subprocess.run(wrapped, cwd=box.ws, env=box.env, capture_output=True, text=True, timeout=60, check=True)
    said = done.stdout.splitlines()
    assert said and said[0].split()[0] in ("killed", "ended"), done
    assert len(said) == 1, f"{victim} was killed at {moment}, and a second later: {done}"
    return said[0].startswith("killed")


def assert_nothing_left(box, before, at):
    """What the host can see, by whatever name."""
    assert wait_until(lambda: groups() == before["groups"], 1), f"{at}: {groups() - before['groups']}"
    assert mounts() == before["mounts"], at
    assert temporary() == before["temporary"], at
    assert digest(box.ws) == before["ws"], at
    assert [p.name for p in box.base.iterdir() if p.name not in ("home", "ws", "tmp", "state")] == [], at


@pytest.mark.parametrize("victim", VICTIMS)
@pytest.mark.parametrize("setting", SETTINGS)
def test_s07_killed_at_any_system_call_nothing_is_left(light, victim, setting):
    access, options = SETTINGS[setting]
    if options and light.user != "root":
        options = []  # no group of its own: the same start as without
    for p in ATTACKS:
        (light.ws / p).unlink()
    light.file("ws/dir/file", "x")
    light.run("/bin/true", access=access, options=options, status=0)
    before = {"groups": groups(), "mounts": mounts(), "temporary": temporary(), "ws": digest(light.ws)}
    first = 1 + (list(SETTINGS).index(setting) * 2 + (light.user == "root")) * 7 % STRIDE
    moment = first
    while kill_at(light, victim, moment, access, options):
        assert_nothing_left(light, before, f"{victim} killed at {moment}")
        moment += STRIDE
    assert moment > MOMENTS[victim], f"only {moment} moments: the tracer does not see what it should"
    light.run("/bin/true", access=access, options=options, status=0)
    assert left_in_state(light) == [], "what a killed run leaves must be gone when the next one has run"
