# SPDX-License-Identifier: Apache-2.0
"""Tokens as an operator makes and revokes them. What they open is policy's, and is tested there."""
import json
import re
import stat

import pytest

PAIR = "g-coder:-100123"


def new(s, *args, **kw):
    return s("token", "new", "--pairs", PAIR, *args, status=0, **kw).out.strip()


def tokens(s):
    return s("token", "list", "--json", status=0).json["tokens"]


@pytest.mark.item("S2-24", "S2-29")
def test_a_token_is_shown_once_and_kept_as_a_hash_in_a_private_file(sessions):
    token = new(sessions, "--name", "coder", "--expires", "90d")
    assert re.fullmatch(r"creel_[0-9a-f]{64}", token)
    kept = sessions.state / "tokens/tokens.json"
    assert stat.S_IMODE(kept.stat().st_mode) == 0o600 and stat.S_IMODE(kept.parent.stat().st_mode) == 0o700
    for path in sessions.state.rglob("*"):
        assert not path.is_file() or token[6:].encode() not in path.read_bytes(), path
    (one,) = tokens(sessions)
    assert (one["name"], one["pairs"], one["state"], one["used"]) == ("coder", PAIR, "valid", None)
    assert one["expires"] > one["created"]


def test_revoked_tokens_stay_in_the_list_and_everything_is_in_the_audit_log(sessions):
    new(sessions, "--name", "a")
    made = sessions("token", "new", "--pairs", "*", "--json", status=0).json
    assert sessions("token", "revoke", "a", made["id"], status=0).out.count(": revoked\n") == 2
    assert [t["state"] for t in tokens(sessions)] == ["revoked", "revoked"]
    assert "revoked already" in sessions("token", "revoke", "a", status=0).out
    said = [json.loads(line) for line in sessions("audit", "show", "--json", status=0).out.splitlines()]
    assert [(r["kind"], r["what"]) for r in said] == [("token", "made")] * 2 + [("token", "revoked")] * 2
    assert said[1]["token"] == made["id"] and made["token"] not in json.dumps(said)
    sessions("audit", "verify", status=0)


def test_a_pair_that_the_allowlist_does_not_have_is_told(anybody):
    anybody.file("allow.json", {"telegram": [{"agent": "g-coder", "chat_id": "-100123"}]})
    assert "allowlist" not in anybody("token", "new", "-c", "allowlist:allow.json", "--pairs", PAIR, status=0).err
    got = anybody("token", "new", "-c", "allowlist:allow.json", "--pairs", "g-hello:1", status=0)
    assert "g-hello:1 (telegram) is not in the allowlist yet" in got.err


@pytest.mark.parametrize("args,word", [
    ([], "--pairs AGENT:CHAT"), (["--pairs", "x"], "AGENT:CHAT"), (["--pairs", "A:1"], "lower-case"), (["--pairs", ""], "AGENT:CHAT"),
    (["--pairs", PAIR, "--expires", "soon"], "such as 30m"), (["--pairs", PAIR, "--expires", "0"], "such as 30m"),
    (["--pairs", PAIR, "--name", "a b"], "letters, digits"), (["--pairs", PAIR, "--name", ""], "letters, digits")])
def test_what_cannot_be_meant_is_refused_and_makes_nothing(anybody, args, word):
    got = anybody("token", "new", *args, status=125)
    assert word in got.err and got.out == "" and not anybody.state.exists()


def test_a_file_that_others_could_read_or_that_is_broken_is_not_used(anybody):
    new(anybody)
    kept = anybody.state / "tokens/tokens.json"
    kept.chmod(0o644)
    got = anybody("token", "list", status=125)
    assert "can be reached by others" in got.err and "revoke what is in it" in got.err
    kept.chmod(0o600)
    kept.write_text('{"version": 1, "tokens": [\n  {"pairs": "*"}\n]}\n')
    for command in (["list"], ["new", "--pairs", PAIR], ["revoke", "x"]):
        assert "tokens.json:2:3: a token needs hash and pairs" in anybody("token", *command, status=125).err
    assert kept.read_text().startswith('{"version": 1')


def test_a_token_that_cannot_be_recorded_is_not_given_out(anybody):
    new(anybody)
    (anybody.state / "audit/audit.jsonl").chmod(0o644)
    got = anybody("token", "new", "--pairs", PAIR, status=125)
    assert got.out == "" and "can be reached by others" in got.err
    (anybody.state / "audit/audit.jsonl").chmod(0o600)
    assert [t["state"] for t in tokens(anybody)] == ["valid", "revoked"]
