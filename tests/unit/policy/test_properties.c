/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What must hold for every configuration and every request, tried on many thousands that a small generator makes. The
 * seed is fixed: a failure names its case and comes back.
 */
#include "world.h"

#define ROUNDS 3000
#define MAX_ENTRIES 4

static const char *const entries[] = { "exec",      "read",          "write",     "edit",        "bash",
				       "group:fs",  "group:runtime", "group:web", "sessions_*",  "*",
				       "browser",   "message",       "git",       "docs__*",     "group:nope",
				       "web_fetch", "network",       "secrets",   "git_push",    "search",
				       "process",   "apply_patch",   "canvas",    "external_api" };
static const char *const asked[] = { "exec",    "read",    "write",        "edit",         "apply_patch",
				     "browser", "message", "git",          "docs__search", "web_fetch",
				     "search",  "process", "code_exec",    "cron",         "secrets",
				     "network", "nope",    "sessions_list" };
static const char *const sessions[] = { "",
					"main:x",
					"client:x",
					"untrusted:x",
					"analysis:x",
					"proxy:x",
					"agent:main:main",
					"agent:main:telegram:group:1",
					"agent:main:subagent:9",
					"other" };
#define COUNT(a) (sizeof(a) / sizeof((a)[0]))

struct case_ {
	struct trust_rule rules[3];
	struct settings over;
	struct agent agent;
	struct tool_layer layers[3];
	struct str words[64];
	size_t n_words;
};

static struct strs some(struct case_ *c, uint64_t *s)
{
	size_t n = below(s, MAX_ENTRIES + 1), first = c->n_words;

	for (size_t i = 0; i < n && c->n_words < COUNT(c->words); i++)
		c->words[c->n_words++] = str_z(entries[below(s, COUNT(entries))]);
	return (struct strs){ .v = &c->words[first], .n = c->n_words - first };
}

static void make_rules(struct world *w, struct case_ *c, uint64_t *s)
{
	static const char *const matches[] = { "client:*", "*", "untrusted:?", "agent:*", "main:*" };

	w->c.rules = c->rules;
	w->c.n_rules = below(s, 4);
	for (size_t i = 0; i < w->c.n_rules; i++) {
		c->rules[i] = (struct trust_rule){ .match = str_z(matches[below(s, COUNT(matches))]),
						   .trust = (enum trust)below(s, TRUST_COUNT_),
						   .has_allow = below(s, 2) != 0,
						   .has_deny = below(s, 2) != 0 };
		c->rules[i].allow = some(c, s);
		c->rules[i].deny = some(c, s);
	}
}

static void make_lists(struct case_ *c, struct settings *b, uint64_t *s)
{
	if (below(s, 3) == 0)
		b->tools_allow = some(c, s);
	if (below(s, 3) == 0)
		b->tools_deny = some(c, s);
	if (below(s, 3) == 0)
		b->tools_also_allow = some(c, s);
	if (below(s, 3) == 0) {
		b->has[OPT_SBX_ALLOW] = true;
		b->sbx_allow = some(c, s);
	}
	if (below(s, 3) == 0) {
		b->has[OPT_SBX_DENY] = true;
		b->sbx_deny = some(c, s);
	}
	if (below(s, 3) == 0) {
		b->has[OPT_SBX_ALSO_ALLOW] = true;
		b->sbx_also_allow = some(c, s);
	}
}

static void make(struct world *w, struct case_ *c, uint64_t *s)
{
	memset(c, 0, sizeof(*c));
	make_rules(w, c, s);
	make_lists(c, &w->c.base, s);
	if (below(s, 2)) {
		c->agent = (struct agent){ .id = STR("main"), .over = &c->over };
		make_lists(c, &c->over, s);
		w->c.agents = &c->agent;
		w->c.n_agents = 1;
	}
	w->c.base.compat = below(s, 3) == 0 ? COMPAT_OPENCLAW_2026_9 : COMPAT_DOCUMENTS;
	w->c.base.when = (int)below(s, WHEN_COUNT_);
	w->c.base.trust_default = (int)below(s, TRUST_COUNT_);
	w->c.base.tools_profile = below(s, 4) ? TOOL_PROFILE_NONE : (int)below(s, 5);
	w->c.base.ws_access = below(s, 4) ? ACCESS_RW : ACCESS_RO;
	w->r.session_key = str_z(sessions[below(s, COUNT(sessions))]);
	w->r.tool = str_z(asked[below(s, COUNT(asked))]);
	if (below(s, 4) == 0) {
		w->r.has_trust = true;
		w->r.trust = (enum trust)below(s, TRUST_COUNT_);
		w->r.allow_weaken = below(s, 2) != 0;
	}
}

