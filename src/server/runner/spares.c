/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The pool (serve.pool): each worker makes spares for the sessions that it has open, when nobody asks it for anything, and drops them when they have waited
 * for too long, when the tokens change, and when it is told to end. How many there are together is counted in the slots, which all workers see; whoever
 * is killed takes his along.
 */
#include "server/runner/runner.h"

#include "base/clock.h"
#include "base/log.h"

#include <unistd.h>

/* The next request is often close behind the answer, and should find nobody at work. */
enum { QUIET_MS = 3, MAKING_MS = 2, BUSY_MS = 20, LOOK_MS = 1000 };

static const struct settings *settings(const struct worker *w)
{
	return &engine_config(w->runner->engine)->base;
}

/* ---- how many ---- */

/* All that there are, with those that are being made. */
static unsigned held(const struct runner *r)
{
	unsigned n = 0;

	for (unsigned i = 0; i < SLOTS_MAX; i++)
		n += r->slots[i].pid ? __atomic_load_n(&r->slots[i].spares, __ATOMIC_SEQ_CST) : 0;
	return n;
}

unsigned spares_ready(const struct runner *r)
{
	unsigned n = 0;

	for (unsigned i = 0; i < SLOTS_MAX; i++)
		n += r->slots[i].pid ? __atomic_load_n(&r->slots[i].ready, __ATOMIC_RELAXED) : 0;
	return n;
}

/* Said first, and counted then: of two who do that at once rather none gets the last place than both. */
static bool reserve(struct worker *w)
{
	unsigned ready, n = cache_spares(w->cache, &ready);

	__atomic_store_n(&w->slot->spares, n + 1, __ATOMIC_SEQ_CST);
	if (held(w->runner) <= settings(w)->serve_pool)
		return true;
	__atomic_store_n(&w->slot->spares, n, __ATOMIC_SEQ_CST);
	return false;
}

static bool is_busy(const struct runner *r)
{
	long cpus = sysconf(_SC_NPROCESSORS_ONLN);
	long n = 0;

	for (unsigned i = 0; i < SLOTS_MAX; i++)
		n += r->slots[i].pid && __atomic_load_n(&r->slots[i].in_call, __ATOMIC_RELAXED);
	return n >= (cpus > 0 ? cpus : 1);
}

/* ---- dropping ---- */

void spares_changed(struct worker *w)
{
	unsigned ready, n = cache_spares(w->cache, &ready);

	__atomic_store_n(&w->slot->spares, n, __ATOMIC_SEQ_CST);
	__atomic_store_n(&w->slot->ready, ready, __ATOMIC_RELAXED);
	w->spares_making = n > ready;
	worker_count(w);
}

static void drop(struct worker *w, uint64_t before_ms)
{
	(void)cache_drop_spares(w->cache, before_ms);
	spares_changed(w);
}

void spares_drop(struct worker *w)
{
	if (w->cache)
		drop(w, CLOCK_NEVER);
}

/* Once a second, with nobody here: who died, who has waited for too long, whose token is none any more, who is in the way of a session. */
static void look_after(struct worker *w)
{
	uint64_t idle_ms = settings(w)->serve_pool_idle_s * 1000, now = clock_mono_ms();
	struct err ignored = { 0 };

	w->spares_looked_ms = now;
	if (w->slot->spares && callers_refresh(w->callers) > 0)
		worker_take_tokens(w);
	drop(w, now > idle_ms ? now - idle_ms : 1); /* 0: of no use to anybody */
	if (w->slot->spares && engine_has_room(w->runner->engine, 0, &ignored) == 0)
		drop(w, CLOCK_NEVER);
}

/* ---- making ---- */

/* The oldest of our own makes room; others' are theirs. */
static bool find_room(struct worker *w)
{
	uint64_t oldest;

	if (reserve(w))
		return true;
	oldest = cache_oldest_spare(w->cache);
	if (oldest == CLOCK_NEVER)
		return false;
	drop(w, oldest + 1);
	return reserve(w);
}

static void make_one(struct worker *w)
{
	struct err e = { 0 };
	int r = engine_has_room(w->runner->engine, 1, &e);

	if (r > 0 && find_room(w))
		r = cache_make_spare(w->cache, &e);
	else
		cache_want_none(w->cache);
	if (r < 0)
		LOG(LOG_INFO, "no sandbox could be made ready", KV_Z("why", e.msg));
	spares_changed(w);
}

uint64_t spares_due(const struct worker *w)
{
	if (w->visit || w->stopping)
		return CLOCK_NEVER;
	if (w->spares_making)
		return clock_deadline(MAKING_MS);
	return cache_wants_spare(w->cache) ? w->spares_due_ms : CLOCK_NEVER;
}

void spares_rest(struct worker *w)
{
	w->spares_due_ms = clock_deadline(QUIET_MS);
}

void spares_look(struct worker *w)
{
	uint64_t now = clock_mono_ms();

	if (w->visit || w->stopping)
		return;
	if (now >= w->spares_looked_ms + LOOK_MS)
		look_after(w);
	if (w->spares_making) /* one after the other */
		spares_changed(w);
	if (w->spares_making || !cache_wants_spare(w->cache) || now < w->spares_due_ms)
		return;
	if (is_busy(w->runner))
		w->spares_due_ms = now + BUSY_MS;
	else
		make_one(w);
}
