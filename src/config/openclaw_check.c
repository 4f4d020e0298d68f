/* SPDX-License-Identifier: Apache-2.0 */
/* What the tables of openclaw.json cannot say. Each check gets a value whose types are right. */
#include "config/openclaw_shape_priv.h"

#include "base/parse.h"

#include <math.h>

static bool is_filled(const struct value *list)
{
	return list && list->kind == VALUE_ARR && list->arr.n > 0;
}

static void check_policy(struct oc *o, const struct value *v, const struct trail *t)
{
	if (is_filled(value_get(v, STR("allow"))) && is_filled(value_get(v, STR("alsoAllow"))))
		oc_bad(o, t, v, "allow_and_also_allow",
		       "allow and alsoAllow cannot both have entries in one place, accepted: one list in allow, or a profile "
		       "and alsoAllow");
}

static void check_exec(struct oc *o, const struct value *v, const struct trail *t)
{
	if (value_get(v, STR("mode")) && (value_get(v, STR("security")) || value_get(v, STR("ask"))))
		oc_bad(o, t, v, "exec_mode",
		       "mode replaces security and ask, accepted: mode alone, or the other two");
}

/* Networks. Documents mode lets the words through: the decision refuses them, with a code of its own. */

static bool is_host(struct str network)
{
	return str_eq_nocase(oc_trim(network), STR("host"));
}

static bool is_join(struct str network)
{
	struct str s = oc_trim(network);

	s.n = s.n < 10 ? s.n : 10;
	return str_eq_nocase(s, STR("container:"));
}

static void check_network(struct oc *o, const struct value *block, bool may_join, const struct trail *t)
{
	const struct trail down = { .up = t, .key = STR("network") };
	const struct value *v = value_get(block, STR("network"));

	if (!v)
		return;
	if (is_host(v->s))
		oc_bad(o, &down, v, "network_host_blocked",
		       "the host's network is refused, accepted: none, bridge or the name of a network");
	else if (is_join(v->s) && !may_join)
		oc_bad(o, &down, v, "network_join_blocked",
		       "joining another container's network is refused, accepted: none, bridge or the name of a network");
}

static void check_sandbox(struct oc *o, const struct value *v, const struct trail *t)
{
	static const struct str blocks[] = { { "docker", 6 }, { "browser", 7 }, { "networkDocker", 13 } };
	const struct value *join = value_path(v, "docker.dangerouslyAllowContainerNamespaceJoin");

	for (size_t i = 0; o->compat && i < sizeof(blocks) / sizeof(blocks[0]); i++) {
		const struct trail down = { .up = t, .key = blocks[i] };

		check_network(o, value_get(v, blocks[i]), join && join->b, &down);
	}
}

