# SPDX-License-Identifier: Apache-2.0
"""creel run where the decision is the host: nothing that was asked for may be dropped, and it is said."""
import signal

import pytest

MAIN = ["run", "--session", "agent:main:main"]


def test_a_command_on_the_host_is_announced(creel):
    got = creel(*MAIN, "--", "echo", "hi", status=0)
    assert got.out == "hi\n"
    assert got.err == ("creel run: on the host, without any wall: nothing asks for a sandbox here; "
                       "--sandbox light does\n")
    assert creel(*MAIN, "-q", "--", "true", status=0).err == ""
    assert creel("run", "--no-sandbox", "--", "true", status=0).err == ""  # asked for


@pytest.mark.parametrize("ignored", [False, True])
def test_a_command_on_the_host_has_the_signals_of_the_caller(creel, ignored):
    def begin():
        for s in (signal.SIGPIPE, signal.SIGXFSZ):
            signal.signal(s, signal.SIG_IGN if ignored else signal.SIG_DFL)
    got = creel("run", "--no-sandbox", "--", "cat", "/proc/self/status", status=0, preexec_fn=begin, restore_signals=False)
    (found,) = [int(line.split()[1], 16) for line in got.out.splitlines() if line.startswith("SigIgn")]
    for s in (signal.SIGPIPE, signal.SIGXFSZ):
        assert bool(found & 1 << (s - 1)) == ignored, (s, got)


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
