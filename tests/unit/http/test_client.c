/* SPDX-License-Identifier: Apache-2.0 */
/* The client against the server, and against sockets on which the test itself answers. */
#include "serving.h"

#include "http/client.h"

struct asking {
	struct http_client *client;
	unsigned n_heads, n_ends, n_fails, status;
	struct buf body;
	struct err error;
	bool free_at_end;
};

static void on_head(void *ctx, struct http_client *c)
{
	struct asking *a = ctx;

	a->n_heads++;
	a->status = http_client_head(c)->status;
}

static void on_body(void *ctx, struct http_client *c, struct str piece)
{
	struct asking *a = ctx;

	(void)c;
	buf_put(&a->body, piece);
}

static void on_end(void *ctx, struct http_client *c)
{
	struct asking *a = ctx;

	a->n_ends++;
	if (a->free_at_end)
		a->client = http_client_free(c);
}

static void on_fail(void *ctx, struct http_client *c, const struct err *e)
{
	struct asking *a = ctx;

	(void)c;
	a->n_fails++;
	a->error = *e;
	a->client = http_client_free(a->client);
}

static const struct http_client_handler handler = { on_head, on_body, on_end, on_fail };

static void asking_done(struct asking *a)
{
	a->client = http_client_free(a->client);
	buf_done(&a->body);
}
#define _cleanup_asking_ _cleanup_(asking_done)

static void asking_start(struct asking *a, struct serving *s, int fd, const struct http_client_opts *opts)
{
	struct err e = { 0 };

	*a = (struct asking){ 0 };
	buf_init(&a->body, (size_t)8 << 20);
	CHECK_CASE(http_client_new(s->loop, fd, opts, &handler, a, &a->client, &e) == 0, "%s", e.msg);
}

static void ask(struct asking *a, const char *method, const char *target, struct str body)
{
	struct err e = { 0 };

	CHECK_CASE(http_client_send(a->client, str_z(method), str_z(target), STR("localhost"), NULL, 0, body,
				    &e) == 0,
		   "%s", e.msg);
}

TEST(a_client_asks_over_unix_and_tcp_and_uses_its_connection_again)
{
	_cleanup_serving_ struct serving s;

	serving_start(&s, NULL);
	for (int tcp = 0; tcp < 2; tcp++) {
		_cleanup_asking_ struct asking a;

		asking_start(&a, &s, serving_connect(&s, tcp), NULL);
		ask(&a, "GET", "/one", STR(""));
		SERVING_UNTIL(&s, a.n_ends == 1);
		assert_true(http_client_is_ready(a.client));
		ask(&a, "POST", "/two", STR("hello"));
		SERVING_UNTIL(&s, a.n_ends == 2);
		ask(&a, "HEAD", "/three", STR(""));
		SERVING_UNTIL(&s, a.n_ends == 3);
		CHECK_STR(buf_str(&a.body), STR("/one/two"));
		assert_int_equal(a.status, 200);
		assert_int_equal(http_server_connections(s.server), 1);
		asking_done(&a);
		SERVING_UNTIL(&s, http_server_connections(s.server) == 0);
	}
	CHECK_STR(buf_str(&s.bodies), STR("hellohello"));
}

TEST(a_long_answer_waits_while_the_client_is_paused)
{
	_cleanup_serving_ struct serving s;
	_cleanup_asking_ struct asking a;

	serving_start(&s, NULL);
	s.to_stream = (size_t)4 << 20;
	asking_start(&a, &s, serving_connect(&s, false), NULL);
	ask(&a, "GET", "/stream", STR(""));
	SERVING_UNTIL(&s, a.n_heads == 1);
	http_client_pause(a.client, true);
	for (int i = 0; i < 10; i++)
		serving_turn(&s, 1);
	assert_true(s.to_stream > 0);
	http_client_pause(a.client, false);
	SERVING_UNTIL(&s, a.n_ends == 1);
	assert_int_equal(a.body.n, (size_t)4 << 20);
}

