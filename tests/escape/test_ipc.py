# SPDX-License-Identifier: Apache-2.0
"""Numbers 36, 45, 55 to 63: nothing outside can be talked to. What listens on the host writes down who came."""
import contextlib
import json
import os
import pathlib
import socket
import subprocess
import uuid

import pytest
from conftest import ACCESSES, CREEL, IS_ROOT, Listener, processes, wait_until

NOT_THERE = {"ENOENT", "EACCES", "ECONNREFUSED", "EPERM", "ENETUNREACH", "EADDRNOTAVAIL", "ENOTDIR"}


# ---- keys ----


def test_e36_s19_keys_are_out_of_reach(box):
    """A key of the user on the host, whose name and number are known."""
    name, word = "creel-" + uuid.uuid4().hex, box.mark
    said = box.control("ipc", f"add_key={name},{word}", f"find_key={name}", f"request_key={name}")
    number = [line.split()[0] for line in pathlib.Path("/proc/keys").read_text().splitlines() if name in line]
    try:
        asks = [f"add_key={name},x", f"find_key={name}", f"request_key={name}"]
        asks += [f"key_by_number={int(n, 16)}" for n in number]
        box.refused("ipc", *asks, errors={"EPERM"})
        box.refused("ipc", f"key_in_proc={name}", errors={"ENOENT", "EACCES"})
        assert said.status == 0
    finally:
        subprocess.run(box.as_user(["keyctl", "purge", "user", name]), capture_output=True, check=False) \
            if os.path.exists("/usr/bin/keyctl") else None


def test_e36_two_sandboxes_share_no_key(box):
    name = "creel-" + uuid.uuid4().hex
    box.refused("ipc", f"add_key={name},secret", errors={"EPERM"})
    box.refused("ipc", f"find_key={name}", f"request_key={name}", errors={"EPERM"})


# ---- System V and POSIX ----


def test_e45_shared_memory_queues_and_semaphores_are_separate(box):
    key = int.from_bytes(os.urandom(3), "big") | 0x1000000
    queue = "/" + box.mark
    box.control("ipc", f"make_ipc={key}", f"make_queue={queue}", f"shm={key}", f"msg={key}", f"sem={key}", f"queue={queue}")
    try:
        box.refused("ipc", f"shm={key}", f"msg={key}", f"sem={key}", f"queue={queue}", errors={"ENOENT"})
        for kind in ("shm", "msg", "sem"):
            inner = box.run("sh", "-c", f"wc -l </proc/sysvipc/{kind}", status=0).out
            assert inner == "1\n", f"{kind}: {inner}"
    finally:
        for flag in ("-M", "-Q", "-S"):
            subprocess.run(["ipcrm", flag, str(key)], capture_output=True, check=False)
        with contextlib.suppress(OSError):
            subprocess.run(["sh", "-c", f"mkdir /tmp/{box.mark} && mount -t mqueue none /tmp/{box.mark} && rm /tmp/{box.mark}{queue}; "
                            f"umount /tmp/{box.mark}; rmdir /tmp/{box.mark}"], capture_output=True, check=False)


def test_e45_what_is_made_inside_is_not_outside_and_does_not_stay(box):
    key = int.from_bytes(os.urandom(3), "big") | 0x2000000
    made = box.attack("ipc", f"make_ipc={key}", "make_queue=/x")
    assert made.answers() in (["DONE", "DONE"], ["DONE", "EACCES"]), made  # Landlock has no rule for message queues
    outer = box.outside("ipc", f"shm={key}", f"msg={key}", f"sem={key}", "queue=/x")
    assert outer.answers() == ["ENOENT"] * 4, outer
    for kind in ("shm", "msg", "sem"):
        assert str(key) not in pathlib.Path(f"/proc/sysvipc/{kind}").read_text()
    box.refused("ipc", f"shm={key}", f"msg={key}", f"sem={key}", errors={"ENOENT"})


def test_e45_files_in_dev_shm_are_private(box):
    name = f"/dev/shm/{box.mark}"
    pathlib.Path(name).write_text("x")
    try:
        os.chmod(name, 0o666)
        box.control("files", f"read={name}")
        box.refused("files", f"read={name}", f"write={name}", errors={"ENOENT"})
    finally:
        os.unlink(name)


# ---- unix sockets ----

PLACES = ["/run/{}.sock", "/tmp/{}.sock", "/var/tmp/{}.sock", "/dev/shm/{}.sock"]


