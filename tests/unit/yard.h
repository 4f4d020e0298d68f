/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A directory of its own for each test, removed whole, with struct files over it: "in" is the sandbox's root, "in/work" its
 * workspace, and beside them lies a canary that nothing may reach.
 */
#pragma once

#include "check.h"

#include "backend/files_dir.h"
#include "base/fd.h"

#include <fcntl.h>
#include <ftw.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

#define CANARY "the host's own"

struct yard {
	char path[64];
	int top, root, work;
	struct files_dir dir;
	struct files *files;
};

static inline void yard_put(int dir, const char *path, struct str text, mode_t mode)
{
	_cleanup_close_ int fd = openat(dir, path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);

	assert_true(fd >= 0);
	assert_int_equal(fchmod(fd, mode), 0);
	assert_int_equal(fd_write_all(fd, text), 0);
}

static inline struct str yard_get(int dir, const char *path, char *text, size_t size)
{
	_cleanup_close_ int fd = openat(dir, path, O_RDONLY | O_NONBLOCK | O_CLOEXEC);
	ssize_t n = fd < 0 ? -1 : read(fd, text, size);

	return n < 0 ? STR("(no such file)") : (struct str){ text, (size_t)n };
}

#define YARD_CHECK(dir_, path_, want_)                                                         \
	do {                                                                                   \
		static char yard_text_[1 << 20];                                               \
		CHECK_STR(yard_get((dir_), (path_), yard_text_, sizeof(yard_text_)), (want_)); \
	} while (0)

static inline int yard_count_one(void *ctx, const struct files_entry *entry)
{
	(void)entry;
	++*(size_t *)ctx;
	return 0;
}

static inline size_t yard_count(int dir)
{
	struct files_dir d;
	size_t n = 0;

	files_dir_init(&d, dir, dir);
	assert_int_equal(d.files.ops->list(&d.files, "/", 0, yard_count_one, &n), 0);
	return n;
}

static inline int yard_dir(int at, const char *path)
{
	assert_int_equal(mkdirat(at, path, 0755), 0);
	return openat(at, path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
}

static inline void yard_init(struct yard *p)
{
	(void)snprintf(p->path, sizeof(p->path), "/tmp/creel-test-files-XXXXXX");
	assert_non_null(mkdtemp(p->path));
	p->top = open(p->path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	assert_true(p->top >= 0);
	p->root = yard_dir(p->top, "in");
	p->work = yard_dir(p->root, "work");
	yard_put(p->top, "canary", STR(CANARY), 0644);
	files_dir_init(&p->dir, p->root, p->work);
	p->files = &p->dir.files;
}

static inline int yard_remove(const char *path, const struct stat *st, int type, struct FTW *ftw)
{
	(void)st;
	(void)type;
	(void)ftw;
	(void)remove(path);
	return 0;
}

static inline void yard_done(struct yard *p)
{
	YARD_CHECK(p->top, "canary", STR(CANARY));
	(void)fd_close(p->work);
	(void)fd_close(p->root);
	(void)fd_close(p->top);
	(void)nftw(p->path, yard_remove, 16, FTW_DEPTH | FTW_PHYS | FTW_MOUNT);
}

#define YARD(name)                                     \
	_cleanup_(yard_done) struct yard name = { 0 }; \
	yard_init(&name)
