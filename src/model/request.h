/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What somebody asks for, from whichever door it came, and the facts about the world that the
 * pure decision may look at. Nothing here is trusted: decide() checks all of it.
 */
#pragma once

#include "model/names.h"

#include <stdint.h>

/* 0 is the door with the fewest rights. */
enum via { VIA_GUARD = 0, VIA_RUNNER, VIA_API, VIA_LIBRARY, VIA_CLI, VIA_COUNT_ };
enum auth { AUTH_MISSING = 0, AUTH_INVALID, AUTH_TOKEN, AUTH_LOCAL };
extern const struct enum_name via_names[];

/* Which backends can be had on this host now. Filled by a probe (doctor, runner) or assumed by explain. */
enum backend_id {
	BACKEND_NONE = 0,
	BACKEND_HOST,
	BACKEND_NATIVE,
	BACKEND_DOCKER,
	BACKEND_OPENSANDBOX,
	BACKEND_COUNT_
};
extern const struct enum_name backend_names[];

struct facts {
	unsigned backends;      /* bits 1 << enum backend_id that are available */
	bool opensandbox_built; /* C33: the client is a build option */
	struct str home;        /* for ~ */
	struct str state_dir;   /* OpenClaw's state dir: ~/.openclaw unless OPENCLAW_STATE_DIR */
	struct str own_dir;     /* creel's own: registry, audit log, tokens; empty = not known */
	struct str audit_dir;   /* of audit.path, where the configuration says one */
	struct str cwd;
	struct strs env_names;  /* variables that are set (names only): <set> or <unset> in explain */
	struct strs dirs;       /* those of an earlier decision's ask_dirs that exist */
	struct strs home_roots; /* further homes whose secret directories may not be bound */
};

struct request {
	enum via via;
	enum auth auth;
	size_t token; /* index into config.tokens, with AUTH_TOKEN */
	struct str request_id;

	/* who */
	struct str agent;       /* empty = not said */
	struct str session_key; /* empty = not said */
	struct str session_id;
	struct str channel, chat_id, user_id; /* scope of a guard call */
	struct str sender;                    /* for toolsBySender and elevated */
	struct str provider, model;

	/* what */
	struct str tool; /* empty: decide only who and where (openclaw's explain) */
	struct strs argv;
	struct str command; /* a command string; used when argv is empty */
	struct str path;    /* of a tool that works on one: judged by nobody, told in the log */
	bool has_timeout;
	uint64_t timeout_s;
	bool wants_elevated;
	bool passive; /* it starts no program and feeds none, whatever the tool can do */

	/* flags of the local command line; ignored (and noted) from any other door */
	bool has_trust;
	enum trust trust;
	bool allow_weaken;
	bool no_sandbox;
	bool force_sandbox; /* creel run: a container even when nothing asks for one */
	bool caller_policy; /* the caller sent policy of its own: ignored, noted */
	bool brief;         /* nobody will read the reasons: a refusal has its own all the same */

	struct facts facts;
};
