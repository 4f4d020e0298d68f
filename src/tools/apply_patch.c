/* SPDX-License-Identifier: Apache-2.0 */
/*
 * apply_patch: all of a patch or nothing. Everything is read, fitted and written beside its target before the first file
 * changes its name; when one of the last steps fails, those before it are taken back.
 */
#include "tools/patch.h"
#include "tools/tools_priv.h"

#include <stdio.h>
#include <sys/random.h>

#define TOTAL_BYTES ((size_t)128 << 20)

struct change {
	const struct patch_file *f;
	const char *path, *to; /* for struct files; to: NULL = stays */
	bool removes, writes;
	struct files_stat st;
	struct str new;
	mode_t mode;
	struct files_stage stage;
	char aside[FILES_PATH_MAX]; /* where what is removed waits; empty: it is in its place */
	size_t added, taken;
};

struct applying {
	struct tool_ctx *x;
	struct err *e;
	struct patch patch;
	struct change *v;
	size_t n;
	size_t bytes;
	const char **made; /* directories, in the order they were made */
	size_t n_made, made_cap;
};

static struct files *files_of(const struct applying *ap)
{
	return ap->x->files;
}

static void count_lines(struct change *c)
{
	for (size_t i = 0; i < c->f->n_hunks; i++)
		for (size_t k = 0; k < c->f->hunks[i].n_lines; k++) {
			c->added += c->f->hunks[i].lines[k].kind == '+';
			c->taken += c->f->hunks[i].lines[k].kind == '-';
		}
}

static int fit_text(struct applying *ap, struct change *c, struct str old)
{
	int r = patch_fit(ap->x->arena, c->f, old, &c->new, ap->e);

	if (r < 0)
		return err_wrap(ap->e, "apply_patch, nothing was changed");
	ap->bytes += old.n + c->new.n;
	if (c->new.n > TOOLS_FILE_BYTES || ap->bytes > TOTAL_BYTES)
		return err_set(ap->e, ERR_LIMIT,
			       "apply_patch: '" STR_FMT
			       "' makes it more than %zu bytes of a file or %zu in all",
			       STR_ARG(c->f->path), TOOLS_FILE_BYTES, TOTAL_BYTES);
	return 0;
}

static int fit_old(struct applying *ap, struct change *c)
{
	_cleanup_text_ struct text old = { 0 };
	int r = tools_load(ap->x, c->f->path, c->path, &old, &c->st, ap->e);

	if (r == 0)
		r = fit_text(ap, c, text_str(&old));
	if (r < 0)
		return r;
	c->mode = c->f->has_mode ? c->f->mode : c->st.mode & 07777;
	if (c->f->op == PATCH_DELETE && c->f->n_hunks && c->new.n > 0)
		return err_set(ap->e, ERR_USAGE,
			       "apply_patch: '" STR_FMT "' has more in it than the patch takes away",
			       STR_ARG(c->f->path));
	return 0;
}

/* A file that is deleted without being looked into may be a link; it may not be a directory. */
static int look_at_deleted(struct applying *ap, struct change *c)
{
	int r = files_of(ap)->ops->stat(files_of(ap), c->path, FILES_NOFOLLOW, &c->st);

	if (r == 0 && S_ISDIR(c->st.mode))
		r = -EISDIR;
	return r < 0 ? tools_say(ap->e, r, "delete", c->f->path) : 0;
}

static int prepare(struct applying *ap, struct change *c)
{
	struct files_stat st;
	int r = tools_path(ap->x, c->f->path, &c->path, ap->e);

	if (r == 0 && c->f->to.p && !str_eq(c->f->to, c->f->path))
		r = tools_path(ap->x, c->f->to, &c->to, ap->e);
	if (r < 0)
		return r;
	c->removes = c->f->op == PATCH_DELETE || c->to;
	c->writes = c->f->op != PATCH_DELETE;
	count_lines(c);
	if (c->f->op == PATCH_DELETE && c->f->n_hunks == 0)
		return look_at_deleted(ap, c);
	if (c->f->op != PATCH_ADD)
		return fit_old(ap, c);
	c->mode = c->f->has_mode ? c->f->mode : 0666;
	if (files_of(ap)->ops->stat(files_of(ap), c->path, FILES_NOFOLLOW, &st) == 0)
		return err_set(ap->e, ERR_USAGE,
			       "apply_patch: '" STR_FMT "' is there already, and the patch would add it",
			       STR_ARG(c->f->path));
	return fit_text(ap, c, STR(""));
}

