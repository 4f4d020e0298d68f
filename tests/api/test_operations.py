# SPDX-License-Identifier: Apache-2.0
"""All services together, as whoever operates them meets them: S2's table, the log, numbers, approvals, incidents, systemd, and the end of it."""
import base64
import concurrent.futures
import contextlib
import json
import os
import re
import signal
import socket
import subprocess
import time

import pytest

from guard_lab import CODER, HELLO, ORDINARY, wait_for
from runner_lab import Connection, as_users
from services_lab import CREELD, Ordinary, Services, alive, audit, call_body, free_port, running, sleeper, still_there, stream
from test_guard import ROWS

SECRET = "S3cr3t-hunter2-0001"


@pytest.fixture(scope="module", params=as_users())
def tier1(request):
    s = Services(request.param, options=["-e", "network.internal.hosts=ollama"])
    with running(s):
        yield s


@pytest.fixture(scope="module", params=as_users())
def ordinary(request):
    with running(Ordinary(request.param)) as s:
        yield s


def ended(s, request):
    """The record of how it ended, once there is one."""
    return wait_for(f"the end of {request}", lambda: next((r for r in audit(s) if r["kind"] == "finished" and r["request"] == request), None))


# ---- S2's table, and the log of it ----


def test_s2_each_row_of_the_table_holds_with_all_services_running(tier1):
    for i, (tool, args, status, detail) in enumerate(ROWS):
        got = tier1.run(tool, args, request_id=f"row-{tier1.port}-{i}")
        assert (got.status, got.json) == (status, {"detail": detail}), (tool, args)
    assert not list((tier1.dir / "w").glob("**/*")) if (tier1.dir / "w").exists() else True


def test_what_the_guard_refuses_is_in_the_audit_log_with_the_token(tier1):
    mine = tier1.creel("token", "new", "--pairs", ":".join(CODER), "--name", f"mine{time.time_ns()}").strip()
    body = {"agent": HELLO[0], "scope": {"type": "telegram", "chat_id": HELLO[1]}, "tool": "file_read", "args": {"path": "a"}}
    assert tier1.ask("POST", "/run", {**body, "request_id": "spoof"}, mine).status == 403
    assert tier1.run("shell_exec", {"cmd": ["bash"]}, request_id="shell").status == 403
    assert ended(tier1, "spoof")["reason"] == ended(tier1, "shell")["reason"] == "refused"
    records = {r["request"]: r for r in audit(tier1) if r["kind"] == "decided"}
    ids = {t["id"]: t for t in json.loads(tier1.creel("token", "list", "--json"))["tokens"]}
    assert (records["spoof"]["verdict"], records["spoof"]["code"], records["spoof"]["chat"]) == ("DENY", "pair_not_allowed", HELLO[1])
    assert records["spoof"]["token"] in ids and records["spoof"]["token"] != records["shell"]["token"]
    assert tier1.run("file_read", {"path": "nothing"}, request_id="allowed").status == 200
    assert next(r for r in audit(tier1) if r["kind"] == "decided" and r["request"] == "allowed")["token"] == records["shell"]["token"]
    shown = tier1.creel("audit", "show", "--denied", "--request", "shell")
    assert "shell_denied" in shown and "spoof" not in shown
    before = len(audit(tier1))
    assert tier1.ask("GET", "/v1/tools", token="wrong").status == 401
    refused = wait_for("the token that nobody knows", lambda: [r for r in audit(tier1)[before:] if r["kind"] == "token"])
    assert (refused[0]["what"], refused[0]["code"]) == ("refused", "unknown") and refused[0]["peer"].startswith("127.0.0.1:")
    tier1.creel("audit", "verify")


def test_s2_7_another_user_reaches_neither_the_runner_nor_the_proxy(tier1):
    if os.getuid() != 0:
        pytest.skip("needs a second user")
    code = "import socket, sys; s = socket.socket(socket.AF_UNIX, int(sys.argv[2]))\ntry:\n s.connect(sys.argv[1]); print('in')\nexcept OSError as e: print(e.errno)"
    for name, kind in (("runner", socket.SOCK_STREAM), ("egress", socket.SOCK_SEQPACKET)):
        path = tier1.state / f"run/{name}.sock"
        assert path.parent.stat().st_mode & 0o777 == 0o700 and path.stat().st_mode & 0o777 == 0o600
        done = subprocess.run(["setpriv", "--reuid", str(ORDINARY + 1), "--regid", str(ORDINARY + 1), "--clear-groups", "/usr/bin/python3", "-c", code, str(path),
                               str(int(kind))], capture_output=True, text=True, timeout=60, check=True)
        assert done.stdout.strip() == "13", "EACCES"


