# SPDX-License-Identifier: Apache-2.0
"""The guard behind TLS, with the clients that people have: curl, openssl, Python."""
import contextlib
import json
import os
import resource
import shutil
import signal
import socket
import ssl
import subprocess
import threading
import time

import pytest

from guard_lab import BUILD, CODER, wait_for
from services_lab import Services, alive
from tls_lab import Cert, network_elsewhere, openssl


class Secure(Services):
    """creeld with a certificate; what callers do goes through it."""

    def __init__(self, user="root", word="guard", cert=None, **kw):
        super().__init__(user, word, **kw)
        self.cert = Cert(self.dir, give=self.give) if cert is None else cert
        self.options += self.cert.options()

    def tcp(self, timeout=60):
        return socket.create_connection(("127.0.0.1", self.port), timeout=timeout)

    def wire(self, timeout=60):
        return self.cert.wrap(self.tcp(timeout), timeout=timeout)

    def health(self):
        w = self.wire()
        w.ask("GET", "/health")
        got = w.answer()
        w.close()
        return got

    def refused(self, *more):
        done = subprocess.run(self.argv(*more), env=self.env, capture_output=True, text=True, timeout=60, check=False)
        assert done.returncode == 1, done
        return done.stderr


@pytest.fixture(params=["root", "user"])
def secure(request):
    s = Secure(request.param)
    yield s
    s.close()


@pytest.fixture(scope="module", params=["root", "user"])
def whole(request):
    s = Secure(request.param, "all").start()
    assert s.run("file_write", {"path": "first", "content": ""}).status == 200  # makes the workspace
    yield s
    s.close()


def curl(s, *args):
    return subprocess.run(["curl", "-sS", "--cacert", str(s.cert.cert), *args, f"https://127.0.0.1:{s.port}/health"], capture_output=True, text=True, timeout=60, check=False)


def test_curl_speaks_tls_1_2_and_1_3_and_health_tells_it(secure):
    secure.start()
    for version in (["--tls-max", "1.2"], ["--tlsv1.3"], ["--http1.1"]):
        done = curl(secure, *version)
        assert done.returncode == 0, done
        health = json.loads(done.stdout)
        assert health["tls"]["min"] == "1.2" and health["tls"]["until"].endswith("Z") and all(health["walls"].values()), health
    other = Cert(secure.home, "other")
    done = subprocess.run(["curl", "-sS", "--cacert", str(other.cert), f"https://127.0.0.1:{secure.port}/health"], capture_output=True, text=True, timeout=60, check=False)
    assert done.returncode == 60, done  # the control: a certificate that is not ours is not believed
    assert secure.stop() == 0


def test_without_a_certificate_health_says_that_there_is_no_tls():
    s = Services("root", "guard")
    try:
        s.start()
        assert s.ask("GET", "/health").json["tls"] is None
    finally:
        s.close()


def s_client(s, *args):
    return subprocess.run(["openssl", "s_client", "-connect", f"127.0.0.1:{s.port}", *args], stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=60, check=False)


def test_older_protocols_weak_ciphers_and_other_languages_are_refused(secure):
    secure.start()
    low = ["-cipher", "ALL:@SECLEVEL=0"]
    for old in ("-tls1", "-tls1_1"):
        assert "Cipher is (NONE)" in s_client(secure, old, *low).stdout
    assert "it offers nothing newer than TLS 1.1" in secure.said()
    for weak in ("AES128-SHA", "AES128-GCM-SHA256", "ECDHE-ECDSA-AES128-SHA"):
        assert "Cipher is (NONE)" in s_client(secure, "-tls1_2", "-cipher", f"{weak}:@SECLEVEL=0").stdout
    assert "no application protocol" in s_client(secure, "-alpn", "h2").stderr.lower()
    good = s_client(secure, "-tls1_2", "-alpn", "http/1.1")
    assert "Cipher is ECDHE-ECDSA-AES" in good.stdout and "ALPN protocol: http/1.1" in good.stdout, good
    assert "Compression: NONE" in good.stdout and "TLS session ticket" not in good.stdout


