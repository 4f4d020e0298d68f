/* SPDX-License-Identifier: Apache-2.0 */
#include "serving.h"

#include <poll.h>

#define GET(path) "GET " path " HTTP/1.1\r\nHost: x\r\n\r\n"

static const struct http_server_opts plain = { .output_bytes = 65536 };

static void ask(struct serving *s, int fd, const char *request, struct buf *got, const char *until)
{
	buf_init(got, 1 << 22);
	serving_send(s, fd, str_z(request));
	CHECK_CASE(serving_read(s, fd, got, until, 1), "ended before '%s': %s", until, got->p ? got->p : "");
}

TEST(a_request_is_answered_over_unix_and_tcp_and_the_peer_is_known)
{
	_cleanup_serving_ struct serving s;

	serving_start(&s, &plain);
	for (int tcp = 0; tcp < 2; tcp++) {
		_cleanup_close_ int fd = serving_connect(&s, tcp);
		_cleanup_buf_ struct buf got;

		ask(&s, fd, GET("/a"), &got, "\r\n\r\n/a");
		CHECK_STR(buf_str(&got), STR("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n/a"));
		assert_int_equal(s.peer.is_unix, !tcp);
		if (tcp) {
			assert_true(strncmp(s.peer.address, "127.0.0.1:", 10) == 0);
		} else {
			assert_int_equal(s.peer.uid, getuid());
			assert_int_equal(s.peer.pid, getpid());
		}
	}
}

TEST(a_connection_that_somebody_else_accepted_is_served_as_long_as_there_is_room)
{
	_cleanup_serving_ struct serving s;
	_cleanup_buf_ struct buf got;
	_cleanup_close_ int ours = FD_NONE;
	int pair[2];

	serving_start(&s, &(struct http_server_opts){ .output_bytes = 65536, .max_connections = 1 });
	assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0, pair), 0);
	assert_int_equal(http_server_adopt(s.server, pair[1]), 0);
	ours = pair[0];
	ask(&s, ours, GET("/a"), &got, "\r\n\r\n/a");
	/* Idle, and still not ended for another. */
	assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0, pair), 0);
	assert_int_equal(http_server_adopt(s.server, pair[1]), -EMFILE);
	(void)fd_close(pair[0]);
	assert_int_equal(http_server_connections(s.server), 1);
}

TEST(a_unix_socket_has_its_mode_and_is_not_taken_twice)
{
	_cleanup_serving_ struct serving s;
	struct err e = { 0 };
	struct stat st;
	int fd;

	serving_start(&s, &plain);
	assert_int_equal(stat(s.path, &st), 0);
	assert_int_equal(st.st_mode & 0777, 0600);
	assert_true(http_listen_unix(s.path, 0600, &fd, &e) < 0);
	assert_int_equal(e.sys_errno, EADDRINUSE);
}

TEST(a_connection_serves_many_requests_and_pipelined_ones_in_order)
{
	_cleanup_serving_ struct serving s;
	_cleanup_buf_ struct buf ask_all, got;
	_cleanup_close_ int fd = FD_NONE;
	struct str rest;

	serving_start(&s, &plain);
	buf_init(&ask_all, 1 << 20);
	buf_init(&got, 1 << 20);
	for (int i = 0; i < 300; i++)
		buf_printf(&ask_all, "POST /%d HTTP/1.1\r\nHost: x\r\nContent-Length: 3\r\n\r\nabc", i);
	fd = serving_connect(&s, true);
	serving_send(&s, fd, buf_str(&ask_all));
	assert_true(serving_read(&s, fd, &got, "HTTP/1.1 200 OK", 300));
	assert_true(serving_read(&s, fd, &got, "/299", 1));
	rest = buf_str(&got);
	for (int i = 0; i < 300; i++) {
		char want[32];
		const char *at;

		(void)snprintf(want, sizeof(want), "\r\n\r\n/%d", i);
		at = memmem(rest.p, rest.n, want, strlen(want));
		assert_non_null(at);
		rest = str_from(rest, (size_t)(at - rest.p));
	}
	assert_int_equal(s.n_requests, 300);
	assert_int_equal(s.bodies.n, 900);
}

