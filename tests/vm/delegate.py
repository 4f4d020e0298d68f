# SPDX-License-Identifier: Apache-2.0
"""Gives a part of the cgroup tree to a user, as systemd does for Delegate=yes: the directory and the files that steer it."""
import os
import pathlib

ROOT = pathlib.Path("/sys/fs/cgroup")
ORDINARY = 12345
CONTROLLERS = ["memory", "pids", "cpu"]


def turn_on(group):
    for name in CONTROLLERS:
        (group / "cgroup.subtree_control").write_text(f"+{name}")


def delegate(path, uid):
    """path: a group to be made; in it, a group `session` for processes that are already there."""
    path = pathlib.Path(path)
    for parent in [p for p in reversed(path.parents) if p == ROOT or ROOT in p.parents]:
        parent.mkdir(exist_ok=True)
        turn_on(parent)
    for group in (path, path / "session"):
        group.mkdir()
        for name in ("", "cgroup.procs", "cgroup.subtree_control", "cgroup.threads"):
            os.chown(group / name, uid, uid)
    return path