def test_nobody_renegotiates(secure):
    secure.start()
    p = subprocess.Popen(["openssl", "s_client", "-connect", f"127.0.0.1:{secure.port}", "-tls1_2", "-legacy_renegotiation"], stdin=subprocess.PIPE,
                         stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    said, _ = p.communicate("R\n", timeout=60)
    assert "RENEGOTIATING" in said and "no renegotiation" in said, said[-2000:]
    assert secure.health().status == 200


def test_plain_http_is_ended_and_the_log_says_why(secure):
    secure.start()
    for request in (b"GET /health HTTP/1.1\r\nHost: x\r\n\r\n", b"POST /run HTTP/1.1\r\nHost: x\r\nContent-Length: 60000\r\n\r\n" + b"x" * 60000):
        with secure.tcp() as s:
            s.sendall(request)
            got = b""
            while piece := s.recv(4096):  # an end, and no reset
                got += piece
        assert not got.startswith(b"HTTP/"), got
    assert secure.said().count("it speaks plain HTTP") == 2
    assert secure.health().status == 200


def test_a_caller_that_ends_his_half_gets_his_answer_over_tls_and_one_that_goes_ends_his_call(whole):
    mark = f"tls-half-{os.getpid()}-{whole.uid}"
    body = json.dumps({"agent": CODER[0], "scope": {"type": "telegram", "chat_id": CODER[1]}, "tool": "shell_exec",
                       "args": {"cmd": ["python3", "-c", f"import time; time.sleep(2); print('done') # {mark}"], "timeout_s": 60}}).encode()
    slow = body.replace(b"sleep(2)", b"sleep(50)")
    for request in (body, slow):
        wire = whole.wire()
        wire.ask("POST", "/run", [("Authorization", f"Bearer {whole.token}")], request)
        wait_for("the call runs", lambda: alive(mark))
        socket.socket.shutdown(wire.s, socket.SHUT_WR)  # of TCP, below TLS
        if request is body:
            assert wire.answer().json["stdout"] == "done\n"
        wire.close()
        wait_for("it ends", lambda: not alive(mark))


def test_garbage_and_silence_are_ended_and_nobody_else_notices(secure):
    secure.start()
    before = secure.service("creel-guard")
    for junk in (b"\x00" * 4096, b"\x16\x03\x01\xff\xff" + b"\xff" * 70000, b"\x16\x03\x01\x00\x04\x01\x00\xff\xff", bytes(range(256)) * 64):
        with secure.tcp() as s:
            try:
                s.sendall(junk)
                s.shutdown(socket.SHUT_WR)
                while s.recv(4096):
                    pass
            except OSError:
                pass
    with secure.tcp():
        pass
    assert secure.health().status == 200 and secure.service("creel-guard") == before
    # Who does not finish the handshake is cut off by a deadline of its own, long before an idle connection would be.
    with secure.tcp(timeout=45) as s:
        s.sendall(b"\x16\x03\x01")
        assert s.recv(1) == b""
    wait_for("it is in the log", lambda: "it did not finish the handshake" in secure.said())


def test_two_hundred_half_open_handshakes_leave_room_for_others(secure):
    secure.start()
    hello = half_hello()
    half = []
    for i in range(200):
        s = secure.tcp()
        s.sendall(hello[: 1 + i % len(hello)])
        half.append(s)
    w = secure.wire()
    for _ in range(50):
        w.ask("GET", "/health")
        assert w.answer().status == 200
    w.close()
    for _ in range(10):
        assert secure.health().status == 200
    for s in half:
        s.close()


def test_of_more_handshakes_than_there_is_memory_for_the_oldest_goes(secure):
    secure.start()
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (min(4096, hard), hard))
    half = []
    try:
        for _ in range(1100):
            half.append(secure.tcp())
            half[-1].sendall(b"\x16\x03\x01")
        assert secure.health().status == 200
        wait_for("the log tells of it", lambda: "it did not finish the handshake, and others came" in secure.said())
        assert half[0].recv(1) == b""
    finally:
        for s in half:
            s.close()
        resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))
    assert secure.health().status == 200


