/* SPDX-License-Identifier: Apache-2.0 */
/* A directory of its own for each test, removed with all that is in it; and its files as bytes. */
#pragma once

#include "check.h"

#include "base/fd.h"

#include <fcntl.h>
#include <ftw.h>
#include <stdbool.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

struct spot {
	char path[64], dir[80]; /* dir: path/d, which the code under test makes */
};

static inline void spot_init(struct spot *p)
{
	strcpy(p->path, "/tmp/creel-test-XXXXXX");
	assert_non_null(mkdtemp(p->path));
	(void)snprintf(p->dir, sizeof(p->dir), "%s/d", p->path);
}

static inline int spot_remove(const char *path, const struct stat *st, int type, struct FTW *at)
{
	(void)st, (void)type, (void)at;
	return remove(path);
}

static inline void spot_done(struct spot *p)
{
	(void)nftw(p->path, spot_remove, 16, FTW_DEPTH | FTW_PHYS);
}

#define SPOT(name)                                     \
	_cleanup_(spot_done) struct spot name = { 0 }; \
	spot_init(&name)

static inline const char *spot_file(const struct spot *p, const char *name)
{
	static char path[4][300];
	static unsigned at;

	at = (at + 1) % 4;
	(void)snprintf(path[at], sizeof(path[at]), "%s/%s", p->dir, name);
	return path[at];
}

/* Its bytes, to be freed. */
static inline struct str spot_read(const struct spot *p, const char *name)
{
	char *text = NULL;
	size_t n = 0;

	assert_int_equal(fd_read_file(spot_file(p, name), (size_t)256 << 20, &text, &n), 0);
	return (struct str){ .p = text, .n = n };
}

static inline void spot_write(const struct spot *p, const char *name, struct str text)
{
	_cleanup_close_ int fd = open(spot_file(p, name), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);

	assert_true(fd >= 0);
	assert_int_equal(fd_write_all(fd, text), 0);
}

/* Runs in a child: its exit status; 1000 + the signal that ended it. */
static inline int spot_fork(void (*run)(void *), void *ctx)
{
	pid_t pid = fork();
	int status;

	assert_true(pid >= 0);
	if (pid == 0) {
		run(ctx);
		_exit(0);
	}
	assert_int_equal(waitpid(pid, &status, 0), pid);
	return WIFEXITED(status) ? WEXITSTATUS(status) : 1000 + WTERMSIG(status);
}
