/* SPDX-License-Identifier: Apache-2.0 */
#include "data/json.h"

#include <math.h>

/* Digits and nothing else: a double would cut the end of a long id. */
static bool is_integer_text(struct str s)
{
	size_t i = s.n > 0 && s.p[0] == '-', start = i;

	if (i < s.n && s.p[i] == '0')
		return false; /* hexadecimal, or YAML's 010 */
	while (i < s.n && s.p[i] >= '0' && s.p[i] <= '9')
		i++;
	return i > start && i == s.n;
}

/*
 * The shortest text of a double above 2^53 may be another integer, and integers are read exactly: so a whole
 * number that fits is written in full.
 */
static bool is_whole(double v)
{
	return v >= -9223372036854775808.0 && v < 9223372036854775808.0 && v == (double)(int64_t)v;
}

static void write_number(struct jsonw *w, const struct value *v)
{
	if (isfinite(v->num) && is_integer_text(v->raw))
		jsonw_raw(w, v->raw);
	else if (is_whole(v->num))
		jsonw_i64(w, (int64_t)v->num);
	else
		jsonw_num(w, v->num);
}

/* No tree is deeper than JSON_DEPTH_MAX, and a failed buffer ends the walk. NOLINTBEGIN(misc-no-recursion) */
static void write_array(struct jsonw *w, const struct value *v)
{
	jsonw_arr(w);
	for (size_t i = 0; i < v->arr.n && !w->out->failed; i++)
		json_write(w, &v->arr.v[i]);
	jsonw_arr_end(w);
}

static void write_object(struct jsonw *w, const struct value *v)
{
	jsonw_obj(w);
	for (size_t i = 0; i < v->obj.n && !w->out->failed; i++) {
		jsonw_key(w, v->obj.m[i].key);
		json_write(w, &v->obj.m[i].v);
	}
	jsonw_obj_end(w);
}

void json_write(struct jsonw *w, const struct value *v)
{
	switch (v->kind) {
	case VALUE_BOOL:
		jsonw_bool(w, v->b);
		break;
	case VALUE_INT:
		jsonw_i64(w, v->i);
		break;
	case VALUE_NUM:
		write_number(w, v);
		break;
	case VALUE_STR:
		jsonw_str(w, v->s);
		break;
	case VALUE_ARR:
		write_array(w, v);
		break;
	case VALUE_OBJ:
		write_object(w, v);
		break;
	case VALUE_NULL:
	case VALUE_KIND_COUNT_:
		jsonw_null(w);
		break;
	}
}
/* NOLINTEND(misc-no-recursion) */
