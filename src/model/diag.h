/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What is wrong with, or remarkable about, a configuration: collected, so that a person sees
 * all of it at once. A config with one error is refused whole.
 */
#pragma once

#include "base/arena.h"
#include "model/origin.h"

enum severity { SEVERITY_ERROR = 0, SEVERITY_WARN, SEVERITY_INFO };

struct diag {
	enum severity severity;
	const char *code;     /* stable word, e.g. "unknown_key" */
	struct origin origin; /* file:line:column */
	struct str key;       /* dotted path in the file's own words, may be empty */
	struct str text;      /* what, and what is accepted */
	struct str fix;       /* one thing to do; may be empty */
};

#define DIAGS_MAX 200 /* more are counted, not kept */

struct diags {
	struct arena *arena;
	struct diag *v;
	size_t n, cap;
	size_t n_errors, n_warnings, n_dropped;
};

/* The text is formatted into the arena. Never fails: what cannot be kept is counted. */
void diag_add(struct diags *d, enum severity s, const char *code, const struct origin *o, struct str key,
	      const char *fmt, ...) __attribute__((format(printf, 6, 7)));
/* Adds the fix to the diag added last. */
void diag_fix(struct diags *d, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

/* "file:line:col: error: key: text\n\tfix: ..." (severity left out for errors) */
void diag_put(struct buf *out, const struct diag *d);