TEST(a_request_that_comes_byte_by_byte_is_served)
{
	const struct str text =
		STR("POST /b HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n0\r\n\r\n");
	_cleanup_serving_ struct serving s;
	_cleanup_close_ int fd = FD_NONE;
	_cleanup_buf_ struct buf got;

	serving_start(&s, &plain);
	fd = serving_connect(&s, false);
	buf_init(&got, 4096);
	for (size_t i = 0; i < text.n; i++) {
		serving_send(&s, fd, (struct str){ text.p + i, 1 });
		serving_turn(&s, 0);
		serving_turn(&s, 0);
	}
	assert_true(serving_read(&s, fd, &got, "/b", 1));
	CHECK_STR(buf_str(&s.bodies), STR("abc"));
}

TEST(what_the_codec_refuses_is_answered_and_the_connection_ended)
{
	static const struct {
		const char *text, *status;
	} cases[] = {
		{ "GET / HTTP/1.1\r\n\r\n", "HTTP/1.1 400 " },
		{ "GET / HTTP/1.1\nHost: x\n\n", "HTTP/1.1 400 " },
		{ "GET / HTTP/3.0\r\nHost: x\r\n\r\n", "HTTP/1.1 505 " },
		{ "POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 99999999\r\n\r\nabc", "HTTP/1.1 413 " },
		{ "POST / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: gzip\r\n\r\n", "HTTP/1.1 501 " },
		{ "POST / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n", "HTTP/1.1 400 " },
		{ "POST /early HTTP/1.1\r\nHost: x\r\nContent-Length: 9999\r\n\r\nabc" GET("/x"),
		  "HTTP/1.1 401 " },
		{ "\x16\x03\x01\x02", "HTTP/1.1 400 " },
	};
	_cleanup_serving_ struct serving s;

	serving_start(&s, &plain);
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		_cleanup_close_ int fd = serving_connect(&s, i % 2);
		_cleanup_buf_ struct buf got;

		buf_init(&got, 4096);
		serving_send(&s, fd, str_z(cases[i].text));
		assert_false(serving_read(&s, fd, &got, NULL, 0));
		CHECK_CASE(str_starts(buf_str(&got), str_z(cases[i].status)), "case %zu: %s", i,
			   got.p ? got.p : "");
		assert_non_null(memmem(got.p, got.n, "Connection: close\r\n", 19));
		/* Exactly one answer. */
		assert_null(memmem(got.p + 20, got.n - 20, "HTTP/1.1 2", 10));
		assert_null(memmem(got.p + 20, got.n - 20, "HTTP/1.1 4", 10));
	}
	assert_int_equal(s.n_requests, 0);
}

TEST(a_client_that_expects_it_is_told_to_go_on)
{
	_cleanup_serving_ struct serving s;
	_cleanup_close_ int fd = FD_NONE;
	_cleanup_buf_ struct buf got;

	serving_start(&s, &plain);
	fd = serving_connect(&s, true);
	ask(&s, fd, "POST /e HTTP/1.1\r\nHost: x\r\nContent-Length: 2\r\nExpect: 100-continue\r\n\r\n", &got,
	    "100 Continue\r\n\r\n");
	serving_send(&s, fd, STR("ok"));
	assert_true(serving_read(&s, fd, &got, "/e", 1));
	CHECK_STR(buf_str(&s.bodies), STR("ok"));
}

TEST(the_answer_to_head_and_to_http_1_0_has_the_shape_they_can_read)
{
	_cleanup_serving_ struct serving s;
	_cleanup_close_ int head = FD_NONE, old = FD_NONE;
	_cleanup_buf_ struct buf got, stream;

	serving_start(&s, &plain);
	head = serving_connect(&s, true);
	ask(&s, head, "HEAD /abc HTTP/1.1\r\nHost: x\r\n\r\n" GET("/d"), &got, "/d");
	CHECK_STR(
		buf_str(&got),
		STR("HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\nHTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n/d"));
	old = serving_connect(&s, true);
	s.to_stream = 3;
	buf_init(&stream, 4096);
	serving_send(&s, old, STR("GET /stream HTTP/1.0\r\nConnection: keep-alive\r\n\r\n"));
	assert_false(serving_read(&s, old, &stream, NULL, 0));
	CHECK_STR(buf_str(&stream), STR("HTTP/1.1 200 OK\r\nConnection: close\r\n\r\n\0\0\0"));
}

