# SPDX-License-Identifier: Apache-2.0
"""Number 23, S9 and O8: a file is what it is, whatever it is called; and no name of ours can be taken by somebody else before."""
import contextlib
import os
import pathlib
import subprocess
import unicodedata

import pytest
from conftest import IS_ROOT, digest, needs_root

# ---- one file, many names ----

TWINS = [".SSH", ".Ssh", ".ssh\u200d", ".s\u017fh", ".ssh.", ".ssh ", "\u2024ssh", ".\uff53\uff53\uff48", unicodedata.normalize("NFD", ".sŝh")]


def bind(source):
    return ["-e", f"mounts.binds=[\"{source}:/data:ro\"]"]


def look(box, source, wrap=()):
    """What of the key is seen through a bind of this source."""
    argv = [*wrap, *box.creel("sh", "-c", "cat /data/id_rsa /data/*/id_rsa /data/.ssh/id_rsa 2>/dev/null; echo ran", options=bind(source))]
    done = subprocess.run(argv, cwd=box.ws, env=box.env, capture_output=True, text=True, timeout=30, check=False)
    assert box.mark not in done.stdout, (source, done)
    return done


def test_e23_a_twin_of_a_protected_name_is_the_file_that_it_is(light):
    """On a file system that tells them apart they are other directories: their own content, or a refusal, and never the key."""
    light.secret("home/.ssh/id_rsa")
    assert look(light, light.home / ".ssh").returncode == 126
    other = light.file("home/other/id_rsa", "harmless\n")
    assert look(light, other.parent).stdout == "harmless\nran\n", "no bind works: nothing is shown"
    for twin in TWINS:
        with contextlib.suppress(FileExistsError):
            light.file(f"home/{twin}/id_rsa", f"own {ascii(twin)}\n")
        same = os.path.samefile(light.home / twin, light.home / ".ssh")
        done = look(light, light.home / twin)
        assert done.returncode in (125, 126) or (not same and done.stdout == f"own {ascii(twin)}\nran\n"), (twin, done)


def test_e23_a_protected_directory_that_is_a_link_is_protected_where_it_leads(light):
    """~/.ssh lies elsewhere: there, below it and above it, it is the same."""
    key = light.secret("stock/keys/id_rsa")
    (light.home / ".ssh").symlink_to(key.parent)
    light.file("stock/keys/sub/id_rsa", light.mark)
    light.file("stock/free/id_rsa", "free\n")
    assert look(light, light.base / "stock/free").stdout == "free\nran\n"
    for source in ("stock/keys", "stock/keys/sub", "stock", "stock/free/../keys", "stock/keys/id_rsa"):
        done = look(light, light.base / source)
        assert done.returncode in (125, 126) and done.stdout == "", (source, done)
        assert ".ssh" in done.stderr, (source, done)


def test_e23_a_protected_directory_mounted_elsewhere_is_protected_there(light):
    """A bind mount on the host gives it a second name that no string shows."""
    needs_root()
    light.secret("home/.ssh/id_rsa")
    light.file("home/.ssh/sub/id_rsa", light.mark)
    (light.base / "alias").mkdir()
    wrap = ["unshare", "-m", "sh", "-c", f'mount --bind "{light.home}/.ssh" "{light.base}/alias" && exec "$@"', "sh"]
    outer = subprocess.run([*wrap, "cat", light.base / "alias/id_rsa"], capture_output=True, text=True, check=True)
    assert light.mark in outer.stdout, "the control did not see it"
    for source in ("alias", "alias/sub", "alias/id_rsa"):
        done = look(light, light.base / source, wrap)
        assert done.returncode in (125, 126) and done.stdout == "", (source, done)


def test_e23_twins_made_inside_are_nothing_to_the_host(box):
    """.GIT is not .git here, and on a file system where it were, the overlay would still keep it."""
    subprocess.run(box.as_user(["git", "init", "-q", box.ws]), check=True, env=box.env)
    before = digest(box.ws)
    names = [".GIT", ".Git", ".git\u200d", ".g\u0131t", "\uff0egit", "git~1", ".git.", ".git "]
    script = 'for n in "$@"; do mkdir -p "$n/hooks" && echo evil >"$n/hooks/pre-commit" && echo "[core]" >"$n/config"; done'
    result = box.run("sh", "-c", script, "sh", *names, status=0)
    assert digest(box.ws) == before
    changed = {c["path"].split("/")[0] for c in result.report["changes"]["paths"]}
    assert changed == set(names), "each is reported by its own name, to the byte"


# ---- words of the payload in our own mouth ----

EVIL = "\x1b]52;c;ZXZpbA==\x07\x1b[2J\x9b31m\u202e\r\x08"


def test_s09_control_characters_come_out_as_they_went_in_and_never_from_us(light):
    """What the command prints is its own, byte by byte; what we print about it can be read on any terminal."""
    raw = EVIL.encode() + bytes(range(32)) + bytes(range(128, 160))
    done = light.run("cat", stdin=raw, text=False, status=0)
    assert done.out == raw and done.err == b""
    evil = "./evil" + EVIL.replace("\r", "")
    missing = light.run(evil)
    assert missing.status == 127, missing
    light.file("ws/" + evil[2:], "not a program", 0o644)
    plain = light.run(evil)
    assert plain.status == 126, plain
    for result in (missing, plain, light.run("true", ws=light.base / EVIL), light.run("true", options=["--report", "/no/" + EVIL], report=False),
                   light.run("true", options=["--env", EVIL]), light.run("true", options=bind(f"/no/{EVIL}"))):
        assert not any(unicodedata.category(c) in ("Cc", "Cf") and c not in "\n\t" for c in result.err), result


