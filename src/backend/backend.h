/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A place where calls run: one sandbox that stays for as long as somebody wants it, of whichever kind (native behind the warden,
 * later a container of Docker's or a remote one). Whoever has a box can start programs in it, hear how they end, signal and
 * cancel them, reach its files, and end it. A box knows no policy, no tool and no session: it is given what was decided.
 *
 * No threads and no waiting but where it says so: what was asked for is answered by events, heard when box_fd() can be read.
 * Every text is borrowed for the time of the call that it is given to. Numbers of calls grow, and are never used again in one box.
 */
#pragma once

#include "backend/files.h"
#include "base/err.h"
#include "base/str.h"
#include "model/names.h"

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

struct box;

/* One program in the box. */
struct box_call {
	struct strs argv, env; /* NAME=value: all that it gets */
	struct str cwd;        /* inside; empty = the workspace */
	struct str path;       /* where argv[0] is looked for when it has no slash */
	int stdio[3]; /* negative = /dev/null, or the terminal with `pty`; no directory, no terminal */
	bool pty;     /* a terminal of its own for the streams that are not passed: BOX_PTY carries it */
	uint16_t rows, columns;
	bool keep;  /* what it leaves behind goes on until the box ends or it is cancelled */
	bool apart; /* it has secrets: other calls cannot look into it where the backend can prevent that */
	bool tell;  /* BOX_STARTED is wanted */
	uint64_t deadline_ms, grace_ms;  /* from now; 0 = none; TERM first when there is a grace */
	uint64_t open_files, file_bytes; /* 0 = as the box has it; never raised */
	mode_t umask;
	uint16_t cpu; /* where the caller waits, as stay_begin() says; 0 = anywhere */
};

enum box_reason {
	BOX_LOST = 0, /* the box has gone, and with it the call */
	BOX_EXITED,   /* value = status */
	BOX_SIGNALED, /* value = signal */
	BOX_TIMEOUT,  /* value = status, or 128 + signal */
	BOX_CANCELLED,
	BOX_REASON_COUNT_
};
extern const struct enum_name box_reason_names[];

struct box_end {
	enum box_reason reason;
	int value;
	uint64_t wall_us, user_us, sys_us, peak_kib;
	uint32_t left;  /* processes of the call that could not be ended */
	uint32_t ended; /* those that it had left running, or that ran on, and were ended with it */
};

enum box_event_kind {
	BOX_GONE = 0, /* the whole box has ended; nothing follows */
	BOX_STARTED,  /* pid = its number inside */
	BOX_PTY,      /* fd is the terminal's other side, the receiver's to close */
	BOX_ENDED,    /* end */
	BOX_FAILED, /* the call did not start: err says why (ERR_NOTFOUND: no such program; ERR_DENIED: not executable; box_unbegun()) */
};

struct box_event {
	enum box_event_kind kind;
	uint64_t call; /* 0 with BOX_GONE */
	int fd;
	pid_t pid;
	struct box_end end;
	struct err err;
};

struct box_stat {
	uint32_t calls; /* running */
	uint64_t user_us, sys_us;
	uint64_t memory_bytes; /* of all of it; 0 = not known */
	uint64_t oom_kills, pids_refused;
	char walls[65]; /* hex digest of the walls that held, when they were tried; empty = not known */
	uint32_t probes, landlock_abi;
};

/* The box had gone before anything of what was asked for began, which is certain: another box can be asked for the same. */
int box_unbegun(struct err *e);
bool box_is_unbegun(const struct err *e);
/* The box has gone, and with it what was asked about: it may have begun. */
int box_lost(struct err *e);
bool box_is_lost(const struct err *e);

struct box_ops {
	const char *name; /* "native" */
	bool follows; /* other processes run the calls, and do well to be where the caller is: box_call.cpu */
	/* Asks for a call; its number is what every event says. -EAGAIN with ERR_LIMIT: too many at once. */
	int (*exec)(struct box *b, const struct box_call *call, uint64_t *ret_id, struct err *e);
	/* The whole tree of a call, and what it has left behind. signo 0 = SIGKILL, after which its BOX_ENDED comes if it still ran. */
	int (*cancel)(struct box *b, uint64_t id, int signo, struct err *e);
	int (*signal)(struct box *b, uint64_t id, int signo, struct err *e); /* its process group */
	int (*fd)(const struct box *b);                                      /* to wait on for reading */
	/* 1 and *ret; -EAGAIN when there is nothing yet (only without `wait`). After BOX_GONE always BOX_GONE. */
	int (*next)(struct box *b, bool wait, struct box_event *ret, struct err *e);
	/* Its files, as the payload may see them; the same pointer each time, valid until close. */
	int (*files)(struct box *b, struct files **ret, struct err *e);
	/* Waits for the answer, at most a second; events that come meanwhile are kept for next(). */
	int (*stat)(struct box *b, struct box_stat *ret, struct err *e);
	/* Ends the box with everything in it, and waits until that is so. */
	int (*stop)(struct box *b, struct err *e);
	/* Lets go of it: one that somebody else keeps lives on, without the calls that were asked for here; one of our own ends. */
	void (*close)(struct box *b);
};

struct jobs_ops; /* backend/jobs.h */

struct box {
	const struct box_ops *ops;
	const struct jobs_ops *jobs; /* NULL = no background processes here */
	uint64_t
		jobs_owner; /* whose those are that are started, and which ones there are for us; 0 = nobody's */
	bool jobs_any;      /* all are there for us, whoever has started them */
};

static inline struct box *box_close(struct box *b)
{
	if (b)
		b->ops->close(b);
	return NULL;
}