static bool is_letter(char c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

static bool is_absolute(struct str path)
{
	/* The long form of Windows; what is behind it must itself have a drive. */
	if (str_starts(path, STR("//?/")) || str_starts(path, STR("\\\\?\\")))
		path = str_from(path, 4);
	return (path.n > 0 && path.p[0] == '/') || (path.n > 2 && is_letter(path.p[0]) && path.p[1] == ':' &&
						    (path.p[2] == '/' || path.p[2] == '\\'));
}

static void check_bind(struct oc *o, const struct value *v, const struct trail *t)
{
	struct bind b = { 0 };

	if (oc_trim(v->s).n == 0 || !bind_parse(v->s, &b))
		oc_bad(o, t, v, "bind_invalid", "a bind is empty, accepted: host:target[:ro|rw]");
	else if (!is_absolute(b.source))
		oc_bad(o, t, v, "bind_not_absolute",
		       "the source of " STR_FMT " is not absolute, accepted: /path:target[:ro|rw]",
		       STR_ARG(value_quote(o->l, v)));
}

static void check_profile(struct oc *o, const struct value *v, const struct trail *t)
{
	if (o->compat && str_eq_nocase(oc_trim(v->s), STR("unconfined")))
		oc_bad(o, t, v, "profile_unconfined",
		       "'unconfined' is refused, accepted: the name of a profile");
}

static void check_agent(struct oc *o, const struct value *v, const struct trail *t)
{
	static const struct str blocked[] = { { "constructor", 11 }, { "prototype", 9 } };

	for (size_t i = 0; o->compat && i < sizeof(blocked) / sizeof(blocked[0]); i++)
		if (value_member(v, blocked[i]))
			oc_bad(o, t, v, "unknown_key", "'%s' is not accepted as a key of an agent",
			       blocked[i].p);
}

/* [a-z0-9_][a-z0-9_-]{0,63}, in any case */
static bool agent_key_ok(struct str key)
{
	for (size_t i = 0; i < key.n; i++) {
		char c = key.p[i];

		if (!is_letter(c) && !(c >= '0' && c <= '9') && c != '_' && !(c == '-' && i > 0))
			return false;
	}
	return key.n >= 1 && key.n <= 64;
}

static void check_agent_ids(struct oc *o, const struct value *v, const struct trail *t)
{
	for (size_t i = 0; i < v->obj.n; i++) {
		const struct trail down = { .up = t, .key = v->obj.m[i].key };

		if (!agent_key_ok(v->obj.m[i].key))
			oc_bad(o, &down, &v->obj.m[i].v, "agent_id",
			       "not the id of an agent, accepted: 1..64 letters, digits, '_' and, not in front, '-'");
	}
}

/* first, then `more` of the given class */
static bool spelled(struct str s, size_t max, bool upper)
{
	char a = upper ? 'A' : 'a', z = upper ? 'Z' : 'z';

	for (size_t i = 0; i < s.n; i++) {
		char c = s.p[i];
		bool rest = (c >= '0' && c <= '9') || c == '_' || (c == '-' && !upper);

		if (!(c >= a && c <= z) && !(i > 0 && rest))
			return false;
	}
	return s.n >= 1 && s.n <= max;
}

/* A '~' stands for itself as ~0, for '/' as ~1. */
static bool is_pointer(struct str id)
{
	if (str_eq(id, STR("value")))
		return true;
	for (size_t i = 0; i < id.n; i++)
		if (id.p[i] == '~' && (i + 1 == id.n || (id.p[i + 1] != '0' && id.p[i + 1] != '1')))
			return false;
	return id.n > 0 && id.p[0] == '/';
}

static bool is_exec_id(struct str id)
{
	struct str part, rest = id;

	for (size_t i = 0; i < id.n; i++) {
		char c = id.p[i];

		if (!is_letter(c) && !(c >= '0' && c <= '9') && (i == 0 || !memchr("._:/#-", c, 6)))
			return false;
	}
	for (bool more = true; more;) {
		more = str_cut(rest, '/', &part, &rest);
		part = more ? part : rest;
		if (str_eq(part, STR(".")) || str_eq(part, STR("..")))
			return false;
	}
	return id.n >= 1 && id.n <= 256;
}

static void check_secret(struct oc *o, const struct value *v, const struct trail *t)
{
	const struct value *provider, *id, *source;

	if (v->kind != VALUE_OBJ)
		return;
	provider = value_get(v, STR("provider"));
	id = value_get(v, STR("id"));
	source = value_get(v, STR("source"));
	if (!provider || !id || !source)
		return;
	if (!spelled(provider->s, 64, false))
		oc_bad(o, t, provider, "secret_provider",
		       "accepted: lower case letters, digits, '_' and '-', at most 64");
	if ((str_eq(source->s, STR("env")) || str_eq(source->s, STR("store"))) && !spelled(id->s, 128, true))
		oc_bad(o, t, id, "secret_id",
		       "accepted: the name of a variable in capitals, at most 128 characters");
	if (str_eq(source->s, STR("file")) && !is_pointer(id->s))
		oc_bad(o, t, id, "secret_id", "accepted: 'value', or a JSON pointer like /a/b");
	if (str_eq(source->s, STR("exec")) && !is_exec_id(id->s))
		oc_bad(o, t, id, "secret_id",
		       "accepted: letters, digits and '._:/#-', at most 256, no part '.' or '..'");
}

/* Keys moved to plugins; upstream refuses them where they were. */
static void check_search(struct oc *o, const struct value *v, const struct trail *t)
{
	static const char *const moved[] = { "brave",  "duckduckgo", "exa",     "firecrawl",
					     "gemini", "grok",       "kimi",    "minimax",
					     "ollama", "perplexity", "searxng", "tavily" };

	if (!o->compat)
		return;
	if (value_get(v, STR("apiKey")))
		oc_bad(o, t, v, "unknown_key",
		       "'apiKey' is not accepted here any more: it belongs to the provider's plugin");
	for (size_t i = 0; i < sizeof(moved) / sizeof(moved[0]); i++) {
		const struct value *block = value_get(v, str_z(moved[i]));

		if (block && block->kind == VALUE_OBJ)
			oc_bad(o, t, block, "unknown_key",
			       "'%s' is not accepted here any more: it belongs to the provider's plugin",
			       moved[i]);
	}
}

/* Digits, and digits behind a dot; how many bytes, 0 for none. */
static size_t number_at(struct str s, double *ret)
{
	size_t n = 0, dot;

	while (n < s.n && s.p[n] >= '0' && s.p[n] <= '9')
		n++;
	dot = n;
	if (n > 0 && n + 1 < s.n && s.p[n] == '.' && s.p[n + 1] >= '0' && s.p[n + 1] <= '9')
		for (n++; n < s.n && s.p[n] >= '0' && s.p[n] <= '9';)
			n++;
	return dot > 0 && parse_double((struct str){ s.p, n }, 0, HUGE_VAL, ret) == 0 ? n : 0;
}

struct unit {
	const char *name;
	double factor;
};

/* The unit in front of `s`, as long as letters go; NULL when it is none of them. */
static const struct unit *unit_at(struct str s, const struct unit *units)
{
	size_t n = 0;

	while (n < s.n && is_letter(s.p[n]))
		n++;
	for (; units->name; units++)
		if (str_eq_nocase((struct str){ s.p, n }, str_z(units->name)))
			return units;
	return NULL;
}

bool oc_duration(struct str s, double unit_ms, double *ret_ms)
{
	static const struct unit units[] = { { "ms", 1 },        { "s", 1000 },       { "m", 60000 },
					     { "h", 3600000.0 }, { "d", 86400000.0 }, { 0 } };
	double number;
	size_t n;

	s = oc_trim(s);
	*ret_ms = 0;
	if (s.n == 0)
		return false;
	for (bool first = true; s.n > 0; first = false) {
		const struct unit *unit;

		n = number_at(s, &number);
		s = str_from(s, n);
		unit = unit_at(s, units);
		if (n == 0 || (!unit && !(first && s.n == 0)))
			return false;
		*ret_ms += number * (unit ? unit->factor : unit_ms);
		s = str_from(s, unit ? strlen(unit->name) : 0);
	}
	return *ret_ms < SAFE_INT + 0.5;
}

bool oc_size(struct str s)
{
	static const struct unit units[] = { { "", 1 },
					     { "b", 1 },
					     { "k", 0x1p10 },
					     { "kb", 0x1p10 },
					     { "m", 0x1p20 },
					     { "mb", 0x1p20 },
					     { "g", 0x1p30 },
					     { "gb", 0x1p30 },
					     { "t", 0x1p40 },
					     { "tb", 0x1p40 },
					     { 0 } };
	const struct unit *unit;
	double number;
	size_t n;

	s = oc_trim(s);
	n = number_at(s, &number);
	s = str_from(s, n);
	unit = unit_at(s, units);
	return n > 0 && unit && strlen(unit->name) == s.n && number * unit->factor < SAFE_INT + 0.5;
}

/* Zero switches the heartbeat off. */
static void check_every(struct oc *o, const struct value *v, const struct trail *t)
{
	double ms;

	if (v->s.n > 0 && !oc_duration(v->s, 60000, &ms))
		oc_bad(o, t, v, "wrong_value",
		       STR_FMT " is not a duration, accepted: a number with ms, s, m, h or d",
		       STR_ARG(value_quote(o->l, v)));
}

static void check_clock(struct oc *o, const struct value *v, const struct trail *t, bool may_end_the_day)
{
	struct str s = v->s;
	unsigned h, m;

	if (s.n == 0)
		return;
	if (s.n == 5 && s.p[2] == ':' && memchr("012", s.p[0], 3) && s.p[1] >= '0' && s.p[1] <= '9' &&
	    s.p[3] >= '0' && s.p[3] <= '5' && s.p[4] >= '0' && s.p[4] <= '9') {
		h = (unsigned)(s.p[0] - '0') * 10 + (unsigned)(s.p[1] - '0');
		m = (unsigned)(s.p[3] - '0') * 10 + (unsigned)(s.p[4] - '0');
		if (h < 24 || (may_end_the_day && h == 24 && m == 0))
			return;
	}
	oc_bad(o, t, v, "wrong_value", STR_FMT " is not a time, accepted: HH:MM",
	       STR_ARG(value_quote(o->l, v)));
}

static void check_from(struct oc *o, const struct value *v, const struct trail *t)
{
	check_clock(o, v, t, false);
}

static void check_until(struct oc *o, const struct value *v, const struct trail *t)
{
	check_clock(o, v, t, true);
}

/* A number as a text, the way JavaScript writes it: 1e21 is none with digits alone. */
static struct str as_text(struct oc *o, const struct value *v)
{
	return v->kind == VALUE_STR ? v->s : oc_number_text(o, v);
}

static void check_age(struct oc *o, const struct value *v, const struct trail *t)
{
	bool dashboard = str_eq(t->key, STR("archiveDashboardAfter"));
	bool off = dashboard || str_ends(t->key, STR("Retention")) || str_eq(t->key, STR("preserveRecent"));
	double ms = 0;
	bool ok = v->kind == VALUE_BOOL ? off && !v->b
					: oc_duration(as_text(o, v), 86400000.0, &ms) && ms >= 0.5;

	if (!ok && !(dashboard && v->kind == VALUE_INT && v->i == 0))
		oc_bad(o, t, v, "wrong_value",
		       STR_FMT
		       " is not a duration above zero, accepted: a number of days, or one with ms, s, m, h or d%s",
		       STR_ARG(value_quote(o->l, v)), off ? ", or false" : "");
}

static void check_bytes(struct oc *o, const struct value *v, const struct trail *t)
{
	if (v->kind == VALUE_BOOL ? v->b : !oc_size(as_text(o, v)))
		oc_bad(o, t, v, "wrong_value",
		       STR_FMT " is not a size, accepted: a number with b, kb, mb, gb or tb",
		       STR_ARG(value_quote(o->l, v)));
}

static void check_true(struct oc *o, const struct value *v, const struct trail *t)
{
	if (!v->b)
		oc_bad(o, t, v, "wrong_value", "false is not accepted, accepted: true");
}

static void check_false(struct oc *o, const struct value *v, const struct trail *t)
{
	if (v->kind == VALUE_BOOL && v->b)
		oc_bad(o, t, v, "wrong_value", "true is not accepted, accepted: false, or a text");
}

static void check_github(struct oc *o, const struct value *v, const struct trail *t)
{
	bool ok = v->s.n == 36 && str_starts(v->s, STR("ghp_"));

	for (size_t i = 4; ok && i < v->s.n; i++)
		ok = (v->s.p[i] >= '0' && v->s.p[i] <= '9') || (v->s.p[i] >= 'a' && v->s.p[i] <= 'f');
	if (!ok)
		oc_bad(o, t, v, "wrong_value", "not a profile, accepted: ghp_ and 32 hexadecimal digits");
}

bool oc_is_channel(struct str s, bool nocase)
{
	for (const struct shape_key *k = oc_channels_keys + 2; k->name;
	     k++) /* behind "defaults" and its kin */
		if (nocase ? str_eq_nocase(s, str_z(k->name)) : str_eq(s, str_z(k->name)))
			return true;
	return false;
}

/* Bindings of channels moved to the top. */
static void check_no_bindings(struct oc *o, const struct value *v, const struct trail *t)
{
	const struct value *acp = value_path(v, "bindings.acp");

	if (acp && (acp->kind == VALUE_OBJ || acp->kind == VALUE_ARR))
		oc_bad(o, t, acp, "binding",
		       "'bindings.acp' is not accepted here: it belongs to the top, in bindings");
	for (size_t i = 0; v->kind == VALUE_OBJ && i < v->obj.n; i++) {
		const struct trail down = { .up = t, .key = v->obj.m[i].key };

		check_no_bindings(o, &v->obj.m[i].v, &down);
	}
	for (size_t i = 0; v->kind == VALUE_ARR && i < v->arr.n; i++) {
		const struct trail down = { .up = t, .index = i };

		check_no_bindings(o, &v->arr.v[i], &down);
	}
}

bool oc_is_plugin_named(const struct oc *o, struct str name)
{
	const struct value *allow = value_get(o->plugins, STR("allow"));

	if (name.n == 0)
		return false;
	for (size_t i = 0; allow && allow->kind == VALUE_ARR && i < allow->arr.n; i++)
		if (allow->arr.v[i].kind == VALUE_STR && str_eq(oc_trim(allow->arr.v[i].s), name))
			return true;
	return value_get(value_get(o->plugins, STR("entries")), name) != NULL;
}

/* Upstream knows the channels that it ships, and those of plugins that the file mentions. */
static void check_channel(struct oc *o, const struct member *m, const struct trail *t)
{
	const struct shape_key *common = oc_channels_keys;
	struct value alone = { .kind = VALUE_OBJ, .line = m->line, .col = m->col, .obj = { NULL, 1 } };
	static const struct shape all = IS_OBJ(oc_channels_keys);
	struct member copy = *m;
	bool is_common = str_eq(m->key, str_z(common[0].name)) || str_eq(m->key, str_z(common[1].name));

	if (!is_common &&
	    (o->plugins_missing || (!oc_is_channel(m->key, false) && oc_is_plugin_named(o, oc_trim(m->key)))))
		return;
	alone.obj.m = &copy;
	oc_check_shape(o, &all, &alone, t);
}

static void check_channels(struct oc *o, const struct value *v, const struct trail *t)
{
	if (!o->compat)
		return;
	check_no_bindings(o, v, t);
	for (size_t i = 0; i < v->obj.n; i++)
		check_channel(o, &v->obj.m[i], t);
}

static void check_archive(struct oc *o, const struct value *v, const struct trail *t)
{
	static const int minutes[] = { 60, 1440, 4320, 10080 };
	struct str text = as_text(o, v);

	for (size_t i = 0; i < sizeof(minutes) / sizeof(minutes[0]); i++)
		if (str_eq(text, arena_printf(o->l->a, "%d", minutes[i])))
			return;
	oc_bad(o, t, v, "wrong_value", "accepted: 60, 1440, 4320 or 10080 minutes");
}

/* clang-format off */
static shape_checker *const checkers[CHECK_COUNT_] = {
	[CHECK_POLICY]    = check_policy,
	[CHECK_EXEC]      = check_exec,
	[CHECK_SANDBOX]   = check_sandbox,
	[CHECK_BIND]      = check_bind,
	[CHECK_PROFILE]   = check_profile,
	[CHECK_AGENT]     = check_agent,
	[CHECK_AGENT_IDS] = check_agent_ids,
	[CHECK_SECRET]    = check_secret,
	[CHECK_SEARCH]    = check_search,
	[CHECK_EVERY]     = check_every,
	[CHECK_FROM]      = check_from,
	[CHECK_UNTIL]     = check_until,
	[CHECK_AGE]       = check_age,
	[CHECK_BYTES]     = check_bytes,
	[CHECK_GITHUB]    = check_github,
	[CHECK_CHANNELS]  = check_channels,
	[CHECK_TRUE]      = check_true,
	[CHECK_FALSE]     = check_false,
	[CHECK_MODELS]    = oc_check_models,
	[CHECK_BROADCAST] = oc_check_broadcast,
	[CHECK_BROWSER]   = oc_check_browser,
	[CHECK_EDGE]      = oc_check_edge,
	[CHECK_ROLES]     = oc_check_roles,
	[CHECK_GATEWAY]   = oc_check_gateway,
	[CHECK_MCP]       = oc_check_mcp,
	[CHECK_PROVIDERS] = oc_check_providers,
	[CHECK_TALK]      = oc_check_talk,
	[CHECK_HOOKS]     = oc_check_hooks,
	[CHECK_ARCHIVE]   = check_archive,
};
/* clang-format on */

void oc_check_more(struct oc *o, enum shape_check check, const struct value *v, const struct trail *t)
{
	if (check < CHECK_COUNT_ && checkers[check])
		checkers[check](o, v, t);
}
