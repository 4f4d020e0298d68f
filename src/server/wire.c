/* SPDX-License-Identifier: Apache-2.0 */
#include "server/wire.h"

#include "base/utf8.h"
#include "data/json.h"

#include <stdio.h>
#include <sys/random.h>

/* A value takes sixty bytes, and what a call says while it runs is read twice. */
enum { VALUES_MAX = 20000, DEPTH_MAX = 32 };

struct reading {
	struct arena *a;
	struct wire_call *call;
	struct wire_fault *fault;
	bool strict;
};

static bool refuse(struct reading *r, const char *text)
{
	*r->fault = (struct wire_fault){ .status = 422, .word = "schema" };
	(void)snprintf(r->fault->text, sizeof(r->fault->text), "%s", text);
	return false;
}

/* Texts that go into logs and paths of ours: no control characters, not even escaped ones. */
static bool is_plain(struct str s, size_t max)
{
	for (size_t i = 0; i < s.n; i++)
		if ((unsigned char)s.p[i] < 0x20 || s.p[i] == 0x7f)
			return false;
	return s.n <= max && utf8_valid(s);
}

struct text_member {
	const char *key;
	size_t offset; /* of its slice in struct wire_call */
	size_t max;
	bool needed;
};

static struct str *slice_at(struct wire_call *c, size_t offset)
{
	return (struct str *)(void *)((char *)c + offset);
}

static bool read_text(struct reading *r, const struct value *obj, const struct text_member *m)
{
	const struct value *v = value_get(obj, str_z(m->key));
	char text[160];

	/* null is what pydantic's Optional takes, too. */
	if (!v || (v->kind == VALUE_NULL && !m->needed)) {
		(void)snprintf(text, sizeof(text), "'%s' is missing", m->key);
		return !m->needed || refuse(r, text);
	}
	if (v->kind != VALUE_STR || !is_plain(v->s, m->max)) {
		(void)snprintf(
			text, sizeof(text),
			"'%s' is not accepted: a string of at most %zu bytes without control characters",
			m->key, m->max);
		return refuse(r, text);
	}
	*slice_at(r->call, m->offset) = v->s;
	return true;
}

static bool is_one_of(const char *const *names, struct str key)
{
	for (; *names; names++)
		if (str_eq(key, str_z(*names)))
			return true;
	return false;
}

/* What callers of S2's tool schema, and of other frameworks, send and nobody may choose. */
static const char *const policy_names[] = { "policy", "trust",    "sandbox", "network",
					    "mounts", "elevated", NULL };

/* Whoever misspelled one learns which there are. */
static bool refuse_member(struct reading *r, struct str key, size_t i, const char *const *known,
			  const char *where)
{
	_cleanup_buf_ struct buf b = { 0 };

	buf_init(&b, sizeof(r->fault->text));
	if (is_plain(key, 40))
		buf_printf(&b, "%s: '" STR_FMT "' is not known here; accepted:", where, STR_ARG(key));
	else
		buf_printf(&b, "%s: member %zu is not known here; accepted:", where, i + 1);
	for (const char *const *name = known; *name; name++)
		buf_printf(&b, "%s %s", name == known ? "" : ",", *name);
	return refuse(r, buf_str(&b).p);
}

static bool check_members(struct reading *r, const struct value *obj, const char *const *known,
			  const char *where)
{
	for (size_t i = 0; i < obj->obj.n; i++) {
		struct str key = obj->obj.m[i].key;

		if (is_one_of(known, key))
			continue;
		if (r->strict || !is_one_of(policy_names, key))
			return refuse_member(r, key, i, known, where);
		r->call->has_policy = true;
	}
	return true;
}

static bool read_scope(struct reading *r, const struct value *obj, bool needed)
{
	static const char *const known[] = { "type", "chat_id", "user_id", NULL };
	static const struct text_member members[] = {
		{ "type", offsetof(struct wire_call, channel), WIRE_NAME_MAX, true },
		{ "chat_id", offsetof(struct wire_call, chat_id), WIRE_NAME_MAX, true },
		{ "user_id", offsetof(struct wire_call, user_id), WIRE_NAME_MAX, false },
	};
	const struct value *scope = value_get(obj, STR("scope"));

	if (!scope && !needed)
		return true;
	if (!scope || scope->kind != VALUE_OBJ)
		return refuse(r, "'scope' is not accepted: {\"type\": …, \"chat_id\": …, \"user_id\"?: …}");
	r->call->has_scope = true;
	for (size_t i = 0; i < sizeof(members) / sizeof(members[0]); i++)
		if (!read_text(r, scope, &members[i]))
			return false;
	return check_members(r, scope, known, "scope");
}

static bool read_args(struct reading *r, const struct value *obj, bool needed)
{
	const struct value *args = value_get(obj, STR("args"));

	if (!args && !needed)
		return true;
	if (!args || args->kind != VALUE_OBJ)
		return refuse(r, "'args' is not accepted: an object");
	r->call->args = args;
	return true;
}

static bool read_timeout(struct reading *r, const struct value *obj)
{
	const struct value *v = value_get(obj, STR("timeout_s"));

	if (!v || v->kind == VALUE_NULL)
		return true;
	if (v->kind != VALUE_INT || v->i < 1 || v->i > WIRE_TIMEOUT_MAX_S)
		return refuse(r, "'timeout_s' is not accepted: whole seconds, 1..86400");
	r->call->timeout_s = (uint64_t)v->i;
	return true;
}

bool wire_no_json(struct wire_fault *f, const struct err *e)
{
	bool limit = e->kind == ERR_LIMIT;
	struct str said = utf8_prefix(str_z(e->msg), sizeof(f->text) - 1);

	*f = (struct wire_fault){ .status = limit ? 413 : 422, .word = limit ? "too_large" : "invalid_json" };
	memcpy(f->text, said.p, said.n);
	return false;
}

