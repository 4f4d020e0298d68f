# SPDX-License-Identifier: Apache-2.0
"""S4-50: `creel doctor` asks the OpenSandbox service that a configuration names, here one of ours that answers as each test wants it to."""
import json
import os
import pathlib
import shutil
import socket
import ssl
import subprocess
import threading
import time

import pytest

from guard_lab import BUILD, CREEL
from tls_lab import Cert, network_elsewhere

KEY = "k-4f9c1e7b-Secret"
SURVEY = BUILD / "src/server/survey/creel-survey"
HEALTHY, PAGE = b'{"status":"healthy"}', b'{"items":[],"pagination":{"page":1,"pageSize":1,"totalItems":0,"totalPages":0,"hasNextPage":false}}'
REFUSAL = b'{"code":"INVALID_API_KEY","message":"the key is %s"}' % KEY.encode()  # a server that says too much


def answer(status, body=b"", *fields, reason="X"):
    head = [f"HTTP/1.1 {status} {reason}", f"Content-Length: {len(body)}", "Content-Type: application/json", *fields]
    return "\r\n".join(head).encode() + b"\r\n\r\n" + body


def chunked(body, size=7):
    pieces = [body[i:i + size] for i in range(0, len(body), size)]
    return b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n" + b"".join(b"%x\r\n%s\r\n" % (len(p), p) for p in pieces) + b"0\r\n\r\n"


class Service:
    """Answers by path, each once the whole head has come; keeps what it was sent. A rule is bytes, or a function of the connection and the head."""

    def __init__(self, rules=None, key=KEY, base="", family=socket.AF_INET, host="127.0.0.1", cert=None, sock=None):
        self.rules, self.key, self.base, self.heads = rules or {}, key, base, []
        self.s = sock or socket.socket(family, socket.SOCK_STREAM)
        self.s.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        self.s.bind((host, 0))
        self.s.listen()
        self.port = self.s.getsockname()[1]
        self.context = None
        if cert:
            self.context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
            self.context.load_cert_chain(cert.cert, cert.key)
        self.over = False
        threading.Thread(target=self.run, daemon=True).start()

    def run(self):
        while True:
            try:
                c, _ = self.s.accept()
            except OSError:
                return
            threading.Thread(target=self.serve, args=(c,), daemon=True).start()

    def serve(self, c):
        try:
            c.settimeout(20)
            if self.context:
                c = self.context.wrap_socket(c, server_side=True)
            head = b""
            while b"\r\n\r\n" not in head:
                piece = c.recv(65536)
                if not piece:
                    self.heads.append(head)
                    return
                head += piece
                if head[0] == 0x16:  # somebody who speaks TLS
                    c.sendall(answer(400))
                    return
            self.heads.append(head)
            said = self.say(c, head)
            if said:
                c.sendall(said)
        except OSError:
            pass
        finally:
            c.close()

    def say(self, c, head):
        target = head.split(b" ")[1].decode()
        path = target.split("?")[0]
        if not path.startswith(self.base):
            return answer(404, b'{"detail":"Not Found"}')
        path = path[len(self.base):]
        rule = self.rules.get(path)
        if rule is not None:
            return rule(c, head) if callable(rule) else rule
        if path == "/health":
            return answer(200, HEALTHY)
        if path == "/v1/sandboxes":
            told = self.field(head, "OPEN-SANDBOX-API-KEY")
            if self.key is None or told == self.key:
                return answer(200, PAGE)
            return answer(401, REFUSAL if told else b'{"code":"MISSING_API_KEY","message":"-"}')
        return answer(404, b'{"detail":"Not Found"}')

    @staticmethod
    def field(head, name):
        found = [line.split(":", 1)[1].strip() for line in head.decode().split("\r\n")[1:] if line.lower().startswith(name.lower() + ":")]
        assert len(found) <= 1, head
        return found[0] if found else None

    def asked(self):
        return [h.split(b" ")[1].decode() for h in self.heads]

    def got_key(self):
        return any(KEY.encode() in h for h in self.heads)

    def url(self, scheme="http", host="127.0.0.1"):
        return f"{scheme}://{host}:{self.port}"

    def close(self):
        self.s.close()


@pytest.fixture
def serve():
    made = []

    def one(*args, **kw):
        made.append(Service(*args, **kw))
        return made[-1]

    yield one
    for s in made:
        s.close()


