/* SPDX-License-Identifier: Apache-2.0 */
#include "world.h"

static const struct origin base_file = { .kind = ORIGIN_FILE, .line = 1 };
static const struct origin agent_file = { .kind = ORIGIN_FILE, .line = 9 };

static struct settings *blank(struct world *w)
{
	return ARENA_NEW(&w->a, struct settings);
}

TEST(only_what_was_said_is_overridden)
{
	WORLD(w);
	struct settings *over = blank(w);

	over->when = WHEN_ALL;
	over->has[OPT_SCOPE] = true;
	over->scope = SCOPE_SHARED;
	over->origin[OPT_SCOPE] = agent_file;
	settings_override(&w->a, &w->c.base, over, false);
	assert_int_equal(w->c.base.when, WHEN_OFF);
	assert_int_equal(w->c.base.scope, SCOPE_SHARED);
	assert_int_equal(w->c.base.origin[OPT_SCOPE].line, 9);
	assert_true(w->c.base.has[OPT_SCOPE]);
}

TEST(an_empty_list_that_was_said_is_an_override)
{
	WORLD(w);
	struct settings *over = blank(w);

	over->has[OPT_CAP_DROP] = true;
	settings_override(&w->a, &w->c.base, over, false);
	assert_int_equal(w->c.base.cap_drop.n, 0);
}

TEST(a_shared_sandbox_takes_no_agents_container_settings)
{
	WORLD(w);
	struct settings *over = blank(w);

	over->has[OPT_WORKDIR] = over->has[OPT_WHEN] = true;
	over->workdir = STR("/a");
	over->when = WHEN_ALL;
	settings_override(&w->a, &w->c.base, over, true);
	CHECK_STR(w->c.base.workdir, STR("/workspace"));
	assert_int_equal(w->c.base.when, WHEN_ALL);
}

TEST(binds_of_the_agent_come_behind_the_base)
{
	static const struct bind one = { .raw = { "/a:/a", 5 } }, two = { .raw = { "/b:/b", 5 } };
	WORLD(w);
	struct settings *over = blank(w);

	w->c.base.binds = (struct binds){ .v = &one, .n = 1 };
	over->has[OPT_BINDS] = true;
	settings_override(&w->a, &w->c.base, over, false);
	assert_int_equal(w->c.base.binds.n, 1);
	over->binds = (struct binds){ .v = &two, .n = 1 };
	settings_override(&w->a, &w->c.base, over, false);
	assert_int_equal(w->c.base.binds.n, 2);
	CHECK_STR(w->c.base.binds.v[1].raw, two.raw);
}

TEST(environment_and_ulimits_merge_by_name_in_place)
{
	static const struct env_var base_env[] = { { .name = { "A", 1 }, .value = { "1", 1 } },
						   { .name = { "B", 1 }, .value = { "2", 1 } } };
	static const struct env_var more_env[] = { { .name = { "B", 1 }, .value = { "3", 1 } },
						   { .name = { "C", 1 }, .value = { "4", 1 } } };
	static const struct map_entry base_map[] = { { .key = { "nofile", 6 }, .value = { "1", 1 } } };
	static const struct map_entry more_map[] = { { .key = { "nproc", 5 }, .value = { "2", 1 } },
						     { .key = { "nofile", 6 }, .value = { "3", 1 } },
						     { .key = { "core", 4 }, .value = { "0", 1 } } };
	WORLD(w);
	struct settings *over = blank(w);

	w->c.base.env_set = (struct env_vars){ .v = base_env, .n = 2 };
	w->c.base.ulimits = (struct map){ .v = base_map, .n = 1 };
	over->has[OPT_ENV_SET] = over->has[OPT_ULIMITS] = true;
	over->env_set = (struct env_vars){ .v = more_env, .n = 2 };
	over->ulimits = (struct map){ .v = more_map, .n = 3 };
	settings_override(&w->a, &w->c.base, over, false);
	assert_int_equal(w->c.base.env_set.n, 3);
	CHECK_STR(w->c.base.env_set.v[1].name, STR("B"));
	CHECK_STR(w->c.base.env_set.v[1].value, STR("3"));
	CHECK_STR(w->c.base.env_set.v[2].name, STR("C"));
	assert_int_equal(w->c.base.ulimits.n, 3);
	CHECK_STR(w->c.base.ulimits.v[2].key, STR("core"));
	CHECK_STR(w->c.base.ulimits.v[0].value, STR("3"));
}

TEST(a_full_arena_keeps_the_base_and_is_noticed)
{
	static const struct bind one = { .raw = { "/a:/a", 5 } };
	static const struct env_var var = { .name = { "A", 1 } };
	static const struct map_entry entry = { .key = { "nofile", 6 } };
	struct arena tiny;
	WORLD(w);
	struct settings *over = blank(w);

	arena_init(&tiny, 1);
	w->c.base.binds = over->binds = (struct binds){ .v = &one, .n = 1 };
	over->env_set = (struct env_vars){ .v = &var, .n = 1 };
	over->ulimits = (struct map){ .v = &entry, .n = 1 };
	over->has[OPT_BINDS] = over->has[OPT_ENV_SET] = over->has[OPT_ULIMITS] = true;
	settings_override(&tiny, &w->c.base, over, false);
	assert_true(tiny.failed);
	assert_int_equal(w->c.base.binds.n, 1);
	arena_done(&tiny);
}

TEST(a_rule_lays_its_limits_over_the_agents)
{
	static struct settings over;
	static struct trust_rule rule = { .match = { "ci:*", 4 }, .trust = TRUST_NONE, .over = &over };
	WORLD(w);

	over.has[OPT_TIMEOUT_S] = true;
	over.timeout_s = 7;
	over.origin[OPT_TIMEOUT_S] = base_file;
	w->c.rules = &rule;
	w->c.n_rules = 1;
	ask_for(w, "ci:x", "read");
	assert_int_equal(w->d.eff.timeout_s, 7);
	ask_for(w, "other:x", "read");
	assert_int_equal(w->d.eff.timeout_s, 30);
}

TEST_MAIN()
