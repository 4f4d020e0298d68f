# SPDX-License-Identifier: Apache-2.0
"""The guard by its sockets: who gets in, what is refused and in which words, and what the runner is told. The runner is played here; tests with the real
one are in test_services.py."""
import contextlib
import errno
import json
import os
import pathlib
import socket
import threading
import time

import pytest

from guard_lab import CODER, GUARD, HELLO, ROOT, Guard, echo, wait_for

CASES = json.loads((ROOT / "tests/vectors/http/smuggling.json").read_text())["cases"]


@contextlib.contextmanager
def guard(*args, **kw):
    g = Guard(*args, **kw)
    try:
        yield g.start()
    finally:
        g.done()


@pytest.fixture(scope="module", params=["root", "user"] if os.getuid() == 0 else ["user"])
def g(request):
    with guard(request.param) as one:
        yield one


def detail(answer):
    return answer.status, answer.json["detail"]


# ---- S2's contract, row by row ----

def shell(*cmd, **more):
    return {"cmd": list(cmd), **more}


ROWS = [  # tool, args, status, detail; in the order of S2's checks
    ("exec", {}, 403, "tool not allowed"),
    ("file_delete", {"path": "a"}, 403, "tool not allowed"),
    ("file_read", {}, 400, "invalid path"),
    ("file_read", {"path": 1}, 400, "invalid path"),
    ("file_read", {"path": ""}, 400, "invalid path"),
    ("file_read", {"path": "/etc/passwd"}, 400, "invalid path"),
    ("file_read", {"path": "\\a"}, 400, "invalid path"),
    ("file_read", {"path": "a\0b"}, 400, "invalid path"),
    ("file_write", {"path": "a"}, 400, "invalid content"),
    ("file_write", {"path": "a", "content": 1}, 400, "invalid content"),
    ("file_write", {"path": "a", "content": "x" * 2000001}, 413, "content too large"),
    ("file_write", {"path": "a", "content": "ä" * 1000001}, 413, "content too large"),
    ("shell_exec", {}, 400, "invalid cmd"),
    ("shell_exec", {"cmd": []}, 400, "invalid cmd"),
    ("shell_exec", {"cmd": "ls"}, 400, "invalid cmd"),
    ("shell_exec", {"cmd": ["ls", 1]}, 400, "invalid cmd"),
    ("shell_exec", shell("bash", "-c", "ls"), 403, "shell denied"),
    ("shell_exec", shell("sh"), 403, "shell denied"),
    ("shell_exec", shell("zsh"), 403, "shell denied"),
    ("shell_exec", shell("fish"), 403, "shell denied"),
    ("shell_exec", shell("ls"), 403, "binary denied"),
    ("shell_exec", shell("/usr/bin/python3"), 403, "binary denied"),
    ("shell_exec", shell("curl", "-o", "x", "http://ollama/"), 403, "curl flag not allowed: -o"),
    ("shell_exec", shell("curl", "-m"), 400, "curl -m requires seconds"),
    ("shell_exec", shell("curl", "ftp://ollama/"), 403, "curl URL must be http(s) with hostname"),
    ("shell_exec", shell("curl", "http:///x"), 403, "curl URL must be http(s) with hostname"),
    ("shell_exec", shell("curl", "https://example.com"), 403, "curl host not allowed"),
    # D2-1: every argument is looked at
    ("shell_exec", shell("curl", "http://ollama:11434/", "file:///etc/hostname"), 403, "curl URL must be http(s) with hostname"),
    ("shell_exec", shell("curl", "http://ollama/", "-o", "/tmp/x", "http://chroma:8000/"), 403, "curl flag not allowed: -o"),
    ("shell_exec", shell("curl", "http://ollama/", "http://chroma:8000/"), 403, "curl host not allowed"),
]


@pytest.mark.parametrize("tool,args,status,text", ROWS, ids=[f"{r[0]}-{i}" for i, r in enumerate(ROWS)])
def test_s2_each_check_of_the_guard_has_its_status_and_its_words(g, tool, args, status, text):
    before = len(g.peer.seen)
    assert detail(g.run(tool, args)) == (status, text)
    assert len(g.peer.seen) == before, "nothing that is refused reaches the runner"


@pytest.mark.parametrize("who,status,text", [
    (("G", "TG_CODER"), 400, "invalid agent"), (("-a", "TG_CODER"), 400, "invalid agent"), (("a" * 64, "TG_CODER"), 400, "invalid agent"),
    (("", "TG_CODER"), 400, "invalid agent"), (("g-coder", ""), 400, "missing chat_id"), (("g-coder", "x/../../../etc"), 400, "invalid chat_id"),
    (("g-coder", "-100200"), 403, "agent/scope not allowed"), (("nobody", "1"), 403, "agent/scope not allowed")])
def test_s2_agent_chat_and_pair_are_checked_in_this_order(g, who, status, text):
    assert detail(g.run("file_read", {"path": "/etc"}, who=who)) == (status, text)


