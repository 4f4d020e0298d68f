/* SPDX-License-Identifier: Apache-2.0 */
/* A plan for people: one line per step, in the order in which the warden takes them. */
#include "sandbox/plan.h"
#include "sandbox/wire.h"

#include <assert.h>
#include <inttypes.h>
#include <string.h>

/* clang-format off */
static const char *const step_names[] = {
	[STEP_NONE] = "none",           [STEP_ROOT] = "root",           [STEP_DIR] = "dir",
	[STEP_LINK] = "link",           [STEP_FILE] = "file",           [STEP_BIND] = "bind",
	[STEP_TMPFS] = "tmpfs",         [STEP_OVERLAY] = "overlay",     [STEP_PROC] = "proc",
	[STEP_MASK] = "mask",           [STEP_READONLY] = "read-only",  [STEP_DEVPTS] = "devpts",
	[STEP_SEAL] = "seal",           [STEP_PIVOT] = "pivot",         [STEP_TTY] = "tty",
	[STEP_HOSTNAME] = "hostname",   [STEP_LO_UP] = "loopback-up",   [STEP_RLIMIT] = "rlimit",
	[STEP_KEYRING] = "keyring",     [STEP_CHDIR] = "chdir",         [STEP_LANDLOCK] = "landlock",
	[STEP_LANDLOCK_RULE] = "landlock-rule", [STEP_LANDLOCK_SELF] = "landlock-enter",
	[STEP_CAPS] = "capabilities",   [STEP_NO_NEW_PRIVS] = "no-new-privs", [STEP_SECCOMP] = "seccomp",
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
/* clang-format on */

const char *step_name(unsigned kind)
{
	return kind < STEP_COUNT_ ? step_names[kind] : "?";
}

const char *probe_name(unsigned probe)
{
	return probe < PROBE_COUNT_ ? probe_names[probe] : "?";
}

static struct str string_at(struct str plan, const struct plan_header *h, uint32_t offset)
{
	const char *p = plan.p + h->strings + offset;

	if (offset >= h->n_strings)
		return (struct str){ 0 };
	return (struct str){ .p = p, .n = strnlen(p, h->n_strings - offset) };
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

static void put_step(struct buf *out, struct str plan, const struct plan_header *h, const struct step *s)
{
	struct str a = string_at(plan, h, s->a), b = string_at(plan, h, s->b);

	buf_printf(out, "%-15s", step_name(s->kind));
	if (a.n) {
		buf_putc(out, ' ');
		buf_put_visible(out, a);
	}
	switch (s->kind) {
	case STEP_BIND:
	case STEP_OVERLAY:
	case STEP_LINK:
	case STEP_MASK:
		buf_puts(out, s->kind == STEP_LINK ? " -> " : " <- ");
		buf_put_visible(out, b);
		break;
	case STEP_ROOT:
	case STEP_TMPFS:
		buf_printf(out, " %" PRIu64 " bytes", s->x);
		break;
	case STEP_FILE:
		buf_printf(out, " %" PRIu64 " bytes", s->y);
		break;
	case STEP_RLIMIT:
		buf_printf(out, " %" PRIu64, s->y);
		break;
	case STEP_SECCOMP:
		buf_printf(out, " %" PRIu64 " instructions", s->x);
		break;
	case STEP_LANDLOCK_RULE:
		buf_printf(out, " rights %#" PRIx64, s->x);
		break;
	default:
		break;
	}
	put_flags(out, s->flags);
	buf_putc(out, '\n');
}

void plan_print(struct str plan, struct buf *out)
{
	struct plan_header h;

	if (plan.n < sizeof(h))
		return;
	memcpy(&h, plan.p, sizeof(h));
	for (uint32_t i = 0; i < h.n_steps; i++) {
		size_t at = h.steps + (size_t)i * sizeof(struct step);
		struct step s;

		if (at + sizeof(s) > plan.n)
			return;
		memcpy(&s, plan.p + at, sizeof(s));
		buf_printf(out, "%3u ", i + 1);
		put_step(out, plan, &h, &s);
	}
}