@pytest.mark.parametrize("user", as_users())
def test_d2_1_a_file_of_the_workspace_adds_no_argument_to_curl(user):
    with socket.create_server(("127.0.0.1", 0)) as model:
        s = Services(user, options=["-e", f"network.internal.hosts=ollama:11434=127.0.0.1:{model.getsockname()[1]}"])
        with running(s), concurrent.futures.ThreadPoolExecutor(1) as pool:
            for name in (".curlrc", "_curlrc", ".config/curlrc"):
                assert s.run("file_write", {"path": name, "content": 'data = "x=1"\nuser-agent = "odd"\nurl = "file:///etc/passwd"\n'}).json["ok"]
            held = pool.submit(s.run, "shell_exec", {"cmd": ["curl", "-fsS", "http://ollama:11434/"]})
            conn, _ = model.accept()
            asked = conn.recv(65536)
            conn.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok")
            conn.close()
            assert asked.startswith(b"GET / HTTP/1.1\r\n") and b"odd" not in asked and held.result().json["stdout"] == "ok"
            assert s.stop() == 0


def test_processes_of_a_session_are_listed_and_ended_through_both_services(ordinary):
    started = ordinary.call("exec", {"command": ["sleep", f"9{os.getpid()}"], "background": True}).json
    where = f"?agent={CODER[0]}&type=telegram&chat_id={CODER[1]}"
    assert started["ok"] and started["sessionId"] in ordinary.ask("GET", "/v1/processes" + where).body.decode()
    assert ordinary.ask("POST", f"/v1/processes/{started['sessionId']}/kill{where}").json["ok"]
    other = ordinary.new_token("--pairs", ":".join(HELLO))
    assert ordinary.ask("GET", "/v1/processes" + where, token=other).status == 403


@pytest.mark.parametrize("user", as_users())
def test_two_chats_in_one_sandbox_have_background_processes_of_their_own(user):
    pairs = [CODER, (CODER[0], "TG_OTHER")]
    s = Ordinary(user, identity={"pairs": [{"channel": "telegram", "agent": a, "chat_id": c} for a, c in pairs]}, backend={"scope": "agent"})
    with running(s):
        everybody = s.new_token("--pairs", "*")
        tokens = [s.new_token("--pairs", ":".join(pair)) for pair in pairs]

        def call(chat, tool, args, token=None):
            body = {"agent": CODER[0], "scope": {"type": "telegram", "chat_id": pairs[chat][1]}, "tool": tool, "args": args}
            return s.ask("POST", "/v1/calls", body, token or tokens[chat])

        def listed(chat, token=None):
            got = s.ask("GET", f"/v1/processes?agent={CODER[0]}&type=telegram&chat_id={pairs[chat][1]}", token=token or tokens[chat])
            assert got.status == 200, got
            return {row["sessionId"] for row in got.json["sessions"]}

        marks = [f"own-{s.port}-{chat}" for chat in (0, 1)]
        ids = [call(chat, "exec", {"command": sleeper(marks[chat]), "background": True}).json["sessionId"] for chat in (0, 1)]
        seen = [call(chat, "exec", {"command": ["readlink", "/proc/self/ns/pid"]}).json["stdout"] for chat in (0, 1)]
        assert ids[0] != ids[1] and seen[0] == seen[1], "it is one sandbox"
        for chat in (0, 1):
            assert listed(chat) == listed(chat, everybody) == {ids[chat]}
            for action in ("poll", "log", "write", "submit", "send-keys", "paste", "signal", "kill", "clear", "remove"):
                args = {"action": action, "sessionId": ids[1 - chat], "data": "x", "text": "x", "keys": ["Enter"], "signal": "KILL"}
                allowed = {"write": ("data",), "submit": ("data",), "send-keys": ("keys",), "paste": ("text",), "signal": ("signal",)}.get(action, ())
                got = call(chat, "process", {k: v for k, v in args.items() if k in ("action", "sessionId", *allowed)})
                assert not got.json["ok"] and "there is no process" in got.json["message"], (action, got)
            where = f"?agent={CODER[0]}&type=telegram&chat_id={pairs[chat][1]}"
            assert not s.ask("POST", f"/v1/processes/{ids[1 - chat]}/kill{where}", token=tokens[chat]).json["ok"]
            assert alive(marks[1 - chat])
        assert listed(0, s.token) == listed(1, s.token) == set(ids), "an administrator looks after all"
        assert call(0, "code_exec", {"language": "python", "code": "secret = 42"}).json["ok"]
        got = call(1, "code_exec", {"language": "python", "code": "print('secret' in globals())"})
        assert got.json["stdout"] == "False\n", got
        assert call(0, "code_exec", {"language": "python", "code": "secret = 42", "session": True}).json["ok"]
        for chat, token, known in ((0, tokens[0], True), (1, tokens[1], False), (1, s.token, False)):
            got = call(chat, "code_exec", {"language": "python", "code": "print('secret' in globals())", "session": True}, token)
            assert got.json["stdout"] == f"{known}\n", (chat, got)
        where = f"?agent={CODER[0]}&type=telegram&chat_id={pairs[0][1]}"
        assert s.ask("POST", f"/v1/processes/{ids[1]}/kill{where}").json["ok"] and not alive(marks[1])
        assert s.ask("POST", f"/v1/processes/{ids[0]}/kill{where}", token=tokens[0]).json["ok"] and not alive(marks[0])
        assert s.stop() == 0


