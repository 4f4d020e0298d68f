# SPDX-License-Identifier: Apache-2.0
"""creel-runner behind its socket: who may ask, S2's jobs word for word, and creel's own calls."""
import base64
import json
import os
import re
import socket
import subprocess

import pytest
from runner_lab import ORDINARY, as_users, make_lab, wait_for

UUID = re.compile(r"[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}")
PATHS = [("GET", "/metrics"), ("POST", "/run"), ("POST", "/v1/calls"), ("POST", "/v1/explain"), ("GET", "/v1/tools"), ("GET", "/v1/sessions"),
         ("GET", "/v1/sessions/x"), ("DELETE", "/v1/sessions/x"), ("GET", "/v1/processes"), ("POST", "/v1/processes/x/kill"), ("GET", "/v1/events"),
         ("GET", "/v1/admin/incident?session=x"), ("POST", "/v1/refused"), ("GET", "/v1/approvals"),
         ("POST", "/v1/approvals/x"), ("GET", "/"), ("GET", "/nowhere"), ("POST", "/health"), ("OPTIONS", "/run")]


@pytest.fixture(scope="module", params=as_users())
def lab(request):
    one = make_lab(request.param)
    try:
        yield one
    finally:
        one.done()


# ---- who may ask ----


def test_health_needs_no_token_and_has_s2s_members(lab):
    got = lab.ask("GET", "/health", fields=[])
    assert got.status == 200
    assert got.json["status"] == "ok" and got.json["tools"] == ["file_read", "file_write", "shell_exec"] and got.json["version"]


@pytest.mark.parametrize("method,target", PATHS)
def test_s2_21_every_other_path_without_the_runners_token_is_401(lab, method, target):
    for fields, word in [([], "missing auth"), ([("Authorization", "Basic abc")], "missing auth"), ([("Authorization", "Bearer ")], "missing auth"),
                         ([("Authorization", f"Bearer {lab.token}x")], "invalid auth"), ([("Authorization", f"Bearer {lab.token[:-1]}")], "invalid auth"),
                         ([("Authorization", f"Bearer {lab.tokens['all']}"), ("X-Creel-Token", lab.tokens["all"])], "invalid auth"),
                         ([("Authorization", f"Bearer {lab.token}"), ("Authorization", f"Bearer {lab.token}")], "invalid auth"),
                         ([("X-Creel-Token", lab.tokens["all"])], "missing auth")]:
        got = lab.ask(method, target, fields=fields)
        assert got.status == 401, (fields, got)
        assert got.json.get("detail", got.json.get("message")) == word, (fields, got)


@pytest.mark.parametrize("method,target", [p for p in PATHS if p[1] not in ("/metrics", "/v1/refused", "/", "/nowhere", "/health") and p[0] != "OPTIONS"])
def test_a_caller_needs_a_token_of_its_own(lab, method, target):
    body = {} if method == "POST" else None
    assert lab.ask(method, target, body, token=None).status == 401
    assert lab.ask(method, target, body, token="creel_" + "0" * 64).status == 401


def test_a_process_of_another_user_is_turned_away(lab):
    if os.getuid() != 0:
        pytest.skip("needs root, to be somebody else")
    code = "import socket,sys; s=socket.socket(socket.AF_UNIX); s.settimeout(20); s.connect(sys.argv[1]);\n" \
           "try:\n s.sendall(b'GET /health HTTP/1.1\\r\\nHost: x\\r\\n\\r\\n'); print(len(s.recv(100)))\nexcept OSError: print(0)"
    for uid, answered in [(ORDINARY + 1, False), (lab.uid, True), (0, True)]:
        done = subprocess.run([*lab.become(uid), "/usr/bin/python3", "-c", code, str(lab.socket)], capture_output=True, text=True, check=True, timeout=60)
        assert (int(done.stdout) > 0) == answered, (uid, done)


