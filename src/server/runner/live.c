/* SPDX-License-Identifier: Apache-2.0 */
/* What can be asked without a call: health, tools, sessions and their processes, incidents, metrics. */
#include "server/runner/runner.h"

#include "base/jsonw.h"
#include "model/pair.h"
#include "net/message.h"

#include <stdio.h>
#include <unistd.h>

#define LIST_MAX ((size_t)16 << 20)

/* ---- health, tools, metrics ---- */

void answer_health(struct visit *v)
{
	static const char *const tools[] = { "file_read", "file_write", "shell_exec" };
	_cleanup_buf_ struct buf out = { 0 };
	struct jsonw w;

	buf_init(&out, 4096);
	jsonw_init(&w, &out, 0);
	jsonw_obj(&w);
	jsonw_kz(&w, "status", "ok");
	jsonw_kz(&w, "version", CREEL_VERSION);
	jsonw_karr(&w, "tools");
	for (size_t i = 0; i < sizeof(tools) / sizeof(tools[0]); i++)
		jsonw_str(&w, str_z(tools[i]));
	jsonw_arr_end(&w);
	jsonw_obj_end(&w);
	visit_json(v, 200, &out);
}

void answer_tools(struct visit *v)
{
	_cleanup_buf_ struct buf out = { 0 };

	buf_init(&out, LIST_MAX);
	engine_tools(&out);
	visit_json(v, 200, &out);
}

static int count_one(void *ctx, const struct live_info *info)
{
	*(uint64_t *)ctx += info->entry->state != REG_SPARE;
	return 0;
}

/* A service that does not answer has nothing to tell: what was heard last stays. */
static void ask_egress(struct runner *r)
{
	struct egress_numbers n;
	struct err ignored = { 0 };
	const struct {
		struct metric_at at;
		const uint64_t *value;
	} counted[] = {
		{ { METRIC_EGRESS_BYTES, metrics_word(LABEL_DIRECTION, STR("in")) }, &n.bytes_down },
		{ { METRIC_EGRESS_BYTES, metrics_word(LABEL_DIRECTION, STR("out")) }, &n.bytes_up },
		{ { METRIC_EGRESS_REQUESTS, metrics_word(LABEL_VERDICT, STR("ok")) }, &n.requests },
		{ { METRIC_EGRESS_REQUESTS, metrics_word(LABEL_VERDICT, STR("refused")) }, &n.denials },
	};

	if (engine_egress(r->engine, &n, &ignored) < 0)
		return;
	for (size_t i = 0; i < sizeof(counted) / sizeof(counted[0]); i++)
		metrics_take(r->metrics, counted[i].at, *counted[i].value);
	metrics_set(r->metrics, (struct metric_at){ .metric = METRIC_EGRESS_GUESTS }, n.guests);
	metrics_set(r->metrics, (struct metric_at){ .metric = METRIC_EGRESS_MEMORY }, n.memory_bytes);
}

static void look_around(struct runner *r)
{
	uint64_t n = 0, bytes = metrics_resident((int)r->parent), waiting = 0, running = 0;
	const struct live_filter all = { 0 };
	struct err ignored = { 0 };

	if (live_list(r->engine, &all, count_one, &n, &ignored) >= 0)
		metrics_set(r->metrics, (struct metric_at){ .metric = METRIC_SANDBOXES }, n);
	for (unsigned i = 0; i < SLOTS_MAX; i++) {
		const struct slot *s = &r->slots[i];

		if (!s->pid)
			continue;
		bytes += metrics_resident(s->pid);
		waiting += s->state == SLOT_TAKEN;
		running += __atomic_load_n(&s->in_call, __ATOMIC_RELAXED);
	}
	metrics_set(r->metrics, (struct metric_at){ .metric = METRIC_POOL }, spares_ready(r));
	metrics_set(r->metrics, (struct metric_at){ .metric = METRIC_RUNNER_MEMORY }, bytes);
	metrics_set(r->metrics,
		    (struct metric_at){ METRIC_RUNNER_QUEUE, metrics_word(LABEL_QUEUE, STR("waiting")) },
		    waiting);
	metrics_set(r->metrics,
		    (struct metric_at){ METRIC_RUNNER_QUEUE, metrics_word(LABEL_QUEUE, STR("running")) },
		    running);
	ask_egress(r);
}

void answer_metrics(struct visit *v)
{
	_cleanup_buf_ struct buf out = { 0 };

	look_around(v->worker->runner);
	buf_init(&out, LIST_MAX);
	metrics_write(v->worker->runner->metrics, &out);
	if (out.failed)
		visit_fail(v, 500, "limit", "the metrics are too many");
	else
		visit_answer(v, 200, STR(METRICS_CONTENT_TYPE), buf_str(&out));
}

