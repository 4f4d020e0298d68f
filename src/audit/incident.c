/* SPDX-License-Identifier: Apache-2.0 */
#include "audit/incident.h"

#include "base/clock.h"
#include "base/jsonw.h"
#include "data/json.h"

#include <errno.h>

#define ARENA_BYTES ((size_t)256 << 20)
enum { KEYS_MAX = 64, EVENTS_MAX = 10000 };

struct call {
	uint64_t seq;
	struct value decided, finished; /* VALUE_NULL = none */
};

struct event {
	struct str key;
	struct value record;
};

struct incident {
	const struct incident_opts *o;
	struct arena arena;
	struct call *calls;
	size_t n_calls, cap_calls;
	struct str keys[KEYS_MAX]; /* of the sandboxes */
	size_t n_keys;
	struct event *events;
	size_t n_events, cap_events;
	struct event *approvals;
	size_t n_approvals, cap_approvals;
	bool truncated, nomem;
};

static void incident_done(struct incident *x)
{
	arena_done(&x->arena);
}

/* ---- collecting ---- */

static struct str text_of(const struct value *record, const char *key)
{
	const struct value *v = value_get(record, str_z(key));

	return v && v->kind == VALUE_STR ? v->s : (struct str){ 0 };
}

static bool is_meant(const struct incident *x, const struct value *record)
{
	return x->o->request.n ? str_eq(text_of(record, "request"), x->o->request)
			       : str_eq(text_of(record, "session"), x->o->session);
}

static bool parse(struct arena *a, struct str line, struct value *ret)
{
	const struct json_opts o = { .max_depth = 8, .max_bytes = AUDIT_LINE_MAX, .max_values = 8192 };
	struct err ignored = { 0 };

	return json_parse(a, line, &o, ret, &ignored) == 0;
}

/* A copy that stays: records of the walk do not. */
static bool keep(struct incident *x, struct str line, struct value *ret)
{
	if (parse(&x->arena, arena_str(&x->arena, line), ret))
		return true;
	x->nomem = true; /* it was parsed once already */
	return false;
}

static bool knows_key(const struct incident *x, struct str key)
{
	for (size_t i = 0; i < x->n_keys; i++)
		if (str_eq(x->keys[i], key))
			return true;
	return false;
}

static void add_call(struct incident *x, uint64_t seq, struct str line)
{
	struct call *grown;
	struct str key;

	if (x->n_calls == INCIDENT_CALLS_MAX) {
		x->truncated = true;
		return;
	}
	grown = arena_grow(&x->arena, x->calls, x->n_calls, &x->cap_calls, sizeof(*grown),
			   alignof(struct call));
	if (!grown || !keep(x, line, &grown[x->n_calls].decided)) {
		x->nomem = true;
		return;
	}
	x->calls = grown;
	x->calls[x->n_calls].seq = seq;
	key = text_of(&x->calls[x->n_calls++].decided, "key");
	if (!key.n || knows_key(x, key))
		return;
	x->truncated |= x->n_keys == KEYS_MAX;
	if (x->n_keys < KEYS_MAX)
		x->keys[x->n_keys++] = key;
}

/* The last ones first: a call ends soon after it was decided. */
static struct call *find_call(struct incident *x, const struct value *finished)
{
	const struct value *decided = value_get(finished, STR("decided"));

	for (size_t i = x->n_calls; decided && decided->kind == VALUE_INT && i > 0; i--)
		if (x->calls[i - 1].seq == (uint64_t)decided->i)
			return &x->calls[i - 1];
	return NULL;
}

