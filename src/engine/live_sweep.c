/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The directories that ended sandboxes have left in sessions/ of the state directory. One goes when nothing is in it but the lock of a supervisor
 * that has gone, and nobody was about to use it for a while. Workspaces and private layers lie elsewhere: they are never looked at.
 */
#include "engine/engine_priv.h"

#include "base/clock.h"
#include "base/fd.h"
#include "base/tree.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#define DIR_FLAGS (O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC)
#define SWEEP_MAX 10000u /* names looked at by one prune */
#define SWEEP_AGE_S 600  /* longer than anybody takes from making the directory to holding its lock */
#define LOCK_FILE "keeper.lock"

static bool is_dots(const char *name)
{
	return strcmp(name, ".") == 0 || strcmp(name, "..") == 0;
}

static bool holds_only_the_lock(int dir)
{
	int copy = openat(dir, ".", DIR_FLAGS);
	DIR *d = copy < 0 ? NULL : fdopendir(copy);
	struct dirent *entry;
	bool other = d == NULL;

	while (d && !other && (entry = tree_next(d)))
		other = !is_dots(entry->d_name) && strcmp(entry->d_name, LOCK_FILE) != 0;
	other = other || errno != 0;
	if (d)
		(void)closedir(d);
	else
		(void)fd_close(copy);
	return !other;
}

static bool is_left(int dir, int *ret_lock)
{
	struct stat st;

	*ret_lock = FD_NONE;
	if (fstat(dir, &st) < 0 || st.st_uid != geteuid() || !holds_only_the_lock(dir) ||
	    st.st_mtime + SWEEP_AGE_S > (time_t)(clock_unix_ms() / 1000))
		return false;
	*ret_lock = openat(dir, LOCK_FILE, O_RDWR | O_NOFOLLOW | O_CLOEXEC);
	return *ret_lock < 0 || flock(*ret_lock, LOCK_EX | LOCK_NB) == 0;
}

static bool sweep_one(int sessions, const char *name)
{
	_cleanup_close_ int dir = openat(sessions, name, DIR_FLAGS);
	int lock = FD_NONE;
	bool gone = dir >= 0 && is_left(dir, &lock);

	if (gone && lock >= 0)
		gone = unlinkat(dir, LOCK_FILE, 0) == 0;
	if (gone)
		gone = unlinkat(sessions, name, AT_REMOVEDIR) == 0;
	(void)fd_close(lock);
	return gone;
}

int live_sweep(struct engine *g, struct err *e)
{
	char path[4096];
	_cleanup_close_ int above = state_open(&g->state, "sessions", ".", path, sizeof(path), e);
	int copy = above < 0 ? FD_NONE : openat(above, ".", DIR_FLAGS), n = 0;
	DIR *d = copy < 0 ? NULL : fdopendir(copy);
	struct dirent *entry;

	for (unsigned i = 0; d && i < SWEEP_MAX && (entry = readdir(d)); i++)
		n += !is_dots(entry->d_name) && sweep_one(above, entry->d_name);
	if (d)
		(void)closedir(d);
	else
		(void)fd_close(copy);
	return above < 0 ? above : n;
}
