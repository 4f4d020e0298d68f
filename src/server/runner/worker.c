/* SPDX-License-Identifier: Apache-2.0 */
/* One connection at a time: accepted here, so that its peer is looked at first, and answered outside of the loop's handlers, so that a call may take its time. */
#include "server/runner/runner.h"

#include "base/clock.h"
#include "base/log.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <unistd.h>

enum { SOURCES_MAX = 32, OUTPUT_BYTES = 256 << 10, TICK_MS = 1000, KEEPER_SHARE = 1024 };

void worker_state(struct worker *w, enum slot_state state)
{
	const uint32_t before = w->slot->state;
	const uint64_t one = 1;

	if (before == SLOT_GOING || before == (uint32_t)state)
		return;
	w->slot->since_ms = clock_mono_ms();
	__atomic_store_n(&w->slot->state, (uint32_t)state, __ATOMIC_RELEASE);
	/* The parent counts who waits, and is not woken for each call; when its counter is full it has news enough. */
	if (before <= SLOT_IDLE || state <= SLOT_IDLE || state == SLOT_GOING)
		(void)!write(w->runner->news, &one, sizeof(one));
}

/*
 * The list is a new one: what was known by a place in the old one is not known any more, unless nothing has changed in it but when somebody was here last,
 * which is noted every minute.
 */
void worker_take_tokens(struct worker *w)
{
	const struct config *c = callers_config(w->callers);
	const char *people = callers_people(w->callers);

	if (strcmp(people, w->people) != 0 || !people[0]) {
		cache_clear(w->cache);
		spares_changed(w);
		(void)snprintf(w->people, sizeof(w->people), "%s", people);
	}
	engine_set_tokens(w->runner->engine, c->tokens, c->n_tokens);
}

/* Only with nobody here: a visit knows its caller by his place in the list. */
static void note_uses(struct worker *w, uint64_t now_ms)
{
	if (!w->visit && w->callers && callers_note(w->callers, now_ms) > 0)
		worker_take_tokens(w);
}

/* ---- accepting ---- */

static void stop_accepting(struct worker *w)
{
	if (!w->listens)
		return;
	for (size_t i = 0; i < w->runner->n_sockets[w->door]; i++)
		(void)loop_del(w->loop, w->accepting[i]);
	w->listens = false;
}

/* On a unix socket the kernel says who it is: our user, or root. */
static bool peer_ok(int fd)
{
	struct http_peer p;

	http_peer_of(fd, &p);
	if (!p.is_unix || p.uid == geteuid() || p.uid == 0)
		return true;
	LOG(LOG_WARN, "a process of another user was turned away", KV_U64("uid", p.uid),
	    KV_I64("pid", p.pid));
	return false;
}

/* EPOLLHUP always counts: whoever has gone. Over TCP a client that only sends no more looks the same, and nobody can ask it while a call runs. */
static bool watch_hangup(struct worker *w, int fd)
{
	struct epoll_event ev = { .events = w->door == DOOR_TCP ? EPOLLRDHUP : 0 };

	w->hangup = epoll_create1(EPOLL_CLOEXEC);
	return w->hangup >= 0 && epoll_ctl(w->hangup, EPOLL_CTL_ADD, fd, &ev) == 0;
}

static void on_accept(struct loop *l, void *ctx, uint32_t events)
{
	struct worker *w = ctx;

	(void)l;
	(void)events;
	for (size_t i = 0; i < w->runner->n_sockets[w->door] && w->conn < 0; i++) {
		int fd = w->door == DOOR_TCP ? porter_take(w->runner)
					     : accept4(w->runner->sockets[w->door][i], NULL, NULL,
						       SOCK_CLOEXEC | SOCK_NONBLOCK);

		if (fd < 0)
			continue; /* another was faster, or it has gone again */
		if (!peer_ok(fd) || !watch_hangup(w, fd)) {
			(void)fd_close(fd);
			fd_closep(&w->hangup);
			continue;
		}
		if (http_server_adopt(w->server, fd) < 0) {
			fd_closep(&w->hangup);
			continue;
		}
		w->conn = fd;
		stop_accepting(w);
		worker_state(w, SLOT_TAKEN);
	}
}

/* All that wait are woken, and one of them is first. With EPOLLEXCLUSIVE one that takes a connection and leaves could take the news of a second along. */
static int start_accepting(struct worker *w)
{
	int r = 0;

	if (w->listens || w->stopping)
		return 0;
	w->listens = true;
	for (size_t i = 0; i < w->runner->n_sockets[w->door] && r >= 0; i++)
		r = loop_add_fd(w->loop, w->runner->sockets[w->door][i], EPOLLIN, on_accept, w,
				&w->accepting[i]);
	return r;
}

