/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The child is made with CLONE_VM | CLONE_VFORK, as posix_spawn() does: nothing is copied however big we are, and the
 * parent sleeps until execve(), so the child can leave its errno in the parent's memory. Until then it may only
 * make system calls, on a stack of its own.
 */
#include "base/proc.h"

#include "base/sanitize.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

enum {
	STACK_BYTES = 256 << 10
}; /* touched pages only; sanitizers want more than the few hundred bytes we use */

struct start {
	const struct proc_spec *spec;
	pid_t parent;
	int error; /* written by the child */
};

static int reset_signals(void)
{
	struct sigaction dfl = { .sa_handler = SIG_DFL };
	sigset_t none;

	/* Ignored ones too: a child must not inherit that SIGPIPE is nothing. SIGKILL, SIGSTOP and libc's own refuse. */
	for (int sig = 1; sig < NSIG; sig++)
		(void)sigaction(sig, &dfl, NULL);
	sigemptyset(&none);
	return pthread_sigmask(SIG_SETMASK, &none, NULL) == 0 ? 0 : -1;
}

/* Out of the way: `from` or higher. /dev/null for a negative one. */
static int move_up(int fd, int from)
{
	if (fd < 0)
		fd = open("/dev/null", O_RDWR | O_CLOEXEC | O_NOCTTY);
	return fd < 0 ? -1 : fcntl(fd, F_DUPFD_CLOEXEC, from);
}

/*
 * Two passes, because fds[0] may be 1 and fds[1] may be 0: first all out of the way, then each to its place.
 * Never fewer than three: a child without fd 1 would print into the next file it opens. The program, when it is given as
 * a descriptor, goes right behind them and closes itself on exec. Returns its number there.
 */
static int place_fds(const struct proc_spec *spec)
{
	int n_fds = (int)spec->n_fds, n = n_fds < 3 ? 3 : n_fds, program = FD_NONE;
	int high[PROC_FDS_MAX];

	for (int i = 0; i < n; i++) {
		high[i] = move_up(i < n_fds ? spec->fds[i] : FD_NONE, n + 1);
		if (high[i] < 0)
			return -1;
	}
	if (!spec->path) {
		program = fcntl(spec->exec_fd, F_DUPFD_CLOEXEC, n + 1);
		if (program < 0)
			return -1;
	}
	for (int i = 0; i < n; i++)
		if (dup2(high[i], i) < 0)
			return -1;
	if (!spec->path && dup3(program, n, O_CLOEXEC) < 0)
		return -1;
	return syscall(SYS_close_range, (unsigned)n + (spec->path ? 0 : 1), ~0U, 0) < 0 ? -1 : n;
}

/* The number of the program's descriptor, if it has one; negative on failure. */
static int prepare(const struct start *s)
{
	const struct proc_spec *spec = s->spec;

	if (reset_signals() < 0)
		return -1;
	if (spec->new_session && setsid() < 0)
		return -1;
	if (spec->die_with_parent) {
		if (prctl(PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0) < 0)
			return -1;
		/* The parent may have died before the line above. Inside a new pid namespace it reads as 0. */
		if (getppid() != s->parent && getppid() != 0) {
			errno = ESRCH;
			return -1;
		}
	}
	if (spec->cwd && chdir(spec->cwd) < 0)
		return -1;
	return place_fds(spec);
}

/* In the child. */
static int run_child(void *arg)
{
	static char *const empty[] = { NULL };
	struct start *s = arg;
	char *const *envp = s->spec->envp ? s->spec->envp : empty;
	int program = prepare(s);

	/* Not execve(): a coverage build wraps it to write its counters out, and these are the parent's counters. */
	if (program >= 0 && s->spec->path)
		(void)syscall(SYS_execve, s->spec->path, s->spec->argv, envp);
	else if (program >= 0)
		(void)syscall(SYS_execveat, program, "", s->spec->argv, envp, AT_EMPTY_PATH);
	s->error = errno;
	_exit(127);
}

/* A handler of ours that ran in the child would run in our memory: no signal may arrive between clone and exec. */
static int clone_blocked(struct start *s, char *stack, struct proc *p)
{
	sigset_t all, before;
	int r;

	sigfillset(&all);
	r = pthread_sigmask(SIG_BLOCK, &all, &before);
	if (r != 0)
		return -r;
	p->pid = clone(run_child, stack + STACK_BYTES, CLONE_VM | CLONE_VFORK | CLONE_PIDFD | SIGCHLD, s,
		       &p->pidfd);
	r = p->pid < 0 ? -errno : 0;
	(void)pthread_sigmask(SIG_SETMASK, &before, NULL);
	return r;
}

int proc_spawn(const struct proc_spec *spec, struct proc *ret)
{
	struct start s = { .spec = spec, .parent = getpid() };
	struct proc p = PROC_NONE;
	struct proc_status ignored;
	void *stack;
	int r;

	if ((!spec->path && spec->exec_fd <= 0) || !spec->argv || spec->n_fds > PROC_FDS_MAX ||
	    (spec->n_fds > 0 && !spec->fds))
		return -EINVAL;
	stack = mmap(NULL, STACK_BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_STACK, -1,
		     0);
	if (stack == MAP_FAILED)
		return -errno;
	r = clone_blocked(&s, stack, &p);
	/* The child left its frames by execve(), without the returns that would have cleaned up their red zones. */
	SANITIZE_UNPOISON(stack, STACK_BYTES);
	(void)munmap(stack, STACK_BYTES);
	if (r < 0)
		return r;
	if (s.error != 0) {
		(void)proc_wait(&p, CLOCK_NEVER, &ignored);
		(void)fd_close(p.pidfd);
		return -s.error;
	}
	*ret = p;
	return 0;
}

int proc_reap(int pidfd, struct proc_status *ret)
{
	siginfo_t info = { .si_pid = 0 };

	while (waitid(P_PIDFD, (id_t)pidfd, &info, WEXITED | WNOHANG) < 0)
		if (errno != EINTR)
			return -errno;
	if (info.si_pid == 0)
		return 0;
	*ret = (struct proc_status){ .end = info.si_code == CLD_EXITED ? PROC_EXITED : PROC_SIGNALED,
				     .code = info.si_status };
	return 1;
}

int proc_wait(struct proc *p, uint64_t deadline_ms, struct proc_status *ret)
{
	if (p->pid == 0)
		return -ECHILD;
	for (;;) {
		struct pollfd pfd = { .fd = p->pidfd, .events = POLLIN };
		int n = poll(&pfd, 1, clock_poll_ms(deadline_ms));
		int r;

		if (n < 0 && errno != EINTR)
			return -errno;
		r = proc_reap(p->pidfd, ret);
		if (r != 0) {
			p->pid = r > 0 ? 0 : p->pid;
			return r < 0 ? r : 0;
		}
		if (n == 0 && clock_poll_ms(deadline_ms) == 0)
			return -ETIMEDOUT;
	}
}

int proc_kill(const struct proc *p, int sig)
{
	if (p->pid == 0)
		return -ESRCH;
	return syscall(SYS_pidfd_send_signal, p->pidfd, sig, NULL, 0) < 0 ? -errno : 0;
}

void proc_done(struct proc *p)
{
	struct proc_status ignored;

	if (p->pid > 0) {
		(void)proc_kill(p, SIGKILL);
		(void)proc_wait(p, CLOCK_NEVER, &ignored);
	}
	(void)fd_close(p->pidfd);
	*p = PROC_NONE;
}
