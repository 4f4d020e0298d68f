/* SPDX-License-Identifier: Apache-2.0 */
#include "engine/registry_approval.h"

#include "base/clock.h"
#include "engine/registry_priv.h"

#include <assert.h>

#define ROW_ARENA ((size_t)8 << 20)
#define BIT(s) (1u << (s))

/* clang-format off */
const struct enum_name approval_kind_names[] = {
	{ "tool", APPROVAL_TOOL }, { "host", APPROVAL_HOST }, { "elevated", APPROVAL_ELEVATED }, { NULL, 0 },
};
const struct enum_name approval_state_names[] = {
	{ "denied", APPROVAL_DENIED }, { "waiting", APPROVAL_WAITING }, { "allowed", APPROVAL_ALLOWED }, { "granted", APPROVAL_GRANTED },
	{ "used", APPROVAL_USED }, { "expired", APPROVAL_EXPIRED }, { "withdrawn", APPROVAL_WITHDRAWN }, { NULL, 0 },
};

#define FIELD(f) offsetof(struct reg_approval, f)
static const struct col cols[] = {
	{ "id",            COL_TEXT, FIELD(id),            NULL },
	{ "kind",          COL_ENUM, FIELD(kind),          approval_kind_names },
	{ "state",         COL_ENUM, FIELD(state),         approval_state_names },
	{ "request",       COL_TEXT, FIELD(request),       NULL },
	{ "session",       COL_TEXT, FIELD(session),       NULL },
	{ "agent",         COL_TEXT, FIELD(agent),         NULL },
	{ "channel",       COL_TEXT, FIELD(channel),       NULL },
	{ "chat",          COL_TEXT, FIELD(chat),          NULL },
	{ "tool",          COL_TEXT, FIELD(tool),          NULL },
	{ "via",           COL_TEXT, FIELD(via),           NULL },
	{ "call",          COL_TEXT, FIELD(call),          NULL },
	{ "command",       COL_TEXT, FIELD(command),       NULL },
	{ "arguments",     COL_TEXT, FIELD(arguments),     NULL },
	{ "workdir",       COL_TEXT, FIELD(workdir),       NULL },
	{ "answered_by",   COL_TEXT, FIELD(by),            NULL },
	{ "reason",        COL_TEXT, FIELD(reason),        NULL },
	{ "created_ms",    COL_U64,  FIELD(created_ms),    NULL },
	{ "expires_ms",    COL_U64,  FIELD(expires_ms),    NULL },
	{ "answered_ms",   COL_U64,  FIELD(answered_ms),   NULL },
	{ "until_ms",      COL_U64,  FIELD(until_ms),      NULL },
	{ "until_boot_ms", COL_U64,  FIELD(until_boot_ms), NULL },
	{ "used",          COL_U64,  FIELD(used),          NULL },
	{ "pid",           COL_U64,  FIELD(waiter.pid),    NULL },
	{ "start",         COL_U64,  FIELD(waiter.start),  NULL },
	{ "pidns",         COL_U64,  FIELD(waiter.pidns),  NULL },
	{ "boot",          COL_BOOT, FIELD(waiter.boot),   NULL },
};
/* clang-format on */
enum { N_COLS = sizeof(cols) / sizeof(cols[0]) };
static_assert(sizeof(enum approval_kind) == sizeof(int) && sizeof(enum approval_state) == sizeof(int),
	      "enums are read and written as int");

/* ---- rows ---- */

static void put_columns(struct buf *b)
{
	for (size_t i = 0; i < N_COLS; i++)
		buf_printf(b, "%s%s", i ? ", " : "", cols[i].name);
}

static int check_row(const struct reg_approval *row, struct err *e)
{
	for (size_t i = 0; i < N_COLS; i++) {
		const struct str *s = (const void *)((const char *)row + cols[i].at);

		if (cols[i].type == COL_TEXT &&
		    (s->n > 4 * REGISTRY_TEXT_MAX || (s->n && memchr(s->p, '\0', s->n))))
			return err_set(e, ERR_USAGE, "approval: %s has more than %u bytes, or a NUL",
				       cols[i].name, 4 * REGISTRY_TEXT_MAX);
	}
	return 0;
}

