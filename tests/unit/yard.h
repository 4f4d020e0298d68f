/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A directory of its own for each test, removed whole, with struct files over it: "in" is the sandbox's root, "in/work" its
 * workspace, "in/top" and "in/work-other" lie beside it, and outside lies a canary that nothing may reach.
 *
 * CREEL_TEST_FILES says whose files they are: "dir" (files_dir.h, the default), "walk" (the same without openat2()), or "clerk": a
 * real sandbox, in which these directories are mounted. With CREEL_TEST_USER=1 all of it is an ordinary user's.
 */
#pragma once

#include "yard_box.h"

#include "backend/files_dir.h"
#include "base/fd.h"

#include <fcntl.h>
#include <ftw.h>
#include <stdio.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <unistd.h>

#define CANARY "the host's own"
#define YARD_USER 12345

struct yard {
	char path[64];
	int top, root, work;
	bool boxed; /* in a sandbox */
	struct files_dir dir, host;
	struct yard_box *box;
	struct files *files;
	struct files *system; /* where there is a /proc, and a /dev: the same, or the host's own */
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

static inline bool yard_is(const char *kind)
{
	const char *is = getenv("CREEL_TEST_FILES");

	return strcmp(is ? is : "dir", kind) == 0;
}

/* Again, when what lies at these names is something else than before. */
static inline void yard_open(struct yard *p)
{
	static const char *const dirs[] = { "work", "top", "work-other", NULL };
	char root[sizeof(p->path) + 8];

	files_dir_init(&p->dir, p->root, p->work);
	p->dir.walk = yard_is("walk");
	p->files = &p->dir.files;
	files_dir_init(&p->host, open("/", O_RDONLY | O_DIRECTORY | O_CLOEXEC), FD_NONE);
	p->host.walk = p->dir.walk;
	p->system = &p->host.files;
	p->boxed = yard_is("clerk");
	if (!p->boxed)
		return;
	(void)snprintf(root, sizeof(root), "%s/in", p->path);
	p->box = calloc(1, sizeof(*p->box));
	assert_non_null(p->box);
	yard_box_open(p->box, root, dirs);
	p->files = p->system = files_wire_files(p->box->wire);
}

static inline void yard_become_user(void)
{
	const char *user = getenv("CREEL_TEST_USER");

	if (user && strcmp(user, "1") == 0 && getuid() == 0)
		assert_true(setgid(YARD_USER) == 0 && setuid(YARD_USER) == 0 &&
			    prctl(PR_SET_DUMPABLE, 1, 0, 0, 0) == 0);
}

static inline void yard_init(struct yard *p)
{
	yard_become_user();
	(void)snprintf(p->path, sizeof(p->path), "/tmp/creel-test-files-XXXXXX");
	assert_non_null(mkdtemp(p->path));
	p->top = open(p->path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	assert_true(p->top >= 0);
	p->root = yard_dir(p->top, "in");
	p->work = yard_dir(p->root, "work");
	(void)fd_close(yard_dir(p->root, "top"));
	(void)fd_close(yard_dir(p->root, "work-other"));
	yard_put(p->top, "canary", STR(CANARY), 0644);
	yard_open(p);
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
	if (p->boxed)
		yard_box_close(p->box);
	free(p->box);
	(void)fd_close(p->host.root);
	(void)fd_close(p->work);
	(void)fd_close(p->root);
	(void)fd_close(p->top);
	(void)nftw(p->path, yard_remove, 16, FTW_DEPTH | FTW_PHYS | FTW_MOUNT);
}

#define YARD(name)                                     \
	_cleanup_(yard_done) struct yard name = { 0 }; \
	yard_init(&name)
