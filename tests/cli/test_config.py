# SPDX-License-Identifier: Apache-2.0
"""creel config: check, show, import."""
import json
import os
import stat
import subprocess

import pytest

SAMPLES = {
    "athena": (".athena/settings.yaml", """sandbox:
  default_mode: none
  rules:
    - match: "client:*"
      mode: light
      deny: [secrets, external_api, git_push]
    - match: "untrusted:*"
      mode: docker
      allow: [bash, read, edit]
      deny: [browser, network, git]
    - match: "analysis:*"
      mode: readonly
      allow: [read, search]
      deny: [write, bash, git]
"""),
    "openclaw": ("openclaw.json", """{
  // what S1 recommends
  agents: { defaults: { sandbox: { mode: "non-main", scope: "session", workspaceAccess: "none",
    docker: { binds: ["/home/user/source:/source:ro"], network: "bridge", env: { LANG: "de_DE.UTF-8", K: "${GH_TOKEN}" } } } },
    list: [ { id: "main", default: true }, { id: "build", sandbox: { mode: "all", docker: { binds: ["/mnt/cache:/cache:rw"] } } } ] },
  tools: { sandbox: { tools: { allow: ["group:messaging", "group:sessions"],
    deny: ["group:runtime", "group:fs", "group:ui", "nodes", "cron", "gateway"] } } },
}"""),
    "allowlist": ("allowlist.json", '{"telegram": [{"agent": "g-coder", "chat_id": "-100123"}]}'),
    "openclaw-net": ("appsettings.json", json.dumps({"OpenClaw": {"Sandbox": {
        "Provider": "None", "Endpoint": "http://localhost:5000", "ApiKey": "env:OPEN_SANDBOX_API_KEY",
        "DefaultTTL": 300, "Tools": {"shell": {"Mode": "Prefer", "Template": "alpine:3.20", "TTL": 300},
                                     "browser": {"Mode": "Require", "Template": "browser:1", "TTL": 600}}}}})),
    "ansible": ("vars.yml", "sandbox_mode: all\nsandbox_network_exec_allow_extra: [npm]\nsandbox_vault_access: ro\n"),
    "creel": ("c.json5", """{ version: 1, profile: "ci", mode: { trust: { rules: [
        { match: "a:*", trust: "light", deny: ["git"] } ] } }, limits: { memory: "1g", cpus: 1.5 },
        identity: { pairs: [ { channel: "telegram", agent: "g", chat_id: "-1" } ] } }"""),
}


def canonical(creel, *args):
    return creel("config", "show", "--all", "--json", *args, status=0).json


def jq(creel, text, program):
    done = subprocess.run(["jq", "-c", program], input=text, capture_output=True, text=True, check=True)
    return json.loads(done.stdout)


# ---- check ----

def test_defaults_alone_are_ok(creel):
    assert creel("config", "check", status=0).out == "ok, 0 errors, 0 warnings\n"
    assert creel("config", "check", "--json", status=0).json == {"ok": True, "errors": 0, "warnings": 0, "findings": []}


@pytest.mark.parametrize("format", SAMPLES)
def test_samples_are_ok(creel, format):
    name, text = SAMPLES[format]
    creel.file(name, text)
    last = creel("config", "check", "-c", f"{format}:{name}", status=0).out.splitlines()[-1]
    assert last.startswith("ok, 0 errors, ")


LINT = [
    ("a rule behind a wider one", "{ mode: { trust: { rules: [ { match: '*', trust: 'light' }, { match: 'a:*', trust: 'docker' } ] } } }"),
    ("a token for every pair", "{ identity: { tokens: [ { ref: 'env:T', pairs: '*' } ] } }"),
    ("Prefer on a public address", "{ serve: { bind: '0.0.0.0:8080' }, tools: { per: { shell: { enforce: 'prefer' } } } }"),
    ("a sensitive bind that can be written", "{ mounts: { binds: ['/srv/keys/.ssh:/keys:rw'] } }"),
    ("an install without root", "{ backend: { setupCommand: 'apt-get install -y python3', user: '1000:1000' } }"),
]


