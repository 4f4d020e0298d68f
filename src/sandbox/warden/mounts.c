/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The new root. Sources are opened by the path that creel resolved and checked, without following any symlink, and
 * must still be the very object that it checked; targets are opened below the new root and can never leave it.
 * Everything is mounted by fd: a name is looked up once.
 */
#include "sandbox/warden/warden.h"

#include <linux/fcntl.h>
#include <linux/futex.h>
#include <linux/mount.h>
#include <linux/openat2.h>
#include <linux/stat.h>

#define MS_PRIVATE_ (1ull << 18)
#define MNT_DETACH_ 2
#define S_IFMT_ 0170000
#define S_IFREG_ 0100000

static long what(struct warden *w, long err, const char *verb, const char *path)
{
	size_t at = 0;

	if (err < 0) {
		text_put(w->report.what, sizeof(w->report.what), &at, verb);
		text_put(w->report.what, sizeof(w->report.what), &at, " '");
		text_put(w->report.what, sizeof(w->report.what), &at, path);
		text_put(w->report.what, sizeof(w->report.what), &at, "'");
	}
	return err;
}

long open_how(int dir, const char *path, uint64_t flags, uint64_t resolve)
{
	struct open_how how = { .flags = flags | O_CLOEXEC, .resolve = resolve };
	long fd;
	int tries = 0;

	do
		fd = SYS4(openat2, dir, path, &how, sizeof(how));
	while (fd == -EINTR || (fd == -EAGAIN && ++tries < 16));
	return fd;
}

static const char *relative(const char *path)
{
	while (*path == '/')
		path++;
	return *path ? path : ".";
}

/* A place below the new root. */
static long open_target(struct warden *w, const char *path)
{
	return open_how(w->root_fd, relative(path), O_PATH,
			RESOLVE_BENEATH | RESOLVE_NO_SYMLINKS | RESOLVE_NO_MAGICLINKS);
}

static long dev_of(long fd, uint64_t *ret)
{
	struct statx st = { 0 };
	long r = SYS5(statx, fd, "", AT_EMPTY_PATH, STATX_TYPE, &st);

	*ret = r < 0 ? 0 : (uint64_t)st.stx_dev_major << 32 | st.stx_dev_minor;
	return r;
}

/* Remembers a file system that we made. */
static long own(struct warden *w, long mount)
{
	long r = mount;

	if (mount >= 0 && w->n_own < OWN_MAX)
		r = dev_of(mount, &w->own_dev[w->n_own++]);
	return r < 0 ? r : mount;
}

static bool is_own(const struct warden *w, uint64_t dev)
{
	for (unsigned i = 0; i < w->n_own; i++)
		if (w->own_dev[i] == dev)
			return true;
	return false;
}

/* Most things lie beside the one before: their directory is kept open, until something is mounted over it. */
static void forget_parent(struct warden *w)
{
	if (w->parent_fd >= 0)
		SYS1(close, w->parent_fd);
	w->parent_fd = -EBADF;
	w->parent[0] = '\0';
}

static bool lies_in(const char *path, const char *dir)
{
	size_t n = strlen(dir);

	return strlen(path) >= n && memcmp(path, dir, n) == 0 && (path[n] == '\0' || path[n] == '/');
}

static long open_own(struct warden *w, const char *dir)
{
	uint64_t dev;
	long r, fd = open_how(w->root_fd, dir, O_PATH | O_DIRECTORY,
			      RESOLVE_BENEATH | RESOLVE_NO_SYMLINKS | RESOLVE_NO_MAGICLINKS);

	if (fd < 0)
		return fd;
	r = dev_of(fd, &dev);
	if (r >= 0 && is_own(w, dev))
		return fd;
	SYS1(close, fd);
	return r < 0 ? r : -EXDEV;
}

/*
 * The directory that a path lies in, and its last name. Nothing is ever created in a directory of the host: not through a
 * link that somebody put there, and not as a mount point either, which would stay behind in the user's tree.
 * -EXDEV when the directory is not on a file system that we made. The descriptor stays ours.
 */
