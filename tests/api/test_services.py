# SPDX-License-Identifier: Apache-2.0
"""All services together, as callers meet them: S2's script and contract, creel's own calls, and approvals. What happens when something fails is in
test_services_faults.py."""
import concurrent.futures
import contextlib
import http.server
import json
import os
import pathlib
import signal
import socket
import subprocess
import threading
import uuid

import pytest

from guard_lab import CODER, CREEL, HELLO, ROOT, wait_for
from runner_lab import Connection, as_users
from services_lab import CREELD, Ordinary, Services, alive, audit, call_body, children, running, sleeper, still_there, stream

SCRIPT_PAIRS = [("g-coder", "TG_GROUP_CODER_ID"), ("g-hello", "TG_GROUP_HELLO_ID")]
CASES = ["1 Sandbox Health", "2 Workspace Containment", "2.1 Spoof Attempt Denied", "3 No Secrets Exposure", "4 No Internet Egress",
         "5 Allowed Internal Egress", "5.1 Tool-Runner Auth Required", "5.2 RW Enforcement", "6 Tool Output Sanitization"]
SESSION = "agent:g-coder:telegram:group:TG_CODER"


class Ollama(http.server.BaseHTTPRequestHandler):
    slow, asked = threading.Event(), threading.Semaphore(0)

    def do_GET(self):
        body = b'{"models":[]}'
        if self.path == "/slow":
            self.asked.release()
            self.slow.wait(60)
        self.send_response(200)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_):
        pass

    def handle(self):
        with contextlib.suppress(OSError):  # the other side may have gone
            super().handle()


@pytest.fixture(scope="module", params=as_users())
def tier1(request):
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Ollama)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    s = Services(request.param, options=["-e", f"network.internal.hosts=ollama:11434=127.0.0.1:{server.server_port}"])
    s.pairs(CODER, HELLO, *SCRIPT_PAIRS)
    try:
        with running(s):
            yield s
    finally:
        server.shutdown()
        server.server_close()


@pytest.fixture(scope="module", params=as_users())
def ordinary(request):
    with running(Ordinary(request.param)) as s:
        yield s


# ---- S2 ----


def test_s2_36_the_nine_cases_of_the_script_pass(tier1):
    env = {**tier1.env, "SANDBOX_GUARD_TOKEN": tier1.token, "CREEL_GUARD": f"http://127.0.0.1:{tier1.port}", "OPENCLAW_TEST_MODE": "strict",
           "CREEL_RUNNER": str(tier1.state / "run/runner.sock"), "OPENCLAW_WORKSPACES_ROOT": str(tier1.dir / "w")}
    done = subprocess.run([*tier1.become(), "bash", str(ROOT / "tests/api/test_sandbox_runner.sh")], env=env, cwd=tier1.home, capture_output=True, text=True,
                          timeout=300, check=False)
    assert done.returncode == 0, (done, tier1.said())
    assert done.stdout.splitlines() == [f"PASS: {case}" for case in CASES]


def test_s2_36_without_a_token_the_script_fails_when_it_has_to_be_strict(tier1):
    for mode, status, said in (("", 0, "SKIP: "), ("strict", 1, "FAIL: ")):
        done = subprocess.run(["bash", str(ROOT / "tests/api/test_sandbox_runner.sh")], env={**tier1.env, "OPENCLAW_TEST_MODE": mode}, capture_output=True,
                              text=True, timeout=60, check=False)
        assert done.returncode == status and (done.stdout + done.stderr).startswith(said), done


def test_s2_39_a_spoofed_pair_is_403_and_nothing_of_it_runs(tier1):
    for pair in ((CODER[0], HELLO[1]), (HELLO[0], CODER[1]), ("g-nobody", CODER[1]), (CODER[0], "-1")):
        got = tier1.run("file_write", {"path": "spoofed", "content": "x"}, pair)
        assert (got.status, got.json) == (403, {"detail": "agent/scope not allowed"}), got
    assert not list(tier1.dir.glob("w/**/spoofed"))


