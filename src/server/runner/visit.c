/* SPDX-License-Identifier: Apache-2.0 */
#include "server/runner/runner.h"

#include "base/clock.h"
#include "base/log.h"
#include "http/sse.h"
#include "server/refusal.h"

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

enum { WHOLE_MAX = 128 << 10, PIECE = 64 << 10, STALL_MAX_MS = 60000, STEP_MS = 1000 };
#define VISIT_ARENA_MAX ((size_t)64 << 20)

static const char *const query_pair[] = { "agent", "type", "chat_id", NULL };
static const char *const query_incident[] = { "request", "session", NULL };

/* clang-format off */
static const struct path_row routes[] = {
	{ HTTP_GET,    "/health",                    NEEDS_NOTHING, true,  0,             NULL,           "health",    answer_health },
	{ HTTP_POST,   "/run",                       NEEDS_TOKEN,   true,  WIRE_RUN_MAX,  NULL,           "run",       answer_run },
	{ HTTP_GET,    "/metrics",                   NEEDS_TOKEN_OR_OPEN, true, 0,        NULL,           "metrics",   answer_metrics },
	{ HTTP_POST,   "/v1/calls",                  NEEDS_TOKEN,   false, WIRE_BODY_MAX, NULL,           "calls",     answer_call },
	{ HTTP_POST,   "/v1/explain",                NEEDS_TOKEN,   false, WIRE_BODY_MAX, NULL,           "explain",   answer_explain },
	{ HTTP_GET,    "/v1/tools",                  NEEDS_TOKEN,   false, 0,             NULL,           "tools",     answer_tools },
	{ HTTP_GET,    "/v1/sessions",               NEEDS_TOKEN,   false, 0,             NULL,           "sessions",  answer_sessions },
	{ HTTP_GET,    "/v1/sessions/{key}",         NEEDS_TOKEN,   false, 0,             NULL,           "sessions",  answer_session },
	{ HTTP_DELETE, "/v1/sessions/{key}",         NEEDS_TOKEN,   false, 0,             NULL,           "sessions",  answer_session_end },
	{ HTTP_GET,    "/v1/processes",              NEEDS_TOKEN,   false, 0,             query_pair,     "processes", answer_processes },
	{ HTTP_POST,   "/v1/processes/{id}/kill",    NEEDS_TOKEN,   false, 0,             query_pair,     "processes", answer_process_kill },
	{ HTTP_GET,    "/v1/events",                 NEEDS_TOKEN,   false, 0,             NULL,           "events",    answer_events },
	{ HTTP_GET,    "/v1/approvals",              NEEDS_TOKEN,   false, 0,             NULL,           "approvals", answer_approvals },
	{ HTTP_POST,   "/v1/approvals/{id}",         NEEDS_ADMIN,   false, 65536,         NULL,           "approvals", answer_approval },
	{ HTTP_POST,   "/v1/refused",                NEEDS_TOKEN_OR_OPEN, false, REFUSALS_BODY_MAX, NULL,  "refused",   answer_refused },
	{ HTTP_GET,    "/v1/admin/incident",         NEEDS_ADMIN,   false, 0,             query_incident, "incident",  answer_incident },
};
/* clang-format on */

/* ---- answers ---- */

static void count(const struct visit *v, unsigned status)
{
	const char *label = v->match.route ? v->match.route->label : "none";

	metrics_add(v->worker->runner->metrics,
		    (struct metric_at){ METRIC_RUNNER_REQUESTS, metrics_word(LABEL_ROUTE, str_z(label)),
					metrics_status(status) },
		    1);
}

static int answer_in_pieces(struct visit *v, struct str body)
{
	while (body.n) {
		struct str piece = { .p = body.p, .n = body.n < PIECE ? body.n : PIECE };

		if (visit_write(v, piece) < 0)
			return -1;
		body = str_from(body, piece.n);
	}
	visit_end(v);
	return 0;
}