# ---- numbers ----


def family(text, name, **labels):
    """The sum of a family's samples that have these labels; None when there is none."""
    found = [float(v) for n, have, v in re.findall(r"^([a-z_]+)(\{[^}]*\})? (\S+)$", text, re.M)
             if n == name and all(f'{k}="{w}"' in have for k, w in labels.items())]
    return sum(found) if found else None


@pytest.mark.parametrize("user", as_users())
def test_the_metrics_have_every_family_of_all_services(user):
    with socket.create_server(("127.0.0.1", 0)) as model:
        s = Ordinary(user, network={"internal": {"hosts": [f"ollama:11434=127.0.0.1:{model.getsockname()[1]}"]}})
        with running(s):
            assert s.call("exec", {"command": ["true"]}).json["ok"]
            assert s.call("exec", {"command": ["false"]}).status == 200
            assert s.run("shell_exec", {"cmd": ["bash"]}, request_id="b").status == 403
            held = s.wire()
            held.ask("POST", "/run", [("Authorization", f"Bearer {s.token}")], {"agent": CODER[0], "scope": {"type": "telegram", "chat_id": CODER[1]},
                     "tool": "shell_exec", "args": {"cmd": ["curl", "-fsS", "http://ollama:11434/"]}})
            conn, _ = model.accept()
            assert conn.recv(65536).startswith(b"GET / ")
            during = s.ask("GET", "/metrics").body.decode()
            assert family(during, "creel_runner_queue", state="running") == 1 and family(during, "creel_egress_sandboxes") == 1
            conn.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok")
            conn.close()
            assert held.answer().json["stdout"] == "ok"
            held.close()
            ended(s, "b")
            text = s.ask("GET", "/metrics").body.decode()
            assert s.stop() == 0
    done = subprocess.run(["promtool", "check", "metrics"], input=text, capture_output=True, text=True, check=False, timeout=60)
    assert done.returncode == 0 and not done.stdout and not done.stderr, done
    assert family(text, "creel_calls_total", tool="exec", verdict="ok", backend="native") == 1
    assert family(text, "creel_calls_total", tool="exec", verdict="failed", backend="native") == 1
    assert family(text, "creel_calls_total", tool="shell_exec", verdict="refused", backend="none") == 1
    assert family(text, "creel_call_duration_seconds_count", tool="exec") == 2 and family(text, "creel_guard_request_duration_seconds_count", route="calls") == 2
    assert family(text, "creel_sandboxes") == 1 and family(text, "creel_pool_ready") in (0, 1)
    assert family(text, "creel_pool_total", event="miss") == 1
    assert family(text, "creel_leases_total", event="created") == 1
    assert family(text, "creel_denials_total", layer="policy") == 1
    assert family(text, "creel_egress_bytes_total", direction="in") > 30 and family(text, "creel_egress_bytes_total", direction="out") > 30
    assert family(text, "creel_egress_requests_total", verdict="ok") == 1 and family(text, "creel_egress_sandboxes") == 0
    for who in ("guard", "runner", "egress"):
        assert family(text, f"creel_{who}_resident_memory_bytes") > 1 << 20
    assert family(text, "creel_guard_queue", state="running") == 1, "this very request"
    assert (family(text, "creel_runner_queue", state="running") or 0) == 0


