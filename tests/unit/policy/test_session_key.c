/* SPDX-License-Identifier: Apache-2.0 */
#include "policy/session_key.h"
#include "world.h"

static enum session_shape shape_of(struct str key)
{
	struct session_key k;

	return session_key_parse(key, &k);
}

TEST(a_scoped_key_is_taken_apart)
{
	struct session_key k;

	assert_int_equal(session_key_parse(STR(" agent:main:telegram:group:-100 "), &k), SESSION_AGENT);
	CHECK_STR(k.raw, STR("agent:main:telegram:group:-100"));
	CHECK_STR(k.agent, STR("main"));
	CHECK_STR(k.rest, STR("telegram:group:-100"));
}

TEST(the_word_agent_has_no_case_and_its_id_may_have_blanks_around_it)
{
	struct session_key k;

	assert_int_equal(session_key_parse(STR("AGENT: Main :X"), &k), SESSION_AGENT);
	CHECK_STR(k.agent, STR("Main"));
	CHECK_STR(k.rest, STR("X"));
}

TEST(a_key_that_starts_like_an_agents_and_goes_wrong_is_malformed)
{
	static const char *const bad[] = { "agent:",    "agent:main",    "agent:main:", "agent::x",
					   "agent: :x", "agent:main::x", "AGENT:main" };

	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
		CHECK_CASE(shape_of(str_z(bad[i])) == SESSION_MALFORMED, "%s", bad[i]);
}

TEST(a_key_without_agent_is_unscoped_and_whole)
{
	struct session_key k;

	assert_int_equal(session_key_parse(STR("untrusted:pr-482"), &k), SESSION_UNSCOPED);
	CHECK_STR(k.rest, STR("untrusted:pr-482"));
	assert_int_equal(shape_of(STR("agen:x:y")), SESSION_UNSCOPED);
	assert_int_equal(shape_of(STR("agentx")), SESSION_UNSCOPED);
}

TEST(a_blank_key_is_missing)
{
	assert_int_equal(shape_of((struct str){ 0 }), SESSION_MISSING);
	assert_int_equal(shape_of(STR(" \t\xc2\xa0\xe2\x80\xa8 ")), SESSION_MISSING);
}

TEST(control_characters_and_overlong_keys_are_malformed)
{
	char text[SESSION_KEY_MAX + 2];

	assert_int_equal(shape_of(STR("a\nb")), SESSION_MALFORMED);
	assert_int_equal(shape_of((struct str){ .p = "a\0b", .n = 3 }), SESSION_MALFORMED);
	assert_int_equal(shape_of(STR("a\x7f")), SESSION_MALFORMED);
	memset(text, 'a', sizeof(text));
	assert_int_equal(shape_of((struct str){ .p = text, .n = SESSION_KEY_MAX }), SESSION_UNSCOPED);
	assert_int_equal(shape_of((struct str){ .p = text, .n = SESSION_KEY_MAX + 1 }), SESSION_MALFORMED);
}

TEST(agent_ids_are_normalised_as_upstream_does)
{
	static const struct {
		const char *in, *out;
		bool ok;
	} t[] = {
		{ "main", "main", true },
		{ "My-Agent_1", "my-agent_1", true },
		{ "My Agent", "my-agent", true },
		{ "  a  ", "a", true },
		{ "_x", "_x", true },
		{ "A-", "a-", true },
		{ "A -", "a", true },
		{ "-x", "x", true },
		{ "a  !!  b", "a-b", true },
		{ "a- b", "a--b", true },
		{ "\xc3\xa9t\xc3\xa9", "t", true },
		{ "Ghost Town", "ghost-town", true },
		{ "---", "main", false },
		{ "", "main", false },
		{ "!!!", "main", false },
	};
	WORLD(w);
	struct str out;

	for (size_t i = 0; i < sizeof(t) / sizeof(t[0]); i++) {
		assert_int_equal(agent_id_normalise(&w->a, str_z(t[i].in), &out), t[i].ok);
		CHECK_STR(out, str_z(t[i].out));
	}
}

