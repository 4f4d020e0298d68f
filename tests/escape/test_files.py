# SPDX-License-Identifier: Apache-2.0
"""Numbers 1 to 25: files of the host are neither read nor changed."""
import contextlib
import fcntl
import itertools
import os
import pathlib
import re
import socket
import stat
import subprocess
import time

import pytest
from conftest import ACCESSES, CREEL, IS_ROOT, Listener, digest, needs_root, wait_until

SECRETS = ["home/.ssh/id_ed25519", "home/.aws/credentials", "home/.config/gh/hosts.yml", "home/.netrc", "home/.gnupg/key"]


def test_e01_secrets_of_the_user_cannot_be_read(box):
    paths = [box.secret(s) for s in SECRETS]
    reads = [f"read={p}" for p in paths]
    said = box.control("files", *reads)
    assert said.out.count(box.mark) == len(paths), "the control did not read what it should"
    box.refused("files", *reads)


@pytest.mark.parametrize("access", ACCESSES)
def test_e01_shadow_cannot_be_read(light, access):
    light.control("files", "read=/etc/shadow", user="root")
    result = light.run("sh", "-c", "cat /etc/shadow; cat /proc/self/root/etc/shadow; cat /etc/gshadow", access=access)
    assert result.status != 0 and result.out == "", result


def test_e01_nothing_below_the_root_holds_a_secret(box):
    """Not only at its own place: the whole tree is searched for the word."""
    secret = box.secret("home/.ssh/id_rsa")
    find = ["sh", "-c", "find / -xdev -type f -size -64k -not -path '/proc/*' -not -path '/usr/*' -not -path '/dev/*' -exec grep -ls -- \"$1\" {} +; "
            "grep -rs -- \"$1\" /tmp /run /dev/shm /var/tmp . /proc/self/environ; true", "sh"]
    said = subprocess.run(["grep", "-rls", box.mark, secret.parent], capture_output=True, text=True, check=False)
    assert said.stdout, "the control did not find it"
    box.file("ws/there", f"word-{box.mark[7:]}\n")
    assert "there" in box.run(*find, f"word-{box.mark[7:]}").out, "inside, the search finds nothing at all"
    result = box.run(*find, box.mark)
    assert result.out == "", result


def test_e02_writes_outside_the_workspace_do_not_reach_the_host(box):
    """Some succeed inside, in a private place: the host decides."""
    name = box.mark
    places = [f"/tmp/{name}", f"/var/tmp/{name}", f"/dev/shm/{name}", str(box.home / name), str(box.base / name)]
    fatal = [f"/usr/local/bin/{name}", f"/etc/{name}", f"/{name}", f"/usr/{name}", f"/proc/{name}", f"/dev/{name}", f"/home/{name}"]
    if box.user == "root":
        places += [f"/usr/local/bin/{name}", f"/etc/{name}", f"/run/{name}"]
    else:
        box.base.chmod(0o1777)  # others could put another state directory there, and creel would refuse, but for the sticky bit
    try:
        box.control("files", *[f"create={p}" for p in places])
        for p in places:
            assert os.path.exists(p)
            os.unlink(p)
        box.attack("files", *[f"create={p}" for p in places])
        box.refused("files", *[f"create={p}" for p in fatal])
        assert [p for p in places + fatal if os.path.exists(p)] == []
    finally:
        for p in places:
            with contextlib.suppress(OSError):
                os.unlink(p)


def test_e03_no_number_of_steps_up_leads_out(box):
    secret = box.secret("home/secret")
    box.control("files", f"read_up={secret}", f"read={secret}")
    box.refused("files", f"read_up={secret}", f"read={secret}", f"read_up={box.ws}/../home/secret")


@pytest.mark.parametrize("access", ["overlay", "rw", "ro"])
def test_e04_a_link_in_the_workspace_leads_into_the_sandbox_only(box, access):
    secret = box.secret("home/secret")
    (box.ws / "out").symlink_to(secret)
    (box.ws / "up").symlink_to("../home/secret")
    (box.ws / "dir").symlink_to(box.home)
    (box.ws / "passwd").symlink_to("/etc/passwd")
    before = digest(secret)
    box.control("files", "read=out", "read=up", "read=dir/secret")
    box.refused("files", "read=out", "write=out", "read=up", "write=up", "read=dir/secret", "create=dir/new", "truncate=out",
                access=access)
    inner = box.run("cat", "passwd", access=access)
    assert "sandbox:x:1000" in inner.out and inner.out != pathlib.Path("/etc/passwd").read_text()
    assert digest(secret) == before and not (box.home / "new").exists()


