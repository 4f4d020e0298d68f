# SPDX-License-Identifier: Apache-2.0
"""A real creel-guard on a port of its own, a client that hides nothing, and somebody at the runner's socket who answers as a test tells him to."""
import json
import os
import pathlib
import secrets
import shutil
import signal
import socket
import subprocess
import tempfile
import threading
import time

ROOT = pathlib.Path(__file__).resolve().parents[2]
BUILD = pathlib.Path(os.environ.get("CREEL_BUILD", ROOT / "build/gcc"))
CREEL = pathlib.Path(os.environ.get("CREEL_BIN", BUILD / "src/cli/creel"))
GUARD = BUILD / "src/server/guard/creel-guard"
ORDINARY = 12345
CODER, HELLO = ("g-coder", "TG_CODER"), ("g-hello", "-100200")
WAIT = 60  # seconds until something that has to happen counts as missing


def wait_for(what, condition, seconds=WAIT):
    until = time.monotonic() + seconds
    while time.monotonic() < until:
        found = condition()
        if found:
            return found
        time.sleep(0.02)
    raise AssertionError(f"waited in vain: {what}")


class Answer:
    def __init__(self, status, fields, body):
        self.status, self.fields, self.body = status, fields, body

    @property
    def json(self):
        return json.loads(self.body)

    def __repr__(self):
        return f"{self.status} {self.fields} {self.body[:2000]!r}"


class Wire:
    """One connection of either side. What is sent is what the caller wrote."""

    def __init__(self, sock, timeout=WAIT):
        self.s = sock
        self.s.settimeout(timeout)
        self.f = self.s.makefile("rb")

    def ask(self, method, target, fields=(), body=None, host="localhost"):
        data = b"" if body is None else body if isinstance(body, bytes) else json.dumps(body).encode()
        head = [f"{method} {target} HTTP/1.1", f"Host: {host}", *(f"{k}: {v}" for k, v in fields)]
        if body is not None:
            head.append(f"Content-Length: {len(data)}")
            if not any(k.lower() == "content-type" for k, _ in fields):
                head.append("Content-Type: application/json")
        self.s.sendall(("\r\n".join(head) + "\r\n\r\n").encode("latin-1") + data)

    def head(self):
        line = self.f.readline()
        if not line:
            raise EOFError
        fields = {}
        while (field := self.f.readline()) not in (b"\r\n", b""):
            name, value = field.decode().split(":", 1)
            fields[name.lower()] = value.strip()
        return line.decode().strip(), fields

    def chunks(self):
        while True:
            line = self.f.readline()
            if not line:
                raise EOFError
            size = int(line, 16)
            if size == 0:
                break
            data = self.f.read(size)
            if len(data) != size or self.f.read(2) != b"\r\n":
                raise EOFError
            yield data
        self.f.readline()

    def body(self, fields):
        if fields.get("transfer-encoding") == "chunked":
            return b"".join(self.chunks())
        return self.f.read(int(fields.get("content-length", 0)))

    def answer(self):
        line, fields = self.head()
        return Answer(int(line.split()[1]), fields, self.body(fields))

    def close(self):
        self.f.close()
        self.s.close()


class Peer:
    """Takes the runner's place: `answer(request) -> (status, fields, body)`, or a function that does with the connection what it likes."""

    def __init__(self, path, answer):
        self.answer, self.seen, self.connections, self.open = answer, [], 0, 0
        self.told = []  # bodies of /v1/refused: for the log, and no request of a caller
        self.lock = threading.Lock()
        self.listener = socket.socket(socket.AF_UNIX)
        self.listener.bind(str(path))
        os.chmod(path, 0o666)
        self.listener.listen(512)
        self.thread = threading.Thread(target=self.accept, daemon=True)
        self.thread.start()

    def accept(self):
        while True:
            try:
                conn, _ = self.listener.accept()
            except OSError:
                return
            with self.lock:
                self.connections += 1
                self.open += 1
            threading.Thread(target=self.serve, args=[Wire(conn)], daemon=True).start()

    def serve(self, wire):
        try:
            while True:
                line, fields = wire.head()
                method, target, _ = line.split()
                request = {"method": method, "target": target, "fields": fields, "body": wire.body(fields)}
                with self.lock:
                    self.seen.append(request) if target != "/v1/refused" else self.told.append(json.loads(request["body"]))
                said = self.answer(request) if target != "/v1/refused" else self.take(request)
                if callable(said):
                    said(wire)
                    continue
                status, more, body = said
                head = [f"HTTP/1.1 {status} X", f"Content-Length: {len(body)}", *(f"{k}: {v}" for k, v in more)]
                wire.s.sendall(("\r\n".join(head) + "\r\n\r\n").encode() + body)
        except (OSError, EOFError, ValueError):
            pass
        finally:
            wire.close()
            with self.lock:
                self.open -= 1

    def take(self, request):
        assert request["method"] == "POST" and "x-creel-token" not in request["fields"]
        return 200, [("Content-Type", "application/json")], b"{}"

    def close(self):
        self.listener.close()


