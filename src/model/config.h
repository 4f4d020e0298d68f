/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A whole configuration, const after loading. No behaviour, no pointers into parsers:
 * everything lies in the one arena it was loaded with.
 */
#pragma once

#include "model/settings.h"

/* Which foreign formats took part: some rules depend on it (C9: a lone OpenClaw.NET file). */
enum format {
	FORMAT_CREEL = 0,
	FORMAT_ATHENA,
	FORMAT_OPENCLAW,
	FORMAT_ALLOWLIST,
	FORMAT_OPENCLAW_NET,
	FORMAT_ANSIBLE,
	FORMAT_COUNT_
};
extern const struct enum_name format_names[]; /* creel athena openclaw allowlist openclaw-net ansible */

/* mode.trust.rules[]: tried in order, the first match decides. allow/deny can only take away. */
struct trust_rule {
	struct str match; /* shell-style glob over the whole session key */
	enum trust trust;
	bool has_allow, has_deny;
	struct strs allow, deny; /* S0's tokens, tool names or group:* */
	struct settings *over;   /* F_RULE options; NULL when none */
	bool tighten_only;       /* from a file that nobody named: never weaker than the built-in prefix */
	struct origin origin;
};

struct pair {
	struct str channel, agent, chat_id;
	struct origin origin;
};

struct token {
	struct secret_ref ref;
	struct str id;  /* how logs name it; empty: nobody has looked at it yet */
	bool all_pairs; /* pairs: "*" */
	struct pair *pairs;
	size_t n_pairs;
	struct origin origin;
};

/* tools.per.<name> */
struct tool_setting {
	struct str tool; /* canonical name */
	bool has_enforce, has_ttl;
	enum enforce enforce;
	struct str template; /* image; empty = none */
	uint64_t ttl_s;
	struct origin origin;
};

struct agent {
	struct str id; /* normalised */
	bool is_default;
	struct settings *over;
	struct origin origin;
};

struct import {
	enum format format;
	struct str path;
	struct origin origin;
};

/* A variable whose value stands in some setting. Whoever prints shows ${NAME} in its place. */
struct env_used {
	struct str name, value;
};

/* Under compat: where the OpenClaw that reads the file keeps its own things. */
struct openclaw_dirs {
	struct str state;     /* agents that own no workspace work in workspace-<id> below it */
	struct str workspace; /* of the agent that owns it, when the file says none */
};

struct config {
	struct settings base;
	struct agent *agents;
	size_t n_agents;
	bool has_roster; /* an agent list was given, even if it was empty */
	struct trust_rule *rules;
	size_t n_rules;
	struct pair *pairs;
	size_t n_pairs;
	struct token *tokens;
	size_t n_tokens;
	struct tool_setting *per_tool;
	size_t n_per_tool;
	struct import *imports; /* every file that was read, in order */
	size_t n_imports;
	struct env_used *env_used;
	size_t n_env_used;
	struct openclaw_dirs openclaw;
	struct str store_owner; /* sessions without an agent in their key are this one's; empty = nobody's */
	unsigned formats;       /* bits 1 << enum format of what was read */
};

const struct agent *config_agent(const struct config *c, struct str id);
