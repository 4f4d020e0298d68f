/* SPDX-License-Identifier: Apache-2.0 */
/* The roster of openclaw.json: ids, the older list, the default agent, who owns a call. */
#include "config/claw.h"

TEST(entries_keep_their_ids_in_lower_case)
{
	_cleanup_loading_ struct loading w;

	load_claw(&w, "{agents:{entries:{Main:{default:true},_x:{},'a-':{}}}}");
	CHECK_LOADS(&w);
	assert_true(w.c->has_roster);
	assert_int_equal(w.c->n_agents, 3);
	CHECK_STR(w.c->agents[0].id, STR("main"));
	assert_true(w.c->agents[0].is_default);
	CHECK_STR(w.c->agents[1].id, STR("_x"));
	CHECK_STR(w.c->agents[2].id, STR("a-"));
}

TEST(ids_of_a_list_are_normalised_with_a_warning)
{
	static const struct {
		const char *id, *want;
	} cases[] = {
		{ "My Agent", "my-agent" },
		{ "  Ops ", "ops" },
		{ "a//b", "a-b" },
		{ "--x--", "x" },
		{ "_x", "_x" },
		{ "X-", "x-" },
		{ "!!", "main" },
		{ "\xc3\xa9t\xc3\xa9", "t" },
		{ "ab!", "ab" },
		{ "a b_c-d", "a-b_c-d" },
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		_cleanup_loading_ struct loading w;

		loading_init(&w);
		load_text_as(&w, "openclaw:openclaw.json",
			     arena_printf(&w.a, "{agents:{list:[{id:'%s'}]}}", cases[i].id).p);
		CHECK_LOADS(&w);
		CHECK_CASE(str_eq(w.c->agents[0].id, str_z(cases[i].want)), "'%s' became '%.*s'", cases[i].id,
			   (int)w.c->agents[0].id.n, w.c->agents[0].id.p);
		CHECK_CASE(strcmp(cases[i].id, cases[i].want) == 0 ||
				   was_told(&w, "agents.list[0]: the id is taken as"),
			   "%s", cases[i].id);
	}
}

TEST(rosters_that_leave_the_owner_of_a_call_open_are_refused)
{
	static const struct refusal cases[] = {
		{ "{agents:{entries:{a:{},b:{}}}}",
		  "agents.entries: several agents, and none is the default, accepted: one with" },
		{ "{agents:{entries:{a:{default:true},b:{default:true}}}}",
		  "2 agents have 'default: true', accepted: one" },
		{ "{agents:{ownership:'explicit',entries:{a:{default:true},b:{}}}}",
		  "contradict each other" },
		{ "{agents:{ownership:'explicit'}}", "ownership 'explicit' needs agents" },
		{ "{agents:{ownership:'explicit',entries:{}}}", "ownership 'explicit' needs agents" },
		{ "{agents:{entries:{A:{default:true},a:{}}}}",
		  "agents.entries.a: another agent has the same id, accepted: one of each" },
		{ "{agents:{entries:{'My Agent':{}}}}",
		  "agents.entries.My Agent: not the id of an agent, accepted: 1..64" },
		{ "{agents:{entries:{'-a':{}}}}", "not the id of an agent" },
		{ "{agents:{entries:{'':{}}}}", "not the id of an agent" },
		{ "{agents:{list:[{id:'a'}],entries:{b:{}}}}",
		  "agents.list: not accepted, accepted: agents.entries or a list" },
		{ "{agents:{list:{}}}", "agents.list: not accepted" },
		{ "{agents:{list:null}}", "agents.list: not accepted" },
		{ "{agents:{list:[{name:'x'}]}}", "agents.list[0]: an agent needs an 'id'" },
		{ "{agents:{list:[5]}}", "agents.list[0]: an agent needs an 'id'" },
		{ "{agents:{list:[{id:5}]}}", "agents.list[0]: an agent needs an 'id'" },
		{ "{agents:{list:[{id:'a',default:true},{id:'a'}]}}",
		  "agents.list[1]: another agent has the same id" },
		{ "{agents:{list:[{id:'a',sandbox:{mode:'x'}}]}}",
		  "agents.list[0].sandbox.mode: 'x' is not accepted" },
	};

	CHECK_REFUSALS(cases, true);
}

TEST(an_id_is_not_taken_from_a_variable)
{
	_cleanup_loading_ struct loading w;

	loading_init(&w);
	use_env(&w, "S=hunter2");
	load_text_as(&w, "openclaw:openclaw.json", "{agents:{list:[{id:'${S}'}]}}");
	CHECK_TOLD(&w, "agents.list[0]: an id cannot come from a variable");
	assert_false(was_told(&w, "hunter2"));
}

