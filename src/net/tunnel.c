/* SPDX-License-Identifier: Apache-2.0 */
#include "net/tunnel.h"

#include "base/buf.h"
#include "base/clock.h"
#include "base/fd.h"

#include <stdlib.h>
#include <sys/socket.h>

enum { READ_BYTES = 8192, WINDOW = 65536 };

struct tunnel {
	struct loop *loop;
	int fd;
	struct loop_id source, timer;
	uint32_t events;
	struct tunnel_opts opts;
	const struct tunnel_handler *handler;
	void *ctx;
	unsigned depth;
	bool dead, open, paused, wants_room;
	bool eof;          /* the server sends no more */
	bool finish, shut; /* nor do we; it was told */
	uint64_t since_ms;
	struct buf out;
	size_t at_out;
};

static void on_event(struct loop *l, void *ctx, uint32_t events);
static void on_timer(struct loop *l, void *ctx);

static void destroy(struct tunnel *t)
{
	(void)loop_del(t->loop, t->source);
	(void)loop_del(t->loop, t->timer);
	(void)fd_close(t->fd);
	buf_done(&t->out);
	free(t);
}

struct tunnel *tunnel_free(struct tunnel *t)
{
	if (!t)
		return NULL;
	t->dead = true;
	if (t->depth == 0)
		destroy(t);
	return NULL;
}

static size_t waiting(const struct tunnel *t)
{
	return t->out.n - t->at_out;
}

/* epoll tells of an error and a hang-up whatever it is asked: what is paused must not be in it, unless something is to be sent. */
static bool watch(struct tunnel *t)
{
	bool sends = !t->open || waiting(t) || (t->finish && !t->shut);
	uint32_t events = (sends ? EPOLLOUT : 0u) | (t->open && !t->paused && !t->eof ? EPOLLIN : 0u);
	int r = 0;

	if (events == t->events)
		return true;
	if (events == 0)
		(void)loop_del(t->loop, t->source);
	else if (t->events == 0)
		r = loop_add_fd(t->loop, t->fd, events, on_event, t, &t->source);
	else
		r = loop_mod_fd(t->loop, t->source, events);
	t->events = events;
	return r >= 0;
}

static uint64_t deadline_of(const struct tunnel *t)
{
	return t->since_ms + (!t->open ? t->opts.connect_ms : t->eof ? t->opts.half_ms : t->opts.idle_ms);
}

int tunnel_new(struct loop *loop, int fd, const struct tunnel_opts *opts, const struct tunnel_handler *h,
	       void *ctx, struct tunnel **ret, struct err *e)
{
	struct tunnel *t = calloc(1, sizeof(*t));

	if (!t) {
		(void)fd_close(fd);
		return err_sys(e, ENOMEM, "tunnel");
	}
	*t = (struct tunnel){ .loop = loop, .fd = fd, .opts = *opts, .handler = h, .ctx = ctx };
	buf_init(&t->out, WINDOW + TUNNEL_PIECE_MAX);
	t->since_ms = clock_mono_ms();
	if (!watch(t) || loop_add_timer(loop, deadline_of(t), on_timer, t, &t->timer) < 0) {
		destroy(t);
		return err_sys(e, ENOMEM, "watch a tunnel");
	}
	*ret = t;
	return 0;
}

static void end(struct tunnel *t, int errnum, enum err_kind kind, const char *what)
{
	struct err e = { 0 };

	if (t->dead)
		return;
	if (errnum)
		(void)err_sys(&e, errnum, "%s", what);
	else if (kind)
		(void)err_set(&e, kind, "%s", what);
	t->dead = true; /* it is freed when we have come out of it; who frees it again does no harm */
	t->handler->end(t->ctx, &e);
}

static void leave(struct tunnel *t)
{
	if (!t->dead && !watch(t))
		end(t, ENOMEM, ERR_NONE, "watch a tunnel");
	t->depth--;
	if (t->dead && t->depth == 0)
		destroy(t);
}

