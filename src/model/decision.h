/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The answer, and every reason for it. explain prints it, audit records it, the engine carries it
 * out and can only narrow it.
 */
#pragma once

#include "model/config.h"
#include "model/dest.h"
#include "model/request.h"

/* Where a sandbox with a route finds its proxy: on its own loopback. */
#define PROXY_PORT 3128
#define PROXY_URL "http://127.0.0.1:3128"

enum stage {
	STAGE_IDENTITY = 0,
	STAGE_MODE,
	STAGE_TOOL,
	STAGE_PLACEMENT,
	STAGE_NETWORK,
	STAGE_MOUNTS,
	STAGE_ENV,
	STAGE_LIMITS,
	STAGE_COUNT_
};
extern const struct enum_name stage_names[];

/* Stable words; the table in model/code.c gives each its word, HTTP status and S2's detail text. */
enum code {
	CODE_UNDECIDED = 0, /* a decision that was never finished is a refusal */
	CODE_OK,
	/* identity */
	CODE_MISSING_AUTH,
	CODE_INVALID_AUTH,
	CODE_INVALID_AGENT,
	CODE_MISSING_CHAT_ID,
	CODE_INVALID_CHAT_ID,
	CODE_PAIR_NOT_ALLOWED,
	CODE_INVALID_SESSION,
	CODE_UNKNOWN_AGENT,
	CODE_AGENT_MISMATCH,
	CODE_AGENT_AMBIGUOUS,
	/* mode */
	CODE_WEAKEN_REFUSED,
	CODE_NO_SANDBOX_REFUSED,
	/* tool */
	CODE_TOOL_NOT_ALLOWED,
	CODE_TOOL_DENIED_BY_POLICY,
	CODE_CAPABILITY_DENIED,
	CODE_SHELL_DENIED,
	CODE_BINARY_DENIED,
	CODE_INVALID_CMD,
	CODE_EXEC_MODE_DENIED,
	/* placement */
	CODE_SANDBOX_UNAVAILABLE,
	CODE_UNKNOWN_BACKEND,
	CODE_BACKEND_NOT_BUILT,
	CODE_ELEVATED_REFUSED,
	CODE_UNSAFE_PUBLIC_BIND,
	CODE_PROFILE_UNCONFINED,
	/* network */
	CODE_NETWORK_HOST_BLOCKED,
	CODE_NETWORK_JOIN_BLOCKED,
	CODE_NETWORK_NAME_INVALID,
	CODE_HOST_NOT_ALLOWED,
	CODE_CURL_FLAG_NOT_ALLOWED,
	CODE_CURL_NEEDS_SECONDS,
	CODE_INVALID_URL,
	/* mounts */
	CODE_BIND_INVALID,
	CODE_BIND_BLOCKED,
	CODE_BIND_RESERVED_TARGET,
	CODE_BIND_OUTSIDE_ROOTS,
	CODE_BIND_FORBIDDEN_IN_TIER1,
	CODE_WORKSPACE_ESCAPE,
	/* env */
	CODE_ENV_INVALID,
	CODE_RAW_SECRET_PUBLIC,
	/* limits */
	CODE_LIMIT_INVALID,
	CODE_COUNT_
};
const char *code_word(enum code c); /* "tool_denied_by_policy" */
unsigned code_http(enum code c);    /* 403 */
const char *code_detail(
	enum code c); /* S2's words where it has some, e.g. "agent/scope not allowed", else the word */

struct reason {
	enum stage stage;
	const char *what; /* "trust", "when", "deny" … a short literal */
	struct str value;
	struct str text;
	struct origin origin;
};

/* Tool list as it is after resolution, with where it came from (OpenClaw's sources). */
enum list_source { LIST_DEFAULT = 0, LIST_GLOBAL, LIST_AGENT };
struct tool_list {
	struct strs names;
	enum list_source source;
	const char *field; /* "allow", "alsoAllow", "deny" */
	struct origin origin;
};

struct elevated {
	bool requested, enabled, allowed, used, /* this call leaves the sandbox by it */
		always;     /* always: an allow list holds "*" … see policy/elevated.h */
	struct str channel; /* empty = unknown */
	bool has_global, has_agent;
	struct strs global_from, agent_from; /* normalised senders for the channel */
	struct {
		const char *gate; /* "enabled" | "provider" | "allowFrom" */
		struct str key;
	} failures[4];
	size_t n_failures;
};

enum route {
	ROUTE_NONE = 0,
	ROUTE_INTERNAL,
	ROUTE_HOSTS,
	ROUTE_BROWSER,
	ROUTE_PRIMARY,
	ROUTE_NETWORK,
	ROUTE_HOST,
	ROUTE_COUNT_
};
extern const struct enum_name route_names[];

