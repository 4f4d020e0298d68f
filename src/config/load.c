/* SPDX-License-Identifier: Apache-2.0 */
/* built-in < profile < imports in order < the file that imports them < flags */
#include "config/ansible_priv.h"
#include "config/load_priv.h"

/* A word that is needed before the files are applied, because it chooses what they are applied to. */
struct choice {
	bool said;
	int value;
	struct origin origin;
};

void load_defaults(struct load *l)
{
	const struct origin builtin = { .kind = ORIGIN_BUILTIN };
	struct settings *s = &l->c->base;

	for (unsigned i = 0; i < OPT_COUNT_; i++) {
		const struct option_info *info = option_info((enum option)i);
		const struct value v = { .kind = VALUE_STR, .s = str_z(info->def) };
		const struct at at = { .key = str_z(info->key), .from = &builtin };

		if (info->def[0])
			(void)load_set(l, s, (enum option)i, &v, &at, true);
		s->has[i] = false;
		s->origin[i] = builtin;
	}
}

static void choose(struct choice *c, const struct enum_name *names, struct str word, const struct origin *o)
{
	int value;

	/* A wrong word is told when the value is applied. */
	if (!enum_value(names, word, false, &value))
		return;
	*c = (struct choice){ .said = true, .value = value, .origin = *o };
}

static struct choice find_choice(struct load *l, const struct sources *all, const char *key,
				 const struct enum_name *names, struct str flag)
{
	const struct origin by_set = { .kind = ORIGIN_FLAG, .name = STR("-e") };
	struct choice c = { 0 };
	struct str word;

	for (size_t i = 0; i < all->n; i++) {
		const struct value *v =
			all->v[i].format == FORMAT_CREEL ? value_get(all->v[i].root, str_z(key)) : NULL;
		const struct at at = { .file = all->v[i].path };
		struct origin o = origin_of(&at, v);

		if (v && v->kind == VALUE_STR)
			choose(&c, names, v->s, &o);
	}
	if (sets_peek(l, key, &word))
		choose(&c, names, word, &by_set);
	if (flag.n)
		choose(&c, names, flag, &by_set);
	return c;
}

static void apply_flag(struct load *l, enum option id, const char *flag, struct str word)
{
	const struct origin o = { .kind = ORIGIN_FLAG, .name = str_z(flag) };
	const struct value v = { .kind = VALUE_STR, .s = word };
	const struct at at = { .key = str_z(option_info(id)->key), .from = &o };

	if (word.n)
		(void)load_set(l, &l->c->base, id, &v, &at, true);
}

/* The formats whose habits apply: of the files, or of -e alone. */
static unsigned implied_formats(struct load *l, const struct sources *all)
{
	unsigned formats = 0;

	for (size_t i = 0; i < all->n; i++)
		formats |= 1u << all->v[i].format;
	if (formats == 0 && sets_name_ansible(l))
		formats = 1u << FORMAT_ANSIBLE;
	return formats & ~(1u << FORMAT_CREEL);
}

/* Most general first: of two that speak about the same key, the more particular one is kept. */
static void apply_implied(struct load *l, const struct sources *all)
{
	static const enum format order[] = { FORMAT_OPENCLAW, FORMAT_OPENCLAW_NET, FORMAT_ATHENA,
					     FORMAT_ALLOWLIST, FORMAT_ANSIBLE };
	unsigned formats = implied_formats(l, all);
	bool alone = (formats & (formats - 1)) == 0;

	for (size_t i = 0; i < sizeof(order) / sizeof(order[0]); i++) {
		enum profile_id id = profile_of_format(order[i]);
		const struct origin o = { .kind = ORIGIN_PROFILE,
					  .name = str_z(enum_name(profile_names, (int)id)) };

		if (!(formats & (1u << order[i])))
			continue;
		profile_apply(l, id, !alone);
		if (alone)
			(void)load_set_enum(l, &l->c->base, OPT_PROFILE, (int)id, &o);
	}
}

static void apply_profile(struct load *l, const struct sources *all)
{
	struct choice compat = find_choice(l, all, "compat", compat_names, l->in->compat);
	struct choice profile = find_choice(l, all, "profile", profile_names, l->in->profile);

	if (compat.said)
		l->c->base.compat = compat.value;
	if (compat.value == COMPAT_OPENCLAW_2026_9)
		l->c->base.scope = SCOPE_AGENT;
	if (profile.said)
		profile_apply(l, (enum profile_id)profile.value, false);
	else
		apply_implied(l, all);
}

/* A checkout may bring a file of its own: it is asked what to tighten, not what to allow. */
static void hold_back(struct load *l, const struct source *s)
{
	for (size_t i = 0; s->discovered && i < l->c->n_rules; i++)
		if (str_eq(l->c->rules[i].origin.name, s->path))
			l->c->rules[i].tighten_only = true;
}

static void read_source(struct load *l, const struct source *s)
{
	switch (s->format) {
	case FORMAT_CREEL:
		read_creel(l, s->root, s->path);
		return;
	case FORMAT_ATHENA:
		read_athena(l, s->root, s->path);
		hold_back(l, s);
		return;
	case FORMAT_OPENCLAW:
		read_openclaw(l, s->root, s->path);
		return;
	case FORMAT_ALLOWLIST:
		read_allowlist(l, s->root, s->path);
		return;
	case FORMAT_OPENCLAW_NET:
		read_openclaw_net(l, s->root, s->path);
		return;
	case FORMAT_ANSIBLE:
		read_ansible(l, s->root, s->path);
		return;
	case FORMAT_COUNT_:
		return;
	}
}

