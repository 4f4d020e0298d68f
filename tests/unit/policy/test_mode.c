/* SPDX-License-Identifier: Apache-2.0 */
#include "world.h"

static void rules(struct world *w, struct trust_rule *r, size_t n)
{
	w->c.rules = r;
	w->c.n_rules = n;
}

/* S0-26, S0-31 */
TEST(without_a_file_an_ordinary_session_has_full_trust)
{
	WORLD(w);

	ask_for(w, "agent:code:feature-x", "");
	assert_int_equal(w->d.mode.trust, TRUST_NONE);
	assert_int_equal(w->d.mode.caps, cap_matrix(TRUST_NONE));
	CHECK_STR(w->d.mode.pattern, STR(""));
	assert_true(has_reason(&w->d, STAGE_MODE, "trust", "none"));
}

/* S0-52..57, C13 */
TEST(the_built_in_prefixes_hold_without_any_file)
{
	static const struct {
		const char *key, *pattern;
		enum trust trust;
	} t[] = {
		{ "main:x", "main:*", TRUST_NONE },
		{ "client:leon", "client:*", TRUST_LIGHT },
		{ "untrusted:pr", "untrusted:*", TRUST_DOCKER },
		{ "analysis:q", "analysis:*", TRUST_READONLY },
		{ "proxy:d", "proxy:*", TRUST_LIGHT },
	};
	WORLD(w);

	for (size_t i = 0; i < sizeof(t) / sizeof(t[0]); i++) {
		ask_for(w, t[i].key, "");
		assert_int_equal(w->d.mode.trust, t[i].trust);
		CHECK_STR(w->d.mode.pattern, str_z(t[i].pattern));
		assert_null(w->d.mode.rule);
	}
}

TEST(a_prefix_in_capitals_does_not_buy_trust)
{
	WORLD(w);

	ask_for(w, "UNTRUSTED:pr", "");
	assert_int_equal(w->d.mode.trust, TRUST_DOCKER);
	ask_for(w, "Analysis:pr", "");
	assert_int_equal(w->d.mode.trust, TRUST_READONLY);
	ask_for(w, "untruste:pr", "");
	assert_int_equal(w->d.mode.trust, TRUST_NONE);
}

TEST(literal_compat_switches_the_prefixes_off)
{
	WORLD(w);

	w->c.base.athena_literal = true;
	ask_for(w, "untrusted:pr", "");
	assert_int_equal(w->d.mode.trust, TRUST_NONE);
}

/* S0-10, S0-31 */
TEST(the_default_mode_is_for_what_nothing_matches)
{
	WORLD(w);

	w->c.base.trust_default = TRUST_DOCKER;
	ask_for(w, "whatever", "");
	assert_int_equal(w->d.mode.trust, TRUST_DOCKER);
	ask_for(w, "client:leon", "");
	assert_int_equal(w->d.mode.trust, TRUST_LIGHT);
	w->c.base.trust_default = 99;
	ask_for(w, "whatever", "");
	assert_int_equal(w->d.mode.trust, TRUST_READONLY);
}

/* S0-28..30, S0-59 */
TEST(the_first_matching_rule_decides_before_the_prefixes)
{
	struct trust_rule r[] = {
		{ .match = STR("client:acme-*"), .trust = TRUST_READONLY },
		{ .match = STR("client:*"), .trust = TRUST_NONE },
		{ .match = STR("client:leon"), .trust = TRUST_DOCKER },
	};
	WORLD(w);

	rules(w, r, 3);
	ask_for(w, "client:acme-7", "");
	assert_int_equal(w->d.mode.trust, TRUST_READONLY);
	assert_ptr_equal(w->d.mode.rule, &r[0]);
	ask_for(w, "client:leon", "");
	assert_int_equal(w->d.mode.trust, TRUST_NONE);
	assert_ptr_equal(w->d.mode.rule, &r[1]);
	ask_for(w, "untrusted:x", "");
	assert_int_equal(w->d.mode.trust, TRUST_DOCKER);
	assert_null(w->d.mode.rule);
}

