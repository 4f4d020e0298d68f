/* SPDX-License-Identifier: Apache-2.0 */
#include "check.h"

#include "base/look.h"

#include <sched.h>

TEST(nobody_looks_where_there_is_one_processor)
{
	cpu_set_t all, one;
	size_t first = 0;

	assert_int_equal(sched_getaffinity(0, sizeof(all), &all), 0);
	while (!CPU_ISSET(first, &all))
		first++;
	CPU_ZERO(&one);
	CPU_SET(first, &one);
	assert_int_equal(sched_setaffinity(0, sizeof(one), &one), 0);
	assert_int_equal(look_until(50), 0);
	assert_int_equal(sched_setaffinity(0, sizeof(all), &all), 0);
	assert_int_equal(look_until(50) != 0, CPU_COUNT(&all) > 1);
}

TEST(looking_ends)
{
	uint64_t until = look_until(50);

	while (look_on(until))
		;
	assert_false(look_on(until));
}

TEST(no_time_is_no_look)
{
	assert_int_equal(look_until(0), 0);
	assert_false(look_on(0));
}

/* How many of so many turns have a look, each of them in vain or not. */
static unsigned looks(struct looking *l, unsigned turns, enum look_result result)
{
	unsigned n = 0;

	for (unsigned i = 0; i < turns; i++) {
		uint64_t until = look_begin(l, 1);

		n += until != 0;
		look_end(l, until, result);
	}
	return n;
}

TEST(who_looks_in_vain_looks_seldom_until_it_is_worth_it_again)
{
	struct looking l = { 0 };

	if (!look_until(1))
		skip(); /* one processor */
	assert_int_equal(looks(&l, 100, LOOK_FOUND), 100);
	assert_int_equal(looks(&l, 1, LOOK_LATE), 1);
	assert_int_equal(looks(&l, 1, LOOK_FOUND), 1);
	assert_in_range(looks(&l, 162, LOOK_VAIN), 11, 13);
	assert_in_range(looks(&l, 160, LOOK_FOUND), 100, 160);
}

TEST_MAIN()
