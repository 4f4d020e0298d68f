/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The private directory of one run (see cli/run_dirs.c): made or taken here, outside, so that from its first
 * moment there is somebody who outlives a killed creel and removes it.
 */
#include "sandbox/warden/warden.h"

#include <linux/fcntl.h>
#include <linux/fs.h>
#include <linux/openat2.h>
#include <linux/stat.h>

#define LOCK_EX_NB 6 /* LOCK_EX | LOCK_NB */
#define SPARE_MAX 8  /* as in cli/run_dirs.c */

static const char *last_name(const char *path)
{
	const char *name = path;

	for (; *path; path++)
		name = *path == '/' ? path + 1 : name;
	return name;
}

/* The path has no links in it, creel has seen to that; the directory is ours alone, or it is not used. */
static long open_ours(const char *dir)
{
	struct statx st = { 0 };
	long fd, r;

	fd = open_how(AT_FDCWD, dir, O_RDONLY | O_DIRECTORY, RESOLVE_NO_SYMLINKS);
	if (fd < 0)
		return fd;
	r = SYS5(statx, fd, "", AT_EMPTY_PATH, STATX_UID | STATX_MODE, &st);
	if (r >= 0 && (st.stx_uid != (uint32_t)SYS0(geteuid) || st.stx_mode & 0022))
		r = -EPERM;
	if (r >= 0)
		return fd;
	SYS1(close, fd);
	return r;
}

static long open_live(const char *path)
{
	char dir[4096];
	size_t n = (size_t)(last_name(path) - path), at = 0;

	if (n < 2 || n >= sizeof(dir))
		return -ENAMETOOLONG;
	text_put(dir, n, &at, path); /* without the slash */
	return open_ours(dir);
}

/* Beside live/: what follows the last slash but one is cut off. */
static long open_spare(const char *path)
{
	char dir[4096];
	size_t last = 0, before = 0, at = 0;

	for (size_t i = 0; path[i]; i++)
		if (path[i] == '/') {
			before = last;
			last = i;
		}
	if (!before || before + sizeof("/spare") > sizeof(dir))
		return -ENAMETOOLONG;
	text_put(dir, before + 1, &at, path);
	text_put(dir, sizeof(dir), &at, "/spare");
	return open_ours(dir);
}

/* Locked before it has its name, so that nobody takes it for abandoned; and never one that was there already. */
static long make_locked(struct warden *w, const char *name)
{
	char fresh[64] = ".";
	size_t at = 1;
	long fd, r;

	text_put(fresh, sizeof(fresh), &at, name);
	r = SYS3(mkdirat, w->live_fd, fresh, 0700);
	if (r < 0)
		return r;
	fd = SYS4(openat, w->live_fd, fresh, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC, 0);
	r = fd < 0 ? fd : SYS2(flock, fd, LOCK_EX_NB);
	if (r >= 0)
		r = SYS5(renameat2, w->live_fd, fresh, w->live_fd, name, RENAME_NOREPLACE);
	if (r < 0) {
		SYS3(unlinkat, w->live_fd, fresh, AT_REMOVEDIR);
		return r;
	}
	w->private_fd = (int)fd;
	return 0;
}

/* The sandbox's user must be able to pass through it; for root that is another user than ours. */
static long give(const struct warden *w, int dir, const char *name)
{
	const struct plan_header *p = w->plan;

	if (!(p->flags & PLAN_F_PARENT_MAPS))
		return 0;
	return SYS5(fchownat, dir, name, p->outer_uid, p->outer_gid,
		    *name ? AT_SYMLINK_NOFOLLOW : AT_EMPTY_PATH);
}

static long make_layer(const struct warden *w, const char *path)
{
	const char *name = last_name(path);
	long r = SYS3(mkdirat, w->private_fd, name, 0700);

	if (r == -EEXIST && w->private_stays)
		return 0;
	return r < 0 ? r : give(w, w->private_fd, name);
}

/* ---- one that another run has not used ---- */