static void bind_row(sqlite3_stmt *st, const struct reg_approval *row)
{
	for (int i = 0; i < N_COLS; i++) {
		const char *at = (const char *)row + cols[i].at;
		uint64_t number;
		struct str text;
		int word;

		switch (cols[i].type) {
		case COL_U64:
			memcpy(&number, at, sizeof(number));
			reg_bind_u64(st, i + 1, number);
			break;
		case COL_ENUM:
			memcpy(&word, at, sizeof(word));
			reg_bind_text(st, i + 1, str_z(enum_name(cols[i].names, word)));
			break;
		case COL_BOOT:
			reg_bind_text(st, i + 1, str_z(at));
			break;
		case COL_TEXT:
			memcpy(&text, at, sizeof(text));
			reg_bind_text(st, i + 1, text);
			break;
		}
	}
}

static int read_row(sqlite3_stmt *st, struct arena *a, struct reg_approval *ret, struct err *e)
{
	*ret = (struct reg_approval){ 0 };
	for (int i = 0; i < N_COLS; i++) {
		char *at = (char *)ret + cols[i].at;
		struct str text = cols[i].type == COL_U64 ? STR("") : reg_text(st, i, a);
		uint64_t number = cols[i].type == COL_U64 ? reg_u64(st, i) : 0;
		int word = 0;

		if (cols[i].type == COL_U64)
			memcpy(at, &number, sizeof(number));
		else if (cols[i].type == COL_TEXT)
			memcpy(at, &text, sizeof(text));
		else if (cols[i].type == COL_BOOT && text.n < REG_BOOT_MAX)
			memcpy(at, text.p, text.n);
		else if (cols[i].type == COL_ENUM && enum_value(cols[i].names, text, false, &word))
			memcpy(at, &word, sizeof(word));
		else
			return err_set(e, ERR_PROTO, "registry: '%s' of an approval is not known here",
				       cols[i].name);
	}
	return a->failed ? err_set(e, ERR_LIMIT, "registry: the answer is too large") : 0;
}

static int prepare(struct registry *r, const char *before, const char *after, sqlite3_stmt **ret,
		   struct err *e)
{
	_cleanup_buf_ struct buf sql = { 0 };

	buf_init(&sql, 4096);
	buf_puts(&sql, before);
	put_columns(&sql);
	buf_puts(&sql, after);
	return sql.failed ? err_set(e, ERR_LIMIT, "out of memory") : reg_prepare(r, buf_str(&sql).p, ret, e);
}

struct rows {
	struct arena *a;
	struct reg_approval *v;
	size_t n, cap;
};

static int take_rows(struct registry *r, sqlite3_stmt *st, struct rows *q, struct err *e)
{
	int code;

	q->n = 0;
	while ((code = reg_step(r, st, e)) > 0) {
		if (q->n == q->cap)
			q->v = arena_grow(q->a, q->v, q->n, &q->cap, sizeof(*q->v),
					  alignof(struct reg_approval));
		if (!q->v)
			return err_set(e, ERR_LIMIT, "registry: too many approvals");
		if (read_row(st, q->a, &q->v[q->n++], e) < 0)
			return -1;
	}
	return code;
}

static int find_row(struct registry *r, struct str id, struct arena *a, struct reg_approval *ret,
		    struct err *e)
{
	struct rows q = { .a = a };
	REG_STMT(st);
	int code = prepare(r, "SELECT ", " FROM approvals WHERE id = ?1", &st, e);

	if (code < 0)
		return code;
	reg_bind_text(st, 1, id);
	code = take_rows(r, st, &q, e);
	if (code == 0 && q.n)
		*ret = q.v[0];
	return code < 0 ? code : q.n > 0;
}

/* ---- adding ---- */