def half_hello():
    """What a real client says first, short of its last byte."""
    inside, out = ssl.MemoryBIO(), ssl.MemoryBIO()
    try:
        ssl.create_default_context().wrap_bio(inside, out, server_hostname="localhost").do_handshake()
    except ssl.SSLWantReadError:
        pass
    return out.read()[:-1]


def test_a_key_that_comes_byte_by_byte_and_requests_in_one_record_are_answered(secure):
    secure.start()
    inside, out = ssl.MemoryBIO(), ssl.MemoryBIO()
    client = secure.cert.context().wrap_bio(inside, out, server_hostname="127.0.0.1")
    with secure.tcp() as s:
        s.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)

        def send():
            for b in out.read():
                s.sendall(bytes([b]))

        def take(what):
            while True:
                try:
                    return what()
                except ssl.SSLWantReadError:
                    send()
                    inside.write(s.recv(65536))

        take(client.do_handshake)
        client.write(b"GET /health HTTP/1.1\r\nHost: x\r\n\r\n" * 20)  # all of it in one record: no event tells of the second
        send()
        got = b""
        while got.count(b'"tls":') < 20:
            got += take(lambda: client.read(65536))
        assert got.count(b"HTTP/1.1 200 OK\r\n") == 20


def test_a_large_body_goes_in_and_comes_back(whole):
    text = "0123456789abcdef" * 110000
    body = {"agent": CODER[0], "scope": {"type": "telegram", "chat_id": CODER[1]}, "tool": "file_write", "args": {"path": "large.txt", "content": text}}
    got = whole.ask("POST", "/run", body)
    assert got.status == 200 and got.json["ok"], got
    got = whole.run("shell_exec", {"cmd": ["python3", "-c", "print('0123456789abcdef' * 6000)"]})
    assert got.status == 200 and len(got.json["stdout"]) > 60000, got
    got = whole.ask("POST", "/run", {**body, "args": {"path": "large.txt", "content": text * 3}})
    assert got.status == 413, got


def test_a_slow_reader_of_a_large_answer_gets_all_of_it(whole):
    w = whole.wire()
    for _ in range(30):
        w.ask("GET", "/v1/openapi.json")
    time.sleep(0.5)
    first = w.answer()
    assert first.status == 200 and len(first.body) > 40000
    for _ in range(29):
        assert w.answer().body == first.body
    w.close()


def test_events_come_over_tls_as_they_happen(whole):
    w = whole.wire()
    w.ask("POST", "/v1/calls", [("Authorization", f"Bearer {whole.token}"), ("Accept", "text/event-stream")],
          {"agent": CODER[0], "scope": {"type": "telegram", "chat_id": CODER[1]}, "tool": "shell_exec",
           "args": {"cmd": ["python3", "-u", "-c", "import time\nfor i in range(5): print('line', i); time.sleep(0.2)"]}})
    line, fields = w.head()
    assert line.split()[1] == "200" and fields["content-type"].startswith("text/event-stream")
    said = b"".join(w.chunks()).decode()
    assert "event: start" in said and "line 4" in said and "event: result" in said, said
    w.close()


def test_eight_clients_at_once_each_get_their_own(whole):
    answers, lock = [], threading.Lock()

    def client(i):
        got = whole.run("shell_exec", {"cmd": ["python3", "-c", f"print({i} * 1000)"]})
        with lock:
            answers.append((i, got))

    threads = [threading.Thread(target=client, args=[i]) for i in range(8)]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    assert all(got.status == 200 and got.json["stdout"] == f"{i * 1000}\n" for i, got in answers) and len(answers) == 8, answers


def test_a_client_that_goes_in_the_middle_ends_its_connection_alone(whole):
    for _ in range(20):
        w = whole.wire()
        w.ask("GET", "/v1/openapi.json")
        w.s.recv(10)
        w.close()
    assert whole.health().status == 200


def shown(s):
    with s.tcp() as sock:
        context = ssl.create_default_context()
        context.check_hostname, context.verify_mode = False, ssl.CERT_NONE
        with context.wrap_socket(sock) as t:
            return t.getpeercert(binary_form=True)


