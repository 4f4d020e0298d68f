/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The child is made with CLONE_VM, as posix_spawn() does: nothing is copied however big we are, and it can leave its errno in
 * our memory. Until execve() it only makes system calls (proc_child.c), on a stack of its own. proc_spawn() sleeps until then;
 * proc_begin() does not.
 */
#include "base/proc.h"

#include "base/proc_child.h"
#include "base/sanitize.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/futex.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

enum {
	STACK_BYTES = 256 << 10
};                        /* touched pages only; sanitizers want more than the few hundred bytes we use */
#define LOOK_NS 10000000l /* between two looks at whether a child is dead, while it does not say anything */

/* A handler of ours that ran in the child would run in our memory: no signal may arrive between clone and exec. */
static int clone_blocked(struct proc_start *s, int flags, struct proc *p)
{
	sigset_t all, before;
	int r;

	sigfillset(&all);
	r = pthread_sigmask(SIG_BLOCK, &all, &before);
	if (r != 0)
		return -r;
	/* Not with CLONE_CHILD_CLEARTID, which musl 1.2.5 refuses: the child asks for the same itself. */
	p->pid = clone(proc_child, s, CLONE_VM | CLONE_PIDFD | SIGCHLD | flags, s, &p->pidfd);
	r = p->pid < 0 ? -errno : 0;
	(void)pthread_sigmask(SIG_SETMASK, &before, NULL);
	return r;
}

/* Where the memory that it shares with the child begins. */
static char *memory_of(struct proc_start *s)
{
	return (char *)s + sizeof(*s) - STACK_BYTES;
}

static void forget(struct proc_start *s)
{
	char *memory = memory_of(s);

	/* The child left its frames by execve(), without the returns that would have cleaned up their red zones. */
	SANITIZE_UNPOISON(memory, STACK_BYTES);
	(void)munmap(memory, STACK_BYTES);
}

/* At the end of the child's stack, so that both are in one page. */
static int new_start(const struct proc_spec *spec, struct proc_start **ret)
{
	char *memory;

	if ((!spec->path && spec->exec_fd <= 0) || !spec->argv || spec->n_fds > PROC_FDS_MAX ||
	    (spec->n_fds > 0 && !spec->fds))
		return -EINVAL;
	memory = mmap(NULL, STACK_BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_STACK, -1,
		      0);
	if (memory == MAP_FAILED)
		return -errno;
	*ret = (struct proc_start *)(void *)(memory + STACK_BYTES - sizeof(**ret));
	**ret = (struct proc_start){ .spec = *spec, .parent = getpid(), .busy = 1 };
	return 0;
}

static int start(const struct proc_spec *spec, int flags, struct proc_start **ret_start, struct proc *ret)
{
	struct proc_start *s = NULL;
	struct proc p = PROC_NONE;
	int r = new_start(spec, &s);

	if (r < 0)
		return r;
	r = clone_blocked(s, flags, &p);
	if (r < 0) {
		forget(s);
		return r;
	}
	*ret = p;
	*ret_start = s;
	return 0;
}

/* To our processor, or to any other that it may use. Only a matter of time, so what fails is left as it is. */
static void move(struct proc_start *s, pid_t pid, bool here)
{
	int cpu = sched_getcpu(), now = PLACE_FREE;
	cpu_set_t to = s->home;

	if (cpu < 0 || cpu >= CPU_SETSIZE || !CPU_ISSET((size_t)cpu, &s->home))
		return;
	if (here) {
		CPU_ZERO(&to);
		CPU_SET((size_t)cpu, &to);
	} else {
		CPU_CLR((size_t)cpu, &to);
	}
	if (!__atomic_compare_exchange_n(&s->place, &now, PLACE_MOVING, false, __ATOMIC_ACQ_REL,
					 __ATOMIC_ACQUIRE))
		return;
	s->moved |= sched_setaffinity(pid, sizeof(to), &to) == 0;
	if (!__atomic_load_n(&s->busy, __ATOMIC_ACQUIRE)) /* we were stopped, and it has not waited so long */
		(void)sched_setaffinity(pid, sizeof(s->home), &s->home);
	__atomic_store_n(&s->place, PLACE_FREE, __ATOMIC_RELEASE);
	(void)syscall(SYS_futex, &s->place, FUTEX_WAKE, 1, NULL, NULL, 0);
}

/* Everybody who runs or could: with us and the child, and hardly more. One that is sent to a processor that has work waits there. */
static bool others_idle(const struct proc_start *s)
{
	_cleanup_close_ int fd = open("/proc/loadavg", O_RDONLY | O_CLOEXEC);
	const int n = CPU_COUNT(&s->home);
	char text[64] = "";
	int running;

	return n > 1 && fd >= 0 && read(fd, text, sizeof(text) - 1) > 0 &&
	       sscanf(text, "%*s %*s %*s %d/", &running) == 1 && running <= 2 + (n - 2) / 4;
}

/*
 * The kernel may leave a new child waiting for us on our processor, with another one idle: what was to be done beside us would be done
 * after us.
 */
static void move_elsewhere(struct proc_start *s, pid_t pid)
{
	if (sched_getaffinity(0, sizeof(s->home), &s->home) == 0 && others_idle(s))
		move(s, pid, false);
}

/* Until the child has left our memory. One that was killed before it could ask to be waited for has left it, too. */
static void wait_until_left(struct proc_start *s, int pidfd)
{
	const struct timespec a_while = { .tv_nsec = LOOK_NS };
	struct pollfd pfd = { .fd = pidfd, .events = POLLIN };

	while (__atomic_load_n(&s->busy, __ATOMIC_ACQUIRE))
		if (syscall(SYS_futex, &s->busy, FUTEX_WAIT, 1, &a_while, NULL, 0) < 0 &&
		    errno == ETIMEDOUT && poll(&pfd, 1, 0) > 0)
			return;
}

int proc_begun(struct proc_start **start, struct proc *p)
{
	struct proc_start *s = *start;
	struct proc_status ignored;
	int error;

	if (!s)
		return 0;
	/* There is somebody else where it was sent to; we are about to sleep. */
	if (s->moved && !__atomic_load_n(&s->started, __ATOMIC_ACQUIRE))
		move(s, p->pid, true);
	wait_until_left(s, p->pidfd);
	error = s->error;
	forget(s);
	*start = NULL;
	if (error == 0)
		return 0;
	(void)proc_wait(p, CLOCK_NEVER, &ignored);
	p->pidfd = fd_close(p->pidfd);
	return -error;
}

int proc_begin(const struct proc_spec *spec, struct proc_start **ret_start, struct proc *ret)
{
	int r = start(spec, 0, ret_start, ret);

	if (r >= 0 && spec->beside)
		move_elsewhere(*ret_start, ret->pid);
	return r;
}

int proc_spawn(const struct proc_spec *spec, struct proc *ret)
{
	struct proc_start *s;
	struct proc p;
	int r = start(spec, CLONE_VFORK, &s, &p);

	if (r >= 0)
		r = proc_begun(&s, &p);
	if (r >= 0)
		*ret = p;
	return r;
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
