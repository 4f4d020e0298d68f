# SPDX-License-Identifier: Apache-2.0
"""What packages of creel bring along."""
import os
import pathlib
import re
import shlex
import shutil
import subprocess

import pytest

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
    assert "packaging/apparmor/creel /etc/apparmor.d/creel" in (ROOT / "src/sandbox/survey.c").read_text(), "doctor names another file"