def test_s09_the_closing_line_and_the_report_are_plain_text(light):
    place = light.base / ("place" + EVIL.replace("/", ""))
    place.mkdir()
    light.give(place)
    argv = [a for a in light.creel("sh", "-c", "echo x >new", state=place / "state") if a != "-q"]
    done = subprocess.run(argv, cwd=light.ws, env=light.env, capture_output=True, text=True, check=False)
    assert not any(unicodedata.category(c) in ("Cc", "Cf") and c not in "\n\t" for c in done.stderr), done
    report = light.home / "report"
    light.run("sh", "-c", "echo x >\"$1\"", "sh", EVIL, options=["--report", report], report=False, status=0)
    text = report.read_text()
    assert not any(ord(c) < 32 and c != "\n" for c in text), text


# ---- places that somebody else has prepared ----

OTHER = 4242


def theirs(path, uid=OTHER):
    os.chown(path, uid, uid, follow_symlinks=False)
    return path


def planted(box, kind):
    """A state directory in a place where another user was first."""
    shared = box.base / "shared"
    shared.mkdir()
    shared.chmod(0o1777)
    victim = box.base / "victim"
    victim.mkdir()
    victim.chmod(0o777)
    theirs(victim)
    if kind == "link":
        (shared / "state").symlink_to(victim)
        theirs(shared / "state")
    elif kind == "directory":
        (shared / "state").mkdir()
        (shared / "state").chmod(0o777)
        theirs(shared / "state")
    elif kind == "live":
        (shared / "state").mkdir()
        box.give(shared / "state")
        (shared / "state/live").symlink_to(victim)
        theirs(shared / "state/live")
    else:  # their directory above ours
        (shared / "top/state").mkdir(parents=True)
        box.give(shared / "top/state")
        theirs(shared / "top")
        return shared / "top/state", victim
    return shared / "state", victim


@pytest.mark.parametrize("kind", ["link", "directory", "live", "above"])
def test_o08_a_state_directory_that_another_user_prepared_is_not_used(light, kind):
    """He could exchange what lies in it while we look: refused, and no file is written there."""
    needs_root()
    state, victim = planted(light, kind)
    result = light.run("sh", "-c", "echo secret >kept; echo ran", state=state)
    assert result.status == 125 and result.out == "" and "--state-dir" in result.err, result
    assert [p.name for p in victim.rglob("*") if p.name != "live"] == [] and not list(light.base.rglob("kept"))


def test_o08_a_state_directory_below_a_sticky_one_is_used(light):
    """As /tmp is: nobody else can rename what is ours there."""
    shared = light.base / "shared"
    shared.mkdir()
    shared.chmod(0o1777)
    result = light.run("sh", "-c", "echo x >kept", state=shared / "state", status=0)
    assert pathlib.Path(result.report["changes"]["kept_in"], "kept").exists()
    assert os.stat(shared / "state/runs").st_mode & 0o077 in (0, 0o011)


@pytest.mark.skipif(not IS_ROOT, reason="only root is another user inside")
def test_a_state_directory_that_the_sandbox_cannot_reach_is_named(light):
    """Root keeps it where the sandbox's user may not pass: one line that says so, and how to go on."""
    private = light.base / "private"
    private.mkdir(mode=0o700)
    light.give(private)
    result = light.run("sh", "-c", "echo ran", state=private / "state")
    if light.user == "user":
        assert result.status == 0, result
        return
    assert result.status == 125 and result.out == "" and "--state-dir" in result.err and "pass" in result.err, result


@pytest.mark.parametrize("fault, mode, owner, fix", [
    ("belongs to somebody else", 0o755, OTHER, "fix: name a state directory"),
    ("can be written by others", 0o777, None, "chmod go-w it"),
    ("can be written by others", 0o775, None, "chmod go-w it"),
])
@pytest.mark.parametrize("below", ["state", "a/b/state"])
def test_the_directory_that_makes_a_state_directory_unsafe_is_named(light, fault, mode, owner, fix, below):
    """Which one of those above it, by its real name, what is wrong with it, and what to do."""
    needs_root()
    wrong, link = light.base / "shared/wrong", light.base / "link"
    (wrong / below).mkdir(parents=True)
    for d in [p for p in wrong.rglob("*") if p.is_dir()]:
        light.give(d)
    link.symlink_to(wrong)
    os.chown(wrong, light.uid if owner is None else owner, OTHER)
    wrong.chmod(mode)
    result = light.run("true", state=link / below)
    assert result.status == 125 and f"'{wrong}' above '" in result.err and fault in result.err and fix in result.err, result
    wrong.chmod(0o755)
    if owner is None:  # the fix is one
        light.run("true", state=link / below, status=0)
