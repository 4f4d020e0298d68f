/* SPDX-License-Identifier: Apache-2.0 */
#include "world.h"

#define WEBCHAT "agent:main:webchat:direct:u1"
#define TELEGRAM "agent:main:telegram:direct:12345"

static struct settings over;
static struct agent only[] = { { .id = { "main", 4 }, .over = &over } };

static void with_agent(struct world *w)
{
	memset(&over, 0, sizeof(over));
	w->c.agents = only;
	w->c.n_agents = 1;
}

static void from(struct world *w, struct settings *s, const char *channel, struct strs senders)
{
	struct listmap_entry *e = ARENA_NEW(&w->a, struct listmap_entry);

	*e = (struct listmap_entry){ .key = str_z(channel), .values = world_keep(w, senders) };
	s->has[OPT_ELEV_ALLOW] = true;
	s->elev_allow = (struct listmap){ .v = e, .n = 1 };
}

static void enable(struct settings *s, bool on)
{
	s->has[OPT_ELEV_ENABLED] = true;
	s->elev_enabled = on;
}

/* A sandboxed session whose exec would leave the sandbox, from a sender that is listed. */
static void listed(struct world *w)
{
	w->c.base.when = WHEN_ALL;
	enable(&w->c.base, true);
	from(w, &w->c.base, "telegram", LIST(STR("12345")));
	w->r.sender = STR("12345");
	w->r.wants_elevated = true;
}

/* S1-5, S1-6, S1-57 */
TEST(a_listed_sender_gets_out_of_the_sandbox)
{
	WORLD(w);

	listed(w);
	ask_for(w, TELEGRAM, "exec");
	assert_int_not_equal(w->d.verdict, VERDICT_DENY);
	assert_true(w->d.place.elevated.requested);
	assert_true(w->d.place.elevated.allowed);
	assert_int_equal(w->d.place.place, PLACE_HOST);
	assert_true(has_reason(&w->d, STAGE_PLACEMENT, "elevated", "granted"));
}

/* C27 */
TEST(documents_have_it_off_unless_it_is_switched_on)
{
	WORLD(w);

	listed(w);
	w->c.base.has[OPT_ELEV_ENABLED] = false;
	w->c.base.elev_enabled = false;
	ask_for(w, TELEGRAM, "exec");
	CHECK_DENY(w, CODE_ELEVATED_REFUSED);
	assert_int_equal(w->d.stopped_at, STAGE_PLACEMENT);
	assert_false(w->d.place.elevated.enabled);
	assert_int_equal(w->d.place.elevated.n_failures, 1);
	assert_string_equal(w->d.place.elevated.failures[0].gate, "enabled");
	assert_true(list_holds(w->d.fix_it, "tools.elevated.enabled"));
	assert_true(list_holds(w->d.fix_it, "tools.elevated.allowFrom.telegram"));
}

TEST(an_agent_switches_off_but_not_on)
{
	WORLD(w);

	with_agent(w);
	listed(w);
	enable(&over, false);
	ask_for(w, TELEGRAM, "exec");
	CHECK_DENY(w, CODE_ELEVATED_REFUSED);
	CHECK_STR(w->d.place.elevated.failures[0].key, STR("agents.*.tools.elevated.enabled"));
	enable(&over, true);
	enable(&w->c.base, false);
	ask_for(w, TELEGRAM, "exec");
	CHECK_DENY(w, CODE_ELEVATED_REFUSED);
}

