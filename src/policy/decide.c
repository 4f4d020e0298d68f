/* SPDX-License-Identifier: Apache-2.0 */
/* The order of the stages, and nothing else: each is in a file of its own. */
#include "policy/policy_priv.h"
#include "policy/posture.h"

#include <assert.h>

/* clang-format off */
static const struct {
	enum stage stage;
	bool (*run)(struct ctx *x);
} pipeline[] = {
	{ STAGE_IDENTITY,  stage_identity },
	{ STAGE_MODE,      stage_mode },
	{ STAGE_TOOL,      stage_tool },
	{ STAGE_PLACEMENT, elevated_check },
	{ STAGE_PLACEMENT, stage_placement },
	{ STAGE_NETWORK,   stage_network },
	{ STAGE_MOUNTS,    stage_mounts },
	{ STAGE_ENV,       stage_env },
	{ STAGE_LIMITS,    stage_limits },
};
/* clang-format on */

static bool is_in(struct strs list, struct str program)
{
	for (size_t i = 0; i < list.n; i++)
		if (str_eq(list.v[i], program))
			return true;
	return false;
}

/* tools.exec.programs says what may run at all, and counts as a list where only what is listed runs. */
static bool is_listed(const struct decision *d)
{
	return d->tool.argv.n &&
	       (is_in(d->eff.approval_programs, d->tool.argv.v[0]) ||
		(d->eff.exec_mode == EXEC_MODE_ALLOWLIST && is_in(d->eff.programs, d->tool.argv.v[0])));
}

/* clang-format off */
/* Of programs on the host: those that are listed, all others, and those of the others that leave a sandbox for it. */
static const struct {
	enum verdict listed, other, elevated;
} modes[] = {
	[EXEC_MODE_UNSET]     = { VERDICT_ALLOW, VERDICT_ALLOW, VERDICT_ASK },
	[EXEC_MODE_DENY]      = { VERDICT_DENY,  VERDICT_DENY,  VERDICT_DENY },
	[EXEC_MODE_ALLOWLIST] = { VERDICT_ALLOW, VERDICT_DENY,  VERDICT_DENY },
	[EXEC_MODE_ASK]       = { VERDICT_ALLOW, VERDICT_ASK,   VERDICT_ASK },
	[EXEC_MODE_AUTO]      = { VERDICT_ALLOW, VERDICT_ASK,   VERDICT_ASK }, /* there is no reviewer but a person */
	[EXEC_MODE_FULL]      = { VERDICT_ALLOW, VERDICT_ALLOW, VERDICT_ALLOW },
	[EXEC_MODE_ALWAYS]    = { VERDICT_ASK,   VERDICT_ASK,   VERDICT_ASK },
};
/* clang-format on */
static_assert(sizeof(modes) / sizeof(modes[0]) == EXEC_MODE_COUNT_, "each mode says what it means");

static enum verdict by_mode(const struct ctx *x)
{
	const struct decision *d = x->d;
	int mode = d->eff.exec_mode;
	bool elevated = d->place.elevated.used;

	/* Who looks after a program that was allowed to start need not ask again; who types into it does. */
	if (d->place.place != PLACE_HOST || !(d->tool.needs & CAP_BIT(CAP_PROC_EXEC)) || x->r->passive)
		return VERDICT_ALLOW;
	if (is_listed(d) && !(elevated && mode == EXEC_MODE_UNSET))
		return modes[mode].listed;
	return elevated ? modes[mode].elevated : modes[mode].other;
}

/* Approvals are about the host: inside a sandbox tools.exec.mode says only "deny", and that was asked before. */
void settle_verdict(struct ctx *x)
{
	struct decision *d = x->d;
	const struct origin *o = &d->eff.origin[OPT_EXEC_MODE];
	enum verdict v = is_upstream_view(x) ? VERDICT_ALLOW : by_mode(x);

	if (v == VERDICT_DENY) {
		fix_it(x, STR("approvals.programs"));
		fix_it(x, STR("tools.exec.mode=ask"));
		(void)deny(x, STAGE_PLACEMENT, CODE_EXEC_MODE_DENIED, o,
			   "'" STR_FMT "' is not in approvals.programs, and tools.exec.mode %s runs nothing "
			   "else on the host",
			   STR_ARG(d->tool.argv.n ? d->tool.argv.v[0] : d->tool.name),
			   enum_name(exec_mode_names, d->eff.exec_mode));
		return;
	}
	if (v == VERDICT_ASK)
		why(x, STAGE_PLACEMENT, "approval", str_z(enum_name(exec_mode_names, d->eff.exec_mode)), o,
		    d->place.elevated.used ? "elevated, on the host: a person is asked first"
					   : "on the host a person is asked first");
	d->code = CODE_OK;
	d->verdict = v;
	d->message = v == VERDICT_ASK ? STR("needs approval") : STR("allowed");
}

static void begin(struct ctx *x)
{
	memset(x->d, 0, sizeof(*x->d));
	x->d->eff = x->c->base;
	x->d->request_id = x->r->request_id;
}

enum code decide_who(const struct config *c, const struct request *r, struct arena *a, struct decision *ret)
{
	struct ctx x = { .c = c, .r = r, .a = a, .d = ret };
	bool known;

	begin(&x);
	known = stage_identity(&x);
	if (a->failed)
		return CODE_UNDECIDED;
	return known ? CODE_OK : ret->code;
}

int decide(const struct config *c, const struct request *r, struct arena *a, struct decision *ret,
	   struct err *e)
{
	struct ctx x = { .c = c, .r = r, .a = a, .d = ret };
	bool goes_on = true;

	begin(&x);
	for (size_t i = 0; goes_on && i < sizeof(pipeline) / sizeof(pipeline[0]); i++)
		goes_on = pipeline[i].run(&x);
	if (goes_on)
		settle_verdict(&x);
	if (!a->failed && ret->code != CODE_UNDECIDED)
		return 0;
	ret->verdict = VERDICT_DENY;
	ret->code = CODE_UNDECIDED;
	if (a->failed)
		return err_set(e, ERR_LIMIT, "the decision needs more memory than it may have");
	return err_set(e, ERR_BUG, "a stage refused without saying why");
}
