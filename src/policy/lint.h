/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the linter's files share. A check reads the configuration and adds diags; it decides nothing. An ERROR is what
 * every call that needs it would be refused for; a WARN works, but hardly as meant; an INFO may well be right.
 * Values from the environment and secrets are named, never shown.
 */
#pragma once

#include "policy/policy_priv.h"

struct lint {
	const struct config *c;
	const struct facts *f;
	struct diags *d;
	struct arena *a;
	enum compat compat;
};

/* The base, or one agent with the base below it. */
struct lint_view {
	const struct settings *s;   /* as in force */
	const struct settings *own; /* what was said here: only options with has[] count */
	const struct agent *agent;  /* NULL: the base */
};

/* "mounts.binds", or "agents.x.mounts.binds" */
struct str lint_key(struct lint *l, const struct lint_view *v, const char *key);

/* Is any session sandboxed by this block's `when`, or by a trust rule? */
bool lint_is_sandboxed(const struct lint *l, const struct lint_view *v);

void lint_rules(struct lint *l);                              /* lint_rules.c: trust rules */
void lint_tools(struct lint *l, const struct lint_view *v);   /* lint_tools.c: tool lists, exec, elevated */
void lint_backend(struct lint *l, const struct lint_view *v); /* lint_service.c: the backend by name */
void lint_per_tool(struct lint *l);                           /* lint_service.c: tools.per and the provider */
void lint_doors(struct lint *l);                              /* lint_service.c: addresses, raw secrets */
void lint_binds(struct lint *l, const struct lint_view *v);   /* lint_walls.c: binds, vault */
void lint_walls(struct lint *l,
		const struct lint_view *v); /* lint_walls.c: networks, profiles, setup, limits */
void lint_env(struct lint *l, const struct lint_view *v); /* lint_env.c */
void lint_identity(struct lint *l);                       /* lint_identity.c: tokens, pairs, agents */

/* Everything that `later` matches is matched by `earlier`: both globs of session keys. Never wrong when true. */
bool glob_covers(struct str earlier, struct str later);
