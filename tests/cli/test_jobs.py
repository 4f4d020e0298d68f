# SPDX-License-Identifier: Apache-2.0
"""The three tools of the home-lab runner as its callers know them: words of results, limits, the workspace, and one sandbox for each call."""
import json
import os
import signal

import pytest

from conftest import wait_until

SLEEP = "import time; time.sleep(60)"


@pytest.fixture
def job(sessions):
    """Calls a tool with the runner's rules; its workspace is there, as the operator has made it."""
    options = ["--profile", "tier1", "-e", "walls.optional=limits"]  # an ordinary user may have no cgroup
    told = sessions(*options, "explain", "--json", "--tool", "file_read").json
    workspace = next(m["host"] for m in told["mounts"] if m["target"] == "/workspace")
    made = sessions.state / workspace[len(str(sessions.state)) + 1:]
    made.mkdir(parents=True)
    path = made
    while path != sessions.home:
        sessions.give(path)
        path.chmod(0o755)
        path = path.parent

    def call(tool, status=0, **arguments):
        return sessions(*options, "call", tool, "-", input=json.dumps(arguments), status=status).json
    call.workspace = made
    call.sessions = sessions
    return call


def test_s2_results_of_a_command_have_the_runners_words(job):
    ended = job("shell_exec", 3, cmd=["python3", "-c", "import sys; print('out'); print('err', file=sys.stderr); sys.exit(3)"])
    assert (ended["ok"], ended["error"], ended["stdout"], ended["stderr"]) == (False, "exit_3", "out\n", "err\n")
    assert job("shell_exec", 124, cmd=["python3", "-c", SLEEP], timeout_s=0)["error"] == "timeout"  # at least one second
    good = job("shell_exec", cmd=["python3", "-c", "import os; print(os.getcwd())"])
    assert (good["ok"], good["stdout"], good["artifacts"]) == (True, "/workspace\n", []) and "error" not in good


@pytest.mark.parametrize("cmd, word", [
    (["sh", "-c", "id"], "shell_denied"),
    (["/usr/bin/bash"], "shell_denied"),
    (["ls"], "binary_denied"),
    (["curl", "-o", "x", "http://ollama/"], "curl_flag_not_allowed"),
    (["curl", "http://example.com/"], "host_not_allowed"),
    (["curl", "http://ollama/", "http://example.com/"], "host_not_allowed"),
])
def test_s2_what_the_guard_refuses_is_refused_before_anything_runs(job, cmd, word):
    refused = job("shell_exec", 126, cmd=cmd)
    assert (refused["error"], refused["reason"]) == (word, "refused")
    assert job.sessions.listed("--all") == {}


def test_s2_output_is_cut_at_80000_characters_a_stream_and_says_so(job):
    text = job("shell_exec", cmd=["python3", "-c", "import sys; print('é' * 90000, end=''); print('x' * 80000, end='', file=sys.stderr)"])
    assert len(text["stdout"]) == 80000 and text["stdoutTruncated"] and text["stdoutBytes"] == 180000
    assert len(text["stderr"]) == 80000 and not text["stderrTruncated"]


def test_s2_only_file_write_can_write(job):
    written = job("file_write", path="made/new.txt", content="hello\n")
    assert (written["stdout"], written["artifacts"]) == ("OK", [{"path": "made/new.txt", "type": "file"}])
    assert (job.workspace / "made/new.txt").read_text() == "hello\n"
    assert (job.workspace / "made/new.txt").stat().st_uid == job.sessions.uid
    read = job("file_read", path="made/new.txt")
    assert (read["stdout"], read["artifacts"]) == ("hello\n", [{"path": "made/new.txt", "type": "text"}])
    assert "Read-only" in job("shell_exec", 1, cmd=["python3", "-c", "open('rw_test.txt', 'w')"])["stderr"]
    assert sorted(p.name for p in job.workspace.iterdir()) == ["made"]


