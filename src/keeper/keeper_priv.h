/* SPDX-License-Identifier: Apache-2.0 */
/*
 * creel-keeper: holds one sandbox while clients come and go. One loop, no threads, nothing that waits for a client or for the sandbox
 * beyond a moment; every table has a size. What is not checked by backend/wire_keeper.h is not used.
 */
#pragma once

#include "backend/kept_dir.h"
#include "backend/message.h"
#include "backend/wire_keeper.h"
#include "base/clock.h"
#include "base/loop.h"
#include "base/stay.h"

#define CLIENTS_MAX 1536u /* more than the runner's workers open together: see its cache */
#define OUT_MAX 1024u     /* messages that a client has not taken */
#define LEFT_MAX 64u      /* calls of a client that have ended and left something behind */

struct keeper;
struct job;

/* ---- clients (client.c) ---- */

struct out; /* a message that could not be sent yet */

/* A question that is answered later; one per client. */
struct waiting {
	uint32_t op; /* 0 = none */
	uint64_t id, size;
	struct job *job;
	struct loop_id timer;
};

struct client {
	struct keeper *k;
	int fd;
	struct loop_id source;
	struct out *out, **out_end;
	uint32_t n_out, n_calls;
	bool broken; /* let go of when the handler is done */
	uint64_t last_id;
	struct {
		uint64_t theirs, id;
	} left[LEFT_MAX];
	uint32_t left_at;
	uint64_t clerk; /* the call of the box that has its files; 0 = none */
	struct waiting waiting;
	struct client *next;
};

int clients_listen(struct keeper *k, struct err *e);
/* Nobody finds us any more; false when somebody came meanwhile, and then we listen again. */
bool clients_retire(struct keeper *k);
/* Lets go of those that went or broke the rules; their calls are ended. */
void clients_settle(struct keeper *k);
void clients_done(struct keeper *k);

/* Says it now or later. Takes `fd` (negative = none). The text of an error is its body. */
void client_say(struct client *c, struct keeper_event *h, struct str body, int fd);
void client_reply(struct client *c, uint32_t op, uint64_t id, struct str body, int fd);
void client_refuse(struct client *c, uint32_t op, uint64_t id, const struct err *e);
/* The question is answered later: by client_answer(), or at the end of wait_ms by question_late(). */
void client_wait(struct client *c, const struct keeper_request *h, struct job *job, uint64_t wait_ms);
void client_answered(struct client *c);

/* ---- requests (request.c) ---- */

struct asking {
	struct keeper *k;
	struct client *c;
	const struct keeper_request *h;
	struct str body;
	struct message_fds *fds; /* whatever is taken becomes FD_NONE */
};
void request_take(struct client *c, const struct keeper_request *h, struct str body, struct message_fds *fds);

/* ---- calls (call.c) ---- */

struct call {
	uint64_t id;           /* of the box; 0 = free */
	uint64_t theirs;       /* of the client */
	struct client *client; /* NULL: a job's, or of a client that has gone */
	struct job *job;
	bool keep;
	bool cancel; /* still to be asked for */
};

/* After -EAGAIN: whether to try again, after what the box has to say was heard. */
bool call_patient(struct keeper *k, int *tries);
/* Asks the box, which may be busy for a moment. ERR_LIMIT when it stays so. */
int call_begin(struct keeper *k, const struct box_call *bc, struct call *as, struct err *e);
int call_signal(struct keeper *k, uint64_t id, int signo, bool tree, struct err *e);
void calls_forsake(struct keeper *k, struct client *c);
void calls_hear(struct keeper *k); /* what the box has to say */
void calls_retry(struct keeper *k);

/* ---- jobs ---- */

/* One stream of a job: two files at most, the older of which is dropped when the younger is full (job_log.c). */
struct job_log {
	uint64_t first, middle, total; /* the older begins, the younger begins, the younger ends */
	uint32_t number;               /* of the younger */
	int fd;                        /* of the younger, for writing */
};
#define JOB_LOG_NONE ((struct job_log){ .fd = FD_NONE })