struct adding {
	const struct reg_approval *row;
	approval_record *record;
	void *ctx;
	bool taken;
};

static int count_waiting(struct registry *r, struct str session, uint64_t *ret_all, uint64_t *ret_own,
			 struct err *e)
{
	REG_STMT(st);
	int code = reg_prepare(
		r,
		"SELECT count(*), coalesce(sum(session = ?1), 0) FROM approvals WHERE state IN ('waiting', 'allowed')",
		&st, e);

	if (code < 0)
		return code;
	reg_bind_text(st, 1, session);
	code = reg_step(r, st, e);
	*ret_all = code > 0 ? reg_u64(st, 0) : 0;
	*ret_own = code > 0 ? reg_u64(st, 1) : 0;
	return code < 0 ? code : 0;
}

static int put_row(struct registry *r, const struct reg_approval *row, const char *verb, struct err *e)
{
	_cleanup_buf_ struct buf values = { 0 };
	REG_STMT(st);
	int code;

	buf_init(&values, 1024);
	buf_puts(&values, ") VALUES (");
	for (size_t i = 0; i < N_COLS; i++)
		buf_printf(&values, "%s?%zu", i ? ", " : "", i + 1);
	buf_putc(&values, ')');
	code = prepare(r, verb, buf_str(&values).p, &st, e);
	if (code < 0)
		return code;
	bind_row(st, row);
	return reg_step(r, st, e);
}

static int do_add(struct registry *r, void *ctx, struct err *e)
{
	struct adding *x = ctx;
	_cleanup_arena_ struct arena a = { 0 };
	struct reg_approval old;
	uint64_t all, own;
	int code = count_waiting(r, x->row->session, &all, &own, e);

	if (code < 0)
		return code;
	if (all >= APPROVAL_WAITING_MAX || own >= APPROVAL_WAITING_SESSION_MAX)
		return err_set(
			e, ERR_LIMIT,
			"%llu calls wait for a person already (%llu of this session; at most %u and %u): answer those first",
			(unsigned long long)all, (unsigned long long)own, APPROVAL_WAITING_MAX,
			APPROVAL_WAITING_SESSION_MAX);
	arena_init(&a, ROW_ARENA);
	code = find_row(r, x->row->id, &a, &old, e);
	if (code != 0) {
		x->taken = code > 0;
		return code < 0 ? code : 0;
	}
	code = put_row(r, x->row, "INSERT INTO approvals (", e);
	return code < 0 ? code : x->record(x->ctx, x->row, e);
}

int registry_approval_add(struct registry *r, const struct reg_approval *row, approval_record *record,
			  void *ctx, struct err *e)
{
	struct adding x = { .row = row, .record = record, .ctx = ctx };
	int code = reg_check_key(row->id, "id of an approval", e);

	if (code == 0)
		code = check_row(row, e);
	if (code == 0)
		code = reg_run(r, true, do_add, &x, e);
	if (code < 0)
		return code;
	return x.taken ? -EEXIST : 0;
}

/* ---- reading ---- */

struct asking {
	struct str id; /* empty = those of `all` */
	bool all;
	struct rows q;
};

static int do_read(struct registry *r, void *ctx, struct err *e)
{
	struct asking *x = ctx;
	REG_STMT(st);
	int code =
		prepare(r, "SELECT ",
			" FROM approvals WHERE CASE WHEN ?1 <> '' THEN id = ?1"
			" ELSE ?2 OR state IN ('waiting', 'allowed', 'granted') END ORDER BY created_ms, id",
			&st, e);

	if (code < 0)
		return code;
	reg_bind_text(st, 1, x->id);
	reg_bind_u64(st, 2, x->all);
	return take_rows(r, st, &x->q, e);
}

int registry_approval_find(struct registry *r, struct str id, struct arena *a, struct reg_approval *ret,
			   struct err *e)
{
	struct asking x = { .id = id, .q = { .a = a } };
	int code = reg_check_key(id, "id of an approval", e);

