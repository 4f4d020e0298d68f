/* SPDX-License-Identifier: Apache-2.0 */
#include "prepare/prepare.h"

#include "base/clock.h"
#include "base/fd.h"
#include "base/tree.h"

#include <dirent.h>
#include <fcntl.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>

#define NEW_AGE_S 60
#define DIR_FLAGS (O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC)

/* One that is just being made has no lock yet, and a name that starts with a dot. */
static bool abandoned(int dir, const char *name)
{
	_cleanup_close_ int fd = FD_NONE;
	struct stat st;

	if (strcmp(name, ".") == 0 || strcmp(name, "..") == 0)
		return false;
	fd = openat(dir, name, DIR_FLAGS);
	if (fd < 0 || fstat(fd, &st) < 0 || flock(fd, LOCK_EX | LOCK_NB) < 0)
		return false;
	return name[0] != '.' || st.st_mtime + NEW_AGE_S < (time_t)(clock_unix_ms() / 1000);
}

void state_sweep(int live, unsigned max)
{
	int copy = openat(live, ".", DIR_FLAGS);
	DIR *d = copy < 0 ? NULL : fdopendir(copy);
	struct dirent *entry;

	for (unsigned i = 0; d && i < max && (entry = readdir(d)); i++)
		if (abandoned(live, entry->d_name))
			(void)tree_remove(live, entry->d_name);
	if (d)
		(void)closedir(d);
	else
		(void)fd_close(copy);
}