@pytest.mark.parametrize("access", ["overlay", "rw"])
def test_e05_a_link_swapped_inside_never_leads_to_the_host(light, access):
    """The inside flips a name between a file of its own and a link to the canary, while it writes through the name."""
    secret = light.secret("home/secret")
    before = digest(secret)
    script = (
        "import os,sys,threading\n"
        "stop=[]\n"
        "def flip():\n"
        "    while not stop:\n"
        "        os.symlink(sys.argv[1],'n1'); os.rename('n1','name')\n"
        "        open('n2','w').close(); os.rename('n2','name')\n"
        "t=threading.Thread(target=flip); t.start(); won=0\n"
        "for i in range(5000):\n"
        "    try:\n"
        "        with open('name','r+') as f: won+=f.read().startswith('canary'); f.write('evil')\n"
        "    except OSError: pass\n"
        "stop.append(1); t.join(); print('won',won)\n")
    (light.ws / "name").write_text("")
    light.give(light.ws / "name")
    out = subprocess.run(light.as_user(["/usr/bin/python3", "-c", script, secret]), cwd=light.ws, capture_output=True, text=True,
                         check=True)
    assert out.stdout.split()[1] != "0", "the control never won the race outside"
    secret.write_text(light.mark + "\n")
    os.utime(secret, ns=(0, 0))
    before = digest(secret)
    inner = light.run("python3", "-c", script, secret, access=access, status=0)
    assert inner.out == "won 0\n", inner
    assert digest(secret) == before


@pytest.mark.parametrize("named", ["by its name", "by a link"])
def test_what_creel_keeps_is_no_workspace_and_no_bind(light, named):
    """Registry, audit log, tokens and the layers of others: whoever could write there would decide about the next call."""
    light.file("home/own/registry/registry.db", "mine")
    state = light.home / "own"
    if named == "by a link":
        light.file("home/real/registry/registry.db", "mine")
        state = light.home / "link"
        state.symlink_to(light.home / "real")
    real = state.resolve()
    (real / "sandboxes/x").mkdir(parents=True)
    for d in [real, real / "registry", real / "sandboxes", real / "sandboxes/x"]:
        light.give(d)
        d.chmod(0o711)
    for where, access in itertools.product([real, real / "registry"], ["overlay", "rw", "ro"]):
        done = light.run("true", ws=where, access=access, state=state)
        assert done.status in (125, 126) and "bind_blocked" in done.err, done
    for where in (real, real / "registry"):
        done = light.run("true", state=state, options=["-e", f"mounts.binds=['{where}:/data:rw']"])
        assert done.status in (125, 126) and "bind_blocked" in done.err, done
    light.run("true", ws=real / "sandboxes/x", access="rw", state=state, status=0)


@pytest.mark.parametrize("state", ["later", "a/b/later"])
def test_what_creel_will_keep_is_no_workspace_either(light, state):
    """Through a link, below which it is not there yet."""
    real = light.file("home/real/mine").parent
    (light.home / "link").symlink_to(real)
    for where in (real, light.home / "link"):
        done = light.run("true", ws=where, access="rw", state=light.home / "link" / state, report=False)
        assert done.status in (125, 126) and "bind_blocked" in done.err and os.listdir(real) == ["mine"], done


@pytest.mark.parametrize("below", ["", "sub"], ids=["itself", "above"])
def test_e05_s04_a_bind_source_swapped_on_the_host_is_what_was_checked_or_nothing(light, below):
    """Outside, somebody exchanges the source, or a directory above it, with a link to a blocked one while sandboxes start."""
    good, evil = light.base / "good", light.base / "swapped"
    light.file(pathlib.Path("good", below, "what"), "good")
    key = light.secret(pathlib.Path("home/.ssh", below, "id_rsa"))
    key.chmod(0o644)
    for d in {key.parent, light.home / ".ssh"}:
        d.chmod(0o755)
    evil.symlink_to(light.home / ".ssh")
    bind = f"mounts.binds=['{good / below}:/data:{'rw' if below else 'ro'}']"
    plain = light.run("cat", "/data/what", options=["-e", bind])
    assert plain.out == "good", f"a bind that is allowed did not work: {plain}"
    racer = subprocess.Popen([light.ws / "race", "swap", good, evil], stderr=subprocess.DEVNULL)
    light.closing.append(racer.kill)
    seen, refused = 0, 0
    try:
        for _ in range(60):
            r = light.run("sh", "-c", "cat /data/what /data/id_rsa", options=["-e", bind], report=False)
            assert light.mark not in r.out, f"the swapped source was mounted: {r}"
            assert r.status in (0, 1, 125, 126), r
            seen += "good" in r.out
            refused += r.status >= 125
    finally:
        racer.kill()
        racer.wait()
    assert seen and refused, f"the race never happened: {seen} seen, {refused} refused"


