/* SPDX-License-Identifier: Apache-2.0 */
#include "backend/files.h"

static bool is_same_file(const struct files_stat *a, const struct files_stat *b)
{
	return a->ino == b->ino && a->dev == b->dev && a->size == b->size && a->mtime_ms == b->mtime_ms;
}

int files_put_staged(struct files *f, const char *path, unsigned flags, const struct files_put *what,
		     bool *ret_existed)
{
	struct files_stage s = FILES_STAGE_NONE;
	int r = f->ops->stage(f, path, flags & (FILES_PARENTS | FILES_SET_MODE), what->mode, &s);

	if (r < 0)
		return r;
	*ret_existed = s.exists;
	/* A change that came since would be lost without a word. */
	if (what->seen && (!s.exists || !is_same_file(what->seen, &s.old)))
		r = -ESTALE;
	if (r == 0)
		r = fd_write_all(s.fd, what->content);
	if (r == 0)
		r = f->ops->commit(f, &s, flags & (FILES_NEW | FILES_SYNC));
	f->ops->drop(f, &s);
	return r;
}
