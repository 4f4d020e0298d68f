/* SPDX-License-Identifier: Apache-2.0 */
#include "engine/registry_priv.h"

#include "base/clock.h"

#include <stdio.h>
#include <unistd.h>

enum { SQL_MAX = 2048, FLUSH_MS = 2000 };

/* ---- putting ---- */

static void put_insert(struct buf *sql, bool only_newer)
{
	buf_puts(sql, "INSERT INTO sandboxes (");
	reg_put_columns(sql);
	buf_puts(sql, ") VALUES (");
	for (size_t i = 0; i < reg_n_cols; i++)
		buf_printf(sql, "%s?%zu", i ? ", " : "", i + 1);
	buf_puts(sql, ") ON CONFLICT (key) DO UPDATE SET ");
	for (size_t i = 1; i < reg_n_cols; i++)
		buf_printf(sql, "%s%s = excluded.%s", i > 1 ? ", " : "", reg_cols[i].name, reg_cols[i].name);
	if (only_newer)
		buf_puts(sql, " WHERE excluded.created_ms > created_ms");
}

int reg_put_entry(struct registry *r, const struct reg_entry *entry, bool only_newer, struct err *e)
{
	_cleanup_buf_ struct buf sql = { 0 };
	REG_STMT(st);
	int code;

	buf_init(&sql, SQL_MAX);
	put_insert(&sql, only_newer);
	if (sql.failed)
		return err_sys(e, ENOMEM, "registry");
	code = reg_prepare(r, sql.p, &st, e);
	if (code < 0)
		return code;
	reg_bind_entry(st, entry);
	return reg_step(r, st, e);
}

static int do_put(struct registry *r, void *ctx, struct err *e)
{
	return reg_put_entry(r, ctx, false, e);
}

int registry_put(struct registry *r, const struct reg_entry *entry, struct err *e)
{
	struct reg_entry copy = *entry;
	int code = reg_check_entry(entry, e);

	return code < 0 ? code : reg_run(r, true, do_put, &copy, e);
}

/* ---- finding ---- */

struct query {
	struct str key; /* empty: by filter */
	const struct reg_filter *filter;
	struct arena *a;
	struct reg_entry *v;
	size_t n, cap;
};

static void put_select(struct buf *sql, bool by_key)
{
	buf_puts(sql, "SELECT ");
	reg_put_columns(sql);
	buf_puts(
		sql,
		by_key ? " FROM sandboxes WHERE key = ?1"
		       : " FROM sandboxes WHERE (?1 = '' OR session = ?1) AND (?2 = '' OR agent = ?2)"
			 " AND (?3 = '' OR scope = ?3) AND (?4 = '' OR state = ?4) ORDER BY used_ms DESC, key");
}

static void bind_filter(sqlite3_stmt *st, const struct reg_filter *f)
{
	reg_bind_text(st, 1, f->session);
	reg_bind_text(st, 2, f->agent);
	reg_bind_text(st, 3, f->has_scope ? str_z(enum_name(scope_names, (int)f->scope)) : STR(""));
	reg_bind_text(st, 4, f->has_state ? str_z(enum_name(reg_state_names, (int)f->state)) : STR(""));
}

static int take_row(struct query *q, sqlite3_stmt *st, struct err *e)
{
	struct reg_entry *grown;

	if (q->n == REGISTRY_ROWS_MAX)
		return err_set(e, ERR_LIMIT, "registry: more than %u sandboxes", REGISTRY_ROWS_MAX);
	if (q->n == q->cap) {
		grown = arena_grow(q->a, q->v, q->n, &q->cap, sizeof(*grown), alignof(struct reg_entry));
		if (!grown)
			return err_set(e, ERR_LIMIT, "registry: the answer is too large");
		q->v = grown;
	}
	return reg_read_entry(st, q->a, &q->v[q->n++], e);
}

static int do_query(struct registry *r, void *ctx, struct err *e)
{
	_cleanup_buf_ struct buf sql = { 0 };
	struct query *q = ctx;
	REG_STMT(st);
	int code;

	q->n = 0;
	buf_init(&sql, SQL_MAX);
	put_select(&sql, q->key.n > 0);
	if (sql.failed)
		return err_sys(e, ENOMEM, "registry");
	code = reg_prepare(r, sql.p, &st, e);
	if (code < 0)
		return code;
	if (q->key.n)
		reg_bind_text(st, 1, q->key);
	else
		bind_filter(st, q->filter);
	while ((code = reg_step(r, st, e)) > 0)
		if (take_row(q, st, e) < 0)
			return -1;
	return code;
}

int registry_find(struct registry *r, struct str key, struct arena *a, struct reg_entry *ret, struct err *e)
{
	struct query q = { .key = key, .a = a };
	int code = reg_check_key(key, "key of a sandbox", e);

	if (code == 0)
		code = registry_flush(r, e);
	if (code == 0)
		code = reg_run(r, false, do_query, &q, e);
	if (code < 0)
		return code;
	if (q.n == 0)
		return err_set(e, ERR_NOTFOUND, "no sandbox has the key '" STR_FMT "'", STR_ARG(key));
	*ret = q.v[0];
	return 0;
}

int registry_list(struct registry *r, const struct reg_filter *f, struct arena *a, struct reg_entry **ret,
		  size_t *ret_n, struct err *e)
{
	static const struct reg_filter all;
	struct query q = { .filter = f ? f : &all, .a = a };
	int code = registry_flush(r, e);

	if (code == 0)
		code = reg_run(r, false, do_query, &q, e);
	if (code < 0)
		return code;
	*ret = q.v;
	*ret_n = q.n;
	return 0;
}

