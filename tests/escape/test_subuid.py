# SPDX-License-Identifier: Apache-2.0
"""An ordinary user with a range in /etc/subuid: the warden and the command are two users, and files still belong to the one who asked.

The account, the ranges and the setuid programs are real; the files in /etc lie in a mount namespace of the test's own.
"""
import json
import os
import pathlib
import stat
import subprocess

import pytest
from conftest import CREEL, FAULT, ORDINARY, Box, descendants, needs_root, skip, stat_of, wait_until
from test_processes import LOOK, REACH

pytestmark = pytest.mark.skipif(FAULT is not None, reason="what makes a hole sets no_new_privs, and newuidmap has no rights then")
RANGE = 700000, 65536
ALWAYS = ["-e", "walls.subuid=always"]
IN_ETC = 'for f in passwd subuid subgid; do mount --bind "$ETC/$f" "/etc/$f" || exit 99; done; exec "$@"'


class Ranged(Box):
    """A user with an account, and with what is in `lines` for ranges."""

    def __init__(self, lines=None, gid=ORDINARY):
        super().__init__("user", "light")
        self.wrap = ["unshare", "-m", "sh", "-c", IN_ETC, "sh"]
        etc = self.base / "etc"
        etc.mkdir()
        account = f"ranger:x:{ORDINARY}:{gid}::{self.home}:/bin/sh\n"
        (etc / "passwd").write_text(pathlib.Path("/etc/passwd").read_text() + account)
        lines = f"ranger:{RANGE[0]}:{RANGE[1]}\n" if lines is None else lines
        for name in ("subuid", "subgid"):
            (etc / name).write_text(lines)
            if not os.path.exists(f"/etc/{name}"):
                pathlib.Path(f"/etc/{name}").touch()
        self.env["ETC"] = str(etc)

    def as_user(self, command, user=None):
        return [*self.wrap, *super().as_user(command, user)]


@pytest.fixture
def ranged():
    made = []

    def make(*args, **kw):
        needs_root()
        if not os.path.exists("/usr/bin/newuidmap"):
            skip("newuidmap is missing: apt-get install uidmap")
        made.append(Ranged(*args, **kw))
        return made[-1]
    yield make
    for b in made:
        b.done()


def users_of(pid):
    """Real, effective, saved and file system uid, as the host sees them."""
    for line in pathlib.Path(f"/proc/{pid}/status").read_text().splitlines():
        if line.startswith("Uid:"):
            return [int(n) for n in line.split()[1:]]
    return []


@pytest.mark.parametrize("access", ["overlay", "rw", "ro", "none"])
def test_s20_the_warden_and_the_command_are_two_users(ranged, access):
    box = ranged()
    p = box.spawn("sh", "-c", "echo ready; exec sleep 60", access=access, options=ALWAYS, stdout=subprocess.PIPE)
    assert p.stdout.readline() == b"ready\n"
    assert wait_until(lambda: len(descendants(p.pid)) == 3), "who maps the users has gone"
    outside, inside, command = sorted(descendants(p.pid), key=lambda d: len(descendants(d)), reverse=True)
    assert users_of(outside) == [ORDINARY] * 4 and users_of(inside) == [sum(RANGE) - 1] * 4
    assert users_of(command) == [ORDINARY] * 4
    p.terminate()
    assert p.wait(10) == 128 + 15


def test_s20_files_belong_to_who_asked(ranged):
    box = ranged()
    result = box.run("sh", "-c", "id -u; umask 022; echo x >new; mkdir dir; touch dir/f; stat -c '%u %a' new dir dir/f", access="rw", options=ALWAYS,
                     status=0)
    assert result.out.splitlines() == ["1000", "1000 644", "1000 755", "1000 644"], result
    assert result.report["walls"]["users"] == 2
    for name, mode in (("new", 0o644), ("dir", 0o755), ("dir/f", 0o644)):
        st = (box.ws / name).stat()
        assert (st.st_uid, st.st_gid, stat.S_IMODE(st.st_mode)) == (ORDINARY, ORDINARY, mode), name
    over = box.run("sh", "-c", "echo y >new; touch dir/g; rm -r dir", access="overlay", options=ALWAYS, status=0)
    assert (box.ws / "new").read_text() == "x\n" and (box.ws / "dir").exists(), over
    kept = [q for q in (box.home / ".local/state/creel/runs").rglob("*") if q.is_file()]
    assert kept and all(q.lstat().st_uid == ORDINARY for q in kept), kept


