/* SPDX-License-Identifier: Apache-2.0 */
/* Which files are read, in which order they count, and what happens when one cannot be read. */
#include "config/loading.h"

TEST(nothing_to_read_is_fine)
{
	_cleanup_loading_ struct loading w = { 0 };

	loading_init(&w);
	w.in.no_default_file = false;
	load_it(&w);
	CHECK_LOADS(&w);
	assert_int_equal(w.c->n_imports, 0);
	assert_int_equal(w.c->formats, 0);
}

/* A config that says `image: name` and nothing else. */
static void put_image(struct loading *w, const char *path, const char *image)
{
	put_file(w, path, arena_printf(&w->a, "{backend:{image:'%s'}}", image).p);
}

TEST(the_default_file_is_the_one_in_config_then_the_one_in_openclaw)
{
	_cleanup_loading_ struct loading w = { 0 }, v = { 0 };

	loading_init(&w);
	w.in.no_default_file = false;
	put_image(&w, ".openclaw/creel.json5", "second");
	load_it(&w);
	CHECK_LOADS(&w);
	CHECK_STR(w.c->base.image, STR("second"));

	loading_init(&v);
	v.in.no_default_file = false;
	(void)mkdir(path_of(&v, ".config").p, 0700);
	put_image(&v, ".config/creel/creel.json5", "first");
	put_image(&v, ".openclaw/creel.json5", "second");
	load_it(&v);
	CHECK_LOADS(&v);
	CHECK_STR(v.c->base.image, STR("first"));
	assert_int_equal(v.c->n_imports, 1);
}

TEST(a_variable_names_the_default_file_and_a_missing_one_is_an_error)
{
	_cleanup_loading_ struct loading w = { 0 }, v = { 0 };

	loading_init(&w);
	w.in.no_default_file = false;
	put_image(&w, "my.json5", "mine");
	put_image(&w, ".openclaw/creel.json5", "second");
	use_env(&w, arena_printf(&w.a, "CREEL_CONFIG=creel:%s/my.json5", w.dir).p);
	load_it(&w);
	CHECK_LOADS(&w);
	CHECK_STR(w.c->base.image, STR("mine"));

	loading_init(&v);
	v.in.no_default_file = false;
	use_env(&v, arena_printf(&v.a, "CREEL_CONFIG=%s/none.json5", v.dir).p);
	load_it(&v);
	CHECK_TOLD(&v, "none.json5: No such file or directory\n");
}

TEST(a_variable_that_names_an_unknown_format_is_an_error)
{
	_cleanup_loading_ struct loading w = { 0 };

	loading_init(&w);
	w.in.no_default_file = false;
	use_env(&w, "CREEL_CONFIG=toml:x");
	load_it(&w);
	CHECK_TOLD(&w, "environment CREEL_CONFIG: 'toml:x': unknown format 'toml'");
}

TEST(athena_settings_in_the_current_directory_are_read_below_the_canonical_file)
{
	_cleanup_loading_ struct loading w = { 0 };

	loading_init(&w);
	w.in.no_default_file = false;
	put_file(&w, ".athena/settings.yaml", "sandbox:\n  default_mode: light\n");
	load_it(&w);
	CHECK_LOADS(&w);
	assert_int_equal(w.c->base.trust_default, TRUST_LIGHT);
	assert_int_equal(w.c->formats, 1u << FORMAT_ATHENA);
	assert_int_equal(w.c->base.profile, PROFILE_ATHENA);
}

TEST(a_canonical_file_wins_over_athena_settings_beside_it)
{
	_cleanup_loading_ struct loading w = { 0 };

	loading_init(&w);
	w.in.no_default_file = false;
	put_file(
		&w, ".athena/settings.yaml",
		"sandbox:\n  default_mode: none\n  rules:\n    - match: \"untrusted:*\"\n      mode: none\n");
	put_file(&w, ".openclaw/creel.json5",
		 "{mode:{trust:{default:'readonly',rules:[{match:'untrusted:*',trust:'docker'}]}}}");
	load_it(&w);
	CHECK_LOADS(&w);
	assert_int_equal(w.c->base.trust_default, TRUST_READONLY);
	assert_int_equal(w.c->rules[0].trust, TRUST_DOCKER);
	assert_int_equal(w.c->rules[1].trust, TRUST_NONE);
}

TEST(no_default_file_is_read_when_a_file_is_named)
{
	_cleanup_loading_ struct loading w = { 0 };

	loading_init(&w);
	w.in.no_default_file = false;
	put_image(&w, ".openclaw/creel.json5", "default");
	load_creel(&w, "{}");
	CHECK_LOADS(&w);
	CHECK_STR(w.c->base.image, STR("openclaw-sandbox:bookworm-slim"));
}

