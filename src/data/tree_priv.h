/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Builds the value tree for every text format, without recursion and without an allocation per value.
 *
 * Open containers and their children stand on one stack; closing a container moves its children into the
 * arena as one array. The stack starts in the caller's frame and moves to the heap when it grows.
 */
#pragma once

#include "data/value.h"

#include <stddef.h>

/* Objects of more members than this get an index: duplicates and lookups must not cost n * n. */
#define TREE_INDEX_ABOVE 16

struct tree {
	struct arena *arena;
	struct member *items; /* of an array's child only `v` counts */
	size_t n, cap;
	size_t open; /* the innermost open container; its arr.n holds the one around it */
	unsigned depth;
	bool on_heap;
};

/* A key that stood twice in one object. */
struct tree_dup {
	const struct member *first, *again;
};

void tree_init(struct tree *t, struct arena *a, struct member *start, size_t n_start);
void tree_done(struct tree *t);

bool tree_grow(struct tree *t);

/* A zeroed item on top; NULL when memory ran out. Pointers to items live until the next push. */
static inline struct member *tree_push(struct tree *t)
{
	if (t->n == t->cap && !tree_grow(t))
		return NULL;
	t->items[t->n] = (struct member){ .v = { .kind = VALUE_NULL } };
	return &t->items[t->n++];
}

static inline enum value_kind tree_open_kind(const struct tree *t)
{
	return t->items[t->open].v.kind;
}

/* The item on top becomes an open container of this kind. */
void tree_open(struct tree *t, enum value_kind kind);

/* Closes the innermost container. -ENOMEM; -EEXIST with *ret_dup when a key stands twice and !last_wins. */
int tree_close(struct tree *t, bool last_wins, struct tree_dup *ret_dup);
