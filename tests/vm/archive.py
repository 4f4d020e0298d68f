# SPDX-License-Identifier: Apache-2.0
"""What the guest boots into: an initial ramdisk made of this machine's own programs, so that nothing has to be installed in it;
or, for a guest of another architecture, of the system that was unpacked for it.

The archive is written by hand (the kernel's "newc" format): everything in it belongs to root, whoever builds it.
"""
import os
import pathlib
import re
import shutil
import stat
import subprocess
import sys
import sysconfig

PROGRAMS = """bash sh cat chmod chown cp date df dirname echo env false grep head hostname id kill ln ls mkdir mkfifo mknod mktemp mount mv nice
  pgrep pkill printf prlimit ps readlink realpath rm rmdir sed seq setpriv setsid sleep sort stat stty tail tee test timeout touch tr true
  ipcrm ipcs ipcmk truncate tty umount uname unshare wc xargs yes git awk find dd expr tar mke2fs install
  systemd-run systemctl nsenter"""
MODULES = ["_pytest", "pytest", "pluggy", "iniconfig", "packaging", "attr", "attrs", "more_itertools", "py", "tomli", "exceptiongroup"]
LEFT_OUT = {"test", "tests", "idlelib", "tkinter", "lib2to3", "ensurepip", "turtledemo", "pydoc_data", "distutils", "__phello__"}
SYSTEMD = ["/usr/lib/systemd/systemd", "/usr/lib/systemd/systemd-executor", "/usr/lib/systemd/user", "/usr/lib/locale/C.utf8",
           *(f"/usr/lib/systemd/system/{t}.target" for t in ("sysinit", "basic", "sockets", "shutdown", "slices", "paths", "timers", "umount", "final"))]
DIRECTORIES = {"proc": 0o555, "sys": 0o555, "dev": 0o755, "run": 0o755, "root": 0o700, "mnt": 0o755, "tmp": 0o1777, "var/tmp": 0o1777,
               "home": 0o755, "etc": 0o755, "opt": 0o755, "srv": 0o755, "boot": 0o755, "media": 0o755}
# Of a system that was unpacked, and never set up: what nothing in the guest asks for, and what its packages would have made.
NOT_NEEDED = {"boot", "usr/include", "usr/lib/gcc", "usr/lib/modules", "usr/lib/udev", "usr/lib/klibc", "usr/share/doc", "usr/share/info",
              "usr/share/locale", "usr/share/man", "usr/share/zoneinfo", "usr/share/python-wheels"}
NOT_NEEDED_NAMES = re.compile(r"\.a$|linux-gnu-|san\.so|^libicudata\.|^linux-image-")
NOT_SET_UP = ["passwd", "group", "nsswitch.conf", "hosts", "localtime"]
LINKS = {"usr/bin/awk": "mawk", "usr/bin/which": "which.debianutils"}
ETC = ["passwd", "group", "nsswitch.conf", "ld.so.conf", "ld.so.conf.d", "ld.so.cache", "alternatives", "localtime", "hosts", "os-release"]


