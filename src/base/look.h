/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Looking again and again for a short while, before going to sleep. Being woken on a processor that sleeps itself takes longer than many an answer,
 * so whoever is about to be answered by another process may look for it so long. The while is always bounded, and there is none where this process
 * may use one processor only: there, the other side could not run meanwhile.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

/* When to stop, for look_on(); 0: sleep at once. */
uint64_t look_until(uint32_t max_us);
bool look_on(uint64_t until);
