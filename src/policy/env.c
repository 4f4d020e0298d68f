/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The environment of the tool: empty at first, then our own few, then what the configuration names (C17). A secret is
 * known here by its name only. It goes to the network sandbox alone unless env.secret_scope says both (C18), and to
 * nobody without capability secrets; what is not given is listed with the reason, so that nobody has to guess.
 */
#include "policy/policy_priv.h"

#include "policy/envname.h"
#include "policy/posture.h"

static const enum stage here = STAGE_ENV;

enum { ENV_MAX = 512 };
#define SANDBOX_PATH "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"

static bool put(struct ctx *x, size_t *cap, const struct env_item *item)
{
	struct decision *d = x->d;
	struct env_item *grown;

	for (size_t i = 0; i < d->n_env; i++)
		if (str_eq(d->env[i].name, item->name)) {
			d->env[i] = *item;
			return true;
		}
	if (d->n_env == ENV_MAX)
		return deny(x, here, CODE_ENV_INVALID, &item->origin, "more than %d variables", ENV_MAX);
	if (d->n_env == *cap) {
		grown = arena_grow(x->a, d->env, d->n_env, cap, sizeof(*grown), alignof(struct env_item));
		if (!grown)
			return false;
		d->env = grown;
	}
	d->env[d->n_env++] = *item;
	return true;
}

static bool put_own(struct ctx *x, size_t *cap, struct str name, struct str value)
{
	return put(x, cap, &(struct env_item){ .name = name, .state = ENV_SET, .value = value });
}

static bool names_variable(const struct env_vars *vars, struct str name)
{
	for (size_t i = 0; i < vars->n; i++)
		if (str_eq(vars->v[i].name, name))
			return true;
	return false;
}

/* Upstream's quirk: an environment that is given at all, without LANG, has no LANG. */
static bool drops_lang(const struct settings *s)
{
	return s->compat == COMPAT_OPENCLAW_2026_9 && said(s, OPT_ENV_SET) &&
	       !names_variable(&s->env_set, STR("LANG"));
}

/*
 * What programs leave in their home (.npm, .cache, .bash_history) is nobody's work: it goes to the private /tmp and ends with the sandbox. In the
 * workspace where there is none, and where upstream has it (compat).
 */
static struct str home_of(const struct decision *d)
{
	for (size_t i = 0; d->eff.compat != COMPAT_OPENCLAW_2026_9 && i < d->n_mounts; i++)
		if (d->mounts[i].source == MOUNT_SCRATCH && str_eq(d->mounts[i].target, STR("/tmp")))
			return d->mounts[i].target;
	return d->workdir;
}

static bool put_base(struct ctx *x, size_t *cap)
{
	const struct settings *s = &x->d->eff;
	struct str workspace = x->d->workdir;

	for (size_t i = 0; i < x->d->n_mounts; i++)
		if (x->d->mounts[i].source == MOUNT_WORKSPACE || x->d->mounts[i].source == MOUNT_AGENT)
			workspace = x->d->mounts[i].target; /* the agent's comes second */
	return (drops_lang(s) || put_own(x, cap, STR("LANG"), STR("C.UTF-8"))) &&
	       put_own(x, cap, STR("HOME"), home_of(x->d)) &&
	       put_own(x, cap, STR("PATH"), STR(SANDBOX_PATH)) &&
	       put_own(x, cap, STR("CREEL_WORKSPACE"), workspace);
}

/* Nobody will ever answer: programs that ask again for a minute and more (npm: 71 s) fail at once. */
static bool put_offline(struct ctx *x, size_t *cap)
{
	if (x->d->net.route != ROUTE_NONE || x->d->eff.compat == COMPAT_OPENCLAW_2026_9)
		return true;
	return put_own(x, cap, STR("npm_config_fetch_retries"), STR("0")) &&
	       put_own(x, cap, STR("PIP_RETRIES"), STR("0"));
}

/* Last, whatever was configured: there is one way out, and programs find it by these. Everything goes there, also "localhost". */
static bool put_proxy(struct ctx *x, size_t *cap)
{
	static const struct str names[] = { { "http_proxy", 10 }, { "https_proxy", 11 }, { "all_proxy", 9 },
					    { "HTTP_PROXY", 10 }, { "HTTPS_PROXY", 11 }, { "ALL_PROXY", 9 } };

	if (x->d->net.route != ROUTE_INTERNAL)
		return true;
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		if (!put_own(x, cap, names[i], STR(PROXY_URL)))
			return false;
	return put_own(x, cap, STR("no_proxy"), STR("")) && put_own(x, cap, STR("NO_PROXY"), STR(""));
}

static bool in_network_sandbox(const struct decision *d)
{
	return d->net.route == ROUTE_NETWORK || d->net.route == ROUTE_HOSTS || d->net.route == ROUTE_PRIMARY;
}

/* NULL: the secret may be given. */
static const char *secret_withheld(const struct ctx *x)
{
	if (!(x->d->mode.caps & CAP_BIT(CAP_SECRETS)))
		return "capability secrets is absent";
	if (x->d->eff.env_secret_scope != SECRET_SCOPE_BOTH && !in_network_sandbox(x->d))
		return "only the network sandbox is given secrets";
	return NULL;
}

static bool is_in_environment(const struct facts *f, struct str name)
{
	for (size_t i = 0; i < f->env_names.n; i++)
		if (str_eq(f->env_names.v[i], name))
			return true;
	return false;
}

/* The first variable of the template that is not set; empty when all are. */
static struct str missing_variable(const struct facts *f, struct str template)
{
	struct str name;
	size_t at = 0;

