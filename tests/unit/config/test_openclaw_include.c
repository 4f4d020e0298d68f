/* SPDX-License-Identifier: Apache-2.0 */
/* $include: what is merged how, and what is never read. */
#include "config/claw.h"

static int load_main(struct loading *w)
{
	use_file(w, "openclaw:openclaw.json");
	return load_it(w);
}

TEST(files_are_merged_from_left_to_right_and_what_stands_beside_wins)
{
	_cleanup_loading_ struct loading w;

	load_data(&w, "split.json5");
	CHECK_LOADS(&w);
	assert_int_equal(w.c->base.when, WHEN_ALL);
	assert_int_equal(w.c->base.scope, SCOPE_AGENT);
	assert_int_equal(w.c->base.binds.n, 2); /* lists are put one after the other */
	CHECK_STR(w.c->base.binds.v[0].target, STR("/a"));
	CHECK_STR(w.c->base.binds.v[1].target, STR("/b"));
	assert_int_equal(w.c->base.tools_profile, TOOL_PROFILE_MINIMAL);
	CHECK_LIST(&w, w.c->base.tools_deny, "gateway");
}

TEST(a_value_knows_the_included_file_that_it_stands_in)
{
	_cleanup_loading_ struct loading w;

	load_data(&w, "split.json5");
	CHECK_LOADS(&w);
	assert_true(str_ends(w.c->base.origin[OPT_SCOPE].name, STR("openclaw/conf.d/sandbox.json5")));
	assert_int_equal(w.c->base.origin[OPT_SCOPE].line, 6);
	assert_true(str_ends(w.c->base.origin[OPT_WHEN].name, STR("openclaw/split.json5")));
	assert_int_equal(w.c->base.origin[OPT_WHEN].line, 3);
	assert_true(str_ends(w.c->base.origin[OPT_TOOLS_DENY].name, STR("conf.d/deny.json5")));
}

TEST(a_mistake_in_an_included_file_is_told_with_its_name)
{
	_cleanup_loading_ struct loading w;

	loading_init(&w);
	put_file(&w, "openclaw.json", "{agents:{$include:'a.json5'}}");
	put_file(&w, "a.json5", "{\n defaults: {sandbox: {mod: 'all',\n  scope: 5}}}");
	load_main(&w);
	CHECK_TOLD(&w, "a.json5:2:23: agents.defaults.sandbox.mod: unknown key");
	CHECK_TOLD(&w, "a.json5:3:10: agents.defaults.sandbox.scope: 5 is not accepted");
	assert_false(was_told(&w, "openclaw.json"));
}

TEST(an_include_alone_may_be_any_value_and_beside_keys_an_object)
{
	_cleanup_loading_ struct loading w, v;

	loading_init(&w);
	put_file(&w, "openclaw.json",
		 "{agents:{list:{$include:'l.json5'}},tools:{deny:['a',{$include:'d.json5'}]}}");
	put_file(&w, "l.json5", "[{id:'q',sandbox:{mode:'all'}}]");
	put_file(&w, "d.json5", "'z'");
	load_main(&w);
	CHECK_LOADS(&w);
	assert_int_equal(config_agent(w.c, STR("q"))->over->when, WHEN_ALL);
	CHECK_LIST(&w, w.c->base.tools_deny, "a,z");

	loading_init(&v);
	put_file(&v, "openclaw.json", "{tools:{$include:'d.json5',deny:['x']}}");
	put_file(&v, "d.json5", "['z']");
	load_main(&v);
	CHECK_TOLD(
		&v,
		"openclaw.json:1:18: $include: with keys beside it, $include needs a file that holds an object");
}

TEST(an_empty_list_of_files_is_an_empty_object)
{
	_cleanup_loading_ struct loading w;

	load_claw(&w, "{$include:[],tools:{deny:['x']}}");
	CHECK_LOADS(&w);
	CHECK_LIST(&w, w.c->base.tools_deny, "x");
}

