/* SPDX-License-Identifier: Apache-2.0 */
/* Many connections, the limit of them, and the end of a server. */
#include "serving.h"

#include <sys/resource.h>

#define GET(path) "GET " path " HTTP/1.1\r\nHost: x\r\n\r\n"

enum { MANY = 1000 };

static void on_drained(struct loop *l, void *ctx)
{
	struct serving *s = ctx;

	(void)l;
	s->drained = true;
}

static void check_served(struct serving *s, int fd)
{
	_cleanup_buf_ struct buf got;

	buf_init(&got, 4096);
	serving_send(s, fd, STR(GET("/ok")));
	CHECK_CASE(serving_read(s, fd, &got, "/ok", 1), "not served: %s", got.p ? got.p : "");
}

TEST(a_thousand_idle_and_slow_clients_leave_room_for_one_more)
{
	const struct http_server_opts opts = { .max_connections = MANY + 10 };
	struct rlimit files;
	_cleanup_serving_ struct serving s;
	int fds[MANY];
	int one;

	assert_int_equal(getrlimit(RLIMIT_NOFILE, &files), 0);
	files.rlim_cur = files.rlim_max < 4096 ? files.rlim_max : 4096;
	assert_int_equal(setrlimit(RLIMIT_NOFILE, &files), 0);
	serving_start(&s, &opts);
	for (int i = 0; i < MANY; i++) {
		fds[i] = serving_connect(&s, true);
		if (i % 2)
			serving_send(&s, fds[i], STR("GET / HTTP/1.1\r\nHost"));
		if (i % 50 == 0)
			serving_turn(&s, 0);
	}
	SERVING_UNTIL(&s, http_server_connections(s.server) == MANY);
	one = serving_connect(&s, true);
	check_served(&s, one);
	assert_int_equal(http_server_connections(s.server), MANY + 1);
	for (int i = 0; i < MANY; i++)
		(void)fd_close(fds[i]);
	SERVING_UNTIL(&s, http_server_connections(s.server) == 1);
	check_served(&s, one);
	(void)fd_close(one);
}

TEST(when_all_places_are_taken_the_longest_idle_makes_room)
{
	const struct http_server_opts opts = { .max_connections = 3 };
	_cleanup_serving_ struct serving s;
	_cleanup_buf_ struct buf got;
	int fd[4];

	serving_start(&s, &opts);
	buf_init(&got, 4096);
	for (int i = 0; i < 3; i++) {
		fd[i] = serving_connect(&s, true);
		check_served(&s, fd[i]);
	}
	check_served(&s, fd[0]); /* so that the second is the oldest */
	fd[3] = serving_connect(&s, true);
	check_served(&s, fd[3]);
	assert_int_equal(http_server_connections(s.server), 3);
	assert_false(serving_read(&s, fd[1], &got, NULL, 0));
	check_served(&s, fd[0]);
	check_served(&s, fd[2]);
	for (int i = 0; i < 4; i++)
		(void)fd_close(fd[i]);
}

/* The limit is the process's own: as many as it has, and then the longest idle makes room. */
TEST(when_no_descriptor_is_left_the_longest_idle_makes_room)
{
	struct rlimit files, few;
	_cleanup_serving_ struct serving s;
	_cleanup_buf_ struct buf got;
	int fd[2];
	int next;

	serving_start(&s, &(struct http_server_opts){ 0 });
	buf_init(&got, 4096);
	fd[0] = serving_connect(&s, true);
	check_served(&s, fd[0]);
	fd[1] = serving_connect(&s, true);
	next = dup(fd[1]);
	assert_true(next >= 0);
	assert_int_equal(close(next), 0);
	assert_int_equal(getrlimit(RLIMIT_NOFILE, &files), 0);
	few = (struct rlimit){ .rlim_cur = (rlim_t)next, .rlim_max = files.rlim_max };
	assert_int_equal(setrlimit(RLIMIT_NOFILE, &few), 0);
	check_served(&s, fd[1]);
	assert_int_equal(setrlimit(RLIMIT_NOFILE, &files), 0);
	assert_false(serving_read(&s, fd[0], &got, NULL, 0));
	for (int i = 0; i < 2; i++)
		(void)fd_close(fd[i]);
}

