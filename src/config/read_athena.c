/* SPDX-License-Identifier: Apache-2.0 */
/*
 * .athena/settings.yaml: sandbox.default_mode and sandbox.rules, the first rule that matches a session key
 * decides. A mode that is not one of the four is an error, never "none"; so is a rule that does not say whom
 * it is for.
 */
#include "config/config_priv.h"

/* What allow and deny may hold besides names of tools and groups. */
static const struct enum_name tokens[] = {
	{ "secrets", 0 }, { "external_api", 0 }, { "git_push", 0 }, { "git", 0 },
	{ "bash", 0 },    { "read", 0 },         { "edit", 0 },     { "write", 0 },
	{ "search", 0 },  { "browser", 0 },      { "network", 0 },  { NULL, 0 },
};

static bool read_mode(struct load *l, const struct value *v, const struct at *at, int *ret)
{
	struct str got = value_quote(l, v);
	char accepted[128];
	const char *near;

	if (v->kind == VALUE_STR && enum_value(trust_names, v->s, false, ret))
		return true;
	enum_list(trust_names, accepted, sizeof(accepted));
	near = v->kind == VALUE_STR ? enum_closest(trust_names, v->s) : NULL;
	bad(l, at, v, "unknown_value", "unknown mode " STR_FMT ", accepted: %s%s%s%s", STR_ARG(got), accepted,
	    near ? "; did you mean '" : "", near ? near : "", near ? "'?" : "");
	return false;
}

static void check_token(struct load *l, const struct value *v, const struct at *at)
{
	const char *near = enum_closest(tokens, v->s);
	struct origin o = origin_of(at, v);
	int any;

	if (near && !enum_value(tokens, v->s, false, &any))
		diag_add(l->diags, SEVERITY_WARN, "unknown_token", &o, at->key,
			 "'" STR_FMT "' is taken as the name of a tool, did you mean '%s'?", STR_ARG(v->s),
			 near);
}

static bool read_tokens_of(struct load *l, const struct value *v, const struct at *at, struct strs *ret)
{
	struct str *list;
	bool ok = true;

	if (v->kind != VALUE_ARR) {
		bad(l, at, v, "wrong_type", "expected a list, found " STR_FMT ", accepted: e.g. [bash, read]",
		    STR_ARG(value_quote(l, v)));
		return false;
	}
	list = ARENA_ARRAY(l->a, struct str, v->arr.n);
	for (size_t i = 0; list && i < v->arr.n; i++) {
		struct at down = at_index(l, at, i);
		const struct value *item = &v->arr.v[i];

		if (item->kind != VALUE_STR || str_trim(item->s).n == 0 || memchr(item->s.p, 0, item->s.n)) {
			bad(l, &down, item, "wrong_type",
			    "expected the name of a tool or a capability, found " STR_FMT,
			    STR_ARG(value_quote(l, item)));
			ok = false;
			continue;
		}
		check_token(l, item, &down);
		list[i] = str_trim(item->s);
	}
	*ret = (struct strs){ .v = list, .n = list ? v->arr.n : 0 };
	return ok && list;
}

static bool read_match(struct load *l, const struct value *v, const struct at *at, struct str *ret)
{
	if (v->kind == VALUE_STR && v->s.n > 0 && !memchr(v->s.p, 0, v->s.n)) {
		*ret = v->s;
		return true;
	}
	bad(l, at, v, "wrong_type",
	    "expected a pattern for session keys in quotes, e.g. \"client:*\", found " STR_FMT,
	    STR_ARG(value_quote(l, v)));
	return false;
}

static void read_member(struct load *l, const struct member *m, const struct at *at, struct trust_rule *rule)
{
	static const char *const known[] = { "match", "mode", "allow", "deny", NULL };
	struct at down = at_key(l, at, m->key);
	int mode = TRUST_READONLY;

	if (str_eq(m->key, STR("match"))) {
		(void)read_match(l, &m->v, &down, &rule->match);
	} else if (str_eq(m->key, STR("mode"))) {
		(void)read_mode(l, &m->v, &down, &mode);
		rule->trust = (enum trust)mode;
	} else if (str_eq(m->key, STR("allow"))) {
		rule->has_allow = read_tokens_of(l, &m->v, &down, &rule->allow);
	} else if (str_eq(m->key, STR("deny"))) {
		rule->has_deny = read_tokens_of(l, &m->v, &down, &rule->deny);
	} else {
		bad_key(l, at, m, known);
	}
}

