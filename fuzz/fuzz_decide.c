/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Bytes into pieces of a configuration and a request. Whatever they are: the decision ends; a refusal has a code and
 * a message; an allowed call has the capabilities it needs, all of them from its mode's row; a tier-1 call is not on the
 * host; the same question has the same answer, also from what stood before; one more deny never turns a refusal into leave.
 */
#include "../tests/unit/policy/defaults.h"
#include "../tests/unit/policy/same.h"

#include <assert.h>

#define ENTRIES_MAX 6

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

struct input {
	const uint8_t *p;
	size_t n;
	struct arena *a;
};

static unsigned take(struct input *in, unsigned below)
{
	if (in->n == 0)
		return 0;
	in->n--;
	return *in->p++ % below;
}

static bool flip(struct input *in)
{
	return take(in, 2);
}

/* A word that means something, or any bytes. */
static struct str word(struct input *in)
{
	static const char *const known[] = {
		"exec",
		"read",
		"write",
		"group:fs",
		"group:runtime",
		"*",
		"bash",
		"browser",
		"git",
		"git_push",
		"network",
		"secrets",
		"docs__x",
		"docs__*",
		"message",
		"search",
		"main",
		"telegram",
		"telegram:1",
		"client:*",
		"untrusted:x",
		"analysis:*",
		"agent:main:main",
		"agent:main:telegram:group:1",
		"agent:a:subagent:1",
		"global",
		"shell_exec",
		"file_read",
		"http://ollama/",
		"curl",
		"sh",
		"acme",
		"1",
		"id:1",
		"ollama",
		"-m",
		"git push; curl x",
	};
	unsigned i = take(in, 64);
	size_t n;

	if (i < sizeof(known) / sizeof(known[0]))
		return str_z(known[i]);
	n = take(in, 12);
	n = n < in->n ? n : in->n;
	in->p += n;
	in->n -= n;
	return (struct str){ .p = (const char *)in->p - n, .n = n };
}

/* Most lists are empty, as in life; else hardly a call would get far. */
static struct strs words(struct input *in)
{
	size_t n = take(in, 3) ? 0 : take(in, ENTRIES_MAX);
	struct str *v = ARENA_ARRAY(in->a, struct str, n);

	assert(v);
	for (size_t i = 0; i < n; i++)
		v[i] = word(in);
	return (struct strs){ .v = v, .n = n };
}

static struct tool_layers layers(struct input *in)
{
	size_t n = take(in, 4) ? 0 : take(in, 3);
	struct tool_layer *v = ARENA_ARRAY(in->a, struct tool_layer, n);

	assert(v);
	for (size_t i = 0; i < n; i++)
		v[i] = (struct tool_layer){ .match = word(in),
					    .profile = (enum tool_profile)take(in, 5),
					    .allow = words(in),
					    .deny = words(in) };
	return (struct tool_layers){ .v = v, .n = n };
}

static void tool_settings(struct input *in, struct settings *s)
{
	s->tools_allow = words(in);
	s->tools_deny = words(in);
	s->tools_also_allow = words(in);
	s->tools_by_provider = layers(in);
	s->tools_by_sender = layers(in);
	s->has[OPT_SBX_ALLOW] = flip(in);
	s->sbx_allow = words(in);
	s->has[OPT_SBX_ALSO_ALLOW] = flip(in);
	s->sbx_also_allow = words(in);
	s->has[OPT_SBX_DENY] = flip(in);
	s->sbx_deny = words(in);
	s->has[OPT_ELEV_ENABLED] = flip(in);
	s->elev_enabled = flip(in);
}

static void base_settings(struct input *in, struct settings *s)
{
	tool_settings(in, s);
	s->tools_by_group = layers(in);
	s->tools_profile = take(in, 4) ? TOOL_PROFILE_NONE : (int)take(in, 5);
	s->compat = (int)take(in, COMPAT_COUNT_);
	s->profile = take(in, 3) ? PROFILE_NONE : (int)take(in, PROFILE_COUNT_);
	s->when = (int)take(in, WHEN_COUNT_ + 1);
	s->trust_default = flip(in) ? TRUST_NONE : (int)take(in, TRUST_COUNT_ + 1);
	s->session_scope = (int)take(in, 2);
	s->ownership = (int)take(in, 2);
	s->scope = (int)take(in, SCOPE_COUNT_);
	s->ws_access = (int)take(in, ACCESS_COUNT_);
	s->exec_mode = take(in, 3) ? EXEC_MODE_UNSET : (int)take(in, 6);
	s->shells = (int)take(in, 2);
	s->athena_literal = flip(in);
	s->main_patterns = words(in);
	s->programs = words(in);
	s->internal_hosts = words(in);
	s->sub_allow = words(in);
	s->sub_deny = words(in);
}

