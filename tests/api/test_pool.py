# SPDX-License-Identifier: Apache-2.0
"""The pool of the runner (serve.pool): a job finds its sandbox made, and nobody but the chat that it was made for ever does."""
import contextlib
import json
import os
import pathlib
import re
import shutil
import signal
import socket
import sqlite3
import subprocess
import time

import pytest

from guard_lab import CODER, HELLO
from runner_lab import Lab, as_users, make_lab, wait_for
from services_lab import Services, children, running

JOBS = [("file_write", {"path": "a.txt", "content": "one"}), ("file_read", {"path": "a.txt"}), ("file_read", {"path": "missing"}),
        ("shell_exec", {"cmd": ["python3", "-c", "import os,sys; print(open('a.txt').read(), sorted(os.environ), os.getcwd(), os.listdir('/tmp'), os.getuid()); sys.exit(3)"]})]


def numbers(text):
    found = dict.fromkeys(("ready", "hit", "miss", "made", "dropped"), 0)
    found.update({m[1]: int(m[2]) for m in re.finditer(r'^creel_pool_total\{event="(\w+)"\} (\d+)$', text, re.M)})
    found["ready"] = int(re.search(r"^creel_pool_ready (\d+)$", text, re.M)[1])
    return found


class Pool:
    """A runner, and one connection to it that stays, as the guard's do."""

    def __init__(self, user, serve=None, **config):
        optional = {} if user == "root" else {"walls": {"optional": ["limits"]}}
        self.lab = make_lab(user, serve=serve or {}, **optional, **config)
        self.c = self.lab.connect()

    def run(self, tool, args, pair=CODER, token="all"):
        body = {"agent": pair[0], "scope": {"type": "telegram", "chat_id": pair[1]}, "tool": tool, "args": args}
        self.c.send("POST", "/run", self.lab.fields(token), body)
        return self.c.answer()

    def numbers(self):
        return numbers(self.lab.ask("GET", "/metrics", token=None).body.decode())

    def ready(self, n):
        return wait_for(f"{n} are ready", lambda: (now := self.numbers())["ready"] == n and now)

    def settled(self):
        """Every call so far has been followed by a spare."""
        try:
            return wait_for("the next is made", lambda: (now := self.numbers())["made"] == now["hit"] + now["miss"] and now)
        except AssertionError as e:
            raise AssertionError(f"{e}: {self.numbers()}, {self.lab.said()}") from None

    def job(self, *a, **who):
        got = self.run(*a, **who)
        self.settled()
        return got

    def spares(self):
        return [x for x in json.loads(self.lab.creel("list", "--json"))["sandboxes"] if x["state"] == "spare"]

    def python(self, code, **who):
        return self.run("shell_exec", {"cmd": ["python3", "-c", code]}, **who)


@contextlib.contextmanager
def pool(user, serve=None, **config):
    p = Pool(user, serve, **config)
    try:
        yield p
    finally:
        p.c.close()
        p.lab.done()


def lives(pid):
    with contextlib.suppress(OSError):
        return pathlib.Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()[0] not in "ZX"
    return False


def kill(*pids):
    for pid in pids:
        os.kill(pid, signal.SIGKILL)
    wait_for("they are dead", lambda: not any(map(lives, pids)))


def of_itself(answer):
    """What of an answer is the job's: not its id, and not how long it took."""
    return answer.status, {k: v for k, v in answer.json.items() if k not in ("request_id", "duration_ms", "usage")}


@pytest.mark.parametrize("user", as_users())
def test_the_second_job_of_a_chat_comes_from_the_pool_and_is_what_it_would_be_without(user):
    said = {}
    for size in (0, 4):
        with pool(user, {"pool": size}) as p:
            for tool, args in JOBS:
                first = p.run(tool, args)
                assert first.status == 200
                before = p.settled()
                second = p.run(tool, args)
                after = p.numbers()
                assert of_itself(first) == of_itself(second)
                assert said.setdefault(json.dumps([tool, args]), of_itself(second)) == of_itself(second)
                assert (after["hit"] - before["hit"], after["miss"]) == ((1, before["miss"]) if size else (0, 0))
                p.settled()
            if size:
                assert p.numbers()["ready"] == len(p.spares()) == 2, "one that writes, and one that does not"
            else:
                assert p.numbers() == dict.fromkeys(("ready", "hit", "miss", "made", "dropped"), 0) and not p.spares()


