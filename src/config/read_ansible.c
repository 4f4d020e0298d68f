/* SPDX-License-Identifier: Apache-2.0 */
/* Ansible variables of the sandbox role: a YAML file of them, or single ones out of -e. */
#include "config/ansible_priv.h"
#include "config/load_priv.h"
#include "config/set_priv.h"

#include "base/parse.h"

enum var_kind {
	VAR_PLAIN = 0,
	VAR_WHEN,
	VAR_BASE,
	VAR_EXTRA,
	VAR_ENABLED,
	VAR_DOCKER,
	VAR_NETWORK,
	VAR_VAULT
};

static const struct enum_name scope_words[] = {
	{ "session", SCOPE_SESSION }, { "agent", SCOPE_AGENT }, { "shared", SCOPE_SHARED }, { NULL, 0 }
};
static const struct enum_name access_words[] = {
	{ "none", ACCESS_NONE }, { "ro", ACCESS_RO }, { "rw", ACCESS_RW }, { NULL, 0 }
};
/* host is a legal word here; what it would do is refused by the decision (C6). */
static const struct enum_name network_words[] = {
	{ "bridge", 0 }, { "host", 1 }, { "none", 2 }, { NULL, 0 }
};
static const struct enum_name twin_words[] = { { "bridge", 0 }, { "host", 1 }, { NULL, 0 } };

struct var {
	const char *name;
	enum var_kind kind;
	enum option id;
	const struct enum_name *words; /* NULL: as the option has it */
};

static const struct var vars[] = {
	{ "sandbox_enabled", VAR_ENABLED, OPT_WHEN, NULL },
	{ "docker_enabled", VAR_DOCKER, OPT_WHEN, NULL },
	{ "sandbox_mode", VAR_WHEN, OPT_WHEN, NULL },
	{ "sandbox_scope", VAR_PLAIN, OPT_SCOPE, scope_words },
	{ "sandbox_workspace_access", VAR_PLAIN, OPT_WS_ACCESS, access_words },
	{ "sandbox_image", VAR_PLAIN, OPT_IMAGE, NULL },
	{ "sandbox_build_browser", VAR_PLAIN, OPT_BUILD_BROWSER, NULL },
	{ "sandbox_docker_network", VAR_NETWORK, OPT_NET_PRIMARY, network_words },
	{ "sandbox_network_allow", VAR_BASE, OPT_ROUTE_TOOLS, NULL },
	{ "sandbox_network_allow_extra", VAR_EXTRA, OPT_ROUTE_TOOLS, NULL },
	{ "sandbox_network_exec_allow", VAR_BASE, OPT_ROUTE_EXEC, NULL },
	{ "sandbox_network_exec_allow_extra", VAR_EXTRA, OPT_ROUTE_EXEC, NULL },
	{ "sandbox_network_docker_network", VAR_PLAIN, OPT_ROUTE_NETWORK, twin_words },
	{ "sandbox_setup_script", VAR_PLAIN, OPT_SETUP_SCRIPT, NULL },
	{ "sandbox_vault_path", VAR_VAULT, OPT_VAULT_PATH, NULL },
	{ "sandbox_vault_access", VAR_VAULT, OPT_VAULT_ACCESS, NULL },
};
#define N_VARS (sizeof(vars) / sizeof(vars[0]))

/* Variables of later versions of the role that have no counterpart here. */
static const char *const not_supported[] = { "sandbox_vault_mount", "sandbox_source_path",
					     "sandbox_source_mount", "sandbox_source_access", NULL };

/* One variable on its way in. */
struct arrival {
	struct load *l;
	const struct var *var;
	struct at at;
	struct value v;
	bool from_text;
};

bool ansible_is_var(struct str name)
{
	return str_starts(name, STR("sandbox_")) || str_eq(name, STR("docker_enabled"));
}

const char *const *ansible_names(void)
{
	static const char *names[N_VARS + 1];

	for (size_t i = 0; i < N_VARS; i++)
		names[i] = vars[i].name;
	return names;
}

void ansible_forget(struct load *l)
{
	l->ansible = NULL;
}

static struct ansible_value now(const struct settings *s, enum option id)
{
	struct ansible_value v = { .has = s->has[id], .origin = s->origin[id] };

	if (option_info(id)->type == TYPE_LIST)
		v.list = *(const struct strs *)option_value(s, id);
	else
		v.word = *(const int *)option_value(s, id);
	return v;
}

static struct ansible *state(struct load *l)
{
	if (l->ansible)
		return l->ansible;
	l->ansible = ARENA_NEW(l->a, struct ansible);
	if (l->ansible) {
		l->ansible->when = now(&l->c->base, OPT_WHEN);
		l->ansible->tools = now(&l->c->base, OPT_ROUTE_TOOLS);
		l->ansible->exec = now(&l->c->base, OPT_ROUTE_EXEC);
	}
	return l->ansible;
}