static struct str pattern(struct input *in)
{
	static const char *const known[] = { "*", "client:*", "untrusted:?", "agent:*", "[a-m]*" };
	unsigned i = take(in, 6);

	return i < sizeof(known) / sizeof(known[0]) ? str_z(known[i]) : word(in);
}

static void make_config(struct input *in, struct config *c)
{
	size_t n_rules = take(in, 4), n_agents = take(in, 3);
	struct trust_rule *rules = ARENA_ARRAY(in->a, struct trust_rule, n_rules);
	struct agent *agents = ARENA_ARRAY(in->a, struct agent, n_agents);
	struct pair *pair = ARENA_NEW(in->a, struct pair);
	struct token *token = ARENA_NEW(in->a, struct token);

	assert(rules && agents && pair && token);
	world_defaults(&c->base, in->a);
	for (size_t i = 0; i < n_rules; i++)
		rules[i] = (struct trust_rule){ .match = pattern(in),
						.trust = (enum trust)take(in, TRUST_COUNT_),
						.has_allow = flip(in),
						.has_deny = flip(in),
						.allow = words(in),
						.deny = words(in) };
	for (size_t i = 0; i < n_agents; i++) {
		agents[i] = (struct agent){ .id = i ? STR("a") : STR("main"),
					    .is_default = flip(in),
					    .over = ARENA_NEW(in->a, struct settings) };
		assert(agents[i].over);
		tool_settings(in, agents[i].over);
	}
	base_settings(in, &c->base);
	*pair = (struct pair){ .channel = STR("telegram"), .agent = STR("main"), .chat_id = STR("1") };
	*token = (struct token){ .all_pairs = flip(in), .pairs = pair, .n_pairs = take(in, 2) };
	c->rules = rules;
	c->n_rules = n_rules;
	c->agents = agents;
	c->n_agents = n_agents;
	c->pairs = pair;
	c->tokens = token;
	c->n_pairs = c->n_tokens = 1;
}

static struct str session(struct input *in)
{
	static const char *const keys[] = { "",
					    "agent:main:main",
					    "client:x",
					    "untrusted:x",
					    "analysis:x",
					    "main:x",
					    "agent:main:telegram:group:1",
					    "agent:a:main",
					    "other",
					    "agent:main:subagent:1",
					    "proxy:x" };
	unsigned i = take(in, 12);

	return i < sizeof(keys) / sizeof(keys[0]) ? str_z(keys[i]) : word(in);
}

static struct str tool(struct input *in)
{
	unsigned i = take(in, 128);

	return i < tool_count() ? str_z(tool_at(i)->name) : word(in);
}

static struct strs argv(struct input *in)
{
	static const struct str git[] = { { "git", 3 }, { "push", 4 } },
				sh[] = { { "sh", 2 }, { "-c", 2 }, { "git log", 7 } },
				curl[] = { { "curl", 4 }, { "-fsS", 4 }, { "http://ollama/", 14 } },
				py[] = { { "python3", 7 } };
	static const struct strs known[] = { { git, 2 }, { sh, 3 }, { curl, 3 }, { py, 1 }, { NULL, 0 } };
	unsigned i = take(in, 7);

	return i < sizeof(known) / sizeof(known[0]) ? known[i] : words(in);
}

/* Somebody whom the config knows, mostly. */
static void make_who(struct input *in, struct request *r)
{
	static const enum via doors[] = { VIA_CLI, VIA_CLI,   VIA_CLI,   VIA_LIBRARY,
					  VIA_API, VIA_GUARD, VIA_RUNNER };
	bool remote;

	*r = (struct request){ .via = doors[take(in, 7)] };
	remote = r->via != VIA_CLI && r->via != VIA_LIBRARY;
	r->auth = remote ? AUTH_TOKEN : AUTH_LOCAL;
	if (remote) {
		r->agent = STR("main");
		r->channel = STR("telegram");
		r->chat_id = STR("1");
	} else {
		r->session_key = session(in);
	}
	if (take(in, 16) == 1)
		r->agent = word(in);
	if (take(in, 16) == 1)
		r->session_key = word(in);
	if (take(in, 16) == 1)
		r->channel = word(in);
	if (take(in, 16) == 1)
		r->chat_id = word(in);
}

static void make_request(struct input *in, struct request *r)
{
	static const char *const wire[] = { "file_read", "file_write", "shell_exec" };

	make_who(in, r);
	r->tool = r->via == VIA_GUARD || r->via == VIA_RUNNER ? str_z(wire[take(in, 3)]) : tool(in);
	r->sender = flip(in) ? word(in) : (struct str){ 0 };
	r->provider = flip(in) ? word(in) : (struct str){ 0 };
	r->argv = argv(in);
	r->command = take(in, 4) == 1 ? word(in) : (struct str){ 0 };
	r->wants_elevated = take(in, 8) == 1;
	r->has_trust = take(in, 8) == 1;
	r->trust = (enum trust)take(in, TRUST_COUNT_);
	r->allow_weaken = flip(in);
	r->no_sandbox = take(in, 8) == 1;
	r->force_sandbox = take(in, 8) == 1;
	r->facts = (struct facts){ .backends = 1u << BACKEND_HOST | 1u << BACKEND_NATIVE,
				   .home = STR("/home/user"),
				   .state_dir = STR("/home/user/.openclaw"),
				   .cwd = STR("/srv") };
}

