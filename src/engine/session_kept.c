/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A sandbox that a supervisor keeps for all processes of this user: found by its key, used while it is what a new one would be, made by
 * one process at a time. Who waits for another that makes it looks again when that is done.
 */
#include "engine/engine_priv.h"

#include "backend/kept.h"
#include "base/clock.h"
#include "base/fd.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#define LOCK_LOOK_MS 20
#define OUST_WAIT_MS 5000u
#define ABSENT_WAIT_MS 500u
#define ROOM_ARENA_MAX ((size_t)256 << 20)

struct making {
	struct session *s;
	struct engine *g;
	struct registry *reg;
	const struct decision *d;
	struct build *b;
	struct arena *a;
	char dir[4096];
	struct reg_lock lock;
	bool locked;
	bool killed; /* the one before was */
};

/* ---- making ---- */

static uint64_t idle_of(const struct decision *d)
{
	return d->place.scope == SCOPE_LEASE && d->place.ttl_s ? d->place.ttl_s : d->eff.keep_s;
}

static int put_info(const struct making *m, const struct reg_entry *entry, struct err *e)
{
	_cleanup_close_ int dir = open(m->dir, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);

	return dir < 0 ? err_sys(e, errno, "open '%s'", m->dir) : registry_info_write(dir, entry, e);
}

/* A supervisor whose maker was killed before he could register it: nobody knows what it holds. It may be of another version. */
static void oust(const struct making *m, bool by_force)
{
	struct err ignored = { 0 };
	struct box *box = NULL;
	pid_t pid;

	if (kept_open_hasty(str_z(m->dir), KEPT_HASTY_MS, &box, &ignored) < 0)
		return;
	pid = kept_peer(box);
	if (!by_force)
		(void)box->ops->stop(box, &ignored);
	else if (pid > 1 && pid != getpid())
		(void)kill(pid, SIGKILL);
	(void)box_close(box);
}

static int start(struct making *m, const struct build_kept *k, pid_t *ret_pid, struct err *e)
{
	uint64_t until = clock_deadline(OUST_WAIT_MS), patient = clock_deadline(OUST_WAIT_MS / 2);
	int r;

	oust(m, false);
	for (;;) {
		r = build_kept(m->b, k, ret_pid, e);
		/* One that is only about to listen, or just about to go. */
		if (r >= 0 || e->kind != ERR_LIMIT || clock_mono_ms() > until)
			return r;
		*e = (struct err){ 0 };
		kept_pause();
		oust(m, clock_mono_ms() > patient);
	}
}

/* Nobody would find it, and nobody should. */
static void give_up(struct making *m, const struct reg_entry *entry, pid_t pid)
{
	struct err ignored = { 0 };
	struct reg_proc self;

	if (m->s->box)
		(void)m->s->box->ops->stop(m->s->box, &ignored);
	else
		(void)kill(pid, SIGTERM);
	m->s->box = box_close(m->s->box);
	kept_forget_dir(m->dir);
	if (reg_proc_self(&self, &ignored) >= 0)
		(void)registry_remove(m->reg, entry->key, &self, &ignored);
	if (m->s->setup.failed)
		kept_record(m->g, "set-up failed", entry->key, "");
}

/*
 * A token for all pairs can name as many sessions as it likes, and each stays for a day. Ours is counted, too: of several that are made at once
 * rather none is than one too many.
 */
static int check_room(struct making *m, struct err *e)
{
	const uint64_t max = m->s->config->base.serve_max_sandboxes;
	_cleanup_arena_ struct arena a = { 0 };
	struct reg_entry *v = NULL;
	uint64_t live = 0;
	size_t n = 0;

	if (max == 0 || m->d->who.via == VIA_CLI || m->d->who.via == VIA_LIBRARY)
		return 0;
	arena_init(&a, ROOM_ARENA_MAX);
	if (registry_list(m->reg, &(struct reg_filter){ 0 }, &a, &v, &n, e) < 0)
		return -1;
	/* Of those that are gone some may still be listed; to look for each takes longer than to count. */
	for (size_t i = 0; n > max && i < n; i++)
		live += v[i].scope != SCOPE_JOB && reg_proc_alive(&v[i].supervisor) == REG_ALIVE;
	if (live <= max)
		return 0;
	return err_set(e, ERR_LIMIT,
		       "%llu sandboxes live already; fix: end one (creel kill, DELETE /v1/sessions), or "
		       "serve.max_sandboxes",
		       (unsigned long long)max);
}

