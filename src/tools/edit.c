/* SPDX-License-Identifier: Apache-2.0 */
/*
 * edit: exact text for exact text. The old text has to be there once (or replaceAll is given), and several edits are made one
 * after the other on a copy in memory: the file changes once, or not at all. In a file whose lines end in CR LF the texts may
 * be given with LF: it keeps its line ends.
 */
#include "tools/near.h"
#include "tools/tools_priv.h"

struct edit {
	struct str old, new;
	bool all;
	const char *where; /* "" or "edits[2]: " */
};

struct editing {
	struct str said;
	struct text text;
	bool crlf;
	size_t made;
	size_t first_line;
};

static void editing_done(struct editing *ed)
{
	text_done(&ed->text);
}

/* LF that has no CR before it gets one. */
static struct str with_crlf(struct arena *a, struct str s)
{
	size_t n = 0;
	char *p = arena_alloc(a, s.n * 2 + 1, 1);

	if (!p)
		return s;
	for (size_t i = 0; i < s.n; i++) {
		if (s.p[i] == '\n' && (i == 0 || s.p[i - 1] != '\r'))
			p[n++] = '\r';
		p[n++] = s.p[i];
	}
	return (struct str){ .p = p, .n = n };
}

static size_t count(struct str file, struct str wanted)
{
	const char *p = file.p, *end = file.p + file.n;
	size_t n = 0;

	while ((p = memmem(p, (size_t)(end - p), wanted.p, wanted.n))) {
		n++;
		p += wanted.n;
	}
	return n;
}

static int refuse_missing(const struct editing *ed, const struct edit *one, struct err *e)
{
	_cleanup_buf_ struct buf hint = { 0 };

	buf_init(&hint, 300);
	near_put(text_str(&ed->text), one->old, &hint);
	return err_set(e, ERR_USAGE, "edit: %soldText is not in '" STR_FMT "'%s", one->where,
		       STR_ARG(ed->said),
		       hint.p && !hint.failed ? hint.p : "; read the file and copy the text exactly");
}

static int refuse_many(const struct editing *ed, const struct edit *one, size_t n, struct err *e)
{
	_cleanup_buf_ struct buf places = { 0 };

	buf_init(&places, 200);
	near_put_places(text_str(&ed->text), one->old, &places);
	return err_set(e, ERR_USAGE,
		       "edit: %soldText is in '" STR_FMT
		       "' %zu times (%s); add lines around it until it is there once, "
		       "or give replaceAll",
		       one->where, STR_ARG(ed->said), n, places.p ? places.p : "");
}

static void note_line(struct editing *ed, size_t at)
{
	size_t line = near_line(text_str(&ed->text), at);

	if (ed->first_line == 0 || line < ed->first_line)
		ed->first_line = line;
}

static int replace(struct editing *ed, const struct edit *one, size_t n, struct err *e)
{
	struct str from = text_str(&ed->text);
	size_t size = from.n - n * one->old.n + n * one->new.n;
	struct text to = { 0 };

	if (size > TOOLS_FILE_BYTES)
		return err_set(e, ERR_LIMIT, "edit: '" STR_FMT "' would have %zu bytes, and may have %zu",
			       STR_ARG(ed->said), size, TOOLS_FILE_BYTES);
	to.p = malloc(size + 1);
	if (!to.p)
		return err_sys(e, ENOMEM, "edit '" STR_FMT "'", STR_ARG(ed->said));
	for (size_t i = 0; i < n; i++) {
		const char *at = memmem(from.p, from.n, one->old.p, one->old.n);
		size_t before = (size_t)(at - from.p);

		if (i == 0)
			note_line(ed, before);
		memcpy(to.p + to.n, from.p, before);
		if (one->new.n)
			memcpy(to.p + to.n + before, one->new.p, one->new.n);
		to.n += before + one->new.n;
		from = str_from(from, before + one->old.n);
	}
	memcpy(to.p + to.n, from.p, from.n);
	to.n += from.n;
	to.p[to.n] = '\0';
	text_done(&ed->text);
	ed->text = to;
	ed->made += n;
	return 0;
}