def test_e55_e58_s14_sockets_of_the_host_are_not_there(box, listener):
    """A listener where daemons have theirs: docker, podman, containerd, dbus, ssh-agent, tmux, X11, the notify socket."""
    made = {}
    places = [p.format(box.mark) for p in PLACES if IS_ROOT or not p.startswith("/run")]
    try:
        for path in places:
            made[path] = listener(socket.AF_UNIX, path)
            os.chmod(path, 0o666)
        datagram = str(box.home / "notify")
        made[datagram] = listener(socket.AF_UNIX, datagram, socket.SOCK_DGRAM)
        box.give(pathlib.Path(datagram))
        box.control("ipc", *[f"unix={p}" for p in places], f"unix_dgram={datagram}")
        assert wait_until(lambda: all(m.heard == [b"evil\n"] for m in made.values())), "the control was not heard"
        known = ["/run/docker.sock", "/var/run/docker.sock", "/run/podman/podman.sock", "/run/containerd/containerd.sock",
                 "/run/crio/crio.sock", "/var/run/libvirt/libvirt-sock", "/var/lib/lxd/unix.socket", "/run/snapd.socket",
                 "/run/dbus/system_bus_socket", f"/run/user/{box.uid}/bus", f"/run/user/{box.uid}/gnupg/S.gpg-agent",
                 "/tmp/.X11-unix/X0", f"/tmp/tmux-{box.uid}/default", "/run/systemd/private", "/run/systemd/notify",
                 "/run/udev/control", f"/run/user/{box.uid}/pulse/native", f"/run/user/{box.uid}/wayland-0", "/dev/log"]
        box.refused("ipc", *[f"unix={p}" for p in places + known], f"unix_dgram={datagram}", errors=NOT_THERE)
        assert all(m.heard == [b"evil\n"] for m in made.values())
    finally:
        for path in made:
            with contextlib.suppress(OSError):
                os.unlink(path)


@pytest.mark.parametrize("access", ACCESSES)
def test_s14_no_socket_lies_in_the_tree(light, access):
    """The assembled root, searched from inside."""
    result = light.run("sh", "-c", "find / -xdev -type s 2>/dev/null; find /tmp /run /var /home /etc /dev -type s 2>/dev/null",
                       access=access)
    assert result.out == "", result


def test_c17_a_secret_that_policy_gives_is_filled_in_and_one_that_it_withholds_is_not(light):
    """Its value comes from the caller's environment; nothing of it is in what creel says or in the report."""
    config = {"env": {"secrets": ["SOME_API_KEY"], "set": {"URL": "https://u:${SOME_API_KEY}@h"}, "secret_scope": "both"},
              "mode": {"trust": {"default": "none"}, "when": "all"}}
    env = {"SOME_API_KEY": light.mark}
    given = light.run("env", env=env, mode="none", options=["--session", "agent:main:main", "-e", json.dumps(config)], status=0)
    assert f"URL=https://u:{light.mark}@h" in given.out.splitlines(), given
    assert light.mark not in given.err and light.mark not in json.dumps(given.report), given
    kept = light.run("env", env=env, options=["--session", "agent:main:main", "-e", json.dumps(config)], status=0)
    assert light.mark not in kept.out and "URL=" not in kept.out, kept