	if (code == 0)
		code = reg_run(r, false, do_read, &x, e);
	if (code < 0)
		return code;
	if (x.q.n == 0)
		return err_set(e, ERR_NOTFOUND, "there is no approval '" STR_FMT "'", STR_ARG(id));
	*ret = x.q.v[0];
	return 0;
}

int registry_approval_list(struct registry *r, bool all, struct arena *a, struct reg_approval **ret,
			   size_t *ret_n, struct err *e)
{
	struct asking x = { .all = all, .q = { .a = a } };
	int code = reg_run(r, false, do_read, &x, e);

	if (code < 0)
		return code;
	*ret = x.q.v;
	*ret_n = x.q.n;
	return 0;
}

/* ---- changing ---- */

struct changing {
	const struct approval_change *c;
	approval_record *record;
	void *ctx;
};

static void change_row(struct reg_approval *row, const struct approval_change *c)
{
	row->state = c->to;
	row->by = c->by.n ? c->by : row->by;
	row->reason = c->reason.n ? c->reason : row->reason;
	if (c->by.n)
		row->answered_ms = c->now_ms;
	if (c->for_ms) {
		row->until_ms = c->now_ms + c->for_ms;
		row->until_boot_ms = clock_boot_ms() + c->for_ms;
	}
	row->used += c->uses;
}

static int save(struct registry *r, const struct reg_approval *row, approval_record *record, void *ctx,
		struct err *e)
{
	int code = put_row(r, row, "REPLACE INTO approvals (", e);

	return code < 0 ? code : record(ctx, row, e);
}

/* ?1 is the call, or empty for any. */
static int count_grants(struct registry *r, void *ctx, struct err *e)
{
	const struct str *call = ctx;
	REG_STMT(st);
	int code = reg_prepare(
		r, "SELECT count(*) FROM approvals WHERE state = 'granted' AND (?1 = '' OR call = ?1)", &st,
		e);

	if (code < 0)
		return code;
	reg_bind_text(st, 1, *call);
	code = reg_step(r, st, e);
	return code > 0 ? (int)(reg_u64(st, 0) & 0xffff) : code;
}

static int do_change(struct registry *r, void *ctx, struct err *e)
{
	struct changing *x = ctx;
	_cleanup_arena_ struct arena a = { 0 };
	struct reg_approval row;
	int code;

	arena_init(&a, ROW_ARENA);
	code = find_row(r, x->c->id, &a, &row, e);
	if (code <= 0 || !(x->c->from & BIT(row.state)))
		return code < 0 ? code : 0;
	if (x->c->to == APPROVAL_GRANTED && row.state != APPROVAL_GRANTED) {
		struct str any = STR("");
		int n = count_grants(r, &any, e);

		if (n < 0 || n >= (int)APPROVAL_GRANTS_MAX)
			return n < 0 ? n
				     : err_set(e, ERR_LIMIT,
					       "%d calls are allowed for a time already: take one back first (creel approvals deny ID)",
					       n);
	}
	change_row(&row, x->c);
	code = check_row(&row, e);
	if (code == 0)
		code = save(r, &row, x->record, x->ctx, e);
	return code < 0 ? code : 1;
}

int registry_approval_change(struct registry *r, const struct approval_change *c, approval_record *record,
			     void *ctx, struct err *e)
{
	struct changing x = { .c = c, .record = record, .ctx = ctx };

	return reg_run(r, true, do_change, &x, e);
}

/* ---- grants ---- */

struct granting {
	struct str call;
	uint64_t now_ms;
	struct arena *a;
	struct reg_approval *ret;
	approval_record *record;
	void *ctx;
};

/* By both clocks, whichever is first: one that was set back gives nobody more time, and after the time that people were told nothing is allowed. */
static bool is_over(const struct reg_approval *row, const struct reg_proc *self, uint64_t now_ms)
{
	return strcmp(row->waiter.boot, self->boot) != 0 || row->until_boot_ms <= clock_boot_ms() ||
	       row->until_ms <= now_ms;
}

