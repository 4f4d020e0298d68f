# SPDX-License-Identifier: Apache-2.0
"""O4: doctor is never wrong about what run then does, on hosts that can do more and less. Each host is this one with something taken away:
by a mount or a setting in namespaces of the test's own, by a limit, or by a system call that fails (fault.c)."""
import json
import os
import pathlib
import re
import subprocess
import tempfile

import pytest
from calls import fails
from conftest import CREEL, FAULT, IS_ROOT, PROGRAMS

pytestmark = pytest.mark.skipif(FAULT is not None, reason="these hosts have holes of their own")
KERNEL = {"x86_64": "linux-image-amd64 ", "aarch64": "linux-image-arm64 "}[os.uname().machine]
LIMITS = ["--memory", "256m", "--pids", "64", "--cpus", "1"]
WITHOUT_USERS = 'echo 0 >/proc/sys/user/max_user_namespaces && exec setpriv --inh-caps=-all --ambient-caps=-all "$@"'
SEALED = "".join(f"mount --bind {h} {h} && mount -o remount,bind,ro {h} && " for h in [
    line.split()[4] for line in pathlib.Path("/proc/self/mountinfo").read_text().splitlines()
    if line.split(" - ")[1].split()[0] in ("cgroup", "cgroup2")]) + 'exec "$@"'
STACKED = ('mount -t tmpfs none "$BASE/tmp" && mkdir "$BASE/tmp/l" "$BASE/tmp/u" "$BASE/tmp/w" && '
           'mount -t overlay none -o "lowerdir=$BASE/tmp/l,upperdir=$BASE/tmp/u,workdir=$BASE/tmp/w" "$BASE/home" && '
           'chown "$OWNER" "$BASE/home" && exec "$@"')

# A directory that is no mount itself, with what creel needs mounted below it at the places where it is here.
CHROOT = ('R="$BASE/root" && mkdir -p "$R/usr" "$R/proc" "$R/dev" "$R/etc" "$R/tmp" "$R$BASE" "$R$BUILD" && '
          'for l in bin sbin lib lib64; do ln -sfn "usr/$l" "$R/$l"; done && mount --bind /usr "$R/usr" && mount -o remount,bind,ro "$R/usr" && '
          'mount --rbind /dev "$R/dev" && mount -t proc none "$R/proc" && mount --bind "$BUILD" "$R$BUILD" && mount --bind "$BASE" "$R$BASE" && '
          'exec chroot "$R" env --chdir="$PWD" "$@"')


def as_root(script, *namespaces):
    """A host that root makes, for whoever then runs creel there."""
    return lambda box, argv: ["unshare", *(namespaces or ["-m"]), "sh", "-c", script, "sh", *box.as_user(argv)]


def by_fault(hole):
    return lambda box, argv: box.as_user([PROGRAMS / "fault", hole, *argv])


def no_user_namespaces(box, argv):
    """The count is kept for each user namespace: in a new one it can be set to none."""
    return box.as_user(["unshare", "-U", f"--map-user={box.uid}", f"--map-group={box.uid}", "--keep-caps", "sh", "-c", WITHOUT_USERS, "sh", *argv])


HOSTS = {  # name: how to run a command there, and whether a sandbox of each user can be had there (None: as it is here)
    "whole": (lambda box, argv: box.as_user(argv), {"root": True, "user": True}),
    "user-namespaces-0": (no_user_namespaces, {"root": False, "user": False}),
    "no-clone3": (by_fault(fails("clone3", 38)), {"root": False, "user": False}),
    "no-seccomp": (by_fault(fails("seccomp", 38)), {"root": False, "user": False}),
    "no-landlock": (by_fault(fails("landlock_create_ruleset", 38)), {"root": False, "user": False}),
    "no-new-mounts": (by_fault(fails("fsopen", 38)), {"root": False, "user": False}),
    "no-time-namespace": (by_fault(fails("unshare", 22, 0x80)), {"root": True, "user": True}),
    "time-namespace-refused": (by_fault(fails("unshare", 1, 0x80)), {"root": False, "user": False}),
    "hidden-proc": (as_root('mount -t tmpfs none /proc/irq && exec "$@"'), {"root": False, "user": False}),
    "sealed-cgroups": (as_root(SEALED), {"root": True, "user": True}),
    "state-on-an-overlay": (as_root(STACKED), {"root": False, "user": False}),
    "state-read-only": (as_root('mount --bind "$BASE/home" "$BASE/home" && mount -o remount,bind,ro "$BASE/home" && exec "$@"'),
                        {"root": False, "user": False}),
    "no-proc": (as_root('umount -l /proc && exec "$@"'), {"root": False, "user": False}),
    "proc-of-another-pid-namespace": (as_root('exec "$@"', "-pf"), {"root": False, "user": False}),
    "chroot": (as_root(CHROOT), {"root": False, "user": False}),
    "memfd-noexec": (as_root('echo 2 >/proc/sys/vm/memfd_noexec && exec "$@"', "-pf", "--mount-proc"), {"root": None, "user": None}),
}
WITHOUT_PROC = ("no-proc", "proc-of-another-pid-namespace")


def at(host, box, *argv, fds=()):
    env = {**box.env, "BASE": str(box.base), "OWNER": f"{box.uid}:{box.uid}", "BUILD": str(CREEL.parents[2])}
    return subprocess.run([str(a) for a in HOSTS[host][0](box, [CREEL, *argv])], cwd=box.ws, env=env, capture_output=True, text=True, timeout=60,
                          check=False, pass_fds=fds)