TEST(it_never_opens_below_full_trust_for_tier_1_or_over_the_network)
{
	static struct pair pairs[] = {
		{ .channel = { "telegram", 8 }, .agent = { "main", 4 }, .chat_id = { "1", 1 } }
	};
	static struct token tokens[] = { { .all_pairs = true } };
	WORLD(w);

	listed(w);
	w->r.channel = STR("telegram");
	ask_for(w, "untrusted:x", "exec");
	CHECK_DENY(w, CODE_ELEVATED_REFUSED);
	assert_false(w->d.place.elevated.allowed);
	assert_int_equal(w->d.fix_it.n, 0); /* no option would change it */
	w->c.base.profile = PROFILE_TIER1;
	ask_for(w, TELEGRAM, "exec");
	CHECK_DENY(w, CODE_ELEVATED_REFUSED);
	assert_int_equal(w->d.fix_it.n, 0);
	w->c.base.profile = PROFILE_NONE;
	w->c.pairs = pairs;
	w->c.tokens = tokens;
	w->c.n_pairs = w->c.n_tokens = 1;
	w->r.via = VIA_API;
	w->r.auth = AUTH_TOKEN;
	w->r.agent = STR("main");
	w->r.chat_id = STR("1");
	ask_for(w, "", "exec");
	CHECK_DENY(w, CODE_ELEVATED_REFUSED);
}

TEST(the_channel_must_be_known)
{
	WORLD(w);

	listed(w);
	ask_for(w, "agent:main:cron:job", "exec");
	CHECK_DENY(w, CODE_ELEVATED_REFUSED);
	assert_string_equal(w->d.place.elevated.failures[0].gate, "provider");
	w->r.channel = STR("telegram");
	ask_for(w, "agent:main:cron:job", "exec");
	assert_int_not_equal(w->d.verdict, VERDICT_DENY);
}

TEST(the_sender_must_be_in_the_base_list_and_in_the_agents_if_it_has_one)
{
	WORLD(w);

	with_agent(w);
	listed(w);
	w->r.sender = STR("999");
	ask_for(w, TELEGRAM, "exec");
	CHECK_DENY(w, CODE_ELEVATED_REFUSED);
	w->r.sender = STR("12345");
	from(w, &over, "telegram", LIST(STR("777")));
	ask_for(w, TELEGRAM, "exec");
	CHECK_DENY(w, CODE_ELEVATED_REFUSED);
	from(w, &over, "telegram", LIST(STR("12345")));
	ask_for(w, TELEGRAM, "exec");
	assert_int_not_equal(w->d.verdict, VERDICT_DENY);
	from(w, &over, "discord", LIST(STR("12345")));
	ask_for(w, TELEGRAM, "exec");
	CHECK_DENY(w, CODE_ELEVATED_REFUSED);
}

TEST(how_a_sender_is_recognised)
{
	static const struct {
		const char *entry, *sender;
		bool approved;
	} t[] = {
		{ "*", "", true },
		{ "123", "123", true },
		{ " 123 ", "123", true },
		{ "telegram:123", "123", true },
		{ "123", "telegram:123", true },
		{ "user:123", "123", true },
		{ "id:123", "123", true },
		{ "id:123", "id: 123", true },
		{ "id:telegram:123", "123", true },
		{ "Bob", "bob", true },
		{ "123", "1234", false },
		{ "123", "", false },
		{ "name:Bob", "Bob", false },
		{ "Bob", "name:Bob", false },
		{ "name:Bob", "name:bob", true },
		{ "username:bob", "name:bob", false },
		{ "tag:x", "x", false },
		{ "e164:+1", "e164:+1", true },
		{ "other:123", "123", false },
		{ "telegram:", "", false },
		{ "", "123", false },
	};
	WORLD(w);

	listed(w);
	for (size_t i = 0; i < sizeof(t) / sizeof(t[0]); i++) {
		from(w, &w->c.base, "telegram", LIST(str_z(t[i].entry)));
		w->r.sender = str_z(t[i].sender);
		ask_for(w, TELEGRAM, "exec");
		CHECK_CASE((w->d.verdict != VERDICT_DENY) == t[i].approved, "'%s' and '%s'", t[i].entry,
			   t[i].sender);
	}
}

TEST(it_never_overrides_a_deny)
{
	WORLD(w);

	listed(w);
	w->c.base.tools_deny = LIST(STR("exec"));
	ask_for(w, TELEGRAM, "exec");
	CHECK_DENY(w, CODE_TOOL_DENIED_BY_POLICY);
}

