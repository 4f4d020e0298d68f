/* SPDX-License-Identifier: Apache-2.0 */
/* After a crash or a reboot: what is recorded and is not there any more. */
#include "engine/registry_priv.h"

#define ARENA_BYTES ((size_t)512 << 20)

static bool is_gone(const struct reg_entry *entry)
{
	return entry->supervisor.pid != 0 && entry->state != REG_LOST &&
	       reg_proc_alive(&entry->supervisor) == REG_GONE;
}

/*
 * All of them are looked at without a lock, which takes long; then each is changed only if it is still the one that was looked
 * at. A job ends with its process, so its entry goes; of the others there may be something to tidy up, so they stay, as lost.
 */
static int reap_entries(struct registry *r, struct reg_reaped *ret, struct err *e)
{
	_cleanup_arena_ struct arena a = { 0 };
	struct reg_entry *v = NULL;
	size_t n = 0;
	int code;

	arena_init(&a, ARENA_BYTES);
	code = registry_list(r, NULL, &a, &v, &n, e);
	for (size_t i = 0; code >= 0 && i < n; i++) {
		if (!is_gone(&v[i]))
			continue;
		if (v[i].scope == SCOPE_JOB) {
			code = registry_remove(r, v[i].key, &v[i].supervisor, e);
			ret->removed += code > 0;
		} else {
			code = registry_set_state(r, v[i].key, REG_LOST, &v[i].supervisor, e);
			ret->lost += code > 0;
		}
	}
	return code < 0 ? code : 0;
}

/* Few, and short: within the transaction. */
static int do_reap_locks(struct registry *r, void *ctx, struct err *e)
{
	static const char rows[] = "SELECT pid, start, pidns, boot, name, generation FROM locks";
	_cleanup_arena_ struct arena a = { 0 };
	uint64_t *n = ctx;
	REG_STMT(st);
	REG_STMT(del);
	int code = reg_prepare(r, rows, &st, e), row = 0;

	*n = 0;
	arena_init(&a, ARENA_BYTES);
	if (code == 0)
		code = reg_prepare(r, "DELETE FROM locks WHERE name = ?1 AND generation = ?2", &del, e);
	while (code == 0 && (row = reg_step(r, st, e)) > 0) {
		struct reg_proc p = { .pid = reg_u64(st, 0),
				      .start = reg_u64(st, 1),
				      .pidns = reg_u64(st, 2) };
		struct str boot = reg_text(st, 3, &a);

		memcpy(p.boot, boot.p, boot.n < REG_BOOT_MAX ? boot.n : 0);
		if (reg_proc_alive(&p) != REG_GONE)
			continue;
		(void)sqlite3_reset(del);
		reg_bind_text(del, 1, reg_text(st, 4, &a));
		reg_bind_u64(del, 2, reg_u64(st, 5));
		code = reg_step(r, del, e);
		*n += 1;
	}
	return row < 0 ? row : code;
}

int registry_reap(struct registry *r, struct reg_reaped *ret, struct err *e)
{
	struct reg_reaped done = { 0 };
	int code = reap_entries(r, &done, e);

	if (code == 0)
		code = reg_run(r, true, do_reap_locks, &done.locks, e);
	if (code == 0)
		*ret = done;
	return code;
}