@pytest.mark.parametrize("user", as_users())
def test_a_spare_is_for_the_chat_and_the_token_that_it_was_made_for(user):
    look = "import os,json; print(json.dumps([sorted(os.listdir('.')), sorted(os.listdir('/tmp')), dict(os.environ)]))"
    with pool(user) as p:
        p.run("file_write", {"path": "of-coder", "content": "secret of coder"})
        p.settled()
        p.run("file_write", {"path": "of-hello", "content": "x"}, HELLO)
        p.settled()
        p.python(look)
        before = p.settled()
        assert before["ready"] == 3
        theirs = p.python(look, pair=HELLO)
        p.settled()
        assert json.loads(theirs.json["stdout"])[0] == ["of-hello"]
        assert p.numbers()["hit"] == before["hit"], "another chat's is not taken"
        p.python(look, token="coder")
        p.settled()
        assert p.numbers()["hit"] == before["hit"], "nor that of another token for the same chat"
        mine = p.python(look)
        assert json.loads(mine.json["stdout"])[0] == ["of-coder"] and p.numbers()["hit"] == before["hit"] + 1
        env = [json.loads(x.json["stdout"])[2] for x in (mine, theirs)]
        assert env[0].keys() == env[1].keys() and CODER[1] not in str(env[1]) and HELLO[1] not in str(env[0])


@pytest.mark.parametrize("user", as_users())
def test_nothing_of_one_job_is_in_the_sandbox_of_the_next(user):
    leave = "import os,time; print(os.listdir('/tmp')); open('/tmp/left','w').write('x'); os.fork() or time.sleep(600)"
    with pool(user) as p:
        for i in range(3):
            assert p.python(leave).json["stdout"] == "[]\n"
            assert p.ready(1)["hit"] == i


def test_a_spare_has_no_secret_and_no_descriptor_of_the_runner():
    with pool(as_users()[0], env={"set": {"API_KEY": "${API_KEY}"}, "secret_scope": "both"}) as p:
        p.run("file_read", {"path": "x"})
        p.ready(1)
        for x in p.spares():
            for pid in (x["supervisor"], *children(x["supervisor"])):
                proc = pathlib.Path(f"/proc/{pid}")
                text = (proc / "environ").read_bytes() + (proc / "cmdline").read_bytes()
                assert p.lab.token.encode() not in text and b"TOOL_RUNNER_TOKEN" not in text and b"creel_" not in text
                held = [os.readlink(f) for f in (proc / "fd").iterdir()]
                assert not [h for h in held if "registry" in h or "audit" in h or "tokens" in h or "secrets" in h], held


@pytest.mark.parametrize("user", as_users())
def test_a_spare_sees_the_workspace_as_it_is_when_the_job_comes(user):
    with pool(user) as p:
        space = p.lab.space()
        p.run("file_read", {"path": "a"})
        p.ready(1)
        (space / "a").write_text("new")
        (space / "d").mkdir()
        (space / "d/b").write_text("below")
        assert p.run("file_read", {"path": "a"}).json["stdout"] == "new" and p.ready(1)["hit"] == 1
        (space / "a").write_text("newer")
        (space / "d/b").unlink()
        assert p.run("file_read", {"path": "a"}).json["stdout"] == "newer" and p.ready(1)["hit"] == 2
        assert not p.run("file_read", {"path": "d/b"}).json["ok"] and p.ready(1)["hit"] == 3


@pytest.mark.parametrize("user", as_users())
def test_what_changed_on_the_host_since_it_was_made_makes_a_spare_useless(user):
    with pool(user) as p:
        space = p.lab.space()
        write = ("file_write", {"path": "a", "content": "x"})
        p.job(*write)
        listening = socket.socket(socket.AF_UNIX)
        listening.bind(str(space / "of-the-host"))  # a new sandbox that may write covers it
        listening.listen()
        for _ in range(2):
            assert p.run(*write).json["ok"]
            wait_for("the one that does not cover it has ended", lambda: p.numbers()["ready"] == 0)
        assert p.numbers()["hit"] == 0 and p.numbers()["made"] == 1, "none is made that has to cover something"
        listening.close()
        (space / "of-the-host").unlink()
        assert p.run(*write).json["ok"]
        before = p.ready(1)

        def hits(made):
            assert p.run(*write).json["ok"]
            return wait_for("the next is made", lambda: (now := p.numbers())["made"] == before["made"] + made and now)["hit"] - before["hit"]

        assert hits(1) == 1
        shutil.move(space, space.parent / "away")
        assert hits(2) == 1 and (space / "a").exists(), "the workspace is another directory"
        assert hits(3) == 2
        p.ready(1)  # those that are of no use have ended
        assert len(p.spares()) == 1


