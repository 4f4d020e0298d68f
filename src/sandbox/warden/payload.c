/* SPDX-License-Identifier: Apache-2.0 */
/* Starting the payload, waiting for it, and saying how it ended. */
#include "sandbox/warden/warden.h"

#include <asm/ioctls.h>
#include <linux/capability.h>
#include <linux/fcntl.h>
#include <linux/mman.h>
#include <linux/poll.h>
#include <linux/prctl.h>
#include <linux/resource.h>
#include <linux/sched.h>
#include <linux/signal.h>
#include <linux/time.h>
#include <linux/wait.h>

#define SIG_ALL (~0ull)
#define END_TICKS 200

SPARSE(1)
static char *argv_[PLAN_MAX_ARGS + 1] __attribute__((aligned(4096))),
	*env_[PLAN_MAX_ARGS + 1] __attribute__((aligned(4096))); /* pages that are not used cost nothing */
SPARSE(0) static char child_stack[32768] __attribute__((aligned(4096)));

/* The plan, where the tasks beside us stood, the arguments, and where the payload's process stood before it was executed. */
void started_forget(struct warden *w)
{
	plan_forget(w);
	tasks_forget();
	pages_forget(argv_, sizeof(argv_));
	pages_forget(env_, sizeof(env_));
	pages_forget(child_stack, sizeof(child_stack));
}

static long fill(struct warden *w, char **out, uint32_t at, uint32_t n)
{
	const char *base = (const char *)w->plan + at;

	if (n > PLAN_MAX_ARGS || at % 4 || at > w->plan->size || (uint64_t)n * 4 > w->plan->size - at)
		return -E2BIG;
	for (uint32_t i = 0; i < n; i++) {
		uint32_t offset;
		const char *s;

		memcpy(&offset, base + 4ul * i, 4);
		s = plan_str(w, offset);
		memcpy(&out[i], &s, sizeof(s));
	}
	out[n] = NULL;
	return 0;
}

/* The search that a shell makes: the first that can be executed; EACCES is remembered, ENOENT is not. */
static long exec_in_path(const char *path, char **argv, char **env)
{
	long err = -ENOENT;
	char full[4096];

	while (*path) {
		size_t at = 0;
		long r;

		while (*path == ':')
			path++;
		for (; *path && *path != ':'; path++)
			if (at + 1 < sizeof(full))
				full[at++] = *path;
		full[at] = '\0';
		text_put(full, sizeof(full), &at, "/");
		text_put(full, sizeof(full), &at, argv[0]);
		if (at + 1 == sizeof(full))
			continue; /* cut: it would be another file's name */
		r = SYS3(execve, full, argv, env);
		if (r != -ENOENT && r != -ENOTDIR)
			err = r;
		if (r == -ENOEXEC || r == -E2BIG)
			return r;
	}
	return err;
}

long exec_program(const char *path, char **argv, char **env)
{
	return *path ? exec_in_path(path, argv, env) : SYS3(execve, argv[0], argv, env);
}

static long keep_capabilities(uint32_t kept)
{
	struct __user_cap_header_struct head = { .version = _LINUX_CAPABILITY_VERSION_3 };
	struct __user_cap_data_struct data[2] = { { kept, kept, 0 }, { 0 } };

	return SYS2(capset, &head, data);
}

long become_payload(const struct plan_header *p)
{
	long r = 0;

	if (p->flags & PLAN_F_TWO_USERS) {
		r = SYS2(getgroups, 0, 0); /* none: pid 1 has given up its own, and giving up takes longer */
		if (r > 0)
			r = SYS2(setgroups, 0, 0);
		if (r >= 0)
			r = SYS3(setresgid, p->inner_gid, p->inner_gid, p->inner_gid);
		if (r >= 0)
			r = SYS3(setresuid, p->inner_uid, p->inner_uid, p->inner_uid);
	}
	if (r >= 0)
		r = keep_capabilities(0);
	return r;
}

/* No signal stops us for it: all are blocked. */
static long set_foreground(const struct warden *w, int group)
{
	return SYS3(ioctl, w->tty_fd, TIOCSPGRP, &group);
}

/* A session of its own; with a terminal, a group of its own in the session that pid 1 leads. */
static long take_session(const struct warden *w)
{
	long r = w->tty_fd < 0 ? SYS0(setsid) : SYS2(setpgid, 0, 0);

	if (w->tty_fd < 0)
		return r;
	if (r >= 0 && w->tty_flags & TTY_F_FOREGROUND)
		r = set_foreground(w, (int)SYS0(getpid));
	for (int fd = 0; fd <= 2 && r >= 0; fd++)
		if (w->tty_flags & 1u << fd)
			r = SYS3(dup3, w->tty_fd, fd, 0);
	return r;
}