@pytest.mark.parametrize("access", ["overlay", "rw"])
def test_e06_no_hard_link_to_a_file_of_the_host(box, access):
    secret = box.secret("home/secret")
    box.control("files", f"link={secret},mine")
    (box.ws / "mine").unlink()
    before = os.stat("/usr/bin/env").st_nlink
    box.refused("files", f"link={secret},mine", "link=/usr/bin/env,mine", "link=/etc/passwd,mine", "link=/proc/self/exe,mine",
                errors={"EPERM", "EXDEV", "ENOENT", "EACCES"}, access=access)
    assert os.stat(secret).st_nlink == 1 and os.stat("/usr/bin/env").st_nlink == before


@pytest.mark.parametrize("access", ["overlay", "rw"])
def test_e07_no_rename_across_the_wall(box, access):
    box.secret("home/dir/secret")
    (box.ws / "mine").mkdir()
    box.give(box.ws / "mine")
    box.control("files", f"rename={box.home}/dir,{box.ws}/mine/dir")
    os.rename(box.ws / "mine/dir", box.home / "dir")
    before = digest(box.home / "dir")
    box.refused("files", f"rename={box.home}/dir,mine/dir", "rename=/usr/share,mine/share", "rename=mine,/etc/ssl",
                "rename=mine,/usr/mine", "rename=/etc/passwd,mine/passwd", "rename=/etc,mine/etc",
                f"rename=mine,{box.home}/mine",
                errors={"EPERM", "EXDEV", "ENOENT", "EACCES", "EROFS", "EBUSY"}, access=access)
    assert digest(box.home / "dir") == before and not (box.home / "mine").exists()


PLANTED = [".git/hooks/pre-commit", ".claude/settings.json", ".mcp.json", ".vscode/tasks.json", ".envrc", ".bashrc", ".git/config",
           "package.json", ".gitattributes"]


def test_e08_s06_names_that_run_later_are_not_made_on_the_host(box):
    """None of them exists at the start; nothing is put there to keep them from being made, either."""
    script = "for f in $1; do mkdir -p $(dirname $f); echo evil >$f; chmod +x $f; done"
    before = digest(box.ws)
    result = box.run("sh", "-c", script, "sh", " ".join(PLANTED), status=0)
    assert digest(box.ws) == before
    changed = {c["path"] for c in result.report["changes"]["paths"]}
    assert changed >= set(PLANTED), result.report["changes"]
    kept = pathlib.Path(result.report["changes"]["kept_in"])
    assert (kept / ".git/hooks/pre-commit").read_text() == "evil\n"


def test_e09_e10_a_repository_is_not_turned_against_its_owner(box):
    subprocess.run(box.as_user(["git", "init", "-q", box.ws]), check=True, env=box.env)
    before = digest(box.ws / ".git")
    script = ("cat >>.git/config; echo evil >.git/hooks/post-checkout; mv .git elsewhere && ln -s /tmp/evil .git && "
              "echo '* filter=evil' >.gitattributes")
    evil = "[core]\n\tfsmonitor = ./evil\n\thooksPath = /tmp\n[include]\n\tpath = /tmp/evil\n"
    result = box.run("sh", "-c", script, stdin=evil, status=0)
    assert digest(box.ws / ".git") == before and not (box.ws / ".gitattributes").exists()
    paths = {c["path"].split("/")[0] for c in result.report["changes"]["paths"]}
    assert {".git", "elsewhere", ".gitattributes"} <= paths, result.report["changes"]


@pytest.mark.parametrize("access", ["overlay", "rw"])
def test_e11_no_device_can_be_made(box, access):
    attempts = ["mknod=dev1,c,1,3", "mknod=dev2,b,7,0", "mknod=dev3,c,0,0", "mknod=/tmp/dev4,c,1,1", "mknod=/dev/dev5,c,1,1"]
    box.control("files", "mknod=dev1,c,1,3", "mknod=dev2,b,7,0", user="root")
    for name in ("dev1", "dev2"):
        (box.ws / name).unlink()
    box.refused("files", *attempts, errors={"EPERM", "EROFS"}, access=access)
    assert not list(box.ws.glob("dev*"))