def test_a_token_that_was_revoked_is_good_for_nothing_at_once(lab):
    lab.new_token("short", "g-coder:TG_CODER")
    c = lab.connect()
    for status in (200, 401):
        c.send("GET", "/v1/tools", lab.fields("short"))
        assert c.answer().status == status
        lab.creel("token", "revoke", "short")
    c.close()


def test_a_token_speaks_for_its_own_pairs_alone(lab):
    assert lab.run("file_read", {"path": "x"}, token="coder").status == 200
    got = lab.run("file_read", {"path": "x"}, agent="g-hello", chat="-100200", token="coder")
    assert (got.status, got.json) == (403, {"detail": "agent/scope not allowed"})
    got = lab.call("exec", {"command": "true"}, agent="g-hello", chat="-100200", token="coder")
    assert (got.status, got.json["error"]) == (403, "pair_not_allowed")
    got = lab.ask("POST", "/v1/explain", lab.call_body("exec", {"command": "true"}, agent="g-hello", chat="-100200"), "coder")
    assert (got.status, got.json["error"]) == (403, "pair_not_allowed")
    got = lab.ask("POST", "/v1/calls", {"session": "agent:g-hello:telegram:group:-100200", "tool": "exec", "args": {"command": "true"}}, "coder")
    assert got.status in (400, 403), got
    refused = [r for r in lab.audit() if r["kind"] == "decided" and r.get("code") == "pair_not_allowed"]
    assert refused, "refusals are recorded, too"


def test_what_the_guard_refused_is_in_the_log_and_in_the_counters(lab):
    def tell(*refused, untold=0):
        return lab.ask("POST", "/v1/refused", {"untold": untold, "refused": list(refused)}, token=None)

    one = {"code": "shell_denied", "stage": "tool", "message": "shell denied: 'bash'", "route": "run", "request_id": "told-1", "token": "0123456789ab", "peer": "127.0.0.1:5",
           "agent": "g-coder", "channel": "telegram", "chat_id": "TG_CODER", "tool": "shell_exec"}
    assert tell(one, {"code": "expired", "peer": "127.0.0.1:6", "route": "calls"}, untold=7).status == 200
    log = lab.audit()
    decided = next(r for r in log if r["kind"] == "decided" and r["request"] == "told-1")
    assert (decided["verdict"], decided["code"], decided["via"], decided["agent"], decided["chat"], decided["token"], decided["tool"]) == (
        "DENY", "shell_denied", "guard", "g-coder", "TG_CODER", "0123456789ab", "shell_exec")
    assert [r["reason"] for r in log if r["kind"] == "finished" and r["decided"] == decided["seq"]] == ["refused"] and decided["stage"] == "tool"
    refused = [(r["code"], r.get("times"), r.get("peer")) for r in log if r["kind"] == "token" and r["what"] == "refused"]
    assert refused == [("untold", "7", None), ("expired", None, "127.0.0.1:6")]
    assert "told-1" in lab.ask("GET", "/v1/admin/incident?request=told-1", token="admin").body.decode()
    assert re.search(r'creel_calls_total\{tool="shell_exec",verdict="refused",backend="none"\} [1-9]', lab.ask("GET", "/metrics", token=None).body.decode())
    before = len(lab.audit())
    for body in ({}, {"untold": 0}, {"untold": -1, "refused": []}, {"untold": 0, "refused": [{}]}, {"untold": 0, "refused": [{**one, "verdict": "ALLOW"}]},
                 {"untold": 0, "refused": [{**one, "agent": 5}]}, {"untold": 0, "refused": [{**one, "message": "x" * 513}]}, {"untold": 0, "refused": [one] * 257}):
        assert lab.ask("POST", "/v1/refused", body, token=None).status == 422, body
    assert tell({**one, "code": "ok", "request_id": "told-2"}).status == 200
    assert [r["kind"] for r in lab.audit()[before:]] == ["token"], "nothing can be recorded as allowed"
    assert "ALLOW" not in [r.get("verdict") for r in lab.audit()[before:]]


