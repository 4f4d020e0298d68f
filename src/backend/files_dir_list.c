/* SPDX-License-Identifier: Apache-2.0 */
#include "backend/files_dir_priv.h"

#include "base/tree.h"

#include <dirent.h>
#include <fcntl.h>
#include <sys/syscall.h>
#include <unistd.h>

#define BATCH_BYTES ((size_t)32 * 1024) /* musl's readdir() reads 2 KiB at a time */

static int put_entry(int dir, const struct tree_entry *d, unsigned flags, files_each *each, void *ctx)
{
	struct files_entry entry = { .name = str_z(d->name), .st = { .mode = (mode_t)DTTOIF(d->type) } };
	struct stat st;

	if (str_eq(entry.name, STR(".")) || str_eq(entry.name, STR("..")))
		return 0;
	if (flags & FILES_WITH_STAT || d->type == DT_UNKNOWN) {
		if (fstatat(dir, d->name, &st, AT_SYMLINK_NOFOLLOW) < 0)
			return errno == ENOENT ? 0 : -errno; /* gone since */
		entry.st = files_dir_stat(&st);
	}
	return each(ctx, &entry);
}

int files_dir_list_open(struct files *f, const char *path, unsigned flags)
{
	return files_dir_open(f, path,
			      O_RDONLY | O_DIRECTORY | O_NONBLOCK | O_NOCTTY |
				      (flags & FILES_NOFOLLOW ? O_NOFOLLOW : 0),
			      0);
}

int files_dir_list_next(int dir, struct files_batch batch, unsigned flags, files_each *each, void *ctx,
			bool *ret_end)
{
	long got = syscall(SYS_getdents64, dir, batch.p, batch.size);

	*ret_end = got == 0;
	for (long at = 0; at < got;) {
		const struct tree_entry *d = (const struct tree_entry *)(const void *)(batch.p + at);
		int r = put_entry(dir, d, flags, each, ctx);

		if (r != 0)
			return r;
		at += d->size;
	}
	return got < 0 ? -errno : 0;
}

int files_dir_list(struct files *f, const char *path, unsigned flags, files_each *each, void *ctx)
{
	_cleanup_close_ int dir = files_dir_list_open(f, path, flags);
	_cleanup_free_ char *batch = NULL;
	bool end = false;
	int r = 0;

	if (dir < 0)
		return dir;
	batch = malloc(BATCH_BYTES);
	if (!batch)
		return -ENOMEM;
	while (r == 0 && !end)
		r = files_dir_list_next(dir, (struct files_batch){ batch, BATCH_BYTES }, flags, each, ctx,
					&end);
	return r;
}
