# SPDX-License-Identifier: Apache-2.0
"""Runs the real program: $CREEL_BIN, else the build tree's own. Every call has a home directory of its own."""
import json
import os
import pathlib
import subprocess

import pytest

ROOT = pathlib.Path(__file__).resolve().parents[2]
CREEL = pathlib.Path(os.environ.get("CREEL_BIN", ROOT / "build/main/src/cli/creel"))


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