@pytest.mark.parametrize("access", ["overlay", "rw", "ro"])
def test_e11_a_device_that_is_there_cannot_be_opened(box, access):
    """A node in the workspace, made by root on the host."""
    needs_root()
    os.mknod(box.ws / "null2", stat.S_IFCHR | 0o666, os.makedev(1, 3))
    os.mknod(box.ws / "loop2", stat.S_IFBLK | 0o666, os.makedev(7, 0))
    for name in ("null2", "loop2"):
        os.chmod(box.ws / name, 0o666)
    box.control("files", "open_node=null2", user="root")
    box.refused("files", "open_node=null2", "open_node=loop2", errors={"EACCES", "EPERM"}, access=access)


@pytest.mark.parametrize("access", ["overlay", "rw"])
def test_e12_no_setuid_file_can_be_made(box, access):
    """Neither one that works inside, nor one that lies in wait on the host: it would run as whoever owns the workspace."""
    made = box.file("ws/tool", "#!/bin/sh\n", 0o755)
    attempts = ["chmod=tool,4755", "fchmod=tool,4755", "fchmodat=tool,6755", "fchmodat2=tool,4755", "open_mode=new1,4755",
                "creat_mode=new2,6755", "openat2_mode=new3,4755", "tmpfile_mode=.,4755,new4"]
    box.control("files", *[a for a in attempts if not a.startswith("fchmodat2")])
    box.control("files", "fchmodat2=tool,4755", absent={"ENOSYS"})  # new in Linux 6.6
    for name in ("new1", "new2", "new3", "new4"):
        assert os.stat(box.ws / name).st_mode & 0o6000, name
        (box.ws / name).unlink()
    made.chmod(0o755)
    result = box.attack("files", *attempts, access=access)
    kept = result.report["changes"].get("kept_in")
    for top in [box.ws, *([pathlib.Path(kept)] if kept else [])]:
        bad = [p for p in top.rglob("*") if p.is_file() and p.lstat().st_mode & 0o6000]
        assert not bad, f"{bad}\n{result}"


def test_e12_other_modes_work_as_ever(light):
    result = light.run("sh", "-c", "echo x >f && chmod 0751 f && stat -c %a f && mkdir d && chmod 1777 d && stat -c %a d", status=0)
    assert result.out == "751\n1777\n"


@pytest.mark.parametrize("access", ["overlay", "rw", "ro"])
def test_e12_e48_a_setuid_program_gives_nothing(box, access):
    """A copy of the attack program that belongs to another user, setuid and setgid, put there by root."""
    needs_root()
    owner = 4242 if box.user == "root" else 0
    program = box.ws / "suid"
    program.write_bytes((box.ws / "files").read_bytes())
    os.chown(program, owner, owner)
    program.chmod(0o6755)
    box.control("files", "run_suid=./suid")
    box.refused("files", "run_suid=./suid", errors={"EPERM"}, access=access)


def test_e48_setuid_programs_of_the_host_give_nothing(box):
    """
    The loader shows what the kernel told it, unless the program was given rights that its caller has not: for an ordinary user outside it
    says nothing, which is the control; inside it tells that it is the payload's user and no more.
    """
    found = [p for p in ("/usr/bin/su", "/usr/bin/mount", "/usr/bin/passwd", "/usr/bin/newgrp", "/usr/bin/sudo")
             if os.path.exists(p) and os.stat(p).st_mode & 0o4000]
    assert found, "no setuid program here to try"
    script = 'for p in "$@"; do [ -u $p ] && echo setuid; LD_SHOW_AUXV=1 $p --help </dev/null | grep -aE "^AT_(EUID|UID|SECURE)"; done; true'
    outer = subprocess.run(box.as_user(["sh", "-c", script, "sh", *found], "user"), capture_output=True, text=True, check=True).stdout
    assert outer.split() == ["setuid"] * len(found), f"outside they give nothing either: {outer}"
    result = box.run("sh", "-c", script, "sh", *found, status=0)
    assert result.out.count("setuid") == len(found), result
    assert [line.split() for line in result.out.splitlines() if "UID:" in line] == [["AT_UID:", "1000"], ["AT_EUID:", "1000"]] * len(found), result
    assert result.out.count("AT_SECURE:") == len(found) and not re.search(r"AT_SECURE:\s+1", result.out), result
    result = box.run("sh", "-c", "su -c 'id -u' root </dev/null; mount -t tmpfs none /tmp; cat /proc/self/status")
    assert not result.out.startswith("0\n") and all(f"{line}\n" in result.out for line in (
        "Uid:\t1000\t1000\t1000\t1000", "CapEff:\t0000000000000000", "NoNewPrivs:\t1")), result


