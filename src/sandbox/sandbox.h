/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One running sandbox: the warden started with a plan, the channel to it, and what it says.
 *
 * The warden is executed from a sealed copy of its file in memory, so nothing inside can ever write to what the next
 * sandbox will run. It ends with the process that started it, and then removes the cgroups that this one made.
 */
#pragma once

#include "base/err.h"
#include "base/proc.h"
#include "base/str.h"
#include "sandbox/cgroup.h"
#include "sandbox/wire.h"

/* What EAGAIN means where a task is made, and what helps. */
#define SANDBOX_NO_TASKS                                                                                          \
	"no more processes: the user's limit (ulimit -u) or that of the cgroup around us (pids.max) is reached; " \
	"fix: raise it, or end other processes"

struct sandbox {
	struct proc warden;
	int control;
	int plan, go; /* until it has its plan */
	pid_t owner;  /* whose child it is */
	/* Until then the warden may still be on its way to execve(), and read these: a sandbox stays where it is. */
	struct proc_start *begun;
	bool waits; /* it makes nothing before it has a plan */
	bool heir;  /* it was told of its groups */
	bool born;  /* and which of them pid 1 is born in */
	int fds[6];
	char *argv[4];
};
#define SANDBOX_NONE \
	((struct sandbox){ .warden = PROC_NONE, .control = FD_NONE, .plan = FD_NONE, .go = FD_NONE })

struct sandbox_stdio {
	int in, out, err; /* negative = /dev/null */
};

/* In a shared library: the programs of a build tree lie beside that, not beside whoever uses it. For all of this process. */
void sandbox_look_beside(const char *file);

/* Opens a program of ours: in the directory of its room in the running program's build, or where it was installed. */
int sandbox_find_program(const char *room, const char *name, int *ret_fd, struct err *e);
/* Opens the sealed copy of creel-warden: beside the running program's build, or where it was installed. */
int sandbox_open_warden(int *ret_fd, struct err *e);
/* Another program of ours that runs inside, from `room` of a build: always the sealed copy, which lies in no directory. */
int sandbox_open_program(const char *room, const char *name, int *ret_fd, struct err *e);
/* The sealed copy of a program that is open already. */
int sandbox_seal_program(int file, const char *name, int *ret_fd, struct err *e);

enum sandbox_spawning {
	SPAWN_WAITS =
		1, /* it makes nothing yet: there will be a cgroup that it is born in, or has to be moved into first */
	SPAWN_BESIDE = 2 /* its plan is not there for a while */
};
/* Begins the warden, which makes the namespaces and waits for its plan, while we go on; *ret stays where it is until sandbox_go(). */
int sandbox_spawn(int warden_fd, const struct sandbox_stdio *io, unsigned how, struct sandbox *ret,
		  struct err *e);
/* To one that waits: this group is about to be made. It removes it when we are killed. For struct cgroup_heir. */
int sandbox_tell_group(void *sandbox, enum cgroup_version version, const char *dir);
/* To one that waits: no other group will be made, and this one of v2 has its limits; it may be born. sandbox_go() says so, unless it was said before. */
int sandbox_tell_birth(struct sandbox *s, const struct cgroup *cgroup, struct err *e);
/* Gives it the plan: it starts, or could not be executed. With a cgroup only one that waits, and has been told of it. */
int sandbox_go(struct sandbox *s, struct str plan, const struct cgroup *cgroup, struct err *e);
/* The same with a cgroup that it may not have been told of; one that does not wait can have none. */
int sandbox_resume(struct sandbox *s, struct str plan, const struct cgroup *cgroup, struct err *e);
/* All of it. */
int sandbox_start(int warden_fd, struct str plan, const struct sandbox_stdio *io, const struct cgroup *cgroup,
		  struct sandbox *ret, struct err *e);
/* The next thing the warden says; 0 when it has gone, 1 when *ret (and *ret_fd, or FD_NONE) is filled. Blocks. */
int sandbox_next(struct sandbox *s, struct warden_report *ret, int *ret_fd, struct err *e);
int sandbox_signal(struct sandbox *s, int signo);
int sandbox_end(struct sandbox *s); /* all of it, now; the channel stays */
/* The answer to MSG_STOPPED: whether the terminal is the payload's from now on. */
int sandbox_continue(struct sandbox *s, bool foreground);
void sandbox_done(struct sandbox *s);
#define _cleanup_sandbox_ _cleanup_(sandbox_done)
