# SPDX-License-Identifier: Apache-2.0
"""What creel run says to whoever typed it: the flag, what is accepted, the fix; and how it ends when it is interrupted."""
import os
import shlex
import signal
import subprocess

import pytest
from conftest import CREEL, IS_ROOT, wait_until
from operator_terminal import Shell, Terminal


def refused(box, options, status=125, **kw):
    """Its words; and nothing ran."""
    result = box.run("touch", "ran", options=options, access="rw", report=False, **kw)
    assert result.status == status and result.out == "" and not (box.ws / "ran").exists(), result
    return result.err


# ---- flags ----

@pytest.mark.parametrize("flag,value,words", [
    ("--memory", "5x", ["expected a size"]), ("--memory", "5", ["5 bytes", "1m and more", "512m"]), ("--pids", "0", ["1 to 4194304"]),
    ("--cpus", "", ["expected a number"]), ("--disk", "x", ["expected a size"]), ("--output-limit", "x", ["expected a size"])])
def test_a_flags_error_names_the_flag_and_what_is_accepted(light, flag, value, words):
    said = refused(light, [flag, value])
    assert f"flag {flag}: limits." in said and "-e " not in said and all(w in said for w in words), said


def test_what_was_set_by_key_is_named_by_key(light):
    assert "flag -e limits.memory: limits.memory: 5 bytes" in refused(light, ["-e", "limits.memory=5"])


@pytest.mark.parametrize("flag", ["--net", "--backend", "--image", "--cgroup-parent"])
@pytest.mark.parametrize("value", ["", " "])
def test_a_blank_value_is_refused(light, flag, value):
    """A script whose variable is not set must not get the default instead of what it asks for."""
    assert f"creel run: {flag} must not be blank" in refused(light, [flag, value])


@pytest.mark.parametrize("flag", ["workspace", "state-dir"])
def test_a_blank_directory_is_refused(light, flag):
    argv = [a for a in light.creel("touch", "ran", access="rw") if not isinstance(a, str) or a not in ("--workspace", str(light.ws))]
    argv = [a for i, a in enumerate(argv) if a != "--state-dir" and (i == 0 or argv[i - 1] != "--state-dir")]
    argv.insert(argv.index("-q"), f"--{flag}=")
    before = sorted(os.listdir("/"))
    done = subprocess.run(argv, cwd=light.ws, env=light.env, capture_output=True, text=True, check=False)
    assert done.returncode == 125 and f"--{flag} must not be blank" in done.stderr, done
    assert not (light.ws / "ran").exists() and sorted(os.listdir("/")) == before


@pytest.mark.parametrize("backend", ["docker", "opensandbox"])
def test_a_backend_that_runs_nothing_yet_names_the_one_that_does(light, backend):
    said = refused(light, ["--backend", backend], 126)
    assert backend in said and "fix: --backend native" in said and "systemctl" not in said, said
    assert light.run("true", options=["--backend", "native"]).status == 0


def test_images_that_are_none(light):
    assert "'/' is the root of this host; fix: leave the image out" in refused(light, ["--image", "/"])
    assert "--image: open './nosuch': No such file" in refused(light, ["--image", "./nosuch"])
    (light.ws / "up").symlink_to("/")
    assert "is the root of this host" in refused(light, ["--image", "./up"])


def test_a_workspace_that_may_not_be_one_names_rule_and_fix(light):
    for path, rule in (("/", "'/'"), ("/etc", "'/etc'"), ("/root", "'/root'"), (light.home, str(light.home))):
        said = refused(light, [], 126, ws=path)
        assert "bind_blocked" in said and rule in said and "which no sandbox may see" in said, said
        assert "fix: --workspace DIR" in said, said
    said = refused(light, [], ws=light.base / "gone")
    assert "is not there; fix: make it, or name another with --workspace" in said


def test_json_is_refused_and_names_the_report(light):
    assert "--report FD|FILE" in refused(light, ["--json"])


def test_no_more_processes_names_the_cause_and_the_fix(light):
    """Wherever it stops: the user's limit is another one's business, and no task of ours can be made."""
    argv = light.creel("true")
    at, allowed, told = len(light.as_user([])), 0, 0
    while allowed < 500:  # what else runs as this user counts as well
        done = subprocess.run([*argv[:at], "prlimit", f"--nproc={allowed}", *argv[at:]], cwd=light.ws, env=light.env, capture_output=True,
                              text=True, check=False)
        if done.returncode == 0:
            break
        assert done.returncode == 125 and "ulimit -u" in done.stderr and "fix: " in done.stderr, (allowed, done)
        told, allowed = told + 1, allowed + 1
    assert told >= 1 and allowed < 500, (told, allowed)


