# SPDX-License-Identifier: Apache-2.0
"""Inside a container: doctor says what run then does, and the one command that it names makes it work. A dockerd of the test's own,
below a directory of its own, with a root that holds creel and a handful of programs; nothing is fetched, and nothing stays."""
import json
import pathlib
import shutil
import subprocess
import tarfile

import pytest
from conftest import CREEL, needs_root, skip, wait_until

pytestmark = pytest.mark.serial  # its daemon mounts where everybody sees it
USER, FILTER, HIDDEN = ["--user", "1000:1000"], ["--security-opt", "seccomp=unconfined"], ["--security-opt", "systempaths=unconfined"]
STATE, WORK = ["--tmpfs", "/state:mode=1777"], ["-v", "/w"]  # the second: no layer, but a volume
SUGGESTED = [*USER, *HIDDEN, *FILTER, "--security-opt", "apparmor=unconfined", *STATE]
CGROUPS = ["-v", "/sys/fs/cgroup:/sys/fs/cgroup"]  # as they are here, to write to; without it they are there to be read
LIMITS = ["--memory", "64m", "--pids", "32", "--cpus", "1"]


CAPABILITIES = """CHOWN DAC_OVERRIDE DAC_READ_SEARCH FOWNER FSETID KILL SETGID SETUID SETPCAP LINUX_IMMUTABLE NET_BIND_SERVICE NET_BROADCAST NET_ADMIN
  NET_RAW IPC_LOCK IPC_OWNER SYS_MODULE SYS_RAWIO SYS_CHROOT SYS_PTRACE SYS_PACCT SYS_ADMIN SYS_BOOT SYS_NICE SYS_RESOURCE SYS_TIME SYS_TTY_CONFIG
  MKNOD LEASE AUDIT_WRITE AUDIT_CONTROL SETFCAP MAC_OVERRIDE MAC_ADMIN SYSLOG WAKE_ALARM BLOCK_SUSPEND
  AUDIT_READ""".split()  # by their numbers; the newest are not known to every Docker


def privileged(cgroups=CGROUPS):
    """All that this machine itself may do, which may be less than --privileged wants to give."""
    (ours,) = [int(l.split()[1], 16) for l in pathlib.Path("/proc/self/status").read_text().splitlines() if l.startswith("CapBnd")]
    given = [f"--cap-add={name}" for bit, name in enumerate(CAPABILITIES) if ours >> bit & 1]
    return [*given, *HIDDEN, *FILTER, "--security-opt", "apparmor=unconfined", *cgroups]


# name: how the container is started, whether a sandbox can be had there, and whether one with limits can
OPTIONS = {
    "root": ([], False, False),
    "root-unfiltered": (FILTER, False, False),
    "root-half-privileged": (["--cap-add", "SYS_ADMIN", *FILTER, *HIDDEN, *STATE], False, False),
    "root-privileged-no-state": ([*privileged(), *WORK], False, False),
    "root-privileged-no-volume": ([*privileged(), *STATE], False, False),
    "root-privileged": ([*privileged(), *STATE, *WORK], True, True),
    "root-privileged-read-only-cgroups": ([*privileged(cgroups=[]), *STATE, *WORK], True, None),
    "root-privileged-own-cgroupns": ([*privileged(), "--cgroupns", "private", *STATE, *WORK], True, None),
    "user": (USER, False, False),
    "user-unfiltered": (USER + FILTER, False, False),
    "user-no-state": ([o for o in SUGGESTED if o not in STATE], False, False),
    "user-privileged": ([*privileged(), *USER, *STATE], True, False),
    "suggested": (SUGGESTED, True, False),
    "suggested-own-cgroupns": ([*SUGGESTED, "--cgroupns", "private"], True, False),
    "suggested-read-only": ([*SUGGESTED, "--read-only"], True, False),
}


def fill_root(root):
    """creel with the programs that it starts, sh and true, and what they are linked with."""
    for d in ("usr/bin", "etc", "tmp", "w", "proc", "dev"):
        (root / d).mkdir(parents=True)
    for name, to in (("bin", "usr/bin"), ("lib", "usr/lib"), ("lib64", "usr/lib64")):
        (root / name).symlink_to(to)
    built = [CREEL.parents[1] / p for p in ("cli/creel", "cli/creel-session", "sandbox/creel-warden", "keeper/creel-keeper", "clerk/creel-clerk",
                                         "engine/libcreel.so.0")]
    for p in built:
        at = root / "src" / p.relative_to(CREEL.parents[1])
        at.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(p, at)
    programs = [*built, "/bin/sh", "/bin/true"]
    for p in programs[len(built):]:
        shutil.copy(p, root / "usr/bin")
    said = subprocess.run(["ldd", *programs], capture_output=True, text=True, check=False).stdout  # creel may be static
    for lib in {w for line in said.splitlines() for w in line.split() if w.startswith(("/lib", "/usr/")) and not w.endswith(":")}:
        at = root / ("usr" + lib if not lib.startswith("/usr/") else lib[1:])
        at.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(lib, at)
    for d in ("tmp", "w"):
        (root / d).chmod(0o1777)