static int make(struct making *m, const char *what, struct err *e)
{
	const struct decision *d = m->d;
	uint64_t now = clock_unix_ms();
	struct reg_entry entry = { .key = d->place.key,
				   .scope = d->place.scope,
				   .session = d->who.session_key,
				   .agent = d->who.agent,
				   .backend = d->place.backend,
				   .state = REG_STARTING,
				   .profile_digest = str_z(m->b->digest.walls),
				   .mounts_digest = str_z(m->b->digest.mounts),
				   .workspace = d->workspace,
				   .created_ms = now,
				   .used_ms = now };
	struct build_kept k = { .dir = str_z(m->dir),
				.idle_s = idle_of(d),
				.durable = str_z(registry_log(m->reg)) };
	pid_t pid = 0;
	int r = reg_proc_self(&entry.supervisor,
			      e); /* until there is one: whoever finds us dead takes over */

	entry.socket = arena_printf(m->a, "%s/socket", m->dir);
	/* It may have been swept away while we waited for the lock; one that was just used is not. */
	if (r >= 0)
		r = engine_session_dir(m->g, entry.key, m->dir, sizeof(m->dir), e);
	if (r >= 0 && utimensat(AT_FDCWD, m->dir, NULL, AT_SYMLINK_NOFOLLOW) < 0)
		r = err_sys(e, errno, "touch '%s'", m->dir);
	if (r >= 0)
		r = registry_put(m->reg, &entry, e);
	if (r < 0)
		return r;
	(void)kept_record_end(m->g, m->dir, entry.key, m->s->ended);
	r = check_room(m, e);
	if (r >= 0)
		r = start(m, &k, &pid, e);
	if (r < 0) {
		struct err ignored = { 0 };

		(void)registry_remove(m->reg, entry.key, &entry.supervisor, &ignored);
		return r;
	}
	r = reg_proc_of(pid, &entry.supervisor, e);
	entry.state = REG_READY;
	if (r >= 0)
		r = kept_open(k.dir, &m->s->box, e);
	if (r >= 0)
		r = setup_run(m->s, d, m->s->box, m->a, e);
	/* From here on others find it. */
	if (r >= 0)
		r = put_info(m, &entry, e);
	if (r >= 0)
		r = registry_put(m->reg, &entry, e);
	if (r < 0) {
		give_up(m, &entry, pid);
		return r;
	}
	kept_record(m->g, what, entry.key, "");
	return 0;
}

/* ---- finding ---- */

static uint64_t running_in(const struct making *m)
{
	struct box *box = NULL;
	struct box_stat st = { 0 };
	struct err ignored = { 0 };
	int r = kept_open(str_z(m->dir), &box, &ignored);

	if (r >= 0)
		r = box->ops->stat(box, &st, &ignored);
	(void)box_close(box);
	return r < 0 ? 0 : st.calls;
}

static struct keep_verdict judge(const struct making *m, const struct reg_entry *old)
{
	struct keep_input in = { .old = old,
				 .walls = str_z(m->b->digest.walls),
				 .mounts = str_z(m->b->digest.mounts),
				 .now_ms = clock_unix_ms() };
	struct keep_verdict v;

	/* A key of one scope may read like one of another: whoever's it is, it is not this one's. */
	if (old->scope != m->d->place.scope)
		in.mounts = STR("");
	if (!str_eq(in.walls, old->profile_digest) || !str_eq(in.mounts, old->mounts_digest))
		in.running = running_in(m);
	keep_decide(&in, &v);
	return v;
}

/* It lives, with work in it perhaps, and nobody of this version can speak to it. To make another would lose sight of it. */
static int refuse_version(struct making *m, struct err *e)
{
	m->s->box = box_close(m->s->box);
	return err_set(e, ERR_UNAVAIL,
		       "the sandbox of '" STR_FMT
		       "' is kept by another version of creel; fix: creel recreate '" STR_FMT
		       "' (processes in it end, files stay)",
		       STR_ARG(m->d->place.key), STR_ARG(m->d->place.key));
}

