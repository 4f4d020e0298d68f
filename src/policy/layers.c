/* SPDX-License-Identifier: Apache-2.0 */
#include "policy/layers.h"
#include "policy/session_key.h"
#include "policy/tooltables.h"

#include <assert.h>

static const struct origin builtin = { .kind = ORIGIN_BUILTIN };

static const struct settings *over_of(const struct ctx *x)
{
	return x->d->who.block ? x->d->who.block->over : NULL;
}

/* --- keyed sections: the one entry that fits --- */

static bool provider_is(struct str match, struct str provider, struct str model)
{
	struct str m = str_trim(match), head = m, tail = { 0 };
	bool cut = str_cut(m, '/', &head, &tail);

	if (!cut || tail.n == 0)
		return model.n == 0 && str_eq_nocase(cut ? head : m, provider);
	return model.n > 0 && str_eq_nocase(head, provider) && str_eq_nocase(tail, model);
}

/* provider/model before provider */
static const struct tool_layer *by_provider(struct tool_layers l, const struct request *r)
{
	const struct str none = { 0 };

	for (int pass = r->model.n ? 0 : 1; r->provider.n && pass < 2; pass++)
		for (size_t i = 0; i < l.n; i++)
			if (provider_is(l.v[i].match, str_trim(r->provider),
					pass ? none : str_trim(r->model)))
				return l.v + i;
	return NULL;
}

/* How well a key names the sender: channel:<ch>:<id>, then id:, e164:, username:, name:, then '*'. 0 = not at all. */
static unsigned sender_rank(struct str match, struct str channel, struct str sender)
{
	static const struct {
		struct str prefix;
		unsigned rank;
	} kinds[] = {
		{ { "id:", 3 }, 5 }, { { "e164:", 5 }, 4 }, { { "username:", 9 }, 3 }, { { "name:", 5 }, 2 }
	};
	struct str m = str_trim(match), head, tail;

	if (str_eq(m, STR("*")))
		return 1;
	if (sender.n == 0)
		return 0;
	if (str_starts(m, STR("channel:")) && str_cut(str_from(m, 8), ':', &head, &tail))
		return str_eq_nocase(head, channel) && str_eq_nocase(tail, sender) ? 6 : 0;
	for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++)
		if (str_starts(m, kinds[i].prefix)) {
			/* a sender without a kind is an id; labels that people choose match only as what they are */
			bool bare =
				kinds[i].rank == 5 && str_eq_nocase(str_from(m, kinds[i].prefix.n), sender);

			return bare || str_eq_nocase(m, sender) ? kinds[i].rank : 0;
		}
	if (m.n > 0 && m.p[0] == '@')
		m = str_from(m, 1);
	if (sender.p[0] == '@')
		sender = str_from(sender, 1);
	return m.n && str_eq_nocase(m, sender) ? 5 : 0;
}

static const struct tool_layer *by_sender(struct tool_layers l, struct str channel, struct str sender)
{
	const struct tool_layer *best = NULL;
	unsigned best_rank = 0;

	for (size_t i = 0; i < l.n; i++) {
		unsigned rank = sender_rank(l.v[i].match, channel, str_trim(sender));

		if (rank > best_rank) {
			best_rank = rank;
			best = &l.v[i];
		}
	}
	return best;
}

/* 3: channel:id, 2: channel:*, 1: '*'. The id may go on with :topic:, :thread: or :sender:, which names the same group. */
static unsigned group_rank(struct str match, struct str channel, struct str id)
{
	struct str head, tail, end;

	if (str_eq(match, STR("*")))
		return 1;
	if (!str_cut(match, ':', &head, &tail) || !str_eq_nocase(head, channel))
		return 0;
	if (str_eq(tail, STR("*")))
		return 2;
	if (!str_starts(id, tail))
		return 0;
	end = str_from(id, tail.n);
	return end.n == 0 || str_starts(end, STR(":topic:")) || str_starts(end, STR(":thread:")) ||
			       str_starts(end, STR(":sender:"))
		       ? 3
		       : 0;
}

static const struct tool_layer *by_group(struct tool_layers l, struct str rest)
{
	const struct tool_layer *best = NULL;
	struct str channel, id;
	unsigned best_rank = 0;
	size_t best_n = 0;

	if (!session_rest_group(rest, &channel, &id))
		return NULL;
	for (size_t i = 0; i < l.n; i++) {
		unsigned rank = group_rank(l.v[i].match, channel, id);

		if (rank > best_rank || (rank == best_rank && rank == 3 && l.v[i].match.n > best_n)) {
			best_rank = rank;
			best_n = l.v[i].match.n;
			best = &l.v[i];
		}
	}
	return best;
}