def test_s2_the_checks_come_in_s2s_order(g):
    everything = {"agent": "G", "scope": {"type": "telegram", "chat_id": ""}, "tool": "nope", "args": {}}
    assert detail(g.ask("POST", "/run", everything, token=None)) == (401, "missing auth")
    assert detail(g.ask("POST", "/run", everything, token="wrong")) == (401, "invalid auth")
    assert detail(g.ask("POST", "/run", everything)) == (403, "tool not allowed")
    everything["tool"] = "file_write"
    assert detail(g.ask("POST", "/run", everything)) == (400, "invalid agent")
    everything["agent"] = "nobody"
    assert detail(g.ask("POST", "/run", everything)) == (400, "missing chat_id")
    everything["scope"]["chat_id"] = "1"
    assert detail(g.ask("POST", "/run", everything)) == (403, "agent/scope not allowed")
    everything.update(agent=CODER[0], scope={"type": "telegram", "chat_id": CODER[1]})
    assert detail(g.ask("POST", "/run", everything)) == (400, "invalid path")
    everything["args"] = {"path": "a"}
    assert detail(g.ask("POST", "/run", everything)) == (400, "invalid content")


@pytest.mark.parametrize("field", [None, "", "Bearer", "Basic {t}", "bearer {t}", "{t}", "Token {t}"])
def test_s2_what_is_no_bearer_token_is_missing_auth(g, field):
    fields = [("Authorization", field.format(t=g.tokens["all"]))] if field is not None else []
    for method, path in [("POST", "/run"), ("POST", "/v1/calls"), ("GET", "/v1/tools"), ("GET", "/metrics"), ("GET", "/v1/events")]:
        got = g.ask(method, path, {} if method == "POST" else None, token=None, more=fields)
        assert got.status == 401 and got.fields["www-authenticate"] == "Bearer", got
        assert (got.json.get("detail") or got.json["error"]) in ("missing auth", "missing_auth")


def test_two_authorization_fields_are_nobody_and_half_a_token_is_not_enough(g):
    good = ("Authorization", f"Bearer {g.tokens['all']}")
    assert g.ask("GET", "/v1/tools", token=None, more=[good, good]).status == 401
    for token in (g.tokens["all"][:-1], g.tokens["all"] + "0", g.tokens["all"].upper(), " " + g.tokens["all"]):
        assert g.ask("GET", "/v1/tools", token=token).status == 401


@pytest.mark.parametrize("body,word", [
    (b"", "body"), (b"{", "JSON"), (b"[]", "object"), (b"\xff", "JSON"), ({}, "agent"), ({"agent": "a"}, "scope"),
    ({"agent": "a", "scope": {}, "tool": "x", "args": {}}, "type"), ({"agent": 1, "scope": {}, "tool": "x"}, "agent"),
    (b'{"agent":"a","agent":"b"}', "duplicate key")])
def test_s2_what_has_another_shape_is_422(g, body, word):
    got = g.ask("POST", "/run", body)
    assert got.status == 422 and word in got.json["detail"], got


def test_s2_health_has_s2s_members_and_the_walls(g):
    got = g.ask("GET", "/health", token=None)
    assert got.status == 200 and got.json["status"] == "ok" and got.json["allowed_pairs"] == 2 and "version" in got.json
    assert got.json["walls"] and all(got.json["walls"].values())


def test_s2_the_runners_words_are_passed_on_and_an_id_is_made_or_kept(g):
    got = g.run("file_read", {"path": "a"}, request_id="mine-1")
    assert got.status == 200 and got.json["request_id"] == "mine-1" and set(got.json) == {"request_id", "ok", "stdout", "stderr", "artifacts", "error"}
    made = g.run("file_read", {"path": "a"}).json["request_id"]
    assert len(made) == 36 and made[14] == "4" and made != g.run("file_read", {"path": "a"}).json["request_id"]


def test_c26_policy_of_the_caller_is_dropped_and_told(g):
    for send, where in [(g.run, "/run"), (g.call, "/v1/calls")]:
        policy = {"fs": {"mode": "rw"}, "net": {"mode": "allowlist", "allow": ["example.com"]}, "timeout_s": 9999}
        got = send("file_read", {"path": "a"}, policy=policy)
        assert got.status == 200 and got.json["notes"] == ["caller_policy_ignored"]
        told = g.peer.seen[-1]
        assert told["target"] == where and b"policy" not in told["body"] and b"example.com" not in told["body"]


def test_the_body_is_written_anew_from_what_was_understood(g):
    g.run("file_read", {"path": "a", "max_bytes": 5, "content": "x", "cmd": ["sh"], "evil": {"a": [1]}})
    assert json.loads(g.peer.seen[-1]["body"])["args"] == {"path": "a", "max_bytes": 5}
    g.run("shell_exec", {"cmd": ["python3", "-c", "1"], "timeout_s": 3, "path": "/etc"})
    assert json.loads(g.peer.seen[-1]["body"])["args"] == {"cmd": ["python3", "-c", "1"], "timeout_s": 3}
    got = g.call("exec", {"command": "ls"}, unknown=1)
    assert got.status == 422 and "'unknown' is not known here; accepted: request_id, agent, scope," in got.json["message"]
    told = g.peer.seen[-1]["fields"]
    assert told["authorization"] == f"Bearer {g.runner_token}" and told["x-creel-token"] == g.tokens["all"]


@pytest.mark.parametrize("said,status,text", [
    ((401, [], b"{}"), 502, "tool-runner auth failed"), ((500, [], b"{}"), 502, "tool-runner error"), ((403, [], b"{}"), 502, "tool-runner error"),
    ((200, [], b"nonsense"), 502, "tool-runner invalid response"), ((200, [], b"[]"), 502, "tool-runner invalid response"),
    (lambda w: w.s.sendall(b"what?\r\n\r\n"), 502, "tool-runner unreachable"), (lambda w: w.s.shutdown(socket.SHUT_RDWR), 502, "tool-runner unreachable")])
