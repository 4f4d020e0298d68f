/* SPDX-License-Identifier: Apache-2.0 */
/* Reads on where it stopped. When the file has been renamed because it was full, its rest is read before the next one is. */
#include "audit/audit_priv.h"

#include "base/private.h"

#include <fcntl.h>
#include <sys/inotify.h>
#include <sys/stat.h>
#include <unistd.h>

struct audit_tail {
	int dir, fd, watch; /* fd: the file that is read; none yet */
	bool has_lines;
	struct lines lines;
	uint64_t seen; /* bytes of the file that are known */
	uint64_t last; /* number of the last record that was read; 0 = none */
	uint64_t skipped;
	char *path;
};

static void drop_file(struct audit_tail *t)
{
	if (t->has_lines)
		lines_done(&t->lines);
	t->has_lines = false;
	fd_closep(&t->fd);
}

struct audit_tail *audit_tail_close(struct audit_tail *t)
{
	if (!t)
		return NULL;
	drop_file(t);
	(void)fd_close(t->watch);
	(void)fd_close(t->dir);
	free(t->path);
	free(t);
	return NULL;
}

static int begin_at(struct audit_tail *t, uint64_t at)
{
	int r;

	if (t->has_lines)
		lines_done(&t->lines);
	r = lines_init(&t->lines, t->fd, at, at);
	t->has_lines = r == 0;
	return r;
}

static int open_one(struct audit_tail *t, const char *name, struct err *e)
{
	int fd = private_file_open(t->dir, name, O_RDONLY);

	if (fd == -ENOENT)
		return 0;
	if (fd < 0)
		return err_set(e, ERR_UNAVAIL, "audit log '%s/%s' %s", t->path, name, private_why(fd));
	drop_file(t);
	t->fd = fd;
	t->seen = 0;
	return begin_at(t, 0) < 0 ? err_sys(e, ENOMEM, "audit log") : 1;
}

/* The file in which the next record is: full already, or the newest. 0 when there is none yet. */
static int open_next(struct audit_tail *t, struct err *e)
{
	char full[FILE_NAME_MAX];
	int r;

	if (!t->last) /* it begins with what is newest */
		return open_one(t, AUDIT_FILE, e);
	head_old_name(t->last + 1, full);
	r = open_one(t, full, e);
	if (r != 0)
		return r;
	r = open_one(t, AUDIT_FILE, e);
	if (r <= 0)
		return r;
	/* It may have become full between the two, and this one is the file behind it. */
	r = open_one(t, full, e);
	return r < 0 ? r : 1;
}

/* 1 when there is more to read than was known. */
static int look_for_more(struct audit_tail *t, struct err *e)
{
	struct stat st;

	if (fstat(t->fd, &st) < 0)
		return err_sys(e, errno, "stat audit log '%s'", t->path);
	if ((uint64_t)st.st_size <= t->seen)
		return 0;
	t->lines.end = t->seen = (uint64_t)st.st_size;
	return 1;
}

static bool was_renamed(const struct audit_tail *t)
{
	struct stat mine, named;

	if (fstat(t->fd, &mine) < 0 || fstatat(t->dir, AUDIT_FILE, &named, AT_SYMLINK_NOFOLLOW) < 0)
		return false; /* between the rename and the new file: later */
	return mine.st_dev != named.st_dev || mine.st_ino != named.st_ino;
}

/* One record of this file. A last line that is not whole is being written, or torn: it is left until it is whole. */
static int take_record(struct audit_tail *t, struct arena *a, struct audit_record *ret, struct err *e)
{
	struct err ignored = { 0 };
	struct line line;
	int r;

	while ((r = lines_next(&t->lines, &line)) > 0) {
		if (!line.whole)
			return begin_at(t, line.at) < 0 ? err_sys(e, ENOMEM, "audit log") : 0;
		if (!line.too_long && audit_parse(a, line.text, ret, &ignored) == 0) {
			t->last = ret->seq;
			return 1;
		}
		t->skipped++;
	}
	return r < 0 ? err_sys(e, -r, "read audit log '%s'", t->path) : 0;
}

static void drain_watch(const struct audit_tail *t)
{
	char events[4096];

	while (t->watch >= 0 && read(t->watch, events, sizeof(events)) > 0)
		;
}

int audit_tail_next(struct audit_tail *t, struct arena *a, struct audit_record *ret, struct err *e)
{
	int r = t->fd >= 0 ? 1 : open_next(t, e);

	while (r > 0) {
		bool renamed;

		r = take_record(t, a, ret, e);
		if (r != 0)
			return r;
		drain_watch(t);
		renamed = was_renamed(t); /* before the look: nothing is added to it after that */
		r = look_for_more(t, e);
		if (r == 0 && renamed)
			r = open_next(t, e);
	}
	return r;
}

/* In the middle of a line: what is left of it belongs to a record that is not shown. */
static int skip_to(struct audit_tail *t, uint64_t back_bytes, struct err *e)
{
	struct stat st;
	struct line line;
	uint64_t size;
	int r;

	if (fstat(t->fd, &st) < 0)
		return err_sys(e, errno, "stat audit log '%s'", t->path);
	size = (uint64_t)st.st_size;
	if (size <= back_bytes)
		return 0;
	r = begin_at(t, size - back_bytes - 1);
	t->lines.end = t->seen = size;
	if (r == 0)
		r = lines_next(&t->lines, &line);
	return r < 0 ? err_sys(e, -r, "read audit log '%s'", t->path) : 0;
}

int audit_tail_open(const char *dir, uint64_t back_bytes, struct audit_tail **ret, struct err *e)
{
	_cleanup_(audit_tail_closep) struct audit_tail *t = calloc(1, sizeof(*t));
	int r;

	if (!t)
		return err_sys(e, ENOMEM, "audit log");
	*t = (struct audit_tail){ .dir = FD_NONE, .fd = FD_NONE, .watch = FD_NONE };
	r = str_dupz(str_z(dir), &t->path);
	if (r < 0)
		return err_sys(e, -r, "audit log");
	t->dir = open(dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (t->dir < 0)
		return err_sys(e, errno, "open audit directory '%s'", dir);
	t->watch = inotify_init1(IN_NONBLOCK | IN_CLOEXEC);
	if (t->watch >= 0 && inotify_add_watch(t->watch, dir, IN_MODIFY | IN_CREATE | IN_MOVED_TO) < 0)
		fd_closep(&t->watch);
	r = open_next(t, e);
	if (r > 0)
		r = skip_to(t, back_bytes, e);
	if (r < 0)
		return r;
	*ret = TAKE_PTR(t);
	return 0;
}

int audit_tail_fd(const struct audit_tail *t)
{
	return t->watch;
}

uint64_t audit_tail_skipped(const struct audit_tail *t)
{
	return t->skipped;
}
