# SPDX-License-Identifier: Apache-2.0
"""S2-1 to S2-44 (docs/checklist.md), each against creeld with its guard, runner and egress running. ROWS says which test shows which; the last test here fails
when a row is missing, or names a test that is not run against all services. Jobs look at their own walls from inside: what a unit test has planned is no proof
that it was built.

Not shown here, because it cannot be: of S2-26 that no build of creel has a way to Docker (what is shown is that nobody of ours asks the one that DOCKER_HOST names, and that jobs run without), and
of S2-4 the upper end of a timeout (60 s), which c25_tier1_commands_have_1_to_60_seconds computes and a test would have to wait for; the lower end is shown.
"""
import ast
import contextlib
import http.server
import json
import os
import pathlib
import re
import signal
import socket
import threading
import time

import pytest

from guard_lab import CODER, HELLO, ROOT, Wire, wait_for
from runner_lab import as_users
from services_lab import Services, audit, free_port, running, stream

SCRIPT = "test_s2_36_the_nine_cases_of_the_script_pass"
ROWS = {
    1: ["test_s2_1_a_job_shares_nothing_with_the_host", SCRIPT],
    2: ["test_s2_34_one_command_starts_all_of_it", SCRIPT],
    3: ["test_s2_39_a_spoofed_pair_is_403_and_nothing_of_it_runs"],
    4: ["test_s2_4_time_is_bounded_for_every_tool", "test_s2_16_the_workspace_is_read_only_but_for_file_write", "test_s2_17_a_job_has_no_network"],
    5: ["test_s2_44_a_command_cannot_write_whatever_policy_the_caller_sends"],
    6: ["test_s2_6_a_guard_whose_token_the_runner_does_not_know_is_told_so"],
    7: ["test_s2_7_another_user_reaches_neither_the_runner_nor_the_proxy"],
    8: ["test_s2_8_a_runner_on_a_port_wants_its_token_too", "test_s2_43_the_runner_takes_nothing_from_a_caller_who_has_no_token_of_the_runner"],
    9: ["test_s2_9_nothing_of_a_job_is_there_for_the_next"],
    10: ["test_s2_10_s2_15_the_job_sees_its_workspace_and_nothing_else_of_the_host"],
    11: ["test_s2_11_the_root_is_read_only"],
    12: ["test_s2_12_s2_13_no_capabilities_and_no_new_privileges"],
    13: ["test_s2_12_s2_13_no_capabilities_and_no_new_privileges"],
    14: ["test_s2_14_processes_memory_and_processors_are_limited"],
    15: ["test_s2_10_s2_15_the_job_sees_its_workspace_and_nothing_else_of_the_host"],
    16: ["test_s2_16_the_workspace_is_read_only_but_for_file_write"],
    17: ["test_s2_17_a_job_has_no_network"],
    18: ["test_s2_18_s2_19_curl_to_a_listed_host_reaches_that_host_and_no_other", SCRIPT],
    19: ["test_s2_18_s2_19_curl_to_a_listed_host_reaches_that_host_and_no_other"],
    20: ["test_s2_20_no_way_leads_to_another_agents_workspace"],
    21: ["test_s2_43_the_runner_takes_nothing_from_a_caller_who_has_no_token_of_the_runner", "test_s2_8_a_runner_on_a_port_wants_its_token_too"],
    22: ["test_s2_44_a_command_cannot_write_whatever_policy_the_caller_sends", "test_s2_22_the_runner_clamps_what_its_guard_would_have_let_through"],
    23: ["test_s2_23_no_answer_of_ours_has_a_trace_of_the_inside", "test_s2_23_a_job_that_cannot_begin_says_why_and_names_no_file"],
    24: ["test_s2_24_a_token_of_one_pair_is_403_for_every_other_with_all_services"],
    25: ["test_what_the_guard_refuses_is_in_the_audit_log_with_the_token"],
    26: ["test_s2_26_nobody_of_ours_talks_to_docker"],
    27: ["test_s2_each_row_of_the_table_holds_with_all_services_running"],
    28: ["test_s2_28_tokens_are_taken_from_a_private_file_of_variables"],
    29: ["test_s2_29_s2_30_tokens_of_the_environment_open_both_doors"],
    30: ["test_s2_29_s2_30_tokens_of_the_environment_open_both_doors"],
    31: ["test_s2_31_s2_32_the_allowlist_of_s2_is_read_as_it_is_and_when_it_changes"],
    32: ["test_s2_31_s2_32_the_allowlist_of_s2_is_read_as_it_is_and_when_it_changes"],
    33: ["test_without_tokens_nothing_starts_and_the_command_is_named"],
    34: ["test_s2_34_one_command_starts_all_of_it"],
    35: [SCRIPT, "test_s2_36_without_a_token_the_script_fails_when_it_has_to_be_strict"],
    **{n: [SCRIPT] for n in range(36, 45)},
}