def test_e57_no_variable_leads_to_an_agent(box):
    """Even if the caller has them; a variable that is asked for by name is the caller's own decision."""
    env = {"SSH_AUTH_SOCK": "/tmp/agent", "DBUS_SESSION_BUS_ADDRESS": "unix:path=/run/bus", "GPG_AGENT_INFO": "x", "DISPLAY": ":0",
           "WAYLAND_DISPLAY": "wayland-0", "XDG_RUNTIME_DIR": "/run/user/0", "PULSE_SERVER": "x", "TMUX": "x", "STY": "x",
           "DOCKER_HOST": "x", "KUBECONFIG": "x", "AWS_ACCESS_KEY_ID": box.mark, "GITHUB_TOKEN": box.mark, "LD_PRELOAD": "/x.so",
           "LD_LIBRARY_PATH": "/x", "BASH_ENV": "/x", "PYTHONPATH": "/x", "NODE_OPTIONS": "--require /x", "GIT_SSH_COMMAND": "x",
           "http_proxy": "http://x", "NOTIFY_SOCKET": "/x", "LISTEN_FDS": "3", "CREEL_SECRET": box.mark, "OPENAI_API_KEY": box.mark}
    loader = [f"{k}={env.pop(k)}" for k in ("LD_PRELOAD", "LD_LIBRARY_PATH")]  # for creel alone: setpriv would heed them, too
    argv = box.creel("env")
    at = argv.index(str(CREEL))
    loaded = subprocess.run([*argv[:at], "env", *loader, *argv[at:]], cwd=box.ws, env={**box.env, **env}, capture_output=True, text=True,
                            check=True)
    assert "HOME=" in loaded.stdout and "LD_" not in loaded.stdout, loaded
    result = box.run("env", env=env, status=0)
    inner = dict(line.split("=", 1) for line in result.out.splitlines())
    assert set(inner) <= {"HOME", "PATH", "LANG", "CREEL_WORKSPACE", "PWD", "TERM", "LC_ALL", "TZ", "USER", "LOGNAME", "SHELL",
                          "TMPDIR", "OPENCLAW_WORKSPACE", "npm_config_fetch_retries", "PIP_RETRIES"}, inner
    assert box.mark not in result.out and box.mark not in box.run("cat", "/proc/self/environ", env=env).out
    asked = box.run("env", env=env, options=["--env", "CREEL_SECRET", "--env", "A=b c", "--env", "EMPTY="], status=0)
    assert f"CREEL_SECRET={box.mark}\n" in asked.out and "A=b c\n" in asked.out and "EMPTY=\n" in asked.out


class Launcher(Listener):
    """What a service manager of the user is: it starts a process on the host for whoever reaches its socket."""

    def __init__(self, path, command):
        self.command, self.started = command, []
        super().__init__(socket.AF_UNIX, str(path))
        os.chmod(path, 0o666)

    def listen(self):
        while not self.stop:
            with contextlib.suppress(socket.timeout, ConnectionError):
                peer, _ = self.socket.accept()
                self.started.append(subprocess.Popen(self.command))
                peer.settimeout(1)
                self.heard.append(peer.recv(100))
                peer.close()

    def close(self):
        super().close()
        for p in self.started:
            p.kill()
            p.wait()


def test_e56_no_process_appears_on_the_host(box):
    """The bus of the user, under the names that lead to it, and systemd-run, dbus-send and their like, where they exist."""
    nap = f"30.{os.getpid()}{int.from_bytes(os.urandom(4), 'big')}"
    bus = box.file("run/user/x").parent / "bus"
    manager = Launcher(bus, ["sleep", nap])
    there = lambda: [line for _, line in processes().values() if line == f"sleep {nap} "]
    try:
        box.control("ipc", f"unix={bus}")
        assert wait_until(there, 5), "the control started nothing"
        known = len(manager.started)
        named = [w for v in (f"DBUS_SESSION_BUS_ADDRESS=unix:path={bus}", f"XDG_RUNTIME_DIR={bus.parent}") for w in ("--env", v)]
        tries = (f"systemd-run --user sleep {nap}; systemd-run sleep {nap}; dbus-send --session / a.b; busctl --user list; gio open x; "
                 f"./ipc unix={bus} unix=/proc/1/root{bus} unix=/run/user/{box.uid}/bus; true")
        result = box.run("sh", "-c", tries, options=named, status=0)
        assert set(result.answers()[-3:]) <= NOT_THERE, result
        assert len(manager.started) == known and len(there()) == known, manager.started
    finally:
        manager.close()


def test_e59_s15_abstract_sockets_are_separate(box, listener):
    name = box.mark
    heard = listener(socket.AF_UNIX, "\0" + name)
    box.control("ipc", f"abstract={name}")
    assert wait_until(lambda: heard.heard == [b"evil\n"])
    box.refused("ipc", f"abstract={name}", "abstract=/tmp/.X11-unix/X0", "abstract=/com/ubuntu/upstart", errors={"ECONNREFUSED", "EPERM"})
    assert heard.heard == [b"evil\n"]
    assert name not in box.run("cat", "/proc/net/unix").out


def test_e60_no_channel_takes_a_descriptor(box):
    """The warden's own channel is closed before the payload runs."""
    left, right = socket.socketpair()
    os.set_inheritable(right.fileno(), True)
    try:
        box.control("ipc", "pass_fd=3", pass_fds=[right.fileno()])
        left.setblocking(False)
        assert left.recvmsg(10, 100)[1], "the control passed nothing"
        box.refused("ipc", "pass_fd=3", errors={"EBADF"}, pass_fds=[right.fileno()])
        with pytest.raises(BlockingIOError):
            left.recvmsg(10, 100)
    finally:
        left.close()
        right.close()


