# SPDX-License-Identifier: Apache-2.0
"""Real programs do behind the walls what they do outside: the same command in both places, and the same result."""
import os
import pathlib
import shutil
import subprocess
import time

import pytest
from conftest import IS_ROOT, USERS, processes, skip, wait_until


def need(*tools):
    for t in tools:
        if not shutil.which(t, path="/usr/bin:/bin:/usr/sbin:/sbin"):
            skip(f"no {t} on this host")


def outside(box, script, env=None):
    """The same in a copy of the workspace, as the same user."""
    copy = box.base / "copy"
    shutil.copytree(box.ws, copy, symlinks=True)
    subprocess.run(["chown", "-R", str(box.uid if IS_ROOT else os.getuid()), copy], check=False)
    return subprocess.run(box.as_user(["sh", "-c", script]), cwd=copy, capture_output=True, text=True, check=False, timeout=90,
                          env={**box.env, "HOME": str(box.home), **(env or {})})


def same(box, script, access="rw", env=None, expect=None, options=()):
    """Both ways; standard output and exit status must be equal."""
    outer = outside(box, script, env)
    inner = box.run("sh", "-c", script, access=access, timeout=120,
                    options=[*sum((["--env", f"{k}={v}"] for k, v in (env or {}).items()), []), *options])
    assert outer.returncode == 0, f"it does not work outside: {outer}"
    assert inner.status == 0 and inner.out == outer.stdout, f"{inner}\n--- outside\n{outer}"
    if expect is not None:
        assert inner.out == expect, inner
    return inner


GIT = {"GIT_AUTHOR_DATE": "2024-01-01T00:00:00Z", "GIT_COMMITTER_DATE": "2024-01-01T00:00:00Z", "GIT_CONFIG_NOSYSTEM": "1"}
GIT_SCRIPT = """set -e
export HOME=$PWD/h; mkdir -p h
git config --global user.name n; git config --global user.email e@x; git config --global init.defaultBranch main
git config --global advice.detachedHead false
git init -q origin; cd origin; echo one >a; git add a; git commit -qm first; cd ..
git clone -q origin clone; cd clone; echo two >b; git add b; git commit -qm second; git push -q origin HEAD:refs/heads/other
git checkout -q -b topic; echo three >>a; git commit -qam third; git rebase -q main; git merge -q --no-edit origin/main
git log --format='%s %H'; git status --short; git gc -q; git fsck --no-progress; git stash list; git archive HEAD | tar t
"""


@pytest.mark.parametrize("access", ["rw", "overlay"])
def test_git_clone_commit_push(light, access):
    need("git")
    same(light, GIT_SCRIPT, access, GIT)


def test_git_in_a_repository_of_the_caller(light):
    """No "dubious ownership": the files belong to the payload, as they belong to the caller outside."""
    need("git")
    light.file("ws/.gitignore", "*\n!tracked\n")
    light.file("ws/tracked", "x\n")
    for c in (["init", "-q"], ["add", "tracked"], ["-c", "user.name=n", "-c", "user.email=e@x", "commit", "-qm", "m"]):
        subprocess.run(light.as_user(["git", *c]), cwd=light.ws, env=light.env, check=True)
    for access in ("overlay", "rw"):
        result = light.run("sh", "-c", "echo y >>tracked; git status --short; git diff --stat | tail -1", access=access, status=0)
        assert " M tracked" in result.out and "1 file changed" in result.out, result


def git(light, where, *command):
    subprocess.run(light.as_user(["git", "-c", "user.name=n", "-c", "user.email=e@x", *command]), cwd=where, env=light.env, check=True, capture_output=True)


def repository(light, name):
    """With one commit, a worktree beside it and a directory in it."""
    top = light.base / name
    top.mkdir()
    light.give(top)
    light.file(top / "part/file", "x")
    git(light, top, "init", "-q")
    git(light, top, "add", ".")
    git(light, top, "commit", "-qm", "first")
    return top