static long parent_of(struct warden *w, const char *path, const char **ret_name)
{
	char dir[sizeof(w->parent)];
	size_t at = 0;
	long fd;

	path = relative(path);
	text_put(dir, sizeof(dir), &at, path);
	if (path[at])
		return -ENAMETOOLONG;
	while (at > 0 && dir[at - 1] != '/')
		at--;
	*ret_name = path + at;
	if (at == 0)
		return w->root_fd;
	dir[at - 1] = '\0';
	if (w->parent_fd >= 0 && lies_in(dir, w->parent) && lies_in(w->parent, dir))
		return w->parent_fd;
	fd = open_own(w, dir);
	if (fd < 0)
		return fd;
	forget_parent(w);
	memcpy(w->parent, dir, at);
	w->parent_fd = (int)fd;
	return fd;
}

static long new_mount(const char *type, const char *const *options, uint64_t attr)
{
	long fs = SYS2(fsopen, type, FSOPEN_CLOEXEC), r = 0, m;

	if (fs < 0)
		return fs;
	for (; *options && r >= 0; options += 2) /* name, value; a flag has no value */
		r = options[1] ? SYS5(fsconfig, fs, FSCONFIG_SET_STRING, options[0], options[1], 0)
			       : SYS5(fsconfig, fs, FSCONFIG_SET_FLAG, options[0], 0, 0);
	if (r >= 0)
		r = SYS5(fsconfig, fs, FSCONFIG_CMD_CREATE, 0, 0, 0);
	m = r < 0 ? r : SYS3(fsmount, fs, FSMOUNT_CLOEXEC, attr);
	SYS1(close, fs);
	return m;
}

static long attach(int mount, int target)
{
	return SYS5(move_mount, mount, "", target, "", MOVE_MOUNT_F_EMPTY_PATH | MOVE_MOUNT_T_EMPTY_PATH);
}

/* A place that lies in a directory of the host, or anywhere below one: looked up without following a link. */
static long attach_elsewhere(struct warden *w, long mount, const char *path)
{
	long target = open_target(w, path), r;

	if (target < 0)
		return target;
	r = attach((int)mount, (int)target);
	SYS1(close, target);
	return r;
}

/* Puts the mount at the target and closes it. In a directory of ours a name is all that has to be looked up. */
static long attach_at(struct warden *w, long mount, const char *path)
{
	const char *name;
	long dir, r;

	if (mount < 0)
		return mount;
	dir = parent_of(w, path, &name);
	if (dir == -EXDEV)
		r = attach_elsewhere(w, mount, path);
	else
		r = dir < 0 ? dir : SYS5(move_mount, mount, "", dir, name, MOVE_MOUNT_F_EMPTY_PATH);
	if (lies_in(w->parent, relative(path)))
		forget_parent(w);
	SYS1(close, mount);
	return r;
}

static const char *size_text(char *buf, size_t n, uint64_t size)
{
	size_t at = 0;

	text_u64(buf, n, &at, size);
	return buf;
}

static const char *mode_text(char *buf, size_t n, uint64_t mode)
{
	size_t at = 0;
	char digits[8] = { 0 };

	for (int i = 6; i >= 0; i--, mode >>= 3)
		digits[i] = (char)('0' + (mode & 7));
	text_put(buf, n, &at, digits);
	return buf;
}

static long new_tmpfs(uint64_t size, uint64_t mode, uint64_t attr)
{
	char s[24], m[16];
	const char *options[] = { "size",      size_text(s, sizeof(s), size),
				  "mode",      mode_text(m, sizeof(m), mode),
				  "nr_inodes", "65536",
				  NULL };

	return new_mount("tmpfs", options, attr);
}

/*
 * Attached over /proc, where no source ever lies, because a mount that is attached nowhere cannot take
 * others on it (before Linux 6.15). What it covers is not used again: the old root is detached by pivot.
 */