def test_a_file_of_almost_two_million_bytes_is_written_and_a_larger_one_is_413(tier1):
    got = tier1.run("file_write", {"path": "big", "content": "x" * 1900000})
    assert got.status == 200 and got.json["ok"], got
    assert (tier1.dir / "w/g-coder/group_TG_CODER/big").stat().st_size == 1900000
    got = tier1.run("file_write", {"path": "bigger", "content": "x" * 2100000})
    assert (got.status, got.json) == (413, {"detail": "content too large"})
    assert not (tier1.dir / "w/g-coder/group_TG_CODER/bigger").exists()


def test_s2_44_a_command_cannot_write_whatever_policy_the_caller_sends(tier1):
    policy = {"policy": {"fs": {"mode": "rw"}, "net": {"mode": "allowlist", "allow": ["example.com"]}}}
    for more in ({}, policy):
        got = tier1.run("shell_exec", {"cmd": ["python3", "-c", "open('rw', 'w').write('x')"]}, **more)
        assert got.status == 200 and not got.json["ok"] and "Read-only file system" in got.json["stderr"], got
        assert ("caller_policy_ignored" in got.json.get("notes", [])) == bool(more)
    assert not (tier1.dir / "w/g-coder/group_TG_CODER/rw").exists()
    got = tier1.run("shell_exec", {"cmd": ["curl", "-fsS", "https://example.com"]}, **policy)
    assert (got.status, got.json) == (403, {"detail": "curl host not allowed"})


def test_a_job_that_lasts_too_long_is_killed_with_all_its_processes(tier1):
    mark = f"late-{os.getpid()}-{tier1.uid}"
    code = f"import subprocess; subprocess.run({sleeper(mark)!r})"
    got = tier1.run("shell_exec", {"cmd": ["python3", "-c", code], "timeout_s": 2})
    assert got.status == 200 and (got.json["ok"], got.json["error"]) == (False, "timeout"), got
    assert "up" in got.json["stdout"], "the inner one ran"
    assert not alive(mark)


@pytest.mark.parametrize("tier1", as_users()[:1], indirect=True)  # once is enough
def test_d2_4_a_job_longer_than_thirty_seconds_is_answered(tier1):
    got = tier1.run("shell_exec", {"cmd": ["python3", "-c", "import time; time.sleep(32); print('late')"], "timeout_s": 50})
    assert got.status == 200 and got.json["ok"] and got.json["stdout"] == "late\n", got


def test_d2_7_in_a_workspace_of_somebody_else_files_are_made_as_his(tier1):
    if tier1.uid != 0:
        return  # whose files an ordinary user makes is no question
    place = tier1.dir / "w" / HELLO[0] / f"group_{HELLO[1]}"
    place.mkdir(parents=True, exist_ok=True)
    (place / "old").write_text("old")
    for path in (place, place / "old"):
        os.chown(path, 4242, 4242)
    for name in ("old", "new"):
        assert tier1.run("file_write", {"path": name, "content": "new"}, pair=HELLO).json["ok"]
        assert ((place / name).read_text(), (place / name).stat().st_uid) == ("new", 4242)
    got = tier1.run("shell_exec", {"cmd": ["python3", "-c", "import os; print(os.getuid() > 0)"]}, pair=HELLO).json
    assert got["stdout"] == "True\n", got


def test_s2_23_no_answer_of_ours_has_a_trace_of_the_inside(tier1):
    asked = [("file_read", {"path": "missing.txt"}), ("file_read", {"path": "../../.env"}), ("file_read", {"path": "/etc/shadow"}), ("file_read", {"path": "."}),
             ("file_read", {"path": "a\0b"}), ("file_read", {"path": 5}), ("file_read", {}), ("file_write", {"path": "no/such/../../../x", "content": "x"}),
             ("file_write", {"path": ".", "content": "x"}), ("shell_exec", {"cmd": "ls"}), ("shell_exec", {"cmd": []}), ("shell_exec", {"cmd": ["rm", "x"]}),
             ("no_such_tool", {}), ("shell_exec", {"cmd": ["python3", "/no/such/file"]})]
    for tool, args in asked:
        got = tier1.run(tool, args)
        assert 200 <= got.status < 500 and not got.json.get("ok"), (tool, args, got)
        for word in (b"Traceback", b'File \\"', b"src/", b".c:", str(tier1.dir).encode()):
            assert word not in got.body, (tool, args, got)


