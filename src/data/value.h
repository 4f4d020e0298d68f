/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The one value tree that JSON, JSON5 and YAML are read into. Every value knows where it
 * stood (line and column, from 1; columns count code points of the source line). Strings are
 * slices into the arena or the source text: both must outlive the tree.
 */
#pragma once

#include "base/arena.h"
#include "base/str.h"

#include <stdbool.h>
#include <stdint.h>

enum value_kind {
	VALUE_NULL = 0,
	VALUE_BOOL,
	VALUE_INT, /* an integer that fits int64_t, however it was written (0x10, 1e3, 3.) */
	VALUE_NUM, /* any other number, as double; `raw` keeps its text */
	VALUE_STR,
	VALUE_ARR,
	VALUE_OBJ,
	VALUE_KIND_COUNT_
};

struct member;
struct value_index;

struct value {
	enum value_kind kind;
	uint32_t line, col;
	/* Text taken from the environment: it may be a secret, so no message may quote it (`raw` may be quoted). */
	bool from_env;
	union {
		bool b;
		int64_t i;
		double num;
		struct str s;
		struct {
			struct value *v;
			size_t n;
		} arr;
		struct {
			struct member *m; /* in source order */
			size_t n;
		} obj;
	};
	union {
		struct str
			raw; /* VALUE_NUM and VALUE_INT: source text; VALUE_STR with from_env: the text as written */
		const struct value_index
			*index; /* VALUE_OBJ: made by the parsers for many keys; NULL is always fine */
	};
};

struct member {
	struct str key;
	uint32_t line, col;
	struct value v;
};

const char *value_kind_name(
	enum value_kind kind); /* "null", "boolean", "integer", "number", "string", "array", "object" */

/* NULL when `v` is no object or has no such key. With duplicate keys allowed, the last one. */
const struct value *value_get(const struct value *v, struct str key);
const struct member *value_member(const struct value *v, struct str key);
/* "a.b.c" by steps of value_get() */
const struct value *value_path(const struct value *v, const char *dotted);

/* Deep, and order of object members does not matter; positions do not matter; 1 and 1.0 are equal. */
bool value_equal(const struct value *a, const struct value *b);
