# SPDX-License-Identifier: Apache-2.0
"""Numbers 13, 14, 17, 33 to 40, 42, 44, 46, 47 and 49: the kernel does nothing for the payload that would take a wall down."""
import errno
import os
import pathlib
import signal
import struct
import subprocess
import time

import pytest
from calls import NUMBER, fails
from conftest import ACCESSES, FAULT, IS_ROOT, PROGRAMS, descendants, needs_root, processes, wait_until

MOUNTS = ["mount=tmpfs", "mount=proc", "mount=sysfs", "mount=cgroup,memory", "mount=cgroup2", "mount=devpts", "mount=mqueue",
          "mount_bind", "mount_move", "mount_shared", "umount", "pivot_root", "chroot", "chroot_twice"]
NEW_API = ["open_tree", "open_tree_clone", "move_mount", "fsopen", "fsmount", "fspick", "mount_setattr"]
ABSENT = {"ENOSYS", "ENODEV", "EBUSY", "EINVAL"}  # for mount types that this kernel has not, or has elsewhere


@pytest.mark.parametrize("access", ["overlay", "rw", "ro"])
def test_e13_mount_calls_are_refused(box, access):
    box.control("walls", *MOUNTS, private=True, absent=ABSENT - {"ENOSYS"})
    box.control("walls", *NEW_API, private=True)
    before = pathlib.Path("/proc/self/mountinfo").read_text()
    box.refused("walls", *MOUNTS, errors={"EPERM"}, access=access)
    box.refused("walls", *NEW_API, errors={"ENOSYS"}, access=access)
    assert pathlib.Path("/proc/self/mountinfo").read_text() == before


