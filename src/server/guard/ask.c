/* SPDX-License-Identifier: Apache-2.0 */
#include "server/guard/ask.h"

#include "data/json.h"

#include <stddef.h>
#include <stdio.h>

enum {
	SMALL_DEPTH = 8,
	SMALL_VALUES = 100,
	SMALL_BYTES = 1 << 20,
	MESSAGE_BYTES = 65536,
	ARGV_MAX = 4096,
	FOR_MAX_S = 86400
};

#define N(table) (sizeof(table) / sizeof((table)[0]))
#define AT(type, member) .offset = offsetof(struct type, member)

/* clang-format off */
static const struct field answer_fields[] = {
	{ .name = "answer", .required = true, AT(ask_answer, answer), .max = WIRE_NAME_MAX },
	{ .name = "for_s",  .kind = FIELD_COUNT, AT(ask_answer, for_s), .max = FOR_MAX_S },
};
static const struct field pairing_fields[] = {
	{ .name = "channel", .required = true, AT(ask_pairing, channel), .max = WIRE_NAME_MAX },
	{ .name = "user",    .required = true, AT(ask_pairing, user), .max = WIRE_NAME_MAX },
	{ .name = "name",    AT(ask_pairing, name), .max = MESSAGE_BYTES },
	{ .name = "message", AT(ask_pairing, message), .max = MESSAGE_BYTES },
};
/* clang-format on */

static bool fault(struct wire_fault *f, unsigned status, const char *word, const char *text)
{
	f->status = status;
	f->word = word;
	(void)snprintf(f->text, sizeof(f->text), "%s", text);
	return false;
}

static bool read_as(struct arena *a, struct str body, const struct schema *s, void *ret, struct wire_fault *f)
{
	const struct json_opts o = { .name = "JSON body",
				     .max_depth = SMALL_DEPTH,
				     .max_values = SMALL_VALUES,
				     .max_bytes = SMALL_BYTES };
	char text[SCHEMA_FAULT_MAX];
	struct value v;
	struct err e = { 0 };

	if (json_parse(a, body, &o, &v, &e) < 0)
		return wire_no_json(f, &e);
	return schema_read(s, &v, ret, text) || fault(f, 422, "schema", text);
}

bool ask_read_answer(struct arena *a, struct str body, struct ask_answer *ret, struct wire_fault *f)
{
	const struct schema s = { .fields = answer_fields, .n = N(answer_fields) };

	*ret = (struct ask_answer){ 0 };
	if (!read_as(a, body, &s, ret, f))
		return false;
	return str_eq(ret->answer, STR("allow")) || str_eq(ret->answer, STR("deny")) ||
	       fault(f, 422, "schema", "answer: has to be allow or deny");
}

bool ask_read_pairing(struct arena *a, struct str body, struct ask_pairing *ret, struct wire_fault *f)
{
	const struct schema s = { .fields = pairing_fields, .n = N(pairing_fields) };

	*ret = (struct ask_pairing){ 0 };
	return read_as(a, body, &s, ret, f);
}

/* ---- S2's arguments ---- */

static const struct value *arg(const struct wire_call *c, struct str name)
{
	return c->args ? value_get(c->args, name) : NULL;
}

/* Check 7. Whether it stays in the workspace is found out where it is opened. */
static bool path_ok(const struct value *v)
{
	return v && v->kind == VALUE_STR && v->s.n > 0 && v->s.p[0] != '/' && v->s.p[0] != '\\' &&
	       !memchr(v->s.p, '\0', v->s.n);
}

static bool check_file(const struct wire_call *c, struct wire_fault *f)
{
	const struct value *content = arg(c, STR("content")), *most = arg(c, STR("max_bytes"));

	if (!path_ok(arg(c, STR("path"))))
		return fault(f, 400, "invalid_path", "invalid path");
	if (most && most->kind != VALUE_INT && most->kind != VALUE_NULL)
		return fault(f, 400, "invalid_max_bytes", "invalid max_bytes");
	if (!str_eq(c->tool, STR("file_write")))
		return true;
	if (!content || content->kind != VALUE_STR)
		return fault(f, 400, "invalid_content", "invalid content");
	return content->s.n <= ASK_CONTENT_MAX || fault(f, 413, "content_too_large", "content too large");
}

