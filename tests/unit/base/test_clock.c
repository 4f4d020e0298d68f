/* SPDX-License-Identifier: Apache-2.0 */
#include "check.h"

#include "base/clock.h"

#include <errno.h>
#include <limits.h>
#include <time.h>

TEST(clock_mono_never_goes_back)
{
	uint64_t last = clock_mono_ns();

	for (int i = 0; i < 1000; i++) {
		uint64_t now = clock_mono_ns();

		assert_true(now >= last);
		last = now;
	}
	assert_true(clock_mono_ms() >= last / 1000000);
}

TEST(clock_unix_is_the_wall_clock)
{
	uint64_t before = (uint64_t)time(NULL), now = clock_unix_ms() / 1000, after = (uint64_t)time(NULL);

	/* time(2) may lag by a tick */
	assert_true(now >= before && now <= after + 1);
}

TEST(clock_deadline_saturates_instead_of_wrapping)
{
	uint64_t now = clock_mono_ms(), at = clock_deadline(5000);

	assert_true(at >= now + 5000 && at < now + 60000);
	assert_true(clock_deadline(CLOCK_NEVER) == CLOCK_NEVER);
	assert_true(clock_deadline(UINT64_MAX - 1) == CLOCK_NEVER);
}

TEST(clock_poll_ms_fits_what_poll_takes)
{
	int ms = clock_poll_ms(clock_deadline(5000));

	assert_int_equal(clock_poll_ms(CLOCK_NEVER), -1);
	assert_int_equal(clock_poll_ms(0), 0);
	assert_int_equal(clock_poll_ms(clock_mono_ms()), 0);
	assert_true(ms > 0 && ms <= 5000);
	assert_int_equal(clock_poll_ms(CLOCK_NEVER - 1), INT_MAX);
}

TEST(clock_format_is_rfc3339_in_utc)
{
	static const struct {
		uint64_t ms;
		const char *want;
	} cases[] = {
		{ 0, "1970-01-01T00:00:00.000Z" },
		{ 951782400000, "2000-02-29T00:00:00.000Z" },
		{ 951868799999, "2000-02-29T23:59:59.999Z" },
		{ 951868800000, "2000-03-01T00:00:00.000Z" },
		{ 4107542400000, "2100-03-01T00:00:00.000Z" }, /* 2100 has no leap day */
		{ 4107542399999, "2100-02-28T23:59:59.999Z" },
		{ 1767225599001, "2025-12-31T23:59:59.001Z" },
		{ 253402300799999, "9999-12-31T23:59:59.999Z" },
	};
	char out[CLOCK_TEXT_MAX];
	struct str s;

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		assert_int_equal(clock_format(cases[i].ms, out, &s), 0);
		CHECK_STR(s, str_z(cases[i].want));
	}
}

TEST(clock_format_agrees_with_libc_on_every_day_of_two_centuries)
{
	for (uint64_t day = 0; day < 80000; day++) {
		time_t t = (time_t)(day * 86400 + day % 86400);
		char out[CLOCK_TEXT_MAX], want[32];
		struct str s;
		struct tm tm;

		(void)strftime(want, sizeof(want), "%Y-%m-%dT%H:%M:%S.000Z", gmtime_r(&t, &tm));
		assert_int_equal(clock_format((uint64_t)t * 1000, out, &s), 0);
		assert_string_equal(out, want);
	}
}

TEST(clock_format_refuses_a_year_of_five_digits)
{
	char out[CLOCK_TEXT_MAX];
	struct str s;

	assert_int_equal(clock_format(253402300800000, out, &s), -ERANGE);
	assert_int_equal(clock_format(UINT64_MAX, out, &s), -ERANGE);
}

TEST_MAIN()
