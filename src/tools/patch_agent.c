/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The agents' format:
 *
 *	*** Begin Patch
 *	*** Add File: PATH          lines that begin with '+'
 *	*** Delete File: PATH
 *	*** Update File: PATH       then perhaps "*** Move to: PATH", then hunks:
 *	@@ a line to be found first (as many as needed)
 *	 context, -old, +new
 *	*** End of File             (the hunk ends where the file ends)
 *	*** End Patch
 */
#include "tools/patch.h"

struct agent {
	struct arena *a;
	struct patch_reader r;
	struct patch *p;
	struct err *e;
};

static int refuse(struct agent *g, const char *what)
{
	return err_set(g->e, ERR_USAGE, "patch line %u: %s; the line is '" STR_FMT "'", g->r.number, what,
		       STR_ARG(g->r.line));
}

static int no_room(struct agent *g)
{
	return err_set(g->e, ERR_LIMIT,
		       "patch line %u: the patch is too large: %zu files and %zu lines of a hunk at most",
		       g->r.number, PATCH_FILES_MAX, PATCH_LINES_MAX);
}

/* "*** Add File: x" with the words "*** Add File:" -> "x". */
static bool header(const struct agent *g, struct str words, struct str *ret)
{
	struct str line = str_trim(g->r.line);

	if (!str_starts(line, words))
		return false;
	*ret = str_trim(str_from(line, words.n));
	return true;
}

static bool is_marker(const struct agent *g)
{
	return str_starts(g->r.line, STR("*** "));
}

static int read_added(struct agent *g, struct patch_file *f)
{
	struct patch_hunk *h = patch_add_hunk(g->a, f);

	if (!h)
		return no_room(g);
	h->at_line = g->r.number;
	while (patch_next(&g->r)) {
		if (is_marker(g)) {
			patch_unread(&g->r);
			break;
		}
		if (g->r.line.n == 0 || g->r.line.p[0] != '+')
			return refuse(g, "every line of an added file must begin with '+'");
		if (!patch_add_line(g->a, h, '+', str_from(g->r.line, 1)))
			return no_room(g);
	}
	return 0;
}

static int add_find(struct agent *g, struct patch_hunk *h, struct str text)
{
	struct str *v;

	if (text.n == 0)
		return 0;
	if (h->n_find == h->find_cap) {
		v = arena_grow(g->a, h->find, h->n_find, &h->find_cap, sizeof(*v), alignof(struct str));
		if (!v)
			return no_room(g);
		h->find = v;
	}
	h->find[h->n_find++] = text;
	return 0;
}

/* 0: the hunk is over. 1: the line was part of it. */
static int read_hunk_line(struct agent *g, struct patch_hunk *h)
{
	struct str line = g->r.line, rest;

	if (str_starts(line, STR("@@")) && h->n_lines == 0 && !h->at_end)
		return add_find(g, h, str_trim(str_from(line, 2))) < 0 ? -1 : 1;
	if (header(g, STR("*** End of File"), &rest)) {
		h->at_end = true;
		return 1;
	}
	if (is_marker(g) || str_starts(line, STR("@@")))
		return 0;
	if (h->at_end)
		return line.n == 0 ? 1
				   : refuse(g, "after '*** End of File' comes '@@', another file or the end");
	/* Editors and models drop the one blank of an empty context line. */
	if (line.n == 0) {
		if (!patch_add_line(g->a, h, ' ', line))
			return no_room(g);
		h->lines[h->n_lines - 1].bare = true;
		return 1;
	}
	if (line.p[0] != ' ' && line.p[0] != '-' && line.p[0] != '+')
		return refuse(g, "a line of a hunk must begin with ' ', '-', '+' or '@@'");
	return patch_add_line(g->a, h, line.p[0], str_from(line, 1)) ? 1 : no_room(g);
}

static bool changes_something(const struct patch_hunk *h)
{
	for (size_t i = 0; i < h->n_lines; i++)
		if (h->lines[i].kind != ' ')
			return true;
	return false;
}

/* Empty lines between a hunk and the next marker are no context. */
static void drop_empty_end(struct patch_hunk *h)
{
	while (h->n_lines > 0 && h->lines[h->n_lines - 1].bare)
		h->n_lines--;
}

static int read_hunk(struct agent *g, struct patch_file *f)
{
	struct patch_hunk *h = patch_add_hunk(g->a, f);
	int r = 1;

	if (!h)
		return no_room(g);
	h->at_line = g->r.number;
	patch_unread(&g->r);
	while (r > 0 && patch_next(&g->r)) {
		r = read_hunk_line(g, h);
		if (r == 0)
			patch_unread(&g->r);
	}
	if (r < 0)
		return r;
	drop_empty_end(h);
	if (!changes_something(h))
		return err_set(g->e, ERR_USAGE, "patch line %u: this hunk has no '-' and no '+' line",
			       h->at_line);
	return 0;
}

static int read_updated(struct agent *g, struct patch_file *f)
{
	int r;

	if (patch_next(&g->r) && !header(g, STR("*** Move to:"), &f->to))
		patch_unread(&g->r);
	if (f->to.p && f->to.n == 0)
		return refuse(g, "'*** Move to:' names no file");
	while (patch_next(&g->r)) {
		if (g->r.line.n == 0 && f->n_hunks == 0)
			continue;
		if (is_marker(g) && !str_starts(g->r.line, STR("*** End of File"))) {
			patch_unread(&g->r);
			break;
		}
		r = read_hunk(g, f);
		if (r < 0)
			return r;
	}
	if (f->n_hunks == 0 && !f->to.p)
		return err_set(g->e, ERR_USAGE, "patch line %u: the update of '" STR_FMT "' has no hunk",
			       f->at_line, STR_ARG(f->path));
	return 0;
}

static int read_file(struct agent *g)
{
	static const struct {
		struct str words;
		enum patch_op op;
		int (*read)(struct agent *g, struct patch_file *f);
	} kinds[] = {
		{ { "*** Add File:", 13 }, PATCH_ADD, read_added },
		{ { "*** Delete File:", 16 }, PATCH_DELETE, NULL },
		{ { "*** Update File:", 16 }, PATCH_UPDATE, read_updated },
	};

	for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++) {
		struct patch_file *f;
		struct str path;

		if (!header(g, kinds[i].words, &path))
			continue;
		if (path.n == 0)
			return refuse(g, "no file is named");
		f = patch_add_file(g->a, g->p);
		if (!f)
			return no_room(g);
		f->op = kinds[i].op;
		f->path = path;
		f->at_line = g->r.number;
		return kinds[i].read ? kinds[i].read(g, f) : 0;
	}
	return refuse(
		g, "expected '*** Add File: ', '*** Update File: ', '*** Delete File: ' or '*** End Patch'");
}

int patch_parse_agent(struct arena *a, struct str text, struct patch *ret, struct err *e)
{
	struct agent g = { .a = a, .r = { .rest = text }, .p = ret, .e = e };
	struct str rest;
	bool begun = false;

	*ret = (struct patch){ 0 };
	while (patch_next(&g.r)) {
		int r = 0;

		if (!begun)
			begun = header(&g, STR("*** Begin Patch"), &rest);
		else if (header(&g, STR("*** End Patch"), &rest))
			return ret->n_files ? 0 : refuse(&g, "the patch names no file");
		else if (str_trim(g.r.line).n > 0)
			r = read_file(&g);
		if (r < 0)
			return r;
	}
	return err_set(e, ERR_USAGE, "the patch has no '*** End Patch': it was cut off after line %u",
		       g.r.number);
}
