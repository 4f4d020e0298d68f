/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Files of a sandbox, as the file tools see them: a few operations that whoever stands at the sandbox's root carries out
 * (the warden, or files_dir.h over a directory of the host). Every path is resolved there and then by the kernel; nobody
 * compares path texts, and nobody on this side resolves one.
 *
 * A path that begins with '/' starts at the sandbox's root and cannot leave it: "/.." is "/", and a link to "/etc" is the
 * sandbox's /etc. Any other path starts at the workspace and stays beneath it: what would leave it (by "..", or by a link) is
 * -EXDEV. /proc's magic links are never followed (-ELOOP).
 *
 * Every operation answers with the negative errno of the kernel: the tools put it into words, since they know what was
 * asked for. -ECONNRESET is ours: who should have done it is gone, and nothing more is to be had. Nothing blocks: a FIFO or device is opened without waiting, seen to be none of ours, and let go.
 */
#pragma once

#include "base/fd.h"
#include "base/str.h"

#include <stdbool.h>
#include <stdint.h>
#include <sys/stat.h>
#include <sys/types.h>

#define FILES_PATH_MAX 4096 /* with NUL, as the kernel has it */

enum {
	/* open */
	FILES_APPEND = 1 << 0, /* write at the end, make the file when there is none; otherwise: read */
	/* open, stat, list */
	FILES_NOFOLLOW =
		1
		<< 1, /* a link at the end is not followed: open and list refuse it (-ELOOP, -ENOTDIR), stat is of it */
	FILES_WITH_STAT = 1 << 2, /* list: size, times and rights too, not the type alone */
	/* open for append, stage, mkdir */
	FILES_PARENTS =
		1 << 3, /* make the directories on the way (mkdir: and do not mind one that is there) */
	/* stage */
	FILES_SET_MODE = 1 << 4, /* `mode` also for a file that is there; otherwise it keeps its own */
	/* commit, rename */
	FILES_NEW = 1 << 5, /* -EEXIST when something is there */
	/* commit */
	FILES_KEEP_OLD = 1 << 6, /* so that undo can bring it back; drop forgets it */
	FILES_SYNC = 1 << 7,     /* also after a power cut: the content before the name, and then the name */
	/* remove */
	FILES_DIRECTORY = 1 << 8, /* an empty directory; otherwise: anything but a directory */
};

struct files_stat {
	mode_t mode; /* with the type */
	uid_t uid;
	gid_t gid;
	uint64_t size, dev, ino, nlink;
	int64_t mtime_ms;
};

struct files_entry {
	struct str name;      /* ends in NUL; never "." or ".."; any bytes but '/' and NUL */
	struct files_stat st; /* of the entry itself; without FILES_WITH_STAT the type alone */
};

/* 0 goes on, anything else ends the list and is what files_list() returns. */
typedef int files_each(void *ctx, const struct files_entry *entry);

/*
 * A file that is being written beside its target (which may be a link: then beside what it points at). It has no name yet
 * where the file system can do that, so that nothing is left behind by whoever is killed while writing. `fd` is for writing;
 * the rest is of the implementation, but for `exists` and `old`.
 */
struct files_stage {
	int fd;
	bool exists;
	struct files_stat old;
	int dir;
	char name[256];
	char temp[32];   /* empty: no name yet, or gone again */
	bool done;       /* committed, and not undone */
	char *made_for;  /* the path for which directories were made; NULL = none were */
	size_t made;     /* how long the path of the first of them is */
	uint32_t number; /* whose it is on the other side (files_wire.h); 0 = nobody's */
};
#define FILES_STAGE_NONE ((struct files_stage){ .fd = FD_NONE, .dir = FD_NONE })

struct files_put {
	struct str content;
	mode_t mode;
	const struct files_stat
		*seen; /* -ESTALE unless this very file is there, unchanged; NULL = whatever is there */
};

/* Of a small file all of it, in `p` and with a NUL behind it, for the caller to free; otherwise the open file, and `p` is NULL. */
struct files_content {
	int fd; /* FD_NONE when there is `p` */
	char *p;
	size_t n;
	struct files_stat st; /* its size is `n` when there is `p` */
};

struct files;

struct files_ops {
	/* An fd of a regular file. -EISDIR: a directory. -ENXIO: a FIFO, socket or device. */
	int (*open)(struct files *f, const char *path, unsigned flags, mode_t mode,
		    struct files_stat *ret_st);
	/* For reading, as open; where a question takes time, the answer to this one is the content. `flags`: FILES_NOFOLLOW. */
	int (*get)(struct files *f, const char *path, unsigned flags, struct files_content *ret);
	int (*stat)(struct files *f, const char *path, unsigned flags, struct files_stat *ret);
	/* In no order, fetched in batches. What comes and goes meanwhile may be in it or not. */
	int (*list)(struct files *f, const char *path, unsigned flags, files_each *each, void *ctx);
	int (*mkdir)(struct files *f, const char *path, unsigned flags, mode_t mode);
	int (*remove)(struct files *f, const char *path, unsigned flags);
	int (*rename)(struct files *f, const char *from, const char *to, unsigned flags);
	int (*chmod)(struct files *f, const char *path, mode_t mode);
	/*
	 * Fails as opening the target for writing would (-EACCES, -EROFS, -ETXTBSY, -EISDIR, -ENXIO); -EPERM when there is a file
	 * whose owner could not be kept. A file that is there keeps its mode and owner, a new one gets `mode` minus umask.
	 */
	int (*stage)(struct files *f, const char *path, unsigned flags, mode_t mode, struct files_stage *ret);
	/* Whoever reads the target sees the old content or the new. On failure nothing has changed; drop is still due. */
	int (*commit)(struct files *f, struct files_stage *s, unsigned flags);
	/* Takes a commit with FILES_KEEP_OLD back: the old file, not a copy. */
	int (*undo)(struct files *f, struct files_stage *s);
	/* The end of every stage, whatever became of it. */
	void (*drop)(struct files *f, struct files_stage *s);
	/* All of that at once, for a content that is at hand: what a tool mostly does. `flags` of stage and of commit. */
	int (*put)(struct files *f, const char *path, unsigned flags, const struct files_put *what,
		   bool *ret_existed);
};

struct files {
	const struct files_ops *ops;
	uint64_t heard; /* requests that somebody may have heard; whoever likes sets it back */
};

/* put() made of stage, commit and drop; `flags` as put() has them. */
int files_put_staged(struct files *f, const char *path, unsigned flags, const struct files_put *what,
		     bool *ret_existed);
