# SPDX-License-Identifier: Apache-2.0
"""config show --as FORMAT: what that format cannot say is told on standard error, and the result stays clean."""
import pytest

CONFIG = """{
  mode: { trust: { rules: [{ match: "untrusted:*", trust: "docker" }] } },
  identity: { pairs: [{ channel: "telegram", agent: "g-coder", chat_id: "-100" }] },
  network: { route: { tools: ["web_fetch"], hosts: ["example.org"] } },
}"""


@pytest.mark.parametrize("format, missing", [
    ("openclaw-json5", "openclaw cannot say: mode.trust.rules, identity.pairs, network.route.hosts"),
    ("athena-yaml", "athena cannot say: identity.pairs, network.route.tools, network.route.hosts"),
    ("allowlist-json", "allowlist cannot say: mode.trust.rules, network.route.tools, network.route.hosts"),
])
def test_what_cannot_be_said_is_a_note(creel, format, missing):
    shown = creel("config", "show", "--as", format, "-c", creel.file("creel.json5", CONFIG), status=0)
    assert shown.err == f"note: {missing}\n"
    assert "cannot say" not in shown.out
    assert creel("config", "show", "-q", "--as", format, "-c", "creel.json5", status=0).err == ""


def test_nothing_is_noted_when_everything_is_said(creel):
    creel.file("openclaw.json", '{ agents: { defaults: { sandbox: { mode: "all" } } } }')
    assert creel("config", "show", "--as", "openclaw", "-c", "openclaw.json", status=0).err == ""