/* Runs `check` on ROUNDS worlds. */
static void each(void (*check)(struct world *w, struct case_ *c, uint64_t *s, size_t round))
{
	uint64_t state = 20260202;
	struct case_ *c = calloc(1, sizeof(*c));

	assert_non_null(c);
	for (size_t i = 0; i < ROUNDS; i++) {
		WORLD(w);

		make(w, c, &state);
		check(w, c, &state, i);
	}
	free(c);
}

static bool allows(struct world *w)
{
	return ask(w) != VERDICT_DENY;
}

static void allowed_calls_have_what_they_need(struct world *w, struct case_ *c, uint64_t *s, size_t round)
{
	(void)c;
	(void)s;
	if (allows(w))
		CHECK_CASE((w->d.tool.needs & ~w->d.mode.caps) == 0, "round %zu", round);
	CHECK_CASE((w->d.mode.caps & ~cap_matrix(w->d.mode.trust)) == 0, "round %zu: more than the row",
		   round);
}

TEST(an_allowed_call_has_every_capability_it_needs_and_none_beyond_its_row)
{
	each(allowed_calls_have_what_they_need);
}

static void denials_are_complete(struct world *w, struct case_ *c, uint64_t *s, size_t round)
{
	(void)c;
	(void)s;
	if (allows(w)) {
		CHECK_CASE(w->d.code == CODE_OK, "round %zu", round);
		return;
	}
	CHECK_CASE(w->d.code > CODE_OK && w->d.code < CODE_COUNT_ && w->d.message.n > 0 &&
			   w->d.stopped_at < STAGE_COUNT_ && w->d.n_reasons > 0,
		   "round %zu: %s", round, code_word(w->d.code));
}

TEST(every_denial_has_a_code_a_message_and_a_stage)
{
	each(denials_are_complete);
}

/* A list with one more entry. */
static struct strs longer(struct world *w, struct strs l, struct str more)
{
	struct str *v = ARENA_ARRAY(&w->a, struct str, l.n + 1);

	if (l.n)
		memcpy(v, l.v, l.n * sizeof(*v));
	v[l.n] = more;
	return (struct strs){ .v = v, .n = l.n + 1 };
}

static void more_deny(struct world *w, struct case_ *c, uint64_t *s, struct str entry)
{
	switch (below(s, 6)) {
	case 0:
		w->c.base.tools_deny = longer(w, w->c.base.tools_deny, entry);
		return;
	case 1:
		c->over.tools_deny = longer(w, c->over.tools_deny, entry);
		return;
	case 2:
		/* a first list would replace the defaults, so it takes them over */
		if (!w->c.base.has[OPT_SBX_DENY])
			return;
		w->c.base.sbx_deny = longer(w, w->c.base.sbx_deny, entry);
		return;
	case 3:
		w->c.base.sub_deny = longer(w, w->c.base.sub_deny, entry);
		return;
	default:
		for (size_t i = 0; i < w->c.n_rules; i++) {
			c->rules[i].has_deny = true;
			c->rules[i].deny = longer(w, c->rules[i].deny, entry);
		}
	}
}

static void a_deny_only_takes_away(struct world *w, struct case_ *c, uint64_t *s, size_t round)
{
	bool before = allows(w);
	struct str entry = str_z(entries[below(s, COUNT(entries))]);

	more_deny(w, c, s, entry);
	CHECK_CASE(before || !allows(w), "round %zu: one more deny of %.*s allows %.*s", round, (int)entry.n,
		   entry.p, (int)w->r.tool.n, w->r.tool.p);
}

TEST(one_more_deny_anywhere_never_allows_more)
{
	each(a_deny_only_takes_away);
}

static void the_tools_own_deny_wins(struct world *w, struct case_ *c, uint64_t *s, size_t round)
{
	struct str entry = w->r.tool;

	if (below(s, 2) && w->c.n_agents)
		c->over.tools_deny = longer(w, c->over.tools_deny, entry);
	else
		w->c.base.tools_deny = longer(w, w->c.base.tools_deny, entry);
	w->c.base.tools_allow = longer(w, w->c.base.tools_allow, entry);
	c->over.tools_allow = longer(w, c->over.tools_allow, entry);
	CHECK_CASE(!allows(w), "round %zu: %.*s is denied and allowed", round, (int)entry.n, entry.p);
}

TEST(deny_beats_allow_wherever_it_stands)
{
	each(the_tools_own_deny_wins);
}

