/* SPDX-License-Identifier: Apache-2.0 */
#include "same.h"
#include "world.h"

static struct agent agents_ab[] = { { .id = { "a", 1 } }, { .id = { "b", 1 } } };
static struct pair pairs[] = {
	{ .channel = { "telegram", 8 }, .agent = { "g-coder", 7 }, .chat_id = { "-100123", 7 } },
	{ .channel = { "telegram", 8 }, .agent = { "g-hello", 7 }, .chat_id = { "-100456", 7 } },
};
static struct token tokens[] = {
	{ .all_pairs = true },
	{ .pairs = &pairs[1], .n_pairs = 1 },
};

/* A guard call that is all right. */
static void as_guard(struct world *w)
{
	w->c.pairs = pairs;
	w->c.n_pairs = 2;
	w->c.tokens = tokens;
	w->c.n_tokens = 2;
	w->c.base.internal_hosts = KEEP(w, STR("ollama"));
	w->r.via = VIA_GUARD;
	w->r.auth = AUTH_TOKEN;
	w->r.agent = STR("g-coder");
	w->r.channel = STR("telegram");
	w->r.chat_id = STR("-100123");
	w->r.tool = STR("file_read");
}

static void as_upstream(struct world *w)
{
	w->c.base.compat = COMPAT_OPENCLAW_2026_9;
}

TEST(a_zeroed_request_is_refused_by_a_zeroed_config)
{
	WORLD(w);

	memset(&w->c, 0, sizeof(w->c));
	memset(&w->r, 0, sizeof(w->r));
	ask(w);
	CHECK_DENY(w, CODE_MISSING_AUTH);
	assert_int_equal(w->d.stopped_at, STAGE_IDENTITY);
}

TEST(a_local_call_without_anything_is_the_main_session_of_main)
{
	WORLD(w);

	ask(w);
	CHECK_STR(w->d.who.agent, STR("main"));
	CHECK_STR(w->d.who.session_key, STR("agent:main:main"));
	CHECK_STR(w->d.who.main_session_key, STR("agent:main:main"));
	assert_true(w->d.who.is_main);
	assert_true(has_reason(&w->d, STAGE_IDENTITY, "agent", "main"));
	assert_true(has_reason(&w->d, STAGE_IDENTITY, "session", "agent:main:main"));
	assert_true(has_reason(&w->d, STAGE_IDENTITY, "via", "cli"));
}

static void check_who(struct world *w, const char *what, enum code expected)
{
	struct decision *who = calloc(1, sizeof(*who));
	const char *other;

	assert_non_null(who);
	ask(w);
	CHECK_CASE(decide_who(&w->c, &w->r, &w->a, who) == expected, "%s", what);
	CHECK_CASE(who->verdict == VERDICT_DENY, "%s: nothing may run by it", what);
	CHECK_CASE((w->d.stopped_at == STAGE_IDENTITY && w->d.code == expected) || expected == CODE_OK, "%s",
		   what);
	other = expected == CODE_OK ? NULL : differs(who, &w->d);
	CHECK_CASE(!other, "%s: %s", what, other);
	free(who);
}

TEST(the_first_stage_alone_refuses_whom_the_whole_would_and_nobody_else)
{
	WORLD(w);

	as_guard(w);
	w->r.via = VIA_API;
	check_who(w, "somebody", CODE_OK);
	w->r.tool = STR("nope");
	check_who(w, "a tool that there is not", CODE_OK);
	w->r.session_key = STR("agent:g-coder:telegram:group:-100456");
	w->r.token = 1;
	check_who(w, "another's pair", CODE_PAIR_NOT_ALLOWED);
	w->r.chat_id = STR("-100456");
	w->r.agent = STR("g-hello");
	check_who(w, "another's session", CODE_AGENT_MISMATCH);
	w->r.session_key = STR("agent:g-hello:main");
	check_who(w, "a session that is not the pair's", CODE_INVALID_SESSION);
	w->r.session_key = (struct str){ 0 };
	check_who(w, "the pair's own", CODE_OK);
	w->r.token = 2;
	check_who(w, "no token", CODE_INVALID_AUTH);
	w->r.auth = AUTH_MISSING;
	check_who(w, "nothing shown", CODE_MISSING_AUTH);
}

