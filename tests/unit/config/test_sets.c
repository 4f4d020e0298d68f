/* SPDX-License-Identifier: Apache-2.0 */
/* -e key=value and -e '{json}' */
#include "config/loading.h"

static int load_set_arg_text(struct loading *w, const char *arg)
{
	loading_init(w);
	use_set(w, arg);
	return load_it(w);
}

TEST(every_default_can_be_given_as_a_flag)
{
	for (unsigned i = 0; i < OPT_COUNT_; i++) {
		const struct option_info *info = option_info((enum option)i);
		_cleanup_loading_ struct loading w = { 0 };

		if (!info->def[0])
			continue;
		loading_init(&w);
		use_set(&w, arena_printf(&w.a, "%s=%s", info->key, info->def).p);
		load_it(&w);
		CHECK_CASE(w.r == 0, "%s=%s: %s", info->key, info->def, told(&w));
		CHECK_CASE(w.c->base.has[i] && w.c->base.origin[i].kind == ORIGIN_FLAG, "%s", info->key);
	}
}

TEST(text_becomes_a_value_of_the_options_type)
{
	_cleanup_loading_ struct loading w = { 0 };

	loading_init(&w);
	use_set(&w, "backend.readOnlyRoot=false");
	use_set(&w, "limits.pids=7");
	use_set(&w, "limits.cpus=1.5");
	use_set(&w, "limits.memory=1g");
	use_set(&w, "tools.allow=read, write");
	use_set(&w, "tools.deny=");
	use_set(&w, "env.set=A=1,B=${C}");
	use_set(&w, "env.set={\"D\": \"x,y=z\"}");
	use_set(&w, "mounts.binds=/a:/b:ro,/c:/d");
	use_set(&w, "tools.elevated.allowFrom={telegram:[1]}");
	use_set(&w, "backend.image=a=b");
	use_set(&w, "tools.per.shell.enforce=require");
	use_set(&w, "tools.per.exec.ttl=60");
	load_it(&w);
	CHECK_LOADS(&w);
	assert_false(w.c->base.readonly_root);
	assert_int_equal(w.c->base.pids, 7);
	assert_true(w.c->base.cpus > 1.4 && w.c->base.cpus < 1.6);
	assert_int_equal(w.c->base.memory, 1 << 30);
	CHECK_LIST(&w, w.c->base.tools_allow, "read,write");
	assert_true(w.c->base.has[OPT_TOOLS_DENY]);
	assert_int_equal(w.c->base.tools_deny.n, 0);
	assert_int_equal(w.c->base.env_set.n, 3);
	assert_int_equal(w.c->base.env_set.v[1].kind, ENV_SECRET);
	CHECK_STR(w.c->base.env_set.v[2].value, STR("x,y=z"));
	assert_int_equal(w.c->base.binds.n, 2);
	assert_true(w.c->base.binds.v[0].readonly);
	CHECK_LIST(&w, w.c->base.elev_allow.v[0].values, "1");
	CHECK_STR(w.c->base.image, STR("a=b"));
	assert_int_equal(w.c->n_per_tool, 1);
	assert_int_equal(w.c->per_tool[0].enforce, ENFORCE_REQUIRE);
	assert_int_equal(w.c->per_tool[0].ttl_s, 60);
}

TEST(an_object_takes_dotted_keys_and_whole_sections)
{
	_cleanup_loading_ struct loading w = { 0 };

	load_set_arg_text(
		&w, "{'limits.pids': 9, mode: {when: 'all', trust: {rules: [{match: 'x', trust: 'light'}]}}, "
		    "agents: {a: {default: true}}, 'tools.per.browser.ttl': 5}");
	CHECK_LOADS(&w);
	assert_int_equal(w.c->base.pids, 9);
	assert_int_equal(w.c->base.when, WHEN_ALL);
	assert_int_equal(w.c->n_rules, 1);
	assert_true(w.c->agents[0].is_default);
	assert_int_equal(w.c->per_tool[0].ttl_s, 5);
	assert_int_equal(w.c->base.origin[OPT_WHEN].kind, ORIGIN_FLAG);
	CHECK_STR(w.c->base.origin[OPT_WHEN].name, STR("-e mode"));
}

TEST(a_wrong_flag_is_told_with_its_key)
{
	static const struct {
		const char *arg, *want;
	} cases[] = {
		{ "limits.pdis=1",
		  "flag -e limits.pdis: limits.pdis: unknown key, accepted: an option's dotted key or a sandbox_* "
		  "variable; did you mean 'limits.pids'?\n" },
		{ "nothing.like.it=1", "flag -e nothing.like.it: nothing.like.it: unknown key" },
		{ "limits.pids=many", "flag -e limits.pids: limits.pids: expected an integer, found 'many'" },
		{ "limits.pids=", "flag -e limits.pids: limits.pids: expected an integer" },
		{ "limits.pids=-1", "limits.pids: expected an integer, found '-1'" },
		{ "limits.pids=99999999999999999999", "limits.pids: expected an integer" },
		{ "backend.readOnlyRoot=maybe",
		  "backend.readOnlyRoot: expected true or false, found 'maybe'" },
		{ "limits.cpus=x", "limits.cpus: expected a number, found 'x'" },
		{ "mode.when=sometimes", "mode.when: unknown value 'sometimes'" },
		{ "limits.pids", "flag -e: no key=value, accepted: key=value or {json}" },
		{ "=1", "flag -e: no key=value" },
		{ "", "flag -e: no key=value" },
		{ "backend.image=\xff", "flag -e: not UTF-8" },
		{ "{\"a\":", "flag -e: json:1:" },
		{ "{limits: 1}", "flag -e limits: limits: expected an object" },
		{ "{'limits.pids': 'x'}", "flag -e limits.pids: limits.pids: expected an integer" },
		{ "tools.allow=[1", "tools.allow: value:1:" },
		{ "env.set=A", "env.set: expected NAME=value" },
		{ "tools.byProvider=x", "tools.byProvider: value:1:1" },
		{ "tools.per.x.y=1",
		  "flag -e tools.per.x.y: tools.per.x.y: unknown key 'y', accepted: enforce, template, ttl" },
		{ "tools.per.x.enforce=maybe", "tools.per.x.enforce: unknown value 'maybe'" },
		{ "tools.per..ttl=1", "unknown key" },
		{ "mode=all", "flag -e mode: mode: unknown key" },
		{ "version=2", "version: 2 is not in range, accepted: 1 to 1" },
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		_cleanup_loading_ struct loading w = { 0 };

		load_set_arg_text(&w, cases[i].arg);
		CHECK_TOLD(&w, cases[i].want);
	}
}

TEST(a_profile_can_be_chosen_by_a_flag_of_either_kind)
{
	static const char *const args[] = { "profile=ci", "{\"profile\": \"ci\"}", "profile = ci" };

	for (size_t i = 0; i < sizeof(args) / sizeof(args[0]); i++) {
		_cleanup_loading_ struct loading w = { 0 };

		load_set_arg_text(&w, args[i]);
		CHECK_LOADS(&w);
		assert_int_equal(w.c->base.profile, PROFILE_CI);
		assert_int_equal(w.c->base.pids, 512);
	}
}

TEST_MAIN()
