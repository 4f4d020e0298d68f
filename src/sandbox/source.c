/* SPDX-License-Identifier: Apache-2.0 */
#include "sandbox/source.h"
#include "base/fd.h"

#include <fcntl.h>
#include <stdio.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

struct source source_of(struct str path, const struct stat *st)
{
	return (struct source){
		.path = path,
		.dev = (uint64_t)major(st->st_dev) << 32 | minor(st->st_dev),
		.ino = st->st_ino,
		.is_file = !S_ISDIR(st->st_mode),
		.is_special = !S_ISDIR(st->st_mode) && !S_ISREG(st->st_mode),
	};
}

int source_resolve(struct arena *a, struct str path, struct source *ret, struct err *e)
{
	_cleanup_close_ int fd = FD_NONE;
	const char *z = arena_str(a, path).p;
	char link[64], real[4096];
	struct stat st;
	ssize_t n;

	if (path.n && memchr(path.p, '\0', path.n))
		return err_set(e, ERR_USAGE, "a path holds a NUL byte");
	if (a->failed)
		return err_sys(e, ENOMEM, "a path");
	fd = open(z, O_PATH | O_CLOEXEC);
	if (fd < 0)
		return err_sys(e, errno, "open '%s'", z);
	if (fstat(fd, &st) < 0)
		return err_sys(e, errno, "stat '%s'", z);
	(void)snprintf(link, sizeof(link), "/proc/self/fd/%d", fd);
	n = readlink(link, real, sizeof(real));
	if (n < 0)
		return err_sys(e, errno, "resolve '%s'", z);
	if (n == (ssize_t)sizeof(real))
		return err_set(e, ERR_LIMIT, "'%s' resolves to a path longer than %zu bytes", z,
			       sizeof(real) - 1);
	if (st.st_nlink == 0 || real[0] != '/')
		return err_set(e, ERR_NOTFOUND, "'%s' has been deleted", z);
	*ret = source_of(arena_str(a, (struct str){ .p = real, .n = (size_t)n }), &st);
	return a->failed ? err_sys(e, ENOMEM, "resolve '%s'", z) : 0;
}

int source_system(struct arena *a, const char *path, struct source *ret, struct err *e)
{
	struct stat st;

	if (lstat(path, &st) < 0)
		return err_sys(e, errno, "stat '%s'", path);
	if (S_ISLNK(st.st_mode))
		return source_resolve(a, str_z(path), ret, e);
	*ret = source_of(str_z(path), &st);
	return 0;
}