/* S2-2, S2-3, S2-21, S2-43 */
TEST(a_remote_caller_needs_a_valid_token)
{
	WORLD(w);

	as_guard(w);
	w->r.auth = AUTH_MISSING;
	ask(w);
	CHECK_DENY(w, CODE_MISSING_AUTH);
	w->r.auth = AUTH_INVALID;
	ask(w);
	CHECK_DENY(w, CODE_INVALID_AUTH);
	w->r.auth = AUTH_LOCAL;
	ask(w);
	CHECK_DENY(w, CODE_INVALID_AUTH);
	w->r.auth = AUTH_TOKEN;
	w->r.token = 2;
	ask(w);
	CHECK_DENY(w, CODE_INVALID_AUTH);
	w->r.token = 0;
	ask(w);
	CHECK_ALLOW(w);
}

TEST(a_token_is_nothing_to_a_local_door)
{
	WORLD(w);

	w->r.auth = AUTH_TOKEN;
	ask(w);
	CHECK_DENY(w, CODE_INVALID_AUTH);
}

TEST(every_remote_door_checks_agent_chat_and_pair)
{
	static const enum via doors[] = { VIA_GUARD, VIA_RUNNER, VIA_API };
	static const struct {
		const char *agent, *channel, *chat;
		enum code code;
	} t[] = {
		{ "", "telegram", "-100123", CODE_INVALID_AGENT },
		{ "G-Coder", "telegram", "-100123", CODE_INVALID_AGENT },
		{ "g-coder/../x", "telegram", "-100123", CODE_INVALID_AGENT },
		{ "g-coder", "telegram", "", CODE_MISSING_CHAT_ID },
		{ "g-coder", "telegram", "x/../../../etc", CODE_INVALID_CHAT_ID },
		{ "g-coder", "telegram", "-100456", CODE_PAIR_NOT_ALLOWED }, /* S2-39: a spoofed pair */
		{ "g-other", "telegram", "-100123", CODE_PAIR_NOT_ALLOWED },
		{ "g-coder", "discord", "-100123", CODE_PAIR_NOT_ALLOWED },
		{ "g-coder", "", "-100123", CODE_PAIR_NOT_ALLOWED },
	};
	WORLD(w);

	for (size_t door = 0; door < 3; door++)
		for (size_t i = 0; i < sizeof(t) / sizeof(t[0]); i++) {
			as_guard(w);
			w->r.via = doors[door];
			w->r.token = 0;
			w->r.agent = str_z(t[i].agent);
			w->r.channel = str_z(t[i].channel);
			w->r.chat_id = str_z(t[i].chat);
			ask(w);
			CHECK_DENY(w, t[i].code);
		}
}

/* S2-24: the hole that the document names */
TEST(a_token_speaks_for_its_own_pairs_alone)
{
	WORLD(w);

	as_guard(w);
	w->r.token = 1;
	ask(w);
	CHECK_DENY(w, CODE_PAIR_NOT_ALLOWED);
	w->r.agent = STR("g-hello");
	w->r.chat_id = STR("-100456");
	ask(w);
	CHECK_ALLOW(w);
	assert_true(has_reason(&w->d, STAGE_IDENTITY, "pair", "-100456"));
}

TEST(an_empty_allowlist_lets_nobody_in)
{
	WORLD(w);

	as_guard(w);
	w->c.n_pairs = 0;
	ask(w);
	CHECK_DENY(w, CODE_PAIR_NOT_ALLOWED);
}

TEST(a_guard_calls_session_is_its_agents_group)
{
	WORLD(w);

	as_guard(w);
	ask(w);
	CHECK_STR(w->d.who.session_key, STR("agent:g-coder:telegram:group:-100123"));
	CHECK_STR(w->d.who.rest, STR("telegram:group:-100123"));
	CHECK_STR(w->d.who.channel, STR("telegram"));
	assert_false(w->d.who.is_main);
}

TEST(a_remote_caller_cannot_pick_another_session)
{
	WORLD(w);

	as_guard(w);
	w->r.session_key = STR("main:boss");
	ask(w);
	CHECK_DENY(w, CODE_INVALID_SESSION);
	w->r.session_key = STR("agent:g-coder:main");
	ask(w);
	CHECK_DENY(w, CODE_INVALID_SESSION);
	w->r.session_key = STR("agent:g-coder:telegram:group:-100123");
	ask(w);
	CHECK_ALLOW(w);
}