# ---- S2's jobs ----


@pytest.mark.parametrize("agent,chat,status,detail", [
    ("G-CODER", "TG_CODER", 400, "invalid agent"), ("../etc", "TG_CODER", 400, "invalid agent"), ("g-coder", "", 400, "missing chat_id"),
    ("g-coder", "x/../../../etc", 400, "invalid chat_id"), ("g-coder", "..", 400, "invalid chat_id"), ("g-coder", "a" * 65, 400, "invalid chat_id"),
    ("g-coder", "-100200", 403, "agent/scope not allowed"), ("g-hello", "TG_CODER", 403, "agent/scope not allowed"),
    ("nobody", "TG_CODER", 403, "agent/scope not allowed")])
def test_d2_2_the_runner_checks_agent_chat_and_pair_by_itself(lab, agent, chat, status, detail):
    got = lab.run("file_read", {"path": "a"}, agent=agent, chat=chat)
    assert (got.status, got.json) == (status, {"detail": detail})


def test_d2_8_a_missing_workspace_is_made_and_belongs_to_the_invoking_user(lab):
    got = lab.run("file_write", {"path": "deep/er/a.txt", "content": "hé\n"}, agent="g-hello", chat="-100200", request_id="my id")
    assert got.status == 200
    assert got.json == {"request_id": "my id", "ok": True, "stdout": "OK", "stderr": "", "artifacts": [{"path": "deep/er/a.txt", "type": "file"}],
                        "error": None, "exit": 0, "truncated": False}
    space = lab.space("g-hello", "-100200")
    for path in (space, space.parent, space / "deep/er/a.txt"):
        assert path.stat().st_uid == lab.uid, path
    assert (space / "deep/er/a.txt").read_text() == "hé\n"
    got = lab.run("file_read", {"path": "deep/er/a.txt"}, agent="g-hello", chat="-100200").json
    assert UUID.fullmatch(got.pop("request_id"))
    assert got == {"ok": True, "stdout": "hé\n", "stderr": "", "artifacts": [{"path": "deep/er/a.txt", "type": "text"}], "error": None, "exit": 0,
                   "truncated": False}


@pytest.mark.parametrize("tool,args,exit_,error", [
    ("file_read", {"path": "nope"}, 15, "not_found"), ("file_read", {"path": "../x"}, 14, "denied"), ("file_read", {"path": "/etc/passwd"}, 14, "denied"),
    ("file_read", {"path": "./a"}, 14, "denied"), ("file_read", {"path": "a/../../b"}, 14, "denied"), ("file_read", {"path": ""}, 14, "denied"),
    ("file_read", {"path": 7}, 14, "denied"), ("file_read", {}, 14, "denied"), ("file_write", {"path": "a", "content": 7}, 6, "invalid_content"),
    ("file_write", {"path": "a"}, 6, "invalid_content"), ("file_write", {"path": "../a", "content": "x"}, 14, "denied"),
    ("shell_exec", {"cmd": []}, 7, "invalid_cmd"), ("shell_exec", {"cmd": "ls"}, 7, "invalid_cmd"), ("shell_exec", {"cmd": [1]}, 7, "invalid_cmd"),
    ("shell_exec", {}, 7, "invalid_cmd"), ("shell_exec", {"cmd": ["bash", "-c", "id"]}, 8, "shell_denied"),
    ("shell_exec", {"cmd": ["/bin/sh"]}, 8, "shell_denied"), ("shell_exec", {"cmd": ["rm", "-rf", "x"]}, 9, "binary_denied:rm"),
    ("shell_exec", {"cmd": ["curl", "http://example.com/"]}, 10, "net_denied:host_not_allowed"),
    ("shell_exec", {"cmd": ["curl", "-o", "x", "http://example.com/"]}, 10, "net_denied:curl_flag_not_allowed"),
    ("shell_exec", {"cmd": ["curl", "file:///etc/passwd"]}, 10, "net_denied:invalid_url"),
    ("shell_exec", {"cmd": ["python3", "-c", "import sys; print(5); sys.exit(3)"]}, 3, "exit_3"),
    ("shell_exec", {"cmd": ["python3", "-c", "import os; os.kill(os.getpid(), 9)"]}, 137, "exit_-9"),
    ("shell_exec", {"cmd": ["python3", "-c", "import time; time.sleep(50)"], "timeout_s": 1}, 12, "timeout"),
    ("exec", {"command": "id"}, 3, "tool_not_allowed"), ("read", {"path": "a"}, 3, "tool_not_allowed"), ("nonsense", {}, 3, "tool_not_allowed")])
