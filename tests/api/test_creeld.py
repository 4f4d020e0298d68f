# SPDX-License-Identifier: Apache-2.0
"""The parent of the services: it keeps their sockets, starts them again, and changes all of them or none."""
import json
import os
import signal
import socket
import subprocess

import pytest

from guard_lab import CODER, CREEL, HELLO, wait_for
from services_lab import CREELD, Ordinary, Services


@pytest.fixture(params=["root", "user"])
def guard(request):
    """The guard alone: what creeld does is the same for each service."""
    s = Services(request.param, "guard")
    yield s
    s.close()


def health(s):
    w = s.wire()
    w.ask("GET", "/health")
    answer = w.answer()
    w.close()
    assert answer.status == 200, answer
    return answer.json


def test_a_killed_service_is_back_and_nobody_is_refused(guard):
    guard.start()
    for _ in range(3):
        pid = guard.service("creel-guard")
        os.kill(pid, signal.SIGKILL)
        assert health(guard)["status"] == "ok"
        assert guard.service("creel-guard") != pid
    assert guard.said().count('service has ended name="guard" by="signal" code=9') == 3
    assert guard.stop() == 0


def test_a_changed_allowlist_counts_without_a_restart(guard):
    guard.start()
    assert health(guard)["allowed_pairs"] == 2
    old = guard.p.pid
    guard.pairs(CODER)
    wait_for("one pair is left", lambda: health(guard)["allowed_pairs"] == 1)
    guard.pairs(CODER, HELLO, ("g-new", "-1"))
    wait_for("there are three", lambda: health(guard)["allowed_pairs"] == 3)
    assert guard.p.pid == old and guard.p.poll() is None
    assert guard.stop() == 0


def test_a_finding_of_the_configuration_is_told_once_at_the_start_and_once_at_a_reload():
    s = Services("root", "all")
    row = {"agent": "g-coder", "chat_id": "TG_CODER"}
    try:
        s.allowlist.write_text(json.dumps({"telegram": [row, "no object", {"agent": 5, "chat_id": "1"}]}))
        s.start()
        for told in ("telegram[1]: left out", "telegram[2]: left out"):
            assert s.said().count(told) == 1, s.said()
        os.kill(s.service("creel-guard"), signal.SIGKILL)
        assert health(s)["allowed_pairs"] == 1
        assert s.said().count("telegram[1]: left out") == 1, "nor when a service is started again"
        s.allowlist.write_text(json.dumps({"telegram": ["no object", row]}))
        wait_for("it is read again", lambda: "creeld: info reloaded" in s.said())
        assert s.said().count("telegram[0]: left out") == 1 and s.said().count("telegram[1]: left out") == 1
        assert s.stop() == 0
    finally:
        s.close()


def test_sighup_with_a_broken_file_keeps_the_old_one_and_says_why(guard):
    guard.start()
    pid = guard.service("creel-guard")
    guard.allowlist.write_text('{"telegram": [{"agent": ')
    guard.p.send_signal(signal.SIGHUP)
    wait_for("it says that it keeps the old one", lambda: "the configuration stays as it was" in guard.said())
    assert "allowlist.json:1:" in guard.said()
    assert health(guard)["allowed_pairs"] == 2
    assert guard.service("creel-guard") == pid
    guard.pairs(CODER)
    wait_for("the repaired one counts", lambda: health(guard)["allowed_pairs"] == 1)


def test_sighup_changes_to_new_processes_and_ends_the_old(guard):
    guard.start()
    pid = guard.service("creel-guard")
    w = guard.wire()
    w.ask("GET", "/health")
    assert w.answer().status == 200
    guard.p.send_signal(signal.SIGHUP)
    wait_for("there is a new one", lambda: guard.service("creel-guard") not in (pid, None))
    wait_for("the old one has gone", lambda: not os.path.exists(f"/proc/{pid}"))
    assert health(guard)["status"] == "ok"
    w.close()
    assert guard.said().count("info reloaded") == 1


def test_nobody_who_comes_during_a_reload_is_refused_or_cut_off(guard):
    guard.start()
    for i in range(1, 4):
        guard.p.send_signal(signal.SIGHUP)
        n = 0
        while guard.said().count("info reloaded") < i or n < 200:
            assert health(guard)["status"] == "ok"
            n += 1
    assert guard.stop() == 0


def test_an_address_that_changes_takes_a_restart_and_says_so(guard):
    config = guard.dir / "creel.json5"
    config.write_text('{serve: {guard: "127.0.0.1:%d"}}' % guard.port)
    guard.give(config)
    argv = [a for a in guard.argv() if not a.startswith("serve.guard=")]
    argv.remove("-e")
    guard.argv = lambda *more: [*argv, "-c", str(config), *more]
    guard.start()
    config.write_text('{serve: {guard: "127.0.0.1:1"}}')
    guard.p.send_signal(signal.SIGHUP)
    wait_for("it says so", lambda: "which takes a restart" in guard.said())
    assert health(guard)["status"] == "ok"


