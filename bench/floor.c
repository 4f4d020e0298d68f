/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What cannot be less: the walls of a plan, built with the system calls that the kernel needs for them and no other. No policy, no
 * checks that a source is still the one that was looked at, no probes, no report, no deadline, nobody who cleans up: not a sandbox to be used. The mounts,
 * the filter, the Landlock rules, the limits and the users are those of the plan; the network namespace is made beside the rest, and
 * the host's tree is taken away beside the rest, as creel does it.
 *
 *   bench_floor PLAN [UPPER WORK]    with two directories: the workspace is an overlay with them
 */
#include "sandbox/warden/warden.h"

#include <linux/capability.h>
#include <linux/fcntl.h>
#include <linux/filter.h>
#include <linux/keyctl.h>
#include <linux/mman.h>
#include <linux/mount.h>
#include <linux/net_namespace.h>
#include <linux/prctl.h>
#include <linux/sched.h>
#include <linux/seccomp.h>
#include <linux/signal.h>
#include <linux/sockios.h>
#include <linux/stat.h>

#ifndef CLONE_NEWTIME
#define CLONE_NEWTIME 0x80
#endif
#define CLONE (OPEN_TREE_CLONE | OPEN_TREE_CLOEXEC)
#define HERE (MOVE_MOUNT_F_EMPTY_PATH)

static const struct plan_header *plan;
static const struct step *steps;
static const char *strings, *upper, *work;
static int
	pair[2]; /* from outside to pid 1: a byte when the users are mapped; the number of the mapped mount */
static uint32_t pivoted;
static struct task net, detach;
static int rules;

static long must(long r)
{
	if (r < 0)
		die(100);
	return r;
}

static const char *text(uint32_t at)
{
	return strings + at;
}

static void write_file(const char *path, const char *s, size_t n)
{
	long fd = must(SYS4(openat, AT_FDCWD, path, O_WRONLY | O_CLOEXEC, 0));

	must(SYS3(write, fd, s, n));
	SYS1(close, fd);
}

static void put_map(char *to, size_t size, size_t *n, uint64_t inner, uint64_t outer)
{
	text_u64(to, size, n, inner);
	text_put(to, size, n, " ");
	text_u64(to, size, n, outer);
	text_put(to, size, n, " 1\n");
}

static const char *proc_path(char *path, size_t size, long pid, const char *file)
{
	size_t n = 0;

	text_put(path, size, &n, "/proc/");
	text_u64(path, size, &n, (uint64_t)pid);
	text_put(path, size, &n, file);
	return path;
}

/* ---- outside ---- */

static void map_one(long pid, const char *file, uint64_t payload, uint64_t warden)
{
	char path[64], map[96];
	size_t n = 0;

	put_map(map, sizeof(map), &n, 0, warden);
	put_map(map, sizeof(map), &n, plan->inner_uid, payload);
	write_file(proc_path(path, sizeof(path), pid, file), map, n);
}

static int hold(void *arg)
{
	(void)arg;
	SYS5(ppoll, 0, 0, 0, 0, 0);
	return 0;
}

/* The owner of the workspace is the payload's user on this mount. */
static char mapped_mount(const struct step *s)
{
	static char stack[1024] __attribute__((aligned(16)));
	long tree = must(SYS3(open_tree, AT_FDCWD, text(s->b), CLONE));
	struct mount_attr at = { .attr_set = MOUNT_ATTR_IDMAP };
	char path[64], map[64];
	struct statx st = { 0 };
	size_t n = 0;
	long pid;

	must(SYS5(statx, tree, "", AT_EMPTY_PATH, STATX_UID, &st));
	pid = must(spawn_vm(hold, NULL, stack + sizeof(stack), CLONE_NEWUSER | CLONE_VM | SIGCHLD, NULL));
	put_map(map, sizeof(map), &n, st.stx_uid, plan->outer_uid);
	write_file(proc_path(path, sizeof(path), pid, "/uid_map"), map, n);
	write_file(proc_path(path, sizeof(path), pid, "/gid_map"), map, n);
	at.userns_fd = (uint64_t)must(SYS4(openat, AT_FDCWD, proc_path(path, sizeof(path), pid, "/ns/user"),
					   O_RDONLY | O_CLOEXEC, 0));
	must(SYS5(mount_setattr, tree, "", AT_EMPTY_PATH, &at, sizeof(at)));
	SYS1(close, at.userns_fd);
	SYS2(kill, pid, SIGKILL);
	SYS4(wait4, pid, 0, 0, 0);
	return (char)tree;
}

