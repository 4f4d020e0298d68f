/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A part of what a background process has written, by lines or by bytes. Lines are counted from the first byte that is still kept;
 * how many bytes were dropped before it is told.
 */
#pragma once

#include "tools/background.h"

struct process_log {
	bool out, err; /* which streams */
	bool by_bytes;
	bool has_offset,
		has_limit; /* of lines: without any the last 200; a limit alone is that many of the last */
	uint64_t offset, limit; /* from 0 */
	size_t max;             /* bytes of the result, each stream */
};

int process_put_log(struct tool_ctx *x, const struct jobs_ops *ops, struct str id,
		    const struct process_log *q, struct jsonw *w, struct err *e);