@pytest.mark.parametrize("path, status, word", [
    ("../up", 126, "denied"), ("/etc/passwd", 126, "denied"), ("a/../../b", 126, "denied"), ("a\0b", 126, "denied"), ("./a", 126, "denied"),
    ("link/hostname", 126, "denied"), ("missing", 125, "not_found"),
])
def test_s2_a_path_leads_nowhere_but_into_the_workspace(job, path, status, word):
    (job.workspace / "link").symlink_to("/etc")
    got = job("file_read", status, path=path)
    assert got["error"] == word and "Traceback" not in json.dumps(got), got


def test_s2_9_every_call_has_a_sandbox_of_its_own(job):
    leave = "import os; open('/tmp/left', 'w'); os.fork() or os.setsid() or __import__('time').sleep(60)"
    assert job("shell_exec", cmd=["python3", "-c", leave])["ok"]
    seen = job("shell_exec", cmd=["python3", "-c", "import os; print(os.listdir('/tmp'), len([p for p in os.listdir('/proc') if p.isdigit()]))"])
    assert seen["stdout"] == "[] 1\n" and job.sessions.listed("--all") == {}


def start(sessions, *command):
    return sessions.spawn("call", "--session", "agent:main:job", "--sandbox", "light", "--scope", "job", "--request-id", "agent:main:test", "exec", "--", *command)


def jobs(sessions):
    return [b for b in sessions("list", "--json", status=0).json["sandboxes"] if b["scope"] == "job"]


def test_c16_a_job_is_in_the_registry_as_long_as_it_runs_and_can_be_ended(sessions):
    sessions.sh("true")  # another session, whose key the id of the request is
    ended, killed = start(sessions, "sleep", "9871"), start(sessions, "sleep", "9872")
    assert wait_until(lambda: len(jobs(sessions)) == 2, 20)
    for box in jobs(sessions):
        assert (box["session"], box["state"], box["alive"], box["running"]) == ("agent:main:job", "ready", True, 1), box
    sessions("recreate", "--session", "agent:main:job")
    assert len(jobs(sessions)) == 2  # they are in use
    killed.kill()
    assert killed.communicate(timeout=20) == ("", "") and wait_until(lambda: len(jobs(sessions)) == 1, 20)
    assert sessions("kill", "--session", "agent:main:job", "-y", status=0).out == "agent:main:job: ended\n"
    assert json.loads(ended.communicate(timeout=20)[0])["reason"] == "lost"
    assert list(sessions.listed("--all")) == ["agent:main:test"]
    good = start(sessions, "echo", "a")
    assert json.loads(good.communicate(timeout=20)[0])["stdout"] == "a\n"
    assert list(sessions.listed("--all")) == ["agent:main:test"]


def test_what_takes_long_to_remove_is_removed_all_the_same(sessions):
    """A command may leave as much as it likes: whoever removes it is not ended for taking long."""
    running = start(sessions, "sh", "-c", "mkdir -p a/b/c && sleep 1")
    assert wait_until(lambda: jobs(sessions), 20)
    remover = jobs(sessions)[0]["supervisor"]
    os.kill(remover, signal.SIGSTOP)
    try:
        assert json.loads(running.communicate(timeout=60)[0])["ok"] is True
        assert os.listdir(sessions.state / "live") and os.path.exists(f"/proc/{remover}")
    finally:
        os.kill(remover, signal.SIGCONT)
    assert wait_until(lambda: not os.listdir(sessions.state / "live") and not os.path.exists(f"/proc/{remover}"), 20)


@pytest.mark.parametrize("both", [False, True])
def test_nothing_is_left_of_a_job_whose_warden_was_killed(sessions, both):
    running = start(sessions, "sh", "-c", "mkdir -p a/b/c; sleep 1000")
    assert wait_until(lambda: jobs(sessions) and list(sessions.state.glob("live/*/*/a/b/c")), 20)
    warden = jobs(sessions)[0]["supervisor"]
    os.kill(warden, signal.SIGSTOP)  # so that it cannot remove anything before it is killed itself
    if both:
        running.kill()
    os.kill(warden, signal.SIGKILL)
    out = running.communicate(timeout=20)[0]
    if both:
        assert os.listdir(sessions.state / "live")
        assert wait_until(lambda: sessions("prune", status=0) and not os.listdir(sessions.state / "live"))
    else:
        assert json.loads(out)["reason"] == "lost" and not os.listdir(sessions.state / "live")
