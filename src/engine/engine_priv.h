/* SPDX-License-Identifier: Apache-2.0 */
/* What the files of the engine share. */
#pragma once

#include "audit/audit.h"
#include "backend/backend.h"
#include "backend/kept_dir.h"
#include "engine/approval.h"
#include "engine/build.h"
#include "engine/engine.h"
#include "engine/pool.h"
#include "engine/secrets.h"
#include "net/rules.h"
#include "policy/policy.h"
#include "prepare/prepare.h"
#include "tools/tool.h"

#define CALL_ARENA_MAX ((size_t)256 << 20)
#define CALL_ARENA_FIRST ((size_t)64 << 10)
#define RESULT_MAX ((size_t)256 << 20)

struct engine {
	struct arena arena; /* configuration, facts, texts of the options */
	struct config_input input;
	struct config config;
	struct diags diags;
	struct facts facts;
	struct state_dir state;
	struct secrets *secrets;
	struct redactor *redactor;
	struct audit *audit;       /* NULL = not opened yet */
	struct registry *registry; /* the same */
	int warden_fd;             /* the same */
	int mounts_fd;             /* tells that the host's mounts have changed; negative = not opened yet */
	uint64_t mounts_changed;   /* how often it has */
	int clerk_fd;              /* of sandboxes that this process has; negative = each finds its own */
	int own_dir;               /* the same; then `self` is this process */
	int own_lock;              /* the same */
	struct reg_proc self;
	uint64_t own_count; /* notes of sandboxes of our own, so far */
	uint64_t requests;  /* that were numbered here */
	char run_id[24];    /* of this engine, in the ids that it makes */
	struct pool pool;
	struct engine_counts counts;
	uint64_t reap_ms;        /* before this (monotonic) the registry is not searched for the dead again */
	uint64_t config_changes; /* since it was loaded */
	bool config_recorded;    /* in the log, by this engine or before it */
	bool hurry;              /* whoever frees it does not wait for the disk */
	struct tool_memory memory; /* of the calls of all sessions, one after the other */
};

/* engine.c: opened when they are needed first */
int engine_audit(struct engine *g, struct audit **ret, struct err *e);
/* With the log open: which configuration is in force, when it is another than the last that was recorded. */
int engine_record_config(struct engine *g, struct err *e);
int engine_registry(struct engine *g, struct registry **ret, struct err *e);
int engine_warden(struct engine *g, int *ret, struct err *e);
/* The directory of one sandbox that is kept, with its socket and info; made when it is missing. */
int engine_session_dir(struct engine *g, struct str key, char *out, size_t size, struct err *e);

/* What backend.setupCommand said, when it failed. Texts lie in the arena of the call. */
struct setup_end {
	bool failed;
	int exit;
	struct str out, err;
};

/* How often the sandbox ran into its limits, when that was counted last. */
struct limits_seen {
	uint64_t oom_kills, pids_refused;
	uint64_t looked_ms; /* monotonic; 0 = never */
};

/* spare.c: made for this session before their call comes. */
enum { SPARES_MAX = 4, JOB_KEY_MAX = 48 };
struct spare_want;
struct spare {
	struct box *box;
	struct digest digest;
	char walls[SHA256_HEX]; /* of build_walls() */
	char key[JOB_KEY_MAX];  /* in the registry */
	bool layers;
	bool stands;      /* its walls do; until then it is being made */
	uint64_t made_ms; /* monotonic: when that began */
	uint64_t mounted; /* of mounts_now(), before anything was looked up */
	bool below;       /* the host had mounts below what it sees, or may have had */
};
struct spares {
	struct spare v[SPARES_MAX];
	unsigned n;
	struct spare_want *want; /* NULL = none is */
};

/* What is known of the tools that a session calls: road_decide.c. */
#define SESSION_TOOLS_MAX 8u
struct session_tools {
	struct session_tool {
		char name[24]; /* as the caller spells it */
		size_t n_name;
		const struct tool *tool;
		unsigned decided;        /* how often from the start, up to STANDING_TRIES */
		uint64_t config_changes; /* of the engine, when it was decided */
		struct standing *standing;
	} v[SESSION_TOOLS_MAX];
	size_t n;
};
void session_tools_done(struct session *s);

struct session {
	struct engine *engine;
	struct arena arena; /* as long as the session */
	const struct config *config;
	struct config own_config;
	struct request who; /* of every call */
	bool own;
	enum code refused; /* a remote caller who is nobody here; CODE_OK otherwise */
	struct str image, cgroup_parent, net;
	struct strs env;     /* NAME=value */
	struct git_user git; /* of the caller, for calls in a sandbox that others use, too */
	bool git_found;
	bool env_secret; /* a value came from the environment */