/* ---- the end ---- */

static void on_drained(struct loop *l, void *ctx)
{
	(void)l;
	(void)ctx;
}

static void on_stop(struct loop *l, void *ctx)
{
	struct worker *w = ctx;

	(void)l;
	if (w->stopping)
		return;
	w->stopping = true;
	spares_drop(w); /* none of them is in use, whatever call may run just now */
	worker_state(w, SLOT_GOING);
	stop_accepting(w);
	http_server_drain(w->server, w->runner->drain_ms, on_drained, w);
}

/* ---- life ---- */

static int open_all(struct worker *w, struct err *e)
{
	const struct runner *r = w->runner;
	const struct http_server_opts so = {
		.limits = { .body_bytes = WIRE_BODY_MAX },
		.max_connections = 1,
		.output_bytes = OUTPUT_BYTES,
		.head_ms = w->door == DOOR_TCP ? 5000 : 10000,
		/* The guard keeps its connections; whoever came over a port has few workers to share. */
		.idle_ms = w->door == DOOR_TCP ? 5000 : 300000
	};
	struct loop_id ignored;
	int n = loop_new(SOURCES_MAX, &w->loop);

	if (n >= 0)
		n = loop_add_signal(w->loop, SIGTERM, on_stop, w, &ignored);
	if (n < 0)
		return err_sys(e, -n, "event loop");
	if (http_server_new(w->loop, &so, &visit_handler, w, &w->server, e) < 0 ||
	    engine_forked(r->engine, e) < 0 || engine_open(r->engine, e) < 0)
		return -1;
	n = callers_open(&(struct callers_opts){ .dir = r->tokens_dir,
						 .config = engine_config(r->engine),
						 .environ = r->environ,
						 .told = true },
			 &w->callers, e);
	if (n >= 0 && cache_new(KEEPER_SHARE / r->max_workers[w->door], &w->cache) < 0)
		n = err_sys(e, ENOMEM, "sessions");
	if (n >= 0)
		worker_take_tokens(w);
	return n;
}

static void after_connection(struct worker *w)
{
	if (w->conn < 0 || http_server_connections(w->server) > 0)
		return;
	w->conn = FD_NONE;
	fd_closep(&w->hangup);
	w->visit = visit_free(w->visit);
	worker_state(w, SLOT_IDLE);
}

static bool has_whole_visit(const struct worker *w)
{
	return w->visit && w->visit->whole && !w->visit->gone;
}

/* What is left to do for a connection that was answered is done at once, and brings the next request if that is here already. */
static void serve_visit(struct worker *w)
{
	if (!has_whole_visit(w))
		return;
	worker_state(w, SLOT_BUSY);
	visit_serve(w->visit);
	w->visit = visit_free(w->visit);
	worker_state(w, SLOT_TAKEN);
	spares_rest(w);
	loop_run_due(w->loop);
}

static int serve(struct worker *w, struct err *e)
{
	for (;;) {
		int r = start_accepting(w);

		uint64_t due = spares_due(w), tick = clock_deadline(TICK_MS);

		/* Between two requests that came together, too, we are told to stop. */
		if (r >= 0)
			r = loop_step(w->loop, has_whole_visit(w) ? 0 : due < tick ? due : tick);
		if (r < 0)
			return err_sys(e, -r, "event loop");
		serve_visit(w);
		after_connection(w);
		if (w->stopping && w->conn < 0)
			return 0;
		note_uses(w, clock_unix_ms());
		engine_tick(w->runner->engine);
		spares_look(w);
		/* Whoever has lost its parent takes nothing more. */
		if (getppid() != w->runner->parent)
			on_stop(w->loop, w);
	}
}

_Noreturn void worker_run(struct runner *r, struct slot *slot)
{
	struct worker w = { .runner = r, .slot = slot, .door = (enum door)slot->door };
	struct err e = { 0 };
	int n;

	w.conn = w.hangup = FD_NONE;
	(void)prctl(PR_SET_PDEATHSIG, SIGTERM);
	n = open_all(&w, &e);
	worker_state(&w, n < 0 ? SLOT_GOING : SLOT_IDLE);
	if (n >= 0)
		n = serve(&w, &e);
	if (n < 0)
		LOG(LOG_ERROR, "a worker ends", KV_Z("why", e.msg));
	w.visit = visit_free(w.visit);
	note_uses(&w, UINT64_MAX / 2);
	(void)cache_free(w.cache);
	(void)http_server_free(w.server);
	(void)callers_free(w.callers);
	(void)engine_free(r->engine);
	_exit(n < 0 ? 1 : 0);
}
