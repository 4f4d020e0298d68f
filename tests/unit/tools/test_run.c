/* SPDX-License-Identifier: Apache-2.0 */
/* shell_exec row by row, code_exec and git, and the tools that are declared only. */
#include "programs.h"

#include "policy/policy.h"

/* ---- shell_exec ---- */

WITH_CALLER(shell_exec_runs_words_in_the_workspace)
{
	must_run(c, "shell_exec",
		 "{cmd: ['python3', '-c', 'import os; print(os.getcwd()); raise SystemExit(4)']}");
	must_be(c, "stdout", "/tmp\n");
	must_count(c, "exit", 4);
	MUST(member(c, "artifacts")->kind == VALUE_ARR && member(c, "artifacts")->arr.n == 0);
	MUST(strcmp(c->programs.end.error, "exit_4") == 0);
	MUST(tools_job_end(&c->programs.end).exit == 4);
	must_run(c, "shell_exec", "{cmd: ['echo', '$HOME', '; ls']}");
	must_be(c, "stdout", "$HOME ; ls\n");
	MUST(tools_job_end(&c->programs.end).error == NULL);
	must_run(c, "shell_exec", "{cmd: ['sh', '-c', 'kill -9 $$']}");
	MUST(strcmp(tools_job_end(&c->programs.end).error, "exit_-9") == 0);
	must_run(c, "shell_exec", "{cmd: ['sh', '-c', 'echo kept; sleep $MARK'], timeout_s: 1}");
	must_be(c, "stdout", "kept\n");
	MUST(tools_job_end(&c->programs.end).exit == 12 &&
	     strcmp(tools_job_end(&c->programs.end).error, "timeout") == 0);
	must_refuse(c, "shell_exec", "{cmd: ['nowhere']}", ERR_NOTFOUND, "no such program");
	MUST(c->programs.end.exit == 13 && strcmp(tools_shell_result(&c->e).error, "execution_error") == 0 &&
	     strcmp(c->programs.end.error, "execution_error") == 0);
}

WITH_CALLER(shell_exec_cuts_each_stream_at_80000_characters)
{
	struct str s;

	must_run(c, "shell_exec",
		 "{cmd: ['python3', '-c', 'import sys; sys.stdout.buffer.write(\"é\".encode() * 80001);"
		 " sys.stderr.buffer.write(b\"\\\\xff\" * 80000)']}");
	s = member(c, "stdout")->s;
	MUST(s.n == 160000 && str_ends(s, STR("éé")));
	MUST(is_true(c, "stdoutTruncated") && is_true(c, "truncated"));
	s = member(c, "stderr")->s;
	MUST(s.n == 240000 && str_ends(s, STR("\xef\xbf\xbd")));
	MUST(!is_true(c, "stderrTruncated"));
	must_count(c, "stdoutBytes", 160002);
	must_run(c, "shell_exec", "{cmd: ['head', '-c', '10000000', '/dev/zero']}");
	MUST(member(c, "stdout")->s.n == 80000);
	must_count(c, "stdoutBytes", 10000000);
}

static struct tool_ask asked(const char *tool, const char *args, struct err *e)
{
	static struct arena a;
	struct tool_ask ask = { 0 };
	struct value v;

	arena_done(&a);
	arena_init(&a, 4 << 20);
	*e = (struct err){ 0 };
	assert_int_equal(json_parse(&a, str_z(args), &(struct json_opts){ .json5 = true }, &v, e), 0);
	if (tools_ask(tools_find(str_z(tool)), &a, &v, &ask, e) < 0)
		assert_true(e->kind != ERR_NONE);
	return ask;
}

TEST(shell_exec_brings_its_timeout_into_1_to_60_seconds)
{
	static const struct {
		const char *said;
		uint64_t want;
	} rows[] = { { "", 10 },
		     { ", timeout_s: 1", 1 },
		     { ", timeout_s: 60", 60 },
		     { ", timeout_s: 61", 60 },
		     { ", timeout_s: 0", 1 },
		     { ", timeout_s: -5", 1 },
		     { ", timeout_s: 1e12", 60 },
		     { ", timeout_s: 2.5", 3 },
		     { ", timeout_s: null", 10 } };
	char args[64];
	struct err e;

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct tool_ask ask;

		(void)snprintf(args, sizeof(args), "{cmd: ['a']%s}", rows[i].said);
		ask = asked("shell_exec", args, &e);
		CHECK_CASE(ask.has_timeout && ask.timeout_s == rows[i].want, "%s: %ju", args,
			   (uintmax_t)ask.timeout_s);
	}
}