long do_root(struct warden *w, const struct step *s)
{
	long m = own(w, new_tmpfs(s->x, 0755, MOUNT_ATTR_NOSUID | MOUNT_ATTR_NODEV)), r;

	if (m < 0)
		return what(w, m, "mount tmpfs", "/");
	r = SYS5(move_mount, m, "", AT_FDCWD, "/proc", MOVE_MOUNT_F_EMPTY_PATH);
	w->root_fd = (int)m;
	return what(w, r, "attach the new root at", "/proc");
}

static long make_empty_file(long dir, const char *name, uint64_t mode)
{
	return SYS4(openat, dir, name, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, mode);
}

/* A directory, or an empty file; one that is there already will do, wherever it lies. */
static long make_place(struct warden *w, const char *path, bool file, uint64_t mode)
{
	const char *name;
	long dir = parent_of(w, path, &name), fd, r;

	if (dir == -EXDEV) {
		fd = open_target(w, path);
		if (fd >= 0)
			SYS1(close, fd);
		return fd < 0 ? fd : 0;
	}
	if (dir < 0)
		return dir;
	r = file ? SYS4(mknodat, dir, name, S_IFREG_ | mode, 0) : SYS3(mkdirat, dir, name, mode);
	return r == -EEXIST ? 0 : r;
}

long do_dir(struct warden *w, const struct step *s)
{
	const char *path = plan_str(w, s->a);

	return what(w, make_place(w, path, false, s->x), "mkdir", path);
}

long do_link(struct warden *w, const struct step *s)
{
	const char *path = plan_str(w, s->a), *name;
	long dir = parent_of(w, path, &name);

	return what(w, dir < 0 ? dir : SYS3(symlinkat, plan_str(w, s->b), dir, name), "symlink", path);
}

static long write_new(long dir, const char *name, const struct step *s, const char *text)
{
	long fd = make_empty_file(dir, name, s->x), n = 0;

	if (fd < 0)
		return fd;
	if (s->y)
		n = SYS3(write, fd, text, s->y);
	SYS1(close, fd);
	return n < 0 ? n : n != (long)s->y ? -ENOSPC : 0;
}

long do_file(struct warden *w, const struct step *s)
{
	const char *path = plan_str(w, s->a), *name;
	long dir;

	if (s->b >= w->plan->n_strings || s->y > w->plan->n_strings - s->b)
		return what(w, -EINVAL, "write", path);
	dir = parent_of(w, path, &name);
	return what(w, dir < 0 ? dir : write_new(dir, name, s, plan_str(w, s->b)), "write", path);
}

static long the_same(long fd, const struct step *s)
{
	struct statx st = { 0 };
	long r;

	if (fd < 0 || s->y == 0)
		return fd;
	r = SYS5(statx, fd, "", AT_EMPTY_PATH, STATX_INO, &st);
	if (r >= 0 && (st.stx_ino != s->y || ((uint64_t)st.stx_dev_major << 32 | st.stx_dev_minor) != s->x))
		r = -ESTALE;
	if (r < 0)
		SYS1(close, fd);
	return r < 0 ? r : fd;
}

/* The object that creel checked, or an error: never another one that took its name meanwhile. */
long open_source(struct warden *w, const struct step *s)
{
	const char *path = plan_str(w, s->b);
	long fd = open_how(AT_FDCWD, path, O_PATH, RESOLVE_NO_SYMLINKS | RESOLVE_NO_MAGICLINKS);

	return the_same(fd, s);
}

static long set_attr(long mount, uint32_t flags, bool recursive)
{
	/* Private: what is mounted on the host later must not appear inside, with whatever rights it has there. */
	struct mount_attr at = { .attr_set = MOUNT_ATTR_NOSUID, .propagation = MS_PRIVATE_ };

	at.attr_set |= flags & STEP_F_RO ? MOUNT_ATTR_RDONLY : 0;
	at.attr_set |= flags & STEP_F_DEV ? 0 : MOUNT_ATTR_NODEV;
	at.attr_set |= flags & STEP_F_NOEXEC ? MOUNT_ATTR_NOEXEC : 0;
	return SYS5(mount_setattr, mount, "", AT_EMPTY_PATH | (recursive ? AT_RECURSIVE : 0), &at,
		    sizeof(at));
}

