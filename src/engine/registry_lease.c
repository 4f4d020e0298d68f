/* SPDX-License-Identifier: Apache-2.0 */
#include "engine/registry_priv.h"

#define COLUMNS "key, backend, remote_id, template, created_ms, used_ms, expires_ms, renewed"

static int check_lease(const struct reg_lease *l, struct err *e)
{
	int r = reg_check_key(l->key, "key of a lease", e);

	if (r == 0)
		r = reg_check_key(l->remote_id, "id of a lease", e);
	if (r == 0 && (l->template.n > REGISTRY_TEXT_MAX ||
		       (l->template.n && memchr(l->template.p, '\0', l->template.n))))
		r = err_set(e, ERR_USAGE, "template of a lease: more than %u bytes, or a NUL in it",
			    REGISTRY_TEXT_MAX);
	return r;
}

static int do_put(struct registry *r, void *ctx, struct err *e)
{
	const struct reg_lease *l = ctx;
	REG_STMT(st);
	int code = reg_prepare(
		r, "INSERT OR REPLACE INTO leases (" COLUMNS ") VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8)", &st,
		e);

	if (code < 0)
		return code;
	reg_bind_text(st, 1, l->key);
	reg_bind_text(st, 2, str_z(enum_name(backend_names, (int)l->backend)));
	reg_bind_text(st, 3, l->remote_id);
	reg_bind_text(st, 4, l->template);
	reg_bind_u64(st, 5, l->created_ms);
	reg_bind_u64(st, 6, l->used_ms);
	reg_bind_u64(st, 7, l->expires_ms);
	reg_bind_u64(st, 8, l->renewed);
	return reg_step(r, st, e);
}

int registry_lease_put(struct registry *r, const struct reg_lease *lease, struct err *e)
{
	struct reg_lease copy = *lease;
	int code = check_lease(lease, e);

	return code < 0 ? code : reg_run_lasting(r, do_put, &copy, e);
}

struct query {
	struct str key; /* empty = all */
	struct arena *a;
	struct reg_lease *v;
	size_t n, cap;
};

static int take_row(struct query *q, sqlite3_stmt *st, struct err *e)
{
	struct reg_lease *l;
	int backend = 0;

	if (q->n == q->cap)
		q->v = arena_grow(q->a, q->v, q->n, &q->cap, sizeof(*l), alignof(struct reg_lease));
	if (!q->v || q->n == REGISTRY_ROWS_MAX)
		return err_set(e, ERR_LIMIT, "registry: too many leases");
	if (!enum_value(backend_names, reg_text(st, 1, q->a), false, &backend))
		return err_set(e, ERR_PROTO, "registry: the backend of a lease is not known here");
	l = &q->v[q->n++];
	*l = (struct reg_lease){ .key = reg_text(st, 0, q->a),
				 .backend = (enum backend_id)backend,
				 .remote_id = reg_text(st, 2, q->a),
				 .template = reg_text(st, 3, q->a),
				 .created_ms = reg_u64(st, 4),
				 .used_ms = reg_u64(st, 5),
				 .expires_ms = reg_u64(st, 6),
				 .renewed = reg_u64(st, 7) };
	return q->a->failed ? err_set(e, ERR_LIMIT, "registry: the answer is too large") : 0;
}

static int do_query(struct registry *r, void *ctx, struct err *e)
{
	struct query *q = ctx;
	REG_STMT(st);
	int code = reg_prepare(r, "SELECT " COLUMNS " FROM leases WHERE ?1 = '' OR key = ?1 ORDER BY key",
			       &st, e);

	q->n = 0;
	if (code < 0)
		return code;
	reg_bind_text(st, 1, q->key);
	while ((code = reg_step(r, st, e)) > 0)
		if (take_row(q, st, e) < 0)
			return -1;
	return code;
}

int registry_lease_find(struct registry *r, struct str key, struct arena *a, struct reg_lease *ret,
			struct err *e)
{
	struct query q = { .key = key, .a = a };
	int code = reg_check_key(key, "key of a lease", e);

	if (code == 0)
		code = reg_run(r, false, do_query, &q, e);
	if (code < 0)
		return code;
	if (q.n == 0)
		return err_set(e, ERR_NOTFOUND, "no lease has the key '" STR_FMT "'", STR_ARG(key));
	*ret = q.v[0];
	return 0;
}

int registry_lease_list(struct registry *r, struct arena *a, struct reg_lease **ret, size_t *ret_n,
			struct err *e)
{
	struct query q = { .a = a };
	int code = reg_run(r, false, do_query, &q, e);

	if (code < 0)
		return code;
	*ret = q.v;
	*ret_n = q.n;
	return 0;
}

struct change {
	const char *sql; /* ?1 key, ?2 id, ?3 now, ?4 end */
	struct str key, remote_id;
	uint64_t now_ms, expires_ms;
};

static int do_change(struct registry *r, void *ctx, struct err *e)
{
	const struct change *c = ctx;
	REG_STMT(st);
	int code = reg_prepare(r, c->sql, &st, e);

	if (code < 0)
		return code;
	reg_bind_text(st, 1, c->key);
	reg_bind_text(st, 2, c->remote_id);
	reg_bind_u64(st, 3, c->now_ms);
	reg_bind_u64(st, 4, c->expires_ms);
	code = reg_step(r, st, e);
	return code < 0 ? code : sqlite3_changes(r->db) > 0;
}

int registry_lease_renew(struct registry *r, struct str key, struct str remote_id, uint64_t now_ms,
			 uint64_t expires_ms, struct err *e)
{
	struct change c = {
		.sql = "UPDATE leases SET used_ms = max(used_ms, ?3), expires_ms = ?4, renewed = renewed + 1"
		       " WHERE key = ?1 AND remote_id = ?2",
		.key = key,
		.remote_id = remote_id,
		.now_ms = now_ms,
		.expires_ms = expires_ms
	};

	return reg_run_lasting(r, do_change, &c, e);
}

int registry_lease_remove(struct registry *r, struct str key, struct str remote_id, struct err *e)
{
	struct change c = { .sql = "DELETE FROM leases WHERE key = ?1 AND remote_id = ?2 AND ?3 = ?4",
			    .key = key,
			    .remote_id = remote_id };

	return reg_run_lasting(r, do_change, &c, e);
}