def test_s2_what_is_wrong_with_the_runner_is_502(said, status, text):
    with guard(peer=lambda request: said) as g:
        assert detail(g.run("file_read", {"path": "a"})) == (status, text)
        got = g.call("exec", {})
        assert got.status in (200, 403, 500, 502) and (got.status != 502 or got.json["error"].startswith("runner_"))


def test_s2_a_runner_that_is_not_there_is_unreachable_and_the_guard_lives():
    with guard(peer=None) as g:
        assert detail(g.run("file_read", {"path": "a"})) == (502, "tool-runner unreachable")
        assert g.call("exec", {}).json["error"] == "runner_unreachable"
        assert g.ask("GET", "/metrics", token="admin").status == 200
        assert g.ask("GET", "/health", token=None).status == 200


# ---- who it is ----

@pytest.mark.parametrize("who", [HELLO, ("g-coder", "-100200"), ("g-hello", "TG_CODER")])
def test_s2_24_a_stolen_token_of_one_pair_is_403_for_every_other(g, who):
    before = len(g.peer.seen)
    assert g.run("file_read", {"path": "a"}, who=CODER, token="coder").status == 200
    assert detail(g.run("file_read", {"path": "a"}, who=who, token="coder")) == (403, "agent/scope not allowed")
    for path in ("/v1/calls", "/v1/explain"):
        got = g.ask("POST", path, g.body("exec", {}, who), token="coder")
        assert got.status == 403 and got.json["error"] == "pair_not_allowed" and got.json["request_id"]
    query = f"?agent={who[0]}&type=telegram&chat_id={who[1]}"
    assert g.ask("GET", "/v1/processes" + query, token="coder").status == 403
    assert g.ask("POST", "/v1/processes/1/kill" + query, token="coder").status == 403
    assert len(g.peer.seen) == before + 1


def test_a_session_is_the_pairs_own_unless_the_token_is_for_all(g):
    own = f"agent:{CODER[0]}:telegram:group:{CODER[1]}"
    assert g.call("exec", {}, token="coder", session=own).status == 200
    got = g.call("exec", {}, token="coder", session="agent:main:main")
    assert got.status == 400 and got.json["error"] in ("invalid_session", "agent_mismatch") and got.json["message"].startswith("the session is ")
    assert g.ask("POST", "/v1/calls", {"session": "agent:main:main", "tool": "exec"}, token="coder").status in (400, 403)
    assert g.ask("POST", "/v1/calls", {"session": "agent:main:main", "tool": "exec"}, token="all").status == 200


def test_a_revoked_token_is_nobodys_from_that_moment_on(g):
    g.token("short", "*")
    with contextlib.closing(g.connect()) as wire:
        wire.ask("GET", "/v1/tools", g.fields("short"))
        assert wire.answer().status == 200
        g.creel("token", "revoke", "short")
        wire.ask("GET", "/v1/tools", g.fields("short"))
        assert wire.answer().status == 401, "on a connection that was good before, too"


def test_tokens_that_change_while_a_body_comes_make_nobody_somebody_else():
    """Tokens are known by their place in a list, and tokens of the configuration stand behind those of the file: a new one moves them."""
    pairs = [{"channel": "telegram", "agent": a, "chat_id": c} for a, c in (CODER, HELLO)]
    bound = "a-token-of-the-configuration-1234"
    with guard(env={"BOUND": bound}, identity={"pairs": pairs, "tokens": [{"ref": "env:BOUND", "pairs": pairs[:1]}]}) as g:
        for path, body in (("/v1/pairing", {"channel": "signal", "user": "u1"}), ("/v1/calls", g.body("exec", {}, HELLO))):
            text = json.dumps(body).encode()
            with contextlib.closing(g.connect()) as wire:
                head = [("Content-Length", len(text)), ("Content-Type", "application/json"), *g.fields(bound)]
                wire.ask("POST", path, head)
                wire.s.sendall(text[:5])
                # So that the head was read before: what is answered on another connection came later.
                assert g.ask("GET", "/v1/tools", token=bound).status == 200
                g.token(f"new-{path[4:]}", "*", "--admin")
                assert g.ask("GET", "/v1/tools", token=f"new-{path[4:]}").status == 200
                before = len(g.peer.seen)
                wire.s.sendall(text[5:])
                assert wire.answer().status == 403
                assert len(g.peer.seen) == before


def test_a_token_that_is_revoked_while_a_body_comes_is_nobodys(g):
    g.token("slow", "*")
    text = json.dumps(g.body("exec", {})).encode()
    with contextlib.closing(g.connect()) as wire:
        wire.ask("POST", "/v1/calls", [("Content-Length", len(text)), ("Content-Type", "application/json"), *g.fields("slow")])
        wire.s.sendall(text[:5])
        assert g.ask("GET", "/v1/tools").status == 200
        g.creel("token", "revoke", "slow")
        assert g.ask("GET", "/v1/tools").status == 200
        before = len(g.peer.seen)
        wire.s.sendall(text[5:])
        assert wire.answer().status == 401
        assert len(g.peer.seen) == before