def test_git_says_where_the_repository_of_a_worktree_is(light):
    """It lies outside of the workspace: one line with the way to it, which works and is read-only."""
    need("git")
    top = repository(light, "main")
    wt = light.base / "wt"
    wt.mkdir()
    light.give(wt)
    git(light, top, "worktree", "add", "-q", wt)
    hint = f"mounts.binds=['{top}/.git:{top}/.git:ro']"
    run = lambda *command, **kw: light.run(*command, ws=wt, **{"report": True, **kw})
    result = run("git", "log", "--format=%s")
    assert result.status == 128 and not result.report.get("message"), result  # -q
    loud = [a for a in light.line("git", "log", ws=wt) if a != "-q"]
    done = subprocess.run(loud, env=light.env, cwd=wt, capture_output=True, text=True, check=False)
    assert done.returncode == 128 and hint in done.stderr and "outside of the workspace" in done.stderr, done
    assert run("git", "log", "--format=%s", options=["-e", hint]).out == "first\n"
    before = sorted(os.listdir(top / ".git")), (top / ".git/config").read_text()
    result = run("sh", "-c", "git config alias.x '!id'; echo y >>part/file; git commit -qam second", options=["-e", hint])
    assert result.status == 128 and (sorted(os.listdir(top / ".git")), (top / ".git/config").read_text()) == before, result
    # A .git that a command has written proposes nothing: only a repository that knows this worktree is named.
    (wt / ".git").write_text(f"gitdir: {light.home}/.git/worktrees/wt\n")
    done = subprocess.run(loud, env=light.env, cwd=wt, capture_output=True, text=True, check=False)
    assert "outside of the workspace" in done.stderr and "mounts.binds" not in done.stderr, done


def test_git_in_a_part_of_a_repository_says_so(light):
    need("git")
    top = repository(light, "main")
    loud = [a for a in light.line("git", "log", ws=top / "part") if a != "-q"]
    done = subprocess.run(loud, env=light.env, cwd=top / "part", capture_output=True, text=True, check=False)
    assert done.returncode == 128 and f"a part of the repository '{top}'" in done.stderr and "--workspace" in done.stderr, done
    quiet = subprocess.run([a for a in light.line("sh", "-c", "exit 3", ws=top / "part") if a != "-q"], env=light.env, cwd=top, capture_output=True,
                           text=True, check=False)
    assert quiet.returncode == 3 and quiet.stderr == "", quiet


@pytest.mark.parametrize("shell", [False, True])
def test_git_clone_of_a_directory_in_an_overlay_says_what_helps(light, shell):
    need("git")
    top = repository(light, "main")

    def clone(*words, **kw):
        words = ["git", "clone", "--quiet", *words, "copy"]
        line = light.line(*(["sh", "-c", " ".join(words)] if shell else words), ws=top, **kw)
        return subprocess.run([a for a in line if a != "-q"], env=light.env, cwd=top, capture_output=True, text=True, check=False)
    done = clone(".")
    assert done.returncode == 128 and "fix: git clone --no-hardlinks" in done.stderr, done
    done = clone("--no-hardlinks", ".")
    assert done.returncode == 0 and "fix" not in done.stderr, done
    for address in ("https://example.org/x", "nobody.invalid:x"):  # that fails for another reason
        done = clone(address)
        assert done.returncode == 128 and "fix" not in done.stderr, done
    assert clone(".", access="rw").returncode == 0


GIT_WHO = """[user]
	name = Ada "L" Lovelace
	email = ada@example.org
	signingkey = /home/ada/key
[commit]
	gpgsign = true
[alias]
	st = !touch /tmp/alias
[credential]
	helper = store
"""


def test_a_commit_has_the_callers_name_and_nothing_else_of_his_settings(light):
    need("git")
    light.file("home/.gitconfig", GIT_WHO)
    script = "git init -q r && cd r && echo 1 >a && git add a && git commit -qm m && git log --format='%an <%ae> %cn <%ce>' && git config --list --show-scope | grep -v '^local'"
    result = light.run("sh", "-c", script, status=0)
    who = "Ada L Lovelace <ada@example.org>"
    assert result.out == f"{who} {who}\nsystem\tuser.name=Ada L Lovelace\nsystem\tuser.email=ada@example.org\n", result
    assert light.run("sh", "-c", "echo >>/etc/gitconfig").status != 0
    # the repository's own comes first, and where git is taken away nobody is told who the user is
    own = "git init -q r && cd r && git config user.email work@example.org && git commit -q --allow-empty -m m && git log --format=%ae"
    assert light.run("sh", "-c", own, status=0).out == "work@example.org\n"
    assert "Ada" not in light.run("sh", "-c", "cat /etc/gitconfig; git config --list", mode="docker").out
    # the caller can keep it to himself
    assert light.run("sh", "-c", "cat /etc/gitconfig", env={"GIT_CONFIG_GLOBAL": "/dev/null"}).out == ""


