/* SPDX-License-Identifier: Apache-2.0 */
/* What the guard answers by itself: pairing of strangers, and its own numbers with the runner's. */
#include "server/guard/guard.h"

#include "base/clock.h"
#include "base/log.h"

#include <unistd.h>

enum { METRICS_MAX = 1 << 20 };

/* ---- pairing ---- */

static void say_pairing_error(struct visit *v, const struct err *e)
{
	if (e->kind == ERR_USAGE) {
		say_error(v, 422, "schema", str_z(e->msg));
	} else if (e->kind == ERR_LIMIT) {
		say_retry(v, 429, "too_many_codes", STR("too many codes were asked for"),
			  PAIRING_HOUR_MS / 1000);
	} else {
		LOG(LOG_ERROR, "no code could be made", KV_Z("why", e->msg));
		say_retry(v, 503, "busy", STR("no code could be made now"), 1);
	}
}

/* A sender who is not known gets a code. Which channel a token may ask about is that of its pairs. */
void answer_pairing(struct visit *v)
{
	char code[PAIRING_CODE_MAX] = "";
	struct ask_pairing asked;
	struct wire_fault f;
	struct err e = { 0 };
	struct jsonw w;
	struct buf out;
	int r;

	if (!ask_read_pairing(&v->arena, buf_str(&v->body), &asked, &f)) {
		say_fault(v, &f);
		return;
	}
	if (!callers_speak_on(v->g->callers, &v->who, asked.channel)) {
		say_error(v, 403, "pair_not_allowed", STR("this token has no pair on this channel"));
		return;
	}
	r = pairing_ask(v->g->pairing,
			&(struct pairing_ask){ .channel = asked.channel,
					       .user = asked.user,
					       .name = asked.name,
					       .preview = asked.message,
					       .now_ms = clock_unix_ms() },
			code, &e);
	if (r < 0) {
		say_pairing_error(v, &e);
		return;
	}
	buf_init(&out, BODY_SMALL);
	jsonw_init(&w, &out, 0);
	jsonw_obj(&w);
	jsonw_kbool(&w, "known", r > 0);
	if (r == 0) {
		jsonw_kz(&w, "code", code);
		jsonw_ku64(&w, "expires_s", PAIRING_CODE_MS / 1000);
	}
	jsonw_obj_end(&w);
	say_json(v, 200, buf_str(&out));
	buf_done(&out);
}

/* ---- metrics ---- */

static void put_own(struct guard *g, struct buf *out)
{
	metrics_set(g->metrics, (struct metric_at){ METRIC_GUARD_CONNECTIONS },
		    http_server_connections(g->server));
	metrics_set(g->metrics, (struct metric_at){ METRIC_GUARD_MEMORY }, metrics_resident_at(g->o.statm));
	metrics_write(g->metrics, out);
}

/* Without the runner, those of the guard alone: that it is gone is seen in them. */
static void metrics_answered(struct visit *v)
{
	struct buf out;

	buf_init(&out, METRICS_MAX);
	put_own(v->g, &out);
	if (v->status == 200)
		buf_put(&out, buf_str(&v->got));
	say_typed(v, 200, STR(METRICS_CONTENT_TYPE), buf_str(&out));
	buf_done(&out);
}

void answer_metrics(struct visit *v)
{
	buf_puts(&v->asked_target, "/metrics");
	v->asked.method = STR("GET");
	v->whole = metrics_answered;
	v->always = true;
	forward(v);
}
