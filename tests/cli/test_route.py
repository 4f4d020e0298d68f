# SPDX-License-Identifier: Apache-2.0
"""The internal route: a real server on loopback stands for a model, real sandboxes reach it through the egress proxy, and nothing else."""
import contextlib
import http.server
import json
import os
import pathlib
import signal
import socket
import subprocess
import sys
import threading

import pytest

from conftest import CREEL, wait_until

EGRESS = CREEL.parents[1] / "server/egress/creel-egress"
BIG = 50 << 20
SESSION = "agent:main:test"  # named: without one, `call` asks for trust light, which has no network at all
TIER1 = ["--profile", "tier1", "-e", "walls.optional=limits"]  # an ordinary user may have no cgroup

# Runs as "curl" inside, with the route that curl has: what a program does that does not keep to its arguments.
ATTACK = """#!/usr/bin/python3
import json, os, socket, sys, urllib.request, urllib.error
sys.argv = [a for a in sys.argv if a != "-q"]
port = int(sys.argv[1].split(":")[2].split("/")[0])
told = {}
def direct(name, family, kind, address):
    s = socket.socket(family, kind)
    s.settimeout(5)
    try:
        s.connect(address)
        told[name] = "connected"
    except OSError as e:
        told[name] = e.strerror or str(e)
def proxied(name, url, method="GET"):
    try:
        with urllib.request.urlopen(urllib.request.Request(url, method=method), timeout=20) as r:
            told[name] = r.status
    except urllib.error.HTTPError as e:
        told[name] = [e.code, json.loads(e.read())]
    except OSError as e:
        told[name] = str(e)
def raw(name, text):
    s = socket.create_connection(("127.0.0.1", 3128), 5)
    s.sendall(text.encode())
    told[name] = s.recv(4096).decode().split("\\r\\n")[0]
direct("server", socket.AF_INET, socket.SOCK_STREAM, ("127.0.0.1", int(os.environ["REAL_PORT"])))
direct("outside", socket.AF_INET, socket.SOCK_STREAM, ("192.0.2.1", 80))
direct("datagram", socket.AF_INET, socket.SOCK_DGRAM, ("192.0.2.1", 53))
direct("v6", socket.AF_INET6, socket.SOCK_STREAM, ("2001:db8::1", 80))
try:
    socket.getaddrinfo("example.com", 80)
    told["lookup"] = "found"
except OSError as e:
    told["lookup"] = "refused"
proxied("allowed", sys.argv[1])
proxied("port", "http://ollama:1/")
proxied("host", "http://example.com/")
proxied("metadata", "http://169.254.169.254/latest/")
proxied("address", "http://127.0.0.1:%s/" % os.environ["REAL_PORT"])
proxied("redirect", "http://ollama:%d/redirect" % port)
raw("connect", "CONNECT ollama:%d HTTP/1.1\\r\\nHost: ollama:%d\\r\\n\\r\\n" % (port, port))
raw("connect_other", "CONNECT example.com:443 HTTP/1.1\\r\\nHost: example.com:443\\r\\n\\r\\n")
raw("itself", "CONNECT 127.0.0.1:3128 HTTP/1.1\\r\\nHost: 127.0.0.1:3128\\r\\n\\r\\n")
raw("smuggled", "GET http://ollama:%d/ HTTP/1.1\\r\\nHost: example.com\\r\\n\\r\\n" % port)
print(json.dumps(told))
"""


class Model(http.server.BaseHTTPRequestHandler):
    """What stands for the model."""
    protocol_version = "HTTP/1.1"

    def do_GET(self):
        self.server.asked.append((self.path, dict(self.headers)))
        if self.path == "/redirect":
            self.send_response(302)
            self.send_header("Location", "http://example.com/")
            self.send_header("Content-Length", "0")
            self.end_headers()
        elif self.path == "/big":
            self.send_response(200)
            self.send_header("Content-Length", str(BIG))
            self.end_headers()
            with contextlib.suppress(OSError):
                for _ in range(BIG >> 16):
                    self.wfile.write(b"x" * 65536)
        elif self.path == "/slow":
            self.send_response(200)
            self.send_header("Transfer-Encoding", "chunked")
            self.end_headers()
            for piece in (b"one ", b"two ", b"three"):
                self.wfile.write(b"%x\r\n%s\r\n" % (len(piece), piece))
                self.wfile.flush()
                self.server.wait.wait(0.2)
            self.wfile.write(b"0\r\n\r\n")
        elif self.path == "/hang":
            self.server.hanging.set()
            self.server.wait.wait(60)
        else:
            body = b'{"models":["m"]}'
            self.send_response(200)
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

    def log_message(self, *_):
        pass


