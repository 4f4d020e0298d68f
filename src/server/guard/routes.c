/* SPDX-License-Identifier: Apache-2.0 */
/* What the guard answers to, and what it does with each. */
#include "server/guard/guard.h"

#include "base/hash.h"
#include "base/log.h"
#include "data/json.h"
#include "policy/policy.h"
#include "server/guard/openapi.h"

#include <assert.h>

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

static const char *const who_query[] = { "agent", "type", "chat_id", NULL };
static const char *const incident_query[] = { "request", "session", NULL };

/* ---- pieces ---- */

/* The same for all calls that a worker has one session for. Only a wish: two that are the same by chance share a worker. */
static uint64_t whose(const struct visit *v)
{
	const struct str parts[] = { str_z(v->who.id), v->ask.agent,   v->ask.session,
				     v->ask.channel,   v->ask.chat_id, v->ask.user_id };
	uint64_t h = 0;

	for (size_t i = 0; i < COUNT(parts); i++)
		h = hash_fast(parts[i], h);
	return h ? h : 1;
}

/* "/v1/sessions" */
static void set_target(struct visit *v, const char *path)
{
	v->asked_target.n = 0;
	buf_puts(&v->asked_target, path);
}

static void forward_as(struct visit *v, const char *method)
{
	struct str accept;

	v->asked.method = str_z(method);
	if (http_head_one(http_exchange_head(v->x), STR("Accept"), &accept) == 0 &&
	    str_eq(accept, STR("text/event-stream")))
		v->asked.accept = STR("text/event-stream");
	forward(v);
}

/* ---- /run ---- */

static struct str said(const struct value *v, const char *key)
{
	const struct value *t = value_get(v, str_z(key));

	return t && t->kind == VALUE_STR ? t->s : (struct str){ 0 };
}

/* S2's words are the same whatever was wrong; the runner's own word and sentence stand beside them, and in the log. */
static void run_refused(struct visit *v, const struct value *got)
{
	struct str word = said(got, "error"), cause = said(got, "message");

	if (cause.n == 0)
		cause = said(got, "detail");
	LOG(LOG_WARN, "the runner could not do a call", KV_Z("request", v->id), KV_U64("status", v->status),
	    KV_STR("error", word), KV_STR("why", cause));
	say_cause(v, STR("tool-runner error"), word.n ? word : STR("runner_error"), cause);
}

/* S2 reads what the runner says before it passes it on; so do we. */
static void run_answered(struct visit *v)
{
	const struct json_opts o = { .name = "runner", .max_depth = 8 };
	struct value got = { 0 };
	struct err e = { 0 };
	bool is_object = json_parse(&v->arena, buf_str(&v->got), &o, &got, &e) >= 0 && got.kind == VALUE_OBJ;

	if (v->status >= 400)
		run_refused(v, is_object ? &got : NULL);
	else if (!is_object)
		say_error(v, 502, "runner_error", STR("tool-runner invalid response"));
	else
		forward_pass_on(v);
}

/* S2's order: the tool, then who asks, then the arguments, then what would be run. */
static bool check_run(struct visit *v)
{
	struct decision d;
	struct ask_s2 s2;
	struct wire_fault f;
	bool shaped = true;

	if (!policy_tier1_tool(v->ask.tool)) {
		d = (struct decision){ .code = CODE_TOOL_NOT_ALLOWED,
				       .stopped_at = STAGE_TOOL,
				       .message = STR("not one of S2's three tools") };
		say_code(v, &d);
		return false;
	}
	shaped = ask_check_s2(&v->arena, &v->ask, &s2, &f);
	if (!visit_decide(v, &s2, &d))
		return false;
	if (d.verdict == VERDICT_DENY && d.stopped_at == STAGE_IDENTITY) {
		say_code(v, &d);
		return false;
	}
	if (!shaped) {
		say_fault(v, &f);
		return false;
	}
	/* What depends on the host is the runner's to find out. */
	if (d.verdict == VERDICT_DENY && d.stopped_at <= STAGE_TOOL) {
		say_code(v, &d);
		return false;
	}
	return true;
}

