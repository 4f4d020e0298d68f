/* SPDX-License-Identifier: Apache-2.0 */
/* Calls that wait for a person: told to whom they concern, answered by administrators. */
#include "server/runner/runner.h"

#include "data/json.h"
#include "engine/approval.h"

enum { ANSWER_MAX = 65536 };

void approval_put(struct jsonw *w, const struct reg_approval *row, bool whole)
{
	jsonw_obj(w);
	jsonw_kstr(w, "id", row->id);
	jsonw_kz(w, "kind", enum_name(approval_kind_names, (int)row->kind));
	jsonw_kz(w, "state", enum_name(approval_state_names, (int)row->state));
	jsonw_kstr(w, "request_id", row->request);
	jsonw_kstr(w, "session", row->session);
	jsonw_kstr(w, "agent", row->agent);
	jsonw_kstr(w, "tool", row->tool);
	jsonw_kstr(w, "command", row->command);
	jsonw_kstr(w, "arguments", row->arguments);
	if (whole) /* a directory of the host */
		jsonw_kstr(w, "workdir", row->workdir);
	jsonw_ku64(w, "created_ms", row->created_ms);
	jsonw_ku64(w, "expires_ms", row->expires_ms);
	if (row->until_ms)
		jsonw_ku64(w, "until_ms", row->until_ms);
	jsonw_ku64(w, "used", row->used);
	jsonw_obj_end(w);
}

struct telling {
	const struct visit *v;
	struct jsonw *w;
};

static int tell_one(void *ctx, const struct reg_approval *row)
{
	const struct telling *t = ctx;

	if (caller_sees(t->v, row->session))
		approval_put(t->w, row, t->v->caller.admin);
	return 0;
}

void answer_approvals(struct visit *v)
{
	_cleanup_buf_ struct buf out = { 0 };
	struct jsonw w;
	struct telling t = { .v = v, .w = &w };
	struct err e = { 0 };

	buf_init(&out, (size_t)16 << 20);
	jsonw_init(&w, &out, 0);
	jsonw_obj(&w);
	jsonw_karr(&w, "approvals");
	if (engine_approvals(v->worker->runner->engine, (struct str){ 0 }, false, tell_one, &t, &e) < 0) {
		visit_error(v, &e);
		return;
	}
	jsonw_arr_end(&w);
	jsonw_obj_end(&w);
	visit_json(v, 200, &out);
}

/* {"answer": "allow" | "deny", "for_s"?: seconds} and nothing else. */
static bool read_answer(struct visit *v, struct approval_answer *ret)
{
	const struct json_opts o = { .name = "body", .max_bytes = ANSWER_MAX, .max_depth = 4 };
	const struct value *answer, *for_s;
	struct value body = { 0 };
	struct err e = { 0 };

	if (json_parse(&v->arena, buf_str(&v->body), &o, &body, &e) < 0 || body.kind != VALUE_OBJ)
		return false;
	answer = value_get(&body, STR("answer"));
	for_s = value_get(&body, STR("for_s"));
	if (!answer || answer->kind != VALUE_STR || body.obj.n != (for_s ? 2u : 1u))
		return false;
	ret->allow = str_eq(answer->s, STR("allow"));
	if (!ret->allow && !str_eq(answer->s, STR("deny")))
		return false;
	if (for_s && (for_s->kind != VALUE_INT || for_s->i < 0 || (uint64_t)for_s->i > APPROVAL_FOR_MAX_S))
		return false;
	ret->for_s = for_s ? (uint64_t)for_s->i : 0;
	return true;
}

void answer_approval(struct visit *v)
{
	_cleanup_buf_ struct buf out = { 0 };
	struct approval_answer a = { .id = v->match.part[0] };
	struct err e = { 0 };
	struct jsonw w;

	if (!read_answer(v, &a)) {
		visit_fail(v, 422, "schema", "{\"answer\": \"allow\" or \"deny\", \"for_s\"?: 0..86400}");
		return;
	}
	/* Who holds which token is in the file of tokens; the log has which one it was. */
	a.by = arena_printf(&v->arena, "token %s", v->caller.id);
	if (engine_approval_answer(v->worker->runner->engine, &a, &e) < 0) {
		if (e.kind == ERR_USAGE) /* the id is none: there is nothing of that name */
			e.kind = ERR_NOTFOUND;
		visit_error(v, &e);
		return;
	}
	buf_init(&out, 4096);
	jsonw_init(&w, &out, 0);
	jsonw_obj(&w);
	jsonw_kstr(&w, "id", a.id);
	jsonw_kz(&w, "answer", a.allow ? "allow" : "deny");
	jsonw_obj_end(&w);
	visit_json(v, 200, &out);
}
