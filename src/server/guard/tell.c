/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the guard refuses goes to the runner, who keeps the log. Nobody waits for that: what was refused stays refused. One request at a time is under way, with
 * all that came together meanwhile; where the runner cannot be reached they are sent again later. The log is on a disk that all calls need: of each token so
 * many are told in a minute, and of the others how many there were.
 */
#include "server/guard/guard.h"

#include "base/clock.h"
#include "base/log.h"
#include "server/refusal.h"

#include <stdlib.h>

/* A refusal is less than 8 KiB, however its texts have to be written. */
enum { PENDING_MAX = 128 << 10, ANSWER_MS = 10000, AGAIN_MS = 1000, LATE_MS = 60000, A_MINUTE = 60 };

struct tell {
	struct guard *g;
	struct buf pending, sent; /* objects with commas between them */
	size_t n_pending, n_sent;
	uint64_t untold, untold_sent;
	struct fair *rate; /* of each token */
	struct errand *errand;
	struct loop_id timer, late;
	unsigned status;
};

static void start(struct tell *t);
static void tell_late(struct tell *t);

int tell_new(struct guard *g, struct tell **ret, struct err *e)
{
	struct tell *t = calloc(1, sizeof(*t));

	if (!t)
		return err_sys(e, ENOMEM, "refusals");
	t->g = g;
	if (fair_new(&(struct fair_opts){ .per_minute = A_MINUTE, .burst = A_MINUTE }, &t->rate, e) < 0) {
		free(t);
		return -1;
	}
	buf_init(&t->pending, PENDING_MAX);
	buf_init(&t->sent, PENDING_MAX + 256);
	*ret = t;
	return 0;
}

struct tell *tell_free(struct tell *t)
{
	if (!t)
		return NULL;
	if (t->n_pending + t->n_sent + t->untold)
		LOG(LOG_WARN, "refusals are not in the audit log, because the guard ends",
		    KV_U64("times", t->n_pending + t->n_sent + t->untold));
	if (t->errand)
		errand_cancel(t->errand);
	(void)loop_del(t->g->loop, t->timer);
	(void)loop_del(t->g->loop, t->late);
	(void)fair_free(t->rate);
	buf_done(&t->pending);
	buf_done(&t->sent);
	free(t);
	return NULL;
}

bool tell_is_idle(const struct tell *t)
{
	return t->n_pending == 0 && !t->errand;
}

/* ---- the way to the runner ---- */

static void on_again(struct loop *loop, void *ctx)
{
	struct tell *t = ctx;

	(void)loop;
	t->timer = (struct loop_id){ 0 };
	start(t);
}

static void later(struct tell *t)
{
	guard_told(t->g);
	if (!loop_has(t->g->loop, t->timer))
		(void)loop_add_timer(t->g->loop, clock_deadline(AGAIN_MS), on_again, t, &t->timer);
}

static void on_head(void *ctx, struct errand *r, const struct http_head *h)
{
	(void)r;
	((struct tell *)ctx)->status = h->status;
}

static void on_body(void *ctx, struct errand *r, struct str piece)
{
	(void)ctx;
	(void)r;
	(void)piece;
}

static void on_end(void *ctx)
{
	struct tell *t = ctx;

	t->errand = NULL;
	if (t->status != 200)
		LOG(LOG_WARN, "the runner does not record what was refused", KV_U64("status", t->status));
	/* What it does not understand it will not understand later: an older one, or a mistake of ours. */
	if (t->status != 200 && t->status != 404 && t->status != 413 && t->status != 422) {
		later(t);
		return;
	}
	t->untold -= t->untold_sent;
	t->sent.n = t->n_sent = 0;
	tell_late(t);
	if (t->n_pending)
		start(t);
	else
		guard_told(t->g);
}

static void on_fail(void *ctx, const struct err *e)
{
	struct tell *t = ctx;

	t->errand = NULL;
	LOG(LOG_WARN, "the runner cannot be told what was refused", KV_Z("why", e->msg));
	later(t);
}