# ---- approvals ----


@pytest.mark.parametrize("user", as_users())
def test_answers_over_the_api_are_for_one_call_or_for_a_time_and_none_is_no(user):
    with running(Ordinary(user, mode={"when": "off"}, tools={"exec": {"mode": "always"}}, approvals={"timeout_s": 2})) as s:
        def asked(command, answer=None):
            """How it ended, and whether somebody was asked."""
            with stream(s, "POST", "/v1/calls", call_body(command)) as events:
                waited = False
                for kind, data, _ in events:
                    if kind == "waiting":
                        waited = True
                        if answer:
                            assert s.ask("POST", f"/v1/approvals/{data['approval']['id']}", answer).status == 200
                    if kind == "result":
                        return data, waited

        assert asked(["echo", "none"])[0]["error"] == "approval_timeout", "no answer is no"
        assert asked(["echo", "no"], {"answer": "deny"})[0]["error"] == "approval_denied"
        once = {"answer": "allow"}
        assert asked(["echo", "one"], once)[0]["stdout"] == "one\n"
        assert asked(["echo", "one"])[0]["error"] == "approval_timeout", "it was for one call"
        timed = {"answer": "allow", "for_s": 300}
        assert asked(["echo", "two"], timed)[0]["stdout"] == "two\n"
        result, waited = asked(["echo", "two"])
        assert result["stdout"] == "two\n" and not waited, "for a time, without being asked again"
        assert asked(["echo", "two", "more"])[0]["error"] == "approval_timeout", "another call is another question"
        plain = s.ask("POST", "/v1/calls", call_body(["echo", "none"]))
        assert (plain.status, plain.json["error"]) == (403, "approval_timeout"), "without events, too"
        whats = [r["what"] for r in audit(s) if r["kind"] == "approval"]
        assert {"asked", "allowed", "denied", "expired"} <= set(whats)
        assert s.stop() == 0


# ---- incidents ----


@pytest.mark.parametrize("user", as_users())
def test_s4_52_an_incident_over_http_is_whole_and_holds_no_secret(user):
    s = Ordinary(user, env={"set": {"API_SECRET": SECRET}})
    with running(s):
        text = f"echo raw:{SECRET} --password={SECRET}; echo {base64.b64encode(SECRET.encode()).decode()}; true {SECRET}"
        assert s.call("exec", {"command": ["sh", "-c", text]}, request_id="inc-1").json["ok"]
        assert s.run("shell_exec", {"cmd": ["bash", "-c", SECRET]}, request_id="inc-2").status == 403
        got = s.ask("GET", "/v1/admin/incident?request=inc-1")
        assert got.status == 200 and len(got.json["calls"]) == 1 and got.json["log"]["whole"]
        call = got.json["calls"][0]
        assert call["decided"]["verdict"] == "ALLOW" and call["decided"]["token"] and call["finished"]["reason"] == "exited"
        assert [e["what"] for e in got.json["sandboxes"][0]["events"]] == ["created"], "the life of its sandbox"
        ended(s, "inc-2")
        refused = s.ask("GET", "/v1/admin/incident?request=inc-2")
        assert refused.json["calls"][0]["decided"]["code"] == "shell_denied"
        session = s.ask("GET", "/v1/admin/incident?session=agent:g-coder:telegram:group:TG_CODER")
        assert session.status == 200 and session.json["calls"]
        for answer in (got, refused, session):
            for form in (SECRET, base64.b64encode(SECRET.encode()).decode().rstrip("="), SECRET.encode().hex(), s.token):
                assert form not in answer.body.decode()
        assert s.ask("GET", "/v1/admin/incident?request=nothing").status == 404
        assert s.stop() == 0


