/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Everything that the log has about one call or one session, as one JSON document that can be given away: the decisions, what came of them, what was
 * denied, and the life of the sandboxes that they ran in. Every text goes through `hide` once more: when it was written, fewer secrets may
 * have been known than now.
 */
#pragma once

#include "audit/audit.h"

#define INCIDENT_MAX ((size_t)64 << 20)
#define INCIDENT_CALLS_MAX 10000u /* the first so many; "truncated" tells */

struct incident_opts {
	const char *dir;             /* of the log */
	struct str request, session; /* one of them */
	uint64_t now_ms;
	const char *version;
	/* Puts a text without what must not leave. */
	void (*hide)(void *ctx, struct str text, struct buf *out);
	void *ctx;
};
/* ERR_NOTFOUND when the log has nothing about it. */
int incident_export(const struct incident_opts *o, struct buf *out, struct err *e);
