# SPDX-License-Identifier: Apache-2.0
"""What OpenClaw 2026.9 itself answered to `sandbox explain --json`, and what creel answers to the same."""
import json
import os
import pathlib
import re

import pytest

VECTORS = pathlib.Path(__file__).resolve().parents[1] / "vectors/openclaw-explain"
vectors = [json.loads(p.read_text()) for p in sorted(VECTORS.glob("*.json"))]

TOP = ["agentId", "sessionKey", "mainSessionKey", "elevated"]
SANDBOX = ["mode", "scope", "backend", "workspaceAccess", "workspaceRoot", "workspaceSource", "sessionIsSandboxed",
           "tools"]


# Every member of an answer is compared, apart from those that the vectors left out.
LEFT_OUT = {"docsUrl", "fixIt", "effectiveHostWorkspaceRoot"}
COMPARED = {"sandbox", *TOP, *SANDBOX, "workspaceMounts", "runtimeWorkdir"}


def test_there_are_vectors_to_compare_with():
    assert len(vectors) >= 552


def test_every_member_of_the_vectors_is_compared():
    for vector in vectors:
        answer = vector.get("explain", {"sandbox": {}})
        assert {*answer, *answer["sandbox"]} - LEFT_OUT <= COMPARED, vector["name"]


def in_home(value, home):
    """The vectors write the home directory as ~."""
    if isinstance(value, str):
        return str(home) + value[1:] if re.match(r"~($|[/\\])", value) else value
    if isinstance(value, list):
        return [in_home(v, home) for v in value]
    if isinstance(value, dict):
        return {k: in_home(v, home) for k, v in value.items()}
    return value


def run(creel, vector):
    config = creel.home / ".openclaw/openclaw.json"
    config.parent.mkdir()
    text = vector["config"]
    config.write_text(text.replace('"~/', f'"{creel.home}/') if vector["name"] == "121" else text)
    for name, text in vector.get("files", {}).items():
        path = pathlib.Path(in_home(name, creel.home))
        path = path if path.is_absolute() else config.parent / path
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text if isinstance(text, str) else json.dumps(text))
    return creel("explain", "--compat", "openclaw-2026.9", "--as", "openclaw", "--json", "-c", f"openclaw:{config}",
                 *vector["args"], env=in_home(vector.get("env", {}), creel.home), cwd=creel.home)


def is_hidden_directory(path, sandbox, home):
    """<workspace> stands for a directory below the root that is named by a hash; in old vectors also an agent's own."""
    if sandbox["workspaceAccess"] == "rw":
        return re.fullmatch(re.escape(f"{home}/.openclaw/workspace-") + r"[a-z0-9-]+", path)
    root = os.path.normpath(os.path.join(home, sandbox["workspaceRoot"].strip())).rstrip("/")
    return re.fullmatch(re.escape(root) + r"/[a-z0-9._-]*[0-9a-f]{8,}", path)


def check_mounts(got, want, home):
    assert len(got["workspaceMounts"]) == len(want["workspaceMounts"])
    for g, w in zip(got["workspaceMounts"], want["workspaceMounts"]):
        if w["hostRoot"] == "<workspace>":
            assert is_hidden_directory(g["hostRoot"], want, home), g
            w = {**w, "hostRoot": g["hostRoot"]}
        assert g == w


def check_workdir(got, want):
    """On an ssh host the directory is named by a hash of a home directory; only scope shared has a fixed name."""
    hashed = re.compile(r"(?<=/openclaw-ssh-)(workspace-[0-9a-f]{32}|<workspace>)")
    got, want = [hashed.sub("*", d["runtimeWorkdir"]) if "runtimeWorkdir" in d else None for d in (got, want)]
    assert got == want


@pytest.mark.parametrize("vector", vectors, ids=lambda v: v["name"])
def test_answer_is_openclaws(creel, vector):
    got = run(creel, vector)
    if vector["exit"] != 0:
        assert got.status in (125, 126), got
        assert got.json["ok"] is False
        assert got.json["error"]["type"] == "cli_error"
        return
    assert got.status == 0, got
    want, have = in_home(vector["explain"], creel.home), got.json
    for key in TOP:
        assert have[key] == want[key], key
    for key in SANDBOX:
        assert have["sandbox"][key] == want["sandbox"][key], key
    check_mounts(have["sandbox"], want["sandbox"], creel.home)
    check_workdir(have["sandbox"], want["sandbox"])


def test_members_stand_in_openclaws_order(creel):
    creel.file("c.json", {"agents": {"defaults": {"sandbox": {"mode": "all"}}}})
    out = creel("explain", "--as", "openclaw", "--json", "-c", "openclaw:c.json", status=0).json
    assert list(out) == ["docsUrl", "agentId", "sessionKey", "mainSessionKey", "sandbox", "elevated", "fixIt"]
    assert list(out["sandbox"]) == [
        "mode", "scope", "backend", "workspaceAccess", "workspaceRoot", "effectiveHostWorkspaceRoot", "runtimeWorkdir",
        "workspaceMounts", "workspaceSource", "sessionIsSandboxed", "tools"]
    assert list(out["sandbox"]["tools"]) == ["allow", "deny", "sources"]
    assert out["fixIt"][:2] == ["agents.defaults.sandbox.mode=off", "agents.entries.*.sandbox.mode=off"]


def test_text_form_has_openclaws_headings(creel):
    creel.file("c.json", {"agents": {"defaults": {"sandbox": {"mode": "non-main"}}}})
    out = creel("explain", "--compat", "openclaw-2026.9", "--as", "openclaw", "-c", "openclaw:c.json", "--session",
                "agent:main:telegram:group:1", status=0).out
    for heading in ["Effective sandbox:", "Sandbox tool policy:", "Elevated:", "Hint:", "Fix-it:", "Docs:",
                    "runtime: sandboxed", "mode: non-main scope: agent", "channel: "]:
        assert heading in out


def test_tool_decides_the_exit_status_of_openclaws_shape(creel):
    creel.file("c.json", {"agents": {"defaults": {"sandbox": {"mode": "all"}}}, "tools": {"deny": ["exec"]}})
    common = ["explain", "--compat", "openclaw-2026.9", "--as", "openclaw", "--json", "-c", "openclaw:c.json"]
    assert creel(*common, status=0).json == creel(*common, "--tool", "exec", "--", "true", status=126).json
