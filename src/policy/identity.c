/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Who asks. A remote caller (guard, runner, API) proves it with a token and may only be somebody whom the allowlist
 * and the token's own pairs name; a local one says who it is. Then agent and session key are settled, and the
 * agent's block is laid over the base settings: everything after this stage reads d->eff.
 */
#include "policy/policy_priv.h"
#include "policy/posture.h"
#include "policy/session_key.h"
#include "policy/workspace.h"

#include "base/utf8.h"

static const struct origin *asked(void)
{
	static const struct origin o = { .kind = ORIGIN_REQUEST };

	return &o;
}

enum compat compat_of(const struct ctx *x)
{
	return x->c->base.compat == COMPAT_OPENCLAW_2026_9 ? COMPAT_OPENCLAW_2026_9 : COMPAT_DOCUMENTS;
}

bool is_local(enum via via)
{
	return via == VIA_CLI || via == VIA_LIBRARY;
}

bool is_tier1(const struct ctx *x)
{
	return x->r->via == VIA_GUARD || x->r->via == VIA_RUNNER || x->c->base.profile == PROFILE_TIER1;
}

static bool check_auth(struct ctx *x)
{
	const struct request *r = x->r;

	if (r->auth == AUTH_MISSING)
		return deny(x, STAGE_IDENTITY, CODE_MISSING_AUTH, asked(), "the caller sent no credential");
	if (r->auth != (is_local(r->via) ? AUTH_LOCAL : AUTH_TOKEN))
		return deny(x, STAGE_IDENTITY, CODE_INVALID_AUTH, asked(),
			    "the credential is not valid here");
	if (!is_local(r->via) && r->token >= x->c->n_tokens)
		return deny(x, STAGE_IDENTITY, CODE_INVALID_AUTH, asked(), "no such token is configured");
	if (!is_local(r->via))
		x->d->who.token = x->c->tokens[r->token].id;
	return true;
}

static bool pair_in(const struct pair *pairs, size_t n, const struct request *r)
{
	for (size_t i = 0; i < n; i++)
		if (str_eq(pairs[i].channel, r->channel) && str_eq(pairs[i].agent, r->agent) &&
		    str_eq(pairs[i].chat_id, r->chat_id))
			return true;
	return false;
}

/* The operator's own token over the API may speak for any session; S2's doors always need a pair. */
static bool speaks_for_all(const struct ctx *x)
{
	return x->r->via == VIA_API && x->c->tokens[x->r->token].all_pairs;
}

static bool check_pair(struct ctx *x)
{
	const struct request *r = x->r;
	const struct token *t = &x->c->tokens[r->token];

	if (!pair_in(x->c->pairs, x->c->n_pairs, r))
		return deny(x, STAGE_IDENTITY, CODE_PAIR_NOT_ALLOWED, asked(),
			    "agent '" STR_FMT "' with " STR_FMT " chat '" STR_FMT "' is not in the allowlist",
			    STR_ARG(r->agent), STR_ARG(r->channel), STR_ARG(r->chat_id));
	if (!t->all_pairs && !pair_in(t->pairs, t->n_pairs, r))
		return deny(x, STAGE_IDENTITY, CODE_PAIR_NOT_ALLOWED, &t->origin,
			    "this token may not speak for agent '" STR_FMT "' in chat '" STR_FMT "'",
			    STR_ARG(r->agent), STR_ARG(r->chat_id));
	why(x, STAGE_IDENTITY, "pair", r->chat_id, &t->origin,
	    "agent and chat are in the allowlist, and the token may use them");
	return true;
}

static bool check_remote(struct ctx *x)
{
	const struct request *r = x->r;

	if (speaks_for_all(x) && r->chat_id.n == 0 && r->channel.n == 0)
		return r->agent.n == 0 || agent_id_is_strict(r->agent) ||
		       deny(x, STAGE_IDENTITY, CODE_INVALID_AGENT, asked(), "not an agent id");
	if (!agent_id_is_strict(r->agent))
		return deny(x, STAGE_IDENTITY, CODE_INVALID_AGENT, asked(),
			    "an agent id is lower case letters, digits and '-', at most 63");
	if (r->chat_id.n == 0)
		return deny(x, STAGE_IDENTITY, CODE_MISSING_CHAT_ID, asked(), "the call names no chat");
	if (!chat_id_is_valid(r->chat_id))
		return deny(x, STAGE_IDENTITY, CODE_INVALID_CHAT_ID, asked(),
			    "a chat id is letters, digits and '_', at most 64, with '-' in front at most");
	return check_pair(x);
}