# ---- the log in files ----


@pytest.mark.parametrize("user", as_users()[-1:])
def test_files_of_the_log_are_closed_and_kept_while_services_write_to_them(user):
    with running(Ordinary(user, audit={"rotate_size": "64k", "keep": 2})) as s:
        with stream(s, "GET", "/v1/events") as events:
            for i in range(120):
                assert s.call("exec", {"command": ["true", "x" * 500, "y" * 500]}, request_id=f"r-{i}").json["ok"]
            heard = []
            for kind, data, number in events:
                if kind == "finished":
                    heard.append(data["request"])
                if heard and heard[-1] == "r-119":
                    break
        assert heard == [f"r-{i}" for i in range(120)], "over all files, none twice"
        old = list((s.state / "audit").glob("audit-*.jsonl"))
        assert 1 <= len(old) <= 2 and [r for f in [*old, s.state / "audit/audit.jsonl"] for r in f.read_text().splitlines() if '"kind":"pruned"' in r]
        s.creel("audit", "verify")
        assert s.stop() == 0


@pytest.mark.parametrize("user", as_users()[:1])
def test_a_configuration_that_changes_is_in_the_log(user):
    s = Ordinary(user)
    with running(s):
        assert s.call("exec", {"command": ["true"]}).json["ok"]
        before = [r["digest"] for r in audit(s) if r["kind"] == "config"]
        s.config["limits"] = {"timeout_s": 33}
        s.argv()  # writes the file
        s.p.send_signal(signal.SIGHUP)
        wait_for("it was read again", lambda: "info reloaded" in s.said())
        assert s.call("exec", {"command": ["true"]}).json["ok"]
        after = [r for r in audit(s) if r["kind"] == "config"]
        assert len(after) == len(before) + 1 and after[-1]["what"] == "changed" and after[-1]["digest"] not in before
        assert s.stop() == 0


# ---- log lines ----


@pytest.mark.parametrize("user", as_users())
def test_log_lines_as_json_have_who_what_and_how_long_and_no_secret(user):
    s = Ordinary(user)
    with open(s.log, "ab") as log:
        s.p = subprocess.Popen(s.argv("--log-format", "json"), env=s.env, stdin=subprocess.DEVNULL, stdout=log, stderr=log, cwd=s.home)
    try:
        wait_for("they serve", lambda: '"event":"serving"' in s.said() and '"service":"creeld"' in s.said().splitlines()[-1])
        assert s.call("exec", {"command": ["true"]}, request_id="line-1").json["ok"]
        assert s.run("shell_exec", {"cmd": ["bash"]}, request_id="line-2").status == 403
        assert s.ask("GET", "/v1/tools", token="wrong").status == 401
        assert s.stop() == 0
        lines = [json.loads(line) for line in s.said().splitlines()]
        answered = next(x for x in lines if x["event"] == "answered" and x["request"] == "line-1")
        assert (answered["service"], answered["route"], answered["status"]) == ("guard", "calls", 200) and answered["us"] > 0 and answered["token"]
        assert next(x for x in lines if x["event"] == "refused")["code"] == "shell_denied"
        assert {x["service"] for x in lines} >= {"creeld", "guard", "runner", "egress"} and all(x["level"] in ("info", "warn", "error") for x in lines)
        assert s.token not in s.said() and "wrong" not in s.said()
    finally:
        s.close()


# ---- systemd ----


class Manager:
    """Listens where a service manager does."""

    def __init__(self, path):
        self.s = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
        self.s.bind(str(path))
        os.chmod(path, 0o666)
        self.s.settimeout(60)
        self.said = []

    def until(self, word):
        while not any(word in m for m in self.said):
            self.said.append(self.s.recv(4096).decode())
        return self.said[-1]


