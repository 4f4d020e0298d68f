# SPDX-License-Identifier: Apache-2.0
"""Where a session works (docs/decisions/008): on the workspace it was made with, wherever its callers stand. As root and as an ordinary user."""
import pytest


@pytest.fixture
def dirs(sessions):
    """The workspace, a directory in it and one beside it."""
    made = {"here": sessions.cwd, "sub": sessions.cwd / "sub", "other": sessions.home / "other"}
    for name in ("sub", "other"):
        made[name].mkdir()
    for name, path in made.items():
        (path / "name").write_text(name + "\n")
        sessions.give(path)
        sessions.give(path / "name")
    return made


def test_from_a_directory_in_its_workspace_a_call_works_there(sessions, dirs):
    top = sessions.sh("pwd").strip()
    assert sessions.sh("pwd; cat name ../name", cwd=dirs["sub"]) == f"{top}/sub\nsub\nhere\n"
    assert sessions.call("read", "name", cwd=dirs["sub"])["text"] == "sub\n"
    assert sessions.call("write", "path=made/new", "content=x", cwd=dirs["sub"])["ok"]
    assert [e["name"] for e in sessions.call("ls", cwd=dirs["sub"])["entries"]] == ["made", "name"]
    assert sessions.call("exec", "command=pwd", "cwd=made", cwd=dirs["sub"])["stdout"] == f"{top}/sub/made\n"
    assert sessions.sh("cat sub/made/new name; pwd") == f"xhere\n{top}\n"
    assert list(sessions.listed()) == ["agent:main:test"]


def test_from_elsewhere_a_named_session_works_on_its_own_and_says_so_first(sessions, dirs):
    sessions.sh("true")
    result = sessions.call("exec", "--", "cat", "name", cwd=dirs["other"])
    assert result["stdout"] == "here\n"
    [warning] = result["warnings"]
    assert f"works on '{dirs['here']}'" in warning and f"not on '{dirs['other']}'" in warning
    shown = sessions("call", "--session", "agent:main:test", "--sandbox", "light", "--text", "exec", "--", "cat", "name", cwd=dirs["other"], status=0)
    assert shown.err == f"creel call: {warning}\n"


def test_who_names_no_session_means_the_directory_he_stands_in(sessions, dirs):
    assert sessions("call", "exec", "--", "cat", "name", status=0).json["stdout"] == "here\n"
    assert sessions("call", "exec", "--", "cat", "name", cwd=dirs["sub"], status=0).json["stdout"] == "sub\n"
    refused = sessions("call", "exec", "--", "cat", "name", cwd=dirs["other"], status=126).json
    assert f"works on '{dirs['here']}'" in refused["message"] and f"--workspace '{dirs['here']}'" in refused["message"]


@pytest.mark.parametrize("how", ["flag", "file"])
def test_a_workspace_that_was_asked_for_is_never_another(sessions, dirs, how):
    sessions.sh("true")
    said = ["--set", f"mounts.workspace.path={dirs['other']}"] if how == "file" else []
    flag = ["--workspace", dirs["other"]] if how == "flag" else []
    refused = sessions(*said, "call", "--session", "agent:main:test", "--sandbox", "light", *flag, "exec", "--", "cat", "name", status=126).json
    assert f"works on '{dirs['here']}'" in refused["message"]


def test_a_sandbox_that_has_ended_has_no_workspace(sessions, dirs):
    assert sessions.sh("cat name") == "here\n"
    sessions("recreate", "--session", "agent:main:test", status=0)
    assert sessions.sh("cat name", cwd=dirs["other"]) == "other\n"
    assert sessions.sh("cat name", cwd=dirs["here"]) == "other\n"
