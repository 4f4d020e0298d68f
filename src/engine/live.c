/* SPDX-License-Identifier: Apache-2.0 */
/* The sandboxes that live: told, looked at, ended. What is ended is the sandbox, never a workspace or a private layer. */
#include "engine/engine_priv.h"

#include "backend/jobs.h"
#include "backend/kept.h"
#include "base/clock.h"

#include <unistd.h>

#define LIVE_ARENA_MAX ((size_t)256 << 20)

struct look {
	struct engine *g;
	struct registry *reg;
	const struct live_filter *f;
	struct arena a;
	struct reg_entry *v;
	size_t n;
	struct err *missed; /* what could not be looked at, where the others count; NULL = all or nothing */
};

static void look_done(struct look *l)
{
	arena_done(&l->a);
}

static bool fits(const struct live_filter *f, const struct reg_entry *e)
{
	return (!f->key.n || str_eq(f->key, e->key)) &&
	       (!f->session.n || str_eq(f->session, e->session) || (f->used.n && str_eq(f->used, e->key))) &&
	       (!f->agent.n || str_eq(f->agent, e->agent)) && (!f->has_scope || f->scope == e->scope);
}

/* A sandbox that ended without anybody having asked for it. */
static bool told_why(const struct reg_entry *e, char why[static KEPT_NOTE_MAX])
{
	struct str dir, name;
	char path[4096];

	if (e->state != REG_LOST || !str_cut_last(e->socket, '/', &dir, &name) || dir.n >= sizeof(path))
		return false;
	(void)snprintf(path, sizeof(path), "%.*s", (int)dir.n, dir.p);
	return kept_dir_ended(path, false, why);
}

/* A supervisor that goes by itself takes its socket along; one that was killed leaves its name. */
static bool went_by_itself(const struct reg_entry *e)
{
	char why[KEPT_NOTE_MAX];

	return e->state == REG_LOST && e->socket.n && access(e->socket.p, F_OK) < 0 && !told_why(e, why);
}

/* The truth first: who is gone is marked so, and who went in peace is no news. */
static int look_at_all(struct look *l, struct err *e)
{
	struct reg_reaped reaped;
	const struct reg_filter all = { 0 };
	size_t kept = 0;
	int r = engine_registry(l->g, &l->reg, e);

	arena_init(&l->a, LIVE_ARENA_MAX);
	if (r >= 0)
		r = unless_full(registry_reap(l->reg, &reaped, e), e);
	if (r >= 0)
		r = registry_list(l->reg, &all, &l->a, &l->v, &l->n, e);
	if (r >= 0) {
		r = own_list(l->g, &l->a, &l->v, &l->n, e);
		if (r < 0 && l->missed) {
			*l->missed = *e;
			*e = (struct err){ 0 };
			r = 0;
		}
	}
	for (size_t i = 0; r >= 0 && i < l->n; i++) {
		if (went_by_itself(&l->v[i]))
			r = unless_full(registry_remove(l->reg, l->v[i].key, &l->v[i].supervisor, e), e);
		else if (fits(l->f, &l->v[i]))
			l->v[kept++] = l->v[i];
	}
	l->n = kept;
	return r < 0 ? r : 0;
}

/* Who does not answer is told as what the registry knows of it. */
static void ask(struct look *l, const struct reg_entry *entry, struct live_info *ret, struct box **ret_box)
{
	struct err ignored = { 0 };
	struct box_stat st;
	char dir[4096], why[KEPT_NOTE_MAX];

	*ret = (struct live_info){ .entry = entry };
	*ret_box = NULL;
	if (told_why(entry, why))
		ret->why = arena_str(&l->a, str_z(why)).p;
	if ((entry->scope == SCOPE_JOB || entry->owner) &&
	    (entry->state == REG_READY || entry->state == REG_SPARE)) {
		ret->alive = reg_proc_alive(&entry->supervisor) == REG_ALIVE;
		ret->running = ret->alive && entry->scope == SCOPE_JOB && entry->state == REG_READY;
		/* Of another pid namespace the number is somebody else's here. */
		ret->memory_bytes = ret->alive ? live_memory((pid_t)entry->supervisor.pid) : 0;
		ret->memory_summed = ret->memory_bytes > 0;
		return;
	}
	if (entry->state != REG_READY || reg_proc_stopped(&entry->supervisor) ||
	    engine_session_dir(l->g, entry->key, dir, sizeof(dir), &ignored) < 0 ||
	    kept_open_hasty(str_z(dir), KEPT_HASTY_MS, ret_box, &ignored) < 0)
		return;
	if ((*ret_box)->ops->stat(*ret_box, &st, &ignored) < 0)
		return;
	ret->alive = true;
	ret->running = st.calls;
	ret->memory_bytes = st.memory_bytes;
	if (!ret->memory_bytes && entry->supervisor.pid) {
		ret->memory_bytes = live_memory((pid_t)entry->supervisor.pid);
		ret->memory_summed = ret->memory_bytes > 0;
	}
	ret->cpu_us = st.user_us + st.sys_us;
}

