# SPDX-License-Identifier: Apache-2.0
"""creeld with services that have no trade (tests/tools/fakeservice.c), which fail, are silent or slow when they are told to. As root and as an ordinary user."""
import json
import os
import pathlib
import shutil
import signal
import socket
import subprocess
import tempfile
import time

import pytest

ROOT = pathlib.Path(__file__).resolve().parents[2]
BUILD = pathlib.Path(os.environ.get("CREEL_BUILD", ROOT / "build/main"))
ORDINARY = 12345
WAIT = 30


class Lab:
    def __init__(self, top, user):
        self.top, self.user = top, user
        self.state, self.fake = top / "s", top / "fake"
        self.log = top / "log"
        self.config = top / "creel.json5"
        self.config.write_text("{identity: {mainKey: 'one'}}")
        for sub, name in (("daemon", "creeld"), ("server/guard", "creel-guard"), ("server/runner", "creel-runner"), ("server/egress", "creel-egress")):
            (top / sub).mkdir(parents=True)
            shutil.copy(BUILD / ("src/daemon/creeld" if name == "creeld" else "tests/tools/fakeservice"), top / sub / name)
        self.fake.mkdir()
        self.state.mkdir(mode=0o711)
        if user:
            os.chown(self.state, user, user)
        self.env = {"HOME": str(top), "PATH": "/usr/bin:/bin", "FAKE_DIR": str(self.fake), "TOOL_RUNNER_TOKEN": "runner-secret-x", "SANDBOX_GUARD_TOKEN": "guard-secret-x"}
        self.process = None

    def words(self, *args):
        return [str(self.top / "daemon/creeld"), *args, "-c", f"creel:{self.config}", "--no-default-config", "--state-dir", str(self.state), "-e", f"serve.guard=unix:{self.state}/guard.sock"]

    def be(self):
        return {"user": self.user, "group": self.user, "extra_groups": []} if self.user else {}

    def run(self, *args, **env):
        variables = {k: v for k, v in {**self.env, **env}.items() if v is not None}
        return subprocess.run(self.words(*args), capture_output=True, text=True, timeout=WAIT, check=False, env=variables, **self.be())

    def start(self, *args, ready=True):
        out = open(self.log, "ab")
        self.process = subprocess.Popen(self.words(*args), stdin=subprocess.DEVNULL, stdout=out, stderr=out, env=self.env, **self.be())
        out.close()
        if ready:
            self.until(lambda: "info serving" in self.text() or self.process.poll() is not None)
            assert self.process.poll() is None, self.text()
        return self

    def text(self):
        return self.log.read_text() if self.log.exists() else ""

    def until(self, what):
        end = time.monotonic() + WAIT
        while not what():
            assert time.monotonic() < end, self.text()
            time.sleep(0.02)

    def ask(self, where="guard"):
        path = self.state / "guard.sock" if where == "guard" else self.state / "run" / f"{where}.sock"
        with socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET if where == "egress" else socket.SOCK_STREAM) as s:
            s.settimeout(WAIT)
            s.connect(str(path))
            name, pid, key, token = s.recv(1000).decode().strip().split(" ", 3)
        assert name == where
        return int(pid), key, token

    def end(self):
        for how in (signal.SIGTERM, signal.SIGTERM, signal.SIGKILL):
            if self.process is None or self.process.poll() is not None:
                return
            self.process.send_signal(how)
            try:
                self.process.wait(4)
            except subprocess.TimeoutExpired:
                pass


@pytest.fixture(params=["own", "ordinary"])
def lab(request):
    """Not in pytest's own directory, which every pytest that starts takes away from all others again."""
    user = ORDINARY if request.param == "ordinary" else 0
    if user and os.geteuid() != 0:
        pytest.skip("only root can be somebody else")
    top = pathlib.Path(tempfile.mkdtemp(prefix="creel-d-", dir="/tmp"))
    top.chmod(0o755)
    made = Lab(top, user)
    yield made
    made.end()
    shutil.rmtree(top, ignore_errors=True)


def gone(pid):
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return True
    return False


def test_all_three_are_started_on_private_sockets_and_end_when_told(lab):
    lab.start("all")
    pids = [lab.ask(who)[0] for who in ("egress", "runner", "guard")]
    assert len(set(pids)) == 3
    for path in (lab.state / "guard.sock", lab.state / "run/runner.sock", lab.state / "run/egress.sock"):
        assert path.stat().st_mode & 0o777 == 0o600
    assert lab.ask("egress")[2] == "no token" and lab.ask("runner")[2] == "token"
    lab.process.send_signal(signal.SIGTERM)
    assert lab.process.wait(WAIT) == 0, lab.text()
    assert all(gone(p) for p in pids)
    assert not (lab.state / "guard.sock").exists()
    assert not [p for p in (lab.state / "run").iterdir() if p.is_socket()]
    ends = [line for line in lab.text().splitlines() if "service has ended" in line]
    assert [line.split('name="')[1].split('"')[0] for line in ends] == ["guard", "runner", "egress"]


def test_a_new_service_that_fails_takes_all_new_ones_with_it(lab):
    lab.start("all")
    before, runner = lab.ask(), lab.ask("runner")
    (lab.fake / "guard.fails").touch()
    lab.process.send_signal(signal.SIGHUP)
    lab.until(lambda: "the configuration stays as it was" in lab.text())
    assert "told to fail" in lab.text()
    lab.until(lambda: lab.ask("runner") == runner and lab.text().count("service has ended name=") == 2)  # the new runner has gone, too
    assert lab.ask() == before
    (lab.fake / "guard.fails").unlink()
    lab.process.send_signal(signal.SIGHUP)
    lab.until(lambda: "info reloaded" in lab.text() and gone(before[0]) and gone(runner[0]))
    assert lab.ask() and lab.ask("runner")


