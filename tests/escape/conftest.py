# SPDX-License-Identifier: Apache-2.0
"""The proof that the walls stand.

Every attack runs twice: outside, where it has to succeed (else the test proves nothing and is an error), and inside `creel run`,
where it has to fail; and whether it failed is judged by a canary on the host, not by what the attacker was told alone.
Everything is done by root and by an ordinary user, and in each mode in which commands run.
"""
import contextlib
import hashlib
import json
import os
import pathlib
import shutil
import signal
import socket
import subprocess
import tempfile
import threading
import time
import uuid

import pytest

ROOT = pathlib.Path(__file__).resolve().parents[2]
CREEL = pathlib.Path(os.environ.get("CREEL_BIN", ROOT / "build/main/src/cli/creel"))
PROGRAMS = pathlib.Path(os.environ.get("CREEL_ATTACKS", CREEL.parents[2] / "tests/escape"))
MUST_WORK = bool(os.environ.get("CREEL_MUST_WORK"))
ATTACKS = ["files", "flip", "hog", "ipc", "kernel", "numbers", "procs", "race", "shares", "term", "threads", "uring", "walls"]
ORDINARY = 12345  # a user that exists in no passwd
STRANGER = 12346  # another, who runs nothing else meanwhile: what the kernel counts by user is theirs alone
IS_ROOT = os.getuid() == 0
DELEGATED = os.environ.get("CREEL_TEST_CGROUP") if IS_ROOT else None  # a cgroup v2 directory that the ordinary user has been given
USERS = ["root", "user"] if IS_ROOT else ["user"]
PATIENCE = float(os.environ.get("CREEL_TEST_PATIENCE", "1"))  # how much slower than a machine this one is: a guest without hardware support
MODES = ["light", "docker"]
CHOICES = ("access", "mode", "options", "fault", "ws", "state")
ACCESSES = ["overlay", "rw", "ro", "none"]
FAULT = os.environ.get("CREEL_FAULT")  # NUMBER=ERRNO: every sandbox is built on a kernel that answers this call so
REFUSED = {"EPERM", "ENOSYS", "EACCES", "ENOENT", "ENOTDIR", "ESRCH", "EROFS", "EAFNOSUPPORT"}


def pytest_configure(config):
    if not CREEL.exists():
        pytest.exit(f"{CREEL} is not built (CREEL_BIN names another)", returncode=3)
    missing = [p for p in ATTACKS if not (PROGRAMS / p).exists()]
    if missing:
        pytest.exit(f"{PROGRAMS} lacks {', '.join(missing)} (CREEL_ATTACKS names another)", returncode=3)
    config.addinivalue_line("markers", "serial: looks at the whole machine, or loads it: nothing else is tested meanwhile")
    os.umask(0o022)


class NoSandbox(Exception):
    """creel refused to build one, and nothing ran: on a kernel with a hole that is as good as the walls."""


@pytest.hookimpl(hookwrapper=True)
def pytest_pyfunc_call(pyfuncitem):
    outcome = yield
    if outcome.excinfo and issubclass(outcome.excinfo[0], NoSandbox):
        pyfuncitem.user_properties.append(("refused", str(outcome.excinfo[1])))
        outcome.force_result(True)


def pytest_terminal_summary(terminalreporter):
    if FAULT:
        done = terminalreporter.stats.get("passed", [])
        terminalreporter.write_line(f"refused {sum(bool(r.user_properties) for r in done)} of {len(done)}")


def skip(why):
    """Where skipping is a failure, as in CI, it is one."""
    if MUST_WORK:
        pytest.fail(f"would be skipped: {why}")
    pytest.skip(why)


def needs_root():
    if not IS_ROOT:
        skip("the control outside needs root")


def digest(path):
    """Content, mode, owner and times of a file, or of everything below a directory."""
    h = hashlib.sha256()
    for p in [path, *sorted(path.rglob("*"))] if path.is_dir() else [path]:
        st = p.lstat()
        h.update(repr((str(p), st.st_mode, st.st_uid, st.st_gid, st.st_mtime_ns, st.st_size, st.st_nlink)).encode())
        if p.is_symlink():
            h.update(os.readlink(p).encode())
        elif p.is_file():
            h.update(p.read_bytes())
    return h.hexdigest()