bool identity_caller(struct ctx *x)
{
	return check_auth(x) && (is_local(x->r->via) || check_remote(x));
}

/* What a session key is made of, whoever says it. */
static bool check_scope(struct ctx *x)
{
	if (x->r->channel.n && !channel_is_valid(x->r->channel))
		return deny(x, STAGE_IDENTITY, CODE_INVALID_SESSION, asked(),
			    "a channel is letters, digits, '-' and '_', at most 64");
	if (x->r->chat_id.n && !chat_id_is_valid(x->r->chat_id))
		return deny(x, STAGE_IDENTITY, CODE_INVALID_CHAT_ID, asked(), "not a chat id");
	return true;
}

/* --- which agent --- */

static const struct agent *flagged_default(const struct config *c)
{
	const struct agent *found = NULL;

	for (size_t i = 0; i < c->n_agents; i++)
		if (c->agents[i].is_default) {
			if (found)
				return NULL;
			found = &c->agents[i];
		}
	return found;
}

/* The agent of a call that names none; empty when there are several and nothing says which. */
static struct str default_agent(const struct ctx *x)
{
	const struct config *c = x->c;
	const struct agent *flagged = c->base.ownership == OWNERSHIP_EXPLICIT ? NULL : flagged_default(c);

	if (c->n_agents == 0)
		return STR("main");
	if (flagged)
		return flagged->id;
	if (c->n_agents == 1 || (compat_of(x) == COMPAT_DOCUMENTS && c->base.ownership != OWNERSHIP_EXPLICIT))
		return c->agents[0].id;
	return (struct str){ 0 };
}

static bool is_listed(const struct config *c, struct str id)
{
	return config_agent(c, id) || (c->n_agents == 0 && str_eq(id, STR("main")));
}

/* Upstream wants an agent that is named to exist, but takes any that a session key brings along. */
static bool must_exist(const struct ctx *x, bool named)
{
	return compat_of(x) == COMPAT_OPENCLAW_2026_9 ? named : x->c->has_roster || x->c->n_agents > 0;
}

/* Upstream: one file for the sessions of all agents is one agent's, and so is every key without an agent in it. */
static bool settle_owner(struct ctx *x, enum session_shape shape, struct str *named)
{
	struct str owner = x->c->store_owner;

	if (compat_of(x) != COMPAT_OPENCLAW_2026_9 || shape != SESSION_UNSCOPED || owner.n == 0)
		return true;
	if (named->n && !str_eq(*named, owner))
		return deny(x, STAGE_IDENTITY, CODE_AGENT_MISMATCH, asked(),
			    "the one session store belongs to agent '" STR_FMT "', not to '" STR_FMT "'",
			    STR_ARG(owner), STR_ARG(*named));
	*named = owner;
	return true;
}

static bool pick_agent(struct ctx *x, const struct session_key *key, enum session_shape shape)
{
	struct str named = { 0 }, of_key = { 0 }, id;

	if (x->r->agent.n > 0 && trim_unicode(x->r->agent).n == 0)
		return deny(x, STAGE_IDENTITY, CODE_INVALID_AGENT, asked(), "the agent id is blank");
	if (x->r->agent.n > 0)
		(void)agent_id_normalise(x->a, x->r->agent, &named);
	if (shape == SESSION_AGENT)
		(void)agent_id_normalise(x->a, key->agent, &of_key);
	if (named.n && of_key.n && !str_eq(named, of_key))
		return deny(x, STAGE_IDENTITY, CODE_AGENT_MISMATCH, asked(),
			    "agent '" STR_FMT "' does not match the session's agent '" STR_FMT "'",
			    STR_ARG(named), STR_ARG(of_key));
	if (!settle_owner(x, shape, &named))
		return false;
	id = of_key.n ? of_key : named.n ? named : default_agent(x);
	if (id.n == 0)
		return deny(x, STAGE_IDENTITY, CODE_AGENT_AMBIGUOUS, asked(),
			    "several agents are configured and none is the default: name one");
	if (must_exist(x, named.n > 0) && !is_listed(x->c, id))
		return deny(x, STAGE_IDENTITY, CODE_UNKNOWN_AGENT, asked(),
			    "agent '" STR_FMT "' is not configured", STR_ARG(id));
	x->d->who.agent = id;
	x->d->who.block = config_agent(x->c, id);
	return true;
}