TEST(an_answer_that_comes_later_lets_the_next_request_wait)
{
	_cleanup_serving_ struct serving s;
	_cleanup_close_ int fd = FD_NONE;
	_cleanup_buf_ struct buf got;

	serving_start(&s, &plain);
	fd = serving_connect(&s, false);
	buf_init(&got, 4096);
	serving_send(&s, fd, STR(GET("/hold") GET("/next")));
	SERVING_UNTIL(&s, s.held);
	for (int i = 0; i < 5; i++)
		serving_turn(&s, 1);
	assert_int_equal(s.n_requests, 1);
	assert_int_equal(http_answer(s.held, 202, NULL, 0, STR("later")), 0);
	/* Not from inside the call. */
	assert_int_equal(s.n_requests, 1);
	assert_true(serving_read(&s, fd, &got, "/next", 1));
	assert_true(str_starts(buf_str(&got),
			       STR("HTTP/1.1 202 Accepted\r\nContent-Length: 5\r\n\r\nlaterHTTP/1.1 200")));
}

/* What it sends meanwhile stays where it is, and does not keep the loop awake; nor does the end of it. */
TEST(a_client_that_sends_too_early_wakes_nobody_twice)
{
	_cleanup_serving_ struct serving s;

	serving_start(&s, &plain);
	for (int tcp = 0; tcp < 2; tcp++) {
		_cleanup_close_ int fd = serving_connect(&s, tcp);
		_cleanup_buf_ struct buf first, got;
		uint64_t began;

		ask(&s, fd, GET("/a"), &first, "\r\n\r\n/a");
		serving_send(&s, fd, STR(GET("/hold")));
		SERVING_UNTIL(&s, s.held);
		serving_send(&s, fd, STR(GET("/next")));
		assert_int_equal(shutdown(fd, SHUT_WR), 0);
		began = clock_mono_ms();
		for (int i = 0; i < 10; i++)
			serving_turn(&s, 20);
		assert_true(clock_mono_ms() - began >= 100);
		assert_int_equal(s.n_requests, tcp * 3 + 2);
		assert_int_equal(http_answer(s.held, 202, NULL, 0, STR("later")), 0);
		s.held = NULL;
		buf_init(&got, 4096);
		assert_true(serving_read(&s, fd, &got, "/next", 1));
	}
	assert_int_equal(s.n_gone, 0);
}

TEST(an_answer_that_cannot_be_sent_leaves_room_for_another)
{
	static const struct http_answer_field bad = { STR("X"), STR("a\r\nSet-Cookie: b") };
	_cleanup_serving_ struct serving s;
	_cleanup_close_ int fd = FD_NONE;
	_cleanup_free_ char *much = calloc(1, 70000);
	_cleanup_buf_ struct buf got;

	serving_start(&s, &plain);
	fd = serving_connect(&s, false);
	buf_init(&got, 4096);
	serving_send(&s, fd, STR(GET("/hold")));
	SERVING_UNTIL(&s, s.held);
	assert_int_equal(http_answer(s.held, 200, &bad, 1, STR("")), -EINVAL);
	assert_int_equal(http_answer(s.held, 200, NULL, 0, (struct str){ much, 70000 }), -ENOSPC);
	assert_int_equal(http_answer(s.held, 500, NULL, 0, STR("x")), 0);
	assert_true(serving_read(&s, fd, &got, "\r\n\r\nx", 1));
	assert_true(str_starts(buf_str(&got), STR("HTTP/1.1 500 ")));
}

TEST(a_long_answer_reaches_a_slow_reader_whole_and_never_waits_as_a_whole)
{
	_cleanup_serving_ struct serving s;
	_cleanup_close_ int fd = FD_NONE;
	_cleanup_buf_ struct buf got;

	serving_start(&s, &plain);
	s.to_stream = (size_t)3 << 20;
	fd = serving_connect(&s, false);
	buf_init(&got, (size_t)8 << 20);
	serving_send(&s, fd, STR(GET("/stream") GET("/after")));
	SERVING_UNTIL(&s, s.held);
	for (int i = 0; i < 5; i++)
		serving_turn(&s, 1);
	/* It does not fit into the kernel's buffers and ours. */
	assert_true(s.to_stream > 0);
	assert_true(serving_read(&s, fd, &got, "/after", 1));
	assert_true(s.n_room > 0 && s.to_stream == 0 && got.n > (size_t)3 << 20);
	assert_int_equal(s.n_gone, 0);
}

