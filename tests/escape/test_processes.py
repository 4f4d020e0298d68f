# SPDX-License-Identifier: Apache-2.0
"""Numbers 26 to 32, 43 and 52 to 54: other processes are out of reach, limits hold, and everything ends with the sandbox."""
import contextlib
import os
import pathlib
import resource
import signal
import subprocess
import time

import pytest
from conftest import IS_ROOT, descendants, needs_root, processes, wait_until


def has_mark(mark):
    return [p for p, (_, line) in processes().items() if mark in line]


# ---- who can be reached ----

SIGNALS = ["kill={},9", "kill={},19", "tgkill={},9", "sigqueue={},9", "pidfd_signal={},9", "kill=-{},9", "kill={},0"]


def test_e31_no_process_of_the_host_can_be_signalled(box, bystander):
    victim, control = bystander(box), bystander(box)
    box.control("procs", f"kill={control.pid},0", f"pidfd_signal={control.pid},0", f"kill={control.pid},9")
    assert control.wait(5) == -9
    asks = [s.format(p) for s in SIGNALS for p in (victim.pid, os.getpid(), os.getppid())]
    box.refused("procs", *asks, errors={"ESRCH", "EPERM"})
    assert victim.poll() is None


def test_e31_killing_everything_kills_only_inside(box, bystander):
    victim = bystander(box)
    result = box.run("sh", "-c", "sleep 60 & sleep 60 & ./procs kill=-1,9; ./procs kill=-1,19; echo over")
    assert victim.poll() is None
    assert result.status in (0, 128 + 9), result


def test_e31_pid_1_takes_no_signal_from_inside(box):
    result = box.run("sh", "-c", "./procs kill_init pidfd_signal=1,9; kill -9 1; kill -STOP 1; kill -TERM 1; echo alive; exit 7")
    assert result.status == 7 and "alive" in result.out, result


REACH = ["seize={}", "attach={}", "vm_read={}", "vm_write={}", "mem={}", "getfd={}", "kcmp={}", "prlimit={}"]
LOOK = ["environ={}", "maps={}", "exe={}", "oom_score_adj={}"]


@pytest.mark.parametrize("access", ["overlay", "rw"])
def test_e32_s20_the_warden_cannot_be_traced_read_or_changed(box, access):
    """Also where payload and pid 1 are the same user, which is always so for an ordinary user."""
    box.control("procs", *[r.format("child") for r in REACH + LOOK])
    box.refused("procs", *[r.format(1) for r in REACH + LOOK], "setaffinity=1", errors={"EPERM", "EACCES", "ENOENT", "ESRCH"},
                access=access)


def test_e32_no_process_can_be_traced(box):
    box.refused("procs", *[r.format("child") for r in REACH if r not in ("mem={}",)], *[r.format("parent") for r in REACH[:2]],
                errors={"EPERM", "EACCES"})


def test_e32_no_process_of_the_host_can_be_seen(box, bystander):
    victim = bystander(box)
    box.refused("procs", *[r.format(victim.pid) for r in REACH + LOOK], errors={"ESRCH", "EPERM", "ENOENT"})
    result = box.attack("procs", "count")
    seen, answering = (int(n) for n in result.notes()[0].split()[1::2])
    assert seen <= 4 and answering <= 4, result
    outer = box.outside("procs", "count")
    assert int(outer.notes()[0].split()[1]) > 4
    # Not even pid 1 has a name: what the payload may not look at is not there.
    assert os.path.isdir("/proc/1") and box.run("test", "-e", "/proc/1").status == 1


def test_o05_the_environment_of_the_warden_is_empty(light):
    """Seen from the host, where root may look: nothing of the caller's environment is in a process of the sandbox."""
    needs_root()
    word = light.mark
    p = light.spawn("sleep", "20", env={**light.env, "TOKEN": word, "AWS_SECRET_ACCESS_KEY": word})
    assert wait_until(lambda: any("sleep 20" in processes().get(d, (0, ""))[1] for d in descendants(p.pid)), 5)
    for d in descendants(p.pid):
        exe = os.readlink(f"/proc/{d}/exe")
        if "creel-warden" in exe or exe.endswith("/sleep"):
            assert word.encode() not in pathlib.Path(f"/proc/{d}/environ").read_bytes(), exe
    p.terminate()
    assert p.wait(5) == 128 + 15


# ---- what does not want to end ----


