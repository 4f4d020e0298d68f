# SPDX-License-Identifier: Apache-2.0
"""Numbers 90 and 91, O1 and O8: nothing that a tool, a project or an image says makes a wall lower."""
import os
import pathlib
import shutil
import subprocess

import pytest
from conftest import CREEL, digest


def is_boxed(result):
    return "NoNewPrivs:\t1" in result.out and "Seccomp:\t2" in result.out


LOOK = ["cat", "/proc/self/status"]


def bare(box, *args, env=None, cwd=None):
    """creel run without the options that the other tests always give."""
    state = ["--state-dir", box.state] if box.user == "root" else []
    done = subprocess.run(box.as_user([CREEL, "run", *state, *args]), cwd=cwd or box.ws, env={**box.env, **(env or {})}, capture_output=True,
                          text=True, timeout=30, check=False)
    done.out, done.status = done.stdout, done.returncode
    return done


def test_o01_without_a_word_a_command_is_boxed(light):
    assert is_boxed(bare(light, "-q", "--", *LOOK))


PROJECT = {
    ".athena/settings.yaml": "sandbox:\n  default_mode: none\n  rules:\n    - match: '*'\n      mode: none\n",
    "creel.json5": "{sandbox: {mode: 'off', trust: 'none'}, network: {primary: 'host'}}",
    ".openclaw/openclaw.json": '{"agents": {"defaults": {"sandbox": {"mode": "off"}}}}',
    "openclaw.json": '{"agents": {"defaults": {"sandbox": {"mode": "off"}}}}',
    "allowlist.json": '{"*": ["*"]}',
    ".creel.json5": "{sandbox: {trust: 'none'}}",
}


@pytest.mark.parametrize("session", [[], ["--session", "agent:main:main"], ["--session", "untrusted:pr-1"]],
                         ids=["none", "main", "untrusted"])
def test_e91_o01_a_project_cannot_take_its_walls_down(light, session):
    """Files that an earlier run could have written into the workspace: they may tighten, never widen."""
    for name, text in PROJECT.items():
        light.file(f"ws/{name}", text)
    result = bare(light, "-q", *session, "--", *LOOK)
    plain = plainly(light, session)
    assert is_boxed(result) or result.status in (125, 126) or not is_boxed(plain), (result.args, result.stdout, result.stderr)


def plainly(box, session):
    """The same in a directory without such files: what the caller gets anyway."""
    empty = box.base / "empty"
    empty.mkdir(exist_ok=True)
    box.give(empty)
    return bare(box, "-q", *session, "--", *LOOK, cwd=empty)


@pytest.mark.parametrize("name", ["CREEL_SANDBOX", "CREEL_NO_SANDBOX", "SANDBOX_MODE", "OPENCLAW_SANDBOX", "ATHENA_SANDBOX_MODE", "IS_SANDBOX",
                                  "CREEL_CONFIG", "CREEL_ALLOW_WEAKEN", "CREEL_DEBUG", "CREEL_WARDEN"])
def test_e91_no_variable_takes_the_walls_down(light, name):
    for value in ("none", "0", "off", "false", "1", "/bin/true"):
        result = bare(light, "-q", "--", *LOOK, env={name: value})
        assert is_boxed(result) or (result.status == 125 and result.out == ""), (name, value, result.stdout, result.stderr)


def test_e91_the_command_cannot_ask_for_less(light):
    """O1: words after the command are the command's own, whatever they say."""
    for words in (["--no-sandbox"], ["--sandbox", "none"], ["{\"sandbox\": false}"], ["--workspace-access", "rw"]):
        result = bare(light, "-q", "--", "sh", "-c", "cat /proc/self/status; echo $*", "sh", *words)
        assert is_boxed(result) and words[-1] in result.out, result.stderr


def test_e91_a_stricter_rule_is_not_weakened_by_a_flag(light):
    config = light.file("home/config.json5", "{sandbox: {trust: 'readonly'}}")
    result = bare(light, "-q", "-c", f"creel:{config}", "--session", "agent:main:main", "--sandbox", "none", "--", "touch", "ran")
    assert result.status in (125, 126) and not (light.ws / "ran").exists(), (result.stdout, result.stderr)


