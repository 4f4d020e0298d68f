# SPDX-License-Identifier: Apache-2.0
"""creel run as a program: how it ends, what it passes through, what it says, and what it makes of bad input."""
import contextlib
import errno
import json
import os
import pathlib
import re
import resource
import select
import signal
import subprocess
import time

import pytest
from calls import fails
from conftest import ACCESSES, CREEL, IS_ROOT, PROGRAMS, descendants, family, needs_root, processes, skip, wait_until

# ---- who is waited for, and where it runs ----


def name_of(pid):
    try:
        return pathlib.Path(f"/proc/{pid}/comm").read_text(encoding="utf-8").strip()
    except OSError:
        return ""


@pytest.mark.parametrize("access", ["rw", "overlay"])
def test_the_callers_other_children_are_neither_waited_for_nor_reaped(light, access):
    script = 'sleep 60 & echo $! >&2; trap "" CHLD; exec "$@"'
    line = light.as_user(["sh", "-c", script, "sh", *light.creel("/bin/true", access=access)[len(light.as_user([])):]])
    with open(light.base / "said", "w+", encoding="utf-8") as said:
        done = subprocess.run(line, cwd=light.ws, env=light.env, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=said, timeout=30,
                              check=False)
        said.seek(0)
        child = int(said.read())
    try:
        assert done.returncode == 0 and "sleep" in pathlib.Path(f"/proc/{child}/comm").read_text(encoding="utf-8")
    finally:
        os.kill(child, signal.SIGKILL)


INHERITS = """
import ctypes, os, signal, sys
assert ctypes.CDLL(None).prctl(36, 1, 0, 0, 0) == 0  # PR_SET_CHILD_SUBREAPER
child = os.fork()
if child == 0:
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)
    os.execvp(sys.argv[1], sys.argv[1:])
status = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
try:
    os.waitpid(-1, os.WNOHANG)
    sys.exit("there is an orphan")
except ChildProcessError:
    sys.exit(status)
"""


@pytest.mark.parametrize("access", ["rw", "overlay"])
def test_a_run_whose_caller_ignored_children_leaves_nobody_behind(light, access):
    """An init that reaps nobody would keep it for ever."""
    line = light.creel("sh", "-c", "sleep 60 & exit 3", access=access)
    for _ in range(10):
        done = subprocess.run(["/usr/bin/python3", "-c", INHERITS, *line], cwd=light.ws, env=light.env, stdin=subprocess.DEVNULL,
                              capture_output=True, text=True, timeout=30, check=False)
        assert done.returncode == 3 and not done.stderr, done


@pytest.mark.parametrize("access", ["rw", "overlay"])
def test_everything_may_run_on_the_callers_processors(light, access):
    """The start holds tasks to single processors for a moment; none of it may stay."""
    every = os.sched_getaffinity(0)
    for cpus in (every, {min(every)}):
        creel = light.spawn("sleep", "60", access=access, preexec_fn=lambda c=cpus: os.sched_setaffinity(0, c))
        assert wait_until(lambda: any(name_of(p) == "sleep" for p in descendants(creel.pid)), 10)
        everybody = family(creel.pid)
        assert len(everybody) == 4, everybody  # creel, the warden's two, sleep
        assert wait_until(lambda: all(os.sched_getaffinity(p) == cpus for p in everybody), 10), cpus
        creel.terminate()
        creel.wait()


# ---- how it ends ----


@pytest.mark.parametrize("code", [0, 1, 2, 77, 123, 124, 125, 126, 127, 128, 137, 200, 254, 255])
def test_exit_status_is_the_commands_own(light, code):
    result = light.run("sh", "-c", f"exit {code}")
    assert result.status == code and result.report["exit"] == code, result
    assert result.report["reason"] == ("ok" if code == 0 else "exit") and result.report["ok"] is (code == 0), result


def test_exit_status_takes_all_values(light):
    if light.user == "root":
        statuses = [light.run("sh", "-c", f"exit {c}", report=False).status for c in range(0, 256, 9)]
        assert statuses == list(range(0, 256, 9))


