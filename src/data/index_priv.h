/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Keys of one object: finds duplicates and gives large objects an index, so that an object of 100,000 keys
 * costs n log n to read and log n to ask. Hashes only order the keys: keys made to collide cost comparisons,
 * never a quadratic walk.
 */
#pragma once

#include "data/tree_priv.h"

struct value_index {
	const struct member
		*m; /* what the index was made for; a value changed since then is searched linearly */
	size_t n;
	uint64_t slot[]; /* hash << 32 | place, in order of hash, key, place */
};

/* As tree_close(). With last_wins the first of equal keys takes the last one's value and position. */
int index_settle(struct arena *a, struct value *obj, bool last_wins, struct tree_dup *ret_dup);

/* By the index of `obj`, which must be usable. */
const struct member *index_find(const struct value *obj, struct str key);

static inline bool index_usable(const struct value *obj)
{
	return obj->index && obj->index->m == obj->obj.m && obj->index->n == obj->obj.n;
}
