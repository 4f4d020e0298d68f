/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The door that is a TCP port: anybody on the host can connect to it, so no worker waits there. One process of its own takes every connection, and hands on
 * those alone that have shown the runner's token in their first head. It only peeks: the worker reads all of it again, and believes nothing. Whoever has no token
 * is answered here (/health, or 401), and the connection ends with the answer; whoever says nothing has one of some places, for a few seconds, and the oldest
 * makes room for the newest. Nobody who has just come, or has shown the token, is sent away without a word; of those who have none, some hundreds are answered at once.
 */
#include "server/runner/runner.h"

#include "backend/message.h"
#include "base/clock.h"
#include "base/log.h"
#include "server/service.h"

#include <errno.h>
#include <linux/sockios.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <unistd.h>

enum {
	STRANGERS_MAX = 1024, /* that have not said who they are */
	STRANGER_MS = 5000,
	FRESH_MS = 500,   /* in which nobody has to make room */
	KNOWN_MAX = 1024, /* that have shown the token, and wait for a worker */
	KNOWN_MS = 60000,
	ANSWERED_MAX = 256, /* that read why they were turned away */
	TURNED_MAX = 256,   /* that wait to be told */
	ACCEPT_ROUND = 32,
	HEAD_ROOM = 16384 + 1, /* one more than the head may have: the parser says no then */
	FIELDS = 64,
	TICK_MS = 1000,
	LAST_MS = 2000, /* for those who have just come when we are told to end */
	LOOK_MS = 5,
	FULL_MS = 20, /* when there is no descriptor left, and nobody to send away */
};

struct guest {
	struct porter *porter;
	struct guest *prev, *next; /* by age */
	int fd;
	struct loop_id source;
	uint64_t until_ms;
	struct guests *in;
};

struct guests {
	struct guest *first, *last;
	unsigned n, max;
};

struct porter {
	struct worker self; /* what visit.c needs of one: the runner, the loop, the server */
	struct guests strangers, known, turned;
	struct loop_id to_workers, accepting[DOOR_SOCKETS_MAX];
	bool waits_for_workers;
	bool is_full;     /* nobody is taken in */
	uint64_t stop_ms; /* by when it ends; CLOCK_NEVER: not told to */
	char bytes[HEAD_ROOM];
};

/* ---- the lists ---- */

static void join(struct guests *l, struct guest *g, uint64_t ms)
{
	g->in = l;
	g->until_ms = clock_deadline(ms);
	g->prev = l->last;
	g->next = NULL;
	*(l->last ? &l->last->next : &l->first) = g;
	l->last = g;
	l->n++;
}

static void part(struct guest *g)
{
	struct guests *l = g->in;

	*(g->prev ? &g->prev->next : &l->first) = g->next;
	*(g->next ? &g->next->prev : &l->last) = g->prev;
	l->n--;
}

/* The descriptor stays, for whoever is next to have it. */
static int let_out(struct guest *g)
{
	int fd = g->fd;

	part(g);
	(void)loop_del(g->porter->self.loop, g->source);
	free(g);
	return fd;
}

static void send_away(struct guest *g)
{
	(void)fd_close(let_out(g));
}

static void send_away_late(struct guests *l, uint64_t now_ms)
{
	while (l->first && now_ms >= l->first->until_ms)
		send_away(l->first);
}

/* What it says next is not for us to look at. */
static void move_to(struct guests *l, struct guest *g, uint64_t ms)
{
	part(g);
	(void)loop_del(g->porter->self.loop, g->source);
	g->source = (struct loop_id){ 0 };
	join(l, g, ms);
}

/* As far as there are places to be answered at. */
static void answer_turned(struct porter *p)
{
	while (p->turned.first && http_server_connections(p->self.server) < ANSWERED_MAX)
		(void)http_server_adopt(p->self.server, let_out(p->turned.first));
}

/* To be told why, with what it has asked for. */
static void turn_away(struct guest *g)
{
	struct porter *p = g->porter;

	answer_turned(p);
	if (p->turned.n == p->turned.max)
		send_away(p->turned.first);
	move_to(&p->turned, g, STRANGER_MS);
	answer_turned(p);
}

/* ---- to the workers ---- */

static void hand_over_all(struct porter *p);

static void on_workers(struct loop *l, void *ctx, uint32_t events)
{
	(void)l;
	(void)events;
	hand_over_all(ctx);
}