LONG_TURN = 0.05


def wait_until(what, seconds=1.0):
    """True as soon as what() is; False after so long. On a busy machine a turn of this loop takes longer, as does what we wait for: it counts as LONG_TURN."""
    left, begin = seconds * PATIENCE, time.monotonic()
    while not what():
        if left <= 0:
            return False
        time.sleep(0.01)
        now = time.monotonic()
        left, begin = left - min(now - begin, LONG_TURN), now
    return True


def stat_of(pid):
    """(state, parent, start time) of a process, or None. The last tells it from another that got its number later."""
    try:
        words = pathlib.Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()
        return words[0], int(words[1]), words[19]
    except OSError:
        return None


def processes():
    """pid -> (parent, command line) of everything that runs."""
    found = {}
    for name in os.listdir("/proc"):
        stat = stat_of(name) if name.isdigit() else None
        if stat:
            with contextlib.suppress(OSError):
                line = pathlib.Path(f"/proc/{name}/cmdline").read_bytes()
                found[int(name)] = (stat[1], line.replace(b"\0", b" ").decode(errors="replace"))
    return found


def family(pid):
    """pid -> start time of a process and everything below it."""
    tree = {int(n): stat_of(n) for n in os.listdir("/proc") if n.isdigit()}
    found = {}
    for p in sorted(tree):
        at = p
        while tree.get(at) and at != pid and at > 1:
            at = tree[at][1]
        if at == pid and tree[p]:
            found[p] = tree[p][2]
    return found


def descendants(pid):
    return [p for p in family(pid) if p != pid]


class Result:
    """How one run ended. Everything it said is shown when an expectation fails."""

    def __init__(self, command, status, out, err, report=None):
        self.command, self.status, self.out, self.err, self.report = command, status, out, err, report

    def answers(self):
        """What an attack program said to each attempt: DONE, or why not."""
        return [l.split(": ", 1)[1] for l in self.out.splitlines() if ": " in l and not l.startswith("#")]

    def lines(self):
        """The same by name, where every attempt has another."""
        return dict(l.split(": ", 1) for l in self.out.splitlines() if ": " in l and not l.startswith("#"))

    def notes(self):
        """What it found out."""
        return [l[2:] for l in self.out.splitlines() if l.startswith("# ")]

    def __repr__(self):
        report = {k: v for k, v in (self.report or {}).items() if k != "walls"}
        return f"{self.command}\nexit {self.status}\n--- stdout\n{self.out}\n--- stderr\n{self.err}\n--- report\n{report}"


