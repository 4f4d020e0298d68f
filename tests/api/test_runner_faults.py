# SPDX-License-Identifier: Apache-2.0
"""creel-runner when things go wrong: clients that go, workers that are killed, many at once, the end of the service."""
import concurrent.futures
import json
import os
import pathlib
import signal
import socket
import subprocess
import time

import pytest
from runner_lab import RUNNER, WAIT, Lab, as_users, make_lab, wait_for

CALLS, SESSIONS = 200, 20
MEMORY_CALLS = 2000


@pytest.fixture(params=as_users())
def lab(request):
    one = make_lab(request.param)
    try:
        yield one
    finally:
        one.done()


def alive(mark):
    """Processes with this word in their command line, of which we are none."""
    done = subprocess.run(["pgrep", "-f", mark], capture_output=True, text=True, check=False)
    return [p for p in done.stdout.split() if int(p) != os.getpid()]


def begin(lab, seconds, mark, path="/v1/calls", stream=True):
    """A call that says so once it runs."""
    c = lab.connect()
    code = f"import time; print('up', flush=True); time.sleep({seconds}); print('done') # {mark}"
    c.send("POST", path, lab.fields(Accept="text/event-stream") if stream else lab.fields(),
           lab.call_body("exec", {"command": ["python3", "-c", code]}, request_id=mark))
    if stream:
        c.head()
        c.stream = c.events()
        assert next(c.stream)[0] == "start"
        assert next(c.stream)[:2] == ("stdout", {"data": "up\n"})
    else:
        wait_for("the call runs", lambda: alive(f"# {mark}"))
    return c


def ends(lab, mark):
    return [r for r in lab.audit() if r["kind"] == "finished" and r["request"] == mark]


def check_log(lab):
    """Each decision has its end, once."""
    log = lab.audit()
    decided = [r["seq"] for r in log if r["kind"] == "decided"]
    finished = [r["decided"] for r in log if r["kind"] == "finished"]
    assert sorted(decided) == sorted(finished)
    return log


@pytest.mark.parametrize("stream", [True, False])
def test_a_client_that_goes_takes_the_whole_tree_with_it(lab, stream):
    mark = f"going-{stream}-{os.getpid()}"
    c = begin(lab, 500, mark, stream=stream)
    assert alive(f"# {mark}")
    c.close()
    wait_for("the program ends", lambda: not alive(f"# {mark}"))
    end = wait_for("the end in the log", lambda: ends(lab, mark))
    assert end[0]["reason"] == "cancelled"
    assert lab.call("exec", {"command": "echo on"}).json["stdout"] == "on\n"


def test_a_worker_that_is_killed_loses_its_call_alone(lab):
    mark = f"lost-{os.getpid()}"
    c = begin(lab, 500, mark, stream=False)
    other = begin(lab, 3, f"other-{os.getpid()}")
    victim = wait_for("who runs it", lambda: next((r["pid"] for r in lab.audit() if r["kind"] == "decided" and r["request"] == mark), None))
    assert victim in lab.workers()
    os.kill(victim, signal.SIGKILL)
    assert c.s.recv(1) == b"", "the client hears that it is over"
    wait_for("the program ends", lambda: not alive(f"# {mark}"))
    end = wait_for("the log has it", lambda: ends(lab, mark))
    assert end[0]["reason"] == "lost"
    assert [k for k, _, _ in other.stream][-1] == "result"
    wait_for("another in its place", lambda: len([w for w in lab.workers() if w != victim]) >= 2)
    assert lab.call("exec", {"command": "echo on"}).json["stdout"] == "on\n"
    assert "creel_runner_workers_lost_total 1\n" in lab.ask("GET", "/metrics", token=None).body.decode()
    other.close()
    check_log(lab)


@pytest.mark.serial
def test_many_calls_at_once_each_get_their_own_output(lab):
    def one(i):
        body = {"session": f"agent:g-coder:s{i % SESSIONS}", "tool": "exec", "request_id": f"many-{i}",
                "args": {"command": f"echo {i} >> /tmp/seen; echo out-{i}; echo err-{i} >&2"}}
        got = lab.ask("POST", "/v1/calls", body)
        return i, got.status, got.json

    with concurrent.futures.ThreadPoolExecutor(CALLS) as pool:
        for i, status, got in pool.map(one, range(CALLS)):
            assert (status, got.get("stdout"), got.get("stderr")) == (200, f"out-{i}\n", f"err-{i}\n"), got
            assert got["request_id"] == f"many-{i}" and got["sandbox"]["session"] == f"agent:g-coder:s{i % SESSIONS}"
    for s in range(0, SESSIONS, 7):
        seen = lab.ask("POST", "/v1/calls", {"session": f"agent:g-coder:s{s}", "tool": "exec", "args": {"command": "sort -n /tmp/seen"}}).json
        assert [int(n) for n in seen["stdout"].split()] == list(range(s, CALLS, SESSIONS))
    log = check_log(lab)
    assert {r["request"] for r in log if r["kind"] == "decided"} >= {f"many-{i}" for i in range(CALLS)}
    assert "a worker died" not in lab.said()