# ---- walls ----

def test_a_command_that_was_not_found_had_its_walls(light):
    there, gone = light.run("true", status=0).report["walls"], light.run("no-such-command", status=127).report["walls"]
    assert gone == there and gone["seccomp"] is True and gone["landlock"] > 0


def test_walls_that_were_not_reached_are_not_known(light):
    walls = light.run("true", status=125, ws=light.base / "gone").report["walls"]
    for wall in ("namespaces", "root", "capabilities", "no_new_privs", "seccomp", "landlock", "users", "host_sockets", "limits"):
        assert walls[wall] is None, wall
    assert walls["probes"] == [] and walls["optional_missing"] == []


def verbose(box, *command, **kw):
    argv = ["-v" if a == "-q" else a for a in box.creel(*command, **kw)]
    return subprocess.run(argv, cwd=box.ws, env=box.env, capture_output=True, text=True, check=False)


def test_verbose_tells_what_was_decided_and_what_held(light):
    done = verbose(light, "echo", "hi", access="ro")
    assert done.returncode == 0 and done.stdout == "hi\n", done
    for words in ("decided: trust=light", "network=none", f"{light.ws} at /agent, read-only", "held: namespaces user mount pid", "seccomp",
                  "landlock", "held: limits memory=", "ended: ok, status 0"):
        assert words in done.stderr, (words, done.stderr)
    assert "landlock" in verbose(light, "no-such-command").stderr
    assert "held: not known" in verbose(light, "true", ws=light.base / "gone").stderr
    assert light.run("true", status=0).err == "", "without -v nothing is said"


# ---- interrupts ----

@pytest.mark.parametrize("sig", [signal.SIGINT, signal.SIGQUIT])
def test_interrupted_it_dies_as_its_command_did(light, sig):
    """As a shell expects it of its children; the report was written before."""
    p = light.spawn("sh", "-c", "echo ready; exec sleep 60", stdout=subprocess.PIPE, options=["--report", light.tmp / "report"])
    assert p.stdout.readline() == b"ready\n"
    p.send_signal(sig)
    assert p.wait(5) == -sig
    assert '"reason": "signal"' in (light.tmp / "report").read_text()


def test_a_command_that_kills_itself_does_not_interrupt_the_caller(light):
    assert light.run("sh", "-c", "kill -INT $$", status=130).report["reason"] == "signal"


def test_a_command_that_takes_an_interrupt_and_ends_has_its_own_status(light):
    p = light.spawn("sh", "-c", "trap 'exit 7' INT; echo ready; while :; do sleep 0.02; done", stdout=subprocess.PIPE)
    assert p.stdout.readline() == b"ready\n"
    p.send_signal(signal.SIGINT)
    assert p.wait(5) == 7


def test_signals_that_it_was_started_to_ignore_are_not_passed_on(light):
    for sig in (signal.SIGHUP, signal.SIGINT):
        p = light.spawn("sh", "-c", "echo ready; read x; echo $x", stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                        preexec_fn=lambda s=sig: signal.signal(s, signal.SIG_IGN))
        assert p.stdout.readline() == b"ready\n"
        p.send_signal(sig)
        assert p.communicate(b"alive\n", 5)[0] == b"alive\n" and p.returncode == 0


@pytest.mark.parametrize("script", [False, True], ids=["interactive", "script"])
def test_an_interrupt_ends_the_loop_that_it_runs_in(light, script):
    """Typed at a terminal that creel has in raw mode: nobody but creel could tell the shell."""
    loop = "for i in 1 2 3 4 5; do {}; echo after $i; done; echo finished"
    command = ["sh", "-c", "echo started; exec sleep 60"]
    if script:  # of the same user: creel may not signal anybody else's
        creel = shlex.join(map(str, light.creel(*command)[len(light.as_user([])):]))
        t = Terminal(light, light.as_user(["bash", light.file("loop", loop.replace("{}", creel) + "\n")]))
    else:
        t = Shell(light)
        t.run(loop, *command)
    t.expect("started\r\n")
    t.type("\x03")
    if script:
        assert t.wait() == -signal.SIGINT
    else:
        assert wait_until(lambda: t.read(0.05) or b"ready> " in t.text, 20), t.text
    assert b"after 1" not in t.text and b"started\r\n" not in t.text and b"finished\r\n" not in t.text, t.text


def test_a_state_directory_that_a_read_only_run_made_serves_an_overlay(light):
    """One --state-dir is both: what OpenClaw's sessions keep lies in it, and what runs keep."""
    state = light.base / "both"
    light.give(light.base)
    for access in ("ro", "none", "overlay"):
        assert light.run("true", access=access, state=state).status == 0, access


