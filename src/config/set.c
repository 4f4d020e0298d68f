/* SPDX-License-Identifier: Apache-2.0 */
/* Puts one checked value into the settings: the scalars, references and plain lists. */
#include "config/set_priv.h"

#include "base/num.h"
#include "base/parse.h"
#include "data/json.h"

#include <errno.h>

bool set_wrong_type(struct load *l, const struct at *at, const struct value *v, const char *expected)
{
	struct str got = value_quote(l, v);

	bad(l, at, v, "wrong_type", "expected %s, found " STR_FMT, expected, STR_ARG(got));
	return false;
}

bool set_too_many(struct load *l, const struct at *at, const struct value *v, size_t n)
{
	bad(l, at, v, "too_many", "%zu entries, accepted: at most %d", n, LIST_MAX);
	return false;
}

void set_done(const struct set *t)
{
	t->s->has[t->id] = true;
	t->s->origin[t->id] = origin_of(t->at, t->v);
}

bool set_text(struct load *l, const struct at *at, const struct value *v, struct str *ret)
{
	if (v->kind != VALUE_STR)
		return set_wrong_type(l, at, v, "a string");
	if (v->s.n && memchr(v->s.p, '\0', v->s.n)) {
		bad(l, at, v, "nul_in_string", "holds a NUL character, accepted: text without it");
		return false;
	}
	*ret = v->s;
	return true;
}

static bool number_text(struct load *l, const struct value *v, struct str *ret)
{
	if (v->kind != VALUE_INT && v->kind != VALUE_NUM)
		return false;
	*ret = v->raw.n ? v->raw : value_quote(l, v);
	return true;
}

bool set_texts(struct load *l, const struct at *at, const struct value *v, bool numbers_too, struct strs *ret)
{
	struct str *list;
	bool ok = true;

	if (v->kind != VALUE_ARR)
		return set_wrong_type(l, at, v, "an array of strings");
	if (v->arr.n > LIST_MAX)
		return set_too_many(l, at, v, v->arr.n);
	list = ARENA_ARRAY(l->a, struct str, v->arr.n);
	if (!list)
		return false;
	for (size_t i = 0; i < v->arr.n; i++) {
		struct at down = at_index(l, at, i);

		if (!(numbers_too && number_text(l, &v->arr.v[i], &list[i])))
			ok = set_text(l, &down, &v->arr.v[i], &list[i]) && ok;
	}
	*ret = (struct strs){ .v = list, .n = v->arr.n };
	return ok;
}

static bool holds(struct strs list, struct str s)
{
	for (size_t i = 0; i < list.n; i++)
		if (str_eq(list.v[i], s))
			return true;
	return false;
}

/* `first`, then what `more` adds to it. */
struct strs load_unite(struct load *l, struct strs first, struct strs more)
{
	struct str *v = ARENA_ARRAY(l->a, struct str, first.n + more.n);
	struct strs all = { .v = v, .n = first.n };

	if (!v)
		return first;
	if (first.n)
		memcpy(v, first.v, first.n * sizeof(*v));
	for (size_t i = 0; i < more.n; i++)
		if (!holds(all, more.v[i]))
			v[all.n++] = more.v[i];
	return all;
}

static struct strs copy(struct load *l, struct strs list)
{
	struct str *v = ARENA_ARRAY(l->a, struct str, list.n);

	if (!v)
		return (struct strs){ 0 };
	if (list.n)
		memcpy(v, list.v, list.n * sizeof(*v));
	return (struct strs){ .v = v, .n = list.n };
}

static bool holds_env(const struct value *v)
{
	bool any = v->kind == VALUE_STR && v->from_env;

	for (size_t i = 0; v->kind == VALUE_ARR && i < v->arr.n; i++)
		any |= holds_env(&v->arr.v[i]);
	for (size_t i = 0; v->kind == VALUE_OBJ && i < v->obj.n; i++)
		any |= holds_env(&v->obj.m[i].v);
	return any;
}

static void write_raw(struct jsonw *w, const struct value *v)
{
	if (v->kind == VALUE_STR) {
		jsonw_str(w, v->from_env ? v->raw : v->s);
	} else if (v->kind == VALUE_ARR) {
		jsonw_arr(w);
		for (size_t i = 0; i < v->arr.n; i++)
			write_raw(w, &v->arr.v[i]);
		jsonw_arr_end(w);
	} else if (v->kind == VALUE_OBJ) {
		jsonw_obj(w);
		for (size_t i = 0; i < v->obj.n; i++) {
			jsonw_key(w, v->obj.m[i].key);
			write_raw(w, &v->obj.m[i].v);
		}
		jsonw_obj_end(w);
	} else {
		json_write(w, v);
	}
}