def test_a_token_that_has_expired_and_one_that_is_made_later(g):
    g.token("brief", "*", "--expires", "1s")
    wait_for("it has expired", lambda: g.ask("GET", "/v1/tools", token="brief").status == 401)
    g.token("late", "*")
    assert g.ask("GET", "/v1/tools", token="late").status == 200


@pytest.mark.parametrize("method,path,body", [("POST", "/v1/approvals/1", {"answer": "allow"}), ("GET", "/v1/admin/incident?request=1", None), ("GET", "/metrics", None)])
def test_what_is_the_operators_needs_an_admin_token(g, method, path, body):
    assert g.ask(method, path, body, token="admin").status == 200
    for token in ("all", "coder"):
        got = g.ask(method, path, body, token=token)
        assert got.status == 403 and got.json["error"] == "admin_required"


def test_s2_33_without_any_token_the_guard_does_not_start_and_says_what_makes_one():
    for env, tokens, word in [({}, False, "creel token new"), ({"SANDBOX_GUARD_TOKEN": ""}, False, "creel token new"), ({"TOOL_RUNNER_TOKEN": ""}, True, "creel token new --runner")]:
        g = Guard(tokens=tokens, env=env)
        try:
            g.launch()
            assert g.process.wait(30) == 1
            assert word in g.said()
        finally:
            g.done()


def test_s2_29_the_token_of_the_environment_speaks_for_all_pairs_of_the_allowlist():
    secret = "a-token-of-the-environment-1234"
    with guard(tokens=False, env={"SANDBOX_GUARD_TOKEN": secret}) as g:
        assert g.run("file_read", {"path": "a"}, token=secret).status == 200
        assert g.run("file_read", {"path": "a"}, who=("x", "1"), token=secret).status == 403
        assert g.ask("GET", "/metrics", token=secret).status == 403
        assert secret not in g.said()
        if os.getuid() == 0:
            environ = pathlib.Path(f"/proc/{g.process.pid}/environ").read_text()
            assert "SANDBOX_GUARD_TOKEN=" in environ and secret not in environ and g.runner_token not in environ


def test_tokens_and_what_callers_write_are_never_in_the_log_as_they_are(g):
    g.call("exec", {"secret": "hunter2"}, request_id="id-with\u202eodd")
    g.ask("GET", "/v1/tools", token="a-wrong-token-that-nobody-knows")
    g.ask("GET", "/v1/sessions/%1b%5b31m")
    said = g.said()
    for token in [*g.tokens.values(), g.runner_token, "a-wrong-token-that-nobody-knows", "hunter2"]:
        assert token not in said
    assert "\x1b" not in said and "\u202e" not in said
    assert all(line.isprintable() for line in said.splitlines())


def test_a_caller_on_a_unix_socket_needs_a_token_too_and_its_uid_is_logged():
    with guard(unix=True) as g:
        assert g.run("file_read", {"path": "a"}).status == 200
        assert g.ask("GET", "/v1/tools", token="nope").status == 401
        # As the guard's own user namespace has it: itself, or nobody of its own.
        wait_for("it is told", lambda: "uid=" in g.said() and "pid=" in g.said())


def told(g, n=1):
    """What the runner was told to record, once there are so many."""
    return wait_for("the runner is told", lambda: [r for t in g.peer.told for r in t["refused"]] if sum(len(t["refused"]) for t in g.peer.told) >= n else None)


def test_what_the_guard_refuses_is_told_to_the_runner_for_the_log():
    with guard() as g:
        assert g.run("shell_exec", {"cmd": ["bash"]}, request_id="no-1").status == 403
        assert g.call("exec", {}, who=HELLO, token="coder", request_id="no-2").status == 403
        assert g.ask("GET", "/metrics", token="coder").status == 403
        assert g.ask("GET", "/v1/tools", token="wrong").status == 401
        assert g.ask("POST", "/run", {}, token=None).status == 401
        one, two, three, four, five = told(g, 5)
        coder = next(t["id"] for t in json.loads(g.creel("token", "list", "--json"))["tokens"] if t["name"] == "coder")
        assert (one["stage"], two["stage"]) == ("tool", "identity")
        assert (one["code"], one["route"], one["request_id"], one["agent"], one["chat_id"], one["tool"]) == ("shell_denied", "run", "no-1", *CODER, "shell_exec")
        assert (two["code"], two["route"], two["request_id"], two["agent"], two["chat_id"], two["token"]) == ("pair_not_allowed", "calls", "no-2", *HELLO, coder)
        assert (three["code"], three["token"], three["route"]) == ("admin_required", coder, "metrics")
        assert (four["code"], five["code"]) == ("unknown", "none") and four["peer"].startswith("127.0.0.1:")
        assert not any(t in json.dumps(g.peer.told) for t in [*g.tokens.values(), g.runner_token, "wrong"])


