/* SPDX-License-Identifier: Apache-2.0 */
/* Every option, by the table: what it takes, what it refuses, and that it comes back as it was written. */
#include "config/loading.h"

#include "base/num.h"

#include <math.h>

/* key: value as a nested object */
static struct str nested(struct loading *w, const char *key, struct str value)
{
	struct str rest = str_z(key), word, head = STR(""), tail = STR("");

	while (str_cut(rest, '.', &word, &rest)) {
		head = arena_printf(&w->a, "%.*s{\"%.*s\":", (int)head.n, head.p, (int)word.n, word.p);
		tail = arena_printf(&w->a, "%.*s}", (int)tail.n, tail.p);
	}
	return arena_printf(&w->a, "%.*s{\"%.*s\":%.*s}%.*s", (int)head.n, head.p, (int)rest.n, rest.p,
			    (int)value.n, value.p, (int)tail.n, tail.p);
}

static int load_option(struct loading *w, const struct option_info *info, struct str value)
{
	return load_creel(w, nested(w, info->key, value).p);
}

/* Texts that an option accepts, for each type; the checked ones have their own. */
static struct str good_value(struct loading *w, enum option id, unsigned variant)
{
	const struct option_info *info = option_info(id);
	char text[NUM_TEXT_MAX];
	struct str s = STR("0");

	switch (info->type) {
	case TYPE_BOOL:
		return variant ? STR("true") : STR("false");
	case TYPE_U64:
	case TYPE_NUM:
	case TYPE_SIZE:
		assert_int_equal(num_format(variant ? info->max : info->min, text, &s), 0);
		return arena_str(&w->a, s);
	case TYPE_ENUM:
		return arena_printf(&w->a, "\"%s\"", info->names[variant].name);
	case TYPE_STR:
		if (id == OPT_SERVE_GUARD || id == OPT_SERVE_RUNNER || id == OPT_SERVE_OPENSANDBOX)
			return variant ? STR("\"unix:/run/x.sock\"") : STR("\"[::1]:0\"");
		return variant ? STR("\"/some text \\u00e9\\\"\\n\"") : STR("\"/x\"");
	case TYPE_LIST:
		if (id == OPT_BACKEND_ORDER)
			return variant ? STR("[\"opensandbox\"]") : STR("[]");
		if (id == OPT_WALLS_OPTIONAL)
			return variant ? STR("[\"landlock\",\"limits\"]") : STR("[]");
		if (id == OPT_SYNC_BLOCKED_EXT)
			return variant ? STR("[\".a\",\".b\"]") : STR("[]");
		return variant ? STR("[\"a\",\"B_2\"]") : STR("[]");
	case TYPE_MAP:
		return variant ? STR("{\"nofile\":\"10:20\",\"nproc\":5,\"core\":{\"soft\":1,\"hard\":2}}")
			       : STR("{}");
	case TYPE_ENV:
		return variant ? STR("{\"A\":\"x\",\"B\":\"${C}\",\"D\":\"$${E}\"}") : STR("{}");
	case TYPE_BINDS:
		return variant ? STR("[\"/a:/b:ro\",\"C:\\\\x:/y\",\"/alone\"]") : STR("[]");
	case TYPE_LAYERS:
		return variant ? STR("{\"p/m\":{\"profile\":\"coding\",\"allow\":[\"a\"],\"deny\":[]},\"q\":{\"alsoAllow\":[\"*\"]}}")
			       : STR("{}");
	case TYPE_LISTMAP:
		return variant ? STR("{\"telegram\":[\"1\",\"*\",-5],\"x\":[]}") : STR("{}");
	case TYPE_REF:
		return variant ? STR("\"env:NAME\"") : STR("\"raw:a b\"");
	}
	return STR("null");
}

TEST(every_option_can_be_set_and_is_printed_so_that_it_reads_back_equal)
{
	for (unsigned i = 0; i < OPT_COUNT_; i++) {
		for (unsigned variant = 0; variant < 2; variant++) {
			_cleanup_loading_ struct loading w = { 0 }, again = { 0 };
			const struct show_opts all = { .reveal = true };
			struct buf b;

			loading_init(&w);
			loading_init(&again);
			buf_init(&b, 1 << 20);
			load_option(&w, option_info((enum option)i), good_value(&w, (enum option)i, variant));
			CHECK_CASE(w.r == 0, "%s variant %u: %s", option_info((enum option)i)->key, variant,
				   told(&w));
			CHECK_CASE(w.c->base.has[i], "%s is not marked as said",
				   option_info((enum option)i)->key);
			config_show(w.c, &all, &b);
			assert_false(b.failed);
			load_creel(&again, b.p);
			CHECK_CASE(again.r == 0, "%s: %s\n%s", option_info((enum option)i)->key, told(&again),
				   b.p);
			CHECK_CASE(config_equal(w.c, again.c), "%s changed:\n%s",
				   option_info((enum option)i)->key, b.p);
			buf_done(&b);
		}
	}
}

