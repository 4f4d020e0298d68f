/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Hunks into a text. A hunk is looked for as it stands, then without white space at the ends of lines, then (agents' format)
 * without any around them; a context line that fitted only so stays as the file has it.
 */
#include "tools/patch.h"

/* A hunk of a million equal lines in a file of a million others would take hours: a hundred million comparisons do. */
#define COMPARE_MAX ((uint64_t)100000000)

struct spot {
	size_t at, n_old; /* lines of the old text, from 0 */
	const struct patch_hunk *hunk;
};

struct fit {
	struct arena *a;
	const struct patch_file *f;
	struct err *e;
	struct str *lines; /* of the old text, with their line ends */
	size_t n_lines, lines_cap;
	struct spot *spots;
	const char *eol;
	uint64_t compared;
	/* the hunk that is looked for: its old lines, and where most of them fitted */
	struct str *old;
	size_t n_old;
	size_t best_at, best_n;
};

static struct str without_end(struct str s)
{
	if (s.n > 0 && s.p[s.n - 1] == '\n')
		s.n--;
	if (s.n > 0 && s.p[s.n - 1] == '\r')
		s.n--;
	return s;
}

static struct str trim_end(struct str s)
{
	while (s.n > 0 && (s.p[s.n - 1] == ' ' || s.p[s.n - 1] == '\t' || s.p[s.n - 1] == '\r'))
		s.n--;
	return s;
}

static bool same(struct str file, struct str patch, unsigned loose)
{
	file = without_end(file);
	if (loose == 0)
		return str_eq(file, without_end(patch));
	if (loose == 1)
		return str_eq(trim_end(file), trim_end(patch));
	return str_eq(str_trim(file), str_trim(patch));
}

static int split(struct fit *t, struct str text)
{
	while (text.n > 0) {
		const char *nl = memchr(text.p, '\n', text.n);
		size_t n = nl ? (size_t)(nl - text.p) + 1 : text.n;
		struct str *v = t->lines;

		if (t->n_lines == t->lines_cap) {
			v = arena_grow(t->a, v, t->n_lines, &t->lines_cap, sizeof(*v), alignof(struct str));
			if (!v)
				return err_set(t->e, ERR_LIMIT,
					       "'" STR_FMT "' has too many lines to be patched",
					       STR_ARG(t->f->path));
			t->lines = v;
		}
		t->lines[t->n_lines++] = (struct str){ .p = text.p, .n = n };
		text = str_from(text, n);
	}
	return 0;
}

static int take_old(struct fit *t, const struct patch_hunk *h)
{
	t->old = ARENA_ARRAY(t->a, struct str, h->n_lines);
	t->n_old = t->best_at = t->best_n = 0;
	if (!t->old)
		return err_set(t->e, ERR_LIMIT, "patch line %u: the hunk is too large", h->at_line);
	for (size_t i = 0; i < h->n_lines; i++)
		if (h->lines[i].kind != '+')
			t->old[t->n_old++] = h->lines[i].text;
	return 0;
}

static bool fits_at(struct fit *t, size_t at, unsigned loose)
{
	size_t n = 0;

	while (n < t->n_old && at + n < t->n_lines && same(t->lines[at + n], t->old[n], loose))
		n++;
	t->compared += n + 1;
	if (n > t->best_n) {
		t->best_n = n;
		t->best_at = at;
	}
	return n == t->n_old;
}

static bool over(const struct fit *t)
{
	return t->compared > COMPARE_MAX;
}

/* At `expect`, or as near to it as can be, not before `from`. */
static bool find_near(struct fit *t, size_t from, size_t expect, unsigned loose, size_t *ret)
{
	size_t last = t->n_lines >= t->n_old ? t->n_lines - t->n_old : 0;

	/* What a patch says may be four thousand million lines away. */
	if (expect > last)
		expect = last;
	if (expect < from)
		expect = from;
	for (size_t off = 0; (off <= expect - from || expect + off <= last) && !over(t); off++) {
		if (expect + off <= last && fits_at(t, expect + off, loose)) {
			*ret = expect + off;
			return true;
		}
		if (off > 0 && off <= expect - from && fits_at(t, expect - off, loose)) {
			*ret = expect - off;
			return true;
		}
	}
	return false;
}

/* What was searched for and is not there: the most helpful thing is where it nearly was. */
static int refuse(struct fit *t, const struct patch_hunk *h, size_t number)
{
	struct str want, have = STR("the end of the file");

	if (over(t))
		return err_set(t->e, ERR_LIMIT,
			       "'" STR_FMT
			       "', hunk %zu (patch line %u): too much to compare; give smaller hunks",
			       STR_ARG(t->f->path), number, h->at_line);
	want = t->old[t->best_n];
	if (t->best_n == 0)
		return err_set(t->e, ERR_USAGE,
			       "'" STR_FMT
			       "', hunk %zu (patch line %u) does not fit: there is no line '" STR_FMT
			       "' where it could be; read the file and make the patch again",
			       STR_ARG(t->f->path), number, h->at_line, STR_ARG(want));
	if (t->best_at + t->best_n < t->n_lines)
		have = without_end(t->lines[t->best_at + t->best_n]);
	return err_set(
		t->e, ERR_USAGE,
		"'" STR_FMT
		"', hunk %zu (patch line %u) does not fit: its first %zu lines are at line %zu, then line "
		"%zu is '" STR_FMT "' and the patch has '" STR_FMT "'",
		STR_ARG(t->f->path), number, h->at_line, t->best_n, t->best_at + 1,
		t->best_at + t->best_n + 1, STR_ARG(have), STR_ARG(want));
}

static int find_headers(struct fit *t, const struct patch_hunk *h, size_t number, size_t *cursor)
{
	for (size_t i = 0; i < h->n_find; i++) {
		bool found = false;

		for (unsigned loose = 0; loose < 3 && !found; loose++)
			for (size_t at = *cursor; at < t->n_lines && !found; at++) {
				found = same(t->lines[at], h->find[i], loose);
				if (found)
					*cursor = at + 1;
			}
		if (!found)
			return err_set(t->e, ERR_USAGE,
				       "'" STR_FMT "', hunk %zu (patch line %u): there is no line '" STR_FMT
				       "' (its '@@') behind line %zu",
				       STR_ARG(t->f->path), number, h->at_line, STR_ARG(h->find[i]), *cursor);
	}
	return 0;
}

/* Where nothing is taken away, there is only a place. */
static int place_addition(struct fit *t, const struct patch_hunk *h, size_t number, size_t cursor,
			  size_t *ret)
{
	if (!t->f->exact) {
		*ret = h->n_find && !h->at_end ? cursor : t->n_lines;
		return 0;
	}
	*ret = h->start ? h->start - 1 : 0;
	if (*ret >= cursor && *ret <= t->n_lines)
		return 0;
	return err_set(t->e, ERR_USAGE,
		       "'" STR_FMT "', hunk %zu (patch line %u) adds behind line %zu, and there are %zu",
		       STR_ARG(t->f->path), number, h->at_line, *ret, t->n_lines);
}

static int find_hunk(struct fit *t, const struct patch_hunk *h, size_t number, size_t cursor, size_t *ret)
{
	unsigned loosest = t->f->exact ? 2 : 3;

	if (t->n_old == 0)
		return place_addition(t, h, number, cursor, ret);
	for (unsigned loose = 0; loose < loosest; loose++) {
		size_t end = t->n_lines >= t->n_old ? t->n_lines - t->n_old : 0;

		if (h->at_end && end >= cursor && fits_at(t, end, loose)) {
			*ret = end;
			return 0;
		}
		if (!h->at_end && find_near(t, cursor, h->start ? h->start - 1 : cursor, loose, ret))
			return 0;
	}
	return refuse(t, h, number);
}

static int find_all(struct fit *t)
{
	size_t cursor = 0;

	t->spots = ARENA_ARRAY(t->a, struct spot, t->f->n_hunks);
	if (!t->spots)
		return err_set(t->e, ERR_LIMIT, "'" STR_FMT "': too many hunks", STR_ARG(t->f->path));
	for (size_t i = 0; i < t->f->n_hunks; i++) {
		const struct patch_hunk *h = &t->f->hunks[i];
		int r = take_old(t, h);

		if (r == 0)
			r = find_headers(t, h, i + 1, &cursor);
		if (r == 0)
			r = find_hunk(t, h, i + 1, cursor, &t->spots[i].at);
		if (r < 0)
			return r;
		t->spots[i].hunk = h;
		t->spots[i].n_old = t->n_old;
		cursor = t->spots[i].at + t->n_old;
	}
	return 0;
}

struct out {
	char *p;
	size_t n;
	const char *eol;
};

static void put(struct out *o, struct str s)
{
	if (s.n)
		memcpy(o->p + o->n, s.p, s.n);
	o->n += s.n;
}

/* A last line without newline gets one when more comes behind it. */
static void put_line(struct out *o, struct str line, bool with_end)
{
	if (o->n > 0 && o->p[o->n - 1] != '\n')
		put(o, str_z(o->eol));
	put(o, line);
	if (with_end)
		put(o, str_z(o->eol));
}

static void put_spot(const struct fit *t, const struct spot *s, struct out *o)
{
	size_t at = s->at;

	for (size_t i = 0; i < s->hunk->n_lines; i++) {
		const struct patch_line *l = &s->hunk->lines[i];

		if (l->kind == ' ')
			put_line(o, t->lines[at], false);
		else if (l->kind == '+')
			put_line(o, without_end(l->text), true);
		at += l->kind != '+';
	}
}

static size_t size_of_result(const struct fit *t, size_t old_bytes)
{
	size_t n = old_bytes + 2;

	for (size_t i = 0; i < t->f->n_hunks; i++)
		for (size_t k = 0; k < t->f->hunks[i].n_lines; k++)
			n += t->f->hunks[i].lines[k].text.n + 4;
	return n;
}

static void drop_last_end(struct out *o)
{
	if (o->n > 0 && o->p[o->n - 1] == '\n')
		o->n--;
	if (o->n > 0 && o->p[o->n - 1] == '\r')
		o->n--;
}

/* Whether the file ends in a newline is part of it: a unified diff says so, and in the agents' format it stays as it was. */
static void set_end(const struct fit *t, struct out *o, bool was_open)
{
	const struct spot *last = t->f->n_hunks ? &t->spots[t->f->n_hunks - 1] : NULL;

	if (!last || last->at + last->n_old != t->n_lines)
		return;
	if (t->f->exact ? last->hunk->new_open : was_open)
		drop_last_end(o);
	else if (o->n > 0 && o->p[o->n - 1] != '\n' && t->f->exact && last->hunk->old_open)
		put(o, str_z(o->eol));
}

static bool is_crlf(const struct fit *t)
{
	return t->n_lines > 0 && t->lines[0].n >= 2 && t->lines[0].p[t->lines[0].n - 2] == '\r' &&
	       t->lines[0].p[t->lines[0].n - 1] == '\n';
}

int patch_fit(struct arena *a, const struct patch_file *f, struct str old, struct str *ret, struct err *e)
{
	struct fit t = { .a = a, .f = f, .e = e };
	struct out o = { 0 };
	size_t at = 0;
	int r = split(&t, old);

	if (r == 0)
		r = find_all(&t);
	if (r < 0)
		return r;
	o.eol = is_crlf(&t) ? "\r\n" : "\n";
	o.p = arena_alloc(a, size_of_result(&t, old.n), 1);
	if (!o.p)
		return err_set(e, ERR_LIMIT, "'" STR_FMT "' would be too large", STR_ARG(f->path));
	for (size_t i = 0; i < f->n_hunks; i++) {
		for (; at < t.spots[i].at; at++)
			put_line(&o, t.lines[at], false);
		put_spot(&t, &t.spots[i], &o);
		at = t.spots[i].at + t.spots[i].n_old;
	}
	for (; at < t.n_lines; at++)
		put_line(&o, t.lines[at], false);
	set_end(&t, &o, old.n > 0 && old.p[old.n - 1] != '\n');
	*ret = (struct str){ .p = o.p, .n = o.n };
	return 0;
}