def test_sighup_takes_a_new_certificate_or_keeps_the_old_one(secure):
    secure.start()
    old = shown(secure)
    other = Cert(secure.home, "new")
    shutil.copy(other.cert, secure.cert.cert)  # without its key: refused as a whole
    secure.p.send_signal(signal.SIGHUP)
    wait_for("the old one is kept", lambda: "the configuration stays as it was" in secure.said())
    assert f"'{secure.cert.key}' is not the key of the certificate in '{secure.cert.cert}'" in secure.said()
    assert shown(secure) == old
    shutil.copy(other.key, secure.cert.key)
    secure.p.send_signal(signal.SIGHUP)
    wait_for("the new one is shown", lambda: shown(secure) != old)
    secure.cert = other
    assert secure.health().status == 200
    assert secure.stop() == 0


def test_a_new_certificate_is_noticed_by_itself_and_a_pair_that_does_not_match_is_told_of_once(secure):
    secure.start()
    old, guard = shown(secure), secure.service("creel-guard")
    with contextlib.closing(secure.cert.wrap(socket.create_connection(("127.0.0.1", secure.port)))) as kept:
        other = Cert(secure.home, "new")
        shutil.copy(other.cert, secure.cert.cert)  # and its key is still to come
        wait_for("the pair is refused", lambda: "the configuration stays as it was" in secure.said())
        assert f"'{secure.cert.key}' is not the key of the certificate in '{secure.cert.cert}'" in secure.said()
        time.sleep(4)
        assert shown(secure) == old and secure.service("creel-guard") == guard
        assert secure.said().count("is not the key of the certificate in") == 1, "once"
        kept.ask("GET", "/health")
        assert kept.answer().status == 200, "who was connected is not cut off"
    shutil.copy(other.key, secure.cert.key)
    wait_for("the new one is shown", lambda: shown(secure) != old)
    other.cert, other.key, secure.cert = secure.cert.cert, secure.cert.key, other
    assert secure.health().status == 200
    assert secure.stop() == 0


def test_a_link_that_leads_to_a_renewed_certificate_is_noticed(secure):
    """As certbot does it: the names stay, and what they lead to changes."""
    first, second = secure.cert, Cert(secure.dir, "second", give=secure.give)
    names = Cert.__new__(Cert)
    names.cert, names.key = secure.dir / "live.crt", secure.dir / "live.key"

    def lead(cert):
        for name, target in ((names.cert, cert.cert), (names.key, cert.key)):
            new = name.with_suffix(".new")
            new.symlink_to(target)
            new.rename(name)

    lead(first)
    secure.start(*names.options())
    old = shown(secure)
    lead(second)
    wait_for("the new one is shown", lambda: shown(secure) != old)
    second.key.chmod(0o644)  # others can read it: what serves goes on, and the fix is named
    wait_for("it is told of", lambda: "so that others can read or change the key" in secure.said())
    now = shown(secure)
    time.sleep(3)
    assert shown(secure) == now != old and secure.said().count("so that others can read or change the key") == 1
    second.key.chmod(0o600)
    wait_for("the mended one is taken", lambda: secure.said().count("creeld: info reloaded") >= 2)
    assert shown(secure) == now and secure.stop() == 0


def expired(s):
    return Cert(s.dir, "late", dates=("20200101000000Z", "20200201000000Z"), give=s.give)


