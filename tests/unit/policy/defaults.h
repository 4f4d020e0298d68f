/* SPDX-License-Identifier: Apache-2.0 */
/* Settings with every option at the default that the option table states. For tests and fuzz targets. */
#pragma once

#include "policy/policy_priv.h"

#include <assert.h>
#include <stdlib.h>

static const struct env_var world_lang = { .name = { "LANG", 4 },
					   .kind = ENV_LITERAL,
					   .value = { "C.UTF-8", 7 } };

static inline uint64_t world_number(const char *text)
{
	char *end = NULL;
	unsigned long long n = strtoull(text, &end, 10);

	return *end == 'k' ? n << 10 : *end == 'm' || *end == 'M' ? n << 20 : *end == 'g' ? n << 30 : n;
}

static inline struct strs world_list(struct arena *a, const char *text)
{
	struct str rest = str_z(text), head;
	struct str *v = ARENA_ARRAY(a, struct str, 16);
	size_t n = 0;

	while (rest.n && n < 16) {
		struct str tail = { 0 };

		head = rest;
		if (!str_cut(rest, ',', &head, &tail))
			tail = (struct str){ 0 };
		v[n++] = head;
		rest = tail;
	}
	return (struct strs){ .v = v, .n = n };
}

static inline int world_enum(const struct enum_name *names, const char *text)
{
	int v = 0;

	if (names)
		assert(enum_value(names, str_z(text), true, &v));
	return v;
}

#define WORLD_BOOL(field, def, names) s->field = strcmp(def, "true") == 0
#define WORLD_U64(field, def, names) s->field = world_number(def)
#define WORLD_SIZE(field, def, names) s->field = world_number(def)
#define WORLD_NUM(field, def, names) s->field = strtod(def, NULL)
#define WORLD_ENUM(field, def, names) s->field = world_enum(names, def)
#define WORLD_STR(field, def, names) s->field = str_z(def)
#define WORLD_LIST(field, def, names) s->field = world_list(a, def)
#define WORLD_MAP(field, def, names) (void)s
#define WORLD_ENV(field, def, names) (void)s
#define WORLD_BINDS(field, def, names) (void)s
#define WORLD_LAYERS(field, def, names) (void)s
#define WORLD_LISTMAP(field, def, names) (void)s
#define WORLD_REF(field, def, names) (void)s

static inline void world_defaults(struct settings *s, struct arena *a)
{
#define OPT(id, field, type, key, flags, def, min, max, names, help) WORLD_##type(field, def, names);
#include "model/options.def"
#undef OPT
	s->env_set = (struct env_vars){ .v = &world_lang, .n = 1 };
}
