# SPDX-License-Identifier: Apache-2.0
"""Mounts that the kernel takes down later: never those that somebody is waiting for, and always soon."""
import errno
import os
import subprocess
import time

import pytest
from conftest import needs_root, wait_until

# Whoever makes a sandbox meanwhile has a copy of the host's mounts for a moment, and with it the disk.
pytestmark = pytest.mark.serial
ROUNDS = 25
MINOR_SLACK = 8  # others may mount something meanwhile


def umount(place):
    subprocess.run(["umount", place], check=True)


class Disk:
    """A file system of its own, on a loop device: who still uses it is seen by whether the device can be had alone."""

    def __init__(self, tmp_path, owner):
        self.image, self.owner, self.place = tmp_path / "disk", owner, None
        with open(self.image, "wb") as f:
            f.truncate(16 << 20)
        subprocess.run(["mkfs.ext4", "-q", "-F", self.image], check=True)
        self.device = subprocess.run(["losetup", "--find", "--show", self.image], check=True, capture_output=True, text=True).stdout.strip()

    def mount(self, place):
        subprocess.run(["mount", self.device, place], check=True)
        self.place = place
        os.chown(place, self.owner, self.owner)

    def is_free(self):
        try:
            os.close(os.open(self.device, os.O_RDONLY | os.O_EXCL))
        except OSError as e:
            assert e.errno == errno.EBUSY
            return False
        return True

    def gone(self):
        if self.place and os.path.ismount(self.place):  # the test has failed before
            umount(self.place)
        subprocess.run(["losetup", "-d", self.device], check=True)


@pytest.fixture
def disk(light, tmp_path):
    needs_root()
    d = Disk(tmp_path, light.ws.stat().st_uid)
    yield d
    d.gone()


@pytest.mark.parametrize("access", ["overlay", "rw", "ro"])
def test_a_workspace_can_be_unmounted_at_once(light, disk, access):
    for _ in range(ROUNDS):
        disk.mount(light.ws)
        light.run("true", access=access, status=0, report=False)
        umount(light.ws)
        assert disk.is_free()


def test_what_is_mounted_in_a_workspace_can_be_unmounted_at_once(light, disk):
    """It comes along with what it lies in, which itself lies on the root's file system."""
    below = light.ws / "below"
    below.mkdir()
    for _ in range(ROUNDS):
        disk.mount(below)
        seen = light.run("test", "-d", "below/lost+found", access="rw", report=False).status == 0
        assert seen == (light.user != "root")  # where owners are mapped, a mount comes alone
        umount(below)
        assert disk.is_free()


def test_a_bind_can_be_unmounted_at_once(light, disk):
    other = light.base / "other"
    other.mkdir()
    for _ in range(ROUNDS):
        disk.mount(other)
        light.run("ls", "/data/lost+found", options=["-e", f"mounts.binds=['{other}:/data:ro']"], report=False)
        umount(other)
        assert disk.is_free()


def test_the_state_directory_can_be_unmounted_at_once(light, disk):
    """The layers of an overlay lie there."""
    state = light.base / "elsewhere"
    state.mkdir()
    for _ in range(ROUNDS):
        disk.mount(state)
        light.run("true", state=state, status=0, report=False)
        umount(state)
        assert disk.is_free()


def next_minor(place):
    """What has no device gets the lowest number that is free: what is still mounted somewhere holds its own."""
    subprocess.run(["mount", "-t", "tmpfs", "none", place], check=True)
    minor = os.minor(os.stat(place).st_dev)
    umount(place)
    return minor


@pytest.mark.parametrize("access", ["overlay", "rw"])
def test_nothing_stays_mounted(light, tmp_path, access):
    needs_root()
    time.sleep(0.5)
    before = next_minor(tmp_path)
    for _ in range(ROUNDS):
        light.run("true", access=access, status=0, report=False)
    assert wait_until(lambda: next_minor(tmp_path) <= before + MINOR_SLACK, 1)