class Box:
    """A workspace, a home directory, a user, and the two ways to run something: outside and inside."""

    def __init__(self, user, mode):
        self.user, self.mode = user, mode
        self.mark = "canary-" + uuid.uuid4().hex
        self.base = pathlib.Path(tempfile.mkdtemp(prefix="creel-escape-"))
        self.base.chmod(0o755)
        self.home, self.ws, self.tmp = self.base / "home", self.base / "ws", self.base / "tmp"
        for d in (self.home, self.ws, self.tmp):
            d.mkdir()
            self.give(d)
        self.state = self.base / "state"
        for p in ATTACKS:
            shutil.copy(PROGRAMS / p, self.ws / p)
            self.give(self.ws / p)
        self.env = {"HOME": str(self.home), "PATH": "/usr/bin:/bin:/usr/sbin:/sbin", "LANG": "C.UTF-8", "TERM": "dumb"}
        self.closing = []

    @property
    def uid(self):
        return 0 if self.user == "root" else ORDINARY if IS_ROOT else os.getuid()

    def give(self, path):
        """To the user who runs creel."""
        if IS_ROOT:
            os.chown(path, self.uid, self.uid, follow_symlinks=False)

    def file(self, path, text="", mode=0o644):
        path = self.base / path
        for d in reversed([d for d in path.parents if not d.exists()]):
            d.mkdir()
            self.give(d)
        path.write_text(text)
        path.chmod(mode)
        self.give(path)
        return path

    def secret(self, path):
        """A file that only the user may read, with a word in it that must never be seen inside."""
        return self.file(path, self.mark + "\n", 0o600)

    def as_user(self, command, user=None):
        if (user or self.user) == "root" or not IS_ROOT:
            return list(map(str, command))
        enter = ["sh", "-c", 'echo $$ >"$0/cgroup.procs" && exec "$@"', f"{DELEGATED}/session"] if DELEGATED else []
        uid = str(STRANGER if user == "stranger" else ORDINARY)
        return [*enter, "setpriv", "--reuid", uid, "--regid", uid, "--clear-groups", *map(str, command)]

    def may_limit(self):
        """Whether this user may make cgroups: root always, anybody else where a directory has been given to them."""
        return self.user == "root" or bool(DELEGATED)

    def creel(self, *command, **choices):
        """The command line of creel run, as this user. On a kernel with a hole it is tried first whether there is a sandbox at all."""
        if FAULT and not choices.get("fault"):
            self.run("true", **{k: v for k, v in choices.items() if k in ("access", "mode")})
        return self.line(*command, **choices)

    def line(self, *command, access="overlay", mode=None, options=(), fault=None, ws=None, state=None):
        """The same, untried. A read-only workspace lies beside the working directory."""
        if access == "ro":
            command = ["sh", "-c", 'cd /agent && exec "$@"', "sh", *command]
        fault = fault or FAULT
        wrapped = [str(PROGRAMS / "fault"), fault] if fault else []
        state = state or (self.state if self.user == "root" else None)
        state = ["--state-dir", state] if state else []
        return self.as_user([*wrapped, CREEL, "run", "-q", "--workspace", self.ws if ws is None else ws, "--workspace-access", access,
                             "--sandbox", mode or self.mode, *state, *options, "--", *command])

    def spawn(self, *command, **kw):
        """creel run in the background: a Popen. It is ended with the test."""
        argv = self.creel(*command, **{k: kw.pop(k) for k in CHOICES if k in kw})
        kw.setdefault("env", self.env)
        kw.setdefault("cwd", self.ws)
        process = subprocess.Popen(argv, **kw)
        self.closing.append(lambda: (process.kill(), process.wait()))
        return process

    def run(self, *command, stdin="", timeout=30 * PATIENCE, text=True, report=True, status=None, env=None, **kw):
        """Inside. The report comes through a file of its own."""
        given = {k: kw.pop(k) for k in CHOICES if k in kw}
        before = sorted(os.listdir(self.ws))
        with tempfile.TemporaryFile() as said:
            passed = kw.pop("pass_fds", [])
            if report:
                given["options"] = ["--report", str(said.fileno()), *given.get("options", ())]
                passed = [said.fileno(), *passed]
            kw.setdefault("cwd", self.ws)
            done = subprocess.run(self.line(*command, **given), capture_output=True, input=stdin if text else stdin or b"",
                                  timeout=timeout, check=False, env={**self.env, **(env or {})}, pass_fds=passed,
                                  **({"text": True, "errors": "replace"} if text else {}), **kw)
            said.seek(0)
            said = said.read()
        result = Result(command, done.returncode, done.stdout, done.stderr, json.loads(said) if said else None)
        if FAULT and not given.get("fault") and done.returncode == 125:
            self.check_refused(result, before)
        if status is not None:
            assert done.returncode == status, result
        return result

    def check_refused(self, result, before):
        """A line that says why, no output, no trace: then the test has its answer. A setting that is wrong is told as ever."""
        lines = result.err if isinstance(result.err, str) else result.err.decode()
        if lines.startswith("flag "):
            return
        assert lines.startswith("creel run: ") and not result.out and sorted(os.listdir(self.ws)) == before, result
        assert not result.report or result.report["ok"] is False, result
        raise NoSandbox(lines)

    def attack(self, program, *attempts, **kw):
        """Inside: what each attempt came to."""
        kw.setdefault("status", 0)
        return self.run(f"./{program}", *attempts, **kw)

    def outside(self, program, *attempts, user=None, private=False, **kw):
        """The same program, without a sandbox. private: with mounts of its own, which only root can have."""
        env = {**self.env, **({"ATTACK_PRIVATE": "1"} if private else {}), **kw.pop("env", {})}
        kw.setdefault("cwd", self.ws)
        done = subprocess.run(self.as_user([self.ws / program, *attempts], user), capture_output=True, text=True, errors="replace",
                              timeout=60 * PATIENCE, check=False, env=env, **kw)
        return Result(attempts, done.returncode, done.stdout, done.stderr)

    def control(self, program, *attempts, absent=(), **kw):
        """The positive control: outside, every attempt must succeed. absent: errors that say that this kernel has no such thing."""
        if kw.get("user") == "root" or kw.get("private"):
            needs_root()
            kw["user"] = "root"
        result = self.outside(program, *attempts, **kw)
        failed = [a for a, said in zip(attempts, result.answers()) if said != "DONE" and said not in absent]
        assert not failed and len(result.answers()) == len(attempts), \
            f"the control outside failed, so the test shows nothing: {failed}\n{result}"
        return result

    def refused(self, program, *attempts, errors=REFUSED, **kw):
        """Inside: every attempt must be refused, with one of these errors."""
        result = self.attack(program, *attempts, **kw)
        said = result.answers()
        assert len(said) == len(attempts), result
        errors = {*errors, *({"EPERM", "ENOSYS"} if FAULT else ())}  # the hole is inside, too
        wrong = [f"{a}: {s}" for a, s in zip(attempts, said) if s not in errors]
        assert not wrong, f"not refused as expected: {wrong}\n{result}"
        assert self.mark not in result.out, result
        return result

    def done(self):
        for f in reversed(self.closing):
            with contextlib.suppress(Exception):
                f()
        if subprocess.run(["rm", "-rf", self.base], stderr=subprocess.DEVNULL, check=False).returncode:
            subprocess.run(["chmod", "-R", "u+rwx", self.base], stderr=subprocess.DEVNULL, check=False)
            subprocess.run(["rm", "-rf", self.base], stderr=subprocess.DEVNULL, check=False)


