/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/session.h"

#include "data/json.h"

static void put_scalar(struct buf *out, const struct value *v)
{
	struct jsonw w;

	if (v->kind == VALUE_STR) {
		buf_put_visible(out, v->s);
		return;
	}
	if (v->kind == VALUE_BOOL) {
		buf_puts(out, v->b ? "yes" : "no");
		return;
	}
	jsonw_init(&w, out, 0);
	json_write(&w, v);
}

static bool is_scalar(const struct value *v)
{
	return v->kind != VALUE_ARR && v->kind != VALUE_OBJ;
}

/* Scalars on one line. */
static bool is_short_list(const struct value *v)
{
	for (size_t i = 0; i < v->arr.n; i++)
		if (!is_scalar(&v->arr.v[i]))
			return false;
	return true;
}

static void put_list(struct buf *out, const struct value *v)
{
	for (size_t i = 0; i < v->arr.n; i++) {
		buf_puts(out, i ? ", " : "");
		put_scalar(out, &v->arr.v[i]);
	}
	if (v->arr.n == 0)
		buf_puts(out, "none");
}

static size_t longest_key(const struct value *v)
{
	size_t n = 0;

	for (size_t i = 0; i < v->obj.n; i++)
		if (v->obj.m[i].key.n > n && v->obj.m[i].key.n <= 20)
			n = v->obj.m[i].key.n;
	return n;
}

static void show_member(struct buf *out, const struct member *m, size_t width, unsigned indent)
{
	buf_printf(out, "%*s", (int)indent, "");
	buf_put_visible(out, m->key);
	if (is_scalar(&m->v) || (m->v.kind == VALUE_ARR && is_short_list(&m->v))) {
		buf_printf(out, "%*s", (int)(m->key.n < width ? width - m->key.n : 0) + 2, "");
		if (m->v.kind == VALUE_ARR)
			put_list(out, &m->v);
		else
			put_scalar(out, &m->v);
		buf_putc(out, '\n');
		return;
	}
	buf_putc(out, '\n');
	show_value(out, &m->v, indent + 2);
}

/* Depth is what the parser lets pass. */
void show_value(struct buf *out, const struct value *v, unsigned indent)
{
	if (v->kind == VALUE_OBJ) {
		size_t width = longest_key(v);

		for (size_t i = 0; i < v->obj.n; i++)
			if (v->obj.m[i].v.kind != VALUE_NULL)
				show_member(out, &v->obj.m[i], width, indent);
		return;
	}
	if (v->kind == VALUE_ARR) {
		for (size_t i = 0; i < v->arr.n; i++) {
			if (i && !is_scalar(&v->arr.v[i]))
				buf_putc(out, '\n');
			show_value(out, &v->arr.v[i], indent);
		}
		return;
	}
	buf_printf(out, "%*s", (int)indent, "");
	put_scalar(out, v);
	buf_putc(out, '\n');
}
