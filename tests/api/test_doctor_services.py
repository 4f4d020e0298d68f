# SPDX-License-Identifier: Apache-2.0
"""`creel doctor` beside running services: what it says of each, and with what it would be put right."""
import json
import os
import shlex
import socket
import subprocess

import pytest

from guard_lab import CREEL, wait_for
from services_lab import Services
from test_tls import Secure
from tls_lab import Cert

SERVICES = {"guard", "runner", "egress"}


def doctor(s, *more, cwd=None):
    """The findings about services, by name."""
    argv = [*s.become(), str(CREEL), "doctor", "--json", "--no-default-config", "-c", f"allowlist:{s.allowlist}", "--state-dir", str(s.state), "-e",
            f"serve.guard=127.0.0.1:{s.port}", *s.options, *more]
    done = subprocess.run(argv, env=s.env, capture_output=True, text=True, timeout=120, check=False, cwd=cwd or s.home)
    assert done.stdout, done
    said = json.loads(done.stdout)
    assert said["ok"] == (done.returncode == 0), done
    assert all(f["state"] == "ok" or (f.get("cause") and f.get("fix")) for f in said["findings"] if f["name"] != "container"), said
    return {f["name"]: f for f in said["findings"]}


@pytest.fixture(params=["root", "user"])
def user(request):
    return request.param


@pytest.fixture
def make(user):
    made = []

    def one(kind=Services, *args, **kw):
        made.append(kind(user, *args, **kw))
        return made[-1]

    yield one
    for s in made:
        s.close()


@pytest.mark.parametrize("where", ["home", "/"])
def test_a_sandbox_is_tried_also_where_this_configuration_lets_no_such_command_run(make, where):
    """Tier-1 has four programs, and `true` is none of them: that is no fault of the host."""
    s = make(word="all")
    found = doctor(s, cwd=s.home if where == "home" else where)["sandbox"]
    assert found["state"] == "ok" and "every wall held" in found["found"], found
    assert "is not in tools.exec.programs" in found["found"], found


@pytest.mark.parametrize("where", ["home", "/"])
def test_a_sandbox_is_tried_also_in_a_directory_that_no_sandbox_may_see(make, where):
    s = make(word="all")
    env = {**s.env, "HOME": str(s.home)}
    argv = [*s.become(), str(CREEL), "doctor", "--json", "--no-default-config", "--state-dir", str(s.state)]
    done = subprocess.run(argv, env=env, capture_output=True, text=True, timeout=120, check=False, cwd=s.home if where == "home" else where)
    found = {f["name"]: f for f in json.loads(done.stdout)["findings"]}["sandbox"]
    assert found["state"] == "ok" and "every wall held" in found["found"] and "no sandbox may see" in found["found"], found


def test_all_is_well_and_each_service_says_its_version_and_walls(make):
    s = make(word="all").start()
    found = doctor(s)
    for name in SERVICES | {"runner-token", "tokens", "state", "allowlist", "sandbox"}:
        assert found[name]["state"] == "ok", found[name]
    version = subprocess.run([str(CREEL), "version"], capture_output=True, text=True, check=True, timeout=60).stdout.split()[-1]
    assert all(f"version {version} answers" in found[name]["found"] for name in SERVICES)
    assert all("its walls hold" in found[name]["found"] for name in ("guard", "egress"))
    assert f"127.0.0.1:{s.port}" in found["guard"]["found"] and "2 pairs" in found["allowlist"]["found"]
    s.run("file_write", {"path": "a", "content": "b"})  # now there is a log
    assert doctor(s)["audit"]["state"] == "ok"
    text = subprocess.run([*s.become(), str(CREEL), "doctor", "--no-default-config", "--state-dir", str(s.state), "-e", f"serve.guard=127.0.0.1:{s.port}", *s.options],
                          env=s.env, capture_output=True, text=True, timeout=120, check=False).stdout
    assert "ok    guard " in text and "2 pairs of agent and chat may call, says the guard" in text  # although doctor was given no allowlist


def test_where_no_service_was_set_up_nothing_is_said_of_any(tmp_path):
    done = subprocess.run([str(CREEL), "doctor", "--json", "--no-default-config", "--state-dir", str(tmp_path / "s")], capture_output=True, text=True, timeout=120, check=False)
    assert done.stdout, done
    assert not SERVICES & {f["name"] for f in json.loads(done.stdout)["findings"]}, done


@pytest.mark.parametrize("runs,down", [("runner", "guard"), ("guard", "runner")])
def test_one_that_is_down_beside_another_that_runs_is_a_failure(make, runs, down):
    s = make(word=runs).start()
    found = doctor(s)
    assert found[runs]["state"] == "ok", found[runs]
    assert found[down]["state"] == "fail" and "does not answer" in found[down]["found"] and found[down]["fix"].startswith("creel serve all"), found[down]
    assert found["egress"]["state"] == "warn"