static int outside_only(long pid)
{
	int status = -1;
	char byte = 0;

	if (plan->flags & PLAN_F_PARENT_MAPS) {
		map_one(pid, "/gid_map", plan->outer_gid, plan->warden_outer_gid);
		map_one(pid, "/uid_map", plan->outer_uid, plan->warden_outer_uid);
		must(SYS3(write, pair[1], &byte, 1));
		for (uint32_t i = 0; i < plan->n_steps; i++)
			if (steps[i].flags & STEP_F_IDMAP) {
				byte = mapped_mount(&steps[i]);
				must(SYS3(write, pair[1], &byte, 1));
			}
	}
	must(SYS4(wait4, pid, &status, 0, 0));
	return status ? 101 : 0;
}

/* ---- beside pid 1 ---- */

static long make_net(void)
{
	struct { /* ifreq */
		char name[16];
		short flags;
		char rest[22];
	} req = { .name = "lo", .flags = 1 };
	long fd, ns;

	must(SYS1(unshare, CLONE_NEWNET));
	fd = must(SYS3(socket, 2, 2 | 02000000, 0));
	must(SYS3(ioctl, fd, SIOCSIFFLAGS, &req));
	ns = must(SYS2(ioctl, fd, SIOCGSKNS));
	SYS1(close, fd);
	return ns;
}

static long take_away(void)
{
	while (!__atomic_load_n(&pivoted, __ATOMIC_ACQUIRE))
		SYS4(futex, &pivoted, 0, 0, 0);
	return SYS2(umount2, "/", 2);
}

/* ---- pid 1 ---- */

static char next_byte(void)
{
	char byte = 0;

	must(SYS3(read, pair[0], &byte, 1) - 1);
	return byte;
}

static void become_user(void)
{
	char map[64];
	size_t n = 0;

	must(SYS1(unshare, CLONE_NEWTIME)); /* while /proc/self is the host's and ours */
	if (plan->flags & PLAN_F_PARENT_MAPS) {
		(void)next_byte();
	} else {
		write_file("/proc/self/setgroups", "deny", 4);
		put_map(map, sizeof(map), &n, plan->inner_uid, plan->outer_uid);
		write_file("/proc/self/uid_map", map, n);
		n = 0;
		put_map(map, sizeof(map), &n, plan->inner_gid, plan->outer_gid);
		write_file("/proc/self/gid_map", map, n);
	}
	write_file("/proc/self/timens_offsets", "1 -1 0\n7 -1 0\n", 14);
	if (plan->flags & PLAN_F_PARENT_MAPS) {
		must(SYS2(setgroups, 0, 0));
		must(SYS3(setresgid, 0, 0, 0));
		must(SYS3(setresuid, 0, 0, 0));
	}
	must(SYS5(prctl, PR_SET_DUMPABLE, 0, 0, 0, 0));
	must(SYS5(prctl, PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0));
	SYS1(umask, 0);
}

/* We stand in the new root: what follows the slash is the name. */
static const char *below(const struct step *s)
{
	return text(s->a) + 1;
}

static void place(const struct step *s, bool file)
{
	if (file)
		SYS4(mknodat, AT_FDCWD, below(s), 0100444, 0);
	else
		SYS3(mkdirat, AT_FDCWD, below(s), 0755);
}

static void attach(long tree, const char *name)
{
	must(SYS5(move_mount, tree, "", AT_FDCWD, name, HERE));
	SYS1(close, tree);
}

static void set_attr(long tree, uint32_t flags)
{
	struct mount_attr at = { .attr_set = MOUNT_ATTR_NOSUID, .propagation = 1u << 18 };

	at.attr_set |= flags & STEP_F_RO ? MOUNT_ATTR_RDONLY : 0;
	at.attr_set |= flags & STEP_F_DEV ? 0 : MOUNT_ATTR_NODEV;
	at.attr_set |= flags & STEP_F_NOEXEC ? MOUNT_ATTR_NOEXEC : 0;
	must(SYS5(mount_setattr, tree, "", AT_EMPTY_PATH | (flags & STEP_F_REC ? AT_RECURSIVE : 0), &at,
		  sizeof(at)));
}

static void mount_root(const struct step *s)
{
	char options[64];
	size_t n = 0;

	text_put(options, sizeof(options), &n, "mode=755,nr_inodes=65536,size=");
	text_u64(options, sizeof(options), &n, s->x);
	must(SYS5(mount, "tmpfs", "/proc", "tmpfs", 2 | 4, options));
	must(SYS1(chdir, "/proc"));
}

