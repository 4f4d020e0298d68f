/* SPDX-License-Identifier: Apache-2.0 */
#include "base/tree.h"

#include "base/fd.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#define DIR_FLAGS (O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC)
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

#define KEPT_OPEN 64u /* levels that stay open: a payload may have nested more than there are descriptors */

/* Above the directory that is being read. One that did not stay open: which one it must be, and how far it was read. */
struct level {
	DIR *d;
	dev_t dev;
	ino_t ino;
	long at;
	mode_t mode; /* that it had before it was unlocked; UNTOUCHED otherwise */
};
#define UNTOUCHED ((mode_t)-1)

struct measuring {
	struct tree_size *size;
	DIR *d; /* the directory that is being read */
	mode_t mode;
	struct level *above;
	size_t depth, cap;
	struct tree_size most; /* with more than that it is enough */
	bool unlock;
};

/* Each name of a file that has several takes its share. */
static void count(const struct stat *st, struct tree_size *ret)
{
	uint64_t ms = (uint64_t)st->st_ctim.tv_sec * 1000 + (uint64_t)st->st_ctim.tv_nsec / 1000000;
	uint64_t bytes = (uint64_t)st->st_blocks * 512;

	ret->bytes += S_ISDIR(st->st_mode) || st->st_nlink < 2 ? bytes : bytes / st->st_nlink;
	ret->newest_ms = ms > ret->newest_ms ? ms : ret->newest_ms;
}

/* *ret_mode: what it has to become again. A directory has to be read, and passed through on the way to what lies in it and back. */
static DIR *open_dir(int at, const char *name, bool unlock, mode_t *ret_mode)
{
	struct stat st;
	DIR *d;
	int fd;

	*ret_mode = UNTOUCHED;
	if (unlock && fstatat(at, name, &st, AT_SYMLINK_NOFOLLOW) == 0 && S_ISDIR(st.st_mode) &&
	    (st.st_mode & 0700) != 0700 &&
	    fchmodat(at, name, (st.st_mode & 07777) | 0700, AT_SYMLINK_NOFOLLOW) == 0)
		*ret_mode = st.st_mode & 07777;
	fd = openat(at, name, DIR_FLAGS);
	d = fd < 0 ? NULL : fdopendir(fd);
	if (!d) {
		int why = errno;

		(void)fd_close(fd);
		if (*ret_mode != UNTOUCHED)
			(void)!fchmodat(at, name, *ret_mode, AT_SYMLINK_NOFOLLOW);
		errno = why;
	}
	return d;
}

static void close_dir(DIR *d, mode_t mode)
{
	if (mode != UNTOUCHED)
		(void)fchmod(dirfd(d), mode);
	(void)closedir(d);
}

static bool push(struct measuring *m)
{
	struct level *grown;
	struct stat st;

	if (m->depth == m->cap) {
		grown = reallocarray(m->above, m->cap ? m->cap * 2 : 64, sizeof(*grown));
		if (!grown)
			return false;
		m->above = grown;
		m->cap = m->cap ? m->cap * 2 : 64;
	}
	if (fstat(dirfd(m->d), &st) < 0)
		return false;
	m->above[m->depth] = (struct level){ .d = m->depth < KEPT_OPEN ? m->d : NULL,
					     .dev = st.st_dev,
					     .ino = st.st_ino,
					     .at = telldir(m->d),
					     .mode = m->mode };
	if (!m->above[m->depth++].d)
		(void)closedir(m->d);
	m->d = NULL;
	return true;
}

/* Into a directory of this one. */
static void descend(struct measuring *m, const char *name)
{
	mode_t mode;
	DIR *sub = open_dir(dirfd(m->d), name, m->unlock, &mode);

	if (!sub || !push(m)) {
		m->size->incomplete = true;
		if (sub)
			close_dir(sub, mode);
		return;
	}
	m->d = sub;
	m->mode = mode;
}

static bool is_same(int fd, const struct level *l)
{
	struct stat st;

	return fstat(fd, &st) == 0 && st.st_dev == l->dev && st.st_ino == l->ino;
}

/* The one above, unless this one was moved meanwhile. */
static DIR *open_above(const struct measuring *m, const struct level *l)
{
	int fd = openat(dirfd(m->d), "..", DIR_FLAGS);
	DIR *up = fd >= 0 && is_same(fd, l) ? fdopendir(fd) : NULL;

	if (up)
		seekdir(up, l->at);
	else
		(void)fd_close(fd);
	return up;
}

static const struct level *pop(struct measuring *m)
{
	return m->depth ? &m->above[--m->depth] : NULL;
}

static void ascend(struct measuring *m)
{
	const struct level *l = pop(m);
	DIR *up = !l ? NULL : l->d ? l->d : open_above(m, l);

	close_dir(m->d, m->mode);
	/* Where the way back is lost, it goes on with the next one above that is still open. */
	for (; l && !up; up = l ? l->d : NULL) {
		m->size->incomplete = true;
		l = pop(m);
	}
	m->d = up;
	m->mode = l ? l->mode : UNTOUCHED;
}

static void measure_entry(struct measuring *m, const char *name)
{
	struct stat st;

	if (strcmp(name, ".") == 0 || strcmp(name, "..") == 0)
		return;
	m->size->entries++;
	if (fstatat(dirfd(m->d), name, &st, AT_SYMLINK_NOFOLLOW) < 0) {
		m->size->incomplete = true;
		return;
	}
	count(&st, m->size);
	if (S_ISDIR(st.st_mode))
		descend(m, name);
}

static struct dirent *next_entry(struct measuring *m)
{
	struct dirent *entry = NULL;

	if (m->size->entries <= m->most.entries && m->size->bytes <= m->most.bytes) {
		entry = tree_next(m->d);
		m->size->incomplete |= !entry && errno;
	}
	return entry;
}

static int measure(struct measuring *m, int parent, const char *name)
{
	struct stat st;

	*m->size = (struct tree_size){ 0 };
	m->d = open_dir(parent, name, m->unlock, &m->mode);
	if (!m->d || fstat(dirfd(m->d), &st) < 0) {
		int r = -errno;

		if (m->d)
			close_dir(m->d, m->mode);
		return r;
	}
	count(&st, m->size);
	while (m->d) {
		struct dirent *entry = next_entry(m);

		if (entry)
			measure_entry(m, entry->d_name);
		else
			ascend(m);
	}
	free(m->above);
	m->size->incomplete |= m->size->entries > m->most.entries || m->size->bytes > m->most.bytes;
	return 0;
}

int tree_measure(int parent, const char *name, struct tree_size *ret)
{
	struct measuring m = { .size = ret, .most = { .bytes = UINT64_MAX, .entries = ENTRIES_MAX } };

	return measure(&m, parent, name);
}

int tree_measure_locked(int parent, const char *name, const struct tree_size *most, struct tree_size *ret)
{
	struct measuring m = { .size = ret, .most = *most, .unlock = true };

	return measure(&m, parent, name);
}

struct dirent *tree_next(DIR *d)
{
	errno = 0;
	return readdir(d); /* NOLINT(concurrency-mt-unsafe) */
}

/* Not every file system tells of the directory itself and the one above. */
bool tree_is_empty(int dir)
{
	_Alignas(struct tree_entry) char room[256];
	long n;

	while ((n = syscall(SYS_getdents64, dir, room, sizeof(room))) > 0)
		for (long at = 0; at < n;) {
			const struct tree_entry *e = (const void *)(room + at);

			if (strcmp(e->name, ".") != 0 && strcmp(e->name, "..") != 0)
				return false;
			at += e->size;
		}
	return n == 0;
}