static const struct errand_handler handler = {
	.head = on_head, .body = on_body, .end = on_end, .fail = on_fail
};

/* What was sent and not taken goes first, as it was. */
static void start(struct tell *t)
{
	_cleanup_buf_ struct buf body = { 0 };
	struct errand_request q = { .method = STR("POST"),
				    .target = STR("/v1/refused"),
				    .answer_ms = ANSWER_MS,
				    .body_ms = ANSWER_MS };
	struct err e = { 0 };

	if (t->n_sent + t->n_pending + t->untold == 0)
		return;
	if (t->n_sent == 0) {
		buf_put(&t->sent, buf_str(&t->pending));
		t->n_sent = t->n_pending;
		t->pending.n = t->n_pending = 0;
	}
	t->untold_sent = t->untold;
	t->status = 0;
	buf_init(&body, REFUSALS_BODY_MAX);
	buf_printf(&body, "{\"untold\":%llu,\"refused\":[", (unsigned long long)t->untold);
	buf_put(&body, buf_str(&t->sent));
	buf_puts(&body, "]}");
	q.body = buf_str(&body);
	if (body.failed || link_send(t->g->link, &q, &handler, t, &t->errand, &e) < 0) {
		t->errand = NULL;
		later(t);
	}
}

/* From the loop: whoever was refused is answered first. */
static void soon(struct tell *t)
{
	if (!t->errand && !loop_has(t->g->loop, t->timer))
		(void)loop_add_timer(t->g->loop, 0, on_again, t, &t->timer);
}

static void on_late(struct loop *loop, void *ctx)
{
	struct tell *t = ctx;

	(void)loop;
	t->late = (struct loop_id){ 0 };
	if (t->untold)
		soon(t);
}

static void tell_late(struct tell *t)
{
	if (t->untold && !loop_has(t->g->loop, t->late))
		(void)loop_add_timer(t->g->loop, clock_deadline(LATE_MS), on_late, t, &t->late);
}

/* With the next that is told, or in a while. */
void tell_untold(struct tell *t, uint64_t n)
{
	t->untold += n;
	tell_late(t);
}

/* ---- what is told ---- */

static void add(struct tell *t, const struct refusal *r)
{
	_cleanup_buf_ struct buf one = { 0 };
	struct jsonw w;

	if (fair_rate(t->rate, r->token, clock_mono_ms()) > 0) {
		tell_untold(t, 1);
		return;
	}
	buf_init(&one, PENDING_MAX);
	jsonw_init(&w, &one, 0);
	refusal_put(&w, r);
	if (one.failed || t->n_pending == REFUSALS_MAX || t->pending.n + one.n + 1 > PENDING_MAX) {
		tell_untold(t, 1);
		return;
	}
	buf_puts(&t->pending, t->n_pending ? "," : "");
	buf_put(&t->pending, buf_str(&one));
	t->n_pending++;
	soon(t);
}

static struct refusal common(const struct visit *v)
{
	const struct http_peer *peer = http_exchange_peer(v->x);

	return (struct refusal){ .route = str_z(v->match.route ? v->match.route->label : "none"),
				 .request_id = str_z(v->id),
				 .token = str_z(v->who.id),
				 .peer = peer->is_unix ? STR("unix") : str_z(peer->address) };
}

void tell_denied(const struct visit *v, const struct decision *d)
{
	struct refusal r = common(v);

	r.code = str_z(code_word(d->code));
	r.message = d->message;
	r.stage = str_z(enum_name(stage_names, (int)d->stopped_at));
	r.agent = v->ask.agent;
	r.channel = v->ask.channel;
	r.chat_id = v->ask.chat_id;
	r.user_id = v->ask.user_id;
	r.tool = v->ask.tool;
	add(v->g->tell, &r);
}

void tell_token(const struct visit *v, const char *state)
{
	struct refusal r = common(v);

	r.code = str_z(state);
	add(v->g->tell, &r);
}
