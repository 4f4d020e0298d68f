/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One settings block over another. What an option is (where, how large, how it merges) comes from the option
 * table, so an option that is added there needs nothing here.
 */
#include "policy/policy_priv.h"

#include <assert.h>

enum type {
	TYPE_BOOL,
	TYPE_U64,
	TYPE_NUM,
	TYPE_SIZE,
	TYPE_ENUM,
	TYPE_STR,
	TYPE_LIST,
	TYPE_MAP,
	TYPE_ENV,
	TYPE_BINDS,
	TYPE_LAYERS,
	TYPE_LISTMAP,
	TYPE_REF,
};

static const struct {
	size_t offset, size;
	enum type type;
	int flags;
} options[] = {
#define OPT(id, field, type_, key, flags_, def, min, max, names, help)      \
	[OPT_##id] = { .offset = offsetof(struct settings, field),          \
		       .size = sizeof(((const struct settings *)0)->field), \
		       .type = TYPE_##type_,                                \
		       .flags = (flags_) },
#include "model/options.def"
#undef OPT
};

#define OPT(id, field, type_, key, flags_, def, min, max, names, help)                               \
	static_assert(!((flags_)&F_ADD) || TYPE_##type_ == TYPE_BINDS || TYPE_##type_ == TYPE_MAP || \
			      TYPE_##type_ == TYPE_ENV,                                              \
		      "merge() knows how to add up what is marked so");
#include "model/options.def"
#undef OPT

/* Every list of the model is { const T *v; size_t n; }. */
struct any_list {
	const void *v;
	size_t n;
};

static struct any_list concat(struct arena *a, struct any_list base, struct any_list more, size_t item,
			      size_t align)
{
	size_t n = base.n + more.n;
	char *all;

	if (base.n == 0 || more.n == 0)
		return base.n ? base : more;
	all = arena_alloc_array(a, n, item, align);
	if (!all)
		return base;
	memcpy(all, base.v, base.n * item);
	memcpy(all + base.n * item, more.v, more.n * item);
	return (struct any_list){ .v = all, .n = n };
}

static struct binds add_binds(struct arena *a, struct binds base, struct binds more)
{
	struct any_list all =
		concat(a, (struct any_list){ base.v, base.n }, (struct any_list){ more.v, more.n },
		       sizeof(struct bind), alignof(struct bind));

	return (struct binds){ .v = all.v, .n = all.n };
}

/* A name that is there already keeps its place and takes the new value. */
static struct map add_map(struct arena *a, struct map base, struct map more)
{
	struct map_entry *all = ARENA_ARRAY(a, struct map_entry, base.n + more.n);
	size_t n = base.n;

	if (!all)
		return base;
	if (base.n)
		memcpy(all, base.v, base.n * sizeof(*all));
	for (size_t i = 0; i < more.n; i++) {
		size_t at = 0;

		while (at < n && !str_eq(all[at].key, more.v[i].key))
			at++;
		all[at] = more.v[i];
		n += at == n;
	}
	return (struct map){ .v = all, .n = n };
}

static struct env_vars add_env(struct arena *a, struct env_vars base, struct env_vars more)
{
	struct env_var *all = ARENA_ARRAY(a, struct env_var, base.n + more.n);
	size_t n = base.n;

	if (!all)
		return base;
	if (base.n)
		memcpy(all, base.v, base.n * sizeof(*all));
	for (size_t i = 0; i < more.n; i++) {
		size_t at = 0;

		while (at < n && !str_eq(all[at].name, more.v[i].name))
			at++;
		all[at] = more.v[i];
		n += at == n;
	}
	return (struct env_vars){ .v = all, .n = n };
}

#define MERGE(type, add)                             \
	do {                                         \
		type base_, more_;                   \
		memcpy(&base_, to, sizeof(base_));   \
		memcpy(&more_, from, sizeof(more_)); \
		base_ = add(a, base_, more_);        \
		memcpy(to, &base_, sizeof(base_));   \
	} while (0)

static void merge(struct arena *a, enum type type, void *to, const void *from)
{
	switch (type) {
	case TYPE_BINDS:
		MERGE(struct binds, add_binds);
		return;
	case TYPE_MAP:
		MERGE(struct map, add_map);
		return;
	case TYPE_ENV:
		MERGE(struct env_vars, add_env);
		return;
	case TYPE_BOOL:
	case TYPE_U64:
	case TYPE_NUM:
	case TYPE_SIZE:
	case TYPE_ENUM:
	case TYPE_STR:
	case TYPE_LIST:
	case TYPE_LAYERS:
	case TYPE_LISTMAP:
	case TYPE_REF:
		break; /* the assert above: no such option adds up */
	}
}

void settings_override(struct arena *a, struct settings *dst, const struct settings *over, bool shared)
{
	for (size_t i = 0; i < OPT_COUNT_; i++) {
		void *to = (char *)dst + options[i].offset;
		const void *from = (const char *)over + options[i].offset;

		if (!over->has[i] || (shared && options[i].flags & F_CONTAINER))
			continue;
		if (options[i].flags & F_ADD)
			merge(a, options[i].type, to, from);
		else
			memcpy(to, from, options[i].size);
		dst->has[i] = true;
		dst->origin[i] = over->origin[i];
	}
}