/* What a bind lands on. */
static long make_target(struct warden *w, const char *path, bool file)
{
	return make_place(w, path, file, file ? 0444 : 0755);
}

/* The mount that was made for this step outside, or 0. */
static int made_outside(struct warden *w, const struct step *s)
{
	bool is = s->flags & STEP_F_IDMAP && w->plan->flags & PLAN_F_PARENT_MAPS;

	return is ? life_tree(w, (uint32_t)(s - w->steps)) : 0;
}

/* A copy of the mount that the source lies on, from the source down; or the one that was made for it outside. */
static long source_tree(struct warden *w, const struct step *s, bool recursive)
{
	int made = made_outside(w, s);
	uint32_t how = OPEN_TREE_CLONE | OPEN_TREE_CLOEXEC | (recursive ? AT_RECURSIVE : 0);
	long src, tree;

	if (made)
		return made;
	/* What it is decides, however it was found: a link on the way can only lead to the same object. */
	if (s->y)
		return the_same(SYS3(open_tree, AT_FDCWD, plan_str(w, s->b), how | AT_SYMLINK_NOFOLLOW), s);
	src = open_source(w, s);
	if (src < 0)
		return src;
	tree = SYS3(open_tree, src, "", how | AT_EMPTY_PATH);
	SYS1(close, src);
	return tree;
}

static long skipped(const struct warden *w, const struct step *s)
{
	struct warden_report m = { .msg = MSG_SKIPPED, .value = (int32_t)(s - w->steps) };
	long r = control_send(&m, -1);

	return r < 0 ? r : 0;
}

long do_bind(struct warden *w, const struct step *s)
{
	const char *target = plan_str(w, s->a), *source = plan_str(w, s->b);
	bool recursive = s->flags & STEP_F_REC;
	long tree = source_tree(w, s, recursive), r;

	if (tree == -ENOENT && s->flags & STEP_F_OPTIONAL)
		return skipped(w, s);
	if (tree < 0)
		return what(w, tree, "bind", source);
	r = set_attr(tree, s->flags, recursive);
	if (r >= 0)
		r = make_target(w, target, s->flags & STEP_F_FILE);
	if (r >= 0)
		return what(w, attach_at(w, tree, target), "bind", target);
	SYS1(close, tree);
	return what(w, r, "bind", source);
}

/* In a directory of the host, where nothing is created: a file system of its own. */
static long scratch_elsewhere(struct warden *w, const struct step *s, const char *target)
{
	long r = make_target(w, target, false);

	return r < 0 ? r
		     : attach_at(w, own(w, new_tmpfs(s->x, s->y, MOUNT_ATTR_NOSUID | MOUNT_ATTR_NODEV)),
				 target);
}

/*
 * A directory of the root's own tmpfs, mounted on itself: this mount stays writable when the root is sealed. All of them share
 * one size, and one costs half of what a tmpfs does.
 */
long do_scratch(struct warden *w, const struct step *s)
{
	const char *target = plan_str(w, s->a), *name;
	long dir = parent_of(w, target, &name), r;

	if (dir == -EXDEV)
		return what(w, scratch_elsewhere(w, s, target), "mount tmpfs", target);
	r = dir < 0 ? dir : SYS3(mkdirat, dir, name, s->y);
	if (r == -EEXIST) /* made as somebody's parent */
		r = SYS3(fchmodat, dir, name, s->y);
	if (r >= 0)
		r = attach_at(
			w,
			SYS3(open_tree, dir, name, OPEN_TREE_CLONE | OPEN_TREE_CLOEXEC | AT_SYMLINK_NOFOLLOW),
			target);
	return what(w, r, "mount", target);
}

/*
 * b starts three strings: lower, upper, work. They are opened like every source, and given to overlayfs by fd, through the
 * new /proc (attached at /proc/proc until the pivot): no name is looked up twice, and none needs escaping. A lower layer
 * that was made outside has to be attached before overlayfs takes it; the overlay then covers it.
 *
 * "volatile" (Linux 5.10): without it, ending the sandbox syncs the whole file system that the upper layer lies on.
 */
