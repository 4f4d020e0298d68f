# SPDX-License-Identifier: Apache-2.0
"""AppArmor around an installed creel: its profile (packaging/apparmor) takes nothing away, and gives what Ubuntu's restriction of user
namespaces takes. Where the kernel has no such restriction (Debian's has none), the first half is all there is to see.

Runs in the guest alone (run.py), as root.
"""
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys

import pytest

sys.path[:0] = [str(pathlib.Path(__file__).resolve().parents[1] / d) for d in ("escape", "api")]
import services_lab  # noqa: E402
from conftest import CREEL, Box  # noqa: E402

FILES, SECURITY = pathlib.Path("/creel/apparmor"), pathlib.Path("/sys/kernel/security")
BUILT = "/creel/build/src/cli/creel"
PROFILE, PARSER = pathlib.Path("/etc/apparmor.d/creel"), pathlib.Path("/usr/sbin/apparmor_parser")
INSTALLED = pathlib.Path("/usr/local/share/creel/apparmor/creel")
OURS = {"creel-warden", "creel-guard", "creel-egress"}
RESTRICTION = pathlib.Path("/proc/sys/kernel/apparmor_restrict_unprivileged_userns")
EVERYBODY = pathlib.Path("/etc/apparmor.d/unprivileged_userns")  # Ubuntu's, for all programs that have none
ATTACKS = "user-light and (e01_secrets or e13 and overlay or e33_s16)"
HOSTS = ["free", *(["restricted", "restricted-by-profile"] if RESTRICTION.exists() else [])]

# What a container engine gives its containers, as far as it concerns us.
ENGINES = """profile engines flags=(attach_disconnected,mediate_deleted) {
  network, capability, file, umount, signal, unix, ptrace,
  deny mount,
}
"""


def parser(*words):
    return subprocess.run([PARSER, *words], capture_output=True, text=True, check=False)


def loaded():
    return {line.split(" ")[0] for line in (SECURITY / "apparmor/profiles").read_text().splitlines()}


def denied():
    """What AppArmor has refused to our programs since it was last asked."""
    said = []
    try:
        while True:
            said.append(os.read(denied.log, 8192).decode(errors="replace"))
    except BlockingIOError:
        pass
    return [m for m in said if 'apparmor="DENIED"' in m and re.search(r'(comm|profile)="creel-', m)]


@pytest.fixture(scope="module", autouse=True)
def apparmor():
    """Its parser may be of another release, with libraries of its own."""
    if not os.path.ismount(SECURITY):
        subprocess.run(["mount", "-t", "securityfs", "none", SECURITY], check=True)
    assert "apparmor" in (SECURITY / "lsm").read_text().split(",")
    if FILES.exists():
        PARSER.write_text(f'#!/bin/sh\nexec {FILES}/ld-linux-x86-64.so.2 --library-path {FILES} {FILES}/apparmor_parser "$@"\n')
        PARSER.chmod(0o755)
    denied.log = os.open("/dev/kmsg", os.O_RDONLY | os.O_NONBLOCK)
    yield
    os.close(denied.log)


@pytest.fixture(scope="module", params=HOSTS)
def host(apparmor, request):
    if request.param != "free":
        RESTRICTION.write_text("1")
    if request.param == "restricted-by-profile":
        assert parser("-r", EVERYBODY).returncode == 0
    yield request.param
    if request.param == "restricted-by-profile":
        assert parser("-R", EVERYBODY).returncode == 0
    if request.param != "free":
        RESTRICTION.write_text("0")


@pytest.fixture(scope="module")
def profile(host):
    """Loaded as its own first lines say. A parser without user namespaces (before 4.0) gets all the rest."""
    shutil.copy(INSTALLED, PROFILE)
    done = parser("-r", PROFILE)
    if done.returncode and "abi/4.0" in done.stderr and not HOSTS[1:]:
        PROFILE.write_text(re.sub(r"^(abi <abi/4\.0>|  userns),$", "", PROFILE.read_text(), flags=re.MULTILINE))
        done = parser("-r", PROFILE)
    assert done.returncode == 0 and loaded() >= OURS, (done, loaded())
    denied()
    yield host
    found = denied()
    assert parser("-R", PROFILE).returncode == 0
    PROFILE.unlink()
    assert not found, found


@pytest.fixture(params=["root", "user"])
def box(request):
    b = Box(request.param, "light")
    yield b
    b.done()


def creel(box, *words, program=CREEL):
    return subprocess.run(box.as_user([program, *words, "--state-dir", box.home / "state"]), cwd=box.ws, env=box.env, capture_output=True,
                          text=True, timeout=120, check=False)


def findings(done):
    return {f["name"]: f for f in json.loads(done.stdout)["findings"]}