def test_e15_no_way_out_through_proc(box):
    secret = box.secret("home/secret")
    box.control("files", f"through_proc={secret}")
    box.refused("files", f"through_proc={secret}", "through_proc=/etc/shadow", f"read=/proc/1/root{secret}", "read=/proc/1/environ",
                "read=/proc/1/cwd/etc/shadow")


def test_e16_e17_no_file_by_its_handle(box):
    secret = box.secret("home/secret")
    said = box.control("files", f"to_handle={secret}", user="root")
    handle = said.notes()[0]
    box.control("files", f"by_handle={handle},{box.base}", user="root")
    box.refused("files", f"by_handle={handle},.", f"by_handle={handle},/usr", f"by_handle={handle},/", "to_handle=/usr/bin/env",
                errors={"EPERM", "ENOSYS"})


def dirty(box):
    """A hundred open files, directories and sockets, as a careless parent leaves them."""
    secret = box.secret("home/secret")
    fds = [os.open(p, os.O_RDONLY) for p in ("/", "/etc", box.home, secret, "/dev/null") for _ in range(18)]
    pair = socket.socketpair()
    fds += [s.detach() for s in pair] + list(os.pipe()) + [os.open(box.home, os.O_PATH) for _ in range(6)]
    for fd in fds:
        os.set_inheritable(fd, True)
    return fds


@pytest.mark.parametrize("access", ["overlay", "rw"])
def test_e18_s02_no_file_descriptor_leaks_in(box, access):
    fds = dirty(box)
    try:
        said = box.control("files", "fds", pass_fds=fds)
        assert len(said.notes()) == len(fds) and "leads up" in said.out
        result = box.refused("files", "fds", errors={"ENOENT"}, pass_fds=fds, access=access)
        listing = box.run("ls", "/proc/self/fd", pass_fds=fds, access=access)
        assert listing.out.split() == ["0", "1", "2", "3"], f"{result} {listing}"
    finally:
        for fd in fds:
            os.close(fd)


@pytest.mark.parametrize("target", ["/proc/self/fd/{}", "/proc/self/cwd", "/proc/self/root", "/proc/1/root"])
def test_s02_a_workspace_named_through_proc_is_no_way_out(light, target):
    secret = light.secret("home/secret")
    fd = os.open("/", os.O_RDONLY)
    try:
        result = light.run("sh", "-c", f"cat {secret} ..{secret} .{secret} ./{secret.relative_to('/')}; pwd", pass_fds=[fd],
                           ws=target.format(fd))
    finally:
        os.close(fd)
    assert light.mark not in result.out and "(unreachable)" not in result.out and "twice" not in result.err, result


@pytest.mark.parametrize("name", ["stdin", "stdout", "stderr"])
def test_s02_a_directory_as_standard_input_is_no_way_out(light, name):
    """Not a leak of ours, but the caller's: the sandbox must not get a directory of the host to start from."""
    secret = light.secret("home/secret")
    secret.chmod(0o644)
    light.home.chmod(0o755)
    fd = ["stdin", "stdout", "stderr"].index(name)
    top = os.open("/", os.O_RDONLY)
    script = f"./files from_fd={fd},{secret} >said" if fd != 1 else f"./files from_fd=1,{secret} 3>&1 >said"
    script = f"exec 9>&1 >said; ./files from_fd=9,{secret}" if fd == 1 else script
    try:
        for argv in (light.as_user(["sh", "-c", script]), light.creel("sh", "-c", script, access="rw")):
            with contextlib.suppress(OSError):
                (light.ws / "said").unlink()
            kw = {n: subprocess.PIPE for n in ("stdout", "stderr")}
            done = subprocess.run(argv, cwd=light.ws, env=light.env, text=True, check=False, **{**kw, name: top})
            said = (light.ws / "said").read_text() if (light.ws / "said").exists() else ""
            if argv[-1] == script and str(CREEL) not in argv:
                assert light.mark in said, f"the control did not get out: {done} {said}"
    finally:
        os.close(top)
    assert light.mark not in said, (said, done)


