/* SPDX-License-Identifier: Apache-2.0 */
#include "engine/secrets.h"

struct reader {
	char *p;
	size_t n, at;
	unsigned line;
	size_t line_at; /* where the line begins */
	const char *name;
	struct err *e;
};

static int fail(const struct reader *r, const char *what)
{
	return err_set(r->e, ERR_USAGE, "%s:%u:%zu: %s", r->name, r->line, r->at - r->line_at + 1, what);
}

static bool ended(const struct reader *r)
{
	return r->at >= r->n;
}

static char here(const struct reader *r)
{
	return ended(r) ? '\n' : r->p[r->at];
}

static bool is_blank(char c)
{
	return c == ' ' || c == '\t';
}

static void skip_blanks(struct reader *r)
{
	while (!ended(r) && is_blank(r->p[r->at]))
		r->at++;
}

static void step(struct reader *r)
{
	if (r->p[r->at++] == '\n') {
		r->line++;
		r->line_at = r->at;
	}
}

static void skip_line(struct reader *r)
{
	while (here(r) != '\n')
		r->at++;
	if (!ended(r))
		step(r);
}

/* ---- values ---- */

/* To the end of the line; whatever a shell or systemd might read differently has to be quoted. */
static int take_bare(struct reader *r, struct str *ret)
{
	size_t from = r->at, end = from;

	for (; here(r) != '\n'; r->at++) {
		char c = r->p[r->at];

		if (c == '"' || c == '\'' || c == '\\' || c == '`')
			return fail(
				r,
				"a quote or backslash inside of the value: put all of it into single quotes");
		if (c == '#' && r->at > from && is_blank(r->p[r->at - 1]))
			return fail(r, "a comment, or part of the value: put the value into single quotes");
		if (c == '\r')
			return fail(r, "a carriage return: lines end in a newline alone");
		if (!is_blank(c))
			end = r->at + 1;
	}
	*ret = (struct str){ .p = r->p + from, .n = end - from };
	return 0;
}

static int take_escape(struct reader *r, size_t *to)
{
	char c = r->at + 1 < r->n ? r->p[r->at + 1] : '\0';

	if (c == '\0' || !strchr("\"\\$`", c))
		return fail(
			r,
			"after a backslash in double quotes: one of \" \\ $ ` is needed; or use single quotes");
	r->p[(*to)++] = c;
	r->at += 2;
	return 0;
}

/* Written back over itself: escapes only make it shorter. */
static int take_quoted(struct reader *r, char quote, struct str *ret)
{
	struct reader start = *r;
	size_t from = ++r->at, to = from;

	for (;;) {
		if (ended(r))
			return fail(&start, "the quote is not closed");
		if (r->p[r->at] == quote)
			break;
		if (quote == '"' && r->p[r->at] == '\\') {
			if (take_escape(r, &to) < 0)
				return -1;
			continue;
		}
		r->p[to++] = r->p[r->at];
		step(r);
	}
	r->at++;
	*ret = (struct str){ .p = r->p + from, .n = to - from };
	skip_blanks(r);
	if (here(r) != '\n' && (here(r) != '#' || !is_blank(r->p[r->at - 1])))
		return fail(r, "text after the closing quote");
	return 0;
}

static int take_value(struct reader *r, struct str *ret)
{
	char c = here(r);

	if (is_blank(c))
		return fail(r, "a blank after '=': leave it out, or put the value into quotes");
	return c == '"' || c == '\'' ? take_quoted(r, c, ret) : take_bare(r, ret);
}

/* ---- lines ---- */

/* What stands there may be a secret on the wrong side of its '=', so it is not quoted. */
static int take_name(struct reader *r, struct str *ret)
{
	struct reader start = *r;
	size_t from = r->at;

	while (here(r) != '\n' && here(r) != '=')
		r->at++;
	*ret = (struct str){ .p = r->p + from, .n = r->at - from };
	if (str_starts(*ret, STR("export ")))
		return fail(&start, "'export' is for shells: write NAME=value");
	if (here(r) != '=')
		return fail(&start, "a line has to be NAME=value, or begin with '#'");
	if (!env_name_valid(*ret))
		return fail(
			&start,
			"what stands before '=' is not a name of letters, digits and '_', without blanks");
	r->at++;
	return 0;
}

static int check_new(const struct reader *start, const struct secret *v, size_t n, struct str name)
{
	for (size_t i = 0; i < n; i++)
		if (str_eq(v[i].name, name))
			return err_set(start->e, ERR_USAGE,
				       "%s:%u:1: '" STR_FMT "' was set in line %u already", start->name,
				       start->line, STR_ARG(name), v[i].line);
	return 0;
}

static int take_line(struct reader *r, struct secret *v, size_t max, size_t *n)
{
	struct secret s = { .line = r->line };
	struct reader start = *r;

	if (take_name(r, &s.name) < 0 || check_new(&start, v, *n, s.name) < 0)
		return -1;
	if (*n == max)
		return err_set(r->e, ERR_LIMIT, "%s:%u:1: more than %zu secrets", r->name, r->line, max);
	if (take_value(r, &s.value) < 0)
		return -1;
	v[(*n)++] = s;
	return 0;
}

int secrets_parse(char *text, size_t n, const char *name, struct secret *v, size_t max, size_t *ret_n,
		  struct err *e)
{
	struct reader r = { .p = text, .n = n, .line = 1, .name = name, .e = e };
	const char *nul = n ? memchr(text, '\0', n) : NULL;
	size_t found = 0;

	if (nul)
		return err_set(e, ERR_USAGE, "%s: a NUL byte at offset %zu: it is no text file", name,
			       (size_t)(nul - text));
	while (!ended(&r)) {
		skip_blanks(&r);
		if (here(&r) != '\n' && here(&r) != '#' && here(&r) != ';' &&
		    take_line(&r, v, max, &found) < 0)
			return -1;
		skip_line(&r);
	}
	*ret_n = found;
	return 0;
}