# ---- the network ----


def addresses():
    """Of the host: loopback, and every other that it has."""
    found = ["127.0.0.1", "::1"]
    with contextlib.suppress(OSError), socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as s:
        s.connect(("192.0.2.1", 9))
        found.append(s.getsockname()[0])
    return found


def test_e61_e62_e63_no_port_of_the_host_is_reached(box, listener):
    for address in addresses():
        family = socket.AF_INET6 if ":" in address else socket.AF_INET
        try:
            tcp, udp = listener(family, (address, 0)), listener(family, (address, 0), socket.SOCK_DGRAM)
        except OSError:
            assert address != "127.0.0.1"
            continue
        t, u = tcp.socket.getsockname()[1], udp.socket.getsockname()[1]
        said = box.control("ipc", f"tcp={address},{t}", f"mptcp={address},{t}", f"udp={address},{u}", absent={"EPROTONOSUPPORT"})
        before = (said.answers()[:2].count("DONE"), 1)
        assert wait_until(lambda: (len(tcp.heard), len(udp.heard)) == before, 5), (tcp.heard, udp.heard, before)
        box.refused("ipc", f"tcp={address},{t}", f"tcp_fast_open={address},{t}", f"mptcp={address},{t}", errors=NOT_THERE)
        box.attack("ipc", f"udp={address},{u}")  # to its own loopback: sent, and heard by nobody here
        assert (len(tcp.heard), len(udp.heard)) == before


OUTSIDE = ["192.0.2.1", "8.8.8.8", "169.254.169.254", "10.0.0.1", "172.17.0.1", "192.168.0.1", "224.0.0.1", "255.255.255.255",
           "2001:db8::1", "fe80::1", "ff02::1", "fd00:ec2::254", "64:ff9b::a9fe:a9fe"]


def test_e63_there_is_no_route(box):
    asks = [f"{how}={a},53" for a in OUTSIDE for how in ("tcp", "udp", "tcp_fast_open")]
    box.refused("ipc", *asks, errors={"ENETUNREACH", "EACCES", "EINVAL", "EADDRNOTAVAIL", "EHOSTUNREACH", "EOPNOTSUPP"})
    links = box.run("cat", "/proc/net/dev", "/proc/net/route", "/proc/net/ipv6_route", status=0).out
    assert {line.split(":")[0].strip() for line in links.splitlines() if ":" in line and "|" not in line} == {"lo"}, links


def test_e63_names_are_not_resolved(box):
    result = box.run("python3", "-c", "import socket\ntry: print(socket.getaddrinfo('example.com', 80))\nexcept OSError as e: print('no')")
    assert result.out == "no\n", result
    assert box.run("python3", "-c", "import socket; print(socket.gethostbyname('localhost'))", status=0).out == "127.0.0.1\n"


def test_e84_what_listens_inside_is_not_reached_from_outside(light):
    """And its own loopback works."""
    with socket.socket() as s:
        s.bind(("127.0.0.1", 0))
        port = s.getsockname()[1]
    p = light.spawn("./ipc", f"listen=0.0.0.0,{port}", stdout=subprocess.PIPE, stdin=subprocess.DEVNULL)
    assert p.stdout.readline() == b"# listening\n"
    for address in addresses():
        with socket.socket(socket.AF_INET6 if ":" in address else socket.AF_INET) as s, pytest.raises(OSError):
            s.settimeout(2)
            s.connect((address, port))
    p.kill()
    script = ("import socket,threading\ns=socket.create_server(('127.0.0.1',0))\n"
              "threading.Thread(target=lambda: s.accept()[0].sendall(b'hi')).start()\n"
              "print(socket.create_connection(s.getsockname()).recv(9).decode())")
    assert light.run("python3", "-c", script, status=0).out == "hi\n"


def test_e60_a_socket_as_standard_input_is_the_callers_own(light):
    """What the caller connects is what the command gets: nothing more."""
    left, right = socket.socketpair()
    p = light.spawn("sh", "-c", "read line; echo got $line >&0", stdin=right, stdout=subprocess.PIPE)
    right.close()
    left.sendall(b"hello\n")
    assert left.recv(100) == b"got hello\n"
    left.close()
    assert p.wait(5) == 0