	void *call_memory; /* used again by each call */
	size_t call_used;  /* of it, by the last one */
	struct session_tools tools;
	/* where it works: session_place.c */
	struct str cwd;       /* where its caller stands */
	struct str place_key; /* of its sandbox, when it follows */
	bool follows;         /* the workspace is the caller's directory, unless the sandbox has another */
	bool named;           /* the session was */
	bool elsewhere;       /* the caller stands outside of the workspace */
	struct str below;     /* in the workspace: where the caller stands; empty = at its top */
	char place[4096];     /* the workspace, when it is not the caller's directory */

	char ended
		[KEPT_NOTE_MAX]; /* why the sandbox before this one has, when the call that is under way has found out; empty = nothing to tell */
	int cancel_fd;           /* of the call that is under way; negative = none */
	struct setup_end setup;

	/* the sandbox in hand; NULL = none yet */
	struct box *box;
	char key[REGISTRY_KEY_MAX + 1];
	struct buf made_for; /* what of a decision went into its walls */
	struct digest digest;
	bool kept;                 /* by a supervisor, and in the registry */
	bool on_host;              /* no sandbox at all */
	bool for_one;              /* ends with the call: scope job */
	uint64_t own_note;         /* of one that lives in this process; 0 = there is none */
	char job_key[JOB_KEY_MAX]; /* then: its own in the registry; empty = it is not there */
	bool warn;                 /* its walls have changed, and it goes on for a while */
	uint64_t warn_until_ms;
	struct limits_seen seen;
	struct spares spares;
};

/* session.c */
/* The sandbox of this decision in s->box: in hand, found, or made. `a` is of the call. */
int session_sandbox(struct session *s, const struct decision *d, struct arena *a, struct err *e);
struct build_input session_build_input(const struct session *s, const struct decision *d);
void session_let_go(struct session *s);
void session_end(struct session *s, bool lost); /* the same after a call, which it may have lost */
/* Where a call on the host begins. */
struct str session_host_dir(const struct session *s, const struct decision *d);
/* What is in hand, put aside while an elevated call runs on the host, and taken up again. */
struct session_hand {
	struct box *box;
	char key[REGISTRY_KEY_MAX + 1];
	struct buf made_for;
	struct digest digest;
	bool kept, on_host, for_one, warn;
	uint64_t own_note;
	uint64_t warn_until_ms;
	struct limits_seen seen;
};
void session_put_aside(struct session *s, struct session_hand *h);
void session_take_up(struct session *s, struct session_hand *h);
void session_count_limits(struct session *s);
void session_request(const struct session *s, struct request *ret);

/* session_env.c: the environment of a call, NAME=value; `from`: what it begins with, the decision's own where that is NULL */
int session_env(const struct session *s, const struct decision *d, char *const *from, struct arena *a,
		struct strs *ret, struct err *e);

/* session_job.c */
struct reg_entry session_entry(const struct session *s, const struct decision *d);
/* The process of the box and the key that it has as a job, in entry and key. */
int job_name(const struct box *box, struct reg_entry *entry, char key[static JOB_KEY_MAX], struct err *e);
int job_register(struct session *s, const struct decision *d, struct err *e);
void job_forget(struct session *s);
void job_sweep(struct engine *g); /* layers of jobs whose warden was killed */

/* spare.c */
/* Whether such a call could have one. */
bool spare_possible(const struct session *s, const struct decision *d);
/* Another like the one that this call has is wanted. */
void spare_want(struct session *s, const struct request *r, const struct decision *d);
/* True with s->box, which is what `b` would be. */
bool spare_take(struct session *s, const struct decision *d, const struct build *b);
void spares_done(struct session *s);

/* session_own.c */
void own_begin(struct engine *g, const struct box *box,
	       struct own_begun *ret); /* may fail: then there is none */
/* Begun by now if it was not before; *b is none afterwards, or still to be dropped. */
void own_note(struct session *s, const struct decision *d, struct own_begun *b);
void own_forget(struct session *s);
/* It has ended since the last call; `why` as the sandbox said it, if it could. */
void own_record_end(struct session *s, const struct err *why);
void own_done(struct engine *g);
/* Adds those of every process to the *n of *v, which lie in the arena. */
int own_list(struct engine *g, struct arena *a, struct reg_entry **v, size_t *n, struct err *e);

/* session_kept.c: found in the registry, or made there */
/* Nobody keeps a sandbox for this session. False when that cannot be told. */
bool kept_is_none(struct session *s, const struct decision *d, struct arena *a);
int kept_sandbox(struct session *s, const struct decision *d, struct build *b, struct arena *a,
		 struct err *e);

