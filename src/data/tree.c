/* SPDX-License-Identifier: Apache-2.0 */
#include "data/tree_priv.h"

#include "data/index_priv.h"

#include <errno.h>
#include <stdlib.h>

void tree_init(struct tree *t, struct arena *a, struct member *start, size_t n_start)
{
	*t = (struct tree){ .arena = a, .items = start, .cap = n_start };
}

void tree_done(struct tree *t)
{
	if (t->on_heap)
		free(t->items);
	*t = (struct tree){ .items = NULL };
}

bool tree_grow(struct tree *t)
{
	size_t cap = t->cap * 2, n_bytes;
	struct member *items;

	if (__builtin_mul_overflow(cap, sizeof(*items), &n_bytes))
		return false;
	items = realloc(t->on_heap ? t->items : NULL, n_bytes);
	if (!items)
		return false;
	if (!t->on_heap)
		memcpy(items, t->items, t->n * sizeof(*items));
	t->items = items;
	t->cap = cap;
	t->on_heap = true;
	return true;
}

void tree_open(struct tree *t, enum value_kind kind)
{
	struct value *v = &t->items[t->n - 1].v;

	v->kind = kind;
	v->arr.n = t->open;
	t->open = t->n - 1;
	t->depth++;
}

static int store_array(struct tree *t, struct value *v, const struct member *child, size_t n)
{
	struct value *to = ARENA_ARRAY(t->arena, struct value, n);

	if (!to)
		return -ENOMEM;
	for (size_t i = 0; i < n; i++)
		to[i] = child[i].v;
	v->arr.v = to;
	v->arr.n = n;
	return 0;
}

static int store_object(struct tree *t, struct value *v, const struct member *child, size_t n)
{
	struct member *to = ARENA_ARRAY(t->arena, struct member, n);

	if (!to)
		return -ENOMEM;
	memcpy(to, child, n * sizeof(*to));
	v->obj.m = to;
	v->obj.n = n;
	return 0;
}

int tree_close(struct tree *t, bool last_wins, struct tree_dup *ret_dup)
{
	struct value *v = &t->items[t->open].v;
	const struct member *child = &t->items[t->open + 1];
	size_t n = t->n - t->open - 1, outer = v->arr.n;
	int r = 0;

	v->arr.v = NULL;
	v->arr.n = 0;
	if (n > 0 && v->kind == VALUE_ARR)
		r = store_array(t, v, child, n);
	else if (n > 0)
		r = store_object(t, v, child, n);
	if (r == 0 && v->kind == VALUE_OBJ)
		r = index_settle(t->arena, v, last_wins, ret_dup);
	t->n = t->open + 1;
	t->open = outer;
	t->depth--;
	return r;
}
