/* SPDX-License-Identifier: Apache-2.0 */
#include "data/index_priv.h"

#include <errno.h>
#include <stdlib.h>

static uint32_t hash_key(struct str key)
{
	uint32_t h = 2166136261u;

	for (size_t i = 0; i < key.n; i++)
		h = (h ^ (unsigned char)key.p[i]) * 16777619u;
	return h;
}

static uint32_t hash_of(uint64_t slot)
{
	return (uint32_t)(slot >> 32);
}

static uint32_t place_of(uint64_t slot)
{
	return (uint32_t)slot;
}

static int compare_slots(const void *left, const void *right, void *members)
{
	const struct member *m = members;
	uint64_t a, b;
	int c;

	memcpy(&a, left, sizeof(a));
	memcpy(&b, right, sizeof(b));
	if (hash_of(a) != hash_of(b))
		return hash_of(a) < hash_of(b) ? -1 : 1;
	c = str_cmp(m[place_of(a)].key, m[place_of(b)].key);
	if (c != 0)
		return c;
	return place_of(a) < place_of(b) ? -1 : place_of(a) > place_of(b);
}

static struct value_index *build(struct arena *a, struct member *m, size_t n)
{
	struct value_index *x;

	if (n > UINT32_MAX)
		return NULL;
	x = arena_alloc(a, sizeof(*x) + n * sizeof(x->slot[0]), alignof(struct value_index));
	if (!x)
		return NULL;
	x->m = m;
	x->n = n;
	for (size_t i = 0; i < n; i++)
		x->slot[i] = (uint64_t)hash_key(m[i].key) << 32 | i;
	qsort_r(x->slot, n, sizeof(x->slot[0]), compare_slots, m);
	return x;
}

static bool same_key(const struct value_index *x, size_t i, size_t j)
{
	return hash_of(x->slot[i]) == hash_of(x->slot[j]) &&
	       str_eq(x->m[place_of(x->slot[i])].key, x->m[place_of(x->slot[j])].key);
}

/* The duplicate that comes first in the text, which is the one a reader meets first. */
static bool find_duplicate(const struct value_index *x, struct tree_dup *ret)
{
	*ret = (struct tree_dup){ .again = NULL };
	for (size_t i = 1; i < x->n; i++) {
		const struct member *again = &x->m[place_of(x->slot[i])];

		if (same_key(x, i - 1, i) && (!ret->again || again < ret->again))
			*ret = (struct tree_dup){ .first = &x->m[place_of(x->slot[i - 1])], .again = again };
	}
	return ret->again;
}

/* Of the equal keys slot[from..end) the first in the text takes over what the last one says. */
static void take_last(const struct value_index *x, struct member *m, size_t from, size_t end)
{
	m[place_of(x->slot[from])] = m[place_of(x->slot[end - 1])];
	for (size_t i = from + 1; i < end; i++)
		m[place_of(x->slot[i])].key.p = NULL; /* not kept */
}

/* Equal keys stand side by side in the index, in the order of the text. */
static void keep_last(const struct value_index *x, struct value *obj)
{
	struct member *m = obj->obj.m;
	size_t kept = 0;

	for (size_t from = 0, end; from < x->n; from = end) {
		for (end = from + 1; end < x->n && same_key(x, from, end);)
			end++;
		if (end - from > 1)
			take_last(x, m, from, end);
	}
	for (size_t i = 0; i < obj->obj.n; i++)
		if (m[i].key.p)
			m[kept++] = m[i];
	obj->obj.n = kept;
}

static int settle_large(struct arena *a, struct value *obj, bool last_wins, struct tree_dup *ret_dup)
{
	struct value_index *x = build(a, obj->obj.m, obj->obj.n);

	if (!x)
		return -ENOMEM;
	if (find_duplicate(x, ret_dup)) {
		if (!last_wins)
			return -EEXIST;
		keep_last(x, obj);
		x = build(a, obj->obj.m, obj->obj.n);
	}
	obj->index = x;
	return x ? 0 : -ENOMEM;
}

/* One of 64: a cheap "never seen" for nearly every key of a small object. */
static uint64_t key_bit(struct str key)
{
	size_t h = key.n * 7;

	if (key.n > 0)
		h += (unsigned char)key.p[0] * 3u + (unsigned char)key.p[key.n - 1] * 5u;
	return UINT64_C(1) << (h & 63);
}

static struct member *earlier(struct member *m, size_t n, struct str key)
{
	for (size_t i = 0; i < n; i++)
		if (str_eq(m[i].key, key))
			return &m[i];
	return NULL;
}

static int settle_small(struct value *obj, bool last_wins, struct tree_dup *ret_dup)
{
	struct member *m = obj->obj.m;
	uint64_t seen = 0;
	size_t kept = 0;

	for (size_t i = 0; i < obj->obj.n; i++) {
		uint64_t bit = key_bit(m[i].key);
		struct member *first = seen & bit ? earlier(m, kept, m[i].key) : NULL;

		seen |= bit;
		if (first && !last_wins) {
			*ret_dup = (struct tree_dup){ .first = first, .again = &m[i] };
			return -EEXIST;
		}
		if (first)
			*first = m[i];
		else if (kept++ != i)
			m[kept - 1] = m[i];
	}
	obj->obj.n = kept;
	return 0;
}

int index_settle(struct arena *a, struct value *obj, bool last_wins, struct tree_dup *ret_dup)
{
	if (obj->obj.n > TREE_INDEX_ABOVE)
		return settle_large(a, obj, last_wins, ret_dup);
	return settle_small(obj, last_wins, ret_dup);
}

const struct member *index_find(const struct value *obj, struct str key)
{
	const struct value_index *x = obj->index;
	uint32_t h = hash_key(key);
	size_t lo = 0, hi = x->n;

	while (lo < hi) {
		size_t mid = lo + (hi - lo) / 2;
		const struct member *m = &x->m[place_of(x->slot[mid])];
		uint32_t g = hash_of(x->slot[mid]);

		if (g < h || (g == h && str_cmp(m->key, key) < 0))
			lo = mid + 1;
		else
			hi = mid;
	}
	if (lo == x->n || !str_eq(x->m[place_of(x->slot[lo])].key, key))
		return NULL;
	return &x->m[place_of(x->slot[lo])];
}
