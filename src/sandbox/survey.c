/* SPDX-License-Identifier: Apache-2.0 */
#include "sandbox/survey.h"
#include "base/fd.h"
#include "base/port.h"
#include "base/procfs.h"
#include "base/root.h"
#include "sandbox/advice.h"
#include "sandbox/cgroup.h"
#include "sandbox/host.h"
#include "sandbox/subids.h"

#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/utsname.h>
#include <sys/wait.h>
#include <unistd.h>

#define OLDEST_MAJOR 5u
#define OLDEST_MINOR 13u
#define CLONE_NEWTIME_ 0x80 /* Linux 5.6 */
#if defined(__aarch64__)
#define KERNEL_FIX "apt-get install linux-image-arm64 && reboot"
#else
#define KERNEL_FIX "apt-get install linux-image-amd64 && reboot"
#endif

struct look {
	struct arena *a;
	struct survey *s;
	unsigned optional;
};

static struct survey_item *add(struct look *l, const char *name, enum survey_state state, struct str found)
{
	static struct survey_item spare;
	struct survey_item *i = l->s->n < SURVEY_MAX ? &l->s->v[l->s->n++] : &spare;

	*i = (struct survey_item){ .name = name, .state = state, .found = found };
	return i;
}

/* -1 when the file is not there. */
static long read_number(const char *path)
{
	_cleanup_free_ char *text = NULL;
	size_t n = 0;

	if (fd_read_file(path, 4096, &text, &n) < 0)
		return -1;
	return strtol(text, NULL, 10);
}

static void look_kernel(struct look *l)
{
	struct utsname u;
	unsigned major = 0, minor = 0;
	struct survey_item *i;
	bool old;

	if (uname(&u) < 0 || sscanf(u.release, "%u.%u", &major, &minor) != 2)
		return;
	old = major < OLDEST_MAJOR || (major == OLDEST_MAJOR && minor < OLDEST_MINOR);
	i = add(l, "kernel", old ? SURVEY_FAIL : SURVEY_OK, arena_printf(l->a, "Linux %s", u.release));
	if (old) {
		i->cause =
			arena_printf(l->a, "the walls need Linux %u.%u or newer", OLDEST_MAJOR, OLDEST_MINOR);
		i->fix = STR(KERNEL_FIX);
	}
}

static void look_landlock(struct look *l)
{
	uint32_t abi = host_landlock_abi();
	struct survey_item *i;

	i = add(l, "landlock",
		abi                                 ? SURVEY_OK
		: l->optional & 1u << WALL_LANDLOCK ? SURVEY_WARN
						    : SURVEY_FAIL,
		abi ? arena_printf(l->a, "ABI %u", abi) : STR("not in this kernel, or switched off"));
	if (!abi) {
		i->cause = STR(
			"the second wall around files is missing: creel run refuses, unless walls.optional names it");
		i->fix = STR("add landlock to the lsm= list of the kernel command line");
	}
}

/* A namespace in which its maker may do nothing is none: AppArmor gives such ones out. */
static int make_namespaces(void)
{
	_cleanup_close_ int map = FD_NONE;
	uid_t uid = geteuid();
	char line[32];
	int n = snprintf(line, sizeof(line), "%u %u 1\n", uid, uid);

	if (unshare(CLONE_NEWUSER | CLONE_NEWNS | CLONE_NEWNET) < 0)
		return errno;
	if (root_of_host())
		return 0; /* maps other users, by other means */
	map = open("/proc/self/uid_map", O_WRONLY | O_CLOEXEC);
	return map < 0 || write(map, line, (size_t)n) != n ? errno : 0;
}

/* An ordinary user has a file system of this kind only below a user namespace (Linux 5.11). */
static int open_overlay(void)
{
	int err = make_namespaces();

	return err ? ENOTSUP : syscall(430 /* fsopen */, "overlay", 0) < 0 ? errno : 0;
}

/* A child tries it: the only answer that counts. */
static int in_child(int (*what)(void))
{
	int status = 0;
	pid_t pid = fork();

	if (pid == 0)
		_exit(what() & 0xff);
	if (pid < 0 || waitpid(pid, &status, 0) < 0)
		return errno;
	return WIFEXITED(status) ? WEXITSTATUS(status) : EINTR;
}

/* 0 too where there is no user namespace to make one in: that is told elsewhere. */
static int make_time(void)
{
	return make_namespaces() == 0 && unshare(CLONE_NEWTIME_) < 0 ? errno : 0;
}

/* A kernel without it, or a filter around us, has no such wall to give: run goes on, and its report says so. */
static void look_time(struct look *l)
{
	bool has = access("/proc/self/ns/time_for_children", F_OK) == 0 && in_child(make_time) == 0;
	struct survey_item *i = add(l, "time-namespace", has ? SURVEY_OK : SURVEY_WARN,
				    has ? STR("sandboxes have clocks of their own") : STR("cannot be made"));

	if (has)
		return;
	i->cause = STR(
		"not in this kernel, or refused by a filter around us: a sandbox sees how long this host has been up");
	i->fix = STR(KERNEL_FIX);
}

