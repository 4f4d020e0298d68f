/* SPDX-License-Identifier: Apache-2.0 */
/*
 * creel-runner: a parent that reads the configuration and forks workers, and workers that answer one connection at a time, each with an engine of its
 * own (docs/decisions/009-services.md). Nothing that the guard has checked is believed: token, pair, sizes and members are looked at again, and
 * policy decides once more.
 */
#pragma once

#include "base/arena.h"
#include "base/buf.h"
#include "base/hash.h"
#include "base/loop.h"
#include "engine/engine.h"
#include "http/server.h"
#include "server/callers.h"
#include "server/metrics.h"
#include "server/paths.h"
#include "server/wire.h"

#include <sys/types.h>

/* ---- what parent and workers share ---- */

/* Who waits at which door: those who come over a port cannot take the workers of the guard. */
enum door { DOOR_UNIX = 0, DOOR_TCP, DOOR_COUNT_ };

enum slot_state {
	SLOT_FREE = 0, /* nobody's */
	SLOT_STARTING, /* a worker that opens what it needs */
	SLOT_IDLE,     /* waits for a connection */
	SLOT_TAKEN,    /* it has one */
	SLOT_BUSY,     /* it runs a call */
	SLOT_EVENTS,   /* it follows the log for somebody */
	SLOT_GOING,    /* it was told to end */
};

enum { SLOTS_MAX = 1100, SPARE_MIN = 2, EVENTS_MAX = 6, DOOR_SOCKETS_MAX = 8 };

struct slot {
	int32_t pid;
	uint32_t door, state;
	uint32_t in_call;  /* 1: a call runs; goes with the slot when its worker is killed */
	uint32_t spares;   /* that it has, or makes; the same */
	uint32_t ready;    /* that it has */
	uint64_t since_ms; /* in this state */
};

struct runner {
	struct engine *engine;
	struct metrics *metrics; /* MAP_SHARED, as slots */
	struct slot *slots;
	unsigned max_workers[DOOR_COUNT_];
	int sockets[DOOR_COUNT_][DOOR_SOCKETS_MAX];
	size_t n_sockets[DOOR_COUNT_];
	/* TCP: the sockets that listen, which the porter has, and where it puts connections ([0]) for the workers ([1], sockets[DOOR_TCP]) to take. */
	int ports[DOOR_SOCKETS_MAX];
	size_t n_ports;
	int handed[2];
	int news; /* eventfd: a slot has changed */
	unsigned char token_hash[SHA256_BYTES];
	const char *tokens_dir;
	char *const *environ; /* with the callers' tokens in it */
	uint64_t drain_ms;
	pid_t parent;
};

/* ---- parent.c ---- */

/* Until it is told to end. Says READY through `ready` once workers wait. 0, or negative. */
int parent_run(struct runner *r, void (*ready)(void *ctx), void (*stopping)(void *ctx), void *ctx,
	       struct err *e);

/* ---- porter.c ---- */

/* In a child. Does not return. */
_Noreturn void porter_run(struct runner *r);
/* In a worker: a connection that has shown the token; negative: another was faster. */
int porter_take(const struct runner *r);

/* ---- worker.c ---- */

struct visit;
struct cache;

struct worker {
	struct runner *runner;
	struct slot *slot;
	enum door door;
	struct loop *loop;
	struct http_server *server;
	struct callers *callers;
	char people[SHA256_HEX]; /* of callers_people(), that the cache knows */
	struct cache *cache;
	struct loop_id accepting[DOOR_SOCKETS_MAX];
	bool listens, stopping;
	int conn;   /* the server's; negative = none */
	int hangup; /* epoll on it: readable when the client has gone */
	struct engine_counts counted;
	uint64_t spares_looked_ms, spares_due_ms;
	bool spares_making;  /* one is under way */
	struct visit *visit; /* what is being asked; NULL = nothing */
};

/* In a child. Does not return. */
_Noreturn void worker_run(struct runner *r, struct slot *slot);
void worker_state(struct worker *w, enum slot_state state);
void worker_count(struct worker *w);       /* calls.c */
void worker_take_tokens(struct worker *w); /* after a refresh of the callers that has found something new */

/* ---- spares.c: sandboxes that are made before their call comes ---- */

unsigned spares_ready(const struct runner *r); /* of all workers */
uint64_t spares_due(
	const struct worker *w);       /* when spares_look() has something to make; CLOCK_NEVER: nothing */
void spares_look(struct worker *w);    /* whenever nobody is here */
void spares_rest(struct worker *w);    /* somebody was just answered */
void spares_changed(struct worker *w); /* a call has taken one perhaps, or its session went */
void spares_drop(struct worker *w);    /* all of this worker's */

