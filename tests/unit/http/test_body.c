/* SPDX-License-Identifier: Apache-2.0 */
#include "stream.h"

#define CHUNKED "POST / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n"

TEST(a_chunked_body_is_the_same_wherever_it_was_cut)
{
	const struct str text =
		STR(CHUNKED
		    "5\r\nhello\r\n1;a=b;c=\"q\\\";\";d\r\n \r\n00006\r\nworld!\r\n0\r\nT: x\r\nU:\r\n\r\n"
		    "GET / HTTP/1.1\r\nHost: x\r\n\r\n");

	for (size_t step = 1; step <= text.n; step++) {
		_cleanup_stream_ struct stream s = stream_run(text, step);

		CHECK_CASE(s.n == 2 && s.status[0] == 200 && s.status[1] == 200, "step %zu: %s", step,
			   s.reason ? s.reason : "");
		CHECK_STR(buf_str(&s.bodies), STR("hello world!"));
	}
}

TEST(a_malformed_chunk_is_refused_wherever_it_was_cut)
{
	static const struct {
		const char *body;
		unsigned status;
	} cases[] = {
		{ "0x5\r\nhello\r\n0\r\n\r\n", 400 },
		{ "5 \r\nhello\r\n0\r\n\r\n", 400 },
		{ " 5\r\nhello\r\n0\r\n\r\n", 400 },
		{ "+5\r\nhello\r\n0\r\n\r\n", 400 },
		{ "-5\r\nhello\r\n0\r\n\r\n", 400 },
		{ "5\nhello\r\n0\r\n\r\n", 400 },
		{ "5\r\nhello\n0\r\n\r\n", 400 },
		{ "5\r\nhelloX\r\n0\r\n\r\n", 400 },
		{ "5\r\nhello0\r\n\r\n", 400 },
		{ "\r\nhello", 400 },
		{ ";a\r\n", 400 },
		{ "5;\r\nhello\r\n0\r\n\r\n", 400 },
		{ "5;a=\r\nhello\r\n0\r\n\r\n", 400 },
		{ "5;a b\r\nhello\r\n0\r\n\r\n", 400 },
		{ "5;a=\"x\"y\r\nhello\r\n", 400 },
		{ "5;a=\"\n\"\r\nhello\r\n", 400 },
		{ "5;a\nhello\r\n", 400 },
		{ "5;=b\r\nhello\r\n", 400 },
		{ "5\rX", 400 },
		{ "8000000000000000\r\n", 400 },
		{ "00000000000000005\r\nhello\r\n", 400 },
		{ "7fffffffffffffff\r\n", 413 },
		{ "800001\r\n", 413 },
		{ "0\r\nX\r\n\r\n", 400 },
		{ "0\r\n X: a\r\n\r\n", 400 },
		{ "0\r\nX : a\r\n\r\n", 400 },
		{ "0\r\nX: a\rb\r\n\r\n", 400 },
		{ "0\r\nX: a\n\r\n", 400 },
		{ "0\r\n:a\r\n\r\n", 400 },
		{ "0\r\n\n", 400 },
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
		for (size_t step = 1; step < 80; step += 13) {
			char text[256];

			(void)snprintf(text, sizeof(text), CHUNKED "%s", cases[i].body);
			_cleanup_stream_ struct stream s = stream_run(str_z(text), step);

			CHECK_CASE(s.n == 1 && s.status[0] == cases[i].status, "case %zu, step %zu: %u", i,
				   step, s.n ? s.status[0] : 0);
		}
}

static unsigned repeated(const char *begin, const char *again, size_t times, const char *end)
{
	_cleanup_buf_ struct buf b;

	buf_init(&b, 1 << 20);
	buf_puts(&b, CHUNKED);
	buf_puts(&b, begin);
	for (size_t i = 0; i < times; i++)
		buf_puts(&b, again);
	buf_puts(&b, end);
	_cleanup_stream_ struct stream s = stream_run(buf_str(&b), SIZE_MAX);

	return s.n ? s.status[0] : 0;
}

TEST(extensions_and_trailers_are_bounded_in_all)
{
	assert_int_equal(repeated("", "1;aaaaaaaa\r\nx\r\n", 100, "0\r\n\r\n"), 200);
	assert_int_equal(repeated("", "1;aaaaaaaa\r\nx\r\n", 120, "0\r\n\r\n"), 400);
	assert_int_equal(repeated("0\r\n", "abcdef: 0123456789\r\n", 200, "\r\n"), 200);
	assert_int_equal(repeated("0\r\n", "abcdef: 0123456789\r\n", 230, "\r\n"), 431);
}

TEST(a_body_with_a_length_ends_where_it_says)
{
	const struct str text = STR(
		"POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 3\r\n\r\nabcGET / HTTP/1.1\r\nHost: x\r\n\r\n");

	for (size_t step = 1; step <= text.n; step++) {
		_cleanup_stream_ struct stream s = stream_run(text, step);

		assert_int_equal(s.n, 2);
		CHECK_STR(buf_str(&s.bodies), STR("abc"));
	}
}

TEST(chunks_together_stay_below_the_limit_of_the_body)
{
	struct http_head h = { .framing = HTTP_CHUNKED, .limits = { .body_bytes = 10 } };
	struct str in = STR("6\r\nabcdef\r\n5\r\n"), piece;
	struct http_body b;

	http_body_init(&b, &h);
	assert_int_equal(http_body_next(&b, &in, &piece), HTTP_PIECE_DATA);
	assert_int_equal(http_body_next(&b, &in, &piece), HTTP_PIECE_BAD);
	assert_int_equal(b.fault.status, 413);
}

TEST(a_body_until_the_end_is_whole_when_the_connection_ends)
{
	struct http_head h = { .role = HTTP_RESPONSE,
			       .framing = HTTP_UNTIL_CLOSE,
			       .limits = { .body_bytes = 4 } };
	struct str in = STR("abc"), piece;
	struct http_body b;

	http_body_init(&b, &h);
	assert_int_equal(http_body_next(&b, &in, &piece), HTTP_PIECE_DATA);
	CHECK_STR(piece, STR("abc"));
	assert_int_equal(http_body_next(&b, &in, &piece), HTTP_PIECE_MORE);
	assert_true(http_body_ends_here(&b));
	in = STR("de");
	assert_int_equal(http_body_next(&b, &in, &piece), HTTP_PIECE_BAD);
	assert_false(http_body_ends_here(&b));
}

TEST(a_body_that_was_cut_off_is_not_whole)
{
	const enum http_framing framings[] = { HTTP_LENGTH, HTTP_CHUNKED };

	for (size_t i = 0; i < 2; i++) {
		struct http_head h = { .framing = framings[i], .length = 5, .limits = { .body_bytes = 10 } };
		struct http_body b;

		http_body_init(&b, &h);
		assert_false(http_body_ends_here(&b));
	}
}

TEST_MAIN()