/* Shares our memory until it executes: it may write into *w->said and nothing else. */
static int child(void *arg)
{
	struct warden *w = arg;
	uint64_t no_signals = 0;
	long r;

	cpus_any();
	r = take_session(w);
	if (r >= 0)
		r = become_payload(w->plan);
	if (r >= 0)
		r = SYS3(close_range, 3, ~0u,
			 0); /* a table of our own since the clone: pid 1 keeps its descriptors */
	if (r < 0) {
		w->said->step = STEP_COUNT_;
		w->said->err = r;
		return 125;
	}
	w->said->probes = probe_all(w);
	if ((w->said->probes & w->plan->probes) != w->plan->probes) {
		w->said->step = STEP_COUNT_ + 1;
		w->said->err = -EPERM;
		return 125;
	}
	/* Nothing is executed before the host's tree has gone; everything until here had no need to wait for that. */
	r = task_result(&w->detach);
	if (r < 0) {
		w->said->step = STEP_COUNT_ + 2;
		w->said->err = r;
		return 125;
	}
	SYS4(rt_sigprocmask, SIG_SETMASK, &no_signals, 0, 8);
	SYS1(umask, w->umask);
	w->said->step = STEP_COUNT_ + 3;
	if (w->plan->flags & PLAN_F_SERVE)
		return 0; /* the walls hold: that is all */
	w->said->err = exec_program(w->plan->path ? plan_str(w, w->plan->path) : "", argv_, env_);
	return 127;
}

/*
 * Memory was shared with the child until it was executed, and changing its user made that memory as dumpable as
 * fs.suid_dumpable says; from here on nobody else has it. Changing users is over, too.
 */
static void settle(struct warden *w)
{
	long dumpable = SYS5(prctl, PR_GET_DUMPABLE, 0, 0, 0, 0);
	long r = SYS5(prctl, PR_SET_DUMPABLE, 0, 0, 0, 0);

	/* Each later child would show our memory to the calls that run by then, until it is executed. */
	if (dumpable == 1 && w->plan->flags & PLAN_F_SERVE)
		fail(w, 0, -EPERM, "serve calls while fs.suid_dumpable is 1; fix: sysctl fs.suid_dumpable=0");
	if (r >= 0 && w->plan->flags & PLAN_F_TWO_USERS && !(w->plan->flags & PLAN_F_SERVE))
		r = keep_capabilities(1u << CAP_KILL);
	if (r < 0)
		fail(w, 0, r, "close pid 1 to others");
}

/* Before the payload starts: what cannot be watched over must not run. */
void open_signals(struct warden *w)
{
	uint64_t mask = 1ull << (SIGCHLD - 1) | 1ull << (SIGTERM - 1) | 1ull << (SIGNAL_END - 1);
	long fd = SYS4(signalfd4, -1, &mask, 8, O_CLOEXEC | O_NONBLOCK);

	if (fd < 0)
		fail(w, 0, fd, "signalfd");
	w->signals_fd = (int)fd;
}

/*
 * Before Linux 6.2, a process that shares our memory cannot enter a time namespace: there it gets a copy, and one page in
 * common. Either way we are stopped until it has executed or ended.
 */