TEST(the_operators_token_over_the_api_may_name_any_session)
{
	WORLD(w);

	as_guard(w);
	w->r.via = VIA_API;
	w->r.agent = w->r.channel = w->r.chat_id = (struct str){ 0 };
	w->r.session_key = STR("untrusted:pr-482");
	w->r.tool = STR("read");
	ask(w);
	CHECK_ALLOW(w);
	CHECK_STR(w->d.who.session_key, STR("untrusted:pr-482"));
	w->r.token = 1;
	ask(w);
	CHECK_DENY(w, CODE_INVALID_AGENT);
	w->r.token = 0;
	w->r.agent = STR("Bad Agent");
	ask(w);
	CHECK_DENY(w, CODE_INVALID_AGENT);
}

/* S2-5, S2-22, C26 */
TEST(policy_that_a_caller_sends_is_ignored_and_noted)
{
	WORLD(w);

	as_guard(w);
	w->r.caller_policy = true;
	ask(w);
	CHECK_ALLOW(w);
	assert_true(has_warning(&w->d, "caller_policy_ignored"));
}

TEST(flags_from_any_other_door_than_the_command_line_are_ignored_and_noted)
{
	WORLD(w);

	as_guard(w);
	w->r.has_trust = true;
	w->r.trust = TRUST_READONLY;
	w->r.no_sandbox = true;
	ask(w);
	CHECK_ALLOW(w);
	assert_int_equal(w->d.mode.trust, TRUST_NONE);
	assert_true(w->d.mode.sandboxed);
	assert_true(has_warning(&w->d, "flags_ignored"));
}

TEST(documents_take_keys_without_an_agent)
{
	WORLD(w);

	ask_for(w, "untrusted:pr-482", "read");
	CHECK_ALLOW(w);
	CHECK_STR(w->d.who.agent, STR("main"));
	CHECK_STR(w->d.who.session_key, STR("untrusted:pr-482"));
	CHECK_STR(w->d.who.rest, STR("untrusted:pr-482"));
}

TEST(upstream_refuses_keys_without_an_agent_except_bare_words_and_global)
{
	WORLD(w);

	as_upstream(w);
	ask_for(w, "telegram:group:9", "");
	CHECK_DENY(w, CODE_INVALID_SESSION);
	ask_for(w, "Work Log", "");
	CHECK_STR(w->d.who.session_key, STR("agent:main:work log"));
	ask_for(w, "global", "");
	CHECK_STR(w->d.who.session_key, STR("global"));
	ask_for(w, "GLOBAL", "");
	CHECK_STR(w->d.who.session_key, STR("agent:main:global"));
}

TEST(a_malformed_agent_key_is_refused_by_both)
{
	WORLD(w);

	ask_for(w, "agent:main", "");
	CHECK_DENY(w, CODE_INVALID_SESSION);
	as_upstream(w);
	ask_for(w, "agent::x", "");
	CHECK_DENY(w, CODE_INVALID_SESSION);
}

/* S1-10 */
TEST(documents_honour_main_key)
{
	WORLD(w);

	w->c.base.main_key = STR("home");
	ask_for(w, "agent:main:home", "");
	assert_true(w->d.who.is_main);
	CHECK_STR(w->d.who.main_session_key, STR("agent:main:home"));
	ask_for(w, "home", "");
	assert_true(w->d.who.is_main);
	ask_for(w, "agent:main:main", "");
	assert_false(w->d.who.is_main);
	ask_for(w, "", "");
	CHECK_STR(w->d.who.session_key, STR("agent:main:home"));
	assert_true(w->d.who.is_main);
}

TEST(upstreams_main_key_is_always_main)
{
	WORLD(w);

	as_upstream(w);
	w->c.base.main_key = STR("home");
	ask_for(w, "agent:main:home", "");
	assert_false(w->d.who.is_main);
	ask_for(w, "agent:main:main", "");
	assert_true(w->d.who.is_main);
}

TEST(upstream_compares_the_main_key_to_the_letter)
{
	static const char *const others[] = { "agent:main:MAIN", "AGENT:main:main", "agent:MAIN:main" };
	WORLD(w);

	as_upstream(w);
	for (size_t i = 0; i < 3; i++) {
		ask_for(w, others[i], "");
		CHECK_CASE(!w->d.who.is_main, "%s", others[i]);
		CHECK_STR(w->d.who.session_key, str_z(others[i]));
		CHECK_STR(w->d.who.agent, STR("main"));
	}
}