def echo(request):
    """What a runner that does everything right would say, with nothing done."""
    body = json.loads(request["body"] or b"{}")
    if request["target"] == "/run":
        said = {"request_id": body["request_id"], "ok": True, "stdout": "done", "stderr": "", "artifacts": [], "error": None}
    else:
        said = {"request_id": body.get("request_id"), "ok": True, "asked": body}
    return 200, [("Content-Type", "application/json")], json.dumps(said).encode()


class Guard:
    def __init__(self, user="user", peer=echo, env=None, tokens=True, unix=False, **config):
        self.home = pathlib.Path(tempfile.mkdtemp(prefix="creel-guard-"))
        self.uid = ORDINARY if user == "user" and os.getuid() == 0 else os.getuid()
        self.state = self.home / "state"
        self.socket = self.home / "r.sock"
        self.runner_token = secrets.token_hex(16)
        self.tokens, self.process, self.unix = {}, None, unix
        self.env = {"HOME": str(self.home), "PATH": "/usr/bin:/bin", "LANG": "C.UTF-8"}
        self.more_env = env or {}
        self.home.chmod(0o755)
        if os.getuid() == 0:
            os.chown(self.home, self.uid, self.uid)
        serve = {"runner": f"unix:{self.socket}", **config.pop("serve", {})}
        self.config = {"identity": {"pairs": [{"channel": "telegram", "agent": a, "chat_id": c} for a, c in (CODER, HELLO)]},
                       "network": {"internal": {"hosts": ["ollama", "rag-service"]}}, "serve": serve, **config}
        self.log = open(self.home / "log", "wb")
        self.peer = Peer(self.socket, peer) if peer else None
        if tokens:
            self.token("all", "*")
            self.token("coder", ":".join(CODER))
            self.token("admin", "*", "--admin")

    def become(self):
        return ["setpriv", "--reuid", str(self.uid), "--regid", str(self.uid), "--clear-groups"] if self.uid != os.getuid() else []

    def creel(self, *args, check=True):
        done = subprocess.run([*self.become(), str(CREEL), "--state-dir", str(self.state), *map(str, args)], capture_output=True, text=True,
                              timeout=WAIT, env=self.env, cwd=self.home, check=False)
        assert not check or done.returncode == 0, done
        return done.stdout

    def token(self, name, pairs, *more):
        self.tokens[name] = json.loads(self.creel("token", "new", "--json", "--name", name, "--pairs", pairs, *more))["token"]
        return self.tokens[name]

    def words(self):
        path = self.home / "creel.json5"
        path.write_text(json.dumps(self.config))
        path.chmod(0o644)
        return ["--no-default-config", "-c", f"creel:{path}", "--state-dir", str(self.state)]

    def launch(self):
        if self.unix:
            self.address = str(self.home / "g.sock")
            listener = socket.socket(socket.AF_UNIX)
            listener.bind(self.address)
            os.chmod(self.address, 0o666)
        else:
            listener = socket.socket()
            listener.bind(("127.0.0.1", 0))
            self.address = listener.getsockname()
        listener.listen(4096)
        env = {**self.env, "TOOL_RUNNER_TOKEN": self.runner_token, "LISTEN_FDS": "1", "LISTEN_FDNAMES": "guard", **self.more_env}
        script = f'exec 3<&{listener.fileno()}; LISTEN_PID=$$; export LISTEN_PID; exec "$@"'
        self.process = subprocess.Popen(["bash", "-c", script, "sh", *self.become(), str(GUARD), *self.words()], env=env, cwd=self.home,
                                        pass_fds=[listener.fileno()], stderr=self.log, stdin=subprocess.DEVNULL)
        listener.close()
        return self

    def start(self):
        self.launch()
        wait_for("the guard answers", self.is_up)
        return self

    def is_up(self):
        assert self.process.poll() is None, self.said()
        try:
            return self.ask("GET", "/health", token=None).status == 200
        except (OSError, EOFError):
            return False

    def said(self):
        self.log.flush()
        return (self.home / "log").read_text(errors="replace")

    def connect(self, timeout=WAIT):
        sock = socket.socket(socket.AF_UNIX if self.unix else socket.AF_INET)
        sock.settimeout(timeout)
        sock.connect(self.address)
        return Wire(sock, timeout)

    def fields(self, token="all", more=()):
        return ([("Authorization", f"Bearer {self.tokens.get(token, token)}")] if token is not None else []) + list(more)

    def ask(self, method, target, body=None, token="all", more=()):
        wire = self.connect()
        try:
            wire.ask(method, target, self.fields(token, more), body)
            return wire.answer()
        finally:
            wire.close()

    def body(self, tool, args, who=CODER, **more):
        return {"agent": who[0], "scope": {"type": "telegram", "chat_id": who[1]}, "tool": tool, "args": args, **more}

    def run(self, tool, args, who=CODER, token="all", **more):
        return self.ask("POST", "/run", self.body(tool, args, who, **more), token)

    def call(self, tool, args, who=CODER, token="all", **more):
        return self.ask("POST", "/v1/calls", self.body(tool, args, who, **more), token)

    def done(self):
        try:
            if self.process and self.process.poll() is None:
                self.process.send_signal(signal.SIGTERM)
                time.sleep(0.02)
                self.process.send_signal(signal.SIGTERM)
                self.process.wait(WAIT)
            if self.peer:
                self.peer.close()
        finally:
            self.log.close()
            shutil.rmtree(self.home, ignore_errors=True)
