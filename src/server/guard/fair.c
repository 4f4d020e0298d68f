/* SPDX-License-Identifier: Apache-2.0 */
#include "server/guard/fair.h"

#include "base/hash.h"

#include <errno.h>
#include <stdlib.h>

enum { ID_MAX = 16, CALLERS_MAX = 2048, SLOTS = 4096 };

/* A request in parts: a millisecond earns as many of them as there may be requests in a minute. */
#define ONE ((uint64_t)60000)

struct fair_caller {
	char id[ID_MAX];
	uint8_t n_id;
	uint64_t credit, at_ms; /* how many requests it has in hand, and since when */
	unsigned running, waiting;
	struct fair_call *first, *last;  /* that wait */
	struct fair_caller *next, *prev; /* in the ring of those who have some that wait */
	bool in_ring;
};

struct fair {
	struct fair_opts o;
	struct fair_caller *callers; /* CALLERS_MAX of them */
	size_t n_callers;
	uint16_t slot[SLOTS]; /* index + 1 */
	unsigned running, waiting;
	struct fair_caller *ring; /* whose turn it is */
};

struct fair *fair_free(struct fair *f)
{
	if (f)
		free(f->callers);
	free(f);
	return NULL;
}

int fair_new(const struct fair_opts *o, struct fair **ret, struct err *e)
{
	_cleanup_(fair_freep) struct fair *f = calloc(1, sizeof(*f));

	if (f)
		f->callers = calloc(CALLERS_MAX, sizeof(*f->callers));
	if (!f || !f->callers)
		return err_sys(e, ENOMEM, "queue of calls");
	f->o = *o;
	*ret = TAKE_PTR(f);
	return 0;
}

static uint64_t earned(const struct fair *f, const struct fair_caller *c, uint64_t now_ms)
{
	uint64_t most = f->o.burst * ONE, ms = now_ms > c->at_ms ? now_ms - c->at_ms : 0;

	if (f->o.per_minute == 0 || ms > most / f->o.per_minute)
		return most;
	return c->credit + ms * f->o.per_minute < most ? c->credit + ms * f->o.per_minute : most;
}

/* Those that nobody asks for any more make room. */
static void forget_idle(struct fair *f, uint64_t now_ms)
{
	struct fair_caller *kept = calloc(CALLERS_MAX, sizeof(*kept));
	size_t n = 0;

	/* Whoever runs or waits is pointed to, and must stay where it is: nothing moves while somebody does. */
	if (!kept || f->running || f->waiting) {
		free(kept);
		return;
	}
	for (size_t i = 0; i < f->n_callers; i++)
		if (earned(f, &f->callers[i], now_ms) < f->o.burst * ONE)
			kept[n++] = f->callers[i];
	free(f->callers);
	f->callers = kept;
	f->n_callers = n;
	memset(f->slot, 0, sizeof(f->slot));
	for (size_t i = 0; i < n; i++) {
		size_t at = hash_fast((struct str){ kept[i].id, kept[i].n_id }, 0) % SLOTS;

		while (f->slot[at])
			at = (at + 1) % SLOTS;
		f->slot[at] = (uint16_t)(i + 1);
	}
}

static struct fair_caller *find(struct fair *f, struct str id, uint64_t now_ms)
{
	struct fair_caller *c;
	size_t at;

	if (id.n > ID_MAX)
		id.n = ID_MAX;
	at = hash_fast(id, 0) % SLOTS;
	for (; f->slot[at]; at = (at + 1) % SLOTS) {
		c = &f->callers[f->slot[at] - 1];
		if (str_eq(id, (struct str){ c->id, c->n_id }))
			return c;
	}
	if (f->n_callers == CALLERS_MAX) {
		forget_idle(f, now_ms);
		if (f->n_callers == CALLERS_MAX)
			return NULL;
		return find(f, id, now_ms);
	}
	c = &f->callers[f->n_callers++];
	f->slot[at] = (uint16_t)f->n_callers;
	*c = (struct fair_caller){ .n_id = (uint8_t)id.n, .credit = f->o.burst * ONE, .at_ms = now_ms };
	memcpy(c->id, id.p, id.n);
	return c;
}

