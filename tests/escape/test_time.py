# SPDX-License-Identifier: Apache-2.0
"""Clocks of its own: inside, the machine was started when the sandbox was."""
import os
import pathlib
import time

import pytest
from calls import fails
from conftest import skip, wait_until

CLOCKS = ("import time,re\n"
          "print(time.clock_gettime(time.CLOCK_MONOTONIC), time.clock_gettime(time.CLOCK_BOOTTIME), open('/proc/uptime').read().split()[0],\n"
          "      re.search(r'btime (\\d+)', open('/proc/stat').read())[1], time.time())")
NEWTIME = 0x80  # without it every namespace would be refused
SHARED = 0x4111  # CLONE_VM | CLONE_VFORK | SIGCHLD: what the warden starts the payload with
HAS = os.path.exists("/proc/self/ns/time_for_children")


@pytest.fixture(autouse=True)
def needs_time():
    if not HAS:
        skip("no time namespaces here")


def clocks(result):
    return [float(word) for word in result.out.split()]


def uptime():
    return float(pathlib.Path("/proc/uptime").read_text().split()[0])


@pytest.mark.parametrize("fault", [None, fails("clone", 22, SHARED)], ids=["vfork", "fork"])
def test_a_sandbox_has_clocks_of_its_own(light, fault):
    """Also where a process that shares memory cannot enter (before Linux 6.2)."""
    assert wait_until(lambda: uptime() > 60, 70), "the control: this machine was started long before"
    result = light.run("python3", "-c", CLOCKS, fault=fault, status=0)
    monotonic, boot, up, started, now = clocks(result)
    assert 0 <= monotonic < 30 and 0 <= boot < 30 and 0 <= up < 30, result
    assert abs(started - now) < 30 and abs(now - time.time()) < 30, result  # the time of day is the host's
    assert result.report["walls"]["namespaces"][-1] == "time", result.report


@pytest.mark.parametrize("fault", [None, fails("clone", 22, SHARED)], ids=["vfork", "fork"])
def test_what_the_payloads_process_says_arrives_either_way(light, fault):
    """Probes, how it ended, what could not be executed, the deadline, what was used."""
    whole = light.run("true", status=0).report["walls"]
    assert light.run("true", fault=fault, status=0).report["walls"] == whole
    assert light.run("sh", "-c", "exit 7", fault=fault, status=7).report["reason"] == "exit"
    assert light.run("/nowhere", fault=fault, status=127).report["reason"] == "not-found"
    assert light.run("/etc/passwd", fault=fault, status=126).report["reason"] == "not-executable"
    late = light.run("sleep", "30", fault=fault, options=["--timeout", "1"], status=124, timeout=20).report
    assert late["reason"] == "timeout" and late["wall_us"] >= 1000000, late
    busy = light.run("python3", "-c", "import time\nwhile time.process_time() < 0.3: pass", fault=fault, status=0).report
    assert busy["user_us"] + busy["system_us"] >= 250000 and busy["wall_us"] >= 250000, busy


def test_timers_work_inside(light):
    script = ("import time,select,signal\na=time.monotonic(); time.sleep(0.2); assert 0.2 <= time.monotonic()-a < 20\n"
              "select.select([],[],[],0.1); signal.setitimer(signal.ITIMER_REAL, 0.1); signal.signal(signal.SIGALRM, lambda *a: print('rang')); signal.pause()")
    assert light.run("python3", "-c", script, status=0).out == "rang\n"


def test_a_kernel_without_time_namespaces_is_told_in_the_report(light):
    result = light.run("python3", "-c", CLOCKS, fault=fails("unshare", 22, NEWTIME), status=0)
    assert "time" not in result.report["walls"]["namespaces"] and result.report["walls"]["optional_missing"] == ["time"], result.report
    assert abs(clocks(result)[1] - time.clock_gettime(time.CLOCK_BOOTTIME)) < 30, result


def test_o04_a_time_namespace_that_is_refused_is_a_refusal(light):
    result = light.run("touch", "ran", access="rw", fault=fails("unshare", 1, NEWTIME), status=125)
    assert "wall 'time'" in result.err and "walls.optional=time" in result.err and not (light.ws / "ran").exists(), result
    result = light.run("true", fault=fails("unshare", 1, NEWTIME), options=["-e", "walls.optional=time"], status=0)
    assert result.report["walls"]["optional_missing"] == ["time"], result.report


def test_o04_the_namespace_cannot_be_left(light):
    """The way back to the host's clocks would be one of these."""
    script = ("import os\nfor n in ('time', 'time_for_children'):\n  for p in ('self', '1'):\n"
              "    try: os.close(os.open(f'/proc/{p}/ns/{n}', os.O_RDONLY)); fd = os.open(f'/proc/{p}/ns/{n}', os.O_RDONLY)\n"
              "    except OSError as e: print(e.errno); continue\n"
              "    import ctypes; libc = ctypes.CDLL(None, use_errno=True); print(libc.setns(fd, 0), libc.unshare(0x80))\n"
              "try: os.write(os.open('/proc/self/timens_offsets', os.O_WRONLY), b'1 0 0'); print('written')\nexcept OSError as e: print(e.errno)")
    result = light.run("python3", "-c", script, status=0)
    assert "0 " not in result.out and " 0" not in result.out and "written" not in result.out, result