class Doctor:
    def __init__(self, path):
        sanitizers = {k: v for k, v in os.environ.items() if k.endswith("SAN_OPTIONS")}
        self.path, self.env = path, {**sanitizers, "HOME": str(path), "PATH": "/usr/bin:/bin", "LANG": "C.UTF-8", "OPEN_SANDBOX_API_KEY": KEY}

    def file(self, endpoint, key="env:OPEN_SANDBOX_API_KEY", mode="Prefer", provider="OpenSandbox", name="appsettings.json"):
        sandbox = {"Provider": provider, "Endpoint": endpoint, "Tools": {}}
        sandbox["Tools"] = {tool: {"Mode": mode, "Template": "alpine:3.20"} for tool in ("shell", "code_exec", "browser")}
        if key is not None:
            sandbox["ApiKey"] = key
        (self.path / name).write_text(json.dumps({"OpenClaw": {"Sandbox": sandbox}}, indent=1))
        return ["-c", f"openclaw-net:{name}"]

    def argv(self, *more, json_too=True):
        return [str(CREEL), "doctor", *(["--json"] if json_too else []), "--no-default-config", "--state-dir", str(self.path / "s"), *more]

    def run(self, *more, json_too=True, env=None, prefix=()):
        began = time.monotonic()
        done = subprocess.run([*prefix, *self.argv(*more, json_too=json_too)], env={**self.env, **(env or {})}, capture_output=True, text=True, timeout=120, check=False,
                              cwd=self.path)
        self.took = time.monotonic() - began
        assert KEY not in done.stdout + done.stderr, done
        return done

    def ask(self, *more, **kw):
        """The findings about OpenSandbox, by name."""
        done = self.run(*more, **kw)
        assert done.stdout, done
        said = json.loads(done.stdout)
        assert said["ok"] == (done.returncode == 0) and done.returncode in (0, 125), done
        assert all(f["state"] == "ok" or (f.get("cause") and f.get("fix")) for f in said["findings"] if f["name"] != "container"), said
        return {f["name"]: f for f in said["findings"] if f["name"].startswith("opensandbox")}

    def of(self, endpoint, *more, kw=None, **file):
        return self.ask(*self.file(endpoint, **file), *more, **(kw or {}))["opensandbox"]


@pytest.fixture
def doctor(tmp_path):
    return Doctor(tmp_path)


def test_s4_50_a_service_that_takes_the_key_is_reachable(serve, doctor):
    s = serve()
    found = doctor.of(s.url())
    assert found["state"] == "ok" and f"{s.url()} is reachable" in found["found"], found
    assert "/health says that it is healthy" in found["found"] and "OPEN_SANDBOX_API_KEY" in found["found"], found
    assert s.asked() == ["/health", "/v1/sandboxes?page=1&pageSize=1"]
    text = doctor.run(*doctor.file(s.url()), json_too=False).stdout
    assert f"ok    opensandbox      {s.url()} is reachable" in text and "\n      fix:   backend.opensandbox.provider=None" in text, text


def test_s4_50_the_key_goes_with_the_one_question_that_takes_it(serve, doctor):
    s = serve()
    assert doctor.of(s.url())["state"] == "ok"
    health, page = s.heads
    assert s.field(health, "OPEN-SANDBOX-API-KEY") is None and s.field(page, "OPEN-SANDBOX-API-KEY") == KEY


def test_s4_53_it_is_asked_in_plain_http_and_json(serve, doctor):
    """What a person would type into nc; and no library but the C library's and OpenSSL's is there to do it."""
    s = serve()
    assert doctor.of(s.url())["state"] == "ok"
    for head in s.heads:
        lines = head.decode().split("\r\n")
        assert lines[0].startswith("GET /") and lines[0].endswith(" HTTP/1.1") and f"Host: 127.0.0.1:{s.port}" in lines and "Accept: application/json" in lines, head
        assert head.endswith(b"\r\n\r\n"), head
    libraries = {line.split()[0].split("/")[-1] for line in subprocess.run(["ldd", str(SURVEY)], capture_output=True, text=True, check=True, timeout=60).stdout.splitlines()}
    known = ("linux-vdso", "libc.", "libm.", "libssl.", "libcrypto.", "ld-linux", "libyaml", "libpcre2", "libz.", "libzstd", "libdl", "libpthread", "libasan", "libubsan", "libgcc_s",
             "libresolv", "librt", "libstdc++")
    assert all(name.startswith(known) for name in libraries), libraries


@pytest.mark.parametrize("written,base,host", [
    ("http://127.0.0.1:%d/", "", "127.0.0.1"), ("http://127.0.0.1:%d/v1", "", "127.0.0.1"), ("http://127.0.0.1:%d/v1//", "", "127.0.0.1"), ("HTTP://127.0.0.1:%d", "", "127.0.0.1"),
    ("http://127.0.0.1:%d/osb", "/osb", "127.0.0.1"), ("http://127.0.0.1:%d/a%%20b/osb/v1/", "/a%20b/osb", "127.0.0.1"), ("http://localhost:%d", "", "localhost"),
    (" http://127.0.0.1:%d ", "", "127.0.0.1"), ("http://[::1]:%d/v1", "", "[::1]"),
])
def test_s4_50_an_endpoint_in_any_spelling_is_asked_at_its_place(serve, doctor, written, base, host):
    six = host == "[::1]"
    s = serve(base=base, family=socket.AF_INET6 if six else socket.AF_INET, host="::1" if six else "127.0.0.1")
    key = ["-e", "backend.opensandbox.provider=OpenSandbox", "-e", f"backend.opensandbox.endpoint={written % s.port}", "-e", "backend.opensandbox.apiKey=env:OPEN_SANDBOX_API_KEY"]
    found = doctor.ask(*key)["opensandbox"]
    assert found["state"] == "ok", found
    assert s.asked() == [f"{base}/health", f"{base}/v1/sandboxes?page=1&pageSize=1"]
    assert {s.field(h, "Host") for h in s.heads} == {f"{host}:{s.port}"}