static void mount_overlay(const struct step *s)
{
	static char options[4096 * 3];
	size_t n = 0;

	text_put(options, sizeof(options), &n, "userxattr,volatile,lowerdir=");
	text_put(options, sizeof(options), &n, plan->flags & PLAN_F_PARENT_MAPS ? below(s) : text(s->b));
	text_put(options, sizeof(options), &n, ",upperdir=");
	text_put(options, sizeof(options), &n, upper);
	text_put(options, sizeof(options), &n, ",workdir=");
	text_put(options, sizeof(options), &n, work);
	must(SYS5(mount, "overlay", below(s), "overlay", 2 | 4, options));
}

static void bind_source(const struct step *s)
{
	bool workspace = s->flags & STEP_F_IDMAP || !(s->flags & (STEP_F_RO | STEP_F_DEV));
	long tree = -1;

	place(s, s->flags & STEP_F_FILE);
	if (s->flags & STEP_F_IDMAP)
		tree = next_byte();
	else if (!workspace || !upper)
		tree = must(SYS3(open_tree, AT_FDCWD, text(s->b),
				 CLONE | (s->flags & STEP_F_REC ? AT_RECURSIVE : 0)));
	if (tree >= 0) {
		set_attr(tree, s->flags);
		attach(tree, below(s));
	}
	if (workspace && upper)
		mount_overlay(s);
}

static void scratch(const struct step *s)
{
	must(SYS3(mkdirat, AT_FDCWD, below(s), s->y));
	attach(must(SYS3(open_tree, AT_FDCWD, below(s), CLONE)), below(s));
}

static void mount_proc(const struct step *s)
{
	must(SYS5(mount, "proc", below(s), "proc", 2 | 4 | 8, "hidepid=invisible"));
	write_file("proc/sys/user/max_user_namespaces", "0", 1);
	write_file("proc/sys/user/max_inotify_instances", "64", 2);
	write_file("proc/sys/user/max_inotify_watches", "65536", 5);
}

static void cover(const struct step *s, const char *source)
{
	long tree;

	if (SYS3(faccessat, AT_FDCWD, below(s), 0) < 0)
		return;
	tree = must(SYS3(open_tree, AT_FDCWD, source, CLONE));
	set_attr(tree, STEP_F_RO | STEP_F_NOEXEC);
	attach(tree, below(s));
}

static void small_file(const struct step *s)
{
	long fd = must(SYS4(openat, AT_FDCWD, below(s), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, s->x));

	if (s->y)
		must(SYS3(write, fd, text(s->b), s->y));
	SYS1(close, fd);
}

static void pivot(void)
{
	must(SYS2(pivot_root, ".", "."));
	__atomic_store_n(&pivoted, 1, __ATOMIC_RELEASE);
	SYS3(futex, &pivoted, 1, 1);
	must(SYS1(chdir, "/"));
}

static void mount_step(const struct step *s)
{
	struct mount_attr sealed = { .attr_set = MOUNT_ATTR_RDONLY };

	if (s->kind == STEP_ROOT)
		mount_root(s);
	else if (s->kind == STEP_DIR)
		place(s, false);
	else if (s->kind == STEP_LINK)
		must(SYS3(symlinkat, text(s->b), AT_FDCWD, below(s)));
	else if (s->kind == STEP_FILE)
		small_file(s);
	else if (s->kind == STEP_BIND)
		bind_source(s);
	else if (s->kind == STEP_SCRATCH)
		scratch(s);
	else if (s->kind == STEP_PROC)
		mount_proc(s);
	else if (s->kind == STEP_MASK || s->kind == STEP_READONLY)
		cover(s, s->kind == STEP_MASK ? text(s->b) + 1 : below(s));
	else if (s->kind == STEP_DEVPTS) {
		place(s, false);
		must(SYS5(mount, "devpts", below(s), "devpts", 2 | 8, "ptmxmode=0666,mode=620,max=256"));
	} else if (s->kind == STEP_SEAL)
		must(SYS5(mount_setattr, AT_FDCWD, ".", 0, &sealed, sizeof(sealed)));
	else if (s->kind == STEP_PIVOT)
		pivot();
	else
		die(102); /* a plan of another kind */
}

static void add_rule(const struct step *s)
{
	struct {
		uint64_t rights;
		int32_t fd;
	} __attribute__((packed)) rule = { .rights = s->x };

	rule.fd = (int32_t)SYS4(openat, AT_FDCWD, text(s->a), O_PATH | O_CLOEXEC, 0);
	if (rule.fd < 0)
		return;
	must(SYS4(landlock_add_rule, rules, 1, &rule, 0));
	SYS1(close, rule.fd);
}

