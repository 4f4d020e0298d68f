/* SPDX-License-Identifier: Apache-2.0 */
/* The order of the stages, and nothing else: each is in a file of its own. */
#include "policy/policy_priv.h"

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

static bool is_approved_program(const struct decision *d)
{
	const struct strs list = d->eff.programs;

	for (size_t i = 0; d->tool.argv.n && i < list.n; i++)
		if (str_eq(list.v[i], d->tool.argv.v[0]))
			return true;
	return false;
}

/* Approvals are about the host: inside a sandbox tools.exec.mode says only "deny", and that was asked before. */
static void settle_verdict(struct ctx *x)
{
	struct decision *d = x->d;
	bool on_host = d->place.place == PLACE_HOST && d->tool.needs & CAP_BIT(CAP_PROC_EXEC);
	int mode = d->eff.exec_mode;

	d->code = CODE_OK;
	if (on_host && (mode == EXEC_MODE_ASK || mode == EXEC_MODE_AUTO ||
			(mode == EXEC_MODE_ALLOWLIST && !is_approved_program(d)))) {
		d->verdict = VERDICT_ASK;
		why(x, STAGE_PLACEMENT, "approval", str_z(enum_name(exec_mode_names, mode)),
		    &d->eff.origin[OPT_EXEC_MODE], "on the host a person is asked first");
	}
	if (d->verdict != VERDICT_ASK)
		d->verdict = VERDICT_ALLOW;
	d->message = d->verdict == VERDICT_ASK ? STR("needs approval") : STR("allowed");
}

int decide(const struct config *c, const struct request *r, struct arena *a, struct decision *ret,
	   struct err *e)
{
	struct ctx x = { .c = c, .r = r, .a = a, .d = ret };
	bool goes_on = true;

	memset(ret, 0, sizeof(*ret));
	ret->eff = c->base;
	ret->request_id = r->request_id;
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
