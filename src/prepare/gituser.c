/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Of git's own configuration two values are read, and by us: git would run what a file tells it to. Nothing else in it is looked at; a value that is
 * not plain text on one line is none.
 */
#include "prepare/prepare.h"

#include "base/fd.h"
#include "base/utf8.h"

#include <stdlib.h>
#include <string.h>

#define GITCONFIG_MAX ((size_t)64 << 10)

/* The next line; one that ends in a backslash goes on in the next. */
static bool next_line(struct str *rest, struct str *ret, bool *goes_on)
{
	struct str tail = { 0 };
	size_t slashes = 0;

	if (rest->n == 0)
		return false;
	if (!str_cut(*rest, '\n', ret, &tail))
		*ret = *rest;
	*rest = tail;
	if (str_ends(*ret, STR("\r")))
		ret->n--;
	while (slashes < ret->n && ret->p[ret->n - 1 - slashes] == '\\')
		slashes++;
	*goes_on = slashes % 2 == 1;
	return true;
}

/* A value as git writes it: quotes anywhere, \" and \\ in it, a comment behind it. False when there is anything else, or too much. */
static bool unquote(struct str text, char out[static GIT_USER_MAX], size_t *ret_n)
{
	bool quoted = false;
	size_t n = 0, end = 0; /* end: blanks behind it are not part of it */

	for (size_t i = 0; i < text.n; i++) {
		char c = text.p[i];

		if (c == '"') {
			quoted = !quoted;
			end = n;
			continue;
		}
		if (!quoted && (c == '#' || c == ';'))
			break;
		if (c == '\\') {
			if (++i == text.n || (text.p[i] != '"' && text.p[i] != '\\'))
				return false;
			c = text.p[i];
		}
		if (n == GIT_USER_MAX)
			return false;
		out[n++] = c;
		if (quoted || (c != ' ' && c != '\t'))
			end = n;
	}
	*ret_n = end;
	return !quoted && end > 0;
}

static bool is_plain(struct str s)
{
	for (size_t i = 0; i < s.n; i++)
		if ((unsigned char)s.p[i] < ' ' || s.p[i] == 0x7f)
			return false;
	return utf8_valid(s);
}

static void take_value(struct arena *a, struct str line, struct git_user *u)
{
	struct str key, text;
	struct str *to;
	char value[GIT_USER_MAX];
	size_t n = 0;

	if (!str_cut(line, '=', &key, &text))
		return;
	key = str_trim(key);
	if (str_eq_nocase(key, STR("name")))
		to = &u->name;
	else if (str_eq_nocase(key, STR("email")))
		to = &u->email;
	else
		return;
	/* The last one counts, also when it is one that we do not take. */
	*to = (struct str){ 0 };
	if (unquote(str_trim(text), value, &n) && is_plain((struct str){ .p = value, .n = n }))
		*to = arena_str(a, (struct str){ .p = value, .n = n });
}

/* "[user]", and what stands behind it on the line. */
static void enter_section(struct str *line, bool *ret_user)
{
	struct str name, rest;

	if (!str_starts(*line, STR("[")))
		return;
	*ret_user = str_cut(str_from(*line, 1), ']', &name, &rest) && str_eq_nocase(name, STR("user"));
	*line = *ret_user ? str_trim(rest) : (struct str){ 0 };
}

void git_user_parse(struct arena *a, struct str text, struct git_user *u)
{
	bool in_user = false, goes_on = false, went_on;
	struct str line;

	if (str_starts(text, STR("\xef\xbb\xbf")))
		text = str_from(text, 3);
	while (went_on = goes_on, next_line(&text, &line, &goes_on)) {
		line = str_trim(line);
		if (str_starts(line, STR("#")) || str_starts(line, STR(";"))) {
			goes_on = went_on && goes_on; /* no comment goes on */
			continue;
		}
		if (went_on)
			continue;
		enter_section(&line, &in_user);
		if (in_user)
			take_value(a, line, u);
		/* It may be a comment that ends like that, and the next line a section: then nothing is ours until one that is surely. */
		if (goes_on)
			in_user = false;
	}
}

static void read_from(struct arena *a, struct str path, struct git_user *u)
{
	_cleanup_free_ char *text = NULL;
	size_t n = 0;

	if (path.p && fd_read_file(path.p, GITCONFIG_MAX, &text, &n) >= 0)
		git_user_parse(a, (struct str){ .p = text, .n = n }, u);
}

static void put_value(struct buf *out, const char *key, struct str value)
{
	if (value.n == 0)
		return;
	buf_printf(out, "\t%s = \"", key);
	for (size_t i = 0; i < value.n; i++) {
		if (value.p[i] == '"' || value.p[i] == '\\')
			buf_putc(out, '\\');
		buf_putc(out, value.p[i]);
	}
	buf_puts(out, "\"\n");
}

struct str git_user_text(struct arena *a, const struct git_user *u)
{
	_cleanup_buf_ struct buf out = { 0 };

	if (u->name.n == 0 && u->email.n == 0)
		return (struct str){ 0 };
	buf_init(&out, (size_t)6 * GIT_USER_MAX);
	buf_puts(&out, "[user]\n");
	put_value(&out, "name", u->name);
	put_value(&out, "email", u->email);
	return out.failed ? (struct str){ 0 } : arena_str(a, buf_str(&out));
}

struct git_user git_user_find(struct arena *a, struct str home, char *const *vars)
{
	const char *only = environ_get(vars, "GIT_CONFIG_GLOBAL"),
		   *xdg = environ_get(vars, "XDG_CONFIG_HOME");
	struct git_user u = { 0 };

	if (only) {
		read_from(a, str_z(only), &u);
		return u;
	}
	read_from(a,
		  xdg ? arena_printf(a, "%s/git/config", xdg)
		      : arena_printf(a, "%.*s/.config/git/config", (int)home.n, home.p),
		  &u);
	read_from(a, arena_printf(a, "%.*s/.gitconfig", (int)home.n, home.p), &u);
	return u;
}
