/* SPDX-License-Identifier: Apache-2.0 */
#include "tools/tools_priv.h"

#include "base/buf.h"
#include "base/clock.h"

#include <inttypes.h>
#include <stdio.h>

static const struct {
	enum value_kind kind;
	const char *name, *unit;
} types[] = {
	[TOOL_STR] = { VALUE_STR, "a string", "bytes" },
	[TOOL_INT] = { VALUE_INT, "an integer", "" },
	[TOOL_BOOL] = { VALUE_BOOL, "true or false", "" },
	[TOOL_LIST] = { VALUE_ARR, "an array", "items" },
};

static bool is_named(const struct tool_arg *row, struct str name)
{
	return str_eq(name, str_z(row->name)) || (row->alias && str_eq(name, str_z(row->alias)));
}

static int unknown(const char *where, const struct tool_arg *rows, size_t n_rows, struct str name,
		   struct err *e)
{
	_cleanup_buf_ struct buf list = { 0 };
	const char *near = NULL;

	buf_init(&list, 400);
	for (size_t i = 0; i < n_rows; i++) {
		buf_printf(&list, "%s%s", i ? ", " : "", rows[i].name);
		if (str_distance(name, str_z(rows[i].name), 2) <= 2)
			near = rows[i].name;
	}
	if (near)
		return err_set(e, ERR_USAGE,
			       "%s: unknown argument '" STR_FMT "', did you mean '%s'? It takes %s", where,
			       STR_ARG(name), near, list.p);
	return err_set(e, ERR_USAGE, "%s: unknown argument '" STR_FMT "'; it takes %s", where, STR_ARG(name),
		       n_rows ? list.p : "none");
}

static const char *kind_with_article(enum value_kind kind)
{
	static const char *const names[] = {
		[VALUE_NULL] = "null",     [VALUE_BOOL] = "a boolean", [VALUE_INT] = "an integer",
		[VALUE_NUM] = "a number",  [VALUE_STR] = "a string",   [VALUE_ARR] = "an array",
		[VALUE_OBJ] = "an object",
	};

	return names[kind];
}

/* What the range is about: the number itself, or how many bytes or items. */
static int64_t measure(const struct value *v)
{
	if (v->kind == VALUE_INT)
		return v->i;
	return v->kind == VALUE_STR ? (int64_t)v->s.n : (int64_t)v->arr.n;
}

static int check_items(const char *where, const struct tool_arg *row, const struct value *v, struct err *e)
{
	struct tool_in ignored;
	char name[96];

	for (size_t i = 0; i < v->arr.n; i++) {
		int r;

		(void)snprintf(name, sizeof(name), "%s: %s[%zu]", where, row->name, i);
		r = tools_check_args(name, row->items, row->n_items, &v->arr.v[i], &ignored, e);
		if (r < 0)
			return r;
	}
	return 0;
}

static int check_value(const char *where, const struct tool_arg *row, const struct value *v, struct err *e)
{
	int64_t n;

	if (v->kind != types[row->type].kind)
		return err_set(e, ERR_USAGE, "%s: '%s' is %s, and must be %s", where, row->name,
			       kind_with_article(v->kind), types[row->type].name);
	if (row->type == TOOL_BOOL)
		return 0;
	n = measure(v);
	if (n >= row->min && n <= row->max)
		return row->type == TOOL_LIST ? check_items(where, row, v, e) : 0;
	return err_set(e, row->type == TOOL_INT || n < row->min ? ERR_USAGE : ERR_LIMIT,
		       "%s: '%s' %s %" PRId64 "%s%s, and must be %" PRId64 "..%" PRId64, where, row->name,
		       row->type == TOOL_INT ? "is" : "has", n, row->type == TOOL_INT ? "" : " ",
		       types[row->type].unit, row->min, row->max);
}

static int take(const char *where, const struct tool_arg *rows, size_t n_rows, const struct member *m,
		struct tool_in *ret, struct err *e)
{
	for (size_t i = 0; i < n_rows; i++) {
		if (!is_named(&rows[i], m->key))
			continue;
		if (m->v.kind == VALUE_NULL)
			return 0;
		if (ret->v[i])
			return err_set(e, ERR_USAGE, "%s: '%s' is given twice, also as '%s'; give one", where,
				       rows[i].name, rows[i].alias ? rows[i].alias : rows[i].name);
		ret->v[i] = &m->v;
		return check_value(where, &rows[i], &m->v, e);
	}
	return unknown(where, rows, n_rows, m->key, e);
}

int tools_check_args(const char *where, const struct tool_arg *rows, size_t n_rows, const struct value *args,
		     struct tool_in *ret, struct err *e)
{
	*ret = (struct tool_in){ 0 };
	if (args && args->kind != VALUE_OBJ)
		return err_set(e, ERR_USAGE, "%s: the arguments are %s, and must be an object", where,
			       kind_with_article(args->kind));
	for (size_t i = 0; args && i < args->obj.n; i++) {
		int r = take(where, rows, n_rows, &args->obj.m[i], ret, e);

		if (r < 0)
			return r;
	}
	for (size_t i = 0; i < n_rows; i++)
		if (rows[i].required && !ret->v[i])
			return err_set(e, ERR_USAGE, "%s: '%s' is missing: %s, %s", where, rows[i].name,
				       types[rows[i].type].name, rows[i].help);
	return 0;
}

struct str tools_str(const struct tool_in *in, size_t row)
{
	return in->v[row] ? in->v[row]->s : (struct str){ 0 };
}

int64_t tools_int(const struct tool_in *in, size_t row, int64_t def)
{
	return in->v[row] ? in->v[row]->i : def;
}

bool tools_bool(const struct tool_in *in, size_t row)
{
	return in->v[row] && in->v[row]->b;
}

bool tools_late(const struct tool_ctx *x)
{
	return x->deadline_ms && clock_mono_ms() >= x->deadline_ms;
}

int tools_run(const struct tool *t, struct tool_ctx *x, const struct value *args, struct jsonw *w,
	      struct err *e)
{
	struct tool_in in;
	int r = tools_check_args(t->name, t->args, t->n_args, args, &in, e);

	if (r < 0)
		return r;
	r = t->run(x, &in, w, e);
	if (r < 0)
		return r;
	if (x->arena->failed)
		return err_set(e, ERR_LIMIT, "%s: needs more memory than the %zu bytes of a call", t->name,
			       x->arena->max_bytes);
	if (w->out->failed)
		return err_set(e, ERR_LIMIT, "%s: the result is larger than %zu bytes; ask for less of it",
			       t->name, w->out->max_bytes);
	return 0;
}
