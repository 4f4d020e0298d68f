/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Three questions, three axes: what may this session do (trust), is it sandboxed (when), what if no sandbox can be had
 * (enforce). The stricter demand wins; a capability can only be taken away.
 */
#include "policy/policy_priv.h"
#include "policy/posture.h"
#include "policy/rule.h"

static const struct origin builtin = { .kind = ORIGIN_BUILTIN };
static const struct origin flag = { .kind = ORIGIN_FLAG, .name = { .p = "--sandbox", .n = 9 } };

/* S0's prefixes: a rule list behind the user's own, there even without any file (C13). */
/* clang-format off */
static const struct {
	struct str match;
	enum trust trust;
} prefixes[] = {
	{ { "main:*", 6 },      TRUST_NONE },
	{ { "client:*", 8 },    TRUST_LIGHT },
	{ { "untrusted:*", 11 }, TRUST_DOCKER },
	{ { "analysis:*", 10 }, TRUST_READONLY },
	{ { "proxy:*", 7 },     TRUST_LIGHT },
};
/* clang-format on */

static struct str trust_word(enum trust t)
{
	return str_z(enum_name(trust_names, (int)t));
}

static void set_trust(struct ctx *x, enum trust t, struct str pattern, const struct origin *o,
		      const char *text)
{
	x->d->mode.trust = x->d->mode.ruled = t;
	x->d->mode.pattern = pattern;
	why(x, STAGE_MODE, "trust", trust_word(t), o, "%s%s%.*s", text, pattern.n ? " " : "",
	    (int)(pattern.n < 200 ? pattern.n : 200), pattern.p);
}

static bool trust_by_prefix(struct ctx *x);

/* A project's own file, found and not named, must not call the project trusted. */
static void hold_to_prefix(struct ctx *x, const struct trust_rule *rule)
{
	if (trust_by_prefix(x) && rule->trust >= x->d->mode.trust) {
		if (rule->trust > x->d->mode.trust)
			warn(x, "project_rule_weaker", &rule->origin, rule->match,
			     "trust %s is ignored: a file that was found in the project, and not named with -c, can only "
			     "make the built-in mode stricter",
			     enum_name(trust_names, (int)rule->trust));
		return;
	}
	set_trust(x, rule->trust, rule->match, &rule->origin, "first matching rule:");
}

static bool trust_by_rule(struct ctx *x)
{
	const struct config *c = x->c;

	for (size_t i = 0; i < c->n_rules; i++) {
		const struct trust_rule *rule = &c->rules[i];

		if (!session_glob_matches(rule->match, x->d->who.session_key))
			continue;
		x->d->mode.rule = rule;
		if (rule->tighten_only)
			hold_to_prefix(x, rule);
		else
			set_trust(x, rule->trust, rule->match, &rule->origin, "first matching rule:");
		return true;
	}
	return false;
}

/* "UNTRUSTED:x" is not trusted for its spelling; full trust is given to the exact word alone. */
static bool has_prefix(struct str key, struct str match, enum trust t)
{
	struct str word = { .p = match.p, .n = match.n - 1 }; /* without the '*' */
	struct str head = { .p = key.p, .n = key.n < word.n ? key.n : word.n };

	return t == TRUST_NONE ? str_eq(head, word) : str_eq_nocase(head, word);
}

static bool trust_by_prefix(struct ctx *x)
{
	if (x->c->base.athena_literal)
		return false;
	for (size_t i = 0; i < sizeof(prefixes) / sizeof(prefixes[0]); i++)
		if (has_prefix(x->d->who.session_key, prefixes[i].match, prefixes[i].trust)) {
			set_trust(x, prefixes[i].trust, prefixes[i].match, &builtin, "built-in prefix");
			return true;
		}
	return false;
}

static void trust_by_config(struct ctx *x)
{
	enum trust t = (enum trust)x->c->base.trust_default;

	if (!trust_by_rule(x) && !trust_by_prefix(x))
		set_trust(x, t < TRUST_COUNT_ ? t : TRUST_READONLY, (struct str){ .p = "", .n = 0 },
			  &x->c->base.origin[OPT_TRUST_DEFAULT], "no rule matches: the default");
}

/* A flag tightens freely. Weakening needs a second flag, and is noted; a program that uses the library cannot. */
static bool trust_by_flag(struct ctx *x)
{
	const struct request *r = x->r;
	enum trust said = x->d->mode.trust;

	if (!is_local(r->via) || !r->has_trust || r->trust >= TRUST_COUNT_)
		return true;
	if (r->trust > said && r->via != VIA_CLI) {
		warn(x, "flags_ignored", &flag, STR("trust"),
		     "trust %s is weaker than %s, which the rules give this session; it is ignored",
		     enum_name(trust_names, (int)r->trust), enum_name(trust_names, (int)said));
		return true;
	}
	if (r->trust > said && !r->allow_weaken) {
		fix_it(x, STR("--allow-weaken"));
		return deny(x, STAGE_MODE, CODE_WEAKEN_REFUSED, &flag,
			    "--sandbox %s is weaker than trust %s, which the rules give this session",
			    enum_name(trust_names, (int)r->trust), enum_name(trust_names, (int)said));
	}
	if (r->trust > said)
		warn(x, "trust_weakened", &flag, STR("--sandbox"),
		     "trust weakened from %s to %s by the operator", enum_name(trust_names, (int)said),
		     enum_name(trust_names, (int)r->trust));
	x->d->mode.trust = r->trust;
	why(x, STAGE_MODE, "trust", trust_word(r->trust), &flag, "flag over %s",
	    enum_name(trust_names, (int)said));
	return true;
}

