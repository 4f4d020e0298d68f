# SPDX-License-Identifier: Apache-2.0
"""Who serves without a cgroup of their own is told at once that jobs will be refused, and how to mend it; tests/vm has those who have one. And how many sandboxes callers can have."""
import concurrent.futures
import os

import pytest

from runner_lab import as_users
from services_lab import Ordinary, Services, audit, call_body, running

WORDS = "tier-1 calls are refused: no cgroup can hold their limits"


@pytest.mark.parametrize("optional", [False, True])
def test_it_is_said_at_the_start_that_no_cgroup_can_hold_limits(optional):
    s = Services("user")
    if not optional:
        s.options = [o for o in s.options if o not in ("-e", "walls.optional=limits")]
    try:
        s.start()
        refused = s.run("shell_exec", {"cmd": ["python3", "-c", "print(6*7)"]})
        held = refused.status == 200 and refused.json["ok"]  # where this user has a group
        assert held or not optional, refused
        assert (WORDS in s.said()) is not held
        assert held or "walls.optional=limits" in s.said()
    finally:
        s.close()
    assert os.getuid() != 0 or not optional or held


@pytest.mark.parametrize("user", as_users())
def test_a_caller_who_names_many_sessions_gets_as_many_sandboxes_as_may_live(user):
    def ask(s, name):
        return s.call("exec", {"command": ["true"]}, session=f"agent:g-coder:{name}")

    s = Ordinary(user, serve={"max_sandboxes": 3})
    with running(s):
        assert [ask(s, n).status for n in ("a", "b", "c")] == [200, 200, 200]
        more = ask(s, "d")
        assert (more.status, more.json["error"]) == (503, "sandbox_unavailable") and "3 sandboxes live already" in more.json["message"], more
        assert [ask(s, n).status for n in ("a", "b", "c")] == [200, 200, 200], "those that there are go on"
        assert s.ask("DELETE", "/v1/sessions/agent:g-coder:b").json == {"ended": 1}
        assert [ask(s, n).status for n in ("d", "b")] == [200, 503]
        with concurrent.futures.ThreadPoolExecutor(8) as pool:
            assert {got.status for got in pool.map(lambda i: ask(s, f"more{i}"), range(16))} == {503}
        assert len(s.ask("GET", "/v1/sessions").json["sessions"]) == 3
        s.creel("call", "-e", "serve.max_sandboxes=3", "-e", "mode.when=all", "--session", "agent:main:mine", "exec", "--", "true")
    s = Ordinary(user, serve={"max_sandboxes": 0})
    with running(s):
        assert [ask(s, n).status for n in ("a", "b")] == [200, 200]


@pytest.mark.serial
@pytest.mark.parametrize("user", as_users())
def test_many_tokens_of_one_chat_share_its_sandbox(user):
    """Each worker has sessions of several tokens open, and with each a connection to the one sandbox that they share."""
    s = Ordinary(user)
    tokens = [s.new_token("--pairs", "*") for _ in range(30)]
    with running(s), concurrent.futures.ThreadPoolExecutor(150) as pool:
        for _ in range(3):
            asked = [pool.submit(s.ask, "POST", "/v1/calls", call_body(["echo", "on"]), tokens[i % len(tokens)]) for i in range(250)]
            got = [f.result() for f in asked]
            assert {g.status for g in got} == {200}, [g.body for g in got if g.status != 200][:3]
        made = [r for r in audit(s) if r.get("what") in ("created", "recreated")]
        assert len(made) == 1, made
