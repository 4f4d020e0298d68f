/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Time. Waits and deadlines use the monotonic clock, so that a stepped wall clock neither cuts a call short nor
 * lets it run for ever; the wall clock is only for people and records. Pure rooms take the time as an argument
 * and do not call this.
 */
#pragma once

#include "base/str.h"

#include <stdint.h>

#define CLOCK_NEVER UINT64_MAX

uint64_t clock_mono_ns(void);
uint64_t clock_mono_ms(void);
uint64_t clock_unix_ms(void);
uint64_t clock_boot_ms(
	void); /* since the host was started, with the time that it slept; the same for all processes, and nobody sets it */

/* The absolute deadline `ms` from now; CLOCK_NEVER stays CLOCK_NEVER, and nothing wraps. */
uint64_t clock_deadline(uint64_t ms);

/* What to hand to poll(2): -1 for CLOCK_NEVER, 0 when it has passed, rounded up so that no wait ends early. */
int clock_poll_ms(uint64_t deadline_ms);

/* "2026-09-01T12:34:56.789Z" and its NUL. */
#define CLOCK_TEXT_MAX 32

/* RFC 3339 in UTC, computed here: gmtime_r() would read /etc/localtime. -ERANGE after the year 9999. */
int clock_format(uint64_t unix_ms, char out[static CLOCK_TEXT_MAX], struct str *ret);
