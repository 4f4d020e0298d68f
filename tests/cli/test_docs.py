# SPDX-License-Identifier: Apache-2.0
"""The manual and the completions say what the program knows: no more, no less."""
import pathlib
import re
import subprocess

import pytest

from conftest import CREEL, ROOT

SHELLS = {"bash": ["bash", "-n"], "zsh": ["zsh", "-n"], "fish": ["fish", "-n"]}


def page(creel, name, tmp_path):
    scd, out = tmp_path / f"{name}.scd", tmp_path / name
    subprocess.run(["/usr/bin/python3", ROOT / "man/fill.py", CREEL, ROOT / f"man/{name}.scd.in", scd], check=True)
    with open(scd) as source, open(out, "w") as target:
        subprocess.run(["scdoc"], stdin=source, stdout=target, check=True)
    return out


def rendered(path):
    text = subprocess.run(["mandoc", "-Tutf8", "-Owidth=200", path], capture_output=True, text=True, check=True).stdout
    return re.sub(r"\s+", " ", re.sub(".\b", "", text))


def commands_of(creel, *parent):
    """Every command that help lists, as it is typed."""
    listed = re.search(r"^Commands:\n((?:  .*\n)+)", creel(*parent, "--help", status=0).out, re.M)
    for name in [line.split()[0] for line in listed[1].splitlines()] if listed else []:
        below = list(commands_of(creel, *parent, name))
        yield from below or [[*parent, name]]


def options_of(creel, *command):
    return set(re.findall(r"^ +(?:-\w, )?--([a-z-]+)", creel(*command, "--help", status=0).out, re.M))


@pytest.mark.parametrize("name", ["creel.1", "creel.json5.5"])
def test_manual_pages_are_well_formed(creel, tmp_path, name):
    lint = subprocess.run(["mandoc", "-Tlint", page(creel, name, tmp_path)], capture_output=True, text=True, check=False)
    # What scdoc always does: lower case titles, long lines, a paragraph macro beside a heading.
    usual = ("lower case character in document title", "longer than 80 bytes", "skipping paragraph macro")
    assert [line for line in lint.stdout.splitlines() if not any(u in line for u in usual)] == []


def test_manual_names_every_command_and_option(creel, tmp_path):
    text = rendered(page(creel, "creel.1", tmp_path))
    commands = list(commands_of(creel))
    assert ["config", "import"] in commands
    for command in commands:
        assert f"creel {' '.join(command)} [options]" in text
        for option in options_of(creel, *command):
            assert f"--{option}" in text, option


def test_manual_names_every_refusal_code(creel, tmp_path):
    text = rendered(page(creel, "creel.1", tmp_path))
    source = (ROOT / "src/model/code.c").read_text()
    codes = re.findall(r'\[CODE_\w+\]\s*=\s*\{ "(\w+)",\s*(\d+)', source)
    assert len(codes) > 30
    for word, status in codes:
        assert word in ("ok", "undecided") or f"{word} ({status})" in text, word


def test_manual_names_every_configuration_key(creel, tmp_path):
    text = rendered(page(creel, "creel.json5.5", tmp_path))
    keys = creel("config", "keys", status=0).out.split()
    assert len(keys) > 90
    for key in keys:
        assert key in text, key


def test_every_key_of_the_table_is_listed_once(creel):
    table = re.findall(r'^OPT\(\w+,\s*\w+,\s*\w+,\s*"([^"]+)"', (ROOT / "src/model/options.def").read_text(), re.M)
    assert sorted(creel("config", "keys", status=0).out.split()) == sorted(table)


def test_schema_is_json_and_knows_the_keys(creel):
    schema = creel("config", "schema", status=0).json
    for key in creel("config", "keys", status=0).out.split():
        node = schema
        for part in key.split("."):
            node = node["properties"][part]


@pytest.mark.parametrize("shell", SHELLS)
def test_completion_is_valid_for_its_shell(creel, shell):
    creel.file(f"c.{shell}", creel("completion", shell, status=0).out)
    subprocess.run([*SHELLS[shell], f"c.{shell}"], cwd=creel.cwd, check=True)


def test_bash_completion_passes_shellcheck(creel):
    creel.file("c.bash", creel("completion", "bash", status=0).out)
    subprocess.run(["shellcheck", "-s", "bash", "c.bash"], cwd=creel.cwd, check=True)


def bash_offers(creel, *words):
    creel.file("c.bash", creel("completion", "bash", status=0).out)
    script = ('source c.bash; compopt() { :; }; COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); _creel; '
              'printf "%s\\n" "${COMPREPLY[@]}"')
    done = subprocess.run(["bash", "-c", script, "x", "creel", *words], cwd=creel.cwd, capture_output=True, text=True,
                          check=True, env=creel.env)
    assert done.stderr == ""
    return done.stdout.split()


def fish_offers(creel, line):
    creel.file("c.fish", creel("completion", "fish", status=0).out)
    done = subprocess.run(["fish", "--no-config", "-c", f"source c.fish; complete -C '{line}'"], cwd=creel.cwd,
                          env={**creel.env, "PATH": f"{CREEL.parent}:/usr/bin:/bin"}, capture_output=True, text=True,
                          check=True)
    return [entry.split("\t")[0] for entry in done.stdout.splitlines()]


