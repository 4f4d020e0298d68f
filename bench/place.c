/* SPDX-License-Identifier: Apache-2.0 */
/* The directory that a measurement works in. */
#include "methods.h"

#include "base/fd.h"

#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/sendfile.h>
#include <sys/stat.h>
#include <unistd.h>

static char place[sizeof(((struct bench *)0)->dir)];

static void copy_program(const char *from, const char *to)
{
	_cleanup_close_ int in = open(from, O_RDONLY | O_CLOEXEC);
	_cleanup_close_ int out = open(to, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0755);
	struct stat st;

	if (in < 0 || out < 0 || fstat(in, &st) < 0 ||
	    sendfile(out, in, NULL, (size_t)st.st_size) != (ssize_t)st.st_size)
		measure_fail("copy '%s' to '%s': %s", from, to, strerror(errno));
}

static int remove_one(const char *path, const struct stat *st, int type, struct FTW *ftw)
{
	(void)st;
	(void)type;
	(void)ftw;
	return remove(path);
}

static bool opened; /* one that nobody may look into */

static int open_one(const char *path, const struct stat *st, int type, struct FTW *ftw)
{
	(void)st;
	(void)ftw;
	opened |= type == FTW_DNR && chmod(path, 0700) == 0;
	return 0;
}

/* overlayfs leaves directories without any right, one in the other. */
void place_remove(const char *path)
{
	do {
		opened = false;
		(void)nftw(path, open_one, 16, FTW_PHYS);
	} while (opened);
	if (nftw(path, remove_one, 16, FTW_DEPTH | FTW_PHYS) != 0)
		fprintf(stderr, "'%s' could not be removed: %s\n", path, strerror(errno));
}

/* Also when the measurement fails. */
static void remove_place(void)
{
	if (chdir("/") == 0)
		place_remove(place);
}

void bench_open(struct bench *b)
{
	/* On a disk, as a workspace is; /tmp may be memory. */
	(void)snprintf(b->dir, sizeof(b->dir), "/var/tmp/creel-bench-XXXXXX");
	if (!mkdtemp(b->dir) || chmod(b->dir, 0755) < 0)
		measure_fail("'%s': %s", b->dir, strerror(errno));
	memcpy(place, b->dir, sizeof(place));
	if (atexit(remove_place) != 0)
		measure_fail("out of memory");
	(void)snprintf(b->workspace, sizeof(b->workspace), "%s/ws", b->dir);
	if (mkdir(b->workspace, 0755) < 0 || chdir(b->workspace) < 0)
		measure_fail("'%s': %s", b->workspace, strerror(errno));
	copy_program(b->payload, "payload");
	/* An ordinary user's state goes there; root's has its own place. */
	if (setenv("HOME", b->dir, 1) < 0 || unsetenv("XDG_STATE_HOME") < 0)
		measure_fail("HOME: %s", strerror(errno));
	b->own_mounts = open("/proc/self/ns/mnt", O_RDONLY | O_CLOEXEC);
	b->crun_mounts = FD_NONE;
}

void bench_close(struct bench *b)
{
	b->engine = engine_close(b->engine);
	b->own_mounts = fd_close(b->own_mounts);
	b->crun_mounts = fd_close(b->crun_mounts);
}
