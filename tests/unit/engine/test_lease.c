/* SPDX-License-Identifier: Apache-2.0 */
#include "check.h"

#include "engine/lease.h"

#define MIN UINT64_C(60000)
#define HOUR (60 * MIN)
#define DAY (24 * HOUR)
#define T0 (1000 * DAY)

TEST(a_sandbox_is_kept_made_anew_told_of_or_refused)
{
	/* clang-format off */
	static const struct {
		const char *name;
		enum reg_state state;
		const char *walls, *mounts;     /* old: "w", "m" */
		uint64_t idle, running, warned; /* warned so long ago; 0 = not */
		enum keep want;
		bool tell, ends_calls;
	} cases[] = {
		{ "same, hot",                       REG_READY,    "w", "m", 0,           0, 0,           KEEP_AS_IS,    false, false },
		{ "same, idle",                      REG_READY,    "w", "m", 30 * DAY,    0, 0,           KEEP_AS_IS,    false, false },
		{ "same, starting",                  REG_STARTING, "w", "m", 0,           0, 0,           KEEP_AS_IS,    false, false },
		{ "same, warned before",             REG_READY,    "w", "m", 0,           1, 30 * MIN,    KEEP_AS_IS,    false, false },
		{ "lost",                            REG_LOST,     "w", "m", 0,           0, 0,           KEEP_RECREATE, false, false },
		{ "stopping",                        REG_STOPPING, "w", "m", 0,           0, 0,           KEEP_RECREATE, false, false },
		{ "walls, idle",                     REG_READY,    "x", "m", 5 * MIN,     0, 0,           KEEP_RECREATE, false, false },
		{ "walls, hot",                      REG_READY,    "x", "m", 5 * MIN - 1, 0, 0,           KEEP_WARN,     true,  false },
		{ "walls, long call",                REG_READY,    "x", "m", 2 * HOUR,    1, 0,           KEEP_WARN,     true,  false },
		{ "walls, hot, in grace",            REG_READY,    "x", "m", 0,           0, 5 * MIN - 1, KEEP_WARN,     false, false },
		{ "walls, hot, grace over",          REG_READY,    "x", "m", 0,           0, 5 * MIN,     KEEP_RECREATE, false, false },
		{ "walls, running, grace over",      REG_READY,    "x", "m", 0,           2, 6 * MIN,     KEEP_RECREATE, false, true },
		{ "mounts, idle",                    REG_READY,    "w", "n", 6 * MIN,     0, 0,           KEEP_RECREATE, false, false },
		{ "mounts, hot",                     REG_READY,    "w", "n", 0,           0, 0,           KEEP_REFUSE,   false, false },
		{ "mounts, running",                 REG_READY,    "w", "n", 2 * HOUR,    1, 0,           KEEP_REFUSE,   false, false },
		{ "mounts and walls, hot",           REG_READY,    "x", "n", 0,           0, 0,           KEEP_REFUSE,   false, false },
		{ "mounts, hot, grace over",         REG_READY,    "x", "n", 0,           1, 6 * MIN,     KEEP_REFUSE,   false, false },
		{ "nobody knows the new walls",      REG_READY,    "",  "m", 0,           0, 0,           KEEP_WARN,     true,  false },
		{ "nobody knows the new mounts",     REG_READY,    "w", "",  0,           0, 0,           KEEP_REFUSE,   false, false },
	};
	/* clang-format on */

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		const struct reg_entry old = { .state = cases[i].state,
					       .profile_digest = STR("w"),
					       .mounts_digest = STR("m"),
					       .used_ms = T0 - cases[i].idle,
					       .warned_ms = cases[i].warned ? T0 - cases[i].warned : 0 };
		struct keep_verdict v;

		keep_decide(&(struct keep_input){ &old, str_z(cases[i].walls), str_z(cases[i].mounts),
						  cases[i].running, T0 },
			    &v);
		CHECK_CASE(v.keep == cases[i].want && v.tell == cases[i].tell &&
				   v.ends_calls == cases[i].ends_calls,
			   "%s: %s", cases[i].name, enum_name(keep_names, (int)v.keep));
		CHECK_CASE(v.why && v.why[0], "%s", cases[i].name);
		if (v.keep == KEEP_WARN)
			CHECK_CASE(v.until_ms == v.warned_ms + 5 * MIN && v.until_ms > T0 &&
					   v.until_ms <= T0 + 5 * MIN,
				   "%s", cases[i].name);
	}
}

TEST(a_warning_is_told_once_and_runs_out_however_often_it_is_used)
{
	struct reg_entry old = {
		.state = REG_READY, .profile_digest = STR("w"), .mounts_digest = STR("m"), .used_ms = T0
	};
	unsigned told = 0;

	for (uint64_t now = T0;; now += MIN) {
		struct keep_verdict v;

		keep_decide(&(struct keep_input){ &old, STR("x"), STR("m"), 1, now }, &v);
		if (v.keep == KEEP_RECREATE) {
			assert_int_equal(now, T0 + 5 * MIN);
			break;
		}
		told += v.tell;
		old.used_ms = now;
		old.warned_ms = v.warned_ms;
	}
	assert_int_equal(told, 1);
}

