/* SPDX-License-Identifier: Apache-2.0 */
/* config show: what is printed, what is not, and that it means the same when it is read again. */
#include "config/generated.h"

#include "data/json.h"

static struct str show(struct loading *w, struct show_opts o)
{
	struct buf b;
	struct str s;

	buf_init(&b, 1 << 20);
	config_show(w->c, &o, &b);
	assert_false(b.failed);
	s = arena_str(&w->a, buf_str(&b));
	buf_done(&b);
	return s;
}

/* As -e: every option is one flag, so no nesting has to be merged by the generator. */
static void load_generated(struct loading *w, uint64_t seed)
{
	struct buf parts;
	struct gen g = { .state = seed, .out = &parts };

	buf_init(&parts, 1 << 20);
	for (unsigned i = OPT_ATHENA_LITERAL; i < OPT_COUNT_; i++) {
		if (gen_below(&g, 3))
			continue;
		buf_printf(&parts, "'%s':", option_info((enum option)i)->key);
		gen_value(&g, (enum option)i);
		buf_putc(&parts, ',');
	}
	buf_puts(&parts, "'mode':{trust:{rules:[");
	for (unsigned i = gen_below(&g, 4); i; i--) {
		buf_printf(&parts, "{match:\"k%s\",trust:'%s',", gen_word(&g),
			   trust_names[gen_below(&g, 4)].name);
		if (gen_below(&g, 2))
			buf_puts(&parts, "allow:"), gen_list(&g, OPT_TOOLS_ALLOW), buf_putc(&parts, ',');
		if (gen_below(&g, 2))
			buf_puts(&parts, "deny:"), gen_list(&g, OPT_TOOLS_DENY), buf_putc(&parts, ',');
		if (gen_below(&g, 2))
			buf_puts(&parts, "route:{hosts:"), gen_list(&g, OPT_ROUTE_HOSTS),
				buf_puts(&parts, "},");
		if (gen_below(&g, 2))
			buf_puts(&parts, "limits:{memory:"), gen_value(&g, OPT_MEMORY),
				buf_puts(&parts, "},");
		buf_puts(&parts, "},");
	}
	buf_puts(&parts, "]}},'agents':{");
	for (unsigned i = gen_below(&g, 4); i; i--) {
		buf_printf(&parts, "a%u:{default:%s,", i, i == 1 ? "true" : "false");
		for (unsigned k = 0; k < OPT_COUNT_; k++) {
			/* One option per section: two would need one object. */
			if (!(option_info((enum option)k)->flags & F_AGENT) || k % 31 != i)
				continue;
			gen_option(&g, (enum option)k, "");
			buf_putc(&parts, ',');
			break;
		}
		buf_puts(&parts, "},");
	}
	buf_puts(&parts, "},'identity':{pairs:[");
	for (unsigned i = gen_below(&g, 3); i; i--)
		buf_printf(&parts, "{channel:'t%u',agent:'a',chat_id:'-%u'},", i, gen_below(&g, 999));
	buf_puts(&parts, "],tokens:[");
	for (unsigned i = gen_below(&g, 3); i; i--)
		buf_puts(&parts, gen_below(&g, 2)
					 ? "{ref:'env:T',pairs:'*'},"
					 : "{ref:'raw:x',pairs:[{channel:'t',agent:'b',chat_id:7}]},");
	buf_puts(&parts, "]},'tools.per.shell.ttl':5,'tools.per.browser.enforce':'prefer'");
	use_set(w, arena_printf(&w->a, "{%.*s}", (int)parts.n, parts.p).p);
	buf_done(&parts);
	if (gen_below(&g, 2))
		w->in.profile = str_z(profile_names[gen_below(&g, PROFILE_COUNT_)].name);
	if (gen_below(&g, 2))
		w->in.compat = STR("openclaw-2026.9");
	load_it(w);
}

TEST(what_is_printed_reads_back_equal)
{
	for (uint64_t seed = 0; seed < 400; seed++) {
		_cleanup_loading_ struct loading w = { 0 }, again = { 0 };
		struct str text;

		loading_init(&w);
		load_generated(&w, seed);
		CHECK_CASE(w.r == 0, "seed %llu: %s\n%.*s", (unsigned long long)seed, told(&w),
			   (int)w.sets[0].n, w.sets[0].p);
		text = show(&w, (struct show_opts){ .reveal = true, .origin = seed % 2 });
		loading_init(&again);
		load_creel(&again, text.p);
		CHECK_CASE(again.r == 0, "seed %llu: %s\n%s", (unsigned long long)seed, told(&again), text.p);
		CHECK_CASE(config_equal(w.c, again.c), "seed %llu changed:\n%s", (unsigned long long)seed,
			   text.p);
		CHECK_CASE(seed % 2 || str_eq(text, show(&again, (struct show_opts){ .reveal = true })),
			   "seed %llu prints differently", (unsigned long long)seed);
	}
}