struct str set_raw_json(struct load *l, const struct value *v)
{
	_cleanup_buf_ struct buf b;
	struct jsonw w;

	buf_init(&b, (size_t)1 << 20);
	if (!holds_env(v))
		return (struct str){ 0 };
	jsonw_init(&w, &b, 0);
	write_raw(&w, v);
	return b.failed ? STR("[]") : arena_str(l->a, buf_str(&b));
}

static bool set_list(const struct set *t)
{
	struct strs list;
	struct origin o;
	bool ok = true;

	if (!set_texts(t->l, t->at, t->v, false, &list))
		return false;
	for (size_t i = 0; i < list.n; i++) {
		struct at down = at_index(t->l, t->at, i);

		ok = check_text(t, list.v[i], &t->v->arr.v[i], &down) && ok;
	}
	o = origin_of(t->at, t->v);
	o.raw = set_raw_json(t->l, t->v);
	return ok && load_set_list(t->l, t->s, t->id, list, &o);
}

static bool set_bool(const struct set *t)
{
	if (t->v->kind != VALUE_BOOL)
		return set_wrong_type(t->l, t->at, t->v, "true or false");
	*(bool *)option_field(t->s, t->id) = t->v->b;
	set_done(t);
	return true;
}

static bool out_of_range(const struct set *t, const char *what)
{
	char min[NUM_TEXT_MAX] = "0", max[NUM_TEXT_MAX] = "0";
	struct str got = value_quote(t->l, t->v), s;

	(void)num_format(t->info->min, min, &s);
	(void)num_format(t->info->max, max, &s);
	bad(t->l, t->at, t->v, "out_of_range", STR_FMT " is not %s, accepted: %s to %s", STR_ARG(got), what,
	    min, max);
	return false;
}

static bool in_range(const struct option_info *info, double v)
{
	return v >= info->min && v <= info->max; /* false for NaN */
}

static bool set_u64(const struct set *t)
{
	if (t->v->kind != VALUE_INT && t->v->kind != VALUE_NUM)
		return set_wrong_type(t->l, t->at, t->v, "an integer");
	if (t->v->kind != VALUE_INT)
		return out_of_range(t, "an integer in range");
	if (t->v->i < 0 || !in_range(t->info, (double)t->v->i))
		return out_of_range(t, "in range");
	*(uint64_t *)option_field(t->s, t->id) = (uint64_t)t->v->i;
	set_done(t);
	return true;
}

static bool set_num(const struct set *t)
{
	double d = t->v->kind == VALUE_INT ? (double)t->v->i : t->v->num;

	if (t->v->kind != VALUE_INT && t->v->kind != VALUE_NUM)
		return set_wrong_type(t->l, t->at, t->v, "a number");
	if (!in_range(t->info, d))
		return out_of_range(t, "in range");
	*(double *)option_field(t->s, t->id) = d;
	set_done(t);
	return true;
}

static bool set_size(const struct set *t)
{
	uint64_t bytes;
	int r;

	if (t->v->kind == VALUE_INT || t->v->kind == VALUE_NUM)
		return set_u64(t);
	if (t->v->kind != VALUE_STR)
		return set_wrong_type(t->l, t->at, t->v, "a size (bytes, or text like '512m')");
	r = parse_size(t->v->s, UINT64_MAX, &bytes);
	if (r == -EINVAL)
		return set_wrong_type(t->l, t->at, t->v, "a size (bytes, or text like '512m')");
	if (r < 0 || !in_range(t->info, (double)bytes))
		return out_of_range(t, "in range");
	*(uint64_t *)option_field(t->s, t->id) = bytes;
	set_done(t);
	return true;
}

static bool set_enum(const struct set *t)
{
	const char *near;
	char accepted[256];
	struct str got;

	if (t->v->kind == VALUE_STR &&
	    enum_value(t->info->names, t->v->s, false, option_field(t->s, t->id))) {
		set_done(t);
		return true;
	}
	enum_list(t->info->names, accepted, sizeof(accepted));
	if (t->v->kind != VALUE_STR)
		return set_wrong_type(t->l, t->at, t->v, accepted);
	got = value_quote(t->l, t->v);
	near = t->v->from_env ? NULL : enum_closest(t->info->names, t->v->s);
	bad(t->l, t->at, t->v, "unknown_value", "unknown value " STR_FMT ", accepted: %s%s%s%s", STR_ARG(got),
	    accepted, near ? "; did you mean '" : "", near ? near : "", near ? "'?" : "");
	return false;
}