TEST(a_client_that_never_reads_is_ended_and_others_do_not_notice)
{
	const struct http_server_opts opts = { .output_bytes = 65536, .write_ms = 300 };
	_cleanup_serving_ struct serving s;
	_cleanup_close_ int deaf = FD_NONE, other = FD_NONE;
	_cleanup_buf_ struct buf got;

	serving_start(&s, &opts);
	s.to_stream = (size_t)256 << 20;
	deaf = serving_connect(&s, true);
	serving_send(&s, deaf, STR(GET("/stream")));
	SERVING_UNTIL(&s, s.held);
	other = serving_connect(&s, true);
	ask(&s, other, GET("/o"), &got, "/o");
	SERVING_UNTIL(&s, s.n_gone == 1);
	assert_null(s.held);
	assert_true(s.to_stream > (size_t)200 << 20);
	SERVING_UNTIL(&s, http_server_connections(s.server) == 1);
}

TEST(a_head_a_body_and_a_pause_have_their_deadlines)
{
	const struct http_server_opts opts = { .head_ms = 400, .idle_ms = 400, .body_ms = 400 };
	static const struct {
		const char *text, *answer;
	} cases[] = {
		{ "", "" },
		{ "GET / HTTP/1.1\r\nHo", "HTTP/1.1 408 " },
		{ "POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 5\r\n\r\nab", "HTTP/1.1 408 " },
		{ GET("/a"), "HTTP/1.1 200 " },
	};
	_cleanup_serving_ struct serving s;

	serving_start(&s, &opts);
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		_cleanup_close_ int fd = serving_connect(&s, true);
		_cleanup_buf_ struct buf got;

		buf_init(&got, 4096);
		serving_send(&s, fd, str_z(cases[i].text));
		assert_false(serving_read(&s, fd, &got, NULL, 0));
		CHECK_CASE(str_starts(buf_str(&got), str_z(cases[i].answer)), "case %zu: %s", i,
			   got.p ? got.p : "");
	}
	/* Only of the body did the handler know. */
	assert_int_equal(s.n_gone, 1);
}

TEST(a_body_in_drops_does_not_hold_its_place_for_ever)
{
	const struct http_server_opts opts = { .body_ms = 400 };
	_cleanup_serving_ struct serving s;
	_cleanup_close_ int fd = FD_NONE;

	serving_start(&s, &opts);
	fd = serving_connect(&s, true);
	serving_send(&s, fd, STR("POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 5000\r\n\r\n"));
	/* Each drop comes long before the deadline of a pause. */
	while (s.n_gone == 0 && s.bodies.n < 4000) {
		serving_send(&s, fd, STR("x"));
		(void)poll(NULL, 0, 5);
		serving_turn(&s, 1);
	}
	assert_int_equal(s.n_gone, 1);
	assert_true(s.bodies.n > 0);
}

TEST(a_client_that_goes_while_it_waits_is_noticed_at_once)
{
	_cleanup_serving_ struct serving s;

	serving_start(&s, &plain);
	for (unsigned i = 0; i < 6; i++) {
		_cleanup_close_ int fd = serving_connect(&s, i % 2);

		serving_send(&s, fd, STR(GET("/hold")));
		SERVING_UNTIL(&s, s.held);
		if (i < 2)
			assert_int_equal(shutdown(fd, SHUT_WR), 0);
		if (i >= 4)
			assert_int_equal(http_answer_begin(s.held, 200, NULL, 0), 0);
		serving_turn(&s, 20);
		assert_int_equal(s.n_gone, i);
		fd_closep(&fd);
		SERVING_UNTIL(&s, s.n_gone == i + 1);
		assert_null(s.held);
	}
	SERVING_UNTIL(&s, http_server_connections(s.server) == 0);
}

TEST(a_client_that_ends_its_half_behind_its_requests_gets_all_answers)
{
	_cleanup_serving_ struct serving s;

	serving_start(&s, &plain);
	for (int tcp = 0; tcp < 2; tcp++) {
		_cleanup_close_ int fd = serving_connect(&s, tcp);
		_cleanup_buf_ struct buf got;

		buf_init(&got, 65536);
		for (int i = 0; i < 40; i++)
			serving_send(&s, fd, STR(GET("/x")));
		assert_int_equal(shutdown(fd, SHUT_WR), 0);
		assert_true(serving_read(&s, fd, &got, "200 OK", 40));
		assert_false(serving_read(&s, fd, &got, NULL, 0));
	}
}