@pytest.mark.parametrize("fd", [0, 1])
def test_s13_a_stream_cannot_be_opened_wider(light, fd):
    """A log that is appended to: not truncated, not read, although /proc/self/fd leads to the file itself."""
    log = light.file("home/log", "precious\n")
    flags = os.O_RDONLY if fd == 0 else os.O_WRONLY | os.O_APPEND
    stream = os.open(log, flags)
    try:
        name = "stdin" if fd == 0 else "stdout"
        other = {"stdout": subprocess.PIPE} if fd == 0 else {"stdin": subprocess.DEVNULL}
        done = subprocess.run(light.creel("./files", f"reopen={fd}"), cwd=light.ws, env=light.env, check=True, **{**other, name: stream})
        assert log.read_text().startswith("precious\n") and b"DONE" not in (done.stdout or b"") + log.read_bytes()
        subprocess.run(light.as_user([light.ws / "files", f"reopen={fd}"]), cwd=light.ws, check=True, **{**other, name: stream})
        assert not log.read_text().startswith("precious"), "the control could not do it either"
    finally:
        os.close(stream)


def test_e19_a_program_in_memory_runs_behind_the_same_walls(box):
    """Documented: the sandbox is the boundary, not the name of a program."""
    box.control("files", "memfd")
    result = box.attack("files", "memfd")
    assert result.lines() == {"memfd": "DONE"}, result


DEVICES = {"null", "zero", "full", "random", "urandom", "tty", "fd", "stdin", "stdout", "stderr", "ptmx", "pts", "shm"}


def test_e20_only_harmless_devices_are_there(box):
    assert len(box.control("files", "dev").notes()) > len(DEVICES), "the host has no more devices than the sandbox"
    assert set(box.attack("files", "dev").notes()) == DEVICES
    box.refused("files", *[f"open_node=/dev/{d}" for d in ("mem", "kmsg", "fuse", "kvm", "loop-control", "uinput", "tty0", "ttyS0",
                                                           "console", "vda", "sda", "net/tun", "vsock", "port")])


def test_e21_marks_of_the_overlay_cannot_be_forged(box):
    """What says "deleted", "nothing below" and "elsewhere" to overlayfs is not the payload's to write."""
    box.file("ws/dir/below", "below")
    before = digest(box.ws)
    names = ["user.overlay.opaque", "user.overlay.redirect", "user.overlay.whiteout", "user.overlay.metacopy"]
    box.control("files", *[f"setxattr=dir,{n},y" for n in names])
    for n in names:
        os.removexattr(box.ws / "dir", n)
    before = digest(box.ws)
    result = box.run("sh", "-c", "./files " + " ".join(f"setxattr=dir,{n},y setxattr=new,{n},y" for n in names)
                     + "; ./files mknod=gone,c,0,0; rm dir/below; mkdir new; echo x >new/file")
    assert "mknod: EPERM" in result.out, result
    assert digest(box.ws) == before
    said = {(c["change"], c["path"]) for c in result.report["changes"]["paths"]}
    assert ("removed", "dir/below") in said and ("added", "new/file") in said, result.report["changes"]
    kept = pathlib.Path(result.report["changes"]["kept_in"])
    for p in kept.rglob("*"):
        with contextlib.suppress(OSError):
            assert not {"user.overlay.redirect", "user.overlay.metacopy"} & set(os.listxattr(p, follow_symlinks=False)), p


NAMES = ["new\nline", "tab\there", "esc\x1b[31mred", "bell\x07", "osc\x1b]52;c;ZXZpbA==\x07", "back\\slash", "quo\"te", "-rf",
         "bidi\u202egnp", b"invalid\xff\xfeutf8", " lead", "n" * 255]


def test_e22_evil_names_are_reported_safely(box):
    script = "import os,sys\nfor n in eval(sys.argv[1]): open(n,'w').close()"
    result = box.run("python3", "-c", script, repr(NAMES), status=0)
    assert result.report["changes"]["total"] == len(NAMES)
    loud = subprocess.run([a for a in box.creel("python3", "-c", script, repr(NAMES)) if a != "-q"], cwd=box.ws, env=box.env,
                          capture_output=True, check=False)
    assert loud.returncode == 0 and b"changed" in loud.stderr
    assert not any(b < 32 and b != 10 for b in loud.stderr), loud.stderr
    assert {p.name for p in box.ws.iterdir()}.isdisjoint(n for n in NAMES if isinstance(n, str))