static bool set_str(const struct set *t)
{
	struct str s;

	if (!set_text(t->l, t->at, t->v, &s) || !check_text(t, s, t->v, t->at))
		return false;
	*(struct str *)option_field(t->s, t->id) = s;
	set_done(t);
	return true;
}

bool load_parse_ref(struct str text, struct secret_ref *ret)
{
	if (str_starts(text, STR("env:")) && env_name_valid(str_from(text, 4))) {
		*ret = (struct secret_ref){ .kind = REF_ENV, .text = str_from(text, 4) };
		return true;
	}
	if (str_starts(text, STR("raw:")) && text.n > 4) {
		*ret = (struct secret_ref){ .kind = REF_RAW, .text = str_from(text, 4) };
		return true;
	}
	return false;
}

static bool set_ref(const struct set *t)
{
	struct secret_ref ref;
	struct str s;

	if (t->v->kind != VALUE_STR) {
		bad(t->l, t->at, t->v, "wrong_type", "expected env:NAME or raw:VALUE");
		return false;
	}
	if (!set_text(t->l, t->at, t->v, &s))
		return false;
	if (!load_parse_ref(s, &ref)) { /* the text may be a secret: it is not repeated */
		bad(t->l, t->at, t->v, "bad_ref",
		    "not a reference to a secret, accepted: env:NAME or raw:VALUE");
		return false;
	}
	*(struct secret_ref *)option_field(t->s, t->id) = ref;
	set_done(t);
	return true;
}

static bool (*const setters[])(const struct set *) = {
	[TYPE_BOOL] = set_bool,   [TYPE_U64] = set_u64,       [TYPE_NUM] = set_num,
	[TYPE_SIZE] = set_size,   [TYPE_ENUM] = set_enum,     [TYPE_STR] = set_str,
	[TYPE_LIST] = set_list,   [TYPE_MAP] = set_map,       [TYPE_ENV] = set_env,
	[TYPE_BINDS] = set_binds, [TYPE_LAYERS] = set_layers, [TYPE_LISTMAP] = set_listmap,
	[TYPE_REF] = set_ref,
};

static bool null_is_unset(const struct option_info *info)
{
	return info->def[0] == '\0' && (info->type == TYPE_STR || info->type == TYPE_REF);
}

bool load_set(struct load *l, struct settings *s, enum option id, const struct value *v, const struct at *at,
	      bool from_text)
{
	const struct option_info *info = option_info(id);
	struct set t = { .l = l, .s = s, .id = id, .info = info, .v = v, .at = at };
	struct value from;

	if (v->kind == VALUE_NULL && null_is_unset(info))
		return true;
	if (from_text && v->kind == VALUE_STR) {
		if (!set_from_text(&t, &from))
			return false;
		t.v = &from;
	}
	return setters[info->type](&t);
}

/* Values that a reader has checked itself. */
static bool said(struct load *l, struct settings *s, enum option id, const struct origin *o)
{
	s->has[id] = true;
	s->origin[id] = *o;
	return !l->a->failed;
}

bool load_set_str(struct load *l, struct settings *s, enum option id, struct str text, const struct origin *o)
{
	*(struct str *)option_field(s, id) = text;
	return said(l, s, id, o);
}

bool load_set_enum(struct load *l, struct settings *s, enum option id, int value, const struct origin *o)
{
	*(int *)option_field(s, id) = value;
	return said(l, s, id, o);
}

bool load_set_bool(struct load *l, struct settings *s, enum option id, bool value, const struct origin *o)
{
	*(bool *)option_field(s, id) = value;
	return said(l, s, id, o);
}

bool load_set_u64(struct load *l, struct settings *s, enum option id, uint64_t value, const struct origin *o)
{
	*(uint64_t *)option_field(s, id) = value;
	return said(l, s, id, o);
}

bool load_set_list(struct load *l, struct settings *s, enum option id, struct strs list,
		   const struct origin *o)
{
	struct strs *field = option_field(s, id);

	*field = option_is_deny(id) && s->has[id] ? load_unite(l, *field, list) : copy(l, list);
	return said(l, s, id, o);
}

bool load_set_ref(struct load *l, struct settings *s, enum option id, struct secret_ref ref,
		  const struct origin *o)
{
	*(struct secret_ref *)option_field(s, id) = ref;
	return said(l, s, id, o);
}
