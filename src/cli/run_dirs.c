/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The private directory of one run, below <state>: --state-dir, $XDG_STATE_HOME/creel or ~/.local/state/creel; for root
 * /var/lib/creel, because the sandbox is another user then and could not pass through /root.
 *
 * It is live/<id>, made and locked by the warden, as long as we live; it moves to runs/<id> when there are changes to keep. When
 * we are killed the warden removes it. When nothing was changed it moves to spare/<n>, where the next run's warden finds it: making and
 * removing directories takes longer than the rest of a short run. What nobody has locked any more was left by a creel and a warden that were killed
 * together, and the next run removes it.
 */
#include "cli/run.h"

#include "base/clock.h"
#include "base/fd.h"
#include "base/port.h"
#include "base/tree.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/fs.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <sys/syscall.h>
#include <sys/xattr.h>
#include <unistd.h>

#define SWEEP_MAX 16u /* looked at in one run: a thousand that live must not slow down the next */
#define SPARE_MAX 8   /* as in warden/private.c */
#define DIR_FLAGS (O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC)

/* ---- making and keeping ---- */

bool run_disk_free(const struct run *r, uint64_t *ret)
{
	struct statvfs fs;

	if (r->live_fd < 0 || fstatvfs(r->live_fd, &fs) < 0)
		return false;
	*ret = (uint64_t)fs.f_bavail * fs.f_frsize;
	return true;
}

int run_name_private_dir(struct run *r, struct err *e)
{
	const struct state_dir state = run_state(r);
	char id[32];

	(void)snprintf(id, sizeof(id), "%llx-%d", (unsigned long long)clock_unix_ms(), getpid());
	r->live_fd = state_open(&state, "live", id, r->private_dir, sizeof(r->private_dir), e);
	if (r->live_fd < 0) {
		r->private_dir[0] = '\0';
		return r->live_fd;
	}
	state_sweep(r->live_fd, SWEEP_MAX);
	if (!run_disk_free(r, &r->disk_free))
		r->disk_free = UINT64_MAX; /* then whatever is hidden counts as too much */
	return 0;
}

static void open_spare(struct run *r)
{
	const struct state_dir state = run_state(r);
	char path[sizeof(r->private_dir)];
	struct err ignored = { 0 };

	if (r->spare_fd < 0)
		r->spare_fd = state_open(&state, "spare", "0", path, sizeof(path), &ignored);
}

/* Not made before it is needed: there may be something to keep. */
void run_ready_private_dir(struct run *r)
{
	if (r->private_dir[0] && faccessat(r->live_fd, "../spare", F_OK, AT_SYMLINK_NOFOLLOW) == 0)
		open_spare(r);
}

/* The warden, which holds the lock, was killed: another creel would take it for abandoned while we look at it. */
void run_lock_private_dir(struct run *r)
{
	r->private_fd = r->private_dir[0] ? open(r->private_dir, DIR_FLAGS) : FD_NONE;
	if (r->private_fd >= 0)
		(void)flock(r->private_fd, LOCK_EX | LOCK_NB);
}

/* -1 where the file system has none. The libraries disagree on the type of ioctl()'s request. */
static long inode_flags(int fd)
{
	int flags = 0;

	return syscall(SYS_ioctl, fd, FS_IOC_GETFLAGS, &flags) < 0 ? -1 : flags;
}

/* None but the number that overlayfs gives itself (Linux 6.6). What a command sets under such a name is stored under another. */
static bool has_no_names(int dir)
{
	static const char uuid[] = "user.overlay.uuid";
	char room[sizeof(uuid)];
	ssize_t n = flistxattr(dir, room, sizeof(room));

	return n == 0 || (n < 0 && errno == ENOTSUP) || (n == sizeof(uuid) && strcmp(room, uuid) == 0);
}

/* As it was made, like the one above it: the next command must not see that there was another before. */
static bool is_untouched(int private, const char *upper)
{
	_cleanup_close_ int fd = openat(private, upper, DIR_FLAGS);
	struct stat st, above;

	return fd >= 0 && fstat(fd, &st) == 0 && fstat(private, &above) == 0 && st.st_mode == above.st_mode &&
	       st.st_uid == above.st_uid && st.st_gid == above.st_gid && st.st_size <= above.st_size &&
	       has_no_names(fd) && inode_flags(fd) == inode_flags(private) && tree_is_empty(fd);
}

/* 0: it is somebody's next. */
static int give_back(struct run *r)
{
	const char *id = strrchr(r->private_dir, '/') + 1;
	struct str upper = str_from(r->upper, strlen(r->private_dir) + 1);
	_cleanup_close_ int private = FD_NONE;
	char name[64];

	(void)snprintf(name, sizeof(name), STR_FMT, STR_ARG(upper));
	private = open(r->private_dir, DIR_FLAGS);
	/* The warden may still be removing "old" from it; whoever takes it has to wait for the warden's lock. */
	if (private < 0 || !is_untouched(private, name))
		return -1;
	open_spare(r);
	for (int i = 0; r->spare_fd >= 0 && i < SPARE_MAX; i++) {
		const char slot[2] = { (char)('0' + i) };

		if (port_rename_new(r->live_fd, id, r->spare_fd, slot) == 0)
			return 0;
		if (errno != EEXIST)
			break;
	}
	return -1;
}

void run_give_back_private_dir(struct run *r)
{
	if (give_back(r) < 0)
		run_remove_private_dir(r);
	r->private_dir[0] = '\0';
}

void run_remove_private_dir(struct run *r)
{
	char *name = r->private_dir[0] ? strrchr(r->private_dir, '/') + 1 : NULL;

	/* A warden that was killed while it made it had not given it its name yet. */
	if (name && tree_remove(AT_FDCWD, r->private_dir) == -ENOENT &&
	    strlen(r->private_dir) + 1 < sizeof(r->private_dir)) {
		memmove(name + 1, name, strlen(name) + 1);
		*name = '.';
		(void)unlinkat(AT_FDCWD, r->private_dir, AT_REMOVEDIR);
	}
	r->private_dir[0] = '\0';
}

/* What the kernel worked in is of no use any more, and has directories that nobody may enter: the user's rm -r would end at them. */
static void remove_work_dirs(const struct run *r, int runs, const char *id)
{
	for (size_t i = 0; i < r->profile.n_mounts; i++) {
		char work[128];

		(void)snprintf(work, sizeof(work), "%s/work%zu", id, i);
		if (r->profile.mounts[i].overlay)
			(void)tree_remove(runs, work);
	}
}

int run_keep_private_dir(struct run *r, struct err *e)
{
	const char *id = strrchr(r->private_dir, '/') + 1;
	const struct state_dir state = run_state(r);
	_cleanup_close_ int runs = FD_NONE;
	char kept[sizeof(r->private_dir)];

	runs = state_open(&state, "runs", id, kept, sizeof(kept), e);
	if (runs < 0)
		return -1;
	if (port_rename_new(r->live_fd, id, runs, id) < 0)
		return err_sys(e, errno, "keep the changes in '%s'", kept);
	remove_work_dirs(r, runs, id);
	r->upper = arena_printf(r->cli->arena, "%s" STR_FMT, kept,
				STR_ARG(str_from(r->upper, strlen(r->private_dir))));
	memcpy(r->private_dir, kept, sizeof(kept));
	return r->cli->arena->failed ? err_set(e, ERR_LIMIT, "out of memory") : 0;
}
