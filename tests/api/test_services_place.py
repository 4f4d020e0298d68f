# SPDX-License-Identifier: Apache-2.0
"""Where the runner's socket lies: the guard asks nothing of one that another user could have put there, and says so."""
import os
import subprocess
import sys

import pytest

from services_lab import Services
from test_doctor_services import doctor

REFUSED = "refused: another user could have put its socket there"
STRANGER = 23456


@pytest.fixture(params=["root", "user"])
def make(request):
    made = []

    def one(mode, owner=None, above=None):
        s = Services(request.param, options=())
        made.append(s)
        top = s.dir / "above"
        place = top / "place"
        for d in (top, place):
            d.mkdir()
            s.give(d)
        top.chmod(above or 0o755)
        place.chmod(mode)
        if owner is not None:
            os.chown(place, owner, owner)
        s.place = place
        s.options += ["-e", f"serve.runner=unix:{place}/r.sock"]
        return s

    yield one
    for s in made:
        s.close()


@pytest.mark.parametrize("mode, above", [(0o700, None), (0o755, None), (0o1777, None), (0o700, 0o1777)])
def test_a_place_that_nobody_else_can_change_is_used(make, mode, above):
    s = make(mode, above=above).start()
    assert s.ask("GET", "/health").json["runner"] == "trusted"
    a = s.run("file_write", {"path": "f", "content": "x"})
    assert a.status == 200 and a.json["ok"], a.body
    assert "runner-socket" not in doctor(s)


@pytest.mark.parametrize("mode, above, word", [(0o777, None, "the directory of"), (0o775, None, "the directory of"), (0o700, 0o777, "what lies above")])
def test_a_place_that_others_can_write_to_is_refused(make, mode, above, word):
    s = make(mode, above=above).start()
    check_refused(s, word, "can be written by others")


@pytest.mark.skipif(os.getuid() != 0, reason="another user's directory takes root to make")
def test_a_place_of_another_user_is_refused(make):
    s = make(0o777, owner=STRANGER).start()
    check_refused(s, "the directory of", "belongs to another user")


def check_refused(s, *words):
    assert s.ask("GET", "/health").json["runner"] == REFUSED
    a = s.run("file_write", {"path": "f", "content": "x"})
    assert a.status == 502 and str(s.place) not in a.body.decode(), a
    assert "the runner is not asked" in s.said() and all(w in s.said() for w in words), s.said()
    found = doctor(s)["runner-socket"]
    assert found["state"] == "fail" and all(w in found["cause"] for w in words) and "0700" in found["fix"], found


@pytest.mark.skipif(os.getuid() != 0, reason="another user's socket takes root to make")
def test_a_strangers_socket_in_a_sticky_directory_is_not_spoken_to(make):
    """He was there first, or comes while the runner is away: what he would hear are calls, and the tokens of their callers."""
    s = make(0o1777)
    s.word = "guard"
    path = f"{s.place}/r.sock"
    listen = ("import os, socket, sys; s = socket.socket(socket.AF_UNIX); s.bind(sys.argv[1]); os.chmod(sys.argv[1], 0o666); s.listen(); print('there', flush=True);"
              "s.settimeout(60); c = s.accept()[0]; print(repr(c.recv(4096)), flush=True)")
    p = subprocess.Popen([sys.executable, "-c", listen, path], user=STRANGER, group=STRANGER, stdout=subprocess.PIPE, text=True)
    try:
        assert p.stdout.readline() == "there\n"
        s.start()
        a = s.run("file_write", {"path": "f", "content": "x"})
        assert a.status == 502, a
        assert "another user" in s.said(), s.said()
        # All that he has is a connection with nothing in it.
        assert p.stdout.readline() in ("b''\n", ""), "something was said to him"
    finally:
        p.kill()
        p.wait()


def links(s, mode, owner):
    """The same place by a link in a directory beside it."""
    way = s.dir / "way"
    way.mkdir()
    s.give(way)
    way.chmod(mode)
    (way / "link").symlink_to("../above")
    os.chown(way / "link", owner, owner, follow_symlinks=False)
    s.options[-1] = f"serve.runner=unix:{way}/link/place/r.sock"
    return s


@pytest.mark.parametrize("mode", [0o755, 0o1777])
def test_a_link_of_our_own_on_the_way_is_followed(make, mode):
    s = make(0o700)
    links(s, mode, s.dir.stat().st_uid).start()
    assert s.ask("GET", "/health").json["runner"] == "trusted"
    a = s.run("file_write", {"path": "f", "content": "x"})
    assert a.status == 200 and a.json["ok"], a.body
    assert "runner-socket" not in doctor(s)


@pytest.mark.parametrize("mode", [0o755, 0o1777])
@pytest.mark.skipif(os.getuid() != 0, reason="another user's link takes root to make")
def test_a_link_of_another_user_on_the_way_is_refused(make, mode):
    """In a sticky directory nobody else can take it away, and he can have it lead anywhere."""
    s = links(make(0o700), mode, STRANGER).start()
    check_refused(s, "a link on the way to", "belongs to another user")


def test_a_link_in_a_directory_that_others_can_write_to_is_refused(make):
    s = make(0o700)
    links(s, 0o777, s.dir.stat().st_uid).start()
    check_refused(s, "what lies above", "can be written by others")


def test_a_link_that_leads_through_such_a_directory_is_refused(make):
    s = make(0o700, above=0o777)
    links(s, 0o755, s.dir.stat().st_uid).start()
    check_refused(s, "what lies above", "can be written by others")


def test_a_directory_that_is_a_link_itself_is_told(make):
    """The guard's own root has directories at their paths, and no links."""
    s = links(make(0o700), 0o755, os.getuid())
    s.options[-1] = f"serve.runner=unix:{s.dir}/way/end/r.sock"
    (s.dir / "way" / "end").symlink_to("../above/place")
    os.chown(s.dir / "way" / "end", s.dir.stat().st_uid, s.dir.stat().st_uid, follow_symlinks=False)
    with pytest.raises(AssertionError, match="way/end' is a link; fix: name the directory itself"):
        s.start()