def test_d2_10_a_path_with_a_dot_is_refused_and_a_name_with_a_dot_is_a_name(tier1):
    assert tier1.run("file_write", {"path": ".hidden", "content": "x"}).json["ok"]
    assert tier1.run("file_read", {"path": ".hidden"}).json["stdout"] == "x"
    for path in ("./.hidden", "a/../.hidden", "..", "../x"):
        got = tier1.run("file_read", {"path": path})
        assert not got.json.get("ok") and got.status < 500, (path, got)


def test_s2_43_the_runner_takes_nothing_from_a_caller_who_has_no_token_of_the_runner(tier1):
    at = tier1.state / "run/runner.sock"
    assert at.stat().st_mode & 0o777 == 0o600 and at.stat().st_uid == tier1.uid
    for fields in ([], [("Authorization", f"Bearer {tier1.token}")]):
        with contextlib.closing(Connection(at)) as c:
            c.send("POST", "/run", fields, {})
            assert c.answer().status == 401


def test_s2_42_egress_killed_under_a_request_fails_that_request_alone(tier1):
    def curl(path):
        return tier1.run("shell_exec", {"cmd": ["curl", "-fsS", f"http://ollama:11434/{path}"]})

    Ollama.slow.clear()
    with concurrent.futures.ThreadPoolExecutor(1) as pool:
        try:
            held = pool.submit(curl, "slow")
            assert Ollama.asked.acquire(timeout=60)
            pid = tier1.service("creel-egress")
            os.kill(pid, signal.SIGKILL)
            got = held.result()
        finally:
            Ollama.slow.set()
    assert got.status == 200 and (got.json["ok"], got.json["error"]) == (False, "execution_error"), got
    assert f'request="{got.json["request_id"]}" tool="shell_exec" error="egress_lost"' in tier1.said(), "the operator is told more"
    wait_for("another in its place", lambda: tier1.service("creel-egress") not in (pid, None))
    assert curl("api/tags").json["stdout"] == '{"models":[]}'


# ---- creel's own calls ----


def test_a_call_is_answered_with_its_result_and_the_next_finds_what_it_left(ordinary):
    got = ordinary.call("exec", {"command": ["sh", "-c", "echo left > /tmp/state; pwd"]}, request_id="warm-1")
    assert got.status == 200 and got.json["ok"] and got.json["stdout"] == "/workspace\n" and got.json["request_id"] == "warm-1", got
    assert got.json["sandbox"]["session"] == SESSION and got.json["sandbox"]["place"] == "container"
    assert ordinary.call("exec", {"command": ["cat", "/tmp/state"]}).json["stdout"] == "left\n"
    other = ordinary.call("exec", {"command": ["cat", "/tmp/state"]}, HELLO)
    assert other.status == 200 and not other.json["ok"] and other.json["stdout"] == "", "another pair has a sandbox of its own"


def test_events_of_a_call_come_in_order_while_it_runs(ordinary):
    mark = f"order-{os.getpid()}-{ordinary.uid}"
    with stream(ordinary, "POST", "/v1/calls", call_body(sleeper(mark, 1), request_id=mark)) as events:
        assert next(events)[:2] == ("start", {"request_id": mark})
        assert next(events)[:2] == ("stdout", {"data": "up\n"})
        assert alive(mark), "what was said arrives before the end"
        assert next(events)[:2] == ("stdout", {"data": "done\n"})
        kind, result, _ = next(events)
        assert kind == "result" and result["ok"] and result["request_id"] == mark and result["stdout"] == "up\ndone\n"
        assert not list(events)


@pytest.mark.parametrize("streamed", [True, False])
def test_a_caller_that_goes_ends_his_call_through_both_services(ordinary, streamed):
    mark = f"gone-{streamed}-{os.getpid()}-{ordinary.uid}"
    wire = ordinary.wire()
    fields = [("Authorization", f"Bearer {ordinary.token}"), *([("Accept", "text/event-stream")] if streamed else [])]
    wire.ask("POST", "/v1/calls", fields, call_body(sleeper(mark), request_id=mark))
    wait_for("the call runs", lambda: alive(mark))
    wire.close()
    wait_for("its program ends", lambda: not alive(mark))
    end = wait_for("the log has it", lambda: [r for r in audit(ordinary) if r["kind"] == "finished" and r["request"] == mark])
    assert [r["reason"] for r in end] == ["cancelled"]


