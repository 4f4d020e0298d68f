/* SPDX-License-Identifier: Apache-2.0 */
/* POST /v1/calls and /v1/explain, and what every call of the runner has in common. */
#include "server/runner/runner.h"

#include "base/clock.h"
#include "base/log.h"
#include "base/utf8.h"
#include "data/json.h"

#include <stdio.h>
#include <stdlib.h>

struct request call_who(const struct visit *v, const struct wire_call *c, enum via via)
{
	return (struct request){ .via = via,
				 .auth = AUTH_TOKEN,
				 .token = v->caller.index,
				 .agent = c->agent,
				 .session_key = c->session,
				 .channel = c->channel,
				 .chat_id = c->chat_id,
				 .user_id = c->user_id };
}

bool call_id(struct visit *v, struct str given)
{
	char made[WIRE_UUID_MAX];

	if (given.n == 0) {
		if (!wire_uuid(made))
			return false;
		given = str_z(made);
	}
	v->id = arena_str(&v->arena, given);
	return v->id.p != NULL;
}

/* ---- counting ---- */

static const char *verdict_of(const struct call_result *r)
{
	static const char *const words[] = { [CALL_ERROR] = "error",
					     [CALL_OK] = "ok",
					     [CALL_FAILED] = "failed",
					     [CALL_REFUSED] = "refused",
					     [CALL_VERDICT] = "ok" };

	if (r->ran && r->reason == BOX_CANCELLED)
		return "cancelled";
	if (r->ran && r->reason == BOX_TIMEOUT)
		return "timeout";
	if (r->status == CALL_REFUSED && strncmp(r->error, "approval_", 9) == 0)
		return "approval";
	return words[r->status];
}

