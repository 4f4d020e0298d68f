/* SPDX-License-Identifier: Apache-2.0 */
/* POST /v1/refused: what the guard has refused by itself, for the log and the counters. Nothing is decided here, and nothing can be allowed by it. */
#include "server/runner/runner.h"

#include "audit/audit.h"
#include "server/refusal.h"

#include <inttypes.h>
#include <stdio.h>

static enum code find_code(struct str word)
{
	for (unsigned i = CODE_OK + 1; i < CODE_COUNT_; i++)
		if (str_eq(word, str_z(code_word((enum code)i))))
			return (enum code)i;
	return CODE_UNDECIDED;
}

static int record_token(struct engine *g, const struct refusal *r, struct err *e)
{
	const struct audit_field f[] = {
		{ "code", r->code }, { "token", r->token }, { "route", r->route }, { "peer", r->peer }
	};

	return engine_record_token(g, "refused", f, sizeof(f) / sizeof(f[0]), e);
}

static int record_call(struct visit *v, const struct refusal *r, enum code code, struct err *e)
{
	struct decision *d = ARENA_NEW(&v->arena, struct decision);
	struct metrics *m = v->worker->runner->metrics;
	int stage;

	if (!d)
		return err_set(e, ERR_LIMIT, "out of memory");
	*d = (struct decision){
		.verdict = VERDICT_DENY, .code = code, .message = r->message, .request_id = r->request_id
	};
	if (enum_value(stage_names, r->stage, false, &stage))
		d->stopped_at = (enum stage)stage;
	d->who.via = str_eq(r->route, STR("run")) ? VIA_GUARD : VIA_API;
	d->who.agent = r->agent;
	d->who.channel = r->channel;
	d->who.chat_id = r->chat_id;
	d->who.user_id = r->user_id;
	d->who.token = r->token;
	d->tool.asked = r->tool;
	metrics_add(m,
		    (struct metric_at){ METRIC_CALLS, metrics_word(LABEL_TOOL, r->tool),
					metrics_word(LABEL_VERDICT, STR("refused")), BACKEND_NONE },
		    1);
	metrics_add(m, (struct metric_at){ METRIC_DENIALS, metrics_word(LABEL_LAYER, STR("policy")) }, 1);
	return engine_record_refused(v->worker->runner->engine, d, e);
}

static int record_untold(struct engine *g, uint64_t n, struct err *e)
{
	char text[24];
	int len = snprintf(text, sizeof(text), "%" PRIu64, n);
	const struct audit_field f[] = { { "code", STR("untold") }, { "times", { text, (size_t)len } } };

	return n ? engine_record_token(g, "refused", f, 2, e) : 0;
}

void answer_refused(struct visit *v)
{
	struct refusals *all = ARENA_NEW(&v->arena, struct refusals);
	struct engine *g = v->worker->runner->engine;
	_cleanup_buf_ struct buf out = { 0 };
	struct wire_fault fault;
	struct err e = { 0 };
	int r;

	if (!all || !refusals_read(&v->arena, buf_str(&v->body), all, &fault)) {
		visit_fail(v, all ? fault.status : 503, all ? fault.word : "busy",
			   all ? fault.text : "out of memory");
		return;
	}
	r = record_untold(g, all->untold, &e);
	for (size_t i = 0; r >= 0 && i < all->n; i++) {
		enum code code = find_code(all->v[i].code);

		r = code == CODE_UNDECIDED ? record_token(g, &all->v[i], &e)
					   : record_call(v, &all->v[i], code, &e);
	}
	if (r < 0) {
		visit_error(v, &e);
		return;
	}
	buf_init(&out, 64);
	buf_printf(&out, "{\"recorded\":%zu}", all->n);
	visit_json(v, 200, &out);
}