TEST(an_unreadable_default_file_is_an_error_and_not_a_default)
{
	_cleanup_loading_ struct loading w = { 0 };

	loading_init(&w);
	w.in.no_default_file = false;
	put_file(&w, ".openclaw/x", "");
	assert_int_equal(mkdir(path_of(&w, ".openclaw/creel.json5").p, 0700), 0);
	load_it(&w);
	CHECK_TOLD(&w, ".openclaw/creel.json5: Is a directory\n");
}

TEST(each_source_wins_over_the_one_before_it)
{
	static const struct {
		const char *profile, *import, *file, *set, *want;
		enum origin_kind kind;
	} cases[] = {
		{ NULL, NULL, NULL, NULL, "openclaw-sandbox:bookworm-slim", ORIGIN_BUILTIN },
		{ "athena", NULL, NULL, NULL, "athena-sandbox", ORIGIN_PROFILE },
		{ "athena", "import", NULL, NULL, "import", ORIGIN_FILE },
		{ "athena", "import", "file", NULL, "file", ORIGIN_FILE },
		{ "athena", "import", "file", "flag", "flag", ORIGIN_FLAG },
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		_cleanup_loading_ struct loading w = { 0 };
		struct str image = STR("");

		loading_init(&w);
		w.in.profile = cases[i].profile ? str_z(cases[i].profile) : STR("");
		put_image(&w, "first.json5", "an earlier import");
		if (cases[i].import)
			put_image(&w, "import.json5", cases[i].import);
		if (cases[i].file)
			image = arena_printf(&w.a, ",backend:{image:'%s'}", cases[i].file);
		if (cases[i].set)
			use_set(&w, arena_printf(&w.a, "backend.image=%s", cases[i].set).p);
		load_creel(
			&w,
			arena_printf(
				&w.a, "{import:[%s]%.*s}",
				cases[i].import
					? "{format:'creel',path:'first.json5'},{format:'creel',path:'import.json5'}"
					: "",
				(int)image.n, image.p)
				.p);
		CHECK_LOADS(&w);
		CHECK_STR(w.c->base.image, str_z(cases[i].want));
		CHECK_CASE(w.c->base.origin[OPT_IMAGE].kind == cases[i].kind, "case %zu", i);
	}
}

TEST(files_named_one_after_the_other_count_in_that_order)
{
	_cleanup_loading_ struct loading w = { 0 };

	loading_init(&w);
	put_image(&w, "a.json5", "a");
	put_image(&w, "b.json5", "b");
	use_file(&w, "creel:b.json5");
	use_file(&w, "creel:a.json5");
	load_it(&w);
	CHECK_LOADS(&w);
	CHECK_STR(w.c->base.image, STR("a"));
	assert_int_equal(w.c->n_imports, 2);
}

TEST(deny_lists_of_several_sources_add_up)
{
	_cleanup_loading_ struct loading w = { 0 };

	loading_init(&w);
	put_file(&w, "base.json5",
		 "{tools:{deny:['a','b'],sandbox:{deny:['x']},subagents:{deny:['s']}},"
		 "agents:{m:{tools:{deny:['ma']}}}}");
	use_set(&w, "tools.deny=c,a");
	load_creel(&w,
		   "{import:[{format:'creel',path:'base.json5'}],tools:{deny:['b','d'],sandbox:{deny:['y']},"
		   "subagents:{deny:['t']}},agents:{m:{tools:{deny:['mb']}}}}");
	CHECK_LOADS(&w);
	CHECK_LIST(&w, w.c->base.tools_deny, "a,b,d,c");
	CHECK_LIST(&w, w.c->base.sbx_deny, "x,y");
	CHECK_LIST(&w, w.c->base.sub_deny, "s,t");
	CHECK_LIST(&w, w.c->agents[0].over->tools_deny, "ma,mb");
	assert_int_equal(w.c->base.origin[OPT_TOOLS_DENY].kind, ORIGIN_FLAG);
}

TEST(an_empty_deny_list_takes_nothing_away_from_an_earlier_one)
{
	_cleanup_loading_ struct loading w = { 0 };

	loading_init(&w);
	put_file(&w, "base.json5", "{tools:{deny:['a']}}");
	load_creel(&w, "{import:[{format:'creel',path:'base.json5'}],tools:{deny:[]}}");
	CHECK_LOADS(&w);
	CHECK_LIST(&w, w.c->base.tools_deny, "a");
}

TEST(allow_lists_and_binds_of_a_later_source_replace_earlier_ones)
{
	_cleanup_loading_ struct loading w = { 0 };

	loading_init(&w);
	put_file(&w, "base.json5",
		 "{tools:{allow:['a','b']},network:{route:{exec:['gh']}},mounts:{binds:['/a:/a']}}");
	load_creel(
		&w,
		"{import:[{format:'creel',path:'base.json5'}],tools:{allow:['c']},network:{route:{exec:[]}},"
		"mounts:{binds:['/b:/b']}}");
	CHECK_LOADS(&w);
	CHECK_LIST(&w, w.c->base.tools_allow, "c");
	CHECK_LIST(&w, w.c->base.route_exec, "");
	assert_true(w.c->base.has[OPT_ROUTE_EXEC]);
	assert_int_equal(w.c->base.binds.n, 1);
	CHECK_STR(w.c->base.binds.v[0].source, STR("/b"));
}

