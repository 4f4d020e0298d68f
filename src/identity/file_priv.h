/* SPDX-License-Identifier: Apache-2.0 */
/* One private file in a private directory: read when it has changed, replaced in one step, by one writer at a time. */
#pragma once

#include "base/arena.h"
#include "base/buf.h"
#include "base/err.h"
#include "base/fd.h"

#include <sys/stat.h>

struct idfile {
	int dir;
	char *path;       /* of the directory, for messages */
	const char *name; /* a literal; its lock is beside it */
	size_t max_bytes;
	uint64_t patience_ms; /* for the lock */
	bool loaded;
	struct stat seen,
		found; /* the file that was taken, and the one that was read; st_ino 0: there was none */
};

int idfile_open(struct idfile *f, const char *dir, const char *name, size_t max_bytes, struct err *e);
void idfile_done(struct idfile *f);
/*
 * 1 when it has changed: parse() has filled `ret`, whose memory is in `mine` and takes the place of what was there. Without a file `ret` stays as it is.
 * 0 when it is the one that was taken last. On an error nothing changes.
 */
#define IDFILE_ARENA ((size_t)64 << 20)
typedef int idfile_parse(struct arena *a, struct str text, void *ret, struct err *e);
int idfile_load(struct idfile *f, struct arena *mine, idfile_parse *parse, void *ret, struct err *e);
/* A descriptor that holds the lock. */
int idfile_lock(const struct idfile *f, struct err *e);
/* With the lock. What was taken is old then. `what` is in it, for the message about one that has become too large. */
int idfile_write(struct idfile *f, const struct buf *text, const char *what, struct err *e);
