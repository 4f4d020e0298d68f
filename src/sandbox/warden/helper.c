/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Two users for an ordinary user: newuidmap and newgidmap, which belong to root, write the maps of pid 1's user namespace, inner user 0
 * from the ranges that the host gave to the caller, and the payload's to the caller itself. Both run at once. They get no
 * stream, no descriptor and no variable of ours.
 */
#include "sandbox/warden/warden.h"

#include <linux/fcntl.h>
#include <linux/poll.h>
#include <linux/sched.h>
#include <linux/signal.h>
#include <linux/time_types.h>

#define HELPER_S 10 /* they ask name services */

struct helper {
	const char *path;
	char text[6][24];
	long pid;
	char stack[4096] __attribute__((aligned(16)));
};

SPARSE(0) static struct helper helpers[2] __attribute__((aligned(4096)));

void helper_forget(void)
{
	pages_forget(helpers, sizeof(helpers));
}

static int execute(void *arg)
{
	struct helper *h = arg;
	char *argv[9] = { 0 }, *env[1] = { 0 };
	uint64_t none = 0;
	long null = SYS4(openat, AT_FDCWD, "/dev/null", O_RDWR, 0);
	char one[] = "1", name[] = "newidmap";

	if (null < 0)
		return 125;
	for (int fd = 0; fd <= 2; fd++)
		if (null != fd && SYS3(dup3, null, fd, 0) < 0)
			return 125;
	if (SYS3(close_range, 3, ~0u, 0) < 0)
		return 125;
	SYS4(rt_sigprocmask, SIG_SETMASK, &none, 0, 8);
	argv[0] = name;
	for (int i = 0; i < 3; i++)
		argv[1 + i] = h->text[i];
	argv[4] = one;
	argv[5] = h->text[3];
	argv[6] = h->text[4];
	argv[7] = one;
	SYS3(execve, h->path, argv, env);
	return 125;
}

static void put(struct helper *h, int i, uint64_t v)
{
	size_t at = 0;

	text_u64(h->text[i], sizeof(h->text[i]), &at, v);
}

/* PID 0 OURS 1 INNER OUTER 1. Our memory is its own until it is executed, and we stand still that long. */
static long begin(struct helper *h, long pid, uint32_t ours, uint32_t inner, uint32_t outer)
{
	put(h, 0, (uint64_t)pid);
	put(h, 1, 0);
	put(h, 2, ours);
	put(h, 3, inner);
	put(h, 4, outer);
	h->pid = spawn_vm(execute, h, h->stack + sizeof(h->stack), CLONE_VM | CLONE_VFORK | SIGCHLD, NULL);
	return h->pid;
}

/* Also over when creel has gone, or after a time: then we end, and all that was begun with us. */
static long end(const struct helper *h)
{
	struct __kernel_timespec most = { .tv_sec = HELPER_S };
	struct pollfd p[2] = { { .events = POLLIN }, { .fd = WARDEN_FD_CONTROL, .events = 0 } };
	long fd = SYS2(pidfd_open, h->pid, 0), n;
	int status = -1;

	if (fd < 0)
		return fd;
	p[0].fd = (int)fd;
	do
		n = SYS5(ppoll, p, 2, &most, 0, 0);
	while (n == -EINTR);
	SYS1(close, fd);
	if (n == 0)
		return -ETIMEDOUT;
	if (n < 0 || !p[0].revents)
		return n < 0 ? n : -EPIPE;
	n = SYS4(wait4, h->pid, &status, 0, 0);
	return n < 0 ? n : status == 0 ? 0 : -EPERM;
}

long helper_maps(const struct plan_header *p, long pid)
{
	struct helper *uid = &helpers[0], *gid = &helpers[1];
	long r, other;

	uid->path = HELPER_UID;
	gid->path = HELPER_GID;
	r = begin(uid, pid, p->warden_outer_uid, p->inner_uid, p->outer_uid);
	if (r < 0)
		return r;
	r = begin(gid, pid, p->warden_outer_gid, p->inner_gid, p->outer_gid);
	other = end(uid);
	if (r >= 0)
		r = end(gid);
	return other < 0 ? other : r;
}