def test_bash_offers_commands_options_and_words(creel):
    assert {"explain", "config", "version", "help"} <= set(bash_offers(creel, ""))
    assert "completion" not in bash_offers(creel, "")
    assert bash_offers(creel, "-c", "explain", "e") == ["explain"]  # the first is -c's file
    assert bash_offers(creel, "config", "s") == ["show", "schema"]
    assert bash_offers(creel, "explain", "--mat") == ["--matrix"]
    assert bash_offers(creel, "explain", "--as", "o") == ["openclaw"]
    assert "openclaw-net" in bash_offers(creel, "config", "show", "--as", "o")
    assert bash_offers(creel, "explain", "--sandbox", "=", "d") == ["docker"]
    assert bash_offers(creel, "explain", "-e", "limits.pi") == ["limits.pids="]
    assert "openclaw" in bash_offers(creel, "config", "import", "")
    assert bash_offers(creel, "explain", "--", "--mat") == []


def test_bash_offers_every_option_of_every_command(creel):
    for command in commands_of(creel):
        assert {o[2:] for o in bash_offers(creel, *command, "--")} == options_of(creel, *command)


def test_fish_offers_commands_options_and_words(creel):
    assert {"explain", "config", "version", "help"} <= set(fish_offers(creel, "creel "))
    assert "completion" not in fish_offers(creel, "creel ")
    assert fish_offers(creel, "creel config ") == ["check", "import", "keys", "schema", "show"]
    assert "--matrix" in fish_offers(creel, "creel explain --ma")
    assert "--matrix" not in fish_offers(creel, "creel config show --ma")
    assert fish_offers(creel, "creel explain --sandbox d") == ["docker"]
    assert fish_offers(creel, "creel explain -e limits.pi") == ["limits.pids="]


def test_tools_and_sandboxes_are_offered_by_name(creel):
    creel.env["PATH"] = f"{CREEL.parent}:/usr/bin:/bin"
    assert bash_offers(creel, "call", "apply_") == ["apply_patch"]
    assert "apply_patch" in fish_offers(creel, "creel call apply_")


def test_zsh_loads_the_completion_and_defines_its_functions(creel):
    creel.file("_creel", creel("completion", "zsh", status=0).out)
    script = ("autoload -Uz compinit; compinit -u -D -d dump; _arguments() { :; }; "
              "source ./_creel; print -l ${(k)functions[(I)_creel*]} | sort; print -l -- $_creel_explain_args")
    done = subprocess.run(["zsh", "-f", "-c", script], cwd=creel.cwd, env=creel.env, capture_output=True, text=True,
                          check=True)
    for name in ["_creel", "_creel_explain", "_creel_config", "_creel_config_show"]:
        assert name in done.stdout.split()
    for option in options_of(creel, "explain") - options_of(creel, "version"):
        assert f"--{option}" in done.stdout


def test_readme_and_docs_name_only_commands_that_exist(creel):
    known = {command[0] for command in commands_of(creel)}
    for path in [pathlib.Path(ROOT / "README.md"), *sorted((ROOT / "docs").glob("cli/*.md"))]:
        if path.exists():
            for command in re.findall(r"^\s*\$ creel (?:-\S+ \S+ )*([a-z]+)", path.read_text(), re.M):
                assert command in known, (path, command)


def examples(text):
    """$ command lines (a here-document belongs to its command) with the output that follows."""
    for block in re.findall(r"^```console\n(.*?)^```", text, re.M | re.S):
        for command, output in re.findall(r"^\$ ([^\n]*<<'END'\n.*?^END\n|[^\n]*\n)((?:(?!\$ )[^\n]*\n)*)", block,
                                          re.M | re.S):
            yield command, output


def as_pattern(output):
    """... stands for anything: alone on a line for any lines, else for the rest of a line or part of it."""
    lines = [r"(?:.*\n)*" if line == "..." else ".*".join(map(re.escape, line.split("..."))) + r"\n"
             for line in output.splitlines() if not re.fullmatch(r"\[\d+\]", line)]
    return "".join(lines)


def test_examples_of_the_documentation_are_what_happens(anybody):
    found = list(examples((ROOT / "docs/cli.md").read_text()))
    assert len(found) > 12
    (anybody.home / "bin").mkdir()
    # Sessions of the examples are not those of whoever runs the tests.
    (anybody.home / "bin/creel").write_text(f"""#!/bin/sh
case $1 in call|list|inspect|kill|recreate|prune|audit|incident|token|pairing) command=$1 ;; *) exec {CREEL} "$@" ;; esac
shift
exec {CREEL} "$command" --state-dir {anybody.state} "$@"
""")
    (anybody.home / "bin/creel").chmod(0o755)
    for command, output in found:
        done = subprocess.run(["bash", "-o", "pipefail", "-c", command], cwd=anybody.cwd, capture_output=True, text=True,
                              env={**anybody.env, "PATH": f"{anybody.home}/bin:/usr/bin:/bin"}, check=False)
        assert re.fullmatch(as_pattern(output), done.stderr + done.stdout), (command, done.stdout, done.stderr, output)
        status = re.search(r"^\[(\d+)\]$", output, re.M)
        if status or "|" not in command:
            assert done.returncode == int(status[1] if status else 0), command


def test_the_manual_names_the_place_of_the_audit_log_that_is_used(creel, tmp_path):
    """The default of audit.path is no file, and the table says which one is meant."""
    row = re.search(r"audit\.path(.{0,300})", rendered(page(creel, "creel.json5.5", tmp_path)))[1]
    assert "audit/audit.jsonl in the state directory" in row and "~" not in row.split("state directory")[0], row
