/* SPDX-License-Identifier: Apache-2.0 */
/* A new file beside the old one, without a name until it is whole (O_TMPFILE), then moved into its place. */
#include "backend/files_dir_priv.h"
#include "base/hash.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/random.h>
#include <sys/syscall.h>
#include <unistd.h>

#ifndef RENAME_EXCHANGE
#define RENAME_EXCHANGE 2
#endif

#define LINKS_MAX 40 /* as the kernel has it */

static int name_temp(char temp[static 32])
{
	unsigned char random[8];
	char hex[sizeof(random) * 2 + 1];

	if (getrandom(random, sizeof(random), 0) != sizeof(random))
		return -EIO;
	hash_to_hex(random, sizeof(random), hex);
	(void)snprintf(temp, 32, ".creel-%s", hex);
	return 0;
}

/* The link at the end of `path` becomes what it says, in the same words: the kernel resolves it again in the same root. */
static int follow(const struct files_stage *s, char path[static FILES_PATH_MAX])
{
	char target[FILES_PATH_MAX];
	ssize_t n = readlinkat(s->dir, s->name, target, sizeof(target) - 1);
	struct str head = { 0 }, tail;

	if (n < 0)
		return -errno;
	target[n] = '\0';
	if (target[0] == '/') {
		if (path[0] != '/')
			return -EXDEV;
		memcpy(path, target, (size_t)n + 1);
		return 0;
	}
	if (str_cut_last(str_z(path), '/', &head, &tail))
		head.n++;
	if (head.n + (size_t)n >= FILES_PATH_MAX)
		return -ENAMETOOLONG;
	memcpy(path + head.n, target, (size_t)n + 1);
	return 0;
}

/* Opened for writing, to fail as a plain write would; what is there is never written to. 1: a link. */
static int look_at_old(struct files_stage *s)
{
	_cleanup_close_ int fd =
		openat(s->dir, s->name, O_WRONLY | O_NONBLOCK | O_NOCTTY | O_NOFOLLOW | O_CLOEXEC);
	int r;

	if (fd < 0)
		return errno == ENOENT ? 0 : errno == ELOOP ? 1 : -errno;
	r = files_dir_check_regular(fd, &s->old);
	s->exists = r == 0;
	return r;
}

static int find_target(struct files *f, const char *path, bool make, struct files_stage *s)
{
	char at[FILES_PATH_MAX];
	size_t n = strlen(path);
	int r;

	if (n >= sizeof(at))
		return -ENAMETOOLONG;
	if (n > 0 && path[n - 1] == '/')
		return -EISDIR;
	memcpy(at, path, n + 1);
	for (int i = 0; i < LINKS_MAX; i++) {
		size_t made = 0;

		fd_closep(&s->dir);
		s->dir = files_dir_parent(f, at, make ? &made : NULL, s->name);
		if (s->dir < 0)
			return s->dir;
		/* One that was just made has nothing in it: it is where this ends. */
		if (made && !(s->made_for = strdup(at))) {
			files_dir_unmake(f, at, made);
			return -ENOMEM;
		}
		s->made = made;
		r = look_at_old(s);
		if (r <= 0)
			return r;
		r = follow(s, at);
		if (r < 0)
			return r;
	}
	return -ELOOP;
}

static int create(struct files_stage *s, mode_t mode)
{
	int r;

	s->fd = openat(s->dir, ".", O_TMPFILE | O_RDWR | O_CLOEXEC, mode);
	if (s->fd >= 0 || (errno != EOPNOTSUPP && errno != EISDIR && errno != EINVAL))
		return s->fd < 0 ? -errno : 0;
	r = name_temp(s->temp);
	if (r < 0)
		return r;
	s->fd = openat(s->dir, s->temp, O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, mode);
	if (s->fd >= 0)
		return 0;
	r = -errno;
	s->temp[0] = '\0'; /* not ours to remove */
	return r;
}

/* Owner first. Set-id bits are lost with the content they were given to, as they are when a program writes to the file. */
static int keep_owner_and_mode(const struct files_stage *s, mode_t mode)
{
	struct stat st;

	if (fstat(s->fd, &st) < 0)
		return -errno;
	if ((st.st_uid != s->old.uid || st.st_gid != s->old.gid) && fchown(s->fd, s->old.uid, s->old.gid) < 0)
		return -EPERM;
	return fchmod(s->fd, mode & 01777) < 0 ? -errno : 0;
}