static int do_use_grant(struct registry *r, void *ctx, struct err *e)
{
	struct granting *x = ctx;
	struct rows q = { .a = x->a };
	struct reg_proc self;
	REG_STMT(st);
	int code = reg_proc_self(&self, e);

	if (code == 0)
		code = prepare(r, "SELECT ", " FROM approvals WHERE state = 'granted' AND call = ?1", &st, e);
	if (code < 0)
		return code;
	reg_bind_text(st, 1, x->call);
	code = take_rows(r, st, &q, e);
	for (size_t i = 0; code == 0 && i < q.n; i++) {
		if (is_over(&q.v[i], &self, x->now_ms))
			continue;
		q.v[i].used++;
		*x->ret = q.v[i];
		code = save(r, &q.v[i], x->record, x->ctx, e);
		return code < 0 ? code : 1;
	}
	return code;
}

int registry_approval_has_grant(struct registry *r, struct str call, struct err *e)
{
	int code = reg_run(r, false, count_grants, &call, e);

	return code > 0 ? 1 : code;
}

int registry_approval_use_grant(struct registry *r, struct str call, uint64_t now_ms, struct arena *a,
				struct reg_approval *ret, approval_record *record, void *ctx, struct err *e)
{
	struct granting x = {
		.call = call, .now_ms = now_ms, .a = a, .ret = ret, .record = record, .ctx = ctx
	};

	return reg_run(r, true, do_use_grant, &x, e);
}

/* ---- what is over ---- */

struct sweeping {
	uint64_t now_ms;
	approval_record *record;
	void *ctx;
};

/* What it is now; the same when nothing has happened to it. */
static enum approval_state state_now(const struct reg_approval *row, const struct sweeping *x,
				     const struct reg_proc *self)
{
	if (row->state == APPROVAL_GRANTED)
		return is_over(row, self, x->now_ms) ? APPROVAL_EXPIRED : row->state;
	if (reg_proc_alive(&row->waiter) == REG_GONE)
		return APPROVAL_WITHDRAWN;
	/* Who waits ends it himself, by a clock that does not jump; this is for one who was stopped, or whom nobody can see from here. */
	return row->state == APPROVAL_WAITING && row->until_boot_ms + 10000 <= clock_boot_ms()
		       ? APPROVAL_EXPIRED
		       : row->state;
}

static int forget_oldest(struct registry *r, struct err *e)
{
	static const char sql[] =
		"DELETE FROM approvals WHERE id IN (SELECT id FROM approvals WHERE state NOT IN ('waiting', 'allowed', 'granted')"
		" ORDER BY created_ms DESC, id LIMIT -1 OFFSET ?1)";
	REG_STMT(st);
	int code = reg_prepare(r, sql, &st, e);

	if (code < 0)
		return code;
	reg_bind_u64(st, 1, APPROVAL_KEPT_MAX);
	return reg_step(r, st, e);
}

static int do_sweep(struct registry *r, void *ctx, struct err *e)
{
	struct sweeping *x = ctx;
	struct asking live = { .all = false };
	_cleanup_arena_ struct arena a = { 0 };
	struct reg_proc self;
	int code;

	arena_init(&a, ROW_ARENA);
	live.q.a = &a;
	code = reg_proc_self(&self, e);
	if (code == 0)
		code = do_read(r, &live, e);
	for (size_t i = 0; code == 0 && i < live.q.n; i++) {
		struct reg_approval *row = &live.q.v[i];
		enum approval_state now = state_now(row, x, &self);

		if (now == row->state)
			continue;
		row->state = now;
		code = save(r, row, x->record, x->ctx, e);
	}
	return code < 0 ? code : forget_oldest(r, e);
}

int registry_approval_sweep(struct registry *r, uint64_t now_ms, approval_record *record, void *ctx,
			    struct err *e)
{
	struct sweeping x = { .now_ms = now_ms, .record = record, .ctx = ctx };

	return reg_run(r, true, do_sweep, &x, e);
}
