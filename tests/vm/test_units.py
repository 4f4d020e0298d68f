# SPDX-License-Identifier: Apache-2.0
"""What meson runs outside, in a guest that has no meson: CREEL_UNITS names a file with its list of tests. One that says TAP counts as it does there."""
import json
import os
import pathlib
import subprocess

import pytest

LISTED = pathlib.Path(os.environ.get("CREEL_UNITS", "/dev/null")).read_text(encoding="utf-8")
TESTS = {t["name"]: t for t in json.loads(LISTED or "[]")}
PATIENCE = float(os.environ.get("CREEL_TEST_PATIENCE", "1"))
BUILD = pathlib.Path(os.environ.get("CREEL_BIN", "/")).parents[2] if "CREEL_BIN" in os.environ else None


@pytest.mark.parametrize("name", sorted(TESTS))
def test_unit(name, record_property):
    t = TESTS[name]
    try:
        done = subprocess.run(t["cmd"], cwd=t["workdir"] or BUILD, env={**os.environ, **t["env"]}, timeout=t["timeout"] * PATIENCE, check=False,
                              stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, errors="replace")
    except subprocess.TimeoutExpired as e:
        pytest.fail(f"not over after {e.timeout:.0f} s: {(e.stdout or b'').decode(errors='replace')[-4000:]}")
    lines = done.stdout.splitlines()
    record_property("tap", sum(line.startswith("ok ") for line in lines))
    assert done.returncode == 0 and not any(line.startswith("not ok ") for line in lines), done.stdout[-4000:]
    assert not any(line.startswith("ok ") and "# SKIP" in line for line in lines), done.stdout[-4000:]
