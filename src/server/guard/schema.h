/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Whether a JSON object is what a table says, and its members in a struct. Pure. A member that is not in the table is refused by its
 * name. What is sent twice the JSON parser has refused before.
 */
#pragma once

#include "base/buf.h"
#include "data/value.h"

enum field_kind {
	FIELD_TEXT = 0, /* struct str */
	FIELD_COUNT,    /* struct count: 0 or more */
};

struct count {
	bool said;
	uint64_t n;
};

struct field {
	const char *name;
	enum field_kind kind;
	bool required;
	size_t offset;
	size_t max; /* bytes of a text, or the largest count */
};

struct schema {
	const struct field *fields;
	size_t n;
};

enum { SCHEMA_FAULT_MAX = 200 };

/* False: `fault` has a sentence with the member's name, made visible. */
bool schema_read(const struct schema *s, const struct value *v, void *ret,
		 char fault[static SCHEMA_FAULT_MAX]);
