/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Keeps a few workers waiting at each door: more when all have a connection, fewer after a while in which they had none, others for those that died. Sees
 * no byte of any caller, and has opened nothing of the engine.
 */
#include "server/runner/runner.h"

#include "base/clock.h"
#include "base/log.h"

#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

enum { LOOK_MS = 5000, IDLE_MS = 30000, FAST_DEATHS = 5, FAST_MS = 2000, REST_MS = 1000 };

struct parent {
	struct runner *r;
	struct loop *loop;
	struct loop_id timer;
	bool ready, stopping;
	bool died; /* somebody has, whose call nobody has finished in the log yet: whoever starts next does */
	pid_t porter;  /* 0: none */
	unsigned fast; /* deaths soon after the start, one after the other */
	uint64_t rest_until_ms;
	void (*serving)(void *ctx), (*told)(void *ctx);
	void *ctx;
};

static uint32_t state_of(const struct slot *s)
{
	return __atomic_load_n(&s->state, __ATOMIC_ACQUIRE);
}

static unsigned count(const struct parent *p, enum door door, bool waiting)
{
	unsigned n = 0;

	for (unsigned i = 0; i < SLOTS_MAX; i++) {
		const struct slot *s = &p->r->slots[i];

		if (s->pid && s->door == (uint32_t)door && state_of(s) != SLOT_GOING)
			n += !waiting || state_of(s) <= SLOT_IDLE;
	}
	return n;
}

/* ---- starting ---- */

static struct slot *free_slot(struct parent *p)
{
	for (unsigned i = 0; i < SLOTS_MAX; i++)
		if (!p->r->slots[i].pid)
			return &p->r->slots[i];
	return NULL;
}

/* In the child: nothing of the parent's loop may be left, and signals are as at the start. */
_Noreturn static void become_worker(struct parent *p, struct slot *s)
{
	(void)loop_free(p->loop);
	s->pid = (int32_t)getpid();
	worker_run(p->r, s);
}

static bool start_one(struct parent *p, enum door door)
{
	struct slot *s = free_slot(p);
	pid_t pid;

	if (!s)
		return false;
	*s = (struct slot){ .door = (uint32_t)door, .state = SLOT_STARTING, .since_ms = clock_mono_ms() };
	pid = fork();
	if (pid == 0)
		become_worker(p, s);
	if (pid < 0) {
		LOG(LOG_ERROR, "no more workers can be started", KV_I64("errno", errno));
		*s = (struct slot){ 0 };
		return false;
	}
	s->pid = (int32_t)pid;
	return true;
}

/* Whatever happens to it, the sockets are the parent's, and those that wait for a worker are in handed[]. */
static void start_porter(struct parent *p)
{
	pid_t pid = fork();

	if (pid == 0) {
		(void)loop_free(p->loop);
		porter_run(p->r);
	}
	if (pid < 0)
		LOG(LOG_ERROR, "no porter can be started", KV_I64("errno", errno));
	p->porter = pid > 0 ? pid : 0;
}

static void signal_slot(const struct slot *s, int signo)
{
	if (s->pid > 0)
		(void)kill(s->pid, signo);
}

/* One that has waited for long is told to go; a connection that it takes just now is still answered. */
static void let_one_go(struct parent *p, enum door door)
{
	uint64_t now = clock_mono_ms();

	for (unsigned i = 0; i < SLOTS_MAX; i++) {
		struct slot *s = &p->r->slots[i];

		if (!s->pid || s->door != (uint32_t)door || state_of(s) != SLOT_IDLE ||
		    now < s->since_ms + IDLE_MS)
			continue;
		__atomic_store_n(&s->state, SLOT_GOING, __ATOMIC_RELEASE);
		signal_slot(s, SIGTERM);
		return;
	}
}

static void look(struct parent *p)
{
	unsigned all = 0;

	if (p->r->n_ports && !p->porter && !p->stopping && clock_mono_ms() >= p->rest_until_ms)
		start_porter(p);
	for (int d = 0; d < DOOR_COUNT_; d++) {
		enum door door = (enum door)d;

		if (p->r->n_sockets[d] == 0)
			continue;
		if (p->died && !p->stopping && clock_mono_ms() >= p->rest_until_ms)
			p->died = !start_one(p, door);
		while (!p->stopping && clock_mono_ms() >= p->rest_until_ms &&
		       count(p, door, true) < SPARE_MIN && count(p, door, false) < p->r->max_workers[d] &&
		       start_one(p, door))
			;
		if (count(p, door, true) > SPARE_MIN)
			let_one_go(p, door);
		all += count(p, door, false);
	}
	metrics_set(p->r->metrics, (struct metric_at){ .metric = METRIC_RUNNER_WORKERS }, all);
	for (unsigned i = 0; i < SLOTS_MAX && !p->ready; i++)
		if (p->r->slots[i].pid && state_of(&p->r->slots[i]) > SLOT_STARTING &&
		    state_of(&p->r->slots[i]) != SLOT_GOING) {
			p->ready = true;
			p->serving(p->ctx);
		}
}

/* ---- ends ---- */

static struct slot *slot_of(struct parent *p, pid_t pid)
{
	for (unsigned i = 0; i < SLOTS_MAX; i++)
		if (p->r->slots[i].pid == (int32_t)pid)
			return &p->r->slots[i];
	return NULL;
}

static int64_t how(int status)
{
	return WIFSIGNALED(status) ? -WTERMSIG(status) : WEXITSTATUS(status);
}

