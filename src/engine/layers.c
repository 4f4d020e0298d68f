/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Private layers that nobody uses any more (docs/decisions/010): layers/ of sessions and runs/ of `creel run` in the state directory. One in which
 * nothing was changed goes with any prune. One with changes is somebody's work: it goes only when so many days were asked for
 * or configured, and nothing in it has changed and no sandbox was made with it for as long.
 *
 * Whoever uses layers holds a lock on their directory. Nobody is kept waiting for one here: what is locked is in use.
 */
#include "engine/engine_priv.h"

#include "base/clock.h"
#include "base/fd.h"
#include "base/private.h"
#include "base/tree.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#define DIR_FLAGS (O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC)
#define LOOK_MAX 100000u  /* names looked at by one prune */
#define SETTLE_MS 600000u /* longer than anybody takes from the note to the lock */
#define DAY_MS 86400000u
#define GONE ".gone-" /* what is being removed; a prune that was killed leaves it, and the next goes on */
#define NOTE ".session"

struct pruning {
	const struct prune_opts *o;
	uint64_t max_ms; /* 0 = what has changes stays */
	uint64_t now_ms;
	live_fn *each;
	void *ctx;
	const char *kind;
	int dir;
	int n;
};

static void note_name(const char *id, char out[static 300])
{
	(void)snprintf(out, 300, "%.255s" NOTE, id);
}

/* Whose they are, for people, and when they were used last. Without it they are found all the same. */
void layers_note(int dir, const char *id, struct str key)
{
	char name[300];
	_cleanup_close_ int fd = FD_NONE;
	struct stat st;

	note_name(id, name);
	fd = openat(dir, name, O_WRONLY | O_CREAT | O_NOFOLLOW | O_CLOEXEC, 0600);
	if (fd < 0 || fstat(fd, &st) < 0 || !S_ISREG(st.st_mode))
		return;
	if (st.st_size == 0 && private_mode(fd, 0600) == 0)
		(void)fd_write_all(fd, key);
	else
		(void)futimens(fd, NULL);
}

/* ---- what is in one ---- */

static bool is_dots(const char *name)
{
	return strcmp(name, ".") == 0 || strcmp(name, "..") == 0;
}

/* As the warden made it. */
static bool is_untouched(int dir, const char *upper, const struct stat *above)
{
	_cleanup_close_ int fd = openat(dir, upper, DIR_FLAGS);
	struct tree_size size;
	struct stat st;

	return fd >= 0 && fstat(fd, &st) == 0 && st.st_mode == above->st_mode && st.st_uid == above->st_uid &&
	       st.st_gid == above->st_gid && tree_measure(fd, ".", &size) == 0 && size.entries == 0 &&
	       !size.incomplete;
}

/* Only overlayfs's own directories, and upper layers with nothing in them. */
static bool has_changes(int dir)
{
	int copy = openat(dir, ".", DIR_FLAGS);
	DIR *d = copy < 0 ? NULL : fdopendir(copy);
	struct stat above;
	bool found = !d || fstat(copy, &above) < 0;

	for (struct dirent *entry; !found && (entry = tree_next(d));) {
		struct str name = str_z(entry->d_name);

		if (is_dots(entry->d_name) || str_starts(name, STR("work")) || str_eq(name, STR("old")))
			continue;
		found = !str_starts(name, STR("upper")) || !is_untouched(dir, entry->d_name, &above);
	}
	found = found || errno != 0; /* what could not be read may be one */
	if (d)
		(void)closedir(d);
	else
		(void)fd_close(copy);
	return found;
}

/* Its note, and everything in it. */
static int last_use(const struct pruning *p, const char *id, struct tree_size *ret)
{
	char name[300];
	struct stat st;
	int r = tree_measure(p->dir, id, ret);

	note_name(id, name);
	if (r >= 0 && fstatat(p->dir, name, &st, AT_SYMLINK_NOFOLLOW) == 0) {
		uint64_t ms = (uint64_t)st.st_mtim.tv_sec * 1000;

		ret->newest_ms = ms > ret->newest_ms ? ms : ret->newest_ms;
	}
	return r;
}

/* ---- one that goes ---- */

static struct str owner(const struct pruning *p, const char *id, struct arena *a)
{
	_cleanup_free_ char *text = NULL;
	char name[300];
	size_t n = 0;

	note_name(id, name);
	if (fd_read_file_beneath(p->dir, name, REGISTRY_KEY_MAX, &text, &n) >= 0 && n > 0)
		return arena_str(a, (struct str){ .p = text, .n = n });
	return arena_printf(a, "%s/%s", p->kind, id);
}

/* With the lock in our hands until nothing is left: who opened it before it lost its name is told that it is in use. */
static bool take_away(const struct pruning *p, const char *id, uint64_t used_ms, int *ret_errno)
{
	_cleanup_close_ int fd = openat(p->dir, id, DIR_FLAGS);
	struct tree_size now;
	char gone[300], note[300];

	*ret_errno = 0;
	if (fd < 0 || flock(fd, LOCK_EX | LOCK_NB) < 0 || last_use(p, id, &now) < 0 ||
	    now.newest_ms != used_ms)
		return false;
	(void)snprintf(gone, sizeof(gone), GONE "%.255s", id);
	note_name(id, note);
	if (renameat(p->dir, id, p->dir, gone) < 0) {
		*ret_errno = errno;
		return false;
	}
	(void)unlinkat(p->dir, note, 0);
	*ret_errno = -tree_remove(p->dir, gone);
	return true;
}

