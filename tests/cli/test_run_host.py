# SPDX-License-Identifier: Apache-2.0
"""creel run where the decision is the host: nothing that was asked for may be dropped, and it is said."""
import pytest

MAIN = ["run", "--session", "agent:main:main"]


def test_a_command_on_the_host_is_announced(creel):
    got = creel(*MAIN, "--", "echo", "hi", status=0)
    assert got.out == "hi\n"
    assert got.err == ("creel run: on the host, without any wall: nothing asks for a sandbox here; "
                       "--sandbox light does\n")
    assert creel(*MAIN, "-q", "--", "true", status=0).err == ""
    assert creel("run", "--no-sandbox", "--", "true", status=0).err == ""  # asked for


def test_a_plan_runs_nothing_on_the_host_either(creel):
    got = creel(*MAIN, "--plan", "--", "touch", "made", status=0)
    assert got.out == "on the host, without any wall\n"
    assert not (creel.cwd / "made").exists()


@pytest.mark.parametrize("option", [
    ["--workspace", "."], ["--workspace-access", "ro"], ["--env", "A=b"], ["--net", "none"], ["--timeout", "1"],
    ["--memory", "1g"], ["--pids", "9"], ["--cpus", "1"], ["--cgroup-parent", "/x"], ["--backend", "native"],
    ["--image", "/"], ["--tty"], ["--report", "r.json"]], ids=lambda o: o[0])
def test_what_only_a_sandbox_gives_is_refused_on_the_host(creel, option):
    got = creel(*MAIN, *option, "--", "touch", "made", status=125)
    assert f"{option[0]} needs a sandbox" in got.err
    assert not (creel.cwd / "made").exists()
