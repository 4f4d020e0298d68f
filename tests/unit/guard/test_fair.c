/* SPDX-License-Identifier: Apache-2.0 */
/* Who may go first: by rate, by turns, and never more than was said. */
#include "check.h"

#include "server/guard/fair.h"

static struct fair *make(struct fair_opts o)
{
	struct fair *f = NULL;
	struct err e = { 0 };

	assert_int_equal(fair_new(&o, &f, &e), 0);
	return f;
}
#define FAIR(name, ...) _cleanup_(fair_freep) struct fair *name = make((struct fair_opts){ __VA_ARGS__ })

TEST(a_caller_has_its_burst_and_then_its_rate)
{
	FAIR(f, .running = 1, .running_per_caller = 1, .per_minute = 120, .burst = 3);

	for (int i = 0; i < 3; i++)
		assert_int_equal(fair_rate(f, STR("a"), 1000), 0);
	assert_int_equal(fair_rate(f, STR("a"), 1000), 500);
	assert_int_equal(fair_rate(f, STR("a"), 1499), 1);
	assert_int_equal(fair_rate(f, STR("a"), 1500), 0);
	assert_true(fair_rate(f, STR("a"), 1500) > 0);
	assert_int_equal(fair_rate(f, STR("b"), 1500), 0); /* another one's is another's */
	for (int i = 0; i < 3; i++) /* never more than the burst, however long nobody asked */
		assert_int_equal(fair_rate(f, STR("a"), UINT64_MAX / 2), 0);
	assert_true(fair_rate(f, STR("a"), UINT64_MAX / 2) > 0);
	assert_true(fair_rate(f, STR("a"), 0) > 0); /* a clock that went back gives nothing */
}

TEST(without_a_rate_nobody_is_held_back)
{
	FAIR(f, .running = 1, .running_per_caller = 1, .burst = 1);

	for (int i = 0; i < 1000; i++)
		assert_int_equal(fair_rate(f, STR("a"), 5), 0);
}

TEST(those_who_wait_are_served_one_of_each_caller_after_the_other)
{
	FAIR(f, .running = 1, .running_per_caller = 1, .waiting = 100, .waiting_per_caller = 50);
	struct fair_call first, a[4], b[2], c;
	const struct fair_call *order[] = { &a[0], &b[0], &c, &a[1], &b[1], &a[2], &a[3] };
	struct fair_call *runs = &first;

	assert_int_equal(fair_enter(f, STR("a"), &first), FAIR_RUNS);
	for (int i = 0; i < 4; i++)
		assert_int_equal(fair_enter(f, STR("a"), &a[i]), FAIR_WAITS);
	for (int i = 0; i < 2; i++)
		assert_int_equal(fair_enter(f, STR("b"), &b[i]), FAIR_WAITS);
	assert_int_equal(fair_enter(f, STR("c"), &c), FAIR_WAITS);
	for (size_t i = 0; i < sizeof(order) / sizeof(order[0]); i++) {
		assert_null(fair_next(f));
		fair_leave(f, runs);
		runs = fair_next(f);
		CHECK_CASE(runs == order[i], "turn %zu", i);
	}
	fair_leave(f, runs);
	assert_null(fair_next(f));
	assert_int_equal(fair_running(f) + fair_waiting(f), 0);
}

TEST(nobody_runs_or_waits_more_than_was_said)
{
	FAIR(f, .running = 3, .running_per_caller = 2, .waiting = 3, .waiting_per_caller = 2);
	struct fair_call a[5], b[4], c;

	assert_int_equal(fair_enter(f, STR("a"), &a[0]), FAIR_RUNS);
	assert_int_equal(fair_enter(f, STR("a"), &a[1]), FAIR_RUNS);
	assert_int_equal(fair_enter(f, STR("a"), &a[2]),
			 FAIR_WAITS); /* a place is free, but not for this one */
	assert_null(fair_next(f));
	assert_int_equal(fair_enter(f, STR("b"), &b[0]), FAIR_RUNS);
	assert_int_equal(fair_enter(f, STR("a"), &a[3]), FAIR_WAITS);
	assert_int_equal(fair_enter(f, STR("a"), &a[4]), FAIR_ENOUGH);
	assert_int_equal(fair_enter(f, STR("b"), &b[1]), FAIR_WAITS);
	assert_int_equal(fair_enter(f, STR("c"), &c), FAIR_FULL);
	fair_leave(f, &a[4]); /* that was never in is harmless */
	fair_leave(f, &a[2]); /* gives up waiting */
	assert_int_equal(fair_waiting(f), 2);
	fair_leave(f, &b[0]);
	assert_ptr_equal(fair_next(f), &b[1]);
	fair_leave(f, &a[0]);
	assert_ptr_equal(fair_next(f), &a[3]);
	assert_int_equal(fair_running(f), 3);
}

TEST(more_callers_than_there_is_room_for_are_forgotten_when_they_are_idle)
{
	FAIR(f, .running = 1, .running_per_caller = 1, .waiting = 1, .waiting_per_caller = 1,
	     .per_minute = 60000, .burst = 2);
	char id[16];

	for (unsigned i = 0; i < 10000; i++) {
		(void)snprintf(id, sizeof(id), "%u", i);
		CHECK_CASE(fair_rate(f, str_z(id), 1000 + i) == 0, "caller %u", i);
	}
}

TEST_MAIN()
