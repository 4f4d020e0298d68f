/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Sessions, their sandboxes, and the road of one call: identity, decision, record, sandbox, tool, result, record. Every door (the library, later the
 * runner) turns into these. The configuration is read when the engine is made, and a session's own keys when the session is; a call reads no file.
 *
 * Computes no permission: decide() does, and what it says is carried out or narrowed. A call whose decision cannot be recorded does not
 * run. Prints nothing: what is worth telling goes into results and errors. One thread at a time, and not across a fork.
 */
#pragma once

#include "backend/backend.h"
#include "base/err.h"
#include "base/jsonw.h"
#include "config/config.h"
#include "engine/lease.h"
#include "model/decision.h"

struct engine;
struct reg_approval;
struct session;

/* ---- the engine ---- */

struct engine_opts {
	struct strs config, sets; /* FILE or FORMAT:FILE; key=value */
	struct str profile, compat;
	struct str state_dir, cwd, home; /* empty = as always */
	char *const *environ;
	bool no_default_config;
	bool hurry; /* as CREEL_HURRY */
	unsigned pool;
	/* Each warning and error of the configuration. May be NULL. */
	void (*say)(void *ctx, enum severity severity, struct str line);
	void *ctx;
};

/* Texts are copied, but for environ. */
int engine_new(const struct engine_opts *o, struct engine **ret, struct err *e);
struct engine *engine_free(struct engine *g);
DEFINE_CLEANUP(engine, engine_free)
/* What waits for the disk: call counts, the log. */
int engine_flush(struct engine *g, struct err *e);
/* The same, when it is due. */
void engine_tick(struct engine *g);

/*
 * For servers. An engine that has opened nothing yet may be used in a child after a fork, once this was called there: it gets a name of its own, so that no
 * two processes give the same id to calls. ERR_BUG when something is open.
 */
int engine_forked(struct engine *g, struct err *e);
/* Opens the log, the registry and the warden now, and not with the first call; finishes calls in the log that somebody lost. */
int engine_open(struct engine *g, struct err *e);
const struct config *engine_config(const struct engine *g);
/* Who may call from outside, from now on: what request.token counts in. Borrowed; sessions that were opened with others are to be closed first. */
void engine_set_tokens(struct engine *g, struct token *v, size_t n);
/* A value that no log and no export shows, whoever writes it; `name` stands in its place. */
int engine_hide(struct engine *g, struct str name, struct str value, struct err *e);
/* Where sessions work that are given no workspace: a server's own directory is nobody's. */
int engine_set_cwd(struct engine *g, struct str dir, struct err *e);
/* The directory of the audit log, which is made when it is missing. */
int engine_audit_dir(struct engine *g, char *out, size_t size, struct err *e);

/* Sandboxes that stay, since the engine was made. */
struct engine_counts {
	uint64_t created, reused;
	uint64_t recovered;               /* made anew, because the one before was killed */
	uint64_t pool_hits;               /* calls that found a spare */
	uint64_t pool_misses;             /* that could have had one, and made their own */
	uint64_t pool_made, pool_dropped; /* spares; those that nobody has used */
};
struct engine_counts engine_counts(const struct engine *g);

struct egress_numbers;
/* What the egress service of this state directory has done so far. */
int engine_egress(const struct engine *g, struct egress_numbers *ret, struct err *e);

struct audit_field;
/* A call that was refused before it came to us, by the same rules: recorded as any other refusal is. */
int engine_record_refused(struct engine *g, const struct decision *d, struct err *e);
/* Somebody whose token was not taken. `fields` as audit_event() has them. */
int engine_record_token(struct engine *g, const char *what, const struct audit_field *f, size_t n,
			struct err *e);

/* ---- sessions ---- */

struct session_opts {
	/* A remote caller (guard, runner, api) is AUTH_TOKEN with the index of its token; any other is local, whatever auth says. */
	struct request
		who; /* of it: via, auth, token, agent, session_key, session_id, channel, chat_id, user_id, sender, provider, model, trust and the flags */
	bool own;    /* the sandbox lives in this process and ends with the session */
	const struct config_flag *flags; /* keys for this session alone */
	size_t n_flags;
	struct str image, cgroup_parent; /* p NULL = none */
	struct str net;                  /* what --net asked for: it is had, or calls are refused */
	struct strs env;                 /* NAME=value, or NAME */
};
/*
 * Who is refused from here on is refused at once, when local; a remote caller gets a session with which every call is decided, refused and recorded:
 * session_refused() says why, CODE_OK when it is not.
 */
int session_open(struct engine *g, const struct session_opts *o, struct session **ret, struct err *e);
enum code session_refused(const struct session *s);
/* Of the sandbox that it is connected with; empty: none. */
struct str session_place_key(const struct session *s);
struct session *session_close(struct session *s);
DEFINE_CLEANUP(session, session_close)

