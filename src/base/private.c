/* SPDX-License-Identifier: Apache-2.0 */
#include "base/private.h"

#include "base/port.h"

#include <fcntl.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

static int check_owner_and_mode(const struct stat *st)
{
	if (st->st_uid != geteuid())
		return PRIVATE_FOREIGN;
	return st->st_mode & 077 ? PRIVATE_SHARED : 0;
}

int private_mode(int fd, mode_t mode)
{
	struct stat st;

	if (fstat(fd, &st) < 0)
		return -errno;
	return (st.st_mode & 0777) != mode && fchmod(fd, mode) < 0 ? -errno : 0;
}

/* O_PATH: one without any rights cannot be opened in another way. In a place where others may write it could be another's by now. */
static int give_mode(int dirfd, const char *path, mode_t mode)
{
	_cleanup_close_ int fd = openat(dirfd, path, O_PATH | O_NOFOLLOW | O_CLOEXEC);
	char self[64];
	struct stat st;

	if (fd < 0 || fstat(fd, &st) < 0)
		return -errno;
	if ((st.st_mode & 0777) == mode)
		return 0;
	if (st.st_uid != geteuid() || S_ISLNK(st.st_mode))
		return -EPERM;
	(void)snprintf(self, sizeof(self), "/proc/self/fd/%d", fd);
	return chmod(self, (st.st_mode & S_ISGID) | mode) < 0 ? -errno : 0;
}

int private_mkdir(int dirfd, const char *path, mode_t mode)
{
	int r;

	if (mkdirat(dirfd, path, mode) < 0)
		return errno == EEXIST ? 0 : -errno;
	r = give_mode(dirfd, path, mode);
	return r < 0 ? r : 1;
}

/*
 * What has no rights at all was made under a umask that takes all of them away, and whoever made it is just about to put that right, or was
 * killed before he could. Nobody else has seen it since.
 */
static bool mend(int dirfd, const char *path, mode_t type, mode_t mode)
{
	struct stat st;

	return errno == EACCES && fstatat(dirfd, path, &st, AT_SYMLINK_NOFOLLOW) == 0 &&
	       (st.st_mode & S_IFMT) == type && (st.st_mode & 0777) == 0 && st.st_uid == geteuid() &&
	       give_mode(dirfd, path, mode) == 0;
}

int private_dir_open(const char *path)
{
	_cleanup_close_ int fd = FD_NONE;
	struct stat st;
	int r;

	r = private_mkdir(AT_FDCWD, path, 0700);
	if (r < 0)
		return r;
	fd = open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	if (fd < 0 && mend(AT_FDCWD, path, S_IFDIR, 0700))
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
	flags |= O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC;
	fd = openat(dirfd, path, flags, 0600);
	if (fd < 0 && flags & O_CREAT && mend(dirfd, path, S_IFREG, 0600))
		fd = openat(dirfd, path, flags, 0600);
	if (fd < 0 || fstat(fd, &st) < 0)
		return -errno;
	r = private_file_check(&st);
	/* Just made. One that its owner has made read-only is not empty. */
	if (r == 0 && flags & O_CREAT && st.st_size == 0)
		r = private_mode(fd, 0600);
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