def test_jobs_end_with_s2s_words_and_numbers(lab, tool, args, exit_, error):
    got = lab.run(tool, args)
    assert got.status == 200
    assert (got.json["ok"], got.json["exit"], got.json["error"]) == (False, exit_, error)
    if error == "exit_3":
        assert got.json["stdout"] == "5\n"
    if not error.startswith(("exit", "timeout")):
        assert got.json["stdout"] == got.json["stderr"] == "" and "Traceback" not in got.body.decode()


@pytest.mark.parametrize("body,status", [
    (b"", 422), (b"{", 422), (b"[]", 422), (b"{}", 422), ({"agent": "g-coder"}, 422),
    ({"agent": "g-coder", "scope": {"type": "telegram", "chat_id": "TG_CODER"}, "tool": "file_read", "args": []}, 422),
    ({"agent": "g-coder", "scope": {"type": "telegram", "chat_id": "TG_CODER"}, "tool": "file_read", "args": {}, "policy": {"fs": {"mode": "rw"}}}, 422),
    ({"agent": "g-coder", "scope": {"type": "telegram", "chat_id": "TG_CODER", "workspace": "/"}, "tool": "file_read", "args": {}}, 422)])
def test_s2_22_what_the_guard_would_not_write_is_refused(lab, body, status):
    got = lab.ask("POST", "/run", body)
    assert got.status == status and got.json["detail"]


def test_s2_44_shell_exec_cannot_write_whatever_it_asks_for(lab):
    lab.run("file_write", {"path": "there", "content": "x"})
    got = lab.run("shell_exec", {"cmd": ["python3", "-c", "open('rw_test.txt','w')"]})
    assert got.json["ok"] is False and "Read-only file system" in got.json["stderr"]
    for more in ({"fs": "rw"}, {"policy": {"fs": {"mode": "rw"}}}, {"mode": "rw"}, {"net_allow": ["example.com"]}):
        assert lab.run("shell_exec", {"cmd": ["python3", "-c", "open('rw_test.txt','w')"], **more}).json["ok"] is False
    assert not (lab.space() / "rw_test.txt").exists()


def test_d2_3_and_d2_5_two_million_bytes_are_written_and_what_is_cut_is_marked(lab):
    text = "é" * 1_000_000
    got = lab.run("file_write", {"path": "big", "content": text})
    assert got.json["ok"] is True, got
    assert (lab.space() / "big").read_text() == text
    got = lab.run("file_read", {"path": "big", "max_bytes": 2_000_000}).json
    assert got["ok"] and got["stdout"] == "é" * 80_000 and got["truncated"] is True
    got = lab.run("file_write", {"path": "big", "content": text + "x"})
    assert got.status in (200, 413) and not got.json.get("ok")
    got = lab.run("shell_exec", {"cmd": ["python3", "-c", "print('x' * 100000)"]}).json
    assert got["ok"] and got["stdout"] == "x" * 80_000 and got["truncated"] is True


