#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The public header is plain C99 and C++98 without a warning, the library exports what it declares and nothing else, and every
function and struct of it is in the manual page."""
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

source, library = pathlib.Path(sys.argv[1]), sys.argv[2]
strict = ["-pedantic", "-Wall", "-Wextra", "-Werror", f"-I{source}/include", "-fsyntax-only"]
subprocess.run(["cc", "-std=c99", *strict, "-x", "c", source / "tests/api/header.cc"], check=True)
if shutil.which("c++"):
    subprocess.run(["c++", "-std=c++98", *strict, source / "tests/api/header.cc"], check=True)

header = (source / "include/creel/creel.h").read_text()
declared = set(re.findall(r"CREEL_API[^;]*?\b(creel_\w+)\(", header))
table = subprocess.run(["nm", "-D", "--defined-only", library], check=True, capture_output=True, text=True).stdout
exported = {line.split()[-1].split("@")[0] for line in table.splitlines()} - {"CREEL_0"}
assert exported == declared, f"only exported: {sorted(exported - declared)}; only declared: {sorted(declared - exported)}"

page = (source / "man/libcreel.3.scd").read_text()
words = declared | set(re.findall(r"^struct (creel_\w+) \{", header, re.M))
missing = sorted(w for w in words if w not in page)
assert not missing, f"libcreel(3) says nothing of {missing}"

# The archive is for who links statically: no name of ours may meet one of his.
archive = sys.argv[3] if len(sys.argv) > 3 else None
if archive:
    names = subprocess.run(["nm", "-g", "--defined-only", archive], check=True, capture_output=True, text=True).stdout
    seen = {line.split()[-1] for line in names.splitlines() if len(line.split()) == 3}
    assert seen == declared, f"the archive has other names: {sorted(seen ^ declared)}"
    with tempfile.TemporaryDirectory() as place:
        program = pathlib.Path(place) / "example"
        libs = subprocess.run(["pkg-config", "--libs", "yaml-0.1", "sqlite3", "libpcre2-8"], check=True, capture_output=True, text=True)
        subprocess.run(["cc", "-std=c99", f"-I{source}/include", source / "examples/libcreel/example.c", archive, *libs.stdout.split(),
                        "-o", program], check=True)
        assert subprocess.run([program], capture_output=True).returncode == 2
