/* SPDX-License-Identifier: Apache-2.0 */
/* One connection: reads, hands on, and keeps time. */
#include "base/clock.h"
#include "http/server_priv.h"

#include <sys/socket.h>

static void on_event(struct loop *l, void *ctx, uint32_t events);
static void on_timer(struct loop *l, void *ctx);
static void read_more(struct http_exchange *c);

/* Waits for a request of which nothing has come, and has nothing left to send: it may be ended at any time. */
static void set_idle(struct http_exchange *c, bool idle)
{
	if (c->is_idle == idle)
		return;
	c->is_idle = idle;
	if (!idle) {
		server_list_remove(&c->server->idle, c, true);
		return;
	}
	server_list_add(&c->server->idle, c, true);
	server_has_room(c->server);
}

/* Without memory for more, a head with as many as there is room for is still accepted. */
static void size_fields(struct http_exchange *c, unsigned n)
{
	struct http_field *p = n == c->cap_fields ? NULL : reallocarray(c->fields, n, sizeof(*p));

	if (!p)
		return;
	c->fields = p;
	c->cap_fields = n;
}

static void begin_head(struct http_exchange *c)
{
	c->settled = false;
	size_fields(c, c->server->opts.max_fields);
	http_head_init(&c->head, HTTP_REQUEST, HTTP_OTHER, &c->server->opts.limits, c->fields, c->cap_fields);
	c->phase = CONN_HEAD;
	c->since_ms = clock_mono_ms();
	c->body_done = c->paused = c->chunked = c->no_body = c->keep = c->wants_room = c->sized = false;
	c->live = c->half = c->half_out = c->told_half = false;
	c->told = c->knocks = 0;
	c->knock_ms = CLOCK_NEVER;
	c->answer = ANSWER_NONE;
	c->data = NULL;
	c->at_in = 0;
	set_idle(c, c->n_in == 0 && answer_waiting(c) == 0);
}

static void conn_free(struct http_exchange *c)
{
	struct http_server *s = c->server;

	set_idle(c, false);
	server_list_remove(&s->all, c, false);
	(void)loop_del(s->loop, c->source);
	(void)loop_del(s->loop, c->timer);
	/* In the middle of an answer nothing is said, so that the client sees that it is not whole. */
	if (c->via->close)
		c->via->close(c->state, c->phase != CONN_EXCHANGE && answer_waiting(c) == 0);
	(void)fd_close(c->fd);
	buf_done(&c->out);
	free(c->fields);
	free(c->in);
	free(c);
	server_conn_gone(s);
}

int conn_new(struct http_server *s, int fd, const struct http_transport *via)
{
	struct http_exchange *c = calloc(1, sizeof(*c));
	int r = -ENOMEM;

	if (c)
		c->fields = calloc(s->opts.max_fields, sizeof(*c->fields));
	if (!c || !c->fields)
		goto fail;
	c->cap_fields = s->opts.max_fields;
	c->server = s;
	c->fd = fd;
	c->via = via;
	c->events = EPOLLIN;
	c->armed_ms = CLOCK_NEVER;
	/* A part more than is promised, for what an earlier answer has left there. */
	buf_init(&c->out, s->opts.output_bytes + s->opts.output_bytes / 4 + 1024);
	http_peer_of(fd, &c->peer);
	r = via->begin ? via->begin(via->ctx, fd, &c->peer, &c->state) : 0;
	if (r < 0)
		goto fail;
	r = loop_add_fd(s->loop, fd, c->events, on_event, c, &c->source);
	if (r < 0) {
		if (via->close)
			via->close(c->state, false);
		goto fail;
	}
	server_list_add(&s->all, c, false);
	s->n_conns++;
	conn_enter(c);
	begin_head(c);
	conn_leave(c);
	return 0;
fail:
	if (c)
		free(c->fields);
	free(c);
	(void)fd_close(fd);
	return r;
}