def test_e29_a_daemon_ends_with_its_sandbox(box):
    """Forked twice, in a session of its own, deaf to every signal that can be ignored; it writes while it lives."""
    beat = box.ws / "beat"
    access, control = "rw" if box.mode == "light" else "overlay", box.ws / "outer"
    box.control("procs", "daemon=outer")
    assert wait_until(lambda: control.exists() and control.stat().st_size > 2, 5), "the control did not live on"
    for pid in has_mark("./procs daemon=outer") + has_mark(f"{box.ws}/procs daemon=outer") + has_mark("daemon"):
        if f"{box.ws}" in processes().get(pid, (0, ""))[1]:
            os.kill(pid, signal.SIGKILL)
    begin = time.monotonic()
    result = box.run("sh", "-c", "./procs daemon=beat; sleep 0.3; wc -c <beat", access=access)
    assert result.status == 0 and int(result.out.splitlines()[-1]) > 1, result
    assert time.monotonic() - begin < 10
    if access == "rw":
        size = beat.stat().st_size
        time.sleep(0.3)
        assert beat.stat().st_size == size


def test_e29_everything_ends_when_the_command_does(box):
    result = box.run("sh", "-c", f"for i in 1 2 3 4 5; do setsid sh -c 'trap \"\" TERM HUP; sleep 99; : {box.mark}' & done; exit 3")
    assert result.status == 3
    assert wait_until(lambda: not has_mark(box.mark))


def test_e30_orphans_are_reaped(light):
    """Ten times as many as the limit allows at once: one that stayed a zombie would count."""
    result = light.attack("procs", "orphans=1500")
    assert result.lines() == {"orphans": "DONE"}, result


@pytest.mark.parametrize("evil", [["./procs", "deaf=60"], ["./procs", "stop"], ["./procs", "daemon=/tmp/beat", "deaf=60"],
                                  ["sh", "-c", "trap '' TERM INT HUP ALRM; while :; do sleep 9; done"],
                                  ["./procs", "fork_tree"], ["sh", "-c", "kill -STOP $$"]],
                         ids=["deaf", "stopped", "daemon", "trap", "fork-tree", "stop-self"])
def test_e54_the_deadline_is_kept(light, evil):
    begin = time.monotonic()
    result = light.run(*evil, options=["--timeout", "1"])
    took = time.monotonic() - begin
    assert result.status == 124 and result.report["reason"] == "timeout", result
    assert 1 <= took < 50, took  # not the command's own end
    assert wait_until(lambda: not [p for p in has_mark(str(light.ws)) if p != os.getpid()], 1)


def test_e54_a_command_that_ends_on_term_ends_at_the_deadline(light):
    begin = time.monotonic()
    result = light.run("sh", "-c", "trap 'echo bye; exit 0' TERM; while :; do sleep 0.1; done", options=["--timeout", "1"])
    assert result.status == 124 and result.out == "bye\n" and time.monotonic() - begin < 30, result


# ---- more than one's share ----


@pytest.mark.serial
def test_e26_a_fork_bomb_stops_at_the_built_in_limit(light):
    """Without a cgroup, too: no ordinary user may start without any limit."""
    result = light.attack("procs", "forks=4000")
    assert result.lines() == {"forks": "EAGAIN"} and int(result.notes()[0]) <= 512, result
    threads = light.attack("hog", "threads=4000")
    assert threads.lines() == {"threads": "EAGAIN"} and int(threads.notes()[0].split()[0]) <= 512, threads


@pytest.mark.serial
def test_e26_a_fork_bomb_ends_as_pids(light):
    if not light.may_limit():
        result = light.run("true", options=["--pids", "32"])
        assert result.status == 125 and "pids" in result.err and "fix: " in result.err, result
        return
    result = light.run("./procs", "forks=4000", options=["--pids", "32"])
    assert result.lines() == {"forks": "EAGAIN"} and int(result.notes()[0]) < 32, result
    assert result.report["walls"]["limits"]["pids"].startswith("cgroup"), result.report["walls"]
    shell = light.run("sh", "-c", "./procs forks=4000; exit 1", options=["--pids", "32"])
    assert shell.report["reason"] == "pids" and shell.status == 1, shell
    assert "pids" in result.report["limits_hit"] and "pids" in shell.report["limits_hit"], shell
    assert "pids" not in light.run("true", options=["--pids", "32"]).report["limits_hit"]


@pytest.mark.serial
def test_e26_the_host_stays_responsive(light):
    """While the classic bomb goes off inside, starting a program outside takes no more than a moment."""
    options = ["--timeout", "2", *(["--pids", "64"] if light.may_limit() else [])]
    p = light.spawn("./procs", "fork_tree", options=options)
    time.sleep(0.5)
    slowest = 0
    for _ in range(10):
        begin = time.monotonic()
        subprocess.run(["true"], check=True)
        slowest = max(slowest, time.monotonic() - begin)
    assert p.wait(20) == 124 and slowest < 1, slowest
    assert wait_until(lambda: not has_mark("fork_tree"), 1)


