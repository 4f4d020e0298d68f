# SPDX-License-Identifier: Apache-2.0
"""Senders that are known, as an operator makes them known. How a stranger gets his code is in tests/unit/identity."""
import json
import time

import pytest


@pytest.fixture
def waiting(sessions):
    """Two strangers with a code: one of now, one of the day before yesterday."""
    sessions("pairing", "add", "telegram", "1", status=0)
    now = int(time.time() * 1000)
    row = {"channel": "telegram", "name": "Ann\u202e\x1b[31m", "preview": "hello\x07"}
    kept = sessions.state / "pairing/pairing.json"
    doc = json.loads(kept.read_text())
    doc["pending"] = [{"code": "A1B2C3", "user": "42", "asked": now, **row}, {"code": "0F0F0F", "user": "43", "asked": now - 48 * 3600 * 1000, **row}]
    kept.write_text(json.dumps(doc))
    return sessions


def known(s):
    return {(one["channel"], one["user"]) for one in s("pairing", "list", "--json", status=0).json["senders"]}


@pytest.mark.item("S0-64")
def test_a_code_makes_its_sender_known_and_everything_is_recorded(waiting):
    assert known(waiting) == {("telegram", "1")}
    assert waiting("pairing", "approve", "a1b2c3", status=0).out == "telegram 42: known\n"
    assert known(waiting) == {("telegram", "1"), ("telegram", "42")}
    assert "is not known" in waiting("pairing", "approve", "A1B2C3", status=125).err
    assert "has expired" in waiting("pairing", "approve", "0F0F0F", status=125).err
    assert waiting("pairing", "revoke", "telegram", "42", status=0).out == "telegram 42: revoked\n"
    assert known(waiting) == {("telegram", "1")}
    said = [json.loads(line) for line in waiting("audit", "show", "--json", status=0).out.splitlines()]
    assert [(r["kind"], r["what"], r["sender"]) for r in said] == [("approval", "paired", "1"), ("approval", "paired", "42"), ("approval", "unpaired", "42")]


def test_what_strangers_wrote_is_shown_and_not_obeyed(waiting):
    out = waiting("pairing", "list", status=0).out
    assert "A1B2C3" in out and "expired" in out and "\\x1b" in out
    assert not set(out) & {"\x1b", "\x07", "\u202e"}


def test_who_cannot_be_written_down_is_not_let_in(anybody):
    anybody("pairing", "add", "telegram", "1", status=0)
    (anybody.state / "audit/audit.jsonl").chmod(0o644)
    assert anybody("pairing", "add", "telegram", "2", status=125).out == ""
    (anybody.state / "audit/audit.jsonl").chmod(0o600)
    assert known(anybody) == {("telegram", "1")}


@pytest.mark.parametrize("args", [["add", "a b", "1"], ["add", "telegram", "x/y"], ["revoke", "telegram", "9"], ["approve", "XXXXXX"]])
def test_who_is_not_there_or_cannot_be_is_an_error(anybody, args):
    got = anybody("pairing", *args, status=125)
    assert got.out == "" and got.err.startswith(f"creel pairing {args[0]}: ") and known(anybody) == set()