/* What upstream's explain prints; the shapes are those of the recorded answers. */

static void upstream(struct world *w)
{
	with_agent(w);
	w->c.base.compat = COMPAT_OPENCLAW_2026_9;
	w->c.base.when = WHEN_NON_MAIN;
}

TEST(upstream_is_on_unless_switched_off_and_knows_only_webchat)
{
	WORLD(w);

	upstream(w);
	from(w, &w->c.base, "telegram", LIST(STR("12345"), STR("@bob")));
	enable(&w->c.base, true);
	ask_for(w, TELEGRAM, "");
	assert_true(w->d.place.elevated.enabled);
	assert_int_equal(w->d.place.elevated.channel.n, 0);
	assert_false(w->d.place.elevated.has_global);
	assert_false(w->d.place.elevated.allowed);
	assert_int_equal(w->d.place.elevated.n_failures, 0);
	w->r.channel = STR("telegram");
	ask_for(w, TELEGRAM, "");
	assert_true(w->d.place.elevated.allowed);
	assert_int_equal(w->d.place.elevated.global_from.n, 2);
}

TEST(upstream_a_list_for_the_channel_is_enough_to_be_allowed_by_config)
{
	WORLD(w);

	upstream(w);
	from(w, &w->c.base, "webchat", LIST(STR("u1"), STR(" "), STR(" 7 ")));
	ask_for(w, WEBCHAT, "");
	CHECK_STR(w->d.place.elevated.channel, STR("webchat"));
	assert_true(w->d.place.elevated.enabled);
	assert_true(w->d.place.elevated.allowed);
	assert_false(w->d.place.elevated.always);
	assert_int_equal(w->d.place.elevated.global_from.n, 2);
	CHECK_STR(w->d.place.elevated.global_from.v[1], STR("7"));
	assert_false(w->d.place.elevated.has_agent);
	assert_int_equal(w->d.place.elevated.n_failures, 0);
}

TEST(upstream_an_agents_list_must_say_so_too)
{
	WORLD(w);

	upstream(w);
	from(w, &w->c.base, "webchat", LIST(STR("*")));
	from(w, &over, "discord", LIST(STR("1")));
	ask_for(w, WEBCHAT, "");
	assert_false(w->d.place.elevated.allowed);
	assert_true(w->d.place.elevated.has_agent);
	assert_int_equal(w->d.place.elevated.agent_from.n, 0);
	assert_int_equal(w->d.place.elevated.n_failures, 1);
	assert_string_equal(w->d.place.elevated.failures[0].gate, "allowFrom");
	CHECK_STR(w->d.place.elevated.failures[0].key,
		  STR("agents.entries.*.tools.elevated.allowFrom.webchat"));
	from(w, &over, "webchat", LIST(STR("u1")));
	ask_for(w, WEBCHAT, "");
	assert_true(w->d.place.elevated.allowed);
	assert_false(w->d.place.elevated.always);
	from(w, &over, "webchat", LIST(STR("*")));
	ask_for(w, WEBCHAT, "");
	assert_true(w->d.place.elevated.always);
}

TEST(upstream_every_gate_that_fails_is_listed_in_order)
{
	WORLD(w);

	upstream(w);
	enable(&w->c.base, false);
	enable(&over, false);
	from(w, &over, "webchat", LIST(STR(" ")));
	ask_for(w, WEBCHAT, "");
	assert_false(w->d.place.elevated.enabled);
	assert_int_equal(w->d.place.elevated.n_failures, 4);
	CHECK_STR(w->d.place.elevated.failures[0].key, STR("tools.elevated.enabled"));
	CHECK_STR(w->d.place.elevated.failures[1].key, STR("agents.entries.*.tools.elevated.enabled"));
	CHECK_STR(w->d.place.elevated.failures[2].key, STR("tools.elevated.allowFrom.webchat"));
	CHECK_STR(w->d.place.elevated.failures[3].key,
		  STR("agents.entries.*.tools.elevated.allowFrom.webchat"));
}

TEST_MAIN()
