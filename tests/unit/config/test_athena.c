/* SPDX-License-Identifier: Apache-2.0 */
/* .athena/settings.yaml as S0 prints it, and every way to get it wrong. */
#include "config/loading.h"

static int load_athena(struct loading *w, const char *text)
{
	loading_init(w);
	return load_text_as(w, "athena:settings.yaml", text);
}

TEST(the_printed_settings_load_word_for_word)
{
	_cleanup_loading_ struct loading w;
	const struct trust_rule *r;

	loading_init(&w);
	w.files[0] = (struct config_source){
		.format = FORMAT_ATHENA,
		.path = arena_printf(&w.a, "%s/athena/settings.yaml", getenv("CREEL_TEST_DATA")),
	};
	w.in.files = w.files;
	w.in.n_files = 1;
	load_it(&w);
	CHECK_LOADS(&w);
	assert_int_equal(w.d.n, 0);
	assert_int_equal(w.c->base.trust_default, TRUST_NONE);
	assert_int_equal(w.c->n_rules, 3);
	r = w.c->rules;
	CHECK_STR(r[0].match, STR("client:*"));
	assert_int_equal(r[0].trust, TRUST_LIGHT);
	assert_false(r[0].has_allow);
	CHECK_LIST(&w, r[0].deny, "secrets,external_api,git_push");
	CHECK_STR(r[1].match, STR("untrusted:*"));
	assert_int_equal(r[1].trust, TRUST_DOCKER);
	CHECK_LIST(&w, r[1].allow, "bash,read,edit");
	CHECK_LIST(&w, r[1].deny, "browser,network,git");
	CHECK_STR(r[2].match, STR("analysis:*"));
	assert_int_equal(r[2].trust, TRUST_READONLY);
	CHECK_LIST(&w, r[2].allow, "read,search");
	CHECK_LIST(&w, r[2].deny, "write,bash,git");
	assert_int_equal(r[2].origin.line, 17);
}

TEST(rules_keep_the_order_of_the_file)
{
	_cleanup_loading_ struct loading w;

	load_athena(
		&w,
		"sandbox:\n  rules:\n    - {match: 'b*', mode: light}\n    - {match: 'a*', mode: docker}\n");
	CHECK_LOADS(&w);
	CHECK_STR(w.c->rules[0].match, STR("b*"));
	CHECK_STR(w.c->rules[1].match, STR("a*"));
}

TEST(missing_sandbox_rules_or_default_mode_count_as_empty)
{
	static const char *const texts[] = { "",
					     "# nothing\n",
					     "sandbox:\n",
					     "sandbox: {}\n",
					     "sandbox:\n  rules:\n",
					     "sandbox:\n  default_mode:\n  rules: []\n" };

	for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
		_cleanup_loading_ struct loading w;

		load_athena(&w, texts[i]);
		CHECK_CASE(w.r == 0, "'%s' does not load: %s", texts[i], told(&w));
		assert_int_equal(w.c->n_rules, 0);
		assert_int_equal(w.c->base.trust_default, TRUST_NONE);
	}
}

TEST(each_of_the_four_modes_is_known_and_no_other)
{
	static const struct {
		const char *word;
		enum trust trust;
	} modes[] = { { "none", TRUST_NONE },
		      { "light", TRUST_LIGHT },
		      { "docker", TRUST_DOCKER },
		      { "readonly", TRUST_READONLY } };
	static const char *const wrong[] = { "None", "off", "full", "read-only", "''", "~", "1", "[none]" };

	for (size_t i = 0; i < 4; i++) {
		_cleanup_loading_ struct loading w;

		loading_init(&w);
		load_text_as(&w, "athena:s.yaml",
			     arena_printf(&w.a, "sandbox:\n  default_mode: %s\n", modes[i].word).p);
		CHECK_LOADS(&w);
		assert_int_equal(w.c->base.trust_default, modes[i].trust);
	}
	for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
		_cleanup_loading_ struct loading w;

		loading_init(&w);
		load_text_as(
			&w, "athena:s.yaml",
			arena_printf(&w.a, "sandbox:\n  rules:\n  - {match: 'a:*', mode: %s}\n", wrong[i]).p);
		CHECK_TOLD(&w, "s.yaml:3:");
		CHECK_TOLD(&w, "sandbox.rules[0].mode: unknown mode");
		CHECK_TOLD(&w, "accepted: none, light, docker or readonly");
	}
}

