/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Bytes of a client into a server, over a socket: what it answers does not depend on where they were cut (but for 100 Continue), it always
 * ends the connection behind the client, and nothing is left over. The first byte says how long the pieces are.
 */
#include "answers.h"
#include "check.h"

#include "base/fd.h"

#include <stdio.h>
#include <sys/socket.h>

static void on_body(void *ctx, struct http_exchange *x, struct str piece)
{
	size_t n = (size_t)http_exchange_get(x) + piece.n;

	(void)ctx;
	http_exchange_set(x, (void *)n);
}

static void on_whole(void *ctx, struct http_exchange *x)
{
	const struct http_head *h = http_exchange_head(x);
	const struct http_answer_field path = { STR("X-Path"), http_head_slice(h, h->path) };
	char text[32];
	int n = snprintf(text, sizeof(text), "%zu", (size_t)http_exchange_get(x));

	(void)ctx;
	/* Some in one piece, some in several. */
	if (h->n_fields % 2) {
		CHECK(http_answer(x, 200, &path, 1, (struct str){ text, (size_t)n }) == 0);
		return;
	}
	CHECK(http_answer_begin(x, 200, &path, 1) == 0);
	CHECK(http_answer_write(x, (struct str){ text, (size_t)n }) == 0);
	http_answer_end(x);
}

static void on_gone(void *ctx, struct http_exchange *x)
{
	(void)ctx;
	(void)x;
}

static void take(int fd, struct buf *out)
{
	char block[8192];
	ssize_t n;

	while ((n = recv(fd, block, sizeof(block), MSG_DONTWAIT)) > 0)
		buf_put(out, (struct str){ block, (size_t)n });
}

static void run(struct loop *l, struct http_server *s, struct str in, size_t step, struct buf *out)
{
	int pair[2];

	CHECK(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0, pair) == 0);
	CHECK(conn_new(s, pair[0], &http_plain) == 0);
	while (in.n > 0) {
		size_t n = in.n < step ? in.n : step;

		/* Refused when the server has ended the connection. */
		if (send(pair[1], in.p, n, MSG_NOSIGNAL) < 0)
			break;
		in = str_from(in, n);
		CHECK(loop_step(l, 0) >= 0);
		take(pair[1], out);
	}
	(void)shutdown(pair[1], SHUT_WR);
	for (int i = 0; i < 2000 && http_server_connections(s) > 0; i++) {
		CHECK(loop_step(l, 0) >= 0);
		take(pair[1], out);
	}
	CHECK(http_server_connections(s) == 0);
	take(pair[1], out);
	(void)fd_close(pair[1]);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const struct http_handler handler = { .body = on_body, .whole = on_whole, .gone = on_gone };
	struct http_server_opts opts = { .limits = { 2048, 600, 4096 },
					 .max_fields = 16,
					 .output_bytes = 8192 };
	struct http_server *s;
	struct buf whole, cut;
	struct loop *l;
	struct err e;
	struct str in;

	if (size < 2 || size > 4096)
		return 0;
	in = (struct str){ .p = (const char *)data + 1, .n = size - 1 };
	CHECK(loop_new(64, &l) == 0 && http_server_new(l, &opts, &handler, NULL, &s, &e) == 0);
	buf_init(&whole, ANSWERS_MAX);
	buf_init(&cut, ANSWERS_MAX);
	run(l, s, in, SIZE_MAX, &whole);
	run(l, s, in, (size_t)data[0] + 1, &cut);
	check_same_answers(&whole, &cut);
	buf_done(&whole);
	buf_done(&cut);
	http_server_free(s);
	loop_free(l);
	return 0;
}