@pytest.mark.parametrize("user", ["root", "user"])
def test_sockets_that_somebody_has_removed_are_there_again(user):
    s = Ordinary(user)
    try:
        s.start()
        run = s.state / "run"
        egress = s.service("creel-egress")
        for n, names in enumerate((["runner.sock"], ["runner.sock", "egress.sock", f"notify-{s.p.pid}.sock"])):
            for name in names:
                os.unlink(run / name)
            wait_for("they are there", lambda: all((run / name).is_socket() and (run / name).stat().st_mode & 0o77 == 0 for name in names if "notify" not in name))
            wait_for("and have services", lambda n=n: s.said().count("creeld: info reloaded") == n + 1)
            assert s.call("exec", {"command": ["echo", "on"]}).json["stdout"] == "on\n"
            s.creel("doctor", "-e", f"serve.guard=127.0.0.1:{s.port}", "-e", f"mounts.workspace.root={s.dir / 'w'}")
        assert s.service("creel-egress") != egress
        assert s.stop() == 0 and not list(run.glob("*.sock"))
    finally:
        s.close()


def test_what_somebody_else_has_put_in_the_place_of_a_socket_is_left_alone_and_told(guard):
    guard.word = "runner"
    guard.start()
    path = guard.state / "run/runner.sock"
    path.rename(path.with_suffix(".old"))
    with socket.socket(socket.AF_UNIX) as other:
        other.bind(str(path))
        wait_for("it is told", lambda: "somebody has put something else there" in guard.said())
        assert guard.stop() == 0
        assert guard.said().count("somebody has put something else there") == 1 and path.is_socket()


def test_two_on_one_address_are_refused(guard):
    guard.start()
    done = subprocess.run(guard.argv(), env=guard.env, capture_output=True, text=True, timeout=60, check=False)
    assert done.returncode == 1 and "Address already in use; fix: end what listens there, or -e serve.guard=127.0.0.1:PORT" in done.stderr, done
    assert health(guard)["status"] == "ok"


def test_a_guard_that_can_only_refuse_says_so(guard):
    guard.start()
    assert "every call is refused" not in guard.said()
    assert guard.stop() == 0
    guard.pairs()
    guard.start()
    assert "no pair of agent and chat is allowed: every call is refused" in guard.said()
    assert guard.stop() == 0


def as_systemd(s, listener, name):
    """What it is started with: the socket as descriptor 3, and the three variables."""
    at = s.argv().index(str(CREELD))
    become, rest = s.argv()[:at], s.argv()[at:]
    script = 'exec 3<&%d; export LISTEN_PID=$$ LISTEN_FDS=1 LISTEN_FDNAMES=%s; exec "$@"' % (listener.fileno(), name)
    return [*become, "bash", "-c", script, "bash", *rest]


def test_sockets_of_systemd_are_taken(guard):
    with socket.create_server(("127.0.0.1", 0)) as s:
        argv = as_systemd(guard, s, "guard")
        guard.port = s.getsockname()[1]
        guard.argv = lambda *more: [*argv, *more]
        guard.start(pass_fds=[s.fileno()])
    assert health(guard)["status"] == "ok"
    assert guard.stop() == 0


def test_a_socket_with_another_name_is_refused(guard):
    with socket.create_server(("127.0.0.1", 0)) as s:
        done = subprocess.run(as_systemd(guard, s, "door"), env=guard.env, capture_output=True, text=True, timeout=60, check=False, pass_fds=[s.fileno()])
    assert done.returncode == 1 and "'door' is not accepted: guard, runner or egress" in done.stderr, done


def test_without_tokens_nothing_starts_and_the_command_is_named():
    s = Services("root", "all", tokens=False)
    try:
        done = subprocess.run(s.argv(), env=s.env, capture_output=True, text=True, timeout=60, check=False)
        assert done.returncode == 1 and "creel token new --runner" in done.stderr, done
        s.creel("token", "new", "--runner")
        done = subprocess.run(s.argv("--check"), env=s.env, capture_output=True, text=True, timeout=60, check=False)
        assert done.returncode == 1 and "creel token new --pairs" in done.stderr, done
        s.creel("token", "new", "--pairs", "*")
        done = subprocess.run(s.argv("--check"), env=s.env, capture_output=True, text=True, timeout=60, check=False)
        assert done.returncode == 0, done
    finally:
        s.close()


