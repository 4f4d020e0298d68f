/* SPDX-License-Identifier: Apache-2.0 */
/*
 * To the runner and back. A short answer is collected and sent with one write; a long one, or a stream of events, is passed on as it comes, and the
 * runner is not read while the caller does not read. When the caller goes, the connection to the runner is ended, which cancels the call.
 */
#include "server/guard/guard.h"

#include "base/clock.h"
#include "base/log.h"

#include <stdio.h>

static void set_gauges(struct guard *g)
{
	metrics_set(g->metrics, (struct metric_at){ METRIC_GUARD_QUEUE, .a = 0 }, fair_waiting(g->fair));
	metrics_set(g->metrics, (struct metric_at){ METRIC_GUARD_QUEUE, .a = 1 }, fair_running(g->fair));
}

static void say_runner(struct visit *v, const char *word, struct str s2, struct str text)
{
	metrics_add(
		v->g->metrics,
		(struct metric_at){ METRIC_GUARD_REFUSED, .a = metrics_word(LABEL_REASON, STR("runner")) },
		1);
	say_error(v, 502, word, v->match.route->s2 ? s2 : text);
}

static bool is_events(const struct visit *v)
{
	return str_starts(str_z(v->type), STR("text/event-stream"));
}

/* ---- the answer, whole ---- */

/* C26: ignored, and told: an event in front of the others, or one member more of the object. What the answer goes on with is in *rest. */
static void put_note(const struct visit *v, struct buf *out, struct str *rest)
{
	static const char note[] = "\"notes\":[\"caller_policy_ignored\"]";

	if (is_events(v)) {
		buf_printf(out, "event: note\ndata: {%s}\n\n", note);
	} else if (rest->n > 2 && rest->p[0] == '{' && rest->p[1] != '}') {
		buf_printf(out, "{%s,", note);
		*rest = str_from(*rest, 1);
	}
}

void forward_pass_on(struct visit *v)
{
	struct str rest = buf_str(&v->got), type = v->type[0] ? str_z(v->type) : STR("application/json");
	struct buf out;

	if (!v->noted) {
		say_typed(v, v->status, type, rest);
		return;
	}
	buf_init(&out, v->got.max_bytes + BODY_SMALL);
	put_note(v, &out, &rest);
	buf_put(&out, rest);
	say_typed(v, v->status, type, buf_str(&out));
	buf_done(&out);
}

/* Of no use, whatever was collected. */
static void say_failed(struct visit *v, const char *word, struct str s2, struct str text)
{
	if (!v->always) {
		say_runner(v, word, s2, text);
		return;
	}
	v->status = 0;
	v->whole(v);
}

static void on_end(void *ctx)
{
	struct visit *v = ctx;

	v->errand = NULL;
	v->ended = true;
	if (v->streams) {
		if (v->got.n == 0) {
			struct http_exchange *x = v->x;

			say_done(v, v->status);
			http_exchange_set(x, NULL);
			visit_free(v);
			http_answer_end(x);
		}
		return; /* else: when there is room for the rest */
	}
	if (v->status == 401)
		say_failed(v, "runner_auth_failed", STR("tool-runner auth failed"),
			   STR("the runner did not know the guard, or the caller"));
	else if (v->whole)
		v->whole(v);
	else
		forward_pass_on(v);
}

static void on_fail(void *ctx, const struct err *e)
{
	struct visit *v = ctx;

	v->errand = NULL;
	LOG(LOG_ERROR, "the runner did not answer", KV_Z("request", v->id), KV_Z("why", e->msg));
	if (v->streams) {
		struct http_exchange *x = v->x;

		say_done(v, 502);
		http_exchange_set(x, NULL);
		visit_free(v);
		http_answer_abort(x); /* so that the caller sees that it is not whole */
		return;
	}
	if (e->kind == ERR_PROTO && v->status)
		say_failed(v, "runner_error", STR("tool-runner invalid response"),
			   STR("the runner's answer was cut off"));
	else
		say_failed(v, "runner_unreachable", STR("tool-runner unreachable"),
			   STR("the runner cannot be reached"));
}

