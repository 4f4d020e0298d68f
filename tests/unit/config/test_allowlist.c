/* SPDX-License-Identifier: Apache-2.0 */
/* allowlist.json: S2's pairs, and what is told about the rows that its own guard drops in silence. */
#include "config/loading.h"

TEST(the_shipped_allowlist_loads_word_for_word)
{
	_cleanup_loading_ struct loading w;

	loading_init(&w);
	w.files[0] = (struct config_source){
		.format = FORMAT_ALLOWLIST,
		.path = arena_printf(&w.a, "%s/allowlist/allowlist.json", getenv("CREEL_TEST_DATA")),
	};
	w.in.files = w.files;
	w.in.n_files = 1;
	load_it(&w);
	CHECK_LOADS(&w);
	assert_int_equal(w.d.n, 0);
	assert_int_equal(w.c->n_pairs, 2);
	CHECK_STR(w.c->pairs[0].channel, STR("telegram"));
	CHECK_STR(w.c->pairs[0].agent, STR("g-coder"));
	CHECK_STR(w.c->pairs[0].chat_id, STR("TG_GROUP_CODER_ID"));
	CHECK_STR(w.c->pairs[1].agent, STR("g-hello"));
	assert_int_equal(w.c->pairs[1].origin.line, 4);
	assert_int_equal(w.c->base.profile, PROFILE_TIER1);
}

TEST(a_row_that_allows_nobody_is_left_out_and_told_with_its_line)
{
	static const struct {
		const char *row, *why;
	} rows[] = {
		{ "'g-coder'", "not an object with agent and chat_id" },
		{ "{agent: 'a'}", "chat_id is not a string in quotes" },
		{ "{chat_id: '-1'}", "agent is not a string" },
		{ "{agent: 'a', chat_id: -100123}", "chat_id is not a string in quotes" },
		{ "{agent: null, chat_id: '-1'}", "agent is not a string" },
		{ "{agent: 'G-Coder', chat_id: '-1'}", "no agent is called so" },
		{ "{agent: '../x', chat_id: '-1'}", "no agent is called so" },
		{ "{agent: 'a', chat_id: 'x/../../etc'}", "no chat is called so" },
		{ "{agent: 'a', chat_id: ''}", "no chat is called so" },
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		_cleanup_loading_ struct loading w;

		loading_init(&w);
		load_text_as(
			&w, "allowlist:a.json",
			arena_printf(&w.a, "{telegram: [\n%s,\n{agent: 'ok', chat_id: '-1'}]}", rows[i].row)
				.p);
		CHECK_LOADS(&w);
		CHECK_CASE(strstr(told(&w), "a.json:2:") && strstr(told(&w), rows[i].why), "%s: %s",
			   rows[i].row, told(&w));
		assert_int_equal(w.c->n_pairs, 1);
		CHECK_STR(w.c->pairs[0].agent, STR("ok"));
	}
}

TEST(a_pair_that_stands_twice_counts_once)
{
	_cleanup_loading_ struct loading w;

	loading_init(&w);
	load_text_as(&w, "allowlist:a.json", "{telegram: [{agent:'a',chat_id:'1'},{chat_id:'1',agent:'a'}]}");
	CHECK_LOADS(&w);
	assert_int_equal(w.c->n_pairs, 1);
}

TEST(an_allowlist_without_pairs_loads_and_says_that_nobody_may_call)
{
	_cleanup_loading_ struct loading w;

	loading_init(&w);
	load_text_as(&w, "allowlist:a.json", "{telegram: []}");
	CHECK_LOADS(&w);
	assert_non_null(strstr(told(&w), "no pair is allowed, so every call is refused"));
}

TEST(what_is_no_allowlist_is_refused)
{
	static const struct {
		const char *text, *want;
	} cases[] = {
		{ "[]", "a.json:1:1: expected {\"telegram\": [{agent, chat_id}]}, found an array" },
		{ "{telegram: {agent: 'a'}}",
		  "a.json:1:12: telegram: expected the name of a channel and a list" },
		{ "{telegram: '*'}", "a.json:1:12: telegram: expected the name of a channel" },
		{ "{'': []}", "a.json:1:6:" },
		{ "", "a.json:1:1:" },
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		_cleanup_loading_ struct loading w;

		loading_init(&w);
		load_text_as(&w, "allowlist:a.json", cases[i].text);
		CHECK_TOLD(&w, cases[i].want);
	}
}

TEST(more_pairs_than_4096_are_refused)
{
	_cleanup_loading_ struct loading w;
	struct buf b;

	loading_init(&w);
	buf_init(&b, 1 << 20);
	buf_puts(&b, "{telegram: [");
	for (int i = 0; i < 4097; i++)
		buf_printf(&b, "{agent: 'a', chat_id: '%d'},", i);
	buf_puts(&b, "]}");
	load_text_as(&w, "allowlist:a.json", b.p);
	buf_done(&b);
	CHECK_TOLD(&w, "telegram[4096]: accepted: at most 4096 pairs");
}

TEST_MAIN()
