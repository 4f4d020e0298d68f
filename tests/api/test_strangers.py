# SPDX-License-Identifier: Apache-2.0
"""A runner on a TCP port, and people on this host who can reach it and have no token: they cannot keep those who have one from being served."""
import contextlib
import json
import os
import pathlib
import select
import selectors
import signal
import socket
import threading
import time

import pytest
from guard_lab import wait_for
from runner_lab import Connection, as_users
from services_lab import Ordinary, alive, call_body, children, free_port, running, sleeper

pytestmark = pytest.mark.serial
HEALTH = b"GET /health HTTP/1.1\r\nHost: r\r\n\r\n"
LET_GO = 5  # seconds after which a stranger who says nothing is let go. Where callers had to wait for that, every one of them would


@pytest.fixture(scope="module", params=as_users())
def s(request):
    one = Ordinary(request.param)
    one.runner_port = free_port()
    one.config["serve"] = {"runner": f"127.0.0.1:{one.runner_port}"}
    with running(one):
        yield one


def tcp(s, timeout=30):
    return socket.create_connection(("127.0.0.1", s.runner_port), timeout=timeout)


def speak(sock):
    c = Connection.__new__(Connection)
    c.s, c.f = sock, sock.makefile("rb")
    return c


@contextlib.contextmanager
def crowd(s, n, what):
    """Each has a connection at all times, and does `what` with it; whoever is turned away comes again at once."""
    over = threading.Event()

    def one():
        while not over.is_set():
            try:
                with tcp(s, 1) as sock:
                    what(sock, over)
            except OSError:
                time.sleep(0.005)

    threads = [threading.Thread(target=one, daemon=True) for _ in range(n)]
    for t in threads:
        t.start()
    try:
        time.sleep(1)
        yield
    finally:
        over.set()
        for t in threads:
            t.join(30)


def silent(sock, over):
    while not over.is_set():
        with contextlib.suppress(TimeoutError):
            if not sock.recv(1):
                return


def half_a_head(sock, over):
    sock.sendall(b"POST /run HTTP/1.1\r\nHost: r\r\nAuthorization: Bearer wrong\r\n")
    silent(sock, over)


def by_the_byte(sock, over):
    for byte in b"POST /run HTTP/1.1\r\nHost: r\r\nX: " + b"x" * 4000:
        if over.is_set():
            return
        sock.sendall(bytes([byte]))
        time.sleep(0.05)


def asks_for_health(sock, over):
    while not over.is_set():
        sock.sendall(HEALTH)
        if not sock.recv(4096):
            return


def endless_body(sock, over):
    sock.sendall(b"POST /run HTTP/1.1\r\nHost: r\r\nAuthorization: Bearer wrong\r\nContent-Length: 1000000\r\n\r\n")
    while not over.is_set():
        sock.sendall(b"x")
        time.sleep(0.05)


@pytest.mark.parametrize("what", [silent, half_a_head, by_the_byte, asks_for_health, endless_body])
def test_strangers_at_the_port_do_not_keep_a_caller_waiting(s, what):
    assert s.call("exec", {"command": ["echo", "before"]}).json["stdout"] == "before\n"
    time.sleep(5.5)  # what the guard had kept open has ended: it has to come in through the crowd
    with crowd(s, 60, what):
        took = []
        for _ in range(5):
            began = time.monotonic()
            got = s.call("exec", {"command": ["echo", "on"]})
            assert got.status == 200 and got.json["stdout"] == "on\n", got
            took.append(time.monotonic() - began)
            time.sleep(0.2)
        assert min(took) < LET_GO, took


def test_one_who_says_nothing_is_let_go_after_a_few_seconds(s):
    with tcp(s) as sock:
        began = time.monotonic()
        assert sock.recv(1) == b""
        assert LET_GO - 2 < time.monotonic() - began


