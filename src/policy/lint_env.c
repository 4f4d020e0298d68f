/* SPDX-License-Identifier: Apache-2.0 */
/* Variables: secrets written into the file, and secrets that never arrive. Values are not looked at. */
#include "policy/lint.h"

#include "policy/envname.h"
#include "policy/posture.h"

static void check_literal(struct lint *l, const struct env_var *v, struct str key)
{
	if (!env_name_looks_secret(v->name) || v->value.n == 0)
		return;
	diag_add(l->d, SEVERITY_WARN, "env_literal_secret", &v->origin, key,
		 "'" STR_FMT
		 "' looks like a secret and its value is written in the file; every sandbox gets it",
		 STR_ARG(v->name));
	diag_fix(l->d, STR_FMT ": \"${" STR_FMT "}\", with the value in the gateway's environment",
		 STR_ARG(v->name), STR_ARG(v->name));
}

static void check_var(struct lint *l, const struct env_var *v, struct str key)
{
	if (!env_name_valid(v->name)) {
		diag_add(l->d, SEVERITY_ERROR, "env_invalid", &v->origin, key,
			 "'" STR_FMT "' is not the name of a variable", STR_ARG(v->name));
		diag_fix(l->d, "letters, digits and '_', not a digit first");
	} else if (env_name_is_loader(v->name)) {
		diag_add(l->d, SEVERITY_WARN, "env_kept_out", &v->origin, key,
			 "'" STR_FMT "' acts on the loader or the shell and is kept out of every sandbox",
			 STR_ARG(v->name));
		diag_fix(l->d, "set it in the command, or in the image");
	} else if (str_starts(v->name, STR("CREEL_"))) {
		diag_add(l->d, SEVERITY_WARN, "env_kept_out", &v->origin, key,
			 "'" STR_FMT "' is set by creel itself", STR_ARG(v->name));
		diag_fix(l->d, "use another name");
	} else if (v->kind == ENV_LITERAL) {
		check_literal(l, v, key);
	}
}

/* Is there a network sandbox that secrets could go to? */
static bool has_network_sandbox(const struct lint *l, const struct settings *s)
{
	struct str primary;

	(void)network_check(s->net_primary, s->net_join, &primary);
	if (!str_eq(primary, STR("none")) || s->route_tools.n || s->route_exec.n)
		return true;
	for (size_t i = 0; i < l->c->n_rules; i++) {
		const struct settings *over = l->c->rules[i].over;

		if (over && ((over->has[OPT_ROUTE_TOOLS] && over->route_tools.n) ||
			     (over->has[OPT_ROUTE_EXEC] && over->route_exec.n)))
			return true;
	}
	return false;
}

/* The first secret that a person named here. */
static const struct origin *first_secret(const struct lint_view *v, struct str *ret_name)
{
	const struct settings *s = v->own;

	for (size_t i = 0; s->has[OPT_ENV_SET] && i < s->env_set.n; i++)
		if (s->env_set.v[i].kind == ENV_SECRET) {
			*ret_name = s->env_set.v[i].name;
			return &s->env_set.v[i].origin;
		}
	if (said(s, OPT_ENV_SECRETS) && s->env_secrets.n) {
		*ret_name = s->env_secrets.v[0];
		return &s->origin[OPT_ENV_SECRETS];
	}
	return NULL;
}

static void check_delivered(struct lint *l, const struct lint_view *v)
{
	struct str name = { 0 };
	const struct origin *o = first_secret(v, &name);
	bool both = v->s->env_secret_scope == SECRET_SCOPE_BOTH;

	if (!o || !lint_is_sandboxed(l, v))
		return;
	if (!(cap_matrix((enum trust)v->s->trust_default) & CAP_BIT(CAP_SECRETS)) && v->s->when == WHEN_OFF) {
		diag_add(l->d, SEVERITY_WARN, "env_never_delivered", o, lint_key(l, v, "env.set"),
			 "'" STR_FMT "' never arrives: trust %s has no secrets", STR_ARG(name),
			 enum_name(trust_names, v->s->trust_default));
		diag_fix(l->d, "mode.trust.default: \"none\", with rules for the sessions that get less");
	} else if (!both && v->s->when != WHEN_OFF && !has_network_sandbox(l, v->s)) {
		diag_add(l->d, SEVERITY_WARN, "env_never_delivered", o, lint_key(l, v, "env.set"),
			 "'" STR_FMT
			 "' never arrives: secrets go to the network sandbox, and no route leads there",
			 STR_ARG(name));
		diag_fix(l->d, "network.route.exec or network.route.tools, or env.secret_scope: \"both\"");
	}
}

void lint_env(struct lint *l, const struct lint_view *v)
{
	for (size_t i = 0; v->own->has[OPT_ENV_SET] && i < v->own->env_set.n; i++)
		check_var(l, &v->own->env_set.v[i], lint_key(l, v, "env.set"));
	for (size_t i = 0; v->own->has[OPT_ROUTE_ENV] && i < v->own->route_env.n; i++)
		check_var(l, &v->own->route_env.v[i], lint_key(l, v, "network.route.env"));
	check_delivered(l, v);
}
