/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Takes requests in. Everything that needs no body is looked at before one byte of it is kept: the route, the token, the rate, the type and the length.
 * A refusal waits for the end of a short body, because a connection whose request was not read cannot be used again.
 */
#include "server/guard/guard.h"

#include "base/clock.h"
#include "base/log.h"

enum { DRAIN_BODY_MAX = 65536, STRANGERS_PER_MINUTE = 10 };

static void refuse(struct visit *v, unsigned status, const char *word, struct str why, uint64_t retry_s)
{
	v->refused = status;
	v->word = word;
	v->why = why;
	v->retry_s = retry_s;
}

static void count_refusal(struct guard *g, const char *reason)
{
	metrics_add(
		g->metrics,
		(struct metric_at){ METRIC_GUARD_REFUSED, .a = metrics_word(LABEL_REASON, str_z(reason)) },
		1);
}

static void say_refused(struct visit *v)
{
	if (v->refused == 405)
		say_not_allowed(v);
	else if (v->retry_s)
		say_retry(v, v->refused, v->word, v->why, v->retry_s);
	else
		say_error(v, v->refused, v->word, v->why);
}

/* Strangers cannot fill the logs: a few lines a minute, and then how many there were. */
static bool may_log_stranger(struct guard *g)
{
	uint64_t now = clock_mono_ms();

	if (now >= g->refusals_ms + 60000) {
		if (g->refusals_untold)
			LOG(LOG_WARN, "more callers were refused", KV_U64("times", g->refusals_untold));
		tell_untold(g->tell, g->refusals_untold);
		g->refusals_ms = now;
		g->refusals = g->refusals_untold = 0;
	}
	if (g->refusals++ >= STRANGERS_PER_MINUTE) {
		g->refusals_untold++;
		return false;
	}
	return true;
}

static void log_stranger(struct visit *v, const char *state)
{
	const struct http_peer *peer = http_exchange_peer(v->x);

	if (!may_log_stranger(v->g))
		return;
	tell_token(v, state);
	if (peer->is_unix)
		LOG(LOG_WARN, "caller without a valid token", KV_Z("token", state), KV_U64("uid", peer->uid),
		    KV_I64("pid", peer->pid));
	else
		LOG(LOG_WARN, "caller without a valid token", KV_Z("token", state),
		    KV_Z("peer", peer->address));
}

void door_refused(void *ctx, const struct http_peer *peer, const char *why)
{
	struct guard *g = ctx;

	count_refusal(g, "tls");
	if (may_log_stranger(g))
		LOG(LOG_WARN, "caller without TLS", KV_Z("why", why), KV_Z("peer", peer->address));
}

static bool is_loopback(const struct http_peer *peer)
{
	return peer->is_unix || str_starts(str_z(peer->address), STR("127.")) ||
	       str_starts(str_z(peer->address), STR("[::1]"));
}

static void check_token(struct visit *v)
{
	struct guard *g = v->g;
	uint64_t now = clock_unix_ms();
	struct str token = visit_token(v);
	enum token_state state = TOKEN_UNKNOWN;

	if (token.n == 0) {
		log_stranger(v, "none");
		count_refusal(g, "auth");
		refuse(v, 401, "missing_auth", STR("missing auth"), 0);
		return;
	}
	(void)callers_refresh(g->callers);
	state = callers_find(g->callers, token, now, &v->who);
	if (state == TOKEN_VALID)
		return;
	log_stranger(v, enum_name(token_state_names, (int)state));
	count_refusal(g, "auth");
	refuse(v, 401, "invalid_auth", STR("invalid auth"), 0);
}

static void check_rate(struct visit *v)
{
	uint64_t ms = fair_rate(v->g->fair, str_z(v->who.id), clock_mono_ms());

	if (ms == 0)
		return;
	count_refusal(v->g, "rate");
	refuse(v, 429, "rate_limited", STR("too many requests"), (ms + 999) / 1000);
}

static void check_admin(struct visit *v)
{
	if (v->refused || v->match.route->needs == NEEDS_TOKEN || v->who.admin)
		return;
	tell_token(v, "admin_required");
	refuse(v, 403, "admin_required", STR("this needs an admin token"), 0);
}

static void check_caller(struct visit *v)
{
	enum path_needs needs = v->match.route->needs;

	if (needs == NEEDS_NOTHING ||
	    (needs == NEEDS_TOKEN_OR_OPEN && v->g->o.metrics_open && is_loopback(http_exchange_peer(v->x))))
		return;
	check_token(v);
	if (!v->refused)
		check_rate(v);
	check_admin(v);
}

/* The tokens may have changed while the body came. */
static void check_again(struct visit *v)
{
	if (v->refused || !v->who.id[0] || callers_is_current(v->g->callers, &v->who))
		return;
	check_token(v);
	check_admin(v);
}