TEST(maps_of_several_sources_are_merged_by_their_keys)
{
	_cleanup_loading_ struct loading w = { 0 };

	loading_init(&w);
	put_file(&w, "base.json5",
		 "{env:{set:{A:'1',B:'1'}},backend:{ulimits:{core:1,nproc:1}},"
		 "tools:{elevated:{allowFrom:{t:['1'],u:['1']}},byProvider:{p:{allow:['a'],deny:['d']}}}}");
	load_creel(
		&w,
		"{import:[{format:'creel',path:'base.json5'}],env:{set:{B:'2',C:'2'}},backend:{ulimits:{nproc:2}},"
		"tools:{elevated:{allowFrom:{u:['2']}},byProvider:{p:{allow:['b'],deny:['e']},q:{}}}}");
	CHECK_LOADS(&w);
	assert_int_equal(w.c->base.env_set.n, 3);
	CHECK_STR(w.c->base.env_set.v[0].value, STR("1"));
	CHECK_STR(w.c->base.env_set.v[1].value, STR("2"));
	assert_int_equal(w.c->base.ulimits.n, 2);
	CHECK_STR(w.c->base.ulimits.v[1].value, STR("2"));
	CHECK_LIST(&w, w.c->base.elev_allow.v[0].values, "1");
	CHECK_LIST(&w, w.c->base.elev_allow.v[1].values, "2");
	CHECK_LIST(&w, w.c->base.tools_by_provider.v[0].allow, "b");
	CHECK_LIST(&w, w.c->base.tools_by_provider.v[0].deny, "d,e");
	assert_int_equal(w.c->base.tools_by_provider.n, 2);
}

TEST(the_built_in_environment_is_replaced_and_not_merged)
{
	_cleanup_loading_ struct loading w = { 0 };

	loading_init(&w);
	load_creel(&w, "{env:{set:{A:'1'}}}");
	CHECK_LOADS(&w);
	assert_int_equal(w.c->base.env_set.n, 1);
}

TEST(rules_of_what_wins_come_first)
{
	_cleanup_loading_ struct loading w = { 0 };
	struct str order = STR("");

	loading_init(&w);
	put_file(&w, "a.json5",
		 "{mode:{trust:{rules:[{match:'a1',trust:'none'},{match:'a2',trust:'none'}]}}}");
	put_file(&w, "b.json5", "{mode:{trust:{rules:[{match:'b1',trust:'none'}]}}}");
	load_creel(&w, "{import:[{format:'creel',path:'a.json5'},{format:'creel',path:'b.json5'}],"
		       "mode:{trust:{rules:[{match:'c1',trust:'none'},{match:'c2',trust:'none'}]}}}");
	CHECK_LOADS(&w);
	for (size_t i = 0; i < w.c->n_rules; i++)
		order = arena_printf(&w.a, "%.*s %.*s", (int)order.n, order.p, (int)w.c->rules[i].match.n,
				     w.c->rules[i].match.p);
	CHECK_STR(order, STR(" c1 c2 b1 a1 a2"));
}

TEST(the_default_agent_of_a_later_source_is_the_default)
{
	_cleanup_loading_ struct loading w = { 0 };

	loading_init(&w);
	put_file(&w, "a.json5", "{agents:{x:{default:true},y:{}}}");
	put_file(&w, "b.json5", "{agents:{y:{default:true},z:{}}}");
	put_file(&w, "c.json5", "{agents:{z:{}}}");
	use_file(&w, "creel:a.json5");
	use_file(&w, "creel:b.json5");
	use_file(&w, "creel:c.json5");
	load_it(&w);
	CHECK_LOADS(&w);
	assert_int_equal(w.c->n_agents, 3);
	assert_false(w.c->agents[0].is_default);
	assert_true(w.c->agents[1].is_default);
	assert_false(w.c->agents[2].is_default);
}

TEST(an_import_loop_is_told_at_the_line_that_closes_it)
{
	_cleanup_loading_ struct loading w = { 0 };

	loading_init(&w);
	put_file(&w, "b.json5", "{\n import: [{ format: 'creel', path: 'creel.json5' }] }");
	load_creel(&w, "{import:[{format:'creel',path:'b.json5'}]}");
	CHECK_TOLD(&w, "b.json5:2:36: import: '");
	CHECK_TOLD(&w, "creel.json5' imports itself, by way of '");
	assert_int_equal(w.d.n, 1);
}