@pytest.mark.parametrize("name", ["HUP", "INT", "QUIT", "ILL", "ABRT", "FPE", "KILL", "SEGV", "PIPE", "ALRM", "TERM", "USR1", "XCPU"])
def test_exit_status_of_a_signal_is_128_and_its_number(light, name):
    number = getattr(signal, f"SIG{name}")
    result = light.run("python3", "-c", f"import os, signal; signal.signal({number:d}, signal.SIG_DFL) if {number:d} != 9 else 0; "
                       f"os.kill(os.getpid(), {number:d})")
    assert result.status == 128 + number and result.report["reason"] == "signal" and result.report["signal"] == number, result


def test_exit_status_of_a_real_time_signal(light):
    result = light.run("sh", "-c", "kill -40 $$")
    assert result.status == 168 and result.report["signal"] == 40, result


def test_command_not_found_is_127(light):
    for name in ("no-such-command", "./no-such-file", "/no/such/path"):
        result = light.run(name)
        assert result.status == 127 and result.report["reason"] == "not-found", result
        assert result.err.startswith("creel run: ") and name in result.err and result.err.count("\n") == 1, result


def test_not_executable_is_126_and_differs_from_a_refusal(light):
    light.file("ws/plain", "data", 0o644)
    light.file("ws/broken", "\x7fELFgarbage", 0o755)
    light.file("ws/bad-interpreter", "#!/no/such/interpreter\n", 0o755)
    for name, status in (("./plain", 126), ("./broken", 126), ("/etc", 126), (".", 126), ("./bad-interpreter", 127)):
        result = light.run(name)
        assert result.status == status, result
        assert result.report["reason"] == ("not-executable" if status == 126 else "not-found"), result
    refused = light.run("true", mode="readonly")
    assert refused.status == 126 and refused.report["reason"] == "denied" and "refused" in refused.err, refused


def test_a_script_without_interpreter_line_is_not_guessed(light):
    light.file("ws/script", "echo hi\n", 0o755)
    assert light.run("./script").status == 126


@pytest.mark.parametrize("how", ["sleep 60", "sleep 60 & wait", "setsid sleep 60 & wait", "(setsid sleep 60 &) ; sleep 60",
                                 "trap '' TERM; sleep 60; sleep 60"])
def test_timeout_is_124_and_takes_everything_with_it(light, how):
    begin = time.monotonic()
    result = light.run("sh", "-c", f"{how}; : {light.mark}", options=["--timeout", "1"])
    assert result.status == 124 and result.report["reason"] == "timeout" and time.monotonic() - begin < 50, result
    assert wait_until(lambda: not [1 for _, line in processes().values() if light.mark in line])


def stop_while_it_builds(p):
    """Pid 1 of the sandbox, stopped before its walls stand; None when it was too late for that."""
    end = time.monotonic() + 5
    while time.monotonic() < end:
        kids = [p.pid]
        for _ in range(2):
            kids = [k for q in kids for k in pathlib.Path(f"/proc/{q}/task/{q}/children").read_text().split()]
        if kids:
            os.kill(int(kids[0]), signal.SIGSTOP)
            return None if select.select([p.stdout], [], [], 0.2)[0] else int(kids[0])
    return None


