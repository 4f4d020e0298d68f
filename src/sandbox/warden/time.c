/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Clocks of its own: inside, the machine was started when the sandbox was. How long the host has been up, and with it much of
 * what tells one host from another, is not the payload's business.
 */
#include "sandbox/warden/warden.h"

#include <linux/fcntl.h>
#include <linux/sched.h>
#include <linux/time.h>
#include <linux/time_types.h>

#ifndef CLONE_NEWTIME
#define CLONE_NEWTIME 0x80
#endif

/* The clock's number, and what to take off it: whole seconds, because no clock may start below zero. */
static void put_offset(char *text, size_t size, size_t *at, uint64_t clock)
{
	struct __kernel_timespec now = { 0 };

	SYS2(clock_gettime, clock, &now);
	text_u64(text, size, at, clock);
	text_put(text, size, at, " -");
	text_u64(text, size, at, (uint64_t)now.tv_sec);
	text_put(text, size, at, " 0\n");
}

static long write_offsets(void)
{
	long fd = SYS4(openat, AT_FDCWD, "/proc/self/timens_offsets", O_WRONLY | O_CLOEXEC, 0), r;
	char text[128];
	size_t n = 0;

	if (fd < 0)
		return fd;
	put_offset(text, sizeof(text), &n, CLOCK_MONOTONIC);
	put_offset(text, sizeof(text), &n, CLOCK_BOOTTIME);
	r = SYS3(write, fd, text, n);
	SYS1(close, fd);
	return r < 0 ? r : 0;
}

/*
 * For our children, not for us: offsets can be set only as long as nobody has entered. A kernel that knows no such
 * namespace (before Linux 5.6, or built without) has no such wall to give.
 */
long time_unshare(struct warden *w)
{
	long r = SYS1(unshare, CLONE_NEWTIME);

	if (r == -EINVAL || r == -ENOSYS)
		return 0;
	if (r >= 0)
		r = write_offsets();
	w->report.time_ns = r >= 0;
	return w->plan->flags & PLAN_F_TIME_OPTIONAL ? 0 : r;
}