TEST(keys_that_javascript_reserves_do_not_survive_a_merge)
{
	_cleanup_loading_ struct loading w;

	loading_init(&w);
	w.in.compat = STR("openclaw-2026.9");
	put_file(&w, "openclaw.json",
		 "{$include:'a.json5',constructor:{},agents:{defaults:{prototype:1,sandbox:{mode:'all'}}}}");
	put_file(&w, "a.json5", "{agents:{defaults:{__proto__:1,sandbox:{scope:'session'}}}}");
	load_main(&w);
	CHECK_LOADS(&w);
	assert_int_equal(w.c->base.when, WHEN_ALL);
	assert_int_equal(w.c->base.scope, SCOPE_SESSION);
}

TEST(what_cannot_or_may_not_be_included_is_one_clear_line)
{
	static const struct refusal cases[] = {
		{ "{$include:'./nope.json5'}",
		  "openclaw.json:1:11: $include: cannot read './nope.json5': No such file" },
		{ "{agents:{$include:'../../../etc/passwd'}}",
		  "openclaw.json:1:19: $include: '../../../etc/passwd' lies outside of the configuration's directory" },
		{ "{$include:'/etc/passwd'}", "'/etc/passwd' lies outside" },
		{ "{$include:'sub/../../x'}", "lies outside" },
		{ "{$include:'~/x.json5'}", "cannot read '~/x.json5'" },
		{ "{$include:5}",
		  "openclaw.json:1:11: $include: a file name or a list of file names is accepted, not integer" },
		{ "{$include:[5]}", "$include: a file name is accepted" },
		{ "{$include:{}}", "not object" },
		{ "{$include:''}", "a path of 1..4095 bytes without NUL is accepted" },
		{ "{$include:'a\\u0000b'}", "without NUL" },
		{ "{$include:'.'}", "'.' is not a regular file" },
		{ "{$include:'openclaw.json'}", "'openclaw.json' includes itself" },
	};

	CHECK_REFUSALS(cases, true);
}

TEST(a_loop_is_found_however_long_it_is)
{
	_cleanup_loading_ struct loading w;

	loading_init(&w);
	put_file(&w, "openclaw.json", "{$include:'a.json5'}");
	put_file(&w, "a.json5", "{tools:{$include:'sub/b.json5'}}");
	put_file(&w, "sub/b.json5", "{\n $include:'.././sub/../a.json5'}");
	load_main(&w);
	CHECK_TOLD(&w, "sub/b.json5:2:11: $include: '.././sub/../a.json5' includes itself");
}

TEST(the_same_file_may_be_included_in_two_branches)
{
	_cleanup_loading_ struct loading w;

	loading_init(&w);
	put_file(&w, "openclaw.json",
		 "{agents:{entries:{a:{$include:'x.json5'},b:{$include:'x.json5',default:true}}}}");
	put_file(&w, "x.json5", "{sandbox:{mode:'all'}}");
	load_main(&w);
	CHECK_LOADS(&w);
	assert_int_equal(config_agent(w.c, STR("a"))->over->when, WHEN_ALL);
	assert_int_equal(config_agent(w.c, STR("b"))->over->when, WHEN_ALL);
}

TEST(ten_levels_load_and_the_eleventh_does_not)
{
	for (int levels = 10; levels <= 11; levels++) {
		_cleanup_loading_ struct loading w;

		loading_init(&w);
		put_file(&w, "openclaw.json", "{$include:'f1'}");
		for (int i = 1; i < levels; i++)
			put_file(&w, arena_printf(&w.a, "f%d", i).p,
				 arena_printf(&w.a, "{$include:'f%d'}", i + 1).p);
		put_file(&w, arena_printf(&w.a, "f%d", levels).p,
			 "{agents:{defaults:{sandbox:{mode:'all'}}}}");
		load_main(&w);
		if (levels == 10)
			CHECK_LOADS(&w);
		else
			CHECK_TOLD(&w, "f10:1:11: $include: accepted are 10 levels of includes");
	}
}