static long open_lower(struct warden *w, const struct step *s, const char *target)
{
	int made = made_outside(w, s);
	long r;

	if (!made)
		return open_source(w, s);
	r = set_attr(made, STEP_F_RO, false);
	if (r >= 0)
		r = attach_at(w, made, target);
	return r < 0 ? r : open_target(w, target);
}

static long open_layer(struct warden *w, const struct step *s, const char *path)
{
	struct step one = *s;

	one.b = (uint32_t)(path - w->strings);
	one.y = 0; /* ours: nothing to compare with */
	return open_source(w, &one);
}

static void fd_name(char *text, size_t size, long fd)
{
	size_t at = 0;

	text_put(text, size, &at, "/proc/proc/self/fd/");
	text_u64(text, size, &at, (uint64_t)fd);
}

long do_overlay(struct warden *w, const struct step *s)
{
	const char *target = plan_str(w, s->a), *lower = plan_str(w, s->b);
	const char *upper = plan_str_after(w, lower), *work = plan_str_after(w, upper);
	char text[3][40];
	const char *options[] = { "lowerdir",  text[0], "upperdir", text[1], "workdir", text[2],
				  "userxattr", NULL,    "volatile", NULL,    NULL };
	long fd[3] = { -1, -1, -1 }, r = make_target(w, target, false);

	if (r >= 0)
		r = what(w, fd[0] = open_lower(w, s, target), "open", lower);
	if (w->plan->private_dir)
		life_wait(w, LIFE_PRIVATE);
	if (r >= 0)
		r = what(w, fd[1] = open_layer(w, s, upper), "open", upper);
	if (r >= 0)
		r = what(w, fd[2] = open_layer(w, s, work), "open", work);
	for (int i = 0; i < 3 && r >= 0; i++)
		fd_name(text[i], sizeof(text[i]), fd[i]);
	if (r >= 0)
		r = what(
			w,
			attach_at(w,
				  own(w, new_mount("overlay", options, MOUNT_ATTR_NOSUID | MOUNT_ATTR_NODEV)),
				  target),
			"mount overlay", target);
	for (int i = 0; i < 3; i++)
		if (fd[i] >= 0)
			SYS1(close, fd[i]);
	return r;
}

/* b starts two strings: lower, and an empty directory in the new root. Both are lower layers, and nothing can be written. */
long do_sealed(struct warden *w, const struct step *s)
{
	const char *target = plan_str(w, s->a), *lower = plan_str(w, s->b), *empty = plan_str_after(w, lower);
	char text[80];
	const char *options[] = { "lowerdir", text, "userxattr", NULL, NULL };
	long fd[2] = { -1, -1 }, r = make_target(w, target, false);
	size_t at;

	if (r >= 0)
		r = what(w, fd[1] = open_target(w, empty), "open", empty);
	if (r >= 0)
		r = what(w, fd[0] = open_lower(w, s, target), "open", lower);
	if (r >= 0) {
		fd_name(text, sizeof(text), fd[0]);
		at = strlen(text);
		text_put(text, sizeof(text), &at, ":");
		fd_name(text + at, sizeof(text) - at, fd[1]);
		r = what(w,
			 attach_at(w,
				   new_mount("overlay", options,
					     MOUNT_ATTR_NOSUID | MOUNT_ATTR_NODEV | MOUNT_ATTR_RDONLY),
				   target),
			 "mount overlay", target);
	}
	for (int i = 0; i < 2; i++)
		if (fd[i] >= 0)
			SYS1(close, fd[i]);
	return r;
}

long do_proc(struct warden *w, const struct step *s)
{
	const char *options[] = { "hidepid", "invisible", NULL };
	const char *target = plan_str(w, s->a);
	long r = make_target(w, target, false);

	if (r >= 0)
		r = attach_at(
			w,
			new_mount("proc", options, MOUNT_ATTR_NOSUID | MOUNT_ATTR_NODEV | MOUNT_ATTR_NOEXEC),
			target);
	return what(w, r, "mount proc", target);
}