static void from_entry(struct layer *l, const struct tool_layer *t)
{
	l->part = t->match;
	l->allow = t->allow;
	l->extra = t->also_allow;
	l->deny = t->deny;
	l->allow_origin = l->deny_origin = t->origin;
}

static void from_settings(struct layer *l, const struct settings *s)
{
	l->allow = s->tools_allow;
	l->extra = s->tools_also_allow;
	l->deny = s->tools_deny;
	l->allow_origin = s->origin[OPT_TOOLS_ALLOW];
	l->deny_origin = s->origin[OPT_TOOLS_DENY];
}

/* --- the layers: each says whether it is there --- */

static bool profile_layer(const struct ctx *x, struct layer *l)
{
	const struct settings *over = over_of(x), *base = &x->c->base;
	const struct settings *p = over && over->has[OPT_TOOLS_PROFILE] ? over : base;
	const struct settings *also = over && over->has[OPT_TOOLS_ALSO_ALLOW] ? over : base;

	l->allow = tool_profile_list(compat_of(x), (enum tool_profile)p->tools_profile);
	l->extra = also->tools_also_allow;
	l->allow_origin = p->origin[OPT_TOOLS_PROFILE];
	return l->allow.n > 0;
}

static bool provider_profile_layer(const struct ctx *x, struct layer *l)
{
	const struct settings *over = over_of(x);
	const struct tool_layer *own = over ? by_provider(over->tools_by_provider, x->r) : NULL;
	const struct tool_layer *global = by_provider(x->c->base.tools_by_provider, x->r);
	const struct tool_layer *p = own && own->profile != TOOL_PROFILE_NONE ? own : global;
	const struct tool_layer *also = own && own->has_also_allow ? own : global;

	if (!p)
		return false;
	l->part = p->match;
	l->allow = tool_profile_list(compat_of(x), p->profile);
	l->extra = also ? also->also_allow : (struct strs){ 0 };
	l->allow_origin = p->origin;
	return l->allow.n > 0;
}

static bool global_layer(const struct ctx *x, struct layer *l)
{
	from_settings(l, &x->c->base);
	return l->allow.n || l->extra.n || l->deny.n;
}

static bool global_provider_layer(const struct ctx *x, struct layer *l)
{
	const struct tool_layer *t = by_provider(x->c->base.tools_by_provider, x->r);

	if (t)
		from_entry(l, t);
	return t != NULL;
}

static bool agent_layer(const struct ctx *x, struct layer *l)
{
	const struct settings *over = over_of(x);

	if (!over)
		return false;
	from_settings(l, over);
	return l->allow.n || l->extra.n || l->deny.n;
}

static bool agent_provider_layer(const struct ctx *x, struct layer *l)
{
	const struct settings *over = over_of(x);
	const struct tool_layer *t = over ? by_provider(over->tools_by_provider, x->r) : NULL;

	if (t)
		from_entry(l, t);
	return t != NULL;
}

static bool group_layer(const struct ctx *x, struct layer *l)
{
	const struct tool_layer *t = by_group(x->c->base.tools_by_group, x->d->who.rest);

	if (t)
		from_entry(l, t);
	return t != NULL;
}

/* The agent's entries before the base's: the first that fits is the layer. */
static bool sender_layer(const struct ctx *x, struct layer *l)
{
	const struct settings *over = over_of(x);
	struct str channel = x->d->who.channel, sender = x->r->sender;
	const struct tool_layer *t = over ? by_sender(over->tools_by_sender, channel, sender) : NULL;

	if (!t)
		t = by_sender(x->c->base.tools_by_sender, channel, sender);
	if (t)
		from_entry(l, t);
	return t != NULL;
}

/*
 * S1's lists. The built-in ones are S1's idea of a sandboxed session; where only S0's trust or S2's door asks for
 * the sandbox, S0's matrix and S2's three tools say what may be done, and only configured lists count besides.
 */
