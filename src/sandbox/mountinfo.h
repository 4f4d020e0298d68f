/* SPDX-License-Identifier: Apache-2.0 */
/* One line of /proc/self/mountinfo. Names in it come from whoever mounted; a line that is not of the form is refused. */
#pragma once

#include "base/arena.h"
#include "base/str.h"

struct mount_line {
	uint64_t id;
	uint64_t
		dev; /* of the file system itself, major << 32 | minor; what stat() says of a file may differ (btrfs) */
	struct str point; /* where it is mounted, unescaped, in the arena */
};

/* 0, -EINVAL, or -ENOMEM. The line has no newline. */
int mountinfo_parse(struct arena *a, struct str line, struct mount_line *ret);

#define MOUNTINFO_MAX ((size_t)8 << 20)
#define MOUNTINFO_LINES 65536u

struct mount_lines {
	struct mount_line *v;
	size_t n;
};

/* The file system that this lies on, as a line has it: one question instead of all lines, where the kernel answers it (Linux 6.8). 0 or -errno. */
int mountinfo_dev(const char *path, uint64_t *ret);

/* All of this process. 0 or -errno. */
int mountinfo_read(struct arena *a, struct mount_lines *ret);
