/* SPDX-License-Identifier: Apache-2.0 */
#include "http/client.h"

#include "base/buf.h"
#include "base/clock.h"
#include "base/fd.h"
#include "http/write.h"

#include <sys/socket.h>

enum { IN_BYTES = 16384 };

enum phase { IDLE = 0, SENDING, WAITING_HEAD, IN_BODY, BROKEN };

struct http_client {
	struct loop *loop;
	struct http_client_opts opts;
	const struct http_client_handler *handler;
	void *ctx;
	int fd;
	struct loop_id source, timer;
	uint32_t events;
	unsigned depth;
	bool dead, paused, eof;
	bool streaming; /* more of the request's body is to come */
	bool chunked, wants_room, sent;
	uint64_t left; /* of a body by length */
	enum phase phase;
	enum http_method method;
	int send_errno;
	uint64_t since_ms;

	struct buf out;
	size_t at_out;
	char *in; /* the head stays in front until the end, what was not taken behind it */
	size_t n_in, at_in, cap_in;
	struct http_field *fields;
	struct http_head head;
	struct http_body body;
};

static void on_event(struct loop *l, void *ctx, uint32_t events);
static void on_timer(struct loop *l, void *ctx);

static void destroy(struct http_client *c)
{
	(void)loop_del(c->loop, c->source);
	(void)loop_del(c->loop, c->timer);
	(void)fd_close(c->fd);
	buf_done(&c->out);
	free(c->fields);
	free(c->in);
	free(c);
}

struct http_client *http_client_free(struct http_client *c)
{
	if (!c)
		return NULL;
	c->dead = true;
	if (c->depth == 0)
		destroy(c);
	return NULL;
}

static uint64_t or_default(uint64_t v, uint64_t fallback)
{
	return v ? v : fallback;
}

static struct http_client_opts complete(struct http_client_opts o)
{
	if (o.limits.head_bytes == 0)
		o.limits = http_limits_default;
	o.max_fields = (unsigned)or_default(o.max_fields, 64);
	o.request_bytes = (size_t)or_default(o.request_bytes, ((size_t)8 << 20) + 16384);
	o.send_ms = or_default(o.send_ms, 10000);
	o.answer_ms = or_default(o.answer_ms, 60000);
	o.body_ms = or_default(o.body_ms, 60000);
	return o;
}

int http_client_new(struct loop *loop, int fd, const struct http_client_opts *opts,
		    const struct http_client_handler *handler, void *ctx, struct http_client **ret,
		    struct err *e)
{
	struct http_client *c = calloc(1, sizeof(*c));

	if (!c) {
		(void)fd_close(fd);
		return err_sys(e, ENOMEM, "http client");
	}
	c->loop = loop;
	c->fd = fd;
	c->opts = complete(opts ? *opts : (struct http_client_opts){ 0 });
	c->handler = handler;
	c->ctx = ctx;
	buf_init(&c->out, c->opts.request_bytes);
	c->cap_in = c->opts.limits.head_bytes + IN_BYTES;
	c->in = malloc(c->cap_in);
	c->fields = calloc(c->opts.max_fields, sizeof(*c->fields));
	if (!c->in || !c->fields) {
		destroy(c);
		return err_sys(e, ENOMEM, "http client");
	}
	*ret = c;
	return 0;
}

const struct http_head *http_client_head(const struct http_client *c)
{
	return &c->head;
}

bool http_client_is_idle(const struct http_client *c)
{
	return c->phase == IDLE && !c->dead && !c->eof;
}

bool http_client_is_ready(const struct http_client *c)
{
	char byte;

	/* Nothing may have come on it: neither an end, nor an answer that nobody has asked for. */
	return http_client_is_idle(c) && recv(c->fd, &byte, 1, MSG_PEEK | MSG_DONTWAIT) < 0 &&
	       (errno == EAGAIN || errno == ENOTCONN);
}

void http_client_patience(struct http_client *c, uint64_t answer_ms, uint64_t body_ms)
{
	c->opts.answer_ms = or_default(answer_ms, c->opts.answer_ms);
	c->opts.body_ms = or_default(body_ms, c->opts.body_ms);
}

/* All that has come of the body was sent, and more is to come. */
static bool is_drained(const struct http_client *c)
{
	return c->phase == SENDING && c->streaming && c->at_out == c->out.n;
}

static uint64_t deadline_of(const struct http_client *c)
{
	const uint64_t ms[] = {
		[SENDING] = c->opts.send_ms, [WAITING_HEAD] = c->opts.answer_ms, [IN_BODY] = c->opts.body_ms
	};

	/* With nothing to send it is not the server's turn. */
	if (c->phase == IDLE || c->phase == BROKEN || c->paused || is_drained(c))
		return CLOCK_NEVER;
	return c->since_ms + ms[c->phase];
}

