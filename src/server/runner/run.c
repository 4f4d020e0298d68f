/* SPDX-License-Identifier: Apache-2.0 */
/*
 * POST /run as sandbox-guard's runner had it: three tools, a sandbox for each job, the workspace of the pair, S2's words and numbers for how it ended. Read-only
 * and without a network unless policy says otherwise for this tool; nothing that the request says can change that.
 */
#include "server/runner/runner.h"

#include "base/utf8.h"
#include "data/json.h"
#include "server/cause.h"
#include "tools/tool.h"

#include <stdio.h>

enum { STREAM_CHARACTERS = 80000, ERROR_MAX = 500 };

/* The job's own answer. */
struct job {
	bool ok;
	int exit;
	char error[ERROR_MAX + 1];
};

static void end(struct job *j, int exit, const char *word)
{
	j->ok = !word;
	j->exit = exit;
	(void)snprintf(j->error, sizeof(j->error), "%s", word ? word : "");
}

/* "word:detail", where the detail is text that can be shown. */
static void end_with(struct job *j, struct tools_job what, struct str detail)
{
	_cleanup_buf_ struct buf text = { 0 };

	end(j, what.exit, what.error);
	if (!what.takes_detail || detail.n == 0)
		return;
	buf_init(&text, ERROR_MAX);
	buf_puts(&text, what.error);
	buf_putc(&text, ':');
	buf_put_visible(&text, utf8_prefix(detail, 100));
	if (!text.failed)
		(void)snprintf(j->error, sizeof(j->error), "%s", text.p);
}

static struct str first_word(const struct wire_call *c)
{
	const struct value *cmd = value_get(c->args, STR("cmd"));

	if (!cmd || cmd->kind != VALUE_ARR || cmd->arr.n == 0 || cmd->arr.v[0].kind != VALUE_STR)
		return (struct str){ 0 };
	return cmd->arr.v[0].s;
}

static bool is_shell(const struct wire_call *c)
{
	return str_eq(c->tool, STR("shell_exec"));
}

static void judge_refusal(const struct call_result *r, const struct wire_call *c, struct job *j)
{
	end_with(j, tools_job_refusal(r->code),
		 r->code == CODE_BINARY_DENIED ? first_word(c) : str_z(code_word(r->code)));
}

static void judge_error(const struct call_result *r, const struct wire_call *c, struct job *j)
{
	const struct value *content = value_get(c->args, STR("content"));
	struct err e = { .kind = r->kind, .sys_errno = r->sys_errno };

	if (str_eq(c->tool, STR("file_write")) && (!content || content->kind != VALUE_STR))
		end(j, 6, "invalid_content");
	else
		end_with(j, is_shell(c) ? tools_shell_result(&e) : tools_job_result(&e), (struct str){ 0 });
}

static void judge(const struct call_result *r, const struct wire_call *c, struct job *j)
{
	if (r->status == CALL_OK)
		end(j, 0, NULL);
	else if (r->status == CALL_REFUSED)
		judge_refusal(r, c, j);
	else if (r->status == CALL_ERROR)
		judge_error(r, c, j);
	else if (r->ran && r->reason == BOX_TIMEOUT)
		end(j, 12, "timeout");
	else if (r->ran && (r->reason == BOX_LOST || r->reason == BOX_CANCELLED))
		end(j, 16, "job_error");
	else
		end(j, r->exit, r->error[0] ? r->error : "failed");
}

/* The first 80,000 characters. */
static bool cut(struct str *s)
{
	size_t at = 0;
	uint32_t cp;

	if (s->n <= STREAM_CHARACTERS)
		return false;
	for (unsigned n = 0; n < STREAM_CHARACTERS && at < s->n; n++) {
		int len = utf8_decode(str_from(*s, at), &cp);

		at += (size_t)(len < 0 ? -len : len);
	}
	if (at >= s->n)
		return false;
	s->n = at;
	return true;
}

static struct str text_of(const struct value *v, const char *key)
{
	const struct value *t = value_get(v, str_z(key));

	return t && t->kind == VALUE_STR ? t->s : (struct str){ .p = "", .n = 0 };
}

static void put_artifacts(struct jsonw *w, const struct value *v)
{
	const struct value *list = value_get(v, STR("artifacts"));

	jsonw_key(w, STR("artifacts"));
	if (list && list->kind == VALUE_ARR) {
		json_write(w, list);
		return;
	}
	jsonw_arr(w);
	jsonw_arr_end(w);
}

