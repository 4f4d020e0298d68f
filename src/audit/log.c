/* SPDX-License-Identifier: Apache-2.0 */
#include "audit/audit_priv.h"

#include "base/clock.h"
#include "base/private.h"

#include <fcntl.h>
#include <unistd.h>

#define DEFAULT_FILE_BYTES ((uint64_t)64 << 20)

static int open_files(struct audit *a, struct err *e)
{
	int r;

	a->dir = private_dir_open(a->path);
	if (a->dir < 0) {
		r = a->dir;
		a->dir = FD_NONE;
		return err_set(e, ERR_UNAVAIL, "audit directory '%s' %s: it has to be ours with mode 0700",
			       a->path, private_why(r));
	}
	a->head_fd = private_file_open(a->dir, HEAD_FILE, O_RDWR | O_CREAT);
	if (a->head_fd < 0) {
		r = a->head_fd;
		a->head_fd = FD_NONE;
		return err_set(e, ERR_UNAVAIL,
			       "'%s/" HEAD_FILE "' %s: chown and chmod 600 it, or move it away", a->path,
			       private_why(r));
	}
	return 0;
}

int audit_open(const struct audit_opts *o, struct audit **ret, struct err *e)
{
	_cleanup_(audit_closep) struct audit *a = calloc(1, sizeof(*a));
	int r;

	if (!a)
		return err_sys(e, ENOMEM, "audit log");
	*a = (struct audit){
		.dir = FD_NONE,
		.head_fd = FD_NONE,
		.log_fd = FD_NONE,
		.calls_fd = FD_NONE,
		.pid = getpid(),
		.max_file_bytes = o->max_file_bytes ? o->max_file_bytes : DEFAULT_FILE_BYTES,
		.keep = o->keep,
		.sync_ms = o->sync_ms ? o->sync_ms : 1000,
		.lock_ms = o->lock_ms ? o->lock_ms : 5000,
		.redactor = o->redactor,
		.now_ms = o->now_ms ? o->now_ms : clock_unix_ms,
	};
	r = str_dupz(str_z(o->dir), &a->path);
	if (r < 0)
		return err_sys(e, -r, "audit log");
	r = open_files(a, e);
	if (r < 0)
		return r;
	calls_open(a);
	*ret = TAKE_PTR(a);
	return 0;
}

struct audit *audit_close(struct audit *a)
{
	struct err ignored = { 0 };

	if (!a)
		return NULL;
	if (a->pid == getpid())
		(void)audit_sync(a, &ignored); /* nobody is left to tell; the lines are written */
	(void)fd_close(a->calls_fd);
	(void)fd_close(a->log_fd);
	(void)fd_close(a->head_fd);
	(void)fd_close(a->dir);
	free(a->path);
	free(a);
	return NULL;
}

uint64_t audit_sync_deadline(const struct audit *a)
{
	return a->dirty_since_ms ? a->dirty_since_ms + a->sync_ms : CLOCK_NEVER;
}

int audit_sync(struct audit *a, struct err *e)
{
	if (!a->dirty_since_ms || a->log_fd < 0)
		return 0;
	if (fdatasync(a->log_fd) < 0 || fdatasync(a->head_fd) < 0 || (a->new_name && fsync(a->dir) < 0))
		return err_sys(e, errno, "sync audit log '%s/" AUDIT_FILE "'", a->path);
	a->dirty_since_ms = 0;
	a->new_name = false;
	return 0;
}

void audit_hand_over(struct audit *a)
{
	if (!a->dirty_since_ms || a->log_fd < 0 || a->new_name || a->pid != getpid())
		return; /* a new log has no name on the disk: that is waited for */
	(void)sync_file_range(a->log_fd, 0, 0, SYNC_FILE_RANGE_WRITE);
	a->dirty_since_ms = 0;
}

void audit_last(const struct audit *a, struct audit_anchor *ret)
{
	*ret = (struct audit_anchor){ .seq = a->head.seq };
	memcpy(ret->hash, a->head.seq ? a->head.hash : ZERO_HASH, SHA256_HEX);
}