/* --- which session --- */

static struct str main_key(const struct ctx *x)
{
	struct str k = x->c->base.main_key;

	return compat_of(x) == COMPAT_DOCUMENTS && k.n ? k : STR("main");
}

static struct str scoped(struct ctx *x, struct str rest)
{
	return arena_printf(x->a, "agent:%.*s:%.*s", (int)x->d->who.agent.n, x->d->who.agent.p, (int)rest.n,
			    rest.p);
}

static struct str group_key(struct ctx *x)
{
	const struct request *r = x->r;

	return scoped(x, arena_printf(x->a, "%.*s:group:%.*s", (int)r->channel.n, r->channel.p,
				      (int)r->chat_id.n, r->chat_id.p));
}

/* What a call that gives no session key means by it. */
static struct str implied_key(struct ctx *x)
{
	if (x->r->chat_id.n && x->r->channel.n)
		return group_key(x);
	return scoped(x, main_key(x));
}

static bool settle_key(struct ctx *x, const struct session_key *key, enum session_shape shape)
{
	struct str has_colon, tail;

	if (shape == SESSION_MISSING)
		x->d->who.session_key = implied_key(x);
	else if (compat_of(x) == COMPAT_OPENCLAW_2026_9 && shape == SESSION_UNSCOPED &&
		 !str_cut(key->raw, ':', &has_colon, &tail) && !str_eq(key->raw, STR("global")))
		x->d->who.session_key = scoped(x, utf8_lower(x->a, key->raw));
	else
		x->d->who.session_key = arena_str(x->a, key->raw);
	return is_local(x->r->via) || speaks_for_all(x) || str_eq(x->d->who.session_key, group_key(x)) ||
	       deny(x, STAGE_IDENTITY, CODE_INVALID_SESSION, asked(),
		    "a remote caller's session is the one of its agent and chat");
}

static bool check_shape(struct ctx *x, const struct session_key *key, enum session_shape shape)
{
	struct str head, tail;

	if (shape == SESSION_MALFORMED)
		return deny(
			x, STAGE_IDENTITY, CODE_INVALID_SESSION, asked(),
			"malformed session key: agent:<id>:<rest>, at most %d bytes, no control characters",
			SESSION_KEY_MAX);
	if (shape == SESSION_UNSCOPED && compat_of(x) == COMPAT_OPENCLAW_2026_9 &&
	    str_cut(key->raw, ':', &head, &tail))
		return deny(x, STAGE_IDENTITY, CODE_INVALID_SESSION, asked(),
			    "session key '" STR_FMT "' contains no agent id", STR_ARG(key->raw));
	return true;
}

/* Upstream: exact text, after folding the two spellings of the main key; under global scope the key is "global". */
static bool is_main_upstream(const struct ctx *x)
{
	struct str key = x->d->who.session_key;
	struct str own = STR("agent:"), rest;

	if (str_eq(key, x->d->who.main_session_key) || str_eq(key, STR("agent:main:main")))
		return true;
	if (!str_starts(key, own))
		return false;
	rest = str_from(key, own.n);
	return str_starts(rest, x->d->who.agent) && str_eq(str_from(rest, x->d->who.agent.n), STR(":main"));
}

/* Documents: the key is the main key, or the agent's; what else counts, the operator lists (C31). */
static bool is_main_documents(struct ctx *x, const struct session_key *key, enum session_shape shape)
{
	const struct strs patterns = x->c->base.main_patterns;
	struct str k = x->d->who.session_key;

	if (str_eq(k, x->d->who.main_session_key) || (shape == SESSION_MISSING && x->r->chat_id.n == 0))
		return true;
	if (str_eq(shape == SESSION_AGENT ? key->rest : k, main_key(x)))
		return true;
	for (size_t i = 0; i < patterns.n; i++)
		if (session_glob_matches(patterns.v[i], k)) {
			why(x, STAGE_IDENTITY, "main", patterns.v[i], &x->c->base.origin[OPT_MAIN_PATTERNS],
			    "identity.mainPatterns counts this key as main");
			return true;
		}
	return false;
}

