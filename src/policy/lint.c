/* SPDX-License-Identifier: Apache-2.0 */
#include "policy/lint.h"

struct str lint_key(struct lint *l, const struct lint_view *v, const char *key)
{
	if (!v->agent)
		return str_z(key);
	return arena_printf(l->a, "agents." STR_FMT ".%s", STR_ARG(v->agent->id), key);
}

bool lint_is_sandboxed(const struct lint *l, const struct lint_view *v)
{
	if (v->s->when != WHEN_OFF || v->s->trust_default != TRUST_NONE || v->s->profile == PROFILE_TIER1)
		return true;
	for (size_t i = 0; i < l->c->n_rules; i++)
		if (l->c->rules[i].trust != TRUST_NONE)
			return true;
	return false;
}

static void lint_view(struct lint *l, const struct lint_view *v)
{
	lint_tools(l, v);
	lint_backend(l, v);
	lint_binds(l, v);
	lint_walls(l, v);
	lint_env(l, v);
}

static void lint_agent(struct lint *l, const struct agent *a)
{
	struct settings *s = ARENA_NEW(l->a, struct settings);
	struct lint_view v = { .s = s, .own = a->over, .agent = a };

	if (!s || !a->over)
		return;
	*s = l->c->base;
	settings_override(l->a, s, a->over,
			  (a->over->has[OPT_SCOPE] ? a->over->scope : l->c->base.scope) == SCOPE_SHARED);
	lint_view(l, &v);
}

void lint(const struct config *c, const struct facts *f, struct diags *d)
{
	struct lint l = { .c = c, .f = f, .d = d, .a = d->arena, .compat = (enum compat)c->base.compat };
	const struct lint_view base = { .s = &c->base, .own = &c->base };

	lint_identity(&l);
	lint_rules(&l);
	lint_per_tool(&l);
	lint_doors(&l);
	lint_view(&l, &base);
	for (size_t i = 0; i < c->n_agents; i++)
		lint_agent(&l, &c->agents[i]);
}
