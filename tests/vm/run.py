#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Runs tests in a virtual machine with the distribution's kernel and cgroup v2 alone, and leaves JUnit files as any other step does.

usage: run.py BUILD RESULTS [PART...]   (BUILD: a build directory; RESULTS: where vm-PART.xml are left; all parts unless named)

CREEL_VM_KERNEL=DIR: another kernel than this distribution's, from a directory that its packages were unpacked in.
"""
import base64
import json
import lzma
import os
import pathlib
import subprocess
import sys
import time
import xml.etree.ElementTree as ET

import archive
import installed

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parents[1]
NEEDED_MODULES = ["loop", "overlay"]
BOOT_S, WHOLE_S = 120, 1200  # with hardware to itself it takes 6 and some 300
POLL_S = 0.2
COMMAND_LINE = ("console=ttyS0 panic=-1 reboot=t cgroup_no_v1=all mitigations=off no_timer_check random.trust_cpu=1 "
                "tsc=reliable loglevel=3 selinux=0")
BUILT = {"CREEL_BIN": "/creel/build/src/cli/creel", "CREEL_MUST_WORK": "1", "CREEL_TEST_PATIENCE": "8"}
PROGRAMS = ["cli/creel", "cli/creel-session", "sandbox/creel-warden", "keeper/creel-keeper", "clerk/creel-clerk", "engine/libcreel.so.0",
            "daemon/creeld", "server/guard/creel-guard", "server/runner/creel-runner", "server/egress/creel-egress"]
GIVEN = {**BUILT, "CREEL_TEST_CGROUP": "/sys/fs/cgroup/delegated"}


def part(name, path, select="", env=None):
    """One run of pytest in the guest, with a result of its own."""
    return {"name": name, "pytest": [path, *(["-k", select] if select else [])], "env": env or GIVEN}


# What depends on the kernel, on cgroups, or on both; the rest says the same here as outside, ten times slower.
PARTS = [
    part("v2", "tests/vm/test_v2.py", env=BUILT),
    part("limits", "tests/escape/test_processes.py", "e26 or (e27 and (anon or full)) or shared_out"),
    part("refusals", "tests/escape/test_processes.py", "user and (ends_as or shared_out)", env=BUILT),
    part("walls", "tests/escape/test_walls.py", "light and not rw and not o04 and not every_number or that_cannot_be_built"),
    part("crash", "tests/escape/test_crash.py", "kill_while and overlay and limits or stopped_and_killed"),
    part("killat", "tests/escape/test_killat.py", "limits and creel"),
    part("run", "tests/escape/test_run.py", "not exit_status and not signal and not arguments and not streams and not odd and not full_disk"),
    part("files", "tests/escape/test_files.py", "light and overlay"),
    part("ipc", "tests/escape/test_ipc.py", "light"),
    part("sessions", "tests/cli/test_sessions.py", "user and (leaves or background or written or killed or lost or many_processes or list_tells)"),
    part("calls", "tests/vm/test_calls.py"),
    part("services", "tests/vm/test_services.py", env=BUILT),
    part("apparmor", "tests/vm/test_apparmor.py", env={**BUILT, "CREEL_BIN": "/usr/local/bin/creel", "CREEL_ATTACKS": "/creel/build/tests/escape"}),
]


def modules_of(kernel):
    """Where they are since /lib is a part of /usr, or where they were before."""
    found = [d for d in (kernel / "usr/lib/modules", kernel / "lib/modules") if d.is_dir()]
    return found[0] if found else sys.exit(f"{kernel} holds no modules")


def module_file(modules, name):
    """A module of the kernel, unpacked: whoever loads it in the guest is no modprobe."""
    found = next(iter(modules.rglob(f"{name}.ko*")), None)
    if not found:
        return None  # built in
    data = found.read_bytes()
    if found.suffix == ".xz":
        return lzma.decompress(data)
    if found.suffix == ".zst":
        return subprocess.run(["zstd", "-dcq", found], check=True, capture_output=True).stdout
    return data


def write_archive(path, kernel, build, parts):
    attacks = [p for p in (build / "tests/escape").iterdir() if p.is_file() and p.stat().st_mode & 0o100]
    built = [*(build / "src" / p for p in PROGRAMS), *attacks]
    programs = {f"/creel/build/{p.relative_to(build)}": p.resolve() for p in built}
    trees = {f"/creel/tests/{d}": ROOT / "tests" / d for d in ("escape", "cli", "api", "vm")}
    if any(p["name"] == "apparmor" for p in parts):
        more, profiles = installed.parser(kernel)
        programs.update({**more, **installed.creel(build, path.parent)})
        trees.update(profiles)
    extra = {f"/creel/modules/{i}-{name}": data for i, name in enumerate(NEEDED_MODULES)
             if (data := module_file(modules_of(kernel), name))}
    extra["/creel/plan.json"] = json.dumps(parts)
    with open(path, "wb") as out:
        archive.write(out, extra, programs, trees, HERE / "init.py")


class Guest:
    """One boot. It is over when the process has ended, or when it is made to."""

    def __init__(self, work, image, initrd):
        self.console, self.results = work / "console.log", work / "results.log"
        for f in (self.console, self.results):
            f.write_bytes(b"")
        self.begin = time.monotonic()
        self.process = subprocess.Popen(
            ["setpriv", "--pdeathsig", "KILL", "qemu-system-x86_64", "-accel", "tcg,thread=multi", "-smp", "2", "-m", "2048", "-cpu", "max",
             "-nodefaults", "-no-user-config", "-display", "none", "-no-reboot", "-kernel", image, "-initrd", initrd, "-append", COMMAND_LINE,
             "-serial", f"file:{self.console}", "-serial", f"file:{self.results}"], stdin=subprocess.DEVNULL)

    def lines(self):
        """What it said so far, without a line that is not yet whole."""
        return self.results.read_text(errors="replace").split("\n")[:-1]

    def wait_for(self, word, seconds):
        """Whether it said so before it ended, or took too long."""
        while word not in self.lines():
            if self.process.poll() is not None:
                return word in self.lines()
            if time.monotonic() - self.begin > seconds:
                return False
            time.sleep(POLL_S)
        return True

    def end(self):
        try:
            self.process.wait(5)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()

    def said(self):
        """name -> JUnit text, for each part that ended."""
        found = {}
        for line in self.lines():
            words = line.split(" ")
            if words[0] == "RESULT" and len(words) == 3:
                found[words[1]] = base64.b64decode(words[2]).decode()
        return found


def boot(work, image, initrd):
    """A boot without hardware support hangs now and then; the second is the last."""
    for attempt in (1, 2):
        guest = Guest(work, image, initrd)
        if guest.wait_for("BOOTED", BOOT_S):
            return guest
        print(f"boot {attempt} did not come to an end in {BOOT_S} s; its last words:\n{tail(guest.console)}", file=sys.stderr)
        guest.process.kill()
        guest.process.wait()
    return None


def tail(path, n=40):
    return "\n".join(path.read_text(errors="replace").splitlines()[-n:])


def leave(results, name, text):
    """A part that said nothing, or in which nothing was tested, is one failed test: it must be seen in the sum."""
    if not text or "<testcase " not in text:
        suite = ET.Element("testsuite", name=name)
        case = ET.SubElement(suite, "testcase", classname="vm", name=name)
        ET.SubElement(case, "failure", message="the guest did not get to the end of it, or had nothing to do")
        text = ET.tostring(suite, encoding="unicode")
    (results / f"vm-{name}.xml").write_text(text)
    return all(c.find("failure") is None and c.find("error") is None for c in ET.fromstring(text).iter("testcase"))


def main(build, results, parts, work=ROOT / "build/vm"):
    work.mkdir(parents=True, exist_ok=True)
    named = os.environ.get("CREEL_VM_KERNEL")
    kernel = pathlib.Path(named).resolve() if named else ROOT / "build/vm/kernel"
    image = max(kernel.glob("boot/vmlinuz-*"), default=None)
    if not image:
        sys.exit(f"{kernel}/boot holds no vmlinuz-*" + ("" if named else ": scripts/test puts it there"))
    initrd = work / "initrd"
    write_archive(initrd, kernel, build, parts)
    guest = boot(work, image, initrd)
    if guest:
        print(f"booted {image.name} in {time.monotonic() - guest.begin:.0f} s", file=sys.stderr)
        ended = guest.wait_for("END", WHOLE_S)
        guest.end()
        print(f"{'ended' if ended else 'did not end'} after {time.monotonic() - guest.begin:.0f} s", file=sys.stderr)
    said = guest.said() if guest else {}
    passed = [leave(results, p["name"], said.get(p["name"])) for p in parts]
    if not all(passed):
        print(tail(work / "console.log", 200), file=sys.stderr)
    return 0 if all(passed) else 1


if __name__ == "__main__":
    if len(sys.argv) < 3:
        sys.exit(__doc__)
    wanted = set(sys.argv[3:]) or {p["name"] for p in PARTS}
    if unknown := wanted - {p["name"] for p in PARTS}:
        sys.exit(f"no such part: {', '.join(sorted(unknown))} (there are {', '.join(p['name'] for p in PARTS)})")
    sys.exit(main(pathlib.Path(sys.argv[1]).resolve(), pathlib.Path(sys.argv[2]).resolve(), [p for p in PARTS if p["name"] in wanted]))
