/* SPDX-License-Identifier: Apache-2.0 */
#include "base/private.h"

#include "base/port.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

static int check_owner_and_mode(const struct stat *st)
{
	if (st->st_uid != geteuid())
		return PRIVATE_FOREIGN;
	return st->st_mode & 077 ? PRIVATE_SHARED : 0;
}

int private_dir_open(const char *path)
{
	_cleanup_close_ int fd = FD_NONE;
	struct stat st;
	int r;

	if (mkdir(path, 0700) < 0 && errno != EEXIST)
		return -errno;
	fd = open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	if (fd < 0 || fstat(fd, &st) < 0)
		return -errno;
	r = check_owner_and_mode(&st);
	return r < 0 ? r : TAKE_FD(fd);
}

int private_file_check(const struct stat *st)
{
	int r;

	if (!S_ISREG(st->st_mode))
		return S_ISLNK(st->st_mode) ? -ELOOP : PRIVATE_SPECIAL;
	r = check_owner_and_mode(st);
	if (r < 0)
		return r;
	return st->st_nlink > 1 ? PRIVATE_LINKED : 0;
}

int private_file_open(int dirfd, const char *path, int flags)
{
	_cleanup_close_ int fd = FD_NONE;
	struct stat st;
	int r;

	/* O_NONBLOCK: the name may be a FIFO's, with nobody on the other end. */
	fd = openat(dirfd, path, flags | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC, 0600);
	if (fd < 0 || fstat(fd, &st) < 0)
		return -errno;
	r = private_file_check(&st);
	return r < 0 ? r : TAKE_FD(fd);
}

const char *private_why(int fault)
{
	static const char *const words[] = {
		"belongs to another user",
		"can be reached by others: its mode has bits for group or others",
		"has a second name (a hard link)",
		"is not a regular file",
	};
	size_t i = (size_t)(PRIVATE_FOREIGN - fault);
	const char *text;

	if (fault <= PRIVATE_FOREIGN && i < sizeof(words) / sizeof(words[0]))
		return words[i];
	if (fault == -ELOOP)
		return "is a symbolic link";
	text = port_errno_text(-fault);
	return text ? text : "cannot be opened";
}