TEST(agent_ids_are_cut_to_64_last)
{
	char in[80];
	struct str out;
	WORLD(w);

	memset(in, 'A', sizeof(in));
	in[63] = ' ';
	assert_true(agent_id_normalise(&w->a, (struct str){ .p = in, .n = 70 }, &out));
	assert_int_equal(out.n, 64);
	assert_int_equal(out.p[63], '-');
}

TEST(remote_agents_and_chats_have_a_narrow_alphabet)
{
	char long_id[66];

	memset(long_id, 'a', sizeof(long_id));
	assert_true(agent_id_is_strict(STR("g-coder")));
	assert_true(agent_id_is_strict(STR("0")));
	assert_true(agent_id_is_strict((struct str){ .p = long_id, .n = 63 }));
	assert_false(agent_id_is_strict((struct str){ .p = long_id, .n = 64 }));
	assert_false(agent_id_is_strict(STR("")));
	assert_false(agent_id_is_strict(STR("-a")));
	assert_false(agent_id_is_strict(STR("A")));
	assert_false(agent_id_is_strict(STR("a_b")));
	assert_false(agent_id_is_strict(STR("a/b")));
	assert_true(chat_id_is_valid(STR("-100123")));
	assert_true(chat_id_is_valid(STR("TG_GROUP_CODER_ID")));
	assert_true(chat_id_is_valid((struct str){ .p = long_id, .n = 64 }));
	assert_false(chat_id_is_valid((struct str){ .p = long_id, .n = 65 }));
	assert_false(chat_id_is_valid(STR("-")));
	assert_false(chat_id_is_valid(STR("--1")));
	assert_false(chat_id_is_valid(STR("x/../../../etc")));
	assert_false(chat_id_is_valid(STR("")));
	assert_true(channel_is_valid(STR("nextcloud-talk")));
	assert_false(channel_is_valid(STR("a:b")));
	assert_false(channel_is_valid(STR("")));
}

TEST(a_group_is_found_in_the_rest)
{
	struct str channel, id;

	assert_true(session_rest_group(STR("telegram:group:-100:topic:7"), &channel, &id));
	CHECK_STR(channel, STR("telegram"));
	CHECK_STR(id, STR("-100:topic:7"));
	assert_true(session_rest_group(STR("slack:channel:C1"), &channel, &id));
	assert_true(session_rest_group(STR("subagent:telegram:group:1"), &channel, &id));
	CHECK_STR(channel, STR("telegram"));
	assert_false(session_rest_group(STR("telegram:direct:1"), &channel, &id));
	assert_false(session_rest_group(STR("main"), &channel, &id));
	assert_false(session_rest_group(STR("telegram:group"), &channel, &id));
	assert_false(session_rest_group(STR("telegram:group:"), &channel, &id));
	assert_false(session_rest_group(STR(":group:1"), &channel, &id));
}

TEST(a_channel_is_known_by_name)
{
	CHECK_STR(session_rest_channel(STR("Telegram:group:1")), STR("telegram"));
	CHECK_STR(session_rest_channel(STR("webchat")), STR("webchat"));
	CHECK_STR(session_rest_channel(STR("::webchat:x")), STR("webchat"));
	CHECK_STR(session_rest_channel(STR("cron:job1")), STR(""));
	CHECK_STR(session_rest_channel(STR("")), STR(""));
}

TEST(trimming_knows_unicodes_blanks)
{
	CHECK_STR(trim_unicode(STR("\xef\xbb\xbf a b \xe3\x80\x80")), STR("a b"));
	CHECK_STR(trim_unicode(STR("\xff")), STR("\xff"));
	CHECK_STR(trim_unicode(STR("a\xc3\xa9")), STR("a\xc3\xa9"));
	CHECK_STR(trim_unicode(STR("\v\f a")), STR("a"));
}

TEST_MAIN()