def run_there(host, box, *options):
    with tempfile.TemporaryFile() as report:
        done = at(host, box, "run", "-q", "--state-dir", box.home / "state", "--report", report.fileno(), *options, "--", "true",
                  fds=[report.fileno()])
        report.seek(0)
        said = report.read()
    return done, json.loads(said) if said else {}


def reason(text):
    """Without the name that a run gives to its directory."""
    return re.sub(r"/live/[\w.-]+", "/live/", text)


@pytest.mark.skipif(not IS_ROOT, reason="only root makes hosts")
@pytest.mark.parametrize("host", HOSTS)
def test_o04_doctor_says_what_run_does_on_every_host(light, host):
    said = at(host, light, "doctor", "--json", "--state-dir", light.home / "state")
    found = json.loads(said.stdout)
    about = {f["name"]: f for f in found["findings"]}
    does, report = run_there(host, light)
    want = HOSTS[host][1][light.user]
    assert does.returncode in ((0,) if want else (125,) if want is not None else (0, 125)), does
    assert (said.returncode, found["ok"]) == (does.returncode, does.returncode == 0), (said.stdout, does)
    assert all(f.get("cause") and f.get("fix") for f in about.values() if f["state"] != "ok"), about
    assert about["sandbox"]["state"] == ("fail" if does.returncode else "ok"), about["sandbox"]
    if does.returncode:
        assert reason(about["sandbox"]["cause"]) in reason(does.stderr), (about["sandbox"], does)
        assert (host == "chroot") == ("this is a chroot" in about["user-namespaces"].get("cause", "")), about["user-namespaces"]
        assert ("proc" in about) == (host in WITHOUT_PROC), about
        assert "proc" not in about or about["proc"]["found"] in does.stderr and about["proc"]["fix"] in does.stderr, (about, does)
        return
    assert not [f for f in about.values() if f["state"] == "fail"], about
    assert (about["landlock"]["state"] == "ok") == (report["walls"]["landlock"] > 0), (about, report)
    assert (about["time-namespace"]["state"] == "ok") == ("time" in report["walls"]["namespaces"]), (about["time-namespace"], report)
    assert about["time-namespace"]["state"] == "ok" or KERNEL in about["time-namespace"]["fix"], about["time-namespace"]
    limited, _ = run_there(host, light, *LIMITS)
    assert (about["cgroup"]["state"] == "ok") == (limited.returncode == 0), (about["cgroup"], limited)


@pytest.mark.skipif(not IS_ROOT, reason="only root makes hosts")
@pytest.mark.parametrize("host", WITHOUT_PROC)
@pytest.mark.parametrize("argv", [("list",), ("call", "exec", "command=true")])
def test_every_command_tells_of_a_missing_proc(light, host, argv):
    done = at(host, light, *argv, "--state-dir", light.home / "state")
    assert done.returncode == 125 and "mount -t proc proc /proc" in done.stderr + done.stdout, done


def said_of_the_sandbox(light, *options, cwd=None, env=None):
    done = subprocess.run(light.as_user([CREEL, "doctor", "--json", *options]), env={**light.env, **(env or {})}, cwd=cwd or light.ws, capture_output=True,
                          text=True, check=False)
    return done, next(f for f in json.loads(done.stdout)["findings"] if f["name"] == "sandbox")


def test_the_fix_that_a_refusal_knows_is_doctors_fix(light):
    """Not "see the findings above", where nothing is found about it."""
    if not IS_ROOT:
        return
    shared = light.base / "shared"
    (shared / "state").mkdir(parents=True)
    light.give(shared / "state")
    light.give(shared)
    shared.chmod(0o777)
    done, found = said_of_the_sandbox(light, "--state-dir", shared / "state")
    assert done.returncode == 125 and found["state"] == "fail", done
    assert found["cause"].endswith("can be written by others") and found["fix"].startswith("chmod go-w"), found


def test_a_state_directory_that_cannot_be_made_is_named_with_a_command_that_helps(light):
    """By any name that it may have: of an option, and of a home directory that is not there or a file."""
    file = light.file("home/file", "x")
    for options, env, name in ((["--state-dir", "/proc/nothing"], {}, "/proc/nothing"), ([], {"XDG_STATE_HOME": str(file)}, f"{file}/creel")):
        if not options and light.uid == 0:
            continue  # root's is /var/lib/creel, whatever its variables say
        done, found = said_of_the_sandbox(light, *options, env=env)
        assert done.returncode == 125 and f"'{name}'" in found["cause"] and "fix:" not in found["cause"], found
        command = re.search(r"creel run (--state-dir (\S+) -- true)$", found["fix"])
        assert command and not os.path.exists(command[2]), found
        try:
            ran = subprocess.run(light.as_user([CREEL, "run", *command[1].split()]), env={**light.env, **env}, cwd=light.ws, capture_output=True, text=True, check=False)
        finally:
            subprocess.run(["rm", "-rf", command[2]], check=True)
        assert ran.returncode == 0, ran


def test_a_directory_that_is_no_workspace_says_nothing_about_the_host(light):
    """A home directory behind a link is known by its real name: run refuses it there, and the host is well."""
    light.give(light.home)
    (light.base / "alias").symlink_to(light.home)
    env = {"HOME": str(light.base / "alias")}
    state = ["--state-dir", light.tmp / "state"]
    done, found = said_of_the_sandbox(light, *state, cwd=light.home, env=env)
    assert done.returncode == 0 and found["state"] == "ok" and "is refused" in found["found"] and ".aws" in found["found"], done
    run = subprocess.run(light.as_user([CREEL, "run", *state, "--", "true"]), env={**light.env, **env}, cwd=light.home, capture_output=True, text=True, check=False)
    assert run.returncode == 126 and "--workspace" in run.stderr, run
