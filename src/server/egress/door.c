/* SPDX-License-Identifier: Apache-2.0 */
#include "server/egress/door.h"

#include "base/clock.h"
#include "base/fd.h"
#include "base/log.h"
#include "net/message.h"
#include "server/metrics.h"

#include <fcntl.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <unistd.h>

enum {
	HELLO_MS = 60000, /* its sandbox is being made meanwhile */
	PAUSE_MS = 100,   /* when there is no room, or no descriptor */
	ARENA_MAX = 1 << 20,
};

struct guest {
	struct door *door;
	struct guest *prev, *next;
	int fd;
	struct loop_id source, timer;
	struct arena arena; /* texts of the rules */
	struct egress_hello hello;
	struct net_rules rules;
	struct net_report report;
	struct proxy *proxy; /* NULL: it has said nothing yet */
	char option[65];
};

struct door {
	struct loop *loop;
	struct door_opts opts;
	char health[DOOR_HEALTH_MAX];
	size_t n_health;
	int fd;
	struct loop_id source, pause, done_timer;
	struct guest *guests;
	unsigned n;
	bool draining;
	struct egress_numbers gone; /* of guests that have left */
	loop_fn *done;
	void *done_ctx;
};

/* ---- the door itself ---- */

int door_new(struct loop *loop, const struct door_opts *opts, struct door **ret, struct err *e)
{
	struct door *d = calloc(1, sizeof(*d));

	if (!d)
		return err_sys(e, ENOMEM, "egress");
	d->loop = loop;
	d->opts = *opts;
	d->opts.proxy.max_connections = DOOR_CONNECTIONS_MAX;
	d->fd = FD_NONE;
	*ret = d;
	return 0;
}

static void close_door(struct door *d)
{
	(void)loop_del(d->loop, d->source);
	(void)loop_del(d->loop, d->pause);
	d->fd = fd_close(d->fd);
}

static void on_done(struct loop *l, void *ctx)
{
	struct door *d = ctx;
	loop_fn *done = d->done;

	d->done = NULL;
	if (done)
		done(l, d->done_ctx);
}

/* From the loop: whoever hears of it may free the door. */
static void tell_when_empty(struct door *d)
{
	if (d->draining && d->n == 0 && d->done && !loop_has(d->loop, d->done_timer))
		(void)loop_add_timer(d->loop, 0, on_done, d, &d->done_timer);
}

static void set_open(struct door *d, bool open)
{
	if (d->fd >= 0)
		(void)loop_mod_fd(d->loop, d->source, open ? EPOLLIN : 0);
}

static void on_pause_over(struct loop *l, void *ctx)
{
	(void)l;
	set_open(ctx, true);
}

static void pause_door(struct door *d)
{
	set_open(d, false);
	if (!loop_has(d->loop, d->pause))
		(void)loop_add_timer(d->loop, clock_deadline(PAUSE_MS), on_pause_over, d, &d->pause);
}

unsigned door_guests(const struct door *d)
{
	return d->n;
}

/* ---- numbers ---- */

static void count(struct egress_numbers *n, const struct net_report *r)
{
	n->requests += r->requests;
	n->bytes_up += r->bytes_up;
	n->bytes_down += r->bytes_down;
	n->denials += r->denials_lost;
	for (size_t i = 0; i < r->n_denials; i++)
		n->denials += r->denials[i].count;
}

static void put_numbers(const struct door *d, struct buf *out)
{
	struct egress_numbers n = d->gone;

	n.memory_bytes = metrics_resident_at(d->opts.statm);
	for (const struct guest *g = d->guests; g; g = g->next) {
		n.guests += g->proxy != NULL;
		count(&n, &g->report);
	}
	egress_numbers_put(&n, out);
}

/* ---- guests ---- */

static void guest_free(struct guest *g)
{
	struct door *d = g->door;

	g->proxy = proxy_free(g->proxy);
	count(&d->gone, &g->report);
	(void)loop_del(d->loop, g->source);
	(void)loop_del(d->loop, g->timer);
	(void)fd_close(g->fd);
	arena_done(&g->arena);
	if (g->prev)
		g->prev->next = g->next;
	else
		d->guests = g->next;
	if (g->next)
		g->next->prev = g->prev;
	free(g);
	d->n--;
	tell_when_empty(d);
}

static void log_end(const struct guest *g, bool told)
{
	LOG(told ? LOG_INFO : LOG_WARN, told ? "sandbox left" : "the client of a sandbox has gone",
	    KV_STR("session", g->hello.session), KV_STR("request", g->hello.request),
	    KV_U64("requests", g->report.requests), KV_U64("bytes_up", g->report.bytes_up),
	    KV_U64("bytes_down", g->report.bytes_down), KV_U64("denials", g->report.n_denials));
}