void answer_incident(struct visit *v)
{
	_cleanup_buf_ struct buf out = { 0 };
	struct err e = { 0 };

	if (v->query.has[0] == v->query.has[1]) {
		visit_fail(v, 400, "invalid_query", "say one of request=ID and session=KEY");
		return;
	}
	buf_init(&out, (size_t)64 << 20);
	if (engine_incident(v->worker->runner->engine, v->query.value[0], v->query.value[1], &out, &e) < 0)
		visit_error(v, &e);
	else
		visit_json(v, 200, &out);
}

/* ---- whose is it ---- */

static bool listed(const struct config *c, const struct pair *p)
{
	for (size_t i = 0; i < c->n_pairs; i++)
		if (str_eq(c->pairs[i].channel, p->channel) && str_eq(c->pairs[i].agent, p->agent) &&
		    str_eq(c->pairs[i].chat_id, p->chat_id))
			return true;
	return false;
}

/* agent:<agent>:<channel>:group:<chat>, as policy makes it for calls that name no session. */
static bool is_session_of(const struct pair *p, struct str session)
{
	char key[512];
	int n = snprintf(key, sizeof(key), "agent:%.*s:%.*s:group:%.*s", (int)p->agent.n, p->agent.p,
			 (int)p->channel.n, p->channel.p, (int)p->chat_id.n, p->chat_id.p);

	return n > 0 && (size_t)n < sizeof(key) && str_eq(session, (struct str){ .p = key, .n = (size_t)n });
}

bool caller_sees(const struct visit *v, struct str session)
{
	const struct config *c = callers_config(v->worker->callers);
	const struct token *t = &c->tokens[v->caller.index];

	if (t->all_pairs || v->caller.admin)
		return true;
	for (size_t i = 0; i < t->n_pairs; i++)
		if (listed(c, &t->pairs[i]) && is_session_of(&t->pairs[i], session))
			return true;
	return false;
}

/* ---- sessions ---- */

static void put_live(struct jsonw *w, const struct live_info *info)
{
	const struct reg_entry *e = info->entry;

	jsonw_obj(w);
	jsonw_kstr(w, "key", e->key);
	jsonw_kstr(w, "session", e->session);
	jsonw_kstr(w, "agent", e->agent);
	jsonw_kz(w, "scope", enum_name(scope_names, (int)e->scope));
	jsonw_kz(w, "backend", enum_name(backend_names, (int)e->backend));
	jsonw_kz(w, "state", enum_name(reg_state_names, (int)e->state));
	jsonw_kbool(w, "alive", info->alive);
	jsonw_ku64(w, "created_ms", e->created_ms);
	jsonw_ku64(w, "used_ms", e->used_ms);
	jsonw_ku64(w, "calls", e->calls);
	if (info->alive) {
		jsonw_ku64(w, "running", info->running);
		jsonw_ku64(w, "memory_bytes", info->memory_bytes);
		jsonw_ku64(w, "cpu_us", info->cpu_us);
	}
	jsonw_obj_end(w);
}

struct listing {
	const struct visit *v;
	struct jsonw *w;
	struct str want;  /* key or session; empty = all */
	bool ends;        /* it is to be ended: what others use, too, is not one chat's to end */
	struct buf *keys; /* of those that were found, each with a NUL; NULL = nobody asks */
	unsigned n;
};

static int list_one(void *ctx, const struct live_info *info)
{
	struct listing *l = ctx;
	const struct reg_entry *e = info->entry;
	const struct visit *v = l->v;
	bool mine = caller_sees(v, e->session);

	if (e->state == REG_SPARE) /* no session's yet */
		return 0;
	if (l->want.n && !str_eq(l->want, e->key) && !str_eq(l->want, e->session))
		return 0;
	if (l->ends && !v->caller.all_pairs && !v->caller.admin)
		mine &= e->scope == SCOPE_SESSION || e->scope == SCOPE_LEASE;
	if (!mine)
		return 0;
	l->n++;
	if (l->keys) {
		buf_put(l->keys, e->key);
		buf_putc(l->keys, '\0');
	}
	if (l->w && (l->n == 1 || !l->want.n))
		put_live(l->w, info);
	return 0;
}

static bool list(struct listing *l, struct err *e)
{
	const struct live_filter all = { 0 };

	return live_list(l->v->worker->runner->engine, &all, list_one, l, e) >= 0;
}

