# SPDX-License-Identifier: Apache-2.0
"""Numbers 26 to 28, where no cgroup counts: what the whole host has only so many of, one sandbox cannot take."""
import resource
import subprocess

import pytest
from conftest import needs_root

MANY = 300  # more than a sandbox may have of any of them, and fewer than a host has


class Holder:
    """A process that takes all it can get, and keeps it until it is told."""

    def __init__(self, process):
        self.process = process
        self.got = int(process.stdout.readline().split()[1])

    def end(self):
        out, _ = self.process.communicate(timeout=20)
        return out


def inside(box, what):
    return Holder(box.spawn("./shares", f"{what}=hold", stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True))


def outside(box, what, user):
    process = subprocess.Popen(box.as_user([box.ws / "shares", f"{what}=hold"], user), stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    box.closing.append(lambda: (process.kill(), process.wait()))
    return Holder(process)


@pytest.mark.parametrize("what", ["inotify", "timers"])
def test_e27_the_callers_share_of_the_host_is_not_taken(light, what):
    """Counted by user, and what a sandbox has counts for the user who started it: root's services are left with theirs."""
    needs_root()
    control = outside(light, what, "stranger")
    said = light.outside("shares", f"{what}=1", user="stranger").answers()
    control.end()
    assert said in (["EMFILE"], ["EAGAIN"]), f"all of it was taken, and its user still gets one: nothing is shown: {said}"
    taken = inside(light, what)
    light.control("shares", f"{what}=1", user=light.user)
    assert 0 < taken.got < control.got and "DONE" in taken.end()


def test_e27_kernel_aio_which_all_processes_share_is_not_there(light):
    light.control("shares", "aio=1")
    light.refused("shares", "aio=1", errors={"ENOSYS"})


def test_e27_terminals_are_left_to_other_sandboxes(light):
    light.control("shares", f"terminals={MANY}")
    taken = [inside(light, "terminals") for _ in range(2)]
    assert all(0 < t.got < MANY for t in taken) and taken[1].got == taken[0].got, [t.got for t in taken]
    assert all("DONE" in t.end() for t in taken)


def as_a_desktop():
    """What processes of a user usually may have open."""
    resource.setrlimit(resource.RLIMIT_NOFILE, (1024, 1024))


def test_e60_descriptors_in_flight_are_left_to_the_caller_with_fewer_open_files(light):
    """Counted by user, and compared with how many files the sender may have open; SECURITY.md tells what the default leaves."""
    needs_root()

    def control(user="user"):
        return light.outside("shares", "flights=1", user=user, preexec_fn=as_a_desktop).answers()
    holder = subprocess.Popen(light.as_user([light.ws / "shares", "flights=hold"], "stranger"), stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                              text=True, preexec_fn=as_a_desktop)
    light.closing.append(lambda: (holder.kill(), holder.wait()))
    taken = Holder(holder)
    assert taken.got > 1000 and control("stranger") == ["ETOOMANYREFS"], "all of them were taken, and their user still sends one: nothing is shown"
    taken.end()
    assert control("stranger") == ["DONE"]
    boxes = [Holder(light.spawn("./shares", "flights=hold", options=["-e", "limits.open_files=512"], stdin=subprocess.PIPE,
                                stdout=subprocess.PIPE, text=True)) for _ in range(2)]
    assert 256 < sum(b.got for b in boxes) < 1000 and control() == ["DONE"], [b.got for b in boxes]
    for b in boxes:
        b.end()