TEST(a_file_that_imports_itself_by_another_name_is_a_loop)
{
	_cleanup_loading_ struct loading w = { 0 };

	loading_init(&w);
	assert_int_equal(symlink("creel.json5", path_of(&w, "link.json5").p), 0);
	load_creel(&w, "{import:[{format:'creel',path:'./link.json5'}]}");
	CHECK_TOLD(&w, "imports itself");
}

TEST(imports_deeper_than_eight_levels_are_refused)
{
	_cleanup_loading_ struct loading w = { 0 }, v = { 0 };

	loading_init(&w);
	for (int i = 1; i <= 9; i++)
		put_file(&w, arena_printf(&w.a, "%d.json5", i).p,
			 arena_printf(&w.a, i < 9 ? "{import:[{format:'creel',path:'%d.json5'}]}" : "{}",
				      i + 1)
				 .p);
	put_file(&w, "creel.json5", "{import:[{format:'creel',path:'1.json5'}]}");
	use_file(&w, "creel:creel.json5");
	load_it(&w);
	CHECK_TOLD(&w, "8.json5:1:");
	CHECK_TOLD(&w, "is imported 9 levels deep as file 10, accepted: at most 8 levels");

	loading_init(&v);
	for (int i = 1; i <= 8; i++)
		put_file(&v, arena_printf(&v.a, "%d.json5", i).p,
			 arena_printf(&v.a, i < 8 ? "{import:[{format:'creel',path:'%d.json5'}]}" : "{}",
				      i + 1)
				 .p);
	load_creel(&v, "{import:[{format:'creel',path:'1.json5'}]}");
	CHECK_LOADS(&v);
	assert_int_equal(v.c->n_imports, 9);
}

TEST(more_files_than_256_are_refused_once)
{
	_cleanup_loading_ struct loading w = { 0 };
	struct buf b = { 0 };

	loading_init(&w);
	put_file(&w, "c.json5", "{}");
	buf_init(&b, 1 << 16);
	buf_puts(&b, "{import:[");
	for (int i = 0; i < 20; i++)
		buf_puts(&b, "{format:'creel',path:'c.json5'},");
	buf_puts(&b, "]}");
	put_file(&w, "b.json5", b.p);
	buf_done(&b);
	buf_init(&b, 1 << 16);
	buf_puts(&b, "{import:[");
	for (int i = 0; i < 20; i++)
		buf_puts(&b, "{format:'creel',path:'b.json5'},");
	buf_puts(&b, "]}");
	load_creel(&w, b.p);
	buf_done(&b);
	CHECK_TOLD(&w, "as file 257, accepted: at most 8 levels and 256 files");
	assert_int_equal(w.d.n, 1);
}

TEST(the_same_file_may_be_imported_by_two_others)
{
	_cleanup_loading_ struct loading w = { 0 };

	loading_init(&w);
	put_image(&w, "c.json5", "c");
	put_file(&w, "a.json5", "{import:[{format:'creel',path:'c.json5'}]}");
	put_file(&w, "b.json5", "{import:[{format:'creel',path:'c.json5'}]}");
	load_creel(&w, "{import:[{format:'creel',path:'a.json5'},{format:'creel',path:'b.json5'}]}");
	CHECK_LOADS(&w);
}

TEST(an_import_is_looked_for_beside_the_file_and_below_home)
{
	_cleanup_loading_ struct loading w = { 0 };

	loading_init(&w);
	put_image(&w, "sub/x.json5", "beside");
	put_file(&w, "sub/a.json5", "{import:[{format:'creel',path:'x.json5'}]}");
	put_file(&w, "home.json5", "{backend:{workdir:'/home'}}");
	load_creel(&w, "{import:[{format:'creel',path:'sub/a.json5'},{format:'creel',path:'~/home.json5'}]}");
	CHECK_LOADS(&w);
	CHECK_STR(w.c->base.image, STR("beside"));
	CHECK_STR(w.c->base.workdir, STR("/home"));
}

TEST(a_missing_import_is_told_where_it_is_asked_for)
{
	_cleanup_loading_ struct loading w = { 0 };

	loading_init(&w);
	load_creel(&w, "{\n  import: [\n    { format: 'creel', path: 'gone.json5' },\n  ],\n}");
	CHECK_TOLD(&w, "creel.json5:3:30: '");
	CHECK_TOLD(&w, "gone.json5': No such file or directory\n");
}

TEST(a_wrong_import_is_told)
{
	static const struct {
		const char *text, *want;
	} cases[] = {
		{ "{import:{}}", "creel.json5:1:9: import: expected an array" },
		{ "{import:['x']}", "import[0]: expected an object" },
		{ "{import:[{format:'creel'}]}", "import[0]: path is missing" },
		{ "{import:[{path:3}]}", "import[0].path: expected a file name" },
		{ "{import:[{path:'x',format:'toml'}]}",
		  "import[0].format: unknown format 'toml', accepted: creel, athena-yaml" },
		{ "{import:[{path:'x',fromat:'creel'}]}",
		  "import[0].fromat: unknown key 'fromat', did you mean 'format'?" },
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		_cleanup_loading_ struct loading w = { 0 };

		loading_init(&w);
		load_creel(&w, cases[i].text);
		CHECK_TOLD(&w, cases[i].want);
	}
}

