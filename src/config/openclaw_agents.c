/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The roster: agents.list of older releases, agents.entries of newer ones, and who of them is meant by
 * default.
 */
#include "config/openclaw_priv.h"

#define AGENT_ID_MAX 64
#define AGENTS_MAX 1000

static bool is_plain(char c)
{
	return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '_' || c == '-';
}

static char lower(char c)
{
	return c >= 'A' && c <= 'Z' ? (char)(c - 'A' + 'a') : c;
}

/*
 * Lower case, every run of other characters one '-', none of these at the ends, at most 64; nothing left is
 * "main".
 */
struct str oc_agent_id(struct arena *a, struct str id)
{
	bool as_it_is = true;
	char *p;
	size_t n = 0;
	struct str s;

	id = oc_trim(id);
	p = arena_alloc(a, id.n + 1, 1);
	if (!p)
		return STR("main");
	for (size_t i = 0; i < id.n; i++) {
		char c = lower(id.p[i]);

		if (is_plain(c))
			p[n++] = c;
		else if (i == 0 || is_plain(lower(id.p[i - 1])))
			p[n++] = '-';
		as_it_is = as_it_is && is_plain(c);
	}
	s = (struct str){ p, n };
	if (as_it_is && n > 0 && n <= AGENT_ID_MAX && p[0] != '-' && p[0] != '_')
		return s; /* it was well formed: a '-' at its end stays */
	while (s.n > 0 && s.p[0] == '-')
		s = str_from(s, 1);
	while (s.n > 0 && s.p[s.n - 1] == '-')
		s.n--;
	s.n = s.n < AGENT_ID_MAX ? s.n : AGENT_ID_MAX;
	return s.n > 0 ? s : STR("main");
}

static struct value *find(struct value *obj, struct str key)
{
	for (size_t i = 0; obj && obj->kind == VALUE_OBJ && i < obj->obj.n; i++)
		if (str_eq(obj->obj.m[i].key, key))
			return &obj->obj.m[i].v;
	return NULL;
}

/* Upstream converts only a list in which nothing has to be guessed. */
static bool is_clean(struct oc *o, const struct value *list)
{
	for (size_t i = 0; i < list->arr.n; i++) {
		const struct value *item = &list->arr.v[i], *id = value_get(item, STR("id"));
		const struct value *mark = value_get(item, STR("default"));

		if (!id || id->kind != VALUE_STR || id->s.n == 0 ||
		    !str_eq(oc_agent_id(o->l->a, id->s), id->s))
			return false;
		if (mark && mark->kind != VALUE_BOOL)
			return false;
		for (size_t k = 0; k < i; k++)
			if (str_eq(value_get(&list->arr.v[k], STR("id"))->s, id->s))
				return false;
	}
	return true;
}

static bool convert(struct oc *o, const struct value *list, struct value *ret)
{
	const struct trail top = { 0 }, agents = { .up = &top, .key = STR("agents") },
			   place = { .up = &agents, .key = STR("list") };
	size_t errors = o->l->diags->n_errors;

	*ret = (struct value){ .kind = VALUE_OBJ, .line = list->line, .col = list->col };
	ret->obj.m = ARENA_ARRAY(o->l->a, struct member, list->arr.n);
	for (size_t i = 0; ret->obj.m && i < list->arr.n; i++) {
		const struct trail t = { .up = &place, .index = i };
		const struct value *item = &list->arr.v[i], *id = value_get(item, STR("id"));
		struct member *m = &ret->obj.m[ret->obj.n++];

		if (o->compat && str_eq(id->s, STR("__proto__"))) { /* what JavaScript does with such a key */
			ret->obj.n--;
			continue;
		}
		m->line = item->line;
		m->col = item->col;
		if (!id || id->kind != VALUE_STR || oc_trim(id->s).n == 0) {
			oc_bad(o, &t, item, "agent_id",
			       "an agent needs an 'id', accepted: an object with a name in 'id'");
			ret->obj.n--;
			continue;
		}
		if (id->from_env && !o->compat) { /* an id is printed everywhere */
			oc_bad(o, &t, id, "agent_id",
			       "an id cannot come from a variable, accepted: a name as it is");
			ret->obj.n--;
			continue;
		}
		m->key = oc_agent_id(o->l->a, id->s);
		if (!str_eq(m->key, id->s))
			oc_warn(o, &t, id, "agent_id", "the id is taken as '" STR_FMT "'", STR_ARG(m->key));
		m->v = *item; /* with its id, which the tables let pass here */
		oc_moved(o, item, &m->v);
	}
	if (list->arr.n > 0 && ret->obj.n == 0 && o->l->diags->n_errors == errors)
		oc_bad(o, &place, list, "agents_list", "no agent is left, accepted: one or more");
	return o->l->diags->n_errors == errors;
}

