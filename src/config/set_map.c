/* SPDX-License-Identifier: Apache-2.0 */
/* The values that have keys of their own (environment, limits by name, tool layers, senders) and binds. */
#include "config/set_priv.h"

#include <assert.h>

/* An array of `size`-byte entries that starts with the earlier source's entries. */
struct entries {
	char *v;
	size_t n, size;
};

static bool entries_start(const struct set *t, const void *before, size_t n_before, size_t size,
			  struct entries *ret)
{
	bool keep = t->s->has[t->id]; /* a built-in default is replaced as a whole */

	*ret = (struct entries){ .size = size, .n = keep ? n_before : 0 };
	ret->v = arena_alloc_array(t->l->a, ret->n + t->v->obj.n, size, alignof(max_align_t));
	if (!ret->v)
		return false;
	if (ret->n)
		memcpy(ret->v, before, ret->n * size);
	return true;
}

/* Where the entry for `key` goes. Every kind of entry starts with its key. */
static void *entries_slot(struct entries *e, struct str key, bool *ret_is_new)
{
	for (size_t i = 0; i < e->n; i++) {
		struct str *k = (struct str *)(void *)(e->v + i * e->size);

		if (str_eq(*k, key)) {
			*ret_is_new = false;
			return k;
		}
	}
	*ret_is_new = true;
	return e->v + e->n++ * e->size;
}

static_assert(offsetof(struct map_entry, key) == 0 && offsetof(struct env_var, name) == 0 &&
		      offsetof(struct listmap_entry, key) == 0 && offsetof(struct tool_layer, match) == 0,
	      "entries_slot() looks at the start of an entry");

/* Walks the members of an object value; false when any of them was refused. */
static bool each_member(const struct set *t, const void *before, size_t n_before, size_t size,
			struct entries *e,
			bool (*one)(const struct set *, struct entries *, const struct member *,
				    const struct at *))
{
	bool ok = true;

	if (t->v->kind != VALUE_OBJ)
		return set_wrong_type(t->l, t->at, t->v, "an object");
	if (t->v->obj.n > LIST_MAX)
		return set_too_many(t->l, t->at, t->v, t->v->obj.n);
	if (!entries_start(t, before, n_before, size, e))
		return false;
	for (size_t i = 0; i < t->v->obj.n; i++) {
		const struct member *m = &t->v->obj.m[i];
		struct at down = at_key(t->l, t->at, m->key);

		if (m->key.n == 0 || memchr(m->key.p, '\0', m->key.n)) {
			bad(t->l, &down, &m->v, "bad_name", "a name is empty or holds a NUL character");
			ok = false;
			continue;
		}
		ok = one(t, e, m, &down) && ok;
	}
	return ok;
}

/* {soft, hard} as docker writes it. */
static bool soft_hard(const struct set *t, const struct value *v, const struct at *at, struct str *ret)
{
	const struct value *soft = value_get(v, STR("soft")), *hard = value_get(v, STR("hard"));
	int64_t s, h;

	if ((soft && soft->kind != VALUE_INT) || (hard && hard->kind != VALUE_INT) || (!soft && !hard) ||
	    v->obj.n != (size_t)(soft != NULL) + (size_t)(hard != NULL)) {
		bad(t->l, at, v, "wrong_type", "expected soft and hard as integers");
		return false;
	}
	s = soft ? soft->i : hard->i;
	h = hard ? hard->i : soft->i;
	*ret = arena_printf(t->l->a, "%lld:%lld", (long long)s, (long long)h);
	return true;
}

static bool one_map(const struct set *t, struct entries *e, const struct member *m, const struct at *at)
{
	struct map_entry entry = { .key = m->key, .origin = origin_of(at, &m->v) };
	bool is_new;

	if (m->v.kind == VALUE_INT)
		entry.value = value_quote(t->l, &m->v);
	else if (m->v.kind == VALUE_OBJ ? !soft_hard(t, &m->v, at, &entry.value)
					: !set_text(t->l, at, &m->v, &entry.value))
		return false;
	*(struct map_entry *)entries_slot(e, m->key, &is_new) = entry;
	return true;
}