/* With scope agent or shared, a session's sandbox was made by another, whose name it has. */
static struct str shared_key(struct engine *g, struct str session, struct arena *a)
{
	struct decision *d = session.n ? ARENA_NEW(a, struct decision) : NULL;
	struct request r = { .via = VIA_CLI, .auth = AUTH_LOCAL, .session_key = session, .facts = g->facts };
	struct err ignored = { 0 };

	if (!d || decide(&g->config, &r, a, d, &ignored) < 0)
		return (struct str){ 0 };
	return d->place.scope == SCOPE_AGENT || d->place.scope == SCOPE_SHARED ? d->place.key
									       : (struct str){ 0 };
}

int live_list(struct engine *g, const struct live_filter *given, live_fn *each, void *ctx, struct err *e)
{
	_cleanup_arena_ struct arena a = { 0 };
	struct live_filter f = *given;
	struct err missed = { 0 };
	_cleanup_(look_done) struct look l = { .g = g, .f = &f, .missed = &missed };
	int r;

	arena_init(&a, LIVE_ARENA_MAX);
	f.used = shared_key(g, f.session, &a);
	r = look_at_all(&l, e);

	for (size_t i = 0; r == 0 && i < l.n; i++) {
		struct live_info info;
		struct box *box;

		ask(&l, &l.v[i], &info, &box);
		r = each(ctx, &info);
		(void)box_close(box);
	}
	/* That there may be more is told when the others have been. */
	if (r == 0 && missed.kind != ERR_NONE) {
		*e = missed;
		return -(int)missed.kind;
	}
	return r;
}

/* ---- one of them ---- */

static void put_jobs(struct box *box, struct arena *a, struct jsonw *w)
{
	struct jobs_info *v = ARENA_ARRAY(a, struct jobs_info, JOBS_LIVE_MAX + JOBS_ENDED_MAX);
	struct err ignored = { 0 };
	size_t n = 0;

	jsonw_karr(w, "processes");
	if (box)
		box->jobs_any = true;
	if (box && box->jobs && v &&
	    box->jobs->list(box, v, JOBS_LIVE_MAX + JOBS_ENDED_MAX, &n, &ignored) >= 0)
		for (size_t i = 0; i < n; i++) {
			jsonw_obj(w);
			jsonw_kz(w, "id", v[i].id);
			jsonw_kz(w, "command", v[i].text);
			jsonw_kbool(w, "running", v[i].running);
			jsonw_ku64(w, "pid", (uint64_t)v[i].pid);
			jsonw_ku64(w, "started_ms", v[i].started_ms);
			jsonw_obj_end(w);
		}
	jsonw_arr_end(w);
}

static void put_entry(const struct live_info *info, struct jsonw *w)
{
	const struct reg_entry *e = info->entry;

	jsonw_kstr(w, "key", e->key);
	jsonw_kstr(w, "session", e->session);
	jsonw_kstr(w, "agent", e->agent);
	jsonw_kz(w, "scope", enum_name(scope_names, (int)e->scope));
	jsonw_kz(w, "backend", enum_name(backend_names, (int)e->backend));
	jsonw_kz(w, "state", enum_name(reg_state_names, (int)e->state));
	if (info->why)
		jsonw_kz(w, "why", info->why);
	jsonw_kbool(w, "alive", info->alive);
	jsonw_kstr(w, "workspace", e->workspace);
	jsonw_kstr(w, "socket", e->socket);
	jsonw_kstr(w, "walls", e->profile_digest);
	jsonw_kstr(w, "mounts", e->mounts_digest);
	jsonw_ku64(w, "supervisor", e->supervisor.pid);
	if (e->owner)
		jsonw_ku64(w, "owner", e->owner);
	jsonw_ku64(w, "created_ms", e->created_ms);
	jsonw_ku64(w, "used_ms", e->used_ms);
	jsonw_ku64(w, "warned_ms", e->warned_ms);
	jsonw_ku64(w, "calls", e->calls);
	if (!info->alive)
		return;
	jsonw_ku64(w, "running", info->running);
	jsonw_ku64(w, "memory_bytes", info->memory_bytes);
	jsonw_kz(w, "memory_of", info->memory_summed ? "processes" : info->memory_bytes ? "cgroup" : "");
	jsonw_ku64(w, "cpu_us", info->cpu_us);
}