/* ---- the answer, as it comes ---- */

static bool begin_stream(struct visit *v)
{
	const struct http_answer_field fields[] = {
		{ STR("Content-Type"), v->type[0] ? str_z(v->type) : STR("application/json") },
		{ STR("Cache-Control"), STR("no-store") },
	};

	if (http_answer_begin(v->x, v->status, fields, 2) < 0)
		return false;
	v->streams = true;
	return true;
}

static void give_up(struct visit *v)
{
	struct http_exchange *x = v->x;

	say_done(v, 499);
	http_exchange_set(x, NULL);
	visit_free(v);
	http_answer_abort(x);
}

/* What waits first. False: the visit is no more. */
static bool stream(struct visit *v, struct str piece)
{
	int r = v->got.n ? -EAGAIN : http_answer_write(v->x, piece);

	if (r == 0)
		return true;
	if (r != -EAGAIN) {
		give_up(v);
		return false;
	}
	buf_put(&v->got, piece);
	if (v->got.failed) {
		give_up(v);
		return false;
	}
	if (!v->paused && v->errand) {
		v->paused = true;
		errand_pause(v->errand, true);
	}
	return true;
}

void forward_room(struct visit *v)
{
	struct str rest = buf_str(&v->got);

	while (rest.n) {
		struct str piece = { rest.p, rest.n < COLLECT_MAX / 2 ? rest.n : COLLECT_MAX / 2 };
		int r = http_answer_write(v->x, piece);

		if (r == -EAGAIN)
			break;
		if (r < 0) {
			give_up(v);
			return;
		}
		rest = str_from(rest, piece.n);
	}
	if (rest.n)
		memmove(v->got.p, rest.p, rest.n);
	v->got.n = rest.n;
	if (rest.n)
		return;
	if (v->ended) {
		on_end(v);
	} else if (v->paused) {
		v->paused = false;
		errand_pause(v->errand, false);
	}
}

static bool say_note(struct visit *v, struct str *rest)
{
	char room[256];
	struct buf note;
	int r;

	buf_init_on(&note, sizeof(room), room, sizeof(room));
	put_note(v, &note, rest);
	r = http_answer_write(v->x, buf_str(&note));
	buf_done(&note);
	if (r < 0)
		give_up(v);
	return r >= 0;
}

static void on_head(void *ctx, struct errand *r, const struct http_head *h)
{
	struct visit *v = ctx;
	struct str type;

	(void)r;
	v->status = h->status;
	if (http_head_one(h, STR("Content-Type"), &type) == 0 && type.n < sizeof(v->type)) {
		memcpy(v->type, type.p, type.n);
		v->type[type.n] = '\0';
	}
	/* Whoever waits for events is told at once that they will come. */
	if (is_events(v) && !v->whole && v->status == 200 && begin_stream(v) && v->noted)
		(void)say_note(v, &(struct str){ 0 });
}

static void on_body(void *ctx, struct errand *r, struct str piece)
{
	struct visit *v = ctx;
	struct str collected;

	(void)r;
	if (v->streams) {
		(void)stream(v, piece);
		return;
	}
	if (!is_events(v) && v->got.n + piece.n <= COLLECT_MAX) {
		buf_put(&v->got, piece);
		return;
	}
	/* S2's answers are read before they are passed on, so they are never streams. */
	if (v->whole && v->got.n + piece.n <= v->got.max_bytes) {
		buf_put(&v->got, piece);
		return;
	}
	if (v->whole || v->status == 401 || !begin_stream(v)) {
		errand_cancel(v->errand);
		v->errand = NULL;
		say_failed(v, "runner_error", STR("tool-runner invalid response"),
			   STR("the runner's answer is larger than accepted"));
		return;
	}
	collected = v->got.n ? buf_str(&v->got) : piece;
	if (v->noted && !say_note(v, &collected))
		return;
	if (v->got.n) {
		if (http_answer_write(v->x, collected) < 0) {
			give_up(v);
			return;
		}
		v->got.n = 0;
		collected = piece;
	}
	(void)stream(v, collected);
}