TEST(a_missing_file_says_its_name_and_why)
{
	_cleanup_loading_ struct loading w = { 0 };

	loading_init(&w);
	use_file(&w, "creel:gone.json5");
	load_it(&w);
	CHECK_TOLD(&w, "gone.json5: No such file or directory\n");
	assert_int_equal(w.d.n, 1);
	assert_non_null(strstr(w.e.msg, "gone.json5: No such file or directory"));
}

TEST(a_file_of_ten_megabytes_is_refused)
{
	_cleanup_loading_ struct loading w = { 0 };
	size_t n = 10 * 1000 * 1000;
	char *text;

	loading_init(&w);
	text = malloc(n);
	assert_non_null(text);
	memset(text, ' ', n);
	(void)put_bytes(&w, "big.json5", (struct str){ .p = text, .n = n });
	free(text);
	use_file(&w, "creel:big.json5");
	load_it(&w);
	CHECK_TOLD(&w, "big.json5: larger than 8 MiB, accepted: at most 8388608 bytes\n");
}

TEST(a_fifo_or_a_device_is_not_waited_for)
{
	_cleanup_loading_ struct loading w = { 0 };

	loading_init(&w);
	assert_int_equal(mkfifo(path_of(&w, "fifo").p, 0600), 0);
	use_file(&w, "creel:fifo");
	load_it(&w);
	CHECK_TOLD(&w, "fifo: not a regular file\n");
}

TEST(a_file_that_may_not_be_read_says_so)
{
	_cleanup_loading_ struct loading w = { 0 };
	uid_t me = geteuid();

	loading_init(&w);
	put_image(&w, "x.json5", "x");
	assert_int_equal(chmod(path_of(&w, "x.json5").p, 0), 0);
	assert_int_equal(chmod(w.dir, 0711), 0);
	use_file(&w, "creel:x.json5");
	if (me == 0) /* root may read everything */
		assert_int_equal(seteuid(65534), 0);
	load_it(&w);
	if (me == 0)
		assert_int_equal(seteuid(0), 0);
	CHECK_TOLD(&w, "x.json5: Permission denied\n");
}

TEST(text_that_does_not_parse_is_told_with_line_and_column)
{
	static const struct {
		const char *file, *text, *want;
	} cases[] = {
		{ "creel:creel.json5", "{\n  mode: ,\n}", "creel.json5:2:9: " },
		{ "creel:creel.json5", "{mode:{when:'off'},mode:{}}", "creel.json5:1:20: " },
		{ "creel:creel.json5", "{a:'\xff'}", "creel.json5:1:5: " },
		{ "creel:creel.json5", "", "creel.json5:1:1: " },
		{ "ansible:vars.yml", "a: [1\nb: 2\n", "vars.yml:" },
		{ "athena:settings.yaml", "a: &x 1\nb: *x\n", "settings.yaml:1:4: " },
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		_cleanup_loading_ struct loading w = { 0 };

		loading_init(&w);
		load_text_as(&w, cases[i].file, cases[i].text);
		CHECK_TOLD(&w, cases[i].want);
	}
}

TEST(a_hundred_thousand_brackets_are_refused_in_one_line)
{
	_cleanup_loading_ struct loading w = { 0 };
	struct buf b;

	loading_init(&w);
	buf_init(&b, 1 << 20);
	buf_puts(&b, "{tools:");
	for (int i = 0; i < 100000; i++)
		buf_putc(&b, '[');
	load_creel(&w, b.p);
	buf_done(&b);
	CHECK_TOLD(&w, "creel.json5:1:");
	assert_int_equal(w.d.n, 1);
}

TEST(a_byte_order_mark_is_no_error)
{
	_cleanup_loading_ struct loading w = { 0 };

	loading_init(&w);
	load_creel(&w, "\xef\xbb\xbf{backend:{image:'x'}}");
	CHECK_LOADS(&w);
}