@pytest.mark.parametrize("name, text", LINT, ids=[n for n, _ in LINT])
def test_findings_have_a_place_and_a_fix_and_fail_when_strict(creel, name, text):
    creel.file("c.json5", text)
    got = creel("config", "check", "-c", "c.json5", status=0)
    assert "c.json5:1:" in got.out
    assert "warning: " in got.out
    assert "\tfix: " in got.out
    assert not got.out.endswith(" 0 warnings\n")
    strict = creel("config", "check", "--strict", "-c", "c.json5", status=125)
    assert strict.out.splitlines()[-1].startswith("not ok, 0 errors, ")
    findings = creel("config", "check", "--json", "-c", "c.json5", status=0).json["findings"]
    assert all(f["severity"] in ("warning", "note") and f["code"] and f["file"] == "c.json5" for f in findings)


@pytest.mark.item("S4-23", "C33")
def test_a_backend_that_is_not_built_is_an_error_with_the_way_out(creel):
    name, text = SAMPLES["openclaw-net"]
    creel.file(name, text.replace('"None"', '"OpenSandbox"'))
    got = creel("config", "check", "-c", f"openclaw-net:{name}", status=125)
    assert "appsettings.json:1:" in got.err
    assert "not part of this build" in got.err
    assert got.out.splitlines()[-1].startswith("not ok, 1 error, ")


def test_quiet_check_says_the_result_only(creel):
    creel.file("c.json5", LINT[1][1])
    assert len(creel("config", "check", "-q", "-c", "c.json5", status=0).out.splitlines()) == 1


# ---- show ----

def test_show_prints_what_was_set_and_all_prints_everything(creel):
    creel.file("c.json5", "{ limits: { pids: 7 } }")
    short = creel("config", "show", "-c", "c.json5", "--json", status=0).json
    assert short["limits"] == {"pids": 7}
    whole = canonical(creel, "-c", "c.json5")
    assert whole["limits"]["timeout_s"] == 30
    assert len(str(whole)) > len(str(short))


def test_origin_names_file_profile_flag_and_default(creel):
    creel.file("c.json5", "{ profile: 'ci',\n limits: { pids: 7 } }")
    out = creel("config", "show", "--all", "--origin", "-c", "c.json5", "-e", "limits.timeout_s=9", status=0).out
    line = {key: next(l for l in out.splitlines() if l.strip().startswith((key + ":", f'"{key}":')))
            for key in ["pids", "timeout_s", "memory", "stdout"]}
    assert "c.json5:2:" in line["pids"]
    assert "-e limits.timeout_s" in line["timeout_s"]
    assert "profile ci" in line["memory"]
    assert "built-in" in line["stdout"]


@pytest.mark.parametrize("format", SAMPLES)
def test_shown_text_reads_back_to_the_same_configuration(creel, format):
    name, text = SAMPLES[format]
    creel.file(name, text)
    shown = creel("config", "show", "--all", "-c", f"{format}:{name}", status=0).out
    creel.file("again.json5", shown)
    again = creel("config", "show", "--all", "-c", "creel:again.json5", status=0).out
    assert again == shown


def test_precedence_profile_file_flag(creel):
    creel.file("c.json5", "{ limits: { memory: '3g', pids: 9 } }")
    both = ["--profile", "ci", "-c", "c.json5"]
    limits = canonical(creel, *both, "-e", "limits.pids=11")["limits"]
    assert limits["pids"] == 11
    assert limits["memory"] in ("3g", 3 << 30)
    later = creel.file("d.json5", "{ limits: { pids: 10 } }")
    assert canonical(creel, *both, "-c", later)["limits"]["pids"] == 10


def test_default_files_are_found_and_can_be_left_out(creel):
    creel.file(".athena/settings.yaml", "sandbox:\n  default_mode: light\n")
    assert creel.explain()["mode"]["trust"] == "light"
    assert creel.explain("--no-default-config")["mode"]["trust"] == "none"
    (creel.home / ".openclaw").mkdir()
    (creel.home / ".openclaw/creel.json5").write_text("{ limits: { pids: 5 } }")
    assert creel.explain()["limits"]["pids"] == 5


def test_common_options_stand_before_the_command_too(creel):
    before = creel("--profile", "bilrost", "-e", "limits.pids=5", "config", "show", "--all", status=0).out
    after = creel("config", "show", "--all", "--profile", "bilrost", "-e", "limits.pids=5", status=0).out
    assert before == after


