/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Bodies in pieces: what comes out does not depend on where they were cut, never is more than allowed, and written again as one
 * chunk each reads back the same. The first byte says how the body is framed, the second how long the pieces are.
 */
#include "check.h"

#include "base/buf.h"
#include "http/body.h"
#include "http/write.h"

enum { BODY_MAX = 3000 };

static const enum http_framing framings[] = { HTTP_NO_BODY, HTTP_LENGTH, HTTP_CHUNKED, HTTP_UNTIL_CLOSE };

static enum http_piece run(const struct http_head *h, struct str s, size_t step, struct buf *out,
			   size_t *ret_taken, struct http_body *b)
{
	struct str rest = s;

	http_body_init(b, h);
	for (;;) {
		size_t offered = rest.n < step ? rest.n : step;
		struct str in = { rest.p, offered }, piece;
		enum http_piece p = http_body_next(b, &in, &piece);

		CHECK(in.p >= rest.p && in.p + in.n == rest.p + offered);
		rest = str_from(rest, offered - in.n);
		*ret_taken = s.n - rest.n;
		if (p == HTTP_PIECE_DATA) {
			CHECK(piece.n > 0);
			buf_put(out, piece);
		} else if (p != HTTP_PIECE_MORE || rest.n == 0) {
			CHECK(p != HTTP_PIECE_MORE || in.n == 0);
			return p;
		}
	}
}

static void check_again(struct str bytes)
{
	const struct http_head h = { .framing = HTTP_CHUNKED, .limits.body_bytes = BODY_MAX };
	struct buf text, out;
	struct http_body b;
	size_t taken;

	buf_init(&text, BODY_MAX + 64);
	buf_init(&out, BODY_MAX);
	http_write_chunk(&text, bytes);
	http_write_last_chunk(&text);
	CHECK(run(&h, buf_str(&text), 7, &out, &taken, &b) == HTTP_PIECE_END && taken == text.n);
	CHECK(str_eq(buf_str(&out), bytes));
	buf_done(&text);
	buf_done(&out);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct http_head h = { .limits.body_bytes = BODY_MAX };
	size_t taken_a = 0, taken_b = 0;
	struct http_body a, b;
	struct buf whole, cut;
	enum http_piece end;
	struct str s;

	if (size < 2)
		return 0;
	h.framing = framings[data[0] % 4];
	h.length = h.framing == HTTP_LENGTH ? (size_t)data[0] * 11 + 1 : 0;
	s = (struct str){ .p = (const char *)data + 2, .n = size - 2 };
	buf_init(&whole, size);
	buf_init(&cut, size);
	end = run(&h, s, SIZE_MAX, &whole, &taken_a, &a);
	CHECK(run(&h, s, (size_t)data[1] + 1, &cut, &taken_b, &b) == end);
	CHECK(end == HTTP_PIECE_BAD ? a.fault.status >= 400 && a.fault.reason == b.fault.reason
				    : taken_a == taken_b);
	CHECK(http_body_ends_here(&a) == http_body_ends_here(&b));
	if (h.framing != HTTP_UNTIL_CLOSE || end != HTTP_PIECE_BAD)
		CHECK(str_eq(buf_str(&whole), buf_str(&cut)));
	CHECK(whole.n <= BODY_MAX);
	check_again(buf_str(&whole));
	buf_done(&whole);
	buf_done(&cut);
	return 0;
}