static void keep(uint32_t caps)
{
	struct __user_cap_header_struct head = { .version = _LINUX_CAPABILITY_VERSION_3 };
	struct __user_cap_data_struct data[2] = { { caps, caps, 0 }, { 0 } };

	must(SYS2(capset, &head, data));
}

static void drop(uint32_t kept)
{
	for (int cap = 0; cap < 64; cap++)
		if (SYS5(prctl, PR_CAPBSET_DROP, cap, 0, 0, 0) < 0)
			break;
	keep(kept);
}

static void load_filter(const struct step *s)
{
	struct sock_fprog prog = { .len = (unsigned short)s->x };
	const char *code = text(s->b);

	memcpy(&prog.filter, &code, sizeof(code));
	must(SYS3(seccomp, SECCOMP_SET_MODE_FILTER, 0, &prog));
}

static void wall_step(const struct step *s)
{
	uint64_t limit[2] = { s->y, s->y }, set[3] = { s->x, 0, s->y };

	if (s->kind == STEP_HOSTNAME)
		must(SYS2(sethostname, text(s->a), strlen(text(s->a))));
	else if (s->kind == STEP_KEYRING)
		must(SYS2(keyctl, KEYCTL_JOIN_SESSION_KEYRING, 0));
	else if (s->kind == STEP_CHDIR)
		must(SYS1(chdir, text(s->a)));
	else if (s->kind == STEP_RLIMIT)
		SYS4(prlimit64, 0, s->x, limit, 0); /* one that is lower already stays */
	else if (s->kind == STEP_NO_NEW_PRIVS)
		must(SYS5(prctl, PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0));
	else if (s->kind == STEP_LANDLOCK)
		rules = (int)must(SYS3(landlock_create_ruleset, set, sizeof(set), 0));
	else if (s->kind == STEP_LANDLOCK_RULE)
		add_rule(s);
	else if (s->kind == STEP_LANDLOCK_SELF)
		must(SYS2(landlock_restrict_self, rules, 0));
	else if (s->kind == STEP_NET)
		must(SYS2(setns, must(task_end(&net)), CLONE_NEWNET));
	else if (s->kind == STEP_CAPS)
		drop((uint32_t)s->x);
	else if (s->kind == STEP_SECCOMP)
		load_filter(s);
	else
		mount_step(s);
}

static int payload(void *arg)
{
	char *const argv[] = { arg, NULL };
	uint64_t none = 0;

	must(SYS0(setsid));
	if (plan->flags & PLAN_F_PARENT_MAPS) {
		must(SYS2(setgroups, 0, 0));
		must(SYS3(setresgid, plan->inner_gid, plan->inner_gid, plan->inner_gid));
		must(SYS3(setresuid, plan->inner_uid, plan->inner_uid, plan->inner_uid));
	}
	keep(0);
	SYS3(close_range, 3, ~0u, 0);
	must(task_result(&detach));
	SYS4(rt_sigprocmask, SIG_SETMASK, &none, 0, 8);
	SYS3(execve, arg, argv, argv + 1);
	return 103;
}

static _Noreturn void inside_only(void)
{
	static char stack[4096] __attribute__((aligned(16))), name[] = "./payload";
	int status = -1;
	long pid;

	must(task_begin(&net, make_net));
	must(task_begin(&detach, take_away));
	become_user();
	for (uint32_t i = 0; i < plan->n_steps; i++)
		wall_step(&steps[i]);
	pid = must(spawn_vm(payload, name, stack + sizeof(stack), CLONE_VM | CLONE_VFORK | SIGCHLD, NULL));
	must(SYS4(wait4, pid, &status, 0, 0));
	die(status ? 104 : 0);
}

int warden_main(const char *const *args)
{
	struct clone_args how = { .flags = CLONE_NEWUSER | CLONE_NEWNS | CLONE_NEWPID | CLONE_NEWIPC |
					   CLONE_NEWUTS | CLONE_NEWCGROUP | CLONE_FILES,
				  .exit_signal = SIGCHLD };
	long fd = must(SYS4(openat, AT_FDCWD, args[0], O_RDONLY | O_CLOEXEC, 0)), pid;

	plan = (const void *)must(SYS6(mmap, 0, PLAN_MAX_BYTES, PROT_READ, MAP_PRIVATE, fd,
				       0)); /* NOLINT(performance-no-int-to-ptr) */
	steps = (const void *)((const char *)plan + plan->steps);
	strings = (const char *)plan + plan->strings;
	if (args[1]) {
		upper = args[1];
		work = args[2];
	}
	must(SYS2(pipe2, pair, O_CLOEXEC));
	pid = must(SYS2(clone3, &how, sizeof(how)));
	if (pid == 0)
		inside_only();
	return outside_only(pid);
}