TEST(every_option_knows_the_line_and_column_of_its_value)
{
	for (unsigned i = 0; i < OPT_COUNT_; i++) {
		_cleanup_loading_ struct loading w = { 0 };
		const struct origin *o;
		struct str text, at;

		loading_init(&w);
		text = nested(&w, option_info((enum option)i)->key, STR("@"));
		assert_true(str_cut(text, '@', &at, &text));
		load_option(&w, option_info((enum option)i), good_value(&w, (enum option)i, 1));
		CHECK_LOADS(&w);
		o = &w.c->base.origin[i];
		CHECK_CASE(o->kind == ORIGIN_FILE && o->line == 1 && o->col == at.n + 1,
			   "%s: %u:%u, want 1:%zu", option_info((enum option)i)->key, o->line, o->col,
			   at.n + 1);
		CHECK_STR(o->name, path_of(&w, "creel.json5"));
	}
}

/* A value of a kind that the option does not take. */
static struct str wrong_kind(enum option_type t)
{
	switch (t) {
	case TYPE_BOOL:
	case TYPE_U64:
	case TYPE_NUM:
		return STR("\"many\"");
	case TYPE_SIZE:
		return STR("\"12q\"");
	case TYPE_ENUM:
	case TYPE_STR:
	case TYPE_REF:
	case TYPE_MAP:
	case TYPE_ENV:
	case TYPE_LAYERS:
	case TYPE_LISTMAP:
		return STR("true");
	case TYPE_LIST:
	case TYPE_BINDS:
		return STR("{}");
	}
	return STR("null");
}

TEST(every_option_refuses_a_value_of_another_type_in_one_line_that_names_it)
{
	for (unsigned i = 0; i < OPT_COUNT_; i++) {
		const struct option_info *info = option_info((enum option)i);
		_cleanup_loading_ struct loading w = { 0 };
		char want[200];

		loading_init(&w);
		load_option(&w, info, wrong_kind(info->type));
		CHECK_CASE(w.r < 0, "%s takes a value of another type", info->key);
		CHECK_CASE(w.d.n == 1, "%s: %zu findings: %s", info->key, w.d.n, told(&w));
		(void)snprintf(want, sizeof(want), "creel.json5:1:");
		CHECK_CASE(str_starts(str_z(told(&w)), str_z(want)), "%s: %s", info->key, told(&w));
		(void)snprintf(want, sizeof(want), ": %s: expected ", info->key);
		CHECK_CASE(strstr(told(&w), want), "%s: %s", info->key, told(&w));
	}
}

TEST(every_list_and_map_refuses_an_element_of_another_type)
{
	for (unsigned i = 0; i < OPT_COUNT_; i++) {
		const struct option_info *info = option_info((enum option)i);
		bool list = info->type == TYPE_LIST || info->type == TYPE_BINDS;
		bool map = info->type == TYPE_MAP || info->type == TYPE_ENV || info->type == TYPE_LAYERS ||
			   info->type == TYPE_LISTMAP;
		_cleanup_loading_ struct loading w = { 0 };

		if (!list && !map)
			continue;
		loading_init(&w);
		load_option(&w, info, list ? STR("[true]") : STR("{\"A\": true}"));
		CHECK_CASE(w.r < 0 && w.d.n == 1, "%s: %s", info->key, told(&w));
		CHECK_CASE(strstr(told(&w), list ? "[0]: expected" : ".A: expected"), "%s: %s", info->key,
			   told(&w));
	}
}

static void check_outside(const struct option_info *info, double value)
{
	_cleanup_loading_ struct loading w = { 0 };
	char text[NUM_TEXT_MAX], want[100];
	struct str s, max;

	loading_init(&w);
	assert_int_equal(num_format(value, text, &s), 0);
	load_option(&w, info, arena_str(&w.a, s));
	CHECK_CASE(w.r < 0 && w.d.n == 1, "%s takes %s", info->key, text);
	assert_int_equal(num_format(info->max, text, &max), 0);
	(void)snprintf(want, sizeof(want), " to %.*s\n", (int)max.n, max.p);
	CHECK_CASE(strstr(told(&w), info->key) && strstr(told(&w), want), "%s: %s", info->key, told(&w));
}

