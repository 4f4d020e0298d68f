/* SPDX-License-Identifier: Apache-2.0 */
#include "identity/file_priv.h"

#include "base/private.h"

#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <sys/file.h>

enum { LOCK_WAIT_MS = 5000, NAME_LEN = 64 };

int idfile_open(struct idfile *f, const char *dir, const char *name, size_t max_bytes, struct err *e)
{
	int r;

	*f = (struct idfile){
		.dir = FD_NONE, .name = name, .max_bytes = max_bytes, .patience_ms = LOCK_WAIT_MS
	};
	r = str_dupz(str_z(dir), &f->path);
	if (r < 0)
		return err_sys(e, -r, "'%s'", name);
	r = f->dir = private_dir_open(dir);
	return r < 0 ? err_set(e, ERR_UNAVAIL, "directory '%s' %s: it has to be ours with mode 0700", dir,
			       private_why(r))
		     : 0;
}

void idfile_done(struct idfile *f)
{
	fd_closep(&f->dir);
	free(f->path);
	f->path = NULL;
}

static bool same(const struct stat *a, const struct stat *b)
{
	return a->st_dev == b->st_dev && a->st_ino == b->st_ino && a->st_size == b->st_size &&
	       a->st_mtim.tv_sec == b->st_mtim.tv_sec && a->st_mtim.tv_nsec == b->st_mtim.tv_nsec &&
	       a->st_ctim.tv_sec == b->st_ctim.tv_sec && a->st_ctim.tv_nsec == b->st_ctim.tv_nsec;
}

/* Without opening it: who changed its mode, its owner or its links since has changed its time, too. */
static bool is_as_seen(const struct idfile *f)
{
	struct stat st;

	return f->loaded && f->seen.st_ino && fstatat(f->dir, f->name, &st, AT_SYMLINK_NOFOLLOW) == 0 &&
	       same(&st, &f->seen);
}

/* 1 with its bytes, to be freed (NULL: there is no file); 0 when it is the one that was taken last. */
static int read_changed(struct idfile *f, char **ret, size_t *ret_n, struct err *e)
{
	_cleanup_close_ int fd = FD_NONE;
	int r;

	*ret = NULL;
	*ret_n = 0;
	if (is_as_seen(f))
		return 0;
	f->found = (struct stat){ 0 };
	fd = private_file_open(f->dir, f->name, O_RDONLY);
	if (fd < 0 && fd != -ENOENT)
		return err_set(
			e, ERR_UNAVAIL,
			"'%s/%s' %s: chown and chmod 600 it; if others could read it, revoke what is in it",
			f->path, f->name, private_why(fd));
	if (fd >= 0 && fstat(fd, &f->found) < 0)
		return err_sys(e, errno, "stat '%s/%s'", f->path, f->name);
	if (f->loaded && same(&f->found, &f->seen))
		return 0;
	r = fd < 0 ? 0 : fd_read_all(fd, f->max_bytes, ret, ret_n);
	return r < 0 ? err_sys(e, -r, "read '%s/%s'", f->path, f->name) : 1;
}

int idfile_load(struct idfile *f, struct arena *mine, idfile_parse *parse, void *ret, struct err *e)
{
	_cleanup_arena_ struct arena a = { 0 };
	_cleanup_free_ char *text = NULL;
	size_t n = 0;
	int r = read_changed(f, &text, &n, e);

	if (r <= 0)
		return r;
	arena_init(&a, IDFILE_ARENA);
	if (text && parse(&a, (struct str){ text, n }, ret, e) < 0)
		return err_wrap(e, "'%s'", f->path);
	arena_done(mine);
	*mine = a;
	a = (struct arena){ 0 };
	f->seen = f->found;
	f->loaded = true;
	return 1;
}

int idfile_lock(const struct idfile *f, struct err *e)
{
	_cleanup_close_ int fd = FD_NONE;
	char name[NAME_LEN];
	int r;

	(void)snprintf(name, sizeof(name), "%s.lock", f->name);
	fd = private_file_open(f->dir, name, O_RDWR | O_CREAT);
	if (fd < 0)
		return err_set(e, ERR_UNAVAIL, "'%s/%s' %s: chown and chmod 600 it", f->path, name,
			       private_why(fd));
	r = fd_lock(fd, LOCK_EX, f->patience_ms);
	if (r == -ETIMEDOUT)
		return err_set(e, ERR_UNAVAIL,
			       "'%s': another process has held its lock for %" PRIu64
			       " ms: see who in /proc/locks",
			       f->path, f->patience_ms);
	return r < 0 ? err_sys(e, -r, "lock '%s/%s'", f->path, name) : TAKE_FD(fd);
}

int idfile_write(struct idfile *f, const struct buf *text, const char *what, struct err *e)
{
	int r;

	if (text->failed)
		return err_set(e, ERR_LIMIT, "the %s take more than %zu bytes: revoke some", what,
			       f->max_bytes);
	r = fd_write_atomic(f->dir, f->name, buf_str(text), 0600);
	if (r < 0)
		return err_sys(e, -r, "write '%s/%s'", f->path, f->name);
	f->loaded = false;
	return 0;
}
