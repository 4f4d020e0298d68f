/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A plan for people: one line per step, in the order in which the warden takes them. Names come from outside, so they are
 * made visible before they are shown. The environment is not shown: it may hold secrets.
 */
#include "sandbox/landlock.h"
#include "sandbox/plan.h"
#include "sandbox/plan_read.h"

#include <assert.h>
#include <inttypes.h>

/* clang-format off */
static const char *const step_names[] = {
	[STEP_NONE] = "none",           [STEP_ROOT] = "root",           [STEP_DIR] = "dir",
	[STEP_LINK] = "link",           [STEP_FILE] = "file",           [STEP_BIND] = "bind",
	[STEP_SCRATCH] = "scratch",     [STEP_OVERLAY] = "overlay",     [STEP_SEALED] = "sealed",       [STEP_PROC] = "proc",
	[STEP_MASK] = "mask",           [STEP_READONLY] = "read-only",  [STEP_DEVPTS] = "devpts",
	[STEP_SEAL] = "seal",           [STEP_PIVOT] = "pivot",         [STEP_TTY] = "tty",
	[STEP_HOSTNAME] = "hostname",   [STEP_NET] = "network",        [STEP_RLIMIT] = "rlimit",
	[STEP_KEYRING] = "keyring",     [STEP_CHDIR] = "chdir",         [STEP_LANDLOCK] = "landlock",
	[STEP_LANDLOCK_RULE] = "landlock-rule", [STEP_LANDLOCK_SELF] = "landlock-enter",
	[STEP_CAPS] = "capabilities",   [STEP_NO_NEW_PRIVS] = "no-new-privs", [STEP_SECCOMP] = "seccomp",
	[STEP_LISTEN] = "listen",
};
static_assert(sizeof(step_names) / sizeof(step_names[0]) == STEP_COUNT_, "every step has a name");

static const char *const probe_names[] = {
	[PROBE_MOUNT] = "mount",                   [PROBE_UNSHARE_USER] = "unshare-user",   [PROBE_SETNS] = "setns",
	[PROBE_PTRACE_WARDEN] = "ptrace-warden",   [PROBE_KILL_WARDEN] = "kill-warden",     [PROBE_WARDEN_MEM] = "warden-memory",
	[PROBE_WRITE_ROOT] = "write-root",         [PROBE_WRITE_USR] = "write-usr",         [PROBE_SYS_ABSENT] = "sys-absent",
	[PROBE_HOST_PIDS] = "host-pids",           [PROBE_CAPS_EMPTY] = "capabilities-empty", [PROBE_BOUNDING_EMPTY] = "bounding-empty",
	[PROBE_NO_NEW_PRIVS] = "no-new-privs",     [PROBE_SECCOMP_ON] = "seccomp-on",       [PROBE_KEYCTL] = "keyctl",
	[PROBE_BPF] = "bpf",                       [PROBE_PERF] = "perf",                   [PROBE_IO_URING] = "io-uring",
	[PROBE_USERFAULTFD] = "userfaultfd",       [PROBE_INIT_MODULE] = "init-module",     [PROBE_REBOOT] = "reboot",
	[PROBE_NETLINK] = "netlink",               [PROBE_PACKET] = "packet",               [PROBE_NO_ROUTE] = "no-route",
	[PROBE_MKNOD] = "mknod",                   [PROBE_CHROOT] = "chroot",               [PROBE_OPEN_BY_HANDLE] = "open-by-handle",
	[PROBE_SETUID_ROOT] = "setuid-root",       [PROBE_CLOCK_SET] = "clock-set",         [PROBE_SYSCTL_WRITE] = "sysctl-write",
	[PROBE_NO_FDS] = "no-fds",                 [PROBE_NO_TTY] = "no-tty",               [PROBE_PERSONALITY] = "personality",
	[PROBE_TIOCSTI] = "tiocsti",               [PROBE_LANDLOCK_ON] = "landlock-on",     [PROBE_CGROUP_HIDDEN] = "cgroup-hidden",
};
static_assert(sizeof(probe_names) / sizeof(probe_names[0]) == PROBE_COUNT_, "every probe has a name");
static_assert(PROBE_COUNT_ <= 64, "a report has one bit for each probe");
/* clang-format on */

const char *step_name(unsigned kind)
{
	return kind < STEP_COUNT_ ? step_names[kind] : "?";
}