TEST(a_clock_that_goes_back_prolongs_no_warning_beyond_its_length)
{
	struct reg_entry old = { .state = REG_READY,
				 .profile_digest = STR("w"),
				 .mounts_digest = STR("m"),
				 .used_ms = T0,
				 .warned_ms = T0 };
	struct keep_verdict v;

	keep_decide(&(struct keep_input){ &old, STR("x"), STR("m"), 0, T0 - 30 * DAY }, &v);
	assert_int_equal(v.keep, KEEP_WARN);
	assert_int_equal(v.until_ms, T0 - 30 * DAY + 5 * MIN);
	assert_false(v.tell);
	keep_decide(&(struct keep_input){ &old, STR("x"), STR("m"), 0, UINT64_MAX }, &v);
	assert_int_equal(v.keep, KEEP_RECREATE);
}

TEST(a_sandbox_is_pruned_when_it_is_idle_or_old_and_never_while_it_works)
{
	/* clang-format off */
	static const struct {
		uint64_t idle, age, hours, days, running;
		enum scope scope;
		enum prune want;
	} cases[] = {
		{ 24 * HOUR,     25 * HOUR, 24, 7, 0, SCOPE_SESSION, PRUNE_KEEP },
		{ 24 * HOUR + 1, 25 * HOUR, 24, 7, 0, SCOPE_SESSION, PRUNE_IDLE },
		{ 24 * HOUR + 1, 25 * HOUR, 24, 7, 1, SCOPE_SESSION, PRUNE_KEEP },
		{ 0,             7 * DAY,   24, 7, 0, SCOPE_AGENT,   PRUNE_KEEP },
		{ 0,             7 * DAY + 1, 24, 7, 0, SCOPE_AGENT, PRUNE_OLD },
		{ 0,             8 * DAY,   24, 7, 3, SCOPE_AGENT,   PRUNE_KEEP },
		{ 900 * DAY,     900 * DAY, 0,  0, 0, SCOPE_SHARED,  PRUNE_KEEP },
		{ 900 * DAY,     900 * DAY, 0,  7, 0, SCOPE_SHARED,  PRUNE_OLD },
		{ 900 * DAY,     900 * DAY, 24, 0, 0, SCOPE_SHARED,  PRUNE_IDLE },
		{ 900 * DAY,     900 * DAY, 24, 7, 0, SCOPE_LEASE,   PRUNE_KEEP },
		{ 900 * DAY,     900 * DAY, UINT64_MAX, UINT64_MAX, 0, SCOPE_SHARED, PRUNE_KEEP },
	};
	/* clang-format on */

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		const struct reg_entry en = { .scope = cases[i].scope,
					      .used_ms = T0 - cases[i].idle,
					      .created_ms = T0 - cases[i].age };
		enum prune got = prune_decide(&en, cases[i].hours, cases[i].days, cases[i].running, T0);

		CHECK_CASE(got == cases[i].want, "case %zu: %s", i, enum_name(prune_names, (int)got));
	}
}

TEST(a_clock_that_went_back_prunes_nothing)
{
	const struct reg_entry en = { .scope = SCOPE_SESSION, .used_ms = T0, .created_ms = T0 };

	assert_int_equal(prune_decide(&en, 24, 7, 0, 0), PRUNE_KEEP);
}

TEST(s4_48_a_lease_is_reused_renewed_replaced_or_made)
{
	const struct reg_lease lease = {
		.template = STR("img:1"), .created_ms = T0, .used_ms = T0, .expires_ms = T0 + 300000
	};
	const uint64_t ttl = 300000;

	assert_int_equal(lease_decide(NULL, STR("img:1"), ttl, T0), LEASE_CREATE);
	assert_int_equal(lease_decide(&lease, STR("img:1"), ttl, T0 + 1000), LEASE_REUSE);
	assert_int_equal(lease_decide(&lease, STR("img:2"), ttl, T0 + 1000), LEASE_REPLACE);
	assert_int_equal(lease_decide(&lease, STR("img:1"), ttl, T0 + 150001), LEASE_RENEW);
	assert_int_equal(lease_decide(&lease, STR("img:1"), ttl, T0 - 1), LEASE_RENEW);
	assert_int_equal(lease_decide(&lease, STR("img:1"), ttl, T0 + 300000), LEASE_CREATE);
	assert_int_equal(lease_decide(&lease, STR("img:2"), ttl, T0 + 400000), LEASE_CREATE);
}

TEST_MAIN()
