/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The text form of a value, as `-e key=value`, the defaults and the profiles write it: plain words and numbers, lists
 * split at commas, NAME=value pairs split at commas; or JSON5 when it starts with a bracket.
 */
#include "config/set_priv.h"

#include "base/num.h"
#include "base/parse.h"
#include "data/json.h"

static struct value at_same_place(const struct value *v, enum value_kind kind)
{
	return (struct value){ .kind = kind, .line = v->line, .col = v->col };
}

static struct value text_value(const struct value *like, struct str s)
{
	struct value v = at_same_place(like, VALUE_STR);

	v.s = s;
	return v;
}

static size_t count_parts(struct str s)
{
	size_t n = s.n > 0;

	for (size_t i = 0; i < s.n; i++)
		n += s.p[i] == ',';
	return n;
}

static struct str next_part(struct str *rest)
{
	struct str part;

	if (!str_cut(*rest, ',', &part, rest)) {
		part = *rest;
		*rest = (struct str){ 0 };
	}
	return str_trim(part);
}

static bool split_list(const struct set *t, struct str text, struct value *ret)
{
	size_t n = count_parts(text);
	struct value *v = ARENA_ARRAY(t->l->a, struct value, n);

	if (!v)
		return false;
	*ret = at_same_place(t->v, VALUE_ARR);
	for (size_t i = 0; i < n; i++)
		v[i] = text_value(t->v, next_part(&text));
	ret->arr.v = v;
	ret->arr.n = n;
	return true;
}

static bool split_pairs(const struct set *t, struct str text, struct value *ret)
{
	size_t n = count_parts(text);
	struct member *m = ARENA_ARRAY(t->l->a, struct member, n);

	if (!m)
		return false;
	*ret = at_same_place(t->v, VALUE_OBJ);
	for (size_t i = 0; i < n; i++) {
		struct str part = next_part(&text);

		m[i] = (struct member){
			.key = part, .line = t->v->line, .col = t->v->col, .v = text_value(t->v, STR(""))
		};
		if (!str_cut(part, '=', &m[i].key, &m[i].v.s)) {
			bad(t->l, t->at, t->v, "wrong_type",
			    "expected NAME=value, split at commas, or {json}");
			return false;
		}
	}
	ret->obj.m = m;
	ret->obj.n = n;
	return true;
}

static bool parse_json(const struct set *t, struct str text, struct value *ret)
{
	struct json_opts opts = { .name = "value", .json5 = true };
	struct err e = { 0 };

	if (json_parse(t->l->a, text, &opts, ret, &e) == 0)
		return true;
	bad(t->l, t->at, t->v, "bad_syntax", "%s", e.msg);
	return false;
}

static bool integer_from(struct str text, struct value *ret)
{
	uint64_t u;

	if (str_to_u64(text, INT64_MAX, &u) < 0)
		return false;
	ret->kind = VALUE_INT;
	ret->i = (int64_t)u;
	ret->raw = text;
	return true;
}

static bool number_from(struct str text, struct value *ret)
{
	ret->kind = VALUE_NUM;
	ret->raw = text;
	return num_parse(text, &ret->num) == 0;
}

static bool bool_from(struct str text, struct value *ret)
{
	ret->kind = VALUE_BOOL;
	ret->b = str_eq(text, STR("true"));
	return ret->b || str_eq(text, STR("false"));
}

bool set_from_text(const struct set *t, struct value *ret)
{
	struct str text = str_trim(t->v->s);
	bool is_array = str_starts(text, STR("[")), is_object = str_starts(text, STR("{"));

	*ret = *t->v;
	switch (t->info->type) {
	case TYPE_BOOL:
		return bool_from(text, ret) || set_wrong_type(t->l, t->at, t->v, "true or false");
	case TYPE_U64:
		return integer_from(text, ret) || set_wrong_type(t->l, t->at, t->v, "an integer");
	case TYPE_NUM:
		return number_from(text, ret) || set_wrong_type(t->l, t->at, t->v, "a number");
	case TYPE_LIST:
	case TYPE_BINDS:
		return is_array ? parse_json(t, text, ret) : split_list(t, text, ret);
	case TYPE_MAP:
	case TYPE_ENV:
		return is_object ? parse_json(t, text, ret) : split_pairs(t, text, ret);
	case TYPE_LAYERS:
	case TYPE_LISTMAP:
		return text.n == 0 ? split_pairs(t, text, ret) : parse_json(t, text, ret);
	case TYPE_SIZE:
	case TYPE_ENUM:
	case TYPE_STR:
	case TYPE_REF:
		break;
	}
	return true;
}