TEST(all_errors_are_told_and_nothing_is_loaded)
{
	_cleanup_loading_ struct loading w = { 0 };
	struct config before;

	loading_init(&w);
	memset(&before, 0, sizeof(before));
	put_file(&w, "one.json5", "{mode:{when:'x'},limits:{pids:0},backend:{image:'loaded'}}");
	use_file(&w, "creel:one.json5");
	use_file(&w, "creel:gone.json5");
	use_set(&w, "limits.cpus=-1");
	w.in.profile = STR("nope");
	w.in.compat = STR("openclaw-2026.8");
	load_it(&w);
	CHECK_TOLD(&w, "mode.when: unknown value 'x'");
	CHECK_TOLD(&w, "limits.pids: 0 is not in range, accepted: 1 to 4194304");
	CHECK_TOLD(&w, "gone.json5: No such file");
	CHECK_TOLD(&w, "flag -e limits.cpus: limits.cpus: -1 is not in range");
	CHECK_TOLD(&w, "flag --profile: profile: unknown value 'nope', accepted: none, openclaw, athena");
	CHECK_TOLD(
		&w,
		"flag --compat: compat: unknown value 'openclaw-2026.8', accepted: documents or openclaw-2026.9; did you "
		"mean 'openclaw-2026.9'?");
	assert_int_equal(w.d.n_errors, 6);
	assert_memory_equal(w.c, &before, sizeof(before));
	assert_int_equal(w.e.kind, ERR_USAGE);
	/* The error is the first finding. */
	assert_non_null(strstr(w.e.msg, "gone.json5: No such file"));
}

TEST(a_config_that_needs_too_much_memory_is_refused_whole)
{
	_cleanup_loading_ struct loading w = { 0 };
	struct config *c = calloc(1, sizeof(*c));
	unsigned loaded = 0, refused = 0;
	struct err e = { 0 };

	assert_non_null(c);
	loading_init(&w);
	put_file(
		&w, "x.json5",
		"{profile:'bilrost',agents:{a:{limits:{pids:3}},b:{}},mode:{trust:{rules:[{match:'x',trust:'light',"
		"limits:{pids:4}}]}},identity:{pairs:[{channel:'t',agent:'a',chat_id:'1'}],tokens:[{ref:'env:T',pairs:'*'}]},"
		"tools:{deny:['a'],per:{x:{ttl:1}},byProvider:{p:{deny:['q']}}},env:{set:{A:'$${X}'}},mounts:{binds:['/a:/b']}}");
	use_file(&w, "creel:x.json5");
	use_set(&w, "sandbox_network_allow_extra=a");
	for (size_t max = 0; max < 300000; max += 499) {
		struct arena small;
		struct diags d = { .arena = &small };

		arena_init(&small, max);
		if (config_load(&w.in, &small, &d, c, &e) == 0) {
			assert_false(small.failed);
			loaded++;
		} else {
			assert_int_equal(c->base.version, 0);
			assert_true(e.kind != ERR_NONE && e.msg[0]);
			refused++;
		}
		arena_done(&small);
		memset(c, 0, sizeof(*c));
	}
	assert_true(loaded > 10 && refused > 10);
	free(c);
}

static void show(const struct config *c, struct buf *out)
{
	const struct show_opts all = { .origin = true, .all = true };

	buf_init(out, 1 << 20);
	config_show(c, &all, out);
	assert_false(out->failed);
}

TEST(flags_that_come_later_say_what_they_say_at_once)
{
	static const struct config_flag flags[] = {
		{ "--workspace-access", "mounts.workspace.access", STR("rw") },
		{ "--memory", "limits.memory", STR("64m") },
		{ "--pids", "limits.pids", STR("7") },
		{ "--net", "network.route.hosts", STR("a.example:443") },
		{ "--scope", "backend.scope", STR("agent") },
	};
	_cleanup_buf_ struct buf plain = { 0 }, at_once = { 0 }, later = { 0 }, after = { 0 };
	_cleanup_loading_ struct loading w;
	struct config *c = calloc(2, sizeof(*c)), *made = c + 1;
	struct err e = { 0 };

	assert_non_null(c);
	loading_init(&w);
	put_file(
		&w, "x.json5",
		"{agents:{a:{limits:{pids:3}}},tools:{deny:['x']},limits:{memory:'1g'},mounts:{workspace:{access:'ro'}}}");
	use_file(&w, "creel:x.json5");
	assert_int_equal(config_load(&w.in, &w.a, &w.d, c, &e), 0);
	show(c, &plain);
	assert_int_equal(config_add_flags(c, flags, sizeof(flags) / sizeof(flags[0]), &w.a, &w.d, made, &e),
			 0);
	show(made, &later);
	show(c, &after);
	w.in.flags = flags;
	w.in.n_flags = sizeof(flags) / sizeof(flags[0]);
	assert_int_equal(config_load(&w.in, &w.a, &w.d, c, &e), 0);
	show(c, &at_once);
	CHECK_STR(buf_str(&later), buf_str(&at_once));
	CHECK_STR(buf_str(&after), buf_str(&plain));
	assert_false(str_eq(buf_str(&later), buf_str(&plain)));
	free(c);
}

