# SPDX-License-Identifier: Apache-2.0
"""A checkout may bring .athena/settings.yaml: what nobody named can only make things stricter."""
import json

import pytest


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


@pytest.mark.parametrize("link, target", [(".athena/settings.yaml", "{secret}"), (".athena/settings.yaml", "../../outside/key"),
                                          (".athena", "{dir}"), (".athena/settings.yaml", "/proc/self/environ")])
def test_a_found_file_that_is_a_link_shows_nothing_of_what_lies_elsewhere(creel, tmp_path, link, target):
    """A program with a writable workspace can leave such a link behind, and reads what the next caller is told."""
    outside, cwd = tmp_path / "outside", tmp_path / "ws"
    outside.mkdir()
    (outside / "key").write_text("machine h login me password s3cret\n")
    (outside / "settings.yaml").write_text("s3cret: s3cret\n")
    (cwd / link).parent.mkdir(parents=True)
    (cwd / link).symlink_to(target.format(secret=outside / "key", dir=outside))
    done = creel("explain", "--tool", "exec", cwd=cwd, env={"S3": "s3cret"}, status=125)
    assert "s3cret" not in done.out + done.err and "a link leads out of the directory; fix: -c" in done.err, done
    if "proc" not in target:
        assert "s3cret" in creel("explain", "-c", "athena:.athena/settings.yaml", cwd=cwd).err, "named, it is read"


def test_a_found_file_may_be_a_link_that_stays_inside(creel, tmp_path):
    cwd = project(tmp_path, "readonly")
    (cwd / ".athena/settings.yaml").rename(cwd / "shared.yaml")
    (cwd / ".athena/settings.yaml").symlink_to("../shared.yaml")
    assert explain(creel, cwd, "--session", "untrusted:pr-1")["mode"]["trust"] == "readonly"
