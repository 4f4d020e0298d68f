/* SPDX-License-Identifier: Apache-2.0 */
/*
 * exec, git and the tools that this build does not have. A command is judged by policy before it comes here, and what policy made of
 * it is run. That git must not push is advice for a well-meaning agent, found by looking at the command; what really keeps it
 * from pushing is that the sandbox has no network and no credentials.
 */
#include "tools/background.h"
#include "tools/program.h"

/* ---- exec ---- */

static int ask_command(struct arena *a, const struct value *v, struct tool_ask *ret, struct err *e)
{
	if (v->kind == VALUE_ARR) {
		if (v->arr.n == 0 || v->arr.v[0].s.n == 0)
			return err_set(e, ERR_USAGE, "'command' names no program");
		return program_words(a, v, &ret->argv, e);
	}
	if (str_trim(v->s).n == 0)
		return err_set(e, ERR_USAGE, "'command' is empty");
	if ((int64_t)v->s.n > PROGRAM_ARG_MAX)
		return err_set(
			e, ERR_LIMIT,
			"'command' has %zu bytes, and a shell takes %lld; write it to a file, or use code_exec",
			v->s.n, (long long)PROGRAM_ARG_MAX);
	ret->command = v->s;
	return 0;
}

static void ask_timeout(const struct tool_in *in, size_t row, struct tool_ask *ret)
{
	ret->has_timeout = in->v[row] != NULL;
	ret->timeout_s = (uint64_t)tools_int(in, row, 0);
}

int tool_exec_ask(struct arena *a, const struct tool_in *in, struct tool_ask *ret, struct err *e)
{
	struct str host = tools_str(in, EXEC_HOST);

	if (host.n && !str_eq(host, STR("auto")) && !str_eq(host, STR("sandbox")))
		return err_set(e, ERR_DENIED,
			       "'host' is '" STR_FMT "', and a call can ask for auto or sandbox",
			       STR_ARG(host));
	ask_timeout(in, EXEC_TIMEOUT, ret);
	ret->wants_elevated = tools_bool(in, EXEC_ELEVATED);
	return ask_command(a, in->v[EXEC_COMMAND], ret, e);
}

int tool_exec(struct tool_ctx *x, const struct tool_in *in, struct jsonw *w, struct err *e)
{
	struct program q = { .cwd = tools_str(in, EXEC_WORKDIR),
			     .env = in->v[EXEC_ENV],
			     .has_input = in->v[EXEC_STDIN] != NULL,
			     .input = tools_str(in, EXEC_STDIN),
			     .pty = tools_bool(in, EXEC_PTY) };
	bool background = tools_bool(in, EXEC_BACKGROUND);

	if (!background && !in->v[EXEC_YIELD])
		return program_run(x, &q, w, e);
	return background_run(x, &q, background ? 0 : (uint64_t)tools_int(in, EXEC_YIELD, 0),
			      in->v[EXEC_TIMEOUT] != NULL, w, e);
}

/* ---- git ---- */

static int ask_git_words(struct arena *a, const struct value *v, struct tool_ask *ret, struct err *e)
{
	struct strs words;
	struct str *argv;
	int r = program_words(a, v, &words, e);

	if (r < 0)
		return r;
	argv = ARENA_ARRAY(a, struct str, words.n + 1);
	if (!argv)
		return 0; /* tools_ask() says it */
	argv[0] = STR("git");
	for (size_t i = 0; i < words.n; i++)
		argv[i + 1] = words.v[i];
	ret->argv = (struct strs){ .v = argv, .n = words.n + 1 };
	return 0;
}

int tool_git_ask(struct arena *a, const struct tool_in *in, struct tool_ask *ret, struct err *e)
{
	const struct value *v = in->v[GIT_COMMAND];
	int r;

	ask_timeout(in, GIT_TIMEOUT, ret);
	if (v->kind == VALUE_ARR && (v->arr.n == 0 || !str_eq(v->arr.v[0].s, STR("git"))))
		return ask_git_words(a, v, ret, e);
	r = ask_command(a, v, ret, e);
	if (r == 0 && ret->command.n && !str_starts(str_trim(ret->command), STR("git ")) &&
	    !str_eq(str_trim(ret->command), STR("git")))
		ret->command = arena_printf(a, "git %.*s", (int)ret->command.n, ret->command.p);
	return r;
}

int tool_git(struct tool_ctx *x, const struct tool_in *in, struct jsonw *w, struct err *e)
{
	return program_run(x,
			   &(struct program){ .cwd = tools_str(in, GIT_WORKDIR),
					      .has_input = in->v[GIT_STDIN] != NULL,
					      .input = tools_str(in, GIT_STDIN) },
			   w, e);
}

/* ---- what this build does not have ---- */

int tool_unavailable(struct tool_ctx *x, const struct tool_in *in, struct jsonw *w, struct err *e)
{
	(void)x;
	(void)in;
	(void)w;
	return err_set(e, ERR_UNAVAIL,
		       "not available in this build: it needs a network, which a sandbox here does not "
		       "have; ask the gateway for it");
}

int tools_check_built(const struct tool *t, struct err *e)
{
	return t->run == tool_unavailable ? tool_unavailable(NULL, NULL, NULL, e) : 0;
}
