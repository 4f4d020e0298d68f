/* SPDX-License-Identifier: Apache-2.0 */
/* One request of a caller, from its head to its answer. */
#include "server/guard/guard.h"

#include "base/clock.h"
#include "policy/policy.h"

enum { VISIT_ARENA_MAX = 64 << 20, TARGET_MAX = 4096 };

struct visit *visit_new(struct guard *g, struct http_exchange *x)
{
	struct visit *v = calloc(1, sizeof(*v));

	if (!v)
		return NULL;
	v->g = g;
	v->x = x;
	v->began_us = clock_mono_ns() / 1000;
	v->next = g->visits;
	if (g->visits)
		g->visits->prev = v;
	g->visits = v;
	arena_init(&v->arena, VISIT_ARENA_MAX);
	buf_init(&v->body, BODY_LARGE);
	buf_init(&v->asked_body, BODY_LARGE + BODY_SMALL);
	buf_init(&v->asked_target, TARGET_MAX);
	buf_init(&v->got, 4 * COLLECT_MAX);
	return v;
}

void visit_free(struct visit *v)
{
	struct guard *g = v->g;

	forward_forget(v);
	events_forget(v);
	if (v->prev)
		v->prev->next = v->next;
	else
		g->visits = v->next;
	if (v->next)
		v->next->prev = v->prev;
	g->bodies -= v->counted;
	arena_done(&v->arena);
	buf_done(&v->body);
	buf_done(&v->asked_body);
	buf_done(&v->asked_target);
	buf_done(&v->got);
	free(v);
}

bool visit_take_id(struct visit *v)
{
	if (v->ask.request_id.n && v->ask.request_id.n < sizeof(v->id)) {
		memcpy(v->id, v->ask.request_id.p, v->ask.request_id.n);
		return true;
	}
	if (!wire_uuid(v->id)) {
		say_error(v, 500, "internal", STR("internal error"));
		return false;
	}
	v->ask.request_id = str_z(v->id);
	return true;
}

/* The query, with nothing in it that the route does not know. */
bool visit_take_query(struct visit *v)
{
	static const char *const none[] = { NULL };
	const struct http_head *h = http_exchange_head(v->x);
	const char *const *names = v->match.route->query ? v->match.route->query : none;
	struct str text = arena_str(&v->arena, http_head_slice(h, h->query));
	struct wire_fault f = { .status = 422, .word = "schema" };
	struct buf b;

	if (path_query(&v->arena, names, text, &v->query))
		return true;
	buf_init_on(&b, sizeof(f.text) - 64, f.text, sizeof(f.text));
	buf_puts(&b, "query: '");
	buf_put_visible(&b, (struct str){ v->query.bad.p, v->query.bad.n < 30 ? v->query.bad.n : 30 });
	buf_puts(&b, "' ");
	buf_puts(&b, v->query.why);
	buf_done(&b);
	say_fault(v, &f);
	return false;
}

/* Nobody reads the guard's reasons. */
static struct request request_of(const struct visit *v, enum via via)
{
	struct request r = { .facts = v->g->o.facts, .brief = true };

	ask_request(&v->ask, via, v->who.index, &r);
	return r;
}

/* What may be done is the runner's to decide; it asks this again, too. */
bool visit_is_known(struct visit *v)
{
	const struct request r = request_of(v, VIA_API);
	struct decision d;
	enum code code = decide_who(callers_config(v->g->callers), &r, &v->arena, &d);

	if (code == CODE_OK)
		return true;
	if (code == CODE_UNDECIDED)
		say_error(v, 500, "internal", STR("internal error"));
	else
		say_code(v, &d);
	return false;
}

bool visit_decide(struct visit *v, const struct ask_s2 *s2, struct decision *ret)
{
	struct request r = request_of(v, VIA_GUARD);
	struct err e = { 0 };

	r.tool = v->ask.tool;
	r.argv = s2->argv;
	r.has_timeout = s2->timeout_s.said;
	r.timeout_s = s2->timeout_s.n;
	if (decide(callers_config(v->g->callers), &r, &v->arena, ret, &e) >= 0)
		return true;
	say_error(v, 500, "internal", STR("internal error"));
	return false;
}

struct str visit_token(const struct visit *v)
{
	struct str value;

	if (http_head_one(http_exchange_head(v->x), STR("Authorization"), &value) < 0 ||
	    !str_starts(value, STR("Bearer ")))
		return (struct str){ 0 };
	return str_from(value, sizeof("Bearer ") - 1);
}