def test_a_service_that_never_is_ready_is_no_new_one(lab):
    lab.start("guard")
    before = lab.ask()
    (lab.fake / "guard.mute").touch()
    lab.process.send_signal(signal.SIGHUP)
    lab.until(lambda: "was not ready in time" in lab.text())
    lab.until(lambda: lab.text().count("service has ended name=") == 1)
    assert lab.ask() == before


def test_a_first_start_that_fails_is_the_end_with_a_reason(lab):
    (lab.fake / "runner.fails").touch()
    done = lab.run("all")
    assert done.returncode == 1
    assert "told to fail" in done.stderr and "a service cannot start" in done.stderr
    assert not (lab.state / "run/runner.sock").exists()


def test_the_second_sigterm_ends_at_once(lab):
    (lab.fake / "guard.slow").touch()
    lab.start("all")
    pids = [lab.ask(who)[0] for who in ("egress", "runner", "guard")]
    lab.process.send_signal(signal.SIGTERM)
    lab.until(lambda: "creeld: info stopping" in lab.text())
    assert lab.process.poll() is None
    lab.process.send_signal(signal.SIGTERM)
    lab.process.wait(WAIT)
    lab.until(lambda: all(gone(p) for p in pids))


def test_interrupting_from_a_terminal_drains_and_does_not_cut(lab):
    (lab.fake / "guard.slow").touch()
    lab.start("all")
    pid = lab.ask()[0]
    assert os.getpgid(pid) != os.getpgid(lab.process.pid)  # ^C reaches creeld alone, which tells them in order
    lab.process.send_signal(signal.SIGINT)
    lab.until(lambda: "guard: info stopping" in lab.text())
    assert "told to end again" not in lab.text() and not gone(pid)
    lab.process.send_signal(signal.SIGTERM)


def test_a_killed_parent_takes_its_services_with_it_and_the_next_one_starts(lab):
    lab.start("all")
    pids = [lab.ask(who)[0] for who in ("egress", "runner", "guard")]
    lab.process.kill()
    lab.process.wait()
    lab.until(lambda: all(gone(p) for p in pids))
    lab.log.unlink()
    lab.start("all")  # over the stale sockets
    assert lab.ask()[0] not in pids


def test_a_service_that_dies_again_and_again_is_started_again_and_again(lab):
    lab.start("guard")
    for _ in range(6):
        pid = lab.ask()[0]
        os.kill(pid, signal.SIGKILL)
    assert lab.ask()[0] != pid
    assert lab.text().count('service has ended name="guard" by="signal" code=9') == 6


def test_check_says_that_all_is_in_order_and_ends(lab):
    done = lab.run("all", "--check")
    assert done.returncode == 0 and "fit to serve with" in done.stderr
    assert not list((lab.state / "run").iterdir())


def test_no_log_line_has_a_token(lab):
    lab.start("all", "-v")
    lab.ask()
    lab.end()
    assert "secret-x" not in lab.text()


def test_json_lines_are_json_and_name_the_service(lab):
    lab.start("all", "--log-format", "json", ready=False)
    lab.until(lambda: '"event":"serving"' in lab.text())
    lab.end()
    pairs = [json.loads(line, object_pairs_hook=list) for line in lab.text().splitlines()]
    lines = [dict(line) for line in pairs]
    assert [line for line, told in zip(pairs, lines) if len(line) != len(told)] == [], "a member is there twice"
    assert {line["service"] for line in lines} >= {"creeld", "guard"}
    assert {line["name"] for line in lines if line["event"] == "service is ready"} == {"guard", "runner", "egress"}


def test_priorities_stand_in_front_when_standard_error_is_the_journal(lab):
    with open(lab.log, "wb") as out:
        st = os.fstat(out.fileno())
        env = {**lab.env, "JOURNAL_STREAM": f"{st.st_dev}:{st.st_ino}"}
        checked = subprocess.run(lab.words("all", "--check"), stderr=out, timeout=WAIT, check=False, env=env, **lab.be())
        subprocess.run(lab.words("nothing"), stderr=out, timeout=WAIT, check=False, env=env, **lab.be())
    assert checked.returncode == 0, lab.text()
    assert [line[:3] for line in lab.text().splitlines() if "no pair of agent" not in line] == ["<6>", "<3>"], lab.text()
    assert "<4>" in {line[:3] for line in lab.text().splitlines()}, "nobody is allowed, which is worth a warning"


def test_a_sockets_path_that_is_a_file_is_left_alone(lab):
    run = lab.state / "run"
    assert lab.run("all", "--check").returncode == 0
    (run / "runner.sock").write_text("precious")
    done = lab.run("all")
    assert done.returncode == 1 and "no socket of ours" in done.stderr
    assert (run / "runner.sock").read_text() == "precious"


def test_localhost_is_loopback(lab):
    words = [w for w in lab.words("guard", "--check") if not w.startswith("serve.guard=")]
    done = subprocess.run([*words, "serve.guard=localhost:0"], capture_output=True, text=True, timeout=WAIT, check=False, env=lab.env, **lab.be())
    assert done.returncode == 0, done.stderr