def test_refusals_wait_for_a_runner_that_is_away_and_strangers_are_only_counted():
    with guard() as g:
        g.peer.take = lambda request: (503, [], b"{}")
        for i in range(400):
            assert g.run("shell_exec", {"cmd": ["bash"]}, request_id=f"no-{i}").status == 403
        for _ in range(15):
            assert g.ask("GET", "/v1/tools", token="wrong").status == 401
        wait_for("it was tried", lambda: g.peer.told)
        del g.peer.take
        g.peer.told.clear()
        wait_for("the first are told", lambda: g.peer.told)
        assert g.call("exec", {}, who=HELLO, token="coder").status == 403
        wait_for("that of another token, too", lambda: [r for t in g.peer.told for r in t["refused"] if r["code"] == "pair_not_allowed"])
        # Of one token sixty in a minute, and of the others how many they were; of strangers ten.
        assert 400 - 70 <= sum(t["untold"] for t in g.peer.told) <= 400 - 60
        assert 60 <= len([r for t in g.peer.told for r in t["refused"] if r["code"] == "shell_denied"]) <= 70
        ids = [r.get("request_id") for t in g.peer.told for r in t["refused"] if r.get("request_id")]
        assert len(ids) == len(set(ids)) and ids[0] == "no-0", "each once, the first ones first"
        assert len([r for t in g.peer.told for r in t["refused"] if r["code"] == "unknown"]) <= 10, "strangers cannot fill the log"
        assert g.run("file_read", {"path": "a"}).status == 200


def test_what_was_refused_last_is_told_before_the_guard_ends():
    with guard() as g:
        assert g.run("shell_exec", {"cmd": ["bash"]}, request_id="last").status == 403
        g.process.terminate()
        assert g.process.wait(30) == 0
        assert [r["request_id"] for r in told(g)] == ["last"]


# ---- pairing ----

def test_412_a_stranger_gets_a_code_and_is_known_once_it_was_approved(g):
    ask = {"channel": "telegram", "user": "u77", "name": "Eve\x1b[31m", "message": "hello " * 100}
    got = g.ask("POST", "/v1/pairing", ask, token="coder")
    assert got.status == 200 and got.json["known"] is False and len(got.json["code"]) == 6 and got.json["expires_s"] == 86400
    g.creel("pairing", "approve", got.json["code"])
    assert g.ask("POST", "/v1/pairing", ask, token="coder").json == {"known": True}
    ask["user"] = "u78"
    codes = [g.ask("POST", "/v1/pairing", ask, token="coder") for _ in range(4)]
    assert [c.status for c in codes] == [200, 200, 200, 429] and int(codes[3].fields["retry-after"]) > 0
    assert g.ask("POST", "/v1/pairing", {**ask, "channel": "signal"}, token="coder").status == 403
    assert g.ask("POST", "/v1/pairing", {**ask, "user": "a b"}, token="coder").status == 422


# ---- HTTP ----

@pytest.mark.parametrize("case", CASES, ids=[c["name"] for c in CASES])
def test_the_smuggling_cases_are_answered_as_stated_and_nothing_reaches_the_runner(g, case):
    before = len(g.peer.seen)
    with contextlib.closing(g.connect(timeout=10)) as wire:
        wire.s.sendall(case["request"].encode("latin-1"))
        wire.s.shutdown(socket.SHUT_WR)
        data = b""
        with contextlib.suppress(OSError):
            while piece := wire.s.recv(65536):
                data += piece
    answers = data.count(b"HTTP/1.1 ")
    if case["expect"].startswith("reject"):
        assert answers <= 1 and b"HTTP/1.1 200" not in data and (answers == 0 or b"Connection: close" in data), data
    else:
        assert b"HTTP/1.1 400" not in data and b"HTTP/1.1 501" not in data, data
    assert len(g.peer.seen) == before


@pytest.mark.parametrize("method,path,status", [
    ("GET", "/nothing", 404), ("GET", "/v1", 404), ("GET", "/v1/", 404), ("GET", "/v1/calls/", 404), ("GET", "//health", 404), ("GET", "/v1/../health", 404),
    ("GET", "/%68ealth", 404), ("GET", "/v1/sessions/", 404), ("GET", "/v1/calls", 405), ("POST", "/health", 405), ("PUT", "/run", 405),
    ("DELETE", "/v1/sessions", 405), ("TRACE", "/health", 405), ("GET", "/v1/tools?x=1", 422), ("GET", "/v1/processes?agent=a&agent=b", 422),
    ("GET", "/v1/sessions/%00", 400), ("GET", "/v1/sessions/%zz", 400), ("GET", "/v1/sessions/%ff", 400), ("GET", "/v1/admin/incident", 422)])
def test_what_is_not_a_route_is_said_with_the_right_status(g, method, path, status):
    got = g.ask(method, path, token="admin")
    assert got.status == status, got
    assert status != 405 or got.fields["allow"]
    # S2's paths answer in S2's shape, whatever is wrong.
    assert status != 405 or ("detail" in got.json) == (path in ("/health", "/run")), got


@pytest.mark.parametrize("body,status,word,text", [
    (b'{"agent": "a", "agent": "b"}', 422, "invalid_json", "duplicate key 'agent', first at 1:2"),
    (b"[" * 40 + b"]" * 40, 413, "too_large", "nesting deeper than the maximum of 32"),
    (b'{"args": [' + b"1," * 20001 + b"1]}", 413, "too_large", "more values than the maximum of 20000"),
    (b"{'agent': 1}", 422, "invalid_json", "found a single quote"),
    (b"no", 422, "invalid_json", "found 'no', expected a value"),
    (b'{"agent": "\xff"}', 422, "invalid_json", "not valid UTF-8"),
    (b'{"args": 1e999}', 422, "invalid_json", "1:10")], ids=["twice", "deep", "many", "quotes", "word", "utf8", "number"])
def test_what_is_wrong_with_a_body_is_said(g, body, status, word, text):
    got = g.ask("POST", "/v1/calls", body)
    assert (got.status, got.json["error"]) == (status, word) and text in got.json["message"], got
    got = g.ask("POST", "/run", body)
    assert got.status == status and text in got.json["detail"], got


