# SPDX-License-Identifier: Apache-2.0
"""Uid 0 of a user namespace: an ordinary user who is called so there, as in a container that he has started, is served like one; who is the host's root
under it is not: there is no other user for the command to be."""
import json
import subprocess

import pytest
from conftest import CREEL

ROOT = ["unshare", "--user", "--map-root-user", "--"]
NAMED = ["unshare", "--user", "--map-user=1000", "--map-group=1000", "--"]
NOBODY = ["unshare", "--user", "--map-user=65534", "--map-group=65534", "--"]
OTHERS = {"uid-0": ROOT, "uid-1000": NAMED, "uid-0-below-1000": NAMED + ROOT, "uid-1000-below-0": ROOT + NAMED,
          "uid-65534": NOBODY, "uid-65534-below-1000": NAMED + NOBODY}


def inside(box, other, command):
    ours = len(box.as_user([]))
    return subprocess.run([*box.as_user(other), *command[ours:]], cwd=box.ws, env=box.env, capture_output=True, text=True, timeout=60, check=False)


@pytest.mark.parametrize("name", OTHERS)
def test_o04_an_ordinary_user_under_another_name_has_every_wall_and_root_none(light, name):
    light.file("ws/was", "here")
    done = inside(light, OTHERS[name], light.creel("/bin/sh", "-c", "id -u; id -g; echo new > made; grep CapBnd /proc/self/status", access="rw"))
    state = ["--state-dir", light.state] if light.user == "root" else []
    doctor = inside(light, OTHERS[name], light.as_user([CREEL, "doctor", "--json", *state]))
    found = {f["name"]: f for f in json.loads(doctor.stdout)["findings"]}
    assert doctor.returncode == done.returncode and found["sandbox"]["state"] == ("ok" if done.returncode == 0 else "fail"), (done, doctor)
    if light.user == "root":
        assert done.returncode == 125 and "write the user map" in done.stderr and "fix: " in done.stderr, done
        assert not (light.ws / "made").exists()
    else:
        assert done.stdout.split() == ["1000", "1000", "CapBnd:", "0000000000000000"], done
        assert (light.ws / "made").read_text() == "new\n" and (light.ws / "made").stat().st_uid == (light.ws / "was").stat().st_uid, done
        assert ("uid 0 of a user namespace" in found["users"]["found"]) == name.startswith("uid-0"), found