@pytest.mark.parametrize("access", ["overlay", "rw"])
def test_s20_the_warden_of_another_user_cannot_be_reached(ranged, access):
    """What test_processes.py tries where both are one user; here it would be refused by the user alone."""
    box = ranged()
    box.control("procs", *[r.format("child") for r in REACH + LOOK])
    box.refused("procs", *[r.format(1) for r in REACH + LOOK], "setaffinity=1", errors={"EPERM", "EACCES", "ENOENT", "ESRCH"}, access=access,
                options=ALWAYS)
    result = box.run("sh", "-c", "./procs kill_init pidfd_signal=1,9; kill -9 1; kill -STOP 1; kill -TERM 1; echo alive; exit 7", options=ALWAYS)
    assert result.status == 7 and "alive" in result.out, result


def test_s20_the_second_user_is_nobody_inside_can_become(ranged):
    box = ranged()
    script = "import os\nfor f in (os.setuid, os.setgid, os.seteuid):\n  try: f(0); print('became')\n  except OSError as e: print(e.errno)"
    result = box.run("python3", "-c", script, options=ALWAYS, status=0)
    assert result.out.split() == ["1"] * 3, result


def test_nothing_is_left_and_the_deadline_holds(ranged):
    box = ranged()
    result = box.run("sh", "-c", "trap '' TERM; sleep 60; sleep 60", options=[*ALWAYS, "--timeout", "1"])
    assert result.status == 124, result
    p = box.spawn("sh", "-c", "echo ready; exec sleep 61", options=ALWAYS, stdout=subprocess.PIPE)
    assert p.stdout.readline() == b"ready\n"
    all_of_it = descendants(p.pid)
    p.kill()
    p.wait()
    assert wait_until(lambda: not [d for d in all_of_it if (stat_of(d) or "Z")[0] != "Z"], 1)
    assert wait_until(lambda: not list((box.home / ".local/state/creel/live").glob("*")), 1)


BAD = {"none": "", "another's": "somebody:700000:65536\n", "empty": "ranger:700000:0\n", "too far": "ranger:4294967295:2\n",
       "no numbers": "ranger:x:y\nranger\n"}


@pytest.mark.parametrize("lines", BAD.values(), ids=BAD)
def test_without_a_range_always_is_refused_and_auto_is_one_user(ranged, lines):
    box = ranged(lines)
    result = box.run("touch", "ran", access="rw", options=ALWAYS, status=125)
    assert "walls.subuid" in result.err and "/etc/subuid" in result.err and "fix: sudo usermod --add-subuids" in result.err, result
    assert not (box.ws / "ran").exists()
    for how in ("auto", "never"):
        assert box.run("true", options=["-e", f"walls.subuid={how}"], status=0).report["walls"]["users"] == 1


def test_an_account_of_another_group_is_refused_before_anything_starts(ranged):
    result = ranged(gid=100).run("true", options=ALWAYS, status=125)
    assert "newgidmap" in result.err and "fix: " in result.err, result


def test_a_range_that_newuidmap_does_not_grant_is_refused(ranged):
    """creel reads the file, newuidmap decides: here they see different ones."""
    box = ranged()
    box.wrap = ["unshare", "-m", "sh", "-c", IN_ETC.replace('exec "$@"', 'mount --bind /bin/false /usr/bin/newuidmap; exec "$@"'), "sh"]
    result = box.run("touch", "ran", access="rw", options=ALWAYS, status=125)
    assert "newuidmap" in result.err and "walls.subuid=never" in result.err and not (box.ws / "ran").exists(), result


@pytest.mark.parametrize("lines", [None, ""], ids=["range", "no range"])
def test_doctor_is_right_about_two_users(ranged, lines):
    box = ranged(lines)
    said = subprocess.run(box.as_user([CREEL, "doctor", "--json"]), capture_output=True, text=True, check=False, env=box.env, cwd=box.ws)
    found = next(f for f in json.loads(said.stdout)["findings"] if f["name"] == "users")
    ran = box.run("true", options=ALWAYS)
    assert said.returncode == 0 and (found["state"] == "ok") == (ran.status == 0) == (lines is None), (found, ran)
    assert found["state"] == "ok" or ("usermod" in found["fix"] and found["fix"] in ran.err), (found, ran)