TEST(under_global_scope_the_main_session_is_global_and_its_aliases)
{
	WORLD(w);

	as_upstream(w);
	w->c.base.session_scope = SESSION_GLOBAL;
	ask_for(w, "", "");
	CHECK_STR(w->d.who.session_key, STR("agent:main:main"));
	CHECK_STR(w->d.who.main_session_key, STR("global"));
	assert_true(w->d.who.is_main);
	ask_for(w, "global", "");
	assert_true(w->d.who.is_main);
	ask_for(w, "agent:x:main", "");
	assert_true(w->d.who.is_main);
	ask_for(w, "agent:main:telegram:group:1", "");
	assert_false(w->d.who.is_main);
	w->c.base.session_scope = SESSION_PER_SENDER;
	ask_for(w, "global", "");
	assert_false(w->d.who.is_main);
	w->c.base.compat = COMPAT_DOCUMENTS;
	w->c.base.session_scope = SESSION_GLOBAL;
	ask_for(w, "global", "");
	assert_true(w->d.who.is_main);
	ask_for(w, "", "");
	assert_true(w->d.who.is_main);
}

/* S1-11 */
TEST(groups_and_channels_are_never_main)
{
	WORLD(w);

	ask_for(w, "agent:main:telegram:group:-100123", "");
	assert_false(w->d.who.is_main);
	ask_for(w, "agent:main:slack:channel:main", "");
	assert_false(w->d.who.is_main);
}

/* C31 */
TEST(main_patterns_widen_what_counts_as_main)
{
	WORLD(w);

	ask_for(w, "main:foo", "");
	assert_false(w->d.who.is_main);
	w->c.base.main_patterns = LIST(STR("x:*"), STR("main:*"));
	ask_for(w, "main:foo", "");
	assert_true(w->d.who.is_main);
	assert_true(has_reason(&w->d, STAGE_IDENTITY, "main", "main:*"));
	ask_for(w, "other:foo", "");
	assert_false(w->d.who.is_main);
}

TEST(an_agent_that_contradicts_its_session_is_refused)
{
	WORLD(w);

	w->r.agent = STR("a");
	ask_for(w, "agent:b:main", "");
	CHECK_DENY(w, CODE_AGENT_MISMATCH);
	ask_for(w, "agent:A:main", "");
	CHECK_STR(w->d.who.agent, STR("a"));
}

TEST(a_blank_agent_is_refused)
{
	WORLD(w);

	w->r.agent = STR("  ");
	ask(w);
	CHECK_DENY(w, CODE_INVALID_AGENT);
}

TEST(without_a_roster_any_agent_gets_the_defaults)
{
	WORLD(w);

	ask_for(w, "agent:ghost:main", "");
	CHECK_STR(w->d.who.agent, STR("ghost"));
	assert_null(w->d.who.block);
	w->r.agent = STR("Other One");
	ask_for(w, "", "");
	CHECK_STR(w->d.who.agent, STR("other-one"));
}

TEST(with_a_roster_an_unknown_agent_is_refused)
{
	WORLD(w);

	w->c.agents = agents_ab;
	w->c.n_agents = 2;
	w->c.has_roster = true;
	ask_for(w, "agent:ghost:main", "");
	CHECK_DENY(w, CODE_UNKNOWN_AGENT);
	ask_for(w, "agent:b:main", "");
	assert_ptr_equal(w->d.who.block, &agents_ab[1]);
}

TEST(an_empty_roster_knows_main)
{
	WORLD(w);

	w->c.has_roster = true;
	ask_for(w, "", "");
	CHECK_STR(w->d.who.agent, STR("main"));
	ask_for(w, "agent:ghost:x", "");
	CHECK_DENY(w, CODE_UNKNOWN_AGENT);
}

TEST(upstream_wants_a_named_agent_to_exist_but_takes_the_session_keys)
{
	WORLD(w);

	as_upstream(w);
	w->c.agents = agents_ab;
	w->c.n_agents = 2;
	w->c.has_roster = true;
	ask_for(w, "agent:ghost:main", "");
	CHECK_STR(w->d.who.agent, STR("ghost"));
	w->r.agent = STR("ghost");
	ask_for(w, "", "");
	CHECK_DENY(w, CODE_UNKNOWN_AGENT);
	w->c.n_agents = 0;
	w->c.has_roster = false;
	ask_for(w, "", "");
	CHECK_DENY(w, CODE_UNKNOWN_AGENT);
	w->r.agent = STR("main");
	ask_for(w, "", "");
	CHECK_STR(w->d.who.agent, STR("main"));
}

TEST(the_default_agent_is_the_flagged_one)
{
	static struct agent three[] = { { .id = { "a", 1 } },
					{ .id = { "b", 1 }, .is_default = true },
					{ .id = { "c", 1 } } };
	WORLD(w);

	w->c.agents = three;
	w->c.n_agents = 3;
	ask(w);
	CHECK_STR(w->d.who.agent, STR("b"));
	as_upstream(w);
	ask(w);
	CHECK_STR(w->d.who.agent, STR("b"));
}

