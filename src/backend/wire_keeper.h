/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What clients and a keeper say to each other, one message each over SOCK_SEQPACKET (backend/message.h): a head of fixed size, and a
 * body behind it, or in a sealed memfd (KEEPER_FD_BODY). Everything that was heard goes through a check here before it is used.
 *
 * KEEPER_EXEC, CANCEL and SIGNAL are not answered: what comes of them are events. `id` is the client's number of the call, and grows.
 * Everything else is a question with one KEEPER_REPLY, of the same `id`; one at a time. A body of a call: its arguments, variables,
 * working directory, search path and (of a job) the text to show, each ending in NUL.
 */
#pragma once

#include "backend/jobs.h"

#define KEEPER_VERSION 3u          /* another one whenever a struct below changes */
#define KEEPER_INLINE_MAX 16384u   /* of a body in a message */
#define KEEPER_BODY_MAX (8u << 20) /* of any */
#define KEEPER_ARGS_MAX 65536u
#define KEEPER_CALLS_MAX 256u /* of one client, asked for and not heard of */
#define KEEPER_SOCKET "socket"

enum keeper_msg {
	KEEPER_NONE = 0,
	KEEPER_EXEC, /* descriptors: the standard streams that `fds` names */
	KEEPER_CANCEL,
	KEEPER_SIGNAL,
	KEEPER_STAT,  /* body of the answer: struct keeper_stat */
	KEEPER_FILES, /* carries a socket to a clerk */
	KEEPER_STOP,  /* the answer is that the keeper goes */
	KEEPER_LINE, /* carries a socket to pid 1 (kept_line.h); body: struct keeper_line, and the working directory */
	/* of jobs; body of the answer: struct keeper_job, with LIST as many as there are */
	KEEPER_JOB_START,
	KEEPER_JOB_LIST,
	KEEPER_JOB_INFO,
	KEEPER_JOB_POLL, /* and behind it two struct keeper_part, and their bytes */
	KEEPER_JOB_LOG,  /* one struct keeper_part and its bytes, no keeper_job */
	KEEPER_JOB_WRITE,
	KEEPER_JOB_SIGNAL,
	KEEPER_JOB_KILL,
	KEEPER_JOB_REMOVE,
	KEEPER_JOB_ADOPT, /* body: struct keeper_end, then the text; descriptors 1 << the stream */
	KEEPER_REQUEST_END_,
	/* to the client */
	KEEPER_EVENT = 64,
	KEEPER_REPLY,
};

enum keeper_flag {
	KEEPER_F_PTY = 1,
	KEEPER_F_KEEP = 2,
	KEEPER_F_APART = 4,
	KEEPER_F_TELL = 8,
	KEEPER_F_CLOSE = 16, /* JOB_WRITE */
	KEEPER_F_ANY = 32,   /* whoever has started it */
	KEEPER_F_ALL_ = 63
};

#define KEEPER_FD_BODY 8u

struct keeper_request {
	uint32_t version, msg;
	uint64_t id;
	uint32_t flags, fds;
	int32_t signal;
	uint32_t argc, envc, body;
	uint16_t umask, cpu; /* cpu: where the client waits, and 1; 0 = anywhere */
	uint16_t rows, columns;
	uint64_t deadline_ms, grace_ms, open_files, file_bytes;
	uint32_t job, stream;
	uint64_t at, size, wait_ms; /* wait_ms: of a poll; of ADOPT when it was started */
	uint64_t owner; /* about jobs: whose it is, or for whom it has to be there; 0 only with KEEPER_F_ANY */
};

struct keeper_end {
	uint32_t reason;
	int32_t value;
	uint64_t wall_us, user_us, sys_us, peak_kib;
	uint32_t left, ended;
};

struct keeper_event {
	uint32_t version, msg;
	uint64_t id;
	uint32_t op;                 /* of a reply: the request */
	uint32_t kind;               /* of an event: enum box_event_kind */
	int32_t err_kind, sys_errno; /* when it is an error: its text is the body */
	uint32_t body, fds;          /* fds: 1 = the one that it is about */
	int32_t pid, pad;
	struct keeper_end end;
};

struct keeper_stat {
	uint32_t calls, probes, landlock_abi, pad;
	uint64_t user_us, sys_us, memory_bytes, oom_kills, pids_refused;
	char walls[72];
};

struct keeper_line {
	uint32_t number, pad;
};

struct keeper_job {
	uint32_t number, running, pty, input, spill;
	int32_t pid;
	uint64_t started_ms, ended_ms;
	struct keeper_end end;
	uint64_t first[JOBS_STREAMS_], total[JOBS_STREAMS_];
	char text[JOBS_TEXT_MAX];
};

struct keeper_part {
	uint64_t at, n;
};

/* ---- what the keeper hears ---- */

/* A message of `n` bytes that came with so many descriptors and begins with *h: 0, -EINVAL, or -EPROTONOSUPPORT. */
int keeper_request_check(const struct keeper_request *h, size_t n, size_t n_fds);

/*
 * The call that a checked head and its body are about. `strs` has room for argc + envc. `text` is of a job. -EINVAL when the body does
 * not hold what the head says; nothing of `ret` points beyond it.
 */
int keeper_request_call(const struct keeper_request *h, struct str body, struct str *strs,
			struct box_call *ret, struct str *ret_text);

/* ---- what a client hears ---- */

/* The same for an event or a reply. */
int keeper_event_check(const struct keeper_event *h, size_t n, size_t n_fds);
void keeper_event_err(const struct keeper_event *h, struct str body, struct err *ret);
int keeper_event_stat(struct str body, struct box_stat *ret);
/* The text is borrowed from the body. */
int keeper_event_line(struct str body, uint32_t *ret_number, struct str *ret_workdir);
/* One struct keeper_job at the beginning of *body, which is moved behind it. */
int keeper_event_job(struct str *body, struct jobs_info *ret);
/* So many parts, and their bytes, which have to be all of the rest. At most `size` bytes each go to out[i]. */
int keeper_event_parts(struct str body, char *const *out, size_t size, struct jobs_part *parts, size_t n);

/* ---- both ways ---- */

struct keeper_end keeper_put_end(const struct box_end *e);
void keeper_get_end(const struct keeper_end *w, struct box_end *ret);
struct keeper_job keeper_put_job(const struct jobs_info *i, uint32_t number);
/* "p12" -> 12; 0 when it is no name of a job. */
uint32_t keeper_job_number(struct str id);