static bool sandbox_layer(const struct ctx *x, struct layer *l)
{
	const struct tool_list *allow = &x->d->tool.sbx_allow, *deny = &x->d->tool.sbx_deny;
	bool by_when =
		x->d->mode.when == WHEN_ALL || (x->d->mode.when == WHEN_NON_MAIN && !x->d->who.is_main);
	bool defaults = compat_of(x) == COMPAT_OPENCLAW_2026_9 || by_when;

	if (!x->d->mode.sandboxed)
		return false;
	l->field = allow->field;
	if (defaults || allow->source != LIST_DEFAULT)
		l->allow = allow->names;
	if (defaults || deny->source != LIST_DEFAULT)
		l->deny = deny->names;
	l->allow_origin = allow->origin;
	l->deny_origin = deny->origin;
	return true;
}

static bool subagent_layer(const struct ctx *x, struct layer *l)
{
	const struct settings *s = &x->c->base;

	if (!x->d->who.is_subagent)
		return false;
	l->allow = s->sub_allow;
	l->extra = s->sub_also_allow;
	l->deny = s->sub_deny;
	l->always = subagent_always_deny(compat_of(x));
	l->allow_origin = s->origin[OPT_SUB_ALLOW];
	l->deny_origin = s->origin[OPT_SUB_DENY];
	return true;
}

/* clang-format off */
static const struct {
	const char *what, *key, *field;
	bool (*get)(const struct ctx *x, struct layer *l);
} table[] = {
	{ "profile",          "tools.profile",            "alsoAllow", profile_layer },
	{ "provider profile", "tools.byProvider",         "alsoAllow", provider_profile_layer },
	{ "tools",            "tools",                    "allow",     global_layer },
	{ "provider",         "tools.byProvider",         "allow",     global_provider_layer },
	{ "agent",            "agents.*.tools",           "allow",     agent_layer },
	{ "agent provider",   "agents.*.tools.byProvider", "allow",    agent_provider_layer },
	{ "group",            "tools.byGroup",            "allow",     group_layer },
	{ "sender",           "tools.bySender",           "allow",     sender_layer },
	{ "sandbox",          "tools.sandbox",            "allow",     sandbox_layer },
	{ "sub-agent",        "tools.subagents",          "allow",     subagent_layer },
};
/* clang-format on */
static_assert(sizeof(table) / sizeof(table[0]) <= LAYERS_MAX, "room for every layer");

size_t layers_collect(const struct ctx *x, struct layer out[static LAYERS_MAX])
{
	size_t n = 0;

	for (size_t i = 0; i < sizeof(table) / sizeof(table[0]); i++) {
		out[n] = (struct layer){ .what = table[i].what,
					 .key = table[i].key,
					 .field = table[i].field,
					 .allow_origin = builtin,
					 .deny_origin = builtin };
		if (table[i].get(x, &out[n]))
			n++;
	}
	return n;
}

static bool covers(enum compat compat, struct strs list, const struct subject *s, bool second,
		   struct str *ret_entry)
{
	return tool_list_has(compat, list, s->name, ret_entry) ||
	       (second && s->also.n && tool_list_has(compat, list, s->also, ret_entry));
}

/* Blank entries are no entries. */
static bool is_blank(struct strs list)
{
	for (size_t i = 0; i < list.n; i++)
		if (str_trim(list.v[i]).n)
			return false;
	return true;
}

enum layer_verdict layer_check(enum compat compat, const struct layer *l, const struct subject *s,
			       struct str *ret_entry)
{
	if (covers(compat, l->deny, s, true, ret_entry) || covers(compat, l->always, s, true, ret_entry))
		return LAYER_DENIES;
	if (is_blank(l->allow))
		return LAYER_PASSES;
	if (covers(compat, l->allow, s, s->also_allowed, NULL) ||
	    covers(compat, l->extra, s, s->also_allowed, NULL))
		return LAYER_PASSES;
	/* upstream: whoever may write may patch */
	if (compat == COMPAT_OPENCLAW_2026_9 && str_eq(s->name, STR("apply_patch")) &&
	    (tool_list_has(compat, l->allow, STR("write"), NULL) ||
	     tool_list_has(compat, l->extra, STR("write"), NULL)))
		return LAYER_PASSES;
	return LAYER_LACKS;
}

bool layers_name(enum compat compat, const struct layer *layers, size_t n, struct str name)
{
	for (size_t i = 0; i < n; i++)
		if (tool_list_names(compat, layers[i].allow, name) ||
		    tool_list_names(compat, layers[i].extra, name))
			return true;
	return false;
}
