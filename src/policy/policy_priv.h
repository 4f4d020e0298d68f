/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the stages share. A stage reads ctx->c and ctx->r, writes its part of ctx->d, records why, and
 * returns true to go on or false when it refused (after deny()).
 */
#pragma once

#include "policy/policy.h"
#include "policy/tooldb.h"

struct ctx {
	const struct config *c;
	const struct request *r;
	struct arena *a;
	struct decision *d;
	size_t cap_reasons, cap_warnings;
};

/* Records a reason. `value` and the formatted text are kept in the arena. */
void why(struct ctx *x, enum stage s, const char *what, struct str value, const struct origin *o,
	 const char *fmt, ...) __attribute__((format(printf, 6, 7)));
void warn(struct ctx *x, const char *code, const struct origin *o, struct str key, const char *fmt, ...)
	__attribute__((format(printf, 5, 6)));
/* Sets verdict, code, stage and message (once: the first refusal stays). Always returns false. */
bool deny(struct ctx *x, enum stage s, enum code code, const struct origin *o, const char *fmt, ...)
	__attribute__((format(printf, 5, 6)));
/* Adds one line to d->fix_it (a config key, a command). */
void fix_it(struct ctx *x, struct str line);

/* S2's rules hold for this call: it came through the guard or the runner, or the profile is tier1. */
bool is_tier1(const struct ctx *x);
/* The tables and rules in force. */
enum compat compat_of(const struct ctx *x);
/* The two doors on this machine: the command line and the library. */
bool is_local(enum via via);

bool stage_identity(struct ctx *x);  /* identity.c: fills who; then d->eff for the agent */
bool stage_mode(struct ctx *x);      /* mode.c */
bool stage_tool(struct ctx *x);      /* toolpolicy.c and friends */
bool stage_placement(struct ctx *x); /* placement.c */
bool stage_network(struct ctx *x);   /* network.c */
bool stage_mounts(struct ctx *x);    /* mounts.c, bind.c */
bool stage_env(struct ctx *x);       /* env.c */
bool stage_limits(struct ctx *x);    /* limits.c */

/* remedy.c: what to change where the trust lacks one of these capabilities; and where the rule's lists take the tool away, by this entry of deny or by none. */
void remedy_trust(struct ctx *x, unsigned needs);
void remedy_rule(struct ctx *x, struct str entry);

/* identity.c: the credential is one, and who shows a token may speak for this agent and chat; fills who.token. For standing.c, too. */
bool identity_caller(struct ctx *x);
/*
 * What of the stages looks at the arguments of a call, for standing.c. tool_arguments() is about a tool that passed without any: false when
 * they are refused, or count for more than the command itself.
 */
bool tool_arguments(struct ctx *x); /* toolpolicy.c */
void fill_timeout(struct ctx *x);   /* limits.c */
void settle_verdict(struct ctx *x); /* decide.c: last, and only when nothing refused */

/* settings.c: dst (a copy of the base) with the agent's overrides; `shared` drops F_CONTAINER ones. F_ADD adds. */
void settings_override(struct arena *a, struct settings *dst, const struct settings *over, bool shared);

/* glob.c. Tool patterns: only '*' is special, names are compared lower-case. */
bool tool_glob_matches(struct str pattern, struct str name);
/* Session keys: fnmatch semantics ('*', '?', [a-z], [!a]) on the whole key, case-sensitive, no special '/' or '.'. */
bool session_glob_matches(struct str pattern, struct str key);
/* Destinations: "host", "host:port", "*.domain[:port]". A wildcard needs a whole label; port absent = 443 and 80. */
bool host_rule_valid(struct str rule);
bool host_rule_matches(struct str rule, struct str host, unsigned port);

/* command.c: the splitter of the exec route. */
enum command_kind {
	COMMAND_COMPLEX = 0, /* anything a shell would do more with than start one program: isolated */
	COMMAND_SIMPLE,      /* exactly one program with literal arguments: argv is filled */
};
/* Never guesses: what is not certainly one simple command is COMPLEX. */
enum command_kind command_split(struct arena *a, struct str text, struct strs *ret_argv);

/* tooldb.c: canonical tools, aliases, needs, groups, default lists; versioned data. */
const struct tool_info *tool_find(struct str canonical);
struct str tool_canonical(struct arena *a, enum compat compat,
			  struct str asked); /* trimmed, lower-case, alias resolved */
/* Members of "group:x" for the tables in force; false when there is no such group. */
bool tool_group(enum compat compat, struct str group, struct strs *ret);

/*
 * Whether an entry of the list (name, alias, glob, group:x; any case) covers the tool; ret_entry (may be NULL) is that
 * entry as written.
 */
bool tool_list_has(enum compat compat, struct strs list, struct str canonical, struct str *ret_entry);

/* sandbox_tools.c: d->tool.sbx_allow and sbx_deny, resolved and expanded, with where they came from. */
void sandbox_tools_resolve(struct ctx *x);

/*
 * elevated.c: fills d->place.elevated; runs before stage_placement, and refuses a request that is not allowed. So in
 * placement `requested` means: granted, exec goes to the host.
 */
bool elevated_check(struct ctx *x);

/* cap.c */
unsigned cap_matrix(enum trust t); /* S0's row as bits */