static void on_connected(struct tunnel *t)
{
	int errnum = 0;
	socklen_t n = sizeof(errnum);

	if (getsockopt(t->fd, SOL_SOCKET, SO_ERROR, &errnum, &n) < 0)
		errnum = errno;
	if (errnum) {
		end(t, errnum, ERR_NONE, "reach the server");
		return;
	}
	t->open = true;
	t->handler->open(t->ctx);
}

static void flush(struct tunnel *t)
{
	while (waiting(t)) {
		ssize_t n = send(t->fd, t->out.p + t->at_out, waiting(t), MSG_NOSIGNAL);

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0 && errno == EAGAIN)
			break;
		if (n < 0) {
			end(t, errno, ERR_NONE, "send to the server");
			return;
		}
		t->at_out += (size_t)n;
	}
	if (waiting(t) == 0)
		t->out.n = t->at_out = 0;
	if (waiting(t) == 0 && t->finish && !t->shut) {
		t->shut = true;
		if (shutdown(t->fd, SHUT_WR) < 0 || t->eof)
			end(t, 0, ERR_NONE, "");
		return;
	}
	if (t->wants_room && waiting(t) <= WINDOW / 2) {
		t->wants_room = false;
		t->handler->room(t->ctx);
	}
}

static void read_some(struct tunnel *t)
{
	char bytes[READ_BYTES];
	ssize_t n = recv(t->fd, bytes, sizeof(bytes), 0);

	if (n < 0 && (errno == EAGAIN || errno == EINTR))
		return;
	if (n < 0)
		end(t, errno, ERR_NONE, "read from the server");
	else if (n > 0)
		t->handler->data(t->ctx, (struct str){ bytes, (size_t)n });
	else if (t->shut)
		end(t, 0, ERR_NONE, "");
	else {
		t->eof = true;
		t->handler->half(t->ctx);
	}
}

static void on_event(struct loop *l, void *ctx, uint32_t events)
{
	struct tunnel *t = ctx;

	(void)l;
	t->depth++;
	t->since_ms = clock_mono_ms();
	if (!t->open)
		on_connected(t);
	else if (events & EPOLLOUT)
		flush(t);
	if (!t->dead && t->open && !t->paused && !t->eof && (events & (EPOLLIN | EPOLLHUP | EPOLLERR)))
		read_some(t);
	leave(t);
}

/* A timer that fires too early looks again: so most events need not touch it. */
static void on_timer(struct loop *l, void *ctx)
{
	struct tunnel *t = ctx;

	t->depth++;
	t->timer = (struct loop_id){ 0 };
	if (clock_mono_ms() >= deadline_of(t))
		end(t, 0, ERR_LIMIT,
		    t->open ? "nothing was said in time" : "the server did not answer in time");
	else if (loop_add_timer(l, deadline_of(t), on_timer, t, &t->timer) < 0)
		end(t, ENOMEM, ERR_NONE, "watch a tunnel");
	leave(t);
}

int tunnel_write(struct tunnel *t, struct str piece)
{
	if (t->dead)
		return 0;
	t->since_ms = clock_mono_ms();
	if (t->at_out) {
		memmove(t->out.p, t->out.p + t->at_out, waiting(t));
		t->out.n -= t->at_out;
		t->at_out = 0;
	}
	buf_put(&t->out, piece);
	if (t->out.failed || (t->depth == 0 && !watch(t)))
		return -ENOSPC;
	t->wants_room = t->wants_room || waiting(t) >= WINDOW;
	return t->wants_room;
}

static void watch_anew(struct tunnel *t)
{
	t->since_ms = clock_mono_ms();
	if (t->depth == 0)
		(void)watch(t); /* what cannot be watched ends at its deadline */
}

void tunnel_finish(struct tunnel *t)
{
	if (t->dead)
		return;
	t->finish = true;
	watch_anew(t);
}

void tunnel_pause(struct tunnel *t, bool paused)
{
	if (t->dead)
		return;
	t->paused = paused;
	watch_anew(t);
}
