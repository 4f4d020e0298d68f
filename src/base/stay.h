/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Two processes that take turns are fastest on one processor: waking somebody on another that sleeps takes longer than many an answer. Whoever asks and
 * then only waits stays where it is for so long, and tells where that is; whoever is asked goes there, once it was asked from there twice in a row. Only a matter
 * of time: what fails is left as it is. The processors that somebody may use are never more than they were.
 */
#pragma once

#include <sched.h>
#include <stdbool.h>
#include <stdint.h>

/* ---- who asks ---- */

/* The processor that this thread is on now, and 1; 0 = unknown. */
uint16_t stay_here(void);

struct staying {
	cpu_set_t before, here;
	bool stays;
};
/* This thread stays on its processor: the number of that, and 1; 0 = unknown. */
uint16_t stay_begin(struct staying *s);
/* Not if somebody else has changed meanwhile where it may run. */
void stay_end(struct staying *s);

/* ---- who is asked ---- */

struct following {
	cpu_set_t home;
	uint16_t last, at; /* as stay_begin() says; `at` 0 = anywhere in `home` */
	bool has_home;
};
void stay_follow(struct following *f, uint16_t cpu);