def test_links_do_not_lead_out_of_the_workspace(lab):
    lab.run("file_write", {"path": "there", "content": "x"})
    (lab.space() / "link").symlink_to("/etc/passwd")
    assert lab.run("file_read", {"path": "link"}).json["ok"] is False
    (lab.space() / "link").unlink()
    other = lab.space("g-hello", "-100200")
    got = lab.run("shell_exec", {"cmd": ["python3", "-c", f"import os; print(os.path.exists({str(other)!r}))"]})
    assert got.json["stdout"] == "False\n"


def test_a_workspace_that_is_a_link_is_not_followed(lab):
    target = lab.home / "elsewhere"
    target.mkdir(exist_ok=True)
    space = lab.space()
    assert lab.run("file_write", {"path": "there", "content": "x"}).json["ok"]
    space.rename(space.parent / "aside")
    space.symlink_to(target)
    try:
        got = lab.run("file_write", {"path": "a", "content": "x"})
        assert (got.status, got.json["detail"], got.json["error"]) == (500, "job_spawn_failed", "sandbox_unavailable"), got
        assert str(lab.home) not in got.json["message"]
        assert not list(target.iterdir())
    finally:
        space.unlink()
        (space.parent / "aside").rename(space)


# ---- creel's own calls ----


def test_a_session_stays_and_any_worker_serves_it(lab):
    assert lab.call("exec", {"command": "echo here > /tmp/mark"}).json["ok"]
    for _ in range(6):
        got = lab.call("exec", {"command": "cat /tmp/mark"}).json
        assert got["stdout"] == "here\n" and got["sandbox"]["kept"] is True
    assert lab.call("exec", {"command": "cat /tmp/mark"}, agent="g-hello", chat="-100200").json["ok"] is False


def test_results_of_calls_have_a_status_for_who_has_to_act(lab):
    assert lab.call("exec", {"command": "exit 4"}).status == 200
    assert lab.call("read", {"path": "nope"}).status == 200
    assert lab.call("exec", {"nonsense": 1}).status == 400
    got = lab.call("no_such_tool", {})
    assert got.status in (403, 404) and got.json["ok"] is False
    got = lab.ask("POST", "/v1/calls", {"tool": "exec", "agent": "g-coder"})
    assert (got.status, got.json["error"]) == (422, "schema")
    assert lab.ask("PUT", "/v1/calls", {}).status == 405


def test_a_token_for_all_pairs_may_name_a_session(lab):
    got = lab.ask("POST", "/v1/calls", {"session": "agent:g-coder:work", "tool": "exec", "args": {"command": "echo a"}})
    assert got.status == 200 and got.json["sandbox"]["session"] == "agent:g-coder:work"
    got = lab.ask("POST", "/v1/calls", {"session": "agent:g-coder:work", "tool": "exec", "args": {"command": "echo a"}}, "coder")
    assert got.status in (400, 403)


def test_events_come_in_order_and_bytes_are_kept(lab):
    c = lab.connect()
    script = "printf 'a\\303'; sleep 0.2; printf '\\251b'; printf '\\377\\376' >&2; exit 3"
    c.send("POST", "/v1/calls", lab.fields(Accept="text/event-stream"), lab.call_body("exec", {"command": script}, request_id="r-1"))
    status, fields = c.head()
    assert status == 200 and fields["content-type"].startswith("text/event-stream")
    events = list(c.events())
    kinds = [k for k, _, _ in events]
    assert kinds[0] == "start" and kinds[-1] == "result" and set(kinds[1:-1]) == {"stdout", "stderr"}
    assert events[0][1] == {"request_id": "r-1"}
    out = "".join(d["data"] for k, d, _ in events if k == "stdout")
    err = b"".join(base64.b64decode(d["data_b64"]) for k, d, _ in events if k == "stderr")
    assert out == "aéb" and err == b"\xff\xfe"
    assert events[-1][1]["exit"] == 3 and events[-1][1]["request_id"] == "r-1"
    c.send("GET", "/v1/tools", lab.fields())
    assert c.answer().status == 200, "the connection goes on"
    c.close()