TEST(what_is_printed_as_json_is_json)
{
	for (uint64_t seed = 0; seed < 100; seed++) {
		_cleanup_loading_ struct loading w = { 0 };
		struct json_opts strict = { .name = "shown" };
		struct value v;
		struct str text;

		loading_init(&w);
		load_generated(&w, seed);
		CHECK_LOADS(&w);
		text = show(&w, (struct show_opts){ .json = true, .all = seed % 2, .origin = seed % 3 == 0 });
		CHECK_CASE(json_parse(&w.a, text, &strict, &v, &w.e) == 0, "seed %llu: %s",
			   (unsigned long long)seed, w.e.msg);
	}
}

TEST(two_configs_that_differ_in_one_option_are_not_equal)
{
	for (unsigned i = 0; i < OPT_COUNT_; i++) {
		_cleanup_loading_ struct loading a = { 0 }, b = { 0 };
		struct gen g = { .state = i };
		struct buf text;

		if (i == OPT_VERSION)
			continue;
		loading_init(&a);
		loading_init(&b);
		buf_init(&text, 1 << 16);
		g.out = &text;
		buf_putc(&text, '{');
		gen_option(&g, (enum option)i, "");
		buf_putc(&text, '}');
		load_creel(&a, text.p);
		load_creel(&b, "{}");
		CHECK_LOADS(&a);
		CHECK_CASE(!config_equal(a.c, b.c), "%s makes no difference",
			   option_info((enum option)i)->key);
		CHECK_CASE(config_equal(a.c, a.c), "%s", option_info((enum option)i)->key);
		buf_done(&text);
	}
}

TEST(two_configs_that_differ_in_one_part_are_not_equal)
{
	static const char *const texts[] = {
		"{}",
		"{mode:{trust:{rules:[{match:'a',trust:'none'}]}}}",
		"{mode:{trust:{rules:[{match:'b',trust:'none'}]}}}",
		"{mode:{trust:{rules:[{match:'a',trust:'light'}]}}}",
		"{mode:{trust:{rules:[{match:'a',trust:'none',allow:[]}]}}}",
		"{mode:{trust:{rules:[{match:'a',trust:'none',deny:['x']}]}}}",
		"{mode:{trust:{rules:[{match:'a',trust:'none',deny:['y']}]}}}",
		"{mode:{trust:{rules:[{match:'a',trust:'none',limits:{pids:3}}]}}}",
		"{agents:{}}",
		"{agents:{a:{}}}",
		"{agents:{a:{default:true}}}",
		"{agents:{b:{}}}",
		"{agents:{a:{limits:{pids:3}}}}",
		"{identity:{pairs:[{channel:'t',agent:'a',chat_id:'1'}]}}",
		"{identity:{pairs:[{channel:'t',agent:'a',chat_id:'2'}]}}",
		"{identity:{pairs:[{channel:'t',agent:'b',chat_id:'1'}]}}",
		"{identity:{pairs:[{channel:'u',agent:'a',chat_id:'1'}]}}",
		"{identity:{tokens:[{ref:'env:A',pairs:'*'}]}}",
		"{identity:{tokens:[{ref:'raw:A',pairs:'*'}]}}",
		"{identity:{tokens:[{ref:'env:A',pairs:[]}]}}",
		"{identity:{tokens:[{ref:'env:A',pairs:[{channel:'t',agent:'a',chat_id:'1'}]}]}}",
		"{tools:{per:{a:{ttl:1}}}}",
		"{tools:{per:{a:{ttl:2}}}}",
		"{tools:{per:{b:{ttl:1}}}}",
		"{tools:{per:{a:{enforce:'off'}}}}",
		"{tools:{per:{a:{template:'x'}}}}",
		"{env:{set:{A:'x'}}}",
		"{env:{set:{A:'${x}'}}}",
		"{env:{set:{A:'$${x}'}}}",
		"{tools:{byProvider:{p:{}}}}",
		"{tools:{byProvider:{p:{allow:[]}}}}",
		"{tools:{byProvider:{p:{alsoAllow:[]}}}}",
		"{tools:{byProvider:{p:{deny:[]}}}}",
		"{tools:{byProvider:{p:{profile:'full'}}}}",
	};

	for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
		for (size_t k = 0; k < sizeof(texts) / sizeof(texts[0]); k++) {
			_cleanup_loading_ struct loading a = { 0 }, b = { 0 };

			loading_init(&a);
			loading_init(&b);
			load_creel(&a, texts[i]);
			load_creel(&b, texts[k]);
			CHECK_LOADS(&a);
			CHECK_LOADS(&b);
			CHECK_CASE(config_equal(a.c, b.c) == (i == k), "%s and %s", texts[i], texts[k]);
		}
	}
}