static bool same(int a, const struct statx *y)
{
	struct statx x = { 0 };

	return SYS5(statx, a, "", AT_EMPTY_PATH, STATX_INO, &x) >= 0 && x.stx_ino == y->stx_ino &&
	       x.stx_dev_major == y->stx_dev_major && x.stx_dev_minor == y->stx_dev_minor;
}

/* As give() and mkdir leave it; another creel may have had other users. */
static bool is_given(const struct warden *w, int dir, const char *name)
{
	const struct plan_header *p = w->plan;
	bool other = p->flags & PLAN_F_PARENT_MAPS;
	struct statx st = { 0 };

	return SYS5(statx, dir, name, AT_SYMLINK_NOFOLLOW | AT_EMPTY_PATH,
		    STATX_TYPE | STATX_MODE | STATX_UID | STATX_GID, &st) >= 0 &&
	       st.stx_mode == 0040700 && st.stx_uid == (other ? p->outer_uid : (uint32_t)SYS0(geteuid)) &&
	       st.stx_gid == (other ? p->outer_gid : (uint32_t)SYS0(getegid));
}

/* The layers of the run before; disk.c passes over what is called so. */
static const char *const old_names[] = { "old", "old-work" };

static void remove_old(int dir, const char *name)
{
	long old = SYS4(openat, dir, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC, 0);

	if (old == -EACCES) {
		give_rights(dir, name);
		old = SYS4(openat, dir, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC, 0);
	}
	if (old < 0)
		return;
	remove_below((int)old);
	SYS1(close, old);
	SYS3(unlinkat, dir, name, AT_REMOVEDIR);
}

/*
 * Layers are mounted once: the kernel may not have taken the last overlay of these down yet (later.c). They are removed when pid 1 has no need
 * of us any more: freeing a directory can mean waiting for the disk.
 */
static long set_aside(int dir, const char *layer, const char *old)
{
	long r = SYS5(renameat2, dir, layer, dir, old, RENAME_NOREPLACE);

	if (r == -EEXIST) { /* whoever had to remove that one was killed */
		remove_old(dir, old);
		r = SYS5(renameat2, dir, layer, dir, old, RENAME_NOREPLACE);
	}
	return r;
}

/* It is ours by now, under our name: whoever is killed here leaves it to be swept, and not half of a spare one. */
static long renew(const struct warden *w, int fd, const char *name, const char *upper, const char *work)
{
	long r = set_aside(fd, upper, old_names[0]);

	if (r >= 0)
		r = set_aside(fd, work, old_names[1]);
	if (r < 0) {
		remove_below(fd);
		SYS3(unlinkat, w->live_fd, name, AT_REMOVEDIR);
	}
	return r;
}

/* Who has the lock may rename it, and nobody else. */
static long take(struct warden *w, long spare, const char *from, const char *upper, const char *work)
{
	const char *to = last_name(plan_str(w, w->plan->private_dir));
	long fd = SYS4(openat, spare, from, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC, 0), r;
	struct statx st = { 0 };

	if (fd < 0)
		return fd;
	r = SYS2(flock, fd, LOCK_EX_NB);
	if (r >= 0)
		r = SYS5(statx, spare, from, AT_SYMLINK_NOFOLLOW, STATX_INO, &st);
	if (r >= 0 && (!same((int)fd, &st) || !is_given(w, (int)fd, "") || !is_given(w, (int)fd, upper) ||
		       !is_given(w, (int)fd, work)))
		r = -ESTALE;
	if (r >= 0)
		r = SYS5(renameat2, spare, from, w->live_fd, to, RENAME_NOREPLACE);
	if (r >= 0)
		r = renew(w, (int)fd, to, upper, work);
	if (r < 0)
		SYS1(close, fd);
	else
		w->private_fd = (int)fd;
	return r;
}

/* True when w->private_fd is one. Whatever is wrong with those that are there, a new one can be made. */
static bool take_spare(struct warden *w, const char *path, const struct step *overlay)
{
	const char *upper = plan_str_after(w, plan_str(w, overlay->b));
	const char *work = plan_str_after(w, upper);
	long spare = open_spare(path), r = -ENOENT;

	if (spare < 0)
		return false;
	for (char i = '0'; i < '0' + SPARE_MAX && r < 0; i++) {
		const char name[2] = { i };

		r = take(w, spare, name, last_name(upper), last_name(work));
	}
	SYS1(close, spare);
	return r >= 0;
}

