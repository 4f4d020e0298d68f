/* SPDX-License-Identifier: Apache-2.0 */
/* The public door to approvals. */
#include "engine/api.h"
#include "engine/approval.h"

struct passing {
	creel_approval_fn *each;
	creel_waiting_fn *waiting;
	void *ctx;
};

static const char *z(struct arena *a, struct str s)
{
	return arena_str(a, s).p;
}

static int pass_on(void *ctx, const struct reg_approval *row)
{
	const struct passing *p = ctx;
	_cleanup_arena_ struct arena a = { 0 };
	struct creel_approval out;

	arena_init(&a, (size_t)1 << 20);
	out = (struct creel_approval){ .size = sizeof(out),
				       .id = z(&a, row->id),
				       .kind = enum_name(approval_kind_names, (int)row->kind),
				       .state = enum_name(approval_state_names, (int)row->state),
				       .request_id = z(&a, row->request),
				       .session = z(&a, row->session),
				       .agent = z(&a, row->agent),
				       .channel = z(&a, row->channel),
				       .chat_id = z(&a, row->chat),
				       .tool = z(&a, row->tool),
				       .via = z(&a, row->via),
				       .command = z(&a, row->command),
				       .arguments = z(&a, row->arguments),
				       .workdir = z(&a, row->workdir),
				       .call = z(&a, row->call),
				       .by = z(&a, row->by),
				       .reason = z(&a, row->reason),
				       .created_ms = row->created_ms,
				       .expires_ms = row->expires_ms,
				       .answered_ms = row->answered_ms,
				       .until_ms = row->until_ms,
				       .used = row->used };
	if (a.failed)
		return -1;
	if (p->waiting)
		p->waiting(p->ctx, &out);
	return p->each ? p->each(p->ctx, &out) : 0;
}

void api_tell_approval(const struct reg_approval *row, creel_waiting_fn *tell, void *ctx)
{
	struct passing p = { .waiting = tell, .ctx = ctx };

	(void)pass_on(&p, row); /* who could not be told still waits */
}

int creel_approvals(struct creel_engine *c, const struct creel_approval_filter *given,
		    creel_approval_fn *each, void *ctx, struct creel_error *error)
{
	struct passing p = { .each = each, .ctx = ctx };
	struct creel_approval_filter f = { 0 };
	struct err e = { 0 };
	int r = 0;

	if (given && !api_take(&f, sizeof(f), given, sizeof(f.size)))
		r = err_set(&e, ERR_USAGE, "the filter has no size: begin with CREEL_APPROVAL_FILTER_INIT");
	if (r >= 0 && f.id && !f.id[0])
		r = err_set(&e, ERR_USAGE, "an id must not be blank");
	if (r >= 0)
		r = engine_approvals(api_engine(c), api_str(f.id), f.all, pass_on, &p, &e);
	return r < 0 && e.kind != ERR_NONE ? api_fail(error, &e) : r;
}

int creel_approval_answer(struct creel_engine *c, const struct creel_answer *given, struct creel_error *error)
{
	struct creel_answer a;
	struct approval_answer answer;
	struct err e = { 0 };

	if (!api_take(&a, sizeof(a), given, sizeof(a.size))) {
		(void)err_set(&e, ERR_USAGE, "the answer has no size: begin with CREEL_ANSWER_INIT");
		return api_fail(error, &e);
	}
	answer = (struct approval_answer){ .id = api_str(a.id),
					   .allow = a.allow,
					   .for_s = a.for_s,
					   .by = api_str(a.by),
					   .reason = api_str(a.reason) };
	return engine_approval_answer(api_engine(c), &answer, &e) < 0 ? api_fail(error, &e) : 0;
}
