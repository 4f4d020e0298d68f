/* SPDX-License-Identifier: Apache-2.0 */
/* One record more, under the lock: see where the chain stands, write the line in one call, say so in the head. */
#include "audit/audit_priv.h"

#include "base/clock.h"
#include "base/jsonw.h"
#include "base/private.h"

#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#define LOCK_ROUNDS 12u /* of lock_ms each, in which others wrote */

int wrap_path(const struct audit *a, struct err *e)
{
	return err_wrap(e, "audit log '%s/" AUDIT_FILE "'", a->path);
}

int audit_log_open(struct audit *a, struct err *e)
{
	a->has_log = false;
	fd_closep(&a->log_fd);
	a->log_fd = private_file_open(a->dir, AUDIT_FILE, O_RDWR | O_APPEND);
	if (a->log_fd == -ENOENT) {
		a->log_fd = private_file_open(a->dir, AUDIT_FILE, O_RDWR | O_APPEND | O_CREAT);
		a->new_name = true;
	}
	if (a->log_fd < 0) {
		int fault = a->log_fd;

		a->log_fd = FD_NONE;
		return err_set(e, ERR_UNAVAIL, "it %s: chown and chmod 600 it, or move it away",
			       private_why(fault));
	}
	a->has_log = true;
	return 0;
}

/* ---- writing ---- */

/*
 * All of the line or nothing. What the disk took of it before it was full is cut off again: nobody else writes while we hold the lock.
 * If even that fails the next writer finds a torn line, and says so.
 */
static int write_line(struct audit *a, struct str line, struct err *e)
{
	ssize_t n;
	int saved;

	do
		n = write(a->log_fd, line.p, line.n);
	while (n < 0 && errno == EINTR);
	if (n == (ssize_t)line.n)
		return 0;
	saved = n < 0 ? errno : ENOSPC;
	if (n > 0 && ftruncate(a->log_fd, (off_t)a->head.size) < 0)
		saved = errno;
	return err_sys(e, saved, "write");
}

static int rotate(struct audit *a, struct err *e)
{
	char name[FILE_NAME_MAX];
	struct head h = a->head;
	int r;

	head_old_name(h.first, name);
	if (faccessat(a->dir, name, F_OK, AT_SYMLINK_NOFOLLOW) == 0)
		return 0; /* not ours to replace: this file grows on */
	if (fdatasync(a->log_fd) < 0)
		return err_sys(e, errno, "sync");
	if (renameat(a->dir, AUDIT_FILE, a->dir, name) < 0)
		return err_sys(e, errno, "rename to '%s'", name);
	r = audit_log_open(a, e);
	if (r < 0)
		return r;
	h.first = h.seq + 1;
	h.size = 0;
	r = head_write(a->head_fd, &h, &a->seen);
	if (r < 0)
		return err_sys(e, -r, "write '" HEAD_FILE "'");
	a->head = h;
	return 0;
}

static void build_line(const struct audit *a, struct str body, bool after_torn, struct buf *out)
{
	char time[CLOCK_TEXT_MAX], hash[SHA256_HEX];
	struct str t = STR("");
	size_t from = after_torn;

	(void)clock_format(a->now_ms(), time, &t);
	if (after_torn)
		buf_putc(out, '\n');
	buf_put(out, STR("{\"seq\":"));
	buf_put_u64(out, a->head.seq + 1);
	buf_put(out, STR(",\"time\":\""));
	buf_put(out, t);
	buf_put(out, STR("\",\"pid\":"));
	buf_put_u64(out, (uint64_t)a->pid);
	buf_putc(out, ',');
	buf_put(out, body);
	buf_put(out, STR(",\"prev\":\""));
	buf_puts(out, a->head.hash);
	buf_putc(out, '"');
	hash_line(str_from(buf_str(out), from), hash);
	buf_put(out, STR(",\"hash\":\""));
	buf_puts(out, hash);
	buf_put(out, STR("\"}\n"));
}

static int write_record(struct audit *a, struct str body, bool after_torn, struct err *e)
{
	_cleanup_buf_ struct buf line = { 0 };
	char room[2048]; /* usually enough */
	struct head h;
	int r;

	buf_init_on(&line, AUDIT_LINE_MAX, room, sizeof(room));
	build_line(a, body, after_torn, &line);
	if (line.failed)
		return err_set(e, ERR_LIMIT, "a record is larger than %zu bytes", AUDIT_LINE_MAX);
	r = write_line(a, buf_str(&line), e);
	if (r < 0)
		return r;
	h = a->head;
	h.seq++;
	h.size += line.n;
	memcpy(h.hash, line.p + line.n - SHA256_HEX - 2, SHA256_HEX - 1);
	a->head = h;
	r = head_write(a->head_fd, &h, &a->seen);
	return r < 0 ? err_sys(e, -r, "write '" HEAD_FILE "'") : 0;
}

/* ---- what has to be told first ---- */

static int tell_torn(struct audit *a, const struct recovery *rec, struct err *e)
{
	char body[200];
	int n = snprintf(body, sizeof(body), "\"kind\":\"repaired\",\"bytes\":%" PRIu64 ",\"sha256\":\"%s\"",
			 rec->torn_bytes, rec->torn_hash);

	return write_record(a, (struct str){ .p = body, .n = (size_t)n }, true, e);
}