TEST(shell_exec_takes_a_list_of_strings_alone)
{
	static const char *const bad[] = { "{}",
					   "{cmd: 'ls'}",
					   "{cmd: []}",
					   "{cmd: ['']}",
					   "{cmd: [1]}",
					   "{cmd: null}",
					   "{cmd: ['a'], timeout_s: 'x'}",
					   "{cmd: ['a'], cwd: '/'}" };
	struct err e;

	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		(void)asked("shell_exec", bad[i], &e);
		CHECK_CASE(e.kind == ERR_USAGE, "%s: %s", bad[i], e.msg);
		assert_int_equal(tools_shell_result(&e).exit, 7);
		assert_string_equal(tools_shell_result(&e).error, "invalid_cmd");
	}
}

TEST(refusals_have_the_words_of_a_job)
{
	static const struct {
		enum code code;
		int exit;
		const char *word;
	} rows[] = {
		{ CODE_TOOL_NOT_ALLOWED, 3, "tool_not_allowed" },
		{ CODE_INVALID_CMD, 7, "invalid_cmd" },
		{ CODE_SHELL_DENIED, 8, "shell_denied" },
		{ CODE_BINARY_DENIED, 9, "binary_denied" },
		{ CODE_HOST_NOT_ALLOWED, 10, "net_denied" },
		{ CODE_CURL_FLAG_NOT_ALLOWED, 10, "net_denied" },
		{ CODE_INVALID_URL, 10, "net_denied" },
		{ CODE_NETWORK_HOST_BLOCKED, 11, "net_policy_denied" },
		{ CODE_WORKSPACE_ESCAPE, 14, "denied" },
		{ CODE_CAPABILITY_DENIED, 14, "denied" },
		{ CODE_UNDECIDED, 16, "job_error" },
		{ CODE_SANDBOX_UNAVAILABLE, 16, "job_error" },
		{ CODE_COUNT_, 14, "denied" },
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct tools_job j = tools_job_refusal(rows[i].code);

		CHECK_CASE(j.exit == rows[i].exit && strcmp(j.error, rows[i].word) == 0, "%s: %d %s",
			   rows[i].word, j.exit, j.error);
		assert_int_equal(j.takes_detail, j.exit == 9 || j.exit == 10);
	}
	assert_null(tools_job_refusal(CODE_OK).error);
}

/* ---- code_exec ---- */

WITH_CALLER(code_exec_runs_each_language_with_arguments_and_input)
{
	must_run(
		c, "code_exec",
		"{language: 'python', code: 'import sys; print(sys.argv[1:], sys.stdin.read())', args: ['a', '-b'], stdin: 'in'}");
	must_be(c, "stdout", "['a', '-b'] in\n");
	must_run(
		c, "code_exec",
		"{language: 'js', code: 'console.log(process.argv.slice(1).join(), require(\"fs\").readFileSync(0, \"utf8\"))', args: ['a', '-b'], stdin: 'in'}");
	must_be(c, "stdout", "a,-b in\n");
	must_run(c, "code_exec",
		 "{language: 'sh', code: 'echo $# $1 $2 $(cat); exit 5', args: ['a', '-b'], stdin: 'in'}");
	must_be(c, "stdout", "2 a -b in\n");
	must_count(c, "exit", 5);
	must_run(c, "code_exec", "{language: 'py', code: ''}");
	must_count(c, "exit", 0);
	must_run(c, "code_exec", "{language: 'python3', code: 'def f(:'}");
	must_count(c, "exit", 1);
	MUST(memmem(member(c, "stderr")->s.p, member(c, "stderr")->s.n, "SyntaxError", 11));
	must_refuse(c, "code_exec", "{language: 'ruby', code: ''}", ERR_USAGE, "python, javascript or bash");
	must_refuse(c, "code_exec", "{language: 'py', code: 'a\\u0000b'}", ERR_USAGE, "NUL");
}

