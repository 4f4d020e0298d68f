/* SPDX-License-Identifier: Apache-2.0 */
/* What the tests of data/ share: read a text, say what came out as one line. */
#pragma once

#include "base/buf.h"
#include "base/cleanup.h"
#include "base/err.h"
#include "data/json.h"
#include "data/yaml.h"

#include <stdio.h>

/* A document and what must come of it: JSON on one line, or the message of the error. */
struct reading {
	struct str text, want;
};

enum reading_format { READING_JSON, READING_JSON5, READING_YAML };

static inline int read_text(struct arena *a, enum reading_format format, struct str text, struct value *ret,
			    struct err *e)
{
	const struct json_opts opts = { .name = "f", .json5 = format == READING_JSON5 };

	if (format == READING_YAML)
		return yaml_parse(a, text, "f", ret, e);
	return json_parse(a, text, &opts, ret, e);
}

/* Caller's buffer holds the outcome. */
static inline struct str outcome(struct buf *out, enum reading_format format, struct str text)
{
	_cleanup_arena_ struct arena a;
	struct err e = { .kind = ERR_NONE };
	struct value v;
	struct jsonw w;

	arena_init(&a, (size_t)64 << 20);
	buf_init(out, (size_t)64 << 20);
	jsonw_init(&w, out, 0);
	if (read_text(&a, format, text, &v, &e) < 0)
		buf_puts(out, e.msg);
	else
		json_write(&w, &v);
	return buf_str(out);
}

static inline void check_readings(enum reading_format format, const struct reading *r, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		_cleanup_buf_ struct buf out = { .p = NULL };
		struct str got = outcome(&out, format, r[i].text);

		CHECK_CASE(str_eq(got, r[i].want), "%.*s: got '%.*s', want '%.*s'", (int)r[i].text.n,
			   r[i].text.p, (int)got.n, got.p, (int)r[i].want.n, r[i].want.p);
	}
}

#define CHECK_READINGS(format, table) check_readings(format, table, sizeof(table) / sizeof((table)[0]))