@pytest.mark.parametrize("pairs, asks", [("*", {CODER: 200, HELLO: 200}), ([{"channel": "telegram", "agent": CODER[0], "chat_id": CODER[1]}], {CODER: 200, HELLO: 403})])
def test_a_token_of_the_configuration_is_enough_to_start_with(pairs, asks):
    """identity.tokens: one that stands in a variable. It was taken by the guard, and not counted by the parent."""
    s = Ordinary("root")
    s.config["identity"]["tokens"] = [{"ref": "env:MINE", "pairs": pairs}]
    for file in (s.state / "tokens").glob("tokens.json"):
        file.unlink()
    try:
        argv = s.argv("--check")
        done = subprocess.run(argv, env=s.env, capture_output=True, text=True, timeout=60, check=False)
        assert done.returncode == 1 and "no token that a caller could show" in done.stderr and "with the same --state-dir" in done.stderr, done
        s.env, s.token = {**s.env, "MINE": "too-short"}, "too-short"
        s.start()
        assert {who: s.call("exec", {"command": ["true"]}, pair=who).status for who in asks} == asks
        assert s.said().count("runner: warn a token is so short") == 1, "one for all workers"
        found = subprocess.run([str(CREEL), "doctor", "--json", "-c", f"creel:{s.dir / 'creel.json5'}", "--no-default-config", "--state-dir", str(s.state), "-e", f"serve.guard=127.0.0.1:{s.port}"],
                               env=s.env, capture_output=True, text=True, timeout=120, check=False, cwd=s.home)
        token = next(f for f in json.loads(found.stdout)["findings"] if f["name"] == "tokens")
        assert token["state"] == "ok" and "the environment has another" in token["found"], token
    finally:
        s.close()


def test_s2_28_tokens_are_taken_from_a_private_file_of_variables():
    s = Services("user", "guard", tokens=False)
    try:
        s.state.mkdir(mode=0o700)
        s.give(s.state)
        file = s.state / ".env"
        argv = [w for w in s.argv() if w != "--no-default-config"]

        def check(text, mode=0o600, env=()):
            file.write_text(text)
            file.chmod(mode)
            s.give(file)
            return subprocess.run([*argv, "--check"], env={**s.env, **dict(env)}, capture_output=True, text=True, timeout=60, check=False)

        good = "# tokens\nOTHER=$(touch /tmp/no)\nexport SANDBOX_GUARD_TOKEN='guard-0123456789'\nTOOL_RUNNER_TOKEN=runner-0123456789\n"
        for text, mode, word in (("OTHER=1\n", 0o600, "creel token new --runner"), (good, 0o644, "creel token new --runner"),
                                 ("TOOL_RUNNER_TOKEN=two words\n", 0o600, ".env:1: TOOL_RUNNER_TOKEN is not accepted"),
                                 ("TOOL_RUNNER_TOKEN='open\n", 0o600, ".env:1: TOOL_RUNNER_TOKEN is not accepted")):
            done = check(text, mode)
            assert done.returncode == 1 and word in done.stderr and "two words" not in done.stderr, done
        assert check(good, 0o644).stderr.count("is not used: it has to be ours, with mode 0600") == 1
        done = check(good)
        assert done.returncode == 0 and "0123456789" not in done.stderr, done
        assert "SANDBOX_GUARD_TOKEN" not in check(good, env={"SANDBOX_GUARD_TOKEN": "from-the-environment"}.items()).stderr, "the environment comes first"
        s.argv = lambda *more: [*argv, *more]
        s.start()
        assert health(s)["status"] == "ok"
        assert s.ask("POST", "/run", {"agent": "g-nobody", "scope": {"type": "telegram", "chat_id": "1"}, "tool": "file_read", "args": {"path": "a"}},
                     "guard-0123456789").status == 403, "it is known, and the pair is not"
        assert s.stop() == 0
    finally:
        s.close()


@pytest.mark.parametrize("address", ["0.0.0.0:0", "[::]:0", "192.0.2.1:18888"])
def test_an_address_beyond_loopback_is_refused_without_tls(address):
    s = Services("root", "guard")
    try:
        done = subprocess.run(s.argv("-e", f"serve.guard={address}", "-e", "mode.when=all"), env=s.env, capture_output=True, text=True, timeout=60, check=False)
        assert done.returncode == 1 and "can be reached from outside" in done.stderr, done
    finally:
        s.close()


@pytest.mark.parametrize("word,said", [("", "which service?"), ("gard", "'gard' is not a service: guard, runner, egress or all")])
def test_a_wrong_word_is_an_error_that_names_the_right_ones(word, said):
    done = subprocess.run([str(CREELD), *([word] if word else [])], capture_output=True, text=True, timeout=60, check=False)
    assert done.returncode == 1 and said in done.stderr, done