def test_a_certificate_that_is_not_good_is_refused_and_its_file_is_named(secure):
    late = expired(secure)
    said = secure.refused(*late.options())
    assert f"the certificate in '{late.cert}' has expired at 2020-02-01T00:00:00Z" in said, said
    early = Cert(secure.dir, "early", dates=("20990101000000Z", "20990201000000Z"), give=secure.give)
    assert f"'{early.cert}' is not valid before 2099-01-01T00:00:00Z" in secure.refused(*early.options())
    other = Cert(secure.dir, "other", give=secure.give)
    assert f"'{other.key}' is not the key of the certificate in '{secure.cert.cert}'" in secure.refused("-e", f"serve.tls.key={other.key}")
    assert f"'{secure.dir}/none' cannot be read: No such file" in secure.refused("-e", f"serve.tls.cert={secure.dir}/none")
    assert f"'{secure.allowlist}' does not begin with a certificate" in secure.refused("-e", f"serve.tls.cert={secure.allowlist}")
    assert f"'{secure.dir}' is no regular file" in secure.refused("-e", f"serve.tls.cert={secure.dir}")
    assert "'tls.crt' is not accepted: an absolute path" in secure.refused("-e", "serve.tls.cert=tls.crt")
    weak = Cert(secure.dir, "weak", key=["rsa:1024"], give=secure.give)
    assert f"'{weak.cert}' is not accepted" in secure.refused(*weak.options())
    locked = secure.dir / "locked.key"
    openssl("pkey", "-in", secure.cert.key, "-aes256", "-passout", "pass:x", "-out", locked)
    locked.chmod(0o600)
    secure.give(locked)
    assert f"'{locked}' is protected by a password" in secure.refused("-e", f"serve.tls.key={locked}")


@pytest.mark.parametrize("mode", [0o644, 0o604, 0o660, 0o622])
def test_a_key_that_others_can_read_is_refused_with_the_fix(secure, mode):
    secure.cert.key.chmod(mode)
    said = secure.refused()
    assert f"has mode {mode:04o}" in said and f"chmod 600 '{secure.cert.key}'" in said, said
    secure.cert.key.chmod(0o600)
    done = subprocess.run(secure.argv("--check"), env=secure.env, capture_output=True, text=True, timeout=60, check=False)
    assert done.returncode == 0, done


def test_check_looks_at_the_certificate_too(secure):
    late = expired(secure)
    assert "has expired" in secure.refused("--check", *late.options())


def test_a_long_path_is_taken_whole(secure):
    assert "a path of more than 4095 bytes" in secure.refused("-e", f"serve.tls.cert=/{'x' * 5000}")
    deep = secure.dir / ("d" * 120) / ("e" * 120)
    deep.mkdir(parents=True)
    secure.cert = Cert(deep, give=secure.give)
    secure.start(*secure.cert.options())
    assert secure.health().status == 200


@pytest.mark.parametrize("which", ["cert", "key"])
def test_one_without_the_other_is_refused(which):
    s = Services("root", "guard")
    try:
        done = subprocess.run(s.argv("-e", f"serve.tls.{which}=/etc/x"), env=s.env, capture_output=True, text=True, timeout=60, check=False)
        assert done.returncode == 1 and "set both serve.tls.cert and serve.tls.key, or neither" in done.stderr, done
    finally:
        s.close()


def test_a_certificate_that_ends_soon_is_told_of(secure):
    soon = Cert(secure.dir, "soon", days=5, give=secure.give)
    secure.cert = soon
    secure.start(*soon.options())
    assert "the certificate ends soon" in secure.said() and str(soon.cert) in secure.said()


PUBLIC = ["-e", "serve.guard=0.0.0.0:0"]


@pytest.mark.parametrize("more,said", [
    (["-e", "mode.when=off", "-e", "mode.trust.default=none"], "commands would run on the host"),
    (["-e", "mode.when=all", "-e", "backend.opensandbox.apiKey=raw:0123456789"], "a raw: secret"),
    (["-e", "mode.when=all", "-e", "tools.per.shell.enforce=prefer"], "Prefer may fall back to the host")])
def test_s4_46_s4_47_beyond_loopback_tls_alone_is_not_enough(secure, more, said):
    """What is not fit for strangers is refused by policy, whatever carries it."""
    assert said in secure.refused(*PUBLIC, *more)


@pytest.fixture
def elsewhere():
    with network_elsewhere("tls") as name:
        yield name