TEST(of_an_older_list_the_first_is_the_default_and_upstream_refuses_it)
{
	_cleanup_loading_ struct loading w, v;

	load_claw(&w, "{agents:{list:[{id:'a'},{id:'b'}]}}");
	CHECK_LOADS(&w);
	assert_true(config_agent(w.c, STR("a"))->is_default);
	assert_false(config_agent(w.c, STR("b"))->is_default);
	assert_true(was_told(&w, "agents.list: no agent has 'default: true': the first one counts"));
	load_compat(&v, "{agents:{list:[{id:'a'},{id:'b'}]}}");
	CHECK_TOLD(&v, "several agents, and none is the default");
}

TEST(upstream_converts_only_a_list_in_which_nothing_is_to_be_guessed)
{
	static const char *const fine[] = { "[{id:'a'}]", "[{id:'a',default:true},{id:'b'}]", "[]",
					    "[{id:'_x'}]" };
	static const char *const guessed[] = { "[{id:'A'}]", "[{id:' a'}]", "[{id:'a',default:1}]",
					       "[{id:'a b'}]", "[{id:'__proto__'}]" };

	for (size_t i = 0; i < sizeof(fine) / sizeof(fine[0]); i++) {
		_cleanup_loading_ struct loading w;

		loading_init(&w);
		w.in.compat = STR("openclaw-2026.9");
		load_text_as(&w, "openclaw:openclaw.json",
			     arena_printf(&w.a, "{agents:{list:%s}}", fine[i]).p);
		CHECK_LOADS(&w);
	}
	for (size_t i = 0; i < sizeof(guessed) / sizeof(guessed[0]); i++) {
		_cleanup_loading_ struct loading w;

		loading_init(&w);
		w.in.compat = STR("openclaw-2026.9");
		load_text_as(&w, "openclaw:openclaw.json",
			     arena_printf(&w.a, "{agents:{list:%s}}", guessed[i]).p);
		CHECK_CASE(w.r < 0, "loads: %s", guessed[i]);
	}
}

TEST(explicit_ownership_and_no_owner_at_all_load)
{
	_cleanup_loading_ struct loading w, one;

	load_claw(&w, "{agents:{ownership:'explicit',entries:{a:{},b:{}}}}");
	CHECK_LOADS(&w);
	assert_int_equal(w.c->base.ownership, OWNERSHIP_EXPLICIT);
	assert_false(w.c->agents[0].is_default || w.c->agents[1].is_default);
	load_claw(&one, "{agents:{entries:{solo:{}}}}");
	CHECK_LOADS(&one);
	assert_int_equal(one.c->n_agents, 1);
}

TEST(more_than_a_thousand_agents_are_refused_quickly)
{
	static const char *const open[] = { "{agents:{ownership:'explicit',entries:{", "{agents:{list:[" };
	static const char *const close[] = { "}}}", "]}}" };

	for (int k = 0; k < 2; k++) {
		_cleanup_loading_ struct loading w;
		struct buf b;

		loading_init(&w);
		buf_init(&b, 1 << 22);
		buf_puts(&b, open[k]);
		for (int i = 0; i < 20000; i++)
			buf_printf(&b, k ? "{id:'a%d'}," : "a%d:{},", i);
		buf_puts(&b, close[k]);
		load_text_as(&w, "openclaw:openclaw.json", b.p);
		buf_done(&b);
		CHECK_TOLD(&w, "at most 1000");
	}
}

TEST(references_to_agents_that_do_not_exist_are_refused_as_upstream_does)
{
	static const char *const texts[] = {
		"{agents:{defaults:{heartbeat:{agentId:'x'}}}}",
		"{agents:{defaults:{systemAgent:{agentId:'x'}}}}",
		"{agents:{entries:{a:{}}},bindings:[{agentId:'b',match:{channel:'x'}}]}",
		"{agents:{entries:{a:{}}},broadcast:{'x:1':['b']}}",
		"{agents:{entries:{a:{default:true,agentDir:'/d'},b:{agentDir:'/d/'}}}}",
		"{bindings:[{type:'acp',agentId:'main',match:{channel:'x'}}]}",
		"{bindings:[{agentId:'main',match:{channel:'x'},acp:{}}]}"
	};
	_cleanup_loading_ struct loading fine;

	for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
		_cleanup_loading_ struct loading w;

		load_compat(&w, texts[i]);
		CHECK_CASE(w.r < 0, "loads: %s", texts[i]);
	}
	load_compat(
		&fine,
		"{agents:{entries:{a:{}}},bindings:[{agentId:'main',match:{channel:'x'}},{agentId:'A',match:{channel:'x'}}]}");
	CHECK_LOADS(&fine);
}

TEST_MAIN()
