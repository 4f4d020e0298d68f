/* SPDX-License-Identifier: Apache-2.0 */
/* What the parts of the server share: serve.c takes requests, calls.c keeps the table of calls. */
#pragma once

#include "sandbox/warden/request.h"
#include "sandbox/warden/warden.h"

#include <linux/time_types.h>

struct call {
	uint64_t id; /* 0 = the slot is free */
	long pid;    /* of its main process; 0 when that has been reaped, or there never was one */
	uint32_t flags;
	bool cleanup; /* only what an earlier call left behind: its end is answered, not told */
	bool killing; /* until nothing of it is left */
	bool ended;   /* all is over; creel has not heard it yet */
	bool asked;   /* TERM was sent */
	uint32_t found, n_killed;
	uint64_t deadline, grace_ms, give_up; /* ms; 0 = none */
	uint64_t begun_us;
	struct serve_event end;
};

/* Monotonic; asked once until somebody has waited: all that we do in between takes less than anybody measures. */
uint64_t now_us(void);
void now_again(void);

/* Waits for the child that still has our memory, if there is one, and answers when it could not execute: its call may be gone then. */
void begun_settle(struct warden *w);

struct call *call_new(uint64_t id); /* NULL = the table is full */
void call_free(struct call *c);
void call_begin(struct call *c, const struct serve_request *h, long pid);
void call_cancel(struct call *c);
struct call *call_find(uint64_t id);
/* All calls of a line, whose other side has gone. */
void calls_forsake(uint32_t line);
bool calls_on_lines(void);
/* How many there are; the first of them go to `out`. */
uint32_t call_list(struct serve_item *out, uint32_t max);

/* Reaps, keeps deadlines, ends what is to be ended, tells who has ended. False: creel does not listen just now. */
bool calls_step(struct warden *w, bool reap);
/* How long to wait for something to happen; NULL = for ever. */
const struct __kernel_timespec *calls_patience(struct __kernel_timespec *t);
