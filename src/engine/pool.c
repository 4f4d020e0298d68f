/* SPDX-License-Identifier: Apache-2.0 */
#include "engine/pool.h"

#include <errno.h>

void pool_init(struct pool *p, unsigned size)
{
	*p = (struct pool){ .size = size < POOL_MAX ? size : POOL_MAX };
}

void pool_done(struct pool *p)
{
	while (p->n) {
		(void)box_close(p->v[--p->n].box);
		own_drop(&p->v[p->n].note);
	}
}

static struct box *take_at(struct pool *p, unsigned i, struct own_begun *ret_note)
{
	struct box *box = p->v[i].box;

	*ret_note = p->v[i].note;
	p->v[i] = p->v[--p->n];
	return box;
}

bool pool_is_there(struct box *box)
{
	struct box_event ev;
	struct err ignored = { 0 };

	return box->ops->next(box, false, &ev, &ignored) == -EAGAIN;
}

bool pool_take(struct pool *p, const struct digest *want, struct box **ret, struct own_begun *ret_note)
{
	for (unsigned i = 0; i < p->n;) {
		struct box *box;

		if (!digest_same(&p->v[i].digest, want)) {
			i++;
			continue;
		}
		box = take_at(p, i, ret_note);
		if (pool_is_there(box)) {
			*ret = box;
			return true;
		}
		(void)box_close(box);
		own_drop(ret_note);
	}
	return false;
}

bool pool_put(struct pool *p, const struct digest *digest, struct box *box, const struct own_begun *note)
{
	if (p->n >= p->size)
		return false;
	p->v[p->n].digest = *digest;
	p->v[p->n].note = *note;
	p->v[p->n++].box = box;
	return true;
}

unsigned pool_count(const struct pool *p, const struct digest *want)
{
	unsigned n = 0;

	for (unsigned i = 0; i < p->n; i++)
		n += digest_same(&p->v[i].digest, want);
	return n;
}