@pytest.mark.parametrize("place", ["/tmp", "/var/tmp", "/run", "/dev/shm"])
def test_e22_private_places_are_bounded(light, place):
    result = light.run("sh", "-c", f"./hog fill={place}/big,400; rm {place}/big; mkdir {place}/d; ./hog names={place}/d,70000"
                       if place == "/tmp" else f"./hog fill={place}/big,400", status=0)
    assert result.lines()["fill"] == "ENOSPC" and 250 <= int(result.notes()[0].split()[0]) <= 260, result
    if place == "/tmp":
        assert result.lines()["names"] == "ENOSPC" and int(result.notes()[1].split()[0]) < 65536, result


def test_e22_the_private_places_share_one_size(light):
    """What one takes, the others have no more; and a limit that is named holds."""
    places = ["/tmp", "/var/tmp", "/run", "/dev/shm"]
    result = light.run("sh", "-c", "; ".join(f"./hog fill={p}/big,40" for p in places), options=["-e", "limits.tmpfs=96m"], status=0)
    assert [l.split(": ")[1] for l in result.out.splitlines() if l.startswith("fill")] == ["DONE", "DONE", "ENOSPC", "ENOSPC"], result


def test_e22_a_tree_deeper_than_a_path_can_be_is_taken(light):
    result = light.attack("hog", "deep=.,2100")
    assert result.lines() == {"deep": "DONE"} and result.report["changes"]["total"] > 0, result
    assert not (light.ws / "d").exists()


def test_e22_what_cannot_be_read_hides_no_change(light):
    """Directories without rights, and one that is nested deeper than we follow, sort before the rest."""
    script = ("echo x >zz; mkdir -p aa/bb; echo x >aa/bb/cc; chmod 0 aa/bb; mkdir -p mm; cd mm; "
              "for i in $(seq 300); do mkdir d; cd d; done")
    result = light.run("sh", "-c", script, status=0)
    said = {(c["change"], c["path"]) for c in result.report["changes"]["paths"]}
    assert {("added", "zz"), ("added", "aa"), ("added", "aa/bb")} <= said and result.report["changes"]["complete"] is False, result
    plain = light.run("sh", "-c", "echo x >zz", status=0)
    assert plain.report["changes"]["complete"] is True


def test_e22_a_sparse_file_takes_nothing_from_the_host(light):
    free = os.statvfs(light.base).f_bavail
    result = light.attack("hog", "sparse=huge,1024")
    assert result.lines()["sparse"] == "SIGXFSZ", result
    assert free - os.statvfs(light.base).f_bavail < 65536 and not (light.ws / "huge").exists()


META = ["chmod={},777", "utimes={}", "chown={},1000", "setxattr={},user.evil,x", "truncate={}", "write={}", "unlink={}"]


def test_e24_s13_attributes_of_what_is_read_only_stay(box):
    """Landlock alone would let most of these through."""
    mine = box.file("ws/mine", "mine")
    box.file("ws/dir/other", "other")
    copy = box.file("tmp/copy", "copy")
    box.control("files", *[m.format(copy) for m in META if not (m.startswith("chown") and box.user != "root")])
    before = digest(box.ws)
    targets = ["mine", "dir", "/usr/bin/env", "/etc/passwd", "/etc/ssl", "/etc/ld.so.cache", "/", "/usr", "/proc/sys/kernel/hostname"]
    host = digest(pathlib.Path("/usr/bin/env"))
    box.refused("files", *[m.format(t) for t in targets for m in META], access="ro",
                errors={"EROFS", "EPERM", "EACCES", "EISDIR", "EBUSY", "EOPNOTSUPP", "ENOTDIR", "EINVAL"})
    assert digest(box.ws) == before and digest(pathlib.Path("/usr/bin/env")) == host, mine


def test_e24_an_overlay_takes_changes_and_the_host_keeps_its_own(box):
    box.file("ws/mine", "mine")
    before = digest(box.ws)
    result = box.attack("files", "chmod=mine,600", "utimes=mine", "write=mine", "unlink=mine")
    assert set(result.lines().values()) == {"DONE"}, result
    assert digest(box.ws) == before