@pytest.fixture
def model():
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Model)
    server.asked, server.wait, server.hanging = [], threading.Event(), threading.Event()
    server.daemon_threads = True
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    yield server
    server.wait.set()
    server.shutdown()
    server.server_close()
    thread.join()


class Egress:
    """creel-egress on a socket of the runtime directory, as its parent starts it."""

    def __init__(self, sessions):
        self.sessions = sessions
        run = sessions.state / "run"
        run.mkdir(parents=True, mode=0o700)
        sessions.give(sessions.state)
        sessions.give(run)
        self.path = run / "egress.sock"
        self.door = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        self.door.bind(str(self.path))
        sessions.give(self.path)
        self.path.chmod(0o600)
        self.door.listen(16)
        self.log = open(sessions.home / "egress.log", "w+b")
        self.process = None
        self.start()

    def start(self):
        become = self.sessions.argv()[:-3]  # setpriv …, or nothing
        def give_socket():
            os.dup2(self.door.fileno(), 3)
            os.set_inheritable(3, True)
        self.process = subprocess.Popen(
            [*become, "/bin/sh", "-c", 'export LISTEN_PID=$$; exec "$0"', str(EGRESS)], preexec_fn=give_socket, close_fds=False,
            env={"LISTEN_FDS": "1", "LISTEN_FDNAMES": "egress", "PATH": "/usr/bin:/bin", "HOME": str(self.sessions.home),
                 # What looks for leaks traces the process, which nobody may do to one that is locked in; and what was freed is not kept.
                 "ASAN_OPTIONS": "detect_leaks=0:quarantine_size_mb=1"},
            stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=self.log)
        assert wait_until(lambda: "serving" in self.text()), self.text()

    def text(self):
        return pathlib.Path(self.log.name).read_text()

    def stop(self):
        if self.process.poll() is None:
            self.process.kill()
        self.process.wait()

    def descriptors(self):
        """How many; nobody but root can look into a process that is locked in."""
        return len(os.listdir(f"/proc/{self.process.pid}/fd")) if os.getuid() == 0 else 0

    def resident_kib(self):
        for line in pathlib.Path(f"/proc/{self.process.pid}/status").read_text().splitlines():
            if line.startswith("VmHWM"):
                return int(line.split()[1])
        raise AssertionError("no memory at all")


@pytest.fixture
def route(sessions, model):
    """Calls of curl by the runner's rules, in a workspace that the operator has made."""
    port = model.server_address[1]
    hosts = f"network.internal.hosts=ollama:11434=127.0.0.1:{port},plain"
    options = [*TIER1, "-e", hosts]
    told = sessions(*options, "explain", "--json", "--session", SESSION, "--tool", "file_read").json
    workspace = pathlib.Path(next(m["host"] for m in told["mounts"] if m["target"] == "/workspace"))
    workspace.mkdir(parents=True)
    path = workspace
    while path != sessions.home:
        sessions.give(path)
        path.chmod(0o755)
        path = path.parent

    def call(*cmd, status=0, more=(), **kw):
        got = sessions(*options, *more, "call", "--session", SESSION, "shell_exec", "-", input=json.dumps({"cmd": list(cmd), **kw}), status=status)
        return got.json
    call.sessions, call.workspace, call.port, call.model, call.options = sessions, workspace, port, model, options
    return call


@pytest.fixture
def egress(route):
    made = Egress(route.sessions)
    yield made
    made.stop()
    made.log.close()
    made.door.close()