def test_e91_a_key_given_twice_is_not_the_weaker_one(light):
    config = light.file("home/config.json5", "{sandbox: {trust: 'readonly', trust: 'none'}}")
    result = bare(light, "-q", "-c", f"creel:{config}", "--session", "agent:main:main", "--", "touch", "ran")
    assert result.status in (125, 126) and not (light.ws / "ran").exists(), (result.stdout, result.stderr)


BLOCKED = ["/etc", "/proc", "/sys", "/dev", "/root", "/run", "/var/run/docker.sock", "/", "~/.ssh", "~/.aws", "~/.gnupg", "~/.config/gh",
           "~/.docker", "~/.kube", "~/.netrc"]


@pytest.mark.parametrize("mode", ["light", "docker"])
def test_s05_a_bind_to_a_blocked_path_is_refused(light, mode):
    """By its name, through a link, through dots, and as a parent of one."""
    light.secret("home/.ssh/id_rsa")
    (light.base / "innocent").symlink_to(light.home / ".ssh")
    (light.base / "chain").symlink_to(light.base / "innocent")
    sources = [b.replace("~", str(light.home)) for b in BLOCKED] + [str(light.base / "innocent"), str(light.base / "chain"),
                                                                   f"{light.base}/./ws/../home/.ssh", f"{light.base}/chain/../.ssh"]
    for source in sources:
        result = light.run("sh", "-c", "cat /data/id_rsa; ls /data | head -3", mode=mode, options=["-e", f"mounts.binds=['{source}:/data:ro']"])
        assert light.mark not in result.out, (source, result)
        if os.path.exists(os.path.normpath(source)):
            assert result.status in (125, 126), (source, result)


@pytest.mark.parametrize("target", ["/", "/proc", "/proc/self", "/proc/sys", "/dev", "/dev/null", "/dev/pts", "/workspace",
                                    "/tmp/../proc", "relative", "/data/../dev/shm", "/workspace/sub"])
def test_s03_a_bind_over_what_we_mount_is_refused(light, target):
    evil = light.base / "evil"
    evil.mkdir(exist_ok=True)
    light.give(evil)
    result = light.run("ls", "/", options=["-e", f"mounts.binds=['{evil}:{target}:ro']"])
    assert result.status in (125, 126) and result.out == "", (target, result)


def test_a_bind_whose_source_is_missing_is_left_out_and_not_made(light):
    gone = light.base / "gone"
    result = light.run("sh", "-c", "ls -d /data 2>/dev/null; echo ran", options=["-e", f"mounts.binds=['{gone}:/data:ro']"])
    assert not gone.exists() and result.status in (0, 125, 126), result


def test_binds_that_are_allowed_work_as_said(light):
    for name in ("ro", "rw"):
        light.file(f"{name}/file", "x")
    result = light.run("sh", "-c", "cat /a/file /b/file; echo y >/a/file; echo z >/b/new; echo status $?",
                       options=["-e", f"mounts.binds=['{light.base}/ro:/a:ro', '{light.base}/rw:/b:rw']"])
    assert result.out == "xxstatus 0\n" or "status 0" in result.out, result
    assert (light.base / "ro/file").read_text() == "x" and (light.base / "rw/new").exists()


def test_a_bind_below_private_scratch_is_seen(light):
    """/tmp and its like are private, and what is bound below them lies in them."""
    light.file("shown/file", "x")
    for target in ("/tmp/a/b", "/var/tmp/a", "/run/a", "/dev/shm/a"):
        result = light.run("sh", "-c", f"cat {target}/file; touch {target}/new 2>/dev/null || touch {target.rsplit('/', 1)[0]}/beside 2>/dev/null; ls -a /tmp",
                           options=["-e", f"mounts.binds=['{light.base}/shown:{target}:ro']"])
        if target.startswith("/dev"):
            assert result.status == 126 and "reserved" in result.err, result
        else:
            assert result.out.startswith("x"), result
    assert os.listdir(light.base / "shown") == ["file"]


# ---- a root of somebody else ----


