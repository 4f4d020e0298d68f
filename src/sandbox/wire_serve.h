/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What is said over the control socket once a sandbox serves calls (PLAN_F_SERVE): one message each, over SOCK_SEQPACKET.
 * Like wire.h: fixed sizes, the compiler's own headers alone, read by a warden that trusts it no further than its bounds.
 *
 * A request is a struct serve_request and its body: limits, then strings that end in NUL, in this order: the arguments, the
 * variables, the working directory, the directories to look for the program in. The body follows the head, or lies in a
 * sealed memfd when it is large. Descriptors: the standard streams that `streams` names, then the memfd, then the program.
 *
 * Ids are the caller's, and grow: one that is not above all that came before is refused. A call's processes are told from others
 * by it for as long as the sandbox lives, whatever they do (docs/decisions/007).
 *
 * Who holds the sandbox may give others a line of their own to pid 1 (SERVE_LINE; docs/decisions/016). On it come SERVE_EXEC with no flag
 * but SERVE_F_APART, SERVE_CANCEL and SERVE_SIGNAL, about calls whose ids have the line's number in their upper bits; how each ended, or
 * that it could not start, is said there, and nothing else. Whoever says anything else is hung up on. When its other side is closed, the calls that run end.
 */
#pragma once

#include <stdint.h>

#define SERVE_INLINE_MAX 16384u   /* of a message, head and body */
#define SERVE_BODY_MAX (8u << 20) /* in a memfd */
#define SERVE_ARGS_MAX 65536u     /* arguments, and variables */
#define SERVE_LIMITS_MAX 16u
#define SERVE_CALLS_MAX 256u /* at once; EUSERS beyond */
#define SERVE_FDS_MAX 5u
#define SERVE_ID_MAX (UINT64_C(1) << 48)
#define SERVE_LINE_BIT 32u  /* of an id: from here on the number of its line, 0 = who holds the sandbox */
#define SERVE_LINES_MAX 16u /* at once */
#define SERVE_LINE_LAST ((1u << 16) - 1)

/* Above enum warden_msg: what the warden's two halves say of the sandbox itself travels on the same socket. */
enum serve_msg {
	/* creel -> warden */
	SERVE_EXEC =
		64, /* answer: SERVE_STARTED with SERVE_F_TELL; then SERVE_EXIT, or SERVE_REPLY with the error */
	/*
	 * The whole tree of call `id`: SIGKILL, after which SERVE_EXIT comes, or for what a call has left behind SERVE_REPLY, value = how
	 * many; or another `signal`, once: SERVE_REPLY.
	 */
	SERVE_CANCEL,
	SERVE_SIGNAL, /* the process group of call `id`. Answer: SERVE_REPLY */
	SERVE_LIST,   /* SERVE_REPLY, value = calls, and as many struct serve_item behind it */
	SERVE_STAT,   /* SERVE_REPLY, value = calls, with what everything that has ended used */
	SERVE_STOP,   /* no answer: pid 1 ends, and with it everything */
	SERVE_LINE, /* carries a socket; the upper bits of `id` are its number. SERVE_REPLY: -EAGAIN when there are enough */
	/*
	 * Hangs up on all lines if none of them was used in the last `deadline_ms`. SERVE_REPLY: -EBUSY if one was; wall_us: how long none was
	 */
	SERVE_RETIRE,
	SERVE_REQUEST_END_,
	/* warden -> creel */
	SERVE_STARTED = 96, /* value = pid inside */
	SERVE_PTY,          /* carries the master */
	SERVE_EXIT,
	SERVE_REPLY, /* op = the request */
};

enum serve_flag {
	SERVE_F_TELL = 1, /* say when it has been started */
	SERVE_F_KEEP = 2, /* what it leaves behind goes on, until it is cancelled or the sandbox ends */
	SERVE_F_PTY =
		4, /* a terminal of its own, made inside, for the streams that are not passed; SERVE_PTY carries it out */
	SERVE_F_APART =
		8, /* a Landlock domain of its own: it cannot look into other calls (/proc: environ, fd, mem) */
	SERVE_F_PROGRAM =
		16, /* what is executed comes as a descriptor (no "#!" script); argv[0] is its name alone */
};
#define SERVE_F_ALL 31u
#define SERVE_F_LINE 8u /* those that may be said on a line: SERVE_F_APART */

/* Bits of `streams` beside 1 << 0, 1, 2. */
#define SERVE_BODY_FD 8u

struct serve_limit {
	uint32_t resource, pad;
	uint64_t value; /* never raised */
};

struct serve_request {
	uint32_t msg, flags;
	uint64_t id;
	uint32_t streams;
	int32_t signal;
	uint32_t argc, envc;
	uint32_t n_limits;
	uint32_t body;                  /* its bytes */
	uint64_t deadline_ms, grace_ms; /* 0 = none; TERM first when there is a grace */
	uint16_t umask, cpu;            /* cpu: where the caller waits, and 1; 0 = anywhere */
	uint16_t rows, columns;         /* of the terminal */
};

/* Where a call failed to start: `value` of the reply. */
enum serve_at {
	SERVE_AT_SETUP = 0,
	SERVE_AT_CWD,
	SERVE_AT_EXEC,
};

enum serve_reason {
	SERVE_EXITED = 0, /* value = status */
	SERVE_SIGNALED,   /* value = signal */
	SERVE_TIMEOUT,    /* the deadline; value = as the main process ended: status, or 128 + signal */
	SERVE_CANCELLED,  /* the same */
};

struct serve_event {
	uint32_t msg, op;
	uint64_t id;
	int32_t err; /* errno */
	int32_t value;
	uint32_t reason;
	uint32_t left; /* processes of the call that could not be ended, in two seconds */
	uint64_t wall_us, user_us, sys_us, max_rss_kb;
	uint32_t ended, pad; /* processes of the call that were ended with it */
};

struct serve_item {
	uint64_t id;
	int32_t pid; /* 0: only what it left behind is being ended */
	uint32_t reason;
};