def test_the_oldest_stranger_makes_room_for_the_newest(s):
    with contextlib.ExitStack() as stack:
        all_ = [stack.enter_context(tcp(s)) for _ in range(1100)]
        assert all_[0].recv(1) == b""
        assert not select.select([all_[700]], [], [], 0.5)[0], "it was its time that was over, as the other's, who came with it"
        all_[-1].sendall(HEALTH)
        assert all_[-1].recv(4096).startswith(b"HTTP/1.1 200 ")


def answered(all_):
    """What each is answered, in the order in which it comes; who has it goes."""
    waiting = selectors.DefaultSelector()
    for sock in all_:
        waiting.register(sock, selectors.EVENT_READ)
    while waiting.get_map():
        ready = waiting.select(60)
        assert ready, f"{len(waiting.get_map())} have no answer"
        for key, _ in ready:
            yield key.fileobj.recv(4096)
            waiting.unregister(key.fileobj)
            key.fileobj.close()


def test_of_nine_hundred_callers_at_once_each_has_its_answer_and_so_have_some_hundred_strangers(s):
    """Those who connect first and speak later, too."""
    token = (s.state / "runner.token").read_text().strip()
    body = json.dumps(call_body(["true"])).encode()
    call = (f"POST /v1/calls HTTP/1.1\r\nHost: r\r\nConnection: close\r\nAuthorization: Bearer {token}\r\nX-Creel-Token: {s.token}\r\n"
            f"Content-Type: application/json\r\nContent-Length: {len(body)}\r\n\r\n").encode() + body
    for early in (True, False):
        for n, request, good in ((900, call, 200), (400, call.replace(b"Bearer ", b"Bearer x"), 401), (400, HEALTH, 200)):
            with contextlib.ExitStack() as stack:
                all_ = []
                for _ in range(n):
                    all_.append(stack.enter_context(tcp(s, 120)))
                    if early:
                        all_[-1].sendall(request)
                for sock in [] if early else all_:
                    sock.sendall(request)
                odd = [answer for answer in answered(all_) if int(answer.split()[1]) != good]
            assert not odd, (len(odd), odd[:3])


def test_over_a_port_as_many_calls_run_at_once_as_over_a_socket(s):
    mark = f"many-{os.getpid()}-{s.uid}"
    wires = [s.wire() for _ in range(40)]
    try:
        for w in wires:
            w.ask("POST", "/v1/calls", [("Authorization", f"Bearer {s.token}")], call_body(sleeper(mark)))
        wait_for("all of them run", lambda: len(alive(mark)) >= 40)
    finally:
        for w in wires:
            w.close()
    wait_for("and end", lambda: not alive(mark))


def test_a_stranger_is_answered_once_and_the_connection_ends(s):
    with tcp(s) as sock:
        sock.sendall(HEALTH + HEALTH)
        c = speak(sock)
        got = c.answer()
        assert got.status == 200 and got.json["status"] == "ok" and got.fields["connection"] == "close"
        assert c.f.read() == b"", "the second one would hold the place"
    for head, status in ((b"GET /nothing HTTP/1.1\r\nHost: r\r\n\r\n", 401), (b"what?\r\n\r\n", 400),
                         (b"GET /metrics HTTP/1.1\r\nHost: r\r\nAuthorization: Bearer x\r\n\r\n", 401),
                         (b"GET / HTTP/1.1\r\nHost: r\r\nX: " + b"x" * 20000 + b"\r\n\r\n", 431)):
        with tcp(s) as sock:
            sock.sendall(head)
            assert int(sock.recv(4096).split()[1]) == status


def test_a_token_that_comes_in_drops_is_seen(s):
    token = (s.state / "runner.token").read_text().strip()
    head = f"GET /v1/tools HTTP/1.1\r\nHost: r\r\nAuthorization: Bearer {token}\r\nX-Creel-Token: {s.token}\r\n\r\n".encode()
    with tcp(s) as sock:
        sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        for byte in head:
            sock.sendall(bytes([byte]))
        c = speak(sock)
        assert c.answer().status == 200
        sock.sendall(head + head)  # and it stays, with a worker
        assert c.answer().status == 200 and c.answer().status == 200


