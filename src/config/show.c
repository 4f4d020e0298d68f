/* SPDX-License-Identifier: Apache-2.0 */
/* The canonical text of a config. */
#include "config/node_priv.h"

#define SHOW_MEMORY_MAX ((size_t)256 << 20)

struct show {
	const struct config *c;
	const struct show_opts *o;
	struct arena *a;
};

bool show_is_said(const struct config *c, enum option id)
{
	bool by_profile = c->base.origin[id].kind == ORIGIN_PROFILE && c->base.profile != PROFILE_NONE;

	return c->base.has[id] && (!by_profile || id == OPT_PROFILE);
}

static bool shown(const struct show *x, enum option id)
{
	if (id == OPT_VERSION)
		return true;
	/* An option without a default that nobody set has no value that could be written. */
	if (x->o->all)
		return x->c->base.has[id] || option_info(id)->def[0];
	return show_is_said(x->c, id);
}

static void put_base(const struct show *x, struct node *root)
{
	for (unsigned i = 0; i < OPT_COUNT_; i++) {
		enum option id = (enum option)i;

		if (shown(x, id))
			node_option(x->a, node_at(x->a, root, option_info(id)->key, NODE_TEXT), &x->c->base,
				    id, x->o->reveal);
	}
}

static void put_pair(const struct show *x, struct node *list, const struct pair *p)
{
	struct node *n = node_add(x->a, list, (struct str){ 0 }, NODE_OBJ);

	n->origin = &p->origin;
	node_str(x->a, node_add(x->a, n, STR("channel"), NODE_TEXT), p->channel);
	node_str(x->a, node_add(x->a, n, STR("agent"), NODE_TEXT), p->agent);
	node_str(x->a, node_add(x->a, n, STR("chat_id"), NODE_TEXT), p->chat_id);
}

static void put_pairs(const struct show *x, struct node *list, const struct pair *v, size_t n)
{
	for (size_t i = 0; i < n; i++)
		put_pair(x, list, &v[i]);
}

static void put_token(const struct show *x, struct node *list, const struct token *t)
{
	struct node *n = node_add(x->a, list, (struct str){ 0 }, NODE_OBJ);

	n->origin = &t->origin;
	node_ref(x->a, node_add(x->a, n, STR("ref"), NODE_TEXT), &t->ref, x->o->reveal);
	if (t->all_pairs)
		node_z(x->a, node_add(x->a, n, STR("pairs"), NODE_TEXT), "*");
	else
		put_pairs(x, node_add(x->a, n, STR("pairs"), NODE_ARR), t->pairs, t->n_pairs);
}

static void put_identity(const struct show *x, struct node *root)
{
	if (x->c->n_tokens) {
		struct node *list = node_at(x->a, root, "identity.tokens", NODE_ARR);

		for (size_t i = 0; i < x->c->n_tokens; i++)
			put_token(x, list, &x->c->tokens[i]);
	}
	if (x->c->n_pairs)
		put_pairs(x, node_at(x->a, root, "identity.pairs", NODE_ARR), x->c->pairs, x->c->n_pairs);
}

static void put_agent_over(const struct show *x, struct node *to, const struct settings *s)
{
	for (unsigned i = 0; s && i < OPT_COUNT_; i++)
		if (s->has[i])
			node_option(x->a, node_at(x->a, to, option_info((enum option)i)->key, NODE_TEXT), s,
				    (enum option)i, x->o->reveal);
}

/* "network.route.tools" is "route.tools" in a rule. */
static void put_rule_over(const struct show *x, struct node *to, const struct settings *s)
{
	for (unsigned i = 0; s && i < OPT_COUNT_; i++) {
		const char *key = option_info((enum option)i)->key;
		size_t skip = str_starts(str_z(key), STR("network.")) ? strlen("network.") : 0;

		if (s->has[i])
			node_option(x->a, node_at(x->a, to, key + skip, NODE_TEXT), s, (enum option)i,
				    x->o->reveal);
	}
}

static void put_rules(const struct show *x, struct node *root)
{
	struct node *list;

	if (!x->c->n_rules)
		return;
	list = node_at(x->a, root, "mode.trust.rules", NODE_ARR);
	for (size_t i = 0; i < x->c->n_rules; i++) {
		const struct trust_rule *r = &x->c->rules[i];
		struct node *n = node_add(x->a, list, (struct str){ 0 }, NODE_OBJ);

		n->origin = &r->origin;
		node_str(x->a, node_add(x->a, n, STR("match"), NODE_TEXT), r->match);
		node_z(x->a, node_add(x->a, n, STR("trust"), NODE_TEXT),
		       enum_name(trust_names, (int)r->trust));
		if (r->has_allow)
			node_strs(x->a, node_add(x->a, n, STR("allow"), NODE_ARR), r->allow);
		if (r->has_deny)
			node_strs(x->a, node_add(x->a, n, STR("deny"), NODE_ARR), r->deny);
		put_rule_over(x, n, r->over);
	}
}

static void put_per_tool(const struct show *x, struct node *root)
{
	struct node *per = NULL;

	for (size_t i = 0; i < x->c->n_per_tool; i++) {
		const struct tool_setting *t = &x->c->per_tool[i];
		struct node *n;

		if (t->origin.kind == ORIGIN_PROFILE && x->c->base.profile != PROFILE_NONE && !x->o->all)
			continue;
		if (!per)
			per = node_at(x->a, root, "tools.per", NODE_OBJ);
		n = node_add(x->a, per, t->tool, NODE_OBJ);
		n->origin = &t->origin;
		if (t->has_enforce)
			node_z(x->a, node_add(x->a, n, STR("enforce"), NODE_TEXT),
			       enum_name(enforce_names, (int)t->enforce));
		if (t->template.n)
			node_str(x->a, node_add(x->a, n, STR("template"), NODE_TEXT), t->template);
		if (t->has_ttl)
			node_u64(x->a, node_add(x->a, n, STR("ttl"), NODE_TEXT), t->ttl_s);
	}
}

static void put_agents(const struct show *x, struct node *root)
{
	struct node *agents;

	if (!x->c->has_roster && !x->c->n_agents)
		return;
	agents = node_at(x->a, root, "agents", NODE_OBJ);
	for (size_t i = 0; i < x->c->n_agents; i++) {
		const struct agent *g = &x->c->agents[i];
		struct node *n = node_add(x->a, agents, g->id, NODE_OBJ);

		n->origin = &g->origin;
		if (g->is_default)
			node_bool(node_add(x->a, n, STR("default"), NODE_TEXT), true);
		put_agent_over(x, n, g->over);
	}
}

void config_show(const struct config *c, const struct show_opts *o, struct buf *out)
{
	_cleanup_arena_ struct arena a = { 0 };
	const struct show x = { .c = c, .o = o, .a = &a };
	struct node *root;

	arena_init(&a, SHOW_MEMORY_MAX);
	root = node_new(&a, NODE_OBJ);
	put_base(&x, root);
	put_identity(&x, root);
	put_rules(&x, root);
	put_per_tool(&x, root);
	put_agents(&x, root);
	if (a.failed)
		out->failed = true;
	else if (o->json)
		print_json(out, root, o->origin);
	else
		print_json5(out, root, o->origin);
}