static long spawn_copy(struct warden *w, int (*fn)(void *))
{
	void *top = child_stack + sizeof(child_stack);
	long pid, page;

	(void)task_result(&w->detach); /* a copy would never see its end */
	page = SYS6(mmap, 0, sizeof(*w->said), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (page < 0 && page > -4096)
		return page;
	w->said = (void *)page; /* an address from the kernel: NOLINT(performance-no-int-to-ptr) */
	pid = spawn_vm(fn, w, top, CLONE_VFORK | SIGCHLD, NULL);
	w->own_said = *w->said;
	w->said = &w->own_said;
	SYS2(munmap, page, sizeof(*w->said));
	return pid;
}

/*
 * Like CLONE_VFORK, but not for ever where there are others: a process of an earlier call may stop the new one (SIGSTOP cannot be
 * blocked) before it is executed. Whoever does that loses the call, and not pid 1.
 */
static int shares_memory; /* 1; the kernel makes it 0 */

bool spawn_shares(void)
{
	return __atomic_load_n(&shares_memory, __ATOMIC_ACQUIRE);
}

void spawn_wait(const struct warden *w, long pid)
{
	const struct __kernel_timespec patience = { .tv_sec = SPAWN_PATIENCE_S };
	const bool serving = w->plan->flags & PLAN_F_SERVE;

	while (spawn_shares())
		if (SYS6(futex, &shares_memory, 0 /* FUTEX_WAIT */, 1, serving ? &patience : 0, 0, 0) ==
		    -ETIMEDOUT)
			SYS2(kill, pid, SIGKILL);
}

/*
 * We sleep until it has executed: begun on our processor it need not wait for another one to wake up, or to be free. Not held there
 * when it runs, nor are we: with CLONE_VFORK we would be, behind a payload that may never let go of it.
 */
static long begin_here(int (*fn)(void *), struct warden *w, bool serving)
{
	long pid;

	if (!serving)
		cpus_stay();
	pid = spawn_vm(fn, w, child_stack + sizeof(child_stack), CLONE_VM | CLONE_CHILD_CLEARTID | SIGCHLD,
		       &shares_memory);
	if (!serving)
		cpus_any();
	return pid;
}

long spawn_begin(struct warden *w, int (*fn)(void *))
{
	const bool serving = w->plan->flags & PLAN_F_SERVE;
	long pid;

	w->own_said = (struct child_said){ 0 };
	w->said = &w->own_said;
	shares_memory = 1;
	pid = begin_here(fn, w, serving);
	if (pid < 0)
		shares_memory = 0;
	return pid == -EINVAL && w->report.time_ns ? spawn_copy(w, fn) : pid;
}

static long spawn_child(struct warden *w, int (*fn)(void *))
{
	long pid = spawn_begin(w, fn);

	if (pid > 0)
		spawn_wait(w, pid);
	return pid;
}

static void fill_command(struct warden *w)
{
	long r = fill(w, argv_, w->plan->argv, w->plan->argc);

	if (r >= 0)
		r = fill(w, env_, w->plan->env, w->plan->envc);
	if (r < 0 || !argv_[0] != !!(w->plan->flags & PLAN_F_SERVE))
		fail(w, 0, r < 0 ? r : -EINVAL, "too many arguments");
}

long payload_start(struct warden *w)
{
	static const char *const why[] = { "become the payload", "a wall did not hold",
					   "take the host's tree away", "exec" };
	long pid;

	fill_command(w);
	life_wait(w, LIFE_READY);
	SYS1(close, w->life[0]);
	if (!w->has_net)
		fail(w, 0, -EINVAL, "the plan does not enter its network namespace");
	open_signals(w);
	pid = spawn_child(w, child);
	if (pid < 0)
		fail(w, 0, pid, "start the payload");
	w->report.probes = w->said->probes;
	w->report.landlock_abi = w->landlock_abi;
	if (w->said->err)
		fail(w, w->said->step, w->said->err, why[(w->said->step - STEP_COUNT_) % 4]);
	(void)task_end(&w->detach);
	settle(w);
	w->report.msg = MSG_READY;
	(void)control_send(&w->report, -1);
	return pid;
}

uint64_t usec(const void *timeval)
{
	const struct __kernel_old_timeval *t = timeval;

	return (uint64_t)t->tv_sec * 1000000u + (uint64_t)t->tv_usec;
}

static void ended(struct warden *w, int status)
{
	struct rusage u = { 0 };

	w->report.msg = MSG_EXIT;
	w->report.reason = (status & 0x7f) ? REASON_SIGNAL : REASON_EXIT;
	w->report.value = (status & 0x7f) ? status & 0x7f : status >> 8 & 0xff;
	if (SYS2(getrusage, RUSAGE_CHILDREN, &u) >= 0) {
		w->report.user_us = usec(&u.ru_utime);
		w->report.sys_us = usec(&u.ru_stime);
		w->report.max_rss_kb = (uint64_t)u.ru_maxrss;
	}
	(void)control_send(&w->report, -1);
}

/* Once until it is answered: a payload that stops and goes on by itself cannot fill the channel. */
static void stopped(struct warden *w, int sig)
{
	const struct warden_report m = { .msg = MSG_STOPPED, .value = sig };

	if (w->told_stopped)
		return;
	w->told_stopped = true;
	(void)control_send(&m, -1);
}

/* Without a terminal nobody waits for it to stop. */
static long wait_next(const struct warden *w, int *status)
{
	return SYS4(wait4, -1, status, w->tty_fd < 0 ? WNOHANG : WNOHANG | WUNTRACED, 0);
}

/*
 * What the payload has left behind ends before anybody hears that it has ended: whoever hears it can look at
 * the files. A fork that is under way fails on the pending signal, so one round reaches everything. A task that cannot die is
 * not waited for forever: -EBUSY, and it ends with us.
 */
static int end_others(const struct warden *w)
{
	struct pollfd p = { .fd = w->signals_fd, .events = POLLIN };
	uint32_t info[32];
	long pid;

	if (SYS4(wait4, -1, 0, WNOHANG, 0) == -ECHILD)
		return 0;
	SYS2(kill, -1, SIGKILL);
	for (int i = 0; i < END_TICKS;) {
		struct __kernel_timespec tick = {
			.tv_nsec = 10000000
		}; /* the kernel leaves in it what is left */

		pid = SYS4(wait4, -1, 0, WNOHANG, 0);
		if (pid < 0)
			return 0;
		if (pid > 0)
			continue;
		i += SYS5(ppoll, &p, 1, &tick, 0, 0) == 0;
		SYS3(read, w->signals_fd, info, sizeof(info));
	}
	return -EBUSY;
}

/* True when the payload itself has ended; orphans are reaped on the way. */
static bool reap(struct warden *w, long payload)
{
	int status = 0;
	long pid;

	while ((pid = wait_next(w, &status)) > 0) {
		if ((status & 0xff) == 0x7f) {
			if (pid == payload)
				stopped(w, status >> 8 & 0xff);
		} else if (pid == payload) {
			w->report.err = -end_others(w);
			ended(w, status);
			return true;
		}
	}
	return false;
}

/* Number, code and sender of a signal from our parent, which has no pid in here. Anybody inside can send one, too. */
bool signal_from_outside(const uint32_t info[32], uint32_t sig)
{
	return info[0] == sig && info[2] == 0 /* SI_USER */ && info[3] == 0;
}

/* False: outside wants the end. */
static bool take_signal(long fd, long payload)
{
	uint32_t info[32] = { 0 }; /* struct signalfd_siginfo */

	while (SYS3(read, fd, info, sizeof(info)) == (long)sizeof(info)) {
		if (signal_from_outside(info, SIGNAL_END))
			return false;
		if (signal_from_outside(info, SIGTERM)) {
			SYS2(kill, -1, SIGTERM);
			SYS2(kill, -payload, SIGCONT);
		}
	}
	return true;
}

/* A shell inside may have given the terminal to a job of its own: then it is in the foreground already. */
static void go_on(struct warden *w, long payload, bool foreground)
{
	int own = (int)SYS1(getpgid, 0), now = 0;

	w->told_stopped = false;
	if (w->tty_fd < 0)
		return;
	if (!foreground)
		(void)set_foreground(w, own);
	else if (SYS3(ioctl, w->tty_fd, TIOCGPGRP, &now) >= 0 && now == own)
		(void)set_foreground(w, (int)payload);
	SYS2(kill, -payload, SIGCONT);
}

/* False: creel wants the end. */
static bool take_message(struct warden *w, long payload)
{
	struct warden_report m;

	while (control_recv(&m, 0x40 /* MSG_DONTWAIT */) == 0) {
		if (m.msg == MSG_END)
			return false;
		if (m.msg == MSG_SIGNAL && m.value > 0 && m.value < 65)
			SYS2(kill, -payload, m.value);
		else if (m.msg == MSG_CONTINUE)
			go_on(w, payload, m.value != 0);
	}
	return true;
}

/* Whoever is ended has used something, too: only we can say how much. */
static int end_all(struct warden *w)
{
	w->report.err = -end_others(w);
	ended(w, SIGKILL);
	return 1;
}

int payload_serve(struct warden *w, long payload)
{
	struct pollfd p[2] = { { .fd = w->signals_fd, .events = POLLIN },
			       { .fd = WARDEN_FD_CONTROL, .events = POLLIN } };
	/* Memory is given back when it is worth it: a program that ends before that would wait for us. */
	struct __kernel_timespec soon = { .tv_nsec = FORGET_MS *
						     1000000 }; /* the kernel leaves in it what is left */
	bool forgotten = false;

	/* The streams are the payload's alone: while we held them too, nobody would see that it has closed them. */
	SYS3(close_range, 0, 2, 0);
	for (;;) {
		if (reap(w, payload))
			return 0;
		if (SYS5(ppoll, p, 2, forgotten ? 0 : &soon, 0, 0) == 0) {
			started_forget(w);
			above_forget();
			forgotten = true;
		}
		if (p[0].revents && !take_signal(w->signals_fd, payload))
			return end_all(w);
		if (p[1].revents & POLLHUP)
			return 1; /* creel is gone: so is everything here */
		if (p[1].revents & POLLIN && !take_message(w, payload))
			return end_all(w);
	}
}
