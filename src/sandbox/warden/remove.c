/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Removing what a payload left: nested deeper than a path is long, without rights on itself, with names of any bytes. Each round
 * takes one level off, by moving what lies below to the top, so neither a stack nor a path grows. Nothing is followed.
 */
#include "sandbox/warden/warden.h"

#include <linux/fcntl.h>

#define ROUNDS_MAX 1000000 /* levels */
#define DT_DIR_ 4
#define OPEN_DIR (O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC)

struct listing {
	int fd;
	long at, n;
	char room[32768] __attribute__((aligned(8)));
};

SPARSE(0) static struct listing outer, inner; /* pages that are not used cost nothing */

/* The next entry but . and .., or NULL. */
static const struct dir_entry *next_entry(struct listing *l)
{
	for (;;) {
		const struct dir_entry *e;

		if (l->at >= l->n) {
			l->n = SYS3(getdents64, l->fd, l->room, sizeof(l->room));
			l->at = 0;
		}
		if (l->n <= 0)
			return NULL;
		e = (const void *)(l->room + l->at);
		l->at += e->size;
		if (e->name[0] != '.' || (e->name[1] && (e->name[1] != '.' || e->name[2])))
			return e;
	}
}

/* overlayfs makes work/work without rights, a payload any: it could then be neither read nor moved. */
void give_rights(int dir, const char *name)
{
	long fd = SYS4(openat, dir, name, O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC, 0);
	char path[40];
	size_t at = 0;

	if (fd < 0)
		return;
	text_put(path, sizeof(path), &at, "/proc/self/fd/");
	text_u64(path, sizeof(path), &at, (uint64_t)fd);
	SYS3(fchmodat, AT_FDCWD, path, 0700);
	SYS1(close, fd);
}

/* Not every file system tells what an entry is. */
static bool drop(int dir, const struct dir_entry *e)
{
	if (e->type != DT_DIR_ && SYS3(unlinkat, dir, e->name, 0) >= 0)
		return true;
	return SYS3(unlinkat, dir, e->name, AT_REMOVEDIR) >= 0;
}

/* Names that are taken were left by a removal that was killed. Rights are given where they are missed: most have them. */
static void move_up(int dir, const char *name, int top, uint64_t *count)
{
	bool gave = false;
	long r;

	do {
		char to[32];
		size_t at = 0;

		text_put(to, sizeof(to), &at, "~");
		text_u64(to, sizeof(to), &at, (*count)++);
		r = SYS5(renameat2, dir, name, top, to, 0);
		if (r == -EACCES && !gave) {
			give_rights(dir, name);
			gave = true;
			r = -EEXIST; /* once more */
		}
	} while (r == -EEXIST || r == -ENOTEMPTY);
}

/* Open, and with every right for us. */
static long open_sub(int dir, const char *name)
{
	long sub = SYS4(openat, dir, name, OPEN_DIR, 0);

	if (sub == -EACCES) {
		give_rights(dir, name);
		sub = SYS4(openat, dir, name, OPEN_DIR, 0);
	}
	if (sub >= 0)
		SYS2(fchmod, sub, 0700);
	return sub;
}

/* Entries that are no directories go; directories that are not empty move up to `top`. */
static void empty(int dir, int top, uint64_t *count)
{
	const struct dir_entry *e;

	inner.fd = dir;
	inner.at = inner.n = 0;
	while ((e = next_entry(&inner)))
		if (!drop(dir, e))
			move_up(dir, e->name, top, count);
}

/* True when a directory went: there may be others now that lay in it. */
static bool remove_one(int top, const struct dir_entry *e, uint64_t *count)
{
	long sub;

	if (e->type != DT_DIR_ && SYS3(unlinkat, top, e->name, 0) >= 0)
		return false;
	sub = open_sub(top, e->name);
	if (sub >= 0) {
		empty((int)sub, top, count);
		SYS1(close, sub);
	}
	return SYS3(unlinkat, top, e->name, AT_REMOVEDIR) >= 0;
}

void remove_below(int top)
{
	long copy = SYS4(openat, top, ".", OPEN_DIR, 0);
	uint64_t count = 0;
	bool more = copy >= 0;

	for (unsigned round = 0; more && round < ROUNDS_MAX; round++) {
		const struct dir_entry *e;

		SYS3(lseek, copy, 0, 0);
		outer.fd = (int)copy;
		outer.at = outer.n = 0;
		more = false;
		while ((e = next_entry(&outer)))
			more |= remove_one(top, e, &count);
	}
	if (copy >= 0)
		SYS1(close, copy);
}