def test_e25_a_lock_inside_holds_nobody_outside(light):
    """With an overlay the file inside is another one than the file outside."""
    path = light.file("ws/locked", "x")
    p = light.spawn("./files", "flock=locked,wait", stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    assert p.stdout.readline() == b"# locked\n"
    with open(path, "rb") as f:
        fcntl.flock(f, fcntl.LOCK_EX | fcntl.LOCK_NB)
    p.communicate(b"\n", timeout=20)
    assert p.returncode == 0


@pytest.mark.parametrize("access", ["overlay", "ro", "rw"])
def test_e25_no_lease_on_a_file_of_the_host(light, access):
    """A lease makes whoever opens the file for writing wait, up to 45 seconds."""
    path = light.file("ws/leased", "x")
    light.control("files", "lease=leased")
    light.refused("files", "lease=leased", "lease=/usr/bin/env", errors={"EPERM", "EACCES", "EINVAL"}, access=access)
    begin = time.monotonic()
    path.write_text("y")
    assert time.monotonic() - begin < 5


@pytest.mark.parametrize("access", ["overlay", "ro"])
def test_s14_a_pipe_of_the_host_in_the_workspace_leads_nowhere(light, access):
    """A read-only mount does not keep anybody from writing to a FIFO."""
    fifo = light.ws / "fifo"
    os.mkfifo(fifo)
    light.give(fifo)
    fifo.chmod(0o666)
    reader = os.open(fifo, os.O_RDONLY | os.O_NONBLOCK)
    try:
        light.control("ipc", "fifo=fifo")
        assert os.read(reader, 100) == b"evil\n"
        light.refused("ipc", "fifo=fifo", errors={"EACCES", "EPERM", "EROFS", "ENXIO"}, access=access)
        with contextlib.suppress(BlockingIOError):
            assert os.read(reader, 100) == b""
    finally:
        os.close(reader)


@pytest.mark.parametrize("access", ["overlay"])
def test_s14_a_socket_of_the_host_in_the_workspace_leads_nowhere(light, access):
    path = light.ws / "agent.sock"
    heard = Listener(socket.AF_UNIX, str(path))
    light.closing.append(heard.close)
    light.give(path)
    path.chmod(0o666)
    light.control("ipc", "unix=agent.sock")
    assert wait_until(lambda: heard.heard == [b"evil\n"])
    light.refused("ipc", "unix=agent.sock", errors={"ECONNREFUSED", "EACCES", "ENOENT", "EPERM"}, access=access)
    assert heard.heard == [b"evil\n"]


@pytest.mark.parametrize("access", ["rw"])
def test_files_made_in_a_writable_workspace_belong_to_the_caller(light, access):
    light.run("sh", "-c", "echo x >new && mkdir -p a/b && ln -s new link && echo y >a/b/c && python3 -c "
              "'import socket; socket.socket(socket.AF_UNIX).bind(\"s\")'", access=access, status=0)
    for name in ("new", "a", "a/b", "a/b/c", "link", "s"):
        st = os.lstat(light.ws / name)
        assert st.st_uid == (light.uid if IS_ROOT else os.getuid()), name
        assert not st.st_mode & 0o7022 or name == "link", f"{name}: {st.st_mode:o}"


def test_s01_the_program_of_the_engine_cannot_be_written(light):
    """The inside opens every /proc/PID/exe for writing while more than a hundred sandboxes start."""
    warden = CREEL.parents[1] / "sandbox/creel-warden"
    before = [digest(p) for p in (CREEL, warden)]
    p = light.spawn("./race", "exe", "3", stdout=subprocess.PIPE, access="rw")
    starts = 0
    while p.poll() is None:
        light.run("sh", "-c", "for p in /proc/[0-9]*; do : >$p/exe; done 2>/dev/null; : >/proc/1/exe", report=False)
        starts += 1
    said = p.stdout.read().decode().split()
    assert said[2:] == ["opened", "0"] and int(said[1]) > 100 and starts > 3, (said, starts)
    assert [digest(p) for p in (CREEL, warden)] == before


def test_s03_a_private_place_is_never_made_through_a_link(light):
    """backend.tmpfs names a place where the workspace has a link: what the link names on the host keeps its mode and stays unseen."""
    secret = light.base / "home" / "closed"
    secret.mkdir(mode=0o700)
    light.give(secret)
    (light.ws / "cache").symlink_to(secret)
    (light.ws / "full").mkdir()
    light.file("ws/full/file", "x")
    light.give(light.ws / "full")
    for target in ("/sandbox", "/workspace"):
        result = light.run("sh", "-c", "ls -A full", options=["-e", f"backend.tmpfs=/tmp,{target}/cache"])
        assert result.status in (0, 125), result
        assert secret.stat().st_mode & 0o7777 == 0o700
    cwd = light.run("pwd", status=0).out.strip()
    assert light.run("ls", "-A", "full", options=["-e", f"backend.tmpfs=/tmp,{cwd}/full"], status=0).out == "", "the directory itself was shown"
    assert (light.ws / "full/file").read_text() == "x"
