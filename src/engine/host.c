/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The place that is none: programs of a call that was decided to run on the host, as whoever asked, without any wall. Each leads a session of its
 * own; what stays in its process group is ended with it, and what left the group is not ours to find.
 */
#include "engine/engine_priv.h"

#include "backend/files_dir.h"
#include "base/clock.h"
#include "base/fd.h"
#include "base/proc.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/timerfd.h>
#include <sys/wait.h>
#include <unistd.h>

#define CALLS_MAX 64u

struct host_call {
	uint64_t id; /* 0 = free */
	struct proc proc;
	bool keep, cancelled, late;
	uint64_t began_us, deadline_ms, kill_ms; /* CLOCK_NEVER = none */
	uint64_t grace_ms;
	struct err failed; /* it did not start, and nobody was told yet */
};

struct host {
	struct box box;
	int epoll, timer, root, work;
	struct files_dir files;
	uint64_t last_id;
	struct host_call calls[CALLS_MAX];
};

static struct host *host_of(const struct box *b)
{
	union {
		const struct box *in;
		struct host *out;
	} u = { .in = b }; /* the first member */

	return u.out;
}

static struct host_call *find(struct host *h, uint64_t id)
{
	for (size_t i = 0; i < CALLS_MAX; i++)
		if (h->calls[i].id == id)
			return &h->calls[i];
	return NULL;
}

/* ---- starting ---- */

/* As execvp() looks for it, but in the PATH of the call. */
static int find_program(struct arena *a, struct str name, struct str path, const char **ret)
{
	struct str dir;
	int r = -ENOENT;

	*ret = arena_str(a, name).p;
	if (memchr(name.p, '/', name.n))
		return 0;
	while (path.n || r == -ENOENT) {
		struct str full;
		struct stat st;

		if (!str_cut(path, ':', &dir, &path)) {
			dir = path;
			path = (struct str){ 0 };
		}
		full = arena_printf(a, "%.*s/%.*s", (int)dir.n, dir.p, (int)name.n, name.p);
		if (dir.n && stat(full.p, &st) == 0 && S_ISREG(st.st_mode)) {
			r = access(full.p, X_OK) == 0 ? 0 : -EACCES;
			*ret = full.p;
		}
		if (r == 0 || !path.n)
			break;
	}
	return r;
}

static char **vector(struct arena *a, struct strs list)
{
	char **v = ARENA_ARRAY(a, char *, list.n + 1);

	for (size_t i = 0; v && i < list.n; i++) {
		struct str z = arena_str(a, list.v[i]);

		memcpy(&v[i], &z.p, sizeof(z.p));
	}
	return v;
}

static int spawn(struct host *h, const struct box_call *c, struct proc *ret, struct err *e)
{
	_cleanup_arena_ struct arena a = { 0 };
	struct proc_spec spec = { .fds = c->stdio, .n_fds = 3, .new_session = true };
	char here[64];
	const char *program = NULL;
	int r;

	arena_init(&a, (size_t)16 << 20);
	(void)snprintf(here, sizeof(here), "/proc/self/fd/%d", h->work);
	r = find_program(&a, c->argv.v[0], c->path, &program);
	spec.path = program;
	spec.argv = vector(&a, c->argv);
	spec.envp = vector(&a, c->env);
	spec.cwd = here;
	if (c->cwd.n)
		spec.cwd = c->cwd.p[0] == '/' ? arena_str(&a, c->cwd).p
					      : arena_printf(&a, "%s/%.*s", here, (int)c->cwd.n, c->cwd.p).p;
	if (a.failed)
		return err_set(e, ERR_LIMIT, "the command and its environment are too large");
	if (r >= 0)
		r = proc_spawn(&spec, ret);
	if (r == -ENOENT)
		return err_set(e, ERR_NOTFOUND, "'" STR_FMT "': command not found", STR_ARG(c->argv.v[0]));
	if (r == -EACCES)
		return err_set(e, ERR_DENIED, "'" STR_FMT "': cannot be executed", STR_ARG(c->argv.v[0]));
	return r < 0 ? err_sys(e, -r, "'" STR_FMT "'", STR_ARG(c->argv.v[0])) : 0;
}

static void end_group(const struct host_call *c, int signo)
{
	if (c->proc.pid > 1)
		(void)kill(-c->proc.pid, signo);
}

