/* SPDX-License-Identifier: Apache-2.0 */
#include "base/clock.h"

#include <assert.h>
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <time.h>

static struct timespec now(clockid_t clock)
{
	struct timespec ts;
	int r = clock_gettime(clock, &ts);

	assert(r == 0); /* these clocks always exist */
	return ts;
}

uint64_t clock_mono_ns(void)
{
	struct timespec ts = now(CLOCK_MONOTONIC);

	return (uint64_t)ts.tv_sec * 1000000000u + (uint64_t)ts.tv_nsec;
}

uint64_t clock_mono_ms(void)
{
	return clock_mono_ns() / 1000000u;
}

uint64_t clock_unix_ms(void)
{
	struct timespec ts = now(CLOCK_REALTIME);

	return ts.tv_sec < 0 ? 0 : (uint64_t)ts.tv_sec * 1000u + (uint64_t)ts.tv_nsec / 1000000u;
}

uint64_t clock_boot_ms(void)
{
	struct timespec ts = now(CLOCK_BOOTTIME);

	return (uint64_t)ts.tv_sec * 1000u + (uint64_t)ts.tv_nsec / 1000000u;
}

uint64_t clock_deadline(uint64_t ms)
{
	uint64_t at;

	return __builtin_add_overflow(clock_mono_ms(), ms, &at) ? CLOCK_NEVER : at;
}

int clock_poll_ms(uint64_t deadline_ms)
{
	uint64_t ns = clock_mono_ns(), left;

	if (deadline_ms == CLOCK_NEVER)
		return -1;
	if (deadline_ms <= ns / 1000000u)
		return 0;
	left = deadline_ms - ns / 1000000u;
	return left < INT_MAX ? (int)left : INT_MAX;
}

/* Days since 1970-01-01 to a date of the Gregorian calendar, in years that begin in March: the leap day comes last. */
static void civil(uint64_t days, unsigned *year, unsigned *month, unsigned *day)
{
	uint64_t z = days + 719468; /* from 0000-03-01 */
	uint64_t era = z / 146097, doe = z % 146097;
	uint64_t yoe = (doe - doe / 1460 + doe / 36524 - doe / 146096) / 365;
	uint64_t doy = doe - (365 * yoe + yoe / 4 - yoe / 100);
	uint64_t mp = (5 * doy + 2) / 153;

	*day = (unsigned)(doy - (153 * mp + 2) / 5 + 1);
	*month = (unsigned)(mp < 10 ? mp + 3 : mp - 9);
	*year = (unsigned)(yoe + era * 400 + (*month <= 2));
}

/* So many digits, with zeros in front; where the next goes. */
static char *put_digits(char *at, unsigned v, unsigned n, char behind)
{
	for (unsigned i = n; i > 0; i--, v /= 10)
		at[i - 1] = (char)('0' + v % 10);
	at[n] = behind;
	return at + n + 1;
}

int clock_format(uint64_t unix_ms, char out[static CLOCK_TEXT_MAX], struct str *ret)
{
	const uint64_t end_ms = UINT64_C(253402300800000); /* 10000-01-01 */
	unsigned year, month, day, s;
	char *at = out;

	if (unix_ms >= end_ms)
		return -ERANGE;
	civil(unix_ms / 86400000u, &year, &month, &day);
	s = (unsigned)(unix_ms / 1000u % 86400u);
	at = put_digits(at, year, 4, '-');
	at = put_digits(at, month, 2, '-');
	at = put_digits(at, day, 2, 'T');
	at = put_digits(at, s / 3600, 2, ':');
	at = put_digits(at, s / 60 % 60, 2, ':');
	at = put_digits(at, s % 60, 2, '.');
	at = put_digits(at, (unsigned)(unix_ms % 1000u), 3, 'Z');
	*at = '\0';
	*ret = (struct str){ .p = out, .n = (size_t)(at - out) };
	return 0;
}