static bool parse(struct reading *r, struct str body, size_t max, const struct value **ret)
{
	const struct json_opts o = {
		.name = "JSON body",
		.finite = true, /* it could not be written anew */
		.max_bytes = max,
		.max_depth = DEPTH_MAX,
		.max_values = VALUES_MAX,
	};
	struct value *v = ARENA_NEW(r->a, struct value);
	struct err e = { 0 };

	if (!v || body.n > max)
		(void)err_set(&e, ERR_LIMIT, "the body is larger than it may be");
	else if (json_parse(r->a, body, &o, v, &e) >= 0) {
		*ret = v;
		return v->kind == VALUE_OBJ || refuse(r, "the body is not a JSON object");
	}
	return wire_no_json(r->fault, &e);
}

static const struct text_member request_id = { "request_id", offsetof(struct wire_call, request_id),
					       WIRE_ID_MAX, false };

bool wire_read_run(struct arena *a, struct str body, bool strict, struct wire_call *ret,
		   struct wire_fault *fault)
{
	static const char *const known[] = { "request_id", "agent", "scope", "tool", "args", NULL };
	static const struct text_member agent = { "agent", offsetof(struct wire_call, agent), WIRE_NAME_MAX,
						  true };
	static const struct text_member tool = { "tool", offsetof(struct wire_call, tool), WIRE_NAME_MAX,
						 true };
	struct wire_call call = { 0 };
	struct reading r = { .a = a, .call = &call, .fault = fault, .strict = strict };
	const struct value *v;

	if (!parse(&r, body, WIRE_RUN_MAX, &v) || !read_text(&r, v, &request_id) ||
	    !read_text(&r, v, &agent) || !read_scope(&r, v, true) || !read_text(&r, v, &tool) ||
	    !read_args(&r, v, true) || !check_members(&r, v, known, "body"))
		return false;
	*ret = call;
	return true;
}

bool wire_read_call(struct arena *a, struct str body, bool strict, struct wire_call *ret,
		    struct wire_fault *fault)
{
	static const char *const known[] = { "request_id", "agent", "scope",     "session",
					     "tool",       "args",  "timeout_s", NULL };
	static const struct text_member members[] = {
		{ "agent", offsetof(struct wire_call, agent), WIRE_NAME_MAX, false },
		{ "session", offsetof(struct wire_call, session), WIRE_SESSION_MAX, false },
		{ "tool", offsetof(struct wire_call, tool), WIRE_NAME_MAX, true },
	};
	struct wire_call call = { 0 };
	struct reading r = { .a = a, .call = &call, .fault = fault, .strict = strict };
	const struct value *v;

	if (!parse(&r, body, WIRE_BODY_MAX, &v) || !read_text(&r, v, &request_id))
		return false;
	for (size_t i = 0; i < sizeof(members) / sizeof(members[0]); i++)
		if (!read_text(&r, v, &members[i]))
			return false;
	if (!read_scope(&r, v, false) || !read_args(&r, v, false) || !read_timeout(&r, v) ||
	    !check_members(&r, v, known, "body"))
		return false;
	if (!call.has_scope && call.session.n == 0)
		return refuse(&r, "'scope' is missing: {\"type\": …, \"chat_id\": …}");
	*ret = call;
	return true;
}

static void put_text(struct jsonw *w, const char *key, struct str s)
{
	if (s.n)
		jsonw_kstr(w, key, s);
}

static void put_scope(struct jsonw *w, const struct wire_call *c)
{
	if (!c->has_scope)
		return;
	jsonw_kobj(w, "scope");
	jsonw_kstr(w, "type", c->channel);
	jsonw_kstr(w, "chat_id", c->chat_id);
	put_text(w, "user_id", c->user_id);
	jsonw_obj_end(w);
}

static void put_args(struct jsonw *w, const struct wire_call *c)
{
	if (!c->args)
		return;
	jsonw_key(w, STR("args"));
	json_write(w, c->args);
}

void wire_write_run(struct jsonw *w, const struct wire_call *c)
{
	jsonw_obj(w);
	put_text(w, "request_id", c->request_id);
	jsonw_kstr(w, "agent", c->agent);
	put_scope(w, c);
	jsonw_kstr(w, "tool", c->tool);
	put_args(w, c);
	jsonw_obj_end(w);
}

void wire_write_call(struct jsonw *w, const struct wire_call *c)
{
	jsonw_obj(w);
	put_text(w, "request_id", c->request_id);
	put_text(w, "agent", c->agent);
	put_scope(w, c);
	put_text(w, "session", c->session);
	jsonw_kstr(w, "tool", c->tool);
	put_args(w, c);
	if (c->timeout_s)
		jsonw_ku64(w, "timeout_s", c->timeout_s);
	jsonw_obj_end(w);
}

bool wire_uuid(char out[static WIRE_UUID_MAX])
{
	unsigned char b[16];

	if (getrandom(b, sizeof(b), 0) != (ssize_t)sizeof(b))
		return false;
	b[6] = (unsigned char)((b[6] & 0x0f) | 0x40);
	b[8] = (unsigned char)((b[8] & 0x3f) | 0x80);
	(void)snprintf(out, WIRE_UUID_MAX,
		       "%02x%02x%02x%02x-%02x%02x-%02x%02x-%02x%02x-%02x%02x%02x%02x%02x%02x", b[0], b[1],
		       b[2], b[3], b[4], b[5], b[6], b[7], b[8], b[9], b[10], b[11], b[12], b[13], b[14],
		       b[15]);
	return true;
}
