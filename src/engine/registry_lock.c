/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Locks that outlast a process that holds them, by minutes, and not for ever: a row with the holder and an end. The end is in the time since boot,
 * which no change of the clock moves; of another boot, the holder is gone anyway.
 */
#include "engine/registry_priv.h"

#include <time.h>

static uint64_t boot_ms(void)
{
	struct timespec ts = { 0 };

	(void)clock_gettime(CLOCK_BOOTTIME, &ts);
	return (uint64_t)ts.tv_sec * 1000u + (uint64_t)ts.tv_nsec / 1000000u;
}

struct locking {
	struct str name;
	uint64_t ttl_ms, generation;
	struct reg_proc self;
	struct reg_holder holder;
};

static void read_holder(sqlite3_stmt *st, struct reg_holder *ret)
{
	const char *boot = (const char *)sqlite3_column_text(st, 3);
	uint64_t now = boot_ms(), until = reg_u64(st, 4);
	size_t n = boot ? strlen(boot) : 0;

	*ret = (struct reg_holder){
		.proc = { .pid = reg_u64(st, 0), .start = reg_u64(st, 1), .pidns = reg_u64(st, 2) },
		.left_ms = until > now ? until - now : 0
	};
	if (n < REG_BOOT_MAX && n > 0)
		memcpy(ret->proc.boot, boot, n);
}

/* 1: somebody has it, and it counts. */
static int find_holder(struct registry *r, struct locking *l, struct err *e)
{
	REG_STMT(st);
	int code =
		reg_prepare(r, "SELECT pid, start, pidns, boot, until_ms FROM locks WHERE name = ?1", &st, e);

	if (code < 0)
		return code;
	reg_bind_text(st, 1, l->name);
	code = reg_step(r, st, e);
	if (code <= 0)
		return code;
	read_holder(st, &l->holder);
	return reg_proc_alive(&l->holder.proc) != REG_GONE && l->holder.left_ms > 0;
}

static int next_generation(struct registry *r, uint64_t *ret, struct err *e)
{
	REG_STMT(st);
	int code = reg_prepare(r, "UPDATE counters SET value = value + 1 WHERE name = 'lock' RETURNING value",
			       &st, e);

	if (code == 0)
		code = reg_step(r, st, e);
	if (code == 0)
		return err_set(e, ERR_SYS, "registry: the counter of locks is gone");
	if (code > 0)
		*ret = reg_u64(st, 0);
	return code < 0 ? code : 0;
}

static uint64_t end_of(uint64_t ttl_ms)
{
	uint64_t end;

	return __builtin_add_overflow(boot_ms(), ttl_ms, &end) || end > INT64_MAX ? INT64_MAX : end;
}

static int do_lock(struct registry *r, void *ctx, struct err *e)
{
	static const char sql[] =
		"INSERT OR REPLACE INTO locks (name, generation, pid, start, pidns, boot, until_ms)"
		" VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7)";
	struct locking *l = ctx;
	REG_STMT(st);
	int code = find_holder(r, l, e);

	if (code != 0)
		return code < 0 ? code : 0;
	code = next_generation(r, &l->generation, e);
	if (code == 0)
		code = reg_prepare(r, sql, &st, e);
	if (code < 0)
		return code;
	reg_bind_text(st, 1, l->name);
	reg_bind_u64(st, 2, l->generation);
	reg_bind_u64(st, 3, l->self.pid);
	reg_bind_u64(st, 4, l->self.start);
	reg_bind_u64(st, 5, l->self.pidns);
	reg_bind_text(st, 6, str_z(l->self.boot));
	reg_bind_u64(st, 7, end_of(l->ttl_ms));
	code = reg_step(r, st, e);
	return code < 0 ? code : 1;
}

int registry_lock(struct registry *r, struct str name, uint64_t ttl_ms, struct reg_lock *ret,
		  struct reg_holder *ret_holder, struct err *e)
{
	struct locking l = { .name = name, .ttl_ms = ttl_ms };
	int code = reg_check_key(name, "name of a lock", e);

	if (code == 0 && ttl_ms == 0)
		code = err_set(e, ERR_USAGE, "a lock for no time");
	if (code == 0)
		code = reg_proc_self(&l.self, e);
	if (code == 0)
		code = reg_run(r, true, do_lock, &l, e);
	if (code == 0 && ret_holder)
		*ret_holder = l.holder;
	if (code > 0)
		*ret = (struct reg_lock){ .name = name, .generation = l.generation };
	return code;
}

struct lock_change {
	const char *sql; /* ?1 name, ?2 generation, ?3 end, ?4 now */
	const struct reg_lock *lock;
	uint64_t until_ms;
};

static int do_lock_change(struct registry *r, void *ctx, struct err *e)
{
	const struct lock_change *c = ctx;
	REG_STMT(st);
	int code = reg_prepare(r, c->sql, &st, e);

	if (code < 0)
		return code;
	reg_bind_text(st, 1, c->lock->name);
	reg_bind_u64(st, 2, c->lock->generation);
	reg_bind_u64(st, 3, c->until_ms);
	code = reg_step(r, st, e);
	return code < 0 ? code : sqlite3_changes(r->db) > 0;
}

int registry_renew(struct registry *r, const struct reg_lock *lock, uint64_t ttl_ms, struct err *e)
{
	struct lock_change c = { .sql = "UPDATE locks SET until_ms = ?3 WHERE name = ?1 AND generation = ?2",
				 .lock = lock,
				 .until_ms = end_of(ttl_ms) };
	int code = reg_run(r, true, do_lock_change, &c, e);

	if (code == 0)
		return err_set(e, ERR_DENIED, "lock '" STR_FMT "' has been taken over: it had expired",
			       STR_ARG(lock->name));
	return code < 0 ? code : 0;
}

int registry_unlock(struct registry *r, const struct reg_lock *lock, struct err *e)
{
	struct lock_change c = { .sql = "DELETE FROM locks WHERE name = ?1 AND generation = ?2 AND ?3 = 0",
				 .lock = lock };
	int code = reg_run(r, true, do_lock_change, &c, e);

	return code < 0 ? code : 0;
}