/* What the engine has counted since. */
void worker_count(struct worker *w)
{
	const struct engine_counts now = engine_counts(w->runner->engine), *old = &w->counted;
	const struct {
		enum metric metric;
		enum metric_label label;
		const char *word;
		uint64_t more;
	} rows[] = {
		{ METRIC_LEASES, LABEL_LEASE, "created", now.created - old->created },
		{ METRIC_LEASES, LABEL_LEASE, "reused", now.reused - old->reused },
		{ METRIC_LEASES, LABEL_LEASE, "recovered", now.recovered - old->recovered },
		{ METRIC_POOL_EVENTS, LABEL_POOL, "hit", now.pool_hits - old->pool_hits },
		{ METRIC_POOL_EVENTS, LABEL_POOL, "miss", now.pool_misses - old->pool_misses },
		{ METRIC_POOL_EVENTS, LABEL_POOL, "made", now.pool_made - old->pool_made },
		{ METRIC_POOL_EVENTS, LABEL_POOL, "dropped", now.pool_dropped - old->pool_dropped },
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
		if (rows[i].more)
			metrics_add(w->runner->metrics,
				    (struct metric_at){ rows[i].metric,
							metrics_word(rows[i].label, str_z(rows[i].word)) },
				    rows[i].more);
	w->counted = now;
}

static void count_call(struct worker *w, struct str tool, const struct call_result *r, uint64_t us)
{
	struct metrics *m = w->runner->metrics;
	unsigned word = metrics_word(LABEL_TOOL, tool);

	metrics_add(m,
		    (struct metric_at){ METRIC_CALLS, word, metrics_word(LABEL_VERDICT, str_z(verdict_of(r))),
					(unsigned)r->backend },
		    1);
	metrics_observe_us(m, (struct metric_at){ METRIC_CALL_SECONDS, word }, us);
	for (size_t i = 0; i < CALL_LAYERS_MAX && r->layers[i]; i++)
		metrics_add(
			m,
			(struct metric_at){ METRIC_DENIALS, metrics_word(LABEL_LAYER, str_z(r->layers[i])) },
			1);
	if (r->ran && r->reason == BOX_CANCELLED)
		metrics_add(m, (struct metric_at){ .metric = METRIC_RUNNER_CANCELLED }, 1);
	spares_changed(w);
}

/* ---- output as it comes ---- */

/* A character that was cut in two by the pipe waits for its other half, so that text is sent as text. */
struct stream {
	char held[4];
	size_t n_held;
};

struct passing {
	struct visit *v;
	struct stream stream[2];
	bool started;
};

static void put_base64(struct buf *out, struct str s)
{
	static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

	for (size_t i = 0; i < s.n; i += 3) {
		size_t left = s.n - i;
		uint32_t n = (uint32_t)(unsigned char)s.p[i] << 16;

		n |= left > 1 ? (uint32_t)(unsigned char)s.p[i + 1] << 8 : 0;
		n |= left > 2 ? (uint32_t)(unsigned char)s.p[i + 2] : 0;
		buf_putc(out, digits[n >> 18]);
		buf_putc(out, digits[n >> 12 & 63]);
		buf_putc(out, left > 1 ? digits[n >> 6 & 63] : '=');
		buf_putc(out, left > 2 ? digits[n & 63] : '=');
	}
}

static int send_bytes(struct passing *p, int stream, struct str bytes)
{
	_cleanup_buf_ struct buf out = { 0 };
	struct jsonw w;
	bool text = utf8_valid(bytes);

	if (bytes.n == 0)
		return 0;
	buf_init(&out, bytes.n * 6 + 256);
	jsonw_init(&w, &out, 0);
	jsonw_obj(&w);
	if (text) {
		jsonw_kstr(&w, "data", bytes);
	} else {
		jsonw_key(&w, STR("data_b64"));
		buf_putc(&out, '"');
		put_base64(&out, bytes);
		buf_putc(&out, '"');
		w.after_key = false;
	}
	jsonw_obj_end(&w);
	metrics_add(p->v->worker->runner->metrics, (struct metric_at){ .metric = METRIC_RUNNER_STREAMED },
		    bytes.n);
	return visit_event(p->v, stream == 2 ? "stderr" : "stdout", buf_str(&out), (struct str){ 0 });
}

/* How many bytes at the end are the beginning of a character. */
static size_t cut_tail(struct str s)
{
	for (size_t n = 1; n <= 3 && n <= s.n; n++) {
		unsigned char c = (unsigned char)s.p[s.n - n];
		size_t whole = c >= 0xf0 ? 4 : c >= 0xe0 ? 3 : c >= 0xc0 ? 2 : 1;

		if ((c & 0xc0) != 0x80)
			return whole > n && c < 0xf8 ? n : 0;
	}
	return 0;
}

static int on_output(void *ctx, int stream, struct str bytes)
{
	struct passing *p = ctx;
	struct stream *s = &p->stream[stream == 2];
	_cleanup_buf_ struct buf joined = { 0 };
	size_t tail;

	if (!p->started)
		return 0;
	buf_init(&joined, bytes.n + sizeof(s->held));
	if (s->n_held) {
		buf_put(&joined, (struct str){ .p = s->held, .n = s->n_held });
		buf_put(&joined, bytes);
		bytes = buf_str(&joined);
		s->n_held = 0;
	}
	tail = cut_tail(bytes);
	memcpy(s->held, bytes.p + bytes.n - tail, tail);
	s->n_held = tail;
	bytes.n -= tail;
	return send_bytes(p, stream, bytes) < 0;
}

static void start_stream(struct passing *p)
{
	_cleanup_buf_ struct buf out = { 0 };
	struct jsonw w;

	if (p->started || visit_begin(p->v, TYPE_EVENTS) < 0)
		return;
	p->started = true;
	buf_init(&out, 4096);
	jsonw_init(&w, &out, 0);
	jsonw_obj(&w);
	jsonw_kstr(&w, "request_id", p->v->id);
	jsonw_obj_end(&w);
	(void)visit_event(p->v, "start", buf_str(&out), (struct str){ 0 });
}

static void on_allowed(void *ctx)
{
	start_stream(ctx);
}

static void on_waiting(void *ctx, const struct reg_approval *row)
{
	_cleanup_buf_ struct buf out = { 0 };
	struct passing *p = ctx;
	struct jsonw w;

	start_stream(p);
	if (!p->started)
		return;
	buf_init(&out, 65536);
	jsonw_init(&w, &out, 0);
	jsonw_obj(&w);
	jsonw_key(&w, STR("approval"));
	approval_put(&w, row, false);
	jsonw_obj_end(&w);
	(void)visit_event(p->v, "waiting", buf_str(&out), (struct str){ 0 });
}

static void end_stream(struct passing *p, const struct buf *json)
{
	for (int i = 0; i < 2; i++)
		(void)send_bytes(p, i + 1, (struct str){ .p = p->stream[i].held, .n = p->stream[i].n_held });
	if (visit_event(p->v, "result", buf_str(json), (struct str){ 0 }) == 0)
		visit_end(p->v);
}

/* ---- one call ---- */

/* The caller gets a word; whoever operates this has to know what was behind it (C30). */
static void log_failure(struct visit *v, const struct errand_call *c, const struct call_result *r)
{
	const struct json_opts jo = { .name = "result", .max_bytes = (size_t)16 << 20 };
	const struct value *why = NULL;
	struct value result = { 0 };
	struct err ignored = { 0 };

	if (r->status != CALL_ERROR)
		return;
	if (json_parse(&v->arena, buf_str(&r->json), &jo, &result, &ignored) >= 0)
		why = value_get(&result, STR("message"));
	LOG(LOG_WARN, "call failed", KV_STR("request", v->id), KV_STR("tool", c->opts.tool),
	    KV_Z("error", r->error), KV_STR("why", why && why->kind == VALUE_STR ? why->s : STR("")));
}

int call_run(struct visit *v, struct errand_call *c, struct call_result *ret, struct err *e)
{
	struct worker *w = v->worker;
	uint64_t begin = clock_mono_ns();
	struct session *s;
	int r = cache_session(w->cache, w->runner->engine, &c->who, &s, e);

	if (r < 0)
		return r;
	c->opts.request_id = v->id;
	c->opts.cancel_fd = w->hangup;
	c->opts.all_processes = v->caller.admin;
	__atomic_store_n(&w->slot->in_call, 1, __ATOMIC_RELAXED);
	r = session_call(s, &c->opts, ret, e);
	__atomic_store_n(&w->slot->in_call, 0, __ATOMIC_RELAXED);
	if (r >= 0) {
		count_call(w, c->opts.tool, ret, (clock_mono_ns() - begin) / 1000);
		log_failure(v, c, ret);
		veil_result(v, ret);
	}
	return r;
}

/* What a tool said of its own work is a result; what kept it from working is the caller's to mend, or ours. */
unsigned call_status(const struct call_result *r)
{
	static const struct {
		const char *error;
		unsigned status;
	} map[] = {
		{ "unknown_tool", 404 },      { "sandbox_unavailable", 503 },  { "setup_failed", 503 },
		{ "audit_unavailable", 503 }, { "unavailable", 503 },          { "approval_required", 403 },
		{ "approval_denied", 403 },   { "approval_timeout", 403 },     { "approval_withdrawn", 403 },
		{ "approval_limit", 503 },    { "approval_unavailable", 503 }, { "invalid_arguments", 400 },
	};

	for (size_t i = 0; i < sizeof(map) / sizeof(map[0]); i++)
		if ((r->status == CALL_ERROR || r->status == CALL_REFUSED) &&
		    strcmp(r->error, map[i].error) == 0)
			return map[i].status;
	return r->status == CALL_REFUSED ? code_http(r->code) : 200;
}

static bool read_call(struct visit *v, struct wire_call *ret)
{
	struct wire_fault fault;

	if (!wire_read_call(&v->arena, buf_str(&v->body), true, ret, &fault)) {
		visit_fail(v, fault.status, fault.word, fault.text);
		return false;
	}
	if (call_id(v, ret->request_id))
		return true;
	visit_fail(v, 500, "internal", "no id could be made");
	return false;
}

static struct str args_text(struct buf *out, const struct wire_call *c)
{
	struct jsonw w;

	buf_init(out, WIRE_BODY_MAX * 2);
	if (!c->args)
		return (struct str){ 0 };
	jsonw_init(&w, out, 0);
	json_write(&w, c->args);
	return buf_str(out);
}

void answer_call(struct visit *v)
{
	_cleanup_buf_ struct buf args = { 0 };
	struct passing p = { .v = v };
	struct call_result result = { 0 };
	struct wire_call call;
	struct errand_call c;
	struct err e = { 0 };

	if (!read_call(v, &call))
		return;
	c = (struct errand_call){ .who = call_who(v, &call, VIA_API),
				  .opts = { .tool = call.tool,
					    .args = args_text(&args, &call),
					    .timeout_s = call.timeout_s,
					    .output = v->wants_events ? on_output : NULL,
					    .allowed = v->wants_events ? on_allowed : NULL,
					    .waiting = v->wants_events ? on_waiting : NULL,
					    .ctx = &p } };
	if (args.failed) {
		visit_fail(v, 413, "too_large", "the arguments are larger than they may be");
		return;
	}
	if (call_run(v, &c, &result, &e) < 0)
		visit_error(v, &e);
	else if (p.started)
		end_stream(&p, &result.json);
	else
		visit_json(v, call_status(&result), &result.json);
	buf_done(&result.json);
}

void answer_explain(struct visit *v)
{
	_cleanup_buf_ struct buf args = { 0 }, out = { 0 };
	struct wire_call call;
	struct request who;
	struct session *s;
	struct err e = { 0 };
	bool allowed = false;

	if (!read_call(v, &call))
		return;
	who = call_who(v, &call, VIA_API);
	buf_init(&out, (size_t)16 << 20);
	if (cache_session(v->worker->cache, v->worker->runner->engine, &who, &s, &e) < 0) {
		visit_error(v, &e);
	} else if (session_refused(s) != CODE_OK) {
		visit_refused(v, session_refused(s));
	} else if (session_decide(s, call.tool, args_text(&args, &call), &out, &allowed, &e) < 0) {
		visit_error(v, &e);
	} else {
		veil_explain(v, &out);
		visit_json(v, 200, &out);
	}
}