bool set_map(const struct set *t)
{
	struct map *field = option_field(t->s, t->id);
	struct entries e = { 0 };

	if (!each_member(t, field->v, field->n, sizeof(*field->v), &e, one_map))
		return false;
	*field = (struct map){ .v = (const struct map_entry *)(const void *)e.v, .n = e.n };
	set_done(t);
	return true;
}

/* The end of a "${NAME}" that starts at `i`, or 0. */
static size_t reference_end(struct str s, size_t i)
{
	size_t end;

	if (i + 3 >= s.n || s.p[i] != '$' || s.p[i + 1] != '{')
		return 0;
	for (end = i + 2; end < s.n && s.p[end] != '}'; end++)
		;
	if (end == s.n || !env_name_valid((struct str){ .p = s.p + i + 2, .n = end - i - 2 }))
		return 0;
	return end + 1;
}

/* Copies a value, "$${NAME}" becoming "${NAME}". False when there is a reference that is not escaped. */
static bool literal(struct load *l, struct str s, struct str *ret)
{
	char *p = arena_alloc(l->a, s.n + 1, 1);
	size_t n = 0;

	for (size_t i = 0; p && i < s.n;) {
		size_t end = reference_end(s, i);

		if (end)
			return false;
		end = s.p[i] == '$' ? reference_end(s, i + 1) : 0;
		i += end > 0; /* drops the escaping dollar; the reference follows as plain text */
		end = end ? end : i + 1;
		memcpy(p + n, s.p + i, end - i);
		n += end - i;
		i = end;
	}
	*ret = (struct str){ .p = p ? p : "", .n = n };
	return true;
}

static bool one_env(const struct set *t, struct entries *e, const struct member *m, const struct at *at)
{
	struct env_var var = { .name = m->key, .kind = ENV_SECRET, .origin = origin_of(at, &m->v) };
	bool is_new;

	if (!env_name_valid(m->key)) {
		bad(t->l, at, &m->v, "bad_name",
		    "not a variable name, accepted: letters, digits and _, no leading digit");
		return false;
	}
	if (m->v.kind != VALUE_STR) { /* not quoted: it may be a secret */
		bad(t->l, at, &m->v, "wrong_type", "expected a string, found %s", value_kind_name(m->v.kind));
		return false;
	}
	for (size_t i = 0; i < m->v.s.n; i++) {
		if (m->v.s.p[i] == '\r' || m->v.s.p[i] == '\n' || m->v.s.p[i] == '\0') {
			bad(t->l, at, &m->v, "bad_value",
			    "holds a line end or NUL, accepted: one line of text");
			return false;
		}
	}
	if (m->v.from_env)
		var.value = m->v.raw;
	else if (literal(t->l, m->v.s, &var.value))
		var.kind = ENV_LITERAL;
	else
		var.value = m->v.s;
	*(struct env_var *)entries_slot(e, m->key, &is_new) = var;
	return true;
}

bool set_env(const struct set *t)
{
	struct env_vars *field = option_field(t->s, t->id);
	struct entries e = { 0 };

	if (!each_member(t, field->v, field->n, sizeof(*field->v), &e, one_env))
		return false;
	*field = (struct env_vars){ .v = (const struct env_var *)(const void *)e.v, .n = e.n };
	set_done(t);
	return true;
}

bool load_set_env(struct load *l, struct settings *s, enum option id, const struct value *v,
		  const struct at *at)
{
	return load_set(l, s, id, v, at, false);
}

static bool one_listmap(const struct set *t, struct entries *e, const struct member *m, const struct at *at)
{
	struct listmap_entry entry = { .key = m->key, .origin = origin_of(at, &m->v) };
	bool is_new;

	if (!set_texts(t->l, at, &m->v, true, &entry.values))
		return false;
	entry.origin.raw = set_raw_json(t->l, &m->v);
	*(struct listmap_entry *)entries_slot(e, m->key, &is_new) = entry;
	return true;
}