/* What the tool wrote is read back from libcreel's result: what is not in it was not said. */
static void put_job(const struct visit *v, const struct job *j, const struct value *said, struct jsonw *w)
{
	struct str out = text_of(said, "stdout"), err = text_of(said, "stderr");
	const struct value *was_cut = value_get(said, STR("truncated"));
	bool truncated = was_cut && was_cut->kind == VALUE_BOOL && was_cut->b;

	truncated |= cut(&out);
	truncated |= cut(&err);
	jsonw_obj(w);
	jsonw_kstr(w, "request_id", v->id);
	jsonw_kbool(w, "ok", j->ok);
	jsonw_kstr(w, "stdout", out);
	jsonw_kstr(w, "stderr", err);
	put_artifacts(w, said);
	if (j->ok)
		jsonw_knull(w, "error");
	else
		jsonw_kz(w, "error", j->error);
	jsonw_key(w, STR("exit"));
	jsonw_i64(w, j->exit);
	jsonw_kbool(w, "truncated", truncated);
	jsonw_obj_end(w);
}

/* S2's detail is what its callers know; beside it stands why, for whoever has to mend it. */
static void answer_no_job(struct visit *v, const char *detail, const char *word, struct str why)
{
	_cleanup_buf_ struct buf out = { 0 }, cause = { 0 };
	struct jsonw w;

	buf_init(&cause, 2 * CAUSE_MAX);
	cause_put(&cause, why);
	buf_init(&out, 8192);
	jsonw_init(&w, &out, 0);
	jsonw_obj(&w);
	jsonw_kz(&w, "detail", detail);
	jsonw_kz(&w, "error", word);
	jsonw_kstr(&w, "message", buf_str(&cause));
	jsonw_kstr(&w, "request_id", v->id);
	jsonw_obj_end(&w);
	visit_json(v, 500, &out);
}

static void answer_job(struct visit *v, const struct call_result *r, const struct wire_call *c)
{
	const struct json_opts o = { .name = "result", .max_bytes = (size_t)64 << 20 };
	_cleanup_buf_ struct buf out = { 0 };
	struct value said = { 0 };
	struct err e = { 0 };
	struct job j = { 0 };
	struct jsonw w;

	/* Who may ask at all is no matter of a job. */
	if (r->status == CALL_REFUSED &&
	    (code_http(r->code) == 401 || r->code == CODE_PAIR_NOT_ALLOWED || r->code == CODE_INVALID_AGENT ||
	     r->code == CODE_MISSING_CHAT_ID || r->code == CODE_INVALID_CHAT_ID ||
	     r->code == CODE_INVALID_SESSION || r->code == CODE_UNKNOWN_AGENT)) {
		visit_refused(v, r->code);
		return;
	}
	if (json_parse(&v->arena, buf_str(&r->json), &o, &said, &e) < 0) {
		answer_no_job(v, "invalid_job_output", "invalid_job_output", STR("the result is no JSON"));
		return;
	}
	if (r->status == CALL_ERROR && call_status(r) == 503) {
		answer_no_job(v, "job_spawn_failed", r->error, text_of(&said, "message"));
		return;
	}
	judge(r, c, &j);
	buf_init(&out, (size_t)8 << 20);
	jsonw_init(&w, &out, 0);
	put_job(v, &j, &said, &w);
	visit_json(v, 200, &out);
}

void answer_run(struct visit *v)
{
	_cleanup_buf_ struct buf args = { 0 };
	struct call_result result = { 0 };
	struct wire_fault fault;
	struct wire_call call;
	struct errand_call c;
	struct err e = { 0 };
	struct jsonw w;

	if (!wire_read_run(&v->arena, buf_str(&v->body), true, &call, &fault)) {
		visit_fail(v, fault.status, fault.word, fault.text);
		return;
	}
	buf_init(&args, WIRE_BODY_MAX * 2);
	jsonw_init(&w, &args, 0);
	json_write(&w, call.args);
	if (args.failed || !call_id(v, call.request_id)) {
		visit_fail(v, 413, "too_large", "content too large");
		return;
	}
	c = (struct errand_call){ .who = call_who(v, &call, VIA_GUARD),
				  .opts = { .tool = call.tool, .args = buf_str(&args) } };
	if (call_run(v, &c, &result, &e) < 0)
		visit_error(v, &e);
	else
		answer_job(v, &result, &call);
	buf_done(&result.json);
}
