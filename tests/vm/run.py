#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Runs tests in a virtual machine with the distribution's kernel and cgroup v2 alone, and leaves JUnit files as any other step does.

usage: run.py BUILD RESULTS [PART...]   (BUILD: a build directory; RESULTS: where vm-PART.xml are left; all parts unless named)

CREEL_VM_KERNEL=DIR: another kernel than this distribution's, from a directory that its packages were unpacked in.
CREEL_VM_ARCH=arm64: a guest of that architecture, of the system and the kernel below build/arm64/root (scripts/arm64 makes it, and BUILD).
CREEL_VM_PYTEST=OPTIONS: more options for pytest, e.g. "-v -k name".
"""
import base64
import json
import lzma
import os
import pathlib
import shlex
import subprocess
import sys
import time
import typing
import xml.etree.ElementTree as ET

import archive
import installed

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parents[1]
POLL_S = 0.2
COMMAND_LINE = "panic=-1 cgroup_no_v1=all mitigations=off random.trust_cpu=1 loglevel=3 selinux=0"


class Machine(typing.NamedTuple):
    """One kind of guest. Two serial ports: the console, and where the results come out."""
    qemu: list
    command_line: str
    ports: list
    modules: list  # in this order; what is built in has no file
    boot_s: int = 120
    whole_s: int = 2700  # with hardware to itself the first takes 6 and some 300; beside everything else, on a machine that others use, too, four times that
    root: pathlib.Path = None  # of the system that it boots; None: made of this machine's own programs
    kernel: pathlib.Path = ROOT / "build/vm/kernel"
    work: pathlib.Path = ROOT / "build/vm"


MACHINES = {
    "": Machine(["qemu-system-x86_64", "-m", "2048"], "console=ttyS0 reboot=t no_timer_check tsc=reliable", ["-serial", "file:{console}", "-serial", "file:{results}"],
                ["loop", "overlay"]),
    "arm64": Machine(["qemu-system-aarch64", "-M", "virt", "-m", "6144"], "console=ttyAMA0",
                     ["-serial", "file:{console}", "-chardev", "file,path={results},id=results", "-device", "pci-serial,chardev=results"],
                     ["crc16", "crc32c_generic", "libcrc32c", "mbcache", "jbd2", "ext4", "loop", "overlay", "unix_diag"], 300, 14400, ROOT / "build/arm64/root", ROOT / "build/arm64/root", ROOT / "build/arm64/vm"),
}
BUILT = {"CREEL_BIN": "/creel/build/src/cli/creel", "CREEL_MUST_WORK": "1", "CREEL_TEST_PATIENCE": "8"}
PROGRAMS = ["cli/creel", "cli/creel-session", "sandbox/creel-warden", "keeper/creel-keeper", "clerk/creel-clerk", "engine/libcreel.so.0",
            "daemon/creeld", "server/guard/creel-guard", "server/runner/creel-runner", "server/egress/creel-egress"]
UNITS = {**BUILT, "CREEL_UNITS": "/creel/units.json"}
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
    part("systemd", "tests/vm/test_systemd.py", env={**BUILT, "CREEL_BIN": "/usr/local/bin/creel"}),
    part("apparmor", "tests/vm/test_apparmor.py", env={**BUILT, "CREEL_BIN": "/usr/local/bin/creel", "CREEL_ATTACKS": "/creel/build/tests/escape"}),
]
# For a guest that is another machine, and not only another kernel: everything. Its results are nowhere else.
WHOLE = [
    part("units", "tests/vm/test_units.py", "not api_", env=UNITS),
    part("libcreel", "tests/vm/test_units.py", "api_", env=UNITS),
    part("cli", "tests/cli", env={**GIVEN, "CREEL_BUILD": "/creel/build"}),
    part("escape", "tests/escape"),
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


def tracked():
    """What is kept of this tree in git, where all of it is wanted."""
    names = subprocess.run(["git", "ls-files", "-z"], cwd=ROOT, check=True, capture_output=True, text=True).stdout.split("\0")
    return {f"/creel/{n}": ROOT / n for n in names if n and (ROOT / n).is_file()}


def units(build):
    """The tests that meson knows, as they are called in the guest."""
    said = subprocess.run(["meson", "introspect", "--tests", build], check=True, capture_output=True, text=True).stdout
    there = said.replace(f"{ROOT}/../shared", "/shared").replace(str(build), "/creel/build").replace(str(ROOT), "/creel")
    return json.dumps([t for t in json.loads(there) if {"creel:unit", "creel:fuzz"} & set(t["suite"])])


def whole_tree(build, work):
    """(programs, trees, texts) of a guest that has nothing to do with this machine."""
    made = [p for d in ("src", "tests", "fuzz") for p in (build / d).rglob("*") if p.is_file() and p.stat().st_mode & 0o100 and ".p/" not in str(p)]
    programs = {**tracked(), **{f"/creel/build/{p.relative_to(build)}": p.resolve() for p in made}, **installed.creel(build, work)}
    return programs, {"/shared/vectors": ROOT / "../shared/vectors"}, {"/creel/units.json": units(build)}


def write_archive(path, machine, kernel, build, parts):
    if machine.root:
        programs, trees, extra = whole_tree(build, path.parent)
    else:
        programs, trees, extra = some_of_it(path, kernel, build, parts)
    extra.update({f"/creel/modules/{i}-{name}": data for i, name in enumerate(machine.modules)
                  if (data := module_file(modules_of(kernel), name))})
    extra["/creel/plan.json"] = json.dumps(parts)
    with open(path, "wb") as out:
        archive.write(out, extra, programs, trees, HERE / "init.py", machine.root)


def some_of_it(path, kernel, build, parts):
    """(programs, trees, texts): what depends on the kernel, for a guest that has this machine's programs."""
    attacks = [p for p in (build / "tests/escape").iterdir() if p.is_file() and p.stat().st_mode & 0o100]
    built = [*(build / "src" / p for p in PROGRAMS), *attacks]
    programs = {f"/creel/build/{p.relative_to(build)}": p.resolve() for p in built}
    trees = {f"/creel/tests/{d}": ROOT / "tests" / d for d in ("escape", "cli", "api", "vm")}
    if any(p["name"] in ("apparmor", "systemd") for p in parts):
        programs.update(installed.creel(build, path.parent))
    if any(p["name"] == "apparmor" for p in parts):
        more, profiles = installed.parser(kernel)
        programs.update(more)
        trees.update(profiles)
    return programs, trees, {}


