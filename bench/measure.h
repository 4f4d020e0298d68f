/* SPDX-License-Identifier: Apache-2.0 */
/* What the measurements share: the clock, a quiet moment to begin in, and samples with their quantiles. */
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

/* Prints "PROGRAM: ..." and ends with status 1: a measurement that went wrong is none. */
_Noreturn void measure_fail(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* A number in min..max, or measure_fail(). */
unsigned measure_number(const char *option, const char *text, unsigned min, unsigned max);

/* "Linux 6.1.0, 2 processors, uid 0, 2026-01-31", for the heading of a table. */
const char *measure_machine(void);