TEST(only_what_was_set_is_printed)
{
	_cleanup_loading_ struct loading w = { 0 }, v = { 0 };

	loading_init(&w);
	load_creel(&w, "{mode:{when:'all'},backend:{user:''}}");
	CHECK_LOADS(&w);
	CHECK_STR(
		show(&w, (struct show_opts){ 0 }),
		STR("{\n  version: 1,\n  mode: {\n    when: \"all\",\n  },\n  backend: {\n    user: \"\",\n  },\n}\n"));
	loading_init(&v);
	load_it(&v);
	CHECK_STR(show(&v, (struct show_opts){ 0 }), STR("{\n  version: 1,\n}\n"));
}

TEST(a_profile_is_printed_by_name_and_not_by_its_values)
{
	_cleanup_loading_ struct loading w = { 0 };

	loading_init(&w);
	w.in.profile = STR("bilrost");
	use_set(&w, "limits.pids=5");
	load_it(&w);
	CHECK_STR(show(&w, (struct show_opts){ 0 }),
		  STR("{\n  version: 1,\n  profile: \"bilrost\",\n  limits: {\n    pids: 5,\n  },\n}\n"));
}

TEST(everything_is_printed_when_asked)
{
	_cleanup_loading_ struct loading w = { 0 };
	struct str text;

	loading_init(&w);
	w.in.profile = STR("openclaw-net");
	load_it(&w);
	text = show(&w, (struct show_opts){ .all = true });
	for (unsigned i = 0; i < OPT_COUNT_; i++) {
		const struct option_info *info = option_info((enum option)i);
		struct str dir, key = str_z(info->key);

		(void)str_cut_last(key, '.', &dir, &key);
		if (info->def[0])
			CHECK_CASE(strstr(text.p, arena_printf(&w.a, "%.*s: ", (int)key.n, key.p).p), "%s",
				   info->key);
	}
	assert_non_null(strstr(text.p, "code_exec: {"));
}

TEST(the_place_of_every_value_is_printed_when_asked)
{
	_cleanup_loading_ struct loading w = { 0 };
	struct str text;

	loading_init(&w);
	w.in.profile = STR("ci");
	use_set(&w, "limits.pids=5");
	load_creel(&w, "{\n  mode: { when: 'all' },\n  env: { set: { A: '1' } },\n"
		       "  mode_: 0,\n}");
	assert_true(w.r < 0);
	loading_done(&w);
	loading_init(&w);
	w.in.profile = STR("ci");
	use_set(&w, "limits.pids=5");
	load_creel(&w,
		   "{\n  mode: { when: 'all', trust: { rules: [\n    { match: 'a', trust: 'none' } ] } },\n"
		   "  env: { set: { A: '1' } },\n}");
	CHECK_LOADS(&w);
	text = show(&w, (struct show_opts){ .origin = true, .all = true });
	assert_non_null(
		strstr(text.p, arena_printf(&w.a, "when: \"all\", // %s/creel.json5:2:17\n", w.dir).p));
	assert_non_null(strstr(text.p, arena_printf(&w.a, "A: \"1\", // %s/creel.json5:4:20\n", w.dir).p));
	assert_non_null(strstr(text.p, "CI: \"1\", // profile ci\n"));
	assert_non_null(strstr(text.p, "pids: 5, // flag -e limits.pids\n"));
	assert_non_null(strstr(text.p, "image: \"openclaw-sandbox:bookworm-slim\", // built-in\n"));
	assert_non_null(strstr(text.p, arena_printf(&w.a, "}, // %s/creel.json5:3:5\n", w.dir).p));
}