const char *probe_name(unsigned probe)
{
	return probe < PROBE_COUNT_ ? probe_names[probe] : "?";
}

static void put_flags(struct buf *out, uint32_t flags)
{
	static const struct {
		uint32_t flag;
		const char *word;
	} words[] = {
		{ STEP_F_RO, "ro" },       { STEP_F_NOEXEC, "noexec" },
		{ STEP_F_DEV, "dev" },     { STEP_F_OPTIONAL, "optional" },
		{ STEP_F_IDMAP, "idmap" },
	};

	for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++)
		if (flags & words[i].flag)
			buf_printf(out, " %s", words[i].word);
}

static void put_after(struct buf *out, const char *word, struct str s)
{
	buf_puts(out, word);
	buf_put_visible(out, s);
}

static void put_overlay(struct buf *out, const struct plan_view *v, const struct step *s)
{
	struct str lower = plan_text(v, s->b), upper = plan_text_after(v, lower);

	put_after(out, " <- ", lower);
	put_after(out, " upper ", upper);
	put_after(out, " work ", plan_text_after(v, upper));
}

static void put_capabilities(struct buf *out, uint64_t kept)
{
	static const char *const names[] = { [5] = "kill", [6] = "setgid", [7] = "setuid" };

	buf_puts(out, kept ? " pid 1 keeps" : " none");
	for (unsigned cap = 0; cap < 64; cap++)
		if (kept >> cap & 1)
			buf_printf(out, " %s", cap < 8 && names[cap] ? names[cap] : "?");
}

/* read, write, create, execute: what a person wants to see; the bits are in sandbox/landlock.h. */
static void put_rights(struct buf *out, uint64_t x)
{
	buf_printf(out, " %c%c%c%c", x & LL_READ_FILE ? 'r' : '-', x & LL_WRITE_FILE ? 'w' : '-',
		   x & LL_MAKE_REG ? 'c' : '-', x & LL_EXECUTE ? 'x' : '-');
}

static void put_tty(struct buf *out, const struct step *s)
{
	for (unsigned fd = 0; fd < 3; fd++)
		if (s->flags & 1u << fd)
			buf_printf(out, " %u", fd);
	buf_puts(out, s->flags & TTY_F_FOREGROUND ? " foreground" : " background");
}

static void put_step(struct buf *out, const struct plan_view *v, const struct step *s)
{
	struct str a = plan_text(v, s->a), b = plan_text(v, s->b);

	buf_printf(out, "%-15s", step_name(s->kind));
	if (a.n)
		put_after(out, " ", a);
	switch (s->kind) {
	case STEP_BIND:
	case STEP_LINK:
	case STEP_MASK:
	case STEP_SEALED:
		put_after(out, s->kind == STEP_LINK ? " -> " : " <- ", b);
		break;
	case STEP_OVERLAY:
		put_overlay(out, v, s);
		break;
	case STEP_ROOT:
	case STEP_SCRATCH:
		buf_printf(out, " %" PRIu64 " bytes", s->x);
		break;
	case STEP_FILE:
		buf_printf(out, " %" PRIu64 " bytes", s->y);
		break;
	case STEP_RLIMIT:
		buf_printf(out, " %" PRIu64, s->y);
		break;
	case STEP_LISTEN:
		buf_printf(out, " 127.0.0.1:%" PRIu64, s->x);
		break;
	case STEP_SECCOMP:
		buf_printf(out, " %" PRIu64 " instructions", s->x);
		break;
	case STEP_LANDLOCK_RULE:
		put_rights(out, s->x);
		break;
	case STEP_CAPS:
		put_capabilities(out, s->x);
		break;
	case STEP_TTY:
		put_tty(out, s);
		break;
	default:
		break;
	}
	if (s->kind != STEP_TTY)
		put_flags(out, s->flags);
	buf_putc(out, '\n');
}

void plan_print(struct str plan, struct buf *out)
{
	struct plan_view v;

	if (plan_open(plan, &v) < 0) {
		buf_puts(out, "this is not a plan\n");
		return;
	}
	for (uint32_t i = 0; i < v.head.n_steps; i++) {
		struct step s = plan_step(&v, i);

		buf_printf(out, "%3u ", i + 1);
		put_step(out, &v, &s);
	}
}
