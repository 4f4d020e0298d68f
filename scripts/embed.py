#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""embed.py FILE OUT.c HEADER NAME: a file as a constant of the program."""
import sys

source, out, header, name = sys.argv[1:]
with open(source, "rb") as f:
    data = f.read()
with open(out, "w", encoding="ascii") as f:
    f.write(f'/* SPDX-License-Identifier: Apache-2.0 */\n#include "{header}"\n\nconst char {name}[] = {{\n')
    for i in range(0, len(data), 32):
        f.write("".join(f"{b}," for b in data[i:i + 32]) + "\n")
    f.write(f"0 }};\nconst size_t {name}_n = {len(data)};\n")
