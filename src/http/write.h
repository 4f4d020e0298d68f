/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Writes heads and chunks into a buffer. What is written is one message, whatever is given: names, values and targets are
 * checked, the fields that say where a message ends come from typed calls alone, and of a head that is refused nothing
 * is left in the buffer.
 */
#pragma once

#include "base/buf.h"
#include "http/head.h"

struct http_writer {
	struct buf *out;
	size_t begin; /* where in the buffer the head begins */
	bool bad, framed;
};

/* "HTTP/1.1 200 OK". The status is 100..599. */
void http_write_status(struct http_writer *w, struct buf *out, unsigned status);

/* "GET /path HTTP/1.1" and Host. The target in any of its four forms; the method decides which. */
void http_write_request(struct http_writer *w, struct buf *out, struct str method, struct str target,
			struct str host);

/* Refused: what is no field, and Host, Content-Length, Transfer-Encoding and Connection, which have their own calls. */
void http_write_field(struct http_writer *w, struct str name, struct str value);

/* At most one of these two. */
void http_write_length(struct http_writer *w, uint64_t n_bytes);
void http_write_chunked(struct http_writer *w);

enum http_after { HTTP_CLOSE = 0, HTTP_KEEP, HTTP_UPGRADE };
void http_write_connection(struct http_writer *w, enum http_after after);

/* The empty line. -EINVAL when something was refused, -ENOSPC when the buffer is full: then the head is not in it. */
int http_write_end(struct http_writer *w);

/* One chunk; an empty one would end the body, so nothing is written for it. */
void http_write_chunk(struct buf *out, struct str data);
void http_write_last_chunk(struct buf *out);

/* The most that http_write_chunk() adds to the data. */
enum { HTTP_CHUNK_EXTRA = 20 };
