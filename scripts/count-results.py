#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Adds up JUnit files; prints what failed or was skipped, then 'N passed, N failed'. A skip fails under CREEL_MUST_WORK=1.

usage: count-results.py STEP_FAILED DIRECTORY   (STEP_FAILED: 1 when a build or runner said that it failed)
"""
import os
import pathlib
import re
import sys
import xml.etree.ElementTree as ET

WORDS_MAX = 1500  # of each failure: what else it said is far above
step_failed, directory = int(sys.argv[1]), pathlib.Path(sys.argv[2])
passed = failed = skipped = 0


def said(suite, case):
    """What a unit test says of a failure is in the output of its whole program, behind its name."""
    found = re.search(rf"^not ok {re.escape(case.get('name'))}\n((?:#.*\n?)*)", suite.findtext("system-out") or "", re.M)
    return found[1] if found else "\n".join((suite.findtext("system-err") or "").splitlines()[-10:])


for path in sorted(directory.glob("*.xml")):
    for suite, case in ((suite, case) for suite in ET.parse(path).iter("testsuite") for case in suite.findall("testcase")):
        name = f"{path.stem}: {case.get('classname')}.{case.get('name')}"
        bad = next((b for b in (case.find("failure"), case.find("error")) if b is not None), None)
        if bad is not None:
            failed += 1
            words = bad.get("message") or bad.text or said(suite, case)
            print(f"FAILED {name}: {' '.join(words.split())[:WORDS_MAX]}")
        elif case.find("skipped") is not None:
            skipped += 1
            print(f"skipped {name}: {case.find('skipped').get('message') or ''}")
        else:
            passed += 1
if step_failed and not failed:
    failed += 1
    print("FAILED a step failed outside of any test: see above")
if passed == 0:
    failed += 1
    print("FAILED no test ran")
if skipped and os.environ.get("CREEL_MUST_WORK") == "1":
    failed += skipped
    skipped = 0
    print("FAILED skips count as failures here (CREEL_MUST_WORK=1)")
print(f"{passed} passed, {failed} failed" + (f", {skipped} skipped" if skipped else ""))
sys.exit(failed != 0)