def test_python_with_a_virtual_environment_and_tests(light):
    need("python3")
    light.file("ws/test_it.py", "import unittest, subprocess, tempfile, threading, multiprocessing, socket, sqlite3, ssl, json\n"
               "def f(x): return x * x\n"
               "class T(unittest.TestCase):\n"
               "    def test_pool(self):\n"
               "        with multiprocessing.get_context('fork').Pool(3) as p: self.assertEqual(p.map(f, range(9))[-1], 64)\n"
               "    def test_process(self): self.assertEqual(subprocess.check_output(['echo', 'x']), b'x\\n')\n"
               "    def test_file(self):\n"
               "        with tempfile.NamedTemporaryFile() as t: t.write(b'x')\n"
               "    def test_pair(self):\n"
               "        a, b = socket.socketpair(); a.send(b'x'); self.assertEqual(b.recv(1), b'x'); a.close(); b.close()\n"
               "    def test_lock(self):\n"
               "        q = multiprocessing.Queue(); q.put(1); self.assertEqual(q.get(), 1)\n"
               "if __name__ == '__main__': unittest.main()\n")
    script = ("python3 -m venv --without-pip env && ./env/bin/python test_it.py 2>&1 | tail -1 && ./env/bin/python -c "
              "'import sys; print(sys.prefix != sys.base_prefix)'")
    same(light, script, expect="OK\nTrue\n")


@pytest.mark.parametrize("user", ["user"])  # root makes one without pip, above
def test_a_virtual_environment_with_pip(light):
    """pip comes from Python's own copy: no network is asked for."""
    need("python3")
    if subprocess.run(["/usr/bin/python3", "-c", "import ensurepip"], capture_output=True, check=False).returncode:
        skip("no python3-venv on this host")
    script = ("/usr/bin/python3 -m venv env && ./env/bin/pip --version | cut -d' ' -f1,2 && mkdir -p pkg/p && echo 'x = 42' >pkg/p/__init__.py && "
              "./env/bin/python -c 'import sys; sys.path.insert(0, \"pkg\"); import p; print(p.x)'")
    same(light, script)


def test_node(light):
    need("node")
    script = ("node -e \"const fs=require('fs'),cp=require('child_process'),{Worker}=require('worker_threads');"
              "fs.writeFileSync('f','x');fs.readFile('f',(e,d)=>{console.log(String(d),cp.execSync('echo sub').toString().trim());"
              "new Worker('require(\\\"worker_threads\\\").parentPort.postMessage(42)',{eval:true}).on('message',m=>console.log(m))})\"")
    same(light, script, expect="x sub\n42\n")


def test_npm_test_without_network(light):
    need("npm", "node")
    light.file("ws/package.json", '{"name":"x","version":"1.0.0","scripts":{"test":"node --test t.js | grep -c ^ok"}}')
    light.file("ws/t.js", "const t=require('node:test');t('a',()=>{});t('b',async()=>{});\n")
    env = {"npm_config_update_notifier": "false", "npm_config_offline": "true"}
    given = sum((["--env", f"{k}={v}"] for k, v in env.items()), [])
    before = sorted(os.listdir(light.ws))
    inner = light.run("sh", "-c", "npm test --silent", access="rw", options=given)
    assert sorted(os.listdir(light.ws)) == before, "npm left its own in the workspace"
    outer = outside(light, "npm test --silent", {**env, "npm_config_cache": "/tmp/npm-cache"})
    assert outer.returncode == 0 and inner.status == 0 and inner.out == outer.stdout, (inner, outer)


