#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Puts the generated parts into a manual page: a line '@PART@' becomes what `creel manual PART` prints."""
import re
import subprocess
import sys

*creel, source, target = sys.argv[1:]  # creel, and before it what runs programs of another machine
out = []
for line in open(source, encoding="utf-8"):
    part = re.fullmatch(r"@([a-z]+)@\n", line)
    if part:
        out.append(subprocess.run([*creel, "manual", part[1]], capture_output=True, text=True, check=True).stdout)
    else:
        out.append(line)
text = re.sub(r"\n{3,}", "\n\n", "".join(out))
open(target, "w", encoding="utf-8").write(text)