def test_e14_what_the_host_mounts_later_does_not_come_in(light):
    """On a host whose mounts are shared, as systemd makes them: a namespace that is only a slave of it gets them, which is the control."""
    needs_root()
    (light.ws / "dir").mkdir()
    light.give(light.ws / "dir")
    host = subprocess.Popen(["unshare", "-m", "--propagation", "shared", "sleep", "60"])
    light.closing.append(lambda: (host.kill(), host.wait()))
    assert wait_until(lambda: os.readlink(f"/proc/{host.pid}/ns/mnt") != os.readlink("/proc/self/ns/mnt"), 10)
    assert wait_until(lambda: pathlib.Path(f"/proc/{host.pid}/cmdline").read_bytes().startswith(b"sleep"), 10)
    there = ["nsenter", "-t", str(host.pid), "-m", f"--wdns={light.ws}"]
    look = ["sh", "-c", "echo ready; read x; ls dir"]

    def start(argv):
        p = subprocess.Popen([*there, *argv], env=light.env, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        light.closing.append(lambda: (p.kill(), p.wait()))
        assert p.stdout.readline() == "ready\n"
        return p
    slave, inside = start(["unshare", "-m", "--propagation", "slave", *look]), start(light.creel(*look, access="rw"))
    subprocess.run([*there, "sh", "-c", "mount -t tmpfs none dir && touch dir/later"], check=True)
    assert slave.communicate("\n", timeout=20)[0] == "later\n", "the control did not see it"
    assert inside.communicate("\n", timeout=20)[0] == ""


def test_e14_read_only_stays_read_only(box):
    box.control("walls", "remount_usr", private=True)
    name = f"/usr/{box.mark}"
    box.refused("walls", "remount_usr", errors={"EPERM"})
    box.refused("files", f"create={name}", errors={"EROFS", "EACCES"})
    assert not os.path.exists(name)


WRITABLE = {"/tmp", "/var/tmp", "/run", "/proc", "/workspace", "/sandbox"}


def test_e14_every_mount_is_nosuid_and_nodev_but_devices(box):
    for access in ACCESSES:
        lines = box.run("cat", "/proc/self/mountinfo", access=access, status=0).out.splitlines()
        assert len(lines) > 8
        for line in lines:
            left, right = line.split(" - ")
            target, options, kind = left.split()[4], left.split()[5].split(","), right.split()[0]
            assert "nosuid" in options, line
            assert "nodev" in options or target.startswith("/dev/") and "noexec" in options, line
            assert "ro" in options or target in WRITABLE or target.startswith("/dev/"), line
            if kind not in ("tmpfs", "overlay", "proc", "devpts") and not target.startswith("/dev/"):
                assert "ro" in options or (access in ("rw", "none") and target in ("/workspace", "/sandbox")), line


CALLS = ["bpf", "perf", "uffd=1", "kexec_load", "kexec_file_load", "init_module", "finit_module", "delete_module", "reboot", "swapon",
         "swapoff", "acct", "syslog", "quotactl", "fanotify", "memfd_secret", "set_mempolicy", "move_pages"]


def test_e17_e35_parts_of_the_kernel_that_a_tool_needs_not(box):
    box.control("kernel", *CALLS, user="root", absent={"ENOSYS"})
    box.refused("kernel", *CALLS, "uffd", "fanotify=fid", errors={"EPERM"})


NAMESPACES = ["user", "mnt", "pid", "net", "ipc", "uts", "cgroup", "time"]


def test_e33_s16_no_new_namespace_by_any_call(box):
    asks = [f"{how}={ns}" for how in ("unshare", "clone", "clone3") for ns in NAMESPACES if not (how == "clone" and ns == "time")]
    box.control("walls", *[a for a in asks if a != "clone3=time"], user="root")
    result = box.refused("walls", *asks, "unshare_high=user", "unshare_high=mnt", errors={"EPERM", "ENOSYS"})
    for line in result.out.splitlines():
        assert line.endswith("ENOSYS" if line.startswith("clone3") else "EPERM"), line


def test_e33_no_other_namespace_is_entered(box):
    asks = [f"setns={ns}" for ns in ("mnt", "net", "ipc", "uts", "cgroup", "pid")]
    box.control("walls", *asks, "setns_pidfd", user="root")
    box.refused("walls", *asks, "setns=user", "setns_pidfd", errors={"EPERM"})


def test_e33_the_sandbox_has_namespaces_of_its_own(box):
    """Two at the same time share none: the number of one that has gone may be given out again."""
    names = ["user", "mnt", "pid", "net", "ipc", "uts", "cgroup"]
    script = "for n in $1; do readlink /proc/self/ns/$n; done"
    first = box.spawn("sh", "-c", f"{script}; exec sleep 60", "sh", " ".join(names), stdout=subprocess.PIPE, text=True)
    inner = [first.stdout.readline().strip() for _ in names]
    outer = [os.readlink(f"/proc/self/ns/{n}") for n in names]
    again = box.run("sh", "-c", script, "sh", " ".join(names), status=0).out.split()
    assert first.poll() is None and len(set(inner) | set(outer) | set(again)) == 3 * len(names), (inner, outer, again)


URING = ["io_uring_setup", "io_uring_enter", "io_uring_register"]


def test_e34_s12_io_uring_is_not_there(box):
    box.control("kernel", *URING)
    box.refused("kernel", *URING, errors={"ENOSYS"})


def test_e37_personality_and_segments(box):
    flags = [0x0040000, 0x0400000, 0x0080000, 0x20000000]  # no randomisation, data is code, old addresses, other kernel
    asks = [f"personality={f:#x}" for f in flags]
    box.control("kernel", *asks)
    box.refused("kernel", *asks, errors={"EPERM"})
    if os.uname().machine == "x86_64":
        box.control("kernel", "modify_ldt", absent={"ENOSYS"})
        box.control("kernel", "iopl", "ioperm", user="root", absent={"ENOSYS"})
        box.refused("kernel", "modify_ldt", "iopl", "ioperm", errors={"EPERM"})


# Of 32-bit ARM: write(1, "in\n", 3); exit(0); and an instruction that is none.
ARM_CODE = [0xe3a00001, 0xe28f1018, 0xe3a02003, 0xe3a07004, 0xef000000, 0xe3a00000, 0xe3a07001, 0xef000000, 0xe7f000f0, 0x000a6e69]
ARM_BASE, ARM_HEADS = 0x100000, 52 + 32


def arm_program():
    size = ARM_HEADS + 4 * len(ARM_CODE)
    head = struct.pack("<4sBBB9xHHIIIIIHHHHHH", b"\x7fELF", 1, 1, 1, 2, 40, 1, ARM_BASE + ARM_HEADS, 52, 0, 0x5000000, 52, 32, 1, 0, 0, 0)
    segment = struct.pack("<IIIIIIII", 1, 0, ARM_BASE, ARM_BASE, size, size, 5, 0x10000)
    return head + segment + struct.pack(f"<{len(ARM_CODE)}I", *ARM_CODE)


def test_e38_s11_older_tables_of_system_calls_are_closed(box):
    """On arm64 that is a program of 32 bits: it can be started, where the kernel has them, but no call is answered, not even exit()."""
    if os.uname().machine == "aarch64":
        program = box.ws / "arm"
        program.write_bytes(arm_program())
        program.chmod(0o755)
        try:
            outside = subprocess.run([program], capture_output=True, text=True, check=True)
        except OSError as e:
            assert e.errno == errno.ENOEXEC  # kernels without it, as those with larger pages
            return
        inside = box.run("./arm")
        assert outside.stdout == "in\n" and (inside.status, inside.out) == (128 + signal.SIGILL, ""), (outside, inside)
        return
    box.control("kernel", "i386_getpid", "i386_socket", absent={"ENOSYS"})
    asks = ["i386_getpid", "i386_socket", "i386_mount", "x32_getpid"]
    box.refused("kernel", *asks, errors={"ENOSYS"})


def test_e39_s10_every_number_gives_what_the_table_says(box):
    """Outside nothing is refused; inside, each of more than two thousand calls is answered as the table in src/sandbox says."""
    outer = subprocess.run([PROGRAMS / "numbers"], capture_output=True, text=True, check=True).stdout.splitlines()
    assert {line.split("= ")[1] for line in outer} == {"let through"} and len(outer) > 1024
    want = subprocess.run([PROGRAMS / "expect"], capture_output=True, text=True, check=True).stdout.splitlines()
    got = box.run("./numbers", status=0).out.splitlines()
    hole = f"native {FAULT.split('=')[0]} " if FAULT else "none"  # it is inside, too
    assert [(g, w) for g, w in zip(got, want) if g != w and not g.startswith(hole)] == [] and len(got) == len(want) == len(outer)
    answers = {line.split("= ")[1] for line in got}
    assert answers == {"let through", "EPERM", "ENOSYS", "EAFNOSUPPORT"}, answers
    assert all(line.endswith("ENOSYS") for line in got if line.startswith(("x32", "i386")))


def test_e40_the_filter_cannot_be_loosened(box):
    asks = ["loosen", "loosen_tsync", "loosen_off"]
    box.control("walls", *asks, private=True)
    box.refused("walls", *asks, errors={"EPERM"})
    status = box.run("cat", "/proc/self/status", status=0).out
    assert "Seccomp:\t2\n" in status and "NoNewPrivs:\t1\n" in status


def test_e40_a_listener_of_the_payload_cannot_let_through_what_is_refused(box):
    """A listener may answer "continue": the sandbox's own filter still comes first. Shown by numbers.c, which is one."""
    got = dict(line.split(" = ") for line in box.run("./numbers", status=0).out.splitlines())
    assert got[f"native {NUMBER['mount']} 0 0 0 0"] == "EPERM"


KNOBS = ["/proc/sys/kernel/core_pattern", "/proc/sys/kernel/modprobe", "/proc/sys/kernel/hostname", "/proc/sys/vm/overcommit_memory",
         "/proc/sys/net/ipv4/ip_forward", "/proc/sys/fs/suid_dumpable", "/proc/sys/kernel/randomize_va_space",
         "/proc/sys/user/max_user_namespaces", "/proc/sysrq-trigger", "/proc/self/uid_map",
         "/proc/self/gid_map", "/proc/self/setgroups", "/proc/self/projid_map", "/proc/mtrr", "/proc/irq/default_smp_affinity",
         "/proc/timer_list", "/proc/kcore", "/proc/kmsg", "/sys/kernel/uevent_helper", "/sys/kernel/mm/hugepages", "/sys/power/state",
         "/sys/fs/cgroup/memory/release_agent", "/sys/fs/cgroup/memory/notify_on_release", "/sys/fs/cgroup/cgroup.procs",
         "/sys/fs/cgroup/memory/cgroup.procs", "/proc/self/attr/current", "/proc/self/loginuid", "/proc/self/sched",
         "/proc/self/timens_offsets", "/proc/1/oom_score_adj", "/proc/1/mem", "/proc/1/comm"]


@pytest.mark.parametrize("access", ["overlay", "rw"])
def test_e42_s18_no_knob_of_the_kernel_turns(box, access):
    values = {k: pathlib.Path(k).read_bytes() for k in KNOBS if k.startswith("/proc/sys/") and os.path.exists(k)}
    box.control("files", *[f"open_node={k}" for k in ("/proc/sys/kernel/core_pattern", "/proc/sys/kernel/modprobe",
                                                    "/proc/sys/vm/overcommit_memory", "/sys/fs/cgroup/memory/cgroup.procs")],
                user="root", absent={"ENOENT"})
    result = box.attack("files", *[f"write={k}" for k in KNOBS], access=access)
    done = [k for k, line in zip(KNOBS, result.out.splitlines()) if line.endswith("DONE") and k != "/proc/self/sched"]
    assert not done, f"{done}\n{result}"
    assert {k: pathlib.Path(k).read_bytes() for k in values} == values
    # The payload's user could not write most of them anywhere: the mount has to say no as well.
    mounts = box.run("cat", "/proc/self/mountinfo", access=access, status=0).out.splitlines()
    assert ["ro" in m.split()[5].split(",") for m in mounts if m.split()[4] == "/proc/sys"] == [True], mounts


MASKED = ["/proc/kcore", "/proc/sysrq-trigger", "/proc/keys", "/proc/pressure"]


def test_e42_what_of_proc_is_the_hosts_is_covered(box):
    """Whether or not the payload's user could open it: something of ours lies over what this kernel has of these."""
    mounts = [m.split()[4] for m in box.run("cat", "/proc/self/mountinfo", status=0).out.splitlines()]
    there = [m for m in MASKED if os.path.exists(m)]
    assert there and [m for m in there if m not in mounts] == [], mounts
    assert box.run("sh", "-c", 'for f in "$@"; do test -d "$f" && ls -A "$f" || cat "$f"; done', "sh", *there, status=0).out == ""


def test_e42_its_own_oom_score_can_only_be_raised(box):
    result = box.run("sh", "-c", "echo 500 >/proc/self/oom_score_adj; cat /proc/self/oom_score_adj; echo -1000 >/proc/self/oom_score_adj")
    assert result.out == "500\n" and result.status != 0, result


def test_e42_pressure_of_the_host_is_neither_seen_nor_watched(box):
    """Where this kernel tells it: outside everybody may open it for writing, which makes a watch in the kernel."""
    files = sorted(str(p) for p in pathlib.Path("/proc/pressure").glob("*"))
    if not files:
        return  # a kernel without it has nothing to hide
    box.control("files", *[f"open_node={f}" for f in files], user="root")
    box.refused("files", *[f"open_node={f}" for f in files], *[f"read={f}" for f in files], errors={"ENOENT"})
    assert box.run("ls", "-A", "/proc/pressure", status=0).out == ""


def test_e42_there_is_no_sys(box):
    assert os.path.isdir("/sys/kernel")
    result = box.run("sh", "-c", "ls -A /sys /sys/kernel /sys/fs/cgroup 2>/dev/null; cat /proc/kcore /proc/sysrq-trigger | wc -c")
    assert result.out.strip() == "0", result


def test_e44_s17_no_cgroup_can_be_reached(box):
    """Neither by a mount, nor by a path, nor by name: from inside, it is in the root of its own."""
    result = box.run("sh", "-c", "cat /proc/self/cgroup; ls /sys/fs/cgroup", status=None)
    assert result.out, result
    for line in result.out.splitlines():
        assert line.endswith(":/"), result
    groups = [f"create=/sys/fs/cgroup/{c}/evil" for c in ("memory", "pids", "cpu", "unified", "systemd")]
    box.refused("files", *groups, "write=/sys/fs/cgroup/memory/release_agent", "write=/sys/fs/cgroup/cgroup.subtree_control")


def test_e44_a_group_is_the_root_of_its_own_sandbox(light):
    """Seen from the host it lies somewhere below; inside nothing of that name is left."""
    if not light.may_limit():
        return
    p = light.spawn("sh", "-c", "cat /proc/self/cgroup; echo; exec sleep 60", options=["--pids", "64"], stdout=subprocess.PIPE, text=True)
    inner = [p.stdout.readline()]
    while inner[-1].strip():
        inner.append(p.stdout.readline())
    assert wait_until(lambda: any(processes().get(d, (0, ""))[1] == "sleep 60 " for d in descendants(p.pid)), 5)
    (payload,) = [d for d in descendants(p.pid) if processes().get(d, (0, ""))[1] == "sleep 60 "]
    outer = pathlib.Path(f"/proc/{payload}/cgroup").read_text().splitlines()
    assert [line for line in outer if not line.endswith(":/")], f"it is in no group: {outer}"
    assert len(inner) > 1 and all(line.endswith(":/\n") for line in inner[:-1]), inner


def test_e33_s16_the_namespace_itself_allows_no_other(box):
    """Behind the filter: the count that the kernel keeps is at its end."""
    result = box.run("cat", "/proc/sys/user/max_user_namespaces", status=0)
    assert result.out == "0\n" and int(pathlib.Path("/proc/sys/user/max_user_namespaces").read_text()) > 0, result


def test_e46_the_clock_is_not_set(box):
    asks = ["clock_settime", "settimeofday", "adjtimex", "clock_adjtime"]
    box.control("walls", *asks, user="root")
    box.refused("walls", *asks, errors={"EPERM"})


def test_e46_the_host_name_is_not_changed(box):
    box.control("walls", "sethostname", user="root")
    box.refused("walls", "sethostname", errors={"EPERM"})
    assert box.run("hostname", status=0).out == "sandbox\n" != os.uname().nodename


IDENTITIES = ["set=uid,0", "set=gid,0", "set=groups,0", "set=fsuid,0", "set=uid,1", "set=uid,65534", "set=gid,65534"]


@pytest.mark.parametrize("access", ["overlay", "rw"])
def test_e47_nobody_else_can_be_become(box, access):
    box.control("walls", *IDENTITIES, "capset", "bounding", "ambient", "securebits", "new_privs", user="root")
    box.refused("walls", *IDENTITIES, "capset", "bounding", "ambient", "securebits", "new_privs", errors={"EPERM", "EINVAL"},
                access=access)


def test_e47_no_capability_and_no_group_is_left(box):
    status = dict(line.split(":\t", 1) for line in box.run("cat", "/proc/self/status", status=0).out.splitlines())
    for name in ("CapInh", "CapPrm", "CapEff", "CapBnd", "CapAmb"):
        assert status[name] == "0" * 16, name
    assert status["Uid"] == status["Gid"] == "1000\t1000\t1000\t1000" and status["NoNewPrivs"] == "1"
    assert status["Groups"].strip() in ("", "1000", "65534"), status["Groups"]


@pytest.mark.skipif(not IS_ROOT, reason="needs root to have groups to lose")
def test_e47_the_groups_of_the_caller_give_nothing_inside(light):
    """
    A file that only a group of the caller may read, in the workspace. Where root starts it, it stays closed to the payload. The kernel
    does not let an ordinary user put a group away: it is read as outside, but has no number inside, and gives nothing to anybody.
    """
    path = light.file("ws/grouped", "x", 0o640)
    os.chown(path, 4242, 4243)

    def grouped(argv):
        return subprocess.run(["setpriv", "--reuid", str(light.uid), "--regid", str(light.uid), "--groups", "4243", *argv], cwd=light.ws,
                              capture_output=True, text=True, check=False, env=light.env)

    def inside(*command):
        return grouped(light.creel(*command)[len(light.as_user([])):])
    assert grouped(["cat", "grouped"]).stdout == "x", "the control cannot read it"
    run, groups = inside("cat", "grouped"), inside("id", "-G").stdout.split()
    if light.user == "root":
        assert run.returncode != 0 and "x" not in run.stdout and set(groups) == {"1000"}, (run, groups)
    else:
        assert (run.returncode, run.stdout) == (0, "x") and set(groups) <= {"1000", "65534"}, (run, groups)
        given = inside("chgrp", "4243", "walls"), inside("chgrp", "65534", "walls")
        assert all(g.returncode and "Invalid argument" in g.stderr or "not permitted" in g.stderr for g in given), given


FAMILIES = {  # family, type, protocol: what the kernel would do for whoever may ask
    "netlink_route": (16, 3, 0), "netlink_generic": (16, 3, 16), "netlink_netfilter": (16, 3, 12), "netlink_audit": (16, 3, 9),
    "netlink_uevent": (16, 2, 15), "packet": (17, 3, 0), "alg": (38, 5, 0), "key": (15, 3, 2), "xdp": (44, 3, 0), "bluetooth": (31, 3, 1),
    "vsock": (40, 1, 0), "vsock_dgram": (40, 2, 0), "raw_icmp": (2, 3, 1), "raw_tcp": (2, 3, 6), "raw_icmp6": (10, 3, 58),
    "sctp": (2, 1, 132), "mptcp": (2, 1, 262), "mptcp6": (10, 1, 262), "udplite": (2, 2, 136), "dccp": (2, 6, 33), "ping": (2, 2, 1),
    "tipc": (30, 1, 0), "rds": (21, 5, 0), "can": (29, 3, 1), "qipcrtr": (42, 2, 0), "smc": (43, 1, 0), "kcm": (41, 2, 0),
    "x25": (9, 5, 0), "appletalk": (5, 2, 0), "ax25": (3, 5, 0), "pppox": (24, 1, 0), "llc": (26, 1, 0), "caif": (37, 5, 0),
    "nfc": (39, 5, 0), "phonet": (35, 2, 0), "ieee802154": (36, 2, 0), "rxrpc": (33, 2, 2), "ib": (27, 5, 0), "mctp": (45, 2, 0)}


def test_e49_only_the_usual_sockets_can_be_made(box):
    asks = [f"socket={f},{t},{p}" for f, t, p in FAMILIES.values()]
    outer = box.outside("walls", *asks, user="root").out.splitlines()
    worked = [n for n, line in zip(FAMILIES, outer) if line.endswith("DONE")]
    if IS_ROOT:
        assert {"netlink_route", "packet", "raw_icmp", "mptcp"} <= set(worked), outer
    high = [a.replace("socket=", "socket_high=") for a in asks]
    box.refused("walls", *asks, *high, "socketpair=16,3,0", "socketpair=17,3,0", "socketpair=38,5,0",
                errors={"EPERM", "EAFNOSUPPORT"})
    usual = ["socket=1,1,0", "socket=1,2,0", "socket=1,5,0", "socket=2,1,0", "socket=2,2,17", "socket=10,1,6", "socketpair=1,1,0"]
    said = box.attack("walls", *usual).out.splitlines()
    assert len(said) == len(usual) and all(line.endswith("DONE") for line in said)


def test_o04_a_wall_that_cannot_be_built_is_a_refusal(light):
    """Without the mount API, Landlock, namespaces, seccomp: exit 125, the wall is named, and nothing has run."""
    marker = light.ws / "ran"
    for name in ("clone3", "seccomp", "landlock_restrict_self", "pivot_root", "fsopen", "capset"):
        for error in (1, 38):
            result = light.run("touch", "ran", access="rw", fault=fails(name, error))
            assert result.status == 125 and not marker.exists(), f"{name} answers {error}: {result}"
            assert result.err.startswith("creel run: ") and len(result.err) > 20, f"{name}: {result}"
    result = light.run("touch", "ran", access="rw", fault=fails("keyctl", 1), status=125)  # a kernel without keys has none to keep apart
    assert "keyring" in result.err and not marker.exists(), result


FAULTS = ["openat2", "clone3", "landlock_create_ruleset", "landlock_add_rule", "landlock_restrict_self", "fsopen", "fsconfig", "fsmount",
          "open_tree", "move_mount", "mount_setattr", "memfd_create", "pidfd_open", "pidfd_send_signal", "close_range", "statx", "keyctl",
          "umount2", "pivot_root", "prctl", "capset", "seccomp", "prlimit64", "signalfd4", "sethostname", "execveat", "setsid",
          "socketpair", "pipe2", "mkdirat", "ppoll"]


@pytest.mark.parametrize("name", FAULTS)
@pytest.mark.parametrize("error", [1, 38], ids=["EPERM", "ENOSYS"])
def test_o04_a_kernel_with_a_hole_gives_the_same_sandbox_or_none(light, name, error):
    """The call fails wherever creel or its warden makes it. What runs then must be held by every wall that is otherwise there."""
    asks = ["./walls", "mount=tmpfs", "unshare=user", "set=uid,0", "socket=16,3,0", "bounding"]
    whole = light.run(*asks, access="rw", status=0)
    result = light.run(*asks, access="rw", fault=fails(name, error), timeout=20)
    if result.status == 125:
        assert result.out == "" and result.err, result
        return
    assert result.status == 0 and result.out == whole.out, result
    walls, want = result.report["walls"], whole.report["walls"]
    assert walls == want, (walls, want)


SIGNALLING = {"pidfd_send_signal": 38, "kill": 1, "pidfd_open": 38, "waitid": 1}


@pytest.mark.parametrize("name", SIGNALLING)
def test_o04_the_deadline_is_kept_or_nothing_starts(light, name):
    begin = time.monotonic()
    nap = f"9.{os.getpid()}"
    result = light.run("sleep", nap, fault=fails(name, SIGNALLING[name]), options=["--timeout", "1"], timeout=20)
    assert result.status in (124, 125) and time.monotonic() - begin < 8.5, result
    assert wait_until(lambda: not [1 for _, line in processes().values() if line == f"sleep {nap} "], 1)


def test_the_half_that_needs_root_is_run():
    needs_root()


def test_readonly_mode_refuses_every_command(light):
    """By policy, before anything is built: 126."""
    for access in ACCESSES:
        result = light.run("touch", "ran", mode="readonly", access=access)
        assert result.status == 126 and result.report["reason"] == "denied", result
        assert result.report["code"] == "capability_denied" and not (light.ws / "ran").exists()