/* epoll always tells of a connection that has ended, so one that is not looked at must not be in it. */
static bool watch_fd(struct http_client *c)
{
	uint32_t events = c->phase == SENDING && !is_drained(c) ? EPOLLOUT | EPOLLIN : EPOLLIN;
	bool none = c->phase == BROKEN || c->paused;

	if (none && c->events != 0) {
		(void)loop_del(c->loop, c->source);
		c->events = 0;
	}
	if (none || events == c->events)
		return true;
	if ((c->events == 0 ? loop_add_fd(c->loop, c->fd, events, on_event, c, &c->source)
			    : loop_mod_fd(c->loop, c->source, events)) < 0)
		return false;
	c->events = events;
	return true;
}

static bool watch(struct http_client *c)
{
	uint64_t at = deadline_of(c);

	if (!watch_fd(c))
		return false;
	if (at == CLOCK_NEVER) {
		(void)loop_del(c->loop, c->timer);
		c->timer = (struct loop_id){ 0 };
		return true;
	}
	return loop_mod_timer(c->loop, c->timer, at) == 0 ||
	       loop_add_timer(c->loop, at, on_timer, c, &c->timer) == 0;
}

static void fail(struct http_client *c, const struct err *e)
{
	bool asked = c->phase != IDLE && c->phase != BROKEN;

	c->phase = BROKEN;
	if (asked && !c->dead)
		c->handler->fail(c->ctx, c, e);
}

static void fail_with(struct http_client *c, enum err_kind kind, const char *why)
{
	struct err e = { 0 };

	(void)err_set(&e, kind, "%s", why);
	fail(c, &e);
}

static void fail_errno(struct http_client *c, int errnum, const char *what)
{
	struct err e = { 0 };

	(void)err_sys(&e, errnum, "%s", what);
	fail(c, &e);
}

/* Whoever has a reference to it has come out of it. */
static void leave(struct http_client *c)
{
	if (!c->dead && !watch(c))
		fail_errno(c, ENOMEM, "watch the connection");
	c->depth--;
	if (c->dead && c->depth == 0)
		destroy(c);
}

static void begin_head(struct http_client *c)
{
	http_head_init(&c->head, HTTP_RESPONSE, c->method, &c->opts.limits, c->fields, c->opts.max_fields);
	c->at_in = 0;
}

static void sent(struct http_client *c)
{
	if (c->at_out < c->out.n)
		return;
	/* Kept while it is small: the next request needs one, too. */
	if (c->out.cap > 4096)
		buf_done(&c->out);
	c->out.n = c->at_out = 0;
	if (c->streaming && !c->eof)
		return;
	c->phase = WAITING_HEAD;
	c->since_ms = clock_mono_ms();
}

/* Mostly all of it can be sent at once. What is wrong is told by the loop's next look, not from inside the caller's call. */
static void send_now(struct http_client *c)
{
	ssize_t n = send(c->fd, c->out.p, c->out.n, MSG_NOSIGNAL | MSG_DONTWAIT);

	c->sent = n > 0;
	if (n > 0)
		c->at_out = (size_t)n;
	/* The kernel tells it once. One that has ended may have answered before. */
	else if (n < 0 && errno != EAGAIN && errno != ENOTCONN && errno != EINTR && errno != EPIPE)
		c->send_errno = errno;
	sent(c);
}

static int write_request(struct http_client *c, const struct http_client_request *r, struct err *e)
{
	struct http_writer w;

	if (!http_client_is_idle(c))
		return err_set(e, ERR_UNAVAIL, "the connection is in use, or has ended");
	c->method = http_method_find(r->method);
	if (c->method == HTTP_CONNECT)
		return err_set(e, ERR_USAGE, "CONNECT makes a tunnel, which this client has not");
	c->out.n = c->at_out = 0;
	http_write_request(&w, &c->out, r->method, r->target, r->host);
	for (size_t i = 0; i < r->n_fields; i++)
		http_write_field(&w, r->fields[i].name, r->fields[i].value);
	if (r->framing == HTTP_CHUNKED)
		http_write_chunked(&w);
	else if (r->framing == HTTP_LENGTH)
		http_write_length(&w, r->length);
	if (r->close)
		http_write_connection(&w, HTTP_CLOSE);
	if (http_write_end(&w) < 0) {
		buf_done(&c->out);
		return err_set(e, ERR_USAGE, "the request has a target or field that cannot be sent");
	}
	return 0;
}

static int begin(struct http_client *c, struct err *e)
{
	if (c->out.failed) {
		buf_done(&c->out);
		return err_set(e, ERR_LIMIT, "the request is larger than %zu bytes", c->opts.request_bytes);
	}
	c->n_in = 0;
	c->wants_room = false;
	begin_head(c);
	c->phase = SENDING;
	c->since_ms = clock_mono_ms();
	send_now(c);
	if (!watch(c)) {
		c->phase = BROKEN;
		return err_sys(e, ENOMEM, "watch the connection");
	}
	return 0;
}