class Model(http.server.BaseHTTPRequestHandler):
    def do_GET(self):
        self.send_response(200)
        self.send_header("Content-Length", "5")
        self.end_headers()
        self.wfile.write(b"model")

    def log_message(self, *_):
        pass


@contextlib.contextmanager
def serving():
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), Model) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        try:
            yield server.server_port
        finally:
            server.shutdown()


@pytest.fixture(scope="module", params=as_users())
def s(request):
    with serving() as port:
        one = Services(request.param, options=["-e", f"network.internal.hosts=ollama:11434=127.0.0.1:{port}"])
        one.model = port
        with running(one):
            yield one


def python(s, code, pair=CODER, **more):
    return s.run("shell_exec", {"cmd": ["python3", "-c", code], **more}, pair)


def inside(s, code, pair=CODER):
    """What a job sees: the JSON that the code prints."""
    got = python(s, "import json, os, pathlib, socket\n" + code, pair)
    assert got.status == 200 and got.json["ok"], got
    return json.loads(got.json["stdout"])


def test_s2_1_a_job_shares_nothing_with_the_host(s):
    code = "print(json.dumps({n: os.readlink('/proc/self/ns/' + n) for n in ('mnt', 'pid', 'net', 'ipc', 'uts', 'user', 'cgroup')} | {'pids': len([p for p in os.listdir('/proc') if p.isdigit()])}))"
    seen = inside(s, code)
    runner = s.service("creel-runner")
    assert seen.pop("pids") < 10
    for name, ns in seen.items():
        assert ns != os.readlink(f"/proc/{runner}/ns/{name}"), name


@pytest.mark.parametrize("asked", [0, 1])
def test_s2_4_time_is_bounded_for_every_tool(s, asked):
    began = time.monotonic()
    got = python(s, "import time; time.sleep(30)", timeout_s=asked)
    assert got.status == 200 and (got.json["ok"], got.json["error"]) == (False, "timeout"), got
    assert 0.9 < time.monotonic() - began < 25


def test_s2_6_a_guard_whose_token_the_runner_does_not_know_is_told_so():
    s = Services(as_users()[-1])
    with running(s):
        assert s.run("file_write", {"path": "a", "content": "x"}).json["ok"]
        path = s.state / "runner.token"
        path.write_text(re.sub(r"[A-Za-z0-9_-]{16,}", lambda m: m[0][::-1], path.read_text()))
        old = s.service("creel-runner")
        os.kill(old, signal.SIGKILL)
        wait_for("another runner, with another token", lambda: s.service("creel-runner") not in (None, old))
        got = wait_for("it answers", lambda: (a := s.run("file_read", {"path": "a"})).json.get("detail") != "tool-runner unreachable" and a)
        assert (got.status, got.json) == (502, {"detail": "tool-runner auth failed"})
        s.p.send_signal(signal.SIGHUP)
        wait_for("both have the new one", lambda: s.run("file_read", {"path": "a"}).status == 200)
        assert s.stop() == 0


def test_s2_9_nothing_of_a_job_is_there_for_the_next(s):
    code = "p = pathlib.Path('/tmp/left'); was = p.exists(); p.write_text('x'); print(json.dumps([was, os.readlink('/proc/self/ns/pid'), os.getpid()]))"
    seen = [inside(s, code) for _ in range(3)]
    assert [row[0] for row in seen] == [False] * 3
    assert {x["state"] for x in json.loads(s.creel("list", "--json"))["sandboxes"]} <= {"spare"}, "each has ended with its request"


