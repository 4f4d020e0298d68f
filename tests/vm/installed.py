# SPDX-License-Identifier: Apache-2.0
"""What the guest gets besides its own programs: creel as it is installed, and AppArmor's parser with the files that profiles include."""
import pathlib
import re
import shutil
import subprocess

LOADER = "ld-linux-x86-64.so.2"
LIBRARIES = ["usr/lib/x86_64-linux-gnu", "lib/x86_64-linux-gnu", "usr/lib64", "lib64"]
PARSER = ["usr/sbin/apparmor_parser", "sbin/apparmor_parser"]


def creel(build, work):
    """The programs where packages have them: name in the guest -> file."""
    root = work / "installed"
    shutil.rmtree(root, ignore_errors=True)
    subprocess.run(["meson", "install", "-C", build, "--no-rebuild", "--quiet", "--destdir", root], check=True, stdout=subprocess.DEVNULL)
    wanted = [*root.rglob("bin/*"), *root.rglob("libexec/creel/*"), *root.rglob("*.so*"), *root.rglob("apparmor/*"), *root.rglob("systemd/*/creel*")]
    return {f"/{p.relative_to(root)}": p for p in wanted}


def first(base, names):
    return next((base / n for n in names if (base / n).exists()), None)


def parser(kernel):
    """The one that was unpacked beside the kernel, with the libraries it was built for, else this machine's: (files, trees)."""
    base = kernel if first(kernel, PARSER) else pathlib.Path("/")
    program = first(base, PARSER)
    if not program:
        return {}, {}
    said = subprocess.run(["ldd", program], capture_output=True, text=True, check=False).stdout
    needed = {pathlib.Path(w).name for w in re.findall(r"^\s*(\S+\.so\S*) ", said, re.MULTILINE)} - {"linux-vdso.so.1"}
    files = {f"/creel/apparmor/{n}": p for n in {*needed, LOADER} if (p := first(base, [f"{d}/{n}" for d in LIBRARIES]))}
    files["/creel/apparmor/apparmor_parser"] = program
    return {n: p.resolve() for n, p in files.items()}, {"/etc/apparmor.d": base / "etc/apparmor.d"}
