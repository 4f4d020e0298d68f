/* SPDX-License-Identifier: Apache-2.0 */
#include "check.h"

#include "base/stay.h"

static cpu_set_t now(void)
{
	cpu_set_t s;

	assert_int_equal(sched_getaffinity(0, sizeof(s), &s), 0);
	return s;
}

static bool same(const cpu_set_t *a, const cpu_set_t *b)
{
	return CPU_EQUAL(a, b);
}

/* The n-th processor that we may use; those that have one only use it twice. */
static uint16_t nth(const cpu_set_t *all, int n)
{
	uint16_t last = 0;

	for (unsigned i = 0; i < CPU_SETSIZE && n >= 0; i++)
		if (CPU_ISSET(i, all)) {
			last = (uint16_t)(i + 1);
			n--;
		}
	return last;
}

TEST(who_asks_stays_on_its_processor_and_is_let_go)
{
	cpu_set_t before = now(), meanwhile;
	struct staying s;
	uint16_t cpu = stay_begin(&s);

	assert_true(cpu > 0 && CPU_ISSET(cpu - 1u, &before));
	meanwhile = now();
	assert_int_equal(CPU_COUNT(&meanwhile), 1);
	assert_true(CPU_ISSET(cpu - 1u, &meanwhile));
	stay_end(&s);
	meanwhile = now();
	assert_true(same(&meanwhile, &before));
	stay_end(&s); /* once is enough */
}

TEST(what_somebody_else_has_changed_meanwhile_is_left_alone)
{
	cpu_set_t before = now(), one, after;
	struct staying s;
	uint16_t cpu = stay_begin(&s), other = nth(&before, 0);

	if (other == cpu)
		other = nth(&before, 1);
	CPU_ZERO(&one);
	CPU_SET(other - 1u, &one);
	assert_int_equal(sched_setaffinity(0, sizeof(one), &one), 0);
	stay_end(&s);
	after = now();
	assert_true(same(&after, &one));
	assert_int_equal(sched_setaffinity(0, sizeof(before), &before), 0);
}

TEST(who_is_asked_follows_the_second_time_and_no_further_than_it_may)
{
	cpu_set_t home = now(), s;
	struct following f = { 0 };
	uint16_t first = nth(&home, 0), last = nth(&home, CPU_SETSIZE);

	stay_follow(&f, first);
	s = now();
	assert_true(same(&s, &home));
	stay_follow(&f, first);
	s = now();
	assert_true(CPU_COUNT(&s) == 1 && CPU_ISSET(first - 1u, &s));
	if (last != first) {
		stay_follow(&f, last);
		s = now();
		assert_true(same(&s, &home));
	}
	stay_follow(&f, CPU_SETSIZE);
	stay_follow(&f, CPU_SETSIZE); /* none of ours, or the last of many */
	stay_follow(&f, UINT16_MAX);
	stay_follow(&f, UINT16_MAX);
	stay_follow(&f, 0);
	s = now();
	assert_true(same(&s, &home));
}

TEST_MAIN()