TEST(a_large_request_is_sent_as_the_server_takes_it)
{
	const struct http_server_opts opts = { .limits = { 16384, 8192, (uint64_t)8 << 20 } };
	_cleanup_free_ char *much = calloc(1, (size_t)4 << 20);
	_cleanup_serving_ struct serving s;
	_cleanup_asking_ struct asking a;

	assert_non_null(much);
	serving_start(&s, &opts);
	buf_done(&s.bodies);
	buf_init(&s.bodies, (size_t)8 << 20);
	asking_start(&a, &s, serving_connect(&s, true), NULL);
	ask(&a, "POST", "/x", (struct str){ much, (size_t)4 << 20 });
	SERVING_UNTIL(&s, a.n_ends == 1);
	assert_int_equal(s.bodies.n, (size_t)4 << 20);
}

TEST(an_early_refusal_is_heard_although_the_request_was_not_read)
{
	_cleanup_free_ char *much = calloc(1, (size_t)4 << 20);
	_cleanup_serving_ struct serving s;
	_cleanup_asking_ struct asking a;

	assert_non_null(much);
	serving_start(&s, NULL);
	asking_start(&a, &s, serving_connect(&s, false), NULL);
	ask(&a, "POST", "/early", (struct str){ much, (size_t)4 << 20 });
	SERVING_UNTIL(&s, a.n_ends == 1);
	assert_int_equal(a.status, 401);
	assert_false(http_client_is_ready(a.client));
}

/* The answer of a socket of ours, which ends behind it or stays. */
static void check_raw(struct str answer, bool stays, unsigned ends, bool ready, const char *body,
		      enum err_kind kind)
{
	/* Short only where it has to pass: a busy machine is not late. */
	const uint64_t ms = kind == ERR_LIMIT ? 300 : 20000;
	const struct http_client_opts opts = { .answer_ms = ms, .body_ms = ms };
	_cleanup_serving_ struct serving s;
	_cleanup_asking_ struct asking a;
	int pair[2];

	serving_start(&s, NULL);
	assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0, pair), 0);
	asking_start(&a, &s, pair[0], &opts);
	ask(&a, "GET", "/", STR(""));
	serving_turn(&s, 10);
	serving_send(&s, pair[1], answer);
	if (!stays)
		assert_int_equal(shutdown(pair[1], SHUT_WR), 0);
	SERVING_UNTIL(&s, a.n_ends + a.n_fails == 1);
	CHECK_CASE(a.n_ends == ends, "%s: %s", answer.p, a.error.msg);
	CHECK_STR(buf_str(&a.body), str_z(body));
	CHECK_CASE(a.error.kind == kind, "%s: %s", answer.p, a.error.msg);
	if (ends)
		CHECK_CASE(http_client_is_ready(a.client) == ready, "%s", answer.p);
	(void)fd_close(pair[1]);
}

TEST(answers_are_taken_whole_and_the_connection_is_kept_where_it_can_be)
{
	check_raw(STR("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok"), true, 1, true, "ok", ERR_NONE);
	check_raw(
		STR("HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 103 x\r\nA: b\r\n\r\nHTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok"),
		true, 1, true, "ok", ERR_NONE);
	check_raw(STR("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nok\r\n0\r\n\r\n"), true, 1,
		  true, "ok", ERR_NONE);
	check_raw(STR("HTTP/1.1 200 OK\r\nContent-Length: 2\r\nConnection: close\r\n\r\nok"), true, 1, false,
		  "ok", ERR_NONE);
	check_raw(STR("HTTP/1.0 200 OK\r\n\r\nuntil the end"), false, 1, false, "until the end", ERR_NONE);
	/* What follows an answer was not asked for. */
	check_raw(STR("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nokHTTP/1.1 200 OK\r\n\r\n"), true, 1,
		  false, "ok", ERR_NONE);
	check_raw(STR("HTTP/1.1 204 No Content\r\n\r\n"), true, 1, true, "", ERR_NONE);
}

