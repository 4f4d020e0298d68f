# SPDX-License-Identifier: Apache-2.0
"""Which directories of the host may be a workspace or a bind: not what the host lives on, not what decides about the next call."""
import json
import os
import subprocess

import pytest
from conftest import CREEL, IS_ROOT, digest

# Where the system is, below it, around it, and under another name.
SYSTEM = ["/usr", "/usr/local", "/usr/local/bin", "/usr/lib/..", "/bin", "/lib", "/opt", "/var/cache", "/var/log", "/var/lib/dpkg", "/var/spool", "link"]


def found(box, where):
    if where != "link":
        return where
    (box.base / "link").symlink_to("/usr/lib")
    return box.base / "link"


@pytest.mark.parametrize("where", SYSTEM)
def test_a_directory_of_the_system_is_not_written_to(light, where):
    """Root could change the host from inside: refused for everybody, with a way on; and what leaves it as it is stays possible."""
    where = found(light, where)
    before = os.stat(where).st_mtime_ns
    done = light.run("touch", "creel-was-here", ws=where, access="rw")
    assert done.status == 126 and done.report["reason"] == "denied" and "bind_blocked" in done.err, done
    assert "rw" in done.err and "overlay" in done.err and "--workspace" in done.err, done
    assert os.stat(where).st_mtime_ns == before
    light.run("true", ws=where, access="ro", status=0)


@pytest.mark.parametrize("where", SYSTEM)
def test_a_directory_of_the_system_is_not_bound_writable(light, where):
    """A configuration that names it is not asked twice either: it is the same host."""
    where = found(light, where)
    before = os.stat(where).st_mtime_ns
    done = light.run("touch", "/data/creel-was-here", options=["-e", f"mounts.binds=['{where}:/data:rw']"])
    assert done.status == 126 and done.report["reason"] == "denied" and "bind_blocked" in done.err and "a directory of the system" in done.err, done
    assert os.stat(where).st_mtime_ns == before
    light.run("ls", "/data", options=["-e", f"mounts.binds=['{where}:/data:ro']"], status=0)


@pytest.mark.parametrize("where", ["/usr/src", "/usr/local/src"])
def test_sources_below_usr_are_worked_on(light, where):
    light.run("true", ws=where, access="rw", status=0)


@pytest.mark.parametrize("state", ["later", "a/b/later"])
@pytest.mark.parametrize("what", ["", "."])
def test_what_creel_will_keep_is_not_bound_either(light, state, what):
    """Through a link, below which it is not there yet: once it is, who has the bind would decide about the next call."""
    real = light.file("home/x/real/mine").parent
    (light.home / "link").symlink_to(real)
    for access in ("rw", "overlay"):
        done = light.run("true", access=access, state=light.home / "link" / state, options=["-e", f"mounts.binds=['{real / what}:/data:rw']"])
        assert done.status == 126 and "bind_blocked" in done.err, done


@pytest.mark.parametrize("access", ["overlay", "rw", "ro"])
def test_a_home_that_is_a_link_is_a_home(light, access):
    """The current directory has its real name, HOME the other one."""
    light.secret("real/.ssh/id_ed25519")
    light.give(light.base / "real")
    (light.base / "alias").symlink_to(light.base / "real")
    env = {"HOME": str(light.base / "alias")}
    done = light.run("cat", ".ssh/id_ed25519", ws=light.base / "real", access=access, env=env, state=light.tmp / "state")
    assert done.status == 126 and light.mark not in done.out and "bind_blocked" in done.err, done
    work = light.file("real/project/x").parent
    light.run("cat", "x", ws=work, access=access, env=env, state=light.tmp / "state", status=0)


@pytest.mark.parametrize("written", ["{}//real", "{}/./real", "{}/real/", "{}/real/../real", "{}/alias/../real", "{}/alias/inner"])
def test_a_home_is_a_home_however_it_is_written(light, written):
    """Links and dots in its name are resolved; a plain name is looked at as it is."""
    light.secret("real/.ssh/id_ed25519")
    light.file("real/inner/x")
    home = light.base / ("real/inner" if "inner" in written else "real")
    light.secret(str(home.relative_to(light.base) / ".ssh/id_ed25519"))
    light.give(light.base / "real")
    (light.base / "alias").symlink_to(light.base / "real")
    env = {"HOME": written.format(light.base)}
    for ws in (home, home / ".ssh"):
        done = light.run("cat", "id_ed25519", ws=ws, access="rw", env=env, state=light.tmp / "state")
        assert done.status == 126 and light.mark not in done.out and "bind_blocked" in done.err, done


