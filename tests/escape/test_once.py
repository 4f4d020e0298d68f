# SPDX-License-Identifier: Apache-2.0
"""One call of creel's own fails, once, whichever it is (a disk, a file server, somebody who moves things): what no sandbox may see is not
seen for that. tests/escape/test_faults.py has the calls that always fail; here the command itself runs on a kernel without a hole."""
import collections
import os
import re
import subprocess

import pytest
from conftest import CREEL, FAULT, PATIENCE
from test_sockets import bound

pytestmark = pytest.mark.skipif(FAULT is not None, reason="two holes at once are not what is asked here")

# By which creel finds out what is where, and who it is.
LOOKS = ["access", "faccessat", "faccessat2", "fcntl", "fstat", "fstatfs", "getcwd", "getdents64", "geteuid", "getuid", "lstat", "newfstatat", "open", "openat",
         "openat2", "read", "readlink", "readlinkat", "recvfrom", "sendto", "socket", "stat", "statfs", "statx"]
SECRET = "the key of another house"


def asked(box, line):
    """How often creel itself makes each of these calls."""
    trace = box.base / "trace"
    trace.touch()
    box.give(trace)
    subprocess.run(box.as_user(["strace", "-qq", "-o", trace, *line]), cwd=box.ws, env=box.env, capture_output=True, timeout=60 * PATIENCE, check=False)
    made = collections.Counter(re.findall(r"^(\w+)\(", trace.read_text(errors="replace"), re.MULTILINE))
    assert made, "strace tells nothing"
    return made


def each_once(box, *arguments, command=("run", "-q", "--sandbox", "light"), calls=tuple(LOOKS)):
    """Runs it as often as there are such calls, each time with another one that fails: (which, what came of it)."""
    line = [CREEL, *command, *(["--state-dir", box.state] if box.user == "root" else []), *arguments]
    for call, n in sorted(asked(box, line).items()):
        for i in range(1, n + 1) if call in calls else ():
            hole = ["strace", "-qq", "-o", os.devnull, "-e", f"trace={call}", "-e", f"inject={call}:error=EIO:when={i}"]
            done = subprocess.run(box.as_user([*hole, *line]), cwd=box.ws, env=box.env, capture_output=True, text=True, errors="replace",
                                  timeout=60 * PATIENCE, check=False)
            assert done.returncode not in (125, 126) or done.stderr.strip(), f"{call}, number {i}: refused without a word"
            yield f"{call}, number {i}", done


def test_a_look_that_fails_once_shows_no_secret(light):
    """A directory that is never bound, by way of a link, and one that covers it."""
    keys = light.home / ".ssh"
    keys.mkdir()
    (keys / "id_rsa").write_text(SECRET)
    (light.ws / "link").symlink_to(keys)
    light.give(keys)
    light.give(keys / "id_rsa")
    assert subprocess.run(light.as_user(["cat", light.ws / "link/id_rsa"]), capture_output=True, text=True, check=True).stdout == SECRET
    ways = [["-e", f"mounts.binds={light.ws}/link:/mnt:ro", "--workspace", light.ws, "--", "cat", "/mnt/id_rsa"],
            ["--workspace", light.home, "--workspace-access", "rw", "--", "cat", ".ssh/id_rsa"]]
    for way in ways:
        tried = 0
        for which, done in each_once(light, *way):
            assert SECRET not in done.stdout and done.returncode in (125, 126), (which, way, done)
            tried += 1
        assert tried > 15, "nothing was tried"


def test_a_look_that_fails_once_opens_no_socket(light, listener):
    made = bound(light, listener, light.ws / "plain")
    ends = collections.Counter()
    for which, done in each_once(light, "--workspace", light.ws, "--workspace-access", "rw", "--", "./ipc", "unix=./plain"):
        assert not made.heard and "DONE" not in done.stdout, (which, done)
        ends[done.returncode] += 1
    assert ends[125] > 10 and ends[0] > 10 and not made.heard, ends
    light.control("ipc", "unix=./plain")


def test_a_list_that_fails_once_loses_no_private_layer(light):
    """prune says that it could not look, and removes none; tests/unit/engine/test_layers.c has those that are old enough to be removed."""
    light.run("sh", "-c", "echo x >a", status=0)
    state = light.state if light.user == "root" else light.home / ".local/state/creel"
    (kept,) = (state / "runs").glob("*/upper0/a")
    told = 0
    for which, done in each_once(light, command=["prune"], calls=["getdents64", "openat", "open", "fstat", "stat", "newfstatat"]):
        assert kept.exists(), (which, done)
        told += done.returncode == 125 and "Input/output error" in done.stderr
    assert told > 3, "nothing was tried"
