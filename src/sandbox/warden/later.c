/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Who drops the last reference to a mount namespace takes its mounts down, and waits until no processor can still be looking at them. We
 * are pid 1, and the last one: creel would wait for that with us. So the last reference is left to the kernel: a descriptor of the namespace lies in the
 * queue of a socket that only this queue refers to, and what collects such sockets (a worker since Linux 6.9) comes when our end, too, is closed:
 * the kernel closes descriptors for good after it has taken a process's namespaces away (docs/decisions/014).
 *
 * Nothing of it exists before the last moment, and nobody else ever has it. Whatever fails, the mounts go with us, as they do when we are killed.
 */
#include "sandbox/warden/warden.h"

#include <linux/fcntl.h>

#define AF_UNIX_ 1
#define SOCK_DGRAM_ 2
#define SOCK_CLOEXEC_ 02000000

/* With everything below it where creel saw it to be: what else was mounted there came along, and may be somebody's to unmount. */
static bool may_wait(const struct warden *w)
{
	return w->plan->flags & PLAN_F_LATER && w->n_mounts && detach_left() == w->n_mounts;
}

void mounts_later(const struct warden *w)
{
	long ns = may_wait(w) ? SYS4(openat, AT_FDCWD, "/proc/self/ns/mnt", O_RDONLY | O_CLOEXEC, 0) : -EPERM;
	int pair[2];

	if (ns < 0)
		return;
	if (SYS4(socketpair, AF_UNIX_, SOCK_DGRAM_ | SOCK_CLOEXEC_, 0, pair) >= 0) {
		(void)pass_two(pair[1], pair[0], (int)ns);
		SYS1(close, pair[0]); /* the other is closed by our end */
	}
	SYS1(close, ns);
}
