#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Fails when docs/checklist.md forgets a requirement or names a test that is not there.

A row is `| S0-4 | what it is about | test, test |`. In the last column stand names of tests (TEST(name), def name, or a
fuzz target), or `later: what it waits for`, or both. What can be shown today needs a test.
"""
import pathlib
import re
import sys

COUNTS = {"S0-": 66, "S1-": 62, "S2-": 44, "S3-": 104, "S4-": 53, "C": 33, "D2-": 10, "D3-": 14, "T": 21}
NEED_TESTS = {
    "S0-": [(4, 36), (52, 63)],
    "S1-": [(7, 62)],
    "S3-": [(15, 54), (64, 69), (74, 74), (80, 95), (100, 103)],
    "S4-": [(2, 19), (24, 42), (46, 47), (50, 50)],
    "C": [(1, 33)],
    "D3-": [(1, 2)],
    "T": [(1, 21)],
}
PREFIXES = {"WITH_KEEPER": "keeper_", "WITH_BOX": "box_"}
root = pathlib.Path(sys.argv[1])
numbers = [f"{kind}{n}" for kind, last in COUNTS.items() for n in range(1, last + 1)]
needed = {f"{kind}{n}" for kind, ranges in NEED_TESTS.items() for first, last in ranges for n in range(first, last + 1)}
problems = []


def find_tests():
    """name -> file; a C test counts when the build knows its file."""
    built = (root / "tests/unit/meson.build").read_text()
    tests = {}
    for path in sorted((root / "tests/unit").glob("*/test_*.c")):
        found = re.findall(r"^(TEST|WITH_CALLER|WITH_KEPT|WITH_KEEPER|WITH_BOX)\((\w+)\)", path.read_text(), re.M)
        names = [PREFIXES.get(macro, "") + name for macro, name in found]
        tests.update(dict.fromkeys(names, path.relative_to(root)))
        if f"'{path.stem[5:]}'" not in built:
            problems.append(f"{path.relative_to(root)} is not built: tests/unit/meson.build does not name it")
    for path in sorted((root / "tests/api").glob("test_*.c")):
        names = re.findall(r"^(?:WITH_LAB|BOTH_WAYS)\((\w+)", path.read_text(), re.M)
        tests.update(dict.fromkeys(names, path.relative_to(root)))
    for path in sorted((root / "tests").glob("*/test_*.py")):
        tests.update(dict.fromkeys(re.findall(r"^def (test_\w+)\(", path.read_text(), re.M), path.relative_to(root)))
    tests.update({path.stem: path.relative_to(root) for path in (root / "fuzz").glob("fuzz_*.c")})
    return tests


def read_rows():
    """(line, number, about, tests, later), of every row that begins with a number."""
    for n, line in enumerate((root / "docs/checklist.md").read_text().splitlines(), 1):
        row = re.match(r"\| ((?:S\d-|C|D\d-|T)\d+) \|([^|]*)\|([^|]*)\|$", line)
        if row:
            shown, _, later = row[3].partition("later:")
            names = [name.strip(" `;") for name in shown.split(",")]
            yield n, row[1], row[2].strip(), [name for name in names if name], later.strip() if "later:" in row[3] else None


tests, seen = find_tests(), set()
for n, number, about, names, later in read_rows():
    complain = [f"{number} has two rows"] * (number in seen) + [f"{number} is no requirement"] * (number not in numbers)
    seen.add(number)
    complain += [f"no test is called {name}" for name in names if name not in tests]
    if not about:
        complain.append(f"{number} does not say what it is about")
    if later == "":
        complain.append(f"{number} is for later, but not what it waits for")
    if not names and later is None:
        complain.append(f"{number} has neither a test nor what it waits for")
    elif not names and number in needed:
        complain.append(f"{number} needs a test")
    problems += [f"docs/checklist.md:{n}: {c}" for c in complain]
problems += [f"docs/checklist.md: {number} has no row" for number in numbers if number not in seen]
for problem in problems:
    print(problem)
print(f"# {len(seen)} requirements, {len(tests)} tests")
sys.exit(bool(problems))
