/* SPDX-License-Identifier: Apache-2.0 */
#include "base/look.h"

#include <sched.h>
#include <time.h>

#define DEBT_BAD 4u
#define DEBT_MAX 8u
#define SELDOM 16u /* one turn of so many, when it is not worth it */

static uint64_t now_ns(void)
{
	struct timespec t = { 0 };

	(void)clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

/* Asked each time: it may be changed under us. A machine with more processors than fit here has more than one. */
static bool has_another(void)
{
	cpu_set_t set;

	return sched_getaffinity(0, sizeof(set), &set) < 0 || CPU_COUNT(&set) > 1;
}

uint64_t look_until(uint32_t max_us)
{
	return max_us && has_another() ? now_ns() + (uint64_t)max_us * 1000 : 0;
}

bool look_on(uint64_t until)
{
	return until && now_ns() < until;
}

uint64_t look_begin(struct looking *l, uint32_t max_us)
{
	if (l->debt >= DEBT_BAD && ++l->missed < SELDOM)
		return 0;
	l->missed = 0;
	return look_until(max_us);
}

void look_end(struct looking *l, uint64_t until, enum look_result r)
{
	uint32_t debt = r == LOOK_FOUND ? l->debt / 2u : l->debt + (uint32_t)r;

	if (until)
		l->debt = (uint8_t)(debt < DEBT_MAX ? debt : DEBT_MAX);
}