static int ask_once(struct making *m, uint64_t keeper, bool *ret_hung_up, struct err *e)
{
	struct box_stat st;
	int r = kept_open(str_z(m->dir), &m->s->box, e);

	if (r >= 0 && m->s->box->ops->stat(m->s->box, &st, e) >= 0) {
		m->s->seen = (struct limits_seen){ .oom_kills = st.oom_kills,
						   .pids_refused = st.pids_refused,
						   .looked_ms = clock_mono_ms() };
		return 1;
	}
	if (r >= 0 && e->kind == ERR_PROTO)
		return refuse_version(m, e);
	*ret_hung_up = r >= 0;
	/* Stopped perhaps, or far too busy: what it holds is not lost, and the registry must go on telling of it. */
	if (e->kind == ERR_LIMIT) {
		m->s->box = r < 0 ? NULL : box_close(m->s->box);
		return err_set(
			e, ERR_UNAVAIL,
			"process %llu, which keeps the sandbox of '" STR_FMT
			"', does not answer: it is stopped (then: kill -CONT), or too many speak to it at once; fix: wait, or creel recreate '" STR_FMT
			"' (processes in it end, files stay)",
			(unsigned long long)keeper, STR_ARG(m->d->place.key), STR_ARG(m->d->place.key));
	}
	if (r < 0 && e->kind != ERR_NOTFOUND)
		return r;
	m->s->box = r < 0 ? NULL : box_close(m->s->box);
	*e = (struct err){ 0 };
	return 0;
}

/*
 * One whose sandbox has just ended still listens for a moment: only who answers is there. Who hangs up and stays does not know what we say: that
 * is how one of another version answers what is shorter or longer than it should be. Who does not listen is about to go, or somebody has removed its
 * socket.
 */
static int reach(struct making *m, const struct reg_proc *keeper, struct err *e)
{
	uint64_t until = clock_deadline(OUST_WAIT_MS), soon = clock_deadline(ABSENT_WAIT_MS);
	bool hung_up = false;
	int r;

	while ((r = ask_once(m, keeper->pid, &hung_up, e)) == 0 && reg_proc_alive(keeper) == REG_ALIVE) {
		if (hung_up && clock_mono_ms() > until)
			return refuse_version(m, e);
		if (!hung_up && clock_mono_ms() > soon)
			return 0;
		kept_pause();
		hung_up = false;
	}
	return r;
}

/* Most often somebody stands in another directory than with the call before. */
static int refuse_other_mounts(const struct making *m, const struct reg_entry *old, const char *why,
			       struct err *e)
{
	if (!str_eq(old->workspace, m->d->workspace))
		return err_set(e, ERR_DENIED,
			       "the sandbox of '" STR_FMT "' works on '" STR_FMT
			       "' and was used less than five minutes ago, and this call asks for '" STR_FMT
			       "'; fix: --workspace '" STR_FMT
			       "', or another --session, or creel recreate " STR_FMT,
			       STR_ARG(old->key), STR_ARG(old->workspace), STR_ARG(m->d->workspace),
			       STR_ARG(old->workspace), STR_ARG(old->key));
	return err_set(e, ERR_DENIED,
		       "the sandbox of '" STR_FMT
		       "': %s; fix: wait until it is idle, or end it with creel recreate " STR_FMT,
		       STR_ARG(old->key), why, STR_ARG(old->key));
}