def test_s2_10_s2_15_the_job_sees_its_workspace_and_nothing_else_of_the_host(s):
    assert s.run("file_write", {"path": "mine", "content": "x"}).json["ok"] and s.run("file_write", {"path": "theirs", "content": "x"}, HELLO).json["ok"]
    (s.home / "secret").write_text("x")
    code = """
mounts = [line.split() for line in open('/proc/self/mountinfo')]
print(json.dumps({'cwd': os.getcwd(), 'work': sorted(os.listdir('/workspace')), 'mounts': [[m[4], m[3]] for m in mounts],
                  'host': [p for p in %r if os.path.exists(p)], 'home': os.environ.get('HOME'), 'env': sorted(os.environ)}))
""" % [str(p) for p in (s.dir, s.state, s.home, s.allowlist, s.dir / "w", "/root/.ssh", "/var/run/docker.sock", "/etc/shadow")]
    seen = inside(s, code)
    assert seen["cwd"] == "/workspace" and "mine" in seen["work"] and "theirs" not in seen["work"]
    assert seen["host"] == []
    mine = "/w/" + CODER[0] + "/group_" + CODER[1]
    assert "/workspace" in [m[0] for m in seen["mounts"]]
    ours = [m for m in seen["mounts"] if s.dir.name in m[1]]  # none where an overlay shows it
    assert all(m[0] == "/workspace" and m[1].endswith(mine) for m in ours) and len(ours) <= 1, "one of the host's directories, at one place"
    assert not [v for v in seen["env"] if "TOKEN" in v]


def test_s2_11_the_root_is_read_only(s):
    code = """
done = {}
for d in ['/'] + ['/' + n for n in os.listdir('/') if n not in ('tmp', 'proc', 'dev')] + ['/etc', '/usr/bin', '/usr/lib']:
    try:
        pathlib.Path(d, 'creel-test').write_text('x'); done[d] = 0
    except OSError as e:
        done[d] = e.errno
print(json.dumps(done))
"""
    seen = inside(s, code)
    assert "/" in seen and "/usr" in seen and "/workspace" in seen
    assert set(seen.values()) <= {30, 13, 20, 1}, seen  # EROFS, or never a directory that takes files
    assert seen["/"] == seen["/usr"] == 30


def test_s2_12_s2_13_no_capabilities_and_no_new_privileges(s):
    status = inside(s, "print(json.dumps(dict(l.rstrip().partition(':')[::2] for l in open('/proc/self/status'))))")
    for name in ("CapInh", "CapPrm", "CapEff", "CapBnd", "CapAmb"):
        assert int(status[name].strip(), 16) == 0, (name, status[name])
    assert status["NoNewPrivs"].strip() == "1" and status["Seccomp"].strip() == "2"


@pytest.mark.parametrize("s", [u for u in as_users() if u == "root"], indirect=True)
def test_s2_14_processes_memory_and_processors_are_limited(s):
    """An ordinary user has no cgroup here, and walls.optional=limits; tests/vm has one who does."""
    forks = """
n = 0
try:
    while n < 1000:
        if os.fork() == 0:
            import time; time.sleep(20); os._exit(0)
        n += 1
except OSError:
    pass
print(json.dumps(n), flush=True)
"""
    assert 100 < inside(s, forks) < 128
    got = python(s, "b = []\nwhile len(b) < 12: b.append(bytearray(64 << 20))\nprint('all')")
    assert got.status == 200 and not got.json["ok"] and "all" not in got.json["stdout"], got
    assert python(s, "b = bytearray(200 << 20); print('some')").json["ok"]
    busy = """
import time
pids = []
for _ in range(4):
    pid = os.fork()
    if pid == 0:
        end = time.monotonic() + 1.5
        while time.monotonic() < end: pass
        os._exit(0)
for _ in range(4): os.wait()
import resource; u = resource.getrusage(resource.RUSAGE_CHILDREN); print(json.dumps(u.ru_utime + u.ru_stime))
"""
    assert inside(s, busy) < 1.5 * 1.25


def test_s2_16_the_workspace_is_read_only_but_for_file_write(s):
    flags = "print(json.dumps(os.statvfs('/workspace').f_flag & os.ST_RDONLY))"
    assert inside(s, flags) == 1
    assert s.run("file_write", {"path": "d/e/f", "content": "deep"}).json["ok"]
    assert s.run("file_read", {"path": "d/e/f"}).json["stdout"] == "deep"
    assert inside(s, "print(json.dumps(open('d/e/f').read()))") == "deep"
    for code in ("open('d/e/f', 'a')", "os.unlink('d/e/f')", "os.mkdir('g')", "os.rename('d', 'g')", "os.chmod('d', 0o777)"):
        got = python(s, "import os; " + code)
        assert not got.json["ok"] and "Read-only file system" in got.json["stderr"], (code, got)


