/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Elevated exec: a way out of the sandbox for senders that the operator lists. It opens only when every gate says so:
 * switched on (base and agent), a known channel, a sender in the base's list, and in the agent's if it has one. It never
 * opens for a session without full trust, for tier-1 calls, or for a caller over the network (C27).
 *
 * Documents: off unless switched on. Upstream: on unless switched off, which means nothing without a list.
 */
#include "policy/policy_priv.h"
#include "policy/session_key.h"
#include "policy/tooltables.h"

static const struct origin request = { .kind = ORIGIN_REQUEST };

static void fail(struct elevated *e, const char *gate, struct str key)
{
	if (e->n_failures == sizeof(e->failures) / sizeof(e->failures[0]))
		return;
	e->failures[e->n_failures].gate = gate;
	e->failures[e->n_failures].key = key;
	e->n_failures++;
}

static struct str agent_key(struct ctx *x, const char *rest)
{
	return arena_printf(x->a, "agents.%s%s", compat_of(x) == COMPAT_DOCUMENTS ? "*" : "entries.*", rest);
}

static bool check_enabled(struct ctx *x, struct elevated *e, const struct settings *over)
{
	const struct settings *base = &x->c->base;
	bool by_base =
		base->has[OPT_ELEV_ENABLED] ? base->elev_enabled : compat_of(x) == COMPAT_OPENCLAW_2026_9;
	bool by_agent = !over || !over->has[OPT_ELEV_ENABLED] || over->elev_enabled;

	if (!by_base)
		fail(e, "enabled", STR("tools.elevated.enabled"));
	if (!by_agent)
		fail(e, "enabled", agent_key(x, ".tools.elevated.enabled"));
	return by_base && by_agent;
}

/* The senders of one channel: trimmed, blanks left out. */
static struct strs senders(struct arena *a, const struct settings *s, struct str channel)
{
	const struct listmap m = s->elev_allow;

	for (size_t i = 0; i < m.n; i++) {
		struct str *out;
		size_t n = 0;

		if (!str_eq(m.v[i].key, channel))
			continue;
		out = ARENA_ARRAY(a, struct str, m.v[i].values.n);
		for (size_t k = 0; out && k < m.v[i].values.n; k++) {
			out[n] = trim_unicode(m.v[i].values.v[k]);
			n += out[n].n > 0;
		}
		return (struct strs){ .v = out, .n = n };
	}
	return (struct strs){ 0 };
}

static bool holds(struct strs l, struct str s)
{
	for (size_t i = 0; i < l.n; i++)
		if (str_eq(l.v[i], s))
			return true;
	return false;
}

/* "telegram:123", "user:123" and the like mean 123. */
static struct str without_prefix(struct str s)
{
	static const struct str words[] = { { "user", 4 }, { "group", 5 }, { "channel", 7 } };
	struct strs known = channel_ids();
	struct str head, tail;

	if (!str_cut(s, ':', &head, &tail))
		return s;
	for (size_t i = 0; i < known.n; i++)
		if (str_eq_nocase(known.v[i], head))
			return tail;
	for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++)
		if (str_eq_nocase(words[i], head))
			return tail;
	return s;
}

/*
 * An id with or without its channel in front. Labels that people choose for themselves (name:, username:, tag:) keep
 * their word, so they match only an entry that says the same.
 */
static bool entry_is(struct str entry, struct str sender)
{
	const struct str id = STR("id:");

	if (str_starts(entry, id))
		entry = str_trim(str_from(entry, id.n));
	if (str_starts(sender, id))
		sender = str_trim(str_from(sender, id.n));
	return without_prefix(entry).n > 0 && str_eq_nocase(without_prefix(entry), without_prefix(sender));
}

static bool approves(struct strs list, struct str sender)
{
	sender = trim_unicode(sender);
	for (size_t i = 0; i < list.n; i++)
		if (str_eq(list.v[i], STR("*")) || (sender.n && entry_is(list.v[i], sender)))
			return true;
	return false;
}