static void wait_for_workers(struct porter *p, bool on)
{
	if (p->waits_for_workers == on)
		return;
	p->waits_for_workers = on;
	if (!on)
		(void)loop_del(p->self.loop, p->to_workers);
	else if (loop_add_fd(p->self.loop, p->self.runner->handed[0], EPOLLOUT, on_workers, p,
			     &p->to_workers) < 0)
		p->waits_for_workers = false; /* the next tick tries again */
}

static void hand_over_all(struct porter *p)
{
	while (p->known.first) {
		const struct message_fds one = { .v = { p->known.first->fd }, .n = 1 };
		int r = message_send(p->self.runner->handed[0], STR("c"), STR(""), &one);

		if (r == -EAGAIN) {
			wait_for_workers(p, true);
			return;
		}
		if (r < 0)
			LOG(LOG_ERROR, "a connection could not be handed on", KV_I64("errno", -r));
		send_away(p->known.first);
	}
	wait_for_workers(p, false);
}

/* ---- who it is ---- */

enum look { LOOK_GONE = 0, LOOK_MORE, LOOK_STRANGER, LOOK_KNOWN };

static enum look look_at(struct porter *p, int fd)
{
	ssize_t n = recv(fd, p->bytes, sizeof(p->bytes), MSG_PEEK | MSG_DONTWAIT);
	struct http_limits limits = http_limits_default;
	struct http_field fields[FIELDS];
	struct http_head h;
	enum http_result r;

	if (n < 0 && (errno == EAGAIN || errno == EINTR))
		return LOOK_MORE;
	if (n <= 0)
		return LOOK_GONE;
	limits.body_bytes =
		WIRE_BODY_MAX; /* as a worker has it: what that would take is no reason to be a stranger */
	http_head_init(&h, HTTP_REQUEST, HTTP_OTHER, &limits, fields, FIELDS);
	r = http_head_parse(&h, (struct str){ .p = p->bytes, .n = (size_t)n });
	if (r == HTTP_MORE)
		return LOOK_MORE;
	return r == HTTP_DONE && visit_bearer(p->self.runner, &h) == CODE_OK ? LOOK_KNOWN : LOOK_STRANGER;
}

static void on_guest(struct loop *l, void *ctx, uint32_t events)
{
	struct guest *g = ctx;
	struct porter *p = g->porter;
	enum look look = look_at(p, g->fd);

	(void)l;
	/* Half a head and no more to come. */
	if (look == LOOK_MORE && events & (EPOLLRDHUP | EPOLLHUP | EPOLLERR))
		look = LOOK_GONE;
	if (look == LOOK_MORE)
		return;
	if (look == LOOK_GONE) {
		send_away(g);
	} else if (look == LOOK_STRANGER || p->known.n == p->known.max) {
		turn_away(g);
	} else {
		move_to(&p->known, g, KNOWN_MS);
		hand_over_all(p);
	}
}

/* ---- accepting ---- */

static void take_in(struct porter *p, int fd)
{
	const int on = 1;
	struct guest *g = calloc(1, sizeof(*g));

	(void)setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on));
	if (!g) {
		(void)fd_close(fd);
		return;
	}
	if (p->strangers.n == p->strangers.max)
		send_away(p->strangers.first);
	*g = (struct guest){ .porter = p, .fd = fd };
	join(&p->strangers, g, STRANGER_MS);
	/* By edges: what was peeked at stays in the socket, and is no news. Whatever is there already is the first edge. */
	if (loop_add_fd(p->self.loop, fd, EPOLLIN | EPOLLRDHUP | EPOLLET, on_guest, g, &g->source) < 0)
		send_away(g);
	else
		on_guest(p->self.loop, g, 0);
}

/* There is a place, or somebody who has had his time to speak. */
static bool has_place(const struct porter *p)
{
	return p->strangers.n < p->strangers.max ||
	       clock_mono_ms() + STRANGER_MS - FRESH_MS >= p->strangers.first->until_ms;
}

static void on_port(struct loop *l, void *ctx, uint32_t events);

static int set_accepting(struct porter *p, bool on)
{
	int r = 0;

	for (size_t i = 0; i < p->self.runner->n_ports && r >= 0; i++)
		if (on)
			r = loop_add_fd(p->self.loop, p->self.runner->ports[i], EPOLLIN, on_port, p,
					&p->accepting[i]);
		else
			(void)loop_del(p->self.loop, p->accepting[i]);
	return r;
}

static void look_for_places(struct porter *p)
{
	bool full = !has_place(p);

	if (full == p->is_full || p->stop_ms != CLOCK_NEVER)
		return;
	p->is_full = full;
	if (set_accepting(p, !full) < 0)
		p->is_full = true; /* the next look tries again */
}

