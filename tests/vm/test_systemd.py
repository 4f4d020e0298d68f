# SPDX-License-Identifier: Apache-2.0
"""The units as they are installed, under a real systemd: process 1 of a pid namespace, with a part of the cgroup tree as its root.

Runs in the guest alone (run.py), as root.
"""
import contextlib
import json
import os
import pathlib
import signal
import socket
import subprocess
import sys

import pytest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "api"))
from delegate import ORDINARY, ROOT, turn_on  # noqa: E402
from guard_lab import CODER, Wire, wait_for  # noqa: E402

CREEL = "/usr/local/bin/creel"
LOG = pathlib.Path("/var/log/creel.log")
GROUP = ROOT / "system"
# Nobody else is in its group: one with processes of its own gives no controller to those below.
BOOT = f"""exec unshare --pid --mount --fork --kill-child --propagation private sh -ec '
echo 0 > {GROUP}/cgroup.procs
exec unshare --cgroup sh -ec "
mount -t proc proc /proc
umount /sys/fs/cgroup; mount -t cgroup2 cgroup2 /sys/fs/cgroup
mount -t tmpfs -o mode=755 tmpfs /run
exec /usr/lib/systemd/systemd --system --unit=creel-test.target --log-target=console --show-status=no"'
"""
# There is no journal here.
DROP_IN = f"[Service]\nStandardOutput=append:{LOG}\nStandardError=append:{LOG}\n"
CONFIG = {"identity": {"pairs": [{"channel": "telegram", "agent": CODER[0], "chat_id": CODER[1]}]}, "mode": {"when": "all"},
          "mounts": {"workspace": {"root": "/tmp/creel-work"}}}
PORT = 18888


def write(path, text):
    path = pathlib.Path(path)
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)


class System:
    """systemd for the system."""

    def __init__(self):
        for parent in (ROOT, GROUP):
            parent.mkdir(exist_ok=True)
        turn_on(ROOT)
        write("/etc/creel/creel.json5", json.dumps(CONFIG))
        write("/etc/systemd/system/creeld.service.d/log.conf", DROP_IN)
        write("/etc/systemd/system/creel-test.target", "[Unit]\nDescription=nothing else\nAfter=sockets.target\nAllowIsolate=yes\n")
        write(LOG, "")
        self.token, self.log = None, LOG
        self.p = subprocess.Popen(["sh", "-c", BOOT], env={"PATH": os.environ["PATH"], "container": "creel", "LANG": "C.UTF-8"}, stdin=subprocess.DEVNULL)
        self.pid = None
        self.pid = wait_for("systemd is there", self.first)
        wait_for("it answers", lambda: self.ctl("is-system-running", check=False).strip() in ("running", "degraded", "starting"))

    def first(self):
        found = subprocess.run(["pgrep", "-P", str(self.p.pid)], capture_output=True, text=True, check=False).stdout.split()
        return found and pathlib.Path(f"/proc/{found[0]}/comm").read_text().strip() == "systemd" and int(found[0])

    def inside(self, *argv, check=True):
        done = subprocess.run(["nsenter", "-t", str(self.pid), "-p", "-m", "-C", "--", *argv], capture_output=True, text=True, timeout=240, check=False)
        assert not check or done.returncode == 0, (argv, done, LOG.read_text()[-4000:])
        return done.stdout

    def ctl(self, *words, **kw):
        return self.inside("systemctl", *words, **kw)

    def show(self, unit, *names):
        said = dict(line.split("=", 1) for line in self.ctl("show", unit, *(f"-p{n}" for n in names)).splitlines())
        return said[names[0]] if len(names) == 1 else said

    def creel(self, *words):
        return self.inside(CREEL, *words)

    def ask(self, method, target, body=None, timeout=120):
        with contextlib.closing(Wire(socket.create_connection(("127.0.0.1", PORT), timeout=timeout), timeout)) as w:
            w.ask(method, target, [("Authorization", f"Bearer {self.token}")] if self.token else [], body)
            return w.answer()

    def call(self, command):
        got = self.ask("POST", "/v1/calls", {"agent": CODER[0], "scope": {"type": "telegram", "chat_id": CODER[1]}, "tool": "exec", "args": {"command": command}})
        if got.status != 200:
            raise AssertionError(f"{got.body.decode()}\n{self.log.read_text()[-4000:]}")
        return got.json

    def close(self):
        if self.pid:
            os.kill(self.pid, signal.SIGKILL)
        self.p.kill()
        self.p.wait()
        (GROUP / "cgroup.kill").write_text("1")