void private_settled(const struct warden *w)
{
	for (int i = 0; i < 2 && w->private_fd >= 0; i++)
		remove_old(w->private_fd, old_names[i]);
}

/* ---- one that stays ---- */

/* What is there is a session's, from its last sandbox; one session has one at a time. */
static long take_lasting(struct warden *w, const char *name)
{
	long fd, r = SYS3(mkdirat, w->live_fd, name, 0700);

	w->private_stays = true;
	if (r < 0 && r != -EEXIST)
		return r;
	fd = SYS4(openat, w->live_fd, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC, 0);
	if (fd < 0)
		return fd;
	w->private_fd = (int)fd;
	r = SYS2(flock, fd, LOCK_EX_NB);
	if (r == -EAGAIN)
		r = -EBUSY;
	/* Whoever was killed while he made it has not given it away yet. */
	if (r >= 0 && !is_given(w, (int)fd, ""))
		r = give(w, (int)fd, "");
	return r >= 0 && !is_given(w, (int)fd, "") ? -EPERM : r;
}

/* ---- all ---- */

static long make_layers(const struct warden *w)
{
	long r = 0;

	for (uint32_t i = 0; i < w->plan->n_steps && r >= 0; i++) {
		const struct step *s = &w->steps[i];
		const char *upper;

		if (s->kind != STEP_OVERLAY)
			continue;
		upper = plan_str_after(w, plan_str(w, s->b));
		r = make_layer(w, upper);
		if (r >= 0)
			r = make_layer(w, plan_str_after(w, upper));
	}
	return r;
}

/* NULL when there is none, or more than one. */
static const struct step *only_overlay(const struct warden *w)
{
	const struct step *found = NULL;
	unsigned n = 0;

	for (uint32_t i = 0; i < w->plan->n_steps; i++)
		if (w->steps[i].kind == STEP_OVERLAY) {
			found = &w->steps[i];
			n++;
		}
	return n == 1 ? found : NULL;
}

static long make_all(struct warden *w, const char *path)
{
	const struct step *overlay = only_overlay(w);
	long r = open_live(path);

	if (r < 0)
		return r;
	w->live_fd = (int)r;
	if (w->plan->flags & PLAN_F_STAYS) {
		r = take_lasting(w, last_name(path));
		return r < 0 ? r : make_layers(w);
	}
	if (overlay && take_spare(w, path, overlay))
		return make_layers(w);
	r = make_locked(w, last_name(path));
	if (r >= 0)
		r = give(w, w->private_fd, "");
	return r < 0 ? r : make_layers(w);
}

long private_make(struct warden *w)
{
	const char *path = plan_str(w, w->plan->private_dir);
	long r = make_all(w, path);
	char what[sizeof(w->report.what)];
	size_t at = 0;

	if (r >= 0)
		return life_send(w, LIFE_PRIVATE, -1);
	text_put(what, sizeof(what), &at, "create '");
	text_put(what, sizeof(what) - 1, &at, path);
	text_put(what, sizeof(what), &at, "'");
	complain(w, 0, r, what);
	return r;
}

/* A creel that lived has removed it, or moved it away: there is something to keep, or nothing at all. */
void private_remove(const struct warden *w)
{
	const char *name = last_name(plan_str(w, w->plan->private_dir));
	long fd = SYS4(openat, w->live_fd, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC, 0);
	struct statx st = { 0 };

	if (fd < 0)
		return;
	if (!w->private_stays && SYS5(statx, fd, "", AT_EMPTY_PATH, STATX_INO, &st) >= 0 &&
	    same(w->private_fd, &st)) {
		remove_below((int)fd);
		SYS3(unlinkat, w->live_fd, name, AT_REMOVEDIR);
	}
	SYS1(close, fd);
}
