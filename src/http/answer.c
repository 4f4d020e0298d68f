/* SPDX-License-Identifier: Apache-2.0 */
/* What a connection says. */
#include "base/clock.h"
#include "http/server_priv.h"

#include <assert.h>

const struct http_head *http_exchange_head(const struct http_exchange *x)
{
	return &x->head;
}

const struct http_peer *http_exchange_peer(const struct http_exchange *x)
{
	return &x->peer;
}

void http_exchange_set(struct http_exchange *x, void *data)
{
	x->data = data;
}

void *http_exchange_get(const struct http_exchange *x)
{
	return x->data;
}

void http_exchange_pause(struct http_exchange *x, bool paused)
{
	conn_enter(x);
	if (x->paused && !paused) {
		x->since_ms = clock_mono_ms();
		x->body_from_ms = x->since_ms - x->body.total;
		x->resumed = true;
	}
	x->paused = paused;
	conn_leave(x);
}

/* From now on it is the client's turn to take something. */
static void begin_waiting(struct http_exchange *c)
{
	if (answer_waiting(c) == 0)
		c->wrote_ms = clock_mono_ms();
}

bool answer_flush(struct http_exchange *c)
{
	while (answer_waiting(c) > 0) {
		ssize_t n = c->via->write(c->state, c->fd, c->out.p + c->at_out, answer_waiting(c));

		if (n == -EAGAIN)
			break;
		if (n < 0)
			return false;
		c->at_out += (size_t)n;
		c->wrote_ms = clock_mono_ms();
	}
	if (answer_waiting(c) == 0) {
		/* Kept while it is small: the next answer needs one, too. Who has settled waits long for the next piece. */
		if (c->out.cap > 4096 || c->settled)
			buf_done(&c->out);
		/* Only now is it the client's turn again. */
		if (c->at_out > 0 && c->phase == CONN_HEAD)
			c->since_ms = c->wrote_ms;
		c->out.n = c->at_out = 0;
		if (c->half_out && !c->told_half) {
			c->told_half = true;
			return c->via->end(c->state, c->fd) >= 0;
		}
	}
	return !c->out.failed;
}

bool answer_has_room(const struct http_exchange *c)
{
	return c->wants_room && c->answer == ANSWER_BEGUN &&
	       answer_waiting(c) <= c->server->opts.output_bytes / 2;
}

/* What has been sent makes room in front. */
static void compact(struct http_exchange *c)
{
	if (c->at_out == 0)
		return;
	memmove(c->out.p, c->out.p + c->at_out, answer_waiting(c));
	c->out.n -= c->at_out;
	c->at_out = 0;
}

void answer_continue(struct http_exchange *c)
{
	begin_waiting(c);
	buf_puts(&c->out, "HTTP/1.1 100 Continue\r\n\r\n");
}

void answer_early(struct http_exchange *c, char byte)
{
	begin_waiting(c);
	buf_putc(&c->out, byte);
}

/* What was sent early is not sent again. */
static void leave_out_told(struct http_exchange *c, size_t at)
{
	if (c->told == 0)
		return;
	memmove(c->out.p + at, c->out.p + at + c->told, c->out.n - at - c->told);
	c->out.n -= c->told;
}

static bool is_events(const struct http_answer_field *f)
{
	return str_eq_nocase(f->name, STR("Content-Type")) && str_starts(f->value, STR("text/event-stream"));
}

static bool has_no_body(const struct http_exchange *c, unsigned status)
{
	return c->head.method == HTTP_HEAD || status < 200 || status == 204 || status == 304;
}

/* `length` is UINT64_MAX for an answer in pieces. */
static int write_head(struct http_exchange *c, unsigned status, const struct http_answer_field *fields,
		      size_t n_fields, uint64_t length)
{
	struct http_writer w;
	size_t at;
	int r;

	compact(c);
	begin_waiting(c);
	at = c->out.n;
	/* A body that was not read, or cannot be told from the next request, ends the connection. */
	c->keep = c->keep && c->body_done;
	c->no_body = has_no_body(c, status);
	c->chunked = length == UINT64_MAX && c->head.minor > 0;
	if (length == UINT64_MAX && !c->chunked && !c->no_body)
		c->keep = false;
	http_write_status(&w, &c->out, status);
	for (size_t i = 0; i < n_fields; i++) {
		http_write_field(&w, fields[i].name, fields[i].value);
		c->live = c->live || is_events(&fields[i]);
	}
	if (c->chunked && !c->no_body)
		http_write_chunked(&w);
	else if (length != UINT64_MAX && status >= 200 && status != 204)
		http_write_length(&w, length);
	if (!c->keep)
		http_write_connection(&w, HTTP_CLOSE);
	else if (c->head.minor == 0)
		http_write_connection(&w, HTTP_KEEP);
	r = http_write_end(&w);
	/* A head that did not fit has been taken out again. */
	if (r == -ENOSPC)
		c->out.failed = false;
	if (r == 0)
		leave_out_told(c, at);
	return r;
}

void http_exchange_last(struct http_exchange *x)
{
	assert(x->answer == ANSWER_NONE);
	x->keep = false;
}