def test_s2_17_a_job_has_no_network(s):
    code = """
def reach(family, address):
    try:
        with socket.socket(family) as c:
            c.settimeout(3); c.connect(address); return 'reached'
    except OSError as e:
        return str(e.errno)
found = {'ifs': [l.split(':')[0].strip() for l in open('/proc/net/dev') if ':' in l], 'routes': open('/proc/net/route').read().count('\\n') - 1,
         'guard': reach(socket.AF_INET, ('127.0.0.1', %d)), 'model': reach(socket.AF_INET, ('127.0.0.1', %d)), 'world': reach(socket.AF_INET, ('192.0.2.1', 80)),
         'world6': reach(socket.AF_INET6, ('2001:db8::1', 80))}
try:
    found['name'] = socket.getaddrinfo('ollama', 80)
except OSError:
    found['name'] = None
print(json.dumps(found))
""" % (s.port, s.model)
    seen = inside(s, code)
    assert seen["ifs"] == ["lo"] and seen["routes"] <= 0 and seen["name"] is None
    assert "reached" not in seen.values(), seen


def test_s2_18_s2_19_curl_to_a_listed_host_reaches_that_host_and_no_other(s):
    def curl(*words):
        return s.run("shell_exec", {"cmd": ["curl", "-fsS", "-m", "5", *words]})

    got = curl("http://ollama:11434/api/tags")
    assert got.status == 200 and got.json["ok"] and got.json["stdout"] == "model", got
    for url in ("http://rag-service:8000/", "http://127.0.0.1:%d/" % s.model, "http://ollama.example.com:11434/", "https://example.com/"):
        got = curl(url)
        assert (got.status, got.json) == (403, {"detail": "curl host not allowed"}), url
    got = curl("http://ollama:%d/" % s.port)  # the host is listed, this port of it is not
    assert got.status == 403 or not got.json["ok"], got
    for words, detail in ((["http://ollama@127.0.0.1/"], "curl URL must be http(s) with hostname"), (["-o", "x", "http://ollama:11434/"], "curl flag not allowed: -o"), (["http://ollama:11434/", "file:///etc/hostname"], "curl URL must be http(s) with hostname")):
        got = curl(*words)
        assert (got.status, got.json["detail"]) == (403, detail), words


def test_s2_20_no_way_leads_to_another_agents_workspace(s):
    assert s.run("file_write", {"path": "theirs.txt", "content": "of g-hello"}, HELLO).json["ok"]
    other = s.dir / "w" / HELLO[0] / f"group_{HELLO[1]}" / "theirs.txt"
    assert other.read_text() == "of g-hello"
    mine = s.dir / "w" / CODER[0] / f"group_{CODER[1]}"
    assert s.run("file_write", {"path": "here", "content": "x"}).json["ok"]
    for name, target in (("up", f"../../{HELLO[0]}/group_{HELLO[1]}"), ("abs", str(other.parent)), ("proc", "/proc/1/root")):
        with contextlib.suppress(FileExistsError):
            (mine / name).symlink_to(target)
    for path in (f"../../{HELLO[0]}/group_{HELLO[1]}/theirs.txt", str(other), "up/theirs.txt", "abs/theirs.txt", f"proc{other}"):
        got = s.run("file_read", {"path": path})
        assert not (got.status == 200 and got.json["ok"]) and "of g-hello" not in got.body.decode(), path
        got = s.run("file_write", {"path": path, "content": "overwritten"})
        assert not (got.status == 200 and got.json["ok"]), path
        got = python(s, f"print(open({path!r}).read())")
        assert got.status == 200 and not got.json["ok"] and "of g-hello" not in got.body.decode(), path
    assert other.read_text() == "of g-hello"
    for name in ("up", "abs", "proc"):
        (mine / name).unlink()