static int collect_calls(void *ctx, const struct audit_record *rec)
{
	_cleanup_arena_ struct arena a = { 0 };
	struct incident *x = ctx;
	struct call *call;
	struct value v;

	if (rec->kind != AUDIT_DECIDED && rec->kind != AUDIT_FINISHED)
		return 0;
	arena_init(&a, (size_t)8 << 20);
	if (!parse(&a, rec->line, &v) || !is_meant(x, &v))
		return 0;
	call = rec->kind == AUDIT_FINISHED ? find_call(x, &v) : NULL;
	if (rec->kind == AUDIT_DECIDED)
		add_call(x, rec->seq, rec->line);
	else if (call)
		(void)keep(x, rec->line, &call->finished);
	return x->nomem ? -ENOMEM : 0;
}

static void add_event(struct incident *x, struct event **v, size_t *n, size_t *cap, struct str line)
{
	struct event *grown;

	if (*n == EVENTS_MAX) {
		x->truncated = true;
		return;
	}
	grown = arena_grow(&x->arena, *v, *n, cap, sizeof(*grown), alignof(struct event));
	if (!grown || !keep(x, line, &grown[*n].record)) {
		x->nomem = true;
		return;
	}
	*v = grown;
	grown[*n].key = text_of(&grown[*n].record, "key");
	(*n)++;
}

static int collect_events(void *ctx, const struct audit_record *rec)
{
	_cleanup_arena_ struct arena a = { 0 };
	struct incident *x = ctx;
	struct value v;

	if (rec->kind != AUDIT_SANDBOX && rec->kind != AUDIT_APPROVAL)
		return 0;
	arena_init(&a, (size_t)8 << 20);
	if (!parse(&a, rec->line, &v))
		return 0;
	if (rec->kind == AUDIT_APPROVAL && is_meant(x, &v))
		add_event(x, &x->approvals, &x->n_approvals, &x->cap_approvals, rec->line);
	else if (rec->kind == AUDIT_SANDBOX && knows_key(x, text_of(&v, "key")))
		add_event(x, &x->events, &x->n_events, &x->cap_events, rec->line);
	return x->nomem ? -ENOMEM : 0;
}

/* ---- writing ---- */

static void put_text(struct jsonw *w, const struct incident *x, struct str text)
{
	_cleanup_buf_ struct buf b = { 0 };

	buf_init(&b, INCIDENT_MAX);
	x->o->hide(x->o->ctx, text, &b);
	jsonw_str(w, b.failed ? STR("<unknown>") : buf_str(&b));
}

/* As json_write() does, with every text looked at. Depth is what the parser let pass. */
static void put_value(struct jsonw *w, const struct incident *x, const struct value *v)
{
	switch (v->kind) {
	case VALUE_STR:
		put_text(w, x, v->s);
		break;
	case VALUE_ARR:
		jsonw_arr(w);
		for (size_t i = 0; i < v->arr.n; i++)
			put_value(w, x, &v->arr.v[i]);
		jsonw_arr_end(w);
		break;
	case VALUE_OBJ:
		jsonw_obj(w);
		for (size_t i = 0; i < v->obj.n; i++) {
			jsonw_key(w, v->obj.m[i].key);
			/* Hashes are of the log, and have to stay what they are. */
			if (str_eq(v->obj.m[i].key, STR("hash")) || str_eq(v->obj.m[i].key, STR("prev")))
				json_write(w, &v->obj.m[i].v);
			else
				put_value(w, x, &v->obj.m[i].v);
		}
		jsonw_obj_end(w);
		break;
	case VALUE_NULL:
	case VALUE_BOOL:
	case VALUE_INT:
	case VALUE_NUM:
	case VALUE_KIND_COUNT_:
		json_write(w, v);
		break;
	}
}

static void put_head(struct jsonw *w, const struct incident *x, const struct audit_verdict *v)
{
	char time[CLOCK_TEXT_MAX];
	struct str when;

	jsonw_ku64(w, "incident", 1);
	jsonw_kz(w, "creel", x->o->version);
	if (clock_format(x->o->now_ms, time, &when) == 0)
		jsonw_kstr(w, "exported", when);
	jsonw_key(w, x->o->request.n ? STR("request") : STR("session"));
	put_text(w, x, x->o->request.n ? x->o->request : x->o->session);
	jsonw_kbool(w, "truncated", x->truncated);
	jsonw_kobj(w, "log");
	jsonw_kbool(w, "whole", v->n_findings == 0);
	jsonw_ku64(w, "records", v->n_records);
	jsonw_kobj(w, "last");
	jsonw_ku64(w, "seq", v->last.seq);
	jsonw_kz(w, "hash", v->last.hash);
	jsonw_obj_end(w);
	jsonw_obj_end(w);
}

