/* SPDX-License-Identifier: Apache-2.0 */
/* Where OpenClaw keeps its own things, and what its second reading of a file knows. Both only under compat. */
#include "config/claw.h"

static const char *below(struct loading *w, const char *name)
{
	return path_of(w, name).p;
}

static void check_dirs(const char *env, const char *text, const char *state, const char *workspace)
{
	_cleanup_loading_ struct loading w;

	loading_init(&w);
	w.in.compat = STR("openclaw-2026.9");
	if (env)
		use_env(&w, env);
	load_text_as(&w, "openclaw:openclaw.json", text);
	CHECK_LOADS(&w);
	CHECK_STR(w.c->openclaw.state, str_z(state[0] == '/' ? state : below(&w, state)));
	CHECK_STR(w.c->openclaw.workspace, str_z(workspace[0] == '/' ? workspace : below(&w, workspace)));
}

TEST(its_variables_move_its_directories_from_outside_and_from_the_file)
{
	check_dirs(NULL, "{}", ".openclaw", ".openclaw/workspace");
	check_dirs("OPENCLAW_STATE_DIR=/q", "{}", "/q", "/q/workspace");
	check_dirs("OPENCLAW_STATE_DIR= ~/q/ ", "{}", "q", "q/workspace");
	check_dirs("OPENCLAW_WORKSPACE_DIR=rel//w", "{}", ".openclaw", "rel/w");
	check_dirs("OPENCLAW_HOME=/h", "{}", "/h/.openclaw", "/h/.openclaw/workspace");
	check_dirs("OPENCLAW_HOME=~/h", "{}", "h/.openclaw", "h/.openclaw/workspace");
	check_dirs("OPENCLAW_HOME=undefined", "{}", ".openclaw", ".openclaw/workspace");
	check_dirs("OPENCLAW_PROFILE=Work-1", "{}", ".openclaw", ".openclaw-Work-1/workspace");
	check_dirs("OPENCLAW_PROFILE=Default", "{}", ".openclaw", ".openclaw/workspace");
	check_dirs(NULL, "{env:{vars:{OPENCLAW_STATE_DIR:'/q'}}}", "/q", "/q/workspace");
	check_dirs(NULL, "{env:{vars:{OPENCLAW_HOME:'/h',OPENCLAW_WORKSPACE_DIR:'/w'}}}", "/h/.openclaw",
		   "/w");
	check_dirs("OPENCLAW_STATE_DIR=/q", "{env:{vars:{OPENCLAW_STATE_DIR:'/r'}}}", "/q", "/q/workspace");
}

TEST(a_profile_is_one_word)
{
	_cleanup_loading_ struct loading w;

	load_compat(&w, "{env:{vars:{OPENCLAW_PROFILE:'a/b'}}}");
	assert_true(w.r < 0);
	CHECK_TOLD(&w, "OPENCLAW_PROFILE is not accepted, accepted: letters, digits");
}

TEST(a_tilde_is_the_home_that_openclaw_has)
{
	_cleanup_loading_ struct loading w;

	loading_init(&w);
	w.in.compat = STR("openclaw-2026.9");
	use_env(&w, "OPENCLAW_HOME=/h");
	load_text_as(
		&w, "openclaw:openclaw.json",
		"{agents:{defaults:{workspace:' ~/x/ ',sandbox:{workspaceRoot:'~',docker:{workdir:'~\\\\y'}}}}}");
	CHECK_LOADS(&w);
	CHECK_STR(w.c->base.ws_path, STR("/h/x"));
	CHECK_STR(w.c->base.ws_root, STR("/h"));
	CHECK_STR(w.c->base.workdir, STR("/h\\y"));
}

/* The second reading looks where the variables of the first say. */
static void check_moved(const char *vars, enum when want)
{
	_cleanup_loading_ struct loading w;

	loading_init(&w);
	w.in.compat = STR("openclaw-2026.9");
	put_file(&w, "q/openclaw.json", "{agents:{defaults:{sandbox:{mode:'all'}}}}");
	load_text_as(
		&w, "openclaw:openclaw.json",
		arena_printf(&w.a, "{env:{vars:{%s}},agents:{defaults:{sandbox:{mode:'non-main'}}}}", vars)
			.p);
	CHECK_LOADS(&w);
	CHECK_CASE(w.c->base.when == (int)want, "%s", vars);
}