def test_run_call_and_doctor_do_under_the_profile_what_they_do_without(profile, box):
    got = box.run("cat", "/proc/self/attr/current", status=0)
    assert got.out == "creel-warden (unconfined)\n", got
    told = creel(box, "doctor", "--json")
    assert told.returncode == 0 and findings(told)["sandbox"]["state"] == "ok", told
    assert {n: findings(told)[n]["state"] for n in ("user-namespaces", "landlock", "time-namespace")} == \
        {"user-namespaces": "ok", "landlock": "ok", "time-namespace": "ok"}, told
    assert findings(told).get("overlay", {"state": "ok"})["state"] == "ok", told
    try:
        for text in ("echo kept > /tmp/note", "cat /tmp/note /proc/self/attr/current"):
            got = creel(box, "call", "--text", "exec", text)
            assert got.returncode == 0, got
        assert got.stdout == "kept\ncreel-warden (unconfined)\n", got
    finally:
        creel(box, "kill", "--all")


def test_the_walls_stand_under_the_profile(profile):
    """Attacks of tests/escape, with their controls outside, against the installed programs."""
    files = [f"/creel/tests/escape/{f}" for f in ("test_walls.py", "test_files.py")]
    done = subprocess.run([sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", *files, "-k", ATTACKS], capture_output=True, text=True,
                          timeout=300, check=False, cwd="/creel")
    assert done.returncode == 0 and re.search(r"\b[4-9] passed", done.stdout), done.stdout


def test_the_services_lock_themselves_in_under_the_profile(profile, monkeypatch):
    monkeypatch.setattr(services_lab, "CREEL", CREEL)
    monkeypatch.setattr(services_lab, "CREELD", CREEL.with_name("creeld"))
    s = services_lab.Services("user")
    try:
        s.start()
        for name in ("guard", "egress"):
            label = pathlib.Path(f"/proc/{s.service(f'creel-{name}')}/attr/current").read_text()
            assert label.strip("\0\n") == f"creel-{name} (unconfined)", label
        got = s.run("shell_exec", {"cmd": ["python3", "-c", "print(6*7)"]}).json
        assert got["ok"] and got["stdout"] == "42\n", got
    finally:
        s.close()


def test_a_container_engines_profile_is_told_as_what_refuses(tmp_path, box):
    """Docker and its kin forbid mounts to what they start, unless told otherwise."""
    text, container = tmp_path / "engines", pathlib.Path("/.dockerenv")
    text.write_text(ENGINES)
    assert parser("-r", text).returncode == 0 and not denied()
    container.touch()
    try:
        confined = ["sh", "-c", 'echo exec engines >/proc/self/attr/exec && exec "$@"', "sh", CREEL]
        got = [subprocess.run(box.as_user([*confined, *words]), cwd=box.ws, env=box.env, capture_output=True, text=True, timeout=120, check=False)
               for words in (["run", "--", "true"], ["doctor", "--json"])]
        assert [g.returncode for g in got] == [125, 125] and "AppArmor" in got[0].stderr and "apparmor=unconfined" in got[0].stderr, got
        assert findings(got[1])["sandbox"]["cause"] in got[0].stderr, got
    finally:
        container.unlink()
        parser("-R", text)
        denied()  # of those there may be some


if HOSTS[1:]:
    @pytest.mark.parametrize("host", HOSTS[1:], indirect=True)
    def test_without_the_profile_run_call_and_doctor_tell_the_cause_and_the_fix(host):
        box = Box("user", "light")
        try:
            check_restricted(box)
        finally:
            if PROFILE.exists():
                parser("-R", PROFILE)
                PROFILE.unlink()
            box.done()


def check_restricted(box):
    """What is said, and that the one command which is named does away with it."""
    assert subprocess.run(box.as_user(["unshare", "-Urm", "true"]), capture_output=True, check=False).returncode, "the control: nothing is restricted"
    told = creel(box, "doctor", "--json")
    about = findings(told)["user-namespaces"]
    failed = {n for n, f in findings(told).items() if f["state"] == "fail"}
    assert told.returncode == 125 and failed == {"user-namespaces", "sandbox"}, told
    assert "AppArmor restricts user namespaces" in about["cause"] and str(INSTALLED) in about["fix"], about
    for words in (["run", "--", "true"], ["call", "--text", "exec", "true"]):
        got = subprocess.run(box.as_user([CREEL, words[0], "--state-dir", box.home / "state", *words[1:]]), cwd=box.ws, env=box.env,
                             capture_output=True, text=True, timeout=120, check=False)
        assert got.returncode == 125 and about["cause"] in got.stderr and f"fix: {about['fix']}" in got.stderr, got
    got = subprocess.run(box.as_user([BUILT, "run", "--", "true"]), cwd=box.ws, env=box.env, capture_output=True, text=True, check=False)
    assert got.returncode == 125 and f"sysctl -w kernel.{RESTRICTION.name}=0" in got.stderr, "no profile is for a build tree"
    container = pathlib.Path("/.dockerenv")
    container.touch()
    got = creel(box, "doctor", "--json")
    container.unlink()
    assert findings(got)["user-namespaces"]["fix"].startswith("on the host: "), got
    subprocess.run(["sh", "-c", about["fix"].replace("sudo ", "")], check=True, env={**os.environ, "PATH": f"{PARSER.parent}:{os.environ['PATH']}"})
    assert creel(box, "doctor").returncode == 0
    box.run("true", status=0)