def test_s2_42_curl_reaches_a_listed_host_by_its_mapped_address(route, egress):
    got = route("curl", "-fsS", "-m", "20", "http://ollama:11434/api/tags")
    assert got["ok"] and json.loads(got["stdout"]) == {"models": ["m"]}
    path, headers = route.model.asked[0]
    assert path == "/api/tags" and headers["Host"] == "ollama:11434"
    assert not any(h.lower().startswith("proxy") for h in headers)
    assert got["egress"]["requests"] == 1 and got["egress"]["bytes_down"] > len(got["stdout"]) and got["denials"] == []
    slow = route("curl", "-s", "http://OLLAMA.:11434/slow")
    assert slow["stdout"] == "one two three"
    two = route("curl", "-s", "http://ollama:11434/a", "http://ollama:11434/b")
    assert two["stdout"] == '{"models":["m"]}' * 2 and two["egress"]["requests"] == 2


@pytest.mark.parametrize("url, word", [
    ("http://ollama/", "host_not_allowed"), ("http://ollama:11435/", "host_not_allowed"), ("http://example.com/", "host_not_allowed"),
    ("http://127.0.0.1:11434/", "host_not_allowed"), ("http://ollama:11434/{a,b}", "invalid_url"), ("file:///etc/hostname", "invalid_url"),
])
def test_s2_19_what_is_not_listed_is_refused_before_a_sandbox_is_made(route, egress, url, word):
    assert route("curl", "http://ollama:11434/", url, status=126)["error"] == word
    assert route.model.asked == [] and "sandbox left" not in egress.text()


def test_s2_18_without_the_proxy_or_an_address_nothing_runs(route):
    got = route("curl", "-s", "http://ollama:11434/", status=125)
    assert got["error"] == "egress_unavailable" and "creel serve egress" in got["message"]
    assert route.model.asked == []
    got = route("curl", "-s", "http://plain:8000/", status=125)
    assert got["error"] == "unavailable" and "network.internal.hosts: plain:8000=ADDRESS:PORT" in got["message"]


def test_s2_19_a_program_that_keeps_to_nothing_reaches_the_listed_host_alone(route, egress):
    attack = route.workspace / "curl"
    attack.write_text(ATTACK)
    attack.chmod(0o755)
    # the control: outside the same server answers anybody
    with socket.create_connection(("127.0.0.1", route.port), 5):
        pass
    got = route("curl", "http://ollama:11434/api/tags", status=None,
                more=["-e", f"env.set=PATH=/workspace:/usr/bin:/bin,REAL_PORT={route.port}"])
    told = json.loads(got["stdout"]) if got.get("stdout") else pytest.fail(str(got))
    assert told["allowed"] == 200 and told["connect"] == "HTTP/1.1 200 OK"
    assert told["server"] == "Connection refused"
    assert told["outside"] == told["datagram"] == told["v6"] == "Network is unreachable" and told["lookup"] == "refused"
    code, port = told["port"]
    assert code == 403 and port["error"] == "port_not_allowed" and port["rule"] == "network.internal.hosts: ollama:11434"
    assert (port["host"], port["port"]) == ("ollama", 1) and "ollama:1=" in port["hint"]
    for name in ("host", "metadata", "address", "redirect"):
        code, body = told[name]
        assert code == 403 and body["error"] == "host_not_allowed" and body["rule"] == "network.internal.hosts", (name, body)
    assert told["connect_other"] == told["itself"] == "HTTP/1.1 403 Forbidden" and told["smuggled"] == "HTTP/1.1 400 Bad Request"
    # who enforced it says so: with the result, and in the record of the call
    refused = {d["object"]: d for d in got["denials"]}
    assert set(refused) == {"ollama:1", "example.com:80", "example.com:443", "169.254.169.254:80", f"127.0.0.1:{route.port}", "127.0.0.1:3128"}
    one = refused["example.com:80"]
    assert (one["layer"], one["operation"], one["verdict"], one["count"]) == ("proxy", "connect", "refused", 2)
    shown = route.sessions("audit", "show", "--json", "--request", got["request_id"], status=0).out
    assert '"layer":"proxy"' in shown.replace(": ", ":") and "169.254.169.254:80" in shown


def test_a_large_answer_passes_through_a_small_proxy(route, egress):
    before = egress.resident_kib()
    got = route("curl", "-s", "http://ollama:11434/big", status=None)
    assert got["egress"]["bytes_down"] >= BIG, got
    assert egress.resident_kib() - before < 8 << 10


