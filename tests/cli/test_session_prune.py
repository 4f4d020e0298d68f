# SPDX-License-Identifier: Apache-2.0
"""What time does to sandboxes: pruned when idle or old, made anew when their walls have changed. As root and as an ordinary user.

Nobody waits for hours here: the registry is told that the last use was long ago, as it would be by then."""
import contextlib
import json
import os
import pathlib
import sqlite3

import pytest

from conftest import wait_until

KEY = "agent:main:test"
HOUR = 3600 * 1000


def make_older(sessions, **columns):
    """Moves times of the one sandbox back by so many milliseconds."""
    change(sessions, **{column: f"{column} - {ms}" for column, ms in columns.items()})


def change(sessions, **columns):
    with contextlib.closing(sqlite3.connect(sessions.state / "registry/registry.db", timeout=10)) as db, db:
        for column, value in columns.items():
            assert db.execute(f"UPDATE sandboxes SET {column} = {value}").rowcount == 1
    for name in ("registry.db-wal", "registry.db-shm"):  # root opened it, and must not leave them to himself
        with contextlib.suppress(FileNotFoundError):
            sessions.give(sessions.state / "registry" / name)


@pytest.mark.parametrize("limit, columns", [
    (["--set", "backend.prune.idleHours=2"], {"used_ms": 3 * HOUR}),
    (["--set", "backend.prune.maxAgeDays=1"], {"created_ms": 25 * HOUR}),
], ids=["idle", "old"])
def test_prune_ends_what_was_idle_or_lived_for_longer_than_configured(sessions, limit, columns):
    sessions.sh("true")
    assert sessions(*limit, "prune", status=0).err == "nothing to prune\n"
    make_older(sessions, **columns)
    assert sessions("prune", status=0).err == "nothing to prune\n"  # by default it may stay for longer
    assert sessions(*limit, "prune", "-n", status=0).out.startswith(f"{KEY}: would end")
    assert list(sessions.listed()) == [KEY]
    assert sessions(*limit, "prune", status=0).out.startswith(f"{KEY}: ended")
    assert sessions.listed("--all") == {}
    assert sessions(*limit, "prune", "--idle-hours", "0", "--max-age-days", "0", status=0).err == "nothing to prune\n"


@pytest.mark.parametrize("how", [["list", "--json"], ["kill", "--session", "agent:main:b", "-y"], ["prune", "--idle-hours", "1"]])
def test_one_that_has_gone_by_itself_hides_no_other(sessions, how):
    sessions("-e", "backend.keep_s=2", "call", "--session", "agent:main:a", "--sandbox", "light", "exec", "true", status=0)
    (info,) = sessions.state.glob("sessions/*/info")
    old = pathlib.Path(f"/proc/{json.loads(info.read_text())['sup_pid']}")
    sessions.sh("true", session="agent:main:b")
    assert wait_until(lambda: not old.exists(), 30)
    said = sessions(*how, status=0).out
    if how[0] != "prune":
        assert "agent:main:b" in said and "agent:main:a" not in said
    assert set(sessions.listed()) == (set() if how[0] == "kill" else {"agent:main:b"})


@pytest.mark.parametrize("listens", [True, False])
def test_one_of_another_pid_namespace_is_ended_through_its_socket(sessions, listens):
    """As a container has it that shares the state directory. Nobody can see there whether its process lives: it is asked."""
    sessions.sh("true")
    (info,) = sessions.state.glob("sessions/*/info")
    keeper = pathlib.Path(f"/proc/{json.loads(info.read_text())['sup_pid']}")
    change(sessions, pidns=1)
    if not listens:
        os.kill(int(keeper.name), 9)
        assert wait_until(lambda: not keeper.exists(), 30)
    assert sessions("kill", "--all", status=0).out == f"{KEY}: ended\n"
    assert wait_until(lambda: not keeper.exists(), 5) and sessions.listed("--all") == {}


def test_one_with_a_call_in_it_is_not_pruned(sessions):
    busy = sessions.spawn("call", "--session", KEY, "--sandbox", "light", "--stream", "exec", "--", "sh", "-c", "echo go; sleep 60")
    try:
        assert busy.stdout.readline() == "go\n"
        make_older(sessions, used_ms=30 * HOUR, created_ms=30 * 24 * HOUR)
        assert sessions("prune", status=0).err == "nothing to prune\n"
    finally:
        busy.terminate()
        busy.communicate()


def test_other_walls_are_taken_at_once_when_it_was_idle_for_five_minutes_and_with_a_warning_before(sessions):
    def call(*limits):
        return sessions("call", "--session", KEY, "--sandbox", "light", *limits, "exec", "--", "true", status=0).json

    before = call()
    changed = call("--disk", "1g")
    assert any("keeps its old walls" in w for w in changed["warnings"])
    pid = sessions.listed()[KEY]["supervisor"]
    make_older(sessions, used_ms=HOUR // 10)
    after = call("--disk", "1g")
    assert after["warnings"] == [] and after["walls"] != before["walls"]
    assert sessions.listed()[KEY]["supervisor"] != pid


def test_prune_removes_empty_directories_of_sandboxes_that_ended_and_no_others(sessions):
    sessions.sh("true", session="agent:main:live")
    sessions.sh("true", session="agent:main:just-ended")
    sessions.sh("echo mine > kept", session="agent:main:long-ended")
    names = {s: os.path.basename(os.path.dirname(sessions("inspect", "--session", s, "--json", status=0).json["socket"]))
             for s in ("agent:main:live", "agent:main:just-ended", "agent:main:long-ended")}
    assert len(set(names.values())) == 3
    for ended in ("agent:main:just-ended", "agent:main:long-ended"):
        sessions("kill", "--session", ended, status=0)
    full = sessions.state / "sessions" / ("0" * 32)
    full.mkdir(mode=0o700)
    (full / "something").write_text("of somebody")
    for path in (full, full / "something"):
        sessions.give(path)
    for name in [names["agent:main:live"], names["agent:main:long-ended"], full.name]:
        os.utime(sessions.state / "sessions" / name, (1, 1))
    sessions("prune", status=0)
    left = set(os.listdir(sessions.state / "sessions"))
    assert left == {names["agent:main:live"], names["agent:main:just-ended"], full.name}
    assert sessions.sh("cat kept", session="agent:main:long-ended") == "mine\n"  # its layer stayed, and it begins anew
    assert sessions.sh("echo still", session="agent:main:live") == "still\n"


def test_prune_keeps_private_layers_with_changes_and_says_whose_they_are(sessions):
    sessions.sh("echo mine > kept")
    sessions("kill", "--all", "-y", status=0)
    for args in ([], ["--layers-days", "0"], ["--layers-days", "1"], ["--layers-days", "1", "-n"]):
        assert sessions("prune", *args, status=0).err == "nothing to prune\n"
    assert sessions.sh("cat kept") == "mine\n"
    notes = [p.read_text() for p in (sessions.state / "layers").glob("*.session")]
    assert notes == [KEY]
    assert "0..3650" in sessions("prune", "--layers-days", "4000", status=125).err
