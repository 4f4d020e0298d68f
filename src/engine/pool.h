/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Ready sandboxes, so that even the first call of a session finds one: by what they are built of and what they see (engine/digest.h), at most
 * so many, and each for one session only: who has taken one never gives it back. One that has gone while it waited is not given out.
 */
#pragma once

#include "backend/backend.h"
#include "engine/digest.h"
#include "engine/own.h"

#define POOL_MAX 64u

struct pool {
	unsigned size; /* wanted; 0 = there is no pool */
	unsigned n;
	struct {
		struct digest digest;
		struct box *box;
		struct own_begun note;
	} v[POOL_MAX];
};

void pool_init(struct pool *p, unsigned size); /* more than POOL_MAX is POOL_MAX */
void pool_done(struct pool *p);
/* True with *ret and its note, which are the caller's from then on. */
bool pool_take(struct pool *p, const struct digest *want, struct box **ret, struct own_begun *ret_note);
/* Both are the pool's from now on; false when it is full, and then they still are the caller's. */
bool pool_put(struct pool *p, const struct digest *digest, struct box *box, const struct own_begun *note);
unsigned pool_count(const struct pool *p, const struct digest *want);
/* False when one that nobody has used yet has gone. */
bool pool_is_there(struct box *box);