int http_client_send(struct http_client *c, struct str method, struct str target, struct str host,
		     const struct http_client_field *fields, size_t n_fields, struct str body, struct err *e)
{
	enum http_method m = http_method_find(method);
	bool has_length = body.n > 0 || m == HTTP_POST || m == HTTP_PUT || m == HTTP_PATCH;
	const struct http_client_request r = { .method = method,
					       .target = target,
					       .host = host,
					       .fields = fields,
					       .n_fields = n_fields,
					       .framing = has_length ? HTTP_LENGTH : HTTP_NO_BODY,
					       .length = body.n };
	int rc = write_request(c, &r, e);

	if (rc < 0)
		return rc;
	c->streaming = false;
	buf_put(&c->out, body);
	return begin(c, e);
}

int http_client_begin(struct http_client *c, const struct http_client_request *r, struct err *e)
{
	int rc = r->framing == HTTP_UNTIL_CLOSE
			 ? err_set(e, ERR_USAGE, "a request has no body without an end")
			 : write_request(c, r, e);

	if (rc < 0)
		return rc;
	c->chunked = r->framing == HTTP_CHUNKED;
	c->left = r->framing == HTTP_LENGTH ? r->length : 0;
	c->streaming = c->chunked || c->left > 0;
	return begin(c, e);
}

/* What was sent makes room in front. */
static void compact(struct http_client *c)
{
	if (c->at_out == 0)
		return;
	memmove(c->out.p, c->out.p + c->at_out, c->out.n - c->at_out);
	c->out.n -= c->at_out;
	c->at_out = 0;
}

int http_client_write(struct http_client *c, struct str piece)
{
	if (c->phase != SENDING || !c->streaming || c->dead || piece.n == 0)
		return 0;
	if (!c->chunked && piece.n > c->left)
		return -EINVAL;
	/* From now on it is the server's turn to take something. */
	if (c->at_out == c->out.n)
		c->since_ms = clock_mono_ms();
	compact(c);
	if (c->chunked)
		http_write_chunk(&c->out, piece);
	else
		buf_put(&c->out, piece);
	c->left -= c->chunked ? 0 : piece.n;
	if (c->out.failed)
		return -ENOSPC;
	if (c->depth == 0 && !watch(c))
		return -ENOSPC;
	c->wants_room = c->wants_room || c->out.n > c->opts.request_bytes / 4;
	return c->wants_room;
}

int http_client_finish(struct http_client *c)
{
	if (c->phase != SENDING || !c->streaming || c->dead)
		return 0;
	if (!c->chunked && c->left > 0)
		return -EINVAL;
	if (c->at_out == c->out.n)
		c->since_ms = clock_mono_ms();
	compact(c);
	if (c->chunked)
		http_write_last_chunk(&c->out);
	c->streaming = false;
	if (c->out.failed || (c->depth == 0 && !watch(c)))
		return -ENOSPC;
	return 0;
}

void http_client_pause(struct http_client *c, bool paused)
{
	c->paused = paused;
	c->since_ms = clock_mono_ms();
	/* From the loop: what waits is not handed on from inside this call. */
	if (c->depth == 0 && watch(c) && !paused && c->phase == IN_BODY)
		(void)loop_mod_timer(c->loop, c->timer, 0);
}

static void flush(struct http_client *c)
{
	while (c->at_out < c->out.n) {
		ssize_t n = send(c->fd, c->out.p + c->at_out, c->out.n - c->at_out, MSG_NOSIGNAL);

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0 && (errno == EAGAIN || errno == ENOTCONN))
			return;
		/* A server that answers without reading all may have ended its half: its answer counts. */
		if (n < 0 && (errno == EPIPE || errno == ECONNRESET) && c->sent)
			break;
		if (n < 0) {
			fail_errno(c, errno, "send the request");
			return;
		}
		c->at_out += (size_t)n;
		c->sent = true;
		c->since_ms = clock_mono_ms();
	}
	if (c->at_out < c->out.n) {
		c->eof = true; /* no second request here */
		c->at_out = c->out.n;
	}
	sent(c);
}

static void tell_room(struct http_client *c)
{
	if (c->dead || !c->wants_room || c->out.n - c->at_out > c->opts.request_bytes / 8)
		return;
	c->wants_room = false;
	if (c->handler->room)
		c->handler->room(c->ctx, c);
}

static void drop_in(struct http_client *c, size_t n)
{
	memmove(c->in + c->at_in, c->in + c->at_in + n, c->n_in - c->at_in - n);
	c->n_in -= n;
}