/* 1: s->box is it. 0: there is none that can be used, and *ret_what says how a new one is to be recorded. */
static int use_old(struct making *m, const char **ret_what, struct err *e)
{
	struct reg_entry old;
	struct keep_verdict v;
	int r = registry_find(m->reg, m->d->place.key, m->a, &old, e);

	*ret_what = "created";
	if (r < 0 && e->kind != ERR_NOTFOUND)
		return r;
	/* Who goes by itself takes its socket along. */
	m->killed = r >= 0 && old.state != REG_STARTING && reg_proc_alive(&old.supervisor) == REG_GONE &&
		    old.socket.n && access(old.socket.p, F_OK) == 0;
	if (r < 0 || old.state != REG_READY || reg_proc_alive(&old.supervisor) != REG_ALIVE) {
		*e = (struct err){ 0 };
		return 0;
	}
	v = judge(m, &old);
	if (v.warned_ms != old.warned_ms && registry_set_warned(m->reg, old.key, v.warned_ms, e) < 0)
		return -1;
	if (v.keep == KEEP_REFUSE)
		return refuse_other_mounts(m, &old, v.why, e);
	if (v.keep == KEEP_RECREATE && !m->locked) {
		*ret_what = "recreated";
		return 0;
	}
	if (v.keep == KEEP_RECREATE) {
		*ret_what = "recreated";
		r = kept_end_entry(m->g, &old, NULL, v.why, e);
		return r < 0 ? r : 0;
	}
	m->s->warn = v.keep == KEEP_WARN;
	m->s->warn_until_ms = v.until_ms;
	if (v.tell)
		kept_record(m->g, "outdated", old.key, v.why);
	r = reach(m, &old.supervisor, e);
	/* Nobody can come to it any more. Left alone, it would have the session's layers, and nobody would know of it. */
	if (r == 0 && m->locked && reg_proc_alive(&old.supervisor) == REG_ALIVE)
		r = kept_end_entry(m->g, &old, "ended", "it cannot be reached", e) < 0 ? -1 : 0;
	return r;
}

static bool wait_cancelled(const struct session *s, int ms)
{
	struct pollfd p = { .fd = s->cancel_fd, .events = POLLIN };

	return poll(&p, 1, ms) > 0;
}

/* Looks again each time: who has the lock may be about to make what we want. 1: s->box is it; 0: ours. */
static int take_lock(struct making *m, struct str name, struct err *e)
{
	uint64_t until = clock_deadline(KEPT_LOCK_WAIT_MS + setup_ms(m->d));
	struct reg_holder holder;
	const char *what;
	int r;

	for (;;) {
		r = registry_lock(m->reg, name, KEPT_LOCK_TTL_MS + setup_ms(m->d), &m->lock, &holder, e);
		if (r != 0)
			break;
		if (clock_mono_ms() > until)
			return err_set(e, ERR_LIMIT,
				       "process %llu has been making the sandbox of '" STR_FMT
				       "' for too long",
				       (unsigned long long)holder.proc.pid, STR_ARG(m->d->place.key));
		if (wait_cancelled(m->s, LOCK_LOOK_MS))
			return err_set(e, ERR_UNAVAIL, "cancelled while another process made the sandbox");
		r = use_old(m, &what, e);
		if (r != 0)
			return r;
	}
	m->locked = r > 0;
	return r < 0 ? r : 0;
}

bool kept_is_none(struct session *s, const struct decision *d, struct arena *a)
{
	struct registry *reg;
	struct reg_entry old;
	struct err e = { 0 };

	if (engine_registry(s->engine, &reg, &e) < 0)
		return false;
	if (registry_find(reg, d->place.key, a, &old, &e) < 0)
		return e.kind == ERR_NOTFOUND;
	return old.state == REG_READY && reg_proc_alive(&old.supervisor) == REG_GONE;
}

int kept_sandbox(struct session *s, const struct decision *d, struct build *b, struct arena *a, struct err *e)
{
	struct making m = { .s = s, .g = s->engine, .d = d, .b = b, .a = a };
	struct str name = kept_lock_name(a, d->place.key);
	struct err ignored = { 0 };
	const char *what;
	int r = engine_registry(s->engine, &m.reg, e);

	if (r >= 0)
		r = engine_session_dir(s->engine, d->place.key, m.dir, sizeof(m.dir), e);
	if (r >= 0)
		r = use_old(&m, &what, e);
	if (r > 0)
		s->engine->counts.reused++;
	if (r != 0)
		return r < 0 ? r : 0;
	r = take_lock(&m, name, e);
	if (r == 0)
		r = use_old(&m, &what, e); /* whoever had the lock before us may have made it */
	if (r > 0)
		s->engine->counts.reused++;
	if (r == 0) {
		r = make(&m, what, e);
		if (r >= 0)
			(*(m.killed ? &s->engine->counts.recovered : &s->engine->counts.created))++;
	}
	if (m.locked)
		(void)registry_unlock(m.reg, &m.lock, &ignored);
	return r < 0 ? r : 0;
}
