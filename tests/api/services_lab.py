# SPDX-License-Identifier: Apache-2.0
"""The real creeld with real services, in a state directory of its own, as root or as an ordinary user."""
import contextlib
import json
import os
import pathlib
import shutil
import signal
import socket
import subprocess
import tempfile
import time

from guard_lab import CODER, CREEL, HELLO, ORDINARY, Wire, wait_for
from runner_lab import Connection

CREELD = CREEL.parent.parent / "daemon/creeld"
PROGRAMS = ("creeld", "creel-guard", "creel-runner", "creel-egress")


def free_port():
    with socket.socket() as s:
        s.bind(("127.0.0.1", 0))
        return s.getsockname()[1]


def children(pid):
    """All processes below this one, by number: {pid: name}."""
    found, todo = {}, [pid]
    while todo:
        try:
            tasks = pathlib.Path(f"/proc/{todo.pop()}/task")
            below = [int(c) for t in tasks.iterdir() for c in (t / "children").read_text().split()]
        except (FileNotFoundError, ProcessLookupError):
            continue
        for c in below:
            try:
                found[c] = pathlib.Path(f"/proc/{c}/comm").read_text().strip()
                todo.append(c)
            except (FileNotFoundError, ProcessLookupError):
                pass
    return found


class Services:
    def __init__(self, user="root", word="all", tokens=True, options=()):
        self.uid = ORDINARY if user == "user" and os.getuid() == 0 else os.getuid()
        self.dir = pathlib.Path(tempfile.mkdtemp(prefix="creel-s-", dir="/tmp"))
        self.state, self.home, self.log = self.dir / "s", self.dir / "h", self.dir / "log"
        self.allowlist = self.dir / "allowlist.json"
        for d in (self.dir, self.home):
            d.mkdir(exist_ok=True)
            d.chmod(0o755)
            self.give(d)
        self.pairs(CODER, HELLO)
        self.word, self.options, self.port, self.p = word, list(options), free_port(), None
        # Tier-1 names its limits, and an ordinary user may have no cgroup to hold them: without this the call is refused.
        if self.uid != 0:
            self.options += ["-e", "walls.optional=limits"]
        self.env = {"HOME": str(self.home), "PATH": "/usr/bin:/bin", "LANG": "C.UTF-8"}
        if tokens:
            self.creel("token", "new", "--runner")
            self.token = self.creel("token", "new", "--pairs", "*", "--admin").strip()

    def give(self, path):
        if os.getuid() == 0:
            os.chown(path, self.uid, self.uid)

    def pairs(self, *pairs):
        new = self.allowlist.with_suffix(".new")
        new.write_text(json.dumps({"telegram": [{"agent": a, "chat_id": c} for a, c in pairs]}))
        self.give(new)
        new.rename(self.allowlist)

    def become(self):
        return ["setpriv", "--reuid", str(self.uid), "--regid", str(self.uid), "--clear-groups"] if self.uid != os.getuid() else []

    def creel(self, *args, status=0):
        done = subprocess.run([*self.become(), str(CREEL), "--state-dir", str(self.state), *map(str, args)], env=self.env, text=True,
                              capture_output=True, timeout=60, check=False, cwd=self.home)
        assert done.returncode == status, (args, done.returncode, done.stdout, done.stderr)
        return done.stdout

    def argv(self, *more):
        return [*self.become(), str(CREELD), self.word, "--no-default-config", "-c", f"allowlist:{self.allowlist}", "--state-dir", str(self.state),
                "-e", f"serve.guard=127.0.0.1:{self.port}", "-e", f"mounts.workspace.root={self.dir / 'w'}", *self.options, *more]

    def start(self, *more, **kw):
        before = self.said().count("creeld: info serving") if self.log.exists() else 0
        with open(self.log, "ab") as log:
            self.p = subprocess.Popen(self.argv(*more), env=self.env, stdin=subprocess.DEVNULL, stdout=log, stderr=log, cwd=self.home, **kw)
        wait_for("the services serve", lambda: self.said().count("creeld: info serving") > before or self.p.poll() is not None)
        assert self.p.poll() is None, self.said()
        return self

    def said(self):
        return self.log.read_text()

    def service(self, name):
        """The number of the one that creeld has started last."""
        return max((pid for pid, n in children(self.p.pid).items() if n == name and parent_of(pid) == self.p.pid), default=None)

    def wire(self, timeout=60):
        return Wire(socket.create_connection(("127.0.0.1", self.port), timeout=timeout), timeout)

    def ask(self, method, target, body=None, token=None, fields=()):
        w = self.wire()
        try:
            w.ask(method, target, [("Authorization", f"Bearer {token or self.token}"), *fields], body)
            return w.answer()
        finally:
            w.close()

    def call(self, tool, args, pair=CODER, **more):
        return self.ask("POST", "/v1/calls", {"agent": pair[0], "scope": {"type": "telegram", "chat_id": pair[1]}, "tool": tool, "args": args, **more})

    def run(self, tool, args, pair=CODER, **more):
        return self.ask("POST", "/run", {"agent": pair[0], "scope": {"type": "telegram", "chat_id": pair[1]}, "tool": tool, "args": args, **more})

    def stop(self, seconds=90):
        below = children(self.p.pid)
        self.p.send_signal(signal.SIGTERM)
        status = self.p.wait(seconds)
        wait_for("what it had started has gone", lambda: not any(os.path.exists(f"/proc/{pid}") for pid in below))
        return status

    def close(self):
        if self.p and self.p.poll() is None:
            self.p.send_signal(signal.SIGKILL)
            self.p.wait(60)
        if self.state.exists():
            subprocess.run([*self.become(), str(CREEL), "kill", "--all", "--state-dir", str(self.state)], env=self.env, capture_output=True, timeout=60,
                           check=False)
        for _ in range(50):
            shutil.rmtree(self.dir, ignore_errors=True)
            if not self.dir.exists():
                break
            time.sleep(0.1)


