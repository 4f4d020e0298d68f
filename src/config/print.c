/* SPDX-License-Identifier: Apache-2.0 */
/* Writes a tree of nodes. Depth is bounded by whoever built it: a config is at most a few levels deep. */
#include "config/node_priv.h"

#define LINE_MAX_COLUMNS 100

struct style {
	bool json5, origin, wrap_origin;
};

static void indent(struct buf *out, unsigned depth)
{
	for (unsigned i = 0; i < depth; i++)
		buf_puts(out, "  ");
}

static bool is_word(struct str s)
{
	return env_name_valid(s); /* what is a variable's name needs no quotes in JSON5 */
}

static void put_string(struct buf *out, struct str s)
{
	struct jsonw w;

	jsonw_init(&w, out, 0);
	jsonw_str(&w, s);
}

static void put_key(struct buf *out, const struct style *st, struct str key)
{
	if (st->json5 && is_word(key))
		buf_put(out, key);
	else
		put_string(out, key);
	buf_puts(out, ": ");
}

/* Columns of the children on one line, or more than fits. Only lists of plain values go on one line. */
static size_t flat_columns(const struct node *n)
{
	size_t columns = 2;

	for (const struct node *c = n->first; c; c = c->next) {
		columns += c->text.n + 2;
		if (n->kind != NODE_ARR || c->kind != NODE_TEXT || columns > LINE_MAX_COLUMNS)
			return LINE_MAX_COLUMNS + 1;
	}
	return columns;
}

/* As deep as the tree, and who builds it keeps it shallow. NOLINTBEGIN(misc-no-recursion) */
static void put_value(struct buf *out, const struct style *st, const struct node *n, unsigned depth);

static void put_flat(struct buf *out, const struct node *n)
{
	buf_putc(out, '[');
	for (const struct node *c = n->first; c; c = c->next) {
		buf_put(out, c->text);
		if (c->next)
			buf_puts(out, ", ");
	}
	buf_putc(out, ']');
}

static void put_origin_comment(struct buf *out, const struct style *st, const struct node *n)
{
	if (!st->origin || !n->origin)
		return;
	buf_puts(out, " // ");
	origin_put(out, n->origin);
}

static void put_children(struct buf *out, const struct style *st, const struct node *n, unsigned depth)
{
	buf_putc(out, n->kind == NODE_OBJ ? '{' : '[');
	for (const struct node *c = n->first; c; c = c->next) {
		buf_putc(out, '\n');
		indent(out, depth + 1);
		if (n->kind == NODE_OBJ)
			put_key(out, st, c->key);
		put_value(out, st, c, depth + 1);
		if (st->json5 || c->next)
			buf_putc(out, ',');
		put_origin_comment(out, st, c);
	}
	buf_putc(out, '\n');
	indent(out, depth);
	buf_putc(out, n->kind == NODE_OBJ ? '}' : ']');
}

static void put_bare(struct buf *out, const struct style *st, const struct node *n, unsigned depth)
{
	if (n->kind == NODE_TEXT)
		buf_put(out, n->text);
	else if (!n->first)
		buf_puts(out, n->kind == NODE_OBJ ? "{}" : "[]");
	else if (flat_columns(n) <= LINE_MAX_COLUMNS)
		put_flat(out, n);
	else
		put_children(out, st, n, depth);
}

static void put_value(struct buf *out, const struct style *st, const struct node *n, unsigned depth)
{
	_cleanup_buf_ struct buf text = { 0 };

	if (!st->wrap_origin || !n->origin) {
		put_bare(out, st, n, depth);
		return;
	}
	buf_init(&text, 8192);
	origin_put(&text, n->origin);
	buf_puts(out, "{ \"value\": ");
	put_bare(out, st, n, depth);
	buf_puts(out, ", \"origin\": ");
	put_string(out, buf_str(&text));
	buf_puts(out, " }");
}

/* NOLINTEND(misc-no-recursion) */

void print_json5(struct buf *out, const struct node *root, bool with_origin)
{
	const struct style st = { .json5 = true, .origin = with_origin };

	put_value(out, &st, root, 0);
	buf_putc(out, '\n');
}

void print_json(struct buf *out, const struct node *root, bool with_origin)
{
	const struct style st = { .wrap_origin = with_origin };

	put_value(out, &st, root, 0);
	buf_putc(out, '\n');
}

/* Quoted scalars only: no plain word of YAML can then mean something else. NOLINTBEGIN(misc-no-recursion) */
static void put_yaml(struct buf *out, const struct node *n, unsigned depth, bool in_list)
{
	for (const struct node *c = n->first; c; c = c->next) {
		if (!in_list || c != n->first)
			indent(out, depth);
		if (n->kind == NODE_ARR)
			buf_puts(out, "- ");
		else if (is_word(c->key))
			buf_put(out, c->key);
		else
			put_string(out, c->key);
		if (n->kind == NODE_OBJ)
			buf_putc(out, ':');
		if (c->kind == NODE_TEXT || !c->first || flat_columns(c) <= LINE_MAX_COLUMNS) {
			buf_puts(out, n->kind == NODE_OBJ ? " " : "");
			put_bare(out, &(struct style){ 0 }, c, 0);
			buf_putc(out, '\n');
			continue;
		}
		if (n->kind == NODE_OBJ)
			buf_putc(out, '\n');
		put_yaml(out, c, depth + 1, n->kind == NODE_ARR);
	}
}

/* NOLINTEND(misc-no-recursion) */

void print_yaml(struct buf *out, const struct node *root)
{
	if (root->first)
		put_yaml(out, root, 0, false);
	else
		buf_puts(out, "{}\n");
}