def test_services_that_nobody_has_started_are_told_of_and_are_no_failure(make):
    s = make()
    found = doctor(s)
    assert all(found[name]["state"] == "warn" and found[name]["fix"] == f"creel serve all --state-dir '{s.state}'" for name in SERVICES), found


def test_a_missing_token_is_told_with_the_command_that_makes_it(make):
    """No failure as long as no service is there: who only runs commands needs none."""
    s = make(tokens=False)
    found = doctor(s)
    for name in ("runner-token", "tokens"):
        assert found[name]["state"] == "warn" and found[name]["fix"].startswith("creel token new --"), found[name]
        fix = shlex.split(found[name]["fix"])
        subprocess.run([*s.become(), str(CREEL), *fix[1:]], env=s.env, check=True, timeout=60, stdout=subprocess.DEVNULL)
        assert doctor(s)[name]["state"] == "ok"
    s.start()
    assert doctor(s)["guard"]["state"] == "ok"


def test_a_runner_that_cannot_start_beside_a_guard_is_a_failure(make):
    s = make(word="guard")
    s.start()
    (s.state / "runner.token").unlink()
    found = doctor(s)
    assert found["guard"]["state"] == "ok" and found["runner-token"]["state"] == "fail", found
    assert found["runner-token"]["fix"].startswith("creel token new --runner")


def test_an_empty_allowlist_is_told(make):
    s = make(word="guard")
    s.pairs()
    s.start()
    found = doctor(s)
    assert found["allowlist"]["state"] == "warn" and "0 pairs" in found["allowlist"]["found"], found["allowlist"]


def test_an_allowlist_that_cannot_be_read_is_an_error_with_its_place(make):
    s = make()
    s.allowlist.write_text('{"telegram": [')
    done = subprocess.run([*s.become(), str(CREEL), "doctor", "--no-default-config", "-c", f"allowlist:{s.allowlist}", "--state-dir", str(s.state)], env=s.env,
                          capture_output=True, text=True, timeout=120, check=False)
    assert done.returncode == 125 and "allowlist.json:1:" in done.stderr, done


def test_a_guard_behind_tls_is_asked_over_tls_and_its_certificate_is_looked_at(make):
    s = make(Secure, "all").start()
    found = doctor(s)
    assert found["guard"]["state"] == "ok" and "over TLS" in found["guard"]["found"], found["guard"]
    assert found["tls"]["state"] == "ok" and "good until" in found["tls"]["found"], found["tls"]
    late = Cert(s.dir, "late", dates=("20200101000000Z", "20200201000000Z"), give=s.give)
    found = doctor(s, *late.options())
    assert found["tls"]["state"] == "fail" and str(late.cert) in found["tls"]["cause"] and "has expired at 2020-02-01" in found["tls"]["cause"], found["tls"]
    assert "put a renewed one there" in found["tls"]["fix"]
    soon = Cert(s.dir, "soon", days=5, give=s.give)
    found = doctor(s, *soon.options())
    assert found["tls"]["state"] == "warn" and "within 14 days" in found["tls"]["cause"], found["tls"]
    assert found["tls-shown"]["state"] == "warn" and "kill -HUP" in found["tls-shown"]["fix"]
    s.cert.key.chmod(0o644)
    found = doctor(s)
    assert found["tls"]["state"] == "fail" and found["tls"]["fix"].startswith("chmod 600 "), found["tls"]


@pytest.mark.parametrize("what", ["state", "audit"])
def test_a_place_that_takes_no_writes_is_told(what):
    s = Services("user")
    try:
        if what == "audit":
            s.start()
            assert s.run("file_write", {"path": "a", "content": "b"}).status == 200
            s.stop()
            place, mode = s.state / "audit" / "audit.jsonl", 0o400
        else:
            place, mode = s.state, 0o500
        place.chmod(mode)
        found = doctor(s)
        assert found[what]["state"] == "fail" and "Permission denied" in found[what]["cause"], found[what]
        place.chmod(0o700)
    finally:
        s.close()


def test_what_answers_with_something_else_is_no_guard(make):
    """Somebody else's server on the port: said, and not believed."""
    s = make()
    server = subprocess.Popen(["python3", "-m", "http.server", "--bind", "127.0.0.1", str(s.port)], cwd=s.home, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
    try:
        wait_for("it listens", lambda: socket.socket().connect_ex(("127.0.0.1", s.port)) == 0)
        found = doctor(s)
        assert found["guard"]["state"] == "warn" and "does not answer" in found["guard"]["found"], found["guard"]
    finally:
        server.kill()
        server.wait(60)


def test_the_static_creel_has_neither_http_nor_tls():
    symbols = subprocess.run(["nm", str(CREEL)], capture_output=True, text=True, check=False, timeout=60).stdout
    assert "http_server_new" not in symbols and "SSL_new" not in symbols and os.path.getsize(CREEL) > 0
