/* SPDX-License-Identifier: Apache-2.0 */
#include "backend/asked.h"

#include <errno.h>

static int look_for(const struct asked *a, uint64_t id)
{
	for (unsigned i = 0; i < ASKED_MAX; i++)
		if (a->id[i] == id)
			return (int)i;
	return -ENOENT;
}

int asked_find(const struct asked *a, uint64_t id)
{
	return id && a->n ? look_for(a, id) : -ENOENT;
}

int asked_add(struct asked *a, uint64_t id)
{
	int at = a->n < ASKED_MAX ? look_for(a, 0) : -EAGAIN;

	if (at >= 0) {
		a->id[at] = id;
		a->n++;
	}
	return at;
}

bool asked_drop(struct asked *a, uint64_t id)
{
	int at = asked_find(a, id);

	if (at < 0)
		return false;
	a->id[at] = 0;
	a->n--;
	return true;
}

uint64_t asked_take(struct asked *a)
{
	for (unsigned i = 0; a->n && i < ASKED_MAX; i++) {
		uint64_t id = a->id[i];

		if (asked_drop(a, id))
			return id;
	}
	return 0;
}
