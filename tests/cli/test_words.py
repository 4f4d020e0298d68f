# SPDX-License-Identifier: Apache-2.0
"""A text that is one simple command is run as its words. Some programs are the shell's own, and it must not find anything to run in the words: it was decided
about printf, and not about what stands in its brackets. With a shell that looks there (bash)."""
import json
import os
import shutil

import pytest

RAN = "$(touch ran)"
ROWS = [
    (f"printf -v 'a[{RAN}]' x", {}),
    ("printf -v 'a[`touch ran`]' x", {}),
    (f"printf '-va[{RAN}]' x", {}),
    (f"test -v 'a[{RAN}]'", {}),
    (f"test ! -v 'a[{RAN}]'", {}),
    (f"[ -v 'a[{RAN}]' ]", {}),
    (f"test 'a[{RAN}]' -eq 0", {}),
    ("printf -v 'a[x]' 1", {"x": f"b[{RAN}]"}),
    ("test x -eq 0", {"x": f"b[{RAN}]"}),
    (f"echo 'a[{RAN}]'", {}),
]


@pytest.mark.parametrize("command,variables", ROWS, ids=[r[0] for r in ROWS])
def test_a_shell_finds_nothing_to_run_in_the_words(sessions, command, variables):
    tools = sessions.cwd / "tools"
    tools.mkdir()
    os.symlink(shutil.which("bash", path="/usr/bin:/bin"), tools / "sh")
    sessions.give(tools)
    text = command[0] == "["  # the whole of it is for a shell, and is decided about as that
    for shells in ("deny",) if text else ("allow", "deny"):
        done = sessions("call", "--sandbox", "light", "--workspace-access", "rw", "--env", "PATH=/workspace/tools:/usr/bin:/bin", "-e", f"tools.exec.shells={shells}",
                        "exec", json.dumps({"command": command, "env": variables})).json
        assert not (sessions.cwd / "ran").exists(), done
        assert done["reason"] == ("refused" if text else "exited"), done


@pytest.mark.parametrize("policy,own", [([], True), (["-e", "tools.exec.shells=deny"], False), (["-e", 'tools.exec.programs=["echo"]'], False)])
def test_a_shell_is_started_for_its_own_programs_only_where_policy_lets_one(sessions, policy, own):
    tools = sessions.cwd / "tools"
    tools.mkdir()
    (tools / "sh").write_text("#!/bin/sh\n: > started\nexec /bin/sh \"$@\"\n")
    (tools / "sh").chmod(0o755)
    sessions.give(tools)
    done = sessions("call", "--sandbox", "light", "--workspace-access", "rw", "--env", "PATH=/workspace/tools:/usr/bin:/bin", *policy, "exec",
                    json.dumps({"command": "echo hi"})).json
    assert done["stdout"] == "hi\n" and (sessions.cwd / "started").exists() == own, done