void conn_enter(struct http_exchange *c)
{
	c->depth++;
}

void conn_fail(struct http_exchange *c)
{
	if (c->dead)
		return;
	c->dead = true;
	if (c->phase == CONN_EXCHANGE && c->answer != ANSWER_ENDED && c->server->handler->gone)
		c->server->handler->gone(c->server->ctx, c);
}

/* Whether more of the client's bytes are of use now. */
static bool wants_input(const struct http_exchange *c)
{
	if (c->eof || c->phase == CONN_FLUSH)
		return false;
	if (c->phase != CONN_EXCHANGE)
		/* Who does not take the answers gives no more requests. */
		return c->phase == CONN_LINGER || answer_waiting(c) == 0;
	return !c->paused && (!c->body_done || c->upgraded);
}

/* What would let more be read, or written. */
static uint32_t waits_for(const struct http_exchange *c, bool writing)
{
	if (c->via->wants)
		return c->via->wants(c->state, writing);
	return writing ? EPOLLOUT : EPOLLIN;
}

static bool is_open(const struct http_exchange *c)
{
	return !c->via->is_open || c->via->is_open(c->state);
}

static uint64_t earlier(uint64_t a, uint64_t b)
{
	return a < b ? a : b;
}

static uint64_t deadline_of(const struct http_exchange *c)
{
	const struct http_server_opts *o = &c->server->opts;
	uint64_t at = CLOCK_NEVER;

	if (c->turn)
		return 0;
	if (answer_waiting(c) > 0)
		at = c->wrote_ms + o->write_ms;
	if (c->is_idle && c->server->draining)
		return c->since_ms + FRESH_MS;
	if (c->phase == CONN_HEAD && answer_waiting(c) == 0)
		return c->since_ms + (c->n_in || !is_open(c) ? o->head_ms : o->idle_ms);
	if (c->phase == CONN_LINGER)
		return earlier(at, c->since_ms + LINGER_MS);
	/* No pause is too long, and none of a thousand short ones: less than 1000 bytes a second is not enough. */
	if (c->phase == CONN_EXCHANGE && !c->body_done && !c->paused)
		return earlier(at, earlier(c->since_ms, c->body_from_ms + c->body.total) + o->body_ms);
	return earlier(at, c->knock_ms);
}

/* A timer that is set too early looks again when it fires: so most events need not touch it. */
static void arm(struct http_exchange *c)
{
	uint64_t at = deadline_of(c);

	if (at >= c->armed_ms)
		return;
	c->armed_ms = at;
	if (loop_mod_timer(c->server->loop, c->timer, at) == 0)
		return;
	if (loop_add_timer(c->server->loop, at, on_timer, c, &c->timer) < 0)
		conn_fail(c); /* a wait without an end is none of ours */
}

static uint32_t wants_events(const struct http_exchange *c)
{
	return (wants_input(c) ? waits_for(c, false) : 0u) |
	       (answer_waiting(c) > 0 ? waits_for(c, true) : 0u) |
	       (c->phase == CONN_EXCHANGE && !c->half ? EPOLLRDHUP
						      : 0u); /* elsewhere there is nobody to tell */
}

/*
 * Each request ends with nothing being read until its answer is there, and in most of these times nothing comes. So what comes from the client stays asked for,
 * and only if it does come while nobody wants it (c->unwanted), epoll is told exactly what is.
 */
static void watch(struct http_exchange *c)
{
	uint32_t events = wants_events(c);

	if (!c->unwanted)
		events |= c->events & (EPOLLIN | EPOLLRDHUP);
	c->unwanted = false;
	if (events == c->events)
		return;
	c->events = events;
	if (loop_has(c->server->loop, c->source)
		    ? loop_mod_fd(c->server->loop, c->source, events) >= 0
		    : loop_add_fd(c->server->loop, c->fd, events, on_event, c, &c->source) >= 0)
		return;
	if (c->in_event) {
		conn_fail(c);
		return;
	}
	c->broken = c->turn = true; /* the handler has called: it is told in a turn of the loop */
	arm(c);
}

