/* SPDX-License-Identifier: Apache-2.0 */
/* fd_write_atomic(): a new file beside the old one, made durable, then moved into its place. */
#include "base/fd.h"

#include "base/hash.h"

#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

struct target {
	int dir;
	char name[NAME_MAX + 1];
	char temp[32];
	bool exists;
	struct stat st;
};

static void target_done(struct target *t)
{
	if (t->temp[0])
		(void)unlinkat(t->dir, t->temp, 0);
	(void)fd_close(t->dir);
}

/* "a/b/c" -> the directory "a/b", opened, and "c". */
static int open_parent(struct target *t, int dirfd, const char *path)
{
	struct str dir = STR("."), name = str_z(path);
	_cleanup_free_ char *dir_z = NULL;
	int r;

	if (str_cut_last(str_z(path), '/', &dir, &name) && dir.n == 0)
		dir = STR("/");
	if (name.n == 0 || name.n > NAME_MAX)
		return name.n == 0 ? -EISDIR : -ENAMETOOLONG;
	memcpy(t->name, name.p, name.n);
	r = str_dupz(dir, &dir_z);
	if (r < 0)
		return r;
	t->dir = openat(dirfd, dir_z, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	return t->dir < 0 ? -errno : 0;
}

static int look_at_old(struct target *t)
{
	if (fstatat(t->dir, t->name, &t->st, AT_SYMLINK_NOFOLLOW) < 0)
		return errno == ENOENT ? 0 : -errno;
	if (S_ISLNK(t->st.st_mode))
		return -ELOOP;
	t->exists = true;
	return S_ISREG(t->st.st_mode) ? 0 : -ENXIO;
}

/* Readable by nobody else until the mode of the old file is known to be right for it. */
static int create_temp(struct target *t, mode_t mode)
{
	unsigned char random[8];
	char hex[sizeof(random) * 2 + 1];
	int fd;

	if (getrandom(random, sizeof(random), 0) != sizeof(random))
		return -EIO;
	hash_to_hex(random, sizeof(random), hex);
	(void)snprintf(t->temp, sizeof(t->temp), ".creel-%s", hex);
	fd = openat(t->dir, t->temp, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC,
		    t->exists ? 0600 : mode);
	if (fd < 0) {
		int saved = errno;

		t->temp[0] = '\0'; /* not ours to remove */
		return -saved;
	}
	return fd;
}

/* Owner first: chown() clears the set-id bits that chmod() may have to put back. */
static int copy_owner_and_mode(const struct target *t, int fd, mode_t mode)
{
	struct stat st;

	if (fstat(fd, &st) < 0)
		return -errno;
	if (!t->exists)
		return mode & 0700 & ~st.st_mode && fchmod(fd, (st.st_mode & 0777) | (mode & 0700)) < 0
			       ? -errno
			       : 0;
	if ((st.st_uid != t->st.st_uid || st.st_gid != t->st.st_gid) &&
	    fchown(fd, t->st.st_uid, t->st.st_gid) < 0)
		return -errno;
	return fchmod(fd, t->st.st_mode & 07777) < 0 ? -errno : 0;
}

static int fill(const struct target *t, int fd, struct str data, mode_t mode)
{
	int r = fd_write_all(fd, data);

	if (r < 0)
		return r;
	r = copy_owner_and_mode(t, fd, mode);
	if (r < 0)
		return r;
	return fsync(fd) < 0 ? -errno : 0;
}

int fd_write_atomic(int dirfd, const char *path, struct str data, mode_t mode)
{
	_cleanup_(target_done) struct target t = { .dir = FD_NONE };
	_cleanup_close_ int fd = FD_NONE;
	int r = open_parent(&t, dirfd, path);

	if (r < 0)
		return r;
	r = look_at_old(&t);
	if (r < 0)
		return r;
	fd = create_temp(&t, mode);
	if (fd < 0)
		return fd;
	r = fill(&t, fd, data, mode);
	if (r < 0)
		return r;
	if (renameat(t.dir, t.temp, t.dir, t.name) < 0)
		return -errno;
	t.temp[0] = '\0';
	/* The name is in the directory: it is durable only when the directory is. */
	return fsync(t.dir) < 0 ? -errno : 0;
}