class Listener:
    """Something on the host that must not be reached: it counts who came, and what they said."""

    def __init__(self, family, address, kind=socket.SOCK_STREAM):
        self.heard, self.kind = [], kind
        self.socket = socket.socket(family, kind)
        self.socket.bind(address)
        if kind == socket.SOCK_STREAM:
            self.socket.listen(16)
        self.socket.settimeout(0.05)
        self.stop = False
        self.thread = threading.Thread(target=self.listen, daemon=True)
        self.thread.start()

    def listen(self):
        while not self.stop:
            with contextlib.suppress(socket.timeout, ConnectionError):
                if self.kind == socket.SOCK_DGRAM:
                    self.heard.append(self.socket.recv(100))
                    continue
                peer, _ = self.socket.accept()
                peer.settimeout(5 * PATIENCE)
                self.heard.append(peer.recv(100))
                peer.close()

    def close(self):
        self.stop = True
        self.thread.join()
        self.socket.close()


@pytest.fixture(params=USERS)
def user(request):
    return request.param


@pytest.fixture(params=MODES)
def mode(request):
    return request.param


@pytest.fixture
def box(user, mode):
    b = Box(user, mode)
    yield b
    b.done()


@pytest.fixture
def light(user):
    """For what does not depend on the mode."""
    b = Box(user, "light")
    yield b
    b.done()


@pytest.fixture
def listener(request):
    made = []

    def make(*args):
        made.append(Listener(*args))
        return made[-1]
    yield make
    for m in made:
        m.close()


@pytest.fixture
def bystander():
    """A process of ours on the host that must survive."""
    made = []

    def make(box):
        p = subprocess.Popen(box.as_user(["sleep", "60"]), start_new_session=True)
        made.append(p)
        # Before that it is still another user, whom nobody may signal.
        assert wait_until(lambda: pathlib.Path(f"/proc/{p.pid}/cmdline").read_bytes().startswith(b"sleep"), 10)
        return p
    yield make
    for p in made:
        with contextlib.suppress(ProcessLookupError):
            os.killpg(p.pid, signal.SIGKILL)
        p.wait()
