/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The decision about a call. A session calls the same few tools again and again: from the second call of a tool on, what was decided about it stands, and only
 * the arguments are looked at. For one call alone it would be made for nothing.
 */
#include "engine/road_priv.h"

#define STANDING_TRIES 16u

static struct session_tool *find(struct session_tools *all, struct str name)
{
	for (size_t i = 0; i < all->n; i++)
		if (str_eq((struct str){ .p = all->v[i].name, .n = all->v[i].n_name }, name))
			return &all->v[i];
	return NULL;
}

/* NULL when a session calls more tools than that. */
static struct session_tool *add(struct session_tools *all, struct str name, const struct tool *tool)
{
	struct session_tool *st = &all->v[all->n];

	if (!tool || all->n == SESSION_TOOLS_MAX || name.n > sizeof(st->name))
		return NULL;
	*st = (struct session_tool){ .tool = tool, .n_name = name.n };
	memcpy(st->name, name.p, name.n);
	all->n++;
	return st;
}

void trip_find_tool(struct trip *t)
{
	struct session_tools *all = &t->s->tools;

	t->known = find(all, t->o->tool);
	t->tool = t->known ? t->known->tool : tools_find(str_trim(t->o->tool));
	if (!t->known)
		t->known = add(all, t->o->tool, t->tool);
}

void session_tools_done(struct session *s)
{
	for (size_t i = 0; i < s->tools.n; i++)
		s->tools.v[i].standing = standing_free(s->tools.v[i].standing);
	s->tools.n = 0;
}

/* What has changed since is not what stands: where the session works, or the configuration. */
static bool stands(const struct session_tool *st, const struct trip *t)
{
	return st->standing && st->config_changes == t->g->config_changes &&
	       standing_is_about(st->standing, t->s->config, &t->request);
}

/* Where it would be another one each time, nothing is kept in the end; a new list of tokens, which a server has every minute, does not count for that. */
static void keep(struct session_tool *st, const struct trip *t)
{
	st->standing = standing_free(st->standing);
	if (st->config_changes != t->g->config_changes && st->decided > 1)
		st->decided = 1;
	if (st->decided > 0 && st->decided < STANDING_TRIES)
		st->standing = standing_new(t->s->config, &t->request);
	if (st->decided < STANDING_TRIES)
		st->decided++;
	st->config_changes = t->g->config_changes;
}

int trip_decide(struct trip *t, struct err *e)
{
	struct session_tool *st = t->known;

	if (st && !stands(st, t))
		keep(st, t);
	if (st && st->standing && standing_decide(st->standing, &t->request, t->a, t->d))
		return 0;
	return decide(t->s->config, &t->request, t->a, t->d, e);
}
