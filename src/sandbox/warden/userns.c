/* SPDX-License-Identifier: Apache-2.0 */
#include "sandbox/warden/warden.h"

#include <linux/fcntl.h>

static long write_at(int dir, const char *path, const char *text)
{
	long fd = SYS4(openat, dir, path, O_WRONLY | O_CLOEXEC, 0), n;

	if (fd < 0)
		return fd;
	n = SYS3(write, fd, text, strlen(text));
	SYS1(close, fd);
	return n < 0 ? n : 0;
}

static long write_file(const char *path, const char *text)
{
	return write_at(AT_FDCWD, path, text);
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

/*
 * What is counted in here is counted again for the user who made the namespace, and there is a limit to what that user may have on the
 * whole host: a sandbox that takes all of it would leave none to the services of root. No more namespaces is what the filter says, too.
 */
long userns_limit(int proc)
{
	static const char *const limits[][2] = {
		{ "sys/user/max_user_namespaces", "0" },
		{ "sys/user/max_inotify_instances", "64" },
		{ "sys/user/max_inotify_watches", "65536" },
	};
	long r = 0;

	for (unsigned i = 0; i < sizeof(limits) / sizeof(limits[0]) && r >= 0; i++) {
		r = write_at(proc, limits[i][0], limits[i][1]);
		if (r == -ENOENT)
			r = 0; /* a kernel that has no such thing */
	}
	return r;
}