/* application/json, and no other charset than UTF-8. */
static bool is_json(const struct http_head *h)
{
	struct str type, rest = { 0 };

	if (http_head_one(h, STR("Content-Type"), &type) < 0)
		return false;
	if (str_cut(type, ';', &type, &rest) && !str_eq_nocase(str_trim(rest), STR("charset=utf-8")))
		return false;
	return str_eq_nocase(str_trim(type), STR("application/json"));
}

static void check_body(struct visit *v, const struct http_head *h)
{
	const struct path_row *r = v->match.route;
	uint64_t length = h->framing == HTTP_LENGTH ? h->length : 0;

	if (h->framing == HTTP_NO_BODY || (h->framing == HTTP_LENGTH && length == 0)) {
		if (r->body_max)
			refuse(v, r->s2 ? 422 : 400, "invalid_json", STR("body: is missing"), 0);
		return;
	}
	if (r->body_max == 0) {
		refuse(v, 400, "invalid_request", STR("this route takes no body"), 0);
	} else if (!is_json(h)) {
		refuse(v, 415, "unsupported_media_type", STR("the body has to be application/json"), 0);
	} else if (length > r->body_max) {
		count_refusal(v->g, "size");
		refuse(v, 413, "too_large", STR("content too large"), 0);
	} else if (v->g->bodies + length > BODIES_MAX) {
		count_refusal(v->g, "size");
		refuse(v, 503, "busy", STR("too much is under way"), 1);
	}
}

static void find_route(struct visit *v, const struct http_head *h)
{
	struct str path = arena_str(&v->arena, http_head_slice(h, h->path));
	unsigned status = path_find(guard_routes, guard_n_routes, h->method, path, &v->match);

	if (h->form != HTTP_ORIGIN)
		refuse(v, 400, "invalid_request", STR("the target has to be a path"), 0);
	else if (status == 404)
		refuse(v, 404, "not_found", STR("not found"), 0);
	else if (status)
		refuse(v, status, "method_not_allowed", STR("this path has other methods"), 0);
}

/* Without a visit: it is asked often, and answered by anybody who lives. */
static bool answer_health(struct guard *g, struct http_exchange *x, const struct http_head *h)
{
	static const struct http_answer_field type[] = { { STR("Content-Type"), STR("application/json") } };
	bool asks = h->method == HTTP_GET || h->method == HTTP_HEAD;

	if (!asks || h->framing != HTTP_NO_BODY || h->has_query ||
	    !str_eq(http_head_slice(h, h->target), STR("/health")))
		return false;
	metrics_add(g->metrics, (struct metric_at){ METRIC_GUARD_REQUESTS, .a = 0, .b = 0 },
		    1); /* health, 200: the first words */
	if (http_answer(x, 200, type, 1, buf_str(&g->health)) < 0)
		http_answer_abort(x);
	return true;
}

static void on_request(void *ctx, struct http_exchange *x)
{
	const struct http_head *h = http_exchange_head(x);
	struct guard *g = ctx;
	struct visit *v;

	if (answer_health(g, x, h))
		return;
	v = visit_new(g, x);
	if (!v) {
		http_answer_abort(x);
		return;
	}
	http_exchange_set(x, v);
	find_route(v, h);
	if (!v->refused)
		check_caller(v);
	if (!v->refused)
		check_body(v, h);
	if (v->refused && (h->expect_continue || h->framing == HTTP_CHUNKED ||
			   (h->framing == HTTP_LENGTH && h->length > DRAIN_BODY_MAX)))
		say_refused(v);
}

static void on_body(void *ctx, struct http_exchange *x, struct str piece)
{
	struct visit *v = http_exchange_get(x);
	struct guard *g = ctx;

	if (!v || v->refused)
		return;
	if (v->body.n + piece.n > v->match.route->body_max || g->bodies + piece.n > BODIES_MAX) {
		count_refusal(g, "size");
		say_error(v, 413, "too_large", STR("content too large"));
		return;
	}
	v->counted += piece.n;
	g->bodies += piece.n;
	buf_put(&v->body, piece);
}

static void on_whole(void *ctx, struct http_exchange *x)
{
	struct visit *v = http_exchange_get(x);

	(void)ctx;
	if (!v)
		return;
	check_again(v);
	if (v->refused)
		say_refused(v);
	else if (v->body.failed)
		say_retry(v, 503, "busy", STR("out of memory"), 1);
	else if (visit_take_query(v))
		v->match.route->answer(v);
}

static void on_room(void *ctx, struct http_exchange *x)
{
	struct visit *v = http_exchange_get(x);

	(void)ctx;
	if (v && !v->hearing)
		forward_room(v);
}

static void on_gone(void *ctx, struct http_exchange *x)
{
	struct visit *v = http_exchange_get(x);

	(void)ctx;
	if (!v)
		return;
	http_exchange_set(x, NULL);
	say_done(v, 499);
	visit_free(v);
}

const struct http_handler door_handler = {
	.request = on_request, .body = on_body, .whole = on_whole, .room = on_room, .gone = on_gone
};