static bool in_use(const struct pruning *p, const char *id)
{
	_cleanup_close_ int fd = openat(p->dir, id, DIR_FLAGS);

	return fd < 0 || flock(fd, LOCK_EX | LOCK_NB) < 0;
}

static int tell(struct pruning *p, struct str who, const struct tree_size *size)
{
	const struct reg_entry entry = {
		.key = who, .session = who, .used_ms = size->newest_ms, .created_ms = size->newest_ms
	};
	const struct live_info info = {
		.entry = &entry, .layers = true, .disk_bytes = size->bytes, .why = "unused"
	};

	p->n++;
	return p->each ? p->each(p->ctx, &info) : 0;
}

static int prune_one(struct pruning *p, const char *id, struct err *e)
{
	_cleanup_arena_ struct arena a = { 0 };
	_cleanup_close_ int dir = openat(p->dir, id, DIR_FLAGS);
	struct tree_size size;
	struct str who;
	bool changed;
	int why;

	if (dir < 0 || in_use(p, id) || last_use(p, id, &size) < 0)
		return 0; /* a note, or it has just gone */
	changed = has_changes(dir);
	if (size.newest_ms + (changed ? p->max_ms : SETTLE_MS) > p->now_ms || (changed && !p->max_ms))
		return 0;
	arena_init(&a, (size_t)1 << 16);
	who = owner(p, id, &a);
	if (!p->o->dry && !take_away(p, id, size.newest_ms, &why))
		return why ? err_sys(e, why, "remove the private layers of '" STR_FMT "'", STR_ARG(who)) : 0;
	if (!p->o->dry && why)
		return err_sys(e, why, "remove all of the private layers of '" STR_FMT "'", STR_ARG(who));
	return changed ? tell(p, who, &size) : 0;
}

/* Notes of what was never made, and what a prune that was killed has left. */
static void tidy(const struct pruning *p, const char *name)
{
	struct str s = str_z(name), id;
	struct stat st;
	char z[300];

	if (str_starts(s, STR(GONE)) && !in_use(p, name)) {
		(void)tree_remove(p->dir, name);
		return;
	}
	if (!str_ends(s, STR(NOTE)) || fstatat(p->dir, name, &st, AT_SYMLINK_NOFOLLOW) < 0 ||
	    (uint64_t)st.st_mtim.tv_sec * 1000 + SETTLE_MS > p->now_ms)
		return;
	id = (struct str){ .p = s.p, .n = s.n - strlen(NOTE) };
	(void)snprintf(z, sizeof(z), "%.*s", (int)id.n, id.p);
	if (fstatat(p->dir, z, &st, AT_SYMLINK_NOFOLLOW) < 0 && errno == ENOENT)
		(void)unlinkat(p->dir, name, 0);
}

static int prune_kind(struct pruning *p, struct engine *g, struct err *e)
{
	char path[4096];
	_cleanup_close_ int dir = state_open(&g->state, p->kind, ".", path, sizeof(path), e);
	int copy = dir < 0 ? FD_NONE : openat(dir, ".", DIR_FLAGS), r = dir < 0 ? dir : 0;
	DIR *d = copy < 0 ? NULL : fdopendir(copy);
	struct dirent *entry;
	unsigned i;

	p->dir = dir;
	if (dir >= 0 && !d)
		r = err_sys(e, errno, "read '%s'", path);
	for (i = 0; r == 0 && d && i < LOOK_MAX && (entry = tree_next(d)); i++) {
		if (is_dots(entry->d_name))
			continue;
		if (!p->o->dry)
			tidy(p, entry->d_name);
		if (entry->d_name[0] != '.')
			r = prune_one(p, entry->d_name, e);
	}
	if (r == 0 && d && i < LOOK_MAX && errno != 0)
		r = err_sys(e, errno, "read '%s'", path);
	if (d)
		(void)closedir(d);
	else
		(void)fd_close(copy);
	return r;
}

int layers_prune(struct engine *g, const struct prune_opts *o, live_fn *each, void *ctx, struct err *e)
{
	static const char *const kinds[] = { "layers", "runs" };
	uint64_t days = o->layers_days < 0 ? g->config.base.prune_layers_d : (uint64_t)o->layers_days;
	struct pruning p = { .o = o,
			     .max_ms = days * DAY_MS,
			     .now_ms = o->now_ms ? o->now_ms : clock_unix_ms(),
			     .each = each,
			     .ctx = ctx };
	int r = 0;

	for (size_t i = 0; r == 0 && i < sizeof(kinds) / sizeof(kinds[0]); i++) {
		p.kind = kinds[i];
		r = prune_kind(&p, g, e);
	}
	return r < 0 ? r : p.n;
}
