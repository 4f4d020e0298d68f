/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A streaming JSON writer onto a struct buf. It places commas, quotes and indentation;
 * the caller only says what comes. Strings must be text: bytes that are not UTF-8 are
 * written as U+FFFD, so the output is always valid JSON.
 *
 * In base and not in data because the log and the decision record write JSON too.
 */
#pragma once

#include "base/buf.h"

#include <stdint.h>

#define JSONW_MAX_DEPTH 64

struct jsonw {
	struct buf *out;
	unsigned indent;     /* spaces per level; 0 = one line */
	unsigned depth;      /* more than JSONW_MAX_DEPTH fails the buffer */
	uint64_t has_member; /* bit per level: a comma is due */
	bool after_key;
};

void jsonw_init(struct jsonw *w, struct buf *out, unsigned indent);

void jsonw_obj(struct jsonw *w); /* { */
void jsonw_obj_end(struct jsonw *w);
void jsonw_arr(struct jsonw *w); /* [ */
void jsonw_arr_end(struct jsonw *w);
void jsonw_key(struct jsonw *w, struct str key);

void jsonw_str(struct jsonw *w, struct str s);
void jsonw_i64(struct jsonw *w, int64_t v);
void jsonw_u64(struct jsonw *w, uint64_t v);
void jsonw_num(struct jsonw *w,
	       double v); /* shortest text that reads back equal; NaN and infinities as null */
void jsonw_bool(struct jsonw *w, bool v);
void jsonw_null(struct jsonw *w);
void jsonw_raw(struct jsonw *w, struct str json); /* already valid JSON */

/* key and value in one call; `key` is a literal */
void jsonw_kstr(struct jsonw *w, const char *key, struct str s);
void jsonw_kz(struct jsonw *w, const char *key, const char *z);
void jsonw_ku64(struct jsonw *w, const char *key, uint64_t v);
void jsonw_kbool(struct jsonw *w, const char *key, bool v);
void jsonw_knull(struct jsonw *w, const char *key);
void jsonw_kobj(struct jsonw *w, const char *key);
void jsonw_karr(struct jsonw *w, const char *key);