@pytest.fixture(scope="module")
def system():
    s = System()
    yield s
    s.close()


def test_without_tokens_the_service_fails_and_says_which_command_makes_them(system):
    system.ctl("start", "creel-guard.socket", "creel-runner.socket")
    system.ctl("start", "creeld.service", check=False)
    assert system.show("creeld.service", "ActiveState") != "active"
    assert "creel token new --runner" in LOG.read_text(), LOG.read_text()
    system.ctl("stop", "creeld.service", "creel-guard.socket", "creel-runner.socket")
    system.ctl("reset-failed")


def test_the_first_caller_starts_it_and_systemd_is_told_when_it_serves(system):
    system.creel("token", "new", "--runner")
    system.token = system.creel("token", "new", "--pairs", "*", "--admin").strip()
    system.ctl("start", "creel-guard.socket", "creel-runner.socket")
    assert system.show("creeld.service", "ActiveState") == "inactive"
    assert system.ask("GET", "/health").json["status"] == "ok"
    wait_for("it is active", lambda: system.show("creeld.service", "ActiveState") == "active")
    said = system.show("creeld.service", "SubState", "StatusText", "Type", "NRestarts")
    assert said["SubState"] == "running" and said["StatusText"] and said["NRestarts"] == "0", said
    assert system.call("echo $((6*7))")["stdout"] == "42\n"


def test_its_limits_are_groups_below_its_own(system):
    got = system.call("cat /proc/self/cgroup; python3 -c 'b = bytearray(6 << 30)'")
    assert not got["ok"], got
    group = GROUP / system.show("creeld.service", "ControlGroup").strip("/")
    names = [d.name for d in group.iterdir() if d.is_dir()]
    assert names and not (group / "cgroup.procs").read_text(), names
    assert "no cgroup" not in LOG.read_text()


def test_a_reload_is_told_and_a_broken_file_keeps_the_old_one(system):
    pid = system.show("creeld.service", "MainPID")
    system.ctl("reload", "creeld.service")
    wait_for("reloaded", lambda: "reloaded" in LOG.read_text())
    write("/etc/creel/creel.json5", "{ nonsense: 1 }")
    try:
        system.ctl("reload", "creeld.service", check=False)
        wait_for("the place of the fault is told", lambda: "creel.json5:1:" in LOG.read_text())
        assert system.call("echo on")["stdout"] == "on\n"
    finally:
        write("/etc/creel/creel.json5", json.dumps(CONFIG))
    system.ctl("reload", "creeld.service")
    wait_for("systemd hears of the end of it", lambda: system.show("creeld.service", "ActiveState") == "active")
    assert system.show("creeld.service", "MainPID") == pid


def test_killed_it_is_started_again_and_nobody_is_turned_away(system):
    pid = int(system.show("creeld.service", "MainPID"))
    system.inside("kill", "-KILL", str(pid))
    assert system.call("echo again")["stdout"] == "again\n"
    said = system.show("creeld.service", "MainPID", "NRestarts")
    assert said["NRestarts"] == "1" and int(said["MainPID"]) != pid, said


def test_stopped_it_ends_with_what_it_had_begun_and_the_sockets_stay(system):
    with contextlib.closing(Wire(socket.create_connection(("127.0.0.1", PORT), timeout=120), 120)) as w:
        w.ask("POST", "/v1/calls", [("Authorization", f"Bearer {system.token}")],
              {"agent": CODER[0], "scope": {"type": "telegram", "chat_id": CODER[1]}, "tool": "exec", "args": {"command": "echo up > /tmp/up; sleep 5; echo done"}})
        wait_for("it runs", lambda: "up" in system.call("cat /tmp/up")["stdout"])
        system.ctl("stop", "creeld.service")
        assert w.answer().json["stdout"] == "done\n"
    said = system.show("creeld.service", "ActiveState", "Result")
    assert said == {"ActiveState": "inactive", "Result": "success"}, said
    assert system.call("echo back")["stdout"] == "back\n", "the next caller starts it"