int http_answer(struct http_exchange *x, unsigned status, const struct http_answer_field *fields,
		size_t n_fields, struct str body)
{
	size_t before;
	bool keep = x->keep;
	int r;

	assert(x->phase == CONN_EXCHANGE && x->answer == ANSWER_NONE);
	if (body.n > x->server->opts.output_bytes)
		return -ENOSPC;
	conn_enter(x);
	compact(x);
	before = x->out.n;
	r = write_head(x, status, fields, n_fields, body.n);
	if (r == 0 && !x->no_body)
		buf_put(&x->out, body);
	if (r == 0 && x->out.failed) {
		r = -ENOSPC;
		x->out.failed = false;
	}
	if (r == 0) {
		x->answer = ANSWER_ENDED;
	} else {
		x->out.n = before;
		x->keep = keep;
	}
	conn_leave(x);
	return r;
}

int http_answer_begin_sized(struct http_exchange *x, unsigned status, const struct http_answer_field *fields,
			    size_t n_fields, uint64_t length)
{
	int r;

	assert(x->phase == CONN_EXCHANGE && x->answer == ANSWER_NONE);
	conn_enter(x);
	r = write_head(x, status, fields, n_fields, length);
	if (r == 0) {
		x->answer = ANSWER_BEGUN;
		x->sized = length != UINT64_MAX;
		x->owed = length;
	}
	conn_leave(x);
	return r;
}

int http_answer_begin(struct http_exchange *x, unsigned status, const struct http_answer_field *fields,
		      size_t n_fields)
{
	return http_answer_begin_sized(x, status, fields, n_fields, UINT64_MAX);
}

static int write_piece(struct http_exchange *x, struct str piece)
{
	size_t max = x->server->opts.output_bytes;

	if (piece.n > max || (x->sized && piece.n > x->owed))
		return -EMSGSIZE;
	if (answer_waiting(x) + piece.n > max && !answer_flush(x))
		return -EPIPE;
	if (answer_waiting(x) + piece.n > max) {
		x->wants_room = true;
		return -EAGAIN;
	}
	compact(x);
	begin_waiting(x);
	if (x->chunked)
		http_write_chunk(&x->out, piece);
	else
		buf_put(&x->out, piece);
	if (x->sized)
		x->owed -= piece.n;
	return x->out.failed ? -EPIPE : 0;
}

int http_answer_write(struct http_exchange *x, struct str piece)
{
	int r;

	assert(x->phase == CONN_EXCHANGE && x->answer == ANSWER_BEGUN);
	if (x->dead || x->broken)
		return -EPIPE;
	if (x->no_body || piece.n == 0)
		return 0;
	conn_enter(x);
	r = write_piece(x, piece);
	conn_leave(x);
	return r;
}

void http_answer_end(struct http_exchange *x)
{
	assert(x->phase == CONN_EXCHANGE && x->answer == ANSWER_BEGUN);
	conn_enter(x);
	begin_waiting(x);
	if (x->chunked && !x->no_body)
		http_write_last_chunk(&x->out);
	x->answer = ANSWER_ENDED;
	if (x->upgraded || (x->sized && x->owed > 0 && !x->no_body))
		x->keep = false;
	conn_leave(x);
}

void http_answer_half(struct http_exchange *x)
{
	assert(x->phase == CONN_EXCHANGE && x->answer == ANSWER_BEGUN && x->upgraded);
	conn_enter(x);
	x->half_out = true;
	conn_leave(x);
}

void http_answer_abort(struct http_exchange *x)
{
	conn_enter(x);
	x->answer = ANSWER_ENDED; /* who asks for it needs no notice */
	x->dead = true;
	conn_leave(x);
}

int http_answer_upgrade(struct http_exchange *x, unsigned status, const struct http_answer_field *fields,
			size_t n_fields)
{
	struct http_writer w;
	size_t at;
	int r;

	assert(x->phase == CONN_EXCHANGE && x->answer == ANSWER_NONE && x->body_done);
	conn_enter(x);
	compact(x);
	begin_waiting(x);
	at = x->out.n;
	http_write_status(&w, &x->out, status);
	for (size_t i = 0; i < n_fields; i++)
		http_write_field(&w, fields[i].name, fields[i].value);
	if (status == 101)
		http_write_connection(&w, HTTP_UPGRADE);
	r = http_write_end(&w);
	if (r == 0) {
		leave_out_told(x, at);
		x->answer = ANSWER_BEGUN;
		x->upgraded = true;
		x->resumed = true; /* what the client has sent behind its request is not waited for */
		x->chunked = x->no_body = x->keep = false;
	}
	conn_leave(x);
	return r;
}

void answer_refuse(struct http_exchange *c, struct http_fault fault)
{
	static const struct http_answer_field type[] = { { STR("Content-Type"),
							   STR("text/plain; charset=utf-8") } };
	struct str reason = str_z(fault.reason);
	bool told = c->phase == CONN_EXCHANGE;

	c->keep = false;
	c->body_done = false;
	/* The handler knew of the request; now there is an answer that is not its own. */
	if (told && c->server->handler->gone)
		c->server->handler->gone(c->server->ctx, c);
	if (c->dead)
		return;
	if (write_head(c, fault.status, type, 1, reason.n + 1) < 0) {
		c->dead = true;
		return;
	}
	if (!c->no_body) {
		buf_put(&c->out, reason);
		buf_putc(&c->out, '\n');
	}
	c->answer = ANSWER_ENDED;
	c->phase = CONN_FLUSH;
}