struct job {
	struct keeper *k;
	uint32_t number;
	uint64_t owner; /* as its client said it */
	uint64_t call;  /* of the box */
	struct jobs_info info;
	int in, out[JOBS_STREAMS_]; /* of a terminal both are the same */
	struct loop_id in_source, out_source[JOBS_STREAMS_];
	char *input; /* that it has not read yet */
	size_t input_n, input_at;
	bool close_input;
	bool known; /* it was started, and is listed */
	struct job_log log[JOBS_STREAMS_];
	uint64_t polled[JOBS_STREAMS_];
	struct job *next;
};

void job_started(struct job *j, pid_t pid);
void job_pty(struct job *j, int fd);
void job_failed(struct job *j, const struct err *e);
void job_ended(struct job *j, const struct box_end *end);
void jobs_done(struct keeper *k);
struct job *job_new(struct keeper *k, uint64_t owner);
/* With its logs; whoever waits for it is told. */
void job_free(struct job *j);
/* Whether it is there for this one; 0 = for who looks after all. */
static inline bool job_is_for(const struct job *j, const struct keeper_request *h)
{
	return j->known && (h->flags & KEEPER_F_ANY || j->owner == h->owner);
}
/* The one that this request names, if it is there for who asks. */
struct job *job_find(struct keeper *k, const struct keeper_request *h);
/* Room for one more that has ended: the oldest goes. */
void jobs_trim(struct keeper *k);
void job_set_text(struct job *j, struct str text);

/* job_ask.c: what clients ask */
void job_request(struct asking *a);
void job_answer(struct job *j); /* something has come of it: whoever waits for that is told */
void job_late(struct client *c);

/* job_io.c */
int job_open_pipes(struct job *j, int theirs[static 3], struct err *e);
int job_watch(struct job *j, struct err *e);
void job_drain(struct job *j); /* what is there at the moment */
int job_input(struct job *j, struct str bytes, bool close, struct err *e);
void job_close(struct job *j);
void job_rest(struct job *j); /* one that has ended, and whose output has, needs no streams */

/* job_log.c */
int logs_open(struct keeper *k, struct err *e); /* empties it first */
void log_append(struct job *j, unsigned stream, struct str bytes);
size_t log_read(const struct job *j, unsigned stream, uint64_t *at, char *out, size_t size);
int log_adopt(struct job *j, unsigned stream, int fd);
void log_drop(struct job *j, unsigned stream); /* all of it */
void logs_done(struct keeper *k);

/* ---- the whole (main.c) ---- */

/*
 * What the box was asked about itself, and answered or not. To ask takes two changes of processes, and where hundreds come at once to a busy machine
 * each would wait for all before it: those of one round of the loop share an answer, unless a call has begun or ended since, or there was a line.
 */
struct stat_seen {
	uint64_t round; /* 0 = none */
	int r;
	struct box_stat stat;
	struct err err;
};

struct keeper {
	struct loop *loop;
	struct box *box;
	struct loop_id box_source, idle_source, look_source, retry_source;
	char durable[4096]; /* durable.c */
	pid_t writer;       /* 0 = none */
	int writer_fd;
	int dir, lock, listener, logs;
	struct loop_id listener_source;
	uint64_t idle_ms, active_ms; /* idle_ms 0 = never */
	uint64_t log_bytes, logs_bytes, logs_total;
	struct client *clients;
	uint32_t n_clients;
	struct call calls[KEEPER_CALLS_MAX];
	uint32_t n_calls;
	uint32_t last_line; /* the number of the last one that was asked for; 0 = none was */
	struct job *jobs, **jobs_end;
	uint32_t n_live, n_ended, last_job;
	struct following following;
	struct stat_seen stat;
	bool gone;
};

static inline void keeper_active(struct keeper *k)
{
	k->active_ms = clock_mono_ms();
}
/* At the end of every handler of the loop. */
void keeper_settle(struct keeper *k);

/* ---- the disk (durable.c) ---- */

/* A file that is to be on the disk, somewhat later; empty = none. */
int durable_begin(struct keeper *k, struct str path);
/* When all others are let go of: it may have to wait for the disk. */
void durable_end(struct keeper *k);