/* What has to be done next, and when. */
static uint64_t serve_deadlines(struct host *h)
{
	uint64_t now = clock_mono_ms(), next = CLOCK_NEVER;

	for (size_t i = 0; i < CALLS_MAX; i++) {
		struct host_call *c = &h->calls[i];

		if (!c->id)
			continue;
		if (c->deadline_ms <= now) {
			c->late = true;
			c->deadline_ms = CLOCK_NEVER;
			c->kill_ms = now + c->grace_ms;
			if (c->grace_ms)
				end_group(c, SIGTERM);
		}
		if (c->kill_ms <= now) {
			end_group(c, SIGKILL);
			c->kill_ms = CLOCK_NEVER;
		}
		next = c->deadline_ms < next ? c->deadline_ms : next;
		next = c->kill_ms < next ? c->kill_ms : next;
	}
	return next;
}

/* Whoever waits on our descriptor has to be woken at a deadline, too. Zero is at once. */
static void set_timer(struct host *h, uint64_t at_ms)
{
	const struct itimerspec at = { .it_value = { .tv_sec = (time_t)(at_ms / 1000),
						     .tv_nsec =
							     at_ms ? (long)(at_ms % 1000) * 1000000 : 1 } };
	const struct itimerspec off = { 0 };

	(void)timerfd_settime(h->timer, TFD_TIMER_ABSTIME, at_ms == CLOCK_NEVER ? &off : &at, NULL);
}

static int host_exec(struct box *b, const struct box_call *c, uint64_t *ret_id, struct err *e)
{
	struct host *h = host_of(b);
	struct host_call *slot = find(h, 0);
	struct epoll_event want = { .events = EPOLLIN };
	int r;

	if (c->argv.n == 0 || c->argv.v[0].n == 0)
		return err_set(e, ERR_USAGE, "no command");
	if (c->pty)
		return err_set(e, ERR_UNAVAIL, "pty: a call on the host has no terminal of its own");
	if (!slot) {
		(void)err_set(e, ERR_LIMIT, "%u calls run on the host already", CALLS_MAX);
		return -EAGAIN;
	}
	*slot = (struct host_call){
		.proc = PROC_NONE, .keep = c->keep, .kill_ms = CLOCK_NEVER, .grace_ms = c->grace_ms
	};
	slot->deadline_ms = c->deadline_ms ? clock_deadline(c->deadline_ms) : CLOCK_NEVER;
	slot->began_us = clock_mono_ns() / 1000;
	r = spawn(h, c, &slot->proc, &slot->failed);
	slot->id = *ret_id = ++h->last_id;
	if (r < 0) {
		set_timer(h, 0);
		return 0;
	}
	if (slot->deadline_ms != CLOCK_NEVER)
		set_timer(h, serve_deadlines(h));
	want.data.u64 = slot->id;
	if (epoll_ctl(h->epoll, EPOLL_CTL_ADD, slot->proc.pidfd, &want) < 0) {
		proc_done(&slot->proc);
		slot->id = 0;
		return err_sys(e, errno, "epoll");
	}
	return 0;
}

/* ---- hearing ---- */

static uint64_t to_us(struct timeval t)
{
	return (uint64_t)t.tv_sec * 1000000 + (uint64_t)t.tv_usec;
}

static void fill_end(struct host_call *c, int status, const struct rusage *used, struct box_event *ret)
{
	int value = WIFEXITED(status) ? WEXITSTATUS(status) : WTERMSIG(status);

	*ret = (struct box_event){ .kind = BOX_ENDED, .call = c->id, .fd = FD_NONE };
	ret->end = (struct box_end){ .reason = WIFEXITED(status) ? BOX_EXITED : BOX_SIGNALED,
				     .value = value,
				     .wall_us = clock_mono_ns() / 1000 - c->began_us,
				     .user_us = to_us(used->ru_utime),
				     .sys_us = to_us(used->ru_stime),
				     .peak_kib = (uint64_t)used->ru_maxrss };
	if (c->late || c->cancelled) {
		ret->end.reason = c->late ? BOX_TIMEOUT : BOX_CANCELLED;
		ret->end.value = WIFEXITED(status) ? value : 128 + value;
	}
}

/* The group is signalled before its leader is reaped: until then its number is nobody else's. */
static bool reap(struct host *h, struct host_call *c, struct box_event *ret)
{
	struct rusage used = { 0 };
	siginfo_t info = { 0 };
	int status;

	if (waitid(P_PIDFD, (id_t)c->proc.pidfd, &info, WEXITED | WNOHANG | WNOWAIT) < 0 || info.si_pid == 0)
		return false;
	if (!c->keep)
		end_group(c, SIGKILL);
	if (wait4(c->proc.pid, &status, 0, &used) < 0)
		status = SIGKILL;
	(void)epoll_ctl(h->epoll, EPOLL_CTL_DEL, c->proc.pidfd, NULL);
	c->proc.pid = 0;
	c->proc.pidfd = fd_close(c->proc.pidfd);
	fill_end(c, status, &used, ret);
	c->id = 0;
	return true;
}

