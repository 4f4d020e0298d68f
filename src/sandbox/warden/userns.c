/* SPDX-License-Identifier: Apache-2.0 */
#include "sandbox/warden/warden.h"

#include <linux/fcntl.h>

static long write_file(const char *path, const char *text)
{
	long fd = SYS4(openat, AT_FDCWD, path, O_WRONLY | O_CLOEXEC, 0), n;

	if (fd < 0)
		return fd;
	n = SYS3(write, fd, text, strlen(text));
	SYS1(close, fd);
	return n < 0 ? n : 0;
}

static long write_map(const char *path, uint32_t inner, uint32_t outer)
{
	char line[64];
	size_t at = 0;

	text_u64(line, sizeof(line), &at, inner);
	text_put(line, sizeof(line), &at, " ");
	text_u64(line, sizeof(line), &at, outer);
	text_put(line, sizeof(line), &at, " 1");
	return write_file(path, line);
}

/* One uid is all that an ordinary user may map; setgroups must be given up first (Linux 3.19). */
long userns_map_self(const struct plan_header *p)
{
	long r = write_file("/proc/self/setgroups", "deny");

	if (r >= 0)
		r = write_map("/proc/self/uid_map", p->inner_uid, p->outer_uid);
	if (r >= 0)
		r = write_map("/proc/self/gid_map", p->inner_gid, p->outer_gid);
	return r;
}
