/* SPDX-License-Identifier: Apache-2.0 */
/*
 * GET /v1/events: the audit log as it grows, one event for each record, its number as the event's id. A caller hears of the sessions of its own pairs; an
 * administrator of everything. Who comes back with Last-Event-ID gets what was missed, as far as it is in the last part of the log.
 */
#include "server/runner/runner.h"

#include "audit/audit.h"
#include "base/clock.h"
#include "data/json.h"
#include "http/sse.h"
#include "server/cause.h"

#include <stdio.h>

enum { LOOK_AGAIN_MS = 1000, PING_MS = 15000 };
#define BACK_BYTES ((uint64_t)8 << 20)

struct follower {
	struct visit *v;
	struct audit_tail *tail;
	uint64_t after; /* the last record that the client has */
	uint64_t ping_ms;
};

static struct str text_of(const struct value *v, const char *key)
{
	const struct value *t = value_get(v, str_z(key));

	return t && t->kind == VALUE_STR ? t->s : (struct str){ 0 };
}

static void put_veiled(struct jsonw *w, struct str text)
{
	_cleanup_buf_ struct buf b = { 0 };

	buf_init(&b, 2 * CAUSE_MAX);
	cause_put(&b, text);
	jsonw_str(w, buf_str(&b));
}

/* Names of the host's files are for administrators. */
static void put_without_paths(struct buf *out, const struct value *v)
{
	struct jsonw w;

	jsonw_init(&w, out, 0);
	jsonw_obj(&w);
	for (size_t i = 0; i < v->obj.n; i++) {
		if (str_eq(v->obj.m[i].key, STR("workspace")) || str_eq(v->obj.m[i].key, STR("why")))
			continue;
		jsonw_key(&w, v->obj.m[i].key);
		if (str_eq(v->obj.m[i].key, STR("message")) && str_eq(text_of(v, "stage"), STR("mounts")))
			put_veiled(&w, text_of(v, "message"));
		else
			json_write(&w, &v->obj.m[i].v);
	}
	jsonw_obj_end(&w);
}

/* What this caller may know of the record; false: nothing. What belongs to no session is for administrators. */
static bool may_hear(const struct follower *f, struct arena *a, const struct audit_record *r, struct buf *out)
{
	const struct json_opts o = { .name = "record", .max_bytes = AUDIT_LINE_MAX };
	struct value v = { 0 };
	struct err ignored = { 0 };
	struct str session;

	if (f->v->caller.admin) {
		buf_put(out, r->line);
		return !out->failed;
	}
	if (json_parse(a, r->line, &o, &v, &ignored) < 0 || v.kind != VALUE_OBJ)
		return false;
	session = text_of(&v, "session");
	if (session.n == 0)
		session = text_of(&v, "key");
	if (session.n == 0 || !caller_sees(f->v, session))
		return false;
	put_without_paths(out, &v);
	return !out->failed;
}

static int pass_on(struct follower *f)
{
	struct audit_record r;
	struct err e = { 0 };
	int n;

	do {
		_cleanup_arena_ struct arena a = { 0 };
		_cleanup_buf_ struct buf line = { 0 };
		char id[24];

		arena_init(&a, (size_t)4 << 20);
		buf_init(&line, AUDIT_LINE_MAX);
		n = audit_tail_next(f->tail, &a, &r, &e);
		if (n <= 0 || r.seq <= f->after || !may_hear(f, &a, &r, &line))
			continue;
		f->after = r.seq;
		(void)snprintf(id, sizeof(id), "%llu", (unsigned long long)r.seq);
		if (visit_event(f->v, enum_name(audit_kind_names, (int)r.kind), buf_str(&line), str_z(id)) <
		    0)
			return -1;
		f->ping_ms = clock_deadline(PING_MS);
	} while (n > 0);
	return n;
}

static int ping(struct follower *f)
{
	_cleanup_buf_ struct buf out = { 0 };

	if (clock_mono_ms() < f->ping_ms)
		return 0;
	f->ping_ms = clock_deadline(PING_MS);
	buf_init(&out, 64);
	(void)sse_write_comment(&out, STR("still here"));
	return visit_write(f->v, buf_str(&out));
}

/* Each of them takes a worker; calls come first. */
static bool is_full(const struct runner *r)
{
	unsigned n = 0;

	for (unsigned i = 0; i < SLOTS_MAX; i++)
		n += r->slots[i].pid && r->slots[i].state == SLOT_EVENTS;
	return n >= EVENTS_MAX;
}

/* Still known: a token that was revoked hears no more. */
static bool still_welcome(struct visit *v)
{
	struct caller now;
	struct str token;

	if (callers_refresh(v->worker->callers) > 0)
		worker_take_tokens(v->worker);
	if (!v->x || http_head_one(http_exchange_head(v->x), STR("x-creel-token"), &token) < 0 ||
	    callers_find(v->worker->callers, token, clock_unix_ms(), &now) != TOKEN_VALID)
		return false;
	v->caller = now;
	return true;
}

static void follow(struct follower *f)
{
	struct visit *v = f->v;

	while (v->x && !v->gone && !v->worker->stopping) {
		if (!still_welcome(v) || pass_on(f) < 0 || ping(f) < 0)
			break;
		/* The log is looked at from time to time, too: where the kernel has no watch left to give, and for tokens. */
		(void)visit_wait(v, audit_tail_fd(f->tail), clock_deadline(LOOK_AGAIN_MS));
	}
	visit_end(v);
}

void answer_events(struct visit *v)
{
	struct follower f = { .v = v, .ping_ms = clock_deadline(PING_MS) };
	const struct http_head *h = http_exchange_head(v->x);
	_cleanup_(audit_tail_closep) struct audit_tail *tail = NULL;
	bool again;
	struct err e = { 0 };
	struct str last;
	char dir[4096];

	again = http_head_one(h, STR("last-event-id"), &last) == 0;
	if (again && str_to_u64(last, UINT64_MAX, &f.after) < 0) {
		visit_fail(v, 400, "invalid_id", "Last-Event-ID is not the number of a record");
		return;
	}
	if (is_full(v->worker->runner)) {
		visit_fail(v, 503, "busy", "too many follow the events already");
		return;
	}
	if (engine_audit_dir(v->worker->runner->engine, dir, sizeof(dir), &e) < 0 ||
	    audit_tail_open(dir, again ? BACK_BYTES : 0, &tail, &e) < 0) {
		visit_error(v, &e);
		return;
	}
	f.tail = tail;
	if (visit_begin(v, TYPE_EVENTS) < 0)
		return;
	spares_drop(v->worker); /* nobody looks after them meanwhile */
	worker_state(v->worker, SLOT_EVENTS);
	follow(&f);
}