static bool tell_failed(struct host *h, struct box_event *ret)
{
	for (size_t i = 0; i < CALLS_MAX; i++) {
		struct host_call *c = &h->calls[i];

		if (!c->id || c->failed.kind == ERR_NONE)
			continue;
		*ret = (struct box_event){
			.kind = BOX_FAILED, .call = c->id, .fd = FD_NONE, .err = c->failed
		};
		c->id = 0;
		return true;
	}
	return false;
}

static int host_next(struct box *b, bool wait, struct box_event *ret, struct err *e)
{
	struct host *h = host_of(b);

	for (;;) {
		struct epoll_event ev;
		struct host_call *c;
		int n;

		set_timer(h, serve_deadlines(h));
		if (tell_failed(h, ret))
			return 1;
		n = epoll_wait(h->epoll, &ev, 1, wait ? -1 : 0);
		if (n < 0 && errno != EINTR)
			return err_sys(e, errno, "wait for the host's programs");
		c = n > 0 && ev.data.u64 ? find(h, ev.data.u64) : NULL;
		if (c && reap(h, c, ret))
			return 1;
		if (n <= 0 && !wait)
			return -EAGAIN;
	}
}

static int host_fd(const struct box *b)
{
	return host_of(b)->epoll;
}

/* ---- the rest ---- */

static int host_signal(struct box *b, uint64_t id, int signo, struct err *e)
{
	struct host_call *c = id ? find(host_of(b), id) : NULL;

	if (!c)
		return err_set(e, ERR_NOTFOUND, "there is no call %llu", (unsigned long long)id);
	end_group(c, signo);
	return 0;
}

static int host_cancel(struct box *b, uint64_t id, int signo, struct err *e)
{
	struct host_call *c = id ? find(host_of(b), id) : NULL;

	if (c && !signo)
		c->cancelled = true;
	return host_signal(b, id, signo ? signo : SIGKILL, e);
}

static int host_files(struct box *b, struct files **ret, struct err *e)
{
	(void)e;
	*ret = &host_of(b)->files.files;
	return 0;
}

static int host_stat(struct box *b, struct box_stat *ret, struct err *e)
{
	struct host *h = host_of(b);

	(void)e;
	*ret = (struct box_stat){ 0 };
	for (size_t i = 0; i < CALLS_MAX; i++)
		ret->calls += h->calls[i].id != 0;
	return 0;
}

static int host_stop(struct box *b, struct err *e)
{
	struct host *h = host_of(b);

	(void)e;
	for (size_t i = 0; i < CALLS_MAX; i++)
		if (h->calls[i].id) {
			end_group(&h->calls[i], SIGKILL);
			proc_done(&h->calls[i].proc);
			h->calls[i].id = 0;
		}
	return 0;
}

static void host_close(struct box *b)
{
	struct host *h = host_of(b);
	struct err ignored = { 0 };

	(void)host_stop(b, &ignored);
	(void)fd_close(h->epoll);
	(void)fd_close(h->timer);
	(void)fd_close(h->root);
	(void)fd_close(h->work);
	free(h);
}

static const struct box_ops host_ops = { .name = "host",
					 .exec = host_exec,
					 .cancel = host_cancel,
					 .signal = host_signal,
					 .fd = host_fd,
					 .next = host_next,
					 .files = host_files,
					 .stat = host_stat,
					 .stop = host_stop,
					 .close = host_close };

int host_open(struct str workdir, struct box **ret, struct err *e)
{
	struct host *h = calloc(1, sizeof(*h));
	struct epoll_event want = { .events = EPOLLIN };
	_cleanup_free_ char *path = NULL;

	if (!h || str_dupz(workdir, &path) < 0) {
		free(h);
		return err_set(e, ERR_USAGE, "the workspace's name holds a NUL byte");
	}
	h->box.ops = &host_ops;
	h->epoll = epoll_create1(EPOLL_CLOEXEC);
	h->root = open("/", O_PATH | O_DIRECTORY | O_CLOEXEC);
	h->work = open(path, O_PATH | O_DIRECTORY | O_CLOEXEC);
	h->timer = timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC | TFD_NONBLOCK);
	if (h->epoll < 0 || h->root < 0 || h->work < 0 || h->timer < 0 ||
	    epoll_ctl(h->epoll, EPOLL_CTL_ADD, h->timer, &want) < 0) {
		(void)err_sys(e, errno, "workspace '" STR_FMT "'", STR_ARG(workdir));
		host_close(&h->box);
		return -1;
	}
	files_dir_init(&h->files, h->root, h->work);
	*ret = &h->box;
	return 0;
}