class Archive:
    """Files by the name that they have in the guest."""

    def __init__(self, out):
        self.out, self.known, self.next_inode = out, set(), 1

    def entry(self, name, mode, data=b"", mtime=0, device=(0, 0)):
        name = name.strip("/")
        if name in self.known:
            return
        self.known.add(name)
        raw = name.encode() + b"\0"
        fields = [self.next_inode, mode, 0, 0, 1, int(mtime), len(data), 0, 0, *device, len(raw), 0]
        self.next_inode += 1
        head = b"070701" + b"".join(b"%08x" % f for f in fields) + raw
        self.out.write(head + bytes(-len(head) % 4) + data + bytes(-len(data) % 4))

    def parents(self, name):
        for d in list(pathlib.PurePath(name.strip("/")).parents)[-2::-1]:
            self.entry(str(d), stat.S_IFDIR | 0o755)

    def file(self, source, name):
        """One file, directory or link as it is here."""
        st = os.lstat(source)
        self.parents(name)
        if stat.S_ISLNK(st.st_mode):
            self.entry(name, st.st_mode, os.readlink(source).encode())
        elif stat.S_ISDIR(st.st_mode):
            self.entry(name, st.st_mode)
        elif stat.S_ISREG(st.st_mode):
            self.entry(name, st.st_mode, pathlib.Path(source).read_bytes(), st.st_mtime)

    def text(self, name, text, mode=0o644):
        self.parents(name)
        self.entry(name, stat.S_IFREG | mode, text if isinstance(text, bytes) else text.encode())

    def host(self, path):
        """A file of this machine at its own place, and all links on the way to it."""
        path = pathlib.Path(path)
        path = path.parent.resolve() / path.name
        if not os.path.lexists(path):
            return
        self.file(path, str(path))
        if path.is_symlink():
            self.host(os.path.join(path.parent, os.readlink(path)))

    def tree(self, source, name, skip=frozenset()):
        for at, dirs, files in os.walk(source):
            dirs[:] = sorted(d for d in dirs if d not in skip)
            below = os.path.join(name, os.path.relpath(at, source))
            for f in sorted(files) + [d for d in dirs if os.path.islink(os.path.join(at, d))]:
                self.file(os.path.join(at, f), os.path.normpath(os.path.join(below, f)))

    def system(self, root):
        """All of a system but what is not needed."""
        for at, dirs, files in os.walk(root):
            below = os.path.relpath(at, root)
            dirs[:] = sorted(d for d in dirs if os.path.normpath(os.path.join(below, d)) not in NOT_NEEDED and not NOT_NEEDED_NAMES.search(d))
            for name in [*dirs, *sorted(files)]:
                if not NOT_NEEDED_NAMES.search(name):
                    self.file(os.path.join(at, name), os.path.normpath(os.path.join(below, name)))

    def close(self):
        self.entry("TRAILER!!!", 0)


def libraries(files):
    """The shared libraries that these programs are linked with."""
    done = subprocess.run(["ldd", *map(str, files)], capture_output=True, text=True, check=False)
    return sorted(set(re.findall(r"(/\S+) \(0x", done.stdout)))


def python_files():
    """The standard library and pytest: (source, name) of each tree."""
    std = pathlib.Path(sysconfig.get_paths()["stdlib"])
    places = [pathlib.Path(p) for p in sys.path if p.endswith("-packages")]
    found = [p / m for m in MODULES for p in places if (p / m).exists()]
    return [std, *found], [q for m in ("py", "six", "typing_extensions") for p in places if (q := p / f"{m}.py").exists()]


def skeleton(a):
    for d, mode in DIRECTORIES.items():
        a.parents(d)
        a.entry(d, stat.S_IFDIR | mode)
    a.entry("dev/console", stat.S_IFCHR | 0o600, device=(5, 1))


def own_system(a, programs):
    """What the tests need of this machine, and the libraries of all of it."""
    for link in ("bin", "sbin", "lib", "lib64", "lib32", "libx32"):
        if os.path.islink(f"/{link}"):
            a.file(f"/{link}", link)
    found = [shutil.which(p, path="/usr/bin:/usr/sbin:/bin:/sbin") for p in PROGRAMS.split()]
    found = [p for p in [*found, "/usr/bin/python3"] if p]
    dirs, files = python_files()
    systemd = [pathlib.Path(p) for p in SYSTEMD if os.path.exists(p)]
    found += [p for p in systemd if p.is_file()]
    dirs += [p for p in systemd if p.is_dir()]
    binaries = [*found, *programs.values(), *(p for d in dirs for p in d.rglob("*.so"))]
    for path in [*found, *files, *libraries(binaries)]:
        a.host(path)
    for d in dirs:
        a.tree(d, str(d), LEFT_OUT)


def write(out, kernel, programs, trees, init, root=None):
    """kernel: texts for the guest; programs: built ones; trees: directories; each by the name that it gets there. root: of a foreign system."""
    a = Archive(out)
    skeleton(a)
    if root:
        a.system(root)
        for name, target in LINKS.items():
            a.entry(name, stat.S_IFLNK | 0o777, target.encode())
    else:
        own_system(a, programs)
    for name in NOT_SET_UP if root else ETC:
        path = pathlib.Path("/etc") / name
        if path.is_dir() and not path.is_symlink():
            a.tree(path, str(path))
        elif path.exists():
            a.file(path.resolve() if root else path, str(path))
    for name, source in programs.items():
        a.file(source, name)
    for name, source in trees.items():
        a.tree(source, name, {"__pycache__"})
    for name, data in kernel.items():
        a.text(name, data)
    a.text("init", init.read_bytes(), 0o755)
    a.close()
