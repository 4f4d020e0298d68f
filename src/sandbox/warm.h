/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A sandbox that stays, and the calls into it. Its walls are built once; each call is a program that pid 1 starts behind them, with its
 * own arguments, environment, limits and streams. Many can run at once; each is ended whole, and alone.
 *
 * No threads and no waiting, but where it says so: requests are sent, what comes of them is heard when warm_fd() can be read.
 */
#pragma once

#include "sandbox/sandbox.h"
#include "sandbox/wire_serve.h"

struct warm {
	struct sandbox box;
	uint64_t last_id;
	uint64_t said;    /* the call that the last request asked for; 0 = it asked for something else */
	uint64_t unheard; /* that, when the sandbox went without having heard it */
	struct warden_report ready; /* MSG_READY: which walls held; after warm_ready() */
	int listener; /* after warm_ready(): the socket of profile.proxy_port, ours; negative = none */
	struct serve_item heard[SERVE_CALLS_MAX]; /* with the last event */
};
#define WARM_NONE ((struct warm){ .box = SANDBOX_NONE, .listener = -EBADF })

struct warm_call {
	struct strs argv, env; /* NAME=value */
	struct str cwd;        /* inside */
	struct str path;       /* where argv[0] is looked for when it has no slash */
	int stdio[3]; /* negative = /dev/null, or the terminal with SERVE_F_PTY; no directory, no terminal */
	unsigned flags; /* SERVE_F_* */
	int program;    /* borrowed; with SERVE_F_PROGRAM it is what runs, and nothing is looked for */
	uint64_t deadline_ms, grace_ms;
	const struct serve_limit *limits;
	size_t n_limits;
	unsigned umask;
	uint16_t cpu; /* where we wait, as stay_begin() says; 0 = anywhere */
	uint16_t rows, columns;
};

enum warm_kind {
	WARM_SANDBOX =
		0, /* of the sandbox itself: report.msg is MSG_READY, MSG_FAILED, MSG_SKIPPED, or MSG_EXIT at its own deadline */
	WARM_CALL, /* of a call, or an answer: event.msg is SERVE_STARTED, SERVE_PTY, SERVE_EXIT, SERVE_REPLY */
};

struct warm_event {
	enum warm_kind kind;
	struct warden_report report;
	struct serve_event event;
	int fd;                         /* SERVE_PTY, or MSG_LISTEN; the receiver's to close */
	const struct serve_item *items; /* of SERVE_LIST, until the next event */
	size_t n_items;
};

/* Starts the warden with a plan whose profile serves; MSG_READY comes when its walls stand. */
int warm_start(int warden_fd, struct str plan, const struct cgroup *cgroup, struct warm *ret, struct err *e);
/* The same with one that was begun by sandbox_spawn(), without streams; *box is SANDBOX_NONE afterwards, also when it fails. */
int warm_resume(struct sandbox *box, struct str plan, const struct cgroup *cgroup, struct warm *ret,
		struct err *e);
/* Waits for MSG_READY. */
int warm_ready(struct warm *w, struct err *e);
/* The same; -EAGAIN when it has not come yet (only without `wait`). */
int warm_ready_now(struct warm *w, bool wait, struct err *e);
/* Ends it with everything in it, and waits until that is so. */
void warm_done(struct warm *w);
#define _cleanup_warm_ _cleanup_(warm_done)

int warm_fd(const struct warm *w);
/* 1 and *ret; 0 when the sandbox has gone; -EAGAIN when there is nothing to hear yet (only without `wait`). */
int warm_next(struct warm *w, bool wait, struct warm_event *ret, struct err *e);
/* Whether there is something to hear, or it has ended. */
bool warm_stirs(const struct warm *w);
/* Whether the warden has; pid 1, which it takes along, may still be ending, and then takes what it will not answer. */
bool warm_ended(const struct warm *w);

/* Asks for a call; its number is what everything else about it says. -EAGAIN: too many requests are on their way. */
int warm_call(struct warm *w, const struct warm_call *call, uint64_t *ret_id, struct err *e);
/*
 * The whole tree of a call: SIGKILL (0), after which its SERVE_EXIT comes, or of one that has ended a SERVE_REPLY with how many were
 * left; or another signal, once.
 */
int warm_cancel(struct warm *w, uint64_t id, int signo, struct err *e);
int warm_signal(struct warm *w, uint64_t id, int signo, struct err *e); /* its process group */
int warm_ask(struct warm *w, enum serve_msg what, struct err *e); /* SERVE_LIST, SERVE_STAT, SERVE_STOP */
int warm_put(struct warm *w, const struct serve_request *head, int fd,
	     struct err *e); /* any without a body; `fd` is borrowed, negative = none */

/* The other end of a line (wire_serve.h), which is *ret's: calls can be asked for, cancelled, signalled and heard of there, and warm_done() ends those. */
void warm_join(uint32_t number, int fd, struct warm *ret);

/* One call, waited for: 0 and *ret, which is its SERVE_EXIT. Not while others run: what is said of them is lost. */
int warm_exec(struct warm *w, const struct warm_call *call, struct serve_event *ret, struct err *e);
