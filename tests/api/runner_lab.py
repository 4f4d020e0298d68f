# SPDX-License-Identifier: Apache-2.0
"""A real creel-runner on a unix socket in a state directory of its own, as root and as an ordinary user, and a client that speaks HTTP by hand."""
import json
import os
import pathlib
import secrets
import shutil
import signal
import socket
import subprocess
import tempfile
import time

from guard_lab import BUILD, CODER, CREEL, HELLO, ORDINARY, WAIT, Answer, wait_for

RUNNER = BUILD / "src/server/runner/creel-runner"
PAIRS = [CODER, HELLO]


class Connection:
    """One connection. Nothing is hidden: what is sent is what the caller wrote."""

    def __init__(self, path, timeout=WAIT):
        self.s = socket.socket(socket.AF_UNIX)
        self.s.settimeout(timeout)
        self.s.connect(str(path))
        self.f = self.s.makefile("rb")

    def send(self, method, target, fields=(), body=None):
        head = [f"{method} {target} HTTP/1.1", "Host: runner"]
        head += [f"{k}: {v}" for k, v in fields]
        data = b"" if body is None else body if isinstance(body, bytes) else json.dumps(body).encode()
        if body is not None:
            head.append(f"Content-Length: {len(data)}")
        self.s.sendall(("\r\n".join(head) + "\r\n\r\n").encode() + data)

    def head(self):
        line = self.f.readline()
        assert line.startswith(b"HTTP/1.1 "), line
        fields = {}
        while (field := self.f.readline()) not in (b"\r\n", b""):
            name, value = field.decode().split(":", 1)
            fields[name.lower()] = value.strip()
        return int(line.split()[1]), fields

    def chunks(self):
        while size := int(self.f.readline(), 16):
            data = self.f.read(size)
            assert len(data) == size and self.f.read(2) == b"\r\n"
            yield data
        self.f.readline()

    def answer(self):
        status, fields = self.head()
        body = b"".join(self.chunks()) if fields.get("transfer-encoding") == "chunked" else self.f.read(int(fields.get("content-length", 0)))
        return Answer(status, fields, body)

    def events(self):
        """(type, data, id) as they come."""
        text = b""
        for chunk in self.chunks():
            text += chunk
            while b"\n\n" in text:
                one, text = text.split(b"\n\n", 1)
                kind, data, number = "message", [], None
                for line in one.decode().split("\n"):
                    name, _, value = line.partition(":")
                    value = value.removeprefix(" ")
                    if name == "event":
                        kind = value
                    elif name == "data":
                        data.append(value)
                    elif name == "id":
                        number = value
                if data:
                    yield kind, json.loads("\n".join(data)), number

    def close(self):
        self.f.close()
        self.s.close()