static int begin(struct visit *v, unsigned status, struct str type)
{
	const struct http_answer_field fields[] = { { STR("Content-Type"), type },
						    { STR("Cache-Control"), STR("no-store") } };
	int r;

	if (!v->x)
		return -EPIPE;
	r = http_answer_begin(v->x, status, fields, 2);
	v->begun = r == 0;
	count(v, status);
	return r;
}

void visit_answer(struct visit *v, unsigned status, struct str type, struct str body)
{
	const struct http_answer_field fields[] = { { STR("Content-Type"), type },
						    { STR("Cache-Control"), STR("no-store") },
						    { STR("Retry-After"), STR("1") } };

	if (!v->x)
		return;
	if (body.n <= WHOLE_MAX) {
		if (http_answer(v->x, status, fields, status == 503 || status == 429 ? 3 : 2, body) < 0)
			http_answer_abort(v->x);
		v->x = NULL;
		count(v, status);
		return;
	}
	if (begin(v, status, type) == 0)
		(void)answer_in_pieces(v, body);
}

void visit_json(struct visit *v, unsigned status, const struct buf *json)
{
	if (json->failed)
		visit_fail(v, 500, "limit", "the answer is larger than it may be");
	else
		visit_answer(v, status, TYPE_JSON, buf_str(json));
}

void visit_fail(struct visit *v, unsigned status, const char *word, const char *text)
{
	_cleanup_buf_ struct buf out = { 0 };
	struct jsonw w;
	bool s2 = !v->x ||
		  !str_starts(http_head_slice(http_exchange_head(v->x), http_exchange_head(v->x)->path),
			      STR("/v1/"));

	buf_init(&out, 8192);
	jsonw_init(&w, &out, 0);
	jsonw_obj(&w);
	if (s2) {
		jsonw_kz(&w, "detail", text);
	} else {
		jsonw_kz(&w, "error", word);
		jsonw_kz(&w, "message", text);
		if (v->id.n)
			jsonw_kstr(&w, "request_id", v->id);
		else
			jsonw_knull(&w, "request_id");
	}
	jsonw_obj_end(&w);
	visit_answer(v, status, TYPE_JSON, buf_str(&out));
}

void visit_refused(struct visit *v, enum code code)
{
	visit_fail(v, code_http(code), code_word(code), code_detail(code));
}

/* C30: a short stable word for who asks; the reason is in the log, with the request's id. */
void visit_error(struct visit *v, const struct err *e)
{
	static const struct {
		const char *word, *text;
	} said[ERR_KIND_COUNT_] = {
		[ERR_NONE] = { "error", "it could not be done" },
		[ERR_USAGE] = { "invalid_request", "the request is not accepted" },
		[ERR_DENIED] = { "denied", "refused" },
		[ERR_NOTFOUND] = { "not_found", "there is no such thing" },
		[ERR_LIMIT] = { "limit", "a limit was reached" },
		[ERR_UNAVAIL] = { "unavailable", "this cannot be had now" },
		[ERR_PROTO] = { "protocol", "something answered what it must not" },
		[ERR_SYS] = { "system_error", "the system could not do it" },
		[ERR_BUG] = { "internal", "an error of ours" },
	};

	LOG(LOG_WARN, "a request failed", KV_Z("why", e->msg), KV_STR("request", v->id),
	    KV_Z("route", v->match.route ? v->match.route->label : "none"));
	visit_fail(v, e->kind == ERR_SYS || e->kind == ERR_BUG ? 500 : err_kind_http(e->kind),
		   said[e->kind < ERR_KIND_COUNT_ ? e->kind : 0].word,
		   said[e->kind < ERR_KIND_COUNT_ ? e->kind : 0].text);
}

/* ---- answers in pieces ---- */

int visit_begin(struct visit *v, struct str type)
{
	return begin(v, 200, type);
}

/* A client that takes nothing holds up its own call, and for a while only. */
int visit_write(struct visit *v, struct str piece)
{
	int r = -EPIPE;

	while (v->x && (r = http_answer_write(v->x, piece)) == -EAGAIN) {
		uint64_t before = clock_mono_ms();

		if (v->stalled_ms > STALL_MAX_MS) {
			http_answer_abort(v->x);
			v->x = NULL;
			v->gone = true;
			return -ETIMEDOUT;
		}
		if (loop_step(v->worker->loop, clock_deadline(STEP_MS)) < 0)
			return -EPIPE;
		v->stalled_ms += clock_mono_ms() - before;
	}
	return v->x ? r : -EPIPE;
}