class Guest:
    """One boot. It is over when the process has ended, or when it is made to."""

    def __init__(self, machine, work, image, initrd):
        self.console, self.results = work / "console.log", work / "results.log"
        for f in (self.console, self.results):
            f.write_bytes(b"")
        self.begin = time.monotonic()
        self.process = subprocess.Popen(
            ["setpriv", "--pdeathsig", "KILL", *machine.qemu, "-accel", "tcg,thread=multi", "-smp", "2", "-cpu", "max",
             "-nodefaults", "-no-user-config", "-display", "none", "-no-reboot", "-kernel", image, "-initrd", initrd,
             "-append", f"{COMMAND_LINE} {machine.command_line}",
             *(w.format(console=self.console, results=self.results) for w in machine.ports)], stdin=subprocess.DEVNULL)

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


def boot(machine, work, image, initrd):
    """A boot without hardware support hangs now and then; the second is the last."""
    for attempt in (1, 2):
        guest = Guest(machine, work, image, initrd)
        if guest.wait_for("BOOTED", machine.boot_s):
            return guest
        print(f"boot {attempt} did not come to an end in {machine.boot_s} s; its last words:\n{tail(guest.console)}", file=sys.stderr)
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


def main(build, results, parts, machine):
    work = machine.work
    for d in (work, results):
        d.mkdir(parents=True, exist_ok=True)
    named = os.environ.get("CREEL_VM_KERNEL")
    kernel = pathlib.Path(named).resolve() if named else machine.kernel
    image = max(kernel.glob("boot/vmlinuz-*"), default=None)
    if not image:
        sys.exit(f"{kernel}/boot holds no vmlinuz-*" + ("" if named else ": scripts/test puts it there"))
    initrd = work / "initrd"
    write_archive(initrd, machine, kernel, build, parts)
    guest = boot(machine, work, image, initrd)
    if guest:
        print(f"booted {image.name} in {time.monotonic() - guest.begin:.0f} s", file=sys.stderr)
        ended = guest.wait_for("END", machine.whole_s)
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
    kind = MACHINES.get(os.environ.get("CREEL_VM_ARCH", "")) or sys.exit(f"CREEL_VM_ARCH is one of {', '.join(filter(None, MACHINES))}, or not set")
    more = shlex.split(os.environ.get("CREEL_VM_PYTEST", ""))
    known = [*PARTS, *(WHOLE if kind.root else [])]
    wanted = set(sys.argv[3:]) or {p["name"] for p in known}
    if unknown := wanted - {p["name"] for p in known}:
        sys.exit(f"no such part: {', '.join(sorted(unknown))} (there are {', '.join(p['name'] for p in known)})")
    plan = [{**p, "pytest": [*p["pytest"], *more]} for p in known if p["name"] in wanted]
    sys.exit(main(pathlib.Path(sys.argv[1]).resolve(), pathlib.Path(sys.argv[2]).resolve(), plan, kind))