def test_a_call_that_is_refused_is_refused_before_a_stream_begins(lab):
    got = lab.ask("POST", "/v1/calls", lab.call_body("exec", {"command": "true"}, agent="g-hello", chat="TG_CODER"), Accept="text/event-stream")
    assert got.status == 403 and got.json["error"] == "pair_not_allowed"


def test_large_results_come_whole(lab):
    lab.call("exec", {"command": "head -c 700000 /dev/zero | tr '\\0' x > big"})
    got = lab.call("read", {"path": "big", "limit": 100000})
    assert got.status == 200 and json.loads(got.body)["ok"]
    c = lab.connect()
    c.send("POST", "/v1/calls", lab.fields(Accept="text/event-stream"), lab.call_body("exec", {"command": "head -c 3000000 /dev/zero | tr '\\0' y"}))
    c.head()
    events = list(c.events())
    assert sum(len(d["data"]) for k, d, _ in events if k == "stdout") == 3000000
    c.close()


def test_explain_decides_and_runs_nothing(lab):
    before = len(lab.audit())
    got = lab.ask("POST", "/v1/explain", lab.call_body("exec", {"command": "touch /tmp/explained"}))
    assert got.status == 200 and got.json["identity"]["via"] == "api"
    assert len(lab.audit()) == before


def test_tools_are_those_of_the_library(lab):
    names = {t["name"] for t in lab.ask("GET", "/v1/tools", token="coder").json}
    assert {"exec", "read", "write", "edit", "apply_patch", "process", "file_read"} <= names


# ---- what lives ----


def test_sessions_are_those_of_the_callers_pairs(lab):
    for agent, chat in (("g-coder", "TG_CODER"), ("g-hello", "-100200")):
        assert lab.call("exec", {"command": "true"}, agent=agent, chat=chat).json["ok"]
    keys = {s["session"] for s in lab.ask("GET", "/v1/sessions", token="coder").json["sessions"]}
    assert keys == {"agent:g-coder:telegram:group:TG_CODER"}
    assert len(lab.ask("GET", "/v1/sessions").json["sessions"]) >= 2
    other = "/v1/sessions/agent:g-hello:telegram:group:-100200"
    assert lab.ask("GET", other, token="coder").status == 404
    assert lab.ask("DELETE", other, token="coder").status == 404
    mine = lab.ask("GET", "/v1/sessions/agent%3Ag-coder%3Atelegram%3Agroup%3ATG_CODER", token="coder")
    assert mine.status == 200 and str(lab.home) not in mine.body.decode()
    assert str(lab.home) in lab.ask("GET", other, token="admin").body.decode()
    assert lab.ask("DELETE", other).json == {"ended": 1}
    assert lab.ask("GET", other).status == 404


def test_processes_of_a_session_are_listed_and_ended(lab):
    started = lab.call("exec", {"command": "sleep 1000", "background": True}).json
    assert started["ok"], started
    where = "?agent=g-coder&type=telegram&chat_id=TG_CODER"
    said = lab.ask("GET", "/v1/processes" + where, token="coder")
    assert said.status == 200 and started["sessionId"] in said.body.decode()
    got = lab.ask("POST", f"/v1/processes/{started['sessionId']}/kill{where}", token="coder")
    assert got.status == 200 and got.json["ok"], got
    assert lab.ask("GET", "/v1/processes?agent=g-hello&type=telegram&chat_id=-100200", token="coder").status == 403
    assert lab.ask("GET", "/v1/processes?agent=g-coder", token="coder").status == 400
    assert lab.ask("GET", "/v1/processes?surprise=1", token="coder").status == 400


