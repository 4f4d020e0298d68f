/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Which call a process belongs to: two hard limits on what the kernel does not limit any more (file locks; the time of real-time
 * processes, which nobody here can be). A call's first process gets them, every child inherits them, no system call clears them,
 * and nobody without CAP_SYS_RESOURCE on the host can raise a hard limit again. The first is the call's number, the second
 * as much below its top: so the number lies between what the two say, whatever a process has lowered, and is exactly that for one
 * that has not. See docs/decisions/007.
 */
#include "sandbox/warden/warden.h"

#include <asm/resource.h>
#include <linux/fcntl.h>
#include <linux/signal.h>

#define MARK_LOW RLIMIT_LOCKS
#define MARK_HIGH RLIMIT_RTTIME

struct limit {
	uint64_t soft, hard;
};

static long number_of(const char *name)
{
	long n = 0;

	for (; *name; name++) {
		if (*name < '0' || *name > '9' || n > 100000000)
			return 0;
		n = n * 10 + (*name - '0');
	}
	return n;
}

SPARSE(0) static char room[8192] __attribute__((aligned(4096))); /* for names in /proc */

/*
 * Before the processes, /proc has some sixty names that are always the same, and reading those takes longer than all the rest. Where
 * they end is a position that stays: of the processes it is made of their numbers.
 */
static long find_processes(int proc)
{
	long n, from = 0;

	while ((n = SYS3(getdents64, proc, room, sizeof(room))) > 0)
		for (long at = 0; at < n;) {
			const struct dir_entry *e = (const void *)(room + at);

			if (number_of(e->name) > 0)
				return from;
			from = e->offset;
			at += e->size;
		}
	return 0;
}

long mark_open(struct warden *w)
{
	struct limit high = { 0 };
	long fd = SYS4(openat, AT_FDCWD, "/proc", O_RDONLY | O_DIRECTORY | O_CLOEXEC, 0);
	long r = fd < 0 ? fd : SYS4(prlimit64, 0, MARK_HIGH, 0, &high);

	w->proc_fd = (int)fd;
	w->children_fd = (int)SYS4(openat, AT_FDCWD, "/proc/1/task/1/children", O_RDONLY | O_CLOEXEC, 0);
	w->proc_from = fd < 0 ? 0 : find_processes((int)fd);
	pages_forget(room, sizeof(room));
	w->mark_top = high.hard;
	return r;
}

/* -EPERM where the host's own limits leave no room for so large a number. */
long mark_self(const struct warden *w, uint64_t id)
{
	const struct limit low = { id, id }, high = { w->mark_top - id, w->mark_top - id };
	long r = id == 0 || id > w->mark_top ? -EPERM : SYS4(prlimit64, 0, MARK_LOW, &low, 0);

	return r < 0 ? r : SYS4(prlimit64, 0, MARK_HIGH, &high, 0);
}

/* False for one that has gone, and for what belongs to no call: pid 1 and its own. */
static bool read_marks(const struct warden *w, long pid, uint64_t *low, uint64_t *high)
{
	struct limit a = { 0 }, b = { 0 };

	if (SYS4(prlimit64, pid, MARK_LOW, 0, &a) < 0 || SYS4(prlimit64, pid, MARK_HIGH, 0, &b) < 0)
		return false;
	*low = a.hard;
	*high = w->mark_top - b.hard;
	return *low <= *high;
}

/* The number may be another's by now: what is signalled is the process that was looked at after it was taken hold of, or none. */
static bool signal_one(const struct warden *w, long pid, mark_wanted *wanted, int sig)
{
	uint64_t low, high;
	long fd, r = -ESRCH;

	if (!read_marks(w, pid, &low, &high) || !wanted(low, high))
		return false;
	fd = SYS2(pidfd_open, pid, 0);
	if (fd < 0)
		return false;
	if (read_marks(w, pid, &low, &high) && wanted(low, high))
		r = SYS4(pidfd_send_signal, fd, sig, 0, 0);
	SYS1(close, fd);
	return r >= 0;
}

/* In the order of their numbers: a child that is born while we look has a higher one, until numbers begin anew. */
uint32_t mark_kill(const struct warden *w, mark_wanted *wanted, int sig)
{
	uint32_t found = 0;
	long n;

	if (SYS3(lseek, w->proc_fd, w->proc_from, 0) < 0)
		return 0;
	while ((n = SYS3(getdents64, w->proc_fd, room, sizeof(room))) > 0)
		for (long at = 0; at < n;) {
			const struct dir_entry *e = (const void *)(room + at);
			long pid = number_of(e->name);

			if (pid > 1 && signal_one(w, pid, wanted, sig))
				found++;
			at += e->size;
		}
	return found;
}

/*
 * Each of them is in it until we reap it, in the order in which they came: a child that comes while we read stands behind the others. Kernels without
 * CONFIG_PROC_CHILDREN have no such file; there, and when there are more than fit, everybody is looked at.
 */
bool mark_children(const struct warden *w, bool (*known)(long pid))
{
	char text[256];
	long pid = 0, n = w->children_fd < 0 ? 0 : SYS4(pread64, w->children_fd, text, sizeof(text), 0);

	if (n <= 0 || n == (long)sizeof(text) || text[n - 1] != ' ')
		return false;
	for (long i = 0; i < n; i++) {
		if (text[i] >= '0' && text[i] <= '9' && pid <= 100000000) {
			pid = pid * 10 + (text[i] - '0');
			continue;
		}
		if (text[i] != ' ' || !known(pid))
			return false;
		pid = 0;
	}
	return true;
}