static void answer_run(struct visit *v)
{
	struct wire_fault f;
	struct jsonw w;

	if (!wire_read_run(&v->arena, buf_str(&v->body), false, &v->ask, &f)) {
		say_fault(v, &f);
		return;
	}
	if (!visit_take_id(v) || !check_run(v))
		return;
	if (!ask_clean_s2(&v->arena, &v->ask)) {
		say_retry(v, 503, "busy", STR("out of memory"), 1);
		return;
	}
	jsonw_init(&w, &v->asked_body, 0);
	wire_write_run(&w, &v->ask);
	set_target(v, "/run");
	v->whole = run_answered;
	v->asked.whose = whose(v);
	v->noted = v->ask.has_policy;
	forward_as(v, "POST");
}

/* ---- /v1/calls and /v1/explain ---- */

static void answer_call(struct visit *v)
{
	struct wire_fault f;
	struct jsonw w;

	if (!wire_read_call(&v->arena, buf_str(&v->body), false, &v->ask, &f)) {
		say_fault(v, &f);
		return;
	}
	if (!visit_take_id(v) || !visit_is_known(v))
		return;
	jsonw_init(&w, &v->asked_body, 0);
	wire_write_call(&w, &v->ask);
	set_target(v, v->match.route->path);
	v->noted = v->ask.has_policy;
	v->asked.body_ms = SILENCE_MS;
	v->asked.whose = whose(v);
	forward_as(v, "POST");
}

/* ---- things with a name in their path ---- */

/* "/v1/sessions/", the name, and what follows. */
static bool set_named_target(struct visit *v, const char *before, const char *behind)
{
	struct str name;

	if (!path_decode(&v->arena, v->match.part[0], &name) || name.n == 0) {
		say_error(v, 400, "invalid_request", STR("the path has a name that is not accepted"));
		return false;
	}
	set_target(v, before);
	path_encode(&v->asked_target, name);
	buf_puts(&v->asked_target, behind);
	return true;
}

static void answer_plain(struct visit *v)
{
	set_target(v, v->match.route->path);
	forward_as(v, "GET");
}

static void answer_session(struct visit *v)
{
	if (set_named_target(v, "/v1/sessions/", ""))
		forward_as(v, v->match.route->method == HTTP_DELETE ? "DELETE" : "GET");
}

/* From the query, with what policy says of it. */
static bool take_who(struct visit *v)
{
	const struct path_query *q = &v->query;

	v->ask = (struct wire_call){ .agent = q->value[0], .channel = q->value[1], .chat_id = q->value[2] };
	v->ask.has_scope = q->has[1] || q->has[2];
	return visit_is_known(v);
}

/* The pair again, as it was understood. */
static void put_who(struct visit *v)
{
	const struct path_query *q = &v->query;
	char sep = '?';

	for (size_t i = 0; who_query[i]; i++) {
		if (!q->has[i])
			continue;
		buf_putc(&v->asked_target, sep);
		buf_puts(&v->asked_target, who_query[i]);
		buf_putc(&v->asked_target, '=');
		path_encode(&v->asked_target, q->value[i]);
		sep = '&';
	}
}

static void answer_processes(struct visit *v)
{
	if (!take_who(v))
		return;
	set_target(v, "/v1/processes");
	put_who(v);
	forward_as(v, "GET");
}

static void answer_process_kill(struct visit *v)
{
	if (!take_who(v) || !set_named_target(v, "/v1/processes/", "/kill"))
		return;
	put_who(v);
	forward_as(v, "POST");
}