/* One place; then its client goes, or is answered and says no more. */
static void check_full(bool idle)
{
	const struct http_server_opts opts = { .max_connections = 1 };
	_cleanup_serving_ struct serving s;
	_cleanup_close_ int first = FD_NONE, second = FD_NONE;

	serving_start(&s, &opts);
	first = serving_connect(&s, true);
	serving_send(&s, first, STR(GET("/hold")));
	SERVING_UNTIL(&s, s.held);
	second = serving_connect(&s, true);
	for (int i = 0; i < 5; i++)
		serving_turn(&s, 1);
	assert_int_equal(http_server_connections(s.server), 1);
	assert_int_equal(s.n_requests, 1);
	if (idle)
		assert_int_equal(http_answer(s.held, 200, NULL, 0, STR("")), 0);
	else
		fd_closep(&first);
	check_served(&s, second);
	assert_int_equal(s.n_gone, idle ? 0 : 1);
}

TEST(when_all_places_work_the_next_one_waits_for_the_end_of_one)
{
	check_full(false);
}

TEST(when_all_places_work_the_next_one_waits_until_one_is_idle)
{
	check_full(true);
}

TEST(a_server_that_drains_ends_the_idle_and_lets_the_others_finish)
{
	_cleanup_serving_ struct serving s;
	_cleanup_close_ int idle = FD_NONE, busy = FD_NONE;
	_cleanup_buf_ struct buf got, nothing;
	struct err e = { 0 };
	int late = FD_NONE;

	serving_start(&s, NULL);
	buf_init(&got, 4096);
	buf_init(&nothing, 4096);
	idle = serving_connect(&s, true);
	busy = serving_connect(&s, true);
	check_served(&s, idle);
	serving_send(&s, busy, STR(GET("/hold")));
	SERVING_UNTIL(&s, s.held);
	http_server_drain(s.server, 20000, on_drained, &s);
	assert_false(serving_read(&s, idle, &nothing, NULL, 0));
	assert_false(s.drained);
	assert_true(http_connect_tcp("127.0.0.1", s.port, &late, &e) < 0 || recv(late, &e, 1, 0) <= 0);
	(void)fd_close(late);
	assert_int_equal(http_answer(s.held, 200, NULL, 0, STR("done")), 0);
	assert_false(serving_read(&s, busy, &got, NULL, 0));
	assert_true(str_ends(buf_str(&got), STR("done")));
	fd_closep(&busy);
	SERVING_UNTIL(&s, s.drained);
	assert_int_equal(s.n_gone, 0);
}

TEST(a_server_that_drains_answers_whoever_was_let_in_before)
{
	_cleanup_serving_ struct serving s;
	_cleanup_close_ int fresh = FD_NONE, asks = FD_NONE, again = FD_NONE;
	const struct str ask = STR(GET("/"));
	struct buf got;

	serving_start(&s, NULL);
	fresh = serving_connect(&s, true);
	asks = serving_connect(&s, true);
	again = serving_connect(&s, true);
	check_served(&s, again);
	SERVING_UNTIL(&s, http_server_connections(s.server) == 3);
	/* One has a request in its socket that nobody has read, another is between two, and one has said nothing yet. */
	assert_int_equal(send(asks, ask.p, ask.n, 0), ask.n);
	assert_int_equal(send(again, ask.p, ask.n, 0), ask.n);
	http_server_drain(s.server, 20000, on_drained, &s);
	assert_int_equal(send(fresh, ask.p, ask.n, 0), ask.n);
	for (int i = 0; i < 3; i++) {
		buf_init(&got, 4096);
		assert_false(serving_read(&s, (const int[]){ fresh, asks, again }[i], &got, NULL, 0));
		assert_true(str_starts(buf_str(&got), STR("HTTP/1.1 200")));
		buf_done(&got);
	}
	SERVING_UNTIL(&s, s.drained);
}