void visit_end(struct visit *v)
{
	if (!v->x)
		return;
	http_answer_end(v->x);
	v->x = NULL;
}

int visit_event(struct visit *v, const char *type, struct str data, struct str id)
{
	const struct sse_event ev = {
		.type = str_z(type), .data = data, .id = id, .has_id = id.n > 0, .retry_ms = SSE_NO_RETRY
	};
	_cleanup_buf_ struct buf out = { 0 };
	struct str rest;

	buf_init(&out, data.n + data.n / 4 + (size_t)(1 << 20));
	if (sse_write(&out, &ev) < 0 || out.failed)
		return -EINVAL;
	for (rest = buf_str(&out); rest.n;) {
		struct str piece = { .p = rest.p, .n = rest.n < PIECE ? rest.n : PIECE };
		int r = visit_write(v, piece);

		if (r < 0)
			return r;
		rest = str_from(rest, piece.n);
	}
	return 0;
}

static void on_other(struct loop *l, void *ctx, uint32_t events)
{
	(void)l;
	(void)events;
	*(bool *)ctx = true;
}

bool visit_wait(struct visit *v, int other, uint64_t deadline_ms)
{
	struct loop_id id = { 0 };
	bool happened = false;

	if (other >= 0 && loop_add_fd(v->worker->loop, other, EPOLLIN, on_other, &happened, &id) < 0)
		other = FD_NONE;
	if (loop_step(v->worker->loop, deadline_ms) < 0)
		v->gone = true;
	if (other >= 0)
		(void)loop_del(v->worker->loop, id);
	return happened;
}

/* ---- who asks ---- */

static bool same_token(const struct runner *r, struct str token)
{
	unsigned char got[SHA256_BYTES];
	struct sha256 c;

	sha256_init(&c);
	sha256_add(&c, token);
	sha256_end(&c, got);
	return hash_equal_ct((struct str){ .p = (const char *)got, .n = sizeof(got) },
			     (struct str){ .p = (const char *)r->token_hash, .n = sizeof(r->token_hash) });
}

/* The guard, by the runner's own token. */
enum code visit_bearer(const struct runner *runner, const struct http_head *h)
{
	struct str field;
	int r = http_head_one(h, STR("authorization"), &field);

	if (r == -ENOENT || (r == 0 && !str_starts(field, STR("Bearer "))))
		return CODE_MISSING_AUTH;
	return r == 0 && same_token(runner, str_from(field, 7)) ? CODE_OK : CODE_INVALID_AUTH;
}

/* The caller, by the token that the guard was shown. */
static enum code check_caller(struct visit *v, const struct http_head *h)
{
	struct worker *w = v->worker;
	struct str token;
	int r = http_head_one(h, STR("x-creel-token"), &token);

	if (r == -ENOENT || (r == 0 && token.n == 0))
		return CODE_MISSING_AUTH;
	if (callers_refresh(w->callers) > 0)
		worker_take_tokens(w);
	if (r < 0 || callers_find(w->callers, token, clock_unix_ms(), &v->caller) != TOKEN_VALID)
		return CODE_INVALID_AUTH;
	callers_used(w->callers, &v->caller, clock_unix_ms());
	return CODE_OK;
}

/* False: it was answered. */
static bool find_route(struct visit *v, const struct http_head *h)
{
	unsigned status = path_find(routes, sizeof(routes) / sizeof(routes[0]), h->method,
				    http_head_slice(h, h->path), &v->match);
	bool open = status == 0 && v->match.route->needs == NEEDS_NOTHING;
	enum code code = open ? CODE_OK : visit_bearer(v->worker->runner, h);

	if (code == CODE_OK && status == 0 && !open && v->match.route->needs != NEEDS_TOKEN_OR_OPEN)
		code = check_caller(v, h);
	if (code != CODE_OK)
		visit_refused(v, code);
	else if (status)
		visit_fail(v, status, status == 405 ? "method" : "not_found",
			   status == 405 ? "this path has no such method" : "there is no such path");
	else if (v->match.route->needs == NEEDS_ADMIN && !v->caller.admin)
		visit_fail(v, 403, "not_admin", "this needs a token that was made with --admin");
	else
		return true;
	return false;
}

