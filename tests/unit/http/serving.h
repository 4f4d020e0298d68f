/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A server with real sockets and clients of this very process: the loop is turned by hand until something is so. What the handler does
 * depends on the path, see `serving_whole`.
 */
#pragma once

#include "check.h"

#include "base/buf.h"
#include "base/clock.h"
#include "base/fd.h"
#include "http/server.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

struct serving {
	struct loop *loop;
	struct http_server *server;
	char dir[64], path[96];
	uint16_t port;
	unsigned n_requests, n_gone, n_room;
	struct http_exchange *held; /* the last one that asked for /hold or /stream */
	struct buf bodies;
	size_t to_stream; /* bytes that /stream has still to write */
	bool drained;
	struct http_peer peer;
};

static inline void serving_stream(struct serving *s, struct http_exchange *x)
{
	static char block[8192];

	while (s->to_stream > 0) {
		size_t n = s->to_stream < sizeof(block) ? s->to_stream : sizeof(block);
		int r = http_answer_write(x, (struct str){ block, n });

		if (r == -EAGAIN)
			return;
		assert_int_equal(r, 0);
		s->to_stream -= n;
	}
	http_answer_end(x);
}

static inline void serving_body(void *ctx, struct http_exchange *x, struct str piece)
{
	struct serving *s = ctx;

	(void)x;
	buf_put(&s->bodies, piece);
}

/* /early is answered before its body was read. */
static inline void serving_request(void *ctx, struct http_exchange *x)
{
	const struct http_head *h = http_exchange_head(x);

	(void)ctx;
	if (str_eq(http_head_slice(h, h->path), STR("/early")))
		assert_int_equal(http_answer(x, 401, NULL, 0, STR("no")), 0);
}

/* /hold is answered by the test, /stream in pieces, the others at once with the bodies so far. */
static inline void serving_whole(void *ctx, struct http_exchange *x)
{
	struct serving *s = ctx;
	struct str path = http_head_slice(http_exchange_head(x), http_exchange_head(x)->path);

	s->n_requests++;
	s->peer = *http_exchange_peer(x);
	if (str_eq(path, STR("/hold"))) {
		s->held = x;
		return;
	}
	if (str_eq(path, STR("/stream"))) {
		s->held = x;
		assert_int_equal(http_answer_begin(x, 200, NULL, 0), 0);
		serving_stream(s, x);
		return;
	}
	assert_int_equal(http_answer(x, 200, NULL, 0, path), 0);
}

static inline void serving_room(void *ctx, struct http_exchange *x)
{
	struct serving *s = ctx;

	s->n_room++;
	serving_stream(s, x);
}

static inline void serving_gone(void *ctx, struct http_exchange *x)
{
	struct serving *s = ctx;

	s->n_gone++;
	if (s->held == x)
		s->held = NULL;
}

static const struct http_handler serving_handler = {
	.request = serving_request,
	.body = serving_body,
	.whole = serving_whole,
	.room = serving_room,
	.gone = serving_gone,
};

static inline void serving_start(struct serving *s, const struct http_server_opts *opts)
{
	struct err e = { 0 };
	int fd = FD_NONE;

	*s = (struct serving){ 0 };
	buf_init(&s->bodies, 1 << 20);
	assert_int_equal(loop_new(8192, &s->loop), 0);
	CHECK_CASE(http_server_new(s->loop, opts, &serving_handler, s, &s->server, &e) == 0, "%s", e.msg);
	(void)snprintf(s->dir, sizeof(s->dir), "/tmp/creel-http-XXXXXX");
	assert_non_null(mkdtemp(s->dir));
	(void)snprintf(s->path, sizeof(s->path), "%s/s", s->dir);
	CHECK_CASE(http_listen_unix(s->path, 0600, &fd, &e) == 0, "%s", e.msg);
	CHECK_CASE(http_server_listen(s->server, fd, &e) == 0, "%s", e.msg);
	CHECK_CASE(http_listen_tcp("127.0.0.1", 0, &fd, &s->port, &e) == 0, "%s", e.msg);
	CHECK_CASE(http_server_listen(s->server, fd, &e) == 0, "%s", e.msg);
}

static inline void serving_done(struct serving *s)
{
	s->server = http_server_free(s->server);
	s->loop = loop_free(s->loop);
	(void)unlink(s->path);
	(void)rmdir(s->dir);
	buf_done(&s->bodies);
}
#define _cleanup_serving_ _cleanup_(serving_done)

/* One turn, of at most that long. */
static inline void serving_turn(struct serving *s, uint64_t ms)
{
	assert_true(loop_step(s->loop, clock_deadline(ms)) >= 0);
}

/* Turns until it is so. A test that waits in vain fails here; none depends on how long it takes. */
#define SERVING_UNTIL(s, cond)                                                  \
	do {                                                                    \
		uint64_t end_ = clock_deadline(20000);                          \
		while (!(cond)) {                                               \
			CHECK_CASE(clock_mono_ms() < end_, "never: %s", #cond); \
			serving_turn((s), 20);                                  \
		}                                                               \
	} while (0)

static inline int serving_connect(struct serving *s, bool tcp)
{
	struct err e = { 0 };
	int fd = FD_NONE;
	int r = tcp ? http_connect_tcp("127.0.0.1", s->port, &fd, &e) : http_connect_unix(s->path, &fd, &e);

	CHECK_CASE(r == 0, "%s", e.msg);
	return fd;
}

static inline void serving_send(struct serving *s, int fd, struct str text)
{
	while (text.n > 0) {
		ssize_t n = send(fd, text.p, text.n, MSG_NOSIGNAL);

		if (n < 0 && (errno == EAGAIN || errno == ENOTCONN))
			serving_turn(s, 5);
		else
			CHECK_CASE(n >= 0, "send: %s", strerror(errno));
		text = str_from(text, n > 0 ? (size_t)n : 0);
	}
}

/* What has come, until it holds `n` times `mark`, or the server has ended the connection. False at its end. */
static inline bool serving_read(struct serving *s, int fd, struct buf *got, const char *mark, size_t n)
{
	static char block[65536];
	uint64_t end = clock_deadline(20000);
	size_t n_mark = mark ? strlen(mark) : 0, at = 0;

	for (;;) {
		const char *found;
		ssize_t r;

		while (got->p && mark && n > 0 && (found = memmem(got->p + at, got->n - at, mark, n_mark))) {
			at = (size_t)(found - got->p) + n_mark;
			n--;
		}
		if (mark && n == 0)
			return true;
		if (got->n > at + n_mark)
			at = got->n - n_mark;
		CHECK_CASE(clock_mono_ms() < end, "never read: %s", mark ? mark : "the end");
		r = recv(fd, block, sizeof(block), 0);
		if (r > 0)
			buf_put(got, (struct str){ block, (size_t)r });
		else if (r == 0 || (errno != EAGAIN && errno != ENOTCONN))
			return false;
		else
			serving_turn(s, 5);
	}
}