def test_a_socket_that_is_more_open_than_the_configuration_is_refused(system):
    write("/etc/systemd/system/creel-guard.socket.d/open.conf", "[Socket]\nListenStream=\nListenStream=0.0.0.0:18888\n")
    system.ctl("daemon-reload")
    system.ctl("stop", "creeld.service", "creel-guard.socket")
    system.ctl("start", "creel-guard.socket")
    system.ctl("start", "creeld.service", check=False)
    assert system.show("creeld.service", "ActiveState") != "active"
    assert "can be reached from outside" in LOG.read_text() and "the same address in serve.guard and in ListenStream=" in LOG.read_text()
    os.unlink("/etc/systemd/system/creel-guard.socket.d/open.conf")
    system.ctl("daemon-reload")
    system.ctl("stop", "creeld.service", "creel-guard.socket")
    system.ctl("reset-failed")
    system.ctl("start", "creel-guard.socket")
    assert system.call("echo closed")["stdout"] == "closed\n"


# ---- the same for one user ----


class User(System):
    """systemd --user, as its manager would start it: without root, in a group that was given to it."""

    def __init__(self):
        self.home = pathlib.Path("/home/creel-user")
        group = ROOT / "user"
        for parent in (ROOT, group):
            parent.mkdir(exist_ok=True)
        turn_on(ROOT)
        for name in ("", "cgroup.procs", "cgroup.subtree_control", "cgroup.threads"):
            os.chown(group / name, ORDINARY, ORDINARY)
        self.group = group
        self.log = self.home / "log"
        self.home.mkdir(exist_ok=True)
        self.run = pathlib.Path(f"/run/user/{ORDINARY}")
        self.run.mkdir(parents=True, exist_ok=True)
        os.chmod(self.run, 0o700)
        write(self.home / ".config/creel/creel.json5", json.dumps({**CONFIG, "mounts": {"workspace": {"root": "/tmp/creel-user-work"}}}))
        write(self.home / ".config/systemd/user/creeld.service.d/log.conf", DROP_IN.replace(str(LOG), str(self.log)))
        write(self.home / ".config/systemd/user/creel-test.target", "[Unit]\nDescription=nothing else\nAfter=sockets.target\n")
        self.log.write_text("")
        os.makedirs("/run/systemd/system", exist_ok=True)  # by which programs know that systemd is here
        for at, dirs, files in os.walk(self.home):
            for name in [at, *(os.path.join(at, f) for f in files)]:
                os.chown(name, ORDINARY, ORDINARY)
        os.chown(self.run, ORDINARY, ORDINARY)
        os.chmod(self.home / ".config/creel", 0o700)
        self.env = {"PATH": os.environ["PATH"], "HOME": str(self.home), "XDG_RUNTIME_DIR": str(self.run), "LANG": "C.UTF-8"}
        self.token, self.pid = None, None
        script = f'echo $$ > {group}/cgroup.procs; exec setpriv --reuid {ORDINARY} --regid {ORDINARY} --clear-groups /usr/lib/systemd/systemd --user --unit=creel-test.target --log-target=console'
        self.p = subprocess.Popen(["sh", "-c", script], env=self.env, stdin=subprocess.DEVNULL, cwd=self.home)
        wait_for("it answers", lambda: self.ctl("is-system-running", check=False).strip() in ("running", "degraded", "starting"))

    def inside(self, *argv, check=True):
        words = [argv[0], "--user", *argv[1:]] if argv[0] == "systemctl" else argv
        done = subprocess.run(["setpriv", "--reuid", str(ORDINARY), "--regid", str(ORDINARY), "--clear-groups", *words], env=self.env, cwd=self.home,
                              capture_output=True, text=True, timeout=240, check=False)
        assert not check or done.returncode == 0, (argv, done, self.log.read_text()[-4000:])
        return done.stdout

    def close(self):
        self.p.kill()
        self.p.wait()
        (self.group / "cgroup.kill").write_text("1")


def test_the_units_of_a_user_serve_without_root(system):
    system.ctl("stop", "creeld.service", "creel-guard.socket", "creel-runner.socket")
    user = User()
    try:
        user.creel("token", "new", "--runner")
        user.token = user.creel("token", "new", "--pairs", "*", "--admin").strip()
        user.ctl("start", "creel-guard.socket", "creel-runner.socket")
        assert user.call("id -u; echo $((6*7))")["stdout"].endswith("42\n")
        wait_for("it is active", lambda: user.show("creeld.service", "ActiveState") == "active")
        user.ctl("reload", "creeld.service")
        assert not user.call("python3 -c 'b = bytearray(6 << 30)'")["ok"]
        user.ctl("stop", "creeld.service")
        assert user.show("creeld.service", "Result") == "success"
    finally:
        user.close()