@pytest.mark.parametrize("streamed", [True, False])
@pytest.mark.parametrize("version", ["1.1", "1.0"])
def test_a_caller_that_ends_his_half_gets_his_answer_and_ends_the_call_when_he_goes(ordinary, streamed, version):
    """As `nc -N` does. HTTP/1.0 has no chunks: nobody can ask who hears events in it whether he is still there, so these end with his half."""
    mark = f"half-{streamed}-{version}-{os.getpid()}-{ordinary.uid}"
    accept = "Accept: text/event-stream\r\n" if streamed else ""

    def ask(seconds, then):
        body = json.dumps(call_body(sleeper(mark, seconds), request_id=mark)).encode()
        head = f"POST /v1/calls HTTP/{version}\r\nHost: x\r\nAuthorization: Bearer {ordinary.token}\r\n{accept}Content-Type: application/json\r\n"
        wire = ordinary.wire()
        wire.s.sendall(f"{head}Content-Length: {len(body)}\r\n\r\n".encode() + body)
        wait_for("the call runs", lambda: alive(mark))
        wire.s.shutdown(socket.SHUT_WR)
        return then(wire)

    if not (streamed and version == "1.0"):
        got = ask(1, lambda w: w.f.read())
        assert got.startswith(b"HTTP/1.1 200 OK\r\n") and b"done" in got, got
    ask(500, lambda w: w.close())
    wait_for("its program ends", lambda: not alive(mark))


@pytest.mark.parametrize("tool, args, error, path", [
    ("exec", {}, "invalid_arguments", None),
    ("exec", {"command": "true", "nonsense": 1}, "invalid_arguments", None),
    ("exec", {"command": "x" * 200000}, "limit", None),
    ("read", {"path": "no/such", "limit": "many"}, "invalid_arguments", None),
    ("read", {"path": "no/such"}, "not_found", "no/such"),
    ("write", {"file_path": "a file.txt", "content": "of no concern to the log"}, None, "a file.txt"),
    ("process", {"action": "list"}, None, None),
])
def test_each_call_is_in_the_log_with_the_file_that_it_names_and_without_what_is_in_it(ordinary, tool, args, error, path):
    """What was asked for wrongly, too: its caller is told that the operator can find it by its id."""
    mark = uuid.uuid4().hex
    got = ordinary.call(tool, args, request_id=mark)
    assert got.json["request_id"] == mark and got.json.get("error") == error, got
    decided, finished = [r for r in audit(ordinary) if r.get("request") == mark]
    assert (decided["kind"], decided["verdict"], decided["tool"], decided.get("path")) == ("decided", "ALLOW", tool, path)
    assert (finished["kind"], finished["decided"], finished.get("error")) == ("finished", decided["seq"], error)
    assert "of no concern" not in json.dumps([decided, finished])
    shown = ordinary.creel("audit", "show", "--request", mark)
    assert not path or path in shown
    assert not error or error in shown


def test_explain_tells_the_decision_and_nothing_runs(ordinary):
    got = ordinary.ask("POST", "/v1/explain", call_body(["touch", "/workspace/explained"]))
    assert got.status == 200, got
    assert got.json["identity"]["session_key"] == SESSION and got.json["identity"]["via"] == "api" and got.json["mode"]["sandboxed"]
    assert not list(ordinary.dir.glob("w/**/explained"))
    assert ordinary.ask("POST", "/v1/explain", {**call_body(["true"]), "agent": HELLO[0]}).status == 403