static void look_proc(struct look *l)
{
	const char *fault = procfs_fault();
	struct survey_item *i;

	if (!fault)
		return;
	i = add(l, "proc", SURVEY_FAIL, str_z(fault));
	i->cause =
		STR("no wall can be built: the users of a sandbox are mapped there, and its processes found");
	i->fix = STR(PROCFS_FIX);
}

static void look_userns(struct look *l)
{
	int err = in_child(make_namespaces);
	struct survey_item *i = add(l, "user-namespaces", err ? SURVEY_FAIL : SURVEY_OK,
				    err ? arena_printf(l->a, "cannot be made: %s", port_errno_text(err))
					: STR("can be made"));

	if (err) {
		const struct advice a = advice_userns(err);

		i->cause = str_z(a.cause);
		i->fix = str_z(a.fix);
	}
}

static void look_overlay(struct look *l)
{
	int err = in_child(open_overlay);
	struct survey_item *i;

	if (err == ENOTSUP)
		return; /* no namespace to make one in: told above */
	i = add(l, "overlay", err ? SURVEY_FAIL : SURVEY_OK,
		err ? arena_printf(l->a, "cannot be made: %s", port_errno_text(err)) : STR("can be made"));

	if (!err)
		return;
	i->cause = STR("the workspace of creel run is an overlay unless --workspace-access says rw or none");
	i->fix = err == ENODEV ? STR("sudo modprobe overlay") : STR(KERNEL_FIX);
}

static void look_container(struct look *l)
{
	const struct advice_container *c = advice_container();
	struct survey_item *i;

	if (!c)
		return;
	i = add(l, "container", SURVEY_WARN, arena_printf(l->a, "inside %s", c->name));
	i->cause = STR(
		"its runtime may filter namespaces, hide parts of /proc, and have a root that cannot hold an overlay");
	i->fix = str_z(c->fix);
}

static void look_cgroup(struct look *l)
{
	const struct cgroup_limits all = { .memory = 1u << 30, .pids = 64, .cpus = 1 };
	struct cgroup_limits must = all;
	struct cgroup c = CGROUP_EMPTY;
	struct survey_item *i;
	struct err e = { 0 };

	must.must = CGROUP_MEMORY | CGROUP_PIDS | CGROUP_CPU;
	if (cgroup_new(&must, (struct str){ 0 }, &c, &e) == 0) {
		(void)add(l, "cgroup", SURVEY_OK,
			  arena_printf(l->a, "version %d: memory, pids and cpu can be limited",
				       c.version == CGROUP_V2 ? 2 : 1));
		cgroup_done(&c);
		return;
	}
	i = add(l, "cgroup", SURVEY_WARN, STR("no group with limits can be made"));
	i->cause = STR(
		"--memory, --pids and --cpus are refused; without them pids are limited by rlimit, memory and cpu not at all");
	i->fix = str_z(cgroup_fix());
}

static void look_memfd(struct look *l)
{
	long v = read_number("/proc/sys/vm/memfd_noexec");
	struct survey_item *i;

	if (v < 2)
		return;
	i = add(l, "memfd", SURVEY_FAIL, STR("vm.memfd_noexec is 2"));
	i->cause = STR("the warden is executed from a sealed copy in memory, which this setting forbids");
	i->fix = STR("sudo sysctl -w vm.memfd_noexec=1");
}

/* "…; fix: …" as an error has it, in two. */
static void split_fix(struct look *l, const char *what, struct survey_item *i)
{
	const char *fix = strstr(what, "; fix: ");

	i->cause = arena_printf(l->a, "%.*s", fix ? (int)(fix - what) : (int)strlen(what), what);
	i->fix = fix ? arena_printf(l->a, "%s", fix + strlen("; fix: ")) : (struct str){ 0 };
}

/* One user is enough for a sandbox: whether there can be two is told, and is no reason to fail. */
static void look_users(struct look *l)
{
	struct subids found;
	struct err e = { 0 };

	if (root_of_host()) {
		(void)add(l, "users", SURVEY_OK,
			  STR("root: the warden and the command are two users that exist nowhere else"));
		return;
	}
	if (geteuid() == 0) {
		(void)add(
			l, "users", SURVEY_OK,
			STR("uid 0 of a user namespace: one user inside, and the warden is kept apart by being pid 1 and not traceable"));
		return;
	}
	if (subids_look(&found, &e) >= 0) {
		(void)add(
			l, "users", SURVEY_OK,
			arena_printf(
				l->a,
				"the warden can be uid %u, by newuidmap: in sandboxes that stay, or with walls.subuid=always",
				found.uid));
		return;
	}
	split_fix(l, e.msg,
		  add(l, "users", SURVEY_WARN,
		      STR("one user inside: the warden is kept apart by being pid 1 and not traceable")));
}

void survey_host(struct arena *a, unsigned optional, struct survey *ret)
{
	struct look l = { .a = a, .s = ret, .optional = optional };

	*ret = (struct survey){ 0 };
	look_kernel(&l);
	look_proc(&l);
	look_userns(&l);
	look_overlay(&l);
	look_landlock(&l);
	look_time(&l);
	look_cgroup(&l);
	look_memfd(&l);
	look_users(&l);
	look_container(&l);
}
