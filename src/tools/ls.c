/* SPDX-License-Identifier: Apache-2.0 */
/* ls: what is in a directory, and, when asked, below it. Links are shown and not followed. */
#include "tools/walk.h"

/* Sorting needs all names of a directory at once; beyond this it is counted and not shown. */
#define SORT_MAX ((size_t)100000)

struct ls {
	struct tool_ctx *x;
	struct jsonw *w;
	uint64_t depth;
	size_t limit, shown, total;
	size_t too_deep; /* directories that are told, and not what is in them */
	bool late, unreadable;
};

static const char *type_of(mode_t mode)
{
	switch (mode & S_IFMT) {
	case S_IFREG:
		return "file";
	case S_IFDIR:
		return "directory";
	case S_IFLNK:
		return "link";
	case S_IFIFO:
		return "fifo";
	case S_IFSOCK:
		return "socket";
	default:
		return "device";
	}
}

static void put_entry(struct ls *l, const char *name, const struct files_stat *st)
{
	l->total++;
	if (l->shown == l->limit)
		return;
	l->shown++;
	jsonw_obj(l->w);
	jsonw_kz(l->w, "name", name);
	jsonw_kz(l->w, "type", type_of(st->mode));
	if (S_ISREG(st->mode)) {
		jsonw_ku64(l->w, "size", st->size);
		if (st->mode & 0111)
			jsonw_kbool(l->w, "executable", true);
	}
	jsonw_obj_end(l->w);
}

static int show(struct ls *l, const char *path, const char *name, uint64_t depth);

static int show_entry(struct ls *l, const char *path, const char *name, const struct files_entry *entry,
		      uint64_t depth)
{
	char sub_path[FILES_PATH_MAX], sub_name[FILES_PATH_MAX];
	int r;

	if (!walk_join(sub_path, path, entry->name) || !walk_join(sub_name, name, entry->name)) {
		l->unreadable = true;
		return 0;
	}
	put_entry(l, sub_name, &entry->st);
	l->too_deep += S_ISDIR(entry->st.mode) && depth >= l->depth;
	if (!S_ISDIR(entry->st.mode) || depth >= l->depth || l->shown >= l->limit)
		return 0;
	/* A directory that cannot be read, or is gone, must not hide the rest; a clerk that is gone hides all of it. */
	r = show(l, sub_path, sub_name, depth + 1);
	if (r == -ECONNRESET)
		return r;
	if (r < 0)
		l->unreadable = true;
	return 0;
}

static int show(struct ls *l, const char *path, const char *name, uint64_t depth)
{
	_cleanup_listing_ struct listing dir = { 0 };
	int r = listing_load(l->x->files, path, FILES_WITH_STAT | (depth > 1 ? FILES_NOFOLLOW : 0), SORT_MAX,
			     &dir);

	if (r < 0)
		return r;
	for (size_t i = 0; i < dir.n; i++) {
		if (tools_late(l->x)) {
			l->late = true;
			break;
		}
		r = show_entry(l, path, name, &dir.v[i], depth);
		if (r < 0)
			return r;
	}
	l->total += dir.total - dir.n;
	return 0;
}

int tool_ls(struct tool_ctx *x, const struct tool_in *in, struct jsonw *w, struct err *e)
{
	struct str said = in->v[LS_PATH] ? tools_str(in, LS_PATH) : STR(".");
	struct ls l = { .x = x, .w = w, .limit = (size_t)tools_int(in, LS_LIMIT, 1000) };
	const char *path;
	int r = tools_path(x, said, &path, e);

	if (r < 0)
		return r;
	l.depth = (uint64_t)tools_int(in, LS_DEPTH, tools_bool(in, LS_RECURSIVE) ? 32 : 1);
	jsonw_kstr(w, "path", said);
	jsonw_karr(w, "entries");
	r = show(&l, path, ".", 1);
	if (r < 0)
		return tools_say(e, r, "list", said);
	jsonw_arr_end(w);
	jsonw_ku64(w, "shown", l.shown);
	/* When the limit was reached before all directories were, nobody knows the total. */
	if (l.total > l.shown)
		jsonw_ku64(w, "atLeast", l.total);
	/* Who says how deep, or asks for one directory, has what he wanted. */
	if (in->v[LS_DEPTH] || !tools_bool(in, LS_RECURSIVE))
		l.too_deep = 0;
	if (l.too_deep)
		jsonw_ku64(w, "directoriesTooDeep", l.too_deep);
	jsonw_kbool(w, "truncated", l.total > l.shown || l.late || l.too_deep);
	if (l.late)
		jsonw_kz(w, "why", "the time of the call was over");
	if (l.unreadable)
		jsonw_kbool(w, "unreadable", true);
	return 0;
}