/* S0-58, C14: over every pair of what is said and what is asked */
TEST(a_flag_tightens_freely_and_weakens_only_with_a_second_flag)
{
	static const char *const keys[] = { [TRUST_READONLY] = "analysis:x",
					    [TRUST_DOCKER] = "untrusted:x",
					    [TRUST_LIGHT] = "client:x",
					    [TRUST_NONE] = "main:x" };
	WORLD(w);

	w->r.has_trust = true;
	for (enum trust said = 0; said < TRUST_COUNT_; said++)
		for (enum trust flag = 0; flag < TRUST_COUNT_; flag++) {
			w->r.trust = flag;
			w->r.allow_weaken = false;
			ask_for(w, keys[said], "");
			if (flag > said)
				CHECK_DENY(w, CODE_WEAKEN_REFUSED);
			else
				assert_int_equal(w->d.mode.trust, flag);
			w->r.allow_weaken = true;
			ask_for(w, keys[said], "");
			CHECK_ALLOW(w);
			assert_int_equal(w->d.mode.trust, flag);
			assert_int_equal(has_warning(&w->d, "trust_weakened"), flag > said);
		}
}

TEST(a_refused_flag_says_how_to_insist)
{
	WORLD(w);

	w->r.has_trust = true;
	w->r.trust = TRUST_NONE;
	ask_for(w, "untrusted:x", "");
	assert_int_equal(w->d.stopped_at, STAGE_MODE);
	assert_true(list_holds(w->d.fix_it, "--allow-weaken"));
}

TEST(a_flag_out_of_range_is_no_flag)
{
	WORLD(w);

	w->r.has_trust = true;
	w->r.trust = TRUST_COUNT_;
	w->r.allow_weaken = true;
	ask_for(w, "untrusted:x", "");
	assert_int_equal(w->d.mode.trust, TRUST_DOCKER);
}

/* S1-7..9 */
TEST(when_says_which_sessions_are_sandboxed)
{
	static const struct {
		enum when when;
		const char *key;
		bool sandboxed;
	} t[] = {
		{ WHEN_OFF, "agent:main:main", false },
		{ WHEN_OFF, "agent:main:telegram:group:1", false },
		{ WHEN_NON_MAIN, "agent:main:main", false },
		{ WHEN_NON_MAIN, "agent:main:telegram:group:1", true },
		{ WHEN_NON_MAIN, "agent:main:cron:job1", true },
		{ WHEN_ALL, "agent:main:main", true },
		{ WHEN_ALL, "agent:main:telegram:group:1", true },
	};
	WORLD(w);

	for (size_t i = 0; i < sizeof(t) / sizeof(t[0]); i++) {
		w->c.base.when = (int)t[i].when;
		ask_for(w, t[i].key, "");
		CHECK_CASE(w->d.mode.sandboxed == t[i].sandboxed, "%zu: %s", i, t[i].key);
		assert_int_equal(w->d.mode.place_min, t[i].sandboxed ? PLACE_CONTAINER : PLACE_HOST);
		assert_int_equal(w->d.mode.isolation_asked, t[i].sandboxed);
		assert_true(has_reason(&w->d, STAGE_MODE, "sandboxed", t[i].sandboxed ? "yes" : "no"));
	}
}

/* S0-2..7, C3 */
TEST(less_than_full_trust_is_sandboxed_whatever_when_says)
{
	WORLD(w);

	ask_for(w, "client:x", "");
	assert_true(w->d.mode.sandboxed);
	assert_int_equal(w->d.mode.place_min, PLACE_RESTRICTED);
	ask_for(w, "untrusted:x", "");
	assert_int_equal(w->d.mode.place_min, PLACE_CONTAINER);
	ask_for(w, "analysis:x", "");
	assert_int_equal(w->d.mode.place_min, PLACE_CONTAINER);
	ask_for(w, "main:x", "");
	assert_false(w->d.mode.sandboxed);
}