def test_programs_that_want_the_network_give_up_at_once(light):
    """A name is not known, which is not temporary; and npm asks once, not for 71 seconds. It tells how often in its log."""
    need("npm", "node", "python3")
    said = light.run("python3", "-c", "import socket; socket.getaddrinfo('somewhere.invalid', 80)", status=1)
    assert "Name or service not known" in said.err, said
    light.file("ws/package.json", '{"name":"x","version":"1.0.0","dependencies":{"left-pad":"1.3.0"}}')
    said = light.run("npm", "install", "--loglevel", "http", "--no-update-notifier", status=1)
    assert "ENOTFOUND" in said.err and said.err.count("http fetch GET") == 1 and "attempt 2" not in said.err, said
    assert light.run("sh", "-c", "echo $PIP_RETRIES", options=["--env", "PIP_RETRIES=2"], status=0).out == "2\n"


def test_what_programs_keep_in_their_home_is_not_in_the_workspace(light):
    """Writable or as a layer over it: what a run leaves is what it was asked to make."""
    script = 'mkdir -p ~/.cache/x && echo 1 >~/.cache/x/y && python3 -c "import os; print(os.path.expanduser(chr(126)))" && HOME= sh -c "cd ~sandbox && pwd"'
    before = sorted(os.listdir(light.ws))
    for access in ("rw", "overlay"):
        result = light.run("sh", "-c", script, access=access, status=0)
        assert result.out == "/tmp\n/tmp\n" and not result.report["changes"]["total"], result
    assert sorted(os.listdir(light.ws)) == before
    assert light.run("sh", "-c", "echo $HOME", options=["--env", "HOME=/sandbox"], status=0).out == "/sandbox\n"


MAKEFILE = """CFLAGS = -O1 -Wall
objects = $(patsubst %.c,%.o,$(wildcard f*.c)) main.o
prog: $(objects)
\t$(CC) -o $@ $^
check: prog
\t./prog
"""


@pytest.mark.parametrize("access", ["rw", "overlay"])
def test_a_c_project_built_in_parallel(light, access):
    need("gcc", "make")
    light.file("ws/Makefile", MAKEFILE)
    for i in range(6):
        light.file(f"ws/f{i}.c", f"int f{i}(int x); int f{i}(int x) {{ return x + {i}; }}\n")
    light.file("ws/main.c", "#include <stdio.h>\n" + "".join(f"int f{i}(int);\n" for i in range(6))
               + "int main(void) { printf(\"%d\\n\", f0(f1(f2(f3(f4(f5(0))))))); return 0; }\n")
    script = "make -s -j4 prog && make -s check && make -j2 -n | tail -1; gcc --version | head -1"
    same(light, script, access)
    assert (light.ws / "prog").exists() == (access == "rw")


@pytest.mark.parametrize("access", ["rw", "overlay"])
def test_sqlite(light, access):
    need("python3")
    script = ("python3 - <<'E'\nimport sqlite3\nfor mode in ('delete', 'wal', 'memory'):\n    c = sqlite3.connect(f'{mode}.db')\n"
              "    c.execute(f'pragma journal_mode={mode}'); c.execute('create table t(x)')\n"
              "    with c: c.executemany('insert into t values(?)', [(i,) for i in range(5000)])\n"
              "    d = sqlite3.connect(f'{mode}.db'); print(mode, d.execute('select sum(x) from t').fetchone(), "
              "d.execute('pragma integrity_check').fetchone())\nE")
    assert same(light, script, access).out.count("12497500") == 3


def test_tar_and_friends(light):
    script = ("mkdir -p d/e; echo one >d/a; ln d/a d/hard; ln -s a d/soft; mkfifo d/pipe; chmod 640 d/a; touch -d 2020-01-01 d/a; "
              "tar cf x.tar d; mkdir out; tar xpf x.tar -C out; (cd out; find . | sort; stat -c '%a %h %Y' d/a; readlink d/soft); "
              "gzip -k x.tar; gzip -t x.tar.gz && echo good; cp -a d copy; diff -r --no-dereference d/a copy/a && echo same; "
              "find d -type f -print0 | xargs -0 sha256sum | sort | head -1; sort -R d/a | sort; split -b 1 d/a part; cat part* | cmp - d/a")
    same(light, script, "rw")


