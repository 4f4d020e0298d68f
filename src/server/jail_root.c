/* SPDX-License-Identifier: Apache-2.0 */
/* The first half: a user, a root, a network of its own. */
#include "server/jail.h"

#include "base/fd.h"

#include <fcntl.h>
#include <linux/mount.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

enum { DIRS_MAX = 8, KEEP_MAX = 64 };
#define STRICT (MOUNT_ATTR_NOSUID | MOUNT_ATTR_NODEV | MOUNT_ATTR_NOEXEC)

static int missing(struct err *e, const char *wall, int errnum, const char *step)
{
	return err_sys(
		e, errnum,
		"the wall '%s' cannot be built (%s); fix: 'creel doctor' tells why this host refuses user "
		"namespaces",
		wall, step);
}

static int by_number(const void *a, const void *b)
{
	int x = *(const int *)a, y = *(const int *)b;

	return (x > y) - (x < y);
}

/*
 * Should: leave nothing open that was not named: a directory of the old root would be a way back to it.
 * Mustn't: close 0, 1, 2, or what the service serves with.
 */
static int close_others(const struct jail_opts *o, struct err *e)
{
	int keep[KEEP_MAX];
	unsigned from = 3;

	if (o->n_keep > KEEP_MAX)
		return err_set(e, ERR_BUG, "a jail keeps at most %d descriptors", KEEP_MAX);
	if (o->n_keep)
		memcpy(keep, o->keep, o->n_keep * sizeof(*keep));
	qsort(keep, o->n_keep, sizeof(*keep), by_number);
	for (size_t i = 0; i < o->n_keep; i++) {
		if (keep[i] < (int)from)
			continue;
		if ((unsigned)keep[i] > from)
			(void)close_range(from, (unsigned)keep[i] - 1, 0);
		from = (unsigned)keep[i] + 1;
	}
	return close_range(from, ~0U, 0) < 0 ? err_sys(e, errno, "close what is not needed") : 0;
}

static int write_text(const char *path, const char *text)
{
	_cleanup_close_ int fd = open(path, O_WRONLY | O_CLOEXEC);

	return fd < 0 ? -errno : fd_write_all(fd, str_z(text));
}

/*
 * Should: be the same user as before, of a namespace in which nobody else is.
 * Mustn't: be not dumpable yet: the maps could not be written.
 */
static int own_user(const struct jail_opts *o, struct err *e)
{
	const int flags =
		CLONE_NEWUSER | CLONE_NEWNS | CLONE_NEWIPC | CLONE_NEWUTS | (o->tcp ? 0 : CLONE_NEWNET);
	char uids[64], gids[64];
	int r;

	(void)snprintf(uids, sizeof(uids), "%u %u 1\n", geteuid(), geteuid());
	(void)snprintf(gids, sizeof(gids), "%u %u 1\n", getegid(), getegid());
	if (unshare(flags) < 0)
		return missing(e, "user", errno, "new namespaces");
	r = write_text("/proc/self/setgroups", "deny");
	if (r >= 0)
		r = write_text("/proc/self/uid_map", uids);
	if (r >= 0)
		r = write_text("/proc/self/gid_map", gids);
	return r < 0 ? missing(e, "user", -r, "user map") : 0;
}

static int set_flags(int fd, uint64_t flags)
{
	struct mount_attr attr = { .attr_set = flags };

	return (int)syscall(SYS_mount_setattr, fd, "", AT_EMPTY_PATH | AT_RECURSIVE, &attr, sizeof(attr));
}

/* A copy of the mount below each directory, hanging nowhere yet: what is mounted over them next does not matter. */
static int copy_dirs(const struct jail_opts *o, int trees[static DIRS_MAX], struct err *e)
{
	struct stat st;

	if (o->n_dirs > DIRS_MAX)
		return err_set(e, ERR_BUG, "a jail has at most %d directories", DIRS_MAX);
	for (size_t i = 0; i < o->n_dirs; i++) {
		trees[i] = (int)syscall(SYS_open_tree, AT_FDCWD, o->dirs[i].path,
					OPEN_TREE_CLONE | OPEN_TREE_CLOEXEC | AT_RECURSIVE |
						AT_SYMLINK_NOFOLLOW);
		if (trees[i] >= 0 && fstat(trees[i], &st) == 0 && S_ISLNK(st.st_mode))
			return err_set(e, ERR_UNAVAIL, "'%s' is a link; fix: name the directory itself",
				       o->dirs[i].path);
		if (trees[i] < 0)
			return missing(e, "mounts", errno, o->dirs[i].path);
		if (set_flags(trees[i], STRICT | (o->dirs[i].writable ? 0 : MOUNT_ATTR_RDONLY)) < 0)
			return missing(e, "mounts", errno, o->dirs[i].path);
	}
	return 0;
}

