#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""Process 1 of the guest: mounts what a host has, with cgroup v2 alone, runs the parts of /creel/plan.json, sends their results out.

A line on the second serial port is "RESULT name base64", one for each part as it ends, and at last "END".
"""
import base64
import ctypes
import fcntl
import json
import os
import pathlib
import socket
import struct
import subprocess
import sys
import traceback

MS_BIND, MS_MOVE, MS_REC = 4096, 8192, 16384
SYS_FINIT_MODULE, SYS_REBOOT = {"x86_64": (313, 169), "aarch64": (273, 142)}[os.uname().machine]
RESULTS = {"x86_64": "/dev/ttyS1", "aarch64": "/dev/ttyS0"}[os.uname().machine]  # not the console, which is ttyAMA0 there
SIOCSIFFLAGS, IFF_UP = 0x8914, 1
REBOOT = 0xfee1dead, 0x28121969, 0x01234567  # reset, which ends a guest that is not to start again
libc = ctypes.CDLL(None, use_errno=True)


sys.path.insert(0, "/creel/tests/vm")
from delegate import ORDINARY, delegate  # noqa: E402


def check(result, what):
    if result < 0:
        raise OSError(ctypes.get_errno(), os.strerror(ctypes.get_errno()), what)


def mount(kind, target, options="", source="none", flags=0):
    os.makedirs(target, exist_ok=True)
    check(libc.mount(source.encode(), target.encode(), kind.encode(), ctypes.c_ulong(flags), options.encode()), target)


def leave_rootfs():
    """The first root cannot be pivoted away from; a mount of it on top of it can."""
    mount("", "/mnt", source="/", flags=MS_BIND | MS_REC)
    os.chdir("/mnt")
    check(libc.mount(b".", b"/", None, ctypes.c_ulong(MS_MOVE), None), "move the root")
    os.chroot(".")


def loopback_up():
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as s:
        fcntl.ioctl(s, SIOCSIFFLAGS, struct.pack("16sh14x", b"lo", IFF_UP))


def prepare():
    leave_rootfs()
    mount("proc", "/proc")
    mount("sysfs", "/sys")
    mount("devtmpfs", "/dev")
    mount("devpts", "/dev/pts", "mode=620,ptmxmode=666")
    mount("tmpfs", "/dev/shm", "mode=1777")
    mount("mqueue", "/dev/mqueue")
    mount("tmpfs", "/run", "mode=755")
    mount("cgroup2", "/sys/fs/cgroup")
    for name, target in {"fd": "/proc/self/fd", "stdin": "fd/0", "stdout": "fd/1", "stderr": "fd/2"}.items():
        if not os.path.lexists(f"/dev/{name}"):
            os.symlink(target, f"/dev/{name}")
    for module in sorted(pathlib.Path("/creel/modules").glob("*")):
        with open(module, "rb") as f:
            check(libc.syscall(SYS_FINIT_MODULE, f.fileno(), b"", 0), module.name)
    if not os.path.exists("/etc/ld.so.cache"):
        subprocess.run(["ldconfig"], check=True)
    disk = "/run/disk"  # a real file system, as a home directory has
    with open(disk, "wb") as f:
        f.truncate(700 << 20)
    subprocess.run(["mke2fs", "-q", "-t", "ext4", "-O", "^has_journal", disk], check=True)
    subprocess.run(["mount", "-o", "loop", disk, "/tmp"], check=True)
    os.rmdir("/tmp/lost+found")
    os.chmod("/tmp", 0o1777)
    delegate("/sys/fs/cgroup/delegated", ORDINARY)
    loopback_up()


def run_part(part, results):
    xml = f"/run/{part['name']}.xml"
    command = [sys.executable, "-m", "pytest", "-q", "-rf", "-p", "no:cacheprovider", "-o", "junit_duration_report=call",
               "--durations=15", "--tb=short", "--junitxml", xml, *part["pytest"]]
    print(f"== {part['name']}", flush=True)
    subprocess.run(command, cwd=part.get("cwd", "/creel"), env={**os.environ, **part.get("env", {})}, check=False, stdin=subprocess.DEVNULL)
    data = pathlib.Path(xml).read_bytes() if os.path.exists(xml) else b""
    results.write(f"RESULT {part['name']} {base64.b64encode(data).decode()}\n")
    results.flush()


def main():
    prepare()
    subprocess.run(["stty", "-F", RESULTS, "raw", "-echo", "115200"], check=True)
    with open(RESULTS, "w", encoding="ascii") as results:
        results.write("BOOTED\n")
        results.flush()
        for part in json.loads(pathlib.Path("/creel/plan.json").read_text()):
            run_part(part, results)
        results.write("END\n")


def power_off():
    os.sync()
    check(libc.syscall(SYS_REBOOT, *map(ctypes.c_ulong, REBOOT), 0), "reboot")


os.environ.update(PATH="/usr/bin:/usr/sbin:/bin:/sbin", LANG="C.UTF-8", HOME="/root", PYTHONDONTWRITEBYTECODE="1")
if os.getpid() == 1:
    child = os.fork()
    if child == 0:
        try:
            main()
        except BaseException:  # whatever it is: it has to be seen from outside
            traceback.print_exc()
        os._exit(0)
    while os.wait()[0] != child:  # and everybody's orphans
        pass
    power_off()