@pytest.mark.parametrize("access", ["rw", "overlay"])
def test_rsync(light, access):
    need("rsync")
    script = ("mkdir -p a/b; echo one >a/x; echo two >a/b/y; ln -s x a/l; ln a/x a/h; chmod 640 a/x; touch -d 2020-01-01 a/b/y; "
              "rsync -aH --info=stats0 a/ copy/ && (cd copy; find . -type f -o -type l | sort; stat -c '%a %h' x; stat -c %Y b/y; readlink l); "
              "echo more >>a/x; rm a/b/y; rsync -aHc --delete --inplace a/ copy/; "
              "diff -r a copy && echo same")
    same(light, script, access)


@pytest.mark.parametrize("access", ["rw", "overlay"])
def test_sqlite_shell(light, access):
    need("sqlite3")
    script = ("sqlite3 x.db 'pragma journal_mode=wal; create table t(a,b); insert into t values(1,2),(3,4); select sum(a*b) from t;' && "
              "sqlite3 x.db '.dump' && (for i in 1 2 3 4; do sqlite3 -cmd '.timeout 20000' x.db \"insert into t values($i,1)\" & done; wait) && "
              "sqlite3 x.db 'select count(*) from t; pragma integrity_check' && sqlite3 x.db '.backup y.db' && cmp -s x.db y.db; "
              "sqlite3 y.db 'select count(*) from t'")
    same(light, script, access)


def test_java(light):
    """Where there is one: it is too large to be installed for this. The next test shows what it needs of us."""
    if not shutil.which("java", path="/usr/bin:/bin"):
        return
    light.file("ws/Hello.java", "public class Hello { public static void main(String[] a) throws Exception {\n"
               "var t = new Thread(() -> System.out.println(Runtime.version().feature() > 8)); t.start(); t.join();\n"
               "System.out.println(java.security.MessageDigest.getInstance(\"SHA-256\").digest(new byte[1]).length);\n"
               "System.out.println(java.nio.file.Files.list(java.nio.file.Path.of(\"/usr\")).count() > 3); } }\n")
    script = "java -Xmx128m -XX:-UsePerfData -version 2>&1 | head -1"
    if "jdk.compiler" in subprocess.run(["/usr/bin/java", "--list-modules"], capture_output=True, text=True, check=False).stdout:
        script += "; java -Xmx128m -XX:-UsePerfData Hello.java"
    same(light, script)


def test_etc_of_java_is_there(light):
    """/etc is made by us, and the links of /usr/lib/jvm lead to /etc/java-*: it is inside as it is on the host, which here gets one."""
    if not IS_ROOT:
        skip("needs root to give the host another /etc for a moment")
    light.file("etc/java-21-openjdk/made-up.security", "security.provider.1=SUN\n")
    argv = light.creel("sh", "-c", "cd /etc && ls -d java-* && cat java-21-openjdk/made-up.security; echo x >java-21-openjdk/new")
    done = subprocess.run(["unshare", "-m", "sh", "-c", f'mount -t overlay -o lowerdir={light.base}/etc:/etc none /etc && exec "$@"', "sh", *argv],
                          cwd=light.ws, env=light.env, capture_output=True, text=True, check=False)
    found = sorted({*(p.name for p in pathlib.Path("/etc").glob("java-*")), "java-21-openjdk"})
    assert done.stdout.split() == [*found, "security.provider.1=SUN"] and done.returncode != 0, done


def test_perl(light):
    need("perl")
    same(light, "perl -MFile::Temp=tempfile -e 'my($h,$n)=tempfile(); print $h \"x\"; close $h; print -s $n, \"\\n\"; "
         "my $p=fork; if(!$p){exit 3} waitpid($p,0); print $?>>8, \"\\n\"; print `echo sub`; local $SIG{ALRM}=sub{die \"alarm\\n\"}; "
         "alarm 1; eval{select undef,undef,undef,3}; print $@'", expect="1\n3\nsub\nalarm\n")


