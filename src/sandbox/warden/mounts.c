/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What is mounted on the new root. Sources are opened by the path that creel resolved and checked, and must still be the very
 * object that it checked. Everything is mounted by fd: a name is looked up once.
 */
#include "sandbox/warden/tree.h"

#include <linux/fcntl.h>
#include <linux/mount.h>
#include <linux/openat2.h>
#include <linux/stat.h>

#define MS_PRIVATE_ (1ull << 18)

long new_mount(const char *type, const char *const *options, uint64_t attr)
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

/* Counted: what there is beside those that we attached came along with one of them (later.c). */
static long attach(struct warden *w, long mount, long dir, const char *name)
{
	long r = SYS5(move_mount, mount, "", dir, name,
		      MOVE_MOUNT_F_EMPTY_PATH | (*name ? 0 : MOVE_MOUNT_T_EMPTY_PATH));

	w->n_mounts += r >= 0;
	return r;
}

/* A place that lies in a directory of the host, or anywhere below one: looked up without following a link. */
static long attach_elsewhere(struct warden *w, long mount, const char *path)
{
	long target = open_target(w, path), r;

	if (target < 0)
		return target;
	r = attach(w, mount, target, "");
	SYS1(close, target);
	return r;
}

/* Puts the mount at the target and closes it. In a directory of ours a name is all that has to be looked up. */
long attach_at(struct warden *w, long mount, const char *path)
{
	const char *name;
	long dir, r;

	if (mount < 0)
		return mount;
	dir = parent_of(w, path, &name);
	if (dir == -EXDEV)
		r = attach_elsewhere(w, mount, path);
	else
		r = dir < 0 ? dir : attach(w, mount, dir, name);
	if (lies_in(w->built->parent, below_root(path)))
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
		return told(w, m, "mount tmpfs", "/");
	r = attach(w, m, AT_FDCWD, "/proc");
	w->root_fd = (int)m;
	return told(w, r, "attach the new root at", "/proc");
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

long set_attr(long mount, uint32_t flags, bool recursive)
{
	/* Private: what is mounted on the host later must not appear inside, with whatever rights it has there. */
	struct mount_attr at = { .attr_set = MOUNT_ATTR_NOSUID, .propagation = MS_PRIVATE_ };

	at.attr_set |= flags & STEP_F_RO ? MOUNT_ATTR_RDONLY : 0;
	at.attr_set |= flags & STEP_F_DEV ? 0 : MOUNT_ATTR_NODEV;
	at.attr_set |= flags & STEP_F_NOEXEC ? MOUNT_ATTR_NOEXEC : 0;
	return SYS5(mount_setattr, mount, "", AT_EMPTY_PATH | (recursive ? AT_RECURSIVE : 0), &at,
		    sizeof(at));
}

int made_outside(struct warden *w, const struct step *s)
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
		return told(w, tree, "bind", source);
	r = set_attr(tree, s->flags, recursive);
	if (r >= 0)
		r = make_target(w, target, s->flags & STEP_F_FILE);
	if (r >= 0)
		return told(w, attach_at(w, tree, target), "bind", target);
	SYS1(close, tree);
	return told(w, r, "bind", source);
}

static long scratch_elsewhere(struct warden *w, const struct step *s, const char *target)
{
	long r = make_target(w, target, false);

	return r < 0 ? r
		     : attach_at(w, own(w, new_tmpfs(s->x, s->y, MOUNT_ATTR_NOSUID | MOUNT_ATTR_NODEV)),
				 target);
}

/*
 * A new directory of the root's own tmpfs, mounted on itself: this mount stays writable when the root is sealed. All of them share
 * one size, and one costs half of what a tmpfs does.
 */
long do_scratch(struct warden *w, const struct step *s)
{
	const char *target = plan_str(w, s->a), *name;
	long dir = parent_of(w, target, &name), r = -EXDEV;

	if (dir >= 0 && in_root(w, dir))
		r = SYS3(mkdirat, dir, name, s->y);
	/* In a directory of somebody else's, or where there is something already: a file system of its own, over it. */
	if (r == -EXDEV || r == -EEXIST)
		return told(w, scratch_elsewhere(w, s, target), "mount tmpfs", target);
	if (r >= 0)
		r = attach_at(
			w,
			SYS3(open_tree, dir, name, OPEN_TREE_CLONE | OPEN_TREE_CLOEXEC | AT_SYMLINK_NOFOLLOW),
			target);
	return told(w, r, "mount", target);
}

long do_proc(struct warden *w, const struct step *s)
{
	const char *options[] = { "hidepid", "invisible", NULL };
	const char *target = plan_str(w, s->a);
	long r = make_target(w, target, false), m;

	if (r < 0)
		return told(w, r, "mount proc", target);
	m = new_mount("proc", options, MOUNT_ATTR_NOSUID | MOUNT_ATTR_NODEV | MOUNT_ATTR_NOEXEC);
	r = m < 0 ? m : userns_limit((int)m);
	if (m >= 0 && r < 0) {
		SYS1(close, m);
		return told(w, r, "limit the user namespace in", target);
	}
	return told(w, attach_at(w, m, target), "mount proc", target);
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
	r = tree < 0 ? tree : attach(w, tree, target, "");
	if (tree >= 0)
		SYS1(close, tree);
	SYS1(close, target);
	return r;
}

/* b is an empty file or directory of our own in the new root, never an object of the host. */
long do_mask(struct warden *w, const struct step *s)
{
	long r = cover(w, s, plan_str(w, s->b));

	return r == -ENOENT && s->flags & STEP_F_OPTIONAL ? 0 : told(w, r, "mask", plan_str(w, s->a));
}

long do_readonly(struct warden *w, const struct step *s)
{
	const char *path = plan_str(w, s->a);

	return told(w, cover(w, s, path), "make read-only", path);
}

long do_devpts(struct warden *w, const struct step *s)
{
	/* All containers of the host share what is left beside 1024 for the host itself: one must not take it all. */
	const char *options[] = { "ptmxmode", "0666", "mode", "620", "max", "256", NULL };
	const char *target = plan_str(w, s->a);
	long r = make_target(w, target, false);

	if (r >= 0)
		r = attach_at(w, new_mount("devpts", options, MOUNT_ATTR_NOSUID | MOUNT_ATTR_NOEXEC), target);
	return told(w, r, "mount devpts", target);
}