@pytest.mark.parametrize("rules,asked", [
    ({"/health": answer(200, b"Healthy")}, ["/health"]),  # the one in .NET
    ({"/health": answer(404, b""), "/v1/ping": answer(200, b"{}")}, ["/health", "/v1/ping"]),
    ({"/health": answer(404, b""), "/v1/ping": answer(401, b"{}")}, ["/health", "/v1/ping"]),  # a proxy that has /v1 alone
    ({"/health": answer(401, b"{}"), "/v1/ping": answer(403, b"{}")}, ["/health", "/v1/ping"]),
])
def test_s4_50_both_kinds_of_opensandbox_are_known(serve, doctor, rules, asked):
    s = serve(rules)
    found = doctor.of(s.url())
    assert found["state"] == "ok", found
    assert s.asked() == [*asked, "/v1/sandboxes?page=1&pageSize=1"]


@pytest.mark.parametrize("body", [
    chunked(HEALTHY), chunked(HEALTHY, 1), b"HTTP/1.1 200 OK\r\n\r\n" + HEALTHY, b"HTTP/1.0 200 OK\r\n\r\n" + HEALTHY,
    b"HTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\n" + answer(200, HEALTHY), answer(200, b' { "status" : "healthy", "more": [1] } '),
], ids=["chunks", "small-chunks", "until-the-end", "http-1.0", "early-hints", "blanks"])
def test_s4_50_an_answer_framed_in_any_way_is_read(serve, doctor, body):
    assert doctor.of(serve({"/health": body}).url())["state"] == "ok"


def test_s4_50_an_answer_is_whole_when_it_says_so_and_not_when_the_connection_ends(serve, doctor):
    def hold(c, head):
        c.sendall(answer(200, HEALTHY if b"/health" in head else PAGE))
        time.sleep(8)

    assert doctor.of(serve({"/health": hold, "/v1/sandboxes": hold}).url())["state"] == "ok"
    assert doctor.took < 8


@pytest.mark.parametrize("key,env,words,fix", [
    ("env:OPEN_SANDBOX_API_KEY", {"OPEN_SANDBOX_API_KEY": "another"}, "the API key in OPEN_SANDBOX_API_KEY", "export OPEN_SANDBOX_API_KEY=KEY"),
    ("env:MY_OSB_KEY", {}, "MY_OSB_KEY is not set", "export MY_OSB_KEY=KEY"),
    ("env:MY_OSB_KEY", {"MY_OSB_KEY": ""}, "MY_OSB_KEY is not set", "export MY_OSB_KEY=KEY"),
    ("raw:another", {}, "the API key of OpenClaw:Sandbox:ApiKey (appsettings.json:", "OpenClaw:Sandbox:ApiKey (appsettings.json:"),
    (None, {}, "no API key", "write env:OPEN_SANDBOX_API_KEY into OpenClaw:Sandbox:ApiKey"),
])
@pytest.mark.parametrize("status", [401, 403])
def test_s4_50_a_key_that_is_missing_or_wrong_is_told_by_its_name(serve, doctor, key, env, words, fix, status):
    s = serve({"/v1/sandboxes": answer(status, REFUSAL)})
    found = doctor.of(s.url(), key=key, kw={"env": env})
    assert found["state"] == "fail" and "API key" in found["found"], found
    assert f"status {status}" in found["cause"] and words in found["cause"] and fix in found["fix"], found
    assert "another" not in json.dumps(found)


def test_s4_50_a_service_that_wants_no_key_is_reachable_without_one(serve, doctor):
    s = serve(key=None)
    found = doctor.of(s.url(), key=None)
    assert found["state"] == "ok" and "no API key" in found["found"], found
    assert s.field(s.heads[-1], "OPEN-SANDBOX-API-KEY") is None


@pytest.mark.parametrize("value", ["two\nlines", "ends \t", " begins", "x" * 5000, "be\x07ll"])
def test_s4_50_a_key_that_is_no_field_is_told_and_not_sent(serve, doctor, value):
    s = serve(key=None)
    found = doctor.of(s.url(), kw={"env": {"OPEN_SANDBOX_API_KEY": value}})
    assert found["state"] == "fail" and "OPEN_SANDBOX_API_KEY cannot be sent" in found["cause"], found
    assert s.asked() == ["/health"] and value.strip() not in json.dumps(found)