@pytest.mark.parametrize("user", USERS[:1])  # ten thousand for everybody else, in test_races.py
def test_a_thousand_pipelines(light):
    """S22: none of them hangs, none loses a byte."""
    result = light.run("dash", "-c", "i=0; while [ $i -lt 1000 ]; do i=$((i+1)); echo $i | cat | cat; done | cksum", status=0, timeout=60)
    outer = subprocess.run(["sh", "-c", "seq 1000 | cksum"], capture_output=True, text=True, check=True)
    assert result.out == outer.stdout


def test_shells(light):
    need("bash")
    same(light, "bash -c 'diff <(echo a) <(echo a) && echo same; coproc cat; echo hi >&${COPROC[1]}; read -u ${COPROC[0]} x; echo $x; "
         "mapfile -t a < <(seq 3); echo ${#a[@]}; set -o pipefail; true | false; echo $?; ulimit -c 0; echo $?; "
         "exec 5<>/dev/null; echo $?; type -p env; [[ -r /etc/passwd ]] && echo readable'")


def test_threads(light):
    same(light, "./threads", expect="32000 16 32000 500\n")


def test_io_uring_program_falls_back(light):
    (light.ws / "data").write_text("x" * 100)
    (light.ws / "data").chmod(0o644)
    assert light.run("./uring", "data", status=0).out == "threads 100\n"
    assert outside(light, "./uring data").stdout in ("ring 100\n", "threads 100\n")


def test_certificates_zones_users_and_names(light):
    need("python3")
    script = ("python3 -c 'import ssl; print(len(ssl.create_default_context().get_ca_certs()) > 0)'; TZ=Europe/Berlin date -d @0 +%H:%M; "
              "getent services http | tr -s ' '; getent hosts localhost | tr -s ' ' | cut -d' ' -f2; locale -a >/dev/null && echo locale; "
              "openssl version | cut -d' ' -f1")
    inner = light.run("sh", "-c", script, status=0)
    outer = outside(light, script)
    if os.path.exists("/etc/ssl/certs/ca-certificates.crt"):
        assert inner.out.startswith("True\n01:00\n"), inner
    assert inner.out.splitlines()[:3] == outer.stdout.splitlines()[:3], (inner, outer)


def test_compilers_and_interpreters_of_the_host_run(light):
    for tool, want in (("java -version", 0), ("curl --version", 0), ("awk BEGIN{print(1)}", 0), ("openssl version", 0),
                       ("clang --version", 0), ("vi --version", 0), ("rsync --version", 0), ("less --version", 0)):
        name = tool.split()[0]
        if not shutil.which(name, path="/usr/bin:/bin"):
            continue
        result = light.run(*tool.split(), timeout=60)
        assert result.status == want, (tool, result)


@pytest.mark.parametrize("access", ["rw", "overlay"])
def test_files_are_what_they_were(light, access):
    """mmap, locks, sparse files, xattrs, directories with many entries, renames, links: through overlay and bind."""
    script = ("python3 - <<'E'\nimport fcntl, mmap, os\nwith open('m','wb+') as f:\n    f.truncate(1<<20); m = mmap.mmap(f.fileno(), 0)\n"
              "    m[0:5] = b'hello'; m.flush(); fcntl.flock(f, fcntl.LOCK_EX); fcntl.lockf(f, fcntl.LOCK_EX)\n"
              "print(open('m','rb').read(5), os.stat('m').st_size)\nos.makedirs('many')\n"
              "for i in range(500): open(f'many/{i}','w').close()\nprint(len(os.listdir('many')))\n"
              "os.rename('many','more'); os.link('m','m2'); print(os.stat('m').st_nlink)\n"
              "os.setxattr('m','user.x',b'y'); print(os.getxattr('m','user.x'))\n"
              "with open('s','wb') as f: f.seek(1<<30); f.write(b'x')\nprint(os.stat('s').st_blocks < 1000)\n"
              "os.posix_fallocate(os.open('a', os.O_CREAT|os.O_RDWR), 0, 65536); print(os.stat('a').st_size)\n"
              "fd = os.open('.', os.O_TMPFILE|os.O_RDWR, 0o600); print(os.fstat(fd).st_nlink); print(os.copy_file_range("
              "os.open('m',os.O_RDONLY), fd, 10))\nE")
    same(light, script, access)


