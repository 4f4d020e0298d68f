/* SPDX-License-Identifier: Apache-2.0 */
#include "base/proc_child.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/futex.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <time.h>

/* The sanitizer keeps what it knows of a stack in memory that belongs to the parent's thread. */
#define ALONE __attribute__((no_sanitize("address")))
#define MOVE_WAITS 200 /* of 10 ms */

#if defined(__x86_64__)
static inline ALONE long call(long n, long a, long b, long c, long d, long e)
{
	register long r10 __asm__("r10") = d;
	register long r8 __asm__("r8") = e;
	long ret;

	__asm__ volatile("syscall"
			 : "=a"(ret)
			 : "a"(n), "D"(a), "S"(b), "d"(c), "r"(r10), "r"(r8)
			 : "rcx", "r11", "memory");
	return ret;
}
#elif defined(__aarch64__)
static inline ALONE long call(long n, long a, long b, long c, long d, long e)
{
	register long x8 __asm__("x8") = n;
	register long x0 __asm__("x0") = a;
	register long x1 __asm__("x1") = b;
	register long x2 __asm__("x2") = c;
	register long x3 __asm__("x3") = d;
	register long x4 __asm__("x4") = e;

	__asm__ volatile("svc 0" : "+r"(x0) : "r"(x8), "r"(x1), "r"(x2), "r"(x3), "r"(x4) : "memory");
	return x0;
}
#else
#error "processes are started on x86-64 and arm64"
#endif

/* Ignored ones too: a child must not inherit that SIGPIPE is nothing. SIGKILL and SIGSTOP refuse. */
static ALONE long reset_signals(void)
{
	const uint64_t dfl[4] = { 0 }, none = 0; /* struct sigaction and the mask, as the kernel has them */

	for (int sig = 1; sig <= 64; sig++)
		(void)call(SYS_rt_sigaction, sig, (long)dfl, 0, sizeof(none), 0);
	return call(SYS_rt_sigprocmask, SIG_SETMASK, (long)&none, 0, sizeof(none), 0);
}

/* Out of the way: `from` or higher. /dev/null for a negative one. */
static ALONE long move_up(long fd, int from)
{
	if (fd < 0)
		fd = call(SYS_openat, AT_FDCWD, (long)"/dev/null", O_RDWR | O_CLOEXEC | O_NOCTTY, 0, 0);
	return fd < 0 ? fd : call(SYS_fcntl, fd, F_DUPFD_CLOEXEC, from, 0, 0);
}

/*
 * Two passes, because fds[0] may be 1 and fds[1] may be 0: first all out of the way, then each to its place.
 * Never fewer than three: a child without fd 1 would print into the next file it opens. The program, when it is given as
 * a descriptor, goes right behind them and closes itself on exec. Returns its number there.
 */
static ALONE long place_fds(const struct proc_spec *spec)
{
	int n_fds = (int)spec->n_fds, n = n_fds < 3 ? 3 : n_fds;
	long high[PROC_FDS_MAX], program = FD_NONE, r = 0;

	for (int i = 0; i < n; i++) {
		high[i] = move_up(i < n_fds ? spec->fds[i] : FD_NONE, n + 1);
		if (high[i] < 0)
			return high[i];
	}
	if (!spec->path) {
		program = move_up(spec->exec_fd, n + 1);
		if (program < 0)
			return program;
	}
	for (int i = 0; i < n && r >= 0; i++)
		r = call(SYS_dup3, high[i], i, 0, 0, 0);
	if (!spec->path && r >= 0)
		r = call(SYS_dup3, program, n, O_CLOEXEC, 0, 0);
	if (r >= 0)
		r = call(SYS_close_range, n + (spec->path ? 0 : 1), ~0U, 0, 0, 0);
	return r < 0 ? r : n;
}

/* The parent may have died before we asked for it. Inside a new pid namespace its number reads as 0. */
static ALONE long die_with(pid_t parent)
{
	long r = call(SYS_prctl, PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0), now;

	if (r < 0)
		return r;
	now = call(SYS_getppid, 0, 0, 0, 0, 0);
	return now == parent || now == 0 ? 0 : -ESRCH;
}

/* The number of the program's descriptor, if it has one; negative on failure. */
static ALONE long prepare(const struct proc_start *s)
{
	const struct proc_spec *spec = &s->spec;
	long r = reset_signals();

	if (r >= 0 && spec->new_session)
		r = call(SYS_setsid, 0, 0, 0, 0, 0);
	if (r >= 0 && spec->die_with_parent)
		r = die_with(s->parent);
	if (r >= 0 && spec->cwd)
		r = call(SYS_chdir, (long)spec->cwd, 0, 0, 0, 0);
	return r < 0 ? r : place_fds(spec);
}

/*
 * The program that we execute may run wherever we might before the parent moved us. The parent takes a moment to move us; not longer than it lives, and not
 * for ever: another thread of its may have executed something else meanwhile, which ends the one that would have told us.
 */
static ALONE void go_home(struct proc_start *s)
{
	const struct timespec a_while = { .tv_nsec = 10000000 };
	int now = PLACE_FREE;

	for (int i = 0; i < MOVE_WAITS; i++) {
		if (__atomic_compare_exchange_n(&s->place, &now, PLACE_HOME, false, __ATOMIC_ACQ_REL,
						__ATOMIC_ACQUIRE) ||
		    call(SYS_getppid, 0, 0, 0, 0, 0) != s->parent)
			break;
		(void)call(SYS_futex, (long)&s->place, FUTEX_WAIT, now, (long)&a_while, 0);
		now = PLACE_FREE;
	}
	if (s->moved)
		(void)call(SYS_sched_setaffinity, 0, sizeof(s->home), (long)&s->home, 0, 0);
}

static ALONE void write_pid(char *out)
{
	long pid = call(SYS_getpid, 0, 0, 0, 0, 0);
	long unit = 1;

	while (pid / unit >= 10)
		unit *= 10;
	for (; unit; unit /= 10)
		*out++ = (char)('0' + pid / unit % 10);
	*out = '\0';
}

ALONE int proc_child(void *start)
{
	static char *const empty[] = { NULL };
	struct proc_start *s = start;
	const struct proc_spec *spec = &s->spec;
	char *const *envp = spec->envp ? spec->envp : empty;
	long r;

	__atomic_store_n(&s->started, 1, __ATOMIC_RELEASE);
	(void)call(SYS_set_tid_address, (long)&s->busy, 0, 0, 0, 0); /* cleared when we leave this memory */
	r = prepare(s);
	if (spec->pid_text)
		write_pid(spec->pid_text);
	go_home(s);
	if (r >= 0 && spec->path)
		r = call(SYS_execve, (long)spec->path, (long)spec->argv, (long)envp, 0, 0);
	else if (r >= 0)
		r = call(SYS_execveat, r, (long)"", (long)spec->argv, (long)envp, AT_EMPTY_PATH);
	s->error = (int)-r;
	for (;;)
		(void)call(SYS_exit_group, 127, 0, 0, 0, 0);
}
