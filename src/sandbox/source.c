/* SPDX-License-Identifier: Apache-2.0 */
#include "sandbox/source.h"
#include "base/fd.h"

#include <fcntl.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

int source_resolve(struct arena *a, struct str path, struct source *ret, struct err *e)
{
	_cleanup_close_ int fd = FD_NONE;
	_cleanup_free_ char *z = NULL;
	char link[64], real[4096];
	struct statx st;
	ssize_t n;

	if (str_dupz(path, &z) < 0)
		return err_set(e, ERR_USAGE, "a path holds a NUL byte");
	fd = open(z, O_PATH | O_CLOEXEC);
	if (fd < 0)
		return err_sys(e, errno, "open '%s'", z);
	if (statx(fd, "", AT_EMPTY_PATH, STATX_INO | STATX_TYPE | STATX_NLINK, &st) < 0)
		return err_sys(e, errno, "stat '%s'", z);
	(void)snprintf(link, sizeof(link), "/proc/self/fd/%d", fd);
	n = readlink(link, real, sizeof(real));
	if (n < 0)
		return err_sys(e, errno, "resolve '%s'", z);
	if (n == (ssize_t)sizeof(real))
		return err_set(e, ERR_LIMIT, "'%s' resolves to a path longer than %zu bytes", z,
			       sizeof(real) - 1);
	if (st.stx_nlink == 0 || real[0] != '/')
		return err_set(e, ERR_NOTFOUND, "'%s' has been deleted", z);
	*ret = (struct source){
		.path = arena_str(a, (struct str){ .p = real, .n = (size_t)n }),
		.dev = (uint64_t)st.stx_dev_major << 32 | st.stx_dev_minor,
		.ino = st.stx_ino,
		.is_file = !S_ISDIR(st.stx_mode),
		.is_special = !S_ISDIR(st.stx_mode) && !S_ISREG(st.stx_mode),
	};
	return a->failed ? err_sys(e, ENOMEM, "resolve '%s'", z) : 0;
}
