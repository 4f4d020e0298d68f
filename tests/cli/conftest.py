# SPDX-License-Identifier: Apache-2.0
"""Runs the real program: $CREEL_BIN, else the build tree's own. Every call has a home directory of its own."""
import json
import os
import pathlib
import signal
import subprocess
import tempfile
import time

import pytest

ROOT = pathlib.Path(__file__).resolve().parents[2]
CREEL = pathlib.Path(os.environ.get("CREEL_BIN", ROOT / "build/main/src/cli/creel"))
ORDINARY = 12345  # a user that exists in no passwd
DELEGATED = os.environ.get("CREEL_TEST_CGROUP")  # a cgroup v2 directory that this user has been given
ENTER = 'echo $$ >"$0/session/cgroup.procs" && exec "$@"'
PATIENCE = float(os.environ.get("CREEL_TEST_PATIENCE", "1"))  # of everything that waits: an emulated processor is slow


class Result:
    """What one run said. Standard error is shown when an expectation fails."""

    def __init__(self, done):
        self.status, self.out, self.err = done.returncode, done.stdout, done.stderr
        self.command = done.args

    @property
    def json(self):
        return json.loads(self.out)

    @property
    def error_lines(self):
        return self.err.splitlines()

    def __repr__(self):
        return f"{self.command}\nexit {self.status}\n--- stdout\n{self.out}\n--- stderr\n{self.err}"


class Creel:
    def __init__(self, home):
        self.home = home
        self.cwd = home / "work"
        self.cwd.mkdir()
        self.env = {"HOME": str(home), "PATH": "/usr/bin:/bin", "LANG": "C.UTF-8"}

    def __call__(self, *args, env=None, status=None, cwd=None, **kw):
        done = subprocess.run(
            [str(CREEL), *map(str, args)], capture_output=True, text=True, timeout=60, check=False,
            env={**self.env, **(env or {})}, cwd=cwd or self.cwd, **kw)
        result = Result(done)
        assert done.returncode >= 0, f"died of signal {-done.returncode}: {result}"
        if status is not None:
            assert done.returncode == status, result
        return result

    def file(self, name, text):
        """A file below the working directory; its name as the program will print it."""
        path = self.cwd / name
        path.parent.mkdir(parents=True, exist_ok=True)
        if isinstance(text, bytes):
            path.write_bytes(text)
        else:
            path.write_text(text if isinstance(text, str) else json.dumps(text))
        return name

    def explain(self, *args, **kw):
        """The decision record."""
        return self("explain", "--json", *args, **kw).json


def pytest_configure(config):
    config.addinivalue_line("markers", "item(*names): numbers of docs/checklist.md that the test shows")
    if not CREEL.exists():
        pytest.exit(f"{CREEL} is not built (CREEL_BIN names another)", returncode=3)


@pytest.fixture
def creel(tmp_path):
    return Creel(tmp_path)


class Sessions(Creel):
    """The same with sandboxes that stay: a state directory and a user of its own. What is left at the end is ended."""

    def __init__(self, home, user):
        super().__init__(home)
        self.user = user
        self.uid = ORDINARY if user == "user" and os.getuid() == 0 else os.getuid()
        self.state = home / "state"
        for d in (home, self.cwd):
            d.chmod(0o755)
            self.give(d)

    def give(self, path):
        if os.getuid() == 0:
            os.chown(path, self.uid, self.uid, follow_symlinks=False)

    def argv(self, *args):
        become = ["setpriv", "--reuid", str(self.uid), "--regid", str(self.uid), "--clear-groups"] if self.uid != os.getuid() else []
        if become and DELEGATED:
            become = ["sh", "-c", ENTER, DELEGATED, *become]
        return [*become, str(CREEL), "--state-dir", str(self.state), *map(str, args)]

    def __call__(self, *args, env=None, status=None, cwd=None, **kw):
        if "input" not in kw:
            kw.setdefault("stdin", subprocess.DEVNULL)
        kw.setdefault("text", True)
        done = subprocess.run(self.argv(*args), capture_output=True, timeout=60 * PATIENCE, check=False, env={**self.env, **(env or {})},
                              cwd=cwd or self.cwd, **kw)
        result = Result(done)
        if status is not None:
            assert done.returncode == status, result
        return result

    def call(self, tool, *args, status=0, session="agent:main:test", **kw):
        """One call; its result as it is for programs. `status` None: any."""
        got = self("call", "--session", session, "--sandbox", "light", tool, *args, status=status, **kw)
        return got.json

    def sh(self, command, **kw):
        """What a command of exec prints."""
        return self.call("exec", f"command={command}", **kw)["stdout"]

    def spawn(self, *args, **kw):
        # Whoever started the tests in the background of a shell made them ignore SIGINT, and creel keeps to that.
        return subprocess.Popen(self.argv(*args), env=self.env, cwd=self.cwd, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                                stdin=subprocess.DEVNULL, text=True, preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL), **kw)

    def listed(self, *args):
        return {b["session"]: b for b in self("list", "--json", *args, status=0).json["sandboxes"]}

    def done(self):
        self("kill", "--all", "-q")
        subprocess.run(["chmod", "-R", "u+rwx", str(self.home)], stderr=subprocess.DEVNULL, check=False)
        subprocess.run(["rm", "-rf", str(self.home)], check=True)


def skip(why):
    """Where skipping is a failure, as in CI, it is one."""
    if os.environ.get("CREEL_MUST_WORK"):
        pytest.fail(f"would be skipped: {why}")
    pytest.skip(why)


def wait_until(what, seconds=10.0):
    """True as soon as what() is; False after so long."""
    end = time.monotonic() + seconds * PATIENCE
    while not what():
        if time.monotonic() > end:
            return False
        time.sleep(0.02)
    return True


@pytest.fixture(params=["root", "user"] if os.getuid() == 0 else ["user"])
def sessions(request):
    made = Sessions(pathlib.Path(tempfile.mkdtemp(prefix="creel-cli-")), request.param)
    yield made
    made.done()


@pytest.fixture
def anybody():
    """For what does not depend on who it is: whoever runs the tests."""
    made = Sessions(pathlib.Path(tempfile.mkdtemp(prefix="creel-cli-")), "root" if os.getuid() == 0 else "user")
    yield made
    made.done()