/* A message that does not fit in the socket's buffer has a client that does not read: it goes. */
static bool say(const struct guest *g, struct str text)
{
	return send(g->fd, text.p, text.n, MSG_NOSIGNAL | MSG_DONTWAIT) == (ssize_t)text.n;
}

/* Only what can be answered: a TCP socket that listens. Where, is the client's business: it may be another network's. */
static int check_listener(int fd, struct err *e)
{
	int listens = 0, domain = 0, type = 0;
	socklen_t n = sizeof(int);

	if (getsockopt(fd, SOL_SOCKET, SO_ACCEPTCONN, &listens, &n) < 0 ||
	    getsockopt(fd, SOL_SOCKET, SO_DOMAIN, &domain, &n) < 0 ||
	    getsockopt(fd, SOL_SOCKET, SO_TYPE, &type, &n) < 0)
		return err_sys(e, errno, "look at the socket");
	if (!listens || domain != AF_INET || type != SOCK_STREAM)
		return err_set(e, ERR_PROTO, "what came is no listening TCP socket");
	if (fcntl(fd, F_SETFL, O_RDWR | O_NONBLOCK) < 0)
		return err_sys(e, errno, "look at the socket");
	return 0;
}

static int admit(struct guest *g, struct str text, int *listener, struct err *e)
{
	/* The texts stay for as long as the guest: the rules are slices of them. */
	struct str kept = arena_str(&g->arena, text);

	if (!kept.p)
		return err_set(e, ERR_LIMIT, "out of memory");
	if (egress_hello_parse(kept, &g->arena, &g->hello, e) < 0 || check_listener(*listener, e) < 0)
		return -1;
	memcpy(g->option, g->hello.option.p, g->hello.option.n);
	g->rules.option = g->option;
	for (size_t i = 0; i < g->hello.rules.n; i++)
		if (net_rules_add(&g->rules, g->hello.rules.v[i], e) < 0)
			return -1;
	if (proxy_new(g->door->loop, &g->door->opts.proxy, &g->rules, &g->report, &g->proxy, e) < 0)
		return -1;
	return proxy_listen(g->proxy, TAKE_FD(*listener), e);
}

static void on_hello(struct guest *g, struct str text, int listener)
{
	_cleanup_close_ int own = listener;
	_cleanup_buf_ struct buf out = { 0 };
	struct err e = { 0 };
	bool ok;

	buf_init(&out, EGRESS_MESSAGE_MAX);
	ok = admit(g, text, &own, &e) >= 0;
	egress_answer_put(&e, &out);
	if (!ok)
		LOG(LOG_WARN, "sandbox refused", KV_Z("reason", e.msg));
	ok = say(g, buf_str(&out)) && ok;
	(void)loop_del(g->door->loop, g->timer);
	if (!ok)
		guest_free(g);
}

void door_say_health(struct door *d, struct str json)
{
	if (json.n > sizeof(d->health))
		return;
	memcpy(d->health, json.p, json.n);
	d->n_health = json.n;
}

/* First the sandbox is cut off, then it is told what it did: nothing comes behind the report. */
static void on_end(struct guest *g)
{
	_cleanup_buf_ struct buf out = { 0 };

	g->proxy = proxy_free(g->proxy);
	buf_init(&out, EGRESS_MESSAGE_MAX);
	egress_report_put(&g->report, &out);
	(void)say(g, buf_str(&out));
	log_end(g, true);
	guest_free(g);
}

static void on_ask(struct guest *g)
{
	_cleanup_buf_ struct buf out = { 0 };

	buf_init(&out, EGRESS_MESSAGE_MAX);
	put_numbers(g->door, &out);
	(void)say(g, buf_str(&out));
	guest_free(g);
}

/* All that came, in a room that is larger than it needs to be for one: the kernel fills what there is. */
static size_t take_fds(struct msghdr *m, int fds[static 2])
{
	struct cmsghdr *c = CMSG_FIRSTHDR(m);
	size_t n;

	if (!c || c->cmsg_level != SOL_SOCKET || c->cmsg_type != SCM_RIGHTS)
		return 0;
	n = (c->cmsg_len - CMSG_LEN(0)) / sizeof(int);
	memcpy(fds, CMSG_DATA(c), (n < 2 ? n : 2) * sizeof(int));
	return n < 2 ? n : 2;
}

