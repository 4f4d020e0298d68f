/* SPDX-License-Identifier: Apache-2.0 */
/* One option as it is written in a file. Secrets are shown as references, or as <redacted>. */
#include "config/node_priv.h"

#include "base/parse.h"

#define REDACTED STR("<redacted>")

void node_ref(struct arena *a, struct node *n, const struct secret_ref *ref, bool reveal)
{
	struct str text = STR("");

	if (ref->kind == REF_ENV)
		text = arena_printf(a, "env:%.*s", (int)ref->text.n, ref->text.p);
	else if (ref->kind == REF_RAW)
		text = reveal ? arena_printf(a, "raw:%.*s", (int)ref->text.n, ref->text.p)
			      : STR("raw:<redacted>");
	node_str(a, n, text);
}

static bool is_reference(struct str s, size_t i)
{
	size_t end = i + 2;

	if (end >= s.n || s.p[i] != '$' || s.p[i + 1] != '{')
		return false;
	while (end < s.n && s.p[end] != '}')
		end++;
	return end < s.n && env_name_valid((struct str){ .p = s.p + i + 2, .n = end - i - 2 });
}

/* A literal that looks like ${NAME} is written $${NAME}, or it would be read as a reference. */
static struct str escape(struct arena *a, struct str s)
{
	char *p = arena_alloc(a, 2 * s.n + 1, 1);
	size_t n = 0;

	for (size_t i = 0; p && i < s.n; i++) {
		if (is_reference(s, i))
			p[n++] = '$';
		p[n++] = s.p[i];
	}
	return (struct str){ .p = p ? p : "", .n = n };
}

/* scheme://user:password@host, under whatever name. */
static bool has_url_password(struct str value)
{
	for (size_t i = 0; i + 3 < value.n; i++) {
		struct str rest = str_from(value, i + 3), user, host;

		if (!str_starts(str_from(value, i), STR("://")))
			continue;
		for (size_t end = 0; end < rest.n; end++)
			if (rest.p[end] == '/' || rest.p[end] == '?' || rest.p[end] == '#')
				rest.n = end;
		if (str_cut_last(rest, '@', &user, &host) && memchr(user.p, ':', user.n))
			return true;
	}
	return false;
}

static bool is_secret(const struct env_var *v)
{
	return secret_name(v->name) || has_url_password(v->value);
}

void node_env(struct arena *a, struct node *n, const struct env_vars *env, bool reveal)
{
	n->kind = NODE_OBJ;
	for (size_t i = 0; i < env->n; i++) {
		const struct env_var *v = &env->v[i];
		struct node *c = node_add(a, n, v->name, NODE_TEXT);

		c->origin = &v->origin;
		if (v->kind == ENV_SECRET)
			node_str(a, c, v->value);
		else
			node_str(a, c, reveal || !is_secret(v) ? escape(a, v->value) : REDACTED);
	}
}

static void node_map(struct arena *a, struct node *n, const struct map *map, bool reveal)
{
	n->kind = NODE_OBJ;
	for (size_t i = 0; i < map->n; i++) {
		struct node *c = node_add(a, n, map->v[i].key, NODE_TEXT);

		c->origin = &map->v[i].origin;
		node_str(a, c, map->v[i].origin.raw.n && !reveal ? map->v[i].origin.raw : map->v[i].value);
	}
}

static void node_binds(struct arena *a, struct node *n, const struct binds *binds, bool reveal)
{
	n->kind = NODE_ARR;
	for (size_t i = 0; i < binds->n; i++) {
		const struct bind *b = &binds->v[i];
		struct node *c = node_add(a, n, (struct str){ 0 }, NODE_TEXT);

		node_str(a, c, b->origin.raw.n && !reveal ? b->origin.raw : b->raw);
	}
}

/* The JSON of an entry as it was written, for one in which something came out of the environment. */
static bool node_raw_json(struct node *n, const struct origin *o, bool reveal)
{
	if (o->raw.n == 0 || reveal)
		return false;
	n->kind = NODE_TEXT;
	n->text = o->raw;
	return true;
}

