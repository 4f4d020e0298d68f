/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What openat2() does with RESOLVE_IN_ROOT or RESOLVE_BENEATH, and RESOLVE_NO_MAGICLINKS, where a filter refuses it: each name on
 * the way is opened by itself, without following a link; a link is read, and its text takes its place.
 *
 * ".." is never asked of the kernel, because the directory that we stand in may have been moved: the names that led here are kept,
 * none of which is a link, and what is above is walked to anew.
 */
#include "backend/files_dir_priv.h"

#include <fcntl.h>
#include <linux/magic.h>
#include <sys/vfs.h>
#include <unistd.h>

#define LINKS_MAX 40 /* as the kernel has it */
#define PROC_ROOT_INO 1
#define GO_ON (-4096) /* no errno, no descriptor: there is more to go */

struct walk {
	int base; /* borrowed */
	bool in_root;
	int at;                    /* where we stand; FD_NONE: where `seen` leads, not opened yet */
	char seen[FILES_PATH_MAX]; /* "/a/b": the names from the base to where we stand */
	size_t n_seen;
	char rest[FILES_PATH_MAX]; /* what is still to go */
	size_t i, n_rest;
	int links;
};

static int stand(const struct walk *w)
{
	return w->at >= 0 ? w->at : w->base;
}

static int step_into(int dir, const char *name)
{
	int fd = openat(dir, name, O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);

	return fd < 0 ? -errno : fd;
}

/* To where `seen` leads. */
static int go_back(struct walk *w)
{
	char path[FILES_PATH_MAX];
	char *at = path, *next;

	memcpy(path, w->seen, w->n_seen);
	path[w->n_seen] = '\0';
	while (*at) {
		int fd;

		next = strchr(++at, '/');
		if (next)
			*next = '\0';
		fd = step_into(stand(w), at);
		if (fd < 0)
			return fd;
		fd_closep(&w->at);
		w->at = fd;
		at = next ? next : at + strlen(at);
		if (next)
			*next = '/';
	}
	return 0;
}

static int go_up(struct walk *w)
{
	if (w->n_seen == 0)
		return w->in_root ? 0 : -EXDEV;
	while (w->seen[--w->n_seen] != '/')
		;
	fd_closep(&w->at);
	return 0;
}

static int go_down(struct walk *w, int fd, struct str name)
{
	if (w->n_seen + name.n + 1 >= sizeof(w->seen)) {
		(void)fd_close(fd);
		return -ENAMETOOLONG;
	}
	w->seen[w->n_seen++] = '/';
	memcpy(w->seen + w->n_seen, name.p, name.n);
	w->n_seen += name.n;
	fd_closep(&w->at);
	w->at = fd;
	return 0;
}

/* Those of /proc lead where their text does not say; only "self", "mounts" and the like, at its top, are plain links. */
static int check_magic(int dir)
{
	struct statfs fs;
	struct stat st;

	if (fstatfs(dir, &fs) < 0 || fstat(dir, &st) < 0)
		return -errno;
	return fs.f_type == PROC_SUPER_MAGIC && st.st_ino != PROC_ROOT_INO ? -ELOOP : 0;
}

/* The text of the link goes before the rest. -EINVAL: it is no link (any more). */
static int follow(struct walk *w, const char *name)
{
	char target[FILES_PATH_MAX];
	ssize_t n = readlinkat(stand(w), name, target, sizeof(target));
	size_t left = w->n_rest - w->i;
	int r;

	if (n < 0)
		return -errno;
	r = check_magic(stand(w));
	if (r < 0)
		return r;
	if (++w->links > LINKS_MAX)
		return -ELOOP;
	if (n == 0)
		return -ENOENT;
	if ((size_t)n + left >= sizeof(w->rest))
		return -ENAMETOOLONG;
	if (target[0] == '/') {
		if (!w->in_root)
			return -EXDEV;
		w->n_seen = 0;
		fd_closep(&w->at);
	}
	memmove(w->rest + n, w->rest + w->i, left); /* begins with a slash, or is empty */
	memcpy(w->rest, target, (size_t)n);
	w->n_rest = (size_t)n + left;
	w->i = 0;
	return 0;
}