TEST(a_link_out_of_the_directory_is_not_followed_and_one_inside_is)
{
	_cleanup_loading_ struct loading w, v, d;

	loading_init(&w);
	put_file(&w, "openclaw.json", "{$include:'link.json5'}");
	assert_int_equal(symlink("/etc/hostname", path_of(&w, "link.json5").p), 0);
	load_main(&w);
	CHECK_TOLD(&w, "'link.json5' leads out of the configuration's directory through a link");

	loading_init(&v);
	put_file(&v, "openclaw.json", "{$include:'link.json5'}");
	put_file(&v, "real.json5", "{tools:{deny:['x']}}");
	assert_int_equal(symlink(path_of(&v, "real.json5").p, path_of(&v, "link.json5").p), 0);
	load_main(&v);
	CHECK_LOADS(&v);

	loading_init(&d);
	put_file(&d, "openclaw.json", "{$include:'dir/hostname'}");
	assert_int_equal(symlink("/etc", path_of(&d, "dir").p), 0);
	load_main(&d);
	CHECK_TOLD(&d, "leads out of the configuration's directory");
}

TEST(a_file_of_two_names_or_no_file_at_all_is_refused)
{
	_cleanup_loading_ struct loading w, v;

	loading_init(&w);
	put_file(&w, "openclaw.json", "{$include:'a.json5'}");
	put_file(&w, "b.json5", "{}");
	assert_int_equal(link(path_of(&w, "b.json5").p, path_of(&w, "a.json5").p), 0);
	load_main(&w);
	CHECK_TOLD(&w, "'a.json5' is hard-linked, accepted is a plain file of one name");

	loading_init(&v);
	put_file(&v, "openclaw.json", "{$include:'fifo'}");
	assert_int_equal(mkfifo(path_of(&v, "fifo").p, 0600), 0);
	load_main(&v);
	CHECK_TOLD(&v, "'fifo' is not a regular file");
}

TEST(a_file_above_two_mebibytes_or_with_bad_syntax_is_refused)
{
	_cleanup_loading_ struct loading w, v, e;
	char *big = malloc(3 << 20);

	assert_non_null(big);
	memset(big, ' ', 3 << 20);
	loading_init(&w);
	put_file(&w, "openclaw.json", "{$include:'big.json5'}");
	(void)put_bytes(&w, "big.json5", (struct str){ big, 3 << 20 });
	free(big);
	load_main(&w);
	CHECK_TOLD(&w, "'big.json5' cannot be read or is larger than 2 MiB");

	loading_init(&v);
	put_file(&v, "openclaw.json", "{$include:'a.json5'}");
	put_file(&v, "a.json5", "{\n tools:");
	load_main(&v);
	CHECK_TOLD(&v, "openclaw.json:1:11: $include: a.json5:2:8");

	loading_init(&e);
	put_file(&e, "openclaw.json", "{$include:'a.json5'}");
	put_file(&e, "a.json5", "");
	load_main(&e);
	CHECK_TOLD(&e, "a.json5:1:1");
}

TEST(further_roots_come_from_a_variable)
{
	_cleanup_loading_ struct loading w, root;

	loading_init(&root);
	put_file(&root, "x.json5", "{tools:{deny:['x']}}");
	loading_init(&w);
	put_file(&w, "openclaw.json", arena_printf(&w.a, "{$include:'%s/x.json5'}", root.dir).p);
	use_file(&w, "openclaw:openclaw.json");
	use_env(&w, arena_printf(&w.a, "OPENCLAW_INCLUDE_ROOTS=rel::/nowhere:%s", root.dir).p);
	load_it(&w);
	CHECK_LOADS(&w);
	CHECK_LIST(&w, w.c->base.tools_deny, "x");
}

TEST_MAIN()
