/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Who may go first. Each caller (by the id of its token) has a rate, a number of calls at once and a queue; where all places are in use, those who wait are
 * served in turns, one of each caller after the other, so that nobody's thousand calls are in front of somebody's one. Everything is bounded. Pure:
 * knows neither sockets nor clocks.
 */
#pragma once

#include "base/cleanup.h"
#include "base/err.h"
#include "base/str.h"

#include <stdint.h>

struct fair_opts {
	unsigned running;            /* calls at once */
	unsigned running_per_caller; /* of these */
	unsigned waiting;            /* calls that wait */
	unsigned waiting_per_caller; /* of these */
	uint64_t per_minute,
		burst; /* requests in a minute, and at once, of each caller; 0: as many as they like */
};

struct fair;
int fair_new(const struct fair_opts *o, struct fair **ret, struct err *e);
struct fair *fair_free(struct fair *f);
DEFINE_CLEANUP(fair, fair_free)

/* One more request of this caller: 0; or in how many milliseconds it may try again. */
uint64_t fair_rate(struct fair *f, struct str id, uint64_t now_ms);

/* A call, kept by whoever makes it. Zero is nowhere. */
struct fair_caller;
struct fair_call {
	struct fair_call *next, *prev;
	struct fair_caller *of;
	bool runs;
};

enum fair_entry {
	FAIR_FULL = 0, /* nobody else can wait */
	FAIR_ENOUGH,   /* this caller has enough that wait */
	FAIR_WAITS,
	FAIR_RUNS,
};
enum fair_entry fair_enter(struct fair *f, struct str id, struct fair_call *call);
/* From running or waiting, whatever it did. */
void fair_leave(struct fair *f, struct fair_call *call);
/* The next one that may run now, or NULL: call it until there is none. */
struct fair_call *fair_next(struct fair *f);

unsigned fair_running(const struct fair *f);
unsigned fair_waiting(const struct fair *f);
