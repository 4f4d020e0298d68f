/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Removing what a payload left: nested deeper than a path is long, without rights on itself, with names of any bytes. Each round
 * takes one level off, by moving what lies below to the top, so neither a stack nor a path grows. Nothing is followed.
 */
#include "sandbox/warden/warden.h"

#include <linux/fcntl.h>

#define ROUNDS_MAX 1000000 /* levels */
#define OPEN_DIR (O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC)

struct listing {
	int fd;
	long at, n;
	char room[32768] __attribute__((aligned(8)));
};

static struct listing outer, inner; /* pages that are not used cost nothing */

/* The next name but . and .., or NULL. */
static const char *next_name(struct listing *l)
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
			return e->name;
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

/* Names that are taken were left by a removal that was killed. */
static void move_up(int dir, const char *name, int top, uint64_t *count)
{
	long r;

	give_rights(dir, name);
	do {
		char to[32];
		size_t at = 0;

		text_put(to, sizeof(to), &at, "~");
		text_u64(to, sizeof(to), &at, (*count)++);
		r = SYS5(renameat2, dir, name, top, to, 0);
	} while (r == -EEXIST || r == -ENOTEMPTY);
}

/* Entries that are no directories go; directories that are not empty move up to `top`. */
static void empty(long dir, int top, uint64_t *count)
{
	const char *name;

	inner.fd = (int)dir;
	inner.at = inner.n = 0;
	while ((name = next_name(&inner)))
		if (SYS3(unlinkat, dir, name, 0) < 0 && SYS3(unlinkat, dir, name, AT_REMOVEDIR) < 0)
			move_up((int)dir, name, top, count);
}

static bool remove_one(int top, const char *name, uint64_t *count)
{
	long sub;

	if (SYS3(unlinkat, top, name, 0) >= 0)
		return false;
	give_rights(top, name);
	sub = SYS4(openat, top, name, OPEN_DIR, 0);
	if (sub >= 0) {
		empty(sub, top, count);
		SYS1(close, sub);
	}
	return SYS3(unlinkat, top, name, AT_REMOVEDIR) >= 0;
}

void remove_below(int top)
{
	uint64_t count = 0;
	bool more = true;

	for (unsigned round = 0; more && round < ROUNDS_MAX; round++) {
		const char *name;
		long copy = SYS4(openat, top, ".", OPEN_DIR, 0);

		if (copy < 0)
			return;
		outer.fd = (int)copy;
		outer.at = outer.n = 0;
		more = false;
		while ((name = next_name(&outer)))
			more |= remove_one(top, name, &count);
		SYS1(close, copy);
	}
}