TEST(every_mistake_is_told_with_place_and_what_is_accepted)
{
	static const struct {
		const char *text, *want;
	} cases[] = {
		{ "sandbox:\n  rules:\n    - mode: light\n",
		  "s.yaml:3:7: sandbox.rules[0]: match is missing, accepted: a pattern for session keys" },
		{ "sandbox:\n  rules:\n    - match: 'x:*'\n",
		  "s.yaml:3:7: sandbox.rules[0]: mode is missing, accepted: none, light, docker or readonly" },
		{ "sandbox:\n  default_mode: dokcer\n",
		  "s.yaml:2:17: sandbox.default_mode: unknown mode 'dokcer', accepted: none, light, docker or readonly; did you mean 'docker'?" },
		{ "sandbox:\n  defaultmode: none\n",
		  "s.yaml:2:3: sandbox.defaultmode: unknown key 'defaultmode', did you mean 'default_mode'?" },
		{ "sandbox:\n  rules:\n  - {match: 'a', mode: none, denny: [git]}\n",
		  "s.yaml:3:30: sandbox.rules[0].denny: unknown key 'denny', did you mean 'deny'?" },
		{ "sandbox:\n  rules: {match: a}\n",
		  "s.yaml:2:10: sandbox.rules: expected a list of rules, found an object" },
		{ "sandbox:\n  rules: [none]\n",
		  "sandbox.rules[0]: expected a rule with match and mode, found 'none'" },
		{ "sandbox:\n  rules:\n  - {match: 5, mode: none}\n",
		  "sandbox.rules[0].match: expected a pattern for session keys in quotes" },
		{ "sandbox:\n  rules:\n  - {match: '', mode: none}\n",
		  "sandbox.rules[0].match: expected a pattern" },
		{ "sandbox:\n  rules:\n  - {match: a, mode: none, deny: git}\n",
		  "sandbox.rules[0].deny: expected a list, found 'git'" },
		{ "sandbox:\n  rules:\n  - {match: a, mode: none, deny: [1]}\n",
		  "sandbox.rules[0].deny[0]: expected the name" },
		{ "sandbox: on\n", "s.yaml:1:10: sandbox: expected default_mode and rules, found 'on'" },
		{ "sandobx:\n  default_mode: docker\n",
		  "s.yaml:1:1: sandobx: unknown key 'sandobx', did you mean 'sandbox'?" },
		{ "- sandbox\n", "s.yaml:1:1: expected 'sandbox:' and its settings, found an array" },
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		_cleanup_loading_ struct loading w;

		loading_init(&w);
		load_text_as(&w, "athena:s.yaml", cases[i].text);
		CHECK_TOLD(&w, cases[i].want);
	}
}

TEST(one_wrong_rule_among_good_ones_refuses_the_file)
{
	_cleanup_loading_ struct loading w;

	load_athena(&w, "sandbox:\n  rules:\n  - {match: 'a:*', mode: light}\n  - {match: 'b:*'}\n");
	assert_true(w.r < 0);
}

TEST(other_sections_of_athenas_file_are_left_alone_and_said_so)
{
	_cleanup_loading_ struct loading w;

	load_athena(&w, "memory:\n  budget: 3\nsandbox:\n  default_mode: light\n");
	CHECK_LOADS(&w);
	assert_int_equal(w.c->base.trust_default, TRUST_LIGHT);
	assert_non_null(strstr(told(&w), "warning: memory: not a section that creel reads"));
}

TEST(a_token_that_is_almost_one_of_s0_is_warned_about)
{
	_cleanup_loading_ struct loading w;

	load_athena(&w, "sandbox:\n  rules:\n  - {match: a, mode: none, deny: [netwrok, exec]}\n");
	CHECK_LOADS(&w);
	assert_non_null(strstr(told(&w), "did you mean 'network'?"));
	assert_null(strstr(told(&w), "'exec'"));
}

TEST_MAIN()
