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


def test_a_private_workspace_is_told_before_the_call_and_with_its_result(sessions, dirs):
    """OpenClaw's default: without a word, whoever stands among their files would look for them in vain."""
    none = ["--set", "mounts.workspace.access=none"]
    result = sessions(*none, "call", "exec", "--", "ls", status=0).json
    [warning] = result["warnings"]
    assert result["stdout"] == "" and f"private directory of the session, and not on '{dirs['here']}'" in warning and "--workspace-access overlay" in warning
    shown = sessions(*none, "call", "--text", "exec", "--", "ls", status=0)
    assert (shown.out, shown.err) == ("", f"creel call: {warning}\n")
    assert sessions(*none, "-q", "call", "--text", "exec", "--", "ls", status=0).err == ""
    asked = sessions("call", "--workspace-access", "none", "exec", "--", "ls", status=0)
    assert asked.json["warnings"] == [] and asked.err == ""
    assert sessions(*none, "call", "--session", "agent:main:host", "exec", "--", "ls", status=0).json["stdout"] == "name\nsub\n"


@pytest.mark.parametrize("name", ["sp ", " sp", "sp\n", "sp\u00a0", "\u2003sp"], ids=ascii)
def test_a_directory_whose_name_ends_with_a_space_is_not_another(sessions, name):
    """Trimmed, as words in a file are, it would be a directory that nobody has named, and with access rw somebody else's files."""
    for each in (name, name.strip()):
        (sessions.cwd / each).mkdir()
        (sessions.cwd / each / "who").write_text(each)
        sessions.give(sessions.cwd / each)
    here = sessions.cwd / name
    assert sessions("run", "--", "cat", "who", cwd=here, status=0).out == name
    assert sessions("run", "--workspace", name, "--", "cat", "who", status=0).out == name
    assert sessions("run", "--workspace", str(here), "--workspace-access", "rw", "--", "sh", "-c", "cat who; echo > made", status=0).out == name
    assert (here / "made").exists() and not (sessions.cwd / name.strip() / "made").exists()
    assert sessions("call", "exec", "--", "cat", "who", cwd=here, status=0).json["stdout"] == name
    assert sessions("call", "--session", "untrusted:x", "--workspace", str(here), "exec", "--", "cat", "who", status=0).json["stdout"] == name


@pytest.mark.parametrize("last", ["sub-ü", "sub ", "sub"])
def test_a_long_name_of_a_directory_is_not_cut(sessions, last):
    """Cut where messages are, it would be the directory above, which is there, too."""
    above = sessions.cwd / ("d" * max(1, 127 - len(str(sessions.cwd))))
    assert len(str(above)) >= 128
    here = above / last
    here.mkdir(parents=True)
    (here / "who").write_text("here")
    (above / "who").write_text("above")
    sessions.give(above)
    sessions.give(here)
    assert sessions("run", "--workspace", str(here), "--workspace-access", "rw", "--", "sh", "-c", "cat who; echo > made", status=0).out == "here"
    assert (here / "made").exists() and not (above / "made").exists()
    assert sessions("call", "--workspace", str(here), "exec", "--", "cat", "who", status=0).json["stdout"] == "here"