def audit_rows(light):
    log = light.base / "log"
    log.mkdir(mode=0o700)
    light.give(log)
    (light.base / "alias").symlink_to(log)
    return log, [log, light.base / "log/.", light.base / "alias"]


@pytest.mark.parametrize("access", ["overlay", "rw", "ro"])
def test_an_audit_log_elsewhere_is_no_workspace(light, access):
    """Whoever could write to it would decide what was done."""
    log, names = audit_rows(light)
    for name in names:
        said = ["-e", f"audit.path={name}/audit.jsonl"]
        for where in (log, light.base / "alias"):
            done = light.run("true", ws=where, access=access, options=said)
            assert done.status == 126 and "bind_blocked" in done.err and "audit" in done.err, done
    below = log / "project"
    below.mkdir()
    light.give(below)
    light.run("true", ws=below, access=access, options=["-e", f"audit.path={log}/audit.jsonl"], status=0)


def test_an_audit_log_elsewhere_is_not_bound(light):
    log, names = audit_rows(light)
    for name in ("audit.jsonl", "audit.head", "audit-00000000000000000001.jsonl"):
        light.file(log / name, "x")
    for name in names:
        for what in (log, log / "audit.jsonl", log / "audit-00000000000000000001.jsonl"):
            done = light.run("true", options=["-e", f"audit.path={name}/audit.jsonl", "-e", f"mounts.binds=['{what}:/data:rw']"])
            assert done.status == 126 and "bind_blocked" in done.err, done


def test_a_call_keeps_its_own_log_out_of_its_workspace(light):
    """The same for a session, whose calls are in that log."""
    log, _ = audit_rows(light)
    common = ["--state-dir", light.tmp / "state", "--workspace-access", "rw", "-e", f"audit.path={log}/audit.jsonl"]
    for ws, status in ((log, 126), (light.ws, 0)):
        done = subprocess.run(light.as_user([CREEL, "call", *common, "--workspace", ws, "exec", "--", "sh", "-c", "echo forged >>audit.jsonl"]),
                              env=light.env, cwd=light.ws, capture_output=True, text=True, check=False)
        assert (done.returncode == 0) == (status == 0), done
        assert not (log / "audit.jsonl").exists() or "forged" not in (log / "audit.jsonl").read_text().splitlines()
    subprocess.run(light.as_user([CREEL, "kill", "--all", "--state-dir", light.tmp / "state"]), env=light.env, capture_output=True, check=False)


@pytest.mark.parametrize("how, status", [
    ("rm -r out; ln -s {home} out", 125),
    ("mv out kept; ln -s {home} out", 0),
    ("rm -r out; ln -s {home}/there out", 125),
    ("rm out/report; ln -s {home}/report out/report", 125),
])
@pytest.mark.parametrize("named", ["out/report", "{ws}/out/report"])
def test_a_report_is_written_where_it_was_asked_for_or_not_at_all(light, how, status, named):
    """The command may write there, and exchanges the directory for a link to one that it cannot write to."""
    light.file("home/report", light.mark)
    light.file("home/there/report", light.mark)
    light.file("ws/out/report", "old")
    before = digest(light.home)
    done = light.run("sh", "-c", how.format(home=light.home), access="rw", report=False, state=light.tmp / "state",
                     options=["--report", named.format(ws=light.ws)])
    assert done.status == status and digest(light.home) == before, done
    if status == 0:
        assert json.loads((light.ws / "kept/report").read_text())["ok"] is True


@pytest.mark.parametrize("where", ["/etc", "/etc/ssl", "/dev", "/proc", "/sys", "/home", "/var", "/run", "home", "alias", "home/.ssh", "state"])
def test_what_no_sandbox_may_see_is_no_root_either(light, where):
    """Everything at the top of an image is seen inside: keys, if it is a home directory that has a bin."""
    for d in ("home/bin", "home/.ssh", "home/own/registry"):
        light.file(f"{d}/file", light.mark)
    (light.base / "alias").symlink_to(light.home)
    state = light.home / "own" if where == "state" else light.tmp / "state"
    name = where if where.startswith("/") else state if where == "state" else light.base / where
    done = light.run("true", state=state, options=["--image", f"{name}/"])
    assert done.status == 126 and done.report["reason"] == "denied" and "bind_blocked: image" in done.err and light.mark not in done.out, done
    assert "--image" in done.err.split("fix:")[1], done


