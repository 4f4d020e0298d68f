# SPDX-License-Identifier: Apache-2.0
"""O4: a wall that is missing is a refusal that names it, unless policy names it first; and doctor says what run then does."""
import json
import subprocess

import pytest
from calls import fails
from conftest import CREEL, PROGRAMS

LANDLOCK = "landlock_create_ruleset"
HOLES = {"whole": None, "no-landlock": fails(LANDLOCK, 38), "landlock-off": fails(LANDLOCK, 95), "no-fsopen": fails("fsopen", 38),
         "no-namespaces": fails("clone3", 1)}


def optional(*walls):
    return ["-e", "walls.optional=" + ",".join(walls)] if walls else []


def doctor(box, hole, options=()):
    wrapped = [PROGRAMS / "fault", hole] if hole else []
    state = ["--state-dir", box.state] if box.user == "root" else []
    done = subprocess.run(box.as_user([*wrapped, CREEL, "doctor", "--json", *state, *options]), cwd=box.ws, env=box.env,
                          capture_output=True, text=True, timeout=60, check=False)
    return done, json.loads(done.stdout)


@pytest.mark.parametrize("hole", ["no-landlock", "landlock-off"])
def test_o04_without_landlock_nothing_runs(light, hole):
    light.run("true", status=0)  # the control: here it is
    result = light.run("touch", "ran", access="rw", fault=HOLES[hole], status=125)
    assert "wall 'landlock'" in result.err and "lsm=" in result.err and "walls.optional=landlock" in result.err, result
    assert result.report["reason"] == "failed" and not (light.ws / "ran").exists()
    result = light.run("touch", "ran", access="rw", fault=HOLES[hole], options=optional("time", "limits"), status=125)
    assert not (light.ws / "ran").exists(), result


def test_o04_policy_can_do_without_landlock_and_the_report_says_so(light):
    whole = light.run("true", status=0).report["walls"]
    assert whole["landlock"] > 0 and whole["optional_missing"] == []
    asked = light.run("true", options=optional("landlock"), status=0).report["walls"]
    assert asked["landlock"] == whole["landlock"] and asked["optional_missing"] == []  # where it is, it is built
    result = light.run("touch", "ran", access="rw", fault=HOLES["no-landlock"], options=optional("landlock"), status=0)
    assert result.report["walls"]["landlock"] == 0 and result.report["walls"]["optional_missing"] == ["landlock"], result.report
    assert (light.ws / "ran").exists()


def test_o04_limits_that_were_named_are_held_or_refused_or_optional(light):
    strict = light.run("true", options=["--memory", "64m"])
    loose = light.run("true", options=["--memory", "64m", *optional("limits")], status=0)
    held = loose.report["walls"]["limits"]["memory"] != "none"
    assert strict.status == (0 if held else 125), strict
    assert loose.report["walls"]["optional_missing"] == ([] if held else ["limits"]), loose.report
    assert held or light.user == "user", loose  # root has cgroups wherever there are any


@pytest.mark.parametrize("name", ["landlok", "Landlock", "seccomp", "mounts", "", "landlock,namespaces"])
def test_o04_only_walls_that_can_be_missing_can_be_named(light, name):
    result = light.run("touch", "ran", access="rw", options=["-e", f"walls.optional=[{', '.join(repr(n) for n in name.split(','))}]"], status=125)
    assert "accepted: landlock, time or limits" in result.err and not (light.ws / "ran").exists(), result


def test_o04_a_project_cannot_make_a_wall_optional(light):
    """Files that lie in the workspace: the one that is read by itself, and those that are not."""
    for name, text in ((".athena/settings.yaml", "walls:\n  optional: [landlock]\nsandbox:\n  walls:\n    optional: [landlock]\n"),
                       ("creel.json5", "{ walls: { optional: ['landlock'] } }"), (".openclaw/creel.json5", "{ walls: { optional: ['landlock'] } }"),
                       ("openclaw.json", '{ "walls": { "optional": ["landlock"] } }')):
        file = light.file(f"ws/{name}", text)
        result = light.run("touch", "ran", access="rw", fault=HOLES["no-landlock"], status=125)
        assert not (light.ws / "ran").exists(), result
        file.unlink()
    named = light.file("mine.json5", "{ walls: { optional: ['landlock'] } }")  # the control: named, it counts
    light.run("true", fault=HOLES["no-landlock"], options=["-c", named], status=0)


@pytest.mark.parametrize("walls", [(), ("landlock",), ("time", "limits")], ids=["none", "landlock", "others"])
@pytest.mark.parametrize("hole", HOLES)
def test_o04_doctor_says_what_run_does(light, hole, walls):
    said, found = doctor(light, HOLES[hole], optional(*walls))
    does = light.run("true", fault=HOLES[hole], options=optional(*walls))
    assert (said.returncode, found["ok"]) == ((0, True) if does.status == 0 else (125, False)), (said.stdout, does)
    if does.status:
        last = found["findings"][-1]
        assert last["name"] == "sandbox" and last["state"] == "fail" and last["cause"] in does.err, (last, does)
    wrong = [f for f in found["findings"] if f["state"] != "ok"]
    assert all(f.get("cause") and f.get("fix") for f in wrong), wrong
    if "landlock" in hole:
        assert [f["state"] for f in found["findings"] if f["name"] == "landlock"] == ["warn" if "landlock" in walls else "fail"]


def test_o04_explain_and_check_show_it(light):
    done = subprocess.run([CREEL, "explain", "--json", *optional("landlock"), "--", "true"], env=light.env, cwd=light.ws, capture_output=True,
                          text=True, check=True)
    assert json.loads(done.stdout)["limits"]["optional_walls"] == ["landlock"]
    done = subprocess.run([CREEL, "config", "check", *optional("landlock")], env=light.env, cwd=light.ws, capture_output=True, text=True,
                          check=True)
    assert "warning: walls.optional: 'landlock'" in done.stdout, done