/* C31 */
TEST(main_prefix_is_full_trust_and_still_sandboxed_under_non_main)
{
	WORLD(w);

	w->c.base.when = WHEN_NON_MAIN;
	ask_for(w, "main:foo", "");
	assert_int_equal(w->d.mode.trust, TRUST_NONE);
	assert_true(w->d.mode.sandboxed);
	w->c.base.main_patterns = LIST(STR("main:*"));
	ask_for(w, "main:foo", "");
	assert_false(w->d.mode.sandboxed);
}

/* S2-1, S2-9 */
TEST(tier_1_never_runs_on_the_host_and_has_few_capabilities)
{
	WORLD(w);

	w->c.base.profile = PROFILE_TIER1;
	ask_for(w, "agent:main:main", "");
	assert_true(w->d.mode.sandboxed);
	assert_int_equal(w->d.mode.place_min, PLACE_CONTAINER);
	assert_int_equal(w->d.mode.caps, CAP_BIT(CAP_FS_READ) | CAP_BIT(CAP_FS_WRITE) |
						 CAP_BIT(CAP_PROC_EXEC) | CAP_BIT(CAP_NET_INTERNAL));
}

TEST(run_may_ask_for_a_container_that_nothing_else_asks_for)
{
	WORLD(w);

	w->r.force_sandbox = true;
	ask_for(w, "agent:main:main", "");
	assert_true(w->d.mode.sandboxed);
	assert_int_equal(w->d.mode.place_min, PLACE_CONTAINER);
}

/* C9 */
TEST(no_sandbox_is_the_local_operators_and_not_against_trust_tier_1_or_a_public_bind)
{
	WORLD(w);

	w->c.base.when = WHEN_ALL;
	w->r.no_sandbox = true;
	ask_for(w, "agent:main:main", "");
	CHECK_ALLOW(w);
	assert_false(w->d.mode.sandboxed);
	assert_false(w->d.mode.isolation_asked);
	assert_int_equal(w->d.mode.place_min, PLACE_HOST);
	ask_for(w, "untrusted:x", "");
	CHECK_DENY(w, CODE_NO_SANDBOX_REFUSED);
	w->c.base.serve_bind = STR("0.0.0.0:8080");
	ask_for(w, "agent:main:main", "");
	CHECK_DENY(w, CODE_NO_SANDBOX_REFUSED);
	w->c.base.serve_bind = STR("");
	w->r.force_sandbox = true;
	ask_for(w, "agent:main:main", "");
	CHECK_DENY(w, CODE_NO_SANDBOX_REFUSED);
	w->r.force_sandbox = false;
	w->c.base.profile = PROFILE_TIER1;
	ask_for(w, "agent:main:main", "");
	CHECK_DENY(w, CODE_NO_SANDBOX_REFUSED);
}

TEST(no_sandbox_from_the_library_is_ignored_and_noted)
{
	WORLD(w);

	w->c.base.when = WHEN_ALL;
	w->r.via = VIA_LIBRARY;
	w->r.no_sandbox = true;
	ask_for(w, "agent:main:main", "read");
	assert_true(w->d.mode.sandboxed);
	assert_true(has_warning(&w->d, "flags_ignored"));
	assert_int_not_equal(w->d.place.place, PLACE_HOST);
}

TEST(the_library_may_ask_for_more_walls_and_never_for_fewer)
{
	WORLD(w);

	w->r.via = VIA_LIBRARY;
	w->r.force_sandbox = true;
	ask_for(w, "agent:main:main", "read");
	assert_true(w->d.mode.sandboxed);
	assert_int_not_equal(w->d.place.place, PLACE_HOST);
	w->r.force_sandbox = false;
	w->r.has_trust = true;
	w->r.trust = TRUST_READONLY;
	ask_for(w, "agent:main:main", "read");
	assert_int_equal(w->d.mode.trust, TRUST_READONLY);
	w->c.base.trust_default = TRUST_READONLY;
	w->r.trust = TRUST_NONE;
	ask_for(w, "client:x", "read");
	assert_int_not_equal(w->d.mode.trust, TRUST_NONE);
	assert_true(has_warning(&w->d, "flags_ignored"));
	w->r.via = VIA_API;
	w->r.trust = TRUST_READONLY;
	ask_for(w, "agent:main:main", "read");
	assert_true(has_warning(&w->d, "flags_ignored"));
}