JOB_SCOPE = {"backend": {"scope": "job"}, "mode": {"when": "all", "trust": {"rules": [{"match": "agent:*", "trust": "light"}]}}}


@contextlib.contextmanager
def writers(user):
    """Jobs that run a command with the workspace itself: (pool, ask, workspace)."""
    with pool(user, mounts={"workspace": {"access": "rw"}}, **JOB_SCOPE) as p:
        def ask(command):
            p.c.send("POST", "/v1/calls", p.lab.fields(), p.lab.call_body("exec", {"command": command}))
            return p.c.answer().json["stdout"]
        assert ask("touch here") == ""
        yield p, ask, next(p.lab.home.rglob("here")).parent


@pytest.mark.parametrize("user", as_users())
def test_a_socket_of_the_host_that_is_made_again_is_covered_as_the_first_was(user):
    knock = """python3 -c "import socket
try:
    socket.socket(socket.AF_UNIX).connect('s'); print('let in')
except OSError: print('kept out')" """
    with writers(user) as (p, ask, space):
        for _ in range(4):  # its inode mostly has the number of the one before
            with socket.socket(socket.AF_UNIX) as service:
                service.bind(str(space / "s"))
                (space / "s").chmod(0o777)
                service.listen()
                for _ in range(2):
                    assert ask(knock) == "kept out\n"
                    time.sleep(0.2)  # as long as a spare would take
                (space / "s").unlink()


@pytest.mark.skipif(os.getuid() != 0, reason="mounts")
def test_a_spare_has_the_mounts_of_the_host_that_are_there_when_the_job_comes():
    with writers("user") as (p, ask, space):  # as root, a workspace is seen without what is mounted below it
        (space / "d").mkdir()
        (space / "d/below").touch()
        beside = p.lab.home / "beside"
        beside.mkdir()
        p.settled()
        for command in ["mount", "-t", "tmpfs", "none"], ["umount"]:
            before = p.numbers()["hit"]
            subprocess.run([*command, beside], check=True)
            assert ask("ls d") == "below\n" and p.settled()["hit"] == before + 1, "which it does not see"
        try:
            before = p.numbers()["hit"]
            subprocess.run(["mount", "-t", "tmpfs", "none", space / "d"], check=True)
            for hits in (0, 1):
                assert ask("ls d") == "" and p.settled()["hit"] == before + hits
            subprocess.run(["umount", space / "d"], check=True)
            assert [ask("ls d") for _ in range(2)] == ["below\n"] * 2
        finally:
            subprocess.run(["umount", "-q", space / "d"], check=False, capture_output=True)


@pytest.mark.parametrize("user", as_users())
def test_a_spare_that_was_killed_is_not_given_out(user):
    with pool(user) as p:
        p.job("file_write", {"path": "x", "content": "y"})
        for inner in (False, True):
            p.job("file_read", {"path": "x"})
            before = p.ready(2)
            one = max(p.spares(), key=lambda x: x["created_ms"])
            kill(max(children(one["supervisor"])) if inner else one["supervisor"])
            p.ready(1)
            wait_for("it is not listed any more", lambda old=one: old["key"] not in [x["key"] for x in p.spares()])
            assert p.job("file_read", {"path": "x"}).json["stdout"] == "y" and p.numbers()["hit"] == before["hit"]
            # At once, with nobody having looked meanwhile.
            one = max(p.spares(), key=lambda x: x["created_ms"])
            kill(one["supervisor"])
            assert p.job("file_read", {"path": "x"}).json["stdout"] == "y" and p.numbers()["hit"] == before["hit"]
            kill(max(p.spares(), key=lambda x: x["created_ms"])["supervisor"])
            p.ready(1)


@pytest.mark.parametrize("user", as_users())
def test_there_are_never_more_than_serve_pool_and_the_oldest_goes(user):
    with pool(user, {"pool": 2}) as p:
        for pair in (CODER, HELLO):
            for tool in ("file_read", "file_write"):
                p.run(tool, {"path": "x", "content": "y"} if tool == "file_write" else {"path": "x"}, pair)
                wait_for("it is made", lambda: p.numbers()["made"] >= p.numbers()["miss"])
                assert p.numbers()["ready"] <= 2 and len(p.spares()) <= 2
        before = p.ready(2)
        assert before["dropped"] == 2
        p.run("file_read", {"path": "x"})
        assert p.numbers()["hit"] == before["hit"], "the first chat's have made room"