def test_a_timeout_that_comes_before_the_walls_stand_is_one_all_the_same(light):
    for _ in range(30):
        p = light.spawn("sh", "-c", "echo started; exec sleep 20", options=["--timeout", "1"], stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        pid = stop_while_it_builds(p)
        if pid:
            time.sleep(1.2)
            os.kill(pid, signal.SIGCONT)
            assert p.wait(20) == 124, p.communicate()
            return
        for q in descendants(p.pid):
            with contextlib.suppress(ProcessLookupError):  # one takes the other with it
                os.kill(q, signal.SIGKILL)
        p.wait()
    pytest.fail("pid 1 was never caught while it built")


def test_timeout_that_is_not_reached(light):
    result = light.run("sh", "-c", "sleep 0.2; exit 3", options=["--timeout", "30"])
    assert result.status == 3 and result.report["wall_us"] >= 200000, result


# ---- what it passes through ----


@pytest.mark.parametrize("access", ACCESSES)
def test_streams_are_passed_through(light, access):
    result = light.run("sh", "-c", "cat; echo err >&2", stdin="in\n", access=access, status=0)
    assert (result.out, result.err) == ("in\n", "err\n")


def test_binary_data_is_not_touched(light):
    data = bytes(range(256)) * 4096
    result = light.run("cat", stdin=data, text=False, status=0)
    assert result.out == data


def test_output_comes_as_it_is_written(light):
    p = light.spawn("sh", "-c", "echo first; sleep 30", stdout=subprocess.PIPE)
    begin = time.monotonic()
    assert p.stdout.readline() == b"first\n" and time.monotonic() - begin < 25
    p.kill()


def test_closed_streams_are_no_trouble(light):
    """And nothing of ours takes their place."""
    for closed in (">&-", "2>&-", "<&-", "<&- >&- 2>&-"):
        argv = light.creel("sh", "-c", "echo out; echo err >&2; cat; ls -l /proc/self/fd; exit 3")
        done = subprocess.run(["sh", "-c", f'exec "$@" {closed}', "sh", *argv], cwd=light.ws, env=light.env, capture_output=True, text=True,
                              timeout=20, check=False)
        assert done.returncode == 3, (closed, done)


def test_a_reader_that_goes_away(light):
    """As outside: the writer gets SIGPIPE."""
    argv = light.creel("sh", "-c", "yes; exit 9")
    done = subprocess.run(["bash", "-c", '"$@" | head -1; exit ${PIPESTATUS[0]}', "bash", *argv], cwd=light.ws, env=light.env,
                          capture_output=True, text=True, timeout=20, check=False)
    assert done.stdout == "y\n" and done.returncode in (9, 128 + 13), done


def test_end_of_input_reaches_the_command(light):
    assert light.run("sh", "-c", "cat >/dev/null; echo eof", stdin="", status=0).out == "eof\n"


def test_streams_close_when_the_command_closes_them(light):
    """Nobody else holds them: a reader sees the end although the sandbox lives on."""
    p = light.spawn("sh", "-c", "echo last; exec >&- 2>&-; sleep 30", stdout=subprocess.PIPE)
    begin = time.monotonic()
    assert p.stdout.read() == b"last\n" and time.monotonic() - begin < 25
    p.kill()


@pytest.mark.parametrize("name", ["INT", "TERM", "HUP", "QUIT", "USR1", "USR2"])
def test_signals_are_passed_on(light, name):
    p = light.spawn("sh", "-c", f"trap 'echo got; exit 9' {name}; echo ready; while :; do sleep 0.02; done", stdout=subprocess.PIPE)
    assert p.stdout.readline() == b"ready\n"
    p.send_signal(getattr(signal, f"SIG{name}"))
    assert p.stdout.readline() == b"got\n" and p.wait(5) == 9


@pytest.mark.parametrize("name", ["TERM", "HUP"])
def test_signals_end_a_command_that_does_not_catch_them(light, name):
    p = light.spawn("sh", "-c", "echo ready; exec sleep 60", stdout=subprocess.PIPE)
    assert p.stdout.readline() == b"ready\n"
    p.send_signal(getattr(signal, f"SIG{name}"))
    assert p.wait(5) == 128 + getattr(signal, f"SIG{name}")


def test_a_signal_during_the_start_is_not_lost(light):
    """Whenever it comes: creel ends soon, with a status that says why."""
    for i in range(12):
        p = light.spawn("sleep", "20", stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        time.sleep(0.002 * i)
        p.terminate()
        assert p.wait(8) in (128 + 15, -15), i
    state = light.state if light.user == "root" else light.home / ".local/state/creel"
    assert wait_until(lambda: not [p for name in ("runs", "live") for p in (state / name).glob("*")], 1), "left by one that was ended"


def test_the_environment_and_the_working_directory(light):
    result = light.run("sh", "-c", 'pwd; echo "$HOME"; test -w "$HOME" && echo writable; id -un', status=0)
    cwd, home, writable, name = result.out.split()
    assert cwd in ("/workspace", "/sandbox") and home == "/tmp" and writable == "writable" and name == "sandbox"


def test_arguments_arrive_as_they_are(light):
    odd = ["", " ", "a b", "$HOME", "`id`", "\"", "'", "\\", "*", "-n", "--", "\n", "\t", "ä€😀", "a=b"]
    result = light.run("python3", "-c", "import sys, json; print(json.dumps(sys.argv[1:]))", *odd, status=0)
    assert json.loads(result.out) == odd


# ---- what it says ----


def test_report_has_everything(light):
    result = light.run("sh", "-c", "echo x >new; exit 3")
    r = result.report
    assert r["version"] == 1 and r["exit"] == 3 and r["reason"] == "exit" and r["ok"] is False
    assert r["wall_us"] > 0 and r["peak_memory_bytes"] > 100000 and r["user_us"] + r["system_us"] >= 0
    assert r["trust"] == "light" and r["network"] == "none" and r["denials"] == []
    walls = r["walls"]
    assert walls["namespaces"][:7] == ["user", "mount", "pid", "net", "ipc", "uts", "cgroup"]
    for wall in ("root", "capabilities", "no_new_privs", "seccomp"):
        assert walls[wall] is True, wall
    assert walls["landlock"] >= 1 and len(walls["probes"]) >= 30 and "mount" in walls["probes"]
    assert r["changes"]["total"] == 1 and r["changes"]["paths"] == [{"change": "added", "path": "new"}]


@pytest.mark.parametrize("to", ["file", "number", "dev-fd"])
def test_report_goes_where_it_is_sent(light, to):
    path = light.home / "report"
    if to == "file":
        light.run("true", options=["--report", path], report=False, status=0)
        assert os.stat(path).st_mode & 0o777 == 0o600
        assert json.loads(path.read_text())["ok"] is True
        return
    reader, writer = os.pipe()
    name = str(writer) if to == "number" else f"/dev/fd/{writer}"
    result = light.run("true", options=["--report", name], report=False, pass_fds=[writer])
    os.close(writer)
    said = os.read(reader, 65536)
    os.close(reader)
    assert (result.status == 0 and json.loads(said)["ok"]) or (to == "dev-fd" and result.status == 125), result


def test_report_to_a_place_that_cannot_be_written(light):
    for name in ("/no/such/dir/report", "/", "999"):
        result = light.run("true", options=["--report", name], report=False)
        assert result.status == 125 and "--report" in result.err, result


def test_the_closing_line_tells_where_changes_are(light):
    done = subprocess.run([a for a in light.creel("sh", "-c", "echo x >a; echo y >b") if a != "-q"], cwd=light.ws, env=light.env,
                          capture_output=True, text=True, check=True)
    match = re.search(r"^creel: 2 paths changed, kept in (\S+); ", done.stderr, re.MULTILINE)
    assert match and done.stdout == "", done
    assert sorted(p.name for p in pathlib.Path(match[1]).iterdir()) == ["a", "b"]
    subprocess.run(light.as_user(["rm", "-r", pathlib.Path(match[1]).parent]), check=True)
    quiet = light.run("sh", "-c", "echo x >a", status=0)
    assert quiet.err == ""


def test_a_workspace_that_the_command_locked_is_told_and_kept(light):
    done = subprocess.run([a for a in light.creel("sh", "-c", "echo x >a; chmod 0 .") if a != "-q"], cwd=light.ws, env=light.env,
                          capture_output=True, text=True, check=True)
    match = re.search(r"^creel: (1 path changed|paths may have changed that cannot be read), kept in (\S+); ", done.stderr, re.MULTILINE)
    assert match, done
    assert (pathlib.Path(match[2]) / "a").read_text() == "x\n"


def test_changes_that_cannot_be_listed_are_told_and_kept(light):
    """They were lost without a word: a directory that could not be read was taken for an empty one."""
    line = light.line("sh", "-c", "echo x >a", fault=fails("getdents64", errno.EIO))
    done = subprocess.run([a for a in line if a != "-q"], cwd=light.ws, env=light.env, capture_output=True, text=True, check=True)
    match = re.search(r"^creel: paths may have changed that cannot be read, kept in (\S+); ", done.stderr, re.MULTILINE)
    assert match, done
    assert (pathlib.Path(match[1]) / "a").read_text() == "x\n"


def test_a_state_directory_that_cannot_be_listed_is_not_an_empty_one(light):
    """What lives, what private layers there are and what was recorded is not known then; it was told as none."""
    def creel(*words, fault=()):
        line = [*fault, CREEL, *words, *(["--state-dir", light.state] if light.user == "root" else [])]
        return subprocess.run(light.as_user(line), cwd=light.ws, env=light.env, capture_output=True, text=True, check=False)
    hole = [PROGRAMS / "fault", fails("getdents64", errno.EIO)]
    assert creel("call", "--sandbox", "light", "exec", "true").returncode == 0
    # A registry that was lost is made again of what lives. One that could not be is not there.
    state = light.state if light.user == "root" else light.home / ".local/state/creel"
    for part in (state / "registry").glob("registry.db*"):
        part.unlink()
    assert creel("list", fault=hole).returncode == 125
    assert "agent:main:main" in creel("list").stdout
    # Who wants everything to end gets what can be had.
    done = creel("kill", "--all", fault=hole)
    assert done.returncode == 125 and "Input/output error" in done.stderr, done
    assert "no sandboxes" in creel("list").stderr
    for words in (["list"], ["prune"], ["audit", "verify"], ["audit", "show"]):
        assert creel(*words).returncode == 0
        done = creel(*words, fault=hole)
        assert done.returncode == 125 and "Input/output error" in done.stderr, done


def test_no_changes_leave_nothing(light):
    light.run("sh", "-c", "cat numbers >/dev/null; ls", status=0)
    state = light.state if light.user == "root" else light.home / ".local/state/creel"
    assert wait_until(lambda: not [p for name in ("runs", "live") for p in (state / name).glob("*")], 1)


@pytest.mark.parametrize("access", ["overlay", "ro", "none"])
def test_the_workspace_is_as_it_was(box, access):
    before = sorted((p.name, p.stat().st_mtime_ns) for p in box.ws.iterdir())
    box.run("sh", "-c", "rm -rf ./* 2>/dev/null; echo x >new; touch . ; true", access=access)
    assert sorted((p.name, p.stat().st_mtime_ns) for p in box.ws.iterdir()) == before


def test_plan_is_printed_and_nothing_runs(light):
    result = light.run("touch", "ran", options=["--plan"], access="rw", report=False, status=0)
    assert not (light.ws / "ran").exists() and "seccomp" in result.out and "pivot" in result.out
    again = light.run("touch", "ran", options=["--plan"], access="rw", report=False, status=0)
    assert again.out == result.out


# ---- bad input ----


def clear(result, status, *words):
    """One line that says what is wrong; the right code; nothing printed as a result."""
    assert result.status == status and result.out == "", result
    assert result.err.strip() and all(w in result.err for w in words), result
    assert "(null)" not in result.err and not any(c < " " and c not in "\n\t" for c in result.err), result


def test_bad_workspace(light):
    light.file("ws-file", "x")
    private = light.base / "private"
    private.mkdir(mode=0o700)
    gone = light.base / "gone"
    for path, words in ((gone, ["gone"]), (light.base / "ws-file", ["not a directory"]), (f"{light.ws}/no/such", ["no/such"])):
        result = light.run("true", ws=path)
        clear(result, 125, *words)
        assert not gone.exists()
    if light.user == "user" and IS_ROOT:
        clear(light.run("true", ws=private), 125, "private")
    link = light.base / "loop"
    link.symlink_to(link)
    clear(light.run("true", ws=link), 125)


def test_deleted_working_directory(light):
    gone = light.base / "going"
    gone.mkdir()
    light.give(gone)
    argv = [a for a in light.creel("true") if a not in ("--workspace", str(light.ws))]
    done = subprocess.run(["sh", "-c", 'cd "$0" && rmdir "$0" && exec "$@"', str(gone), *argv], env=light.env, capture_output=True, text=True,
                          check=False)
    assert done.returncode == 125 and done.stderr, done


def test_a_deleted_working_directory_with_a_workspace_named(light):
    gone = light.base / "going"
    gone.mkdir()
    light.give(gone)
    done = subprocess.run(["sh", "-c", 'cd "$0" && rmdir "$0" && exec "$@"', str(gone), *light.creel("true")], env=light.env,
                          capture_output=True, text=True, check=False)
    assert done.returncode in (0, 125) and (done.returncode == 0 or done.stderr), done


def test_many_arguments(light):
    """Either all of them arrive, or a line says that they do not fit."""
    for n in (1000, 8000, 100000):
        result = light.run("sh", "-c", "echo $#", "sh", *["x"] * n)
        if result.status == 0:
            assert result.out == f"{n}\n"
        else:
            clear(result, 125, "argument")
            assert n == 100000


def test_long_arguments(light):
    result = light.run("sh", "-c", "echo ${#1}", "sh", "x" * 120000)
    assert (result.status == 0 and result.out == "120000\n") or result.status == 125, result
    for i in range(2):
        assert light.run("sh", "-c", "echo ${#1}", "sh", *["y" * 100000] * (10 * (i + 1))).status in (0, 125)


def test_odd_environment(light):
    for bad in ("", "=x", "A B=x", "A\nB=x", "1A=x", "A-B=x", "ä=x"):
        clear(light.run("env", options=["--env", bad]), 125, "--env")
    result = light.run("sh", "-c", 'printf %s "$A"', options=["--env", "A=line1\nline2\x01\x7f"], status=0)
    assert result.out == "line1\nline2\x01\x7f"
    assert light.run("env", options=["--env", "NOT_SET_ANYWHERE"], status=0).out.count("NOT_SET") == 0


def test_bad_limits(light):
    for option, values in {"--memory": ["x", "-1", "0", "1k", "12zb", "99999999999999999999", ""], "--pids": ["x", "-1", "0", "1.5", ""],
                           "--cpus": ["x", "-1", "0", "nan", "inf", ""], "--timeout": ["x", "-1", "1e9", ""]}.items():
        for value in values:
            result = light.run("touch", "ran", options=[option, value], access="rw")
            clear(result, 125)
            assert not (light.ws / "ran").exists(), (option, value)


def test_limits_that_leave_no_room_for_the_sandbox_itself(light):
    for n in ("1", "4"):
        clear(light.run("true", options=["--pids", n]), 125, f"limits.pids: {n} are too few for a sandbox and any program, accepted: 5 and more")
    if light.may_limit():
        light.run("sh", "-c", "/bin/true; exit 0", options=["--pids", "5"], status=0)


@pytest.mark.parametrize("most", [0, 512])
def test_a_limit_on_files_is_an_error_and_no_death(light, most):
    """ulimit -f: SIGXFSZ would end us without a word. The command keeps it."""
    def small():
        resource.setrlimit(resource.RLIMIT_FSIZE, (most, most))
    clear(light.run("true", preexec_fn=small, report=False), 125, "File too large")
    assert "SigIgn:\t0000000000000000\n" in light.run("cat", "/proc/self/status", status=0).out


def test_bad_choices(light):
    for options in (["--sandbox", "x"], ["--workspace-access", "x"], ["--net", ""], ["--backend", "x"], ["--image", "/no/such"],
                    ["--image", "/etc/passwd"], ["--cgroup-parent", "/no/such"], ["--no-such-option"],
                    ["-c", "/no/such"], ["--pids"], ["--tty=x"]):
        result = light.run("touch", "ran", options=options, access="rw", report=False)
        assert result.status in (125, 126) and result.err and not (light.ws / "ran").exists(), (options, result)


def test_no_command(light):
    done = subprocess.run([a for a in light.creel() if a != "--"], cwd=light.ws, env=light.env, capture_output=True, text=True, check=False)
    assert done.returncode == 125 and "no command" in done.stderr, done
    clear(light.run(""), 126, "refused")
    clear(light.run("true", state="/proc/x"), 125, "/proc/x")


def test_a_home_and_a_state_directory_reached_through_a_link(light):
    (light.base / "link").symlink_to(light.base)
    env = {"HOME": str(light.base / "link/home")}
    result = light.run("sh", "-c", "echo x >new", env=env, state=light.base / "link/state" if light.user == "root" else None,
                       ws=light.base / "link/ws", status=0)
    assert (pathlib.Path(result.report["changes"]["kept_in"]) / "new").exists(), result
    if light.user == "root":
        result = light.run("sh", "-c", "echo x >new", cwd=light.base, state="relative", status=0)
        assert result.report["changes"]["kept_in"].startswith(str(light.base / "relative")), result


def test_read_only_state_directory(light):
    """For root: on a file system that is. For anybody else: in a directory of somebody else."""
    if light.user == "root":
        needs_root()
        place = light.base / "sealed"
        place.mkdir()
        argv = ["unshare", "-m", "sh", "-c", 'mount -t tmpfs -o ro none "$0" && exec "$@"', place,
                *[str(place) if a == str(light.state) else a for a in map(str, light.creel("touch", "ran"))]]
    else:
        light.home.chmod(0o500)
        argv = light.creel("touch", "ran")
    done = subprocess.run(list(map(str, argv)), cwd=light.ws, env=light.env, capture_output=True, text=True, check=False)
    light.home.chmod(0o700)
    assert done.returncode == 125 and ("state" in done.stderr or "create" in done.stderr) and done.stdout == "", done
    assert done.stderr.startswith("creel run: ") and done.stderr.count("\n") == 1, done


def test_full_disk_in_the_state_directory(light):
    """The command sees ENOSPC, as on any full disk, and the run ends in order; or it is too slow, and is ended for what it takes from others."""
    if light.user != "root":
        return
    place = light.base / "small"
    place.mkdir()
    argv = ["unshare", "-m", "sh", "-c", 'mount -t tmpfs -o size=200k none "$0" && exec "$@"', place,
            *[str(place) if a == str(light.state) else a
              for a in map(str, light.creel("sh", "-c", "head -c 900000 /dev/zero >big; echo status $?"))]]
    done = subprocess.run(list(map(str, argv)), cwd=light.ws, env=light.env, capture_output=True, text=True, check=False)
    in_order = done.returncode == 0 and "status 1" in done.stdout and "No space" in done.stderr
    ended = done.returncode == 128 + 9 and "nearly full" in done.stderr
    assert in_order or ended, done


def test_no_room_for_the_private_directory(light):
    """64 KiB without an inode to spare: one line, and nothing has run or been left."""
    needs_root()
    place = light.base / "small"
    place.mkdir()
    argv = light.creel("sh", "-c", "echo ran", state=place / "state")
    script = ('mount -t tmpfs -o size=64k,nr_inodes=4,mode=1777 none "$0" && mkdir "$0/state" && chown "$OWNER" "$0/state" && '
              '{ "$@"; echo status $?; find "$0" | sort; }')
    done = subprocess.run(["unshare", "-m", "sh", "-c", script, place, *argv], cwd=light.ws, capture_output=True, text=True, check=False,
                          env={**light.env, "OWNER": str(light.uid)}, timeout=30)
    assert done.stdout.splitlines() == ["status 125", str(place), f"{place}/state", f"{place}/state/live"], done
    assert done.stderr.startswith("creel run: ") and "No space left" in done.stderr and done.stderr.count("\n") == 1, done


def test_bytes_that_no_setting_may_hold(light):
    """A NUL or a line end in a value of the settings: refused by name, before anything is built."""
    for evil in ("x\\u0000y", "line1\\nline2"):
        result = light.run("sh", "-c", "echo ran", options=["-e", f'env.set={{A: "{evil}"}}'], report=False)
        assert result.status == 125 and result.out == "" and "env.set.A" in result.err and "NUL" in result.err, result


def test_odd_names_of_workspaces(light):
    for name in ("a b", "new\nline", "ä€", "co:lon,and=more", "back\\slash", "-dash", "%s%n", "x" * 200):
        ws = light.base / name
        ws.mkdir()
        light.give(ws)
        (ws / "file").write_text("here")
        (ws / "file").chmod(0o644)
        for access in ("overlay", "rw"):
            result = light.run("sh", "-c", "cat file; echo x >made", ws=ws, access=access)
            assert result.status == 0 and result.out == "here", (name, access, result)


def test_workspace_of_another_user(light):
    """Readable, not writable: an overlay takes changes, rw gives the kernel's own answer."""
    needs_root()
    if light.user == "root":
        return
    ws = light.base / "theirs"
    ws.mkdir(mode=0o755)
    (ws / "file").write_text("theirs")
    result = light.run("sh", "-c", "cat file; echo x >new; echo status $?", ws=ws, access="rw")
    assert "theirs" in result.out and "status 2" in result.out or result.status == 125, result
    assert not (ws / "new").exists()


def test_running_in_parallel(light):
    """Sixteen at once, each with its own end."""
    running = [light.spawn("sh", "-c", f"sleep 0.1; exit {i}", stdout=subprocess.DEVNULL) for i in range(16)]
    assert [p.wait(30) for p in running] == list(range(16))


def test_nested_is_refused_not_weakened(light):
    """creel inside creel cannot build walls: it says so and runs nothing."""
    inside = light.ws / "bin"
    (inside / "cli").mkdir(parents=True)
    (inside / "sandbox").mkdir()
    (inside / "cli/creel").write_bytes(CREEL.read_bytes())
    (inside / "sandbox/creel-warden").write_bytes((CREEL.parents[1] / "sandbox/creel-warden").read_bytes())
    for p in (inside / "cli/creel", inside / "sandbox/creel-warden"):
        p.chmod(0o755)
    for p in (inside, inside / "cli", inside / "sandbox", inside / "cli/creel", inside / "sandbox/creel-warden"):
        light.give(p)
    result = light.run("sh", "-c", "mkdir /tmp/w && cd /tmp/w && $CREEL_WORKSPACE/bin/cli/creel run -q -- echo weak; echo status $?")
    if "error while loading shared libraries" in result.err:
        skip("this build needs libraries that the sandbox has not")
    assert "weak" not in result.out and "status 125" in result.out, result


def test_state_directory_with_planted_links(light):
    """O8: what lies where ours would lie is not followed."""
    victim = light.base / "victim"
    victim.mkdir(mode=0o777)
    victim.chmod(0o777)
    state = light.base / "shared"
    state.mkdir()
    state.chmod(0o1777)
    (state / "runs").symlink_to(victim)
    if IS_ROOT:
        os.chown(state / "runs", 4242, 4242, follow_symlinks=False)
    result = light.run("sh", "-c", "echo secret >kept", state=state)
    with contextlib.suppress(KeyError, TypeError):
        assert not result.report["changes"]["kept_in"].startswith(str(victim)), result
    assert not list(victim.rglob("kept")), result


# ---- what a person is told ----


def loud(box, *command, **kw):
    argv = [a for a in box.creel(*command, **kw) if a != "-q"]
    return subprocess.run(argv, capture_output=True, text=True, check=False, env=box.env, cwd=box.ws, timeout=30)


def test_an_end_that_the_command_cannot_explain_is_told_with_the_fix(light):
    late = loud(light, "sleep", "9", options=["--timeout", "1"])
    assert late.returncode == 124 and "ran for 1 s" in late.stderr and "--timeout" in late.stderr, late
    big = loud(light, "dd", "if=/dev/zero", "of=big", "bs=1M", "seek=8", "count=1", options=["--disk", "4m"])
    assert big.returncode == 128 + 25 and "grew over 4m" in big.stderr and "--disk" in big.stderr, big
    result = light.run("dd", "if=/dev/zero", "of=big", "bs=1M", "seek=8", "count=1", options=["--disk", "4m"])
    assert result.report["reason"] == "disk" and result.report["exit"] == 153, result.report


@pytest.mark.parametrize("where", ["77", "", "/dev/null", "/tmp", "/not/there/x"])
def test_a_report_that_could_not_be_written_is_refused_before_the_command_runs(light, where):
    done = loud(light, "touch", "ran", access="rw", options=["--report", where])
    assert done.returncode == 125 and "--report" in done.stderr, done
    assert not (light.ws / "ran").exists()


def test_a_refusal_has_the_same_status_in_the_report(light):
    result = light.run("true", options=["--net", "bridge"])
    assert result.status == result.report["exit"] == 126 and result.report["reason"] == "denied", result