/* ---- visit.c: one request and its answer ---- */

struct visit {
	struct worker *worker;
	struct http_exchange *x; /* NULL: answered, or the client has gone */
	struct arena arena;
	struct buf body;
	struct path_match match;
	struct path_query query;
	struct caller caller;
	bool whole, gone, begun;
	bool wants_events;   /* Accept: text/event-stream */
	uint64_t stalled_ms; /* that a client which does not read has cost */
	struct str id;       /* of the request, once it is known */
};

extern const struct http_handler visit_handler; /* ctx: struct worker */
void visit_serve(struct visit *v);              /* outside of the loop's handlers */
struct visit *visit_free(struct visit *v);
/* Whether this head shows the runner's token. */
enum code visit_bearer(const struct runner *r, const struct http_head *h);
/* Answers at once somebody who has not shown it, and ends the connection with that. */
void visit_stranger(struct worker *w, struct http_exchange *x);

/* The whole answer; larger ones go in pieces. */
void visit_answer(struct visit *v, unsigned status, struct str type, struct str body);
void visit_json(struct visit *v, unsigned status, const struct buf *json);
/* `word` for /v1; S2's `text` is the detail of any other path. */
void visit_fail(struct visit *v, unsigned status, const char *word, const char *text);
void visit_refused(struct visit *v, enum code code);
void visit_error(struct visit *v,
		 const struct err *e); /* by its kind; what is ours to know goes to the log alone */

/* An answer in pieces. Nonzero: the client has gone, or takes nothing. */
int visit_begin(struct visit *v, struct str type);
int visit_write(struct visit *v, struct str piece);
void visit_end(struct visit *v);
int visit_event(struct visit *v, const char *type, struct str data, struct str id);
/* Waits for something to happen on the connection, `other` (negative: none) or until the deadline. */
bool visit_wait(struct visit *v, int other, uint64_t deadline_ms);

#define TYPE_JSON STR("application/json")
#define TYPE_EVENTS STR("text/event-stream")

/* ---- cache.c: open sessions, by who they are for ---- */

/* At most `per_place` of them are connected with the same sandbox, which has a limit of its own for all workers. */
int cache_new(unsigned per_place, struct cache **ret);
struct cache *cache_free(struct cache *c);
void cache_clear(struct cache *c);
/* The session of this caller; stays the cache's, until the next call of any function here. */
int cache_session(struct cache *c, struct engine *g, const struct request *who, struct session **ret,
		  struct err *e);
/* It is not to be used again. */
void cache_drop(struct cache *c, struct session *s);
/* Spares of all of them. */
unsigned cache_spares(struct cache *c, unsigned *ret_ready);     /* that live or are being made; the first */
unsigned cache_drop_spares(struct cache *c, uint64_t before_ms); /* made before; how many */
uint64_t cache_oldest_spare(const struct cache *c);              /* when it was made; CLOCK_NEVER: none */
bool cache_wants_spare(const struct cache *c);
void cache_want_none(struct cache *c);
/* For the session that was used last of those that want one. 1: made. */
int cache_make_spare(struct cache *c, struct err *e);

/* ---- the routes ---- */

void answer_health(struct visit *v);
void answer_run(struct visit *v);
void answer_call(struct visit *v);
void answer_explain(struct visit *v);
void answer_tools(struct visit *v);
void answer_sessions(struct visit *v);
void answer_session(struct visit *v);
void answer_session_end(struct visit *v);
void answer_processes(struct visit *v);
void answer_process_kill(struct visit *v);
void answer_events(struct visit *v);
void answer_incident(struct visit *v);
void answer_metrics(struct visit *v);
void answer_approvals(struct visit *v);
void answer_approval(struct visit *v);
void answer_refused(struct visit *v); /* the guard's own, with the runner's token alone */

/* approvals.c; `whole`: with what administrators may know */
void approval_put(struct jsonw *w, const struct reg_approval *row, bool whole);

/* calls.c */
/* Runs one call in the session of `who`, counts it, and cancels it when the client goes. `stream`: output as events. */
struct errand_call {
	struct request who;
	struct call_opts opts;
	bool streams;
};
int call_run(struct visit *v, struct errand_call *c, struct call_result *ret, struct err *e);
/* The caller's request as policy takes it. */
struct request call_who(const struct visit *v, const struct wire_call *c, enum via via);
/* A copy of the id that was given, or a new one. */
bool call_id(struct visit *v, struct str given);
unsigned call_status(const struct call_result *r);
/* veil.c: what this caller may know of it. */
void veil_result(struct visit *v, struct call_result *r);
void veil_explain(struct visit *v, struct buf *json);

/* Whether this caller may see what belongs to a session. */
bool caller_sees(const struct visit *v, struct str session);
