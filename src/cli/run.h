/* SPDX-License-Identifier: Apache-2.0 */
/*
 * creel run, in the order in which it happens: ask policy, make the profile, make the cgroup, start the warden, pass signals
 * and terminal through, say how it ended.
 */
#pragma once

#include "cli/cli.h"
#include "model/profile.h"
#include "overlay/changes.h"
#include "policy/policy.h"
#include "prepare/prepare.h"
#include "sandbox/cgroup.h"
#include "sandbox/sandbox.h"

#include <poll.h>
#include <signal.h>

enum run_reason {
	RUN_FAILED = 0, /* the sandbox could not be built */
	RUN_OK,
	RUN_EXIT, /* the command ended with a status other than 0 */
	RUN_SIGNAL,
	RUN_TIMEOUT,
	RUN_OOM,
	RUN_PIDS,
	RUN_DISK,
	RUN_OUTPUT,
	RUN_DENIED,
	RUN_NOT_FOUND,
	RUN_NOT_EXECUTABLE,
};
extern const struct enum_name run_reason_names[];

struct run {
	struct cli *cli;
	struct facts facts;
	struct config config;
	struct request request;
	struct decision *decision;
	struct diags diags;

	struct profile profile;
	char private_dir[4096]; /* upper layers; empty = none */
	uint64_t disk_free;     /* on its file system, before */
	int live_fd, spare_fd;  /* where it lies, and where it may go when it is given back */
	int private_fd;         /* locked, when the warden has gone too early; closed at our end */
	struct str upper, lower;
	struct cgroup cgroup;
	struct cgroup_limits limits;
	unsigned asked; /* limits that somebody named */
	struct sandbox box;
	int signals;         /* signalfd; FD_NONE = not blocked yet */
	sigset_t before;     /* the mask that we were started with */
	bool begun;          /* box waits for its plan: run_begin.c */
	bool waits;          /* and before that for its groups */
	struct relay *relay; /* NULL: the streams are the caller's own */
	bool ended;          /* pid 1 has said its last word: nothing in the sandbox lives any more */
	bool tried;          /* a sandbox was asked for, and not only its plan */
	bool walled;  /* every wall stood: the payload was executed, or could not be for reasons of its own */
	bool started; /* the payload was executed */
	int interrupted;    /* SIGINT or SIGQUIT, when somebody sent us that; 0 = nobody did */
	bool typed;         /* it was typed: all of our process group is meant */
	bool signalled;     /* somebody may want us to end */
	bool no_stdio;      /* /dev/null for all three */
	unsigned terminals; /* 1 << n: standard streams that are a terminal of ours */

	/* how it ended */
	enum run_reason reason;
	int status; /* exit status of creel */
	int code;   /* exit code or signal of the command */
	struct warden_report last;
	struct cgroup_stat stat;
	unsigned held; /* limits that were in force, by what */
	enum cgroup_version held_by;
	uint64_t wall_us, ended_ms; /* how long; and when, in Unix time */
	struct changes changes;
	struct str message; /* for RUN_FAILED and RUN_DENIED */
};

static inline struct state_dir run_state(const struct run *r)
{
	return (struct state_dir){ .said = r->cli->state_dir.text,
				   .home = r->facts.home,
				   .environ = r->cli->environ };
}

/* run_load.c: flags and files -> a decision in r->decision */
int run_load(struct run *r, struct err *e);

/* run_begin.c: before run_load; run_abandon ends what was begun and not used */
void run_begin(struct run *r);
void run_abandon(struct run *r);
void run_restore_signals(struct run *r); /* for a program on the host */
int run_open_signals(struct run *r, struct err *e);
void run_init(struct run *r, struct cli *cli);

/* run_leave.c: a quicker end, where the warden has nothing to clean up. Whatever it could not do, sandbox_done() does. */
void run_leave(struct run *r);

/* run_native.c: everything from the profile to the end of the sandbox; fills "how it ended". Negative: could not be built. */
int run_native(struct run *r, struct err *e);
int run_plan(struct run *r, struct err *e); /* --plan */

/* run_end.c: what the warden said last -> reason, status, and the changes kept or not. Negative: it never started. */
int run_end(struct run *r, struct err *e);

/* run_begin.c: dies as the command did, when that was by the signal that we were sent; else returns */
void run_die_alike(struct run *r);

/* run_host.c */
int run_on_host(struct run *r, struct err *e);

/* run_dirs.c */
int run_name_private_dir(struct run *r, struct err *e); /* the warden makes it */
void run_ready_private_dir(struct run *r);              /* while we wait: what will be needed at the end */
void run_lock_private_dir(struct run *r);               /* when the warden cannot any more */
void run_remove_private_dir(struct run *r);
/* Bytes that are free where it lies; false: nobody knows. */
bool run_disk_free(const struct run *r, uint64_t *ret);
/* Nothing was changed: left for a later run, or removed. */
void run_give_back_private_dir(struct run *r);
int run_keep_private_dir(struct run *r, struct err *e); /* its changes are worth it */

/* run_relay.c: the command's output through us, as long as it is not more than its limit */
struct relay;
int relay_open(struct relay **ret, uint64_t limit, unsigned terminals,
	       struct err *e); /* 1 << n: not that stream */
struct relay *relay_close(struct relay *r);
DEFINE_CLEANUP(relay, relay_close)
void relay_give(const struct relay *r, struct sandbox_stdio *io);
void relay_begin(struct relay *r); /* the command has them now */
/* What it waits for, and what it does when some of it has come. */
enum { RELAY_POLL = 2 };
void relay_wants(const struct relay *r, struct pollfd p[static RELAY_POLL]);
void relay_serve(struct relay *r, const struct pollfd p[static RELAY_POLL]);
/* So many of n bytes that come another way may pass. */
size_t relay_count(struct relay *r, size_t n);
bool relay_over(const struct relay *r);
/* What is left after the end. A signal ends it; and, if the command was ended, a reader that does not read. */
void relay_drain(struct relay *r, int signals, bool was_ended);

/* run_denials.c */
void run_put_denials(const struct run *r, struct jsonw *w);

/* run_walls.c */
unsigned run_missing_walls(const struct run *r); /* 1 << enum wall: had to do without, as policy allows */
void run_put_walls(const struct run *r, struct jsonw *w);
void run_tell_decided(const struct run *r); /* -v, before and after */
void run_tell_end(const struct run *r);

/* run_report.c */
int run_report(const struct run *r, struct err *e); /* --report, and the closing line on standard error */
