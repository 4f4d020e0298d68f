/* SPDX-License-Identifier: Apache-2.0 */
/* The parts of a config of which there may be many: agents, rules, pairs, tokens, settings of one tool. */
#include "config/config_priv.h"

enum { AGENTS_MAX = 4096 };

static void out_of_memory(struct load *l)
{
	const struct origin o = { 0 };

	diag_add(l->diags, SEVERITY_ERROR, "too_large", &o, (struct str){ 0 },
		 "the configuration needs too much memory");
}

/* A zeroed element at the end, or NULL. */
#define PUSH(l, list, n_list, cap)                                                                    \
	({                                                                                            \
		void *grown_ = arena_grow((l)->a, (l)->c->list, (l)->c->n_list, &(l)->cap,            \
					  sizeof(*(l)->c->list), alignof(__typeof__(*(l)->c->list))); \
		if (grown_) {                                                                         \
			(l)->c->list = grown_;                                                        \
			memset(&(l)->c->list[(l)->c->n_list], 0, sizeof(*(l)->c->list));              \
			(l)->c->n_list++;                                                             \
		} else {                                                                              \
			out_of_memory(l);                                                             \
		}                                                                                     \
		grown_ ? &(l)->c->list[(l)->c->n_list - 1] : NULL;                                    \
	})

struct agent *load_agent(struct load *l, struct str normalised_id, const struct origin *o)
{
	struct settings *over;
	struct agent *added;

	for (size_t i = 0; i < l->c->n_agents; i++)
		if (str_eq(l->c->agents[i].id, normalised_id))
			return &l->c->agents[i];
	if (l->c->n_agents == AGENTS_MAX) {
		if (!l->too_many_agents)
			diag_add(l->diags, SEVERITY_ERROR, "too_many", o, STR("agents"),
				 "accepted: at most %d agents", AGENTS_MAX);
		l->too_many_agents = true;
		return NULL;
	}
	over = ARENA_NEW(l->a, struct settings);
	if (!over) {
		out_of_memory(l);
		return NULL;
	}
	added = PUSH(l, agents, n_agents, cap_agents);
	if (!added)
		return NULL;
	*added = (struct agent){ .id = arena_str(l->a, normalised_id), .over = over, .origin = *o };
	return added;
}

struct trust_rule *load_add_rule(struct load *l)
{
	return PUSH(l, rules, n_rules, cap_rules);
}

struct pair *load_add_pair(struct load *l)
{
	return PUSH(l, pairs, n_pairs, cap_pairs);
}

struct token *load_add_token(struct load *l)
{
	return PUSH(l, tokens, n_tokens, cap_tokens);
}

struct import *load_add_import(struct load *l)
{
	return PUSH(l, imports, n_imports, cap_imports);
}

void load_env_used(struct load *l, struct str name, struct str value)
{
	struct env_used *added;

	for (size_t i = 0; i < l->c->n_env_used; i++)
		if (str_eq(l->c->env_used[i].name, name) && str_eq(l->c->env_used[i].value, value))
			return;
	added = PUSH(l, env_used, n_env_used, cap_env_used);
	if (added)
		*added = (struct env_used){ .name = arena_str(l->a, name), .value = arena_str(l->a, value) };
}

struct tool_setting *load_per_tool(struct load *l, struct str tool, const struct origin *o)
{
	struct tool_setting *added;

	for (size_t i = 0; i < l->c->n_per_tool; i++)
		if (str_eq(l->c->per_tool[i].tool, tool))
			return &l->c->per_tool[i];
	added = PUSH(l, per_tool, n_per_tool, cap_per_tool);
	if (added)
		*added = (struct tool_setting){ .tool = arena_str(l->a, tool), .origin = *o };
	return added;
}