@pytest.fixture
def image(light):
    """A small root with a shell, from the host's own files."""
    top = light.base / "image"
    libraries = subprocess.run(["ldd", "/bin/dash", "/bin/cat", "/bin/ls", "/usr/bin/id"], capture_output=True, text=True, check=False).stdout
    files = {w for line in libraries.splitlines() for w in line.split() if w.startswith("/") and not w.endswith(":")}
    for f in files | {"/bin/dash", "/bin/cat", "/bin/ls", "/usr/bin/id", "/usr/bin/env"}:
        real = pathlib.Path(f).resolve()
        for at in {f, str(real)}:
            to = top / at.lstrip("/")
            to.parent.mkdir(parents=True, exist_ok=True)
            if not to.exists():
                shutil.copy(real, to)
    shutil.copy("/bin/dash", top / "bin/sh")
    (top / "etc").mkdir(exist_ok=True)
    (top / "etc/passwd").write_text("image:x:1000:1000::/:/bin/sh\n")
    return top


def test_e90_an_image_is_the_root(light, image):
    result = light.run("sh", "-c", "cat /etc/passwd; ls /", options=["--image", image])
    assert result.status == 0 and "image:x:1000" in result.out and "usr" in result.out, result
    light.refused("walls", "mount=tmpfs", "unshare=user", "set=uid,0", errors={"EPERM", "EINVAL"}, options=["--image", image])


def test_e90_an_image_is_read_only(light, image):
    before = digest(image)
    light.run("sh", "-c", "echo evil >/etc/passwd; echo evil >/bin/sh; echo evil >/new; echo evil >/usr/new", options=["--image", image])
    assert digest(image) == before


EVIL = ["dev", "proc", "sys", "tmp", "run", "etc", "usr", "home", "var", "workspace", "sandbox"]


@pytest.mark.parametrize("name", EVIL)
@pytest.mark.parametrize("kind", ["link", "file", "link-up"])
def test_e90_s03_names_in_an_image_that_are_links_lead_nowhere(light, image, name, kind):
    """/dev, /proc and others as links to the host or as files: the start fails, or they are masked. Nothing is reached."""
    secret = light.secret("home/secret")
    secret.chmod(0o644)
    light.home.chmod(0o755)
    place = image / name
    if place.is_dir() and not place.is_symlink():
        shutil.rmtree(place)
    if kind == "file":
        place.write_text("x")
    else:
        place.symlink_to(light.home if kind == "link" else "../" * 12 + str(light.home).lstrip("/"))
    before = digest(light.home / "secret")
    result = light.run("/bin/sh", "-c", f"cat /{name}/secret; cat {secret}; echo evil >/{name}/secret; echo evil >{secret}",
                       options=["--image", image])
    assert light.mark not in result.out and digest(light.home / "secret") == before, result


def test_e90_what_an_image_would_load_is_loaded_inside_only(light, image):
    """ld.so.preload, nsswitch, resolv.conf as a link: no helper of ours reads them on the host."""
    (image / "etc/ld.so.preload").write_text("/evil.so\n")
    (image / "etc/nsswitch.conf").write_text("passwd: evil\n")
    (image / "etc/resolv.conf").unlink(missing_ok=True)
    (image / "etc/resolv.conf").symlink_to("/etc/shadow")
    result = light.run("/bin/sh", "-c", "cat /etc/resolv.conf; echo ran", options=["--image", image])
    assert "root:" not in result.out, result
    assert result.status in (0, 125) and (result.status or "ran" in result.out), result


def test_e90_s03_an_image_that_changes_while_sandboxes_start(light, image):
    """Somebody exchanges its /usr with a link to the home directory, again and again."""
    secret = light.secret("home/secret")
    secret.chmod(0o644)
    light.home.chmod(0o755)
    (image / "swapped").symlink_to(light.home)
    racer = subprocess.Popen([light.ws / "race", "swap", image / "usr", image / "swapped"], stderr=subprocess.DEVNULL)
    light.closing.append(racer.kill)
    ran = failed = 0
    for _ in range(50):
        result = light.run("/bin/sh", "-c", "cat /usr/secret /swapped/secret; echo ran", options=["--image", image], report=False)
        assert light.mark not in result.out, result
        ran += "ran" in result.out
        failed += result.status != 0
    racer.kill()
    racer.wait()
    assert ran + failed >= 50 and failed, (ran, failed)


