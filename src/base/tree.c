/* SPDX-License-Identifier: Apache-2.0 */
#include "base/tree.h"

#include "base/fd.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define DIR_FLAGS (O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC)
#define DEPTH_MAX 64u
#define ENTRIES_MAX 1000000u

/* ---- removing ---- */

/* Entries of `dir` that are not directories go; directories that are not empty move up to `top`. Nothing is followed. */
static void empty(int dir, int top, unsigned *n)
{
	DIR *d = fdopendir(dir);
	struct dirent *entry;

	if (!d)
		(void)fd_close(dir);
	while (d && (entry = readdir(d))) {
		char name[32];

		if (strcmp(entry->d_name, ".") == 0 || strcmp(entry->d_name, "..") == 0 ||
		    unlinkat(dirfd(d), entry->d_name, 0) == 0 ||
		    unlinkat(dirfd(d), entry->d_name, AT_REMOVEDIR) == 0)
			continue;
		/* Without rights on itself it could be neither read nor moved: overlayfs makes work/work so, a payload any. */
		(void)!fchmodat(dirfd(d), entry->d_name, 0700, AT_SYMLINK_NOFOLLOW);
		/* A removal that was killed has left such names. */
		do
			(void)snprintf(name, sizeof(name), "~%u", (*n)++);
		while (renameat(dirfd(d), entry->d_name, top, name) < 0 &&
		       (errno == EEXIST || errno == ENOTEMPTY));
	}
	if (d)
		(void)closedir(d);
}

/*
 * What a payload left may be nested deeper than a stack or a path is long: each round takes one level off, by moving what
 * lies below to the top. No more rounds than there can be levels.
 */
int tree_remove(int parent, const char *name)
{
	_cleanup_close_ int top = openat(parent, name, DIR_FLAGS);
	unsigned n = 0;

	for (unsigned round = 0; top >= 0 && round < 1000000; round++) {
		int copy = openat(top, ".", DIR_FLAGS);
		DIR *d = copy < 0 ? NULL : fdopendir(copy);
		struct dirent *entry;
		bool more = false;

		while (d && (entry = readdir(d))) {
			int sub;

			if (strcmp(entry->d_name, ".") == 0 || strcmp(entry->d_name, "..") == 0 ||
			    unlinkat(top, entry->d_name, 0) == 0)
				continue;
			(void)!fchmodat(top, entry->d_name, 0700, AT_SYMLINK_NOFOLLOW);
			sub = openat(top, entry->d_name, DIR_FLAGS);
			if (sub >= 0)
				empty(sub, top, &n);
			more |= unlinkat(top, entry->d_name, AT_REMOVEDIR) == 0;
		}
		if (d)
			(void)closedir(d);
		if (!more)
			break;
	}
	return unlinkat(parent, name, AT_REMOVEDIR) < 0 ? -errno : 0;
}

/* ---- measuring ---- */

static void count(const struct stat *st, struct tree_size *ret)
{
	uint64_t ms = (uint64_t)st->st_ctim.tv_sec * 1000 + (uint64_t)st->st_ctim.tv_nsec / 1000000;

	ret->bytes += (uint64_t)st->st_blocks * 512;
	ret->newest_ms = ms > ret->newest_ms ? ms : ret->newest_ms;
}

/* One entry of `d`: the directory that it is, opened, or NULL. */
static DIR *measure_one(DIR *d, const char *name, struct tree_size *ret)
{
	struct stat st;
	DIR *sub;
	int fd;

	if (strcmp(name, ".") == 0 || strcmp(name, "..") == 0)
		return NULL;
	ret->entries++;
	if (fstatat(dirfd(d), name, &st, AT_SYMLINK_NOFOLLOW) < 0) {
		ret->incomplete = true;
		return NULL;
	}
	count(&st, ret);
	if (!S_ISDIR(st.st_mode))
		return NULL;
	fd = openat(dirfd(d), name, DIR_FLAGS);
	sub = fd < 0 ? NULL : fdopendir(fd);
	ret->incomplete |= !sub;
	if (!sub)
		(void)fd_close(fd);
	return sub;
}

int tree_measure(int parent, const char *name, struct tree_size *ret)
{
	DIR *at[DEPTH_MAX];
	unsigned depth = 0;
	struct stat st;
	int fd = openat(parent, name, DIR_FLAGS);

	*ret = (struct tree_size){ 0 };
	if (fd < 0 || fstat(fd, &st) < 0 || !(at[0] = fdopendir(fd))) {
		int r = -errno;

		(void)fd_close(fd);
		return r;
	}
	count(&st, ret);
	for (depth = 1; depth > 0;) {
		struct dirent *entry = ret->entries < ENTRIES_MAX ? readdir(at[depth - 1]) : NULL;
		DIR *sub = entry ? measure_one(at[depth - 1], entry->d_name, ret) : NULL;

		if (!entry) {
			(void)closedir(at[--depth]);
		} else if (sub && depth < DEPTH_MAX) {
			at[depth++] = sub;
		} else if (sub) {
			ret->incomplete = true;
			(void)closedir(sub);
		}
	}
	ret->incomplete |= ret->entries >= ENTRIES_MAX;
	return 0;
}
