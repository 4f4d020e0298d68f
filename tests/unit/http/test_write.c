/* SPDX-License-Identifier: Apache-2.0 */
#include "stream.h"

#include "http/write.h"

#include <errno.h>

TEST(a_head_that_is_written_is_read_back_equal)
{
	struct http_field fields[8];
	struct http_writer w;
	struct http_head h;
	struct str v;
	_cleanup_buf_ struct buf b;

	buf_init(&b, 4096);
	http_write_request(&w, &b, STR("POST"), STR("/run?a=1"), STR("localhost:18888"));
	http_write_field(&w, STR("X-Note"), STR("a\tb \xc3\xa4"));
	http_write_length(&w, 5);
	http_write_connection(&w, HTTP_KEEP);
	assert_int_equal(http_write_end(&w), 0);
	http_head_init(&h, HTTP_REQUEST, HTTP_OTHER, NULL, fields, 8);
	assert_int_equal(http_head_parse(&h, buf_str(&b)), HTTP_DONE);
	assert_int_equal(h.n_bytes, b.n);
	assert_int_equal(h.length, 5);
	assert_int_equal(http_head_one(&h, STR("x-note"), &v), 0);
	CHECK_STR(v, STR("a\tb \xc3\xa4"));
}

TEST(no_value_can_add_a_line)
{
	static const struct str bad[] = { STR("a\r\nX: y"), STR("a\n"),  STR("a\r"),
					  STR("\0"),        STR("\x7f"), STR("a\x01") };

	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		_cleanup_buf_ struct buf b;
		struct http_writer w;

		buf_init(&b, 4096);
		buf_puts(&b, "before");
		http_write_status(&w, &b, 200);
		http_write_field(&w, STR("X"), bad[i]);
		assert_int_equal(http_write_end(&w), -EINVAL);
		CHECK_STR(buf_str(&b), STR("before"));
		http_write_status(&w, &b, 200);
		http_write_field(&w, bad[i], STR("x"));
		assert_int_equal(http_write_end(&w), -EINVAL);
		http_write_request(&w, &b, STR("GET"), bad[i], STR("x"));
		assert_int_equal(http_write_end(&w), -EINVAL);
		http_write_request(&w, &b, bad[i], STR("/"), STR("x"));
		assert_int_equal(http_write_end(&w), -EINVAL);
		http_write_request(&w, &b, STR("GET"), STR("/"), bad[i]);
		assert_int_equal(http_write_end(&w), -EINVAL);
		CHECK_STR(buf_str(&b), STR("before"));
	}
}

TEST(a_target_with_a_space_or_no_slash_is_not_sent)
{
	static const struct str bad[] = { STR("/a b"), STR(""), STR("a"), STR("/a#b"), STR("http://u@h/") };

	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		_cleanup_buf_ struct buf b;
		struct http_writer w;

		buf_init(&b, 4096);
		http_write_request(&w, &b, STR("GET"), bad[i], STR("x"));
		CHECK_CASE(http_write_end(&w) == -EINVAL, "%s", bad[i].p);
		assert_int_equal(b.n, 0);
	}
}

TEST(what_says_where_a_message_ends_is_written_once_and_by_its_own_call)
{
	static const char *const ours[] = { "Content-Length", "transfer-encoding", "CONNECTION", "host" };
	_cleanup_buf_ struct buf b;
	struct http_writer w;

	buf_init(&b, 4096);
	for (size_t i = 0; i < 4; i++) {
		http_write_status(&w, &b, 200);
		http_write_field(&w, str_z(ours[i]), STR("5"));
		CHECK_CASE(http_write_end(&w) == -EINVAL, "%s", ours[i]);
	}
	http_write_status(&w, &b, 200);
	http_write_length(&w, 5);
	http_write_chunked(&w);
	assert_int_equal(http_write_end(&w), -EINVAL);
	http_write_status(&w, &b, 600);
	assert_int_equal(http_write_end(&w), -EINVAL);
	assert_int_equal(b.n, 0);
}

TEST(a_full_buffer_has_no_part_of_a_head)
{
	_cleanup_buf_ struct buf b;
	struct http_writer w;

	buf_init(&b, 20);
	http_write_status(&w, &b, 200);
	http_write_field(&w, STR("Server"), STR("creel"));
	assert_int_equal(http_write_end(&w), -ENOSPC);
	assert_int_equal(b.n, 0);
}

TEST(chunks_that_are_written_are_read_back_and_an_empty_one_ends_nothing)
{
	struct http_head h = { .framing = HTTP_CHUNKED, .limits = { .body_bytes = 100 } };
	_cleanup_buf_ struct buf b, got;
	struct http_body body;
	struct str in, piece;
	enum http_piece p;

	buf_init(&b, 4096);
	buf_init(&got, 4096);
	http_write_chunk(&b, STR("hello "));
	http_write_chunk(&b, STR(""));
	http_write_chunk(&b, STR("0\r\n\r\n world, sixteen and more"));
	http_write_last_chunk(&b);
	http_body_init(&body, &h);
	for (in = buf_str(&b); (p = http_body_next(&body, &in, &piece)) == HTTP_PIECE_DATA;)
		buf_put(&got, piece);
	assert_int_equal(p, HTTP_PIECE_END);
	CHECK_STR(buf_str(&got), STR("hello 0\r\n\r\n world, sixteen and more"));
}

TEST_MAIN()