static void signal_door(const struct parent *p, enum door door, int signo)
{
	for (unsigned i = 0; i < SLOTS_MAX; i++)
		if (p->r->slots[i].door == (uint32_t)door)
			signal_slot(&p->r->slots[i], signo);
}

static void porter_ended(struct parent *p, int status)
{
	p->porter = 0;
	if (p->stopping) {
		signal_door(p, DOOR_TCP, SIGTERM);
		return;
	}
	LOG(LOG_ERROR, "the porter died", KV_I64("status", how(status)));
	p->rest_until_ms = clock_deadline(REST_MS / 10);
	(void)loop_mod_timer(p->loop, p->timer, p->rest_until_ms);
}

static void note_death(struct parent *p, const struct slot *s, int status)
{
	LOG(LOG_ERROR, "a worker died", KV_I64("pid", s->pid), KV_I64("status", how(status)));
	metrics_add(p->r->metrics, (struct metric_at){ .metric = METRIC_RUNNER_LOST }, 1);
	p->died = true;
	/* What cannot even start is not started as fast as it can die. */
	p->fast = clock_mono_ms() < s->since_ms + FAST_MS ? p->fast + 1 : 0;
	if (p->fast >= FAST_DEATHS)
		p->rest_until_ms = clock_deadline(REST_MS);
}

/* One that was told to end before it could hear that has ended as it should. */
static bool ended_well(const struct parent *p, int status)
{
	return (WIFEXITED(status) && WEXITSTATUS(status) == 0) ||
	       (p->stopping && WIFSIGNALED(status) && WTERMSIG(status) == SIGTERM);
}

static void reap(struct parent *p)
{
	int status;
	pid_t pid;

	while ((pid = waitpid(-1, &status, WNOHANG)) > 0) {
		struct slot *s = slot_of(p, pid);

		if (pid == p->porter)
			porter_ended(p, status);
		if (!s)
			continue;
		if (!ended_well(p, status))
			note_death(p, s, status);
		*s = (struct slot){ 0 };
		/* The first ones cannot do it, so nobody can: whoever started us hears that. */
		if (!p->ready && !p->stopping)
			loop_stop(p->loop, 1);
	}
}

static bool any_left(const struct parent *p)
{
	for (unsigned i = 0; i < SLOTS_MAX; i++)
		if (p->r->slots[i].pid)
			return true;
	return p->porter > 0;
}

static void on_child(struct loop *l, void *ctx)
{
	struct parent *p = ctx;

	reap(p);
	look(p);
	if (p->stopping && !any_left(p))
		loop_stop(l, 0);
}

static void on_news(struct loop *l, void *ctx, uint32_t events)
{
	struct parent *p = ctx;
	uint64_t n;

	(void)l;
	(void)events;
	(void)!read(p->r->news, &n, sizeof(n));
	look(p);
}

static void on_look(struct loop *l, void *ctx)
{
	struct parent *p = ctx;

	look(p);
	(void)loop_add_timer(l, clock_deadline(p->rest_until_ms > clock_mono_ms() ? REST_MS : LOOK_MS),
			     on_look, p, &p->timer);
}

static void signal_all(struct parent *p, int signo)
{
	for (unsigned i = 0; i < SLOTS_MAX; i++)
		signal_slot(&p->r->slots[i], signo);
	if (p->porter > 0)
		(void)kill(p->porter, signo);
}

static void on_deadline(struct loop *l, void *ctx)
{
	(void)l;
	signal_all(ctx, SIGKILL);
}

static void on_stop(struct loop *l, void *ctx)
{
	struct parent *p = ctx;

	if (p->stopping) {
		signal_all(p, SIGKILL);
		return;
	}
	p->stopping = true;
	if (p->told)
		p->told(p->ctx);
	/* Those who take connections from the porter go when he has handed over the last. */
	if (p->porter > 0) {
		signal_door(p, DOOR_UNIX, SIGTERM);
		(void)kill(p->porter, SIGTERM);
	} else {
		signal_all(p, SIGTERM);
	}
	(void)loop_add_timer(l, clock_deadline(p->r->drain_ms), on_deadline, p, &p->timer);
	if (!any_left(p))
		loop_stop(l, 0);
}

/* ---- life ---- */

static int watch(struct parent *p, struct err *e)
{
	struct loop_id id;
	int r = loop_new(64, &p->loop);

	if (r >= 0)
		r = loop_add_signal(p->loop, SIGTERM, on_stop, p, &id);
	if (r >= 0)
		r = loop_add_signal(p->loop, SIGINT, on_stop, p, &id);
	if (r >= 0)
		r = loop_add_signal(p->loop, SIGCHLD, on_child, p, &id);
	if (r >= 0)
		r = loop_add_fd(p->loop, p->r->news, EPOLLIN, on_news, p, &id);
	if (r >= 0)
		r = loop_add_timer(p->loop, clock_deadline(LOOK_MS), on_look, p, &p->timer);
	return r < 0 ? err_sys(e, -r, "event loop") : 0;
}

int parent_run(struct runner *r, void (*ready)(void *ctx), void (*stopping)(void *ctx), void *ctx,
	       struct err *e)
{
	struct parent p = { .r = r, .serving = ready, .told = stopping, .ctx = ctx };
	int n = watch(&p, e);

	if (n < 0)
		return n;
	r->parent = getpid();
	look(&p);
	n = loop_run(p.loop);
	signal_all(&p, SIGKILL);
	p.loop = loop_free(p.loop);
	if (n > 0)
		return err_set(e, ERR_UNAVAIL, "no worker could be started; the log above has the reason");
	return n < 0 ? err_sys(e, -n, "event loop") : 0;
}