def test_a_variable_that_is_given_twice_has_one_value(light):
    """Of two, a shell takes the last and python the first: what is given counts over what is set anyway, and the last counts."""
    options = [w for v in ("A=1", "AB=0", "A=2", "HOME=/var/tmp", "PATH=/usr/bin:/bin", "PIP_RETRIES=3") for w in ("--env", v)]
    names = ["A", "AB", "HOME", "PATH", "PIP_RETRIES"]
    want = ["2", "0", "/var/tmp", "/usr/bin:/bin", "3"]
    lines = light.run("env", options=options, status=0).out.splitlines()
    assert len({l.split("=")[0] for l in lines}) == len(lines), lines
    assert light.run("python3", "-c", "import os, sys; print(*[os.environ[n] for n in sys.argv[1:]], sep='\\n')", *names, options=options,
                     status=0).out.split("\n")[:-1] == want
    assert light.run("sh", "-c", "printf '%s\\n' \"$A\" \"$AB\" \"$HOME\" \"$PATH\" \"$PIP_RETRIES\"", options=options, status=0).out.split("\n")[:-1] == want


def test_a_plan_has_nothing_to_report(light):
    """It said that the run had failed, with status 0."""
    done = light.run("true", options=["--plan"])
    assert done.status == 125 and "--plan" in done.err and "--report" in done.err and done.report is None, done
    light.run("true", options=["--plan"], report=False, status=0)


def words_of(light, *options, **kw):
    """What it says to somebody who wants to hear it."""
    argv = [a for a in light.line("true", options=options, **kw) if a != "-q"]
    done = subprocess.run(argv, env={**light.env, **kw.pop("env", {})}, cwd=light.ws, capture_output=True, text=True, check=False)
    assert done.returncode == 0 and done.stdout == "", done
    return done.stderr


def test_an_access_that_is_not_had_is_said(light):
    """Whoever typed rw waits for his files to change."""
    assert "overlay and not rw" in words_of(light, access="rw", mode="docker")
    assert words_of(light, access="overlay", mode="docker") == words_of(light, access="rw", mode="light") == ""
    assert light.run("true", access="rw", mode="docker", status=0).err == ""  # -q


def test_a_configuration_that_the_command_could_change_is_told(light):
    """It decides about the next call. One that lies elsewhere, or in a workspace that stays as it is, does no harm."""
    inside, outside = light.file("ws/creel.json5", "{}"), light.file("cfg/creel.json5", "{}")
    for name in (inside, "creel.json5", f"creel:{inside}"):
        assert "lies in the workspace" in words_of(light, "-c", str(name), access="rw"), name
        assert words_of(light, "-c", str(name), access="overlay") == ""
    assert words_of(light, "-c", str(outside), access="rw") == ""
    light.file("ws/.athena/settings.yaml", "sandbox:\n  default_mode: light\n")
    assert words_of(light, access="rw") == ""  # found, it can make nothing weaker


def test_a_place_where_nobody_may_look_says_how_to_go_on(light):
    """sudo -u somebody, in /root: nobody asked for a project's file, and it was all that was named."""
    closed = light.base / "closed"
    closed.mkdir()
    if not IS_ROOT or light.user == "root":
        return
    argv = light.as_user(["sh", "-c", 'cd "$0" && chmod 0 . && exec "$@"', closed, *light.line("true")[light.line("true").index(str(CREEL)):]])
    light.give(closed)
    done = subprocess.run(argv, env=light.env, cwd=light.ws, capture_output=True, text=True, check=False)
    assert done.returncode == 125 and "--no-default-config" in done.stderr and "cd to" in done.stderr, done


def test_a_deadline_that_policy_does_not_allow_is_said(light):
    """At the start, and in the fix at the end; 0 is no way to ask for none."""
    assert "limits.timeout_max_s allows 3600 s" in words_of(light, "--timeout", "7200") and words_of(light, "--timeout", "3600") == ""
    assert "accepted: 1 second and more" in refused(light, ["--timeout", "0"])
    for options, fix in ((["--timeout", "1"], "fix: --timeout SECONDS"), (["-e", "limits.timeout_max_s=1"], "fix: limits.timeout_max_s")):
        argv = [a for a in light.line("sleep", "60", options=options) if a != "-q"]
        done = subprocess.run(argv, env=light.env, cwd=light.ws, capture_output=True, text=True, check=False)
        assert done.returncode == 124 and fix in done.stderr, done