def test_whoever_looks_for_processes_where_nothing_runs_gets_no_sandbox_for_that(lab):
    where = "?agent=g-hello&type=telegram&chat_id=-100200"
    for row in lab.ask("GET", "/v1/sessions").json["sessions"]:
        lab.ask("DELETE", "/v1/sessions/" + row["key"].replace(":", "%3A"), token="admin")
    assert lab.ask("GET", "/v1/processes" + where).json["sessions"] == []
    for action in ("kill", "poll", "log", "write", "clear"):
        got = lab.call("process", {"action": action, "sessionId": "p1", **({"data": "x"} if action == "write" else {})}, agent="g-hello", chat="-100200")
        assert (got.status, got.json["error"], got.json["walls"]) == (200, "not_found", None), got
    got = lab.ask("POST", "/v1/processes/p1/kill" + where)
    assert got.json["error"] == "not_found", got
    assert lab.ask("GET", "/v1/sessions").json["sessions"] == []
    assert lab.call("exec", {"command": "sleep 100", "background": True}, agent="g-hello", chat="-100200").json["ok"]
    assert len(lab.ask("GET", "/v1/processes" + where).json["sessions"]) == 1


@pytest.mark.parametrize("streamed", [True, False])
def test_a_client_that_ends_its_half_gets_its_answer_and_one_that_goes_ends_its_call(lab, streamed):
    fields = lab.fields(Accept="text/event-stream") if streamed else lab.fields()
    c = lab.connect()
    c.send("POST", "/v1/calls", fields, lab.call_body("exec", {"command": "sleep 0.5; echo done"}))
    c.s.shutdown(socket.SHUT_WR)
    got = c.f.read()
    assert got.startswith(b"HTTP/1.1 200") and b"done" in got, got
    c.close()
    c = lab.connect()
    c.send("POST", "/v1/calls", fields, lab.call_body("exec", {"command": "sleep 500"}, request_id=f"half-{streamed}"))
    c.s.shutdown(socket.SHUT_WR)
    wait_for("the call runs", lambda: [r for r in lab.audit() if r["kind"] == "decided" and r["request"] == f"half-{streamed}"])
    c.close()
    end = wait_for("the log has its end", lambda: [r for r in lab.audit() if r["kind"] == "finished" and r["request"] == f"half-{streamed}"])
    assert end[0]["reason"] == "cancelled"


def test_an_id_that_is_none_names_no_approval(lab):
    for name in ("BADID", "x", "a" * 300, "%2e%2e", "00000000"):
        got = lab.ask("POST", f"/v1/approvals/{name}", {"answer": "allow"}, token="admin")
        assert (got.status, got.json["error"]) == (404, "not_found"), (name, got)


def test_incidents_are_for_administrators(lab):
    assert lab.call("exec", {"command": "true"}, request_id="inc-1").json["ok"]
    assert lab.ask("GET", "/v1/admin/incident?request=inc-1").status == 403
    got = lab.ask("GET", "/v1/admin/incident?request=inc-1", token="admin")
    assert got.status == 200 and "inc-1" in got.body.decode()
    assert lab.ask("GET", "/v1/admin/incident", token="admin").status == 400


def test_events_of_the_log_are_heard_by_whom_they_concern(lab):
    mine, all_ = lab.connect(), lab.connect()
    mine.send("GET", "/v1/events", lab.fields("coder"))
    all_.send("GET", "/v1/events", lab.fields("admin"))
    assert mine.head()[0] == all_.head()[0] == 200
    lab.call("exec", {"command": "true"}, agent="g-hello", chat="-100200", request_id="ev-other")
    lab.call("exec", {"command": "true"}, request_id="ev-mine")
    heard = []
    for kind, data, number in mine.events():
        heard.append((kind, data.get("request"), int(number)))
        assert "workspace" not in data, "names of the host's files are for administrators"
        if kind == "finished" and data.get("request") == "ev-mine":
            break
    assert [h[1] for h in heard if h[0] == "decided"] == ["ev-mine"] and "ev-other" not in {h[1] for h in heard}
    ids, places = [], set()
    for kind, data, number in all_.events():
        ids.append(data.get("request"))
        places.add(data.get("workspace"))
        if kind == "finished" and data.get("request") == "ev-mine":
            break
    assert "ev-other" in ids and any(str(lab.home) in p for p in places if p)
    mine.close(), all_.close()
    # Who comes back gets what was missed.
    again = lab.connect()
    first = next(n for k, r, n in heard if k == "decided")
    again.send("GET", "/v1/events", lab.fields("coder", **{"Last-Event-ID": str(first)}))
    assert again.head()[0] == 200
    for kind, data, number in again.events():
        assert int(number) > first and data.get("request") != "ev-other"
        if kind == "finished" and data.get("request") == "ev-mine":
            break
    again.close()
    assert lab.ask("GET", "/v1/events", token="coder", **{"Last-Event-ID": "x"}).status == 400