static int make_dirs(int root, const char *path)
{
	char part[4096];
	size_t n = strlen(path);

	if (n == 0 || path[0] != '/' || n >= sizeof(part))
		return -EINVAL;
	memcpy(part, path, n + 1);
	for (char *at = part + 1;; at++) {
		char was = *at;

		if (was != '/' && was != '\0')
			continue;
		*at = '\0';
		if (mkdirat(root, part + 1, 0755) < 0 && errno != EEXIST)
			return -errno;
		if (was == '\0')
			return 0;
		*at = '/';
	}
}

static int hang_dirs(const struct jail_opts *o, const int *trees, int root, struct err *e)
{
	for (size_t i = 0; i < o->n_dirs; i++) {
		int r = make_dirs(root, o->dirs[i].path);

		if (r >= 0 && syscall(SYS_move_mount, trees[i], "", root, o->dirs[i].path + 1,
				      MOVE_MOUNT_F_EMPTY_PATH) < 0)
			r = -errno;
		if (r < 0)
			return missing(e, "mounts", -r, o->dirs[i].path);
	}
	return 0;
}

/* Any directory will do to hang the new root on: nobody sees it there. */
static int hang_root(int *ret_fd)
{
	static const char *const places[] = { "/tmp", "/usr", "/etc", "/dev" };
	int errnum = ENOENT;

	for (size_t i = 0; i < sizeof(places) / sizeof(places[0]); i++) {
		if (mount("creel", places[i], "tmpfs", MS_NOSUID | MS_NODEV | MS_NOEXEC,
			  "mode=0755,size=64k") == 0) {
			*ret_fd = open(places[i], O_PATH | O_DIRECTORY | O_CLOEXEC);
			return *ret_fd < 0 ? -errno : 0;
		}
		errnum = errno;
	}
	return -errnum;
}

/*
 * Should: have a root with the named directories at their own paths and nothing else, and nothing of the old one in reach.
 * Mustn't: let a mount made here be seen outside.
 */
static int own_root(const struct jail_opts *o, struct err *e)
{
	int trees[DIRS_MAX] = { 0 }, r;
	_cleanup_close_ int root = FD_NONE;

	if (mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) < 0)
		return missing(e, "mounts", errno, "private mounts");
	if (copy_dirs(o, trees, e) < 0)
		return -1;
	r = hang_root(&root);
	if (r < 0)
		return missing(e, "mounts", -r, "new root");
	if (hang_dirs(o, trees, root, e) < 0)
		return -1;
	for (size_t i = 0; i < o->n_dirs; i++)
		(void)fd_close(trees[i]);
	/* The old root lies on top of the new one for a moment; then it is gone with all that is below it. */
	if (fchdir(root) < 0 || syscall(SYS_pivot_root, ".", ".") < 0 || umount2(".", MNT_DETACH) < 0 ||
	    chdir("/") < 0)
		return missing(e, "mounts", errno, "pivot_root");
	if (mount(NULL, "/", NULL, MS_REMOUNT | MS_BIND | MS_RDONLY | MS_NOSUID | MS_NODEV | MS_NOEXEC,
		  NULL) < 0)
		return missing(e, "mounts", errno, "read-only root");
	return 0;
}

int jail_root(const struct jail_opts *o, struct jail_walls *walls, struct err *e)
{
	*walls = (struct jail_walls){ 0 };
	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) < 0)
		return missing(e, "privs", errno, "no_new_privs");
	if (close_others(o, e) < 0 || own_user(o, e) < 0)
		return -1;
	walls->held[JAIL_USER] = walls->held[JAIL_IPC] = true;
	walls->held[JAIL_NETWORK] = !o->tcp;
	return own_root(o, e);
}
