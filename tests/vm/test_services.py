# SPDX-License-Identifier: Apache-2.0
"""The services on cgroup v2, in a group of their own, as a unit with Delegate=yes has it: jobs have the limits that they name, without being root.

Runs in the guest alone (run.py), as root.
"""
import os
import pathlib
import signal
import sys

import pytest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "api"))
from delegate import ROOT, delegate  # noqa: E402
from services_lab import Services, wait_for  # noqa: E402

ENTER = 'echo $$ >"$0/cgroup.procs" && exec "$@"'


class InUnit(Services):
    def __init__(self, user):
        super().__init__(user)
        self.options = [o for o in self.options if o not in ("-e", "walls.optional=limits")]
        self.unit = delegate(ROOT / "unit", self.uid)
        os.rmdir(self.unit / "session")

    def argv(self, *more):
        return ["sh", "-c", ENTER, str(self.unit), *super().argv(*more)]

    def groups(self):
        return sorted(pathlib.Path(d) for d, _, _ in os.walk(self.unit) if d != str(self.unit))

    def close(self):
        super().close()
        (self.unit / "cgroup.kill").write_text("1")
        wait_for("nobody in it", lambda: "populated 0" in (self.unit / "cgroup.events").read_text())
        for g in [*reversed(self.groups()), self.unit]:
            os.rmdir(g)


@pytest.fixture(params=["root", "user"])
def unit(request):
    s = InUnit(request.param)
    yield s
    s.close()


def test_a_job_has_its_limits_and_no_group_stays(unit):
    unit.start()
    assert len(unit.groups()) == 1 and not (unit.unit / "cgroup.procs").read_text(), "the services, apart from what they start"
    assert not list(ROOT.glob("creel-*")), "and nothing outside"
    got = unit.run("shell_exec", {"cmd": ["python3", "-c", "print(6*7)"]}).json
    assert got["ok"] and got["stdout"] == "42\n", got
    got = unit.run("shell_exec", {"cmd": ["python3", "-c", "b = bytearray(3 << 30)"]}).json
    assert not got["ok"], got
    wait_for("jobs leave no group", lambda: len(unit.groups()) == 1)
    unit.stop()
    assert unit.groups() == [] and not (unit.unit / "cgroup.procs").read_text()


def test_killed_it_serves_again_in_the_same_unit(unit):
    unit.start()
    unit.p.send_signal(signal.SIGKILL)
    unit.p.wait(60)
    wait_for("its services have gone, too", lambda: "populated 0" in (unit.unit / "cgroup.events").read_text())
    for g in reversed(unit.groups()):  # as systemd does before it starts a unit again
        os.rmdir(g)
    (unit.unit / "cgroup.subtree_control").write_text("-memory -pids -cpu")
    unit.start()
    assert unit.run("shell_exec", {"cmd": ["python3", "-c", "print(6*7)"]}).json["ok"]