@pytest.mark.item("S3-100", "S3-101", "S3-102", "S3-103")
def test_jq_finds_s3s_block(creel):
    args = ["--profile", "bilrost", "-e", '{"sandbox_network_exec_allow_extra":["npm"]}', "config", "show", "--as"]
    shown = creel(*args, "openclaw-json5", status=0).out
    assert creel(*args, "openclaw", status=0).out == shown
    sandbox = jq(creel, shown, ".agents.defaults.sandbox")
    assert (sandbox["mode"], sandbox["scope"], sandbox["workspaceAccess"]) == ("all", "session", "rw")
    assert sandbox["networkAllow"] == ["web_fetch", "web_search"]
    assert sandbox["networkExecAllow"] == ["gh", "npm"]
    assert sandbox["networkDocker"]["network"] == "bridge"
    assert jq(creel, shown, ".agents.defaults.sandbox.docker.network") == "none"
    assert jq(creel, shown, ".agents.defaults.sandbox.docker.env") == {
        "GH_TOKEN": "${GH_TOKEN}", "BRAVE_API_KEY": "${BRAVE_API_KEY}"}


@pytest.mark.item("S3-102", "S3-71", "S3-74")
def test_jq_finds_the_vault(creel):
    def binds(*sets):
        out = creel("--profile", "bilrost", "-e", "mounts.vault.enabled=true", *sets, "config", "show", "--as", "openclaw",
                    status=0).out
        return jq(creel, out, ".agents.defaults.sandbox.docker.binds")

    assert binds() == ["/workspace-obsidian:/workspace-obsidian:rw"]
    assert binds("-e", "sandbox_vault_access=ro") == ["/workspace-obsidian:/workspace-obsidian:ro"]


@pytest.mark.parametrize("format", ["athena", "openclaw", "openclaw-net", "allowlist", "ansible"])
def test_a_format_shown_as_itself_reads_back(creel, format):
    name, text = SAMPLES[format]
    creel.file(name, text)
    shown = creel("config", "show", "--as", format, "-c", f"{format}:{name}", status=0).out
    creel.file("again", shown)
    creel("config", "check", "-c", f"{format}:again", status=0)
    assert creel("config", "show", "--as", format, "-c", f"{format}:again", status=0).out == shown


# ---- import ----

@pytest.mark.parametrize("format", SAMPLES)
def test_import_check_show_decides_the_same(creel, format):
    name, text = SAMPLES[format]
    creel.file(name, text)
    creel.file("imported.json5", creel("config", "import", format, name, status=0).out)
    creel("config", "check", "-c", "creel:imported.json5", status=0)
    for session in ["agent:main:main", "client:x", "untrusted:x", "analysis:x", "agent:main:telegram:group:1"]:
        for tool in [["--tool", "exec", "--", "true"], ["--tool", "write"], ["--tool", "web_fetch"], []]:
            a, b = (creel.explain("-c", c, "--session", session, *tool)
                    for c in (f"{format}:{name}", "creel:imported.json5"))
            for record in (a, b):
                record["mode"].pop("rule", None)  # its place is in another file
            # C9: Provider None switches S4's axis off only as long as that system's own file stands alone.
            for key in ["verdict", "code", "limits"] + ["mode", "network"] * (format != "openclaw-net"):
                assert a[key] == b[key], (session, tool, key)


def test_import_writes_the_default_file_once(creel):
    creel.file("o.json", SAMPLES["openclaw"][1])
    target = creel.home / ".openclaw/creel.json5"
    got = creel("config", "import", "openclaw", "o.json", "--write", status=0)
    assert str(target) in got.out
    assert stat.S_IMODE(target.stat().st_mode) == 0o600
    assert stat.S_IMODE(target.parent.stat().st_mode) == 0o700
    before = target.read_text()
    assert "group:messaging" in before
    refused = creel("config", "import", "openclaw", "o.json", "--write", status=125)
    assert "exists; --force replaces it" in refused.err
    assert target.read_text() == before
    creel("config", "import", "creel", "/dev/stdin", status=125)


