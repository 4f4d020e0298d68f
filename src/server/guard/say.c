/* SPDX-License-Identifier: Apache-2.0 */
/* Answers that are the guard's own, and what is counted and logged of all of them. */
#include "server/guard/guard.h"

#include "base/clock.h"
#include "base/log.h"
#include "base/utf8.h"
#include "server/cause.h"

#include <stdio.h>

enum { ERROR_MAX = 8192, CAUSE_WORD_MAX = 64 };

void say_done(struct visit *v, unsigned status)
{
	const char *label = v->match.route ? v->match.route->label : "none";
	unsigned route = metrics_word(LABEL_ROUTE, str_z(label));
	uint64_t us = clock_mono_ns() / 1000 - v->began_us;

	metrics_add(v->g->metrics,
		    (struct metric_at){ METRIC_GUARD_REQUESTS, .a = route, .b = metrics_status(status) }, 1);
	metrics_observe_us(v->g->metrics, (struct metric_at){ METRIC_GUARD_SECONDS, .a = route }, us);
	if (!v->who.id[0])
		return;
	LOG(LOG_INFO, "answered", KV_Z("route", label), KV_U64("status", status), KV_Z("request", v->id),
	    KV_Z("token", v->who.id), KV_U64("us", us));
}

static void say(struct visit *v, unsigned status, struct str type, struct str body, struct str extra_name,
		struct str extra)
{
	const struct http_answer_field fields[] = {
		{ STR("Content-Type"), type },
		{ STR("Cache-Control"), STR("no-store") },
		{ extra_name, extra },
	};
	struct http_exchange *x = v->x;

	say_done(v, status);
	http_exchange_set(x, NULL);
	if (http_answer(x, status, fields, extra_name.n ? 3 : 2, body) < 0)
		http_answer_abort(x);
	visit_free(v); /* the body may be its own */
}

void say_typed(struct visit *v, unsigned status, struct str type, struct str body)
{
	say(v, status, type, body, (struct str){ 0 }, (struct str){ 0 });
}

void say_json(struct visit *v, unsigned status, struct str json)
{
	say_typed(v, status, STR("application/json"), json);
}

static void write_error(struct buf *out, const struct visit *v, const char *word, struct str text)
{
	struct jsonw w;

	jsonw_init(&w, out, 0);
	jsonw_obj(&w);
	if (v->match.s2) {
		jsonw_kstr(&w, "detail", text);
	} else {
		jsonw_kz(&w, "error", word);
		jsonw_kstr(&w, "message", text);
		if (v->id[0])
			jsonw_kz(&w, "request_id", v->id);
		else
			jsonw_knull(&w, "request_id");
	}
	jsonw_obj_end(&w);
}

static void say_error_with(struct visit *v, unsigned status, const char *word, struct str text,
			   struct str name, struct str value)
{
	char room[1024];
	struct buf body;

	buf_init_on(&body, ERROR_MAX, room, sizeof(room));
	write_error(&body, v, word, text);
	say(v, status, STR("application/json"), buf_str(&body), name, value);
	buf_done(&body);
}

void say_error(struct visit *v, unsigned status, const char *word, struct str text)
{
	bool auth = status == 401;

	say_error_with(v, status, word, text, auth ? STR("WWW-Authenticate") : (struct str){ 0 },
		       auth ? STR("Bearer") : (struct str){ 0 });
}

void say_cause(struct visit *v, struct str detail, struct str word, struct str cause)
{
	char room[1024];
	struct buf body;
	struct jsonw w;

	buf_init_on(&body, ERROR_MAX, room, sizeof(room));
	jsonw_init(&w, &body, 0);
	jsonw_obj(&w);
	jsonw_kstr(&w, "detail", detail);
	jsonw_kstr(&w, "error", utf8_prefix(word, CAUSE_WORD_MAX));
	jsonw_kstr(&w, "message", utf8_prefix(cause, CAUSE_MAX));
	jsonw_kz(&w, "request_id", v->id);
	jsonw_obj_end(&w);
	say(v, 502, STR("application/json"), buf_str(&body), (struct str){ 0 }, (struct str){ 0 });
	buf_done(&body);
}

void say_retry(struct visit *v, unsigned status, const char *word, struct str text, uint64_t seconds)
{
	char value[24];

	(void)snprintf(value, sizeof(value), "%llu", (unsigned long long)(seconds ? seconds : 1));
	say_error_with(v, status, word, text, STR("Retry-After"), str_z(value));
}

void say_not_allowed(struct visit *v)
{
	char value[80];
	struct buf allow;

	buf_init_on(&allow, sizeof(value), value, sizeof(value));
	for (unsigned m = 0; m < HTTP_METHOD_COUNT_; m++)
		if (v->match.allowed & 1u << m) {
			buf_puts(&allow, allow.n ? ", " : "");
			buf_puts(&allow, http_method_name((enum http_method)m));
		}
	say_error_with(v, 405, "method_not_allowed", STR("this path has other methods"), STR("Allow"),
		       buf_str(&allow));
	buf_done(&allow);
}

void say_fault(struct visit *v, const struct wire_fault *f)
{
	if (f->status == 503)
		say_retry(v, 503, f->word, str_z(f->text), 1);
	else
		say_error(v, f->status, f->word, str_z(f->text));
}

/* C30: a stable word and S2's sentence; why in particular is the operator's to know. */
void say_code(struct visit *v, const struct decision *d)
{
	struct str text = str_z(code_detail(d->code));

	/* What the caller wrote itself, as S2 told it. */
	if (d->code == CODE_CURL_FLAG_NOT_ALLOWED)
		text = d->message;
	LOG(LOG_INFO, "refused", KV_Z("request", v->id), KV_Z("token", v->who.id),
	    KV_Z("code", code_word(d->code)), KV_STR("why", d->message));
	tell_denied(v, d);
	say_error(v, code_http(d->code), code_word(d->code), text);
}
