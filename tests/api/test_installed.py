# SPDX-License-Identifier: Apache-2.0
"""The library and the programs as somebody has them who has installed them: nothing of the build tree is used."""
import os
import pathlib
import re
import shutil
import subprocess
import tempfile

import pytest

ROOT = pathlib.Path(__file__).resolve().parents[2]
BUILD = pathlib.Path(os.environ.get("CREEL_BUILD", ROOT / "build/gcc"))
EXAMPLE = ROOT / "examples/libcreel/example.c"


def run(*argv, **kw):
    done = subprocess.run([str(a) for a in argv], capture_output=True, text=True, timeout=120, check=False, **kw)
    assert done.returncode == 0, f"{argv}\n{done.stdout}\n{done.stderr}"
    return done.stdout


@pytest.fixture(scope="module")
def tree(tmp_path_factory):
    """(the directory below which everything was installed, its prefix)"""
    if os.getuid() != 0:
        why = "only root can mount what was installed where it belongs"
        pytest.fail(why) if os.environ.get("CREEL_MUST_WORK") else pytest.skip(why)
    dest = tmp_path_factory.mktemp("installed")
    run("meson", "install", "-C", BUILD, "--no-rebuild", "--quiet", "--destdir", dest)
    (pc,) = dest.rglob("libcreel.pc")
    prefix = re.search(r"^prefix=(.*)$", pc.read_text(), re.M)[1]
    return dest, prefix, {**os.environ, "PKG_CONFIG_PATH": str(pc.parent), "PKG_CONFIG_SYSROOT_DIR": str(dest)}


def flags(tree, *what):
    return run("pkg-config", *what, "libcreel", env=tree[2]).split()


def in_place(tree, place, *argv):
    """Runs it where the installed tree lies at its prefix, in a mount namespace of its own."""
    dest, prefix, _ = tree
    libs = next((dest / prefix[1:]).rglob("libcreel.so")).parent.relative_to(dest)
    return run("unshare", "--mount", "--propagation", "private", "sh", "-c", 'mount --bind "$1" "$2" && shift 2 && exec "$@"', "sh",
               f"{dest}{prefix}", prefix, *argv, cwd=place,
               env={"HOME": str(place.parent), "PATH": f"{prefix}/bin:/usr/bin:/bin", "LD_LIBRARY_PATH": f"/{libs}", "LANG": "C.UTF-8"})


@pytest.fixture
def place():
    """Not pytest's own: the sandbox is another user, and that one is for this user alone."""
    made = pathlib.Path(tempfile.mkdtemp(prefix="creel-installed-"))
    for d in (made, made / "ws"):
        d.mkdir(exist_ok=True)
        d.chmod(0o755)
    yield made
    shutil.rmtree(made)


@pytest.mark.parametrize("static", [False, True])
def test_the_example_is_built_with_pkg_config_and_works(tree, place, static):
    program = place / "example"
    if static:  # libcreel alone: the C library of the system stays shared
        libs = [f for f in flags(tree, "--static", "--libs") if f != "-lcreel"]
        (archive,) = tree[0].rglob("libcreel.a")
        run("cc", "-std=c99", *flags(tree, "--cflags"), EXAMPLE, archive, *libs, "-o", program)
        assert "libcreel" not in run("readelf", "-d", program)
    else:
        run("cc", "-std=c99", "-pedantic", "-Wall", "-Wextra", "-Werror", *flags(tree, "--cflags"), EXAMPLE, *flags(tree, "--libs"), "-o", program)
        assert "[libcreel.so.0]" in run("readelf", "-d", program)
    out = in_place(tree, place, program, place / "state", place / "ws")
    assert "exec is allowed" in out and "hello from /workspace" in out and '"error":"exit_3"' in out
    assert (place / "ws/hello.sh").exists()


def test_the_programs_find_each_other_and_call_run_and_list_work(tree, place):
    script = """set -e
creel --state-dir ../state call --sandbox light --text exec 'echo from $CREEL_WORKSPACE'
creel --state-dir ../state call --sandbox light --text write path=a content=b
creel --state-dir ../state list -q
creel --state-dir ../state kill --all -y
creel --state-dir ../state run -- echo ran
test -s "$1/share/man/man3/libcreel.3"
"""
    out = in_place(tree, place / "ws", "sh", "-c", script, "sh", tree[1])
    assert "from /sandbox" in out and "agent:main:main" in out and "ran" in out
