/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The words of the three axes and of every other choice, as enums whose 0 is the safe value
 * (or "not said"), each with one table of names. The tables are what the config reader, the
 * help, the schema and the printers use: a word is written down once.
 */
#pragma once

#include "base/str.h"

#include <stdbool.h>

struct enum_name {
	const char *name; /* NULL ends the table; an entry with value < 0 is skipped by name look-up */
	int value;
};

/* What may it do. A strict chain: a smaller value may do less. */
enum trust { TRUST_READONLY = 0, TRUST_DOCKER, TRUST_LIGHT, TRUST_NONE, TRUST_COUNT_ };
/* Is this session sandboxed. */
enum when { WHEN_ALL = 0, WHEN_NON_MAIN, WHEN_OFF, WHEN_COUNT_ };
/* What if no sandbox can be had. */
enum enforce { ENFORCE_REQUIRE = 0, ENFORCE_PREFER, ENFORCE_OFF, ENFORCE_COUNT_ };
/* Where it runs; a larger value is further away from the host. */
enum place { PLACE_NOWHERE = 0, PLACE_HOST, PLACE_RESTRICTED, PLACE_CONTAINER, PLACE_REMOTE, PLACE_COUNT_ };
/* How long a sandbox lives, and for whom. */
enum scope { SCOPE_JOB = 0, SCOPE_SESSION, SCOPE_AGENT, SCOPE_SHARED, SCOPE_LEASE, SCOPE_COUNT_ };
enum access { ACCESS_NONE = 0, ACCESS_RO, ACCESS_OVERLAY, ACCESS_RW, ACCESS_PER_TOOL, ACCESS_COUNT_ };
enum profile_id {
	PROFILE_NONE = 0,
	PROFILE_OPENCLAW,
	PROFILE_ATHENA,
	PROFILE_TIER1,
	PROFILE_BILROST,
	PROFILE_OPENCLAW_NET,
	PROFILE_CI,
	PROFILE_COUNT_
};
enum compat { COMPAT_DOCUMENTS = 0, COMPAT_OPENCLAW_2026_9, COMPAT_COUNT_ };
enum session_scope { SESSION_PER_SENDER = 0, SESSION_GLOBAL };
enum ownership { OWNERSHIP_IMPLICIT = 0, OWNERSHIP_EXPLICIT };
enum tool_profile {
	TOOL_PROFILE_NONE = 0,
	TOOL_PROFILE_MINIMAL,
	TOOL_PROFILE_CODING,
	TOOL_PROFILE_MESSAGING,
	TOOL_PROFILE_FULL
};
enum exec_host { EXEC_HOST_AUTO = 0, EXEC_HOST_SANDBOX, EXEC_HOST_GATEWAY, EXEC_HOST_NODE };
enum exec_mode {
	EXEC_MODE_UNSET = 0,
	EXEC_MODE_DENY,
	EXEC_MODE_ALLOWLIST,
	EXEC_MODE_ASK,
	EXEC_MODE_AUTO,
	EXEC_MODE_FULL,
	EXEC_MODE_ALWAYS,
	EXEC_MODE_COUNT_
};
enum shells { SHELLS_DENY = 0, SHELLS_ALLOW };
enum provider { PROVIDER_NONE = 0, PROVIDER_OPENSANDBOX };
enum secret_scope { SECRET_SCOPE_NETWORK = 0, SECRET_SCOPE_BOTH };
enum rw { RW_RO = 0, RW_RW };
enum sync_mode { SYNC_MANUAL = 0, SYNC_AUTO };
/* Walls that policy may accept to be without (walls.optional). */
enum wall { WALL_LANDLOCK = 0, WALL_TIME, WALL_LIMITS, WALL_COUNT_ };
/* Whether an ordinary user's sandbox has two users (walls.subuid). */
enum subuid { SUBUID_ALWAYS = 0, SUBUID_AUTO, SUBUID_NEVER };
/* Who may read the guard's numbers (serve.metrics). */
enum metrics_access { METRICS_ADMIN = 0, METRICS_OPEN };
enum visibility { VISIBILITY_SPAWNED = 0, VISIBILITY_ALL };
enum verdict { VERDICT_DENY = 0, VERDICT_ASK, VERDICT_ALLOW };

extern const struct enum_name trust_names[], when_names[], enforce_names[], place_names[], scope_names[],
	access_names[], profile_names[], compat_names[], session_scope_names[], ownership_names[],
	tool_profile_names[], exec_host_names[], exec_mode_names[], shells_names[], provider_names[],
	secret_scope_names[], rw_names[], sync_mode_names[], visibility_names[], verdict_names[],
	wall_names[], subuid_names[], metrics_names[];

const char *enum_name(const struct enum_name *table, int value); /* "?" when unknown */
/* Exact, or ASCII case folded when `nocase`. */
bool enum_value(const struct enum_name *table, struct str name, bool nocase, int *ret);
/* "a, b or c" into a small buffer, for messages */
void enum_list(const struct enum_name *table, char *out, size_t size);
/* The closest name within two edits, or NULL */
const char *enum_closest(const struct enum_name *table, struct str name);

/* [A-Za-z_][A-Za-z0-9_]*: what every system takes as the name of a variable. */
bool env_name_valid(struct str name);

/* Makes the loader, libc or a shell run or read something before the program starts: kept out of every sandbox. */
bool env_name_is_loader(struct str name);

/* Capabilities: bits. The matrix of trust x capability is policy/cap.h. */
enum cap {
	CAP_FS_READ = 0,
	CAP_FS_WRITE,
	CAP_PROC_EXEC,
	CAP_VCS,
	CAP_NET,
	CAP_SECRETS,
	CAP_BROWSER,
	CAP_API,
	CAP_NET_INTERNAL,
	CAP_COUNT_
};
#define CAP_BIT(c) (1u << (c))
extern const struct enum_name
	cap_names[]; /* fs.read fs.write proc.exec vcs net secrets browser api net.internal */