@pytest.mark.parametrize("size, status", [(1 << 20, 200), (9 << 20, 200), (15 << 20, 200), (17 << 20, 413)])
def test_a_body_over_the_port_may_be_as_large_as_over_a_socket(s, size, status):
    token = (s.state / "runner.token").read_text().strip()
    body = json.dumps(call_body(["wc", "-c"])).encode()[:-2] + b', "stdin": "' + b"x" * size + b'"}}'
    head = (f"POST /v1/calls HTTP/1.1\r\nHost: r\r\nAuthorization: Bearer {token}\r\nX-Creel-Token: {s.token}\r\n"
            f"Content-Type: application/json\r\nContent-Length: {len(body)}\r\n\r\n").encode()
    with tcp(s) as sock:
        with contextlib.suppress(BrokenPipeError, ConnectionResetError):
            sock.sendall(head + body)
        got = speak(sock).answer()
        assert got.status == status and (status != 200 or got.json["stdout"] == f"{size}\n"), got


def test_who_has_connected_before_a_reload_still_gets_an_answer(s):
    token = (s.state / "runner.token").read_text().strip()
    head = f"GET /v1/tools HTTP/1.1\r\nHost: r\r\nAuthorization: Bearer {token}\r\nX-Creel-Token: {s.token}\r\n\r\n".encode()
    for _ in range(3):
        before = s.said().count("creeld: info reloaded")
        with tcp(s) as sock:
            sock.sendall(head[:-2])
            time.sleep(0.2)  # it was accepted, and looked at
            s.p.send_signal(signal.SIGHUP)
            wait_for("the reload", lambda n=before: s.said().count("creeld: info reloaded") > n)
            time.sleep(0.2)
            sock.sendall(head[-2:])
            assert speak(sock).answer().status == 200
        assert s.call("exec", {"command": ["echo", "on"]}).json["stdout"] == "on\n"


def test_a_porter_that_dies_is_there_again(s):
    runner = s.service("creel-runner")
    wanted = listeners(s.runner_port)
    held = {pid for pid in children(runner) if fds(pid, wanted)}
    workers = {int(p) for p in pathlib.Path(f"/proc/{runner}/task/{runner}/children").read_text().split()}
    porters = [p for p in workers if watches(p, wanted)]
    assert held and len(porters) == 1, (held, porters)
    os.kill(porters[0], signal.SIGKILL)
    wait_for("somebody answers again", lambda: answers(s), 10)
    assert s.call("exec", {"command": ["echo", "again"]}).json["stdout"] == "again\n"
    assert "the porter died" in s.said()


def answers(s):
    try:
        with tcp(s, 2) as sock:
            sock.sendall(HEALTH)
            return sock.recv(4096).startswith(b"HTTP/1.1 200 ")
    except OSError:
        return False


def listeners(port):
    rows = [line.split() for line in pathlib.Path("/proc/net/tcp").read_text().splitlines()[1:]]
    return {f"socket:[{r[9]}]" for r in rows if r[3] == "0A" and int(r[1].split(":")[1], 16) == port}


def fds(pid, wanted):
    """Those of a process, which may be about to end, that are one of these sockets."""
    found = []
    with contextlib.suppress(OSError):
        for f in pathlib.Path(f"/proc/{pid}/fd").iterdir():
            with contextlib.suppress(OSError):
                if os.readlink(f) in wanted:
                    found.append(int(f.name))
    return found


def watches(pid, wanted):
    """It has the listening socket in an epoll."""
    mine = fds(pid, wanted)
    with contextlib.suppress(OSError):
        for f in pathlib.Path(f"/proc/{pid}/fdinfo").iterdir():
            with contextlib.suppress(OSError):
                if any(line.startswith("tfd:") and int(line.split()[1]) in mine for line in f.read_text().splitlines()):
                    return True
    return False