static bool check_rest(struct visit *v, const struct http_head *h)
{
	static const char *const none[] = { NULL };
	const struct path_row *r = v->match.route;
	struct str accept;

	if (!path_query(&v->arena, r->query ? r->query : none, http_head_slice(h, h->query), &v->query)) {
		visit_fail(v, 400, "invalid_query", "the query has a name that is not known here, or twice");
		return false;
	}
	v->wants_events =
		http_head_one(h, STR("accept"), &accept) == 0 && str_starts(accept, STR("text/event-stream"));
	for (unsigned i = 0; i < PATH_PARTS_MAX; i++)
		if (v->match.part[i].n && !path_decode(&v->arena, v->match.part[i], &v->match.part[i])) {
			visit_fail(v, 400, "invalid_path", "the path has a part that is not text");
			return false;
		}
	if (h->framing == HTTP_LENGTH && h->length > r->body_max) {
		visit_fail(v, 413, "too_large", "the body is larger than it may be");
		return false;
	}
	return true;
}

/* ---- the handler ---- */

struct visit *visit_free(struct visit *v)
{
	if (!v)
		return NULL;
	if (v->x && v->begun)
		http_answer_abort(v->x);
	else if (v->x && v->whole)
		visit_fail(v, 500, "internal", "nobody has answered");
	arena_done(&v->arena);
	buf_done(&v->body);
	free(v);
	return NULL;
}

static void on_request(void *ctx, struct http_exchange *x)
{
	struct worker *w = ctx;
	struct visit *v = calloc(1, sizeof(*v));
	const struct http_head *h = http_exchange_head(x);

	if (!v) {
		http_answer_abort(x);
		return;
	}
	w->visit = visit_free(w->visit);
	v->worker = w;
	v->x = x;
	arena_init(&v->arena, VISIT_ARENA_MAX);
	buf_init(&v->body, WIRE_BODY_MAX);
	if (find_route(v, h) && check_rest(v, h))
		w->visit = v;
	else
		(void)visit_free(v);
}

void visit_stranger(struct worker *w, struct http_exchange *x)
{
	const struct http_head *h = http_exchange_head(x);
	struct visit v = { .worker = w, .x = x };
	unsigned status = path_find(routes, sizeof(routes) / sizeof(routes[0]), h->method,
				    http_head_slice(h, h->path), &v.match);
	enum code code = visit_bearer(w->runner, h);

	http_exchange_last(x);
	if (status == 0 && v.match.route->needs == NEEDS_NOTHING)
		v.match.route->answer(&v);
	else if (code != CODE_OK)
		visit_refused(&v, code);
	else
		visit_fail(&v, 503, "busy", "too many wait for a worker");
}

static void on_body(void *ctx, struct http_exchange *x, struct str piece)
{
	struct worker *w = ctx;

	(void)x;
	if (w->visit)
		buf_put(&w->visit->body, piece);
}

static void on_whole(void *ctx, struct http_exchange *x)
{
	struct worker *w = ctx;

	(void)x;
	if (w->visit)
		w->visit->whole = true;
}

static void on_gone(void *ctx, struct http_exchange *x)
{
	struct worker *w = ctx;

	(void)x;
	if (!w->visit)
		return;
	w->visit->x = NULL;
	w->visit->gone = true;
}

const struct http_handler visit_handler = {
	.request = on_request, .body = on_body, .whole = on_whole, .gone = on_gone
};

void visit_serve(struct visit *v)
{
	if (v->body.failed || v->body.n > v->match.route->body_max)
		visit_fail(v, 413, "too_large", "the body is larger than it may be");
	else
		v->match.route->answer(v);
}