/* The first rule that matches decides, so what wins must come first: moves rules[mark..] to the front. */
static void rules_to_front(struct load *l, size_t mark)
{
	size_t n_new = l->c->n_rules - mark;
	struct trust_rule *v = ARENA_ARRAY(l->a, struct trust_rule, l->c->n_rules);

	if (mark == 0 || n_new == 0 || !v)
		return;
	memcpy(v, l->c->rules + mark, n_new * sizeof(*v));
	memcpy(v + n_new, l->c->rules, mark * sizeof(*v));
	l->c->rules = v;
	l->cap_rules = l->c->n_rules;
}

/* A later source's default agent is the default; one that names none leaves it. */
static void keep_default_agent(struct load *l, struct str before)
{
	for (size_t i = 0; i < l->c->n_agents; i++)
		if (l->c->agents[i].is_default)
			return;
	for (size_t i = 0; before.n && i < l->c->n_agents; i++)
		l->c->agents[i].is_default = str_eq(l->c->agents[i].id, before);
}

static struct str take_default_agent(struct load *l)
{
	struct str id = { 0 };

	for (size_t i = 0; i < l->c->n_agents; i++) {
		if (l->c->agents[i].is_default)
			id = l->c->agents[i].id;
		l->c->agents[i].is_default = false;
	}
	return id;
}

static void apply_source(struct load *l, const struct source *s)
{
	size_t mark = l->c->n_rules;
	struct str default_agent = take_default_agent(l);
	struct import *import = load_add_import(l);

	if (import)
		*import = (struct import){ .format = s->format, .path = s->path, .origin = s->origin };
	l->c->formats |= 1u << s->format;
	read_source(l, s);
	rules_to_front(l, mark);
	keep_default_agent(l, default_agent);
	if (s->format != FORMAT_ANSIBLE)
		ansible_forget(l);
}

static void apply_sources(struct load *l, const struct sources *all)
{
	size_t last_net = SIZE_MAX;

	for (size_t i = 0; i < all->n; i++)
		if (all->v[i].format == FORMAT_OPENCLAW_NET)
			last_net = i;
	for (size_t i = 0; i < all->n; i++) {
		apply_source(l, &all->v[i]);
		if (i == last_net) /* variables come over the files of their own system, and of no other */
			read_openclaw_net_env(l);
	}
}

static int finish(struct load *l, struct config *ret, struct err *e)
{
	_cleanup_buf_ struct buf b = { 0 };
	struct str text;

	buf_init(&b, 4096);
	if (l->diags->n_errors == 0 && l->a->failed)
		return err_set(e, ERR_LIMIT, "the configuration needs too much memory");
	if (l->diags->n_errors == 0) {
		*ret = *l->c;
		return 0;
	}
	for (size_t i = 0; i < l->diags->n && b.n == 0; i++)
		if (l->diags->v[i].severity == SEVERITY_ERROR)
			diag_put(&b, &l->diags->v[i]);
	if (b.n == 0) /* not even the findings could be kept */
		return err_set(e, ERR_LIMIT, "the configuration needs too much memory");
	text = buf_str(&b);
	if (!str_cut(text, '\n', &text, &(struct str){ 0 }))
		text = str_trim(text);
	return err_set(e, ERR_USAGE, "%.*s", (int)text.n, text.p);
}

int config_load(const struct config_input *in, struct arena *a, struct diags *diags, struct config *ret,
		struct err *e)
{
	struct config *c = ARENA_NEW(a, struct config);
	struct load l = { .in = in, .a = a, .diags = diags, .c = c };
	struct sources all = { 0 };

	if (!c)
		return err_set(e, ERR_LIMIT, "the configuration needs too much memory");
	load_gather(&l, &all);
	load_defaults(&l);
	apply_profile(&l, &all);
	apply_sources(&l, &all);
	for (size_t i = 0; i < in->sets.n; i++)
		load_set_arg(&l, in->sets.v[i]);
	for (size_t i = 0; i < in->n_flags; i++)
		load_set_flag(&l, &in->flags[i]);
	apply_flag(&l, OPT_PROFILE, "--profile", in->profile);
	apply_flag(&l, OPT_COMPAT, "--compat", in->compat);
	return finish(&l, ret, e);
}

int config_add_flags(const struct config *from, const struct config_flag *flags, size_t n, struct arena *a,
		     struct diags *diags, struct config *ret, struct err *e)
{
	const struct config_input none = { 0 };
	struct config *c = ARENA_NEW(a, struct config);
	struct load l = { .in = &none, .a = a, .diags = diags, .c = c };
	enum option id;

	if (!c)
		return err_set(e, ERR_LIMIT, "the configuration needs too much memory");
	*c = *from;
	for (size_t i = 0; i < n; i++) {
		if (!option_find(str_z(flags[i].key), &id))
			return err_set(e, ERR_BUG, "%s: '%s' is no option", flags[i].flag, flags[i].key);
		load_set_flag(&l, &flags[i]);
	}
	return finish(&l, ret, e);
}