def test_a_spare_that_nobody_uses_ends():
    with pool(as_users()[0], {"pool_idle_s": 1}) as p:
        p.run("file_read", {"path": "x"})
        wait_for("it was made, and has ended", lambda: (now := p.numbers())["made"] == now["dropped"] == 1 and now["ready"] == 0)
        assert not p.spares() and "creel-warden" not in children(p.lab.process.pid).values()


def test_spares_are_among_the_sandboxes_that_may_live_and_make_room_for_sessions():
    def session(p, name):
        return p.lab.ask("POST", "/v1/calls", {"session": f"agent:g-coder:{name}", "tool": "exec", "args": {"command": "true"}})

    with pool(as_users()[0], {"max_sandboxes": 2}, mode={"when": "all"}) as p:
        p.job("file_read", {"path": "x"})
        p.job("file_write", {"path": "x", "content": "y"})
        p.run("file_read", {"path": "x"}, HELLO)
        wait_for("two, and no third", lambda: (now := p.numbers())["miss"] == 3 and now["ready"] == now["made"] == 2)
        assert [session(p, n).status for n in ("a", "b", "c")] == [200, 200, 503], "nobody is refused for a spare"
        p.ready(0)
        p.run("file_read", {"path": "x"})
        p.run("file_read", {"path": "x"})
        assert p.numbers()["made"] == 2 and not p.spares()


def test_spares_of_a_worker_that_was_killed_are_in_nobodys_way():
    def rows(p):  # not with creel list, which tidies up
        with contextlib.closing(sqlite3.connect(p.lab.state / "registry/registry.db")) as db:
            return {key for key, in db.execute("SELECT key FROM sandboxes WHERE state = 'spare'")}

    with pool(as_users()[0], {"max_sandboxes": 1}) as p:
        before = set()
        for _ in range(3):
            assert p.run("file_read", {"path": "x"}).status == 200
            before |= wait_for("another is made", lambda: rows(p) - before)
            kill(*p.lab.workers())
            p.c.close()
            p.c = p.lab.connect()


def test_a_spare_of_no_use_does_not_wait_until_its_time_is_over():
    with pool(as_users()[0], {"pool_idle_s": 86400}) as p:  # longer than the host may be up
        p.job("file_read", {"path": "x"})
        shutil.move(p.lab.space(), p.lab.space().parent / "away")
        p.run("file_read", {"path": "x"})
        wait_for("one has ended, one is made", lambda: (now := p.numbers())["made"] == 2 and now["dropped"] == now["ready"] == 1)


@pytest.mark.skipif(os.getuid() != 0, reason="mounts a small file system")
def test_a_full_disk_keeps_nobody_from_ending_spares():
    p = Pool.__new__(Pool)
    p.lab = Lab("root")
    p.lab.state.mkdir(mode=0o711)
    subprocess.run(["mount", "-t", "tmpfs", "-o", "size=4m,mode=0711", "small", p.lab.state], check=True)
    try:
        p.lab.new_token("all", "*")
        p.lab.start()
        p.c = p.lab.connect()
        p.run("file_read", {"path": "x"})
        [pid] = [x["supervisor"] for x in wait_for("it is made", p.spares)]
        with open(p.lab.state / "ballast", "wb", buffering=0) as f, contextlib.suppress(OSError):
            while f.write(b"x" * 4096):
                pass
        p.lab.creel("kill", "--all", check=False)
        wait_for("it has ended", lambda: not lives(pid), 5)
        (p.lab.state / "ballast").unlink()
        p.c.close()
        assert p.lab.stop() == 0
    finally:
        p.lab.done()
        subprocess.run(["umount", "-l", p.lab.state], check=True)
        shutil.rmtree(p.lab.home, ignore_errors=True)


def test_a_token_that_was_revoked_takes_its_spares_along():
    with pool(as_users()[0]) as p:
        p.run("file_read", {"path": "x"}, token="coder")
        p.settled()
        p.run("file_write", {"path": "x", "content": "y"}, token="coder")
        pids = [x["supervisor"] for x in wait_for("both are made", lambda: len(p.spares()) == 2 and p.spares())]
        p.lab.creel("token", "revoke", "coder")
        p.ready(0)
        assert not p.spares() and not any(map(lives, pids))
        assert p.run("file_read", {"path": "x"}, token="coder").status == 401


