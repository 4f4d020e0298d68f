# SPDX-License-Identifier: Apache-2.0
"""Who serves without a cgroup of their own is told at once that jobs will be refused, and how to mend it; tests/vm has those who have one."""
import os

import pytest

from services_lab import Services

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
