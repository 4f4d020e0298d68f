# SPDX-License-Identifier: Apache-2.0
"""The audit log as a person reads it: what was recorded, chosen, watched and proved; and what happens when it cannot be written."""
import json
import os
import pty
import signal
import subprocess

import pytest

COLOURED = "printf 'a\x1b]52;c;aGk=\x07\u202eb'"


def audit_dir(s):
    return s.state / "audit"


def lines(s, *args, **kw):
    return [json.loads(line) for line in s("audit", "show", "--json", *args, status=0, **kw).out.splitlines()]


def some_calls(s):
    """One call that runs, one in another session, one that is refused."""
    s.sh("echo one")
    s.sh(COLOURED, session="agent:main:other")
    s("call", "--session", "agent:main:test", "--sandbox", "readonly", "--request-id", "req-no", "exec", "--", "ls", status=126)


# ---- show ----

def test_show_has_every_call_with_its_end_and_its_sandbox(sessions):
    some_calls(sessions)
    records = lines(sessions)
    assert [r["kind"] for r in records] == ["decided", "sandbox", "finished", "decided", "sandbox", "finished", "decided", "finished"]
    assert records[2]["decided"] == records[0]["seq"] and records[2]["exit"] == 0
    table = sessions("audit", "show", status=0).out.splitlines()
    assert table[0].split()[:4] == ["SEQ", "TIME", "EVENT", "RESULT"] and len(table) == len(records) + 1
    assert "capability_denied" in table[7] and "DENY" in table[7]


def test_filters_choose_calls_with_their_ends_and_sandboxes(sessions):
    some_calls(sessions)
    seqs = {name: [r["seq"] for r in lines(sessions, *args)] for name, args in {
        "session": ["--session", "agent:main:other"], "agent": ["--agent", "main"], "nobody": ["--agent", "other"],
        "tool": ["--tool", "exec"], "request": ["--request", "req-no"], "denied": ["--denied"],
        "both": ["--denied", "--session", "agent:main:other"], "hour": ["--since", "1h"], "future": ["--since", "2999-01-01"],
        "day": ["--since", "2020-01-01T00:00:00Z"]}.items()}
    assert seqs == {"session": [4, 5, 6], "agent": list(range(1, 9)), "nobody": [], "tool": [1, 3, 4, 6, 7, 8], "request": [7, 8],
                    "denied": [7, 8], "both": [], "hour": list(range(1, 9)), "future": [], "day": list(range(1, 9))}


@pytest.mark.parametrize("args,word", [(["--since", "yesterday"], "how long ago"), (["--since", ""], "how long ago"), (["--session", " "], "blank"),
                                       (["--request", ""], "blank")])
def test_a_filter_that_means_nothing_is_refused(anybody, args, word):
    got = anybody("audit", "show", *args, status=125)
    assert word in got.err and got.out == ""


def test_nothing_that_a_stranger_wrote_reaches_a_terminal_as_it_is(anybody):
    anybody.sh(COLOURED)
    for args in ([], ["--json"]):
        master, slave = pty.openpty()
        run = subprocess.Popen(anybody.argv("audit", "show", *args), env=anybody.env, cwd=anybody.cwd, stdout=slave, stdin=subprocess.DEVNULL)
        os.close(slave)
        got = b""
        while True:
            try:
                piece = os.read(master, 65536)
            except OSError:
                break
            if not piece:
                break
            got += piece
        os.close(master)
        assert run.wait(timeout=30) == 0
        text = got.replace(b"\r\n", b"\n").replace(b"\x1b[1m", b"").replace(b"\x1b[0m", b"").decode()
        assert "printf" in text and not [c for c in text if (c < " " and c != "\n") or c in "\x7f\u202e\x9b"]
        if args:  # the same JSON, written so that it can be seen
            assert [json.loads(line) for line in text.splitlines()] == lines(anybody)


def test_without_a_log_show_says_where_it_would_be_and_makes_nothing(anybody):
    got = anybody("audit", "show", status=0)
    assert got.out == "" and str(audit_dir(anybody)) in got.err and not anybody.state.exists()
    assert "No such file" in anybody("audit", "verify", status=125).err


# ---- verify ----

def rotate(s):
    """As the log does when a file is full."""
    d = audit_dir(s)
    magic, one, seq, _, first, digest = (d / "audit.head").read_text().split()
    (d / "audit.jsonl").rename(d / f"audit-{int(first):020}.jsonl")
    (d / "audit.head").write_text(f"{magic} {one} {seq} {0:020} {int(seq) + 1:020} {digest}\n")
    (d / "new").touch(0o600)
    s.give(d / "new")
    (d / "new").rename(d / "audit.jsonl")


@pytest.fixture
def log(anybody):
    """Two files: three records of one call in the first, four of two calls in the second."""
    anybody.sh("echo one")
    rotate(anybody)
    anybody.sh("echo two")
    anybody.sh("echo three")
    anybody("audit", "verify", status=0)
    return anybody


def change(path, edit):
    text = path.read_text().splitlines(keepends=True)
    path.write_text("".join(edit(text)))


def test_the_chain_goes_on_over_the_files(log):
    assert [r["seq"] for r in lines(log)] == list(range(1, 8))
    got = log("audit", "verify", status=0)
    assert got.out.startswith("whole: 7 records in 2 files; last 7:")


