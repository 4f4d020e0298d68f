# SPDX-License-Identifier: Apache-2.0
"""An export for incidents has everything about a call or session, and no secret that went through it."""
import base64
import json
import stat

import pytest

SECRETS = {"GH_TOKEN": "S3cr3t-aaaa-0001", "FILE_TOKEN": "S3cr3t-bbbb-0002", "MY_API_KEY": "S3cr3t-cccc-0003", "RAW": "S3cr3t-dddd-0004",
           "LITERAL": "S3cr3t-eeee-0005", "TYPED": "S3cr3t-ffff-0006", "BEARER": "S3cr3t-gggg-0007"}
CONFIG = """{
  env: { secretsFile: "%(file)s", secrets: ["FILE_TOKEN"], secret_scope: "both", set: { API_SECRET: "%(LITERAL)s" } },
  identity: { tokens: [ { ref: "env:GH_TOKEN", pairs: "*" }, { ref: "raw:%(RAW)s", pairs: "*" } ] },
}"""


def export(s, *args, **kw):
    return s("incident", "export", *args, status=0, **kw)


@pytest.fixture
def story(sessions):
    """A session into which secrets of every kind went, one call of another session, and one that was refused."""
    env = {name: SECRETS[name] for name in ("GH_TOKEN", "MY_API_KEY")}
    sessions.file("secrets.env", f"FILE_TOKEN={SECRETS['FILE_TOKEN']}\n")
    sessions.file("c.json5", CONFIG % {"file": sessions.cwd / "secrets.env", **SECRETS})
    for name in ("secrets.env", "c.json5"):
        (sessions.cwd / name).chmod(0o600)
        sessions.give(sessions.cwd / name)
    known = ["-c", "creel:c.json5"]

    def exec_(*argv, session="agent:main:incident", status=0, known=known, request=None, sandbox="light"):
        name = ["--request-id", request] if request else []
        return sessions("call", *known, "--session", session, "--sandbox", sandbox, *name, "exec", "--", *argv, env=env, status=status).json

    exec_("sh", "-c", f"echo $FILE_TOKEN {SECRETS['FILE_TOKEN']} {SECRETS['GH_TOKEN']} $API_SECRET", request="req-one")
    # Typed without the configuration that knows them: the log has some as they are.
    exec_("echo", SECRETS["GH_TOKEN"], SECRETS["MY_API_KEY"], SECRETS["RAW"], SECRETS["LITERAL"], SECRETS["FILE_TOKEN"], known=["--no-default-config"])
    exec_("echo", base64.b64encode(SECRETS["FILE_TOKEN"].encode()).decode(), SECRETS["GH_TOKEN"].encode().hex(), known=["--no-default-config"])
    exec_("echo", f"raw:{SECRETS['TYPED']}", f"--password={SECRETS['TYPED']}", f"OTHER_TOKEN='{SECRETS['TYPED']}'", f'{{"api_key": "{SECRETS["TYPED"]}"}}',
          f"Authorization: Bearer {SECRETS['BEARER']}", "creel_" + "ab" * 32, known=["--no-default-config"])
    exec_("true", session="agent:main:other")
    exec_("ls", sandbox="readonly", status=126, request="req-refused")
    sessions.known, sessions.secret_env = known, env
    return sessions


@pytest.mark.item("S4-52")
def test_an_export_of_a_session_is_whole_and_holds_no_secret(story):
    log = (story.state / "audit/audit.jsonl").read_text()
    assert SECRETS["MY_API_KEY"] in log  # or nothing is shown here
    assert SECRETS["TYPED"] not in log and SECRETS["BEARER"] not in log  # a mark stood before them
    got = export(story, *story.known, "--session", "agent:main:incident", env=story.secret_env)
    for name, value in SECRETS.items():
        for form in (value, base64.b64encode(value.encode()).decode().rstrip("="), value.encode().hex()):
            assert form not in got.out and form not in got.err, (name, form)
    assert "ab" * 32 not in got.out
    doc = got.json
    assert [c["decided"]["verdict"] for c in doc["calls"]] == ["ALLOW"] * 4 + ["DENY"]
    assert all(c["finished"]["decided"] == c["decided"]["seq"] for c in doc["calls"])
    assert [d["denial"]["layer"] for d in doc["denials"]] == ["policy"]
    assert [(s["key"], [e["what"] for e in s["events"]][:1]) for s in doc["sandboxes"]] == [("agent:main:incident", ["created"])]
    assert doc["log"]["whole"] and doc["session"] == "agent:main:incident" and not doc["truncated"]
    argv = json.dumps([c["decided"]["argv"] for c in doc["calls"] if "argv" in c["decided"]])
    assert "${MY_API_KEY}" in argv and "raw:<redacted>" in argv and "Bearer <redacted>" in argv and "--password=<redacted>" in argv


def test_an_export_of_a_request_has_that_call_and_the_life_of_its_sandbox(story):
    story("kill", "--session", "agent:main:incident", status=0)
    doc = export(story, *story.known, "--request", "req-one", env=story.secret_env).json
    assert [c["decided"]["request"] for c in doc["calls"]] == ["req-one"] and doc["denials"] == []
    assert [e["what"] for e in doc["sandboxes"][0]["events"]][-1] == "killed"
    doc = export(story, "--request", "req-refused").json
    assert doc["calls"][0]["decided"]["code"] == "capability_denied" and len(doc["denials"]) == 1


def test_a_file_is_new_private_and_never_overwritten(story):
    story.give(story.cwd)
    export(story, "--request", "req-one", "--output", "out.json")
    made = story.cwd / "out.json"
    assert stat.S_IMODE(made.stat().st_mode) == 0o600 and json.loads(made.read_text())["request"] == "req-one"
    before = made.read_bytes()
    got = story("incident", "export", "--request", "req-refused", "--output", "out.json", status=125)
    assert "is not overwritten" in got.err and made.read_bytes() == before
    (story.cwd / "link").symlink_to(story.cwd / "nowhere")
    story("incident", "export", "--request", "req-one", "--output", "link", status=125)
    assert not (story.cwd / "nowhere").exists()


@pytest.mark.parametrize("args,status,word", [
    ([], 125, "either --request ID or --session KEY"), (["--request", "a", "--session", "b"], 125, "either"), (["--request", ""], 125, "blank"),
    (["--request", "none"], 125, "audit directory")])
def test_what_is_not_there_or_not_said_is_an_error(anybody, args, status, word):
    got = anybody("incident", "export", *args, status=status)
    assert word in got.err and got.out == ""


def test_a_request_that_the_log_does_not_have_is_an_error(anybody):
    anybody.sh("true")
    assert "has nothing about request 'none'" in anybody("incident", "export", "--request", "none", status=125).err
