/* SPDX-License-Identifier: Apache-2.0 */
/* mode.trust.rules[] and tools.per of the canonical file. */
#include "config/load_priv.h"
#include "config/set_priv.h"

static const char *const rule_keys[] = { "match", "trust", "allow", "deny", "route", "limits", NULL };

static bool read_match(struct load *l, const struct value *v, const struct at *at, struct trust_rule *rule)
{
	if (!set_text(l, at, v, &rule->match))
		return false;
	if (rule->match.n == 0)
		bad(l, at, v, "bad_value", "empty, accepted: a pattern for session keys, e.g. 'untrusted:*'");
	return rule->match.n > 0;
}

static bool read_enum(struct load *l, const struct value *v, const struct at *at,
		      const struct enum_name *names, int *ret)
{
	const char *near = v->kind == VALUE_STR ? enum_closest(names, v->s) : NULL;
	struct str got = value_quote(l, v);
	char accepted[200];

	if (v->kind == VALUE_STR && enum_value(names, v->s, false, ret))
		return true;
	enum_list(names, accepted, sizeof(accepted));
	bad(l, at, v, "unknown_value", "unknown value " STR_FMT ", accepted: %s%s%s%s", STR_ARG(got),
	    accepted, near ? "; did you mean '" : "", near ? near : "", near ? "'?" : "");
	return false;
}

/* "route" and "limits" of a rule are the F_RULE options of network.route and limits. */
static bool read_over(struct load *l, const struct member *m, const struct at *at, struct trust_rule *rule)
{
	if (m->v.kind != VALUE_OBJ)
		return set_wrong_type(l, at, &m->v, "an object");
	if (!rule->over)
		rule->over = ARENA_NEW(l->a, struct settings);
	if (rule->over)
		read_options(l, rule->over, F_RULE, &m->v, at,
			     str_eq(m->key, STR("route")) ? STR("network.route") : STR("limits"));
	return rule->over != NULL;
}

static bool read_rule_member(struct load *l, const struct member *m, const struct at *at,
			     struct trust_rule *rule, bool *has_trust)
{
	struct at down = at_key(l, at, m->key);
	int trust;

	if (str_eq(m->key, STR("match")))
		return read_match(l, &m->v, &down, rule);
	if (str_eq(m->key, STR("trust"))) {
		*has_trust = true;
		if (!read_enum(l, &m->v, &down, trust_names, &trust))
			return false;
		rule->trust = (enum trust)trust;
		return true;
	}
	if (str_eq(m->key, STR("allow")))
		return rule->has_allow = set_texts(l, &down, &m->v, false, &rule->allow);
	if (str_eq(m->key, STR("deny")))
		return rule->has_deny = set_texts(l, &down, &m->v, false, &rule->deny);
	if (str_eq(m->key, STR("route")) || str_eq(m->key, STR("limits")))
		return read_over(l, m, &down, rule);
	bad_key(l, at, m, rule_keys);
	return false;
}

static void read_rule(struct load *l, const struct value *v, const struct at *at)
{
	struct trust_rule rule = { .origin = origin_of(at, v) }, *added;
	bool has_trust = false;

	if (v->kind != VALUE_OBJ) {
		(void)set_wrong_type(l, at, v, "an object with match and trust");
		return;
	}
	for (size_t i = 0; i < v->obj.n; i++)
		(void)read_rule_member(l, &v->obj.m[i], at, &rule, &has_trust);
	if (!value_get(v, STR("match")))
		bad(l, at, v, "missing_key",
		    "match is missing, accepted: a pattern for session keys, e.g. 'untrusted:*'");
	if (!has_trust)
		bad(l, at, v, "missing_key", "trust is missing, accepted: none, light, docker or readonly");
	added = load_add_rule(l);
	if (added)
		*added = rule;
}

void read_rules(struct load *l, const struct value *v, const struct at *at)
{
	if (v->kind != VALUE_ARR) {
		(void)set_wrong_type(l, at, v, "an array of rules");
		return;
	}
	if (v->arr.n > LIST_MAX) {
		(void)set_too_many(l, at, v, v->arr.n);
		return;
	}
	for (size_t i = 0; i < v->arr.n; i++) {
		struct at down = at_index(l, at, i);

		read_rule(l, &v->arr.v[i], &down);
	}
}

static bool read_ttl(struct load *l, const struct value *v, const struct at *at, bool from_text,
		     uint64_t *ret)
{
	const struct option_info *info = option_info(OPT_OSB_TTL_S);
	struct str got = value_quote(l, v);
	uint64_t n = 0;
	bool ok;

	if (from_text && v->kind == VALUE_STR)
		ok = str_to_u64(v->s, INT64_MAX, &n) == 0;
	else
		ok = v->kind == VALUE_INT && v->i >= 0 && (n = (uint64_t)v->i, true);
	if (ok && (double)n >= info->min && (double)n <= info->max) {
		*ret = n;
		return true;
	}
	bad(l, at, v, "out_of_range", STR_FMT " is no lifetime in seconds, accepted: %.0f to %.0f",
	    STR_ARG(got), info->min, info->max);
	return false;
}

bool read_per_tool_field(struct load *l, struct str tool, const struct member *m, const struct at *at,
			 bool from_text)
{
	static const char *const known[] = { "enforce", "template", "ttl", NULL };
	struct origin o = origin_of(at, &m->v);
	struct at down = at_key(l, at, m->key);
	struct tool_setting *s = load_per_tool(l, load_tool_name(l, tool), &o);
	int enforce;

	if (!s)
		return false;
	s->origin = o;
	if (str_eq(m->key, STR("enforce"))) {
		s->has_enforce = read_enum(l, &m->v, &down, enforce_names, &enforce);
		if (s->has_enforce)
			s->enforce = (enum enforce)enforce;
		return s->has_enforce;
	}
	if (str_eq(m->key, STR("template")))
		return set_text(l, &down, &m->v, &s->template);
	if (str_eq(m->key, STR("ttl")))
		return s->has_ttl = read_ttl(l, &m->v, &down, from_text, &s->ttl_s);
	bad_key(l, at, m, known);
	return false;
}

void read_per_tool(struct load *l, const struct value *v, const struct at *at)
{
	if (v->kind != VALUE_OBJ) {
		(void)set_wrong_type(l, at, v, "an object: tool name to its settings");
		return;
	}
	for (size_t i = 0; i < v->obj.n; i++) {
		const struct member *m = &v->obj.m[i];
		struct at down = at_key(l, at, m->key);

		if (str_trim(m->key).n == 0 || memchr(m->key.p, '\0', m->key.n)) {
			bad(l, &down, &m->v, "bad_name", "a tool's name is empty or holds a NUL character");
			continue;
		}
		if (m->v.kind != VALUE_OBJ) {
			(void)set_wrong_type(l, &down, &m->v, "an object with enforce, template or ttl");
			continue;
		}
		for (size_t k = 0; k < m->v.obj.n; k++)
			(void)read_per_tool_field(l, m->key, &m->v.obj.m[k], &down, false);
	}
}