@pytest.mark.serial
@pytest.mark.parametrize("how", ["anon", "shm", "memfd"])
def test_e27_a_memory_bomb_ends_as_oom(light, how, bystander):
    if not light.may_limit():
        result = light.run("true", options=["--memory", "64m"])
        assert result.status == 125 and "memory" in result.err and "fix: " in result.err, result
        return
    victim = bystander(light)
    control = light.attack("hog", f"{how}=100")
    assert control.lines() == {how: "DONE"}, f"without the limit it must work: {control}"
    result = light.run("sh", "-c", f"exec ./hog {how}=400; true", options=["--memory", "64m"])
    assert result.lines().get(how) in ("SIGKILL", None), result
    direct = light.run("python3", "-c", "x = bytearray(400 << 20)", options=["--memory", "64m"])
    assert direct.report["reason"] == "oom" and direct.status == 128 + 9 and "oom" in direct.report["limits_hit"], direct
    assert direct.report["walls"]["limits"]["memory"].startswith("cgroup") and victim.poll() is None


@pytest.mark.serial
def test_e27_a_full_tmpfs_counts_as_memory(light):
    if not light.may_limit():
        return
    result = light.run("sh", "-c", "for d in /tmp /run /var/tmp /dev/shm; do ./hog fill=$d/x,60; done; echo survived",
                       options=["--memory", "100m"])
    assert result.report["reason"] == "oom" or "ENOSPC" in result.out or "SIGKILL" in result.out, result


FULL = """
import socket
s, keep, n = socket.create_server(("127.0.0.1", 0), backlog=200), [], 0
while n < 400 << 20 and len(keep) < 400:
    c = socket.create_connection(s.getsockname())
    keep += [c, s.accept()[0]]
    c.settimeout(0.02)
    try:
        while n < 400 << 20:
            n += c.send(bytes(1 << 16))
    except OSError:
        pass
print(n >> 20)
"""


@pytest.mark.serial
def test_e27_what_lies_in_sockets_counts_as_memory(light):
    """Sent to oneself and never read: it is in no process, and in cgroup v1 not in the group's memory either."""
    if not light.may_limit():
        return
    assert int(light.run("python3", "-c", FULL, status=0).out) == 400, "without the limit it must work"
    result = light.run("python3", "-c", FULL, options=["--memory", "64m"])
    assert result.report["reason"] == "oom" or int(result.out) < 200, result


def test_e27_memory_cannot_be_locked(light):
    light.control("hog", "mlock=64", user="root")
    light.refused("hog", "mlock=64", errors={"ENOMEM", "EPERM", "EAGAIN"})


@pytest.mark.serial
def test_e28_processors_are_shared_out(light):
    """A spinner is slowed down, not ended: the report says that it was throttled, and for how long."""
    if not light.may_limit():
        result = light.run("true", options=["--cpus", "0.2"])
        assert result.status == 125 and "cpu" in result.err and "fix: " in result.err, result
        return
    free = int(light.attack("hog", "burn=500,1").notes()[0].split()[0])
    result = light.attack("hog", "burn=1500,2", options=["--cpus", "0.2"])
    used = int(result.notes()[0].split()[0])
    assert used < 600 and result.report["walls"]["limits"]["cpu"].startswith("cgroup"), (free, result)
    assert "throttled" in result.report["limits_hit"] and result.report["throttled_us"] > 100000, result.report
    idle = light.run("sleep", "0.1", options=["--cpus", "64"]).report
    assert idle["limits_hit"] == [] and idle["throttled_us"] == 0, idle


def test_e28_no_priority_can_be_taken(box):
    """Even where the caller could: a limit that lets it is not handed on."""
    needs_root()
    box.control("hog", "fifo", "nice=-20", "ioprio", user="root")
    box.refused("hog", "fifo", "nice=-20", "ioprio", errors={"EPERM", "EACCES"})
    able = ["prlimit", "--rtprio=50:50", "--nice=40:40"]
    if subprocess.run([*able, "true"], capture_output=True, check=False).returncode == 0:
        done = subprocess.run([*able, *box.creel("./hog", "fifo", "nice=-20")], cwd=box.ws, env=box.env, capture_output=True, text=True,
                              check=False)
        assert done.returncode == 0 and "DONE" not in done.stdout and done.stdout.count(":") == 2, done
    result = box.attack("hog", "limit=13", "limit=14")  # nice, rtprio
    assert result.notes() == ["0 0", "0 0"], result


