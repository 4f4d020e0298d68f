/* SPDX-License-Identifier: Apache-2.0 */
#include "overlay/changes.h"
#include "base/fd.h"
#include "base/tree.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#define DEPTH_MAX 256u

const char *change_kind_name(enum change_kind k)
{
	static const char *const names[] = { "none", "added", "modified", "removed" };

	return k <= CHANGE_REMOVED ? names[k] : "none";
}

struct walk {
	struct arena *a;
	struct changes *out;
	struct err *e;
};

static int note(struct walk *w, enum change_kind kind, struct str path, bool is_dir)
{
	struct changes *c = w->out;

	c->total++;
	if (c->n == CHANGES_MAX)
		return 0;
	if (c->n == c->cap) {
		struct change *grown =
			arena_grow(w->a, c->v, c->n, &c->cap, sizeof(*c->v), alignof(struct change));

		if (!grown)
			return err_sys(w->e, ENOMEM, "list of changes");
		c->v = grown;
	}
	c->v[c->n++] = (struct change){ .kind = kind, .path = path, .is_dir = is_dir };
	return 0;
}

/* overlayfs says "removed" with a character device 0/0 (its own; a sandbox cannot make one that counts elsewhere). */
static bool is_whiteout(const struct stat *st)
{
	return S_ISCHR(st->st_mode) && st->st_rdev == makedev(0, 0);
}

static void count(struct changes *c, const struct stat *st)
{
	uint64_t bytes = (uint64_t)st->st_blocks * 512;

	c->files++;
	c->bytes += S_ISDIR(st->st_mode) || st->st_nlink < 2 ? bytes : bytes / st->st_nlink;
}

/* The payload decides what lies here: what cannot be read must not hide the rest. */
static int skip(struct walk *w)
{
	w->out->incomplete = true;
	return 0;
}

/* Names that are only counted need no memory: there may be a million. */
static struct str path_of(struct walk *w, struct str at, const char *name)
{
	if (w->out->n == CHANGES_MAX)
		return (struct str){ 0 };
	return at.n ? arena_printf(w->a, "%.*s/%s", (int)at.n, at.p, name) : arena_str(w->a, str_z(name));
}

static int walk_dir(struct walk *w, int upper, int lower, struct str at, unsigned depth);

static int walk_entry(struct walk *w, int upper, int lower, struct str at, const char *name, unsigned depth)
{
	struct str path = path_of(w, at, name);
	_cleanup_close_ int up = FD_NONE, low = FD_NONE;
	struct stat st, old;
	bool existed;

	if (fstatat(upper, name, &st, AT_SYMLINK_NOFOLLOW) < 0)
		return errno == ENOENT ? 0 : skip(w);
	count(w->out, &st);
	if (is_whiteout(&st))
		return note(w, CHANGE_REMOVED, path, false);
	existed = lower >= 0 && fstatat(lower, name, &old, AT_SYMLINK_NOFOLLOW) == 0;
	if (!S_ISDIR(st.st_mode))
		return note(w, existed ? CHANGE_MODIFIED : CHANGE_ADDED, path, false);
	if (!existed || !S_ISDIR(old.st_mode)) {
		int r = note(w, existed ? CHANGE_MODIFIED : CHANGE_ADDED, path, true);

		if (r < 0)
			return r;
	}
	up = openat(upper, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	if (up < 0)
		return skip(w);
	if (existed && S_ISDIR(old.st_mode))
		low = openat(lower, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	return walk_dir(w, up, low, path, depth + 1);
}

static int walk_dir(struct walk *w, int upper, int lower, struct str at, unsigned depth)
{
	int copy = fcntl(upper, F_DUPFD_CLOEXEC, 3), r = 0;
	DIR *d = copy < 0 ? NULL : fdopendir(copy);
	const struct dirent *entry;

	if (!d) {
		(void)fd_close(copy);
		return skip(w);
	}
	if (depth > DEPTH_MAX)
		r = skip(w);
	while (depth <= DEPTH_MAX && r >= 0 && (entry = tree_next(d)))
		if (strcmp(entry->d_name, ".") != 0 && strcmp(entry->d_name, "..") != 0)
			r = walk_entry(w, upper, lower, at, entry->d_name, depth);
	if (r >= 0 && errno != 0)
		r = skip(w); /* the rest of it could not be read */
	(void)closedir(d);
	return r;
}

int changes_read(struct arena *a, int upper, int lower, struct changes *ret, struct err *e)
{
	struct walk w = { .a = a, .out = ret, .e = e };

	*ret = (struct changes){ 0 };
	/* As most commands leave it. */
	if (tree_is_empty(upper))
		return 0;
	if (lseek(upper, 0, SEEK_SET) < 0)
		return skip(&w);
	return walk_dir(&w, upper, lower, (struct str){ 0 }, 0);
}