TEST(flags_that_come_later_are_refused_as_they_are_at_once)
{
	static const struct config_flag wrong = { "--memory", "limits.memory", STR("much") };
	static const struct config_flag unknown = { "--what", "tools.per.x", STR("1") };
	_cleanup_loading_ struct loading w;
	struct config *c = calloc(2, sizeof(*c)), *made = c + 1;
	struct err e = { 0 };

	assert_non_null(c);
	loading_init(&w);
	assert_int_equal(config_load(&w.in, &w.a, &w.d, c, &e), 0);
	assert_true(config_add_flags(c, &wrong, 1, &w.a, &w.d, made, &e) < 0);
	assert_int_equal(e.kind, ERR_USAGE);
	assert_non_null(strstr(e.msg, "--memory"));
	e = (struct err){ 0 };
	w.d = (struct diags){ .arena = &w.a };
	assert_true(config_add_flags(c, &unknown, 1, &w.a, &w.d, made, &e) < 0);
	assert_int_equal(e.kind, ERR_BUG);
	free(c);
}

TEST(the_format_is_found_by_name_and_by_content)
{
	static const struct {
		const char *name, *text;
		enum format want;
	} cases[] = {
		{ "creel.json5", "{}", FORMAT_CREEL },
		{ "x.json5", "{mode:{when:'all'}}", FORMAT_CREEL },
		{ "x.json", "{\"version\":1,\"agents\":{}}", FORMAT_CREEL },
		{ "x", "{tools:{per:{}}}", FORMAT_CREEL },
		{ "openclaw.json", "{}", FORMAT_OPENCLAW },
		{ "x.json", "{\"agents\":{\"defaults\":{}}}", FORMAT_OPENCLAW },
		{ "x.json", "{agents:{list:[{id:'main'}]}}", FORMAT_OPENCLAW },
		{ "x.json5", "{tools:{sandbox:{tools:{allow:['read']}}}}", FORMAT_OPENCLAW },
		{ "x.json5", "// mine\n{session:{mainKey:'main'}}", FORMAT_OPENCLAW },
		{ "allowlist.json", "{}", FORMAT_ALLOWLIST },
		{ "x.json", "{\"telegram\":[{\"agent\":\"a\",\"chat_id\":\"1\"}]}", FORMAT_ALLOWLIST },
		{ "appsettings.json", "{}", FORMAT_OPENCLAW_NET },
		{ "appsettings.Production.json", "{}", FORMAT_OPENCLAW_NET },
		{ "x.json", "{\"OPENCLAW\":{\"sandbox\":{\"provider\":\"None\"}}}", FORMAT_OPENCLAW_NET },
		{ ".athena/settings.yaml", "{}", FORMAT_ATHENA },
		{ "x.yaml", "sandbox:\n  default_mode: none\n", FORMAT_ATHENA },
		{ "main.yml", "---\nsandbox_mode: all\n", FORMAT_ANSIBLE },
		{ "x.yml", "docker_enabled: true\nother: 1\n", FORMAT_ANSIBLE },
		{ "vars", "sandbox_mode: all\n", FORMAT_ANSIBLE },
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		_cleanup_loading_ struct loading w = { 0 };

		loading_init(&w);
		load_text_as(&w, cases[i].name, cases[i].text);
		CHECK_CASE(w.r == 0, "%s %s: %s", cases[i].name, cases[i].text, told(&w));
		CHECK_CASE(w.c->n_imports == 1 && w.c->imports[0].format == cases[i].want, "%s %s: found %s",
			   cases[i].name, cases[i].text,
			   enum_name(format_names, (int)w.c->imports[0].format));
	}
}

TEST(a_file_that_is_nothing_known_says_how_to_say_what_it_is)
{
	static const char *const texts[] = { "- a\n- b\n", "a: 1\n", "just words" };

	for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
		_cleanup_loading_ struct loading w = { 0 };

		loading_init(&w);
		load_text_as(&w, "x.yaml", texts[i]);
		CHECK_TOLD(&w, "x.yaml:1:1: not recognised as any format, accepted: creel, athena");
		CHECK_TOLD(&w, "fix: say which: FORMAT:");
	}
}