/* Check 9. */
static bool take_argv(struct arena *a, const struct wire_call *c, struct strs *ret, struct wire_fault *f)
{
	const struct value *cmd = arg(c, STR("cmd"));
	struct str *v;

	if (!cmd || cmd->kind != VALUE_ARR || cmd->arr.n == 0 || cmd->arr.n > ARGV_MAX)
		return fault(f, 400, "invalid_cmd", "invalid cmd");
	v = ARENA_ARRAY(a, struct str, cmd->arr.n);
	for (size_t i = 0; v && i < cmd->arr.n; i++) {
		if (cmd->arr.v[i].kind != VALUE_STR)
			return fault(f, 400, "invalid_cmd", "invalid cmd");
		v[i] = cmd->arr.v[i].s;
	}
	*ret = (struct strs){ .v = v, .n = v ? cmd->arr.n : 0 };
	return v || fault(f, 503, "busy", "out of memory");
}

/* Whatever number it is, policy brings it into its range. */
static bool take_timeout(const struct wire_call *c, struct count *ret, struct wire_fault *f)
{
	const struct value *v = arg(c, STR("timeout_s"));

	if (!v || v->kind == VALUE_NULL)
		return true;
	ret->said = true;
	if (v->kind == VALUE_INT)
		ret->n = v->i < 0 ? 0 : v->i > WIRE_TIMEOUT_MAX_S ? WIRE_TIMEOUT_MAX_S : (uint64_t)v->i;
	else if (v->kind == VALUE_NUM)
		ret->n = v->num > (double)WIRE_TIMEOUT_MAX_S ? WIRE_TIMEOUT_MAX_S
			 : v->num > 0                        ? (uint64_t)v->num
							     : 0;
	else
		return fault(f, 400, "invalid_timeout", "invalid timeout_s");
	return true;
}

bool ask_check_s2(struct arena *a, const struct wire_call *c, struct ask_s2 *ret, struct wire_fault *f)
{
	*ret = (struct ask_s2){ 0 };
	if (str_eq(c->tool, STR("shell_exec")))
		return take_argv(a, c, &ret->argv, f) && take_timeout(c, &ret->timeout_s, f);
	return check_file(c, f);
}

bool ask_clean_s2(struct arena *a, struct wire_call *c)
{
	static const struct {
		const char *tool, *arg[3];
	} known[] = {
		{ "file_read", { "path", "max_bytes", NULL } },
		{ "file_write", { "path", "content", NULL } },
		{ "shell_exec", { "cmd", "timeout_s", NULL } },
	};
	struct value *clean = ARENA_NEW(a, struct value);
	struct member *members = ARENA_ARRAY(a, struct member, 3);

	if (!clean || !members)
		return false;
	*clean = (struct value){ .kind = VALUE_OBJ, .obj = { .m = members } };
	for (size_t i = 0; i < N(known); i++)
		for (size_t k = 0; str_eq(c->tool, str_z(known[i].tool)) && known[i].arg[k]; k++) {
			const struct member *m = value_member(c->args, str_z(known[i].arg[k]));

			if (m && m->v.kind != VALUE_NULL)
				members[clean->obj.n++] = *m;
		}
	c->args = clean;
	return true;
}

/* ---- for policy and the runner ---- */

void ask_request(const struct wire_call *c, enum via via, size_t token, struct request *ret)
{
	ret->via = via;
	ret->auth = AUTH_TOKEN;
	ret->token = token;
	ret->request_id = c->request_id;
	ret->agent = c->agent;
	ret->session_key = c->session;
	ret->channel = c->channel;
	ret->chat_id = c->chat_id;
	ret->user_id = c->user_id;
	ret->caller_policy = c->has_policy;
}

void ask_write_answer(struct jsonw *w, const struct ask_answer *q)
{
	jsonw_obj(w);
	jsonw_kstr(w, "answer", q->answer);
	if (q->for_s.said)
		jsonw_ku64(w, "for_s", q->for_s.n);
	jsonw_obj_end(w);
}