TEST(every_number_refuses_what_is_below_and_above_its_range_and_names_the_range)
{
	for (unsigned i = 0; i < OPT_COUNT_; i++) {
		const struct option_info *info = option_info((enum option)i);

		if (info->type != TYPE_U64 && info->type != TYPE_SIZE && info->type != TYPE_NUM)
			continue;
		assert_true(info->min <= info->max);
		check_outside(info, info->type == TYPE_NUM ? info->min / 2 : info->min - 1);
		check_outside(info, info->max + 1);
		check_outside(info, -1);
		check_outside(info, 1e300);
	}
}

TEST(an_integer_takes_no_fraction_and_no_infinity)
{
	static const char *const texts[] = { "{limits:{pids:1.5}}", "{limits:{pids:Infinity}}",
					     "{limits:{cpus:NaN}}", "{limits:{cpus:Infinity}}",
					     "{limits:{memory:1.5}}" };

	for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
		_cleanup_loading_ struct loading w = { 0 };

		loading_init(&w);
		load_creel(&w, texts[i]);
		CHECK_TOLD(&w, "accepted: ");
	}
}

TEST(every_choice_takes_each_of_its_words_and_no_other)
{
	for (unsigned i = 0; i < OPT_COUNT_; i++) {
		const struct option_info *info = option_info((enum option)i);

		if (info->type != TYPE_ENUM)
			continue;
		for (const struct enum_name *n = info->names; n->name; n++) {
			_cleanup_loading_ struct loading w = { 0 };

			loading_init(&w);
			load_option(&w, info, arena_printf(&w.a, "\"%s\"", n->name));
			CHECK_LOADS(&w);
			CHECK_CASE(*(const int *)option_value(&w.c->base, (enum option)i) == n->value,
				   "%s=%s", info->key, n->name);
		}
		{
			_cleanup_loading_ struct loading w = { 0 };
			char accepted[256];

			loading_init(&w);
			load_option(&w, info, STR("\"sometimes-or-never\""));
			enum_list(info->names, accepted, sizeof(accepted));
			CHECK_TOLD(&w, "unknown value 'sometimes-or-never', accepted: ");
			CHECK_TOLD(&w, accepted);
		}
	}
}

TEST(a_word_that_is_nearly_right_gets_a_suggestion)
{
	_cleanup_loading_ struct loading w = { 0 };

	loading_init(&w);
	load_creel(&w, "{ mode: {\n when: 'non-mian' } }");
	CHECK_TOLD(
		&w,
		"creel.json5:2:8: mode.when: unknown value 'non-mian', accepted: off, non-main or all; did you mean "
		"'non-main'?\n");
}

TEST(every_default_is_a_value_that_the_option_accepts)
{
	_cleanup_loading_ struct loading w = { 0 };

	loading_init(&w);
	load_it(&w);
	CHECK_LOADS(&w);
	assert_int_equal(w.d.n, 0);
	for (unsigned i = 0; i < OPT_COUNT_; i++) {
		assert_false(w.c->base.has[i]);
		assert_int_equal(w.c->base.origin[i].kind, ORIGIN_BUILTIN);
	}
	assert_int_equal(w.c->base.pids, 128);
	assert_int_equal(w.c->base.memory, 512 << 20);
	assert_true(w.c->base.cpus >= 1 && w.c->base.cpus <= 1);
	assert_true(w.c->base.readonly_root);
	assert_int_equal(w.c->base.when, WHEN_OFF);
	assert_int_equal(w.c->base.enforce, ENFORCE_REQUIRE);
	CHECK_LIST(&w, w.c->base.backend_order, "native,docker");
	CHECK_STR(w.c->base.env_set.v[0].name, STR("LANG"));
}

TEST(null_means_not_said_where_nothing_is_the_default_and_is_an_error_elsewhere)
{
	_cleanup_loading_ struct loading w = { 0 }, v = { 0 };

	loading_init(&w);
	load_creel(
		&w,
		"{ network: { browser: { cdpSourceRange: null } }, backend: { opensandbox: { apiKey: null } } }");
	CHECK_LOADS(&w);
	assert_false(w.c->base.has[OPT_BROWSER_CDP_RANGE]);
	loading_init(&v);
	load_creel(&v, "{ mode: { when: null }, tools: { deny: null } }");
	CHECK_TOLD(&v, "mode.when: expected off, non-main or all, found null");
	CHECK_TOLD(&v, "tools.deny: expected an array of strings, found null");
}