def test_s4_50_a_refused_connection_is_told(doctor):
    with socket.socket() as s:
        s.bind(("127.0.0.1", 0))  # and nobody listens
        found = doctor.of(f"http://127.0.0.1:{s.getsockname()[1]}")
    assert "nothing listens there" in found["found"] and "Connection refused" in found["cause"], found
    assert found["fix"].startswith("start the OpenSandbox service there, or correct OpenClaw:Sandbox:Endpoint (appsettings.json:"), found


def test_s4_50_a_name_that_nobody_knows_is_told(doctor):
    found = doctor.of("http://no-such-host.invalid:5000")
    assert "its host is not known" in found["found"] and found["fix"].startswith("correct the host in "), found
    assert doctor.took < 30


def test_s4_50_a_host_that_swallows_everything_is_told_in_time(doctor):
    with socket.socket() as s:
        s.bind(("127.0.0.1", 0))
        s.listen(0)
        full = []
        try:
            for _ in range(4):  # the kernel takes one or two, and lets the others wait
                full.append(socket.socket())
                full[-1].setblocking(False)
                full[-1].connect_ex(s.getsockname())
            found = doctor.of(f"http://127.0.0.1:{s.getsockname()[1]}")
        finally:
            for f in full:
                f.close()
    assert "within 5 seconds" in found["found"] and doctor.took < 15, (found, doctor.took)


def drip(c, _):
    for b in answer(200, HEALTHY):
        c.sendall(bytes([b]))
        time.sleep(0.5)