static void end(struct http_client *c)
{
	/* Bytes that nobody has asked for belong to no answer: the connection is not used again. */
	bool keep = c->head.keep_alive && c->n_in == c->at_in && !c->eof && c->out.n == 0;

	c->phase = keep ? IDLE : BROKEN;
	c->handler->end(c->ctx, c);
}

static bool read_head(struct http_client *c)
{
	enum http_result r = http_head_parse(&c->head, (struct str){ c->in, c->n_in });

	if (r == HTTP_BAD)
		fail_with(c, ERR_PROTO, c->head.fault.reason);
	if (r != HTTP_DONE)
		return false;
	c->at_in = c->head.n_bytes;
	if (c->head.status == 101) {
		fail_with(c, ERR_PROTO, "the server changes the protocol, which nobody has asked for");
		return false;
	}
	if (c->head.status < 200) {
		size_t n = c->head.n_bytes;

		c->at_in = 0;
		drop_in(c, n);
		begin_head(c);
		return c->n_in > 0;
	}
	http_body_init(&c->body, &c->head);
	c->phase = IN_BODY;
	c->since_ms = clock_mono_ms();
	if (c->handler->head)
		c->handler->head(c->ctx, c);
	return true;
}

static bool read_body(struct http_client *c)
{
	struct str in = { c->in + c->at_in, c->n_in - c->at_in }, rest = in, piece;
	enum http_piece p = http_body_next(&c->body, &rest, &piece);

	if (p == HTTP_PIECE_BAD) {
		fail_with(c, ERR_PROTO, c->body.fault.reason);
		return false;
	}
	if (p == HTTP_PIECE_DATA && c->handler->body)
		c->handler->body(c->ctx, c, piece);
	if (c->dead)
		return false;
	drop_in(c, in.n - rest.n);
	if (p == HTTP_PIECE_END)
		end(c);
	return p == HTTP_PIECE_DATA;
}

static void go_on(struct http_client *c)
{
	bool more = true;

	while (more && !c->dead && !c->paused)
		more = c->phase == IN_BODY ? read_body(c) : c->phase == WAITING_HEAD && read_head(c);
}

static void on_eof(struct http_client *c)
{
	c->eof = true;
	if (c->phase == IN_BODY && !c->paused && http_body_ends_here(&c->body))
		end(c);
	else if (c->phase == IDLE)
		c->phase = BROKEN;
	else
		fail_with(c, ERR_PROTO, "the server ended the connection before its answer was whole");
}

static void read_more(struct http_client *c)
{
	ssize_t n = recv(c->fd, c->in + c->n_in, c->cap_in - c->n_in, 0);

	if (n < 0 && (errno == EAGAIN || errno == EINTR))
		return;
	if (n < 0) {
		fail_errno(c, errno, "read the answer");
		return;
	}
	if (n == 0) {
		on_eof(c);
		return;
	}
	c->n_in += (size_t)n;
	if (c->phase == IDLE) {
		c->phase = BROKEN; /* nobody has asked */
		return;
	}
	/* An answer before the request was sent: a refusal, mostly. What is left of the request is not sent. */
	if (c->phase == SENDING) {
		buf_done(&c->out);
		c->at_out = 0;
		c->eof = true;
		c->phase = WAITING_HEAD;
	}
	if (c->phase == IN_BODY)
		c->since_ms = clock_mono_ms();
	go_on(c);
}

static void on_event(struct loop *l, void *ctx, uint32_t events)
{
	struct http_client *c = ctx;

	(void)l;
	c->depth++;
	if (c->phase == SENDING && (c->send_errno || (events & EPOLLERR))) {
		int errnum = 0;
		socklen_t n = sizeof(errnum);

		(void)getsockopt(c->fd, SOL_SOCKET, SO_ERROR, &errnum, &n);
		errnum = c->send_errno ? c->send_errno : errnum;
		fail_errno(c, errnum ? errnum : EPIPE, "reach the server");
	} else if (events & (EPOLLIN | EPOLLHUP | EPOLLERR)) {
		read_more(c);
	}
	if (c->phase == SENDING && !c->dead && (events & EPOLLOUT))
		flush(c);
	/* Also when nothing is sent any more: who waits would wait for ever. */
	tell_room(c);
	leave(c);
}

static void on_timer(struct loop *l, void *ctx)
{
	static const char *const late[] = {
		[IDLE] = "",
		[SENDING] = "the server took no byte of the request in time",
		[WAITING_HEAD] = "the server did not answer in time",
		[IN_BODY] = "the server did not go on with its answer in time",
		[BROKEN] = "",
	};
	struct http_client *c = ctx;

	(void)l;
	c->depth++;
	c->timer = (struct loop_id){ 0 };
	if (clock_mono_ms() >= deadline_of(c))
		fail_with(c, ERR_LIMIT, late[c->phase]);
	else
		go_on(c);
	leave(c);
}
