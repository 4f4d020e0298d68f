# SPDX-License-Identifier: Apache-2.0
"""Numbers 26 to 28, where no cgroup counts: what the whole host has only so many of, one sandbox cannot take."""
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
    control = outside(light, what, "user")
    said = light.outside("shares", f"{what}=1", user="user").answers()
    control.end()
    assert said in (["EMFILE"], ["EAGAIN"]), f"all of it was taken, and the user still gets one: nothing is shown: {said}"
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