/* What would be decided about this call, as explain has it. `args` may be empty: none. */
int session_decide(struct session *s, struct str tool, struct str args, struct buf *out, bool *ret_allowed,
		   struct err *e);

/* ---- one call ---- */

enum { CALL_LAYERS_MAX = 4 };
enum call_status { CALL_ERROR = 0, CALL_OK, CALL_FAILED, CALL_REFUSED, CALL_VERDICT };

struct call_opts {
	struct str tool, args; /* JSON object; empty = none */
	struct str request_id; /* empty = one is made */
	uint64_t timeout_s;    /* 0 = as configured */
	int cancel_fd;         /* negative = none */
	bool all_processes; /* `process` is told of those of all sessions that share the sandbox, not of its own alone */
	int (*output)(void *ctx, int stream, struct str bytes);
	void (*warn)(void *ctx, const char *text); /* before it runs; NULL = nobody wants to know */
	void (*allowed)(void *ctx); /* it was decided and recorded, and is about to run; the same */
	void (*waiting)(void *ctx, const struct reg_approval *row); /* a person has to answer; the same */
	void *ctx;
};
struct call_result {
	enum call_status status;
	int exit;
	enum err_kind kind;
	int sys_errno;  /* of what kind tells; 0 = none */
	enum code code; /* CALL_REFUSED: what policy said */
	char error[32]; /* the stable word of the JSON; empty = none */
	bool ran;       /* a program ran, and `reason` is how it ended */
	bool of_host; /* what the JSON says for a reason is about this host, not about what the tool saw inside */
	bool warned; /* it has warnings that may name files of the host */
	enum box_reason reason;
	enum backend_id backend;
	const char *layers[CALL_LAYERS_MAX]; /* of the denials; literals, NULL behind the last */
	struct buf json;                     /* the caller's to end */
};
/* 0 with *ret whatever became of it; negative when there is not even a result. */
int session_call(struct session *s, const struct call_opts *o, struct call_result *ret, struct err *e);

/* Ready sandboxes for sessions like this one; how many there are. */
int session_pool_fill(struct session *s, struct err *e);

/*
 * Spares (serve.pool): sandboxes for one call, made for this session before its next call comes. They go with the session. Whoever serves makes them
 * when nobody waits, and bounds how many there are.
 */
bool session_wants_spare(const struct session *s); /* since its last call */
void session_want_none(struct session *s);
/* Begins to: 1: one more is being made, and nobody waits for it; 0: none is needed. */
int session_make_spare(struct session *s, struct err *e);
/* How many there are, and how many of them are ready; those that died are let go of. */
unsigned session_spares(struct session *s, unsigned *ret_ready);
unsigned session_drop_spares(struct session *s, uint64_t before_ms); /* made before; how many went */
uint64_t session_oldest_spare(const struct session *s); /* when it was made (monotonic); CLOCK_NEVER: none */
/* Whether serve.max_sandboxes leaves room for so many more beside those that are kept and spare. */
int engine_has_room(struct engine *g, uint64_t more, struct err *e);

/* ---- the sandboxes that live ---- */

struct live_filter {
	struct str key, session, agent;
	struct str used; /* the key of what `session` shares with others; live_list() fills it in */
	bool has_scope;
	enum scope scope;
};
struct live_info {
	const struct reg_entry *entry;
	bool alive;
	uint32_t running;
	uint64_t memory_bytes, cpu_us;
	bool memory_summed; /* over its processes, because no cgroup counts them */
	bool layers;        /* no sandbox, but the private layers that one has left */
	uint64_t disk_bytes;
	const char *why;
};
/* Anything but 0 ends it and is returned. */
typedef int live_fn(void *ctx, const struct live_info *info);

int live_list(struct engine *g, const struct live_filter *f, live_fn *each, void *ctx, struct err *e);
int live_inspect(struct engine *g, struct str key, struct buf *out, struct err *e);
/* How many have ended. `busy_too`: also those in which a call runs. */
int live_end(struct engine *g, const struct live_filter *f, bool busy_too, const char *what, live_fn *each,
	     void *ctx, struct err *e);
struct prune_opts {
	bool dry;
	int64_t idle_hours, max_age_days, layers_days; /* negative = as configured */
	uint64_t now_ms;                               /* Unix time; 0 = now */
};
int live_prune(struct engine *g, const struct prune_opts *o, live_fn *each, void *ctx, struct err *e);

/* ---- what the log has ---- */

/* Everything about one call or one session, without secrets; one of both is empty. */
int engine_incident(struct engine *g, struct str request, struct str session, struct buf *out, struct err *e);

/* The tools that exist, as creel_tools() tells them. */
void engine_tools(struct buf *out);
