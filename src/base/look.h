/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Looking again and again for a short while, before going to sleep. Being woken on a processor that sleeps itself takes longer than many an answer,
 * so whoever is about to be answered by another process may look for it so long. The while is always bounded, and there is none where this process
 * may use one processor only: there, the other side could not run meanwhile. On a machine with more work than processors it is in vain, and keeps the
 * other side from running: who looks in vain a few times in a row looks seldom, until it is worth it again.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

/* When to stop, for look_on(); 0: sleep at once. */
uint64_t look_until(uint32_t max_us);
bool look_on(uint64_t until);

/* Whether it has been worth it; zero is a new one. */
struct looking {
	uint8_t debt;   /* looks in vain, less those that were not */
	uint8_t missed; /* turns without a look */
};
/* As look_until(), but 0 when it is not worth it. Whoever has looked says what came of it: found, or how much in vain it was. */
enum look_result { LOOK_FOUND = 0, LOOK_LATE = 1, LOOK_VAIN = 2 };
uint64_t look_begin(struct looking *l, uint32_t max_us);
void look_end(struct looking *l, uint64_t until, enum look_result r);
