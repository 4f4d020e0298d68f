/* SPDX-License-Identifier: Apache-2.0 */
#include "data/value.h"

#include "data/index_priv.h"

#include <assert.h>

/* clang-format off */
static const char *const kind_name[] = {
	[VALUE_NULL] = "null",
	[VALUE_BOOL] = "boolean",
	[VALUE_INT]  = "integer",
	[VALUE_NUM]  = "number",
	[VALUE_STR]  = "string",
	[VALUE_ARR]  = "array",
	[VALUE_OBJ]  = "object",
};
/* clang-format on */
static_assert(sizeof(kind_name) / sizeof(kind_name[0]) == VALUE_KIND_COUNT_, "every kind has a name");

const char *value_kind_name(enum value_kind kind)
{
	return kind < VALUE_KIND_COUNT_ ? kind_name[kind] : "unknown";
}

const struct member *value_member(const struct value *v, struct str key)
{
	if (!v || v->kind != VALUE_OBJ)
		return NULL;
	if (index_usable(v))
		return index_find(v, key);
	for (size_t i = v->obj.n; i > 0; i--)
		if (str_eq(v->obj.m[i - 1].key, key))
			return &v->obj.m[i - 1];
	return NULL;
}

const struct value *value_get(const struct value *v, struct str key)
{
	const struct member *m = value_member(v, key);

	return m ? &m->v : NULL;
}

const struct value *value_path(const struct value *v, const char *dotted)
{
	struct str rest = str_z(dotted), head, tail;

	while (v && str_cut(rest, '.', &head, &tail)) {
		v = value_get(v, head);
		rest = tail;
	}
	return value_get(v, rest);
}

static bool is_number(const struct value *v)
{
	return v->kind == VALUE_INT || v->kind == VALUE_NUM;
}

/* Exact: above 2^53 a double may equal an integer only in the rounding of the conversion. */
static bool int_equals_num(int64_t i, double num)
{
	return num >= -9223372036854775808.0 && num < 9223372036854775808.0 && (int64_t)num == i &&
	       (double)(int64_t)num == num;
}

/* NaN equals NaN here: it is the same thing written down. */
static bool numbers_equal(const struct value *a, const struct value *b)
{
	if (a->kind == VALUE_INT && b->kind == VALUE_INT)
		return a->i == b->i;
	if (a->kind == VALUE_INT)
		return int_equals_num(a->i, b->num);
	if (b->kind == VALUE_INT)
		return int_equals_num(b->i, a->num);
	return a->num == b->num || (a->num != a->num && b->num != b->num);
}

/* No parser makes a tree deeper than JSON_DEPTH_MAX. NOLINTBEGIN(misc-no-recursion) */
static bool arrays_equal(const struct value *a, const struct value *b)
{
	if (a->arr.n != b->arr.n)
		return false;
	for (size_t i = 0; i < a->arr.n; i++)
		if (!value_equal(&a->arr.v[i], &b->arr.v[i]))
			return false;
	return true;
}

/* Keys are unique, so equal counts and every member of one found in the other is enough. */
static bool objects_equal(const struct value *a, const struct value *b)
{
	if (a->obj.n != b->obj.n)
		return false;
	for (size_t i = 0; i < a->obj.n; i++) {
		const struct value *other = value_get(b, a->obj.m[i].key);

		if (!other || !value_equal(&a->obj.m[i].v, other))
			return false;
	}
	return true;
}

bool value_equal(const struct value *a, const struct value *b)
{
	if (is_number(a) && is_number(b))
		return numbers_equal(a, b);
	if (a->kind != b->kind)
		return false;
	switch (a->kind) {
	case VALUE_NULL:
		return true;
	case VALUE_BOOL:
		return a->b == b->b;
	case VALUE_STR:
		return str_eq(a->s, b->s);
	case VALUE_ARR:
		return arrays_equal(a, b);
	case VALUE_OBJ:
		return objects_equal(a, b);
	case VALUE_INT:
	case VALUE_NUM:
	case VALUE_KIND_COUNT_:
		break;
	}
	return false;
}
/* NOLINTEND(misc-no-recursion) */
