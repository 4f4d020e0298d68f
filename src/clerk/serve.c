/* SPDX-License-Identifier: Apache-2.0 */
#include "clerk/serve.h"
#include "backend/kernel_fs.h"

#include <assert.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/mman.h>
#include <unistd.h>

#define MFD_NOEXEC_SEAL_ 8u

/* With a stat, an entry takes at most three times the bytes that getdents64() has it in; without, not more. */
#define BATCH_BYTES (sizeof(((struct answer *)NULL)->entries) / 3)

static void put_stat(struct clerk_stat *to, const struct files_stat *st)
{
	*to = (struct clerk_stat){ .size = st->size,
				   .dev = st->dev,
				   .ino = st->ino,
				   .nlink = st->nlink,
				   .mtime_ms = st->mtime_ms,
				   .mode = st->mode,
				   .uid = st->uid,
				   .gid = st->gid };
}

/* ---- opening ---- */

static int new_memfd(void)
{
	int fd = memfd_create("creel-copy", MFD_CLOEXEC | MFD_NOEXEC_SEAL_);

	return fd < 0 && errno == EINVAL ? memfd_create("creel-copy", MFD_CLOEXEC) : fd;
}

/* Read here, with the rights of whoever is in here: the file itself must not be read by somebody who has more. */
static int copy(int from, struct files_stat *st)
{
	_cleanup_close_ int fd = new_memfd();
	uint64_t n = 0;
	ssize_t got;
	char chunk[8192];

	if (fd < 0)
		return -errno;
	while ((got = read(from, chunk, sizeof(chunk))) > 0) {
		int r = fd_write_all(fd, (struct str){ .p = chunk, .n = (size_t)got });

		if (r < 0)
			return r;
		n += (uint64_t)got;
		if (n > CLERK_COPY_MAX)
			return -EFBIG;
	}
	if (got < 0)
		return -errno;
	st->size = n;
	return TAKE_FD(fd);
}

static int reopened_for_reading(int fd)
{
	char path[32];

	(void)snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	return fd < 0 ? -errno : fd;
}

/* Takes `file`. */
static int give(int file, bool to_write, struct files_stat *st, struct answer *a)
{
	_cleanup_close_ int fd = file, made = FD_NONE;

	if (kernel_fs(fd)) {
		if (to_write)
			return -EACCES;
		made = copy(fd, st);
		if (made < 0)
			return made;
		fd_closep(&fd);
		fd = reopened_for_reading(made);
		if (fd < 0)
			return fd;
	}
	put_stat(&a->head.st, st);
	a->fd = TAKE_FD(fd);
	a->give = true;
	return 0;
}

static int op_open(struct clerk *c, const struct request *r, struct answer *a)
{
	struct files *f = &c->dir.files;
	struct files_stat st = { 0 };
	int fd = f->ops->open(f, r->path, r->head.flags, r->head.mode, &st);

	return fd < 0 ? fd : give(fd, r->head.flags & FILES_APPEND, &st, a);
}

/* 1: all of it is there. 0: it has more than fits. Where it was read to is not changed by that. */
static int put_content(int fd, const struct files_stat *st, struct answer *a)
{
	size_t n = 0;
	ssize_t got;

	static_assert(sizeof(a->entries) > CLERK_GET_MAX, "one more than fits is seen");
	if (st->size > CLERK_GET_MAX)
		return 0;
	do {
		got = pread(fd, a->entries + n, CLERK_GET_MAX + 1 - n, (off_t)n);
		if (got < 0 && errno == EINTR)
			continue;
		if (got < 0)
			return -errno;
		n += (size_t)got;
		/* All that was there when it was opened; /proc says 0, and is asked until nothing comes. */
	} while (got != 0 && n <= CLERK_GET_MAX && (st->size == 0 || n != st->size));
	if (n > CLERK_GET_MAX)
		return 0;
	a->head.bytes = (uint32_t)n;
	return 1;
}

/* What is read here needs no look at its file system: it was read with the rights of whoever is in here. */
static int op_get(struct clerk *c, const struct request *r, struct answer *a)
{
	struct files *f = &c->dir.files;
	struct files_stat st = { 0 };
	_cleanup_close_ int fd = f->ops->open(f, r->path, r->head.flags & FILES_NOFOLLOW, 0, &st);
	int whole = fd < 0 ? fd : put_content(fd, &st, a);

	if (whole <= 0)
		return whole < 0 ? whole : give(TAKE_FD(fd), false, &st, a);
	st.size = a->head.bytes;
	put_stat(&a->head.st, &st);
	a->head.flags = CLERK_R_WHOLE;
	return 0;
}