TEST(every_format_and_its_alias_can_be_named)
{
	static const struct {
		const char *arg;
		enum format format;
		bool detect;
		const char *path;
	} good[] = {
		{ "creel:x", FORMAT_CREEL, false, "x" },
		{ "athena:x", FORMAT_ATHENA, false, "x" },
		{ "athena-yaml:x", FORMAT_ATHENA, false, "x" },
		{ "openclaw:x", FORMAT_OPENCLAW, false, "x" },
		{ "openclaw-json5:x", FORMAT_OPENCLAW, false, "x" },
		{ "allowlist:x", FORMAT_ALLOWLIST, false, "x" },
		{ "allowlist-json:x", FORMAT_ALLOWLIST, false, "x" },
		{ "openclaw-net:x", FORMAT_OPENCLAW_NET, false, "x" },
		{ "ansible:x", FORMAT_ANSIBLE, false, "x" },
		{ "ansible-vars:a:b", FORMAT_ANSIBLE, false, "a:b" },
		{ "file.json5", FORMAT_CREEL, true, "file.json5" },
		{ "/a/b:c", FORMAT_CREEL, true, "/a/b:c" },
		{ "./x:y", FORMAT_CREEL, true, "./x:y" },
		{ "c:/x", FORMAT_CREEL, true, "c:/x" },
	};
	struct config_source s;
	struct err e = { 0 };

	for (size_t i = 0; i < sizeof(good) / sizeof(good[0]); i++) {
		assert_int_equal(config_source_parse(str_z(good[i].arg), &s, &e), 0);
		CHECK_CASE(s.detect == good[i].detect && (s.detect || s.format == good[i].format), "%s",
			   good[i].arg);
		CHECK_STR(s.path, str_z(good[i].path));
	}
	assert_true(config_source_parse(STR("opnclaw:x"), &s, &e) < 0);
	assert_non_null(strstr(e.msg, "unknown format 'opnclaw', accepted: creel, athena"));
	assert_non_null(strstr(e.msg, "did you mean 'openclaw'?"));
	assert_true(config_source_parse(STR("creel:"), &s, &e) < 0);
	assert_true(config_source_parse(STR(""), &s, &e) < 0);
}

TEST(every_alias_works_in_an_import)
{
	static const struct {
		const char *format, *name, *text;
		enum format want;
	} cases[] = {
		{ "athena-yaml", "a", "sandbox: {}\n", FORMAT_ATHENA },
		{ "athena", "a", "sandbox: {}\n", FORMAT_ATHENA },
		{ "openclaw-json5", "a", "{}", FORMAT_OPENCLAW },
		{ "openclaw", "a", "{}", FORMAT_OPENCLAW },
		{ "allowlist-json", "a", "{\"telegram\":[]}", FORMAT_ALLOWLIST },
		{ "allowlist", "a", "{\"telegram\":[]}", FORMAT_ALLOWLIST },
		{ "openclaw-net", "a", "{\"OpenClaw\":{\"Sandbox\":{\"Provider\":\"None\"}}}",
		  FORMAT_OPENCLAW_NET },
		{ "ansible-vars", "a", "sandbox_mode: all\n", FORMAT_ANSIBLE },
		{ "ansible", "a", "sandbox_mode: all\n", FORMAT_ANSIBLE },
		{ "creel", "a", "{}", FORMAT_CREEL },
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		_cleanup_loading_ struct loading w = { 0 };

		loading_init(&w);
		put_file(&w, cases[i].name, cases[i].text);
		load_creel(&w, arena_printf(&w.a, "{import:[{format:'%s',path:'a'}]}", cases[i].format).p);
		CHECK_CASE(w.r == 0, "%s: %s", cases[i].format, told(&w));
		CHECK_CASE(w.c->n_imports == 2 && w.c->imports[0].format == cases[i].want, "%s",
			   cases[i].format);
	}
}

TEST(every_kind_of_value_knows_where_it_came_from)
{
	_cleanup_loading_ struct loading w = { 0 };

	loading_init(&w);
	w.in.profile = STR("ci");
	use_set(&w, "limits.pids=5");
	load_creel(
		&w,
		"{\n  env: { set: { A: 'x' } },\n  mode: { trust: { rules: [\n    { match: 'a', trust: 'none' },\n  ] } },\n"
		"  identity: { pairs: [{ channel: 't', agent: 'a', chat_id: '1' }],\n    tokens: [{ ref: 'env:T', pairs: '*' }] },\n"
		"  tools: { per: { x: {\n    ttl: 1 } } },\n  agents: {\n    a: { limits: { pids: 7 } } },\n}");
	CHECK_LOADS(&w);
	assert_int_equal(w.c->base.origin[OPT_WHEN].kind, ORIGIN_PROFILE);
	CHECK_STR(w.c->base.origin[OPT_WHEN].name, STR("ci"));
	assert_int_equal(w.c->base.origin[OPT_PIDS].kind, ORIGIN_FLAG);
	CHECK_STR(w.c->base.origin[OPT_PIDS].name, STR("-e limits.pids"));
	assert_int_equal(w.c->base.origin[OPT_PROFILE].kind, ORIGIN_FLAG);
	CHECK_STR(w.c->base.origin[OPT_PROFILE].name, STR("--profile"));
	assert_int_equal(w.c->base.env_set.v[2].origin.line, 2);
	assert_int_equal(w.c->base.env_set.v[2].origin.col, 20);
	assert_int_equal(w.c->rules[0].origin.line, 4);
	assert_int_equal(w.c->pairs[0].origin.line, 6);
	assert_int_equal(w.c->tokens[0].origin.line, 7);
	assert_int_equal(w.c->agents[0].origin.line, 11);
	assert_int_equal(w.c->agents[0].over->origin[OPT_PIDS].line, 11);
}

TEST_MAIN()
