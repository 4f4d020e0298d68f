/* SPDX-License-Identifier: Apache-2.0 */
#include "http/server.h"

#include "base/clock.h"
#include "http/server_priv.h"

#include <assert.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>

static struct conn_link *link_of(struct http_exchange *c, bool idle)
{
	return idle ? &c->idle : &c->all;
}

void server_list_add(struct conn_list *l, struct http_exchange *c, bool idle)
{
	*link_of(c, idle) = (struct conn_link){ .prev = l->last };
	if (l->last)
		link_of(l->last, idle)->next = c;
	else
		l->first = c;
	l->last = c;
}

void server_list_remove(struct conn_list *l, struct http_exchange *c, bool idle)
{
	struct conn_link *at = link_of(c, idle);

	if (at->prev)
		link_of(at->prev, idle)->next = at->next;
	else
		l->first = at->next;
	if (at->next)
		link_of(at->next, idle)->prev = at->prev;
	else
		l->last = at->prev;
	*at = (struct conn_link){ 0 };
}

static uint64_t or_default(uint64_t v, uint64_t fallback)
{
	return v ? v : fallback;
}

static struct http_server_opts complete(struct http_server_opts o)
{
	const struct http_limits *d = &http_limits_default;

	o.limits.head_bytes = (uint32_t)or_default(o.limits.head_bytes, d->head_bytes);
	o.limits.line_bytes = (uint32_t)or_default(o.limits.line_bytes, d->line_bytes);
	o.limits.body_bytes = or_default(o.limits.body_bytes, d->body_bytes);
	o.max_fields = (unsigned)or_default(o.max_fields, 64);
	o.max_connections = (unsigned)or_default(o.max_connections, 1024);
	o.output_bytes = (size_t)or_default(o.output_bytes, 262144);
	o.head_ms = or_default(o.head_ms, 10000);
	o.idle_ms = or_default(o.idle_ms, 60000);
	o.body_ms = or_default(o.body_ms, 30000);
	o.write_ms = or_default(o.write_ms, 30000);
	return o;
}

int http_server_new(struct loop *loop, const struct http_server_opts *opts,
		    const struct http_handler *handler, void *ctx, struct http_server **ret, struct err *e)
{
	struct http_server *s = calloc(1, sizeof(*s));

	assert(handler->request || handler->whole);
	if (!s)
		return err_sys(e, ENOMEM, "http server");
	s->loop = loop;
	s->opts = complete(opts ? *opts : (struct http_server_opts){ 0 });
	s->handler = handler;
	s->ctx = ctx;
	s->accepting = true;
	*ret = s;
	return 0;
}

static void close_listeners(struct http_server *s)
{
	for (unsigned i = 0; i < s->n_listeners; i++) {
		(void)loop_del(s->loop, s->listener[i].source);
		(void)fd_close(s->listener[i].fd);
	}
	s->n_listeners = 0;
}

static void end_all(struct http_server *s)
{
	while (s->all.first) {
		struct http_exchange *c = s->all.first;

		conn_enter(c);
		conn_fail(c);
		conn_leave(c);
		if (s->all.first == c)
			return; /* in use further up, and goes from there */
	}
}

struct http_server *http_server_free(struct http_server *s)
{
	if (!s)
		return NULL;
	s->draining = true; /* what ends now does not wake the listeners */
	s->done = NULL;
	close_listeners(s);
	end_all(s);
	(void)loop_del(s->loop, s->pause_timer);
	(void)loop_del(s->loop, s->drain_timer);
	(void)loop_del(s->loop, s->done_timer);
	free(s);
	return NULL;
}

/* With all connections in use the next ones wait in the kernel's queue, which has a limit of its own. */
static void set_accepting(struct http_server *s, bool on)
{
	if (s->accepting == on)
		return;
	s->accepting = on;
	for (unsigned i = 0; i < s->n_listeners; i++)
		(void)loop_mod_fd(s->loop, s->listener[i].source, on ? EPOLLIN : 0);
}

static void on_pause_over(struct loop *l, void *ctx)
{
	struct http_server *s = ctx;

	(void)l;
	set_accepting(s, true);
}

static void pause_accepting(struct http_server *s)
{
	set_accepting(s, false);
	/* Without a timer the next connection that ends wakes it. */
	if (!loop_has(s->loop, s->pause_timer))
		(void)loop_add_timer(s->loop, clock_deadline(ACCEPT_PAUSE_MS), on_pause_over, s,
				     &s->pause_timer);
}

static bool is_full(const struct http_server *s)
{
	return s->n_conns >= s->opts.max_connections;
}