static void settle_main(struct ctx *x, const struct session_key *key, enum session_shape shape)
{
	bool global = x->c->base.session_scope == SESSION_GLOBAL;

	x->d->who.main_session_key = global ? STR("global") : scoped(x, main_key(x));
	x->d->who.is_main = compat_of(x) == COMPAT_OPENCLAW_2026_9 ? is_main_upstream(x)
								   : is_main_documents(x, key, shape);
}

static enum session_shape parse_key(const struct ctx *x, struct str text, struct session_key *ret)
{
	return compat_of(x) == COMPAT_OPENCLAW_2026_9 ? session_key_split(text, ret)
						      : session_key_parse(text, ret);
}

static void settle_rest(struct ctx *x)
{
	struct session_key key;

	(void)parse_key(x, x->d->who.session_key, &key);
	x->d->who.rest = key.rest;
	x->d->who.is_subagent = session_rest_is_subagent(key.rest);
	x->d->who.channel = x->r->channel.n ? x->r->channel : session_rest_channel(key.rest);
}

static void note_ignored(struct ctx *x)
{
	const struct request *r = x->r;

	if (r->caller_policy)
		warn(x, "caller_policy_ignored", asked(), STR("policy"),
		     "the caller sent policy of its own; it is ignored");
	/* The library's caller is local, too: it may ask for more walls, never for fewer. */
	if (r->via != VIA_CLI &&
	    (r->allow_weaken || r->no_sandbox || (!is_local(r->via) && (r->has_trust || r->force_sandbox))))
		warn(x, "flags_ignored", asked(), STR("flags"),
		     "flags that change policy exist on the local command line alone; they are ignored");
}

static void record(struct ctx *x)
{
	const struct decision *d = x->d;
	const struct str via = str_z(enum_name(via_names, (int)d->who.via));

	why(x, STAGE_IDENTITY, "agent", d->who.agent, d->who.block ? &d->who.block->origin : asked(),
	    d->who.block ? "has its own block" : "has no block of its own: the defaults apply");
	why(x, STAGE_IDENTITY, "session", d->who.session_key, asked(), "%s, the main session is %.*s",
	    d->who.is_main ? "the main session" : "not the main session", (int)d->who.main_session_key.n,
	    d->who.main_session_key.p);
	why(x, STAGE_IDENTITY, "via", via, asked(), "%s",
	    is_local(d->who.via) ? "a local caller" : "a remote caller with a token");
}

/* Scope first: a shared sandbox has one shape, so an agent's container settings do not count there. */
static void apply_agent(struct ctx *x)
{
	const struct settings *over = x->d->who.block ? x->d->who.block->over : NULL;
	int scope;

	if (!over)
		return;
	scope = over->has[OPT_SCOPE] ? over->scope : x->c->base.scope;
	settings_override(x->a, &x->d->eff, over, scope == SCOPE_SHARED);
}

/* Upstream looks at it whenever it looks at an agent's sandbox, whatever the backend. */
static bool check_ssh_root(struct ctx *x)
{
	const struct settings *s = &x->d->eff;

	if (compat_of(x) != COMPAT_OPENCLAW_2026_9 || workspace_ssh_root(x).n > 0)
		return true;
	return deny(x, STAGE_IDENTITY, CODE_WORKSPACE_ESCAPE, &s->origin[OPT_SSH_ROOT],
		    "backend.ssh.workspaceRoot: '" STR_FMT "' is not an absolute path",
		    STR_ARG(shown(s, OPT_SSH_ROOT, s->ssh_root)));
}

bool stage_identity(struct ctx *x)
{
	struct session_key key;
	enum session_shape shape = parse_key(x, x->r->session_key, &key);

	x->d->who.via = x->r->via;
	x->d->who.chat_id = x->r->chat_id;
	x->d->who.user_id = x->r->user_id;
	x->d->who.session_id = x->r->session_id;
	note_ignored(x);
	if (!identity_caller(x) || !check_scope(x) || !check_shape(x, &key, shape) ||
	    !pick_agent(x, &key, shape) || !settle_key(x, &key, shape))
		return false;
	settle_main(x, &key, shape);
	settle_rest(x);
	apply_agent(x);
	record(x);
	return check_ssh_root(x);
}
