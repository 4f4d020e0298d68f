/* SPDX-License-Identifier: Apache-2.0 */
/* The cases of one file of vectors, as JSON. */
#pragma once

#include "stream.h"

#include "base/fd.h"
#include "data/json.h"

struct vectors {
	struct arena arena;
	char *text;
	struct value root;
	const struct value *cases;
};

static inline void vectors_load(struct vectors *v, const char *folder_variable, const char *name)
{
	const struct json_opts opts = { .name = name };
	const char *folder = getenv(folder_variable);
	char path[4096];
	struct err e = { 0 };
	size_t n = 0;

	assert_non_null(folder);
	*v = (struct vectors){ 0 };
	arena_init(&v->arena, (size_t)64 << 20);
	(void)snprintf(path, sizeof(path), "%s/%s", folder, name);
	CHECK_CASE(fd_read_file(path, 1 << 20, &v->text, &n) == 0, "cannot read %s", path);
	CHECK_CASE(json_parse(&v->arena, (struct str){ v->text, n }, &opts, &v->root, &e) >= 0, "%s", e.msg);
	v->cases = value_get(&v->root, STR("cases"));
	assert_true(v->cases && v->cases->kind == VALUE_ARR);
}

static inline void vectors_done(struct vectors *v)
{
	arena_done(&v->arena);
	free(v->text);
}
#define _cleanup_vectors_ _cleanup_(vectors_done)

static inline struct str vectors_text(const struct value *c, const char *key)
{
	const struct value *v = value_get(c, str_z(key));

	return v && v->kind == VALUE_STR ? v->s : (struct str){ 0 };
}
