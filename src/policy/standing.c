/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A decision that stands: what decide() says of a tool when nobody has given it arguments yet. Of two calls of one tool by one caller, only what looks at
 * the arguments can differ; so the next call takes the rest from here, and asks the same functions of the stages about its own command, timeout and
 * approval. Who shows a token is looked at each time, too. Whatever is not certainly the same (docs/decisions/015 goes through all of it) is decided from
 * the start: a refusal, git, an elevated call, programs with a route of their own, tier 1.
 */
#include "policy/policy_priv.h"

#include <assert.h>
#include <stdlib.h>

#define STANDING_BYTES ((size_t)1 << 20)

struct standing {
	struct arena arena;
	const struct config *c;
	struct request r; /* its texts are in the arena */
	bool holds;       /* false: of this tool every call is decided from the start */
	bool all_pairs;   /* of the caller's token: such a one may name any session */
	struct decision d;
};

/* clang-format off */
/* The texts of a request that are the same for each call of a session: copied, and compared by what they say. */
static const size_t texts[] = {
#define TEXT(field) offsetof(struct request, field)
	TEXT(agent), TEXT(session_key), TEXT(session_id), TEXT(channel), TEXT(chat_id), TEXT(user_id), TEXT(sender),
	TEXT(provider), TEXT(model), TEXT(tool), TEXT(facts.home), TEXT(facts.state_dir), TEXT(facts.own_dir),
	TEXT(facts.audit_dir), TEXT(facts.cwd),
#undef TEXT
};
/* Lists of the world outside: whoever finds another puts it elsewhere. */
static const size_t lists[] = {
	offsetof(struct request, facts.env_names), offsetof(struct request, facts.dirs),
	offsetof(struct request, facts.home_roots),
};
/*
 * Every member of a request, in its order. One more does not compile here, even where it fits between others: is it the caller's (texts, lists,
 * same_flags), or of one call (question_of)?
 */
#pragma GCC diagnostic push
#pragma GCC diagnostic error "-Wmissing-field-initializers"
#define T { .n = 0 } /* a text, or a list */
static const struct request every_member __attribute__((unused)) = {
	VIA_CLI, AUTH_LOCAL, 0, T, T, T, T, T, T, T, T, T, T, T, T, T, T, false, 0, false, false, false, TRUST_NONE, false, false, false, false, false,
	{ 0, false, T, T, T, T, T, T, T, T },
};
#undef T
#pragma GCC diagnostic pop
/* clang-format on */

static struct str *text_of(struct request *r, size_t at)
{
	return (struct str *)(void *)((char *)r + texts[at]);
}

static bool same_texts(const struct request *a, const struct request *b)
{
	for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
		struct str x, y;

		memcpy(&x, (const char *)a + texts[i], sizeof(x));
		memcpy(&y, (const char *)b + texts[i], sizeof(y));
		if (x.n != y.n || (x.n && memcmp(x.p, y.p, x.n) != 0))
			return false;
	}
	return true;
}

static bool same_lists(const struct request *a, const struct request *b)
{
	for (size_t i = 0; i < sizeof(lists) / sizeof(lists[0]); i++) {
		struct strs x, y;

		memcpy(&x, (const char *)a + lists[i], sizeof(x));
		memcpy(&y, (const char *)b + lists[i], sizeof(y));
		if (x.n != y.n || (x.n && x.v != y.v))
			return false;
	}
	return true;
}

static bool same_flags(const struct request *a, const struct request *b)
{
	return a->via == b->via && a->auth == b->auth && a->token == b->token &&
	       a->has_trust == b->has_trust && a->trust == b->trust && a->allow_weaken == b->allow_weaken &&
	       a->no_sandbox == b->no_sandbox && a->force_sandbox == b->force_sandbox &&
	       a->caller_policy == b->caller_policy && a->brief == b->brief &&
	       a->facts.backends == b->facts.backends &&
	       a->facts.opensandbox_built == b->facts.opensandbox_built;
}

/* The same without what only one call says. */
static void question_of(const struct request *r, struct arena *a, struct request *ret)
{
	*ret = *r;
	ret->request_id = ret->command = ret->path = (struct str){ 0 };
	ret->argv = (struct strs){ 0 };
	ret->has_timeout = ret->wants_elevated = ret->passive = false;
	ret->timeout_s = 0;
	for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
		struct str *t = text_of(ret, i);

		*t = t->p ? arena_str(a, *t) : *t;
	}
}

/* No later stage has looked at something that another call may have otherwise. */
static bool is_for_every_call(const struct ctx *x)
{
	const struct decision *d = x->d;

	return d->verdict != VERDICT_DENY && d->n_reasons == 0 && d->tool.name.n && !d->tool.gateway_side &&
	       !is_tier1(x) && d->eff.route_exec.n == 0 && d->place.scope != SCOPE_JOB &&
	       !d->place.elevated.requested;
}

static bool speaks_for_all_pairs(const struct request *r, const struct config *c)
{
	return !is_local(r->via) && c->tokens[r->token].all_pairs;
}

/* Tokens come and go: that it is one, what it may speak for, and whether that is as much as it was, is asked of every call. */
static bool is_still_somebody(const struct standing *s, struct ctx *x)
{
	return identity_caller(x) && speaks_for_all_pairs(x->r, x->c) == s->all_pairs;
}

struct standing *standing_new(const struct config *c, const struct request *r)
{
	struct standing *s = calloc(1, sizeof(*s));
	struct err ignored = { 0 };
	struct ctx x;

	if (!s)
		return NULL;
	arena_init(&s->arena, STANDING_BYTES);
	s->c = c;
	question_of(r, &s->arena, &s->r);
	x = (struct ctx){ .c = c, .r = &s->r, .a = &s->arena, .d = &s->d };
	/* Reasons are told of the call that they belong to. */
	s->holds = r->brief && r->tool.n && decide(c, &s->r, &s->arena, &s->d, &ignored) >= 0 &&
		   is_for_every_call(&x);
	s->all_pairs = s->holds && speaks_for_all_pairs(&s->r, c);
	if (s->arena.failed)
		return standing_free(s);
	return s;
}

struct standing *standing_free(struct standing *s)
{
	if (!s)
		return NULL;
	arena_done(&s->arena);
	free(s);
	return NULL;
}

bool standing_is_about(const struct standing *s, const struct config *c, const struct request *r)
{
	return s->c == c && same_flags(&s->r, r) && same_lists(&s->r, r) && same_texts(&s->r, r);
}

bool standing_decide(const struct standing *s, const struct request *r, struct arena *a, struct decision *ret)
{
	struct ctx x = { .c = s->c, .r = r, .a = a, .d = ret };

	if (!s->holds || r->wants_elevated)
		return false;
	*ret = s->d;
	x.cap_warnings = ret->n_warnings; /* one more would be added to a copy */
	ret->request_id = r->request_id;
	if (!is_still_somebody(s, &x) || !tool_arguments(&x))
		return false;
	fill_timeout(&x);
	settle_verdict(&x);
	return ret->verdict != VERDICT_DENY && !a->failed;
}