TEST(a_file_name_cannot_break_out_of_the_comment)
{
	_cleanup_loading_ struct loading w = { 0 }, again = { 0 };
	struct str text;

	loading_init(&w);
	load_text_as(&w, "creel:a\n}, limits: {\xe2\x80\xa8.json5", "{backend:{image:'x'}}");
	CHECK_LOADS(&w);
	text = show(&w, (struct show_opts){ .origin = true });
	loading_init(&again);
	load_creel(&again, text.p);
	CHECK_LOADS(&again);
	assert_true(config_equal(w.c, again.c));
}

TEST(literal_values_of_secret_names_are_not_shown)
{
	_cleanup_loading_ struct loading w = { 0 };
	struct str text;

	loading_init(&w);
	load_creel(
		&w,
		"{env:{set:{MY_TOKEN:'hunter2',PLAIN:'seen',DB:'pg://u:hunter2@db/x?y',SEEN_URL:'http://h:1/a@b',REF_TOKEN:'${X}'}},network:{route:{env:{API_KEY:'hunter2'}}},"
		"backend:{opensandbox:{apiKey:'raw:hunter2'}},identity:{tokens:[{ref:'raw:hunter2',pairs:'*'}]},"
		"agents:{a:{env:{set:{A_SECRET:'hunter2'}}}}}");
	CHECK_LOADS(&w);
	for (unsigned bits = 0; bits < 8; bits++) {
		text = show(&w, (struct show_opts){ .json = bits & 1, .all = bits & 2, .origin = bits & 4 });
		assert_null(strstr(text.p, "hunter2"));
		assert_non_null(strstr(text.p, "seen"));
		assert_non_null(strstr(text.p, "http://h:1/a@b"));
		assert_non_null(strstr(text.p, "${X}"));
		assert_non_null(strstr(text.p, "<redacted>"));
	}
	text = show(&w, (struct show_opts){ .reveal = true });
	assert_non_null(strstr(text.p, "MY_TOKEN: \"hunter2\""));
	assert_non_null(strstr(text.p, "apiKey: \"raw:hunter2\""));
}

TEST(what_came_from_the_environment_is_shown_as_it_was_written)
{
	_cleanup_loading_ struct loading w = { 0 };
	struct str text;

	loading_init(&w);
	use_env(&w, "IMG=hunter2");
	use_env(&w, "HOSTDIR=/hunter2");
	load_text_as(
		&w, "openclaw:openclaw.json",
		"{agents:{defaults:{sandbox:{docker:{image:'${IMG}:1',binds:['${HOSTDIR}:/x:ro'],tmpfs:['/a','/${IMG}']}}}}}");
	CHECK_LOADS(&w);
	CHECK_STR(w.c->base.image, STR("hunter2:1"));
	text = show(&w, (struct show_opts){ 0 });
	assert_null(strstr(text.p, "hunter2"));
	assert_non_null(strstr(text.p, "image: \"${IMG}:1\""));
	assert_non_null(strstr(text.p, "\"${HOSTDIR}:/x:ro\""));
	assert_non_null(strstr(text.p, "/${IMG}"));
	text = show(&w, (struct show_opts){ .reveal = true });
	assert_non_null(strstr(text.p, "hunter2:1"));
}

TEST(a_config_that_does_not_fit_fails_and_is_not_cut)
{
	_cleanup_loading_ struct loading w = { 0 };
	const struct show_opts o = { .all = true };
	struct buf b;

	loading_init(&w);
	load_it(&w);
	buf_init(&b, 100);
	config_show(w.c, &o, &b);
	assert_true(b.failed);
	buf_done(&b);
}

TEST(the_keys_are_listed_one_per_line)
{
	struct buf b;
	size_t lines = 0;

	buf_init(&b, 1 << 20);
	config_keys(&b);
	for (size_t i = 0; i < b.n; i++)
		lines += b.p[i] == '\n';
	assert_int_equal(lines, OPT_COUNT_);
	assert_non_null(strstr(b.p, "\nmode.when\n"));
	buf_done(&b);
}

TEST(the_manual_has_a_row_for_every_option)
{
	struct buf b;

	buf_init(&b, 1 << 20);
	config_man_table(&b);
	for (unsigned i = 0; i < OPT_COUNT_; i++)
		CHECK_CASE(strstr(b.p, option_info((enum option)i)->help) ||
				   strpbrk(option_info((enum option)i)->help, "_*<>|[]"),
			   "%s", option_info((enum option)i)->key);
	assert_non_null(strstr(b.p, "*limits.pids*\n\tprocesses and threads"));
	assert_non_null(strstr(b.p, "integer, 1 to 4194304. Default: 128"));
	assert_non_null(strstr(b.p, "off, non-main or all"));
	buf_done(&b);
}

TEST_MAIN()