# The blocked name in a home, where it really is, and what is asked for.
ELSEWHERE = {"it": (".ssh", "keys", "keys"), "around it": (".ssh", "vault/keys", "vault"), "in it": (".gnupg", "keys", "keys/private"),
             "a parent is the link": (".openclaw/credentials", "claw/credentials", "claw"), "around a roomy one": (".config", "dot/config", "dot")}


@pytest.mark.parametrize("use", ["overlay", "rw", "ro", "image"])
@pytest.mark.parametrize("case", ELSEWHERE)
def test_what_is_blocked_is_blocked_where_it_really_lies(light, case, use):
    name, real, asked = ELSEWHERE[case]
    for d in {real, asked}:
        light.secret(f"{d}/key")
        light.file(f"{d}/bin/x")
        light.give(light.base / d)
    link, target = light.home / name, light.base / real
    if "/" in name:
        link, target = link.parent, target.parent
    link.symlink_to(target)
    state = light.tmp / "state"
    if use == "image":
        done = light.run("true", state=state, options=["--image", f"{light.base / asked}/"])
    else:
        done = light.run("cat", "key", ws=light.base / asked, access=use, state=state)
    assert done.status == 126 and "bind_blocked" in done.err and f"shows '{link.parent}" in done.err and light.mark not in done.out, done
    assert ("--image" if use == "image" else "--workspace") in done.err.split("fix:")[1], done


@pytest.mark.parametrize("access", ["overlay", "rw"])
def test_people_work_below_what_is_roomy_wherever_it_lies(light, access):
    work = light.file("dot/config/nvim/init.lua", "x").parent
    light.give(light.base / "dot")
    (light.home / ".config").symlink_to(light.base / "dot/config")
    light.run("cat", "init.lua", ws=work, access=access, state=light.tmp / "state", status=0)


@pytest.mark.parametrize("use", ["overlay", "rw", "image"])
def test_what_is_mounted_in_a_second_place_is_blocked_there(light, use):
    """Its name there says nothing; it is the same directory."""
    if not IS_ROOT:
        pytest.skip("only root mounts")
    light.secret("home/.ssh/key")
    light.file("home/.ssh/bin/x")
    place = light.file("second/place/x").parent
    how = {"options": ["--image", f"{place}/"]} if use == "image" else {"ws": place, "access": use}
    mounted = ["unshare", "-m", "--propagation", "private", "sh", "-c", 'mount --bind "$0" "$1" && shift && exec "$@"', light.home / ".ssh", place]
    done = subprocess.run([*mounted, *light.creel("cat", "key", **how)], cwd=light.ws, env=light.env, capture_output=True, text=True, check=False, timeout=60)
    assert done.returncode == 126 and "under another name" in done.stderr and light.mark not in done.stdout, done


@pytest.mark.parametrize("use", ["ro", "rw", "image", "bind"])
@pytest.mark.parametrize("what, key", [("home", ".ssh/key"), (".", "home/.ssh/key"), ("elsewhere", "ssh/key")])
def test_what_lies_around_it_is_blocked_in_a_second_place(light, what, key, use):
    """Nothing of its name leads there: the home, the directory that it lies in, and the one that a link of its leads to."""
    if not IS_ROOT:
        pytest.skip("only root mounts")
    if what == "elsewhere":
        light.secret("elsewhere/ssh/key")
        (light.home / ".ssh").symlink_to(light.base / "elsewhere/ssh")
    else:
        light.secret("home/.ssh/key")
    place = light.file("second/place/x").parent
    how = {"image": {"options": ["--image", f"{place}/"]}, "bind": {"options": ["-e", f'mounts.binds=["{place}:/second:ro"]']}}.get(use, {"ws": place, "access": use})
    where = f"/second/{key}" if use == "bind" else key
    mounted = ["unshare", "-m", "--propagation", "private", "sh", "-c", 'mount --bind "$0" "$1" && shift && exec "$@"', light.base / what, place]
    done = subprocess.run([*mounted, *light.creel("cat", where, **how)], cwd=light.ws, env=light.env, capture_output=True, text=True, check=False, timeout=60)
    assert done.returncode == 126 and "under another name" in done.stderr and light.mark not in done.stdout, done