static void settle_list(struct load *l, enum option id, const struct ansible_value *base, struct strs extra,
			const struct origin *extra_origin)
{
	struct settings *s = &l->c->base;
	const struct ansible *a = l->ansible;
	const struct strs none = { 0 };

	s->has[id] = base->has || extra.n || a->single;
	s->origin[id] = a->single ? a->single_origin : extra.n ? *extra_origin : base->origin;
	*(struct strs *)option_field(s, id) = a->single ? none : load_unite(l, base->list, extra);
}

/* What is in force, out of what the variables say. */
static void settle(struct load *l)
{
	struct settings *s = &l->c->base;
	const struct ansible *a = l->ansible;
	bool off = a->sandbox_off || (a->docker_off && !a->ignores_docker);

	s->when = off ? WHEN_OFF : a->when.word;
	s->has[OPT_WHEN] = off || a->when.has;
	s->origin[OPT_WHEN] = off ? a->off_origin : a->when.origin;
	settle_list(l, OPT_ROUTE_TOOLS, &a->tools, a->tools_extra, &a->tools_extra_origin);
	settle_list(l, OPT_ROUTE_EXEC, &a->exec, a->exec_extra, &a->exec_extra_origin);
}

/* "{{ docker_enabled }}", with the filters that are written behind it: `bool`, `default(true)`. */
static bool is_reference(struct str text, struct str *ret_name)
{
	struct str filters;

	text = str_trim(text);
	if (!str_starts(text, STR("{{")) || !str_ends(text, STR("}}")) || text.n < 4)
		return false;
	text = str_trim((struct str){ .p = text.p + 2, .n = text.n - 4 });
	if (str_cut(text, '|', ret_name, &filters))
		*ret_name = str_trim(*ret_name);
	else
		*ret_name = text;
	return env_name_valid(*ret_name);
}

static bool take_bool(struct arrival *x, bool *ret)
{
	if (x->v.kind == VALUE_BOOL) {
		*ret = x->v.b;
		return true;
	}
	if (x->v.kind == VALUE_STR && parse_bool(str_trim(x->v.s), ret) == 0)
		return true;
	return set_wrong_type(x->l, &x->at, &x->v, "true or false");
}

static void take_enabled(struct arrival *x, struct ansible *a)
{
	struct origin o = origin_of(&x->at, &x->v);
	struct str name = { 0 };
	bool on = false;

	if (x->v.kind == VALUE_STR && is_reference(x->v.s, &name) && str_eq(name, STR("docker_enabled"))) {
		a->sandbox_off = a->ignores_docker = false;
		return;
	}
	if (!take_bool(x, &on))
		return;
	a->sandbox_off = !on;
	a->ignores_docker = true;
	a->off_origin = o;
}

static void take_docker(struct arrival *x, struct ansible *a)
{
	bool on = false;

	if (!take_bool(x, &on))
		return;
	a->docker_off = !on;
	if (!on)
		a->off_origin = origin_of(&x->at, &x->v);
}

static bool take_list(struct arrival *x, struct strs *ret)
{
	struct settings *scratch = ARENA_NEW(x->l->a, struct settings);

	if (!scratch || !load_set(x->l, scratch, x->var->id, &x->v, &x->at, x->from_text))
		return false;
	*ret = *(const struct strs *)option_value(scratch, x->var->id);
	return true;
}

static void take_base(struct arrival *x, struct ansible *a)
{
	struct ansible_value *to = x->var->id == OPT_ROUTE_TOOLS ? &a->tools : &a->exec;

	if (!take_list(x, &to->list))
		return;
	to->has = true;
	to->origin = origin_of(&x->at, &x->v);
}

static void take_extra(struct arrival *x, struct ansible *a)
{
	bool tools = x->var->id == OPT_ROUTE_TOOLS;
	struct strs *to = tools ? &a->tools_extra : &a->exec_extra, more;

	if (!take_list(x, &more))
		return;
	*to = load_unite(x->l, *to, more);
	*(tools ? &a->tools_extra_origin : &a->exec_extra_origin) = origin_of(&x->at, &x->v);
}

static void take_when(struct arrival *x, struct ansible *a)
{
	struct settings *scratch = ARENA_NEW(x->l->a, struct settings);

	if (!scratch || !load_set(x->l, scratch, OPT_WHEN, &x->v, &x->at, x->from_text))
		return;
	a->when = (struct ansible_value){ .has = true,
					  .word = scratch->when,
					  .origin = scratch->origin[OPT_WHEN] };
}

static bool word_known(struct arrival *x)
{
	const struct enum_name *words = x->var->words;
	const char *near;
	char accepted[100];
	struct str got;
	int id;

	if (!words || (x->v.kind == VALUE_STR && enum_value(words, x->v.s, false, &id)))
		return true;
	enum_list(words, accepted, sizeof(accepted));
	got = value_quote(x->l, &x->v);
	near = x->v.kind == VALUE_STR ? enum_closest(words, x->v.s) : NULL;
	bad(x->l, &x->at, &x->v, "unknown_value", "unknown value " STR_FMT ", accepted: %s%s%s%s",
	    STR_ARG(got), accepted, near ? "; did you mean '" : "", near ? near : "", near ? "'?" : "");
	return false;
}