@pytest.mark.parametrize("user", as_users())
def test_systemd_starts_it_with_the_first_connection_and_is_told_what_it_does(user):
    s = Ordinary(user)
    manager = Manager(s.dir / "notify")
    words = s.argv()
    at = words.index(str(CREELD))
    activate = ["systemd-socket-activate", "-l", f"127.0.0.1:{s.port}", "--fdname=guard", *(w for k, v in s.env.items() for w in ("-E", f"{k}={v}")),
                "-E", f"NOTIFY_SOCKET={s.dir / 'notify'}", *words[at:]]
    with open(s.log, "ab") as log:
        s.p = subprocess.Popen([*words[:at], *activate], env=s.env, stdin=subprocess.DEVNULL, stdout=log, stderr=log, cwd=s.home)
    try:
        wait_for("somebody listens", lambda: "Listening on" in s.said())
        assert "creeld:" not in s.said(), "nothing runs before somebody comes"
        assert s.ask("GET", "/health").json["status"] == "ok", "and who comes first is answered"
        assert "STATUS=" in manager.until("READY=1")
        assert s.call("exec", {"command": ["echo", "on"]}).json["stdout"] == "on\n"
        s.p.send_signal(signal.SIGHUP)
        assert "MONOTONIC_USEC=" in manager.until("RELOADING=1")
        n = len(manager.said)
        while not any("READY=1" in m for m in manager.said[n:]):
            manager.said.append(manager.s.recv(4096).decode())
        s.config["mode"] = {"when": "nonsense"}
        s.argv()
        s.p.send_signal(signal.SIGHUP)
        manager.until("serving with the configuration before: the new one is refused")  # as systemctl status shows it
        assert "mode.when" in s.said() and s.ask("GET", "/health").status == 200
        s.p.send_signal(signal.SIGTERM)
        manager.until("STOPPING=1")
        assert s.p.wait(60) == 0
        assert not still_there(s)
    finally:
        manager.s.close()
        s.close()


# ---- the end ----


@pytest.mark.parametrize("user", as_users())
def test_sigterm_lets_calls_finish_and_what_outlasts_the_deadline_is_ended_and_recorded(user):
    mark = f"drain-{os.getpid()}-{user}"
    with running(Ordinary(user, serve={"drain_s": 4})) as s, contextlib.ExitStack() as held:
        short = held.enter_context(stream(s, "POST", "/v1/calls", call_body(sleeper(f"{mark}-short", 2), request_id="short")))
        long = held.enter_context(stream(s, "POST", "/v1/calls", call_body(sleeper(f"{mark}-long"), request_id="long")))
        for events in (short, long):
            assert next(events)[0] == "start" and next(events)[0] == "stdout"
        s.p.send_signal(signal.SIGTERM)
        wait_for("it stops", lambda: "creeld: info stopping" in s.said())
        with pytest.raises(OSError):
            wait_for("nobody new is let in", lambda: s.wire().close())
        assert list(short)[-1][1]["ok"], "what was begun is finished"
        with contextlib.suppress(EOFError, ValueError, OSError):
            assert not [e for e in long if e[0] == "result" and e[1]["ok"]]
        s.p.wait(90)
        wait_for("nothing of it is left", lambda: not alive(mark) and not still_there(s))
        assert s.p.returncode == 0 and "did not end in time" not in s.said(), "each ends by itself"
        ends = {r["request"]: r["reason"] for r in audit(s) if r["kind"] == "finished"}
        assert (ends["short"], ends["long"]) == ("exited", "cancelled")


@pytest.mark.parametrize("user", as_users()[-1:])
def test_s2_8_a_runner_on_a_port_wants_its_token_too(user):
    s = Ordinary(user)
    port = free_port()
    s.config["serve"] = {"runner": f"127.0.0.1:{port}"}
    with running(s):
        for method, target in (("POST", "/run"), ("POST", "/v1/calls"), ("GET", "/metrics"), ("POST", "/v1/refused")):
            with contextlib.closing(Connection.__new__(Connection)) as c:
                c.s = socket.create_connection(("127.0.0.1", port), timeout=60)
                c.f = c.s.makefile("rb")
                c.send(method, target, [("Authorization", f"Bearer {s.token}")], {} if method == "POST" else None)
                assert c.answer().status == 401
        assert s.call("exec", {"command": ["echo", "on"]}).json["stdout"] == "on\n", "the guard has it"
        assert s.stop() == 0