static const struct errand_handler handler = {
	.head = on_head, .body = on_body, .end = on_end, .fail = on_fail
};

/* ---- its turn ---- */

static void start(struct visit *v)
{
	struct err e = { 0 };

	(void)loop_del(v->g->loop, v->queue_timer);
	v->asked.target = buf_str(&v->asked_target);
	v->asked.body = buf_str(&v->asked_body);
	v->asked.caller_token = visit_token(v);
	if (!v->asked.answer_ms)
		v->asked.answer_ms = v->g->answer_ms;
	if (!v->asked.body_ms)
		v->asked.body_ms = v->g->answer_ms;
	if (v->asked_target.failed || v->asked_body.failed) {
		say_error(v, 413, "too_large", STR("content too large"));
		return;
	}
	if (link_send(v->g->link, &v->asked, &handler, v, &v->errand, &e) < 0) {
		LOG(LOG_ERROR, "the runner cannot be reached", KV_Z("request", v->id), KV_Z("why", e.msg));
		say_failed(v, "runner_unreachable", STR("tool-runner unreachable"),
			   STR("the runner cannot be reached"));
		return;
	}
	v->g->bodies -= v->counted;
	v->counted = 0;
	buf_done(&v->asked_body);
}

void forward_next(struct guard *g)
{
	struct fair_call *call;

	/* One that cannot be started makes room for the next: by turns, not one inside the other. */
	if (g->dispatching)
		return;
	g->dispatching = true;
	while ((call = fair_next(g->fair)))
		start((struct visit *)(void *)((char *)call - offsetof(struct visit, call)));
	g->dispatching = false;
	set_gauges(g);
}

static void on_waited(struct loop *loop, void *ctx)
{
	struct visit *v = ctx;

	(void)loop;
	v->queue_timer = (struct loop_id){ 0 };
	say_retry(v, 503, "busy", STR("no place became free in time"), 1);
}

/* It has been written anew: what came is of no use any more, nor what was read of it, which may be twenty times as large. Many may wait, and for long. */
static void forget_what_came(struct visit *v)
{
	v->ask = (struct wire_call){ 0 };
	v->query = (struct path_query){ 0 };
	v->match.part[0] = v->match.part[1] = (struct str){ 0 };
	arena_done(&v->arena);
	buf_done(&v->body);
}

void forward(struct visit *v)
{
	struct guard *g = v->g;
	enum fair_entry r = fair_enter(g->fair, str_z(v->who.id), &v->call);

	forget_what_came(v);
	if (r == FAIR_RUNS) {
		set_gauges(g);
		start(v);
		return;
	}
	if (r == FAIR_WAITS) {
		set_gauges(g);
		if (loop_add_timer(g->loop, clock_deadline(QUEUE_WAIT_MS), on_waited, v, &v->queue_timer) < 0)
			say_retry(v, 503, "busy", STR("too much is under way"), 1);
		return;
	}
	metrics_add(g->metrics,
		    (struct metric_at){
			    METRIC_GUARD_REFUSED,
			    .a = metrics_word(LABEL_REASON, r == FAIR_FULL ? STR("queue") : STR("quota")) },
		    1);
	if (r == FAIR_FULL)
		say_retry(v, 503, "busy", STR("too many calls wait"), 1);
	else
		say_retry(v, 429, "too_many_calls", STR("too many calls of this token wait"), 1);
}

void forward_forget(struct visit *v)
{
	if (v->errand)
		errand_cancel(v->errand);
	v->errand = NULL;
	(void)loop_del(v->g->loop, v->queue_timer);
	if (!v->call.of)
		return;
	fair_leave(v->g->fair, &v->call);
	forward_next(v->g);
}