TEST(a_client_that_ends_its_half_while_it_waits_gets_its_answer)
{
	static const struct {
		const char *request;
		bool pieces;
		const char *answer;
	} rows[] = {
		{ GET("/hold"), false, "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nhi" },
		{ "GET /hold HTTP/1.0\r\n\r\n", false,
		  "HTTP/1.1 200 OK\r\nContent-Length: 2\r\nConnection: close\r\n\r\nhi" },
		{ GET("/hold"), true,
		  "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nhi\r\n0\r\n\r\n" },
		{ "GET /hold HTTP/1.0\r\n\r\n", true, "HTTP/1.1 200 OK\r\nConnection: close\r\n\r\nhi" },
	};
	_cleanup_serving_ struct serving s;

	serving_start(&s, &plain);
	for (unsigned i = 0; i < 2 * sizeof(rows) / sizeof(rows[0]); i++) {
		_cleanup_close_ int fd = serving_connect(&s, i % 2);
		_cleanup_buf_ struct buf got;

		buf_init(&got, 4096);
		serving_send(&s, fd, str_z(rows[i / 2].request));
		SERVING_UNTIL(&s, s.held);
		assert_int_equal(shutdown(fd, SHUT_WR), 0);
		serving_turn(&s, 20);
		assert_non_null(s.held);
		if (rows[i / 2].pieces) {
			assert_int_equal(http_answer_begin(s.held, 200, NULL, 0), 0);
			assert_int_equal(http_answer_write(s.held, STR("hi")), 0);
			http_answer_end(s.held);
		} else {
			assert_int_equal(http_answer(s.held, 200, NULL, 0, STR("hi")), 0);
		}
		s.held = NULL;
		assert_false(serving_read(&s, fd, &got, NULL, 0));
		assert_string_equal(got.p, rows[i / 2].answer);
		assert_int_equal(s.n_gone, 0);
	}
}

/* Leading zeros of a chunk's size, and nothing where there is no such place. */
TEST(a_client_that_ends_its_half_in_the_middle_of_an_answer_is_asked_whether_it_is_there)
{
	_cleanup_serving_ struct serving s;

	serving_start(&s, &plain);
	for (unsigned i = 0; i < 2; i++) {
		_cleanup_close_ int fd = serving_connect(&s, i % 2);
		_cleanup_buf_ struct buf got;

		buf_init(&got, 4096);
		serving_send(&s, fd, STR(GET("/hold")));
		SERVING_UNTIL(&s, s.held);
		assert_int_equal(http_answer_begin(s.held, 200, NULL, 0), 0);
		assert_int_equal(shutdown(fd, SHUT_WR), 0);
		serving_turn(&s, 20);
		assert_non_null(s.held);
		assert_int_equal(http_answer_write(s.held, STR("hi")), 0);
		http_answer_end(s.held);
		s.held = NULL;
		assert_false(serving_read(&s, fd, &got, NULL, 0));
		assert_non_null(
			strstr(got.p, i ? "\r\n\r\n02\r\nhi\r\n0\r\n\r\n" : "\r\n\r\n2\r\nhi\r\n0\r\n\r\n"));
	}
}

TEST(a_stream_of_events_without_chunks_ends_with_its_client)
{
	static const struct http_answer_field type[] = { { STR("Content-Type"), STR("text/event-stream") } };
	_cleanup_serving_ struct serving s;
	_cleanup_close_ int fd = FD_NONE;

	serving_start(&s, &plain);
	fd = serving_connect(&s, true);
	serving_send(&s, fd, STR("GET /hold HTTP/1.0\r\n\r\n"));
	SERVING_UNTIL(&s, s.held);
	assert_int_equal(http_answer_begin(s.held, 200, type, 1), 0);
	serving_turn(&s, 20);
	fd_closep(&fd);
	SERVING_UNTIL(&s, s.n_gone == 1);
}