@pytest.mark.parametrize("name,file,edit,where,what", [
    ("changed", "old", lambda t: [t[0], t[1].replace("created", "Created"), t[2]], "audit-00000000000000000001.jsonl:2: ", "changed"),
    ("removed", "new", lambda t: t[:1] + t[2:], "audit.jsonl:2: ", "removed"),
    ("moved", "new", lambda t: [t[0], t[2], t[1], t[3]], "audit.jsonl:2: ", "moved"),
    ("cut", "new", lambda t: t[:-1], "audit.head: ", "cut at the end: the log ends with record 6, but 7 had been written"),
    ("torn", "new", lambda t: t[:-1] + [t[-1][:50]], "audit.jsonl:4: ", "torn"),
])
def test_verify_says_where_and_what(log, name, file, edit, where, what):
    d = audit_dir(log)
    change(d / ("audit-00000000000000000001.jsonl" if file == "old" else "audit.jsonl"), edit)
    got = log("audit", "verify", status=1)
    first = got.out.splitlines()[0]
    assert first.startswith(where) and what in first, got
    assert got.out.splitlines()[-1].startswith("not whole: ")
    told = log("audit", "verify", "--json", status=1).json
    assert not told["whole"] and told["findings"][0]["text"] in first
    assert "audit verify" in log("audit", "show", status=0).err


def test_a_file_that_is_gone_and_a_missing_head_are_found(log):
    d = audit_dir(log)
    kept = (d / "audit.head").read_bytes()
    (d / "audit.head").unlink()
    assert "audit.head: is not there: where the log ended is not known" in log("audit", "verify", status=1).out
    (d / "audit.head").write_bytes(kept)
    (d / "audit.head").chmod(0o600)
    (d / "audit-00000000000000000001.jsonl").unlink()
    assert "begins with record 4; 1 to 3 are missing" in log("audit", "verify", status=1).out
    assert log("audit", "verify", "--first", "4", status=0).out.startswith("whole: 4 records in 1 file;")


def test_an_anchor_finds_a_log_that_was_written_anew(log):
    anchor = log("audit", "verify", status=0).out.split("last ")[1].strip()
    log("audit", "verify", "--anchor", anchor, status=0)
    for f in audit_dir(log).iterdir():
        f.unlink()
    for _ in range(4):
        log.sh("echo forged")
    log("audit", "verify", status=0)  # nothing in it tells
    assert "record 7 is not there as it was noted" in log("audit", "verify", "--anchor", anchor, status=1).out
    assert "NUMBER:HASH" in log("audit", "verify", "--anchor", "7", status=125).err


def test_a_log_that_others_can_read_is_told(log):
    (audit_dir(log) / "audit.jsonl").chmod(0o644)
    assert "can be reached by others" in log("audit", "verify", status=1).out


# ---- follow ----

def follow(s, *args):
    return s.spawn("audit", "follow", "--json", *args)


def test_follow_goes_on_with_new_records_and_new_files_and_ends_with_sigint(sessions):
    sessions.sh("echo one")
    run = follow(sessions)
    assert [json.loads(run.stdout.readline())["seq"] for _ in range(3)] == [1, 2, 3]
    sessions.sh("echo two")
    assert [json.loads(run.stdout.readline())["seq"] for _ in range(2)] == [4, 5]
    rotate(sessions)
    sessions.sh("echo three")
    assert [json.loads(run.stdout.readline())["seq"] for _ in range(2)] == [6, 7]
    run.send_signal(signal.SIGINT)
    out, err = run.communicate(timeout=30)
    assert run.returncode == -signal.SIGINT and out == "" and err == ""


def test_follow_shows_ten_and_ends_when_nobody_reads(anybody):
    for _ in range(5):
        anybody.sh("true")
    run = follow(anybody, "--tool", "exec")
    assert [json.loads(run.stdout.readline())["seq"] for _ in range(10)] == [1, 3, 4, 5, 6, 7, 8, 9, 10, 11]
    run.stdout.close()
    assert run.wait(timeout=30) == 0 and run.stderr.read() == ""
    run.stderr.close()


# ---- a log that cannot be written ----

@pytest.mark.skipif(os.getuid() != 0, reason="mounts a small file system")
def test_on_a_full_disk_calls_are_refused_and_none_goes_unlogged(sessions):
    small = sessions.home / "small"
    small.mkdir()
    subprocess.run(["mount", "-t", "tmpfs", "-o", f"size=64k,mode=0700,uid={sessions.uid},gid={sessions.uid}", "small", str(small)], check=True)
    try:
        where = ["-e", f"audit.path={small}/audit.jsonl"]
        assert sessions("call", *where, "--session", "agent:main:test", "--sandbox", "light", "exec", "--", "true", status=0).json["ok"]
        with open(small / "ballast", "wb", buffering=0) as f:
            while True:
                try:
                    f.write(b"x" * 4096)
                except OSError:
                    break
        refused = None
        ran = 1
        for i in range(40):
            got = sessions("call", *where, "--session", "agent:main:test", "--sandbox", "light", "exec", "--", "sh", "-c", f"echo {i} >> /tmp/ran")
            if got.status:
                refused = got
                break
            ran += 1
        assert refused and refused.status == 125 and refused.json["error"] == "audit_unavailable" and "nothing was run" in refused.json["message"]
        (small / "ballast").unlink()
        done = sessions("call", *where, "--session", "agent:main:test", "--sandbox", "light", "exec", "--", "sh", "-c", "cat /tmp/ran 2>/dev/null | wc -l", status=0)
        records = [json.loads(line) for line in sessions("audit", "show", *where, "--json", status=0).out.splitlines()]
        # What ran has left its line, and each has its record: the first call, and the last that counts them.
        assert int(done.json["stdout"]) == ran - 1
        assert len([r for r in records if r["kind"] == "decided"]) == ran + 1
        sessions("audit", "verify", *where, status=0)
    finally:
        sessions("kill", "--all", "-q")
        subprocess.run(["umount", "-l", str(small)], check=True)