int files_dir_stage(struct files *f, const char *path, unsigned flags, mode_t mode, struct files_stage *ret)
{
	struct files_stage s = FILES_STAGE_NONE;
	int r = find_target(f, path, flags & FILES_PARENTS, &s);

	if (r == 0)
		r = create(&s, s.exists ? 0600 : mode);
	if (r == 0 && s.exists)
		r = keep_owner_and_mode(&s, flags & FILES_SET_MODE ? mode : s.old.mode);
	else if (r == 0 && flags & FILES_SET_MODE && fchmod(s.fd, mode & 07777) < 0)
		r = -errno;
	if (r < 0) {
		files_dir_drop(f, &s);
		return r;
	}
	*ret = s;
	return 0;
}

static int link_as(const struct files_stage *s, const char *name)
{
	char path[32];

	if (linkat(s->fd, "", s->dir, name, AT_EMPTY_PATH) == 0)
		return 0;
	if (errno != ENOENT && errno != EPERM)
		return -errno;
	/* Before Linux 6.10 the short way wants a capability. */
	(void)snprintf(path, sizeof(path), "/proc/self/fd/%d", s->fd);
	return linkat(AT_FDCWD, path, s->dir, name, AT_SYMLINK_FOLLOW) < 0 ? -errno : 0;
}

static int give_temp_name(struct files_stage *s)
{
	char temp[32];
	int r;

	if (s->temp[0])
		return 0;
	r = name_temp(temp);
	if (r < 0)
		return r;
	r = link_as(s, temp);
	if (r == 0)
		memcpy(s->temp, temp, sizeof(temp));
	return r;
}

static int move(const struct files_stage *s, unsigned how)
{
	return syscall(SYS_renameat2, s->dir, s->temp, s->dir, s->name, how) < 0 ? -errno : 0;
}

/* New and old change places; where the file system cannot, the old one gets a second name first. */
static int exchange(struct files_stage *s)
{
	char keep[32];
	int r = move(s, RENAME_EXCHANGE);

	if (r != -EINVAL && r != -ENOSYS)
		return r;
	r = name_temp(keep);
	if (r < 0)
		return r;
	if (linkat(s->dir, s->name, s->dir, keep, 0) < 0)
		return -errno;
	r = move(s, 0);
	if (r < 0)
		(void)unlinkat(s->dir, keep, 0);
	else
		memcpy(s->temp, keep, sizeof(keep));
	return r;
}

static int into_place(struct files_stage *s, unsigned flags)
{
	bool keep = flags & FILES_KEEP_OLD;
	int r;

	if (!s->exists && !s->temp[0]) {
		r = link_as(s, s->name);
		/* Somebody made one since. To take it for the old one would lose it without a word. */
		return r == -EEXIST && !(flags & FILES_NEW) ? -ESTALE : r;
	}
	if (s->exists && flags & FILES_NEW)
		return -EEXIST;
	r = give_temp_name(s);
	if (r < 0)
		return r;
	if (s->exists && keep)
		return exchange(s);
	r = move(s, s->exists ? 0 : RENAME_NOREPLACE);
	if (r == 0)
		s->temp[0] = '\0';
	return r == -EEXIST && !(flags & FILES_NEW) ? -ESTALE : r;
}

int files_dir_commit(struct files *f, struct files_stage *s, unsigned flags)
{
	_cleanup_close_ int dir = FD_NONE;
	int r;

	(void)f;
	if (flags & FILES_SYNC && fsync(s->fd) < 0)
		return -errno;
	r = into_place(s, flags);
	if (r < 0)
		return r;
	s->done = true;
	if (!(flags & FILES_SYNC))
		return 0;
	/* The name is in the directory: it is durable only when the directory is. O_PATH cannot be synced. */
	dir = openat(s->dir, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	return dir >= 0 && fsync(dir) < 0 ? -errno : 0;
}

int files_dir_undo(struct files *f, struct files_stage *s)
{
	int r;

	(void)f;
	if (!s->done)
		return 0;
	if (!s->exists)
		r = unlinkat(s->dir, s->name, 0) < 0 ? -errno : 0;
	else if (!s->temp[0])
		r = -EINVAL; /* not committed with FILES_KEEP_OLD */
	else
		r = move(s, 0);
	if (r == 0) {
		s->temp[0] = '\0';
		s->done = false;
	}
	return r;
}

void files_dir_drop(struct files *f, struct files_stage *s)
{
	if (s->temp[0])
		(void)unlinkat(s->dir, s->temp, 0);
	(void)fd_close(s->fd);
	(void)fd_close(s->dir);
	if (s->made_for && !s->done)
		files_dir_unmake(f, s->made_for, s->made);
	free(s->made_for);
	*s = FILES_STAGE_NONE;
}
