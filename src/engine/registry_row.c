/* SPDX-License-Identifier: Apache-2.0 */
/* The columns of a sandbox, once: the database and the `info` file both go by this table. */
#include "engine/registry_priv.h"

#include <assert.h>

#define FIELD(f) offsetof(struct reg_entry, f)

/* clang-format off */
const struct enum_name reg_state_names[] = {
	{ "lost", REG_LOST }, { "starting", REG_STARTING }, { "ready", REG_READY }, { "stopping", REG_STOPPING }, { "spare", REG_SPARE },
	{ NULL, 0 },
};

const struct col reg_cols[] = {
	{ "key",            COL_TEXT, FIELD(key),              NULL },
	{ "scope",          COL_ENUM, FIELD(scope),            scope_names },
	{ "session",        COL_TEXT, FIELD(session),          NULL },
	{ "agent",          COL_TEXT, FIELD(agent),            NULL },
	{ "backend",        COL_ENUM, FIELD(backend),          backend_names },
	{ "state",          COL_ENUM, FIELD(state),            reg_state_names },
	{ "profile_digest", COL_TEXT, FIELD(profile_digest),   NULL },
	{ "mounts_digest",  COL_TEXT, FIELD(mounts_digest),    NULL },
	{ "workspace",      COL_TEXT, FIELD(workspace),        NULL },
	{ "socket",         COL_TEXT, FIELD(socket),           NULL },
	{ "sup_pid",        COL_U64,  FIELD(supervisor.pid),   NULL },
	{ "sup_start",      COL_U64,  FIELD(supervisor.start), NULL },
	{ "warden_pid",     COL_U64,  FIELD(warden.pid),       NULL },
	{ "warden_start",   COL_U64,  FIELD(warden.start),     NULL },
	{ "pidns",          COL_U64,  FIELD(supervisor.pidns), NULL },
	{ "boot",           COL_BOOT, FIELD(supervisor.boot),  NULL },
	{ "created_ms",     COL_U64,  FIELD(created_ms),       NULL },
	{ "used_ms",        COL_U64,  FIELD(used_ms),          NULL },
	{ "warned_ms",      COL_U64,  FIELD(warned_ms),        NULL },
	{ "calls",          COL_U64,  FIELD(calls),            NULL },
};
/* clang-format on */
const size_t reg_n_cols = sizeof(reg_cols) / sizeof(reg_cols[0]);
static_assert(sizeof(enum scope) == sizeof(int) && sizeof(enum backend_id) == sizeof(int) &&
		      sizeof(enum reg_state) == sizeof(int),
	      "enums are read and written as int");

void reg_put_columns(struct buf *b)
{
	for (size_t i = 0; i < reg_n_cols; i++)
		buf_printf(b, "%s%s", i ? ", " : "", reg_cols[i].name);
}

/* ---- checks ---- */

int reg_check_key(struct str key, const char *what, struct err *e)
{
	if (key.n == 0 || key.n > REGISTRY_KEY_MAX || memchr(key.p, '\0', key.n))
		return err_set(e, ERR_USAGE, "%s of %zu bytes: it has to have 1..%u, and no NUL", what, key.n,
			       REGISTRY_KEY_MAX);
	return 0;
}

static const void *field(const struct reg_entry *entry, const struct col *c)
{
	return (const char *)entry + c->at;
}

static int check_col(const struct reg_entry *entry, const struct col *c, struct err *e)
{
	const struct str *s = field(entry, c);
	const uint64_t *u = field(entry, c);
	const int *n = field(entry, c);
	const char *word;

	switch (c->type) {
	case COL_TEXT:
		if (s->n > REGISTRY_TEXT_MAX || (s->n && memchr(s->p, '\0', s->n)))
			return err_set(e, ERR_USAGE, "%s of a sandbox: more than %u bytes, or a NUL in it",
				       c->name, REGISTRY_TEXT_MAX);
		return 0;
	case COL_U64:
		return *u > INT64_MAX ? err_set(e, ERR_USAGE, "%s of a sandbox is out of range", c->name) : 0;
	case COL_ENUM:
		word = enum_name(c->names, *n);
		return word[0] == '?' ? err_set(e, ERR_BUG, "%s of a sandbox: %d has no name", c->name, *n)
				      : 0;
	case COL_BOOT:
		break;
	}
	return 0;
}