def test_sigterm_lets_calls_finish_and_takes_no_more(lab):
    c = begin(lab, 2, f"drain-{os.getpid()}")
    lab.process.send_signal(signal.SIGTERM)
    rest = list(c.stream)
    assert ("stdout", {"data": "done\n"}) in [r[:2] for r in rest] and rest[-1][0] == "result" and rest[-1][1]["ok"]
    assert lab.process.wait(WAIT) == 0
    check_log(lab)


def test_sigterm_is_heard_between_requests_that_came_together(lab):
    """They are in the worker's own buffer by then: the first one is larger than what it usually has."""
    asked, count = b"", 30
    for i in range(count):
        data = json.dumps(lab.call_body("exec", {"command": "sleep 0.3 # " + "x" * (0 if i else 17000)}, request_id=f"p-{i}")).encode()
        head = "\r\n".join(["POST /v1/calls HTTP/1.1", "Host: r", *(f"{k}: {v}" for k, v in lab.fields()), f"Content-Length: {len(data)}", "", ""])
        asked += head.encode() + data
    c = lab.connect(timeout=60)
    c.s.sendall(asked)
    wait_for("the first one runs", lambda: any(r["kind"] == "decided" for r in lab.audit()))
    lab.process.send_signal(signal.SIGTERM)
    assert lab.process.wait(WAIT) == 0
    c.close()
    assert len([r for r in check_log(lab) if r["kind"] == "decided"]) < count // 2


def test_a_second_sigterm_ends_at_once_and_nothing_is_left(lab):
    mark = f"cut-{os.getpid()}"
    c = begin(lab, 500, mark)
    lab.process.send_signal(signal.SIGTERM)
    wait_for("it stops", lambda: "stopping" in lab.said())
    lab.process.send_signal(signal.SIGTERM)
    assert lab.process.wait(WAIT) == 0
    wait_for("the program ends", lambda: not alive(f"# {mark}"))
    c.close()


def test_workers_end_when_their_parent_is_killed(lab):
    before = lab.workers()
    lab.process.kill()
    lab.process.wait(WAIT)
    wait_for("they go", lambda: not any(pathlib.Path(f"/proc/{w}").exists() for w in before))


def test_workers_grow_with_the_connections_and_idle_ones_are_held(lab):
    held = [lab.connect() for _ in range(12)]
    for c in held:
        c.send("GET", "/health")
    assert all(c.answer().status == 200 for c in held)
    assert len(lab.workers()) >= 12
    for c in held:  # an idle connection is not ended for another
        c.send("GET", "/health")
        assert c.answer().status == 200
        c.close()


def test_memory_is_flat_over_many_calls(lab):
    c = lab.connect()
    pid = None

    def call(i):
        c.send("POST", "/v1/calls", lab.fields(), lab.call_body("exec", {"command": "true"}, request_id=f"m-{i}"))
        assert c.answer().json["ok"]

    def resident():
        return int(next(line for line in pathlib.Path(f"/proc/{pid}/status").read_text().splitlines() if line.startswith("VmRSS")).split()[1])

    def descriptors():
        return len(os.listdir(f"/proc/{pid}/fd"))

    for i in range(200):
        call(i)
    pid = next(r["pid"] for r in lab.audit() if r["kind"] == "decided" and r["request"] == "m-0")
    kib, fds = resident(), descriptors()
    for i in range(200, MEMORY_CALLS):
        call(i)
    assert resident() <= kib + 512, (kib, resident())
    assert descriptors() <= fds
    c.close()


