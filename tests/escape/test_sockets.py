# SPDX-License-Identifier: Apache-2.0
"""S14: a unix socket that a process of the host listens on in a directory that is seen inside. connect() asks for no network and
for no writable mount, so the directory alone would be the way out. What listens writes down who came."""
import errno
import os
import pathlib
import socket
import subprocess

import pytest
from calls import fails
from conftest import Box, needs_root, wait_until

COVERED = {"ECONNREFUSED", "EACCES"}  # an overlay's own socket, or a file of ours in its place
HEARD = [b"evil\n"]


def bound(box, listener, path, kind=socket.SOCK_STREAM, relative=False):
    """A listener below the workspace. relative: bound by a name that only means something to the one who bound it."""
    path = pathlib.Path(path)
    before = os.getcwd()
    if relative:
        os.chdir(path.parent)
    try:
        made = listener(socket.AF_UNIX, path.name if relative else str(path), kind)
    finally:
        os.chdir(before)
    path.chmod(0o666)
    box.give(path)
    return made


def several(box, listener):
    """Every way in which a socket can lie there: {name: (listener, kind)}."""
    deep = box.ws / "a b" / "c:d"
    for d in (deep.parent, deep):
        d.mkdir()
        box.give(d)
    made = {
        "plain": (bound(box, listener, box.ws / "plain"), "unix"),
        "datagram": (bound(box, listener, box.ws / "datagram", socket.SOCK_DGRAM), "unix_dgram"),
        "a b/c:d/deep": (bound(box, listener, deep / "deep"), "unix"),
        "relative": (bound(box, listener, box.ws / "relative", relative=True), "unix"),
        "moved": (bound(box, listener, box.ws / "before"), "unix"),
        "linked": (bound(box, listener, box.ws / "first"), "unix"),
    }
    (box.ws / "before").rename(box.ws / "moved")
    os.link(box.ws / "first", box.ws / "linked")
    return made


def asks_for(made, at="."):
    return [f"{kind}={at}/{name}" for name, (_, kind) in made.items()]


def heard(made):
    return [m.heard for m, _ in made.values()]


@pytest.mark.parametrize("access", ["ro", "rw", "overlay"])
def test_s14_sockets_in_the_workspace_are_not_reached(box, listener, access):
    made = several(box, listener)
    box.control("ipc", *asks_for(made))
    assert wait_until(lambda: heard(made) == [HEARD] * len(made)), "the control was not heard"
    result = box.refused("ipc", *asks_for(made), "unix=./first", errors=COVERED, access=access)
    assert heard(made) == [HEARD] * len(made)
    assert result.report["walls"]["host_sockets"] == ("covered" if (box.mode, access) == ("light", "rw") else "apart"), result.report


@pytest.mark.parametrize("access", ["ro", "rw"])
def test_s14_sockets_in_a_bind_are_not_reached(light, listener, access):
    made = several(light, listener)
    light.control("ipc", *asks_for(made))
    assert wait_until(lambda: heard(made) == [HEARD] * len(made))
    other = light.base / "other"
    other.mkdir()
    light.give(other)
    result = light.run("/data/ipc", *asks_for(made, "/data"), ws=other, cwd=other, status=0,
                       options=["-e", f"mounts.binds=['{light.ws}:/data:{access}']"])
    assert set(result.answers()) <= COVERED and len(result.answers()) == len(made), result
    assert heard(made) == [HEARD] * len(made)


def test_s14_where_the_kernel_lists_no_sockets_the_tree_is_searched(request, listener):
    """sendto() is what asks for the list; root's start needs it itself, for the cgroups."""
    light = Box("user", "light")
    request.addfinalizer(light.done)
    made = {"plain": (bound(light, listener, light.ws / "plain"), "unix")}
    light.control("ipc", "unix=./plain")
    assert wait_until(lambda: heard(made) == [HEARD])
    light.refused("ipc", "unix=./plain", errors=COVERED, access="rw", fault=fails("sendto", 1))
    assert heard(made) == [HEARD]


def test_s14_what_cannot_be_read_to_the_end_may_hold_one(request, listener):
    """A directory that the disk or its server does not give up whole: it was taken for searched, and the socket was reached."""
    light = Box("user", "light")
    request.addfinalizer(light.done)
    bound(light, listener, light.ws / "plain")
    holes = f"{fails('sendto', 1)},{fails('getdents64', errno.EIO)}"
    result = light.run("./ipc", "unix=./plain", access="rw", fault=holes, status=125)
    assert "search '" in result.err and "for unix sockets" in result.err, result


@pytest.mark.parametrize("closed", [0o000, 0o300, 0o600])
def test_s14_a_closed_directory_of_the_callers_own_hides_nothing(light, listener, closed):
    """The command can open it, so it is searched like the rest; and nobody is refused because of it, whether there is anything to hide or not."""
    inner = light.ws / "closed/in"
    inner.mkdir(parents=True)
    for d in (inner.parent, inner):
        light.give(d)
    light.file("ws/closed/mine", "kept")
    opened = ["sh", "-c", "chmod 700 closed && cat closed/mine && exec ./ipc unix=./closed/in/s unix=./closed/in/t"]

    def run():
        inner.parent.chmod(closed)
        return light.run(*opened, access="rw", status=0)
    assert run().out.startswith("kept")
    made = {n: (bound(light, listener, inner / n, relative=n == "t"), "unix") for n in "st"}
    light.control("ipc", "unix=./closed/in/s", "unix=./closed/in/t")
    assert wait_until(lambda: heard(made) == [HEARD] * 2)
    result = run()
    assert result.out.startswith("kept") and len(result.answers()) == 2, result
    assert set(result.answers()) <= COVERED, result
    assert heard(made) == [HEARD] * 2