TEST(a_file_that_moves_openclaw_is_read_once_and_another_one_counts)
{
	check_moved("A:'/q'", WHEN_NON_MAIN);
	check_moved("OPENCLAW_STATE_DIR:'/nowhere'", WHEN_OFF);
	check_moved("OPENCLAW_STATE_DIR:'~/q'", WHEN_ALL);
	check_moved("OPENCLAW_STATE_DIR:'${V}',V:'~/q'", WHEN_ALL);
	check_moved("OPENCLAW_CONFIG_PATH:'q/openclaw.json'", WHEN_ALL);
	check_moved("OPENCLAW_STATE_DIR:'~/.openclaw'", WHEN_NON_MAIN);
	check_moved("OPENCLAW_HOME:'/nowhere'", WHEN_OFF);
}

TEST(documents_mode_knows_none_of_it)
{
	_cleanup_loading_ struct loading w;

	load_claw(&w, "{env:{vars:{OPENCLAW_STATE_DIR:'/q'}},session:{store:'/s'},"
		      "agents:{entries:{a:{default:true},b:{}}}}");
	CHECK_LOADS(&w);
	CHECK_STR(w.c->openclaw.state, STR(""));
	CHECK_STR(w.c->store_owner, STR(""));
}

TEST(one_store_for_all_agents_has_an_owner)
{
	static const struct {
		const char *text, *owner;
	} cases[] = {
		{ "{session:{store:'/s'},agents:{entries:{a:{default:true},b:{}}}}", "a" },
		{ "{session:{store:'/s'},agents:{defaults:{sessionStore:{agentId:'B'}},entries:{a:{default:true},b:{}}}}",
		  "b" },
		{ "{session:{store:'/s'},agents:{defaults:{sessionStore:{agentId:'gone'}}}}", "gone" },
		{ "{session:{store:'/s'},agents:{entries:{a:{default:true}}}}", "" },
		{ "{session:{store:'/s'},agents:{ownership:'explicit',entries:{a:{},b:{}}}}", "" },
		{ "{session:{store:'/s/{agentId}'},agents:{entries:{a:{default:true},b:{}}}}", "" },
		{ "{session:{store:' '},agents:{entries:{a:{default:true},b:{}}}}", "" },
		{ "{agents:{entries:{a:{default:true},b:{}}}}", "" },
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		_cleanup_loading_ struct loading w;

		load_compat(&w, cases[i].text);
		CHECK_LOADS(&w);
		CHECK_CASE(str_eq(w.c->store_owner, str_z(cases[i].owner)), "%s", cases[i].text);
	}
}

static void check_root(const char *vars, const char *root, const char *want)
{
	_cleanup_loading_ struct loading w;

	loading_init(&w);
	w.in.compat = STR("openclaw-2026.9");
	load_text_as(&w, "openclaw:openclaw.json",
		     arena_printf(&w.a, "{env:{vars:{%s}},agents:{defaults:{sandbox:{workspaceRoot:'%s'}}}}",
				  vars, root)
			     .p);
	CHECK_LOADS(&w);
	CHECK_CASE(str_eq(w.c->base.ws_root, str_z(want)), "%s: %s became " STR_FMT, vars, root,
		   STR_ARG(w.c->base.ws_root));
}

TEST(a_variable_may_refer_to_another_one_and_no_further)
{
	check_root("V:'${A}',A:'/q'", "${V}", "/q");
	check_root("A:'/q',V:'${A}/r'", "${V}", "/q/r");
	check_root("V:'${A}',A:'${B}',B:'/b'", "${V}|${A}", "${V}|/b");
	check_root("V:'${NO}'", "${V}", "${V}");
	check_root("'':'${NO}'", "${V}", "${V}");
	check_root("LD_V:'${A}',A:'/q'", "${LD_V}", "${LD_V}");
	check_root("V:'${A}$${B}',A:'/q'", "${V}", "${V}");
}

TEST(what_the_first_reading_refuses_stays_refused)
{
	_cleanup_loading_ struct loading w, v;

	load_compat(&w, "{env:{vars:{M:'${A}',A:'all'}},agents:{defaults:{sandbox:{mode:'${M}'}}}}");
	assert_true(w.r < 0);
	load_compat(&v, "{env:{vars:{M:'${A}',A:'all'}},agents:{defaults:{sandbox:{mode:'${A}'}}}}");
	CHECK_LOADS(&v);
	assert_int_equal(v.c->base.when, WHEN_ALL);
}

TEST_MAIN()