def endless(c, _):
    c.sendall(b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n")
    while True:
        c.sendall(b"1\r\nx\r\n")
        time.sleep(0.2)


@pytest.mark.parametrize("rule", [lambda c, h: time.sleep(15), drip, endless], ids=["silent", "drip", "endless"])
@pytest.mark.parametrize("path", ["/health", "/v1/sandboxes"])
def test_s4_50_a_service_that_is_slow_is_told_in_time(serve, doctor, rule, path):
    found = doctor.of(serve({path: rule}).url())
    assert found["state"] == "warn" and "does not answer within 5 seconds" in found["found"], found
    assert doctor.took < 15


GARBAGE = {
    "ssh": b"SSH-2.0-OpenSSH_9.2p1\r\n", "empty": b"", "http09": b"<html>hello</html>", "short": b"HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\n{}",
    "two-lengths": b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\nContent-Length: 3\r\n\r\n{} ", "both": b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
    "bad-chunk": b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n-2\r\n{}\r\n0\r\n\r\n", "gzip": b"HTTP/1.1 200 OK\r\nTransfer-Encoding: gzip, chunked\r\n\r\n0\r\n\r\n",
    "bare-lf": b"HTTP/1.1 200 OK\nContent-Length: 2\n\n{}", "switch": b"HTTP/1.1 101 Switching Protocols\r\nUpgrade: h2c\r\nConnection: Upgrade\r\n\r\n", "nul": b"\0" * 2000,
    "long-head": b"HTTP/1.1 200 OK\r\n" + b"X: y\r\n" * 100000, "hints-for-ever": b"HTTP/1.1 103 Early Hints\r\n\r\n" * 100000,
    "huge": answer(200, b" " * 300000 + HEALTHY), "huge-said": b"HTTP/1.1 200 OK\r\nContent-Length: 99999999999\r\n\r\n", "huge-chunks": chunked(b"x" * 400000, 1000),
}


@pytest.mark.parametrize("path", ["/health", "/v1/sandboxes"])
@pytest.mark.parametrize("what", GARBAGE)
def test_s4_50_what_is_no_answer_of_http_is_told(serve, doctor, what, path):
    s = serve({path: GARBAGE[what]})
    found = doctor.of(s.url())
    assert found["state"] == "warn" and found["cause"] and "appsettings.json:" in found["fix"], found
    assert s.got_key() == (path == "/v1/sandboxes") and doctor.took < 15


@pytest.mark.parametrize("path", ["/health", "/v1/sandboxes"])
@pytest.mark.parametrize("head", ["Content-Length: 1000", "Transfer-Encoding: chunked"])
def test_s4_50_an_answer_that_was_cut_off_is_not_believed(serve, doctor, path, head):
    """Also when what has come would do."""
    body = HEALTHY if path == "/health" else PAGE
    sent = body if "Length" in head else b"%x\r\n%s\r\n" % (len(body), body)
    found = doctor.of(serve({path: f"HTTP/1.1 200 OK\r\n{head}\r\n\r\n".encode() + sent}).url())
    assert found["state"] == "warn" and "does not answer" in found["found"] and "before its answer was whole" in found["cause"], found


@pytest.mark.parametrize("rules,keyed", [
    ({"/health": answer(200, b"<html>it works</html>")}, False), ({"/health": answer(404, b"")}, False), ({"/health": answer(200, b'{"status":"starting"}')}, False),
    ({"/health": answer(200, b'["healthy"]')}, False), ({"/health": answer(404), "/v1/ping": answer(200, b"pong")}, False), ({"/health": answer(200, b"")}, False),
    ({"/v1/sandboxes": answer(404, b'{"detail":"Not Found"}')}, True), ({"/v1/sandboxes": answer(200, b'{"items":{}}')}, True), ({"/v1/sandboxes": answer(200, b"[]")}, True),
    ({"/v1/sandboxes": answer(200, b'{"items":[]')}, True), ({"/v1/sandboxes": answer(200, b"[" * 100000)}, True), ({"/v1/sandboxes": answer(422, b"{}")}, True),
    ({"/v1/sandboxes": answer(204)}, True), ({"/v1/sandboxes": answer(200, b'{"items":[],"items":[]}')}, True),
])
def test_s4_50_what_is_not_opensandbox_is_told_and_gets_no_key_before(serve, doctor, rules, keyed):
    s = serve(rules)
    found = doctor.of(s.url())
    assert found["state"] == "warn" and "is not OpenSandbox" in found["found"] and "name the host, port and path" in found["fix"], found
    assert s.got_key() == keyed


@pytest.mark.parametrize("path", ["/health", "/v1/sandboxes"])
@pytest.mark.parametrize("status", [429, 500, 502, 503, 599])
def test_s4_50_a_service_that_fails_is_told_with_its_status(serve, doctor, path, status):
    found = doctor.of(serve({path: answer(status, b"{}")}).url())
    assert found["state"] == "warn" and f"answers with status {status}" in found["found"] and path in found["cause"] and "log of the OpenSandbox service" in found["fix"], found


@pytest.mark.parametrize("path", ["/health", "/v1/ping", "/v1/sandboxes"])
@pytest.mark.parametrize("status", [301, 302, 307, 308])
def test_s4_50_a_redirect_is_told_and_nobody_follows_it(serve, doctor, path, status):
    other = serve()
    rules = {path: answer(status, b"", f"Location: {other.url()}/v1/sandboxes")}
    if path == "/v1/ping":
        rules["/health"] = answer(404)
    found = doctor.of(serve(rules).url())
    assert found["state"] == "warn" and "answers with a redirect" in found["found"] and f"status {status}" in found["cause"], found
    assert not other.heads


def test_s4_50_no_proxy_of_the_environment_is_used(serve, doctor):
    s, proxy = serve(), serve()
    env = {name: proxy.url() for name in ("http_proxy", "HTTP_PROXY", "https_proxy", "HTTPS_PROXY", "all_proxy", "ALL_PROXY")}
    assert doctor.of(s.url(), kw={"env": env})["state"] == "ok" and not proxy.heads


# ---- TLS ----


@pytest.fixture(scope="module")
def certs(tmp_path_factory):
    where = tmp_path_factory.mktemp("certs")
    return {"good": Cert(where, "good"), "late": Cert(where, "late", dates=("20200101000000Z", "20200201000000Z")),
            "other": Cert(where, "localhost", names="DNS:other.example,DNS:*.localhost,DNS:127.0.0.1")}  # the common name does not count


def test_s4_50_over_tls_the_key_goes_to_whom_this_system_trusts(serve, doctor, certs):
    s = serve(cert=certs["good"])
    for host in ("127.0.0.1", "localhost"):
        found = doctor.of(s.url("https", host), kw={"env": {"SSL_CERT_FILE": str(certs["good"].cert)}})
        assert found["state"] == "ok" and "is reachable over TLS" in found["found"], found
    assert s.got_key()


@pytest.mark.parametrize("body", [chunked(HEALTHY, 1), answer(200, HEALTHY + b" " * 200000)], ids=["chunks", "long"])
def test_s4_50_over_tls_answers_of_any_framing_and_size_are_read(serve, doctor, certs, body):
    s = serve({"/health": body}, cert=certs["good"])
    assert doctor.of(s.url("https"), kw={"env": {"SSL_CERT_FILE": str(certs["good"].cert)}})["state"] == "ok"


@pytest.mark.parametrize("cert,trusted,host,words,fix", [
    ("good", None, "127.0.0.1", "does not trust", "SSL_CERT_FILE="),
    ("good", "good", "127.0.0.2", "another host", "name the host that stands in its certificate"),
    ("other", "other", "localhost", "another host", "name the host that stands in its certificate"),
    ("other", "other", "127.0.0.1", "another host", "name the host that stands in its certificate"),
    ("late", "late", "127.0.0.1", "not good today", "renew the service's certificate"),
    ("late", "good", "127.0.0.1", "has a certificate", ""),
])
def test_s4_50_over_tls_nothing_is_sent_to_somebody_else(serve, doctor, certs, cert, trusted, host, words, fix):
    s = serve(cert=certs[cert], host=host if host == "127.0.0.2" else "127.0.0.1")
    env = {"SSL_CERT_FILE": str(certs[trusted].cert)} if trusted else {}
    found = doctor.of(s.url("https", host), kw={"env": env})
    assert found["state"] == "warn" and words in found["found"] and fix in found["fix"], found
    assert not s.heads


def test_s4_50_tls_where_there_is_none_is_told(serve, doctor):
    s = serve()
    found = doctor.of(s.url("https"))
    assert "does not speak TLS" in found["found"] and "http://" in found["fix"], found
    assert not s.got_key()


def test_s4_50_no_tls_where_there_is_some_is_told(serve, doctor, certs):
    s = serve(cert=certs["good"])
    found = doctor.of(s.url("http"))
    assert found["state"] == "warn" and ("https://" in found["fix"] or "scheme" in found["fix"]), found
    assert not s.heads


@pytest.mark.parametrize("low", ["silent", "drip"])
def test_s4_50_a_handshake_that_does_not_end_is_told_in_time(doctor, low):
    with socket.socket() as s:
        s.bind(("127.0.0.1", 0))
        s.listen()

        def hold():
            c, _ = s.accept()
            try:
                for i in range(30):
                    if low == "drip":
                        c.sendall(b"\x16\x03\x03\x40\x00" if i == 0 else b"\x02")
                    time.sleep(0.5)
            except OSError:
                pass

        threading.Thread(target=hold, daemon=True).start()
        found = doctor.of(f"https://127.0.0.1:{s.getsockname()[1]}")
    assert found["state"] == "warn" and doctor.took < 15, found


def test_s4_50_a_server_that_cuts_tls_off_has_not_answered(serve, doctor, certs):
    """Without a length only TLS's own end says that it is the end."""
    def cut(c, _):
        c.sendall(b"HTTP/1.1 200 OK\r\n\r\n" + HEALTHY)
        c.shutdown(socket.SHUT_RDWR)

    found = doctor.of(serve({"/health": cut}, cert=certs["good"]).url("https"), kw={"env": {"SSL_CERT_FILE": str(certs["good"].cert)}})
    assert found["state"] == "warn" and "does not answer" in found["found"], found


# ---- what it means ----


@pytest.mark.parametrize("mode,more,state", [
    ("Require", [], "fail"), ("Prefer", [], "warn"), ("None", [], "warn"),
    ("Prefer", ["-e", "serve.bind=0.0.0.0"], "fail"),  # prefer behaves like require there
    ("Prefer", ["-e", "mode.when=all"], "warn"),       # the native sandbox takes the call
    ("Prefer", ["-e", "mode.when=all", "-e", "backend.order=opensandbox"], "fail"),
    ("Prefer", ["-e", "mode.when=non-main", "-e", "backend.order=opensandbox"], "fail"),
    ("Prefer", ["-c", "creel:agents.json5"], "fail"),  # one agent's
])
def test_s4_50_what_is_not_reachable_weighs_as_much_as_policy_needs_it(doctor, mode, more, state):
    agents = {"main": {"default": True}, "other": {"mode": {"when": "all"}, "backend": {"name": "opensandbox"}}}
    (doctor.path / "agents.json5").write_text(json.dumps({"agents": agents}))
    with socket.socket() as s:
        s.bind(("127.0.0.1", 0))
        found = doctor.of(f"http://127.0.0.1:{s.getsockname()[1]}", *more, mode=mode)
    assert found["state"] == state, found


def test_s4_50_a_reachable_service_is_no_promise_that_a_call_could_use_it(serve, doctor):
    """Said in the words of explain, which refuses the call: doctor may not sound better than that."""
    config = doctor.file(serve().url())
    found = doctor.ask(*config)
    assert found["opensandbox"]["state"] == "ok" and "does not use it" in found["opensandbox"]["found"]
    use = found["opensandbox-use"]
    told = json.loads(subprocess.run([str(CREEL), "explain", "--json", "--no-default-config", *config, "--tool", "shell", "--", "true"], env=doctor.env, cwd=doctor.path,
                                     capture_output=True, text=True, timeout=60, check=False).stdout)
    assert use["state"] == "fail" and use["found"] == told["message"] and use["fix"] == told["fixIt"][0], (use, told)
    assert told["code"] == "backend_not_built"
    assert doctor.run(*config).returncode == 125


@pytest.mark.parametrize("fixed", [[], ["-e", "mode.when=all"]])
def test_s4_50_while_the_provider_is_another_nothing_is_asked_and_nothing_is_said(serve, doctor, fixed):
    s = serve()
    assert doctor.ask(*doctor.file(s.url(), provider="None"), *fixed) == {}
    assert doctor.ask(*doctor.file(s.url()), "-e", "backend.opensandbox.provider=None", *fixed) == {}
    assert doctor.ask("-e", f"backend.opensandbox.endpoint={s.url()}", "-e", "backend.opensandbox.apiKey=env:OPEN_SANDBOX_API_KEY") == {}
    assert not s.heads


def test_s4_50_a_provider_from_a_variable_counts(serve, doctor):
    """As .NET reads its settings."""
    s = serve()
    env = {"OpenClaw__Sandbox__Provider": "OpenSandbox", "OpenClaw__Sandbox__ApiKey": KEY}
    found = doctor.ask(*doctor.file(s.url(), key=None, provider="None"), env=env)["opensandbox"]
    assert found["state"] == "ok" and "OpenClaw__Sandbox__ApiKey" in found["found"], found
    assert s.got_key()


@pytest.mark.parametrize("endpoint,words", [
    ("localhost:5000", "http:// or https://"), ("ftp://h", "http:// or https://"), ("unix:/run/osb.sock", "http:// or https://"), ("http://", "is no host"), ("http://:80", "is no host"),
    ("http://h:0", "is no host"), ("http://h:65536", "is no host"), ("http://h:", "is no host"), ("http://h:80:80", "is no host"), ("http://::1:80", "is no host"),
    ("http://[::1", "is no host"), ("http://[h]:80", "is no host"), ("http://[fe80::1%eth0]:80", "is no host"), ("http://a b/", "is no host"), ("http://h\\@x/", "password"),
    (f"http://u:{KEY}@127.0.0.1:1", "password"), (f"http://{KEY}@h", "password"), (f"http://h/?key={KEY}", "query"), ("http://h/#x", "query or a fragment"), ("http://h/a b", "its path"),
    ("http://h/%zz", "its path"), ("http://h/%2", "its path"), ("http://h/\r\nX: y", "its path"), ("http://h\r\nX: y", "is no host"), ("http://h/" + "a" * 2000, "longer than"),
    ("http://" + "h" * 300, "is no host"), ("http://h/\u00e9", "its path"), ("http://\u00e9.de", "is no host"),
])
def test_s4_50_an_endpoint_that_is_none_is_an_error_with_its_place(doctor, endpoint, words):
    text = json.dumps({"backend": {"opensandbox": {"provider": "OpenSandbox", "apiKey": "env:OPEN_SANDBOX_API_KEY", "endpoint": endpoint}}}, indent=1)
    (doctor.path / "creel.json5").write_text(text)
    line = 1 + [n for n, t in enumerate(text.splitlines()) if '"endpoint"' in t][0]
    found = doctor.ask("-c", "creel:creel.json5", "-e", "tools.per.exec.enforce=prefer")["opensandbox"]
    assert found["state"] == "fail" and words in found["cause"], found
    assert f"backend.opensandbox.endpoint (creel.json5:{line}:" in found["found"] and f"creel.json5:{line}:" in found["fix"], found


def test_s4_50_a_provider_without_an_endpoint_is_told(doctor):
    found = doctor.ask("-e", "backend.opensandbox.provider=OpenSandbox")["opensandbox"]
    assert found["state"] == "fail" and "there is no endpoint" in found["found"] and "http://localhost:5000" in found["fix"], found


# ---- the key ----


@pytest.mark.parametrize("key", ["env:OPEN_SANDBOX_API_KEY", f"raw:{KEY}"])
def test_s4_50_the_key_is_on_no_command_line(serve, doctor, key):
    seen = []

    def look(_, head):
        for p in pathlib.Path("/proc").glob("[0-9]*"):
            try:
                seen.append(((p / "comm").read_text().strip(), (p / "cmdline").read_bytes()))
            except OSError:
                pass
        return answer(200, PAGE)

    s = serve({"/v1/sandboxes": look})
    assert doctor.of(s.url(), key=key)["state"] == "ok" and s.got_key()
    assert any(comm == "creel-survey" for comm, _ in seen)
    assert not [c for c in seen if KEY.encode() in c[1]]


def test_s4_50_a_key_that_was_said_on_the_command_line_is_not_repeated(serve, doctor):
    """Neither by what it names as the place of the key, nor from an endpoint that has one."""
    s = serve(key="another")
    more = ["-e", "backend.opensandbox.provider=OpenSandbox"]
    for key in (["-e", f"backend.opensandbox.apiKey=raw:{KEY}"], ["-e", json.dumps({"backend": {"opensandbox": {"apiKey": f"raw:{KEY}"}}})],
                ["-e", json.dumps({"backend.opensandbox.apiKey": f"raw:{KEY}"})]):
        found = doctor.ask(*more, "-e", f"backend.opensandbox.endpoint={s.url()}", *key)["opensandbox"]
        assert found["state"] == "fail" and "refuses the API key" in found["found"], found
        doctor.run(*more, "-e", f"backend.opensandbox.endpoint={s.url()}", *key, json_too=False)
    assert s.got_key()
    for endpoint in (f"http://u:{KEY}@127.0.0.1", f"http://127.0.0.1/?key={KEY}", f"h{KEY}"):
        assert doctor.ask(*more, "-e", f"backend.opensandbox.endpoint={endpoint}")["opensandbox"]["state"] == "fail"


@pytest.fixture(scope="module")
def elsewhere():
    with network_elsewhere("osb") as name:
        yield name


FAKE = """
import sys
sys.path[:0] = [%r, %r]
from test_doctor_opensandbox import Service
from tls_lab import Cert
import pathlib, types
cert = types.SimpleNamespace(cert=sys.argv[2], key=sys.argv[3]) if len(sys.argv) > 2 else None
print(Service(host=sys.argv[1], cert=cert).port, flush=True)
sys.stdin.read()
"""


@pytest.mark.parametrize("host,tls,key,told", [
    ("10.9.8.7", False, "env:OPEN_SANDBOX_API_KEY", True), ("127.0.0.1", False, "env:OPEN_SANDBOX_API_KEY", False), ("10.9.8.7", True, "env:OPEN_SANDBOX_API_KEY", False),
    ("10.9.8.7", False, None, False),
])
def test_s4_50_a_key_that_goes_to_another_machine_in_the_clear_is_told(doctor, elsewhere, certs, host, tls, key, told):
    inside = ["ip", "netns", "exec", elsewhere]
    here = os.path.dirname(os.path.abspath(__file__))
    more = [str(certs["good"].cert), str(certs["good"].key)] if tls else []
    with subprocess.Popen([*inside, "/usr/bin/python3", "-c", FAKE % (here, here), host, *more], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as p:
        try:
            port = int(p.stdout.readline())
            found = doctor.ask(*doctor.file(f"{'https' if tls else 'http'}://{host}:{port}", key=key), prefix=inside, env={"SSL_CERT_FILE": str(certs["good"].cert)})
        finally:
            p.stdin.close()
    assert found["opensandbox"]["state"] == ("ok" if key else "fail"), found
    assert ("opensandbox-key" in found) == told, found
    if told:
        assert found["opensandbox-key"]["state"] == "warn" and "in the clear" in found["opensandbox-key"]["found"] and "https://" in found["opensandbox-key"]["fix"], found


HOLE = """
import socket, sys
sys.path[:0] = [%r]
from test_doctor_opensandbox import Service
service = Service(host="10.9.8.7")
hole = socket.socket()
hole.bind(("127.0.0.1", service.port))
hole.listen(0)
full = [socket.socket() for _ in range(4)]
for f in full:
    f.setblocking(False)
    f.connect_ex(hole.getsockname())
print(service.port, flush=True)
sys.stdin.read()
"""


def test_s4_50_an_address_that_swallows_everything_is_not_the_only_one(doctor, elsewhere):
    """And once: the key goes to the address that has shown to be OpenSandbox."""
    (doctor.path / "hosts").write_text("127.0.0.1 osb.example\n10.9.8.7 osb.example\n")
    (doctor.path / "nsswitch.conf").write_text("hosts: files\n")
    mounts = " && ".join(f"mount --bind {doctor.path}/{name} $(readlink -f /etc/{name})" for name in ("hosts", "nsswitch.conf"))
    inside = ["ip", "netns", "exec", elsewhere]
    with subprocess.Popen([*inside, "/usr/bin/python3", "-c", HOLE % os.path.dirname(os.path.abspath(__file__))], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as p:
        try:
            port = int(p.stdout.readline())
            found = doctor.of(f"http://osb.example:{port}", kw={"prefix": [*inside, "unshare", "-m", "sh", "-c", mounts + ' && exec "$@"', "sh"]})
        finally:
            p.stdin.close()
    assert found["state"] == "ok" and 2 < doctor.took < 9, (found, doctor.took)


def test_s4_50_a_server_of_names_that_is_silent_is_told_in_time(doctor, elsewhere):
    """The C library would wait for it three times as long."""
    (doctor.path / "resolv.conf").write_text("nameserver 10.9.8.7\n")
    (doctor.path / "nsswitch.conf").write_text("hosts: files dns\n")
    mounts = " && ".join(f"mount --bind {doctor.path}/{name} $(readlink -f /etc/{name})" for name in ("resolv.conf", "nsswitch.conf"))
    bind = "import socket,sys; s=socket.socket(socket.AF_INET, socket.SOCK_DGRAM); s.bind(('10.9.8.7',53)); print(1, flush=True); sys.stdin.read()"
    inside = ["ip", "netns", "exec", elsewhere]
    with subprocess.Popen([*inside, "/usr/bin/python3", "-c", bind], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as p:
        try:
            assert p.stdout.readline() == "1\n"
            found = doctor.of("http://osb.example:5000", kw={"prefix": [*inside, "unshare", "-m", "sh", "-c", mounts + ' && exec "$@"', "sh"]})
        finally:
            p.stdin.close()
    assert found["state"] == "warn" and "its host is not known" in found["found"] and "no server of names answered in time" in found["cause"], found
    assert doctor.took < 9, doctor.took


def test_s4_50_where_the_program_that_asks_is_not_installed_that_is_told(serve, doctor):
    s = serve()
    shutil.copy(CREEL, doctor.path / "creel")
    argv = doctor.argv(*doctor.file(s.url()))
    done = subprocess.run([str(doctor.path / "creel"), *argv[1:]], env=doctor.env, capture_output=True, text=True, timeout=120, check=False, cwd=doctor.path)
    found = {f["name"]: f for f in json.loads(done.stdout)["findings"]}
    assert found["opensandbox"]["state"] == "warn" and "was not asked" in found["opensandbox"]["found"] and "meson install" in found["opensandbox"]["fix"], found
    assert not s.heads