/* session_end.c */
#define KEPT_LOCK_TTL_MS 60000u /* longer than a supervisor may take to start */
#define KEPT_LOCK_WAIT_MS 90000u
#define KEPT_HASTY_MS 3000u /* for an answer, where nothing is lost without one */
void kept_pause(void);      /* between two looks */
struct str kept_lock_name(struct arena *a, struct str key);
void kept_forget_dir(const char *dir); /* what its supervisor has left there */
/* What happened, for the log; not what a call waits for. */
void kept_record(struct engine *g, const char *what, struct str key, const char *why);
/* Why one has ended that nobody looked at, if that was not told yet. */
bool kept_record_end(struct engine *g, const char *dir, struct str key, char why[static KEPT_NOTE_MAX]);
/* Under its lock: ends it, and takes it out of the registry. 1 when it lived. */
int kept_end_entry(struct engine *g, const struct reg_entry *entry, const char *audit_what, const char *why,
		   struct err *e);
/* The sandbox of another process; its note goes when somebody looks. */
int own_end(struct engine *g, const struct reg_entry *entry, const char *what, const char *why,
	    struct err *e);
/* Ends it, if this is still its supervisor, and takes it out of the registry. 1 when it lived. `what` is recorded. */
/* The disk is full, and the registry could not be written: what has ended has ended all the same, and whoever looks next finds it gone. */
static inline int unless_full(int r, struct err *e)
{
	if (r >= 0 || e->sys_errno != ENOSPC)
		return r;
	*e = (struct err){ 0 };
	return 0;
}
int kept_end(struct engine *g, struct str key, const struct reg_proc *only, const char *what, const char *why,
	     struct err *e);

/* session_place.c */
void session_place_init(struct session *s, const struct decision *d);
/* Before a decision: the workspace of the sandbox that lives, unless one is in hand. `a` is of the call. */
void session_find_place(struct session *s, struct arena *a);
/* A tier-1 workspace is made when it is missing: for whoever owns the place where it goes. */
int session_make_place(const struct decision *d, struct err *e);
/* What the caller should know of it; false when there is nothing. */
bool session_elsewhere(const struct session *s, struct buf *out);
bool session_apart(const struct session *s, const struct decision *d, struct buf *out);

/* live_sweep.c: empty directories of sandboxes that have ended; how many went. */
int live_sweep(struct engine *g, struct err *e);

/* live_memory.c */
/* The children of this process, all that fit; how many. */
size_t live_children(pid_t above, pid_t *v, size_t max);
/* What the processes below this one have in memory, bytes; 0 = not known. */
uint64_t live_memory(pid_t above);

/* layers.c: layers that nobody uses any more; how many with changes in them went. */
int layers_prune(struct engine *g, const struct prune_opts *o, live_fn *each, void *ctx, struct err *e);

/* setup.c: does nothing where the decision says so. ERR_UNAVAIL or ERR_LIMIT, and s->setup, when the sandbox must not be used. */
int setup_run(struct session *s, const struct decision *d, struct box *box, struct arena *a, struct err *e);
uint64_t setup_ms(const struct decision *d); /* how long it may take; 0 = there is none */

/* host.c */
int host_open(struct str workdir, struct box **ret, struct err *e);

/* way.c: out of a sandbox with a route */
int way_check(const struct decision *d, struct err *e); /* can it be had here? */
/* To the egress service, when the decision has a route that needs it; *ret_fd stays otherwise. */
int way_find(const struct engine *g, const struct decision *d, int *ret_fd, struct err *e);
/* The sandbox of the session is served from now on, until the descriptor is closed: egress_close() of net/line.h. */
int way_open(int fd, const struct session *s, const struct decision *d, struct str request, struct arena *a,
	     struct err *e);
struct denial way_denial(const struct net_denial *d); /* its texts are those of *d */

/* result.c */
struct outcome {
	const struct decision *d; /* NULL: there is none */
	struct str tool, request_id;
	enum call_status status;
	int exit;
	const char *reason;            /* a literal */
	struct str members;            /* the tool's own: JSON members without braces, may be empty */
	bool says_end, says_artifacts; /* they are among the members: tools/tool.h */
	const char *error;             /* a stable word, or NULL */
	struct err err;
	uint64_t duration_ms;
	bool placed; /* it was about to run in the place that was decided */
	bool has_usage;
	struct box_end end;
	const struct denial *denials;
	size_t n_denials;
	struct approval_end approval; /* id empty: nobody was asked */
	const struct net_report *net; /* NULL: it had no route */
};
void result_put(const struct session *s, const struct outcome *o, struct buf *out);