TEST(an_answer_that_is_malformed_or_cut_off_or_late_fails)
{
	check_raw(STR(""), false, 0, false, "", ERR_PROTO);
	check_raw(STR("HTTP/1.1 200 OK\r\nCont"), false, 0, false, "", ERR_PROTO);
	check_raw(STR("HTTP/1.1 200 OK\r\nContent-Length: 3\r\n\r\nok"), false, 0, false, "ok", ERR_PROTO);
	check_raw(STR("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nok\r\n"), false, 0, false,
		  "ok", ERR_PROTO);
	check_raw(STR("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nokXX"), true, 0, false, "ok",
		  ERR_PROTO);
	check_raw(STR("HTTP/1.1 200 OK\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\n"), true, 0, false,
		  "", ERR_PROTO);
	check_raw(STR("HTTP/1.1 101 Switching Protocols\r\n\r\n"), true, 0, false, "", ERR_PROTO);
	check_raw(STR("SSH-2.0-x\r\n"), true, 0, false, "", ERR_PROTO);
	check_raw(STR("HTTP/1.1 200 OK\r\n"), true, 0, false, "", ERR_LIMIT);
	check_raw(STR("HTTP/1.1 200 OK\r\nContent-Length: 3\r\n\r\nok"), true, 0, false, "ok", ERR_LIMIT);
}

TEST(nobody_listening_is_an_error_and_not_a_wait)
{
	_cleanup_serving_ struct serving s;
	_cleanup_asking_ struct asking a = { 0 };
	struct err e = { 0 };
	int fd = FD_NONE;
	uint16_t port;

	serving_start(&s, NULL);
	assert_int_equal(http_listen_tcp("127.0.0.1", 0, &fd, &port, &e), 0);
	(void)fd_close(fd);
	if (http_connect_tcp("127.0.0.1", port, &fd, &e) == 0) {
		asking_start(&a, &s, fd, NULL);
		ask(&a, "GET", "/", STR(""));
		SERVING_UNTIL(&s, a.n_fails == 1);
		e = a.error;
	}
	assert_int_equal(e.sys_errno, ECONNREFUSED);
	assert_true(http_connect_unix("/nonexistent/creel.sock", &fd, &e) < 0);
	assert_int_equal(e.sys_errno, ENOENT);
	assert_true(http_connect_tcp("localhost", 80, &fd, &e) < 0);
	assert_int_equal(e.kind, ERR_USAGE);
}

TEST(a_request_that_cannot_be_sent_is_refused_and_the_connection_stays)
{
	const struct http_client_field bad = { STR("X"), STR("a\nb") };
	_cleanup_serving_ struct serving s;
	_cleanup_asking_ struct asking a;
	struct err e = { 0 };

	serving_start(&s, NULL);
	asking_start(&a, &s, serving_connect(&s, false), NULL);
	assert_true(http_client_send(a.client, STR("GET"), STR("/a b"), STR("x"), NULL, 0, STR(""), &e) < 0);
	assert_true(http_client_send(a.client, STR("GET"), STR("/"), STR("x y"), NULL, 0, STR(""), &e) < 0);
	assert_true(http_client_send(a.client, STR("GET"), STR("/"), STR("x"), &bad, 1, STR(""), &e) < 0);
	assert_true(http_client_send(a.client, STR("CONNECT"), STR("x:1"), STR("x"), NULL, 0, STR(""), &e) <
		    0);
	ask(&a, "GET", "/ok", STR(""));
	assert_true(http_client_send(a.client, STR("GET"), STR("/"), STR("x"), NULL, 0, STR(""), &e) < 0);
	a.free_at_end = true;
	SERVING_UNTIL(&s, a.n_ends == 1);
	CHECK_STR(buf_str(&a.body), STR("/ok"));
	assert_int_equal(s.n_requests, 1);
}

TEST_MAIN()