def test_tcp_has_workers_of_its_own(lab):
    second = Lab("root" if lab.uid == 0 else "user")
    tcp = socket.socket()
    tcp.bind(("127.0.0.1", 0))
    tcp.listen(64)
    port = tcp.getsockname()[1]
    try:
        second.new_token("all", "*")
        second.start(more=[tcp])
        strangers = [socket.create_connection(("127.0.0.1", port)) for _ in range(40)]
        for _ in range(5):
            assert second.ask("GET", "/health", fields=[]).status == 200
            assert second.call("exec", {"command": "echo a"}).json["stdout"] == "a\n"
        for s in strangers:
            s.close()
        s = socket.create_connection(("127.0.0.1", port), timeout=WAIT)
        s.sendall(b"POST /run HTTP/1.1\r\nHost: x\r\nContent-Length: 2\r\n\r\n{}")
        assert s.recv(100).startswith(b"HTTP/1.1 401 ")
        s.close()
    finally:
        tcp.close()
        second.done()


def test_s2_33_without_tokens_it_does_not_start_and_says_what_makes_them(lab):
    listener = socket.socket(socket.AF_UNIX)
    listener.bind(str(lab.home / "x.sock"))
    listener.listen(1)

    def start(env, state):
        script = f'exec 3<&{listener.fileno()}; export LISTEN_PID=$$; exec "$@"'
        return subprocess.run(["bash", "-c", script, "sh", *lab.become(), str(RUNNER), "--no-default-config", "--state-dir", str(state)], cwd=lab.work,
                              env={**lab.env, "LISTEN_FDS": "1", "LISTEN_FDNAMES": "runner", **env}, pass_fds=[listener.fileno()], capture_output=True,
                              text=True, timeout=WAIT, check=False)

    empty = lab.home / "state2"
    done = start({"TOOL_RUNNER_TOKEN": "x" * 32}, empty)
    assert done.returncode != 0 and "creel token new" in done.stderr
    done = start({}, empty)
    assert done.returncode != 0 and "creel token new --runner" in done.stderr
    listener.close()


def test_tokens_are_in_no_environment_of_a_call(lab):
    lab.stop()
    lab.socket.unlink()
    lab.config["mode"] = {"trust": {"rules": [{"match": "agent:*", "trust": "none"}]}}
    lab.env["SANDBOX_GUARD_TOKEN"] = "environment-token-of-a-caller"
    lab.start()
    got = lab.call("exec", {"command": "env"}, token="environment-token-of-a-caller").json
    assert got.get("ok"), got
    assert lab.token not in got["stdout"] and "environment-token" not in got["stdout"] and "LISTEN_" not in got["stdout"]


def test_a_slow_client_does_not_hold_up_others(lab):
    c = lab.connect()
    c.send("POST", "/v1/calls", lab.fields(Accept="text/event-stream"), lab.call_body("exec", {"command": "yes | head -c 30000000"}))
    time.sleep(0.5)
    for _ in range(5):
        assert lab.call("exec", {"command": "echo a"}).json["stdout"] == "a\n"
    c.head()
    assert sum(len(d["data"]) for k, d, _ in c.events() if k == "stdout") == 30000000
    c.close()


def test_a_call_that_waits_for_a_person_is_told_and_answered_by_administrators(lab):
    lab.stop()
    lab.socket.unlink()
    lab.config["mode"] = {"trust": {"rules": [{"match": "agent:*", "trust": "none"}]}}
    lab.config["tools"] = {"exec": {"mode": "always"}}
    lab.start()
    for answer, ok in (("allow", True), ("deny", False)):
        c = lab.connect()
        c.send("POST", "/v1/calls", lab.fields("coder", Accept="text/event-stream"), lab.call_body("exec", {"command": f"echo {answer}"}))
        assert c.head()[0] == 200
        events = c.events()
        assert next(events)[0] == "start"
        kind, data, _ = next(events)
        assert kind == "waiting" and data["approval"]["state"] == "waiting"
        id_ = data["approval"]["id"]
        assert [a["id"] for a in lab.ask("GET", "/v1/approvals", token="coder").json["approvals"]] == [id_]
        assert lab.ask("POST", f"/v1/approvals/{id_}", {"answer": "allow"}, token="coder").status == 403
        assert lab.ask("POST", f"/v1/approvals/{id_}", {"answer": "perhaps"}, token="admin").status == 422
        assert lab.ask("POST", f"/v1/approvals/{id_}", {"answer": answer}, token="admin").status == 200
        rest = list(events)
        assert rest[-1][0] == "result" and rest[-1][1]["ok"] is ok, rest
        assert ok or rest[-1][1]["error"] == "approval_denied"
        c.close()
    assert lab.ask("POST", "/v1/approvals/zzzzzzzz", {"answer": "allow"}, token="admin").status == 404
