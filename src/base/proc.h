/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Child processes: started with exactly the descriptors, arguments and environment that are named, watched and
 * signalled through a pidfd (a number that cannot come to mean somebody else), waited for with a deadline.
 * Builds no walls: that is the sandbox room's trade.
 */
#pragma once

#include "base/cleanup.h"
#include "base/clock.h"
#include "base/fd.h"

#include <sys/types.h>

struct proc_spec {
	const char *path; /* as execve(2) takes it: no PATH lookup; NULL = what exec_fd is open on */
	int exec_fd; /* 0 = none; closed in the child by its execution, so not for "#!" scripts (-ENOENT) */
	char *const *argv;
	char *const *envp; /* NULL = empty, not inherited */

	/* fds[i] is fd i in the child; a negative one, and each of 0..2 that is not named, is /dev/null. The rest is closed. */
	const int *fds;
	size_t n_fds;

	const char *cwd;      /* NULL = ours */
	bool new_session;     /* setsid(2): its own group, no terminal */
	bool die_with_parent; /* SIGKILL when the thread that started it ends */
	bool beside; /* proc_begin(): we have much to do meanwhile, so it begins on another processor */
	char *pid_text; /* PROC_PID_TEXT bytes in argv or envp: the child writes its number there, for LISTEN_PID */
};
#define PROC_PID_TEXT 12 /* with NUL */

enum proc_end {
	PROC_RUNNING = 0,
	PROC_EXITED,   /* code = exit status */
	PROC_SIGNALED, /* code = signal number */
};

struct proc_status {
	enum proc_end end;
	int code;
};

struct proc {
	pid_t pid; /* 0 = none, or already reaped */
	int pidfd;
};

#define PROC_NONE ((struct proc){ .pid = 0, .pidfd = FD_NONE })
#define PROC_FDS_MAX 64

/*
 * 0, or the errno of the step that failed in parent or child (-ENOENT: no such program, -EACCES: not executable...).
 * When it returns 0, execve() has happened. The child's signal mask is empty and its handlers are the defaults.
 */
int proc_spawn(const struct proc_spec *spec, struct proc *ret);

/*
 * The same in two halves: while the child is being executed we go on. *spec is copied; what it points to has to stay as it is until
 * proc_begun(), which waits for execve() and says what proc_spawn() would have said. It is harmless when nothing has begun.
 */
struct proc_start;
int proc_begin(const struct proc_spec *spec, struct proc_start **ret_start, struct proc *ret);
int proc_begun(struct proc_start **start, struct proc *p);

/* Waits and reaps. -ETIMEDOUT when it still runs at deadline_ms (clock_mono_ms()); CLOCK_NEVER waits for ever. */
int proc_wait(struct proc *p, uint64_t deadline_ms, struct proc_status *ret);

/* -ESRCH when it has ended, reaped or not. */
int proc_kill(const struct proc *p, int sig);

/* Kills and reaps what still runs, closes the pidfd. For _cleanup_proc_. */
void proc_done(struct proc *p);
#define _cleanup_proc_ _cleanup_(proc_done)

/* Reaps through a pidfd without waiting: 1 and *ret when it had ended, 0 when it runs. */
int proc_reap(int pidfd, struct proc_status *ret);