class Lab:
    def __init__(self, user, **config):
        self.home = pathlib.Path(tempfile.mkdtemp(prefix="creel-runner-"))
        self.uid = ORDINARY if user == "user" and os.getuid() == 0 else os.getuid()
        self.state, self.work = self.home / "state", self.home / "work"
        self.spaces = self.home / "spaces"
        self.socket = self.home / "r.sock"
        self.token = secrets.token_hex(16)
        self.tokens = {}
        self.process = None
        self.env = {"HOME": str(self.home), "PATH": "/usr/bin:/bin", "LANG": "C.UTF-8"}
        self.home.chmod(0o755)
        self.work.mkdir()
        for d in (self.home, self.work):
            self.give(d)
        self.config = {"identity": {"pairs": [{"channel": "telegram", "agent": a, "chat_id": c} for a, c in PAIRS]},
                       "mounts": {"workspace": {"root": str(self.spaces)}},
                       "mode": {"trust": {"rules": [{"match": "agent:*", "trust": "light"}]}}}
        self.config.update(config)
        self.log = open(self.home / "log", "wb")

    def give(self, path):
        if os.getuid() == 0:
            os.chown(path, self.uid, self.uid, follow_symlinks=False)

    def become(self, uid=None):
        uid = self.uid if uid is None else uid
        return ["setpriv", "--reuid", str(uid), "--regid", str(uid), "--clear-groups"] if uid != os.getuid() else []

    def words(self):
        path = self.home / "creel.json5"
        path.write_text(json.dumps(self.config))
        path.chmod(0o644)
        return ["--no-default-config", "-c", f"creel:{path}", "--state-dir", str(self.state)]

    def creel(self, *args, check=True):
        done = subprocess.run([*self.become(), str(CREEL), "--state-dir", str(self.state), *map(str, args)], capture_output=True, text=True,
                              timeout=WAIT, env=self.env, cwd=self.work, check=False)
        assert not check or done.returncode == 0, done
        return done.stdout

    def new_token(self, name, pairs, *more):
        said = json.loads(self.creel("token", "new", "--json", "--name", name, "--pairs", pairs, *more))
        self.tokens[name] = said["token"]
        return said["token"]

    def start(self, more=()):
        listener = socket.socket(socket.AF_UNIX)
        listener.bind(str(self.socket))
        os.chmod(self.socket, 0o666)  # whoever comes is to be turned away by the runner itself
        listener.listen(512)
        env = {**self.env, "TOOL_RUNNER_TOKEN": self.token, "LISTEN_FDS": str(1 + len(more)), "LISTEN_FDNAMES": ":".join(["runner"] * (1 + len(more)))}
        # The first descriptor that is handed on is 3, and the pid is known only by then. Moved up first: they may stand in each other's way.
        all_ = [listener, *more]
        script = "".join(f"exec {60 + i}<&{s.fileno()};" for i, s in enumerate(all_)) + "".join(f"exec {3 + i}<&{60 + i};" for i in range(len(all_)))
        script += 'export LISTEN_PID=$$; exec "$@"'
        self.process = subprocess.Popen(["bash", "-c", script, "sh", *self.become(), str(RUNNER), *self.words()], env=env, cwd=self.work,
                                        pass_fds=[s.fileno() for s in all_], stderr=self.log, stdin=subprocess.DEVNULL)
        listener.close()
        wait_for("the runner answers", self.is_up)
        return self

    def is_up(self):
        assert self.process.poll() is None, self.said()
        try:
            c = Connection(self.socket, timeout=2)
            c.send("GET", "/health")
            up = c.answer().status == 200
            c.close()
            return up
        except (OSError, AssertionError):
            return False

    def said(self):
        self.log.flush()
        return (self.home / "log").read_text(errors="replace")

    def connect(self, **kw):
        return Connection(self.socket, **kw)

    def fields(self, token="all", **more):
        fields = [("Authorization", f"Bearer {self.token}")]
        if token:
            fields.append(("X-Creel-Token", self.tokens.get(token, token)))
        return fields + list(more.items())

    def ask(self, method, target, body=None, token="all", fields=None, **more):
        c = self.connect()
        try:
            c.send(method, target, self.fields(token, **more) if fields is None else fields, body)
            return c.answer()
        finally:
            c.close()

    def run(self, tool, args, agent="g-coder", chat="TG_CODER", token="all", **more):
        return self.ask("POST", "/run", {"agent": agent, "scope": {"type": "telegram", "chat_id": chat}, "tool": tool, "args": args, **more}, token)

    def call_body(self, tool, args, agent="g-coder", chat="TG_CODER", **more):
        return {"agent": agent, "scope": {"type": "telegram", "chat_id": chat}, "tool": tool, "args": args, **more}

    def call(self, tool, args, token="all", **more):
        return self.ask("POST", "/v1/calls", self.call_body(tool, args, **more), token)

    def workers(self):
        done = subprocess.run(["ps", "-o", "pid=", "--ppid", str(self.process.pid)], capture_output=True, text=True, check=False)
        return [int(p) for p in done.stdout.split()]

    def audit(self):
        path = self.state / "audit" / "audit.jsonl"
        return [json.loads(line) for line in path.read_text().splitlines()] if path.exists() else []

    def space(self, agent="g-coder", chat="TG_CODER"):
        return self.spaces / agent / f"group_{chat}"

    def stop(self, signo=signal.SIGTERM):
        if self.process and self.process.poll() is None:
            self.process.send_signal(signo)
            try:
                self.process.wait(WAIT)
            except subprocess.TimeoutExpired:
                self.process.kill()
                raise
        return self.process.returncode if self.process else None

    def done(self):
        try:
            if self.process and self.process.poll() is None:
                self.process.send_signal(signal.SIGTERM)
                time.sleep(0.05)
                self.process.send_signal(signal.SIGTERM)
                self.process.wait(WAIT)
            self.creel("kill", "--all", "-q", check=False)
        finally:
            self.log.close()
            subprocess.run(["chmod", "-R", "u+rwx", str(self.home)], stderr=subprocess.DEVNULL, check=False)
            shutil.rmtree(self.home, ignore_errors=True)


def make_lab(user, **config):
    lab = Lab(user, **config)
    lab.new_token("all", "*")
    lab.new_token("coder", "g-coder:TG_CODER")
    lab.new_token("admin", "*", "--admin")
    return lab.start()


def as_users():
    return ["root", "user"] if os.getuid() == 0 else ["user"]


__all__ = ["CREEL", "Connection", "Lab", "ORDINARY", "PAIRS", "RUNNER", "WAIT", "as_users", "make_lab", "wait_for"]