enum mount_source { MOUNT_WORKSPACE = 0, MOUNT_AGENT, MOUNT_SKILL, MOUNT_BIND, MOUNT_VAULT, MOUNT_SCRATCH };
extern const struct enum_name mount_source_names[]; /* workspace agent protectedSkill bind vault tmpfs */

struct mount {
	struct str host; /* empty for a tmpfs; "~" already expanded */
	struct str target;
	bool writable;
	bool overlay;        /* read-only lower, private upper */
	bool optional;       /* a missing source is skipped with a warning, never created */
	bool check_resolved; /* the engine must check the source again after resolving symlinks */
	enum mount_source source;
	struct origin origin;
};

struct ask_dir {
	struct str path, inside; /* a directory, no link, that lies inside after links were followed */
};

enum env_state { ENV_WITHHELD = 0, ENV_UNSET, ENV_SET };
extern const struct enum_name env_state_names[];
struct env_item {
	struct str name;
	enum env_state state;
	bool secret;
	struct str value;    /* literals only; never printed by explain */
	struct str template; /* of a secret that is set: the text with its ${NAME}, names alone */
	const char *why;     /* for withheld and unset */
	struct origin origin;
};

struct decision {
	enum verdict verdict;
	enum code code;
	enum stage stopped_at; /* the stage that refused */
	struct str message;    /* for the operator; remote callers get code_detail() */
	struct str request_id;

	struct {
		struct str agent;
		struct str session_key; /* as canonicalised */
		struct str main_session_key;
		struct str rest; /* the key after agent:<id>: */
		bool is_main, is_subagent;
		struct str channel, chat_id, user_id, session_id;
		struct str token; /* id of the one that a remote caller showed */
		enum via via;
		const struct agent *block; /* NULL when the agent has none */
	} who;

	struct settings eff; /* base with the agent's and the rule's overrides applied */

	struct {
		enum trust trust;
		enum trust ruled; /* what the rules say, before a flag */
		enum when when;
		enum enforce enforce;
		bool sandboxed;
		bool isolation_asked; /* some axis other than S4's asks for isolation (C8) */
		enum place place_min;
		unsigned caps;
		const struct trust_rule *rule; /* NULL: no user rule matched */
		struct str pattern; /* the built-in or user pattern that decided; empty = default */
	} mode;

	struct {
		struct str name;                      /* canonical; empty when no tool was asked about */
		struct str asked;                     /* as the caller spelled it */
		unsigned needs;                       /* capability bits */
		bool gateway_side;                    /* decided by policy only, never executed */
		struct tool_list sbx_allow, sbx_deny; /* always resolved: explain shows them */
		struct strs argv;                     /* what would be executed */
		struct str path;                      /* as the caller named it */
		bool shell;                           /* argv is sh -c TEXT */
		bool own_shell; /* a shell may be started for words that it has a program of its own for */
	} tool;

	struct {
		enum place place;
		enum backend_id backend;
		struct str backend_name; /* as configured, for compat output */
		bool available;
		enum scope scope;
		struct str key; /* registry key */
		struct str image;
		uint64_t ttl_s;
		bool may_fall_back; /* to the host, under C8 alone */
		struct elevated elevated;
	} place;

	struct {
		enum route route;
		struct str network; /* none, bridge, a name */
		struct strs hosts;  /* destinations the proxy lets through, as text */
		bool has_hosts;
		const struct dest *dests; /* route internal: the same as `hosts`, with their addresses */
		size_t n_dests;
		bool twin; /* a second, networked sandbox exists for this session */
	} net;

	/* Directories that count when they exist. Whoever wants to be exact looks, and asks again with facts.dirs. */
	struct ask_dir *ask_dirs;
	size_t n_ask_dirs;
	struct mount *mounts;
	size_t n_mounts;
	struct str workdir;         /* inside */
	struct str workspace;       /* host directory behind the workspace mount */
	struct str agent_workspace; /* the agent's own directory on the host */

	struct env_item *env;
	size_t n_env;

	struct {
		uint64_t timeout_s, stdout_max, stderr_max, read_bytes, read_max, write_max;
		uint64_t output; /* of run, both streams together; 0 = no limit */
		uint64_t pids, memory, tmpfs, disk, open_files; /* disk: 0 = no limit */
		double cpus;
		bool run_setup;
	} limits;
	unsigned optional_walls; /* 1 << enum wall: a host without them is accepted */

	struct reason *reasons;
	size_t n_reasons;
	struct diag *warnings; /* model/diag.h */
	size_t n_warnings;
	struct strs fix_it;
};