/* Somebody who waits with nothing to say makes room for somebody who has just come. */
static bool make_room(struct http_server *s)
{
	struct http_exchange *c = s->idle.first;

	if (!c)
		return false;
	conn_enter(c);
	conn_fail(c);
	conn_leave(c);
	return true;
}

static bool is_out_of_files(int errnum)
{
	return errnum == EMFILE || errnum == ENFILE;
}

static void on_listener(struct loop *l, void *ctx, uint32_t events)
{
	const int on = 1;
	struct listener *from = ctx;
	struct http_server *s = from->server;

	(void)l;
	(void)events;
	/* A few at a time: those who are connected wait, too. */
	for (int i = 0; i < 32; i++) {
		int fd;

		if (is_full(s) && !s->idle.first) {
			set_accepting(s, false);
			return;
		}
		fd = accept4(from->fd, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);
		if (fd < 0 && (errno == EINTR || errno == ECONNABORTED || errno == EPROTO))
			continue;
		/* Without a descriptor the system does not look whether somebody waits: the event tells of one. */
		if (fd < 0 && is_out_of_files(errno) && i > 0)
			return;
		if (fd < 0 && is_out_of_files(errno) && make_room(s))
			continue;
		if (fd < 0) {
			if (errno != EAGAIN)
				pause_accepting(s);
			return;
		}
		if (is_full(s))
			(void)make_room(s);
		/* Harmless where it is no TCP socket. */
		(void)setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on));
		if (conn_new(s, fd, from->via) < 0) {
			pause_accepting(s);
			return;
		}
	}
}

int http_server_adopt(struct http_server *s, int fd)
{
	if (s->n_conns >= s->opts.max_connections || s->draining) {
		(void)fd_close(fd);
		return -EMFILE;
	}
	return conn_new(s, fd, &http_plain);
}

int http_server_listen_via(struct http_server *s, int fd, const struct http_transport *via, struct err *e)
{
	struct listener *l = &s->listener[s->n_listeners];
	int r;

	if (s->n_listeners == LISTENERS_MAX) {
		(void)fd_close(fd);
		return err_set(e, ERR_LIMIT, "a server listens on at most %d sockets", LISTENERS_MAX);
	}
	*l = (struct listener){ .server = s, .fd = fd, .via = via };
	r = loop_add_fd(s->loop, fd, s->accepting ? EPOLLIN : 0, on_listener, l, &l->source);
	if (r < 0) {
		(void)fd_close(fd);
		return err_sys(e, -r, "watch a listening socket");
	}
	s->n_listeners++;
	return 0;
}

int http_server_listen(struct http_server *s, int fd, struct err *e)
{
	return http_server_listen_via(s, fd, &http_plain, e);
}

unsigned http_server_connections(const struct http_server *s)
{
	return s->n_conns;
}

static void on_done(struct loop *l, void *ctx)
{
	struct http_server *s = ctx;
	loop_fn *done = s->done;

	s->done = NULL;
	if (done)
		done(l, s->done_ctx);
}

/* From the loop and not from here: whoever hears of it may free the server. */
static void tell_when_drained(struct http_server *s)
{
	if (s->draining && s->n_conns == 0 && s->done && !loop_has(s->loop, s->done_timer))
		(void)loop_add_timer(s->loop, 0, on_done, s, &s->done_timer);
}

void server_has_room(struct http_server *s)
{
	if (!s->draining)
		set_accepting(s, true);
}

void server_conn_gone(struct http_server *s)
{
	s->n_conns--;
	server_has_room(s);
	tell_when_drained(s);
}

/* Closing a socket with a request in it would be a reset for somebody who came in time. */
static bool has_something(const struct http_exchange *c)
{
	char byte;

	return recv(c->fd, &byte, 1, MSG_PEEK | MSG_DONTWAIT) > 0;
}

static void on_drain_over(struct loop *l, void *ctx)
{
	(void)l;
	end_all(ctx);
}

void http_server_drain(struct http_server *s, uint64_t ms, loop_fn *done, void *ctx)
{
	s->draining = true;
	s->done = done;
	s->done_ctx = ctx;
	close_listeners(s);
	for (struct http_exchange *c = s->idle.first, *next; c; c = next) {
		next = c->idle.next;
		conn_enter(c);
		if (has_something(c))
			c->since_ms = clock_mono_ms();
		else if (c->asked)
			conn_fail(c);
		conn_leave(c); /* the others have a new deadline */
	}
	/* Without the timer they would be let live for ever. */
	if (loop_add_timer(s->loop, clock_deadline(ms), on_drain_over, s, &s->drain_timer) < 0)
		end_all(s);
	tell_when_drained(s);
}
