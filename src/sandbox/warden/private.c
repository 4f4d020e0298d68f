/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The private directory of one run (see cli/run_dirs.c): made here, outside, so that from its first
 * moment there is somebody who outlives a killed creel and removes it.
 */
#include "sandbox/warden/warden.h"

#include <linux/fcntl.h>
#include <linux/fs.h>
#include <linux/openat2.h>
#include <linux/stat.h>

#define LOCK_EX_NB 6 /* LOCK_EX | LOCK_NB */

static const char *last_name(const char *path)
{
	const char *name = path;

	for (; *path; path++)
		name = *path == '/' ? path + 1 : name;
	return name;
}

/* The path has no links in it, creel has seen to that; the directory is ours alone, or it is not used. */
static long open_live(const char *path)
{
	char dir[4096];
	size_t n = (size_t)(last_name(path) - path), at = 0;
	struct statx st = { 0 };
	long fd, r;

	if (n < 2 || n >= sizeof(dir))
		return -ENAMETOOLONG;
	text_put(dir, n, &at, path); /* without the slash */
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

	return r < 0 ? r : give(w, w->private_fd, name);
}

static long make_all(struct warden *w, const char *path)
{
	long r = open_live(path);

	if (r < 0)
		return r;
	w->live_fd = (int)r;
	r = make_locked(w, last_name(path));
	if (r >= 0)
		r = give(w, w->private_fd, "");
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

static bool same(int a, long b)
{
	struct statx x = { 0 }, y = { 0 };

	return SYS5(statx, a, "", AT_EMPTY_PATH, STATX_INO, &x) >= 0 &&
	       SYS5(statx, b, "", AT_EMPTY_PATH, STATX_INO, &y) >= 0 && x.stx_ino == y.stx_ino &&
	       x.stx_dev_major == y.stx_dev_major && x.stx_dev_minor == y.stx_dev_minor;
}

/* A creel that lived has removed it, or moved it away because there is something to keep. */
void private_remove(const struct warden *w)
{
	const char *name = last_name(plan_str(w, w->plan->private_dir));
	long fd = SYS4(openat, w->live_fd, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC, 0);

	if (fd < 0)
		return;
	if (same(w->private_fd, fd)) {
		remove_below((int)fd);
		SYS3(unlinkat, w->live_fd, name, AT_REMOVEDIR);
	}
	SYS1(close, fd);
}