static int op_stat(struct clerk *c, const struct request *r, struct answer *a)
{
	struct files_stat st;
	int e = c->dir.files.ops->stat(&c->dir.files, r->path, r->head.flags, &st);

	if (e == 0)
		put_stat(&a->head.st, &st);
	return e;
}

/* ---- lists ---- */

struct filling {
	struct answer *a;
	bool with_stat;
};

static int add_entry(void *ctx, const struct files_entry *entry)
{
	const struct filling *to = ctx;
	struct answer *a = to->a;
	struct clerk_stat st;
	struct clerk_entry e = { .name = (uint16_t)entry->name.n, .mode = entry->st.mode };
	size_t at = sizeof(e) + (to->with_stat ? sizeof(st) : 0),
	       size = (at + entry->name.n + 1 + 7) & ~(size_t)7;
	char *p = a->entries + a->head.bytes;

	if (size > sizeof(a->entries) - a->head.bytes)
		return -EOVERFLOW;
	e.size = (uint16_t)size;
	memset(p + size - 8, 0, 8);
	memcpy(p, &e, sizeof(e));
	put_stat(&st, &entry->st);
	if (to->with_stat)
		memcpy(p + sizeof(e), &st, sizeof(st));
	memcpy(p + at, entry->name.p, entry->name.n + 1);
	a->head.bytes += (uint32_t)size;
	return 0;
}

static int put_batch(struct list *l, uint32_t number, struct answer *a)
{
	static char raw[BATCH_BYTES] __attribute__((aligned(8)));
	struct filling to = { .a = a, .with_stat = l->flags & FILES_WITH_STAT };
	bool end = false;
	int r = files_dir_list_next(l->dir, (struct files_batch){ raw, sizeof(raw) }, l->flags, add_entry,
				    &to, &end);

	if (r < 0 || end) {
		fd_closep(&l->dir);
		return r;
	}
	a->head.number = number;
	a->head.flags = CLERK_R_MORE;
	return 0;
}

static int op_list(struct clerk *c, const struct request *r, struct answer *a)
{
	for (uint32_t i = 0; i < CLERK_LISTS_MAX; i++) {
		struct list *l = &c->lists[i];

		if (l->dir >= 0)
			continue;
		*l = (struct list){ .dir = files_dir_list_open(&c->dir.files, r->path, r->head.flags),
				    .flags = r->head.flags };
		return l->dir < 0 ? l->dir : put_batch(l, i + 1, a);
	}
	return -EMFILE;
}

static struct list *find_list(struct clerk *c, const struct request *r)
{
	struct list *l = r->head.number <= CLERK_LISTS_MAX ? &c->lists[r->head.number - 1] : NULL;

	return l && l->dir >= 0 ? l : NULL;
}

static int op_next(struct clerk *c, const struct request *r, struct answer *a)
{
	struct list *l = find_list(c, r);

	return l ? put_batch(l, r->head.number, a) : -EBADF;
}

static int op_end(struct clerk *c, const struct request *r, struct answer *a)
{
	struct list *l = find_list(c, r);

	(void)a;
	if (!l)
		return -EBADF;
	fd_closep(&l->dir);
	return 0;
}

/* ---- names ---- */

static int op_mkdir(struct clerk *c, const struct request *r, struct answer *a)
{
	(void)a;
	return c->dir.files.ops->mkdir(&c->dir.files, r->path, r->head.flags, r->head.mode);
}

static int op_remove(struct clerk *c, const struct request *r, struct answer *a)
{
	(void)a;
	return c->dir.files.ops->remove(&c->dir.files, r->path, r->head.flags);
}

static int op_rename(struct clerk *c, const struct request *r, struct answer *a)
{
	(void)a;
	return c->dir.files.ops->rename(&c->dir.files, r->path, r->to, r->head.flags);
}

static int op_chmod(struct clerk *c, const struct request *r, struct answer *a)
{
	(void)a;
	return c->dir.files.ops->chmod(&c->dir.files, r->path, r->head.mode);
}

/* ---- stages ---- */