bool set_listmap(const struct set *t)
{
	struct listmap *field = option_field(t->s, t->id);
	struct entries e = { 0 };

	if (!each_member(t, field->v, field->n, sizeof(*field->v), &e, one_listmap))
		return false;
	*field = (struct listmap){ .v = (const struct listmap_entry *)(const void *)e.v, .n = e.n };
	set_done(t);
	return true;
}

static bool layer_profile(const struct set *t, const struct value *v, const struct at *at,
			  struct tool_layer *layer)
{
	char accepted[256];
	int id;

	if (v->kind == VALUE_STR && enum_value(tool_profile_names, v->s, false, &id)) {
		layer->profile = (enum tool_profile)id;
		return true;
	}
	enum_list(tool_profile_names, accepted, sizeof(accepted));
	return set_wrong_type(t->l, at, v, accepted);
}

static bool layer_member(const struct set *t, const struct member *m, const struct at *at,
			 struct tool_layer *layer)
{
	static const char *const known[] = { "profile", "allow", "alsoAllow", "deny", NULL };
	struct at down = at_key(t->l, at, m->key);
	struct strs deny;

	if (str_eq(m->key, STR("profile")))
		return layer_profile(t, &m->v, &down, layer);
	if (str_eq(m->key, STR("allow")))
		return layer->has_allow = set_texts(t->l, &down, &m->v, false, &layer->allow);
	if (str_eq(m->key, STR("alsoAllow")))
		return layer->has_also_allow = set_texts(t->l, &down, &m->v, false, &layer->also_allow);
	if (str_eq(m->key, STR("deny"))) {
		if (!set_texts(t->l, &down, &m->v, false, &deny))
			return false;
		layer->deny = load_unite(t->l, layer->deny, deny);
		return layer->has_deny = true;
	}
	bad_key(t->l, at, m, known);
	return false;
}

static bool one_layer(const struct set *t, struct entries *e, const struct member *m, const struct at *at)
{
	struct tool_layer layer = { .match = m->key }, *slot;
	bool is_new, ok = true;

	if (m->v.kind != VALUE_OBJ)
		return set_wrong_type(t->l, at, &m->v, "an object with allow, alsoAllow, deny or profile");
	slot = entries_slot(e, m->key, &is_new);
	if (!is_new)
		layer = *slot;
	layer.origin = origin_of(at, &m->v);
	layer.origin.raw = set_raw_json(t->l, &m->v);
	for (size_t i = 0; i < m->v.obj.n; i++)
		ok = layer_member(t, &m->v.obj.m[i], at, &layer) && ok;
	*slot = layer;
	return ok;
}

bool set_layers(const struct set *t)
{
	struct tool_layers *field = option_field(t->s, t->id);
	struct entries e = { 0 };

	if (!each_member(t, field->v, field->n, sizeof(*field->v), &e, one_layer))
		return false;
	*field = (struct tool_layers){ .v = (const struct tool_layer *)(const void *)e.v, .n = e.n };
	set_done(t);
	return true;
}

bool set_binds(const struct set *t)
{
	struct binds *field = option_field(t->s, t->id);
	struct strs list;
	struct bind *v;
	bool ok = true;

	if (!set_texts(t->l, t->at, t->v, false, &list))
		return false;
	v = ARENA_ARRAY(t->l->a, struct bind, list.n);
	if (!v)
		return false;
	for (size_t i = 0; i < list.n; i++) {
		struct at down = at_index(t->l, t->at, i);

		if (!bind_parse(list.v[i], &v[i])) {
			bad(t->l, &down, &t->v->arr.v[i], "bad_bind",
			    "empty, accepted: host:target or host:target:ro|rw");
			ok = false;
		}
		v[i].origin = origin_of(&down, &t->v->arr.v[i]);
	}
	if (!ok)
		return false;
	*field = (struct binds){ .v = v, .n = list.n };
	set_done(t);
	return true;
}

bool load_set_binds(struct load *l, struct settings *s, enum option id, const struct value *v,
		    const struct at *at)
{
	return load_set(l, s, id, v, at, false);
}
