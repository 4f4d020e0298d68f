/* SPDX-License-Identifier: Apache-2.0 */
/* What the measurements share: the clock, a quiet moment to begin in, samples with their quantiles, and rounds in which each way has its turn. */
#pragma once

#include <stdbool.h>
#include <stddef.h>

struct samples {
	double *us;
	size_t n, cap;
	bool sorted;
};

double measure_now_us(void);

/*
 * Waits until nobody else wants a processor, but no longer than this: on a busy machine everything is hit alike. Not with a
 * real-time priority, which goes before the others.
 */
void measure_settle(unsigned max_ms);
bool measure_is_first(void); /* we have such a priority */

void samples_add(struct samples *s, double us);
double samples_quantile(struct samples *s, double q); /* 0 = the smallest; NaN when there are none */
void samples_done(struct samples *s);

/* One way of doing something. `with` is its own business: what to run, where. */
struct way {
	const char *name, *what;
	double (*once)(const struct way *w); /* microseconds */
	const void *with;
	unsigned every; /* its turn is in one of so many rounds; 0 = in all */
	bool missing;   /* cannot be measured here */
	bool paused;    /* after 3 ms in which nobody did anything, as between two calls of an agent */
	struct samples samples;
};

struct ways {
	struct way *v;
	size_t n;
};

/* Of two quantiles; what was not measured has none. */
struct goal {
	const char *of, *to;
	double q, bound;
	bool at_least; /* otherwise at most */
};

struct way *way_find(
	struct ways w,
	const char *name); /* one that is not there is a mistake of ours: ends with measure_fail() */
/* Each is done some times unseen; then every round has each once, in random order, after waiting for a quiet moment. */
void ways_measure(struct ways w, unsigned rounds, unsigned settle_ms);
/* A table, with ratios to the first of them, and what became of the goals. */
void ways_print(struct ways w, const struct goal *goals, size_t n_goals);
void ways_done(struct ways w);

/* `posix_spawn` of w->with, a list of words that ends with NULL, until its end. */
double way_spawn(const struct way *w);

/* Prints "PROGRAM: ..." and ends with status 1: a measurement that went wrong is none. */
_Noreturn void measure_fail(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* A number in min..max, or measure_fail(). */
unsigned measure_number(const char *option, const char *text, unsigned min, unsigned max);

/* "Linux 6.1.0, 2 processors, uid 0, 2026-01-31", for the heading of a table. */
const char *measure_machine(void);
