# SPDX-License-Identifier: Apache-2.0
"""A checkout may bring .athena/settings.yaml: what nobody named can only make things stricter."""
import json


def explain(creel, cwd, *args):
    return creel.explain(*args, "--tool", "exec", "--", "ls", cwd=cwd)


def project(tmp_path, mode):
    (tmp_path / ".athena").mkdir()
    (tmp_path / ".athena/settings.yaml").write_text(f'sandbox:\n  rules:\n    - match: "*"\n      mode: {mode}\n')
    return tmp_path


def test_a_found_file_cannot_call_untrusted_code_trusted(creel, tmp_path):
    d = explain(creel, project(tmp_path, "none"), "--session", "untrusted:pr-1")
    assert d["mode"]["trust"] == "docker"
    assert "project_rule_weaker" in json.dumps(d)


def test_a_found_file_can_make_a_session_stricter(creel, tmp_path):
    d = explain(creel, project(tmp_path, "readonly"), "--session", "untrusted:pr-1")
    assert d["mode"]["trust"] == "readonly"


def test_a_file_that_was_named_decides(creel, tmp_path):
    cwd = project(tmp_path, "none")
    d = explain(creel, cwd, "-c", "athena:.athena/settings.yaml", "--session", "untrusted:pr-1")
    assert d["mode"]["trust"] == "none"