/* Numbers are text to Ansible where text is wanted, and "yes" is true. */
static bool take_plain(struct arrival *x)
{
	bool b = false;

	if (!word_known(x))
		return false;
	if (option_info(x->var->id)->type == TYPE_BOOL) {
		if (!take_bool(x, &b))
			return false;
		x->v.kind = VALUE_BOOL;
		x->v.b = b;
	}
	return load_set(x->l, &x->l->c->base, x->var->id, &x->v, &x->at, x->from_text);
}

static void take(struct arrival *x, struct ansible *a)
{
	struct settings *s = &x->l->c->base;

	switch (x->var->kind) {
	case VAR_PLAIN:
		(void)take_plain(x);
		return;
	case VAR_VAULT: /* the bind is made when the directory exists (S3-75), so naming it is asking for it */
		if (take_plain(x))
			(void)load_set_bool(x->l, s, OPT_VAULT_ENABLED, true, &s->origin[x->var->id]);
		return;
	case VAR_NETWORK:
		if (!take_plain(x))
			return;
		a->single = str_eq(s->net_primary, STR("bridge"));
		a->single_origin = s->origin[OPT_NET_PRIMARY];
		return;
	case VAR_WHEN:
		take_when(x, a);
		return;
	case VAR_BASE:
		take_base(x, a);
		return;
	case VAR_EXTRA:
		take_extra(x, a);
		return;
	case VAR_ENABLED:
		take_enabled(x, a);
		return;
	case VAR_DOCKER:
		take_docker(x, a);
		return;
	}
}

static const struct var *find_var(struct str name)
{
	for (size_t i = 0; i < N_VARS; i++)
		if (str_eq(name, str_z(vars[i].name)))
			return &vars[i];
	return NULL;
}

static void unknown_var(struct load *l, struct str name, const struct value *v, const struct at *at)
{
	const struct member m = { .key = name, .line = v->line, .col = v->col };
	const struct at top = { .file = at->file, .from = at->from };
	struct origin o = origin_of(at, v);

	for (size_t i = 0; not_supported[i]; i++) {
		if (!str_eq(name, str_z(not_supported[i])))
			continue;
		diag_add(l->diags, SEVERITY_WARN, "not_supported", &o, name,
			 "has no effect: the vault is bound at its own path");
		diag_fix(l->diags, "use mounts.binds for other directories");
		return;
	}
	bad_key(l, &top, &m, ansible_names());
}

/* `root` is the file that the variable stands in, for {{ references }} to its neighbours. */
static void read_var(struct load *l, struct str name, const struct value *v, const struct at *at,
		     const struct value *root, bool from_text)
{
	struct arrival x = { .l = l, .var = find_var(name), .at = *at, .v = *v, .from_text = from_text };
	const struct value *other;
	struct str ref;

	l->c->formats |= 1u << FORMAT_ANSIBLE;
	if (!x.var) {
		unknown_var(l, name, v, at);
		return;
	}
	if (v->kind == VALUE_STR && is_reference(v->s, &ref) &&
	    !(x.var->kind == VAR_ENABLED && str_eq(ref, STR("docker_enabled")))) {
		other = root ? value_get(root, ref) : NULL;
		if (!other || (other->kind == VALUE_STR && is_reference(other->s, &ref))) {
			bad(l, at, v, "unknown_variable",
			    "{{ " STR_FMT " }} is no plain variable of this file", STR_ARG(ref));
			return;
		}
		x.v = *other;
	}
	if (!state(l))
		return;
	take(&x, l->ansible);
	settle(l);
}

void read_ansible_var(struct load *l, struct str name, const struct value *v, const struct origin *o,
		      bool from_text)
{
	const struct at at = { .file = o->name, .key = name, .from = o };

	read_var(l, name, v, &at, NULL, from_text);
}

void read_ansible(struct load *l, const struct value *root, struct str file)
{
	const struct at top = { .file = file };
	const struct origin o = origin_of(&top, root);
	bool any = root->kind == VALUE_OBJ && root->obj.n == 0;

	if (root->kind != VALUE_OBJ) {
		bad(l, &top, root, "wrong_type", "expected variables, found %s", value_kind_name(root->kind));
		return;
	}
	for (size_t i = 0; i < root->obj.n; i++) {
		const struct member *m = &root->obj.m[i];
		struct at down = at_key(l, &top, m->key);

		/* A role's file holds variables of other roles too. */
		if (!ansible_is_var(m->key))
			continue;
		read_var(l, m->key, &m->v, &down, root, m->v.kind == VALUE_STR);
		any = true;
	}
	if (!any)
		diag_add(l->diags, SEVERITY_WARN, "nothing_read", &o, STR("sandbox_*"),
			 "there is no such variable, so nothing was read: is this a file of that role?");
}