int live_inspect(struct engine *g, struct str key, struct buf *out, struct err *e)
{
	const struct live_filter all = { 0 };
	_cleanup_(look_done) struct look l = { .g = g, .f = &all };
	const struct reg_entry *found = NULL;
	struct live_info info;
	struct box *box;
	struct jsonw w;
	int r = look_at_all(&l, e);

	if (r < 0)
		return r;
	for (size_t i = 0; i < l.n; i++)
		if (str_eq(l.v[i].key, key) || (!found && str_eq(l.v[i].session, key)))
			found = &l.v[i];
	if (!found)
		return err_set(e, ERR_NOTFOUND,
			       "no sandbox has the key or session '" STR_FMT "'; creel list shows them",
			       STR_ARG(key));
	ask(&l, found, &info, &box);
	jsonw_init(&w, out, 2);
	jsonw_obj(&w);
	put_entry(&info, &w);
	put_jobs(box, &l.a, &w);
	jsonw_obj_end(&w);
	buf_putc(out, '\n');
	(void)box_close(box);
	return out->failed ? err_set(e, ERR_LIMIT, "out of memory") : 0;
}

/* ---- ending them ---- */

static int end_one(struct look *l, const struct live_info *info, const char *what, live_fn *each, void *ctx,
		   struct err *e)
{
	const char *why = info->why ? info->why : "asked for";
	int r = info->entry->owner ? own_end(l->g, info->entry, what, why, e)
				   : kept_end(l->g, info->entry->key, &info->entry->supervisor, what, why, e);

	if (r < 0)
		return r;
	r = each ? each(ctx, info) : 0;
	return r;
}

int live_end(struct engine *g, const struct live_filter *f, bool busy_too, const char *what, live_fn *each,
	     void *ctx, struct err *e)
{
	struct err first = { 0 };
	_cleanup_(look_done) struct look l = { .g = g, .f = f, .missed = &first };
	int r = look_at_all(&l, e), n = 0;

	for (size_t i = 0; r == 0 && i < l.n; i++) {
		struct live_info info;
		struct box *box;

		ask(&l, &l.v[i], &info, &box);
		(void)box_close(box);
		/* Whether a call runs in somebody's own only that process knows. */
		if ((info.running || info.entry->owner) && !busy_too)
			continue;
		r = end_one(&l, &info, what, each, ctx, e);
		n += r >= 0;
		/* One that cannot be ended keeps none of the others alive; it is told at the end. */
		if (r < 0 && e->kind != ERR_NONE) {
			first = first.kind == ERR_NONE ? *e : first;
			*e = (struct err){ 0 };
			r = 0;
		}
	}
	if (r == 0 && first.kind != ERR_NONE) {
		*e = first;
		return -(int)first.kind;
	}
	return r < 0 ? r : n;
}

/* ---- pruning ---- */

/* What its own agent says. */
static int limits_of(struct engine *g, const struct reg_entry *entry, struct arena *a, uint64_t *ret_idle,
		     uint64_t *ret_age, struct err *e)
{
	struct decision *d = ARENA_NEW(a, struct decision);
	struct request r = { .via = VIA_CLI, .auth = AUTH_LOCAL, .agent = entry->agent, .facts = g->facts };
	int rc = d ? decide(&g->config, &r, a, d, e) : err_set(e, ERR_LIMIT, "out of memory");

	if (rc < 0)
		return rc;
	*ret_idle = d->eff.prune_idle_h;
	*ret_age = d->eff.prune_age_d;
	return 0;
}

static int judge_age(struct look *l, const struct prune_opts *o, struct live_info *info, struct err *e)
{
	uint64_t idle = 0, age = 0;
	int r = limits_of(l->g, info->entry, &l->a, &idle, &age, e);

	if (r < 0)
		return r;
	idle = o->idle_hours < 0 ? idle : (uint64_t)o->idle_hours;
	age = o->max_age_days < 0 ? age : (uint64_t)o->max_age_days;
	switch (prune_decide(info->entry, idle, age, info->running,
			     o->now_ms ? o->now_ms : clock_unix_ms())) {
	case PRUNE_IDLE:
		info->why = "idle";
		break;
	case PRUNE_OLD:
		info->why = "old";
		break;
	case PRUNE_KEEP:
	case PRUNE_COUNT_:
		info->why = info->entry->state == REG_LOST ? "lost" : NULL;
		break;
	}
	return 0;
}

int live_prune(struct engine *g, const struct prune_opts *o, live_fn *each, void *ctx, struct err *e)
{
	const struct live_filter all = { 0 };
	_cleanup_(look_done) struct look l = { .g = g, .f = &all };
	int r = look_at_all(&l, e), n = 0;

	for (size_t i = 0; r == 0 && i < l.n; i++) {
		struct live_info info;
		struct box *box;

		if (l.v[i].owner)
			continue; /* it goes with its process */
		ask(&l, &l.v[i], &info, &box);
		(void)box_close(box);
		r = judge_age(&l, o, &info, e);
		if (r < 0 || !info.why)
			continue;
		n++;
		r = o->dry ? (each ? each(ctx, &info) : 0) : end_one(&l, &info, "pruned", each, ctx, e);
	}
	if (r == 0 && !o->dry) {
		job_sweep(g);
		r = live_sweep(g, e);
	}
	if (r >= 0) {
		r = layers_prune(g, o, each, ctx, e);
		n += r < 0 ? 0 : r;
	}
	return r < 0 ? r : n;
}