void answer_sessions(struct visit *v)
{
	_cleanup_buf_ struct buf out = { 0 };
	struct jsonw w;
	struct listing l = { .v = v, .w = &w };
	struct err e = { 0 };

	buf_init(&out, LIST_MAX);
	jsonw_init(&w, &out, 0);
	jsonw_obj(&w);
	jsonw_karr(&w, "sessions");
	if (!list(&l, &e)) {
		visit_error(v, &e);
		return;
	}
	jsonw_arr_end(&w);
	jsonw_obj_end(&w);
	visit_json(v, 200, &out);
}

static void no_session(struct visit *v)
{
	visit_fail(v, 404, "not_found", "no sandbox of yours has this key or session");
}

/* Names of the host's files are for administrators. */
void answer_session(struct visit *v)
{
	_cleanup_buf_ struct buf out = { 0 };
	struct jsonw w;
	struct listing l = { .v = v, .w = v->caller.admin ? NULL : &w, .want = v->match.part[0] };
	struct err e = { 0 };

	buf_init(&out, LIST_MAX);
	jsonw_init(&w, &out, 0);
	if (!list(&l, &e))
		visit_error(v, &e);
	else if (l.n == 0)
		no_session(v);
	else if (l.w || live_inspect(v->worker->runner->engine, v->match.part[0], &out, &e) >= 0)
		visit_json(v, 200, &out);
	else
		visit_error(v, &e);
}

static int remember(void *ctx, const struct live_info *info)
{
	(void)ctx;
	(void)info;
	return 0;
}

/* One by one: a session may have others beside, which are not this caller's to end. */
static int end_each(struct visit *v, struct str keys, struct err *e)
{
	int n = 0;

	for (struct str key; str_cut(keys, '\0', &key, &keys);) {
		const struct live_filter f = { .key = key };
		int r = live_end(v->worker->runner->engine, &f, true, "killed", remember, NULL, e);

		if (r < 0)
			return r;
		n += r;
	}
	return n;
}

void answer_session_end(struct visit *v)
{
	_cleanup_buf_ struct buf out = { 0 }, keys = { 0 };
	struct listing l = { .v = v, .want = v->match.part[0], .ends = true, .keys = &keys };
	struct err e = { 0 };
	struct jsonw w;
	int n;

	buf_init(&out, 4096);
	buf_init(&keys, LIST_MAX);
	if (!list(&l, &e)) {
		visit_error(v, &e);
		return;
	}
	if (l.n == 0) {
		no_session(v);
		return;
	}
	n = keys.failed ? err_set(&e, ERR_LIMIT, "too many sandboxes") : end_each(v, buf_str(&keys), &e);
	if (n < 0) {
		visit_error(v, &e);
		return;
	}
	jsonw_init(&w, &out, 0);
	jsonw_obj(&w);
	jsonw_ku64(&w, "ended", (uint64_t)n);
	jsonw_obj_end(&w);
	visit_json(v, 200, &out);
}

/* ---- processes: the tool of that name ---- */

static void ask_process(struct visit *v, struct str args)
{
	const struct wire_call call = { .agent = v->query.value[0],
					.channel = v->query.value[1],
					.chat_id = v->query.value[2] };
	struct call_result result = { 0 };
	struct errand_call c = { .who = call_who(v, &call, VIA_API),
				 .opts = { .tool = STR("process"), .args = args } };
	struct err e = { 0 };

	if (!v->query.has[1] || !v->query.has[2]) {
		visit_fail(v, 400, "invalid_query", "say for whom: ?agent=AGENT&type=TYPE&chat_id=CHAT");
		return;
	}
	if (!call_id(v, (struct str){ 0 })) {
		visit_fail(v, 500, "internal", "no id could be made");
		return;
	}
	if (call_run(v, &c, &result, &e) < 0)
		visit_error(v, &e);
	else
		visit_json(v, call_status(&result), &result.json);
	buf_done(&result.json);
}

void answer_processes(struct visit *v)
{
	ask_process(v, STR("{\"action\":\"list\"}"));
}

void answer_process_kill(struct visit *v)
{
	_cleanup_buf_ struct buf args = { 0 };
	struct jsonw w;

	buf_init(&args, 8192);
	jsonw_init(&w, &args, 0);
	jsonw_obj(&w);
	jsonw_kz(&w, "action", "kill");
	jsonw_kstr(&w, "sessionId", v->match.part[0]);
	jsonw_obj_end(&w);
	ask_process(v, buf_str(&args));
}