@pytest.fixture(scope="module")
def docker(tmp_path_factory):
    needs_root()
    if not shutil.which("dockerd") or not shutil.which("docker"):
        skip("no dockerd")
    base = pathlib.Path(tmp_path_factory.mktemp("dk"))
    log = (base / "log").open("w")
    daemon = subprocess.Popen(["dockerd", "--data-root", base / "data", "--exec-root", base / "exec", "-H", f"unix://{base}/s", "--pidfile",
                               base / "pid", "--bridge", "none", "--iptables=false", "--ip6tables=false"], stdout=log, stderr=log)
    client = ["docker", "-H", f"unix://{base}/s"]
    try:
        assert wait_until(lambda: subprocess.run([*client, "version"], capture_output=True, check=False).returncode == 0, 40), \
            (base / "log").read_text()[-2000:]
        fill_root(base / "root")
        with tarfile.open(base / "root.tar", "w") as t:
            t.add(base / "root", arcname=".")
        subprocess.run([*client, "import", base / "root.tar", "creel-test"], check=True, capture_output=True)
        yield client
    finally:
        daemon.terminate()
        daemon.wait(30)
        log.close()
        mounts = [line.split()[4] for line in pathlib.Path("/proc/self/mountinfo").read_text().splitlines()]
        for at in sorted((m for m in mounts if m.startswith(f"{base}/")), reverse=True):
            subprocess.run(["umount", "-l", at], check=False)
        shutil.rmtree(base, ignore_errors=True)


def inside(docker, options, *command):
    return subprocess.run([*docker, "run", "--rm", "--network", "none", "-e", "HOME=/tmp", "-w", "/w", *options, "creel-test", "/src/cli/creel",
                           *command], capture_output=True, text=True, timeout=60, check=False)


def same_words(one, other):
    """Where two steps fail at once, either may be told first; what helps is the same."""
    return one in other or one.partition("; fix: docker run ")[2] in other and "; fix: docker run " in one


@pytest.mark.parametrize("name", OPTIONS)
def test_o04_doctor_in_a_container_says_what_run_does(docker, name):
    options, works, limited = OPTIONS[name]
    state = ["--state-dir", "/state/creel" if STATE[1] in options else "/tmp/creel"]
    does = inside(docker, options, "run", *state, "--", "true")
    said = inside(docker, options, "doctor", "--json", *state)
    found = json.loads(said.stdout)
    assert does.returncode in (0, 125) and said.returncode == does.returncode and found["ok"] == (does.returncode == 0), (does, said)
    about = {f["name"]: f for f in found["findings"]}
    assert all(f.get("cause") and f.get("fix") for f in about.values() if f["state"] != "ok"), about
    assert (does.returncode == 0) == works, (does, said)
    if does.returncode:
        assert same_words("{cause}; fix: {fix}".format(**about["sandbox"]), does.stderr) and "fix: " in does.stderr, (about, does)
        assert all(word in about["container"]["fix"] for word in SUGGESTED), about["container"]
    else:
        assert about["container"]["state"] == "ok" and not [f for f in about.values() if f["state"] == "fail"], about
    tight = inside(docker, options, "run", *state, *LIMITS, "--", "true")
    assert (tight.returncode == 0) == (works and about["cgroup"]["state"] == "ok"), (tight, about["cgroup"])
    assert limited is None or limited == (tight.returncode == 0), (tight, about["cgroup"])
    if works and tight.returncode:
        assert f"fix: {about['cgroup']['fix']}" in tight.stderr and "walls.optional=limits" in tight.stderr, tight
        assert inside(docker, options, "run", *state, *LIMITS, "-e", "walls.optional=limits", "--", "true").returncode == 0


@pytest.mark.parametrize("name", ["user", "root-unfiltered", "suggested"])
def test_o04_a_call_in_a_container_is_refused_in_the_same_words(docker, name):
    options, works, _ = OPTIONS[name]
    state = ["--state-dir", "/state/creel" if works else "/tmp/creel"]
    does = inside(docker, options, "run", *state, "--", "true")
    called = inside(docker, options, "call", *state, "--text", "exec", "--", "true")
    assert called.returncode == does.returncode == (0 if works else 125), (called, does)
    if not works:
        assert same_words(does.stderr.partition(": ")[2].strip(), called.stderr), (called, does)


@pytest.mark.parametrize("call", ["sethostname", "pivot_root"])
def test_o04_what_a_filter_of_its_own_refuses_has_the_containers_fix(docker, tmp_path, call):
    """As Podman's: namespaces can be made in there, and not everything can be done in them."""
    rules = {"defaultAction": "SCMP_ACT_ALLOW", "syscalls": [{"names": [call], "action": "SCMP_ACT_ERRNO", "errnoRet": 1}]}
    (tmp_path / "filter.json").write_text(json.dumps(rules))
    options = [*privileged(), *STATE, *WORK, "--security-opt", f"seccomp={tmp_path}/filter.json"]
    options = [o for n, o in enumerate(options) if o != FILTER[1] and options[n + 1:n + 2] != [FILTER[1]]]
    does = inside(docker, options, "run", "--state-dir", "/state/creel", "--", "true")
    said = inside(docker, options, "doctor", "--json", "--state-dir", "/state/creel")
    found = {f["name"]: f for f in json.loads(said.stdout)["findings"]}
    assert does.returncode == said.returncode == 125 and found["sandbox"]["state"] == "fail", (does, found)
    assert "fix: docker run " in does.stderr and "seccomp=unconfined" in found["sandbox"]["fix"], (does, found["sandbox"])


def test_o04_in_kubernetes_the_fix_is_what_a_pod_says(docker):
    said = inside(docker, [*USER, "-e", "KUBERNETES_SERVICE_HOST=10.0.0.1"], "doctor", "--json", "--state-dir", "/tmp/creel")
    about = {f["name"]: f for f in json.loads(said.stdout)["findings"]}
    assert about["container"]["found"] == "inside Kubernetes" and said.returncode == 125, about
    for name in ("container", "user-namespaces"):
        assert "securityContext" in about[name]["fix"] and "docker" not in about[name]["fix"], about[name]