def test_s14_a_cover_cannot_be_taken_off(light, listener):
    """Moved, removed, linked, replaced, or reached around by moving the directory."""
    inner = light.ws / "dir"
    inner.mkdir()
    light.give(inner)
    made = {"s": (bound(light, listener, inner / "s"), "unix")}
    light.control("ipc", "unix=./dir/s")
    assert wait_until(lambda: heard(made) == [HEARD])
    result = light.run("sh", "-c", "mv dir/s t; ln dir/s u; ln -f ipc dir/s; rm -f dir/s; mv dir moved; ln moved/s v; "
                       "exec ./ipc unix=./dir/s unix=./moved/s unix=./t unix=./u unix=./v", access="rw", status=0)
    assert set(result.answers()) <= COVERED | {"ENOENT"} and len(result.answers()) == 5, result
    assert heard(made) == [HEARD]
    assert (light.ws / "moved/s").is_socket() and not (light.ws / "dir").exists()  # written through, and the socket is whole


@pytest.mark.serial  # where a socket of anybody's has a name that leads nowhere, every one in the workspace is covered
def test_s14_dead_sockets_and_those_elsewhere_do_no_harm(light, listener):
    """A file that nobody listens on any more may be removed; one outside is not searched for."""
    bound(light, listener, light.home / "outside")
    dead = socket.socket(socket.AF_UNIX)
    dead.bind(str(light.ws / "dead"))
    light.give(light.ws / "dead")
    dead.close()
    light.run("rm", "dead", access="rw", status=0)
    assert not (light.ws / "dead").exists()


def test_s14_sockets_made_inside_work(light):
    script = ("import os,socket\nif os.path.exists('mine'): os.unlink('mine')\n"
              "s=socket.socket(socket.AF_UNIX); s.bind('mine'); s.listen()\nc=socket.socket(socket.AF_UNIX)\n"
              "c.connect('mine'); s.accept()[0].sendall(b'hi'); print(c.recv(9).decode())")
    for access in ("rw", "overlay", "none"):
        assert light.run("python3", "-c", script, access=access, status=0).out == "hi\n"


@pytest.mark.parametrize("access", ["ro", "rw"])
def test_s14_a_socket_cannot_be_bound_by_itself(light, listener, access):
    made = bound(light, listener, light.home / "alone")
    light.control("ipc", f"unix={light.home}/alone")
    assert wait_until(lambda: made.heard == HEARD)
    os.mkfifo(light.home / "pipe")
    for source in ("alone", "pipe"):
        result = light.run("true", options=["-e", f"mounts.binds=['{light.home}/{source}:/x:{access}']"], status=126)
        assert "is a socket, a FIFO or a device" in result.err, result
    assert made.heard == HEARD


def test_s14_more_sockets_than_can_be_covered_are_refused(light, listener):
    for i in range(130):
        bound(light, listener, light.ws / f"s{i}")
    result = light.run("touch", "ran", access="rw", status=125)
    assert "more than 128 unix sockets" in result.err and "--workspace-access overlay" in result.err, result
    assert not (light.ws / "ran").exists()
    light.run("true", access="ro", status=0)


@pytest.mark.serial
def test_s14_other_file_systems_below_the_workspace(light, listener):
    """An ordinary user's read-only workspace with mounts in it cannot be an overlay: it is bound, and its sockets are covered."""
    needs_root()
    inner = light.ws / "mounted"
    inner.mkdir()
    subprocess.run(["mount", "-t", "tmpfs", "none", inner], check=True)
    try:
        os.chmod(inner, 0o777)
        (inner / "file").write_text("there\n")
        made = {"top": (bound(light, listener, light.ws / "top"), "unix"),
                "mounted/s": (bound(light, listener, inner / "s"), "unix")}
        light.control("ipc", *asks_for(made))
        assert wait_until(lambda: heard(made) == [HEARD] * 2)
        for access in ("ro", "rw"):
            result = light.refused("ipc", *asks_for(made), errors=COVERED | {"ENOENT"}, access=access)
            sealed = access == "ro" and light.user == "root"
            assert result.report["walls"]["host_sockets"] == ("apart" if sealed else "covered"), result.report
            shown = light.run("sh", "-c", "cat mounted/file", access=access)
            assert shown.out == ("there\n" if light.user == "user" else ""), shown
        assert heard(made) == [HEARD] * 2
    finally:
        subprocess.run(["umount", "-l", inner], check=True)


def test_s14_an_image_brings_no_socket(light, listener):
    """A root file system in which somebody else's daemon runs."""
    image = light.base / "image"
    for d in ("usr", "var/tmp", "etc"):
        (image / d).mkdir(parents=True)
    (image / "bin").symlink_to("usr/bin")
    made = {"s": (bound(light, listener, image / "var/s"), "unix")}
    subprocess.run(["cp", "-a", light.ws / "ipc", image / "var/ipc"], check=True)
    for lib in ("lib", "lib64"):
        (image / lib).symlink_to(f"usr/{lib}")
    for name in libraries(light.ws / "ipc"):
        at = image / ("usr" + name if not name.startswith("/usr/") else name[1:])
        at.parent.mkdir(parents=True, exist_ok=True)
        at.write_bytes(pathlib.Path(name).read_bytes())
        at.chmod(0o755)
    light.control("ipc", f"unix={image}/var/s")
    assert wait_until(lambda: heard(made) == [HEARD])
    result = light.run("/var/ipc", "unix=/var/s", options=["--image", image], status=0)
    assert result.answers()[0] in COVERED, result
    assert heard(made) == [HEARD]


def libraries(program):
    """What it is linked with."""
    said = subprocess.run(["ldd", program], capture_output=True, text=True, check=True).stdout
    return [w for line in said.splitlines() for w in line.split() if w.startswith("/")]
