/* SPDX-License-Identifier: Apache-2.0 */
/* The new root becomes the root, and the host's tree goes. */
#include "sandbox/warden/tree.h"

#include <linux/fcntl.h>
#include <linux/futex.h>
#include <linux/mount.h>

#define MNT_DETACH_ 2

long do_seal(struct warden *w, const struct step *s)
{
	struct mount_attr at = { .attr_set = MOUNT_ATTR_RDONLY };

	(void)s;
	return told(w, SYS5(mount_setattr, w->root_fd, "", AT_EMPTY_PATH, &at, sizeof(at)), "make read-only",
		    "/");
}

static uint32_t pivoted, detaching, left;

#define MOUNTS_MAX 128

/* struct mnt_id_req of Linux 6.8: all mounts that can be reached from our root. */
struct mounts_of {
	uint32_t size, spare;
	uint64_t of, param;
};
#define ALL_MOUNTS UINT64_MAX /* LSMT_ROOT */

static void count_left(void)
{
	const struct mounts_of all = { .size = sizeof(all), .of = ALL_MOUNTS };
	uint64_t ids[MOUNTS_MAX];
	long n = SYS4(listmount, &all, ids, MOUNTS_MAX, 0);

	left = n > 0 && n < MOUNTS_MAX ? (uint32_t)n : 0;
}

uint32_t detach_left(void)
{
	return left;
}

/*
 * pivot_root(".", ".") stacks the old root on the new one; detaching "/" then takes the old one away (pivot_root(2)). For that the
 * kernel waits until nobody can still be looking at it, so a task beside us waits in our place, and whoever is about to execute the
 * payload for that one. It begins early: once we have asked for clocks of our own, nobody can share our memory any more.
 */
static long detach(void)
{
	long r;

	while (!__atomic_load_n(&pivoted, __ATOMIC_ACQUIRE))
		SYS4(futex, &pivoted, FUTEX_WAIT_PRIVATE, 0, 0);
	__atomic_store_n(&detaching, 1, __ATOMIC_RELAXED);
	r = SYS2(umount2, "/", MNT_DETACH_);
	if (r >= 0)
		count_left();
	return r;
}

void detach_begin(struct warden *w)
{
	long r = task_begin(&w->detach, detach);

	if (r < 0)
		fail(w, 0, r, "begin to take the host's tree away");
}

long do_pivot(struct warden *w, const struct step *s)
{
	long r = SYS1(fchdir, w->root_fd);

	(void)s;
	if (r >= 0)
		r = SYS2(pivot_root, ".", ".");
	if (r >= 0) {
		__atomic_store_n(&pivoted, 1, __ATOMIC_RELEASE);
		r = SYS3(futex, &pivoted, FUTEX_WAKE_PRIVATE, 1);
	}
	if (r >= 0)
		r = SYS1(chdir, "/");
	SYS1(close, w->root_fd);
	w->root_fd = -EBADF;
	forget_parent(w);
	/* It has little to do before it sleeps, and may be waiting for the processor that we are on. */
	if (!__atomic_load_n(&detaching, __ATOMIC_RELAXED))
		SYS0(sched_yield);
	return told(w, r, "pivot_root", "/");
}
