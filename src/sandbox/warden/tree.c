/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Places in the new root: directories, links and small files. Targets are opened below the new root and can never leave it, and
 * nothing is created but on file systems that we made ourselves.
 */
#include "sandbox/warden/tree.h"

#include <linux/fcntl.h>
#include <linux/openat2.h>
#include <linux/stat.h>

#define S_IFREG_ 0100000

long told(struct warden *w, long err, const char *verb, const char *path)
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

const char *below_root(const char *path)
{
	while (*path == '/')
		path++;
	return *path ? path : ".";
}

long open_target(struct warden *w, const char *path)
{
	return open_how(w->root_fd, below_root(path), O_PATH,
			RESOLVE_BENEATH | RESOLVE_NO_SYMLINKS | RESOLVE_NO_MAGICLINKS);
}

static long dev_of(long fd, uint64_t *ret)
{
	struct statx st = { 0 };
	long r = SYS5(statx, fd, "", AT_EMPTY_PATH, STATX_TYPE, &st);

	*ret = r < 0 ? 0 : (uint64_t)st.stx_dev_major << 32 | st.stx_dev_minor;
	return r;
}

/* The root's file system is the first that we make. */
bool in_root(const struct warden *w, long dir)
{
	uint64_t dev;

	return w->n_own > 0 && dev_of(dir, &dev) >= 0 && dev == w->built->own_dev[0];
}

long own(struct warden *w, long mount)
{
	long r = mount;

	if (mount >= 0 && w->n_own < OWN_MAX)
		r = dev_of(mount, &w->built->own_dev[w->n_own++]);
	return r < 0 ? r : mount;
}

static bool is_own(const struct warden *w, uint64_t dev)
{
	for (unsigned i = 0; i < w->n_own; i++)
		if (w->built->own_dev[i] == dev)
			return true;
	return false;
}

/* Most things lie beside the one before: their directory is kept open, until something is mounted over it. */
void forget_parent(struct warden *w)
{
	if (w->parent_fd >= 0)
		SYS1(close, w->parent_fd);
	w->parent_fd = -EBADF;
	w->built->parent[0] = '\0';
}

bool lies_in(const char *path, const char *dir)
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

long parent_of(struct warden *w, const char *path, const char **ret_name)
{
	char dir[sizeof(w->built->parent)];
	size_t at = 0;
	long fd;

	path = below_root(path);
	text_put(dir, sizeof(dir), &at, path);
	if (path[at])
		return -ENAMETOOLONG;
	while (at > 0 && dir[at - 1] != '/')
		at--;
	*ret_name = path + at;
	if (at == 0)
		return w->root_fd;
	dir[at - 1] = '\0';
	if (w->parent_fd >= 0 && lies_in(dir, w->built->parent) && lies_in(w->built->parent, dir))
		return w->parent_fd;
	fd = open_own(w, dir);
	if (fd < 0)
		return fd;
	forget_parent(w);
	memcpy(w->built->parent, dir, at);
	w->parent_fd = (int)fd;
	return fd;
}

static long make_empty_file(long dir, const char *name, uint64_t mode)
{
	return SYS4(openat, dir, name, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, mode);
}

/* What is mounted over is not seen: in the root, one file is enough, and a name of it costs less than another. */
static long make_covered(struct warden *w, long dir, const char *name, uint64_t mode)
{
	const char *empty = w->built->empty;
	long r = empty ? SYS5(linkat, w->root_fd, empty, dir, name, 0) : -EXDEV;

	return r < 0 && r != -EEXIST ? SYS4(mknodat, dir, name, S_IFREG_ | mode, 0) : r;
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
	r = file ? make_covered(w, dir, name, mode) : SYS3(mkdirat, dir, name, mode);
	return r == -EEXIST ? 0 : r;
}

long make_target(struct warden *w, const char *path, bool file)
{
	return make_place(w, path, file, file ? 0444 : 0755);
}

long do_dir(struct warden *w, const struct step *s)
{
	const char *path = plan_str(w, s->a);

	return told(w, make_place(w, path, false, s->x), "mkdir", path);
}

long do_link(struct warden *w, const struct step *s)
{
	const char *path = plan_str(w, s->a), *name;
	long dir = parent_of(w, path, &name);

	return told(w, dir < 0 ? dir : SYS3(symlinkat, plan_str(w, s->b), dir, name), "symlink", path);
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
		return told(w, -EINVAL, "write", path);
	dir = parent_of(w, path, &name);
	if (s->flags & STEP_F_EMPTY)
		w->built->empty = below_root(path);
	return told(w, dir < 0 ? dir : write_new(dir, name, s, plan_str(w, s->b)), "write", path);
}
