/* SPDX-License-Identifier: Apache-2.0 */
/* What has come on a connection and was not handed on yet: the head, and the bytes behind it. */
#include "http/server_priv.h"

#include <assert.h>

enum { IN_FIRST = 1024 };

bool conn_reserve(struct http_exchange *c, size_t n)
{
	size_t cap = c->cap_in < IN_FIRST ? IN_FIRST : c->cap_in;
	char *p;

	if (c->cap_in - c->n_in >= n)
		return true;
	while (cap - c->n_in < n)
		cap *= 2;
	p = realloc(c->in, cap);
	if (!p)
		return false;
	c->in = p;
	c->cap_in = cap;
	http_head_rebase(&c->head, p);
	return true;
}

/* What waits long needs no more memory than it holds: thousands of streams may be open. */
void conn_shrink(struct http_exchange *c)
{
	size_t cap = c->n_in + 1;
	char *p;

	if (c->n_in == 0 && c->phase == CONN_HEAD) {
		free(c->in);
		c->in = NULL;
		c->cap_in = 0;
		return;
	}
	if ((c->cap_in < 4096 && !c->settled) || c->cap_in < 2 * cap)
		return;
	p = realloc(c->in, cap);
	if (!p)
		return;
	c->in = p;
	c->cap_in = cap;
	http_head_rebase(&c->head, p);
}

void conn_drop(struct http_exchange *c, size_t n)
{
	assert(c->at_in + n <= c->n_in);
	if (n == 0)
		return;
	memmove(c->in + c->at_in, c->in + c->at_in + n, c->n_in - c->at_in - n);
	c->n_in -= n;
}
