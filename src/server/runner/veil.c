/* SPDX-License-Identifier: Apache-2.0 */
/* Names of the host's files are for administrators (C30): whoever else asks gets results and decisions without them. The logs have all of it. */
#include "server/runner/runner.h"

#include "data/json.h"
#include "server/cause.h"

static struct value *member(struct value *v, struct str key)
{
	for (size_t i = 0; v && v->kind == VALUE_OBJ && i < v->obj.n; i++)
		if (str_eq(v->obj.m[i].key, key))
			return &v->obj.m[i].v;
	return NULL;
}

static void veil_text(struct arena *a, struct value *v)
{
	_cleanup_buf_ struct buf text = { 0 };

	if (!v || v->kind != VALUE_STR)
		return;
	buf_init(&text, 2 * CAUSE_MAX);
	cause_put(&text, v->s);
	v->s = arena_str(a, buf_str(&text));
}

/* Texts, or objects with a message and where it comes from. */
static void veil_warnings(struct arena *a, struct value *v)
{
	for (size_t i = 0; v && v->kind == VALUE_ARR && i < v->arr.n; i++) {
		veil_text(a, &v->arr.v[i]);
		veil_text(a, member(&v->arr.v[i], STR("message")));
		veil_text(a, member(&v->arr.v[i], STR("source")));
	}
}

/* The values are slices of the old text. */
static void write_anew(struct buf *json, const struct value *v)
{
	struct buf out;
	struct jsonw w;

	buf_init(&out, (size_t)64 << 20);
	jsonw_init(&w, &out, 0);
	json_write(&w, v);
	buf_done(json);
	*json = out;
}

static bool read_back(struct visit *v, const struct buf *json, struct value *ret)
{
	const struct json_opts o = { .name = "result", .max_bytes = (size_t)64 << 20 };
	struct err ignored = { 0 };

	return json_parse(&v->arena, buf_str(json), &o, ret, &ignored) >= 0 && ret->kind == VALUE_OBJ;
}

void veil_result(struct visit *v, struct call_result *r)
{
	struct value said = { 0 };

	if (v->caller.admin || !(r->of_host || r->warned))
		return;
	if (!read_back(v, &r->json, &said)) {
		r->json.failed = true;
		return;
	}
	if (r->of_host)
		veil_text(&v->arena, member(&said, STR("message")));
	veil_warnings(&v->arena, member(&said, STR("warnings")));
	write_anew(&r->json, &said);
}

static void veil_reason(struct arena *a, struct value *reason)
{
	const struct value *stage = value_get(reason, STR("stage"));

	veil_text(a, member(reason, STR("source")));
	if (stage && stage->kind == VALUE_STR && str_eq(stage->s, STR("mounts")))
		veil_text(a, member(reason, STR("reason")));
}

void veil_explain(struct visit *v, struct buf *json)
{
	struct value said = { 0 }, *list, *host;

	if (v->caller.admin)
		return;
	if (!read_back(v, json, &said)) {
		json->failed = true;
		return;
	}
	list = member(&said, STR("mounts"));
	for (size_t i = 0; list && list->kind == VALUE_ARR && i < list->arr.n; i++) {
		host = member(&list->arr.v[i], STR("host"));
		if (host)
			*host = (struct value){ .kind = VALUE_NULL };
		veil_text(&v->arena, member(&list->arr.v[i], STR("origin")));
	}
	list = member(&said, STR("reasons"));
	for (size_t i = 0; list && list->kind == VALUE_ARR && i < list->arr.n; i++)
		veil_reason(&v->arena, &list->arr.v[i]);
	veil_text(&v->arena, member(&said, STR("message")));
	veil_warnings(&v->arena, member(&said, STR("warnings")));
	write_anew(json, &said);
}