void http_exchange_settle(struct http_exchange *x)
{
	if (x->phase != CONN_EXCHANGE || !x->body_done)
		return;
	conn_enter(x);
	x->settled = true;
	conn_shrink(x);
	size_fields(x, x->head.n_fields ? x->head.n_fields : 1);
	x->head.field = x->fields;
	conn_leave(x);
}

static void whole(struct http_exchange *c)
{
	c->body_done = true;
	if (c->server->handler->whole && c->answer != ANSWER_ENDED)
		c->server->handler->whole(c->server->ctx, c);
}

static void begin_exchange(struct http_exchange *c)
{
	set_idle(c, false);
	c->asked = true;
	c->phase = CONN_EXCHANGE;
	c->at_in = c->head.n_bytes;
	c->since_ms = c->body_from_ms = clock_mono_ms();
	c->keep = c->head.keep_alive && !c->server->draining;
	http_body_init(&c->body, &c->head);
	c->body_done = c->head.framing == HTTP_NO_BODY;
	if (c->server->handler->request)
		c->server->handler->request(c->server->ctx, c);
	if (c->dead || c->answer == ANSWER_ENDED)
		return;
	if (c->body_done)
		whole(c);
	else if (c->head.expect_continue && c->n_in == c->at_in && c->answer == ANSWER_NONE)
		answer_continue(c);
}

/* Hands on what has come of the body. False when there is nothing to do until more comes. */
static bool go_on_body(struct http_exchange *c)
{
	struct str in = { c->in + c->at_in, c->n_in - c->at_in }, rest = in, piece;
	enum http_piece p = http_body_next(&c->body, &rest, &piece);

	if (p == HTTP_PIECE_BAD) {
		if (c->answer == ANSWER_NONE)
			answer_refuse(c, c->body.fault);
		else
			conn_fail(c);
		return false;
	}
	if (p == HTTP_PIECE_DATA && c->server->handler->body)
		c->server->handler->body(c->server->ctx, c, piece);
	if (c->dead)
		return false;
	conn_drop(c, in.n - rest.n);
	if (p == HTTP_PIECE_END)
		whole(c);
	return p != HTTP_PIECE_MORE;
}

static bool go_on_upgraded(struct http_exchange *c)
{
	struct str in = { c->in + c->at_in, c->n_in - c->at_in };

	if (in.n == 0)
		return false;
	if (c->server->handler->body)
		c->server->handler->body(c->server->ctx, c, in);
	if (!c->dead)
		conn_drop(c, in.n);
	return false;
}

static bool go_on_head(struct http_exchange *c)
{
	enum http_result r;

	/* One request after the other: no answer begins while much of the last one waits. */
	if (c->n_in == 0 || answer_waiting(c) > c->server->opts.output_bytes / 4)
		return false;
	r = http_head_parse(&c->head, (struct str){ c->in, c->n_in });
	if (r == HTTP_BAD)
		answer_refuse(c, c->head.fault);
	if (r == HTTP_DONE)
		begin_exchange(c);
	return r == HTTP_DONE;
}

/* The answer is complete. What is left of the request cannot be told from the next one unless it was read. */
static bool end_exchange(struct http_exchange *c)
{
	if (!c->keep || !c->body_done || c->server->draining) {
		c->phase = CONN_FLUSH;
		return false;
	}
	memmove(c->in, c->in + c->at_in, c->n_in - c->at_in);
	c->n_in -= c->at_in;
	begin_head(c);
	return true;
}

/* One step with what is there; false when none is possible. */
static bool go_on(struct http_exchange *c)
{
	if (c->dead)
		return false;
	if (c->phase == CONN_HEAD)
		return go_on_head(c);
	if (c->phase != CONN_EXCHANGE)
		return false;
	if (c->answer == ANSWER_ENDED)
		return end_exchange(c);
	if (c->upgraded)
		return !c->paused && go_on_upgraded(c);
	return !c->body_done && !c->paused && go_on_body(c);
}

