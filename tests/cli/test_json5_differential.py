# SPDX-License-Identifier: Apache-2.0
"""Our JSON5 parser against npm's json5: the same documents, the same verdict, the same values."""
import os
import pathlib
import random
import shutil
import struct
import subprocess

import pytest

HERE = pathlib.Path(__file__).resolve().parent
COMPARE = HERE.parent / "tools" / "json5compare.js"
CASES = 20_000


@pytest.fixture(scope="module")
def peers():
    """The three parts: our program, node, and the folder with npm's json5."""
    tool = pathlib.Path(os.environ.get("CREEL_BUILD", "build/gcc")) / "tests/tools/json5dump"
    modules = pathlib.Path(os.environ.get("CREEL_NODE_MODULES", "build/node/node_modules"))
    node = shutil.which("node")
    missing = [what for what, there in [("node", node), (f"{modules}/json5", (modules / "json5").is_dir()),
                                        (str(tool), tool.is_file())] if not there]
    if missing:
        (pytest.fail if os.environ.get("CREEL_MUST_WORK") == "1" else pytest.skip)(f"needs {', '.join(missing)}")
    return tool.resolve(), node, modules.resolve()


SPACES = [" ", "\t", "\n", "\r", "\r\n", "\v", "\f", "\u00a0", "\ufeff", "\u2028", "\u2029", "\u2003", "\u3000",
          "\u1680", "\u202f", "\u205f"]
LETTERS = "abzAZ_$éλжあ字\u00aa\u2160\u2e2f\U00010400\U0001d49c"
GOES_ON = LETTERS + "059\u0301\u0903\u200c\u200d\u203f\u0966"
PLAIN = list("abc xyz09,:[]{}/*#$_-+.") + ["é", "€", "字", "😀", "\u2028", "\u2029", "\u007f", "\u0001", "\0", "\t", "\ufffd"]


class Maker:
    """Random documents of every construct that JSON5 has."""

    def __init__(self, seed):
        self.r = random.Random(seed)

    def space(self):
        if self.r.random() < 0.6:
            return ""
        return "".join(self.r.choice([self.r.choice(SPACES), " ", self.comment()])
                       for _ in range(self.r.randint(1, 3)))

    def comment(self):
        text = "".join(self.r.choice(["a", "*", "/", "é", "\u2028 ", "'", '"', "]"]) for _ in range(self.r.randint(0, 6)))
        if self.r.random() < 0.5:
            return "/*" + text.replace("*/", "* /").rstrip("*") + "*/"
        return "//" + text.replace("\u2028", "-") + self.r.choice(["\n", "\r", "\r\n", "\u2028", "\u2029"])

    def escape(self):
        r = self.r
        return r.choice([
            lambda: "\\" + r.choice("bfnrtv0'\"\\/"),
            lambda: "\\" + r.choice(["\n", "\r", "\r\n", "\u2028", "\u2029"]),
            lambda: "\\x%02x" % r.randrange(256),
            lambda: "\\u%04X" % r.randrange(0x10000),
            lambda: "\\ud83d" + r.choice(["", "\\\n", "x", "\\ud83d"]) + "\\ude00",
            lambda: "\\u" + r.choice(["d800", "DBFF", "dc00", "DFFF", "0000", "2028", "fffd"]),
            lambda: "\\" + r.choice("aceghijklmopqswyzACX é字😀!"),
        ])()

    def string(self):
        quote = self.r.choice("'\"")
        out = []
        for _ in range(self.r.choice([0, 1, 2, 5, 20, 40])):
            c = self.escape() if self.r.random() < 0.2 else self.r.choice(PLAIN)
            out.append("\\" + c if c == quote else c)
        text = "".join(out)
        if self.r.random() < 0.9:  # \0 and a digit is an error, which the mutations test often enough
            for d in "0123456789":
                text = text.replace("\\0" + d, "\\0 ")
        return quote + text + quote

    def digits(self, most=12):
        return "".join(self.r.choice("0123456789") for _ in range(self.r.randint(1, most)))

    def number(self):
        r = self.r
        sign = r.choice(["", "", "-", "+"])
        whole = r.choice(["0", str(r.randint(1, 9)) + r.choice(["", self.digits(25)])])
        exponent = r.choice(["", "", "e", "E"])
        if exponent:
            exponent += r.choice(["", "-", "+"]) + self.digits(3)
        return sign + r.choice([
            lambda: whole, lambda: whole + exponent, lambda: whole + "." + exponent,
            lambda: whole + "." + self.digits(30) + exponent, lambda: "." + self.digits(25) + exponent,
            lambda: r.choice(["0x", "0X"]) + "".join(r.choice("0123456789abcdefABCDEF") for _ in range(r.randint(1, 40))),
            lambda: "Infinity", lambda: "NaN",
            lambda: r.choice(["9007199254740993", "9223372036854775807", "9223372036854775808", "1e308", "1.8e308",
                              "4.9e-324", "2.4703282292062327e-324", "5e-324", "0.1", "1e21", "123456789012345678",
                              "179769313486231580793728971405301e276", "0x20000000000001", "0x20000000000003"]),
        ])()

    def key(self):
        r = self.r
        if r.random() < 0.4:
            return self.string()
        if r.random() < 0.1:
            return r.choice(["__proto__", "null", "true", "Infinity", "NaN", "constructor", "while"])
        first = r.choice([r.choice(LETTERS), r.choice(LETTERS), "\\u%04x" % r.choice([0x61, 0x24, 0x5f, 0xe9, 0x4e00])])
        rest = [r.choice([r.choice(GOES_ON), "\\u%04x" % r.choice([0x30, 0x200c, 0x41, 0x301])])
                for _ in range(r.choice([0, 0, 1, 3, 8]))]
        return first + "".join(rest)

    def value(self, depth):
        r = self.r
        if depth == 0 or r.random() < 0.5:
            return r.choice([self.string, self.number, self.number, lambda: r.choice(["null", "true", "false"])])()
        n = r.choice([0, 1, 2, 3, 5, 20])
        if r.random() < 0.5:
            items = [self.space() + self.value(depth - 1) + self.space() for _ in range(n)]
            return "[" + ",".join(items) + self.tail(n) + "]"
        items = [self.space() + self.key() + self.space() + ":" + self.space() + self.value(depth - 1) + self.space()
                 for _ in range(n)]
        return "{" + ",".join(items) + self.tail(n) + "}"

    def tail(self, n):
        return "," + self.space() if n and self.r.random() < 0.3 else self.space()

    def document(self):
        return self.space() + self.value(self.r.choice([0, 1, 1, 2, 3])) + self.space()

    def mutate(self, text):
        r = self.r
        for _ in range(r.randint(1, 3)):
            i = r.randint(0, len(text))
            j = min(len(text), i + r.choice([0, 1, 1, 1, 2, 8]))
            new = r.choice(["", "", r.choice("{}[],:'\"\\/*+-.0129eExXuINntf_$ #"), r.choice(SPACES), r.choice(PLAIN),
                            r.choice(["\\", "\u2118", "\u00b7", "\\u", "\\x", "\\0", "0x", "//", "/*", "*/", "01", "-", "+-", "..", "e",
                                      "nul", "Infinit", "undefined", ",,", "\\\r\n", "é", "\u200c"])])
            text = text[:i] + new + text[j:]
        return text