static void check_answer(const struct config *c, const struct request *r, const struct decision *d)
{
	bool tier1 = r->via == VIA_GUARD || r->via == VIA_RUNNER || c->base.profile == PROFILE_TIER1;

	assert((d->mode.caps & ~cap_matrix(d->mode.trust)) == 0 || d->mode.caps == 0);
	if (d->verdict == VERDICT_DENY) {
		assert(d->code > CODE_OK && d->code < CODE_COUNT_ && d->message.n > 0);
		return;
	}
	assert(d->code == CODE_OK);
	assert((d->tool.needs & ~d->mode.caps) == 0);
	assert(!tier1 || d->place.place != PLACE_HOST);
	assert(d->mode.trust == TRUST_NONE || d->mode.sandboxed);
}

/* The config with one more deny, somewhere. */
static void deny_more(struct input *in, struct config *c)
{
	struct strs one = words(in);

	one.n = one.n ? 1 : 0;
	if (flip(in) && c->n_agents)
		c->agents[0].over->tools_deny =
			c->agents[0].over->tools_deny.n ? c->agents[0].over->tools_deny : one;
	else if (flip(in) && c->n_rules && !c->rules[0].has_deny)
		c->rules[0] = (struct trust_rule){ .match = c->rules[0].match,
						   .trust = c->rules[0].trust,
						   .has_allow = c->rules[0].has_allow,
						   .allow = c->rules[0].allow,
						   .has_deny = true,
						   .deny = one };
	else if (c->base.tools_deny.n == 0)
		c->base.tools_deny = one;
	else
		c->base.sub_deny = c->base.sub_deny.n ? c->base.sub_deny : one;
}

/* What the token may can have been changed since. */
static void change_token(struct input *in, struct config *c)
{
	if (flip(in))
		c->tokens[0].all_pairs = flip(in);
	if (flip(in))
		c->tokens[0].n_pairs = take(in, 2);
	if (take(in, 4) == 1)
		c->n_pairs = 0;
	if (take(in, 4) == 1)
		c->n_tokens = 0;
}

/* Made of the same caller's call with other arguments, or none. */
static void check_standing(struct input *in, struct config *c, const struct request *r, struct arena *a)
{
	static struct decision decided, stood;
	struct request brief = *r, other;
	struct standing *s;
	struct err e;

	brief.brief = true;
	brief.has_timeout = flip(in);
	brief.timeout_s = take(in, 200);
	brief.passive = flip(in);
	other = brief;
	other.argv = argv(in);
	s = standing_new(c, &other);
	assert(s && standing_is_about(s, c, &brief));
	change_token(in, c);
	if (standing_decide(s, &brief, a, &stood)) {
		assert(decide(c, &brief, a, &decided, &e) == 0);
		assert(!differs(&stood, &decided));
	}
	standing_free(s);
}

/* Who is refused for what he is, and nobody else, is refused by the first stage alone, in the same words; it allows nothing. */
static void check_who(const struct config *c, const struct request *r, struct arena *a,
		      const struct decision *whole)
{
	static struct decision who;
	enum code code = decide_who(c, r, a, &who);
	bool refused = whole->verdict == VERDICT_DENY && whole->stopped_at == STAGE_IDENTITY;

	assert(who.verdict == VERDICT_DENY && code != CODE_UNDECIDED && refused == (code != CODE_OK));
	assert(!refused || (code == whole->code && !differs(&who, whole)));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static struct config c;
	static struct request r;
	static struct decision first, second;
	_cleanup_arena_ struct arena a = { 0 };
	struct input in = { .p = data, .n = size, .a = &a };
	struct err e;

	memset(&c, 0, sizeof(c));
	arena_init(&a, 8 << 20);
	make_request(&in, &r);
	make_config(&in, &c);
	assert(decide(&c, &r, &a, &first, &e) == 0);
	check_answer(&c, &r, &first);
	check_who(&c, &r, &a, &first);
	assert(decide(&c, &r, &a, &second, &e) == 0);
	assert(first.verdict == second.verdict && first.code == second.code &&
	       first.n_reasons == second.n_reasons);
	deny_more(&in, &c);
	assert(decide(&c, &r, &a, &second, &e) == 0);
	check_answer(&c, &r, &second);
	assert(first.verdict != VERDICT_DENY || second.verdict == VERDICT_DENY);
	check_standing(&in, &c, &r, &a);
	return 0;
}