def test_the_report_of_a_refusal_names_the_rule(light):
    result = light.run("true", options=["-e", "mounts.binds=['/etc:/data:ro']"])
    assert result.status == 126 and result.report["code"] == "bind_blocked" and result.report["reason"] == "denied", result


# ---- an image by its name ----


@pytest.fixture
def images(light, image):
    """Where this user's images lie, with one in it that is called tools:1."""
    top = (light.state if light.user == "root" else light.home / ".local/state/creel") / "images"
    for d in [top.parents[2], top.parents[1], top.parent, top][1 if light.user == "root" else 0:]:
        if not d.exists():
            d.mkdir()
            light.give(d)
    image.rename(top / "tools:1")
    light.give(top / "tools:1")
    return top


def test_e90_an_image_by_its_name(light, images):
    result = light.run("cat", "/etc/passwd", options=["--image", "tools:1"], status=0)
    assert result.out == "image:x:1000:1000::/:/bin/sh\n", result
    absent = light.run("true", options=["--image", "other"], status=125)
    assert all(w in absent.err for w in ("'other'", "tools:1", str(images), "/var/lib/creel/images", "./DIR")), absent
    assert light.run("true", options=["--image", "./images"], status=125).err.count("images") >= 1


@pytest.mark.parametrize("name", ["", ".", "..", "-x", ".hidden", "a b", "a\nb", "\x1b[2J", "a\\b", "ä", "x" * 129, "a*"])
def test_e90_bad_names_of_images(light, images, name):
    result = light.run("true", options=["--image=" + name])
    assert result.status == 125 and result.out == "" and "\x1b" not in result.err, (images, result)


def hostile_link(light, images):
    images.rename(images.parent / "elsewhere")
    images.symlink_to(images.parent / "elsewhere")


def hostile_image_link(light, images):
    (images / "tools:1").rename(images / "real")
    (images / "tools:1").symlink_to(images / "real")


def hostile_open(light, images):
    images.chmod(0o777)


def hostile_image_open(light, images):
    (images / "tools:1").chmod(0o775)


def hostile_owner(light, images):
    os.chown(images / "tools:1", 4242, 4242)


def hostile_owner_above(light, images):
    os.chown(images, 4242, 4242)


HOSTILE_IMAGES = [hostile_link, hostile_image_link, hostile_open, hostile_image_open, hostile_owner, hostile_owner_above]


@pytest.mark.parametrize("hostile", HOSTILE_IMAGES, ids=lambda h: h.__name__[8:])
def test_e90_an_image_that_others_could_have_put_there_is_not_used(light, images, hostile):
    light.run("true", "x", options=["--image", "tools:1"], status=127)  # the control: the image is used, and has no true
    hostile(light, images)
    result = light.run("cat", "/etc/passwd", options=["--image", "tools:1"])
    assert result.status in (125, 126) and result.report["exit"] == result.status and result.report["reason"] in ("failed", "denied"), result
    assert result.out == "" and "image" in result.err, result
    assert light.run("cat", "/etc/passwd", options=["--image", f"{images}/tools:1"]).status == 0, "as a directory it is the caller's choice"


def test_an_image_for_container_backends_does_not_stop_a_native_run(light):
    options = ["-e", "backend.image=openclaw-sandbox:bookworm-slim"]
    assert light.run("true", options=options, status=0).report["reason"] == "ok"


def test_a_bind_whose_source_is_missing_is_left_out_and_said_so(light):
    """Never created: not on the host, and not as an empty place inside that a program would take for the data."""
    gone = light.base / "not-there"
    config = light.file("c.json5", '{ mounts: { binds: ["%s:/data:ro"] } }' % gone)
    argv = [a for a in light.creel("sh", "-c", "ls -d /data", options=["-c", str(config)]) if a != "-q"]
    done = subprocess.run(argv, capture_output=True, text=True, check=False, env=light.env, cwd=light.ws)
    assert done.returncode == 2 and done.stdout == "" and not gone.exists(), done
    assert "c.json5:1:" in done.stderr and str(gone) in done.stderr and "left out" in done.stderr, done.stderr