def test_a_call_whose_proxy_is_killed_ends_with_an_error_that_says_so(route, egress):
    told = []
    thread = threading.Thread(target=lambda: told.append(route("curl", "-s", "-m", "50", "http://ollama:11434/hang", status=None)))
    thread.start()
    assert route.model.hanging.wait(30)
    egress.process.send_signal(signal.SIGKILL)
    egress.process.wait()
    thread.join(50)
    assert told and told[0]["error"] == "egress_lost" and "egress proxy has ended" in told[0]["message"], told
    assert route.sessions.listed("--all") == {}
    # the socket is its parent's: the next one serves at once
    egress.start()
    assert route("curl", "-s", "http://ollama:11434/")["ok"]


def test_a_call_that_is_killed_leaves_no_connection_behind(route, egress):
    child = route.sessions.spawn(*route.options, "call", "--session", SESSION, "shell_exec", json.dumps({"cmd": ["curl", "-s", "-m", "50", "http://ollama:11434/hang"]}))
    assert route.model.hanging.wait(30)
    child.kill()
    child.communicate()
    assert wait_until(lambda: "has gone" in egress.text()), egress.text()
    left = egress.descriptors()
    assert route("curl", "-s", "http://ollama:11434/")["ok"]
    assert wait_until(lambda: egress.descriptors() <= left), "what the second call had is closed, too, once it is over"


def test_a_proxy_that_is_told_to_end_lets_calls_finish(route, egress):
    told = []
    thread = threading.Thread(target=lambda: told.append(route("curl", "-s", "-m", "50", "http://ollama:11434/hang", status=None)))
    thread.start()
    assert route.model.hanging.wait(30)
    egress.process.terminate()
    assert wait_until(lambda: "stopping" in egress.text())
    assert egress.process.poll() is None
    route.model.wait.set()
    thread.join(50)
    assert "egress" in told[0], told
    assert egress.process.wait(30) == 0


def test_egress_is_locked_in_before_it_serves(route, egress):
    status = dict(line.split(":", 1) for line in pathlib.Path(f"/proc/{egress.process.pid}/status").read_text().splitlines())
    assert int(status["CapEff"], 16) == int(status["CapPrm"], 16) == 0
    assert status["Seccomp"].strip() == "2" and status["NoNewPrivs"].strip() == "1"
    if os.getuid() == 0:
        root = pathlib.Path(f"/proc/{egress.process.pid}/root")
        assert not (root / "etc/passwd").exists() and not (root / "usr").exists() and not (root / "proc/self").exists()
    assert route("curl", "-s", "http://ollama:11434/")["ok"]


def hello(rules, **more):
    return json.dumps({"sandbox": "s", "session": "x", "request": "r", "option": "o", "rules": rules, **more}).encode()


def knock(egress, message, *fds):
    s = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    s.settimeout(10)
    os.seteuid(egress.sessions.uid)  # whoever connects is who the kernel says it is
    try:
        s.connect(str(egress.path))
    finally:
        os.seteuid(os.getuid())
    socket.send_fds(s, [message], list(fds))
    return s


def test_egress_takes_a_listening_socket_with_sound_rules_and_nothing_else(route, egress):
    listener = socket.create_server(("127.0.0.1", 0))
    other = socket.socket()
    before = egress.descriptors()
    for message, fds in [
        (hello(["a=127.0.0.1:1"]), [other]), (hello(["a=127.0.0.1:1"]), [egress.log]), (hello(["a=localhost"]), [listener]), (hello(["a"]), [listener]),
        (hello(["a=169.254.169.254:80"]), [listener]), (hello("a"), [listener]), (b"{}", [listener]), (b"\xff", [listener]),
    ]:
        with knock(egress, message, *[f.fileno() for f in fds]) as s:
            answer = json.loads(s.recv(4096))
            assert answer["ok"] is False and answer["message"], message
            assert s.recv(4096) == b""
    for message, fds in [(hello([]), []), (b'{"end":true}', []), (b"x" * 60000, [listener.fileno()]), (hello([]), [listener.fileno()] * 2), (hello([]), [listener.fileno()] * 3)]:
        with knock(egress, message, *fds) as s, contextlib.suppress(ConnectionResetError):
            assert s.recv(4096) == b"", message
    assert wait_until(lambda: egress.descriptors() == before)
    with knock(egress, hello([f"web=127.0.0.1:{route.port}"]), listener.fileno()) as s:
        assert json.loads(s.recv(4096)) == {"ok": True}
        url = "http://127.0.0.1:%d" % listener.getsockname()[1]
        # a real curl that follows redirects: to where it may not, it does not get
        ran = subprocess.run(["curl", "-sqL", "-x", url, "-w", " %{http_code} %{num_redirects}", f"http://web:{route.port}/redirect"],
                             capture_output=True, text=True, timeout=30, check=False)
        assert "host_not_allowed" in ran.stdout and ran.stdout.endswith(" 403 1"), ran
        s.send(b'{"end":true}')
        report = json.loads(s.recv(65536))
        assert report["requests"] == 1 and [d["object"] for d in report["denials"]] == ["example.com:80"]
    listener.close()
    other.close()