def test_names_of_the_hosts_files_are_for_administrators(ordinary):
    mine, admin = ordinary.new_token("--pairs", ":".join(CODER)), ordinary.new_token("--pairs", "*", "--admin")
    place = str(ordinary.dir).encode()
    assert ordinary.call("write", {"path": "a", "content": "x"}).json["ok"]
    told = {who: ordinary.ask("POST", "/v1/explain", call_body(["true"]), token=who) for who in (mine, admin)}
    assert [told[who].status for who in told] == [200, 200] and place in told[admin].body and place not in told[mine].body
    plain = {who: {**told[who].json, "mounts": None, "reasons": None} for who in told}
    assert plain[mine] == plain[admin] and len(told[mine].json["reasons"]) == len(told[admin].json["reasons"])
    assert [m["target"] for m in told[mine].json["mounts"]] == [m["target"] for m in told[admin].json["mounts"]]

    space = pathlib.Path(next(r["workspace"] for r in audit(ordinary) if r["kind"] == "decided" and r.get("path") == "a"))
    assert ordinary.ask("DELETE", f"/v1/sessions/{SESSION}", token=admin).status == 200
    aside = space.parent / "aside"
    space.rename(aside)
    space.symlink_to(ordinary.home)
    try:
        for streamed in (False, True):
            got = {}
            for who in (mine, admin):
                fields = [("Authorization", f"Bearer {who}"), *([("Accept", "text/event-stream")] if streamed else [])]
                wire = ordinary.wire()
                wire.ask("POST", "/v1/calls", fields, call_body(["true"], request_id=f"veil-{streamed}-{who == admin}"))
                got[who] = wire.answer()
                wire.close()
                assert not got[who].json["ok"] and got[who].json["message"], got[who]
            assert place in got[admin].body and place not in got[mine].body, got
            assert got[mine].json["error"] == got[admin].json["error"]
        end = next(r for r in audit(ordinary) if r["kind"] == "finished" and r["request"] == "veil-False-False")
        assert str(space) in end["why"], "the log has all of it"
    finally:
        space.unlink()
        aside.rename(space)


def test_a_session_is_listed_and_ended(ordinary):
    def keys(token=None):
        return [x["key"] for x in ordinary.ask("GET", "/v1/sessions", token=token).json["sessions"]]

    stranger = ordinary.new_token("--pairs", ":".join(HELLO))
    assert ordinary.call("exec", {"command": ["sh", "-c", "echo x > /tmp/gone"]}).json["ok"]
    assert SESSION in keys() and SESSION not in keys(stranger)
    assert ordinary.ask("DELETE", f"/v1/sessions/{SESSION}", token=stranger).status in (403, 404)
    assert SESSION in keys()
    assert ordinary.ask("DELETE", f"/v1/sessions/{SESSION}").json == {"ended": 1}
    assert SESSION not in keys()
    assert not ordinary.call("exec", {"command": ["cat", "/tmp/gone"]}).json["ok"], "a new one knows nothing of the old"


def test_the_log_is_heard_with_the_call_in_it(ordinary):
    mark = f"heard-{os.getpid()}-{ordinary.uid}"
    with stream(ordinary, "GET", "/v1/events") as events:
        assert ordinary.call("exec", {"command": ["true"]}, request_id=mark).json["ok"]
        heard = []
        for kind, data, number in events:
            if data.get("request") == mark:
                heard.append((kind, int(number)))
            if kind == "finished" and data.get("request") == mark:
                break
    assert [k for k, _ in heard] == ["decided", "finished"] and heard[0][1] < heard[1][1]


@pytest.mark.parametrize("user", as_users())
def test_s2_34_one_command_starts_all_of_it(user):
    s = Ordinary(user)
    words = s.argv()
    at = words.index(str(CREELD))
    s.argv = lambda *more: [*words[:at], str(CREEL), "serve", *words[at + 1:], *more]
    with running(s):
        assert {n for n in children(s.p.pid).values()} >= {"creel-guard", "creel-runner", "creel-egress"}
        assert s.ask("GET", "/health").json["status"] == "ok"
        assert s.call("exec", {"command": ["echo", "up"]}).json["stdout"] == "up\n"
        assert s.stop() == 0
        assert not still_there(s)


# ---- approvals ----


