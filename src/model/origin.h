/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Where a value came from. Every setting, rule, agent and list carries one, and so does
 * every line of a decision: "why" is always answered with a place.
 */
#pragma once

#include "base/buf.h"
#include "base/str.h"

#include <stdint.h>

enum origin_kind {
	ORIGIN_BUILTIN = 0, /* compiled in */
	ORIGIN_PROFILE,     /* name: the profile */
	ORIGIN_FILE,        /* name: the file, with line and column */
	ORIGIN_ENV,         /* name: the variable */
	ORIGIN_FLAG,        /* name: the flag as typed, e.g. "-e sandbox_mode" */
	ORIGIN_REQUEST,     /* what the caller sent */
	ORIGIN_KIND_COUNT_
};

struct origin {
	enum origin_kind kind;
	uint32_t line, col; /* 0 = unknown */
	struct str name;
	struct str
		raw; /* text as written, when the value holds something from the environment: print this instead */
};

/* "openclaw.json:12:5", "built-in", "profile bilrost", "environment NAME", "flag -e x" */
void origin_put(struct buf *out, const struct origin *o);