/* The same file twice, under one name or two: the second change would undo the first. */
static int check_twice(struct applying *ap)
{
	for (size_t i = 0; i < ap->n; i++)
		for (size_t k = 0; k < i; k++) {
			const struct change *a = &ap->v[k], *b = &ap->v[i];
			bool both_old = a->f->op != PATCH_ADD && b->f->op != PATCH_ADD;

			if (strcmp(a->to ? a->to : a->path, b->to ? b->to : b->path) == 0 ||
			    (both_old && a->st.ino == b->st.ino && a->st.dev == b->st.dev))
				return err_set(ap->e, ERR_USAGE,
					       "apply_patch: '" STR_FMT "' and '" STR_FMT
					       "' are the same file; put all its hunks together",
					       STR_ARG(a->f->path), STR_ARG(b->f->path));
		}
	return 0;
}

static int note_made(struct applying *ap, const char *path)
{
	const char **v;

	if (ap->n_made == ap->made_cap) {
		v = arena_grow(ap->x->arena, ap->made, ap->n_made, &ap->made_cap, sizeof(*v),
			       alignof(const char *));
		if (!v)
			return -ENOMEM;
		ap->made = v;
	}
	ap->made[ap->n_made] = arena_str(ap->x->arena, str_z(path)).p;
	if (ap->x->arena->failed)
		return -ENOMEM;
	ap->n_made++;
	return 0;
}

/* One by one, so that those that were made can be taken away again. */
static int make_parents(struct applying *ap, const char *path)
{
	char part[FILES_PATH_MAX];

	for (size_t i = 1; path[i]; i++) {
		int r;

		if (path[i] != '/' || path[i - 1] == '/')
			continue;
		memcpy(part, path, i);
		part[i] = '\0';
		r = files_of(ap)->ops->mkdir(files_of(ap), part, 0, 0777);
		if (r == 0)
			r = note_made(ap, part);
		if (r < 0 && r != -EEXIST && r != -EISDIR)
			return r;
	}
	return 0;
}

static int stage(struct applying *ap, struct change *c)
{
	struct str said = c->to ? c->f->to : c->f->path;
	const char *path = c->to ? c->to : c->path;
	unsigned flags = c->f->has_mode || c->to ? FILES_SET_MODE : 0;
	int r;

	if (!c->writes)
		return 0;
	r = files_of(ap)->ops->stage(files_of(ap), path, flags, c->mode, &c->stage);
	if (r == -ENOENT) {
		r = make_parents(ap, path);
		if (r == 0)
			r = files_of(ap)->ops->stage(files_of(ap), path, flags, c->mode, &c->stage);
	}
	if (r == 0 && c->f->op == PATCH_UPDATE && !c->to &&
	    (!c->stage.exists || c->stage.old.ino != c->st.ino || c->stage.old.size != c->st.size ||
	     c->stage.old.mtime_ms != c->st.mtime_ms))
		r = -ESTALE;
	if (r == 0 && c->stage.exists && (c->to || c->f->op == PATCH_ADD))
		r = -EEXIST;
	if (r == 0)
		r = fd_write_all(c->stage.fd, c->new);
	return r < 0 ? tools_say(ap->e, r, "write", said) : 0;
}

static int name_aside(const char *path, char out[static FILES_PATH_MAX])
{
	const char *slash = strrchr(path, '/');
	int dir = slash ? (int)(slash - path) + 1 : 0;
	uint64_t random;

	if (getrandom(&random, sizeof(random), 0) != sizeof(random))
		return -EIO;
	if (dir + 32 >= FILES_PATH_MAX)
		return -ENAMETOOLONG;
	(void)snprintf(out, FILES_PATH_MAX, "%.*s.creel-%016llx", dir, path, (unsigned long long)random);
	return 0;
}

static int commit(struct applying *ap, struct change *c)
{
	bool is_new = c->to || c->f->op == PATCH_ADD;
	unsigned flags = FILES_KEEP_OLD | (is_new ? FILES_NEW : 0) | (ap->x->durable ? FILES_SYNC : 0);
	char aside[FILES_PATH_MAX];
	int r = c->writes ? files_of(ap)->ops->commit(files_of(ap), &c->stage, flags) : 0;

	if (r < 0)
		return tools_say(ap->e, r, "write", c->to ? c->f->to : c->f->path);
	if (!c->removes)
		return 0;
	r = name_aside(c->path, aside);
	if (r == 0)
		r = files_of(ap)->ops->rename(files_of(ap), c->path, aside, FILES_NEW);
	if (r < 0)
		return tools_say(ap->e, r, "delete", c->f->path);
	memcpy(c->aside, aside, sizeof(aside));
	return 0;
}

