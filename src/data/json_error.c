/* SPDX-License-Identifier: Apache-2.0 */
#include "data/json_priv.h"

#include "base/cleanup.h"
#include "base/utf8.h"
#include "data/place_priv.h"

#include <inttypes.h>
#include <stdio.h>

/* Counted from the start: only one error is ever reported, and the hot path keeps no more than it needs. */
static struct place place_of(const struct json_parser *p, const char *at)
{
	return place_find((struct str){ .p = p->text, .n = (size_t)(p->end - p->text) },
			  (size_t)(at - p->text));
}

static const char *name_of(const struct json_parser *p)
{
	return p->opts->name ? p->opts->name : "input";
}

int json_fail(const struct json_parser *p, const char *at, const char *what)
{
	struct place w = place_of(p, at);

	return err_set(p->e, ERR_USAGE, "%s:%" PRIu32 ":%" PRIu32 ": %s", name_of(p), w.line, w.col, what);
}

int json_fail_limit(const struct json_parser *p, const char *at, const char *what, uint64_t limit)
{
	struct place w = place_of(p, at);

	return err_set(p->e, ERR_LIMIT, "%s:%" PRIu32 ":%" PRIu32 ": %s %" PRIu64, name_of(p), w.line, w.col,
		       what, limit);
}

int json_fail_utf8(const struct json_parser *p, const char *at)
{
	char what[64];

	(void)snprintf(what, sizeof(what), "byte 0x%02x is not valid UTF-8 here", (unsigned char)*at);
	return json_fail(p, at, what);
}

int json_fail_duplicate(const struct json_parser *p, const struct tree_dup *twice)
{
	_cleanup_buf_ struct buf shown = { .p = NULL };

	place_quote(&shown, twice->again->key);
	return err_set(p->e, ERR_USAGE,
		       "%s:%" PRIu32 ":%" PRIu32 ": duplicate key '%s', first at %" PRIu32 ":%" PRIu32,
		       name_of(p), twice->again->line, twice->again->col, buf_str(&shown).p,
		       twice->first->line, twice->first->col);
}

static bool is_word(unsigned char c)
{
	return (c >= '0' && c <= '9') || (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') || c == '_' ||
	       c == '$';
}

/* The longest word worth quoting. */
enum { WORD_MAX = 24 };

/* Never more than a word, and never a byte that a terminal would act on. */
static void describe(const struct json_parser *p, const char *at, char *out, size_t size)
{
	int n = 0;
	uint32_t cp = 0;

	while (n < WORD_MAX && p->end - at > n && is_word((unsigned char)at[n]))
		n++;
	if (at >= p->end)
		(void)snprintf(out, size, "the end of the text");
	else if (n > 0)
		(void)snprintf(out, size, "'%.*s'", n, at);
	else if (utf8_decode((struct str){ .p = at, .n = (size_t)(p->end - at) }, &cp) > 1)
		(void)snprintf(out, size, "U+%04" PRIX32, cp);
	else if (*at == '\'')
		(void)snprintf(out, size, "a single quote");
	else if (*at == '\n' || *at == '\r')
		(void)snprintf(out, size, "the end of the line");
	else if (*at == '\t')
		(void)snprintf(out, size, "a tab");
	else if (utf8_is_visible((unsigned char)*at))
		(void)snprintf(out, size, "'%c'", *at);
	else
		(void)snprintf(out, size, "byte 0x%02x", (unsigned char)*at);
}

/* Most refusals of strict JSON are good JSON5: say which part is missing. */
static const char *strict_hint(const struct json_parser *p, const char *at)
{
	if (p->json5 || at >= p->end)
		return "";
	if (*at == '/')
		return " (strict JSON has no comments)";
	if (*at == '\'')
		return " (strict JSON has double quotes only)";
	if (p->end - at >= 3 && memcmp(at, "\xef\xbb\xbf", 3) == 0)
		return " (strict JSON has no byte order mark)";
	return "";
}

int json_fail_expected(const struct json_parser *p, const char *at, const char *expected)
{
	char found[WORD_MAX + 16], what[160];
	uint32_t cp;

	if (at < p->end && utf8_decode((struct str){ .p = at, .n = (size_t)(p->end - at) }, &cp) < 0)
		return json_fail_utf8(p, at);
	describe(p, at, found, sizeof(found));
	(void)snprintf(what, sizeof(what), "found %s, expected %s%s", found, expected, strict_hint(p, at));
	return json_fail(p, at, what);
}
