/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Which directory of the host a session works in, and under which name its sandbox is kept. Both are made from the
 * agent id and the session key by us: a caller never hands in a path.
 */
#pragma once

#include "policy/policy_priv.h"

/* The agent's own directory, absolute and normalised. */
struct str workspace_agent_dir(struct ctx *x);

/* Where private workspaces are kept, absolute and normalised. */
struct str workspace_root(struct ctx *x);

/* Upstream's directory on an ssh host, absolute and normalised; empty when what was configured is not absolute. */
struct str workspace_ssh_root(struct ctx *x);

/* Where upstream puts the skills of a sandbox that may write to the agent's workspace. */
struct str workspace_skills_dir(struct ctx *x);

/* A name for a key that is safe as one part of a path and as part of a container's name. */
struct str scope_slug(struct arena *a, struct str key);
/* The name of a private workspace. Nobody finds a second key with the same, but where upstream's names have to be met. */
struct str workspace_slug(const struct ctx *x, struct str key);

/* The key of the sandbox in the registry: "shared", the session key, "agent:<id>"; with upstream's workspace part. */
struct str scope_key(struct ctx *x, enum scope scope);

/* Agent id, chat id: letters, digits, '-' and '_' only, so that they cannot climb out of the root. */
bool is_path_safe(struct str id);