def test_bodies_have_to_be_json_by_their_type_and_no_larger_than_said(g):
    body = json.dumps(g.body("file_read", {"path": "a"})).encode()
    for kind in ("text/plain", "application/x-www-form-urlencoded", "application/json; charset=latin-1", ""):
        assert g.ask("POST", "/run", body, more=[("Content-Type", kind)]).status == 415
    assert g.ask("POST", "/run", body, more=[("Content-Type", "application/json; charset=UTF-8")]).status == 200
    assert g.ask("POST", "/v1/pairing", b" " * 262145).status == 413
    assert g.ask("GET", "/v1/tools", b"{}").status == 400


def test_a_write_of_two_million_bytes_is_passed_on_whatever_way_it_is_written(g):
    for content in ("x" * 2000000, "\x01" * 2000000, "ä" * 1000000):
        assert g.run("file_write", {"path": "a", "content": content}).status == 200
        assert json.loads(g.peer.seen[-1]["body"])["args"]["content"] == content


def test_names_in_paths_are_passed_on_as_they_were_understood(g):
    g.ask("GET", "/v1/sessions/agent:main%3Amain%2F..%2Fx%3Fy")
    assert g.peer.seen[-1]["target"] == "/v1/sessions/agent%3Amain%3Amain%2F..%2Fx%3Fy"
    g.ask("DELETE", "/v1/sessions/a")
    assert (g.peer.seen[-1]["method"], g.peer.seen[-1]["target"]) == ("DELETE", "/v1/sessions/a")


def test_one_connection_serves_many_requests_and_so_does_one_to_the_runner():
    with guard() as g, contextlib.closing(g.connect()) as wire:
        for i in range(50):
            wire.ask("POST", "/run", g.fields(), g.body("file_read", {"path": "a"}))
            assert wire.answer().status == 200
        assert len(g.peer.seen) == 50 and g.peer.connections == 1


# ---- streams ----

def streaming(pieces, hold=None, kind="text/event-stream"):
    def answer(request):
        def say(wire):
            wire.s.sendall(f"HTTP/1.1 200 OK\r\nContent-Type: {kind}\r\nTransfer-Encoding: chunked\r\n\r\n".encode())
            for piece in pieces:
                wire.s.sendall(b"%x\r\n%s\r\n" % (len(piece), piece))
            if hold is not None:
                hold.append(wire)
                with contextlib.suppress(OSError):
                    while wire.s.recv(1):
                        pass
                hold.append("ended")
                raise EOFError
            wire.s.sendall(b"0\r\n\r\n")
        return say
    return answer


def test_events_are_passed_on_as_they_come_and_a_caller_who_goes_cancels_the_call():
    held = []
    with guard(peer=streaming([b"event: start\ndata: {}\n\n"], held)) as g:
        wire = g.connect()
        wire.ask("POST", "/v1/calls", g.fields(more=[("Accept", "text/event-stream")]), g.body("exec", {"command": "sleep"}, policy={}))
        line, fields = wire.head()
        assert fields["content-type"] == "text/event-stream"
        chunks = wire.chunks()
        assert next(chunks).startswith(b"event: note\n") and next(chunks) == b"event: start\ndata: {}\n\n"
        assert g.peer.seen[-1]["fields"]["accept"] == "text/event-stream"
        wire.close()
        wait_for("the connection to the runner ends", lambda: "ended" in held)


def test_a_caller_who_goes_before_the_answer_cancels_the_call():
    ended = threading.Event()

    def silent(wire):
        while wire.s.recv(1):
            pass
        ended.set()
    with guard(peer=lambda r: silent) as g:
        wire = g.connect()
        wire.ask("POST", "/run", g.fields(), g.body("file_read", {"path": "a"}))
        wait_for("the runner was asked", lambda: g.peer.seen)
        wire.close()
        assert ended.wait(30)


def test_a_caller_who_does_not_read_stops_the_runner_and_not_the_guard():
    block, sent = b"x" * 65536, []

    def flood(request):
        def say(wire):
            wire.s.sendall(b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n")
            for _ in range(400):
                wire.s.sendall(b"%x\r\n%s\r\n" % (len(block), block))
                sent.append(len(block))
            wire.s.sendall(b"0\r\n\r\n")
        return say
    with guard(peer=flood) as g:
        wire = g.connect()
        wire.s.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 65536)
        wire.ask("GET", "/v1/sessions", g.fields())
        wait_for("something is sent", lambda: sent)
        wait_for("nothing more is sent", lambda: len(sent) == (time.sleep(0.5), len(sent))[1])
        assert len(sent) < 400, "26 MB do not lie anywhere in between"
        resident = int([l for l in open(f"/proc/{g.process.pid}/status") if l.startswith("VmRSS")][0].split()[1])
        assert resident < 40000
        assert g.ask("GET", "/health", token=None).status == 200
        assert wire.answer().body == block * 400