static int do_count(struct registry *r, void *ctx, struct err *e)
{
	REG_STMT(st);
	int code = reg_prepare(r, "SELECT count(*) FROM sandboxes WHERE scope != 'job' OR state = 'spare'",
			       &st, e);

	if (code == 0)
		code = reg_step(r, st, e);
	if (code > 0)
		*(uint64_t *)ctx = reg_u64(st, 0);
	return code < 0 ? code : 0;
}

int registry_count_kept(struct registry *r, uint64_t *ret, struct err *e)
{
	return reg_run(r, false, do_count, ret, e);
}

/* ---- changing one ---- */

struct change {
	const char *sql; /* ?1 is the key, ?2 the text or ?3 the number; the supervisor is ?4 to ?7 */
	struct str key, text;
	uint64_t number;
	const struct reg_proc *only;
};

#define ONLY " AND (?4 = 0 OR (sup_pid = ?4 AND sup_start = ?5 AND pidns = ?6 AND boot = ?7))"

static int do_change(struct registry *r, void *ctx, struct err *e)
{
	const struct change *c = ctx;
	REG_STMT(st);
	int code = reg_prepare(r, c->sql, &st, e);

	if (code < 0)
		return code;
	reg_bind_text(st, 1, c->key);
	reg_bind_text(st, 2, c->text);
	reg_bind_u64(st, 3, c->number);
	reg_bind_u64(st, 4, c->only ? c->only->pid : 0);
	reg_bind_u64(st, 5, c->only ? c->only->start : 0);
	reg_bind_u64(st, 6, c->only ? c->only->pidns : 0);
	reg_bind_text(st, 7, c->only ? str_z(c->only->boot) : STR(""));
	code = reg_step(r, st, e);
	return code < 0 ? code : sqlite3_changes(r->db) > 0;
}

static int change(struct registry *r, struct change *c, struct err *e)
{
	int code = reg_check_key(c->key, "key of a sandbox", e);

	if (code == 0 && c->only && c->only->pid == 0)
		return err_set(e, ERR_BUG, "registry: a supervisor without a pid");
	return code < 0 ? code : reg_run(r, true, do_change, c, e);
}

static void forget_touched(struct registry *r, struct str key)
{
	for (size_t i = 0; i < r->n_touched; i++)
		if (str_eq((struct str){ .p = r->touched[i].key, .n = r->touched[i].n }, key)) {
			r->touched[i] = r->touched[--r->n_touched];
			return;
		}
}

int registry_remove(struct registry *r, struct str key, const struct reg_proc *only, struct err *e)
{
	struct change c = { .sql = "DELETE FROM sandboxes WHERE key = ?1" ONLY, .key = key, .only = only };
	int code = change(r, &c, e);

	if (code > 0)
		forget_touched(r, key);
	return code;
}

int registry_set_state(struct registry *r, struct str key, enum reg_state state, const struct reg_proc *only,
		       struct err *e)
{
	struct change c = { .sql = "UPDATE sandboxes SET state = ?2 WHERE key = ?1" ONLY,
			    .key = key,
			    .text = str_z(enum_name(reg_state_names, (int)state)),
			    .only = only };

	if ((unsigned)state >= REG_STATE_COUNT_)
		return err_set(e, ERR_BUG, "registry: state %d", (int)state);
	return change(r, &c, e);
}

int registry_set_warned(struct registry *r, struct str key, uint64_t warned_ms, struct err *e)
{
	struct change c = { .sql = "UPDATE sandboxes SET warned_ms = ?3 WHERE key = ?1" ONLY,
			    .key = key,
			    .number = warned_ms };

	return change(r, &c, e);
}

/* ---- touching ---- */

/* A clock that went back does not make it look unused. */
#define TOUCH_SQL "UPDATE sandboxes SET used_ms = max(used_ms, ?2), calls = calls + ?3 WHERE key = ?1"

static int do_flush(struct registry *r, void *ctx, struct err *e)
{
	REG_STMT(st);
	int code = reg_prepare(r, TOUCH_SQL, &st, e);

	(void)ctx;
	for (size_t i = 0; code == 0 && i < r->n_touched; i++) {
		const struct touched *t = &r->touched[i];

		(void)sqlite3_reset(st);
		reg_bind_text(st, 1, (struct str){ .p = t->key, .n = t->n });
		reg_bind_u64(st, 2, t->used_ms);
		reg_bind_u64(st, 3, t->calls);
		code = reg_step(r, st, e);
	}
	return code;
}

int registry_flush(struct registry *r, struct err *e)
{
	int code = r->n_touched ? reg_run(r, true, do_flush, NULL, e) : 0;

	if (code == 0)
		r->n_touched = 0;
	return code;
}

uint64_t registry_flush_deadline(const struct registry *r)
{
	return r->n_touched ? r->touched_since_ms + FLUSH_MS : CLOCK_NEVER;
}

static struct touched *touched_of(struct registry *r, struct str key)
{
	struct touched *t;

	for (size_t i = 0; i < r->n_touched; i++)
		if (str_eq((struct str){ .p = r->touched[i].key, .n = r->touched[i].n }, key))
			return &r->touched[i];
	if (r->n_touched == 0)
		r->touched_since_ms = clock_mono_ms();
	t = &r->touched[r->n_touched++];
	*t = (struct touched){ .n = key.n };
	memcpy(t->key, key.p, key.n);
	return t;
}

int registry_touch(struct registry *r, struct str key, uint64_t now_ms, struct err *e)
{
	struct touched *t;
	int code = reg_check_key(key, "key of a sandbox", e);

	if (code == 0 && r->n_touched == TOUCHED_MAX)
		code = registry_flush(r, e);
	if (code < 0)
		return code;
	t = touched_of(r, key);
	t->used_ms = now_ms > t->used_ms ? now_ms : t->used_ms;
	t->calls++;
	return 0;
}