TEST(an_answer_that_is_aborted_is_seen_not_to_be_whole)
{
	_cleanup_serving_ struct serving s;
	_cleanup_close_ int fd = FD_NONE;
	_cleanup_buf_ struct buf got;

	serving_start(&s, &plain);
	fd = serving_connect(&s, false);
	buf_init(&got, 4096);
	serving_send(&s, fd, STR(GET("/hold")));
	SERVING_UNTIL(&s, s.held);
	assert_int_equal(http_answer_begin(s.held, 200, NULL, 0), 0);
	assert_int_equal(http_answer_write(s.held, STR("part")), 0);
	http_answer_abort(s.held);
	assert_false(serving_read(&s, fd, &got, NULL, 0));
	CHECK_STR(buf_str(&got), STR("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n4\r\npart\r\n"));
	assert_int_equal(s.n_gone, 0);
}

TEST(an_exchange_that_has_settled_keeps_its_head_and_the_next_one_has_room_again)
{
	_cleanup_serving_ struct serving s;
	_cleanup_close_ int fd = FD_NONE;
	_cleanup_buf_ struct buf got, many;
	struct str value;

	serving_start(&s, &plain);
	fd = serving_connect(&s, false);
	buf_init(&got, 1 << 16);
	buf_init(&many, 1 << 16);
	buf_puts(&many, "GET /many HTTP/1.1\r\nHost: x\r\n");
	for (int i = 0; i < 60; i++)
		buf_printf(&many, "X-%d: %040d\r\n", i, i);
	buf_puts(&many, "\r\n");
	serving_send(&s, fd, STR("GET /hold HTTP/1.1\r\nHost: x\r\nX-Kept: yes\r\n\r\n"));
	SERVING_UNTIL(&s, s.held);
	serving_send(&s, fd, buf_str(&many)); /* comes while it is settled */
	assert_int_equal(http_answer_begin(s.held, 200, NULL, 0), 0);
	http_exchange_settle(s.held);
	for (int i = 0; i < 3; i++) {
		assert_int_equal(http_head_one(http_exchange_head(s.held), STR("x-kept"), &value), 0);
		CHECK_STR(value, STR("yes"));
		assert_int_equal(http_answer_write(s.held, STR("piece")), 0);
		assert_true(serving_read(&s, fd, &got, "piece", (size_t)i + 1));
	}
	http_answer_end(s.held);
	assert_true(serving_read(&s, fd, &got, "\r\n\r\n/many", 1));
}

TEST(the_last_answer_ends_the_connection_whatever_waits_on_it)
{
	_cleanup_serving_ struct serving s;
	_cleanup_close_ int fd = FD_NONE;
	_cleanup_buf_ struct buf got;

	serving_start(&s, &plain);
	fd = serving_connect(&s, false);
	buf_init(&got, 4096);
	serving_send(&s, fd, STR(GET("/hold") GET("/next")));
	SERVING_UNTIL(&s, s.held);
	http_exchange_last(s.held);
	assert_int_equal(http_answer(s.held, 200, NULL, 0, STR("last")), 0);
	assert_false(serving_read(&s, fd, &got, NULL, 0));
	CHECK_STR(buf_str(&got),
		  STR("HTTP/1.1 200 OK\r\nContent-Length: 4\r\nConnection: close\r\n\r\nlast"));
	assert_int_equal(s.n_requests, 1);
}

TEST(after_an_upgrade_bytes_go_both_ways)
{
	static const struct http_answer_field upgrade = { STR("Upgrade"), STR("test") };
	_cleanup_serving_ struct serving s;
	_cleanup_close_ int fd = FD_NONE;
	_cleanup_buf_ struct buf got;

	serving_start(&s, &plain);
	fd = serving_connect(&s, false);
	buf_init(&got, 4096);
	serving_send(&s, fd,
		     STR("GET /hold HTTP/1.1\r\nHost: x\r\nConnection: Upgrade\r\nUpgrade: test\r\n\r\nraw"));
	SERVING_UNTIL(&s, s.held);
	assert_int_equal(http_answer_upgrade(s.held, 101, &upgrade, 1), 0);
	serving_send(&s, fd, STR("\0\r\n"));
	SERVING_UNTIL(&s, s.bodies.n == 6);
	assert_int_equal(http_answer_write(s.held, STR("back")), 0);
	http_answer_end(s.held);
	assert_false(serving_read(&s, fd, &got, NULL, 0));
	CHECK_STR(
		buf_str(&got),
		STR("HTTP/1.1 101 Switching Protocols\r\nUpgrade: test\r\nConnection: Upgrade\r\n\r\nback"));
}

TEST_MAIN()
