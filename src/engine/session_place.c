/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Where a session works (docs/decisions/008). Its workspace is the session's and not the caller's: while its sandbox lives, a call that says nothing
 * about a workspace works on the one that the sandbox was made with, whatever directory its caller stands in. Only what follows the
 * caller's directory can stay behind like that: a workspace that was asked for or configured is never exchanged for another.
 */
#include "engine/engine_priv.h"

#include "policy/posture.h"

/* The rest of `path` below `dir`, empty when it is the same; false when it lies elsewhere. */
static bool lies_in(struct str dir, struct str path, struct str *ret_rest)
{
	if (!str_starts(path, dir) || (path.n > dir.n && path.p[dir.n] != '/'))
		return false;
	*ret_rest = path.n > dir.n ? str_from(path, dir.n + 1) : (struct str){ 0 };
	return true;
}

void session_place_init(struct session *s, const struct decision *d)
{
	s->cwd = s->who.facts.cwd;
	s->named = s->who.session_key.n > 0;
	s->follows = !s->own && d->place.place > PLACE_HOST && d->place.backend == BACKEND_NATIVE &&
		     d->place.scope != SCOPE_JOB && !said(&d->eff, OPT_WS_PATH) &&
		     str_eq(d->workspace, s->cwd) && d->place.key.n <= REGISTRY_KEY_MAX;
	s->place_key = s->follows ? arena_str(&s->arena, d->place.key) : (struct str){ 0 };
}

/* Nobody asks for a sandbox that is about to go, and what cannot be read is told by whoever needs it. */
static bool find_live(struct session *s, struct arena *a, struct reg_entry *ret)
{
	struct err ignored = { 0 };
	struct registry *reg;

	return engine_registry(s->engine, &reg, &ignored) >= 0 &&
	       registry_find(reg, s->place_key, a, ret, &ignored) >= 0 && ret->state == REG_READY &&
	       reg_proc_alive(&ret->supervisor) == REG_ALIVE;
}

void session_find_place(struct session *s, struct arena *a)
{
	struct reg_entry live;
	struct str rest = { 0 };
	bool inside;

	if (!s->follows || s->box)
		return;
	s->who.facts.cwd = s->cwd;
	s->below = (struct str){ 0 };
	s->elsewhere = false;
	if (!find_live(s, a, &live) || live.workspace.n == 0 || live.workspace.n >= sizeof(s->place))
		return;
	inside = lies_in(live.workspace, s->cwd, &rest);
	/* Who names no session means the directory he stands in: the rule for other mounts decides. */
	if (!inside && !s->named)
		return;
	memcpy(s->place, live.workspace.p, live.workspace.n);
	s->place[live.workspace.n] = '\0';
	s->who.facts.cwd = (struct str){ .p = s->place, .n = live.workspace.n };
	s->below = rest;
	s->elsewhere = !inside;
}

bool session_elsewhere(const struct session *s, struct buf *out)
{
	if (!s->elsewhere || s->on_host)
		return false;
	buf_puts(out, "works on '");
	buf_put(out, s->who.facts.cwd);
	buf_puts(out, "', as this session does, and not on '");
	buf_put(out, s->cwd);
	buf_puts(out, "'; --workspace says another, for another --session or after creel recreate");
	return true;
}