TEST(sizes_take_units_and_plain_bytes)
{
	static const struct {
		const char *text;
		uint64_t bytes;
	} cases[] = { { "'512m'", 512 << 20 },      { "'10M'", 10 << 20 },
		      { "'64MiB'", 64 << 20 },      { "1000", 1000 },
		      { "'1000'", 1000 },           { "0x400", 1024 },
		      { "'2g'", (uint64_t)2 << 30 } };

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		_cleanup_loading_ struct loading w = { 0 };

		loading_init(&w);
		load_option(&w, option_info(OPT_MEMORY), str_z(cases[i].text));
		CHECK_LOADS(&w);
		CHECK_CASE(w.c->base.memory == cases[i].bytes, "%s", cases[i].text);
	}
}

TEST(a_nul_character_in_any_text_is_refused)
{
	static const char *const texts[] = {
		"{backend:{image:'a\\u0000b'}}",
		"{tools:{deny:['a\\0']}}",
		"{env:{set:{A:'\\u0000'}}}",
		"{env:{set:{'A\\u0000':'x'}}}",
		"{mounts:{binds:['/a\\0:/b']}}",
		"{tools:{elevated:{allowFrom:{a:['\\0']}}}}",
		"{backend:{opensandbox:{apiKey:'raw:\\0'}}}",
		"{tools:{per:{'a\\0':{ttl:1}}}}",
		"{mode:{trust:{rules:[{match:'\\0',trust:'none'}]}}}",
	};

	for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
		_cleanup_loading_ struct loading w = { 0 };

		loading_init(&w);
		load_creel(&w, texts[i]);
		CHECK_CASE(w.r < 0, "%s loads", texts[i]);
		CHECK_CASE(strstr(told(&w), "NUL") || strstr(told(&w), "variable name"), "%s: %s", texts[i],
			   told(&w));
	}
}

TEST(texts_with_a_form_of_their_own_are_checked)
{
	static const struct {
		const char *text, *want;
	} cases[] = {
		{ "{backend:{order:['native','podman']}}",
		  "backend.order[1]: 'podman' is not accepted here, accepted: native" },
		{ "{backend:{order:['host']}}", "backend.order[0]" },
		{ "{walls:{optional:['landlock','mounts']}}",
		  "walls.optional[1]: 'mounts' is not accepted here, accepted: landlock, time or limits" },
		{ "{env:{secrets:['GH TOKEN']}}", "env.secrets[0]: 'GH TOKEN' is not accepted" },
		{ "{env:{set:{'1A':'x'}}}", "env.set.1A: not a variable name" },
		{ "{env:{set:{A:'x\\ny'}}}", "env.set.A: holds a line end" },
		{ "{serve:{guard:'localhost'}}",
		  "serve.guard: 'localhost' is not accepted here, accepted: host:port" },
		{ "{serve:{runner:'127.0.0.1:70000'}}", "serve.runner" },
		{ "{mounts:{vault:{path:'notes'}}}",
		  "mounts.vault.path: 'notes' is not accepted here, accepted: an absolute path" },
		{ "{mounts:{binds:[' ']}}", "mounts.binds[0]: empty" },
		{ "{sync:{blockedExt:['env']}}", "sync.blockedExt[0]" },
		{ "{backend:{ulimits:{nofile:{soft:1,max:2}}}}",
		  "backend.ulimits.nofile: expected soft and hard" },
		{ "{tools:{byProvider:{x:{alow:[]}}}}",
		  "tools.byProvider.x.alow: unknown key 'alow', did you mean 'allow'?" },
		{ "{tools:{bySender:{x:{profile:'big'}}}}",
		  "tools.bySender.x.profile: expected none, minimal" },
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		_cleanup_loading_ struct loading w = { 0 };

		loading_init(&w);
		load_creel(&w, cases[i].text);
		CHECK_TOLD(&w, cases[i].want);
	}
}

TEST(a_secret_is_never_repeated_in_a_message)
{
	static const char *const texts[] = {
		"{backend:{opensandbox:{apiKey:'hunter2'}}}",
		"{backend:{opensandbox:{apiKey:['hunter2']}}}",
		"{identity:{tokens:[{ref:'hunter2',pairs:'*'}]}}",
		"{env:{set:{A:['hunter2']}}}",
		"{env:{set:{A:'hunter2\\n'}}}",
		"{identity:{tokens:['hunter2']}}",
	};

	for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
		_cleanup_loading_ struct loading w = { 0 };

		loading_init(&w);
		load_creel(&w, texts[i]);
		CHECK_CASE(w.r < 0, "%s loads", texts[i]);
		CHECK_CASE(!strstr(told(&w), "hunter2"), "%s: %s", texts[i], told(&w));
		CHECK_CASE(!strstr(w.e.msg, "hunter2"), "%s: %s", texts[i], w.e.msg);
	}
}