/* What S2 lets a tier-1 call do at most. */
#define TIER1_CAPS \
	(CAP_BIT(CAP_FS_READ) | CAP_BIT(CAP_FS_WRITE) | CAP_BIT(CAP_PROC_EXEC) | CAP_BIT(CAP_NET_INTERNAL))

static void put_caps(struct buf *b, unsigned caps)
{
	for (unsigned i = 0; i < CAP_COUNT_; i++)
		if (caps & CAP_BIT(i)) {
			if (b->n)
				buf_putc(b, ',');
			buf_puts(b, enum_name(cap_names, (int)i));
		}
}

static void settle_caps(struct ctx *x)
{
	const struct trust_rule *rule = x->d->mode.rule;
	unsigned row = cap_matrix(x->d->mode.trust), caps = row;
	_cleanup_buf_ struct buf b = { 0 };
	char first[256];

	if (is_tier1(x))
		caps &= TIER1_CAPS;
	if (rule)
		caps = rule_caps(compat_of(x), rule, caps);
	x->d->mode.caps = caps;
	if (x->r->brief)
		return;
	buf_init_on(&b, sizeof(first), first, sizeof(first));
	put_caps(&b, caps);
	why(x, STAGE_MODE, "caps", b.n ? buf_str(&b) : STR("none"), rule ? &rule->origin : &builtin, "%s",
	    caps == row   ? "the whole row of this trust"
	    : is_tier1(x) ? "the row of this trust, less what tier-1 calls and the rule take away"
			  : "the row of this trust, less what the rule takes away");
}

static void raise_place(struct ctx *x, enum place p)
{
	if (x->d->mode.place_min < p)
		x->d->mode.place_min = p;
}

/* One demand for isolation: by whom, and how far away at least. */
static void sandbox(struct ctx *x, enum place p, const struct origin *o, const char *text)
{
	x->d->mode.sandboxed = x->d->mode.isolation_asked = true;
	raise_place(x, p);
	why(x, STAGE_MODE, "sandboxed", STR("yes"), o, "%s", text);
}

static bool when_asks(const struct ctx *x)
{
	return x->d->mode.when == WHEN_ALL || (x->d->mode.when == WHEN_NON_MAIN && !x->d->who.is_main);
}

static void settle_sandboxed(struct ctx *x)
{
	const struct origin *when = &x->d->eff.origin[OPT_WHEN];

	x->d->mode.place_min = PLACE_HOST;
	if (when_asks(x))
		sandbox(x, PLACE_CONTAINER, when,
			x->d->mode.when == WHEN_ALL ? "when=all: every session"
						    : "when=non-main, and this is not the main session");
	if (x->d->mode.trust != TRUST_NONE)
		sandbox(x, x->d->mode.trust == TRUST_LIGHT ? PLACE_RESTRICTED : PLACE_CONTAINER, &builtin,
			x->d->mode.trust == TRUST_LIGHT ? "trust light: restricted at least"
							: "trust docker or readonly: a container at least");
	if (is_tier1(x))
		sandbox(x, PLACE_CONTAINER, &builtin, "a tier-1 call never runs on the host");
	if (is_local(x->r->via) && x->r->force_sandbox)
		sandbox(x, PLACE_CONTAINER, &flag, "asked for by the local caller");
	if (!x->d->mode.sandboxed)
		why(x, STAGE_MODE, "sandboxed", STR("no"), when, "trust=none and when=%s%s",
		    enum_name(when_names, (int)x->d->mode.when),
		    x->d->mode.when == WHEN_NON_MAIN ? ", and this is the main session" : "");
}

/* Everything on the host, because the operator says so: C9. */
static bool no_sandbox(struct ctx *x)
{
	static const struct origin o = { .kind = ORIGIN_FLAG, .name = { .p = "--no-sandbox", .n = 12 } };
	const char *problem = NULL;

	if (x->r->via != VIA_CLI || !x->r->no_sandbox)
		return true;
	if (x->r->force_sandbox)
		problem = "a sandbox was asked for in the same call";
	else if (is_tier1(x))
		problem = "tier-1 calls never run on the host";
	else if (x->d->mode.trust != TRUST_NONE)
		problem = "this session's trust needs one; --sandbox none --allow-weaken says otherwise";
	else if (address_is_public(x->c->base.serve_bind))
		problem = "the gateway listens on a public address";
	if (problem)
		return deny(x, STAGE_MODE, CODE_NO_SANDBOX_REFUSED, &o, "--no-sandbox refused: %s", problem);
	x->d->mode.sandboxed = x->d->mode.isolation_asked = false;
	x->d->mode.place_min = PLACE_HOST;
	x->d->mode.enforce = ENFORCE_OFF;
	why(x, STAGE_MODE, "sandboxed", STR("no"), &o, "the operator switched it off for this call");
	return true;
}

bool stage_mode(struct ctx *x)
{
	struct settings *eff = &x->d->eff;

	trust_by_config(x);
	if (!trust_by_flag(x))
		return false;
	if (x->d->mode.rule && x->d->mode.rule->over)
		settings_override(x->a, eff, x->d->mode.rule->over, false);
	x->d->mode.when = eff->when >= 0 && eff->when < WHEN_COUNT_ ? (enum when)eff->when : WHEN_ALL;
	x->d->mode.enforce = eff->enforce >= 0 && eff->enforce < ENFORCE_COUNT_ ? (enum enforce)eff->enforce
										: ENFORCE_REQUIRE;
	settle_caps(x);
	settle_sandboxed(x);
	return no_sandbox(x);
}
