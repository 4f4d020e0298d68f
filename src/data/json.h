/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One parser for strict JSON (RFC 8259) and JSON5 (1.0.0).
 *
 * Refuses: invalid UTF-8, trailing bytes, nesting beyond max_depth, text beyond max_bytes, more than
 * max_values values; in strict mode also everything JSON5 adds, raw control characters, a byte order mark.
 * Tolerates a lone surrogate escape (a cut emoji from a JavaScript client) as U+FFFD.
 * Errors read "name:line:column: what", kind ERR_USAGE (ERR_LIMIT for a size or depth).
 */
#pragma once

#include "base/err.h"
#include "base/jsonw.h"
#include "data/value.h"

/* Trees are walked by recursion (value_equal, json_write), so their depth stays small whatever is asked for. */
#define JSON_DEPTH_MAX 512

enum json_dup {
	JSON_DUP_REJECT = 0,
	JSON_DUP_LAST, /* as JavaScript: the last one counts, at the place of the first */
};

struct json_opts {
	const char *name; /* for messages: a file name; NULL = "input" */
	bool json5;
	bool finite; /* a number beyond what a double holds is an error, and not infinity */
	enum json_dup dup_keys;
	unsigned max_depth; /* 0 = 64; never more than JSON_DEPTH_MAX */
	size_t max_bytes;   /* 0 = 16 MiB; never more than 1 GiB */
	size_t max_values;  /* 0 = 1 million */
};

/* Strings without escapes are slices of `text`; everything else lies in the arena. */
int json_parse(struct arena *a, struct str text, const struct json_opts *o, struct value *ret, struct err *e);

/*
 * The tree as JSON. Infinity and NaN (JSON5) are written as null; an integer that only its text holds exactly
 * (an id beyond 64 bits) is written as that text. Deeper than JSONW_MAX_DEPTH fails the writer's buffer.
 */
void json_write(struct jsonw *w, const struct value *v);