/* A close while the client still sends would take our answer away from it (RFC 9112 section 9.6). */
static void linger(struct http_exchange *c)
{
	if (c->phase != CONN_FLUSH || answer_waiting(c) > 0 || c->dead)
		return;
	if (c->eof || c->via->end(c->state, c->fd) < 0) {
		c->dead = true;
		return;
	}
	c->phase = CONN_LINGER;
	c->since_ms = clock_mono_ms();
}

/* The last answer is sent, and nothing else has come. */
static void rest(struct http_exchange *c)
{
	bool idle = c->phase == CONN_HEAD && c->n_in == 0 && answer_waiting(c) == 0;

	if (c->dead)
		return;
	if (idle && c->asked && c->server->draining) {
		idle = false;
		c->phase = CONN_FLUSH;
	}
	set_idle(c, idle);
}

static void tell_room(struct http_exchange *c)
{
	if (c->dead || !answer_has_room(c))
		return;
	c->wants_room = false;
	if (c->server->handler->room)
		c->server->handler->room(c->server->ctx, c);
}

/* The transport has taken more from the socket than it was asked for: no event will tell of that. */
static bool has_pending(const struct http_exchange *c)
{
	return !c->dead && c->phase != CONN_LINGER && c->via->pending && wants_input(c) &&
	       c->via->pending(c->state);
}

static bool took_pending(struct http_exchange *c)
{
	size_t before = c->n_in;

	read_more(c);
	return c->n_in != before;
}

/* All that can be done with what is there. */
static void work(struct http_exchange *c)
{
	bool again;

	do {
		while (go_on(c))
			;
		if (!c->dead && !answer_flush(c))
			conn_fail(c);
		tell_room(c);
		rest(c);
		linger(c);
		/* What was sent may have made room for the next request, or for the end of this answer. */
		again = (c->phase == CONN_EXCHANGE && c->answer == ANSWER_ENDED) ||
			(c->phase == CONN_HEAD && c->n_in > c->head.scanned && answer_waiting(c) == 0);
		if (!again && has_pending(c))
			again = took_pending(c);
	} while (!c->dead && again);
	if (!c->dead)
		conn_shrink(c);
}

/* Called by the handler from elsewhere: it is not called back from inside its own call, but in a turn of the loop. */
static void work_later(struct http_exchange *c)
{
	if (!c->dead && !answer_flush(c))
		c->broken = true;
	c->turn = c->turn || c->broken || c->resumed || c->answer == ANSWER_ENDED || answer_has_room(c);
	c->resumed = false;
}

void conn_leave(struct http_exchange *c)
{
	/* The outermost call does the work; those inside only say that there is some. */
	if (c->depth > 1) {
		c->depth--;
		return;
	}
	if (c->in_event)
		work(c);
	else
		work_later(c);
	if (!c->dead) {
		arm(c);
		watch(c);
	}
	c->in_event = false;
	c->depth--;
	if (c->dead)
		conn_free(c);
}

static void on_eof(struct http_exchange *c)
{
	c->eof = true;
	/* With an answer that is complete and only has to be sent, it is sent. */
	if (c->phase == CONN_HEAD && answer_waiting(c) > 0)
		c->phase = CONN_FLUSH;
	else if (c->phase == CONN_EXCHANGE && c->upgraded && c->answer == ANSWER_BEGUN &&
		 c->server->handler->half)
		conn_half_upgraded(c);
	else if (c->phase != CONN_FLUSH)
		conn_fail(c);
}

/*
 * Both sides have ended their halves, and epoll goes on to tell of it. What is left to do is the handler's: something else, or to take what has
 * come, when it can.
 */