TEST(nonsense_in_when_and_enforce_is_the_strictest)
{
	WORLD(w);

	w->c.base.when = 77;
	w->c.base.enforce = -1;
	ask_for(w, "agent:main:main", "");
	assert_int_equal(w->d.mode.when, WHEN_ALL);
	assert_true(w->d.mode.sandboxed);
}

/* S0-17..24: all 32 cells, none / light / docker / readonly */
TEST(the_matrix_has_s0s_32_cells)
{
	static const struct {
		enum cap cap;
		bool none, light, docker, readonly;
	} rows[] = {
		{ CAP_FS_READ, true, true, true, true },    { CAP_FS_WRITE, true, true, true, false },
		{ CAP_PROC_EXEC, true, true, true, false }, { CAP_VCS, true, true, false, false },
		{ CAP_NET, true, false, false, false },     { CAP_SECRETS, true, false, false, false },
		{ CAP_BROWSER, true, true, false, false },  { CAP_API, true, false, false, false },
	};

	for (size_t i = 0; i < 8; i++) {
		unsigned bit = CAP_BIT(rows[i].cap);

		assert_int_equal((cap_matrix(TRUST_NONE) & bit) != 0, rows[i].none);
		assert_int_equal((cap_matrix(TRUST_LIGHT) & bit) != 0, rows[i].light);
		assert_int_equal((cap_matrix(TRUST_DOCKER) & bit) != 0, rows[i].docker);
		assert_int_equal((cap_matrix(TRUST_READONLY) & bit) != 0, rows[i].readonly);
	}
	assert_int_equal(cap_matrix(TRUST_COUNT_), 0);
}

/* The same cells, asked for as actions, with S0-34, S0-36's words where they are refused. */
TEST(the_matrix_decides_every_action_with_s0s_message)
{
	static const char *const actions[] = { "read",    "write",   "bash",    "git",
					       "network", "secrets", "browser", "external_api" };
	static const struct {
		const char *key, *mode;
		const char *allowed; /* one mark per action */
	} modes[] = {
		{ "main:x", "none", "++++++++" },
		{ "client:x", "light", "++++--+-" },
		{ "untrusted:x", "docker", "+++-----" },
		{ "analysis:x", "readonly", "+-------" },
	};
	char want[128];
	WORLD(w);

	for (size_t m = 0; m < 4; m++)
		for (size_t i = 0; i < 8; i++) {
			ask_for(w, modes[m].key, actions[i]);
			if (modes[m].allowed[i] == '+') {
				CHECK_CASE(w->d.verdict == VERDICT_ALLOW, "%s in %s: %.*s", actions[i],
					   modes[m].mode, (int)w->d.message.n, w->d.message.p);
				continue;
			}
			CHECK_DENY(w, CODE_CAPABILITY_DENIED);
			assert_int_equal(w->d.stopped_at, STAGE_TOOL);
			snprintf(want, sizeof(want), "Action '%s' denied in sandbox mode '%s'", actions[i],
				 modes[m].mode);
			CHECK_STR(w->d.message, str_z(want));
		}
}

/* S0-35 */
TEST(an_unknown_action_is_denied_in_every_mode)
{
	static const char *const keys[] = { "main:x", "client:x", "untrusted:x", "analysis:x" };
	WORLD(w);

	for (size_t i = 0; i < 4; i++) {
		ask_for(w, keys[i], "frobnicate");
		CHECK_DENY(w, CODE_TOOL_NOT_ALLOWED);
	}
}

TEST_MAIN()