@pytest.mark.parametrize("args", [["--write=out.json5"], ["--write", "out.json5"]], ids=" ".join)
def test_import_writes_to_a_path(creel, args):
    creel.file("o.json", SAMPLES["openclaw"][1])
    creel("config", "import", "openclaw", "o.json", *args, status=0)
    assert sorted(os.listdir(creel.cwd)) == ["o.json", "out.json5"]
    creel("config", "check", "-c", "out.json5", status=0)


def test_import_with_force_replaces_and_keeps_a_symlink(creel):
    creel.file("o.json", SAMPLES["openclaw"][1])
    creel.file("real.json5", "old")
    os.symlink("real.json5", creel.cwd / "link.json5")
    creel("config", "import", "openclaw", "o.json", "--write=link.json5", "--force", status=0)
    assert (creel.cwd / "link.json5").is_symlink()
    assert "group:messaging" in (creel.cwd / "real.json5").read_text()


@pytest.mark.parametrize("path", ["nowhere/out.json5", "o.json/out.json5", "x" * 300])
def test_import_that_cannot_be_written_leaves_nothing(creel, path):
    creel.file("o.json", SAMPLES["openclaw"][1])
    creel("config", "import", "openclaw", "o.json", f"--write={path}", status=125)
    assert os.listdir(creel.cwd) == ["o.json"]


def test_import_of_a_bad_file_writes_nothing(creel):
    creel.file("o.json", "{ nope: 1 }")
    got = creel("config", "import", "openclaw", "o.json", "--write=out.json5", status=125)
    assert got.err.startswith("o.json:1:3: ")
    assert os.listdir(creel.cwd) == ["o.json"]


def test_import_with_config_flag_is_refused(creel):
    creel.file("o.json", "{}")
    creel("-c", "o.json", "config", "import", "openclaw", "o.json", status=125)


def test_content_tells_the_format(creel):
    for format, (name, text) in SAMPLES.items():
        creel.file(name, text)
        a = creel("config", "show", "--all", "-c", name, status=0).out
        b = creel("config", "show", "--all", "-c", f"{format}:{name}", status=0).out
        assert a == b, format


def test_an_import_replaces_files_alone(creel):
    """--force on a device, as root, would have taken the device away."""
    creel.file("a.yaml", "sandbox: {default_mode: light}\n")
    os.mkfifo(creel.cwd / "pipe")
    (creel.cwd / "link").symlink_to("pipe")
    for target in ["pipe", "link", "."]:
        got = creel("config", "import", "athena", "a.yaml", f"--write={target}", "--force", status=125)
        assert f"'{target}' is not a regular file" in got.err
    assert (creel.cwd / "pipe").is_fifo()
    assert sorted(os.listdir(creel.cwd)) == ["a.yaml", "link", "pipe"]


def test_an_import_to_an_empty_name_does_not_go_to_the_default_file(creel):
    creel.file("a.yaml", "sandbox: {default_mode: light}\n")
    assert "nothing behind the equals sign" in creel("config", "import", "athena", "a.yaml", "--write=", status=125).err
    assert not (creel.home / ".openclaw").exists()


def test_an_import_in_a_flag_is_refused_not_ignored(creel):
    got = creel("config", "show", "-e", '{"import": [{"format": "openclaw", "path": "openclaw.json"}]}', status=125)
    assert "import: only a file can import, accepted: -c FORMAT:FILE" in got.err


@pytest.mark.parametrize("format, text, wanted", [
    ("openclaw-net", '{"telegram": []}', "OpenClaw: there is no such section"),
    ("openclaw-net", '{"OpenClaw:Sandbox:Provider": "None"}', None),
    ("openclaw-net", '{"openclaw": {}}', None),
    ("openclaw-net", "{}", None),
    ("ansible", "sandbox: {default_mode: docker}\n", "sandbox_*: there is no such variable"),
    ("ansible", "other: 1\nsandbox_mode: all\n", None),
])
def test_a_file_of_another_format_is_told(creel, format, text, wanted):
    """Both formats leave what is not theirs to others, so a wrong word before the colon would read nothing, silently."""
    creel.file("f", text)
    got = creel("config", "check", "-c", f"{format}:f", status=0)
    assert (wanted in got.out + got.err) if wanted else "no such" not in got.out + got.err
