/* SPDX-License-Identifier: Apache-2.0 */
/*
 * shell_exec as sandbox-guard's jobs have it: a list of words, no shell, the workspace as working directory, ten seconds unless told
 * (1..60, anything else is brought into it), 80,000 characters of each stream, and its words for what went wrong.
 */
#include "tools/program.h"

#include <assert.h>
#include <stdio.h>

enum { SECONDS_MIN = 1, SECONDS_DEFAULT = 10, SECONDS_MAX = 60, CHARACTERS = 80000 };

int tool_shell_exec_ask(struct arena *a, const struct tool_in *in, struct tool_ask *ret, struct err *e)
{
	const struct value *cmd = in->v[SHELL_CMD];
	int64_t seconds = tools_int(in, SHELL_TIMEOUT, SECONDS_DEFAULT);

	ret->has_timeout = true;
	ret->timeout_s = (uint64_t)(seconds < SECONDS_MIN   ? SECONDS_MIN
				    : seconds > SECONDS_MAX ? SECONDS_MAX
							    : seconds);
	if (cmd->arr.v[0].s.n == 0)
		return err_set(e, ERR_USAGE, "'cmd' names no program");
	return program_words(a, cmd, &ret->argv, e);
}

int tool_shell_exec(struct tool_ctx *x, const struct tool_in *in, struct jsonw *w, struct err *e)
{
	int r = program_run(x, &(struct program){ .characters = CHARACTERS }, w, e);
	struct tool_end *end = x->programs ? &x->programs->end : NULL;

	(void)in;
	if (r < 0) {
		if (end) {
			end->exit = tools_shell_result(e).exit;
			(void)snprintf(end->error, sizeof(end->error), "%s", tools_shell_result(e).error);
		}
		return r;
	}
	if (end->end.reason == BOX_SIGNALED) /* as Python's subprocess numbers it */
		(void)snprintf(end->error, sizeof(end->error), "exit_-%d", end->end.value);
	jsonw_karr(w, "artifacts");
	jsonw_arr_end(w);
	x->says_artifacts = true;
	return 0;
}

struct tools_job tools_shell_result(const struct err *e)
{
	if (e->kind == ERR_NONE)
		return (struct tools_job){ 0 };
	if (e->kind == ERR_USAGE)
		return (struct tools_job){ .exit = 7, .error = "invalid_cmd" };
	return (struct tools_job){ .exit = 13, .error = "execution_error" };
}

struct tools_job tools_job_end(const struct tool_end *end)
{
	if (end->end.reason == BOX_TIMEOUT)
		return (struct tools_job){ .exit = 12, .error = "timeout" };
	return (struct tools_job){ .exit = end->exit, .error = end->error[0] ? end->error : NULL };
}

/* clang-format off */
static const struct tools_job refusals[CODE_COUNT_] = {
	[CODE_UNDECIDED]             = { 16, "job_error", false },
	[CODE_SANDBOX_UNAVAILABLE]   = { 16, "job_error", false },
	[CODE_TOOL_NOT_ALLOWED]      = { 3,  "tool_not_allowed", false },
	[CODE_TOOL_DENIED_BY_POLICY] = { 3,  "tool_not_allowed", false },
	[CODE_INVALID_CMD]           = { 7,  "invalid_cmd", false },
	[CODE_SHELL_DENIED]          = { 8,  "shell_denied", false },
	[CODE_BINARY_DENIED]         = { 9,  "binary_denied", true },
	[CODE_HOST_NOT_ALLOWED]      = { 10, "net_denied", true },
	[CODE_CURL_FLAG_NOT_ALLOWED] = { 10, "net_denied", true },
	[CODE_CURL_NEEDS_SECONDS]    = { 7,  "invalid_cmd", false },
	[CODE_INVALID_URL]           = { 10, "net_denied", true },
	[CODE_NETWORK_HOST_BLOCKED]  = { 11, "net_policy_denied", false },
	[CODE_NETWORK_JOIN_BLOCKED]  = { 11, "net_policy_denied", false },
	[CODE_NETWORK_NAME_INVALID]  = { 11, "net_policy_denied", false },
};
/* clang-format on */

struct tools_job tools_job_refusal(enum code code)
{
	if (code == CODE_OK)
		return (struct tools_job){ 0 };
	if ((unsigned)code < CODE_COUNT_ && refusals[code].error)
		return refusals[code];
	return (struct tools_job){ .exit = 14, .error = "denied" };
}
