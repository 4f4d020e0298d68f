/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The end of a sandbox that a supervisor keeps: it is asked to go, and killed when it does not answer. Who was stopped (SIGSTOP) hears nothing, and is
 * woken first, the wardens below it, too: they remove what nobody else would.
 */
#include "engine/engine_priv.h"

#include "backend/kept.h"
#include "base/clock.h"
#include "base/fd.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#define LOOK_MS 20
#define END_WAIT_MS 5000u
#define BELOW_MAX 8 /* wardens of one supervisor: two */

void kept_pause(void)
{
	const struct timespec t = { .tv_nsec = LOOK_MS * 1000000L };

	(void)nanosleep(&t, NULL);
}

/* ---- what happened, for the log; not what a call waits for ---- */

void kept_record(struct engine *g, const char *what, struct str key, const char *why)
{
	const struct audit_field f[] = { { "key", key }, { "why", str_z(why) } };
	struct audit *audit;
	struct err ignored = { 0 };

	if (engine_audit(g, &audit, &ignored) >= 0)
		(void)audit_event(audit, AUDIT_SANDBOX, what, f, 2, &ignored);
}

/* ---- the wardens below it ---- */

struct wardens {
	int fd[BELOW_MAX];
	size_t n;
};

static void let_go(struct wardens *w)
{
	for (size_t i = 0; i < w->n; i++)
		(void)fd_close(w->fd[i]);
}

static void signal_one(int pidfd, int signo)
{
	(void)syscall(SYS_pidfd_send_signal, pidfd, signo, NULL, 0);
}

static bool is_among(pid_t pid, const pid_t *v, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (v[i] == pid)
			return true;
	return false;
}

/* Asked again with the processes in hand: a number may have become somebody else's. */
static void hold_children(pid_t above, struct wardens *w)
{
	pid_t v[BELOW_MAX], again[BELOW_MAX];
	int fd[BELOW_MAX];
	size_t n = live_children(above, v, BELOW_MAX), n_again;

	for (size_t i = 0; i < n; i++)
		fd[i] = (int)syscall(SYS_pidfd_open, v[i], 0);
	n_again = live_children(above, again, BELOW_MAX);
	for (size_t i = 0; i < n; i++)
		if (fd[i] >= 0 && w->n < BELOW_MAX && is_among(v[i], again, n_again))
			w->fd[w->n++] = fd[i];
		else
			(void)fd_close(fd[i]);
}

/* The one outside, and pid 1 below it. What runs in the sandbox goes with them. */
static void hold_wardens(const struct reg_proc *p, struct wardens *ret)
{
	pid_t outside[BELOW_MAX];
	size_t n = live_children((pid_t)p->pid, outside, BELOW_MAX);

	*ret = (struct wardens){ .n = 0 };
	if (reg_proc_alive(p) != REG_ALIVE)
		return;
	hold_children((pid_t)p->pid, ret);
	for (size_t i = 0; i < n; i++)
		hold_children(outside[i], ret);
}

static bool has_ended(int pidfd, uint64_t until)
{
	struct pollfd p = { .fd = pidfd, .events = POLLIN };

	return poll(&p, 1, clock_poll_ms(until)) > 0;
}

/* They hear that their keeper has gone, and tidy up. One that does not is killed, and then nothing runs in there any more. */
static void see_off(const struct wardens *w)
{
	uint64_t until = clock_deadline(END_WAIT_MS);

	for (size_t i = 0; i < w->n; i++)
		signal_one(w->fd[i], SIGCONT);
	for (size_t i = 0; i < w->n; i++)
		if (!has_ended(w->fd[i], until))
			signal_one(w->fd[i], SIGKILL);
	until = clock_deadline(END_WAIT_MS);
	for (size_t i = 0; i < w->n; i++)
		(void)has_ended(w->fd[i], until);
}

/* Who was stopped hears nothing. */
static void wake(const struct reg_proc *p, const struct wardens *w)
{
	_cleanup_close_ int fd = (int)syscall(SYS_pidfd_open, (pid_t)p->pid, 0);

	if (fd >= 0 && reg_proc_alive(p) == REG_ALIVE)
		signal_one(fd, SIGCONT);
	for (size_t i = 0; i < w->n; i++)
		signal_one(w->fd[i], SIGCONT);
}

/* ---- ending ---- */

/* One that does not answer is killed; everything in its sandbox goes with it. */
static int kill_supervisor(const struct reg_proc *p, struct err *e)
{
	_cleanup_close_ int fd = FD_NONE;
	uint64_t until = clock_deadline(END_WAIT_MS);

	if (p->pid == 0 || reg_proc_alive(p) == REG_GONE)
		return 0;
	if (reg_proc_alive(p) == REG_UNKNOWN)
		return err_set(
			e, ERR_UNAVAIL,
			"process %llu, which keeps the sandbox, is in another pid namespace (a container?) and cannot be ended from here; "
			"fix: the same command there",
			(unsigned long long)p->pid);
	fd = (int)syscall(SYS_pidfd_open, (pid_t)p->pid, 0);
	/* Asked again with the process in hand: the number is its own as long as it is held. */
	if (fd >= 0 && reg_proc_alive(p) == REG_ALIVE)
		signal_one(fd, SIGKILL);
	while (reg_proc_alive(p) == REG_ALIVE && clock_mono_ms() < until)
		kept_pause();
	return reg_proc_alive(p) == REG_ALIVE
		       ? err_set(e, ERR_UNAVAIL, "process %llu, which keeps the sandbox, does not end",
				 (unsigned long long)p->pid)
		       : 0;
}

