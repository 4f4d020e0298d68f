/* SPDX-License-Identifier: Apache-2.0 */
#include "config/node_priv.h"

#include "base/num.h"

#include <stdio.h>

/* Where writes go when there is no memory: never read, because the arena says that it failed. */
static struct node *nowhere(void)
{
	static _Thread_local struct node n;

	n = (struct node){ 0 };
	return &n;
}

struct node *node_new(struct arena *a, enum node_kind kind)
{
	struct node *n = ARENA_NEW(a, struct node);

	if (!n)
		return nowhere();
	n->kind = kind;
	n->text = STR("null");
	return n;
}

struct node *node_add(struct arena *a, struct node *parent, struct str key, enum node_kind kind)
{
	struct node *n = node_new(a, kind);

	n->key = key;
	if (a->failed)
		return n;
	if (parent->last)
		parent->last->next = n;
	else
		parent->first = n;
	parent->last = n;
	return n;
}

static struct node *child(const struct node *n, struct str key)
{
	for (struct node *c = n->first; c; c = c->next)
		if (str_eq(c->key, key))
			return c;
	return NULL;
}

struct node *node_at(struct arena *a, struct node *root, const char *dotted, enum node_kind kind)
{
	struct str rest = str_z(dotted), word;

	while (str_cut(rest, '.', &word, &rest)) {
		struct node *down = child(root, word);

		root = down ? down : node_add(a, root, word, NODE_OBJ);
	}
	return node_add(a, root, rest, kind);
}

void node_str(struct arena *a, struct node *n, struct str s)
{
	_cleanup_buf_ struct buf b = { 0 };
	struct jsonw w;

	buf_init(&b, (size_t)64 << 20);
	jsonw_init(&w, &b, 0);
	jsonw_str(&w, s);
	n->kind = NODE_TEXT;
	n->text = arena_str(a, buf_str(&b));
	a->failed |= b.failed;
}

void node_z(struct arena *a, struct node *n, const char *s)
{
	node_str(a, n, str_z(s));
}

void node_u64(struct arena *a, struct node *n, uint64_t v)
{
	n->kind = NODE_TEXT;
	n->text = arena_printf(a, "%llu", (unsigned long long)v);
}

void node_num(struct arena *a, struct node *n, double v)
{
	char text[NUM_TEXT_MAX];
	struct str s = STR("null");

	n->kind = NODE_TEXT;
	(void)num_format(v, text, &s);
	n->text = arena_str(a, s);
}

void node_bool(struct node *n, bool v)
{
	n->kind = NODE_TEXT;
	n->text = v ? STR("true") : STR("false");
}

void node_strs(struct arena *a, struct node *n, struct strs list)
{
	n->kind = NODE_ARR;
	for (size_t i = 0; i < list.n; i++)
		node_str(a, node_add(a, n, (struct str){ 0 }, NODE_TEXT), list.v[i]);
}
