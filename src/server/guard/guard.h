/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The door for callers over HTTP: who it is, whether the pair is theirs, what shape the request has, who may go first; then the runner is asked, and its
 * answer is passed on. It decides nothing that policy does not, and runs nothing: the engine is not in this program.
 *
 * One visit is one request of a caller until it is answered. door.c takes it in, routes.c knows what to do with it, forward.c goes to the runner, say.c
 * answers.
 */
#pragma once

#include "http/server.h"
#include "identity/pairing.h"
#include "model/decision.h"
#include "server/callers.h"
#include "server/guard/ask.h"
#include "server/guard/fair.h"
#include "server/guard/link.h"
#include "server/metrics.h"
#include "server/paths.h"
#include "tls/tls.h"

struct guard_opts {
	const struct config *config; /* outlives it, as all of these do */
	struct facts facts;
	const char *tokens_dir, *pairing_dir;
	char *const *environ;
	struct str runner; /* "unix:PATH" or "IP:PORT" */
	struct str runner_token;
	const char *runner_refused; /* why nothing is asked of the runner; NULL: it is */
	bool runner_ours;           /* a process of our own user has to answer */
	struct str walls;           /* of the process itself, as JSON, for /health */
	bool metrics_open;
	struct tls *tls; /* for what comes over TCP; NULL: none */
	int statm;       /* /proc/self/statm, for a process without /proc; negative: none */
};

struct guard;
struct tell;
/* Everything but the listening sockets. */
int guard_new(struct loop *loop, const struct guard_opts *o, struct guard **ret, struct err *e);
struct guard *guard_free(struct guard *g);
DEFINE_CLEANUP(guard, guard_free)
/* Takes the fd. ERR_DENIED: strangers could connect to it, and there is no TLS. */
int guard_listen(struct guard *g, int fd, struct err *e);
/* What /health says of the process's own walls, once they are up: a JSON value. */
int guard_say_walls(struct guard *g, struct str json, struct err *e);
void guard_drain(struct guard *g, uint64_t ms, loop_fn *done, void *ctx);

/* ---- for its own files ---- */

#define BODY_LARGE WIRE_RUN_MAX
enum {
	BODY_SMALL = 262144,
	BODIES_MAX = 96 << 20, /* of all visits together */
	COLLECT_MAX =
		131072, /* of an answer that is sent with one write; longer ones are passed on as they come */
	QUEUE_WAIT_MS = 30000,
	ANSWER_GRACE_MS = 30000, /* D2-4: we wait longer than the longest call does */
	SILENCE_MS = 3600000,    /* of a stream */
};

struct guard {
	struct loop *loop;
	struct guard_opts o;
	struct callers *callers;
	struct pairing_store *pairing;
	struct fair *fair;
	bool dispatching;
	struct link *link;
	struct tell *tell;
	loop_fn *drained; /* once nothing is left to be done; NULL: nobody waits for that */
	void *drained_ctx;
	bool is_drained;
	struct http_server *server;
	struct metrics *metrics;
	struct buf health;
	size_t bodies; /* bytes of bodies that are in memory */
	uint64_t answer_ms;
	struct visit *visits; /* all of them */
	struct hearing *hearings;
	uint64_t refusals_ms; /* log lines about strangers are few */
	unsigned refusals, refusals_untold;
};

struct visit {
	struct visit *next, *prev;
	struct guard *g;
	struct http_exchange *x;
	struct path_match match;
	struct path_query query;
	struct caller who;
	struct arena arena;
	struct buf body;
	size_t counted; /* of g->bodies */
	struct wire_call ask;
	char id[WIRE_ID_MAX + 1]; /* of the request; empty: not known yet */
	uint64_t began_us;

	/* an answer that was decided upon while the body had still to come */
	unsigned refused; /* status; 0 = none */
	const char *word;
	struct str why;
	uint64_t retry_s;

	/* events */
	struct hearing *hearing;
	struct visit *hears_next;
	uint64_t heard; /* the number of the last one */

	/* the runner */
	struct fair_call call;
	bool queued;
	struct loop_id queue_timer;
	struct errand *errand;
	struct errand_request asked;
	struct buf asked_body, asked_target;
	unsigned status; /* of the runner's answer */
	char type[96];   /* its Content-Type */
	struct buf got;  /* collected, or what the client has no room for */
	bool streams, ended, paused;
	bool noted;                     /* the caller is told that its policy was ignored */
	bool always;                    /* `whole` is called even when there is no answer: status 0 */
	void (*whole)(struct visit *v); /* with the collected answer; NULL: it is passed on */
};

/* door.c */
extern const struct http_handler door_handler;
tls_refused_fn door_refused;

/* say.c: each ends the visit. */
void say_json(struct visit *v, unsigned status, struct str json);
void say_typed(struct visit *v, unsigned status, struct str type, struct str body);
/* In the shape of the route: {"detail": text} or {"error": word, "message": text, "request_id"}. */
void say_error(struct visit *v, unsigned status, const char *word, struct str text);
/* 502 with S2's detail, and beside it what the runner said of its own reason. */
void say_cause(struct visit *v, struct str detail, struct str word, struct str cause);
void say_code(struct visit *v, const struct decision *d);
void say_fault(struct visit *v, const struct wire_fault *f);
void say_retry(struct visit *v, unsigned status, const char *word, struct str text, uint64_t seconds);
void say_not_allowed(struct visit *v);           /* 405, with Allow */
void say_done(struct visit *v, unsigned status); /* counts and logs it */

/* visit.c */
struct visit *visit_new(struct guard *g, struct http_exchange *x);
void visit_free(struct visit *v);
/* Who asks over creel's own paths, by policy (decide_who()); false: it was answered. */
bool visit_is_known(struct visit *v);
/* decide() for what a job of S2 asks; false: it was answered. */
bool visit_decide(struct visit *v, const struct ask_s2 *s2, struct decision *ret);
bool visit_take_query(struct visit *v);        /* false: it was answered */
bool visit_take_id(struct visit *v);           /* the caller's request_id, or a new one */
struct str visit_token(const struct visit *v); /* as it came: until the next event of the exchange */

/* tell.c: what was refused, for the log */
int tell_new(struct guard *g, struct tell **ret, struct err *e);
struct tell *tell_free(struct tell *t);
bool tell_is_idle(const struct tell *t);
void tell_denied(const struct visit *v, const struct decision *d);
void tell_token(const struct visit *v, const char *state);
void tell_untold(struct tell *t, uint64_t n); /* that were only counted */

/* guard.c */
void guard_told(struct guard *g); /* nothing is left to be told, or it cannot be now */

/* forward.c */
/* asked.method, target and so on are set; waits for its turn where there is no place. */
void forward(struct visit *v);
void forward_room(struct visit *v);
void forward_forget(struct visit *v); /* the client has gone, or the answer is given */
void forward_next(struct guard *g);

void forward_pass_on(struct visit *v); /* what was collected */

/* own.c */
void answer_pairing(struct visit *v);
void answer_metrics(struct visit *v);

/* events.c */
void answer_events(struct visit *v);
void events_forget(struct visit *v);

/* routes.c */
extern const struct path_row guard_routes[];
extern const size_t guard_n_routes;
