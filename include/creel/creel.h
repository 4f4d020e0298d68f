/* SPDX-License-Identifier: Apache-2.0 */
/*
 * libcreel: ask what a tool call may do, and have it done behind the walls that were decided. See libcreel(3).
 *
 * An engine holds a configuration that was read once, the audit log and the registry of live sandboxes. A session is who asks; its
 * sandbox is found or made with the first call. A call is one tool with JSON arguments, and comes back as one JSON object.
 *
 * Nothing is printed, no signal handler is set, no thread is made. An engine and its sessions belong to one thread at a time, and not to a
 * child after fork(); other engines, in this process or another, may serve the same sandboxes at the same time.
 *
 * Structs that the caller fills begin with their size: a library that is newer than its caller knows what the caller did not. Use the
 * _INIT macros; members that are 0 or NULL mean "as it is by default". Texts are UTF-8, end in a NUL, and are borrowed for the time of
 * the call. Whatever is returned and has to be freed says with what.
 */
#ifndef CREEL_CREEL_H
#define CREEL_CREEL_H

#include <stddef.h>
#include <stdint.h>

#define CREEL_API_VERSION 1

#if defined(__GNUC__)
#define CREEL_API __attribute__((visibility("default")))
#else
#define CREEL_API
#endif

#ifdef __cplusplus
extern "C" {
#endif

struct creel_engine;
struct creel_session;

/* ---- errors ---- */

/* Who has to act. */
enum creel_kind {
	CREEL_OK = 0,
	CREEL_USAGE,    /* the caller asked for nonsense */
	CREEL_DENIED,   /* policy said no */
	CREEL_NOTFOUND, /* the thing named does not exist */
	CREEL_LIMIT,    /* a size, count, rate or time bound was hit */
	CREEL_UNAVAIL,  /* the kernel or a backend cannot do this here */
	CREEL_PROTO,    /* a peer spoke garbage */
	CREEL_SYS,      /* a system call failed: see sys_errno */
	CREEL_BUG       /* creel's own invariant broke */
};

/* Filled by whatever returns a negative number. May be NULL everywhere. */
struct creel_error {
	int kind;      /* enum creel_kind */
	int sys_errno; /* 0 when no system call was involved */
	int exit;      /* what a command line program says: 126 = policy said no, 125 = anything else */
	char message[500];
};

/* ---- the engine ---- */

enum creel_severity { CREEL_WARNING = 0, CREEL_ERROR = 1 };
/* What is wrong with a configuration, one line each: "file:line:column: key: what, accepted values". */
typedef void creel_say_fn(void *ctx, int severity, const char *text);

enum creel_engine_flag {
	CREEL_NO_DEFAULT_CONFIG = 1, /* do not look for configuration files that nobody named */
	/*
	 * For a program that ends after a call: creel_engine_free() hands what was logged to the disk and does not wait for it. It is there when the
	 * file system brings it there by itself, after some seconds. Refusals and calls that asked to leave the sandbox are waited for all the same.
	 */
	CREEL_HURRY = 2
};

struct creel_options {
	size_t size;
	unsigned flags;            /* enum creel_engine_flag */
	const char *const *config; /* FILE or FORMAT:FILE, in order */
	size_t n_config;
	const char *const *set; /* key=value or {json}, after the files, in order */
	size_t n_set;
	const char *profile, *compat;
	const char *state_dir; /* registry, audit log, private layers; NULL = the user's own */
	const char *cwd;       /* absolute; NULL = the process's */
	char *const
		*environ_; /* ends in NULL; borrowed for as long as the engine lives; NULL = the process's */
	const char *home;  /* NULL = $HOME */
	unsigned pool;     /* ready sandboxes for CREEL_OWN sessions; 0 = none */
	creel_say_fn *say; /* may be NULL */
	void *ctx;         /* of say */
};
#define CREEL_OPTIONS_INIT                                                                                \
	{                                                                                                 \
		sizeof(struct creel_options), 0, NULL, 0, NULL, 0, NULL, NULL, NULL, NULL, NULL, NULL, 0, \
			NULL, NULL                                                                        \
	}

CREEL_API int creel_engine_new(const struct creel_options *o, struct creel_engine **ret,
			       struct creel_error *e);
/* After its sessions. Writes what waits to be written. NULL is fine; returns NULL. */
CREEL_API struct creel_engine *creel_engine_free(struct creel_engine *c);

/*
 * Call counts and the audit log wait up to a second for the disk, off the way of the calls. A program with an event loop calls this when it
 * has nothing better to do; any other need not: calls do it when it is due.
 */
CREEL_API int creel_flush(struct creel_engine *c, struct creel_error *e);

CREEL_API const char *creel_version(void); /* "0.1.0" */

/* ---- who asks ---- */

enum creel_session_flag {
	CREEL_OWN =
		1, /* the sandbox lives in this process and ends with the session; otherwise a process of its own keeps it for all */
	CREEL_FORCE_SANDBOX = 2, /* a sandbox even when nothing asks for one, as creel run does */
	CREEL_NO_SANDBOX = 4,    /* on the host, where policy lets the local operator say so */
	CREEL_ALLOW_WEAKEN = 8,  /* `trust` may be weaker than what was configured */
	CREEL_ELEVATED = 16,
	CREEL_VIA_CLI = 32 /* a person typed it: recorded as "cli", not "library" */
};

struct creel_session_options {
	size_t size;
	unsigned flags;      /* enum creel_session_flag */
	const char *session; /* session key; NULL = the main session of the agent */
	const char *agent;
	const char *session_id, *channel, *chat_id, *user_id, *sender, *provider, *model;
	const char *trust; /* none, light, docker, readonly; NULL = as the rules say */

	/* what a key of the configuration says, for this session alone, before any agent or rule: as the flags of creel run */
	const char *workspace, *workspace_access, *network, *backend;
	const char *memory, *pids, *cpus, *disk;
	const char *scope;         /* job, session, agent, shared, lease */
	const char *image;         /* a directory (with a slash) or the name of one */
	const char *cgroup_parent; /* a directory to make cgroups in */
	const char *const *env; /* NAME=value, or NAME with its value from the environment; for each call */
	size_t n_env;
	const char *output_limit; /* a program that writes more is ended */
};
#define CREEL_SESSION_INIT                                                                                  \
	{                                                                                                   \
		sizeof(struct creel_session_options), 0, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL,    \
			NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, \
			0, NULL                                                                             \
	}

/* Decides who it is; the sandbox is found or made by the first call that needs it. The engine has to outlive it. */
CREEL_API int creel_open(struct creel_engine *c, const struct creel_session_options *o,
			 struct creel_session **ret, struct creel_error *e);
/* A sandbox of its own ends with everything in it; one that is kept goes on. NULL is fine; returns NULL. */
CREEL_API struct creel_session *creel_close(struct creel_session *s);

/* ---- deciding ---- */

/*
 * What would be decided, and every reason for it, as the JSON of `creel explain --json`: *ret_json is freed with creel_free(). Nothing is
 * run. `tool` NULL: who and where alone. `arguments`: a JSON object, or NULL. 1 = allowed, 0 = not, negative = *e.
 */
CREEL_API int creel_decide(struct creel_session *s, const char *tool, const char *arguments, char **ret_json,
			   struct creel_error *e);

CREEL_API void creel_free(void *p);

/*
 * The tools that exist: a JSON array of {"name", "aliases": [...], "description", "limits", "needs": [capability...], "inputSchema"}, the last
 * being the JSON Schema of the arguments, in which "x-aliases" has the other names of one. Tools of the gateway come last, with "gateway": true
 * and without a schema. Freed with creel_free().
 */
CREEL_API int creel_tools(struct creel_engine *c, char **ret_json, struct creel_error *e);
/* One of them, by any of its names, in any case: 1 and the object, or 0 and NULL when there is none. */
CREEL_API int creel_tool(struct creel_engine *c, const char *name, char **ret_json, struct creel_error *e);

/* ---- calling ---- */

enum creel_stream { CREEL_STDOUT = 1, CREEL_STDERR = 2 };
/* Output as it comes, any bytes. Anything but 0 cancels the call. Not called for tools that do not stream. */
typedef int creel_output_fn(void *ctx, int stream, const char *data, size_t n);

/* ---- approvals: a call that a person has to allow ---- */

struct creel_approval {
	size_t size;
	const char *id;   /* short, to be typed */
	const char *kind; /* "host": a program on the host; "elevated": one that leaves its sandbox; "tool" */
	const char
		*state; /* waiting, allowed (once), granted (for a time), used, denied, expired, withdrawn */
	const char *request_id, *session, *agent, *channel, *chat_id, *tool, *via;
	const char *command,
		*arguments; /* for people: without secrets that are known or marked, nothing invisible, both ends of what is long */
	const char *workdir; /* on the host */
	const char *call;    /* digest of the exact call */
	const char *by, *reason;
	uint64_t created_ms, expires_ms; /* Unix time: no answer by then is "no" */
	uint64_t answered_ms, until_ms;  /* 0 = not; until: of one that is granted */
	uint64_t used;                   /* times */
};
/* A call waits for this one. Texts are valid until it returns. */
typedef void creel_waiting_fn(void *ctx, const struct creel_approval *approval);

struct creel_call {
	size_t size;
	const char *tool;
	const char *arguments;  /* a JSON object; NULL = {} */
	size_t n_arguments;     /* its bytes; 0 = up to the NUL */
	const char *request_id; /* NULL = one is made */
	uint64_t timeout_s;     /* 0 = as configured; never more than limits.timeout_max_s */
	int cancel_fd; /* the call is cancelled when this can be read; negative = none. Any thread may write to its other end. */
	creel_output_fn *output; /* may be NULL */
	void *ctx;               /* of output and warn */
	creel_say_fn *
		warn; /* what should be known before the call runs, and not only from its result; may be NULL */
	creel_waiting_fn *
		waiting; /* a person is asked first, and the call waits for approvals.timeout_s seconds; may be NULL. ctx is of this, too */
};
#define CREEL_CALL_INIT                                                                       \
	{                                                                                     \
		sizeof(struct creel_call), NULL, NULL, 0, NULL, 0, -1, NULL, NULL, NULL, NULL \
	}

enum creel_status {
	CREEL_CALL_ERROR =
		0, /* the tool could not do it, or creel could not: `error` and `message` of the JSON say what */
	CREEL_CALL_OK,
	CREEL_CALL_FAILED, /* the program ran and ended with another status than 0, by a signal, at its deadline */
	CREEL_CALL_REFUSED, /* policy said no; nothing ran */
	CREEL_CALL_VERDICT /* a tool of the gateway that policy allows; creel decides about those and never runs them */
};

struct creel_result {
	size_t size;
	int status; /* enum creel_status */
	int exit; /* for a command line: 0; the program's status; 128 + signal; 124 timeout; 126 refused; 127 not found; 125 */
	int kind;         /* enum creel_kind of an error */
	const char *json; /* the result, one object: libcreel(3) */
	size_t n_json;
};
#define CREEL_RESULT_INIT                                     \
	{                                                     \
		sizeof(struct creel_result), 0, 0, 0, NULL, 0 \
	}

/*
 * One call, waited for. 0 when there is a result, whatever became of the call: a refusal and a failure are results, too, and are in
 * the audit log. Negative when there is none: the call could not even be asked about. When the log cannot be written the call does
 * not run, and the result says so. *ret is freed with creel_result_free(), and needs nothing when this failed.
 */
CREEL_API int creel_call(struct creel_session *s, const struct creel_call *call, struct creel_result *ret,
			 struct creel_error *e);
CREEL_API void creel_result_free(struct creel_result *r);

/* Texts are valid until it returns. Anything but 0 ends the list and is returned. */
typedef int creel_approval_fn(void *ctx, const struct creel_approval *approval);

struct creel_approval_filter {
	size_t size;
	const char *id; /* exactly this one; NULL = any */
	int all;        /* also those that have ended, as far as they are kept */
};
#define CREEL_APPROVAL_FILTER_INIT                            \
	{                                                     \
		sizeof(struct creel_approval_filter), NULL, 0 \
	}
/* Those that wait or are granted for a time, oldest first, of every process with this state directory. 0, or what `each` returned, or negative. */
CREEL_API int creel_approvals(struct creel_engine *c, const struct creel_approval_filter *f,
			      creel_approval_fn *each, void *ctx, struct creel_error *e);

struct creel_answer {
	size_t size;
	const char *id;
	int allow; /* 0 = deny, which also takes back what was allowed and not used, or granted */
	uint64_t
		for_s; /* with allow: 0 = this call, once; otherwise also the same call again, for so many seconds (at most 86400) */
	const char *by;     /* who says so, for the log; NULL = the user of this process */
	const char *reason; /* may be NULL */
};
#define CREEL_ANSWER_INIT                                           \
	{                                                           \
		sizeof(struct creel_answer), NULL, 0, 0, NULL, NULL \
	}
/* 0, or negative: CREEL_NOTFOUND when it does not wait (any more). What cannot be recorded does not happen. */
CREEL_API int creel_approval_answer(struct creel_engine *c, const struct creel_answer *a,
				    struct creel_error *e);

/* ---- the sandboxes that live ---- */

struct creel_filter {
	size_t size;
	const char *key;     /* exactly this one; NULL = any */
	const char *session; /* NULL = any */
	const char *agent;
	const char *scope;
	int all; /* for creel_kill() and creel_recreate(): without any of those above all are meant only when this is set */
};
#define CREEL_FILTER_INIT                                              \
	{                                                              \
		sizeof(struct creel_filter), NULL, NULL, NULL, NULL, 0 \
	}

struct creel_sandbox {
	size_t size;
	const char *key, *session, *agent, *scope, *backend,
		*state; /* starting, ready, stopping, lost; layers: only the private layers that one has left */
	const char *workspace;        /* on the host */
	const char *walls, *mounts;   /* digests */
	uint64_t created_ms, used_ms; /* Unix time */
	uint64_t warned_ms;           /* since when its user knows that its walls have changed; 0 = not */
	uint64_t calls;
	int64_t supervisor, warden; /* process ids; 0 = none */
	int alive;                  /* it answered just now; what follows is known only then */
	unsigned running;           /* calls */
	uint64_t memory_bytes;      /* 0 = not known */
	uint64_t cpu_us;            /* of what has ended */
	const char *
		why; /* creel_prune(): "idle", "old", "lost", or of layers "unused"; of a lost one, why it has ended by itself; otherwise NULL */
	uint64_t disk_bytes; /* of layers */
	int memory_summed;   /* memory_bytes is the sum over its processes: no cgroup counts them */
	int64_t owner; /* the process that has it for itself (CREEL_OWN): used_ms and calls are not known then; 0 = none */
};
/* Texts are valid until it returns. Anything but 0 ends the list and is returned. */
typedef int creel_sandbox_fn(void *ctx, const struct creel_sandbox *sandbox);

/* Last used first. 0, or what `each` returned, or negative with *e. */
CREEL_API int creel_list(struct creel_engine *c, const struct creel_filter *f, creel_sandbox_fn *each,
			 void *ctx, struct creel_error *e);
/* One sandbox by its key or session as a JSON object, with its background processes; freed with creel_free(). */
CREEL_API int creel_inspect(struct creel_engine *c, const char *key, char **ret_json, struct creel_error *e);
/*
 * Ends sandboxes with everything in them. Workspaces and private layers stay. How many there were, or negative. `each` may be NULL; it is
 * told what has ended.
 */
CREEL_API int creel_kill(struct creel_engine *c, const struct creel_filter *f, creel_sandbox_fn *each,
			 void *ctx, struct creel_error *e);
/* The same, and the next call makes it anew: a sandbox that is in use (a call runs in it) is left alone unless `force`. */
CREEL_API int creel_recreate(struct creel_engine *c, const struct creel_filter *f, int force,
			     creel_sandbox_fn *each, void *ctx, struct creel_error *e);

struct creel_prune_options {
	size_t size;
	int dry; /* tells, and ends nothing */
	int64_t idle_hours,
		max_age_days; /* for every agent, in place of backend.prune.*; 0 = never, negative = as configured */
	int64_t layers_days; /* the same for private layers with changes in them */
};
#define CREEL_PRUNE_INIT                                          \
	{                                                         \
		sizeof(struct creel_prune_options), 0, -1, -1, -1 \
	}
/*
 * What was idle or lived for too long, entries of what is gone (why: "lost"), and private layers that nobody uses any more (state: "layers"): those with
 * changes only when a number of days is given or configured. How many there were, or negative.
 */
CREEL_API int creel_prune(struct creel_engine *c, const struct creel_prune_options *o, creel_sandbox_fn *each,
			  void *ctx, struct creel_error *e);

/* ---- incidents ---- */

/*
 * What the audit log has about one call (the request_id of its result) or one session (its key), the other being NULL: one JSON object with decisions,
 * ends, denials and the life of the sandboxes, without secret values as far as they are known or marked. Freed with creel_free().
 */
CREEL_API int creel_incident(struct creel_engine *c, const char *request_id, const char *session,
			     char **ret_json, struct creel_error *e);

/* ---- ready sandboxes ---- */

/* Builds sandboxes for the next sessions like this one (CREEL_OWN) until the pool is full. How many are ready, or negative. */
CREEL_API int creel_pool_fill(struct creel_session *like, struct creel_error *e);

#ifdef __cplusplus
}
#endif

#endif
