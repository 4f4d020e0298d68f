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
    done = sessions("call", "--sandbox", "light", "--workspace-access", "rw", "--env", "PATH=/workspace/tools:/usr/bin:/bin", "-e", "tools.exec.shells=deny", "exec",
                    json.dumps({"command": command, "env": variables})).json
    assert not (sessions.cwd / "ran").exists(), done
    assert done["reason"] == ("refused" if command[0] == "[" else "exited"), done  # "[" is for a shell to find