def test_s2_22_the_runner_clamps_what_its_guard_would_have_let_through():
    """Whoever has both tokens speaks to the runner as a guard would that was taken over."""
    env = {"TOOL_RUNNER_TOKEN": "runner-0123456789abcdef"}
    s = Services(as_users()[-1])
    s.env |= env
    s.port2 = free_port()
    s.options += ["-e", f"serve.runner=127.0.0.1:{s.port2}"]
    with running(s):
        def run(**body):
            w = Wire(socket.create_connection(("127.0.0.1", s.port2), timeout=60), 60)
            try:
                w.ask("POST", "/run", [("Authorization", f"Bearer {env['TOOL_RUNNER_TOKEN']}"), ("X-Creel-Token", s.token)],
                      {"agent": CODER[0], "scope": {"type": "telegram", "chat_id": CODER[1]}, **body})
                return w.answer()
            finally:
                w.close()

        assert run(tool="file_write", args={"path": "a", "content": "x"}).json["ok"]
        for more in ({"policy": {"fs": {"mode": "rw"}, "net": {"mode": "allowlist", "allow": ["example.com"]}}}, {"mounts": []}, {"network": "host"}):
            got = run(tool="shell_exec", args={"cmd": ["python3", "-c", "open('rw', 'w')"]}, **more)
            assert got.status >= 400 or not got.json["ok"], (more, got)
        got = run(tool="shell_exec", args={"cmd": ["bash", "-c", "true"]})
        assert got.json["error"] == "shell_denied"
        got = run(tool="shell_exec", args={"cmd": ["python3", "-c", "open('rw', 'w')"]})
        assert not got.json["ok"] and "Read-only" in got.json["stderr"]
        assert not list((s.dir / "w").glob("**/rw"))


def test_s2_23_a_job_that_cannot_begin_says_why_and_names_no_file():
    s = Services("user")
    s.options = []  # without walls.optional=limits: the limits of tier 1 cannot be held here
    with running(s):
        if "tier-1 calls are refused" not in s.said():
            pytest.skip("this user has a cgroup that can hold limits")
        got = python(s, "print(1)")
        assert got.status == 502 and got.json["detail"] == "tool-runner error", "as the table has it"
        assert got.json["error"] == "sandbox_unavailable" and "no cgroup for the limit on" in got.json["message"] and len(got.json["message"]) <= 300
        request = got.json["request_id"]
        assert f'guard: warn the runner could not do a call request="{request}" status=500 error="sandbox_unavailable" why="no cgroup' in s.said()
        finished = next(r for r in audit(s) if r["kind"] == "finished" and r["request"] == request)
        assert finished["error"] == "sandbox_unavailable" and "no cgroup for the limit on" in finished["why"]
        assert "no cgroup for the limit on" in s.creel("audit", "show", "--request", request)
    s = Services("user")
    with running(s):
        assert s.run("file_write", {"path": "a", "content": "x"}).json["ok"]
        space = s.dir / "w" / CODER[0] / f"group_{CODER[1]}"
        space.rename(space.parent / "aside")
        space.symlink_to(s.home)
        got = s.run("file_read", {"path": "a"})
        assert (got.status, got.json["detail"]) == (502, "tool-runner error") and got.json["message"], got
        assert str(s.dir).encode() not in got.body and b"/w/" not in got.body, "the place is for the log"
        assert str(space) in next(r for r in audit(s) if r["kind"] == "finished" and r["request"] == got.json["request_id"])["why"]
        mine = s.creel("token", "new", "--pairs", ":".join(CODER)).strip()
        heard = []
        with stream(s, "GET", "/v1/events", token=mine) as events:
            s.run("file_read", {"path": "a"}, request_id="again")
            for _, data, _ in events:
                heard.append(data)
                if data.get("kind") == "finished" and data.get("request") == "again":
                    break
        assert str(s.dir) not in json.dumps(heard), "nor do others hear of it who are no administrators"


def test_s2_24_a_token_of_one_pair_is_403_for_every_other_with_all_services(s):
    mine = s.creel("token", "new", "--pairs", ":".join(CODER)).strip()
    body = {"tool": "file_read", "args": {"path": "a"}}
    for pair, status in ((CODER, 200), (HELLO, 403)):
        who = {"agent": pair[0], "scope": {"type": "telegram", "chat_id": pair[1]}}
        assert s.ask("POST", "/run", {**who, **body}, mine).status == status
        assert (s.ask("POST", "/v1/calls", {**who, "tool": "read", "args": {"path": "a"}}, mine).status == 403) == (status == 403)