def test_promtool_accepts_the_metrics_and_calls_are_counted(lab):
    # One connection has one worker: while it is open, the next call is another worker's, who finds the sandbox there.
    held = lab.connect()
    held.send("POST", "/v1/calls", lab.fields(), lab.call_body("exec", {"command": "true"}))
    assert held.answer().status == 200
    lab.call("exec", {"command": "true"})
    lab.run("shell_exec", {"cmd": ["rm"]})
    text = lab.ask("GET", "/metrics", token=None).body.decode()
    held.close()
    done = subprocess.run(["promtool", "check", "metrics"], input=text, capture_output=True, text=True, check=False, timeout=60)
    assert done.returncode == 0, done
    for wanted in (r'creel_calls_total\{tool="exec",verdict="ok",backend="native"\} [1-9]', r'creel_calls_total\{tool="shell_exec",verdict="refused",backend="none"\} [1-9]',
                   r'creel_denials_total\{layer="policy"\} [1-9]', r"creel_sandboxes [1-9]", r'creel_leases_total\{event="created"\} [1-9]',
                   r'creel_leases_total\{event="reused"\} [1-9]', r"creel_runner_workers ([2-9]|1\d)", r"creel_runner_resident_memory_bytes [1-9]",
                   r'creel_runner_requests_total\{route="run",status="200"\} [1-9]', r'creel_call_duration_seconds_bucket\{tool="exec",le="\+Inf"\} [1-9]'):
        assert re.search(wanted, text), wanted


def test_s4_51_a_sandbox_that_was_killed_is_recovered_and_counted(lab):
    def recovered():
        found = re.search(r'creel_leases_total\{event="recovered"\} (\d+)', lab.ask("GET", "/metrics", token=None).body.decode())
        return int(found.group(1)) if found else 0

    before = recovered()
    assert lab.call("exec", {"command": "true"}).json["ok"]
    info = lab.ask("GET", "/v1/sessions/agent:g-coder:telegram:group:TG_CODER", token="admin").json
    os.kill(info["supervisor"], 9)
    wait_for("a new sandbox", lambda: lab.call("exec", {"command": "true"}).json["ok"])
    assert recovered() == before + 1


def test_requests_that_are_no_http_get_no_worker_down(lab):
    for data in (b"\x00\xff" * 50, b"GET / HTTP/1.1\r\n" + b"A: b\r\n" * 500 + b"\r\n", b"POST /run HTTP/1.1\r\nHost: x\r\nContent-Length: 99999999999\r\n\r\n"):
        s = socket.socket(socket.AF_UNIX)
        s.settimeout(60)
        s.connect(str(lab.socket))
        s.sendall(data)
        answer = s.recv(100)
        assert answer.startswith((b"HTTP/1.1 4", b"HTTP/1.1 5")) or answer == b""
        s.close()
    c = lab.connect()
    c.send("POST", "/v1/calls", [*lab.fields(), ("Content-Length", (16 << 20) + 1)])
    assert c.answer().status == 413
    c.close()
    assert lab.ask("GET", "/health", fields=[]).status == 200
    assert "a worker died" not in lab.said()