/* One message and at most one descriptor. -ECONNRESET: it has gone, or says something else. */
static ssize_t receive(int fd, char *out, size_t size, int *ret_fd)
{
	union {
		struct cmsghdr h;
		char room[CMSG_SPACE(2 * sizeof(int))];
	} c;
	struct iovec iov = { .iov_base = out, .iov_len = size };
	struct msghdr m = {
		.msg_iov = &iov, .msg_iovlen = 1, .msg_control = &c, .msg_controllen = sizeof(c.room)
	};
	ssize_t n = recvmsg(fd, &m, MSG_DONTWAIT | MSG_CMSG_CLOEXEC);
	int fds[2] = { FD_NONE, FD_NONE };
	size_t n_fds;

	*ret_fd = FD_NONE;
	if (n < 0)
		return -errno;
	n_fds = take_fds(&m, fds);
	if (n == 0 || n_fds > 1 || m.msg_flags & (MSG_TRUNC | MSG_CTRUNC)) {
		(void)fd_close(fds[0]);
		(void)fd_close(fds[1]);
		return -ECONNRESET;
	}
	*ret_fd = fds[0];
	return n;
}

static void on_guest(struct loop *l, void *ctx, uint32_t events)
{
	static char bytes[EGRESS_MESSAGE_MAX];
	struct guest *g = ctx;
	int passed;
	ssize_t n = receive(g->fd, bytes, sizeof(bytes), &passed);

	(void)l;
	(void)events;
	if (n == -EAGAIN || n == -EINTR)
		return;
	if (n > 0 && !g->proxy && passed >= 0) {
		on_hello(g, (struct str){ bytes, (size_t)n }, passed);
		return;
	}
	if (n > 0 && !g->proxy && passed < 0 && egress_is_ask((struct str){ bytes, (size_t)n })) {
		on_ask(g);
		return;
	}
	(void)fd_close(passed);
	if (n > 0 && !g->proxy && str_eq((struct str){ bytes, (size_t)n }, STR(EGRESS_ASK_HEALTH)))
		(void)say(g, (struct str){ g->door->health, g->door->n_health });
	if (n > 0 && g->proxy && egress_is_end((struct str){ bytes, (size_t)n })) {
		on_end(g);
		return;
	}
	if (g->proxy)
		log_end(g, false);
	guest_free(g);
}

static void on_late(struct loop *l, void *ctx)
{
	(void)l;
	guest_free(ctx);
}

/* Nobody else, not even root: in a user namespace of our own we cannot tell root from anybody. */
static bool may_come(const struct door *d, int fd)
{
	struct ucred cred = { .uid = (uid_t)-1 };
	socklen_t n = sizeof(cred);

	if (getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &cred, &n) == 0 && cred.uid == d->opts.uid)
		return true;
	LOG(LOG_WARN, "another user was refused", KV_U64("uid", cred.uid));
	return false;
}

static void take_in(struct door *d, int fd)
{
	struct guest *g = may_come(d, fd) ? calloc(1, sizeof(*g)) : NULL;

	if (!g) {
		(void)fd_close(fd);
		return;
	}
	g->door = d;
	g->fd = fd;
	arena_init(&g->arena, ARENA_MAX);
	g->next = d->guests;
	if (d->guests)
		d->guests->prev = g;
	d->guests = g;
	d->n++;
	if (loop_add_fd(d->loop, fd, EPOLLIN, on_guest, g, &g->source) < 0 ||
	    loop_add_timer(d->loop, clock_deadline(HELLO_MS), on_late, g, &g->timer) < 0)
		guest_free(g);
}

static void on_door(struct loop *l, void *ctx, uint32_t events)
{
	struct door *d = ctx;
	int fd;

	(void)l;
	(void)events;
	if (d->n == DOOR_GUESTS_MAX) { /* the next ones wait in the kernel's queue */
		pause_door(d);
		return;
	}
	fd = accept4(d->fd, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);
	if (fd >= 0)
		take_in(d, fd);
	else if (errno != EAGAIN && errno != EINTR && errno != ECONNABORTED)
		pause_door(d);
}

int door_listen(struct door *d, int fd, struct err *e)
{
	int type = 0, r;
	socklen_t n = sizeof(type);

	if (d->fd >= 0 || getsockopt(fd, SOL_SOCKET, SO_TYPE, &type, &n) < 0 || type != SOCK_SEQPACKET) {
		(void)fd_close(fd);
		return err_set(e, ERR_USAGE, "egress listens on one unix socket of type SOCK_SEQPACKET");
	}
	d->fd = fd;
	r = loop_add_fd(d->loop, fd, EPOLLIN, on_door, d, &d->source);
	return r < 0 ? err_sys(e, -r, "watch a listening socket") : 0;
}

void door_drain(struct door *d, loop_fn *done, void *ctx)
{
	d->draining = true;
	d->done = done;
	d->done_ctx = ctx;
	close_door(d);
	tell_when_empty(d);
}

struct door *door_free(struct door *d)
{
	if (!d)
		return NULL;
	d->done = NULL;
	while (d->guests)
		guest_free(d->guests);
	close_door(d);
	(void)loop_del(d->loop, d->done_timer);
	free(d);
	return NULL;
}