static int tell_lost(struct audit *a, const struct recovery *rec, struct err *e)
{
	char body[120];
	int n = snprintf(body, sizeof(body), "\"kind\":\"lost\",\"first\":%" PRIu64 ",\"last\":%" PRIu64,
			 rec->lost_first, rec->lost_last);

	return write_record(a, (struct str){ .p = body, .n = (size_t)n }, false, e);
}

static int repair(struct audit *a, int has_head, struct err *e)
{
	struct recovery rec;
	int r = recover(a, has_head, &rec, e);

	if (r == 0 && rec.torn)
		r = tell_torn(a, &rec, e);
	if (r == 0 && rec.lost_last)
		r = tell_lost(a, &rec, e);
	if (r == 0 && rec.headless)
		r = write_record(a, STR("\"kind\":\"recovered\""), false, e);
	return r;
}

/* The head as it is now, and the file that it names, with nothing in it that the head does not know. */
static int catch_up(struct audit *a, struct err *e)
{
	struct head h = { .first = 1, .hash = ZERO_HASH };
	int has_head = head_read_again(a->head_fd, &a->seen, &h), r;
	struct stat st = { 0 };

	if (has_head < 0 && has_head != -EBADMSG)
		return err_sys(e, -has_head, "read '" HEAD_FILE "'");
	if (has_head <= 0 || h.first != a->head.first || !a->has_log || fstat(a->log_fd, &st) < 0 ||
	    st.st_nlink == 0) {
		r = audit_log_open(a, e);
		if (r < 0)
			return r;
		if (fstat(a->log_fd, &st) < 0)
			return err_sys(e, errno, "stat");
	}
	a->head = h;
	if (has_head > 0 && (uint64_t)st.st_size == h.size)
		return 0;
	return repair(a, has_head, e);
}

static int tell_pruned(struct audit *a, uint64_t first, uint64_t last, struct err *e)
{
	char body[120];
	int n = snprintf(body, sizeof(body), "\"kind\":\"pruned\",\"first\":%" PRIu64 ",\"last\":%" PRIu64,
			 first, last);

	return write_record(a, (struct str){ .p = body, .n = (size_t)n }, false, e);
}

static int append_locked(struct audit *a, struct str body, struct err *e)
{
	int r = catch_up(a, e);

	if (r == 0 && a->head.size > 0 && a->head.size + body.n + 512 > a->max_file_bytes)
		r = rotate(a, e);
	if (r == 0 && a->head.size == 0 && a->head.seq > 0)
		r = files_prune(a, tell_pruned, e);
	return r < 0 ? r : write_record(a, body, false, e);
}

static int sync_if_due(struct audit *a, struct err *e)
{
	if (!a->dirty_since_ms)
		a->dirty_since_ms = clock_mono_ms() + 1; /* never 0 */
	return clock_mono_ms() >= audit_sync_deadline(a) ? audit_sync(a, e) : 0;
}

/*
 * The lock is given to whoever asks at the right moment, so where hundreds write at once on a busy machine one of them may be without luck for long.
 * As long as others get on with it nobody keeps it: lock_ms is how long nothing may happen.
 */
static int take_lock(struct audit *a, struct err *e)
{
	char mark[HEAD_BYTES] = { 0 };
	unsigned rounds = 0;
	int r;

	if (flock(a->head_fd, LOCK_EX | LOCK_NB) == 0)
		return 0;
	(void)head_moved(a->head_fd, mark);
	do
		r = fd_lock(a->head_fd, LOCK_EX, a->lock_ms);
	while (r == -ETIMEDOUT && ++rounds < LOCK_ROUNDS && head_moved(a->head_fd, mark));
	if (r == -ETIMEDOUT && rounds == LOCK_ROUNDS)
		return err_set(e, ERR_UNAVAIL,
			       "audit log '%s': others have been writing to it for %" PRIu64
			       " ms, and there was no moment for us",
			       a->path, rounds * a->lock_ms);
	if (r == -ETIMEDOUT)
		return err_set(e, ERR_UNAVAIL,
			       "audit log '%s': another process has held its lock for %" PRIu64
			       " ms: see who in /proc/locks",
			       a->path, a->lock_ms);
	return r < 0 ? err_sys(e, -r, "lock '%s/" HEAD_FILE "'", a->path) : 0;
}

int append(struct audit *a, struct str body, uint64_t *ret_seq, struct err *e)
{
	int r;

	if (a->pid != getpid()) /* the lock would be our parent's as well */
		return err_set(e, ERR_BUG, "the audit log was opened before a fork");
	r = take_lock(a, e);
	if (r < 0)
		return r;
	r = append_locked(a, body, e);
	if (ret_seq && r == 0)
		*ret_seq = a->head.seq;
	(void)flock(a->head_fd, LOCK_UN);
	if (r < 0) {
		a->has_log = false; /* look again next time */
		return wrap_path(a, e);
	}
	return sync_if_due(a, e);
}