def documents():
    make = Maker(5)
    for i in range(CASES):
        text = make.document()
        yield make.mutate(text) if i % 2 else text


def run(argv, **kw):
    return subprocess.run([str(a) for a in argv], check=True, timeout=300, **kw)


def test_generated_documents_have_the_verdict_and_value_of_npm_json5(peers, tmp_path):
    tool, node, modules = peers
    docs, lines = tmp_path / "docs", tmp_path / "lines"
    with docs.open("wb") as f:
        for text in documents():
            raw = text.encode()
            f.write(struct.pack("<I", len(raw)) + raw)
    with docs.open("rb") as i, lines.open("wb") as o:
        run([tool, "docs"], stdin=i, stdout=o)
    got = run([node, COMPARE, modules, "docs", docs, lines], stdout=subprocess.PIPE, text=True).stdout
    words = got.strip().rsplit("\n", 1)[-1].split()
    assert words[:2] == ["compared", str(CASES)], got
    assert words[4:] == ["different", "0"], got
    # Both sides must have been exercised, or the comparison says nothing.
    assert CASES * 0.4 < int(words[3]) < CASES * 0.9, got


def members(line):
    edges = [int(x) for x in line.split()]
    return {cp for a, b in zip(edges[::2], edges[1::2]) for cp in range(a, b)}


def test_bare_keys_take_every_letter_that_npm_json5_takes(peers):
    """json5 has the letters of Unicode 10, ours and node's are newer: each contains the older one."""
    tool, node, modules = peers
    ours = [members(x) for x in run([tool, "ids"], stdout=subprocess.PIPE, text=True).stdout.splitlines()]
    theirs = [members(x) for x in run([node, COMPARE, modules, "ids"], stdout=subprocess.PIPE, text=True).stdout.splitlines()]
    for mine, json5, newest in zip(ours, theirs[:2], theirs[2:], strict=True):
        assert len(json5) > 100_000
        assert sorted(json5 - mine) == []
        assert sorted(mine - newest) == []