class Events:
    """Plays the runner's /v1/events: a head, and what a test says later, to each stream that is open."""

    def __init__(self):
        self.streams, self.lasts, self.ended = [], [], 0

    def __call__(self, request):
        if request["target"] != "/v1/events":
            return echo(request)

        def say(wire):
            self.lasts.append(request["fields"].get("last-event-id"))
            self.streams.append(wire)
            wire.s.sendall(b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nTransfer-Encoding: chunked\r\n\r\n")
            with contextlib.suppress(OSError):
                while wire.s.recv(1):
                    pass
            self.ended += 1
            raise EOFError
        return say

    def tell(self, which, text):
        self.streams[which].s.sendall(b"%x\r\n%s\r\n" % (len(text), text))


def event(n):
    return b"event: decided\nid: %d\ndata: {}\n\n" % n


def listen(g, token="all", last=None):
    wire = g.connect()
    wire.ask("GET", "/v1/events", g.fields(token, [("Last-Event-ID", str(last))] if last is not None else []))
    line, fields = wire.head()
    assert line.split()[1] == "200" and fields["content-type"] == "text/event-stream", line
    return wire, wire.chunks()


def test_all_who_show_one_token_hear_one_stream_of_the_runner_and_it_ends_with_the_last_of_them():
    events = Events()
    with guard(peer=events) as g:
        heard = [listen(g) for _ in range(30)]
        other = listen(g, "coder")
        assert len(events.streams) == 2
        events.tell(0, event(1) + event(2)[:10])
        events.tell(0, event(2)[10:] + b": still here\n\n")
        for wire, chunks in heard:
            assert b"".join(next(chunks) for _ in range(3)) == event(1) + event(2) + b": still here\n\n"
        events.tell(1, event(7))
        assert next(other[1]) == event(7)
        for wire, _ in heard[1:]:
            wire.close()
        events.tell(0, event(3))
        assert next(heard[0][1]) == event(3)
        heard[0][0].close()
        wait_for("the stream ends", lambda: events.ended == 1)
        assert g.ask("GET", "/v1/events", more=[("Last-Event-ID", "x")]).status == 422


def test_who_comes_back_gets_what_was_missed_and_nothing_twice():
    events = Events()
    with guard(peer=events) as g:
        _, chunks = listen(g, last=4)
        wait_for("both streams", lambda: len(events.streams) == 2)
        own, shared = events.lasts.index("4"), events.lasts.index(None)
        events.tell(own, event(5) + event(6))
        assert [next(chunks), next(chunks)] == [event(5), event(6)]
        events.tell(shared, event(7))
        events.tell(own, event(7))
        assert next(chunks) == event(7)
        with contextlib.suppress(OSError):
            events.tell(own, b": still here\n\n")
        wait_for("his own stream is of no use any more", lambda: events.ended == 1)
        events.tell(shared, event(7) + event(8))
        assert next(c for c in chunks if c[:1] != b":") == event(8)


@pytest.mark.skipif(b"__asan_init" in GUARD.read_bytes(), reason="an instrumented program needs more")
def test_thousands_who_wait_for_events_need_little_memory():
    with guard(peer=Events()) as g:
        def resident():
            return int([line for line in open(f"/proc/{g.process.pid}/status") if line.startswith("VmRSS")][0].split()[1])
        wires = [listen(g)[0]]
        before = resident()
        try:
            wires += [listen(g)[0] for _ in range(900)]
            assert (resident() - before) / 900 * 5000 < 14000, "5,000 of them in 20 MB, with what the guard needs for itself"
        finally:
            for wire in wires:
                wire.close()


# ---- who goes first ----

def test_a_rate_is_held_for_each_token_by_itself():
    with guard(serve={"rate": 1, "burst": 1}) as g:
        assert g.ask("GET", "/v1/tools", token="coder").status == 200
        assert int(g.ask("GET", "/v1/tools", token="coder").fields["retry-after"]) > 20, "one in a minute"
    with guard(serve={"rate": 60, "burst": 3}) as g:
        got = [g.ask("GET", "/v1/tools", token="coder") for _ in range(5)]
        assert [a.status for a in got][:3] == [200] * 3 and got[4].status == 429 and int(got[4].fields["retry-after"]) >= 1
        assert got[4].json["error"] == "rate_limited"
        assert g.ask("GET", "/v1/tools", token="all").status == 200
        assert g.ask("GET", "/health", token=None).status == 200
        wait_for("it may go on", lambda: g.ask("GET", "/v1/tools", token="coder").status == 200)


def test_callers_are_served_in_turns_when_all_places_are_in_use():
    gate, order = threading.Semaphore(0), []

    def answer(request):
        def say(wire):
            gate.acquire()
            order.append(request["fields"]["x-creel-token"])
            wire.s.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n{}")
        return say
    with guard(peer=answer, serve={"max_calls": 1, "queue": 64}) as g:
        wires = []

        def send(token):
            wire = g.connect()
            wire.ask("POST", "/v1/calls", g.fields(token), g.body("exec", {}))
            wires.append(wire)
        for _ in range(10):
            send("coder")
        wait_for("they wait", lambda: len(g.peer.seen) == 1)
        time.sleep(0.2)
        send("all")
        time.sleep(0.2)
        for _ in range(11):
            gate.release()
        assert all(w.answer().status == 200 for w in wires)
        assert order.index(g.tokens["all"]) <= 2, "one caller's ten are not in front of another's one"


def test_one_token_has_so_many_calls_at_once_and_others_have_theirs():
    gate = threading.Semaphore(0)

    def hold(request):
        def say(wire):
            gate.acquire()
            wire.s.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n{}")
        return say
    with guard(peer=hold, serve={"token_calls": 2}) as g:
        wires = []
        for token in ["coder"] * 5 + ["all"] * 5:
            wires.append(g.connect())
            wires[-1].ask("POST", "/v1/calls", g.fields(token), g.body("exec", {}))
        wait_for("four run", lambda: len(g.peer.seen) >= 4)
        time.sleep(0.3)
        shown = [r["fields"]["x-creel-token"] for r in g.peer.seen]
        assert sorted(shown) == sorted([g.tokens["coder"]] * 2 + [g.tokens["all"]] * 2)
        for _ in wires:
            gate.release()
        assert all(w.answer().status == 200 for w in wires)


def test_a_queue_that_is_full_says_so():
    gate = threading.Semaphore(0)

    def hold(request):
        def say(wire):
            gate.acquire()
            wire.s.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n{}")
        return say
    with guard(peer=hold, serve={"max_calls": 1, "queue": 4}) as g:
        wires = []
        for token in ["coder"] * 5 + ["all"] * 3:
            wire = g.connect()
            wire.ask("POST", "/v1/calls", g.fields(token), g.body("exec", {}))
            wires.append(wire)
            time.sleep(0.05)
        refused = [wires[4].answer(), wires[6].answer(), wires[7].answer()]
        assert [a.status for a in refused] == [429, 503, 503] and all(a.fields["retry-after"] == "1" for a in refused)
        for _ in range(5):
            gate.release()
        assert [wires[i].answer().status for i in (0, 1, 2, 3, 5)] == [200] * 5


def test_calls_that_wait_take_no_more_memory_than_their_bytes():
    gate = threading.Semaphore(0)

    def hold(request):
        def say(wire):
            gate.acquire()
            wire.s.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n{}")
        return say
    with guard(peer=hold, serve={"max_calls": 1, "queue": 256, "rate": 100000, "burst": 100000}) as g:
        body = json.dumps(g.body("exec", {"many": [{}] * 19000})).encode()

        def most():
            return int([line for line in open(f"/proc/{g.process.pid}/status") if line.startswith("VmHWM")][0].split()[1])
        with contextlib.ExitStack() as all_of_them:
            before = most()
            wires = [all_of_them.enter_context(contextlib.closing(g.connect())) for _ in range(101)]
            for wire in wires:
                wire.ask("POST", "/v1/calls", g.fields(), body)
                assert g.ask("GET", "/health", token=None).status == 200
            gate.release(len(wires))
            assert {wire.answer().status for wire in wires} == {200}
            assert most() - before < 3 * len(wires) * len(body) / 1024


def test_a_call_with_too_many_values_is_413(g):
    assert g.call("exec", {"many": [0] * 30000}).status == 413
    assert g.call("exec", {"many": [0] * 10000}).status == 200


def test_a_thousand_slow_and_half_open_clients_do_not_stop_others():
    with guard() as g:
        slow = []
        try:
            for i in range(1000):
                s = socket.create_connection(g.address, timeout=30)
                s.sendall([b"", b"GET /health HT", b"POST /run HTTP/1.1\r\nHost: x\r\nContent-Length: 100\r\n\r\n{"][i % 3])
                slow.append(s)
            for _ in range(20):
                assert g.run("file_read", {"path": "a"}).status == 200
        finally:
            for s in slow:
                s.close()


def test_the_guard_is_locked_in_and_goes_on_reading_and_writing_its_files(g):
    status = dict(line.split(":", 1) for line in open(f"/proc/{g.process.pid}/status"))
    assert status["Seccomp"].strip() == "2" and status["NoNewPrivs"].strip() == "1" and int(status["CapEff"], 16) == 0
    if os.getuid() == 0:
        inside = pathlib.Path(f"/proc/{g.process.pid}/root")
        assert sorted(p.name for p in inside.iterdir()) == ["tmp"], "the way to its own directories, and nothing else"
        assert not (inside / "etc").exists() and not (inside / "proc").exists()
        # Whoever has taken it over makes no token for himself; the list of those who want to be known is its own.
        for name, error in (("tokens", errno.EROFS), ("pairing", None)):
            try:
                (inside / str(g.state / name).lstrip("/") / "by-the-guard").write_text("x")
                got = None
            except OSError as e:
                got = e.errno
            assert got == error, name
    g.token("fresh", "*")
    assert g.ask("GET", "/v1/tools", token="fresh").status == 200


def test_the_guard_has_nothing_of_the_engine_in_it():
    names = GUARD.read_bytes()
    for word in (b"sqlite3_open", b"creel_engine_new", b"creel-warden"):
        assert word not in names


def test_the_next_call_of_a_session_goes_where_its_last_one_went():
    """Each connection to the runner has a worker, who has the session open that he served last."""
    went, together = [], threading.Barrier(2)

    def answer(request):
        went.append((json.loads(request["body"])["agent"], threading.get_ident()))
        if len(went) <= 2:
            together.wait(60)  # so that there are two
        return echo(request)

    with guard(peer=answer) as one:
        first = [threading.Thread(target=one.call, args=["exec", {}, who]) for who in (CODER, HELLO)]
        for t in first:
            t.start()
        for t in first:
            t.join()
        home = dict(went)
        assert len(set(home.values())) == 2
        for who in (CODER, HELLO, HELLO, CODER, CODER, HELLO):
            assert one.call("exec", {}, who).status == 200
        assert len(went) == 8 and all(home[agent] == where for agent, where in went)
        assert one.peer.connections == 2