/* Upstream's command line knows one channel by itself; a door that knows better says it. */
static struct str channel_of(const struct ctx *x)
{
	struct str c = x->r->channel.n ? x->r->channel : session_rest_channel(x->d->who.rest);

	if (compat_of(x) == COMPAT_OPENCLAW_2026_9 && x->r->channel.n == 0 && !str_eq(c, STR("webchat")))
		return (struct str){ 0 };
	return c;
}

/* What the lists say, whoever asks: the part that upstream's explain prints. */
static void by_config(struct ctx *x, struct elevated *e, const struct settings *over)
{
	bool own = over && over->has[OPT_ELEV_ALLOW];

	e->channel = channel_of(x);
	e->enabled = check_enabled(x, e, over);
	if (e->channel.n == 0)
		return;
	e->has_global = true;
	e->global_from = senders(x->a, &x->c->base, e->channel);
	e->has_agent = own;
	if (own)
		e->agent_from = senders(x->a, over, e->channel);
	if (e->global_from.n == 0)
		fail(e, "allowFrom",
		     arena_printf(x->a, "tools.elevated.allowFrom." STR_FMT, STR_ARG(e->channel)));
	if (own && e->agent_from.n == 0)
		fail(e, "allowFrom",
		     arena_printf(x->a, "agents.%s.tools.elevated.allowFrom." STR_FMT,
				  compat_of(x) == COMPAT_DOCUMENTS ? "*" : "entries.*", STR_ARG(e->channel)));
	e->allowed = e->enabled && e->global_from.n > 0 && (!own || e->agent_from.n > 0);
	e->always = e->allowed && holds(e->global_from, STR("*")) && (!own || holds(e->agent_from, STR("*")));
}

static const char *never(const struct ctx *x)
{
	if (!is_local(x->r->via))
		return "a caller over the network never gets it";
	if (is_tier1(x))
		return "tier-1 calls never get it";
	if (x->d->mode.trust != TRUST_NONE)
		return "only a session with full trust gets it";
	return NULL;
}

/* `mend`: another configuration would allow it. */
static bool refuse(struct ctx *x, bool mend, const char *text)
{
	const struct origin *o =
		x->c->base.has[OPT_ELEV_ENABLED] ? &x->c->base.origin[OPT_ELEV_ENABLED] : &request;

	x->d->place.elevated.allowed = false;
	if (mend)
		fix_it(x, STR("tools.elevated.enabled"));
	if (mend && x->d->place.elevated.channel.n)
		fix_it(x, arena_printf(x->a, "tools.elevated.allowFrom." STR_FMT,
				       STR_ARG(x->d->place.elevated.channel)));
	return deny(x, STAGE_PLACEMENT, CODE_ELEVATED_REFUSED, o, "elevated exec refused: %s", text);
}

bool elevated_check(struct ctx *x)
{
	const struct settings *over = x->d->who.block ? x->d->who.block->over : NULL;
	struct elevated *e = &x->d->place.elevated;

	by_config(x, e, over);
	if (never(x) && compat_of(x) == COMPAT_DOCUMENTS)
		e->allowed = e->always = false;
	if (!x->r->wants_elevated)
		return true;
	e->requested = true;
	if (never(x))
		return refuse(x, false, never(x));
	if (!e->enabled)
		return refuse(x, true, "it is switched off");
	if (e->channel.n == 0) {
		fail(e, "provider", STR("channel"));
		return refuse(x, true, "the channel is not known");
	}
	if (!approves(e->global_from, x->r->sender))
		return refuse(x, true, "the sender is not in tools.elevated.allowFrom");
	if (e->has_agent && !approves(e->agent_from, x->r->sender))
		return refuse(x, true, "the sender is not in the agent's tools.elevated.allowFrom");
	why(x, STAGE_PLACEMENT, "elevated", STR("granted"), &x->c->base.origin[OPT_ELEV_ALLOW],
	    "switched on, and the sender is listed for this channel");
	return true;
}
