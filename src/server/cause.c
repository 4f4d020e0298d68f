/* SPDX-License-Identifier: Apache-2.0 */
#include "server/cause.h"

#include "base/utf8.h"

static bool is_quote(char c)
{
	return c == '\'' || c == '"' || c == '`';
}

static bool is_letter(char c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
}

/* "and/or" and "10/s" are words; "x:/y", "=/y" and "~/y" are not. */
static bool begins_path(struct str text, size_t at)
{
	char before = at ? text.p[at - 1] : ' ';

	if (text.p[at] == '~')
		return at + 1 < text.n && text.p[at + 1] == '/';
	return text.p[at] == '/' && !is_letter(before);
}

/* The quote that is open behind this byte; "don't" has none. */
static char quote_behind(struct str text, size_t at, char open)
{
	char c = text.p[at], before = at ? text.p[at - 1] : ' ';

	if (!is_quote(c))
		return open;
	if (open)
		return c == open ? '\0' : open;
	return is_letter(before) ? '\0' : c;
}

/* A name in quotes may have blanks in it; without them nobody knows where it ends but at the blank. */
static size_t path_end(struct str text, size_t at, char quote)
{
	for (; at < text.n; at++) {
		char c = text.p[at];

		if (quote ? c == quote
			  : c == ' ' || c == '\t' || c == ',' || c == ';' || c == ')' || is_quote(c))
			break;
	}
	return at;
}

static void put_piece(struct buf *out, struct str piece)
{
	size_t room = out->n < CAUSE_MAX ? CAUSE_MAX - out->n : 0;

	buf_put(out, utf8_prefix(piece, room));
}

void cause_put(struct buf *out, struct str text)
{
	size_t from = 0, at = 0;
	struct str line, rest;
	char quote = '\0';

	if (str_cut(text, '\n', &line, &rest))
		text = line;
	while (at < text.n) {
		if (!begins_path(text, at)) {
			quote = quote_behind(text, at, quote);
			at++;
			continue;
		}
		put_piece(out, (struct str){ .p = text.p + from, .n = at - from });
		put_piece(out, STR("(path)"));
		from = at = path_end(text, at, quote);
	}
	put_piece(out, str_from(text, from));
}
