/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Bytes of a server into a client, over a socket: each request ends or fails, once; whether it does, what its body is and whether the
 * connection can be used again does not depend on where the bytes were cut. The first byte says how long the pieces are, the second which
 * method was asked with.
 */
#include "check.h"

#include "base/buf.h"
#include "base/fd.h"
#include "http/client.h"

#include <sys/socket.h>

struct told {
	struct buf body;
	unsigned n_ends, n_fails, status;
};

static void on_head(void *ctx, struct http_client *c)
{
	((struct told *)ctx)->status = http_client_head(c)->status;
}

static void on_body(void *ctx, struct http_client *c, struct str piece)
{
	(void)c;
	buf_put(&((struct told *)ctx)->body, piece);
}

static void on_end(void *ctx, struct http_client *c)
{
	(void)c;
	((struct told *)ctx)->n_ends++;
}

static void on_fail(void *ctx, struct http_client *c, const struct err *e)
{
	(void)c;
	CHECK(e->kind == ERR_PROTO);
	((struct told *)ctx)->n_fails++;
}

static void run(struct str in, size_t step, struct str method, struct told *t)
{
	static const struct http_client_handler handler = { on_head, on_body, on_end, on_fail };
	const struct http_client_opts opts = { .limits = { 2048, 600, 4096 }, .max_fields = 16 };
	struct http_client *c;
	struct loop *l;
	struct err e;
	int pair[2];

	buf_init(&t->body, 1 << 16);
	CHECK(loop_new(8, &l) == 0);
	CHECK(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0, pair) == 0);
	CHECK(http_client_new(l, pair[0], &opts, &handler, t, &c, &e) == 0);
	CHECK(http_client_send(c, method, STR("/"), STR("x"), NULL, 0, STR(""), &e) == 0);
	CHECK(loop_step(l, 0) >= 0);
	while (in.n > 0 && t->n_ends + t->n_fails == 0) { /* nobody reads what comes after that */
		size_t n = in.n < step ? in.n : step;

		CHECK(send(pair[1], in.p, n, MSG_NOSIGNAL) == (ssize_t)n);
		in = str_from(in, n);
		CHECK(loop_step(l, 0) >= 0);
	}
	(void)shutdown(pair[1], SHUT_WR); /* a close would be a reset: the request is still in it */
	for (int i = 0; i < 20 && t->n_ends + t->n_fails == 0; i++)
		CHECK(loop_step(l, 0) >= 0);
	CHECK(t->n_ends + t->n_fails == 1);
	http_client_free(c);
	loop_free(l);
	(void)fd_close(pair[1]);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct str in, method;
	struct told whole = { 0 }, cut = { 0 };

	if (size < 3 || size > 4096)
		return 0;
	in = (struct str){ .p = (const char *)data + 2, .n = size - 2 };
	method = data[1] & 1 ? STR("HEAD") : STR("GET");
	run(in, SIZE_MAX, method, &whole);
	run(in, (size_t)data[0] + 1, method, &cut);
	CHECK(whole.n_ends == cut.n_ends && whole.status == cut.status);
	if (whole.n_ends)
		CHECK(str_eq(buf_str(&whole.body), buf_str(&cut.body)));
	buf_done(&whole.body);
	buf_done(&cut.body);
	return 0;
}