@pytest.mark.skipif(os.getuid() != 0, reason="needs a second user")
def test_egress_refuses_another_user(anybody, model):
    anybody.uid = 12345
    made = Egress(anybody)
    try:
        for path in (anybody.home, anybody.state, anybody.state / "run"):
            path.chmod(0o755)
        made.path.chmod(0o666)  # as if the directory and the mode had let him
        ran = subprocess.run(["setpriv", "--reuid", "12346", "--regid", "12346", "--clear-groups", sys.executable, "-c",
                              "import socket, sys; s = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET); s.connect(sys.argv[1]); "
                              "s.settimeout(10); print(s.recv(10))", str(made.path)], capture_output=True, text=True, timeout=30, check=False)
        assert ran.stdout == "b''\n", ran
        assert "another user was refused" in made.text()
    finally:
        made.stop()
        made.log.close()
        made.door.close()


# ---- what a sandbox could smuggle through the proxy ----

CASES = json.loads((pathlib.Path(__file__).resolve().parents[1] / "vectors/http/smuggling.json").read_text())["cases"]


class Ears:
    """A server that takes all that comes, byte by byte, and answers each connection once."""

    def __init__(self):
        self.listener, self.heard, self.over = socket.create_server(("127.0.0.1", 0)), [], []
        self.port = self.listener.getsockname()[1]
        threading.Thread(target=self.accept, daemon=True).start()

    def accept(self):
        with contextlib.suppress(OSError):
            while True:
                threading.Thread(target=self.hear, args=[self.listener.accept()[0]], daemon=True).start()

    def hear(self, conn):
        conn.settimeout(20)
        heard = bytearray()
        self.heard.append(heard)
        with conn, contextlib.suppress(OSError):
            while piece := conn.recv(65536):
                heard += piece
                whole = heard.endswith(b"0\r\n\r\n") if b"chunked" in heard.lower() else b"\r\n\r\n" in heard
                if whole:
                    conn.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok")
        self.over.append(heard)


def send_raw(address, data, wanted):
    """What comes back: until there are so many answers, or until the end where none is wanted."""
    got = b""
    with socket.create_connection(address, timeout=20) as s, contextlib.suppress(OSError):
        s.sendall(data)
        if not wanted:  # who still wants an answer does not hang up
            s.shutdown(socket.SHUT_WR)
        while (not wanted or got.count(b"\r\n\r\nok") < wanted) and (piece := s.recv(65536)):
            got += piece
    return got


