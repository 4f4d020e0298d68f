/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What would let a call pass that its session's trust refuses: the strictest mode that has what it needs, and where it is said. Advice in words; it
 * changes nothing of the decision.
 */
#include "policy/policy_priv.h"
#include "policy/rule.h"

static const char *word_of(enum trust t)
{
	return enum_name(trust_names, (int)t);
}

/* TRUST_COUNT_: none, because it is not the mode that takes it away. */
static enum trust least_with(const struct ctx *x, unsigned needs)
{
	const struct trust_rule *rule = x->d->mode.rule;
	enum trust t = x->d->mode.trust;

	/* Nobody raises it for S2's calls. */
	if (is_tier1(x))
		return TRUST_COUNT_;
	for (t++; t < TRUST_COUNT_; t++) {
		unsigned caps = rule ? rule_caps(compat_of(x), rule, cap_matrix(t)) : cap_matrix(t);

		if (!(needs & ~caps))
			break;
	}
	return t;
}

static void by_configuration(struct ctx *x, enum trust t)
{
	const struct trust_rule *rule = x->d->mode.rule;
	struct str key = x->d->who.session_key;

	if (rule && str_eq(rule->match, x->d->mode.pattern))
		fix_it(x, arena_printf(x->a, "mode.trust.rules: trust %s for '" STR_FMT "'", word_of(t),
				       STR_ARG(rule->match)));
	else if (x->d->mode.pattern.n)
		fix_it(x,
		       arena_printf(x->a, "mode.trust.rules: add { match: \"" STR_FMT "\", trust: \"%s\" }",
				    STR_ARG(key), word_of(t)));
	else
		fix_it(x, arena_printf(x->a, "mode.trust.default=%s", word_of(t)));
}

void remedy_trust(struct ctx *x, unsigned needs)
{
	static const char host[] = ": without walls, unless something else asks for them";
	const struct trust_rule *rule = x->d->mode.rule;
	enum trust t = least_with(x, needs), ruled = x->d->mode.ruled;
	bool by_flag = x->d->mode.trust < ruled;

	if (t < TRUST_COUNT_ && (!by_flag || t > ruled))
		by_configuration(x, t);
	if (t < TRUST_COUNT_ && x->r->via == VIA_CLI)
		fix_it(x, arena_printf(x->a, "--sandbox %s%s%s", word_of(t),
				       t > ruled ? " --allow-weaken" : "", t == TRUST_NONE ? host : ""));
	else if (t < TRUST_COUNT_ && by_flag)
		fix_it(x, arena_printf(x->a, "trust \"%s\", or none in the session's options", word_of(t)));
	else if (t == TRUST_COUNT_ && rule && !is_tier1(x))
		fix_it(x, arena_printf(x->a, "mode.trust.rules: allow and deny of '" STR_FMT "'",
				       STR_ARG(rule->match)));
}

void remedy_rule(struct ctx *x, struct str entry)
{
	struct str match = x->d->mode.rule->match;

	if (entry.n)
		fix_it(x,
		       arena_printf(x->a, "mode.trust.rules: remove " STR_FMT " from deny of '" STR_FMT "'",
				    STR_ARG(entry), STR_ARG(match)));
	else
		fix_it(x, arena_printf(x->a, "mode.trust.rules: add " STR_FMT " to allow of '" STR_FMT "'",
				       STR_ARG(x->d->tool.name), STR_ARG(match)));
}
