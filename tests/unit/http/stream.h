/* SPDX-License-Identifier: Apache-2.0 */
/* Bytes of one connection through the readers, in pieces of any size, as a server would: one status per request. */
#pragma once

#include "check.h"

#include "base/buf.h"
#include "http/body.h"

enum { STREAM_FIELDS = 64 };

struct stream {
	unsigned status[16]; /* 200, or the fault's; then nothing follows */
	size_t n;
	bool open_end; /* the last request is not whole */
	struct buf bodies;
	const char *reason;
};

static inline void stream_status(struct stream *s, unsigned status, const char *reason)
{
	assert_true(s->n < sizeof(s->status) / sizeof(s->status[0]));
	s->status[s->n++] = status;
	s->reason = reason;
}

/* The head at the front of the bytes, which come `step` at a time, each time at another address. */
static inline enum http_result stream_head(struct http_head *h, struct str bytes, size_t step)
{
	enum http_result r = HTTP_MORE;

	for (size_t n = 0; r == HTTP_MORE && n < bytes.n;) {
		_cleanup_free_ char *moved = NULL;

		n = bytes.n - n < step ? bytes.n : n + step;
		moved = malloc(n);
		assert_non_null(moved);
		memcpy(moved, bytes.p, n);
		r = http_head_parse(h, (struct str){ moved, n });
		http_head_rebase(h, bytes.p);
	}
	return r;
}

static inline enum http_piece stream_body(struct stream *s, const struct http_head *h, struct str *bytes,
					  size_t step)
{
	enum http_piece p = HTTP_PIECE_MORE;
	struct http_body b;
	size_t end = 0;

	http_body_init(&b, h);
	for (;;) {
		struct str in = { bytes->p, end }, piece;

		p = http_body_next(&b, &in, &piece);
		if (p == HTTP_PIECE_DATA)
			buf_put(&s->bodies, piece);
		end -= (size_t)(in.p - bytes->p);
		*bytes = str_from(*bytes, (size_t)(in.p - bytes->p));
		if (p == HTTP_PIECE_BAD)
			stream_status(s, b.fault.status, b.fault.reason);
		if (p == HTTP_PIECE_BAD || p == HTTP_PIECE_END)
			return p;
		if (p == HTTP_PIECE_MORE && end == bytes->n)
			return p;
		if (p == HTTP_PIECE_MORE)
			end = bytes->n - end < step ? bytes->n : end + step;
	}
}

static inline struct stream stream_run(struct str bytes, size_t step)
{
	struct stream s = { 0 };

	buf_init(&s.bodies, 1 << 20);
	while (bytes.n > 0 && !s.open_end) {
		struct http_field fields[STREAM_FIELDS];
		struct http_head h;
		enum http_result r;
		enum http_piece p;

		http_head_init(&h, HTTP_REQUEST, HTTP_OTHER, NULL, fields, STREAM_FIELDS);
		r = stream_head(&h, bytes, step);
		s.open_end = r == HTTP_MORE;
		if (r == HTTP_BAD)
			stream_status(&s, h.fault.status, h.fault.reason);
		if (r != HTTP_DONE)
			break;
		bytes = str_from(bytes, h.n_bytes);
		p = stream_body(&s, &h, &bytes, step);
		s.open_end = p == HTTP_PIECE_MORE;
		if (p == HTTP_PIECE_BAD)
			break;
		if (p == HTTP_PIECE_END)
			stream_status(&s, 200, NULL);
		if (!h.keep_alive)
			break;
	}
	return s;
}

static inline void stream_done(struct stream *s)
{
	buf_done(&s->bodies);
}
#define _cleanup_stream_ _cleanup_(stream_done)