static int make(struct tool_ctx *x, struct editing *ed, struct edit one, struct err *e)
{
	size_t n;

	if (one.old.n == 0)
		return err_set(e, ERR_USAGE, "edit: %soldText is empty; write makes a new file", one.where);
	if (ed->crlf) {
		one.old = with_crlf(x->arena, one.old);
		one.new = with_crlf(x->arena, one.new);
	}
	if (x->arena->failed)
		return err_set(e, ERR_LIMIT, "edit: %sthe texts are too large", one.where);
	if (str_eq(one.old, one.new))
		return err_set(e, ERR_USAGE, "edit: %soldText and newText are the same", one.where);
	n = count(text_str(&ed->text), one.old);
	if (n == 0)
		return refuse_missing(ed, &one, e);
	if (n > 1 && !one.all)
		return refuse_many(ed, &one, n, e);
	return replace(ed, &one, n, e);
}

static int make_list(struct tool_ctx *x, struct editing *ed, const struct value *list, struct err *e)
{
	for (size_t i = 0; i < list->arr.n; i++) {
		char where[32];
		struct tool_in in;
		int r;

		if (tools_late(x))
			return err_set(e, ERR_LIMIT,
				       "edit: the time of the call was over; nothing was changed");
		(void)snprintf(where, sizeof(where), "edits[%zu]: ", i);
		r = tools_check_args(where, tools_edit_rows(), ONE_EDIT_N_, &list->arr.v[i], &in, e);
		if (r == 0)
			r = make(x, ed,
				 (struct edit){ .old = tools_str(&in, ONE_EDIT_OLD),
						.new = tools_str(&in, ONE_EDIT_NEW),
						.all = tools_bool(&in, ONE_EDIT_ALL),
						.where = where },
				 e);
		if (r < 0)
			return r;
	}
	return 0;
}

static int make_all(struct tool_ctx *x, const struct tool_in *in, struct editing *ed, struct err *e)
{
	if (in->v[EDIT_EDITS])
		return make_list(x, ed, in->v[EDIT_EDITS], e);
	return make(x, ed,
		    (struct edit){ .old = tools_str(in, EDIT_OLD),
				   .new = tools_str(in, EDIT_NEW),
				   .all = tools_bool(in, EDIT_ALL),
				   .where = "" },
		    e);
}

static int check_together(const struct tool_in *in, struct err *e)
{
	bool one = in->v[EDIT_OLD] || in->v[EDIT_NEW] || in->v[EDIT_ALL];

	if (in->v[EDIT_EDITS] && one)
		return err_set(e, ERR_USAGE, "edit: give oldText and newText, or edits, not both");
	if (!in->v[EDIT_EDITS] && (!in->v[EDIT_OLD] || !in->v[EDIT_NEW]))
		return err_set(e, ERR_USAGE, "edit: '%s' is missing: give oldText and newText, or edits",
			       in->v[EDIT_OLD] ? "newText" : "oldText");
	return 0;
}

int tool_edit(struct tool_ctx *x, const struct tool_in *in, struct jsonw *w, struct err *e)
{
	_cleanup_(editing_done) struct editing ed = { .said = tools_str(in, EDIT_PATH) };
	struct files_stat st;
	const char *path;
	bool created;
	int r = check_together(in, e);

	if (r == 0)
		r = tools_path(x, ed.said, &path, e);
	if (r == 0)
		r = tools_load(x, ed.said, path, &ed.text, &st, e);
	if (r < 0)
		return r;
	ed.crlf = text_is_crlf(text_str(&ed.text));
	r = make_all(x, in, &ed, e);
	if (r == 0)
		r = tools_replace(x, ed.said, path, text_str(&ed.text), &st, &created, e);
	if (r < 0)
		return r;
	jsonw_kstr(w, "path", ed.said);
	jsonw_ku64(w, "replacements", ed.made);
	jsonw_ku64(w, "firstLine", ed.first_line);
	jsonw_ku64(w, "bytes", ed.text.n);
	tools_say_artifact(x, w, ed.said, "file");
	return 0;
}
