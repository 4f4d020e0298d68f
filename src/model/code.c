/* SPDX-License-Identifier: Apache-2.0 */
#include "model/decision.h"

#include <assert.h>

/* clang-format off */
static const struct {
	const char *word;
	unsigned http;
	const char *detail; /* S2's words; NULL = the code word */
} codes[] = {
	[CODE_UNDECIDED]               = { "undecided",               500, NULL },
	[CODE_OK]                      = { "ok",                      200, NULL },
	[CODE_MISSING_AUTH]            = { "missing_auth",            401, "missing auth" },
	[CODE_INVALID_AUTH]            = { "invalid_auth",            401, "invalid auth" },
	[CODE_INVALID_AGENT]           = { "invalid_agent",           400, "invalid agent" },
	[CODE_MISSING_CHAT_ID]         = { "missing_chat_id",         400, "missing chat_id" },
	[CODE_INVALID_CHAT_ID]         = { "invalid_chat_id",         400, "invalid chat_id" },
	[CODE_PAIR_NOT_ALLOWED]        = { "pair_not_allowed",        403, "agent/scope not allowed" },
	[CODE_INVALID_SESSION]         = { "invalid_session",         400, "the session is not one that this caller may name" },
	[CODE_UNKNOWN_AGENT]           = { "unknown_agent",           400, "there is no such agent" },
	[CODE_AGENT_MISMATCH]          = { "agent_mismatch",          400, "the session is another agent's" },
	[CODE_AGENT_AMBIGUOUS]         = { "agent_ambiguous",         400, "which agent is meant is not clear" },
	[CODE_WEAKEN_REFUSED]          = { "weaken_refused",          403, NULL },
	[CODE_NO_SANDBOX_REFUSED]      = { "no_sandbox_refused",      403, NULL },
	[CODE_TOOL_NOT_ALLOWED]        = { "tool_not_allowed",        403, "tool not allowed" },
	[CODE_TOOL_DENIED_BY_POLICY]   = { "tool_denied_by_policy",   403, NULL },
	[CODE_CAPABILITY_DENIED]       = { "capability_denied",       403, NULL },
	[CODE_SHELL_DENIED]            = { "shell_denied",            403, "shell denied" },
	[CODE_BINARY_DENIED]           = { "binary_denied",           403, "binary denied" },
	[CODE_INVALID_CMD]             = { "invalid_cmd",             400, "invalid cmd" },
	[CODE_EXEC_MODE_DENIED]        = { "exec_mode_denied",        403, NULL },
	[CODE_SANDBOX_UNAVAILABLE]     = { "sandbox_unavailable",     503, NULL },
	[CODE_UNKNOWN_BACKEND]         = { "unknown_backend",         503, NULL },
	[CODE_BACKEND_NOT_BUILT]       = { "backend_not_built",       503, NULL },
	[CODE_ELEVATED_REFUSED]        = { "elevated_refused",        403, NULL },
	[CODE_UNSAFE_PUBLIC_BIND]      = { "unsafe_public_bind",      403, NULL },
	[CODE_PROFILE_UNCONFINED]      = { "profile_unconfined",      403, NULL },
	[CODE_NETWORK_HOST_BLOCKED]    = { "network_host_blocked",    403, NULL },
	[CODE_NETWORK_JOIN_BLOCKED]    = { "network_join_blocked",    403, NULL },
	[CODE_NETWORK_NAME_INVALID]    = { "network_name_invalid",    403, NULL },
	[CODE_HOST_NOT_ALLOWED]        = { "host_not_allowed",        403, "curl host not allowed" },
	[CODE_CURL_FLAG_NOT_ALLOWED]   = { "curl_flag_not_allowed",   403, "curl flag not allowed" },
	[CODE_CURL_NEEDS_SECONDS]      = { "curl_needs_seconds",      400, "curl -m requires seconds" },
	[CODE_INVALID_URL]             = { "invalid_url",             403, "curl URL must be http(s) with hostname" },
	[CODE_BIND_INVALID]            = { "bind_invalid",            403, NULL },
	[CODE_BIND_BLOCKED]            = { "bind_blocked",            403, NULL },
	[CODE_BIND_RESERVED_TARGET]    = { "bind_reserved_target",    403, NULL },
	[CODE_BIND_OUTSIDE_ROOTS]      = { "bind_outside_roots",      403, NULL },
	[CODE_BIND_FORBIDDEN_IN_TIER1] = { "bind_forbidden_in_tier1", 403, NULL },
	[CODE_WORKSPACE_ESCAPE]        = { "workspace_escape",        403, NULL },
	[CODE_ENV_INVALID]             = { "env_invalid",             403, NULL },
	[CODE_RAW_SECRET_PUBLIC]       = { "raw_secret_public",       403, NULL },
	[CODE_LIMIT_INVALID]           = { "limit_invalid",           400, NULL },
};
/* clang-format on */
static_assert(sizeof(codes) / sizeof(codes[0]) == CODE_COUNT_, "every code has a word");

const char *code_word(enum code c)
{
	return c < CODE_COUNT_ ? codes[c].word : "undecided";
}

unsigned code_http(enum code c)
{
	return c < CODE_COUNT_ ? codes[c].http : 500;
}

const char *code_detail(enum code c)
{
	return c < CODE_COUNT_ && codes[c].detail ? codes[c].detail : code_word(c);
}