static bool both_have_ended(const struct http_exchange *c, uint32_t events)
{
	return c->phase == CONN_EXCHANGE && c->upgraded && !(events & EPOLLERR) &&
	       (c->eof ? c->told_half : c->paused && (events & EPOLLHUP));
}

/* Until something else is wanted of it (watch). */
static void hear_no_more(struct http_exchange *c)
{
	(void)loop_del(c->server->loop, c->source);
	c->events = 0;
	c->unwanted = false;
	c->half = true; /* read_more() comes to the end of it */
}

static void read_lingering(struct http_exchange *c)
{
	char dropped[4096];
	ssize_t n = recv(c->fd, dropped, sizeof(dropped), 0);

	if (n < 0 && (errno == EAGAIN || errno == EINTR))
		return;
	c->lingered += n > 0 ? (size_t)n : 0;
	if (n <= 0 || c->lingered > LINGER_BYTES)
		c->dead = true;
}

/* Speaks something else. A close in the middle of its sentence would take away what the transport has told it. */
static void end_stranger(struct http_exchange *c)
{
	set_idle(c, false);
	c->phase = CONN_FLUSH;
}

static void read_more(struct http_exchange *c)
{
	size_t want = c->phase == CONN_HEAD ? 512 : BODY_WINDOW;
	ssize_t n;

	if (!conn_reserve(c, want)) {
		conn_fail(c);
		return;
	}
	n = c->via->read(c->state, c->fd, c->in + c->n_in, c->cap_in - c->n_in);
	if (n == -EAGAIN)
		return;
	if (n == -EPROTO && c->phase == CONN_HEAD && !is_open(c))
		end_stranger(c);
	else if (n < 0)
		conn_fail(c);
	else if (n == 0)
		on_eof(c);
	if (n <= 0)
		return;
	if (c->phase == CONN_EXCHANGE || c->n_in == 0)
		c->since_ms = clock_mono_ms();
	c->n_in += (size_t)n;
	if (c->phase == CONN_HEAD)
		set_idle(c, false);
}

static void on_event(struct loop *l, void *ctx, uint32_t events)
{
	struct http_exchange *c = ctx;
	uint32_t wanted = wants_events(c) | EPOLLERR | EPOLLHUP;

	(void)l;
	conn_enter(c);
	c->unwanted = events & ~wanted;
	events &= wanted;
	c->in_event = true;
	if (both_have_ended(c, events))
		hear_no_more(c);
	else if ((events & (EPOLLERR | EPOLLHUP)) != 0 && !(events & EPOLLIN))
		conn_fail(c);
	else if (c->phase == CONN_LINGER)
		read_lingering(c);
	else if (wants_input(c) && (events & (waits_for(c, false) | EPOLLRDHUP)))
		read_more(c);
	else if (events & EPOLLRDHUP && c->body_done)
		conn_half(c);
	else if (events & EPOLLRDHUP)
		on_eof(c);
	conn_leave(c);
}

static void on_deadline(struct http_exchange *c, uint64_t now)
{
	bool slow = answer_waiting(c) > 0 && now >= c->wrote_ms + c->server->opts.write_ms;
	bool asked = (c->phase == CONN_HEAD && c->n_in > 0) ||
		     (c->phase == CONN_EXCHANGE && c->answer == ANSWER_NONE);

	if (!slow && asked)
		answer_refuse(c, (struct http_fault){ 408, "the request did not come in time" });
	else
		conn_fail(c);
}

static void on_timer(struct loop *l, void *ctx)
{
	struct http_exchange *c = ctx;
	uint64_t now = clock_mono_ms();

	(void)l;
	c->armed_ms = CLOCK_NEVER;
	c->timer = (struct loop_id){ 0 };
	conn_enter(c);
	c->in_event = true;
	if (c->broken)
		conn_fail(c);
	else if (!c->turn && now >= c->knock_ms)
		conn_knock(c);
	else if (!c->turn && now >= deadline_of(c))
		on_deadline(c, now);
	c->turn = false;
	conn_leave(c);
}