static void on_port(struct loop *l, void *ctx, uint32_t events)
{
	struct porter *p = ctx;
	const struct runner *r = p->self.runner;

	(void)l;
	(void)events;
	for (size_t i = 0; i < r->n_ports; i++)
		for (int n = 0; n < ACCEPT_ROUND && has_place(p); n++) {
			int fd = accept4(r->ports[i], NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);

			if (fd >= 0)
				take_in(p, fd);
			else if (errno == EMFILE || errno == ENFILE || errno == ENOBUFS || errno == ENOMEM) {
				if (p->strangers.first)
					send_away(p->strangers.first);
				else
					(void)poll(NULL, 0, FULL_MS);
				break;
			} else if (errno == EAGAIN)
				break;
		}
}

/* ---- those without a token ---- */

static void on_request(void *ctx, struct http_exchange *x)
{
	struct porter *p = ctx;

	visit_stranger(&p->self, x);
}

static const struct http_handler strangers_handler = { .request = on_request };

/* ---- life ---- */

/* Others may accept on the same sockets; whoever is here already still gets a worker. */
static void on_stop(struct loop *l, void *ctx)
{
	struct porter *p = ctx;

	(void)l;
	(void)set_accepting(p, false);
	if (p->stop_ms == CLOCK_NEVER)
		p->stop_ms = clock_deadline(LAST_MS);
}

/* Nobody is left, and the workers have taken all that they were handed. */
static bool is_done(const struct porter *p)
{
	int waiting = 0;

	if (clock_mono_ms() >= p->stop_ms)
		return true;
	return p->stop_ms != CLOCK_NEVER && p->strangers.n == 0 && p->known.n == 0 && p->turned.n == 0 &&
	       http_server_connections(p->self.server) == 0 &&
	       ioctl(p->self.runner->handed[0], SIOCOUTQ, &waiting) == 0 && waiting == 0;
}

static int open_all(struct porter *p, struct err *e)
{
	const struct http_server_opts so = { .limits = { .body_bytes = WIRE_BODY_MAX },
					     .max_connections = ANSWERED_MAX,
					     .output_bytes = 16384,
					     .head_ms = STRANGER_MS,
					     .idle_ms = STRANGER_MS,
					     .body_ms = STRANGER_MS,
					     .write_ms = STRANGER_MS };
	struct loop_id ignored;
	int n = loop_new(STRANGERS_MAX + 2 * ANSWERED_MAX + 32, &p->self.loop);

	if (n >= 0)
		n = loop_add_signal(p->self.loop, SIGTERM, on_stop, p, &ignored);
	if (n >= 0)
		n = set_accepting(p, true);
	if (n < 0)
		return err_sys(e, -n, "event loop");
	return http_server_new(p->self.loop, &so, &strangers_handler, p, &p->self.server, e);
}

static int serve(struct porter *p, struct err *e)
{
	while (!is_done(p)) {
		uint64_t now;
		int r = loop_step(
			p->self.loop,
			clock_deadline(p->is_full || p->stop_ms != CLOCK_NEVER ? LOOK_MS : TICK_MS));

		if (r < 0)
			return err_sys(e, -r, "event loop");
		now = clock_mono_ms();
		send_away_late(&p->strangers, now);
		send_away_late(&p->turned, now);
		while (p->known.first && now >= p->known.first->until_ms)
			turn_away(p->known.first);
		hand_over_all(p);
		answer_turned(p);
		look_for_places(p);
		if (getppid() != p->self.runner->parent)
			return 0;
	}
	return 0;
}

int porter_take(const struct runner *r)
{
	struct message_fds fds = { 0 };
	char byte;

	if (message_take(r->handed[1], 0, &byte, sizeof(byte), NULL, 0, &fds) <= 0 || fds.n != 1) {
		message_close(&fds);
		return FD_NONE;
	}
	return fds.v[0];
}

_Noreturn void porter_run(struct runner *r)
{
	static struct porter p;
	struct err e = { 0 };
	int n;

	p.self = (struct worker){ .runner = r, .door = DOOR_TCP, .conn = FD_NONE, .hangup = FD_NONE };
	p.strangers.max = STRANGERS_MAX;
	p.known.max = KNOWN_MAX;
	p.turned.max = TURNED_MAX;
	p.stop_ms = CLOCK_NEVER;
	(void)prctl(PR_SET_PDEATHSIG, SIGTERM);
	service_raise_files();
	n = open_all(&p, &e);
	if (n >= 0)
		n = serve(&p, &e);
	if (n < 0)
		LOG(LOG_ERROR, "the porter ends", KV_Z("why", e.msg));
	_exit(n < 0 ? 1 : 0);
}