TEST(a_server_that_drains_does_not_wait_for_who_says_nothing)
{
	_cleanup_serving_ struct serving s;
	_cleanup_close_ int fd = FD_NONE;

	serving_start(&s, NULL);
	fd = serving_connect(&s, true);
	SERVING_UNTIL(&s, http_server_connections(s.server) == 1);
	http_server_drain(s.server, 600000, on_drained, &s);
	SERVING_UNTIL(&s, s.drained);
}

TEST(a_server_that_drains_answers_who_has_only_just_connected)
{
	_cleanup_serving_ struct serving s;
	_cleanup_buf_ struct buf got = { 0 };
	_cleanup_close_ int quiet = FD_NONE, late = FD_NONE;

	serving_start(&s, NULL);
	buf_init(&got, 1 << 20);
	quiet = serving_connect(&s, true);
	late = serving_connect(&s, true);
	SERVING_UNTIL(&s, http_server_connections(s.server) == 2);
	http_server_drain(s.server, 60000, on_drained, &s);
	serving_turn(&s, 20);
	assert_int_equal(http_server_connections(s.server), 2);
	serving_send(&s, late, STR("GET /late HTTP/1.1\r\nHost: x\r\n\r\n"));
	assert_false(serving_read(&s, late, &got, NULL, 0)); /* the answer, and then the end */
	assert_non_null(memmem(got.p, got.n, "\r\n\r\n/late", 9));
	assert_non_null(memmem(got.p, got.n, "Connection: close", 17));
	late = fd_close(late);
	SERVING_UNTIL(&s, s.drained); /* who says nothing is not waited for to the end */
}

TEST(a_server_that_drains_sends_what_a_slow_client_has_not_taken_yet)
{
	_cleanup_serving_ struct serving s;
	_cleanup_buf_ struct buf got = { 0 };
	_cleanup_close_ int fd = FD_NONE;
	char block[4096];

	serving_start(&s, NULL);
	buf_init(&got, 8 << 20);
	fd = serving_connect(&s, false);
	s.to_stream = 2 << 20;
	serving_send(&s, fd, STR("GET /stream HTTP/1.1\r\nHost: x\r\n\r\n"));
	/* Until all of it is written, and the last part waits in the server. */
	do {
		ssize_t n = recv(fd, block, sizeof(block), 0);

		if (n > 0)
			buf_put(&got, (struct str){ block, (size_t)n });
		serving_turn(&s, 0);
	} while (s.to_stream > 0 || s.n_requests == 0);
	http_server_drain(s.server, 60000, on_drained, &s);
	assert_false(serving_read(&s, fd, &got, NULL, 0));
	assert_true(got.n > 2 << 20);
	assert_memory_equal(got.p + got.n - 7, "\r\n0\r\n\r\n", 7);
	fd = fd_close(fd);
	SERVING_UNTIL(&s, s.drained);
}

TEST(a_server_that_drains_waits_no_longer_than_it_was_told)
{
	_cleanup_serving_ struct serving s;
	_cleanup_close_ int fd = FD_NONE;

	serving_start(&s, NULL);
	fd = serving_connect(&s, false);
	serving_send(&s, fd, STR(GET("/hold")));
	SERVING_UNTIL(&s, s.held);
	http_server_drain(s.server, 50, on_drained, &s);
	SERVING_UNTIL(&s, s.drained);
	assert_int_equal(s.n_gone, 1);
}

TEST(a_server_that_is_freed_tells_of_every_exchange)
{
	struct serving s;
	_cleanup_close_ int fd = FD_NONE;

	serving_start(&s, NULL);
	fd = serving_connect(&s, false);
	serving_send(&s, fd, STR(GET("/hold")));
	SERVING_UNTIL(&s, s.held);
	serving_done(&s);
	assert_int_equal(s.n_gone, 1);
}

TEST_MAIN()