static int op_stage(struct clerk *c, const struct request *r, struct answer *a)
{
	uint32_t i = 0;
	int e;

	while (i < CLERK_STAGES_MAX && c->taken[i])
		i++;
	if (i == CLERK_STAGES_MAX)
		return -EMFILE;
	e = c->dir.files.ops->stage(&c->dir.files, r->path, r->head.flags, r->head.mode, &c->stages[i]);
	if (e < 0)
		return e;
	c->taken[i] = true;
	a->head.number = i + 1;
	a->head.flags = c->stages[i].exists ? CLERK_R_EXISTS : 0;
	put_stat(&a->head.st, &c->stages[i].old);
	a->fd = c->stages[i].fd;
	return 0;
}

static struct files_stage *find_stage(struct clerk *c, const struct request *r)
{
	uint32_t i = r->head.number - 1;

	return i < CLERK_STAGES_MAX && c->taken[i] ? &c->stages[i] : NULL;
}

static int op_drop(struct clerk *c, const struct request *r, struct answer *a)
{
	struct files_stage *s = find_stage(c, r);

	if (!s)
		return -EBADF;
	c->dir.files.ops->drop(&c->dir.files, s);
	c->taken[r->head.number - 1] = false;
	a->head.flags = CLERK_R_OVER;
	return 0;
}

/* One that cannot be undone is dropped with it: that saves asking for it. */
static int op_commit(struct clerk *c, const struct request *r, struct answer *a)
{
	struct files_stage *s = find_stage(c, r);
	int e = s ? c->dir.files.ops->commit(&c->dir.files, s, r->head.flags) : -EBADF;

	return e == 0 && !(r->head.flags & FILES_KEEP_OLD) ? op_drop(c, r, a) : e;
}

static int op_undo(struct clerk *c, const struct request *r, struct answer *a)
{
	struct files_stage *s = find_stage(c, r);

	(void)a;
	return s ? c->dir.files.ops->undo(&c->dir.files, s) : -EBADF;
}

static int op_put(struct clerk *c, const struct request *r, struct answer *a)
{
	const struct clerk_stat *h = &r->head.seen;
	const struct files_stat seen = {
		.size = h->size, .dev = h->dev, .ino = h->ino, .mtime_ms = h->mtime_ms
	};
	const struct files_put what = { .content = r->content,
					.mode = r->head.mode,
					.seen = h->given ? &seen : NULL };
	bool existed = false;
	int e = c->dir.files.ops->put(&c->dir.files, r->path, r->head.flags, &what, &existed);

	a->head.flags = existed ? CLERK_R_EXISTS : 0;
	return e;
}

typedef int op_fn(struct clerk *c, const struct request *r, struct answer *a);

static op_fn *const ops[CLERK_OP_END_] = {
	[CLERK_OPEN] = op_open,     [CLERK_STAT] = op_stat,     [CLERK_LIST] = op_list,
	[CLERK_NEXT] = op_next,     [CLERK_END] = op_end,       [CLERK_MKDIR] = op_mkdir,
	[CLERK_REMOVE] = op_remove, [CLERK_RENAME] = op_rename, [CLERK_CHMOD] = op_chmod,
	[CLERK_STAGE] = op_stage,   [CLERK_COMMIT] = op_commit, [CLERK_UNDO] = op_undo,
	[CLERK_DROP] = op_drop,     [CLERK_PUT] = op_put,       [CLERK_GET] = op_get,
};

void clerk_serve(struct clerk *c, const struct request *r)
{
	struct answer *a = &c->answer;

	a->head = (struct clerk_reply){ .op = r->head.op, .seq = r->head.seq };
	a->fd = FD_NONE;
	a->give = false;
	a->head.result = ops[r->head.op](c, r, a);
	if (a->head.result < 0)
		a->head.bytes = 0;
}

void clerk_init(struct clerk *c, int root, int work)
{
	files_dir_init(&c->dir, root, work);
	c->dir.walk = true; /* the filter has no openat2() */
	for (uint32_t i = 0; i < CLERK_LISTS_MAX; i++)
		c->lists[i].dir = FD_NONE;
}

void clerk_done(struct clerk *c)
{
	for (uint32_t i = 0; i < CLERK_STAGES_MAX; i++)
		if (c->taken[i])
			c->dir.files.ops->drop(&c->dir.files, &c->stages[i]);
	for (uint32_t i = 0; i < CLERK_LISTS_MAX; i++)
		fd_closep(&c->lists[i].dir);
}