/* The next name; empty at the end. *ret_last: nothing but slashes follow. */
static int next_name(struct walk *w, char name[static 256], struct str *ret, bool *ret_last)
{
	size_t n = 0, k;

	while (w->i < w->n_rest && w->rest[w->i] == '/')
		w->i++;
	while (w->i + n < w->n_rest && w->rest[w->i + n] != '/')
		n++;
	if (n > 255)
		return -ENAMETOOLONG;
	memcpy(name, w->rest + w->i, n);
	name[n] = '\0';
	w->i += n;
	for (k = w->i; k < w->n_rest && w->rest[k] == '/'; k++)
		;
	*ret_last = k == w->n_rest;
	*ret = (struct str){ .p = name, .n = n };
	return 0;
}

static bool is_link(int fd)
{
	struct stat st;

	return fstat(fd, &st) == 0 && S_ISLNK(st.st_mode);
}

/* The last name, with the caller's flags; or it was a link, and we go on with what it says. */
static int open_last(struct walk *w, const char *name, int flags, mode_t mode)
{
	bool as_dir = w->i < w->n_rest, nofollow = flags & O_NOFOLLOW && !as_dir;
	int fd, r;

	if (as_dir && flags & O_CREAT)
		return -EISDIR;
	if (as_dir)
		flags |= O_DIRECTORY;
	fd = openat(stand(w), name, flags | O_NOFOLLOW | O_CLOEXEC, mode);
	r = fd < 0 ? -errno : fd;
	if (nofollow)
		return r;
	if (fd >= 0 && !(flags & O_PATH && is_link(fd)))
		return fd;
	(void)fd_close(fd);
	if (fd < 0 && r != -ELOOP && !(r == -ENOTDIR && flags & O_DIRECTORY))
		return r;
	fd = r;
	r = follow(w, name);
	if (r == -EINVAL)
		return fd == -ENOTDIR ? fd : -EAGAIN; /* it was a link a moment ago */
	return r < 0 ? r : GO_ON;
}

static int enter(struct walk *w, struct str name)
{
	int fd = step_into(stand(w), name.p), r;

	if (fd >= 0)
		return go_down(w, fd, name);
	if (fd != -ENOTDIR)
		return fd;
	r = follow(w, name.p);
	return r == -EINVAL ? -ENOTDIR : r;
}

/* The path has no last name: it ends where we stand. */
static int open_here(struct walk *w, int flags)
{
	int fd, r = w->at < 0 ? go_back(w) : 0;

	if (r < 0)
		return r;
	if (flags & O_CREAT)
		return -EISDIR;
	fd = openat(stand(w), ".", (flags & ~O_NOFOLLOW) | O_CLOEXEC);
	return fd < 0 ? -errno : fd;
}

static int one_step(struct walk *w, int flags, mode_t mode)
{
	char text[256];
	struct str name;
	bool last;
	int r = next_name(w, text, &name, &last);

	if (r < 0)
		return r;
	if (name.n == 0)
		return open_here(w, flags);
	if (str_eq(name, STR(".")))
		return last ? open_here(w, flags) : GO_ON;
	if (str_eq(name, STR(".."))) {
		r = go_up(w);
		return r < 0 ? r : last ? open_here(w, flags) : GO_ON;
	}
	if (w->at < 0 && w->n_seen > 0) {
		r = go_back(w);
		if (r < 0)
			return r;
	}
	if (last)
		return open_last(w, text, flags, mode);
	r = enter(w, name);
	return r < 0 ? r : GO_ON;
}

int files_dir_walk(int base, bool in_root, const char *path, int flags, mode_t mode)
{
	struct walk w = { .base = base, .in_root = in_root, .at = FD_NONE, .n_rest = strlen(path) };
	int r = GO_ON;

	if (w.n_rest == 0)
		return -ENOENT;
	if (w.n_rest >= sizeof(w.rest))
		return -ENAMETOOLONG;
	memcpy(w.rest, path, w.n_rest);
	while (r == GO_ON)
		r = one_step(&w, flags, mode);
	fd_closep(&w.at);
	return r;
}
