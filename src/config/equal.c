/* SPDX-License-Identifier: Apache-2.0 */
/* Whether two configs mean the same: values and what was said, not where it was said. */
#include "config/config_priv.h"

static bool map_equal(const struct map *a, const struct map *b)
{
	if (a->n != b->n)
		return false;
	for (size_t i = 0; i < a->n; i++)
		if (!str_eq(a->v[i].key, b->v[i].key) || !str_eq(a->v[i].value, b->v[i].value))
			return false;
	return true;
}

static bool env_equal(const struct env_vars *a, const struct env_vars *b)
{
	if (a->n != b->n)
		return false;
	for (size_t i = 0; i < a->n; i++)
		if (!str_eq(a->v[i].name, b->v[i].name) || a->v[i].kind != b->v[i].kind ||
		    !str_eq(a->v[i].value, b->v[i].value))
			return false;
	return true;
}

static bool binds_equal(const struct binds *a, const struct binds *b)
{
	if (a->n != b->n)
		return false;
	for (size_t i = 0; i < a->n; i++)
		if (!str_eq(a->v[i].raw, b->v[i].raw))
			return false;
	return true;
}

static bool listmap_equal(const struct listmap *a, const struct listmap *b)
{
	if (a->n != b->n)
		return false;
	for (size_t i = 0; i < a->n; i++)
		if (!str_eq(a->v[i].key, b->v[i].key) || !strs_eq(a->v[i].values, b->v[i].values))
			return false;
	return true;
}

static bool layers_equal(const struct tool_layers *a, const struct tool_layers *b)
{
	if (a->n != b->n)
		return false;
	for (size_t i = 0; i < a->n; i++) {
		const struct tool_layer *x = &a->v[i], *y = &b->v[i];

		if (!str_eq(x->match, y->match) || x->profile != y->profile || x->has_allow != y->has_allow ||
		    x->has_also_allow != y->has_also_allow || x->has_deny != y->has_deny ||
		    !strs_eq(x->allow, y->allow) || !strs_eq(x->also_allow, y->also_allow) ||
		    !strs_eq(x->deny, y->deny))
			return false;
	}
	return true;
}

static bool ref_equal(const struct secret_ref *a, const struct secret_ref *b)
{
	return a->kind == b->kind && str_eq(a->text, b->text);
}

static bool num_equal(double a, double b)
{
	return !(a < b) && !(a > b);
}

static bool option_equal(const struct settings *a, const struct settings *b, enum option id)
{
	const void *x = option_value(a, id), *y = option_value(b, id);

	switch (option_info(id)->type) {
	case TYPE_BOOL:
		return *(const bool *)x == *(const bool *)y;
	case TYPE_U64:
	case TYPE_SIZE:
		return *(const uint64_t *)x == *(const uint64_t *)y;
	case TYPE_NUM:
		return num_equal(*(const double *)x, *(const double *)y);
	case TYPE_ENUM:
		return *(const int *)x == *(const int *)y;
	case TYPE_STR:
		return str_eq(*(const struct str *)x, *(const struct str *)y);
	case TYPE_LIST:
		return strs_eq(*(const struct strs *)x, *(const struct strs *)y);
	case TYPE_MAP:
		return map_equal(x, y);
	case TYPE_ENV:
		return env_equal(x, y);
	case TYPE_BINDS:
		return binds_equal(x, y);
	case TYPE_LAYERS:
		return layers_equal(x, y);
	case TYPE_LISTMAP:
		return listmap_equal(x, y);
	case TYPE_REF:
		return ref_equal(x, y);
	}
	return false;
}

/* An absent block and one in which nothing is said are the same. */
static bool settings_equal(const struct settings *a, const struct settings *b)
{
	for (unsigned i = 0; i < OPT_COUNT_; i++) {
		bool has_a = a && a->has[i], has_b = b && b->has[i];

		if (i != OPT_VERSION && has_a != has_b)
			return false;
		if (a && b && !option_equal(a, b, (enum option)i))
			return false;
	}
	return true;
}

static bool pairs_equal(const struct pair *a, size_t n_a, const struct pair *b, size_t n_b)
{
	if (n_a != n_b)
		return false;
	for (size_t i = 0; i < n_a; i++)
		if (!str_eq(a[i].channel, b[i].channel) || !str_eq(a[i].agent, b[i].agent) ||
		    !str_eq(a[i].chat_id, b[i].chat_id))
			return false;
	return true;
}

static bool tokens_equal(const struct config *a, const struct config *b)
{
	if (a->n_tokens != b->n_tokens)
		return false;
	for (size_t i = 0; i < a->n_tokens; i++) {
		const struct token *x = &a->tokens[i], *y = &b->tokens[i];

		if (!ref_equal(&x->ref, &y->ref) || x->all_pairs != y->all_pairs ||
		    !pairs_equal(x->pairs, x->n_pairs, y->pairs, y->n_pairs))
			return false;
	}
	return true;
}

static bool rules_equal(const struct config *a, const struct config *b)
{
	if (a->n_rules != b->n_rules)
		return false;
	for (size_t i = 0; i < a->n_rules; i++) {
		const struct trust_rule *x = &a->rules[i], *y = &b->rules[i];

		if (!str_eq(x->match, y->match) || x->trust != y->trust || x->has_allow != y->has_allow ||
		    x->has_deny != y->has_deny || !strs_eq(x->allow, y->allow) ||
		    !strs_eq(x->deny, y->deny) || !settings_equal(x->over, y->over))
			return false;
	}
	return true;
}

static const struct tool_setting *find_tool(const struct config *c, struct str tool)
{
	for (size_t i = 0; i < c->n_per_tool; i++)
		if (str_eq(c->per_tool[i].tool, tool))
			return &c->per_tool[i];
	return NULL;
}

static bool per_tool_equal(const struct config *a, const struct config *b)
{
	if (a->n_per_tool != b->n_per_tool)
		return false;
	for (size_t i = 0; i < a->n_per_tool; i++) {
		const struct tool_setting *x = &a->per_tool[i], *y = find_tool(b, x->tool);

		if (!y || x->has_enforce != y->has_enforce || x->has_ttl != y->has_ttl ||
		    x->enforce != y->enforce || !str_eq(x->template, y->template) || x->ttl_s != y->ttl_s)
			return false;
	}
	return true;
}

static bool agents_equal(const struct config *a, const struct config *b)
{
	if (a->n_agents != b->n_agents || a->has_roster != b->has_roster)
		return false;
	for (size_t i = 0; i < a->n_agents; i++)
		if (!str_eq(a->agents[i].id, b->agents[i].id) ||
		    a->agents[i].is_default != b->agents[i].is_default ||
		    !settings_equal(a->agents[i].over, b->agents[i].over))
			return false;
	return true;
}

bool config_equal(const struct config *a, const struct config *b)
{
	return settings_equal(&a->base, &b->base) && agents_equal(a, b) && rules_equal(a, b) &&
	       tokens_equal(a, b) && pairs_equal(a->pairs, a->n_pairs, b->pairs, b->n_pairs) &&
	       per_tool_equal(a, b);
}