/* A copy of something in the new root, ready to be attached once more. */
static long copy_mount(struct warden *w, const char *source, uint32_t flags)
{
	long src = open_target(w, source), tree, r;

	if (src < 0)
		return src;
	tree = SYS3(open_tree, src, "", AT_EMPTY_PATH | OPEN_TREE_CLONE | OPEN_TREE_CLOEXEC);
	SYS1(close, src);
	r = tree < 0 ? tree : set_attr(tree, flags, false);
	if (tree >= 0 && r < 0)
		SYS1(close, tree);
	return r < 0 ? r : tree;
}

/*
 * Over the very object that creel saw, wherever its name leads by now. The target is looked up first: a copy of a mount that is
 * closed again without having been attached makes the kernel wait for everybody.
 */
static long cover(struct warden *w, const struct step *s, const char *source)
{
	long target = the_same(open_target(w, plan_str(w, s->a)), s), tree, r;

	if (target < 0)
		return target;
	tree = copy_mount(w, source, STEP_F_RO | STEP_F_NOEXEC);
	r = tree < 0 ? tree : attach((int)tree, (int)target);
	if (tree >= 0)
		SYS1(close, tree);
	SYS1(close, target);
	return r;
}

/* b is an empty file or directory of our own in the new root, never an object of the host. */
long do_mask(struct warden *w, const struct step *s)
{
	long r = cover(w, s, plan_str(w, s->b));

	return r == -ENOENT && s->flags & STEP_F_OPTIONAL ? 0 : what(w, r, "mask", plan_str(w, s->a));
}

long do_readonly(struct warden *w, const struct step *s)
{
	const char *path = plan_str(w, s->a);

	return what(w, cover(w, s, path), "make read-only", path);
}

long do_devpts(struct warden *w, const struct step *s)
{
	const char *options[] = { "ptmxmode", "0666", "mode", "620", NULL };
	const char *target = plan_str(w, s->a);
	long r = make_target(w, target, false);

	if (r >= 0)
		r = attach_at(w, new_mount("devpts", options, MOUNT_ATTR_NOSUID | MOUNT_ATTR_NOEXEC), target);
	return what(w, r, "mount devpts", target);
}

long do_seal(struct warden *w, const struct step *s)
{
	struct mount_attr at = { .attr_set = MOUNT_ATTR_RDONLY };

	(void)s;
	return what(w, SYS5(mount_setattr, w->root_fd, "", AT_EMPTY_PATH, &at, sizeof(at)), "make read-only",
		    "/");
}

static uint32_t pivoted;

/*
 * pivot_root(".", ".") stacks the old root on the new one; detaching "/" then takes the old one away (pivot_root(2)). For that the
 * kernel waits until nobody can still be looking at it, so a task beside us waits in our place, and payload_start() for that
 * one. It begins early: once we have asked for clocks of our own, nobody can share our memory any more.
 */
static long detach(void)
{
	while (!__atomic_load_n(&pivoted, __ATOMIC_ACQUIRE))
		SYS4(futex, &pivoted, FUTEX_WAIT_PRIVATE, 0, 0);
	return SYS2(umount2, "/", MNT_DETACH_);
}

void detach_begin(struct warden *w)
{
	long r = task_begin(&w->detach, detach);

	if (r < 0)
		fail(w, 0, r, "begin to take the host's tree away");
}

long do_pivot(struct warden *w, const struct step *s)
{
	long r = SYS1(fchdir, w->root_fd);

	(void)s;
	if (r >= 0)
		r = SYS2(pivot_root, ".", ".");
	if (r >= 0) {
		__atomic_store_n(&pivoted, 1, __ATOMIC_RELEASE);
		r = SYS3(futex, &pivoted, FUTEX_WAKE_PRIVATE, 1);
	}
	if (r >= 0)
		r = SYS1(chdir, "/");
	SYS1(close, w->root_fd);
	w->root_fd = -EBADF;
	forget_parent(w);
	return what(w, r, "pivot_root", "/");
}
