/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The cgroups of the sandbox, which creel makes. It names each before it makes it, so that they are removed also when
 * creel is killed at the next moment; a name of which nothing was made costs one refused call.
 */
#include "sandbox/warden/warden.h"

#include <linux/fcntl.h>
#include <linux/time.h>
#include <linux/time_types.h>

#define RMDIR_TRIES 250

SPARSE(0) static char records[GROUP_RECORDS_MAX];

/* The path of the record at *at, and its kind; NULL at the end. */
static const char *next(const struct group_records *g, size_t *at, char *kind)
{
	const char *path;

	if (*at >= g->n)
		return NULL;
	*kind = g->p[*at];
	path = g->p + *at + (*kind != '\0');
	*at = (size_t)(path - g->p) + strlen(path) + 1;
	return path;
}

static const char *birth(const struct warden *w)
{
	const char *path;
	size_t at = 0;
	char kind;

	while ((path = next(&w->groups, &at, &kind)))
		if (kind == GROUP_BORN)
			return path;
	return NULL;
}

/* Of whole records: one that was cut off is of a group that was not made. */
static void take(struct warden *w, size_t n)
{
	while (n && records[n - 1])
		n--;
	w->groups = (struct group_records){ .p = records, .n = n };
}

/* 1 = pid 1 can be born, and nothing follows but the end; 0 = the end of the stream, which says that the plan is there. */
static long hear(struct warden *w)
{
	size_t n = 0;
	long r;

	do {
		r = SYS3(read, WARDEN_FD_GO, records + n, sizeof(records) - n);
		if (r > 0)
			n += (size_t)r;
		take(w, n);
		if (r > 0 && birth(w))
			return 1;
	} while (r == -EINTR || (r > 0 && n < sizeof(records)));
	return n == sizeof(records) ? -E2BIG : r;
}

long groups_wait(struct warden *w)
{
	long r = hear(w);

	return r ? (r < 0 ? r : 0) : plan_wait(w);
}

long groups_open_birth(const struct warden *w)
{
	const char *path = birth(w);

	return path ? SYS4(openat, AT_FDCWD, path, O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC, 0)
		    : -ENOENT;
}

/* Only in a v1 group are we ourselves: its parent takes us back. */
static void leave(const char *dir)
{
	char path[1024 + 64];
	size_t at = 0, slash = 0;
	long fd;

	for (size_t i = 0; dir[i] && i < 1024; i++)
		slash = dir[i] == '/' ? i : slash;
	text_put(path, slash + 1, &at, dir);
	text_put(path, sizeof(path), &at, "/cgroup.procs");
	fd = SYS4(openat, AT_FDCWD, path, O_WRONLY | O_CLOEXEC | O_NOFOLLOW, 0);
	if (fd < 0)
		return;
	SYS3(write, fd, "0", 1);
	SYS1(close, fd);
}

/* Everything in it is dead; the kernel may need a moment to see it. */
static void remove_group(const char *dir)
{
	const struct __kernel_timespec pause = { .tv_nsec = 2000000 };

	for (int i = 0; i < RMDIR_TRIES && SYS3(unlinkat, AT_FDCWD, dir, AT_REMOVEDIR) == -EBUSY; i++)
		SYS4(clock_nanosleep, CLOCK_MONOTONIC, 0, &pause, 0);
}

void groups_remove(const struct warden *w)
{
	const char *path;
	size_t at = 0;
	char kind;

	while ((path = next(&w->groups, &at, &kind))) {
		if (kind == GROUP_BORN)
			continue;
		if (kind == GROUP_V1)
			leave(path);
		remove_group(path);
	}
}
