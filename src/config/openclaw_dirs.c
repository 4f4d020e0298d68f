/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Where the OpenClaw that reads a file keeps its own things, which only counts under compat: its variables move them,
 * whether they come from the environment or from env.vars of the same file.
 */
#include "config/openclaw_priv.h"

static bool variable(const struct oc *o, const char *name, struct str *ret)
{
	*ret = (struct str){ 0 };
	if (!oc_getenv(o, str_z(name), ret))
		return false;
	*ret = oc_trim(*ret);
	return ret->n > 0;
}

/* What a script writes that has no home directory. */
static bool is_no_home(struct str s)
{
	return str_eq(s, STR("undefined")) || str_eq(s, STR("null"));
}

struct str oc_home(struct oc *o)
{
	struct str home = o->l->in->home, named;

	if (!o->compat || !variable(o, "OPENCLAW_HOME", &named) || is_no_home(named))
		return home;
	return oc_path_resolve(o, oc_path_tilde(o->l->a, named, home));
}

static struct str state_dir(struct oc *o)
{
	struct str named;

	if (variable(o, "OPENCLAW_STATE_DIR", &named))
		return oc_path_expand(o, named);
	return oc_path_join(o->l->a, oc_home(o), STR(".openclaw"));
}

static struct str config_file(struct oc *o)
{
	struct str named;

	if (variable(o, "OPENCLAW_CONFIG_PATH", &named))
		return oc_path_expand(o, named);
	return oc_path_join(o->l->a, state_dir(o), STR("openclaw.json"));
}

bool oc_is_moved(struct oc *o, struct str *ret)
{
	struct oc before = *o;

	if (!o->compat || o->n_vars == 0)
		return false;
	before.n_vars = 0;
	*ret = config_file(o);
	return !str_eq(*ret, config_file(&before)) && !str_eq(*ret, oc_path_resolve(o, o->files[0]));
}

static bool is_profile(struct str s)
{
	for (size_t i = 0; i < s.n; i++) {
		char c = s.p[i];
		bool alnum = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');

		if (!alnum && (i == 0 || (c != '_' && c != '-')))
			return false;
	}
	return s.n <= 64;
}

/* An installation of its own beside the default one. */
static struct str of_profile(struct oc *o, struct str profile)
{
	const struct trail top = { 0 }, t = { .up = &top, .key = STR("env") };
	static const struct value nowhere = { 0 };

	if (!is_profile(profile))
		oc_bad(o, &t, &nowhere, "profile",
		       "OPENCLAW_PROFILE is not accepted, accepted: letters, digits, '_' and '-', at most 64");
	return oc_path_join(o->l->a, oc_home(o),
			    arena_printf(o->l->a, ".openclaw-" STR_FMT "/workspace", STR_ALL(profile)));
}

static struct str workspace_dir(struct oc *o)
{
	struct str named;

	if (variable(o, "OPENCLAW_WORKSPACE_DIR", &named))
		return oc_path_resolve(o, named);
	if (!variable(o, "OPENCLAW_STATE_DIR", &named) && variable(o, "OPENCLAW_PROFILE", &named) &&
	    !str_eq_nocase(named, STR("default")))
		return of_profile(o, named);
	if (variable(o, "OPENCLAW_STATE_DIR", &named))
		return oc_path_join(o->l->a, state_dir(o), STR("workspace"));
	return oc_path_join(o->l->a, oc_home(o), STR(".openclaw/workspace"));
}

/* One file for the sessions of all agents has an owner: who is named, or who was the default of several. */
static struct str store_owner(struct oc *o, const struct value *root)
{
	const struct value *store = value_path(root, "session.store"),
			   *entries = value_path(root, "agents.entries"),
			   *named = value_path(root, "agents.defaults.sessionStore.agentId");

	if (!store || oc_trim(store->s).n == 0 || memmem(store->s.p, store->s.n, "{agentId}", 9))
		return (struct str){ 0 };
	if (named)
		return oc_agent_id(o->l->a, named->s);
	return entries && entries->obj.n > 1 ? oc_marked_agent(o, root) : (struct str){ 0 };
}

/* Whether upstream looks for the default workspace: not when its owner has another one. */
static bool needs_workspace(struct oc *o, const struct value *root)
{
	const struct value *entries = value_path(root, "agents.entries"),
			   *common = value_path(root, "agents.defaults.workspace");
	struct str owner = oc_default_agent(o, root);

	if (common && oc_trim(common->s).n > 0)
		return false;
	for (size_t i = 0; entries && i < entries->obj.n; i++) {
		const struct value *own = value_get(&entries->obj.m[i].v, STR("workspace"));

		if (own && oc_trim(own->s).n > 0 &&
		    str_eq(oc_agent_id(o->l->a, entries->obj.m[i].key), owner))
			return false;
	}
	return true;
}

void oc_dirs(struct oc *o, const struct value *root)
{
	struct config *c = o->l->c;

	if (!o->compat)
		return;
	c->openclaw.state = state_dir(o);
	if (needs_workspace(o, root))
		c->openclaw.workspace = workspace_dir(o);
	c->store_owner = store_owner(o, root);
}
