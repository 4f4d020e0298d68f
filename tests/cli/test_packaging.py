# SPDX-License-Identifier: Apache-2.0
"""What packages of creel bring along."""
import os
import pathlib
import re
import shlex
import shutil
import subprocess

import pytest
from conftest import CREEL

ROOT = pathlib.Path(__file__).resolve().parents[2]
PROFILE = ROOT / "packaging/apparmor/creel"
# Another parser than this machine's, with its options: that of a newer release, unpacked somewhere.
PARSER = shlex.split(os.environ.get("CREEL_APPARMOR_PARSER") or shutil.which("apparmor_parser", path="/usr/sbin:/sbin:/usr/bin") or "")


def compiled(text):
    """The profile as the kernel takes it; nothing is loaded."""
    return subprocess.run([*PARSER, "--skip-kernel-load", "--skip-cache", "--stdout"], input=text.encode(), capture_output=True, check=False)


@pytest.fixture(autouse=True)
def needs_parser(request):
    if "compiles" in request.node.name and not PARSER:
        (pytest.fail if os.environ.get("CREEL_MUST_WORK") else pytest.skip)("needs apparmor_parser")


def test_the_apparmor_profile_compiles():
    """user namespaces are a right of their own since AppArmor 4: an older parser is asked about all the rest."""
    text = PROFILE.read_text()
    if b"abi/4.0" in compiled("abi <abi/4.0>,\n").stderr:
        text = re.sub(r"^(abi <abi/4\.0>|  userns),$", "", text, flags=re.MULTILINE)
    done = compiled(text)
    assert done.returncode == 0 and b"creel-warden" in done.stdout, done.stderr
    broken = compiled(text.replace("flags=(unconfined)", "flags=(unconfind)"))
    assert broken.returncode != 0, "the control: this parser accepts anything"


def test_the_apparmor_profile_is_for_the_warden_where_it_is_installed():
    (pattern,) = re.findall(r"^profile creel-warden (\S+) ", PROFILE.read_text(), re.MULTILINE)
    assert pattern == "/usr/{local/,}libexec/creel/creel-warden"
    build = (ROOT / "src/sandbox/meson.build").read_text()
    assert "'creel-warden'" in build and "install_dir : get_option('libexecdir') / 'creel'" in build
    assert "install_data('apparmor/creel', install_dir : get_option('datadir') / 'creel/apparmor')" in (ROOT / "packaging/meson.build").read_text()
    advice = (ROOT / "src/sandbox/advice.c").read_text()
    assert 'install -m 644 " CREEL_APPARMOR' in advice, "doctor names another file"
    for place in ("/usr/libexec/creel/", "/usr/local/libexec/creel/"):
        assert f'"{place}"' in advice, "advice takes another creel for the installed one"


def test_every_program_that_makes_user_namespaces_has_a_profile():
    """The warden, and the services that lock themselves in (server/jail.h)."""
    jailed = {f"creel-{p.parent.name}" for p in (ROOT / "src/server").glob("*/main.c") if "server/jail.h" in p.read_text() or "jail_root(" in p.read_text()}
    assert {"creel-guard", "creel-egress"} <= jailed
    found = re.findall(r"^profile (\S+) /usr/{local/,}libexec/creel/(\S+) flags=\(unconfined\) {\n  userns,$", PROFILE.read_text(), re.MULTILINE)
    assert {name for name, path in found if name == path} == {"creel-warden", *jailed}, found


UNITS = ("creeld.service", "creel-guard.socket", "creel-runner.socket")


def unit_text(who, name, bindir):
    path = ROOT / "packaging/systemd" / who / name
    return path.read_text() if path.exists() else path.with_name(name + ".in").read_text().replace("@bindir@", str(bindir))


@pytest.mark.parametrize("who", ["system", "user"])
def test_systemd_takes_the_units_as_they_are(who, tmp_path):
    analyze = shutil.which("systemd-analyze")
    if not analyze:
        (pytest.fail if os.environ.get("CREEL_MUST_WORK") else pytest.skip)("needs systemd-analyze")
    program = tmp_path / "creeld"
    program.write_text("#!/bin/sh\n")
    program.chmod(0o755)
    env = {**os.environ, "XDG_RUNTIME_DIR": str(tmp_path), "HOME": str(tmp_path)}

    def verify(change=lambda text: text):
        for name in UNITS:
            (tmp_path / name).write_text(change(unit_text(who, name, tmp_path)))
        done = subprocess.run([analyze, "--man=no", f"--{who}", "verify", *(str(tmp_path / n) for n in UNITS)], capture_output=True, text=True, timeout=60, check=False, env=env)
        return [line for line in done.stderr.splitlines() if any(n in line for n in UNITS)]

    assert verify() == []
    assert verify(lambda text: text.replace("KillMode=mixed", "KillMode=mixd")), "the control: nothing is noticed"


@pytest.mark.parametrize("who", ["system", "user"])
def test_the_units_name_their_sockets_as_creeld_wants_them(who):
    for name in ("guard", "runner"):
        text = unit_text(who, f"creel-{name}.socket", "/usr/bin")
        assert f"FileDescriptorName={name}" in text and "Service=creeld.service" in text
    service = unit_text(who, "creeld.service", "/usr/bin")
    assert "Type=notify" in service and "Delegate=yes" in service
    for breaks in ("PrivateUsers=", "ProtectProc=", "RestrictNamespaces=", "SystemCallFilter="):
        assert not re.search(rf"^{breaks}", service, re.MULTILINE)


def interpreter_of(program):
    """The loader that it asks for; empty when it is static."""
    text = subprocess.run(["readelf", "-lW", program], check=True, capture_output=True, text=True).stdout
    return "".join(re.findall(r"Requesting program interpreter: (\S+)\]", text))


def test_what_is_started_for_each_call_needs_no_loader():
    """creel and creel-session are both static, or both are not (-Dlibc=glibc, sanitizers); the one that reads what strangers wrote can lie anywhere."""
    session = CREEL.parent / "creel-session"
    assert bool(interpreter_of(CREEL)) == bool(interpreter_of(session))
    kind = subprocess.run(["readelf", "-hW", session], check=True, capture_output=True, text=True).stdout
    assert re.search(r"Type:\s+DYN", kind), kind