@pytest.mark.parametrize("user", as_users())
def test_a_call_that_waits_runs_when_an_administrator_allows_it(user):
    with running(Ordinary(user, mode={"when": "off"}, tools={"exec": {"mode": "always"}})) as s:
        plain = s.new_token("--pairs", ":".join(CODER))
        for answer, ok in (("allow", True), ("deny", False)):
            with stream(s, "POST", "/v1/calls", call_body(["echo", "asked"]), plain) as events:
                assert next(events)[0] == "start"
                kind, data, _ = next(events)
                assert kind == "waiting" and data["approval"]["state"] == "waiting", data
                where = f"/v1/approvals/{data['approval']['id']}"
                assert s.ask("POST", where, {"answer": "allow"}, plain).status == 403
                assert [a["id"] for a in s.ask("GET", "/v1/approvals", token=plain).json["approvals"]] == [data["approval"]["id"]]
                assert s.ask("POST", where, {"answer": answer}).status == 200
                rest = list(events)
            assert rest[-1][0] == "result" and rest[-1][1]["ok"] is ok, rest
            assert ("stdout", {"data": "asked\n"}) in [r[:2] for r in rest] if ok else rest[-1][1]["error"] == "approval_denied", rest
        assert s.stop() == 0


# ---- tokens ----


@pytest.mark.parametrize("user", as_users())
def test_the_last_use_of_a_token_is_noted_and_calls_go_on(user):
    with running(Ordinary(user)) as s:
        used = s.new_token("--name", "used", "--pairs", ":".join(CODER))
        s.new_token("--name", "other", "--pairs", ":".join(CODER))
        assert s.ask("POST", "/v1/calls", call_body(["true"]), used).json["ok"]
        listed = wait_for("it is noted", lambda: {t["name"]: t["used"] for t in json.loads(s.creel("token", "list", "--json"))["tokens"] if t["used"]})
        assert "used" in listed and "other" not in listed
        for _ in range(3):
            assert s.ask("POST", "/v1/calls", call_body(["true"]), used).json["ok"]
            assert s.ask("GET", "/v1/sessions", token=used).status == 200
        assert s.stop() == 0


@pytest.mark.parametrize("user", as_users())
def test_tokens_of_the_environment_are_in_no_call_and_not_in_egress(user):
    tokens = {"SANDBOX_GUARD_TOKEN": "of-the-guard-0123456789abcdef", "TOOL_RUNNER_TOKEN": "of-the-runner-0123456789abcdef0123456789",
              "FRIENDS": "of-a-caller-0123456789abcdef"}
    s = Ordinary(user, mode={"when": "off"})
    s.config["identity"]["tokens"] = [{"ref": "env:FRIENDS", "pairs": "*"}]
    s.env.update(tokens, PLAIN="is-passed-on")
    with running(s):
        assert s.ask("GET", "/v1/tools", token=tokens["FRIENDS"]).status == 200
        got = s.call("exec", {"command": ["env"]}).json["stdout"]
        assert "PLAIN=is-passed-on" in got
        of_egress = pathlib.Path(f"/proc/{s.service('creel-egress')}/environ").read_text()
        assert "is-passed-on" in of_egress
        for where in (got, of_egress, s.said()):
            assert not [t for t in tokens.values() if t in where], where
        assert s.stop() == 0


@pytest.mark.parametrize("user", as_users())
def test_tokens_that_somebody_writes_into_a_call_are_in_no_log_and_no_export(user):
    s = Ordinary(user)
    tokens = {"SANDBOX_GUARD_TOKEN": "of-the-guard-0123456789abcdef", "FRIENDS": "of-a-caller-0123456789abcdef"}
    raw = "of-the-file-0123456789abcdef"
    s.config["identity"]["tokens"] = [{"ref": "env:FRIENDS", "pairs": "*"}, {"ref": f"raw:{raw}", "pairs": "*"}]
    s.env.update(tokens)
    with running(s):
        assert s.call("exec", {"command": ["echo", *tokens.values(), raw, s.token, "and-this"]}, request_id="written").json["ok"]
        got = s.ask("GET", "/v1/admin/incident?request=written")
        log = "".join(p.read_text() for p in (s.state / "audit").glob("*.jsonl"))
        assert got.status == 200 and all("and-this" in text for text in (got.body.decode(), log))
        for text in (got.body.decode(), log):
            assert not [t for t in (*tokens.values(), raw, s.token) if t in text], text
        assert s.stop() == 0