int reg_check_entry(const struct reg_entry *entry, struct err *e)
{
	int r = reg_check_key(entry->key, "key of a sandbox", e);

	for (size_t i = 0; r == 0 && i < reg_n_cols; i++)
		r = check_col(entry, &reg_cols[i], e);
	return r;
}

/* ---- to the database and back ---- */

void reg_bind_text(sqlite3_stmt *st, int at, struct str s)
{
	(void)sqlite3_bind_text(st, at, s.n ? s.p : "", (int)s.n, SQLITE_STATIC);
}

void reg_bind_u64(sqlite3_stmt *st, int at, uint64_t v)
{
	(void)sqlite3_bind_int64(st, at, v > INT64_MAX ? INT64_MAX : (sqlite3_int64)v);
}

void reg_bind_entry(sqlite3_stmt *st, const struct reg_entry *entry)
{
	for (size_t i = 0; i < reg_n_cols; i++) {
		const struct col *c = &reg_cols[i];
		int at = (int)i + 1;

		if (c->type == COL_TEXT)
			reg_bind_text(st, at, *(const struct str *)field(entry, c));
		else if (c->type == COL_U64)
			reg_bind_u64(st, at, *(const uint64_t *)field(entry, c));
		else if (c->type == COL_BOOT)
			reg_bind_text(st, at, str_z(field(entry, c)));
		else
			reg_bind_text(st, at, str_z(enum_name(c->names, *(const int *)field(entry, c))));
	}
}

struct str reg_text(sqlite3_stmt *st, int at, struct arena *a)
{
	const char *p = (const char *)sqlite3_column_text(st, at);
	int n = sqlite3_column_bytes(st, at);

	return arena_str(a, (struct str){ .p = p ? p : "", .n = p && n > 0 ? (size_t)n : 0 });
}

uint64_t reg_u64(sqlite3_stmt *st, int at)
{
	sqlite3_int64 v = sqlite3_column_int64(st, at);

	return v < 0 ? 0 : (uint64_t)v;
}

static int read_col(sqlite3_stmt *st, int at, const struct col *c, struct arena *a, struct reg_entry *ret,
		    struct err *e)
{
	char *to = (char *)ret + c->at;
	struct str text;
	uint64_t u;
	int n = 0;

	if (c->type == COL_U64) {
		u = reg_u64(st, at);
		memcpy(to, &u, sizeof(u));
		return 0;
	}
	text = reg_text(st, at, a);
	if (c->type == COL_TEXT) {
		memcpy(to, &text, sizeof(text));
	} else if (c->type == COL_BOOT) {
		memcpy(to, text.p, text.n < REG_BOOT_MAX ? text.n : 0);
	} else {
		if (!enum_value(c->names, text, false, &n))
			return err_set(e, ERR_PROTO, "registry: %s '" STR_FMT "' is not known here", c->name,
				       STR_ARG(text));
		memcpy(to, &n, sizeof(n));
	}
	return 0;
}

int reg_read_entry(sqlite3_stmt *st, struct arena *a, struct reg_entry *ret, struct err *e)
{
	*ret = (struct reg_entry){ 0 };
	for (size_t i = 0; i < reg_n_cols; i++) {
		int r = read_col(st, (int)i, &reg_cols[i], a, ret, e);

		if (r < 0)
			return r;
	}
	ret->warden.pidns = ret->supervisor.pidns;
	memcpy(ret->warden.boot, ret->supervisor.boot, REG_BOOT_MAX);
	return a->failed ? err_set(e, ERR_LIMIT, "registry: the answer is too large") : 0;
}