/* More than an argument can hold: a comment of 3 MB before the code. */
static void must_run_long(struct caller *c, const char *language, const char *comment, const char *code,
			  const char *want)
{
	const size_t n = 3 << 20;
	_cleanup_free_ char *args = malloc(n + 512);
	int at = snprintf(args, 128, "{language: '%s', args: ['a'], stdin: 'in\\n', code: '%s", language,
			  comment);

	memset(args + at, 'x', n);
	(void)snprintf(args + (size_t)at + n, 380, "\\n%s'}", code);
	must_run(c, "code_exec", args);
	must_be(c, "stdout", want);
}

WITH_CALLER(code_exec_takes_code_that_is_longer_than_an_argument)
{
	must_run_long(
		c, "python", "#",
		"import sys\\nx = 1\\ndef f(): return x\\nprint(f(), sys.argv[1:], sys.stdin.read().strip(), __name__)",
		"1 ['a'] in __main__\n");
	must_run_long(c, "javascript", "//",
		      "console.log(process.argv.slice(1), require(\"fs\").readFileSync(0, \"utf8\").trim())",
		      "[ 'a' ] in\n");
	must_run_long(c, "bash", "#", "echo $# $1; cat", "1 a\nin\n");
}

/* ---- git ---- */

WITH_CALLER(git_runs_git_and_nothing_else)
{
	must_run(c, "git", "{command: ['init', '-q', 'repo']}");
	must_count(c, "exit", 0);
	must_run(c, "git", "{args: ['git', 'rev-parse', '--is-inside-work-tree'], workdir: 'repo'}");
	must_be(c, "stdout", "true\n");
	must_run(c, "git", "{cmd: 'git -C repo rev-parse --git-dir'}");
	must_be(c, "stdout", ".git\n");
	must_run(c, "git", "{cmd: 'hash-object --stdin', stdin: 'x'}");
	must_be(c, "stdout", "c1b0730e0133447badcfd47fd144e254807b06e1\n");
}

TEST(git_says_to_policy_what_would_be_run)
{
	struct err e;
	struct tool_ask ask = asked("git", "{args: ['push', 'origin']}", &e);

	assert_int_equal(ask.argv.n, 3);
	CHECK_STR(ask.argv.v[0], STR("git"));
	CHECK_STR(ask.argv.v[1], STR("push"));
	ask = asked("git", "{command: 'push; rm -rf /'}", &e);
	CHECK_STR(ask.command, STR("git push; rm -rf /"));
	ask = asked("git", "{command: ' git status'}", &e);
	CHECK_STR(ask.command, STR(" git status"));
	ask = asked("git", "{args: []}", &e);
	assert_int_equal(ask.argv.n, 1);
}

/* ---- background, where nobody keeps the box ---- */

WITH_CALLER(a_box_of_its_own_has_no_background)
{
	if (c->programs.box->jobs)
		return;
	must_refuse(c, "exec", "{command: 'true', background: true}", ERR_UNAVAIL, "no background processes");
	must_refuse(c, "exec", "{command: 'true', yieldMs: 10}", ERR_UNAVAIL, "no background processes");
	must_refuse(c, "process", "{action: 'list'}", ERR_UNAVAIL, "no background processes");
	must_refuse(c, "process", "{action: 'lst'}", ERR_USAGE, "there are list, poll, log");
	must_run(c, "exec", "{command: 'true', background: false}");
}

/* ---- declared only ---- */

TEST(what_this_build_does_not_have_says_so)
{
	static const char *const rows[][2] = { { "web_fetch", "{url: 'https://example.com/'}" },
					       { "web_search", "{query: 'x'}" },
					       { "browser", "{action: 'open'}" } };
	struct arena a;
	struct buf out;
	struct jsonw w;
	struct value v;
	struct tool_ctx x = { .arena = &a };

	arena_init(&a, 1 << 20);
	buf_init(&out, 1 << 20);
	jsonw_init(&w, &out, 0);
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		const struct tool *t = tools_find(str_z(rows[i][0]));
		struct err e = { 0 };

		assert_int_equal(
			json_parse(&a, str_z(rows[i][1]), &(struct json_opts){ .json5 = true }, &v, &e), 0);
		CHECK_CASE(tools_run(t, &x, &v, &w, &e) < 0 && e.kind == ERR_UNAVAIL &&
				   strstr(e.msg, "not available in this build"),
			   "%s: %s", t->name, e.msg);
	}
	assert_null(tools_find(STR("message")));
	buf_done(&out);
	arena_done(&a);
}

TEST_MAIN()