static void read_rule(struct load *l, const struct value *v, const struct at *at)
{
	struct trust_rule rule = { .origin = origin_of(at, v) }, *added;

	if (v->kind != VALUE_OBJ) {
		bad(l, at, v, "wrong_type", "expected a rule with match and mode, found " STR_FMT,
		    STR_ARG(value_quote(l, v)));
		return;
	}
	for (size_t i = 0; i < v->obj.n; i++)
		read_member(l, &v->obj.m[i], at, &rule);
	if (!value_get(v, STR("match")))
		bad(l, at, v, "missing_key",
		    "match is missing, accepted: a pattern for session keys, e.g. \"client:*\"");
	if (!value_get(v, STR("mode")))
		bad(l, at, v, "missing_key", "mode is missing, accepted: none, light, docker or readonly");
	added = load_add_rule(l);
	if (added)
		*added = rule;
}

static void read_rules_of(struct load *l, const struct value *v, const struct at *at)
{
	if (v->kind == VALUE_NULL)
		return;
	if (v->kind != VALUE_ARR) {
		bad(l, at, v, "wrong_type", "expected a list of rules, found " STR_FMT,
		    STR_ARG(value_quote(l, v)));
		return;
	}
	for (size_t i = 0; i < v->arr.n; i++) {
		struct at down = at_index(l, at, i);

		read_rule(l, &v->arr.v[i], &down);
	}
}

static void read_sandbox(struct load *l, const struct value *v, const struct at *at)
{
	static const char *const known[] = { "default_mode", "rules", NULL };

	for (size_t i = 0; i < v->obj.n; i++) {
		const struct member *m = &v->obj.m[i];
		struct at down = at_key(l, at, m->key);
		struct origin o = origin_of(&down, &m->v);
		int mode;

		if (str_eq(m->key, STR("rules")))
			read_rules_of(l, &m->v, &down);
		else if (!str_eq(m->key, STR("default_mode")))
			bad_key(l, at, m, known);
		else if (m->v.kind != VALUE_NULL && read_mode(l, &m->v, &down, &mode))
			(void)load_set_enum(l, &l->c->base, OPT_TRUST_DEFAULT, mode, &o);
	}
}

/*
 * The file is Athena's own: what else is in there is not ours. But a misspelled "sandbox" would mean full
 * trust.
 */
static void other_section(struct load *l, const struct member *m, const struct at *at)
{
	static const char *const known[] = { "sandbox", NULL };
	struct at down = at_key(l, at, m->key);
	struct origin o = origin_of(&down, &m->v);

	if (str_distance(m->key, STR("sandbox"), 3) <= 3)
		bad_key(l, at, m, known);
	else
		diag_add(l->diags, SEVERITY_WARN, "ignored_key", &o, down.key,
			 "not a section that creel reads: ignored");
}

void read_athena(struct load *l, const struct value *root, struct str file)
{
	const struct at at = { .file = file };

	if (root->kind != VALUE_OBJ) {
		bad(l, &at, root, "wrong_type", "expected 'sandbox:' and its settings, found " STR_FMT,
		    STR_ARG(value_quote(l, root)));
		return;
	}
	for (size_t i = 0; i < root->obj.n; i++) {
		const struct member *m = &root->obj.m[i];
		struct at down = at_key(l, &at, m->key);

		if (!str_eq(m->key, STR("sandbox")))
			other_section(l, m, &at);
		else if (m->v.kind == VALUE_OBJ)
			read_sandbox(l, &m->v, &down);
		else if (m->v.kind != VALUE_NULL)
			bad(l, &down, &m->v, "wrong_type", "expected default_mode and rules, found " STR_FMT,
			    STR_ARG(value_quote(l, &m->v)));
	}
}