TEST(the_only_agent_is_the_default_everywhere)
{
	WORLD(w);

	w->c.agents = agents_ab;
	w->c.n_agents = 1;
	ask(w);
	CHECK_STR(w->d.who.agent, STR("a"));
	as_upstream(w);
	w->c.base.ownership = OWNERSHIP_EXPLICIT;
	ask(w);
	CHECK_STR(w->d.who.agent, STR("a"));
}

TEST(among_several_agents_documents_take_the_first_and_upstream_asks)
{
	static struct agent two_defaults[] = { { .id = { "a", 1 }, .is_default = true },
					       { .id = { "b", 1 }, .is_default = true } };
	WORLD(w);

	w->c.agents = agents_ab;
	w->c.n_agents = 2;
	ask(w);
	CHECK_STR(w->d.who.agent, STR("a"));
	w->c.base.ownership = OWNERSHIP_EXPLICIT;
	ask(w);
	CHECK_DENY(w, CODE_AGENT_AMBIGUOUS);
	as_upstream(w);
	ask(w);
	CHECK_DENY(w, CODE_AGENT_AMBIGUOUS);
	w->c.base.ownership = OWNERSHIP_IMPLICIT;
	w->c.agents = two_defaults;
	ask(w);
	CHECK_DENY(w, CODE_AGENT_AMBIGUOUS);
}

/* S1-49..52 */
TEST(the_agents_block_lies_over_the_base)
{
	static struct settings over;
	static struct agent one[] = { { .id = { "main", 4 }, .over = &over } };
	WORLD(w);

	over.has[OPT_WHEN] = over.has[OPT_WORKDIR] = true;
	over.when = WHEN_ALL;
	over.workdir = STR("/a");
	w->c.agents = one;
	w->c.n_agents = 1;
	ask(w);
	assert_int_equal(w->d.eff.when, WHEN_ALL);
	CHECK_STR(w->d.eff.workdir, STR("/a"));
	w->c.base.scope = SCOPE_SHARED;
	ask(w);
	assert_int_equal(w->d.eff.when, WHEN_ALL);
	CHECK_STR(w->d.eff.workdir, STR("/workspace"));
	over.has[OPT_SCOPE] = true;
	over.scope = SCOPE_SESSION;
	ask(w);
	CHECK_STR(w->d.eff.workdir, STR("/a"));
}

TEST(upstream_one_session_store_for_all_belongs_to_one_agent)
{
	WORLD(w);

	as_upstream(w);
	w->c.agents = agents_ab;
	w->c.n_agents = 2;
	w->c.has_roster = true;
	w->c.store_owner = STR("b");
	ask_for(w, "word", "");
	CHECK_STR(w->d.who.session_key, STR("agent:b:word"));
	w->r.agent = STR("a");
	ask_for(w, "word", "");
	CHECK_DENY(w, CODE_AGENT_MISMATCH);
	w->r.agent = STR("b");
	ask_for(w, "global", "");
	CHECK_STR(w->d.who.agent, STR("b"));
	w->r.agent = (struct str){ 0 };
	ask_for(w, "agent:a:x", "");
	CHECK_STR(w->d.who.agent, STR("a"));
	w->c.base.compat = COMPAT_DOCUMENTS;
	ask_for(w, "word", "");
	CHECK_STR(w->d.who.agent, STR("a"));
}

TEST(a_local_scope_makes_the_group_session)
{
	WORLD(w);

	w->r.channel = STR("telegram");
	w->r.chat_id = STR("-1");
	ask(w);
	CHECK_STR(w->d.who.session_key, STR("agent:main:telegram:group:-1"));
	assert_false(w->d.who.is_main);
	w->r.chat_id = STR("a b");
	ask(w);
	CHECK_DENY(w, CODE_INVALID_CHAT_ID);
	w->r.chat_id = STR("1");
	w->r.channel = STR("tele:gram");
	ask(w);
	CHECK_DENY(w, CODE_INVALID_SESSION);
}

TEST(sub_agents_and_channels_are_recognised)
{
	WORLD(w);

	ask_for(w, "agent:main:subagent:1234", "");
	assert_true(w->d.who.is_subagent);
	ask_for(w, "agent:main:discord:channel:42", "");
	assert_false(w->d.who.is_subagent);
	CHECK_STR(w->d.who.channel, STR("discord"));
}

TEST_MAIN()
