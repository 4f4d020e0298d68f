/* SPDX-License-Identifier: Apache-2.0 */
#include "server/refusal.h"

#include "base/utf8.h"
#include "data/json.h"

#include <stdio.h>

static const struct member_at {
	const char *key;
	size_t offset; /* of its slice in struct refusal */
} members[] = {
	{ "code", offsetof(struct refusal, code) },
	{ "stage", offsetof(struct refusal, stage) },
	{ "message", offsetof(struct refusal, message) },
	{ "route", offsetof(struct refusal, route) },
	{ "request_id", offsetof(struct refusal, request_id) },
	{ "token", offsetof(struct refusal, token) },
	{ "peer", offsetof(struct refusal, peer) },
	{ "agent", offsetof(struct refusal, agent) },
	{ "channel", offsetof(struct refusal, channel) },
	{ "chat_id", offsetof(struct refusal, chat_id) },
	{ "user_id", offsetof(struct refusal, user_id) },
	{ "tool", offsetof(struct refusal, tool) },
};
enum { N_MEMBERS = sizeof(members) / sizeof(members[0]), DEPTH_MAX = 4, VALUES_MAX = REFUSALS_MAX * 16 };

static const struct member_at *find(struct str key)
{
	for (size_t i = 0; i < N_MEMBERS; i++)
		if (str_eq(key, str_z(members[i].key)))
			return &members[i];
	return NULL;
}

void refusal_put(struct jsonw *w, const struct refusal *r)
{
	jsonw_obj(w);
	for (size_t i = 0; i < N_MEMBERS; i++) {
		struct str text = *(const struct str *)(const void *)((const char *)r + members[i].offset);

		if (text.n)
			jsonw_kstr(w, members[i].key, utf8_prefix(text, REFUSAL_TEXT_MAX));
	}
	jsonw_obj_end(w);
}

static bool refuse(struct wire_fault *f, const char *text)
{
	*f = (struct wire_fault){ .status = 422, .word = "schema" };
	(void)snprintf(f->text, sizeof(f->text), "%.150s", text);
	return false;
}

static bool read_one(const struct value *v, struct refusal *ret, struct wire_fault *f)
{
	if (v->kind != VALUE_OBJ)
		return refuse(f, "'refused': one is not an object");
	for (size_t i = 0; i < v->obj.n; i++) {
		const struct member_at *m = find(v->obj.m[i].key);
		const struct value *text = &v->obj.m[i].v;

		if (!m)
			return refuse(f, "'refused': a member is not known here");
		if (text->kind != VALUE_STR || text->s.n > REFUSAL_TEXT_MAX)
			return refuse(f, "'refused': a member is not a string, or too long");
		*(struct str *)(void *)((char *)ret + m->offset) = text->s;
	}
	return ret->code.n || refuse(f, "'refused': 'code' is missing");
}

bool refusals_read(struct arena *a, struct str body, struct refusals *ret, struct wire_fault *fault)
{
	const struct json_opts o = { .name = "body",
				     .max_depth = DEPTH_MAX,
				     .max_bytes = REFUSALS_BODY_MAX,
				     .max_values = VALUES_MAX };
	const struct value *list, *untold;
	struct value v;
	struct err e = { 0 };

	*ret = (struct refusals){ 0 };
	if (json_parse(a, body, &o, &v, &e) < 0)
		return refuse(fault, e.msg);
	list = v.kind == VALUE_OBJ ? value_get(&v, STR("refused")) : NULL;
	untold = v.kind == VALUE_OBJ ? value_get(&v, STR("untold")) : NULL;
	if (!list || list->kind != VALUE_ARR || list->arr.n > REFUSALS_MAX || !untold ||
	    untold->kind != VALUE_INT || untold->i < 0 || v.obj.n != 2)
		return refuse(fault, "{\"untold\": number, \"refused\": [at most 256]} is accepted here");
	ret->untold = (uint64_t)untold->i;
	for (size_t i = 0; i < list->arr.n; i++)
		if (!read_one(&list->arr.v[i], &ret->v[i], fault))
			return false;
	ret->n = list->arr.n;
	return true;
}