static int take_back(struct applying *ap, struct change *c)
{
	int r = 0, u;

	if (c->aside[0]) {
		r = files_of(ap)->ops->rename(files_of(ap), c->aside, c->path, FILES_NEW);
		if (r == 0)
			c->aside[0] = '\0';
	}
	u = files_of(ap)->ops->undo(files_of(ap), &c->stage);
	return r < 0 ? r : u;
}

/* The error that there was stays, and what could not be taken back is told with it. */
static int take_all_back(struct applying *ap, int error)
{
	for (size_t i = ap->n; i-- > 0;) {
		struct change *c = &ap->v[i];

		if (take_back(ap, c) < 0)
			(void)err_wrap(ap->e, "'" STR_FMT "' could not be put back as it was%s%s",
				       STR_ARG(c->f->path), c->aside[0] ? "; it is in " : "", c->aside);
	}
	for (size_t i = ap->n_made; i-- > 0;)
		(void)files_of(ap)->ops->remove(files_of(ap), ap->made[i], FILES_DIRECTORY);
	return error;
}

static void finish(struct applying *ap, bool ok)
{
	for (size_t i = 0; i < ap->n; i++) {
		if (ok && ap->v[i].aside[0])
			(void)files_of(ap)->ops->remove(files_of(ap), ap->v[i].aside, 0);
		files_of(ap)->ops->drop(files_of(ap), &ap->v[i].stage);
	}
}

static int each(struct applying *ap, int (*step)(struct applying *ap, struct change *c))
{
	for (size_t i = 0; i < ap->n; i++) {
		int r = step(ap, &ap->v[i]);

		if (r < 0)
			return r;
	}
	return 0;
}

static int carry_out(struct applying *ap)
{
	int r = each(ap, prepare);

	if (r == 0)
		r = check_twice(ap);
	if (r < 0)
		return r;
	if (ap->x->arena->failed || tools_late(ap->x))
		return err_set(ap->e, ERR_LIMIT, "apply_patch: too much memory or time; nothing was changed");
	r = each(ap, stage);
	if (r == 0)
		r = each(ap, commit);
	return r < 0 ? take_all_back(ap, r) : 0;
}

/* What is there now because of it. */
static void say_artifacts(const struct applying *ap, struct jsonw *w)
{
	jsonw_karr(w, "artifacts");
	for (size_t i = 0; i < ap->n; i++) {
		const struct change *c = &ap->v[i];

		if (c->f->op != PATCH_DELETE)
			tools_put_artifact(w, c->to ? c->f->to : c->f->path, "file");
	}
	jsonw_arr_end(w);
	ap->x->says_artifacts = true;
}

static void put_result(const struct applying *ap, struct jsonw *w)
{
	static const char *const names[] = {
		[PATCH_UPDATE] = "updated", [PATCH_ADD] = "added", [PATCH_DELETE] = "deleted"
	};

	jsonw_karr(w, "files");
	for (size_t i = 0; i < ap->n; i++) {
		const struct change *c = &ap->v[i];

		jsonw_obj(w);
		jsonw_kstr(w, "path", c->f->path);
		jsonw_kz(w, "change", c->to ? "moved" : names[c->f->op]);
		if (c->to)
			jsonw_kstr(w, "to", c->f->to);
		jsonw_ku64(w, "added", c->added);
		jsonw_ku64(w, "removed", c->taken);
		jsonw_obj_end(w);
	}
	jsonw_arr_end(w);
	say_artifacts(ap, w);
}

int tool_apply_patch(struct tool_ctx *x, const struct tool_in *in, struct jsonw *w, struct err *e)
{
	struct applying ap = { .x = x, .e = e };
	int r = patch_parse(x->arena, tools_str(in, PATCH_INPUT), &ap.patch, e);

	if (r < 0)
		return err_wrap(e, "apply_patch");
	ap.v = ARENA_ARRAY(x->arena, struct change, ap.patch.n_files);
	if (!ap.v)
		return err_set(e, ERR_LIMIT, "apply_patch: no memory for %zu files", ap.patch.n_files);
	ap.n = ap.patch.n_files;
	for (size_t i = 0; i < ap.n; i++) {
		ap.v[i].f = &ap.patch.files[i];
		ap.v[i].stage = FILES_STAGE_NONE;
	}
	r = carry_out(&ap);
	finish(&ap, r == 0);
	if (r < 0)
		return r;
	put_result(&ap, w);
	return 0;
}