@pytest.mark.parametrize("access", ["rw", "overlay"])
def test_notifications_work_inside(light, access):
    script = ("python3 - <<'E'\nimport ctypes, os, select\nlibc = ctypes.CDLL(None)\nfd = libc.inotify_init1(0)\n"
              "print(libc.inotify_add_watch(fd, b'.', 0x100) > 0)\nopen('new','w').close()\n"
              "print(bool(select.select([fd],[],[],5)[0]), os.read(fd, 4096)[16:19])\nE")
    same(light, script, access)


def test_a_directory_of_the_workspace_is_moved(light):
    """rename() of a directory that lies below an overlay is EXDEV, as between two file systems: mv copies."""
    light.file("ws/dir/sub/file", "x")
    result = light.run("sh", "-c", "mv dir moved && cat moved/sub/file && ls dir 2>/dev/null; true", status=0)
    assert result.out == "x" and (light.ws / "dir/sub/file").exists(), result


def test_a_build_that_uses_all_of_tmp(light):
    result = light.run("sh", "-c", "cd /tmp && head -c 30000000 /dev/zero >big && gzip -k big && ls -l big.gz | wc -l; df /tmp | tail -1", status=0)
    assert result.out.startswith("1\n")


def test_background_work_of_a_shell(light):
    result = light.run("sh", "-c", "for i in 1 2 3 4 5 6 7 8; do (sleep 0.1; echo $i) & done; wait; echo all", status=0)
    assert sorted(result.out.split()) == ["1", "2", "3", "4", "5", "6", "7", "8", "all"]


def test_debugging_is_refused_with_a_reason(light):
    """strace and gdb cannot work without ptrace: they say so, they do not hang."""
    if not shutil.which("strace"):
        return
    result = light.run("strace", "true", timeout=20)
    assert result.status != 0 and "not permitted" in result.err.lower(), result


# ---- stress-ng, inside limits ----

STRESS = {"vm": ["--vm", "2", "--vm-bytes", "200m", "--vm-populate"], "fork": ["--fork", "4", "--fork-max", "8"],
          "fault": ["--fault", "2"], "io": ["--io", "2", "--hdd", "1", "--hdd-bytes", "8m", "--temp-path", "/tmp"]}


@pytest.mark.serial
@pytest.mark.parametrize("kind", STRESS)
def test_stress_is_held_and_the_host_goes_on(light, kind):
    """The classes that hurt most, with limits where the user can have them: the host starts programs meanwhile, and nothing outlives."""
    need("stress-ng")
    limits = ["--memory", "300m", "--pids", "48", "--cpus", "0.8"] if light.user == "root" else []
    p = light.spawn("stress-ng", "--quiet", "--temp-path", "/tmp", "--timeout", "3s", *STRESS[kind], options=["--timeout", "20", *limits],
                    stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
    slowest = rounds = 0
    while p.poll() is None:
        begin = time.monotonic()
        subprocess.run(["true"], check=True)
        slowest, rounds = max(slowest, time.monotonic() - begin), rounds + 1
        time.sleep(0.05)
    assert rounds > 3 and slowest < 3, (slowest, rounds)
    assert p.returncode in (0, 2, 3, 124, 128 + 9), (p.returncode, p.stderr.read())
    assert wait_until(lambda: not [1 for _, line in processes().values() if line.startswith("stress-ng") and "--temp-path /tmp" in line], 1)


@pytest.mark.serial
def test_stress_of_memory_ends_as_oom_and_nobody_else_is_hit(light, bystander):
    need("stress-ng")
    if light.user != "root":
        light.run("true", options=["--memory", "64m"], status=125)
        return
    victim = bystander(light)
    result = light.run("stress-ng", "--quiet", "--oomable", "--temp-path", "/tmp", "--timeout", "3s", "--vm", "2", "--vm-bytes", "400m",
                       "--vm-keep", "--vm-populate", options=["--memory", "64m", "--timeout", "30"], timeout=60)
    assert result.report["peak_memory_bytes"] <= 80 << 20 and victim.poll() is None, result