static void put_calls(struct jsonw *w, const struct incident *x)
{
	jsonw_karr(w, "calls");
	for (size_t i = 0; i < x->n_calls; i++) {
		jsonw_obj(w);
		jsonw_key(w, STR("decided"));
		put_value(w, x, &x->calls[i].decided);
		jsonw_key(w, STR("finished"));
		put_value(w, x, &x->calls[i].finished);
		jsonw_obj_end(w);
	}
	jsonw_arr_end(w);
}

/* What policy refused, and what was denied to a call that ran, in one list. */
static void put_denials(struct jsonw *w, const struct incident *x)
{
	jsonw_karr(w, "denials");
	for (size_t i = 0; i < x->n_calls; i++) {
		const struct value *list = value_get(&x->calls[i].finished, STR("denials"));

		for (size_t k = 0; list && list->kind == VALUE_ARR && k < list->arr.n; k++) {
			jsonw_obj(w);
			jsonw_ku64(w, "decided", x->calls[i].seq);
			jsonw_key(w, STR("denial"));
			put_value(w, x, &list->arr.v[k]);
			jsonw_obj_end(w);
		}
	}
	jsonw_arr_end(w);
}

/* Who was asked, what was said, and by whom. */
static void put_approvals(struct jsonw *w, const struct incident *x)
{
	jsonw_karr(w, "approvals");
	for (size_t i = 0; i < x->n_approvals; i++)
		put_value(w, x, &x->approvals[i].record);
	jsonw_arr_end(w);
}

static void put_sandboxes(struct jsonw *w, const struct incident *x)
{
	jsonw_karr(w, "sandboxes");
	for (size_t i = 0; i < x->n_keys; i++) {
		jsonw_obj(w);
		jsonw_key(w, STR("key"));
		put_text(w, x, x->keys[i]);
		jsonw_karr(w, "events");
		for (size_t k = 0; k < x->n_events; k++)
			if (str_eq(x->events[k].key, x->keys[i]))
				put_value(w, x, &x->events[k].record);
		jsonw_arr_end(w);
		jsonw_obj_end(w);
	}
	jsonw_arr_end(w);
}

int incident_export(const struct incident_opts *o, struct buf *out, struct err *e)
{
	_cleanup_(incident_done) struct incident x = { .o = o };
	struct audit_verify_opts walk = { .dir = o->dir, .each = collect_calls, .ctx = &x };
	struct audit_verdict v;
	struct jsonw w;
	int r;

	arena_init(&x.arena, ARENA_BYTES);
	r = audit_verify(&walk, &v, e);
	if (r >= 0 && x.n_calls == 0)
		return err_set(e, ERR_NOTFOUND,
			       "the audit log has nothing about %s '" STR_FMT
			       "'; 'creel audit show' lists what it has",
			       o->request.n ? "request" : "session",
			       STR_ARG(o->request.n ? o->request : o->session));
	walk.each = collect_events;
	if (r >= 0)
		r = audit_verify(&walk, &v, e);
	if (r < 0)
		return r;
	jsonw_init(&w, out, 2);
	jsonw_obj(&w);
	put_head(&w, &x, &v);
	put_calls(&w, &x);
	put_denials(&w, &x);
	put_approvals(&w, &x);
	put_sandboxes(&w, &x);
	jsonw_obj_end(&w);
	buf_putc(out, '\n');
	return out->failed ? err_set(e, ERR_LIMIT, "the export is larger than %zu bytes", out->max_bytes) : 0;
}
