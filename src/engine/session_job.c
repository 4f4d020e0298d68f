/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A sandbox for one call (scope job) is in the registry for as long as it lives: who looks sees it, and can end it. Its key there is of our making:
 * the decision's is the request's id, which a caller may choose to be somebody else's.
 */
#include "engine/engine_priv.h"

#include "backend/native.h"
#include "base/clock.h"
#include "base/fd.h"

#include <stdio.h>

#define SWEEP_MAX 10000u

/* What is told of a sandbox that this process has; its key and its process are not in it yet. */
struct reg_entry session_entry(const struct session *s, const struct decision *d)
{
	uint64_t now = clock_unix_ms();

	return (struct reg_entry){ .scope = d->place.scope,
				   .session = d->who.session_key,
				   .agent = d->who.agent,
				   .backend = d->place.backend,
				   .state = REG_READY,
				   .profile_digest = str_z(s->digest.walls),
				   .mounts_digest = str_z(s->digest.mounts),
				   .workspace = d->workspace,
				   .created_ms = now,
				   .used_ms = now };
}

int job_name(const struct box *box, struct reg_entry *entry, char key[static JOB_KEY_MAX], struct err *e)
{
	int r = reg_proc_of(native_pid(box), &entry->supervisor, e);

	(void)snprintf(key, JOB_KEY_MAX, "job:%llu-%llu", (unsigned long long)entry->supervisor.pid,
		       (unsigned long long)entry->supervisor.start);
	entry->key = str_z(key);
	return r;
}

int job_register(struct session *s, const struct decision *d, struct err *e)
{
	struct reg_entry entry = session_entry(s, d);
	struct registry *reg;
	int r = engine_registry(s->engine, &reg, e);

	entry.calls = 1;
	if (r >= 0)
		r = job_name(s->box, &entry, s->job_key, e);
	if (r >= 0)
		r = registry_put(reg, &entry, e);
	if (r < 0) {
		s->job_key[0] = '\0';
		s->box = box_close(s->box);
	}
	return r;
}

void job_sweep(struct engine *g)
{
	struct err ignored = { 0 };
	char path[4096];
	_cleanup_close_ int live = state_open(&g->state, "live", "any", path, sizeof(path), &ignored);

	if (live >= 0)
		state_sweep(live, SWEEP_MAX);
}

void job_forget(struct session *s)
{
	struct err ignored = { 0 };
	struct registry *reg;

	if (!s->job_key[0])
		return;
	if (engine_registry(s->engine, &reg, &ignored) >= 0)
		(void)registry_remove(reg, str_z(s->job_key), NULL, &ignored);
	s->job_key[0] = '\0';
}
