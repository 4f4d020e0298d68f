/* SPDX-License-Identifier: Apache-2.0 */
#include "tools/tools_priv.h"

#include "base/buf.h"
#include "base/clock.h"

#include <assert.h>
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
	[TOOL_NUM] = { VALUE_NUM, "a number", "" },
	[TOOL_STRS] = { VALUE_ARR, "an array of strings", "items" },
	[TOOL_COMMAND] = { VALUE_ARR, "a string or an array of strings", "bytes" },
	[TOOL_MAP] = { VALUE_OBJ, "an object of strings", "bytes" },
};
static_assert(sizeof(types) / sizeof(types[0]) == TOOL_TYPE_COUNT_, "every type has a row");

bool tools_has_word(const char *words, struct str name, bool nocase)
{
	struct str rest = str_z(words ? words : ""), one;

	while (rest.n > 0) {
		if (!str_cut(rest, ' ', &one, &rest)) {
			one = rest;
			rest.n = 0;
		}
		if (nocase ? str_eq_nocase(one, name) : str_eq(one, name))
			return true;
	}
	return false;
}

static bool is_named(const struct tool_arg *row, struct str name)
{
	return str_eq(name, str_z(row->name)) || tools_has_word(row->alias, name, false);
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

static int64_t bytes_of_strings(const struct value *v)
{
	int64_t n = 0;

	for (size_t i = 0; v->kind == VALUE_ARR && i < v->arr.n; i++)
		n += (int64_t)v->arr.v[i].s.n + 1;
	for (size_t i = 0; v->kind == VALUE_OBJ && i < v->obj.n; i++)
		n += (int64_t)v->obj.m[i].key.n + (int64_t)v->obj.m[i].v.s.n + 2;
	return n;
}

/* Upwards: half a second is not none. */
static int64_t whole(double d)
{
	int64_t n = d < -1e15 ? -1000000000000000 : d > 1e15 ? 1000000000000000 : (int64_t)d;

	return (double)n < d ? n + 1 : n;
}

/* What the range is about: the number itself, or how many bytes or items. */
static int64_t measure(enum tool_type type, const struct value *v)
{
	if (v->kind == VALUE_INT)
		return v->i;
	if (v->kind == VALUE_NUM)
		return whole(v->num);
	if (v->kind == VALUE_STR)
		return (int64_t)v->s.n;
	return v->kind == VALUE_OBJ || type == TOOL_COMMAND ? bytes_of_strings(v) : (int64_t)v->arr.n;
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

static int bad_kind(const char *where, const struct tool_arg *row, const char *member, struct str key,
		    const struct value *v, struct err *e)
{
	return err_set(e, ERR_USAGE, "%s: '%s'%s" STR_FMT " is %s, and must be %s", where, row->name, member,
		       STR_ARG(key), kind_with_article(v->kind),
		       member[0] ? types[TOOL_STR].name : types[row->type].name);
}

/* The members of a command or a map are strings. */
static int check_strings(const char *where, const struct tool_arg *row, const struct value *v, struct err *e)
{
	char at[24];

	for (size_t i = 0; v->kind == VALUE_ARR && i < v->arr.n; i++)
		if (v->arr.v[i].kind != VALUE_STR) {
			(void)snprintf(at, sizeof(at), "%zu", i);
			return bad_kind(where, row, " item ", str_z(at), &v->arr.v[i], e);
		}
	for (size_t i = 0; v->kind == VALUE_OBJ && i < v->obj.n; i++)
		if (v->obj.m[i].v.kind != VALUE_STR)
			return bad_kind(where, row, " member ", v->obj.m[i].key, &v->obj.m[i].v, e);
	return 0;
}

static bool is_kind(const struct tool_arg *row, enum value_kind kind)
{
	return kind == types[row->type].kind || (row->type == TOOL_NUM && kind == VALUE_INT) ||
	       (row->type == TOOL_COMMAND && kind == VALUE_STR);
}

static int check_value(const char *where, const struct tool_arg *row, const struct value *v, struct err *e)
{
	bool number = row->type == TOOL_INT || row->type == TOOL_NUM;
	int64_t n;
	int r;

	if (!is_kind(row, v->kind))
		return bad_kind(where, row, "", STR(""), v, e);
	if (row->type == TOOL_BOOL)
		return 0;
	r = row->type == TOOL_LIST ? 0 : check_strings(where, row, v, e);
	if (r < 0)
		return r;
	n = measure(row->type, v);
	if (n >= row->min && n <= row->max)
		return row->type == TOOL_LIST ? check_items(where, row, v, e) : 0;
	return err_set(e, number || n < row->min ? ERR_USAGE : ERR_LIMIT,
		       "%s: '%s' %s %" PRId64 "%s%s, and must be %" PRId64 "..%" PRId64, where, row->name,
		       number ? "is" : "has", n, number ? "" : " ", types[row->type].unit, row->min,
		       row->max);
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
	if (!in->v[row])
		return def;
	return in->v[row]->kind == VALUE_NUM ? whole(in->v[row]->num) : in->v[row]->i;
}

bool tools_bool(const struct tool_in *in, size_t row)
{
	return in->v[row] && in->v[row]->b;
}

bool tools_late(const struct tool_ctx *x)
{
	return x->deadline_ms && clock_mono_ms() >= x->deadline_ms;
}

static struct str named_path(const struct tool *t, const struct tool_in *in)
{
	for (size_t i = 0; i < t->n_args; i++)
		if (t->args[i].type == TOOL_STR && strcmp(t->args[i].name, "path") == 0)
			return in->v[i] ? in->v[i]->s : (struct str){ 0 };
	return (struct str){ 0 };
}

int tools_ask(const struct tool *t, struct arena *a, const struct value *args, struct tool_ask *ret,
	      struct err *e)
{
	struct tool_in in;
	int r = tools_check_args(t->name, t->args, t->n_args, args, &in, e);

	*ret = (struct tool_ask){ 0 };
	if (r < 0)
		return r;
	ret->path = named_path(t, &in);
	if (!t->ask)
		return 0;
	r = t->ask(a, &in, ret, e);
	if (r < 0)
		return r;
	return a->failed ? err_set(e, ERR_LIMIT, "%s: needs more memory than the %zu bytes of a call",
				   t->name, a->max_bytes)
			 : 0;
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
