/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The versioned facts about tools: which exist, what they are also called, what they need, which groups, profiles and
 * default lists a version has. Data only; a new upstream version is a new column here and a new word in `compat`.
 *
 * "documents" is what the source documents say (and, where they only name a group, what OpenClaw had at that time);
 * "openclaw-2026.9" is upstream 2026.9.6 to the letter.
 */
#pragma once

#include "policy/policy_priv.h"

struct tool_row {
	struct tool_info info;
	bool action; /* one of S0's words that no version has as a tool: it can be asked about, not run */
};
extern const struct tool_row tool_rows[];
extern const size_t n_tool_rows;

struct tool_alias {
	struct str alias, name;
};
/* Ended by an entry without a name. */
const struct tool_alias *tool_aliases(enum compat compat); /* what a list entry may say */
extern const struct tool_alias asked_aliases[];            /* what a caller may say besides */

/* An entry of a list: trimmed, alias resolved, case as written. */
struct str tool_list_name(enum compat compat, struct str entry);
/* Like tool_list_has(), but a lone '*' names nothing: for tools that exist only because somebody lists them. */
bool tool_list_names(enum compat compat, struct strs list, struct str name);

struct tool_group {
	struct str name; /* with "group:" */
	struct strs members;
};
const struct tool_group *tool_groups(enum compat compat, size_t *ret_n);

struct strs tool_profile_list(enum compat compat, enum tool_profile profile);

/* Sandboxed sessions, when no list is configured. */
struct strs sandbox_default_allow(enum compat compat);
struct strs sandbox_default_deny(enum compat compat);
/* Sub-agent sessions, whatever is configured. */
struct strs subagent_always_deny(enum compat compat);
/* The tool by which an agent looks at a picture: part of every sandboxed session upstream. Empty: no such rule. */
struct str sandbox_image_tool(enum compat compat);

/* Chat channels whose ids may stand first in a session key. */
struct strs channel_ids(void);
