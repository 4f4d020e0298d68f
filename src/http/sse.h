/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Server-sent events (WHATWG HTML section 9.2): a writer that cannot be made to write two events for one, and a reader that
 * takes the bytes as they come. Lines and events are bounded; there is no reconnection here.
 */
#pragma once

#include "base/buf.h"
#include "base/str.h"

#define SSE_NO_RETRY UINT64_MAX

struct sse_event {
	struct str type; /* empty: "message" */
	struct str data;
	struct str id;     /* reading: the last one that was given, empty at first */
	bool has_id;       /* writing: write the id, even an empty one; reading: this event gave it */
	uint64_t retry_ms; /* SSE_NO_RETRY, or how long the client waits before it connects again */
};

/* -EINVAL when type or id has a line end or a NUL: then nothing is written. Every line of the data gets its own field. */
int sse_write(struct buf *out, const struct sse_event *e);

/* ": text", which every reader drops: shows that the connection lives. Line ends in the text are refused. */
int sse_write_comment(struct buf *out, struct str text);

struct sse_reader {
	struct buf line, type, data, id;
	uint64_t retry_ms;
	bool began, after_cr, has_data, has_id;
};

/* A negative value ends the reading and is returned. The slices are good until it returns. */
typedef int sse_fn(void *ctx, const struct sse_event *e);

/* No event, and no line of one, may be longer than this. */
void sse_reader_init(struct sse_reader *r, size_t max_bytes);
void sse_reader_done(struct sse_reader *r);
#define _cleanup_sse_reader_ _cleanup_(sse_reader_done)

/* -EMSGSIZE when something is longer than allowed, -ENOMEM; final. An event that is not whole at the end is dropped. */
int sse_read(struct sse_reader *r, struct str bytes, sse_fn *fn, void *ctx);
