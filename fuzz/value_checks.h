/* SPDX-License-Identifier: Apache-2.0 */
/* Properties that every tree must have, whatever text it was read from. */
#pragma once

#include "base/buf.h"
#include "base/cleanup.h"
#include "base/utf8.h"
#include "data/json.h"

#include <assert.h>
#include <math.h>
#include <stdio.h>

#define FUZZ_ARENA_BYTES ((size_t)64 << 20)

/* Where lines end is the format's business, so the column is only held against the whole text. */
static inline void check_place(struct str text, uint32_t line, uint32_t col)
{
	assert(line >= 1 && line <= text.n + 1);
	assert(col >= 1 && col <= text.n + 1);
}

/* Depth bounded, positions inside the text, strings whole UTF-8. True when every number is finite. */
static inline bool check_tree(struct str text, const struct value *v, unsigned depth_left)
{
	bool finite = v->kind != VALUE_NUM || isfinite(v->num);

	check_place(text, v->line, v->col);
	if (v->kind == VALUE_STR)
		assert(utf8_valid(v->s));
	if (v->kind == VALUE_ARR || v->kind == VALUE_OBJ)
		assert(depth_left > 0);
	for (size_t i = 0; v->kind == VALUE_ARR && i < v->arr.n; i++)
		finite &= check_tree(text, &v->arr.v[i], depth_left - 1);
	for (size_t i = 0; v->kind == VALUE_OBJ && i < v->obj.n; i++) {
		const struct member *m = &v->obj.m[i];

		check_place(text, m->line, m->col);
		assert(utf8_valid(m->key));
		assert(value_member(v, m->key) == m); /* found, and unique */
		finite &= check_tree(text, &m->v, depth_left - 1);
	}
	return finite;
}

/* What was read prints as strict JSON that reads back equal (an infinity comes back as null). */
static inline void check_print(struct arena *a, const struct value *v, bool finite)
{
	_cleanup_buf_ struct buf out;
	const struct json_opts strict = { .name = "printed" };
	struct value again;
	struct jsonw w;
	struct err e;

	buf_init(&out, (size_t)16 << 20);
	jsonw_init(&w, &out, 2);
	json_write(&w, v);
	assert(!out.failed);
	assert(json_parse(a, buf_str(&out), &strict, &again, &e) >= 0);
	assert(!finite || (value_equal(v, &again) && value_equal(&again, v)));
}

/* One line that begins name:line:column: with a position inside the text. */
static inline void check_error(struct str text, const struct err *e)
{
	unsigned line = 0, col = 0;
	int end = 0;

	assert(e->kind == ERR_USAGE || e->kind == ERR_LIMIT);
	assert(sscanf(e->msg, "f:%u:%u: %n", &line, &col, &end) == 2 && end > 0);
	assert(!strchr(e->msg, '\n') && utf8_valid(str_z(e->msg)));
	check_place(text, line, col);
}