uint64_t fair_rate(struct fair *f, struct str id, uint64_t now_ms)
{
	struct fair_caller *c = find(f, id, now_ms);

	if (!c)
		return 1000;
	if (f->o.per_minute == 0)
		return 0;
	c->credit = earned(f, c, now_ms);
	c->at_ms = now_ms;
	if (c->credit >= ONE) {
		c->credit -= ONE;
		return 0;
	}
	return (ONE - c->credit + f->o.per_minute - 1) / f->o.per_minute;
}

static void ring_add(struct fair *f, struct fair_caller *c)
{
	if (c->in_ring)
		return;
	c->in_ring = true;
	if (!f->ring) {
		f->ring = c->next = c->prev = c;
		return;
	}
	/* Behind everybody whose turn comes before. */
	c->next = f->ring;
	c->prev = f->ring->prev;
	c->prev->next = c;
	f->ring->prev = c;
}

static void ring_remove(struct fair *f, struct fair_caller *c)
{
	if (!c->in_ring)
		return;
	c->in_ring = false;
	if (c->next == c) {
		f->ring = NULL;
	} else {
		c->prev->next = c->next;
		c->next->prev = c->prev;
		if (f->ring == c)
			f->ring = c->next;
	}
	c->next = c->prev = NULL;
}

static void run(struct fair *f, struct fair_call *call)
{
	call->runs = true;
	call->of->running++;
	f->running++;
}

static void unlink_waiting(struct fair *f, struct fair_call *call)
{
	struct fair_caller *c = call->of;

	if (call->prev)
		call->prev->next = call->next;
	else
		c->first = call->next;
	if (call->next)
		call->next->prev = call->prev;
	else
		c->last = call->prev;
	call->next = call->prev = NULL;
	c->waiting--;
	f->waiting--;
	if (c->waiting == 0)
		ring_remove(f, c);
}

enum fair_entry fair_enter(struct fair *f, struct str id, struct fair_call *call)
{
	struct fair_caller *c = find(f, id, 0);

	*call = (struct fair_call){ 0 };
	if (!c)
		return FAIR_FULL;
	if (f->running < f->o.running && c->running < f->o.running_per_caller && c->waiting == 0) {
		call->of = c;
		run(f, call);
		return FAIR_RUNS;
	}
	if (c->waiting >= f->o.waiting_per_caller)
		return FAIR_ENOUGH;
	if (f->waiting >= f->o.waiting)
		return FAIR_FULL;
	*call = (struct fair_call){ .of = c, .prev = c->last };
	if (c->last)
		c->last->next = call;
	else
		c->first = call;
	c->last = call;
	c->waiting++;
	f->waiting++;
	ring_add(f, c);
	return FAIR_WAITS;
}

void fair_leave(struct fair *f, struct fair_call *call)
{
	if (!call->of)
		return;
	if (call->runs) {
		call->of->running--;
		f->running--;
	} else {
		unlink_waiting(f, call);
	}
	*call = (struct fair_call){ 0 };
}

struct fair_call *fair_next(struct fair *f)
{
	struct fair_caller *c = f->ring, *stop = f->ring;

	if (!c || f->running >= f->o.running)
		return NULL;
	do {
		struct fair_call *call = c->first;

		if (c->running < f->o.running_per_caller) {
			/* The next turn is the next one's, whether this one has more or not. */
			f->ring = c->next;
			unlink_waiting(f, call);
			run(f, call);
			return call;
		}
		c = c->next;
	} while (c != stop);
	return NULL;
}

unsigned fair_running(const struct fair *f)
{
	return f->running;
}

unsigned fair_waiting(const struct fair *f)
{
	return f->waiting;
}