static void answer_approval(struct visit *v)
{
	struct ask_answer a;
	struct wire_fault f;
	struct jsonw w;

	if (!ask_read_answer(&v->arena, buf_str(&v->body), &a, &f)) {
		say_fault(v, &f);
		return;
	}
	if (!set_named_target(v, "/v1/approvals/", ""))
		return;
	jsonw_init(&w, &v->asked_body, 0);
	ask_write_answer(&w, &a);
	forward_as(v, "POST");
}

static void answer_incident(struct visit *v)
{
	size_t at;

	if (v->query.has[0] == v->query.has[1]) {
		say_error(v, 422, "schema", STR("query: either request or session has to be given"));
		return;
	}
	at = v->query.has[0] ? 0 : 1;
	set_target(v, "/v1/admin/incident?");
	buf_puts(&v->asked_target, incident_query[at]);
	buf_putc(&v->asked_target, '=');
	path_encode(&v->asked_target, v->query.value[at]);
	forward_as(v, "GET");
}

/* ---- the guard's own ---- */

static void answer_openapi(struct visit *v)
{
	say_json(v, 200, (struct str){ guard_openapi, guard_openapi_n });
}

static void answer_health(struct visit *v)
{
	say_json(v, 200, buf_str(&v->g->health));
}

/* clang-format off */
const struct path_row guard_routes[] = {
	{ HTTP_GET,    "/health",                 NEEDS_NOTHING, true,  0,          NULL,           "health",    answer_health },
	{ HTTP_POST,   "/run",                    NEEDS_TOKEN,   true,  BODY_LARGE, NULL,           "run",       answer_run },
	{ HTTP_POST,   "/v1/calls",               NEEDS_TOKEN,   false, BODY_LARGE, NULL,           "calls",     answer_call },
	{ HTTP_POST,   "/v1/explain",             NEEDS_TOKEN,   false, BODY_LARGE, NULL,           "explain",   answer_call },
	{ HTTP_GET,    "/v1/tools",               NEEDS_TOKEN,   false, 0,          NULL,           "tools",     answer_plain },
	{ HTTP_GET,    "/v1/sessions",            NEEDS_TOKEN,   false, 0,          NULL,           "sessions",  answer_plain },
	{ HTTP_GET,    "/v1/sessions/{key}",      NEEDS_TOKEN,   false, 0,          NULL,           "sessions",  answer_session },
	{ HTTP_DELETE, "/v1/sessions/{key}",      NEEDS_TOKEN,   false, 0,          NULL,           "sessions",  answer_session },
	{ HTTP_GET,    "/v1/processes",           NEEDS_TOKEN,   false, 0,          who_query,      "processes", answer_processes },
	{ HTTP_POST,   "/v1/processes/{id}/kill", NEEDS_TOKEN,   false, 0,          who_query,      "processes", answer_process_kill },
	{ HTTP_GET,    "/v1/approvals",           NEEDS_TOKEN,   false, 0,          NULL,           "approvals", answer_plain },
	{ HTTP_POST,   "/v1/approvals/{id}",      NEEDS_ADMIN,   false, BODY_SMALL, NULL,           "approvals", answer_approval },
	{ HTTP_GET,    "/v1/events",              NEEDS_TOKEN,   false, 0,          NULL,           "events",    answer_events },
	{ HTTP_GET,    "/v1/admin/incident",      NEEDS_ADMIN,   false, 0,          incident_query, "incident",  answer_incident },
	{ HTTP_POST,   "/v1/pairing",             NEEDS_TOKEN,   false, BODY_SMALL, NULL,           "pairing",   answer_pairing },
	{ HTTP_GET,    "/metrics",                NEEDS_TOKEN_OR_OPEN, false, 0,    NULL,           "metrics",   answer_metrics },
	{ HTTP_GET,    "/v1/openapi.json",        NEEDS_NOTHING, false, 0,          NULL,           "openapi",   answer_openapi },
};
/* clang-format on */
const size_t guard_n_routes = COUNT(guard_routes);