	while (env_template_next(template, &at, &name))
		if (!is_in_environment(f, name))
			return name;
	return (struct str){ 0 };
}

static void tell(struct ctx *x, const struct env_item *item)
{
	why(x, here, "env", item->name, &item->origin, "%s%s%s", enum_name(env_state_names, (int)item->state),
	    item->why ? ": " : "", item->why ? item->why : "");
}

static bool put_secret(struct ctx *x, size_t *cap, struct str name, struct str template,
		       const struct origin *o)
{
	struct env_item item = { .name = name, .secret = true, .origin = *o, .why = secret_withheld(x) };
	struct str missing = missing_variable(&x->r->facts, template);

	if (!item.why) {
		item.state = missing.n ? ENV_UNSET : ENV_SET;
		item.why = missing.n ? "not set in the gateway's environment" : NULL;
		item.template = missing.n ? (struct str){ 0 } : template;
	}
	if (item.state == ENV_UNSET)
		warn(x, "env_unset", o, name, "left out: variable '" STR_FMT "' is not set",
		     STR_ARG(missing));
	tell(x, &item);
	return put(x, cap, &item);
}

static bool is_single_line(struct str value)
{
	for (size_t i = 0; i < value.n; i++)
		if (value.p[i] == '\0' || value.p[i] == '\n' || value.p[i] == '\r')
			return false;
	return true;
}

static bool put_literal(struct ctx *x, size_t *cap, const struct env_var *v)
{
	struct env_item item = { .name = v->name, .state = ENV_SET, .value = v->value, .origin = v->origin };

	if (!is_single_line(v->value))
		return deny(x, here, CODE_ENV_INVALID, &v->origin,
			    "variable '" STR_FMT "' is not one line of text", STR_ARG(v->name));
	tell(x, &item);
	return put(x, cap, &item);
}

/* Kept out whoever set it: it would act on our own programs inside the sandbox before the tool starts. */
static bool put_kept_out(struct ctx *x, size_t *cap, const struct env_var *v, const char *reason)
{
	struct env_item item = { .name = v->name, .why = reason, .origin = v->origin };

	warn(x, "env_kept_out", &v->origin, v->name, "kept out: %s", reason);
	tell(x, &item);
	return put(x, cap, &item);
}

static bool put_vars(struct ctx *x, size_t *cap, const struct env_vars *vars)
{
	for (size_t i = 0; i < vars->n; i++) {
		const struct env_var *v = &vars->v[i];
		bool ok;

		if (!env_name_valid(v->name))
			return deny(x, here, CODE_ENV_INVALID, &v->origin,
				    "'" STR_FMT "' is not the name of a variable", STR_ARG(v->name));
		if (env_name_is_loader(v->name))
			ok = put_kept_out(x, cap, v, "a variable of the loader or the shell");
		else if (str_starts(v->name, STR("CREEL_")))
			continue; /* ours; the linter tells */
		else if (v->kind == ENV_LITERAL)
			ok = put_literal(x, cap, v);
		else
			ok = put_secret(x, cap, v->name, v->value, &v->origin);
		if (!ok)
			return false;
	}
	return true;
}

static bool put_named_secrets(struct ctx *x, size_t *cap)
{
	const struct settings *s = &x->d->eff;

	for (size_t i = 0; i < s->env_secrets.n; i++) {
		struct str name = s->env_secrets.v[i];

		if (!env_name_valid(name) || env_name_is_loader(name))
			return deny(x, here, CODE_ENV_INVALID, &s->origin[OPT_ENV_SECRETS],
				    "env.secrets: '" STR_FMT "' is not the name of a secret", STR_ARG(name));
		if (!put_secret(x, cap, name, arena_printf(x->a, "${%.*s}", (int)name.n, name.p),
				&s->origin[OPT_ENV_SECRETS]))
			return false;
	}
	return true;
}

/* S4: a secret written into the file is refused where strangers can reach the gateway. */
static bool check_raw_secrets(struct ctx *x)
{
	const struct settings *s = &x->d->eff;
	enum option door;
	bool raw = s->osb_api_key.kind == REF_RAW && s->osb_provider == PROVIDER_OPENSANDBOX;
	const struct origin *o = &s->origin[OPT_OSB_API_KEY];

	for (size_t i = 0; !raw && i < x->c->n_tokens; i++) {
		raw = x->c->tokens[i].ref.kind == REF_RAW;
		o = &x->c->tokens[i].origin;
	}
	if (!raw || s->serve_raw || !public_address(s, &door).n)
		return true;
	fix_it(x, STR("env:NAME instead of raw:VALUE"));
	return deny(x, here, CODE_RAW_SECRET_PUBLIC, o,
		    "a raw: secret is refused while the gateway can be reached from outside: use env:NAME");
}

bool stage_env(struct ctx *x)
{
	const struct settings *s = &x->d->eff;
	size_t cap = 0;

	if (x->d->tool.gateway_side)
		return true;
	if (!is_upstream_view(x) && !check_raw_secrets(x))
		return false;
	if (x->d->place.place == PLACE_HOST) {
		why(x, here, "env", STR("inherited"), NULL, "runs on the host with the caller's environment");
		return true;
	}
	if (!put_base(x, &cap) || !put_offline(x, &cap) || !put_vars(x, &cap, &s->env_set) ||
	    !put_named_secrets(x, &cap))
		return false;
	if (in_network_sandbox(x->d) && !put_vars(x, &cap, &s->route_env))
		return false;
	return put_proxy(x, &cap);
}
