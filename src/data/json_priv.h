/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the files of the JSON parser share.
 *
 * A column is the distance from `line_base`, which every multi-byte character moves: so a position costs a
 * subtraction, and pure ASCII costs nothing. Positions of errors are counted again from the start of the text.
 */
#pragma once

#include "data/json.h"
#include "data/tree_priv.h"

struct json_parser {
	const char *s, *end; /* the next byte; where the text ends */
	const char *text;
	const char *line_base;
	uint32_t line;
	bool json5, finite;
	bool after_value; /* in the open container: a comma is due before the next one */
	size_t values_left;
	struct tree tree;
	const struct json_opts *opts;
	unsigned max_depth;
	struct err *e;
};

/* Errors, all "name:line:column: what" at the byte `at`, all returning a negative number. */
int json_fail(const struct json_parser *p, const char *at, const char *what);
int json_fail_limit(const struct json_parser *p, const char *at, const char *what, uint64_t limit);
/* "found X, expected Y", X being what stands at `at`. */
int json_fail_expected(const struct json_parser *p, const char *at, const char *expected);
int json_fail_utf8(const struct json_parser *p, const char *at);
int json_fail_duplicate(const struct json_parser *p, const struct tree_dup *twice);

/* White space and comments. Stops at the first byte that is neither. */
int json_skip_slow(struct json_parser *p);

/* The character at p->s, not ASCII: moves past it and keeps the columns right. Negative when it is no UTF-8. */
int json_take_utf8(struct json_parser *p, uint32_t *ret_cp);

/* p->s stands at a line feed or carriage return; a pair of them is one line end. */
void json_take_newline(struct json_parser *p);

/* p->s stands at the opening quote, or at the first byte of a bare JSON5 key; then after the closing quote or key. */
int json_string(struct json_parser *p, struct str *ret);
int json_bare_key(struct json_parser *p, struct str *ret);

/* p->s stands at a sign, digit, point, I or N. */
int json_number(struct json_parser *p, struct value *ret);

/* Letters, and letters with marks, digits and connectors, beyond ASCII (unicode_id.c, generated). */
bool unicode_is_id_start(uint32_t cp);
bool unicode_is_id_continue(uint32_t cp);

static inline uint32_t json_column(const struct json_parser *p)
{
	return (uint32_t)(p->s - p->line_base) + 1;
}

/* -1 at the end of the text. */
static inline int json_peek(const struct json_parser *p)
{
	return p->s < p->end ? (unsigned char)*p->s : -1;
}

static inline int json_skip(struct json_parser *p)
{
	/* Between the tokens of compact JSON there is nothing: look once and go. */
	if (p->s < p->end && (signed char)*p->s > ' ' && *p->s != '/')
		return 0;
	return json_skip_slow(p);
}