@pytest.mark.item("S2-19")
def test_s2_19_the_smuggling_cases_reach_the_server_as_one_request_or_not_at_all(anybody):
    ears, made, answers = Ears(), Egress(anybody), []
    try:
        for i, case in enumerate(CASES):
            host = f"web{i}:{ears.port}"
            text = case["request"].replace(" /", f" http://{host}/").replace("\t/", f"\thttp://{host}/").replace("Host: x", f"Host: {host}")
            with socket.create_server(("127.0.0.1", 0)) as inside, knock(made, hello([f"{host}=127.0.0.1:{ears.port}"]), inside.fileno()) as line:
                assert json.loads(line.recv(4096)) == {"ok": True}
                answers.append(send_raw(inside.getsockname(), text.encode("latin-1"), case["expect"].count("200") if case["expect"][0] == "2" else 0))
    finally:
        made.stop()  # and with it everything that was under way
        made.log.close()
    assert wait_until(lambda: len(ears.over) == len(ears.heard))
    ears.listener.close()
    for i, (case, got) in enumerate(zip(CASES, answers)):
        heard = [bytes(h) for h in ears.heard if f"Host: web{i}:".encode() in h]
        assert all(h.count(b" HTTP/1.1\r\n") == 1 for h in heard), (case["name"], heard)
        if case["expect"].startswith("reject"):
            assert b"HTTP/1.1 200" not in got and len(heard) <= 1, (case["name"], got, heard)
            assert not any(b"0\r\n\r\n" in h or b"/x " in h.replace(case["request"].split("\r\n")[0].encode(), b"") for h in heard), (case["name"], heard)
        else:
            assert len(heard) == got.count(b"HTTP/1.1 200") == case["expect"].count("200"), (case["name"], got, heard)


class Midway:
    """Stands where the service does, and ends the sandbox of the first call before its program begins: the call goes again in another one."""
    FIRST = {"requests": 3, "bytes_up": 30, "bytes_down": 300, "denials_lost": 1, "denials": [
        {"time_ms": 1, "count": 2, "verdict": 1, "port": 80, "object": "example.com:80", "rule": "network.internal.hosts", "hint": "h"}]}
    SECOND = {"requests": 4, "bytes_up": 40, "bytes_down": 400, "denials_lost": 0, "denials": []}

    def __init__(self, sessions):
        run = sessions.state / "run"
        run.mkdir(parents=True, mode=0o700)
        self.door = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        self.door.bind(str(run / "egress.sock"))
        self.door.listen(4)
        self.door.settimeout(30)
        for path in (sessions.state, run, run / "egress.sock"):
            sessions.give(path)
        (run / "egress.sock").chmod(0o600)
        self.reported = []
        self.thread = threading.Thread(target=self.serve, daemon=True)
        self.thread.start()

    def serve(self):
        for report in (self.FIRST, self.SECOND):
            conn = self.door.accept()[0]
            conn.settimeout(30)
            _, fds, _, _ = socket.recv_fds(conn, 65536, 1)
            if report is self.FIRST:
                end(inside(os.fstat(fds[0]).st_ino))
            os.close(fds[0])  # nobody answers there
            conn.sendall(b'{"ok":true}')
            if conn.recv(65536) == b'{"end":true}':
                self.reported.append(report)
                conn.sendall(json.dumps(report).encode())


def end(pid):
    """Pid 1 of a sandbox and the half outside, and all of it has gone: what is said to it then is heard by nobody."""
    stat = pathlib.Path(f"/proc/{pid}/stat").read_text()
    parent = int(stat.rpartition(")")[2].split()[1])
    for p in (parent, pid):
        with contextlib.suppress(ProcessLookupError):
            os.kill(p, signal.SIGKILL)
    assert wait_until(lambda: all(gone(p) for p in (parent, pid)))


def gone(pid):
    try:
        return pathlib.Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] in "ZX"
    except FileNotFoundError:
        return True


def inside(listener):
    """Pid 1 of the sandbox in whose network this socket listens."""
    for p in pathlib.Path("/proc").iterdir():
        with contextlib.suppress(OSError, IndexError):
            if p.name.isdigit() and "creel-warden" in (p / "comm").read_text() and any(
                    line.split()[9] == str(listener) for line in (p / "net/tcp").read_text().splitlines()[1:]):
                return int(p.name)
    return None


@pytest.mark.skipif(os.getuid() != 0, reason="nobody but root looks into pid 1 of a sandbox")
def test_a_call_that_goes_again_tells_of_both_ways_out(route):
    midway = Midway(route.sessions)
    got = route("curl", "-fsS", "http://ollama:11434/", status=None)
    midway.thread.join(30)
    assert midway.reported == [Midway.FIRST, Midway.SECOND], got
    assert got["egress"] == {"requests": 7, "bytes_up": 70, "bytes_down": 700, "denials_not_listed": 1}
    assert [(d["object"], d["count"]) for d in got["denials"]] == [("example.com:80", 2)]
    midway.door.close()
