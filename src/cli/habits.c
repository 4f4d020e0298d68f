/* SPDX-License-Identifier: Apache-2.0 */
/* Options that people know from docker, bwrap, firejail and others, and what to do here instead: nothing of it is accepted in silence. */
#include "cli/cli.h"

#define APART "leave it out, all of it is apart anyway"
#define BINDS \
	"--workspace DIR is the directory that it sees; -e mounts.binds=... adds others, see creel.json5(5)"
#define CAPS "leave it out: nothing in a sandbox has a capability, or can gain one"
#define DEVICES "no device of the host is in a sandbox"
#define HOST "--no-sandbox runs it on the host, without any wall"
#define LATER "creel call exec command=... background=true goes on"
#define LIMITS "--memory, --pids, --cpus, --disk and --timeout are the limits; see limits.* in creel.json5(5)"
#define NETWORK "a sandbox has no network: fetch beforehand what it needs"
#define OWN "leave it out, a sandbox has its own"
#define PORTS "nobody reaches into a sandbox: ask what listens there from inside, with creel call exec"
#define SCRATCH "/tmp, /var/tmp, /run and /dev/shm are private anyway; -e limits.tmpfs=SIZE"
#define SHOWS "a sandbox shows nothing that was not given to it: leave it out"
#define USER "a sandbox has one user, who is nobody outside"
#define VARIABLES "leave it out: the command has no variable of yours but those of --env"
#define WALLS "the filter is always there, and cannot be chosen"

/* clang-format off */
const struct arg_guess habits[] = {
	{ "i", "standard input is passed anyway, leave it out; -t is a terminal" }, { "interactive", "standard input is passed anyway, leave it out" },
	{ "rm", "leave it out, nothing stays but the changes" }, { "name", "a sandbox that stays has the name of its session: creel call --session KEY" },
	{ "d", LATER }, { "detach", LATER }, { "entrypoint", "the command and its arguments stand behind '--'" }, { "init", "leave it out, pid 1 of a sandbox is one" },
	{ "V", "write --version" }, { "debug", "write --verbose" }, { "trace", "--verbose and --report tell what was refused" },
	{ "shell", "a text is for a shell: creel call exec 'TEXT', or creel run -- sh -c 'TEXT'" },
	{ "dry-run", "--plan prints the steps and runs nothing; creel explain prints the decision" },
	/* the network */
	{ "network", "write --net" }, { "unshare-net", "there is no network unless --net gives one" }, { "share-net", NETWORK }, { "allow-net", NETWORK }, { "dns", NETWORK },
	{ "add-host", NETWORK }, { "link", NETWORK }, { "p", PORTS }, { "P", PORTS }, { "publish", PORTS }, { "publish-all", PORTS }, { "expose", PORTS },
	/* files */
	{ "volume", BINDS }, { "mount", BINDS }, { "bind", BINDS }, { "bind-try", BINDS }, { "whitelist", BINDS }, { "allow-read", BINDS }, { "allow-write", BINDS },
	{ "ro-bind", "--workspace DIR --workspace-access ro; -e mounts.binds=... adds others, see creel.json5(5)" }, { "ro-bind-try", BINDS },
	{ "ro", "write --workspace-access ro" }, { "rw", "write --workspace-access rw" }, { "read-only", "write --workspace-access ro" },
	{ "private", "--workspace-access none is an empty directory; --workspace DIR another one" }, { "blacklist", SHOWS }, { "tmpfs", SCRATCH }, { "shm-size", SCRATCH },
	{ "w", "write --workspace DIR" }, { "workdir", "write --workspace DIR" }, { "cwd", "write --workspace DIR" }, { "chdir", "write --workspace DIR" },
	{ "dev-bind", DEVICES }, { "device", DEVICES }, { "gpus", DEVICES }, { "x11", DEVICES }, { "proc", OWN }, { "dev", OWN }, { "hostname", OWN },
	/* limits and variables */
	{ "m", "write --memory" }, { "memory-swap", "write --memory" }, { "pids-limit", "write --pids" }, { "cpuset-cpus", "write --cpus" }, { "cpu-shares", "write --cpus" },
	{ "ulimit", LIMITS }, { "rlimit-as", LIMITS }, { "rlimit-nproc", LIMITS }, { "rlimit-nofile", LIMITS }, { "rlimit-fsize", LIMITS }, { "rlimit-cpu", LIMITS },
	{ "setenv", "write --env NAME=VALUE" }, { "env-file", "write --env NAME=VALUE" }, { "unsetenv", VARIABLES }, { "clearenv", VARIABLES },
	/* users and walls */
	{ "u", USER }, { "user", USER }, { "uid", USER }, { "gid", USER }, { "noroot", USER },
	{ "privileged", "no sandbox is; --no-sandbox runs it on the host" }, { "allow-all", HOST }, { "yolo", HOST }, { "dangerously-skip-permissions", HOST },
	{ "cap-add", "no sandbox has a capability, and none can be given one; " HOST }, { "cap-drop", CAPS }, { "caps.drop", CAPS }, { "nonewprivs", CAPS },
	{ "seccomp", WALLS }, { "security-opt", WALLS }, { "noprofile", "a profile counts only when --profile or a file names it" },
	{ "unshare-all", APART }, { "unshare-user", APART }, { "unshare-pid", APART }, { "unshare-ipc", APART }, { "unshare-uts", APART }, { "unshare-cgroup", APART },
	{ "pid", APART }, { "ipc", APART }, { "uts", APART }, { "userns", APART }, { "cgroupns", APART },
	{ "die-with-parent", "leave it out, a sandbox ends with creel" }, { "new-session", "leave it out, it has a session and a terminal of its own" },
	{ NULL, NULL },
};
/* clang-format on */