def test_who_is_told_to_end_ends_its_spares_first():
    p = Pool(as_users()[0])
    try:
        p.run("file_read", {"path": "x"})
        pids = [x["supervisor"] for x in wait_for("it is made", p.spares)]
        assert p.lab.stop() == 0
        assert not any(map(lives, pids)) and not p.spares()
    finally:
        p.lab.done()


@pytest.mark.parametrize("user", as_users())
@pytest.mark.parametrize("who", ["the runner", "its worker", "all"])
def test_kill_9_leaves_nothing_of_a_spare(user, who):
    p = Pool(user)
    try:
        p.run("file_read", {"path": "x"})
        p.settled()
        p.run("file_write", {"path": "x", "content": "y"})
        p.ready(2)
        spares = p.spares()
        assert len(spares) == 2
        below = [pid for x in spares for pid in (x["supervisor"], *children(x["supervisor"]))]
        groups = [pathlib.Path("/sys/fs/cgroup") / line.split(":", 2)[2].lstrip("/") for pid in below
                  for line in pathlib.Path(f"/proc/{pid}/cgroup").read_text().splitlines() if line.startswith("0::") and "creel" in line]
        workers = p.lab.workers()
        for pid in {"the runner": [p.lab.process.pid], "its worker": workers, "all": [p.lab.process.pid, *workers]}[who]:
            os.kill(pid, signal.SIGKILL)
        wait_for("they have gone", lambda: not any(map(lives, below)))
        assert not p.spares(), "and whoever looks sees that"
        wait_for("their groups, too", lambda: not [g for g in groups if g.exists()])
        assert not list((p.lab.state / "live").glob("*"))
        if who == "its worker":
            p.ready(0)
    finally:
        p.lab.done()


@pytest.mark.parametrize("user", as_users())
def test_jobs_that_come_while_a_spare_is_made_are_what_they_would_be(user):
    with pool(user, {"pool": 2}) as p:
        for i in range(60):
            tool, args, want = [("file_write", {"path": "n", "content": str(i)}, "OK"), ("file_read", {"path": "n"}, str(i - 1))][i % 2]
            assert p.run(tool, args, (CODER, HELLO)[i % 4 // 2]).json["stdout"] == want
            time.sleep(i % 7 / 500)  # before it begins, while it is made, and after
        now = p.numbers()
        assert now["hit"] + now["miss"] == 60 and now["hit"] > 0


# ---- behind the guard ----


@pytest.mark.parametrize("user", as_users())
def test_a_reload_and_a_changed_allowlist_begin_with_an_empty_pool(user):
    s = Services(user, options=["-e", "serve.pool=3"])

    def now():
        return numbers(s.ask("GET", "/metrics").body.decode())

    def spare():
        return [x["supervisor"] for x in json.loads(s.creel("list", "--json"))["sandboxes"] if x["state"] == "spare"]

    with running(s):
        for change in ("SIGHUP", "allowlist", "end"):
            for _ in range(2):
                assert s.run("file_read", {"path": "x"}).status == 200
                wait_for("one is ready", lambda: now()["ready"] == 1)
            assert now()["hit"] == 1, "the guard's connection stays"
            [old] = spare()
            before = s.service("creel-runner")
            if change == "SIGHUP":
                s.p.send_signal(signal.SIGHUP)
            elif change == "allowlist":
                s.pairs(CODER)
            else:
                continue
            wait_for("another runner", lambda b=before: s.service("creel-runner") not in (None, b))
            wait_for("the spare has ended", lambda o=old: not lives(o))
            wait_for("and is counted no more", lambda: now() == dict.fromkeys(("ready", "hit", "miss", "made", "dropped"), 0))
            if change == "allowlist":
                assert s.run("file_read", {"path": "x"}, HELLO).status == 403
        assert s.stop() == 0


def test_the_guard_comes_back_to_the_worker_that_has_the_spare():
    s = Services(as_users()[0])
    with running(s):
        assert s.run("file_read", {"path": "x"}).status == 200
        time.sleep(21)  # longer than connections wait that nobody needs, and than it takes to notice
        assert numbers(s.ask("GET", "/metrics").body.decode())["ready"] == 1
        assert s.run("file_read", {"path": "x"}).status == 200
        assert numbers(s.ask("GET", "/metrics").body.decode())["hit"] == 1
        assert s.stop() == 0