@pytest.mark.parametrize("user", as_users())
def test_s2_26_nobody_of_ours_talks_to_docker(user):
    s = Services(user)
    path = s.dir / "docker.sock"
    with socket.socket(socket.AF_UNIX) as daemon:
        daemon.bind(str(path))
        path.chmod(0o666)
        daemon.listen(8)
        daemon.setblocking(False)
        s.env |= {"DOCKER_HOST": f"unix://{path}"}
        with running(s):
            got = s.run("shell_exec", {"cmd": ["python3", "-c", "print(1)"]}, request_id="where")
            assert got.json["ok"], got
            assert next(r for r in audit(s) if r["kind"] == "decided" and r["request"] == "where")["backend"] == "native"
            seen = inside(s, "print(json.dumps([p for p in (%r, '/var/run/docker.sock', '/run/containerd') if os.path.exists(p)] + [n for n in os.environ if 'DOCKER' in n]))" % str(path))
            assert seen == []
            with pytest.raises(BlockingIOError):
                daemon.accept()


def test_s2_29_s2_30_tokens_of_the_environment_open_both_doors():
    s = Services(as_users()[-1], tokens=False)
    s.env |= {"SANDBOX_GUARD_TOKEN": "guard-0123456789abcdef", "TOOL_RUNNER_TOKEN": "runner-0123456789abcdef"}
    s.token = s.env["SANDBOX_GUARD_TOKEN"]
    with running(s):
        for pair in (CODER, HELLO):
            assert s.run("file_write", {"path": "a", "content": "x"}, pair).json["ok"]
        for token in (s.env["TOOL_RUNNER_TOKEN"], "guard-0123456789abcdeF", "guard-0123456789abcde"):
            got = s.ask("POST", "/run", {"agent": CODER[0], "scope": {"type": "telegram", "chat_id": CODER[1]}, "tool": "file_read", "args": {"path": "a"}}, token)
            assert (got.status, got.json) == (401, {"detail": "invalid auth"})
        assert "0123456789abcde" not in s.said()
        assert "TOKEN" not in json.dumps(inside(s, "print(json.dumps(sorted(os.environ)))"))


def test_s2_31_s2_32_the_allowlist_of_s2_is_read_as_it_is_and_when_it_changes():
    s = Services(as_users()[-1])
    rows = [{"agent": "g-coder", "chat_id": "TG_GROUP_CODER_ID"}, {"agent": "g-hello", "chat_id": "TG_GROUP_HELLO_ID"}]
    s.allowlist.write_text(json.dumps({"telegram": rows + ["no object", {"agent": 5, "chat_id": "1"}]}))
    with running(s):
        def pairs():
            return s.ask("GET", "/health").json["allowed_pairs"]

        assert pairs() == 2
        assert s.run("file_write", {"path": "a", "content": "x"}, ("g-coder", "TG_GROUP_CODER_ID")).json["ok"]
        got = s.run("file_read", {"path": "a"}, ("g-coder", "TG_GROUP_HELLO_ID"))
        assert (got.status, got.json) == (403, {"detail": "agent/scope not allowed"})
        s.pairs(("g-hello", "TG_GROUP_HELLO_ID"))
        wait_for("the change counts", lambda: pairs() == 1)
        assert s.run("file_read", {"path": "a"}, ("g-coder", "TG_GROUP_CODER_ID")).status == 403


def test_every_row_of_s2_has_a_test_against_all_services():
    here = pathlib.Path(__file__).parent
    found = {}
    for path in here.glob("test_*.py"):
        if "services_lab" in path.read_text():
            found |= {f.name: path.name for f in ast.walk(ast.parse(path.read_text())) if isinstance(f, ast.FunctionDef)}
    checklist = {int(n): rest for n, rest in re.findall(r"^\| S2-(\d+) \|(.*)$", (ROOT / "docs/checklist.md").read_text(), re.M)}
    assert sorted(ROWS) == sorted(checklist) == list(range(1, 45))
    for n, names in ROWS.items():
        for name in names:
            assert name in found, f"S2-{n}: no test {name} that runs all services"
            assert re.search(rf"\b{name}\b", checklist[n]), f"S2-{n}: docs/checklist.md does not name {name}"
