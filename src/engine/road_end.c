/* SPDX-License-Identifier: Apache-2.0 */
/* The ways in which a call ends before anything ran: errors, refusals, what a person said, and tools that only the gateway has. */
#include "engine/road_priv.h"

#include "base/clock.h"

#include <stdio.h>

static const char *error_word(enum err_kind kind)
{
	static const char *const words[ERR_KIND_COUNT_] = {
		[ERR_NONE] = "error",     [ERR_USAGE] = "invalid_arguments",
		[ERR_DENIED] = "denied",  [ERR_NOTFOUND] = "not_found",
		[ERR_LIMIT] = "limit",    [ERR_UNAVAIL] = "unavailable",
		[ERR_PROTO] = "protocol", [ERR_SYS] = "system_error",
		[ERR_BUG] = "internal",
	};

	return kind < ERR_KIND_COUNT_ ? words[kind] : "error";
}

int trip_error(struct trip *t, const char *word)
{
	struct outcome *o = &t->out;

	o->status = CALL_ERROR;
	o->reason = "error";
	o->error = word ? word : error_word(o->err.kind);
	o->exit = err_kind_exit(o->err.kind);
	return 0;
}

void trip_denial(struct trip *t, struct denial dn)
{
	dn.time_ms = dn.time_ms ? dn.time_ms : clock_unix_ms();
	dn.session = t->d->who.session_key;
	dn.tool = t->d->tool.name;
	dn.count = dn.count ? dn.count : 1;
	if (t->out.n_denials < sizeof(t->denials) / sizeof(t->denials[0]))
		t->denials[t->out.n_denials++] = dn;
	t->out.denials = t->denials;
}

int trip_refused(struct trip *t)
{
	struct outcome *o = &t->out;
	const struct decision *d = t->d;

	o->status = CALL_REFUSED;
	o->reason = "refused";
	o->exit = 126;
	o->error = d->verdict == VERDICT_ASK ? "approval_required" : code_word(d->code);
	o->err.kind = ERR_DENIED;
	if (d->verdict == VERDICT_ASK)
		(void)err_set(
			&o->err, ERR_DENIED,
			"a person has to allow this first, and approvals.timeout_s is 0: nobody is asked");
	else
		(void)snprintf(o->err.msg, sizeof(o->err.msg), "%.*s", (int)d->message.n, d->message.p);
	trip_denial(t, (struct denial){ .operation = "call",
					.object = t->o->tool,
					.verdict = "refused",
					.rule = str_z(o->error),
					.layer = "policy",
					.hint = d->fix_it.n ? d->fix_it.v[0] : (struct str){ 0 } });
	return 0;
}

/* ---- a person ---- */

/* Each way in which it was not allowed. */
static const struct {
	const char *word, *text;
} unasked[APPROVAL_STATE_COUNT_] = {
	[APPROVAL_DENIED] = { "approval_denied", "a person was asked, and denied it" },
	[APPROVAL_EXPIRED] = { "approval_timeout", "a person was asked, and nobody answered in time" },
	[APPROVAL_WITHDRAWN] = { "approval_withdrawn", "nobody waits for the answer any more" },
};

static int end_unapproved(struct trip *t)
{
	const struct approval_end *end = &t->out.approval;
	struct outcome *o = &t->out;

	(void)trip_refused(t);
	if (!end->id.n) /* approvals.timeout_s is 0 */
		return 0;
	o->error = unasked[end->state].word;
	t->denials[0].rule = str_z(o->error);
	if (end->by.n)
		(void)err_set(&o->err, ERR_DENIED, "%s (" STR_FMT "%s" STR_FMT ")", unasked[end->state].text,
			      STR_ARG(end->by), end->reason.n ? ": " : "", STR_ARG(end->reason));
	else
		(void)err_set(&o->err, ERR_DENIED,
			      "%s; fix: 'creel approvals list' while it waits, approvals.timeout_s",
			      unasked[end->state].text);
	return 0;
}

int trip_ask_person(struct trip *t)
{
	struct err *e = &t->out.err;
	int r = approval_ask(t->s, t->d, &t->args, t->o, t->a, &t->out.approval, e);

	if (r < 0)
		return trip_error(t, e->kind == ERR_LIMIT ? "approval_limit" : "approval_unavailable");
	if (t->out.approval.state == APPROVAL_USED || t->out.approval.state == APPROVAL_GRANTED)
		return 1;
	return end_unapproved(t);
}

int trip_verdict(struct trip *t)
{
	t->out.status = CALL_VERDICT;
	t->out.reason = "decided";
	return 0;
}