static int kill_all(const struct reg_proc *p, const struct wardens *w, struct err *e)
{
	int r = kill_supervisor(p, e);

	if (r >= 0)
		see_off(w);
	return r;
}

int own_end(struct engine *g, const struct reg_entry *entry, const char *what, const char *why, struct err *e)
{
	int r = kill_supervisor(&entry->supervisor, e);

	if (r >= 0 && what)
		kept_record(g, what, entry->key, why);
	return r;
}

bool kept_record_end(struct engine *g, const char *dir, struct str key, char why[static KEPT_NOTE_MAX])
{
	if (!kept_dir_ended(dir, true, why))
		return false;
	kept_record(g, "ended", key, why);
	return true;
}

void kept_forget_dir(const char *dir)
{
	_cleanup_close_ int fd = open(dir, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);

	if (fd < 0)
		return;
	(void)unlinkat(fd, REGISTRY_INFO, 0);
	(void)unlinkat(fd, "socket", 0);
}

/* True when it has gone: it has hung up, or nobody listens. */
static bool ask_to_go(const char *dir, struct err *e)
{
	struct box *box = NULL;
	struct box_stat st;
	bool gone;
	int r = kept_open_hasty(str_z(dir), KEPT_HASTY_MS, &box, e);

	/* Whether it answers at all; to go may take longer. */
	if (r >= 0 && box->ops->stat(box, &st, e) < 0 && e->kind == ERR_LIMIT)
		r = -1;
	if (r >= 0)
		r = box->ops->stop(box, e);
	gone = r >= 0 ? e->kind != ERR_PROTO : e->kind == ERR_NOTFOUND;
	(void)box_close(box);
	return gone;
}

int kept_end_entry(struct engine *g, const struct reg_entry *entry, const char *audit_what, const char *why,
		   struct err *e)
{
	_cleanup_(let_go) struct wardens wardens = { .n = 0 };
	struct registry *reg;
	char dir[4096], note[KEPT_NOTE_MAX];
	/* With the lock in our hands, one that is "starting" was left by a maker who gave up or died. */
	enum reg_alive alive = entry->state == REG_STARTING ? REG_GONE : reg_proc_alive(&entry->supervisor);
	bool lived = alive != REG_GONE, seen_off = false;
	bool job = entry->scope == SCOPE_JOB; /* nobody listens, and there is no directory */
	int r = engine_registry(g, &reg, e);

	if (r >= 0 && !job)
		r = engine_session_dir(g, entry->key, dir, sizeof(dir), e);
	if (r < 0)
		return r;
	if (lived && !job) {
		hold_wardens(&entry->supervisor, &wardens);
		wake(&entry->supervisor, &wardens);
		seen_off = ask_to_go(dir, e);
	}
	*e = (struct err){ 0 };
	r = lived && !(seen_off && alive == REG_UNKNOWN) ? kill_all(&entry->supervisor, &wardens, e) : 0;
	if (r < 0)
		return r;
	if (!job) {
		(void)kept_record_end(g, dir, entry->key, note);
		kept_forget_dir(dir);
	}
	r = unless_full(registry_remove(reg, entry->key, &entry->supervisor, e), e);
	if (r >= 0 && audit_what)
		kept_record(g, audit_what, entry->key, why);
	return r < 0 ? r : lived;
}

struct str kept_lock_name(struct arena *a, struct str key)
{
	return arena_printf(a, "sandbox:%.*s", (int)key.n, key.p);
}

/* The entry as it is by now. Without the lock, one that is just being made has its maker in the place of a supervisor, and is left alone. */
static int end_as_it_is(struct engine *g, struct str key, const struct reg_proc *only, bool locked,
			const char *what, const char *why, struct err *e)
{
	_cleanup_arena_ struct arena a = { 0 };
	struct registry *reg;
	struct reg_entry now;
	int r = engine_registry(g, &reg, e);

	arena_init(&a, (size_t)1 << 20);
	if (r >= 0)
		r = registry_find(reg, key, &a, &now, e);
	if (r < 0 && e->kind == ERR_NOTFOUND) {
		*e = (struct err){ 0 };
		return 0;
	}
	if (r < 0 || memcmp(&now.supervisor, only, sizeof(*only)) != 0 ||
	    (!locked && now.state != REG_READY && now.state != REG_SPARE))
		return r < 0 ? r : 0;
	return kept_end_entry(g, &now, what, why, e);
}

/* Under its lock. A disk that is full, by what runs in it perhaps, takes no lock, and must not keep anybody from ending it. */
int kept_end(struct engine *g, struct str key, const struct reg_proc *only, const char *what, const char *why,
	     struct err *e)
{
	_cleanup_arena_ struct arena a = { 0 };
	uint64_t until = clock_deadline(KEPT_LOCK_WAIT_MS);
	struct err ignored = { 0 };
	struct registry *reg;
	struct reg_lock lock;
	int r = engine_registry(g, &reg, e);

	arena_init(&a, (size_t)1 << 20);
	if (r < 0)
		return r;
	while ((r = registry_lock(reg, kept_lock_name(&a, key), KEPT_LOCK_TTL_MS, &lock, NULL, e)) == 0) {
		if (clock_mono_ms() > until)
			return err_set(e, ERR_LIMIT,
				       "another process has been making the sandbox of '" STR_FMT
				       "' for too long",
				       STR_ARG(key));
		kept_pause();
	}
	if (r < 0)
		return unless_full(r, e) < 0 ? r : end_as_it_is(g, key, only, false, what, why, e);
	r = end_as_it_is(g, key, only, true, what, why, e);
	(void)registry_unlock(reg, &lock, &ignored);
	return r;
}