TEST(a_secret_in_a_flag_is_never_repeated_in_a_message)
{
	static const char *const sets[] = { "backend.opensandbox.apiKey=hunter2", "env.set=A=hunter2\n",
					    "{\"backend.opensandbox.apiKey\":\"hunter2\"}", "hunter2",
					    "no.such.key=hunter2" };

	for (size_t i = 0; i < sizeof(sets) / sizeof(sets[0]); i++) {
		_cleanup_loading_ struct loading w = { 0 };

		loading_init(&w);
		use_set(&w, sets[i]);
		load_it(&w);
		if (i == 1)
			continue; /* trimmed, and so a good value */
		CHECK_CASE(w.r < 0 && !strstr(told(&w), "hunter2"), "%s: %s", sets[i], told(&w));
	}
}

TEST(references_and_literals_of_the_environment_are_told_apart)
{
	_cleanup_loading_ struct loading w = { 0 };
	const struct env_vars *env;

	loading_init(&w);
	load_creel(&w,
		   "{env:{set:{A:'${GH_TOKEN}',B:'x-${N}-y',C:'$${N}',D:'plain $ {N} ${1} ${',E:'$$${N}'}}}");
	CHECK_LOADS(&w);
	env = &w.c->base.env_set;
	assert_int_equal(env->n, 5);
	assert_int_equal(env->v[0].kind, ENV_SECRET);
	CHECK_STR(env->v[0].value, STR("${GH_TOKEN}"));
	assert_int_equal(env->v[1].kind, ENV_SECRET);
	CHECK_STR(env->v[1].value, STR("x-${N}-y"));
	assert_int_equal(env->v[2].kind, ENV_LITERAL);
	CHECK_STR(env->v[2].value, STR("${N}"));
	assert_int_equal(env->v[3].kind, ENV_LITERAL);
	CHECK_STR(env->v[3].value, STR("plain $ {N} ${1} ${"));
	CHECK_STR(env->v[4].value, STR("$${N}"));
}

TEST(variables_are_never_expanded_in_the_canonical_file)
{
	_cleanup_loading_ struct loading w = { 0 };

	loading_init(&w);
	use_env(&w, "IMG=secret-image");
	load_creel(&w, "{backend:{image:'${IMG}'}}");
	CHECK_LOADS(&w);
	CHECK_STR(w.c->base.image, STR("${IMG}"));
}

TEST(a_bind_is_split_as_openclaw_splits_it)
{
	static const struct {
		const char *text, *source, *target, *options;
		bool readonly;
	} cases[] = {
		{ "/a:/b", "/a", "/b", "", false },
		{ "/a:/b:ro", "/a", "/b", "ro", true },
		{ "/a:/b:rw,z", "/a", "/b", "rw,z", false },
		{ "/a:/b:z, RO ", "/a", "/b", "z, RO ", true },
		{ "C:\\x:/y:ro", "C:\\x", "/y", "ro", true },
		{ "c:/x:/y", "c:/x", "/y", "", false },
		{ "C:x:/y", "C", "x", "/y", false },
		{ "/data", "/data", "", "", false },
		{ "/a:", "/a", "", "", false },
		{ ":/b", "", "/b", "", false },
	};
	struct bind b;

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		assert_true(bind_parse(str_z(cases[i].text), &b));
		CHECK_STR(b.source, str_z(cases[i].source));
		CHECK_STR(b.target, str_z(cases[i].target));
		CHECK_STR(b.options, str_z(cases[i].options));
		CHECK_CASE(b.readonly == cases[i].readonly, "%s", cases[i].text);
	}
	assert_false(bind_parse(STR(""), &b));
	assert_false(bind_parse(STR(" \t"), &b));
}

TEST(names_of_secrets_are_recognised)
{
	static const char *const yes[] = { "GH_TOKEN",   "BRAVE_API_KEY",         "x_secret",
					   "DbPassword", "AWS_SECRET_ACCESS_KEY", "PRIVATE_KEY",
					   "KEY",        "SSH_AUTH_SOCK",         "DB_PASS",
					   "pass" };
	static const char *const no[] = { "LANG",   "PATH",   "HOME", "CI", "KEYBOARD", "PYTHONUNBUFFERED",
					  "MONKEY", "COMPASS" };

	for (size_t i = 0; i < sizeof(yes) / sizeof(yes[0]); i++)
		CHECK_CASE(secret_name(str_z(yes[i])), "%s", yes[i]);
	for (size_t i = 0; i < sizeof(no) / sizeof(no[0]); i++)
		CHECK_CASE(!secret_name(str_z(no[i])), "%s", no[i]);
}

TEST_MAIN()