def test_beyond_loopback_it_serves_with_tls_and_in_a_sandbox(elsewhere):
    s = Secure("root", "all")
    inside = ["nsenter", f"--net=/run/netns/{elsewhere}"]
    argv = s.argv
    s.argv = lambda *more: [*inside, *argv("-e", "serve.guard=0.0.0.0:18888", "-e", "mode.when=all", "-e", "serve.metrics=open", *more)]
    try:
        (s.dir / "w" / CODER[0] / f"group_{CODER[1]}").mkdir(parents=True)
        s.start()
        ask = [*inside, "curl", "-sS", "--cacert", str(s.cert.cert), "-H", f"Authorization: Bearer {s.token}", "-H", "Content-Type: application/json"]
        done = subprocess.run([*ask, "https://10.9.8.7:18888/health"], capture_output=True, text=True, timeout=60, check=False)
        assert done.returncode == 0 and json.loads(done.stdout)["tls"], done
        plain = subprocess.run([*inside, "curl", "-sS", "http://10.9.8.7:18888/health"], capture_output=True, text=True, timeout=60, check=False)
        assert plain.returncode != 0 and not plain.stdout, plain
        local = subprocess.run([*inside, "curl", "-sS", "--cacert", str(s.cert.cert), "-o", "/dev/null", "-w", "%{http_code}", "https://127.0.0.1:18888/metrics"],
                               capture_output=True, text=True, timeout=60, check=False)
        assert local.stdout == "401", local  # serve.metrics=open is for guards that nobody else can reach
        body = {"agent": CODER[0], "scope": {"type": "telegram", "chat_id": CODER[1]}, "tool": "shell_exec", "args": {"cmd": ["python3", "-c", "print(6 * 7)"]}}
        done = subprocess.run([*ask, "-d", json.dumps(body), "https://10.9.8.7:18888/v1/calls"], capture_output=True, text=True, timeout=60, check=False)
        answer = json.loads(done.stdout)
        assert answer["ok"] and answer["stdout"] == "42\n" and answer["sandbox"]["place"] != "host", done.stdout
        assert s.stop() == 0
    finally:
        s.close()


def test_beyond_loopback_without_tls_nothing_listens(elsewhere):
    s = Services("root", "guard")
    try:
        done = subprocess.run(["ip", "netns", "exec", elsewhere, *s.argv("-e", "serve.guard=10.9.8.7:18888", "-e", "mode.when=all")], env=s.env, capture_output=True, text=True,
                              timeout=60, check=False)
        assert done.returncode == 1 and "can be reached from outside, and that takes TLS" in done.stderr, done
    finally:
        s.close()


def with_socket(s, listener, *more):
    at = s.argv().index(str(BUILD / "src/daemon/creeld"))
    argv = s.argv(*more)
    script = 'exec 3<&%d; export LISTEN_PID=$$ LISTEN_FDS=1 LISTEN_FDNAMES=guard; exec "$@"' % listener.fileno()
    return subprocess.run([*argv[:at], "bash", "-c", script, "bash", *argv[at:]], env=s.env, capture_output=True, text=True, timeout=60, check=False, pass_fds=[listener.fileno()])


def test_a_socket_of_systemd_that_is_more_open_than_the_configuration_is_refused(secure):
    with socket.create_server(("0.0.0.0", 0)) as listener:
        done = with_socket(secure, listener)
    assert done.returncode == 1 and "the same address in serve.guard and in ListenStream=" in done.stderr, done


def test_a_unix_socket_stays_plain_beside_a_certificate(secure):
    path = secure.dir / "g.sock"
    secure.options += ["-e", f"serve.guard=unix:{path}"]
    secure.start()
    with socket.socket(socket.AF_UNIX) as s:
        s.settimeout(60)
        s.connect(str(path))
        s.sendall(b"GET /health HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n")
        got = b""
        while piece := s.recv(4096):
            got += piece
    assert got.startswith(b"HTTP/1.1 200"), got


def test_only_the_guard_and_the_survey_are_linked_with_openssl():
    for program in ("cli/creel", "cli/creel-session", "daemon/creeld", "server/runner/creel-runner", "server/egress/creel-egress", "server/guard/creel-guard",
                    "server/survey/creel-survey"):
        said = subprocess.run(["readelf", "-d", BUILD / "src" / program], capture_output=True, text=True, check=True, timeout=60).stdout
        assert ("libssl" in said) == (program in ("server/guard/creel-guard", "server/survey/creel-survey")), program