def parent_of(pid):
    try:
        return int(pathlib.Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()[1])
    except (FileNotFoundError, ProcessLookupError):
        return None


class Ordinary(Services):
    """With creel's own file: every call in a sandbox of its session, and no tier 1 but for /run."""

    def __init__(self, user, **config):
        super().__init__(user)
        self.config = {"identity": {"pairs": [{"channel": "telegram", "agent": a, "chat_id": c} for a, c in (CODER, HELLO)]}, "mode": {"when": "all"}, **config}

    def argv(self, *more):
        path = self.dir / "creel.json5"
        path.write_text(json.dumps(self.config))
        self.give(path)
        return [f"creel:{path}" if a.startswith("allowlist:") else a for a in super().argv(*more)]

    def new_token(self, *words):
        return self.creel("token", "new", *words).strip()


@contextlib.contextmanager
def running(services):
    try:
        yield services.start()
    finally:
        services.close()


def call_body(command, session=None, **more):
    who = {"session": session} if session else {"agent": CODER[0], "scope": {"type": "telegram", "chat_id": CODER[1]}}
    return {**who, "tool": "exec", "args": {"command": command}, **more}


@contextlib.contextmanager
def stream(s, method, target, body=None, token=None):
    """The events of one answer, as they come: (type, data, id)."""
    wire = s.wire()
    try:
        wire.ask(method, target, [("Authorization", f"Bearer {token or s.token}"), ("Accept", "text/event-stream")], body)
        line, fields = wire.head()
        assert line.split()[1] == "200" and fields["content-type"] == "text/event-stream", (line, fields)
        yield Connection.events(wire)
    finally:
        wire.close()


def sleeper(mark, seconds=500):
    return ["python3", "-c", f"import time; print('up', flush=True); time.sleep({seconds}); print('done') # {mark}"]


def alive(mark):
    done = subprocess.run(["pgrep", "-f", f"# {mark}"], capture_output=True, text=True, check=False)
    return [p for p in done.stdout.split() if int(p) != os.getpid()]


def audit(s):
    return [json.loads(line) for line in (s.state / "audit/audit.jsonl").read_text().splitlines()]


def still_there(s):
    """Services of this state directory."""
    found = []
    for p in pathlib.Path("/proc").glob("[0-9]*"):
        with contextlib.suppress(OSError):
            if (p / "comm").read_text().strip() in PROGRAMS and str(s.state).encode() in (p / "cmdline").read_bytes().split(b"\0"):
                found.append(p.name)
    return found