LIMITS = {"fsize": 1, "core": 4, "nofile": 7, "nproc": 6, "memlock": 8, "sigpending": 11, "msgqueue": 12}


def test_e28_limits_cannot_be_raised(light):
    """Nor inherited from a caller who has been given more, as far as root can do that here."""
    def generous():
        for n in LIMITS.values() if IS_ROOT else []:
            with contextlib.suppress(ValueError, OSError):
                resource.setrlimit(n, [1 << 19] * 2 if n == LIMITS["nofile"] else [resource.RLIM_INFINITY] * 2)

    def found(result):  # unlimited is told as -1
        return dict(zip(LIMITS, (int(n.split()[1]) % (1 << 64) for n in result.notes())))
    asks = [f"limit={n}" for n in LIMITS.values()]
    outer = found(light.control("hog", *asks, preexec_fn=generous))
    assert min(outer[n] for n in ("fsize", "nproc", "nofile", "sigpending")) > 4096, f"the control has limits already: {outer}"
    result = light.attack("hog", *asks, preexec_fn=generous)
    hard = found(result)
    assert hard["fsize"] == 10 << 30 and hard["core"] <= 1 and 0 < hard["nproc"] <= 4096 and 0 < hard["memlock"] <= 8 << 20, hard
    assert 0 < hard["nofile"] <= 4096 and hard["sigpending"] <= 1024 and hard["msgqueue"] <= 819200, hard
    light.refused("hog", *[f"raise={LIMITS[n]},{hard[n] + 1}" for n in LIMITS if n != "core"], errors={"EPERM"})


@pytest.mark.parametrize("access", ["overlay", "rw"])
def test_e43_no_core_is_left(box, access):
    pattern = pathlib.Path("/proc/sys/kernel/core_pattern").read_text().strip()
    if pattern == "core":
        subprocess.run(["prlimit", "--core=unlimited", box.ws / "hog", "crash"], cwd=box.tmp, check=False, capture_output=True)
        assert list(box.tmp.glob("core*")), "the control left no core"
    result = box.attack("hog", "crash", access=access)
    assert result.lines() == {"crash": "SIGABRT"}, result
    assert not [p for p in box.ws.iterdir() if p.name.startswith("core")]
    assert not [c for c in result.report["changes"]["paths"] if "core" in c["path"]]


def test_e52_refused_calls_cost_nobody_anything(light):
    begin = time.monotonic()
    result = light.attack("hog", "denied=100000")
    assert result.lines() == {"denied": "EPERM"} and time.monotonic() - begin < 10, result


# ---- what a payload says is not what happened ----

FORGED = '{"version": 1, "ok": true, "exit": 0, "reason": "ok", "denials": []}'


def test_e53_a_report_cannot_be_forged(box):
    """Whatever it prints, to whatever number: the report is written by creel, after the end, to where the caller said."""
    script = (f"import os\nfor fd in range(0, 256):\n    try: os.write(fd, b'{FORGED}')\n    except OSError: pass\n"
              "os._exit(9)")
    result = box.run("python3", "-c", script)
    assert result.status == 9 and result.report["exit"] == 9 and result.report["ok"] is False, result
    path = box.file("home/report.json", "")
    box.run("sh", "-c", f"echo '{FORGED}' >{path}; exit 4", options=["--report", path], report=False)
    assert '"exit": 4' in path.read_text()


def test_e53_output_without_end_costs_no_memory(light):
    p = light.spawn("sh", "-c", "head -c 200000000 /dev/zero", stdout=subprocess.DEVNULL)
    most = 0
    while p.poll() is None:
        try:
            status = pathlib.Path(f"/proc/{p.pid}/status").read_text()
            most = max(most, *(int(l.split()[1]) for l in status.splitlines() if l.startswith("VmRSS")), 0)
        except (OSError, TypeError):
            break
    assert p.wait(30) == 0 and most < 100 << 10, most


def test_o03_words_in_the_output_are_no_denials(box):
    words = "Permission denied\nOperation not permitted\nEPERM\nseccomp denied\nsandbox violation\ncreel run: refused (bind_blocked)\n"
    result = box.run("sh", "-c", f"printf '{words}'; printf '{words}' >&2; exit 1")
    assert result.status == 1 and result.report["reason"] == "exit" and result.report["denials"] == [], result


def test_the_sandbox_sees_only_itself(box):
    result = box.run("sh", "-c", "ps -e | wc -l; ls -d /proc/[0-9]* | wc -l; echo $PPID", status=0)
    assert all(int(n) <= 4 for n in result.out.split()), result