static void node_listmap(struct arena *a, struct node *n, const struct listmap *map, bool reveal)
{
	n->kind = NODE_OBJ;
	for (size_t i = 0; i < map->n; i++) {
		struct node *c = node_add(a, n, map->v[i].key, NODE_ARR);

		c->origin = &map->v[i].origin;
		if (!node_raw_json(c, c->origin, reveal))
			node_strs(a, c, map->v[i].values);
	}
}

static void node_layers(struct arena *a, struct node *n, const struct tool_layers *layers, bool reveal)
{
	n->kind = NODE_OBJ;
	for (size_t i = 0; i < layers->n; i++) {
		const struct tool_layer *t = &layers->v[i];
		struct node *c = node_add(a, n, t->match, NODE_OBJ);

		c->origin = &t->origin;
		if (node_raw_json(c, c->origin, reveal))
			continue;
		if (t->profile != TOOL_PROFILE_NONE)
			node_z(a, node_add(a, c, STR("profile"), NODE_TEXT),
			       enum_name(tool_profile_names, (int)t->profile));
		if (t->has_allow)
			node_strs(a, node_add(a, c, STR("allow"), NODE_ARR), t->allow);
		if (t->has_also_allow)
			node_strs(a, node_add(a, c, STR("alsoAllow"), NODE_ARR), t->also_allow);
		if (t->has_deny)
			node_strs(a, node_add(a, c, STR("deny"), NODE_ARR), t->deny);
	}
}

static void node_size(struct arena *a, struct node *n, uint64_t bytes)
{
	char text[PARSE_TEXT_MAX];
	struct str s = parse_format_size(bytes, text);
	bool has_unit = s.n && (s.p[s.n - 1] < '0' || s.p[s.n - 1] > '9');

	if (has_unit)
		node_str(a, n, s);
	else
		node_u64(a, n, bytes);
}

/* The text as it was written, for a value that came out of the environment. */
static bool node_raw(struct arena *a, struct node *n, const struct settings *s, enum option id, bool reveal)
{
	struct str raw = s->origin[id].raw;

	if (raw.n == 0 || reveal)
		return false;
	if (option_info(id)->type == TYPE_LIST)
		n->text = raw; /* JSON already */
	else
		node_str(a, n, raw);
	n->kind = NODE_TEXT;
	return true;
}

void node_option(struct arena *a, struct node *n, const struct settings *s, enum option id, bool reveal)
{
	const struct option_info *info = option_info(id);
	const void *v = option_value(s, id);

	n->origin = &s->origin[id];
	if (node_raw(a, n, s, id, reveal))
		return;
	switch (info->type) {
	case TYPE_BOOL:
		node_bool(n, *(const bool *)v);
		return;
	case TYPE_U64:
		node_u64(a, n, *(const uint64_t *)v);
		return;
	case TYPE_NUM:
		node_num(a, n, *(const double *)v);
		return;
	case TYPE_SIZE:
		node_size(a, n, *(const uint64_t *)v);
		return;
	case TYPE_ENUM:
		node_z(a, n, enum_name(info->names, *(const int *)v));
		return;
	case TYPE_STR:
		node_str(a, n, *(const struct str *)v);
		return;
	case TYPE_LIST:
		node_strs(a, n, *(const struct strs *)v);
		return;
	case TYPE_MAP:
		node_map(a, n, v, reveal);
		return;
	case TYPE_ENV:
		node_env(a, n, v, reveal);
		return;
	case TYPE_BINDS:
		node_binds(a, n, v, reveal);
		return;
	case TYPE_LAYERS:
		node_layers(a, n, v, reveal);
		return;
	case TYPE_LISTMAP:
		node_listmap(a, n, v, reveal);
		return;
	case TYPE_REF:
		node_ref(a, n, v, reveal);
		return;
	}
}