void oc_roster(struct oc *o, struct value *root)
{
	struct value *agents = find(root, STR("agents")), *list = find(agents, STR("list")), made;
	const struct trail top = { 0 }, up = { .up = &top, .key = STR("agents") },
			   t = { .up = &up, .key = STR("list") };

	if (!list)
		return;
	if (find(agents, STR("entries")) || list->kind != VALUE_ARR || list->arr.n > AGENTS_MAX ||
	    (o->compat && !is_clean(o, list))) {
		oc_bad(o, &t, list, "agents_list",
		       "not accepted, accepted: agents.entries%s, with at most %d agents",
		       o->compat ? "" : " or a list of agents, one of both", AGENTS_MAX);
		return;
	}
	oc_warn(o, &t, list, "old_key", "an older form of 'agents.entries': understood");
	if (!convert(o, list, &made))
		return;
	*list = made;
	for (size_t i = 0; i < agents->obj.n; i++)
		if (&agents->obj.m[i].v == list)
			agents->obj.m[i].key = STR("entries");
	agents->index = NULL;
	o->from_list = list;
}

static bool is_marked(const struct value *agent)
{
	const struct value *mark = value_get(agent, STR("default"));

	return mark && mark->kind == VALUE_BOOL && mark->b;
}

struct str oc_marked_agent(struct oc *o, const struct value *root)
{
	const struct value *entries = value_path(root, "agents.entries");

	for (size_t i = 0; entries && i < entries->obj.n; i++)
		if (is_marked(&entries->obj.m[i].v))
			return oc_agent_id(o->l->a, entries->obj.m[i].key);
	return (struct str){ 0 };
}

struct str oc_default_agent(struct oc *o, const struct value *root)
{
	const struct value *entries = value_path(root, "agents.entries");
	struct str marked = oc_marked_agent(o, root);

	if (!entries || entries->obj.n == 0)
		return STR("main");
	if (marked.n > 0)
		return marked;
	if (entries->obj.n == 1 || (o->from_list && !o->compat))
		return oc_agent_id(o->l->a, entries->obj.m[0].key);
	return (struct str){ 0 };
}

static void check_duplicates(struct oc *o, const struct value *entries, const struct trail *t)
{
	for (size_t i = 0; i < entries->obj.n; i++) {
		const struct trail down = { .up = t, .key = entries->obj.m[i].key };
		struct str id = oc_agent_id(o->l->a, entries->obj.m[i].key);

		for (size_t k = 0; k < i; k++)
			if (str_eq(oc_agent_id(o->l->a, entries->obj.m[k].key), id))
				oc_bad(o, &down, &entries->obj.m[i].v, "duplicate_agent",
				       "another agent has the same id, accepted: one of each");
	}
}

/* More than one agent, and nothing that says whose a call without a name is. */
static void check_owner(struct oc *o, const struct value *entries, bool is_explicit, const struct trail *t)
{
	size_t marked = 0;

	for (size_t i = 0; i < entries->obj.n; i++)
		marked += is_marked(&entries->obj.m[i].v);
	if (is_explicit && marked > 0)
		oc_bad(o, t, entries, "agent_owner",
		       "ownership 'explicit' and an agent with 'default: true' contradict each other, accepted: one of them");
	else if (marked > 1)
		oc_bad(o, t, entries, "agent_owner", "%zu agents have 'default: true', accepted: one",
		       marked);
	else if (entries->obj.n > 1 && marked == 0 && !is_explicit && !o->compat && o->from_list)
		oc_warn(o, t, entries, "agent_owner",
			"no agent has 'default: true': the first one counts as the default, as in older releases");
	else if (entries->obj.n > 1 && marked == 0 && !is_explicit)
		oc_bad(o, t, entries, "agent_owner",
		       "several agents, and none is the default, accepted: one with 'default: true', or agents.ownership: "
		       "'explicit'");
}

void oc_check_roster(struct oc *o, const struct value *root)
{
	const struct trail top = { 0 }, up = { .up = &top, .key = STR("agents") },
			   t = { .up = &up, .key = STR("entries") };
	const struct value *agents = value_get(root, STR("agents")),
			   *entries = value_get(agents, STR("entries"));
	bool is_explicit = value_get(agents, STR("ownership")) != NULL;

	if (is_explicit && (!entries || entries->obj.n == 0))
		oc_bad(o, &up, agents, "agent_owner",
		       "ownership 'explicit' needs agents, accepted: one or more in entries");
	if (!entries)
		return;
	if (entries->obj.n > AGENTS_MAX) {
		oc_bad(o, &t, entries, "too_many", "%zu agents, accepted: at most %d", entries->obj.n,
		       AGENTS_MAX);
		return;
	}
	check_duplicates(o, entries, &t);
	check_owner(o, entries, is_explicit, &t);
}