/* Of a list of two and more, so that what is left still is a list: an empty one means all. */
static struct strs *pick_allow(struct world *w, struct case_ *c, uint64_t *s)
{
	struct strs *lists[] = { &w->c.base.tools_allow, &c->over.tools_allow, &w->c.base.sub_allow,
				 w->c.n_rules ? &c->rules[0].allow : NULL };

	return lists[below(s, COUNT(lists))];
}

static void less_allow_allows_less(struct world *w, struct case_ *c, uint64_t *s, size_t round)
{
	struct strs *l = pick_allow(w, c, s);
	bool before = allows(w);

	if (!l || l->n < 2)
		return;
	l->n--;
	CHECK_CASE(before || !allows(w), "round %zu", round);
}

TEST(taking_an_entry_from_an_allow_list_never_allows_more)
{
	each(less_allow_allows_less);
}

static void a_stricter_rule(struct world *w, struct case_ *c, uint64_t *s, size_t round)
{
	bool before;

	(void)s;
	w->r.has_trust = false;
	before = allows(w);
	if (w->c.n_rules == 0)
		return;
	for (size_t i = 0; i < w->c.n_rules; i++)
		if (c->rules[i].trust > 0)
			c->rules[i].trust--;
	CHECK_CASE(before || !allows(w), "round %zu", round);
}

TEST(a_stricter_trust_never_allows_more)
{
	each(a_stricter_rule);
}

static void a_tighter_flag(struct world *w, struct case_ *c, uint64_t *s, size_t round)
{
	unsigned before;

	(void)c;
	w->r.has_trust = false;
	(void)allows(w);
	before = w->d.mode.caps;
	w->r.has_trust = true;
	w->r.trust = (enum trust)below(s, TRUST_COUNT_);
	w->r.allow_weaken = false;
	if (allows(w))
		CHECK_CASE((w->d.mode.caps & ~before) == 0, "round %zu", round);
}

TEST(a_flag_without_leave_to_weaken_never_gives_a_capability)
{
	each(a_tighter_flag);
}

/* Layers: everything that is configured for one agent, group or sender on top of the base. */
static void a_layer_more(struct world *w, struct case_ *c, uint64_t *s, size_t round)
{
	static const char *const matches[] = { "*", "telegram:*", "telegram:1", "acme" };
	bool before;

	w->r.provider = STR("acme");
	w->r.sender = STR("7");
	if (str_eq(w->r.tool, STR("docs__search")))
		return; /* exists only because lists name it */
	before = allows(w);
	for (size_t i = 0; i < 3; i++) {
		c->layers[i] = (struct tool_layer){ .match = str_z(matches[below(s, COUNT(matches))]),
						    .profile = (enum tool_profile)below(s, 5) };
		c->layers[i].allow = some(c, s);
		c->layers[i].deny = some(c, s);
	}
	w->c.base.tools_by_group = (struct tool_layers){ &c->layers[0], 1 };
	w->c.base.tools_by_sender = (struct tool_layers){ &c->layers[1], 1 };
	w->c.base.tools_by_provider = (struct tool_layers){ &c->layers[2], 1 };
	CHECK_CASE(before || !allows(w), "round %zu", round);
}

TEST(a_layer_never_widens)
{
	each(a_layer_more);
}

static void the_same_again(struct world *w, struct case_ *c, uint64_t *s, size_t round)
{
	enum verdict v = ask(w);
	enum code code = w->d.code;
	size_t n = w->d.n_reasons;

	(void)c;
	(void)s;
	CHECK_CASE(ask(w) == v && w->d.code == code && w->d.n_reasons == n, "round %zu", round);
}

TEST(decide_is_deterministic)
{
	each(the_same_again);
}

/* Exhaustive: what is said, what is asked, where from. */
TEST(sandboxed_is_exactly_what_the_axes_say)
{
	WORLD(w);

	for (int when = 0; when < WHEN_COUNT_; when++)
		for (enum trust t = 0; t < TRUST_COUNT_; t++)
			for (unsigned bits = 0; bits < 8; bits++) {
				bool main_session = bits & 1, force = bits & 2, tier1 = bits & 4;
				bool want = when == WHEN_ALL || (when == WHEN_NON_MAIN && !main_session) ||
					    t != TRUST_NONE || force || tier1;

				w->c.base.when = when;
				w->c.base.trust_default = (int)t;
				w->c.base.profile = tier1 ? PROFILE_TIER1 : PROFILE_NONE;
				w->r.force_sandbox = force;
				ask_for(w, main_session ? "agent:main:main" : "agent:main:x", "");
				assert_int_equal(w->d.mode.sandboxed, want);
				assert_int_equal(w->d.mode.isolation_asked, want);
				assert_int_equal(w->d.mode.place_min > PLACE_HOST, want);
			}
}

TEST_MAIN()
