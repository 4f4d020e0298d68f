# SPDX-License-Identifier: Apache-2.0
"""A private directory in which nothing was changed is used again: nobody may see that somebody had it before."""
import os
import signal
import subprocess

import pytest
from conftest import wait_until

SPARE_MAX = 8


def state_of(box):
    return box.state if box.user == "root" else box.home / ".local/state/creel"


def spares(box):
    return sorted((state_of(box) / "spare").glob("*"))


def inode(path):
    return path.stat().st_ino


def left(box):
    return [p for name in ("runs", "live") for p in (state_of(box) / name).glob("*")]


def test_one_that_was_not_used_is_used_again(light):
    light.run("true", status=0)
    (one,) = spares(light)
    outer = inode(one)
    for _ in range(3):
        upper, work = inode(one / "upper0"), inode(one / "work0")
        light.run("true", status=0)
        assert spares(light) == [one] and inode(one) == outer
        # The last overlay of these may not be gone yet (docs/decisions/014).
        assert inode(one / "upper0") != upper and inode(one / "work0") != work
    assert sorted(p.name for p in one.iterdir()) == ["upper0", "work0"] and not left(light)


def test_what_a_killed_one_left_to_be_removed_does_not_keep_it_from_being_used(light):
    light.run("true", status=0)
    (one,) = spares(light)
    light.run("true", status=0)
    for name in ("old", "old-work"):
        (one / name).mkdir()
        (one / name / "file").write_text("")
        for p in (one / name, one / name / "file"):
            os.chown(p, one.stat().st_uid, one.stat().st_gid)
    outer = inode(one)
    light.run("true", status=0)
    assert spares(light) == [one] and inode(one) == outer
    assert sorted(p.name for p in one.iterdir()) == ["upper0", "work0"] and not left(light)


# What it does, and what the next one must not see any more.
TRACES = {
    "file": ("echo x >new", "ls -d new d 2>/dev/null | wc -l", "0"),
    "gone": ("echo x >new; rm new", "ls -d new d 2>/dev/null | wc -l", "0"),
    "directory": ("mkdir d; rmdir d", "ls -d new d 2>/dev/null | wc -l", "0"),
    "removed": ("rm there", "cat there", "there"),
    "mode": ("chmod 755 .; chmod 700 .; chmod 0711 .", "stat -c %a .", None),
    "sticky": ("chmod +t .", "stat -c %a .", None),
    "times": ("touch -m -d @1111111111.123 .; touch -a -d @999999999.5 .", "test $(stat -c %Y .) -gt 1111111111 -a $(stat -c %X .) -gt 1111111111; echo $?", "0"),
    "size": ("i=0; while [ $i -lt 300 ]; do : >a-name-that-takes-room-in-the-directory-$i; i=$((i+1)); done; rm a-name-*", "stat -c %s .", None),
    "name": ("python3 -c 'import os; os.setxattr(\".\", \"user.trace\", b\"1\")'",
             "python3 -c 'import os; print(os.listxattr(\".\"))'", "[]"),
    "look-alike": ("python3 -c 'import os; os.setxattr(\".\", \"user.overlay.uuid\", b\"1\")'",
                   "python3 -c 'import os; print(os.listxattr(\".\"))'", "[]"),
    "flags": ("chattr +A . 2>/dev/null || chattr +d . 2>/dev/null || true", "lsattr -d . 2>/dev/null | cut -d' ' -f1 | tr -d -; true", None),
}


@pytest.mark.parametrize("kind", TRACES)
def test_nothing_of_the_last_one_is_seen(light, kind):
    act, look, want = TRACES[kind]
    light.file("ws/there", "there\n")
    before = light.run("sh", "-c", look, status=0).out
    assert want is None or before.strip() == want
    for _ in range(2):
        light.run("sh", "-c", act, status=0)
        assert light.run("sh", "-c", look, status=0).out == before
    assert len(spares(light)) <= SPARE_MAX and (light.ws / "there").read_text() == "there\n"


def test_what_was_changed_is_kept_and_never_used_again(light):
    light.run("true", status=0)
    (one,) = spares(light)
    result = light.run("sh", "-c", "echo kept >kept", status=0)
    assert not spares(light) and result.report["changes"]["total"] == 1
    kept = list((state_of(light) / "runs").glob("*/upper0/kept"))
    light.run("true", status=0)
    assert [p.read_text() for p in kept] == ["kept\n"] and inode(one) != inode(kept[0].parent.parent)


def test_many_at_once_have_one_each(light):
    """Each waits until all have written their own, and then sees only that."""
    for _ in range(2):
        all_ = [light.spawn("sh", "-c", f"echo {i} >mine; : >mine{i}; sleep 0.3; cat mine; ls -d mine* | wc -l; rm mine*", stdout=subprocess.PIPE, text=True)
                for i in range(SPARE_MAX + 4)]
        for i, p in enumerate(all_):
            assert p.communicate(timeout=60)[0].split() == [str(i), "2"] and p.returncode == 0
        for _ in range(3):
            light.run("true", status=0)
    assert len(spares(light)) <= SPARE_MAX and not left(light)


def test_one_that_was_killed_is_not_used_again(light):
    light.run("true", status=0)
    before = [inode(p) for p in spares(light)]
    p = light.spawn("sh", "-c", "echo x >trace; sleep 30", stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    assert wait_until(lambda: list((state_of(light) / "live").glob("*/upper0/trace")), 5) and not spares(light)
    p.send_signal(signal.SIGKILL)
    p.wait(5)
    assert wait_until(lambda: not left(light), 2) and not [s for s in spares(light) if inode(s) in before]
    assert light.run("sh", "-c", "test ! -e trace", status=0)


@pytest.mark.parametrize("what", ["link", "file", "mode", "open"])
def test_one_that_somebody_spoiled_is_not_used(light, what):
    """Of the state directory nobody else can write to it; a person who tidies up there can still make a mess."""
    light.run("true", status=0)
    (one,) = spares(light)
    if what == "link":
        other = one.with_name("elsewhere")
        one.rename(other)
        one.symlink_to(other)
    elif what == "file":
        one.rename(one.with_name("elsewhere"))
        one.write_text("")
    else:
        (one / "upper0").chmod(0o755 if what == "mode" else 0o777)
    result = light.run("stat", "-c", "%a", ".", status=0)
    assert result.out == "700\n" and not left(light)
    assert os.path.lexists(one)


def test_spare_ones_that_others_can_write_to_are_not_used(light):
    light.run("true", status=0)
    spare = state_of(light) / "spare"
    spare.chmod(0o777)
    before = [inode(p) for p in spares(light)]
    light.run("true", status=0)
    assert [inode(p) for p in spares(light)] == before and not left(light)
