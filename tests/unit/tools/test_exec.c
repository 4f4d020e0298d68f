/* SPDX-License-Identifier: Apache-2.0 */
/* exec: what a program gets, what of its output is told, how its end is named. */
#include "programs.h"

#include <sched.h>
#include <sys/stat.h>

WITH_CALLER(exec_runs_a_text_or_words_and_tells_the_end)
{
	must_run(c, "exec", "{command: 'echo out; echo err >&2; exit 3'}");
	must_be(c, "stdout", "out\n");
	must_be(c, "stderr", "err\n");
	must_count(c, "exit", 3);
	must_be(c, "reason", "exited");
	must_count(c, "stdoutBytes", 4);
	MUST(!is_true(c, "truncated") && !is_true(c, "stdoutTruncated"));
	MUST(c->programs.end.ran && c->programs.end.exit == 3 &&
	     strcmp(c->programs.end.error, "exit_3") == 0 && c->programs.end.end.wall_us > 0);
	must_run(c, "bash", "{cmd: ['printf', '%s|', 'a b', '', '$HOME']}");
	must_be(c, "stdout", "a b||$HOME|");
	MUST(c->programs.end.error[0] == '\0');
	must_run(c, "SHELL", "{command: 'true'}");
	must_be(c, "stdout", "");
	must_count(c, "stdoutBytes", 0);
	must_run(c, "execute", "{command: 'kill -9 $$'}");
	must_be(c, "reason", "signaled");
	must_count(c, "signal", 9);
	must_count(c, "exit", 137);
	MUST(strcmp(c->programs.end.error, "signal_9") == 0);
}

WITH_CALLER(exec_starts_where_it_is_told_with_what_it_is_given)
{
	must_run(c, "exec", "{command: 'mkdir -p sub/deep; pwd'}");
	must_be(c, "stdout", "/tmp\n");
	must_run(c, "exec", "{command: 'pwd', workdir: 'sub/deep'}");
	must_be(c, "stdout", "/tmp/sub/deep\n");
	must_run(c, "exec", "{command: 'pwd', cwd: '/usr'}");
	must_be(c, "stdout", "/usr\n");
	must_run(c, "exec", "{command: 'echo $A-$B', env: {A: 'x y', B: 'é'}}");
	must_be(c, "stdout", "x y-é\n");
	must_run(c, "exec", "{command: 'cat', stdin: 'fed\\n'}");
	must_be(c, "stdout", "fed\n");
	must_run(c, "exec", "{command: 'cat'}");
	must_be(c, "stdout", "");
	/* The streams can be opened by their names, whoever made them. */
	must_run(c, "exec", "{command: 'cat /dev/stdin > /dev/stdout; echo err > /dev/stderr', stdin: 'x'}");
	must_be(c, "stdout", "x");
	must_be(c, "stderr", "err\n");
	must_run(c, "exec", "{command: 'ls /proc/self/fd | wc -l; umask', stdin: ''}");
	must_be(c, "stdout", "4\n0022\n");
}

WITH_CALLER(exec_refuses_what_cannot_be_meant)
{
	must_refuse(c, "exec", "{}", ERR_USAGE, "'command' is missing");
	must_refuse(c, "exec", "{command: ''}", ERR_USAGE, "is empty");
	must_refuse(c, "exec", "{command: '  \\n '}", ERR_USAGE, "is empty");
	must_refuse(c, "exec", "{command: []}", ERR_USAGE, "names no program");
	must_refuse(c, "exec", "{command: ['']}", ERR_USAGE, "names no program");
	must_refuse(c, "exec", "{command: ['a', 7]}", ERR_USAGE,
		    "item 1 is an integer, and must be a string");
	must_refuse(c, "exec", "{command: 7}", ERR_USAGE, "must be a string or an array of strings");
	must_refuse(c, "exec", "{command: 'a', comand: 'b'}", ERR_USAGE, "did you mean 'command'");
	must_refuse(c, "exec", "{command: 'a', cmd: 'b'}", ERR_USAGE, "given twice");
	must_refuse(c, "exec", "{command: 'a', env: {A: 1}}", ERR_USAGE, "member A is an integer");
	must_refuse(c, "exec", "{command: 'a', env: ['A=1']}", ERR_USAGE, "must be an object of strings");
	must_refuse(c, "exec", "{command: 'a', timeout: 'x'}", ERR_USAGE, "must be a number");
	must_refuse(c, "exec", "{command: 'a', timeout: -1}", ERR_USAGE, "must be 0..");
	must_refuse(c, "exec", "{command: 'a', yieldMs: -5}", ERR_USAGE, "must be 0..");
	must_refuse(c, "exec", "{command: 'a', pty: 1}", ERR_USAGE, "must be true or false");
	must_refuse(c, "exec", "{command: 'a', host: 'gateway'}", ERR_DENIED, "auto or sandbox");
	must_refuse(c, "exec", "{command: 'a', workdir: 'a\\u0000b'}", ERR_USAGE, "NUL");
	must_refuse(c, "exec", "{command: ['a\\u0000b']}", ERR_USAGE, "NUL");
}

WITH_CALLER(exec_lets_no_call_set_what_changes_the_code_that_runs)
{
	static const char *const loaders[] = {
		"LD_PRELOAD", "LD_LIBRARY_PATH", "BASH_ENV", "ENV", "IFS", "PATH", "PS4"
	};
	char args[128];

	for (size_t i = 0; i < sizeof(loaders) / sizeof(loaders[0]); i++) {
		(void)snprintf(args, sizeof(args), "{command: 'true', env: {%s: '/tmp/x'}}", loaders[i]);
		must_refuse(c, "exec", args, ERR_DENIED, loaders[i]);
	}
	must_refuse(c, "exec", "{command: 'true', env: {MARK: 'x'}}", ERR_DENIED, "is set by policy");
	must_refuse(c, "exec", "{command: 'true', env: {'': 'x'}}", ERR_USAGE, "no name of a variable");
	must_refuse(c, "exec", "{command: 'true', env: {'A=B': 'x'}}", ERR_USAGE, "no name of a variable");
	must_refuse(c, "exec", "{command: 'true', env: {A: 'x\\u0000y'}}", ERR_USAGE, "NUL");
	must_run(c, "exec", "{command: 'env', env: {MARKS: 'not the same name'}}");
}

WITH_CALLER(exec_says_why_a_program_did_not_start)
{
	must_refuse(c, "exec", "{command: ['no-such-program']}", ERR_NOTFOUND,
		    "'no-such-program': no such program");
	MUST(!c->programs.end.ran && c->programs.end.exit == 127);
	must_run(c, "exec", "{command: 'echo x > plain; echo x > text; chmod 755 text'}");
	must_refuse(c, "exec", "{command: ['/tmp/plain']}", ERR_DENIED, "not executable");
	MUST(c->programs.end.exit == 126);
	must_refuse(c, "exec", "{command: ['/tmp/text']}", ERR_DENIED, "not a program");
	must_refuse(c, "exec", "{command: 'true', workdir: 'gone'}", ERR_USAGE,
		    "'/tmp/gone': no such directory");
	must_refuse(c, "exec", "{command: 'true', workdir: 'plain'}", ERR_USAGE, "not a directory");
	must_run(c, "exec", "{command: 'echo still here'}");
	must_be(c, "stdout", "still here\n");
}

/* Whoever closed its streams, or left them to somebody else, has not ended, and whoever has ended is not waited for. */
WITH_CALLER(exec_ends_with_its_program_and_not_with_its_streams)
{
	must_run(c, "exec",
		 "{command: 'echo early; exec >&- 2>&-; sleep 0.1; echo late >/tmp/late', timeout: 60}");
	must_be(c, "stdout", "early\n");
	must_run(c, "exec", "{command: 'cat /tmp/late'}");
	must_be(c, "stdout", "late\n");
	must_run(c, "exec", "{command: 'echo mine; sleep 1000 & echo too >&2', timeout: 60}");
	must_be(c, "stdout", "mine\n");
	must_be(c, "stderr", "too\n");
	MUST(c->programs.end.end.reason == BOX_EXITED);
}

static char *big_text(const char *before, size_t n, const char *after)
{
	size_t a = strlen(before), b = strlen(after);
	char *p = malloc(a + n + b + 1);

	memcpy(p, before, a);
	memset(p + a, 'x', n);
	memcpy(p + a + n, after, b + 1);
	return p;
}

WITH_CALLER(exec_bounds_commands_and_takes_large_ones)
{
	_cleanup_free_ char *ten = big_text("{command: 'echo ", 10 << 20, "'}");
	_cleanup_free_ char *ten_words = big_text("{command: ['echo', '", 10 << 20, "']}");
	_cleanup_free_ char *much = big_text("{command: ['echo', '", 200000, "']}");
	_cleanup_free_ char *fits = big_text("{command: 'echo ", 100000, " | wc -c'}");

	must_refuse(c, "exec", ten, ERR_LIMIT, "must be 0..2097152");
	must_refuse(c, "exec", ten_words, ERR_LIMIT, "must be 0..2097152");
	must_refuse(c, "exec", much, ERR_LIMIT, "argument 1 has 200000 bytes");
	must_run(c, "exec", fits);
	must_be(c, "stdout", "100001\n");
}

WITH_CALLER(exec_feeds_much_and_takes_much_at_the_same_time)
{
	_cleanup_free_ char *args = big_text("{command: 'tee /dev/stderr', stdin: '", 8 << 20, "'}");
	_cleanup_free_ char *unread = big_text("{command: 'head -c 5', stdin: '", 8 << 20, "'}");

	must_run(c, "exec", args);
	must_count(c, "stdoutBytes", 8 << 20);
	must_count(c, "stderrBytes", 8 << 20);
	must_count(c, "exit", 0);
	/* One who reads a little and goes is no signal to us. */
	must_run(c, "exec", unread);
	must_be(c, "stdout", "xxxxx");
}

/* Where the box is kept, the line between the two parts names the log. */
static void must_be_cut(struct caller *c, const char *front, const char *between, const char *end)
{
	const struct value *log = value_get(&c->result, STR("log"));
	char want[256];

	MUST((log != NULL) == (c->programs.box->jobs != NULL));
	(void)snprintf(want, sizeof(want), log ? "%s\n%s; process log %.*s has them]\n%s" : "%s\n%s%.*s]\n%s",
		       front, between, log ? (int)log->s.n : 0, log ? log->s.p : "", end);
	must_be(c, "stdout", want);
}

WITH_CALLER(exec_keeps_the_front_and_the_end_of_much_output)
{
	struct str s;

	must_run(c, "exec",
		 "{command: 'echo first; head -c 100000000 /dev/zero; echo; echo last; echo e >&2'}");
	must_count(c, "stdoutBytes", 100000000 + 12);
	MUST(is_true(c, "truncated") && is_true(c, "stdoutTruncated") && !is_true(c, "stderrTruncated"));
	s = member(c, "stdout")->s;
	MUST(s.n < TOOLS_STREAM_MAX + 100);
	MUST(str_starts(s, STR("first\n")) && str_ends(s, STR("\nlast\n")));
	MUST(memmem(s.p, s.n, "\n[99920012 bytes are left out here", 34));
	must_be(c, "stderr", "e\n");
	c->programs.stdout_max = 8;
	must_run(c, "exec", "{command: 'printf 12345678'}");
	must_be(c, "stdout", "12345678");
	must_run(c, "exec", "{command: 'printf 123456789'}");
	must_be_cut(c, "123456", "[1 bytes are left out here", "89");
}

WITH_CALLER(exec_output_is_text_whatever_was_written)
{
	must_run(c, "exec", "{command: \"printf 'a\\\\000b\\\\377\\\\303\\\\251\\\\r\\\\n'\"}");
	MUST(str_eq(member(c, "stdout")->s, (struct str){ "a\0b\xef\xbf\xbd\xc3\xa9\r\n", 10 }));
	must_count(c, "stdoutBytes", 8);
	/* A code point that comes in two reads is one. */
	must_run(c, "exec", "{command: \"printf '\\\\342\\\\202'; sleep 0.1; printf '\\\\254'\"}");
	must_be(c, "stdout", "€");
	/* One that the cut would go through is left out whole. */
	c->programs.stdout_max = 8;
	must_run(c, "exec", "{command: 'printf 12345€€€€89'}");
	must_be_cut(c, "12345", "[12 bytes are left out here", "89");
}

static int count_output(void *ctx, int stream, struct str bytes)
{
	size_t *n = ctx;

	n[stream - 1] += bytes.n;
	return 0;
}

static int slow_output(void *ctx, int stream, struct str bytes)
{
	(void)usleep(3000);
	return count_output(ctx, stream, bytes);
}

static int stop_output(void *ctx, int stream, struct str bytes)
{
	(void)count_output(ctx, stream, bytes);
	return 1;
}

WITH_CALLER(exec_streams_all_output_as_it_comes)
{
	size_t n[2] = { 0 };

	c->programs.output = count_output;
	c->programs.output_ctx = n;
	must_run(c, "exec", "{command: 'head -c 3000000 /dev/zero; echo x >&2'}");
	MUST(n[0] == 3000000 && n[1] == 2);
	n[0] = 0;
	c->programs.output = slow_output;
	must_run(c, "exec", "{command: 'head -c 3000000 /dev/zero'}");
	MUST(n[0] == 3000000);
	c->programs.output = stop_output;
	n[0] = 0;
	must_run(c, "exec", "{command: 'echo one; sleep $MARK; echo two'}");
	must_be(c, "reason", "cancelled");
	must_be(c, "stdout", "one\n");
	MUST(n[0] == 4 && strcmp(c->programs.end.error, "cancelled") == 0);
}

WITH_CALLER(exec_at_its_deadline_ends_the_whole_tree)
{
	must_run(
		c, "exec",
		"{command: 'echo begun; (setsid sh -c \"sleep $MARK & sleep $MARK\" & ) ; sleep $MARK', timeout: 1}");
	must_be(c, "reason", "timeout");
	must_be(c, "stdout", "begun\n");
	must_count(c, "exit", 124);
	MUST(strcmp(c->programs.end.error, "timeout") == 0);
	wait_marked(0);
	/* One whose end nobody waits for: what it left behind goes with it. */
	c->programs.timeout_ms = 60000;
	must_run(c, "exec", "{command: 'setsid sleep $MARK & echo done'}");
	must_be(c, "stdout", "done\n");
	wait_marked(0);
}

WITH_CALLER(exec_is_cancelled_from_outside)
{
	int p[2];

	MUST(pipe2(p, O_CLOEXEC) == 0);
	c->programs.cancel_fd = p[0];
	if (fork() == 0) {
		wait_marked(2);
		MUST(write(p[1], "x", 1) == 1);
		_exit(0);
	}
	must_run(c, "exec", "{command: 'echo begun; sleep $MARK & sleep $MARK'}");
	must_be(c, "reason", "cancelled");
	must_be(c, "stdout", "begun\n");
	wait_marked(0);
	MUST(wait(NULL) > 0);
	(void)close(p[0]);
	(void)close(p[1]);
}

WITH_CALLER(exec_in_a_terminal_has_one_stream)
{
	must_run(c, "exec",
		 "{command: 'test -t 0 && test -t 1 && test -t 2 && echo yes; echo err >&2', pty: true}");
	must_be(c, "stdout", "yes\r\nerr\r\n");
	must_be(c, "stderr", "");
	must_run(c, "exec", "{command: 'stty -echo; cat', pty: true, stdin: 'line\\nhalf'}");
	MUST(str_ends(member(c, "stdout")->s, STR("line\r\nhalf")));
	must_run(c, "exec", "{command: 'cat', pty: true}");
	must_count(c, "exit", 0);
	must_run(c, "exec", "{command: 'stty size', tty: true}");
	must_be(c, "stdout", "24 80\r\n");
	must_run(c, "exec", "{command: 'seq 20000', pty: true}");
	must_count(c, "stdoutBytes", 108894 + 20000);
	MUST(str_ends(member(c, "stdout")->s, STR("\n20000\r\n")));
}

/* From another process: its keeper is told to go, or the warden, the only child of who holds it besides us, is killed. */
static void end_box(const struct den *d, pid_t holder)
{
	char path[64];
	FILE *f;
	int pid;

	if (d->kind == KEPT) {
		(void)kill(d->keeper.pid, SIGTERM);
		return;
	}
	(void)snprintf(path, sizeof(path), "/proc/%d/task/%d/children", holder, holder);
	f = fopen(path, "re");
	MUST(f);
	while (fscanf(f, "%d", &pid) == 1)
		if (pid != getpid())
			(void)kill(pid, SIGKILL);
	(void)fclose(f);
}

/* The number of standard output's pipe, as the program sees it. */
static void run_and_name_the_pipe(struct caller *c, char out[static 64])
{
	must_run(c, "exec", "{command: ['readlink', '/proc/self/fd/1']}");
	(void)snprintf(out, 64, STR_FMT, STR_ARG(member(c, "stdout")->s));
}

WITH_CALLER(pipes_that_were_made_ahead_are_of_one_call_alone)
{
	char first[64], ahead[64], second[64], third[64];
	struct stat st = { 0 };

	run_and_name_the_pipe(c, first);
	MUST(c->memory.has_pipes && fstat(c->memory.pipes[0][1], &st) == 0);
	(void)snprintf(ahead, sizeof(ahead), "pipe:[%ju]\n", (uintmax_t)st.st_ino);
	run_and_name_the_pipe(c, second);
	run_and_name_the_pipe(c, third);
	MUST(strcmp(second, ahead) == 0 && strcmp(first, second) != 0 && strcmp(second, third) != 0 &&
	     strcmp(first, third) != 0);
}

/* Whoever starts it goes to the caller's processor; it may use all of them. */
WITH_CALLER(a_program_may_run_on_every_processor_of_the_caller)
{
	cpu_set_t before, after;

	MUST(sched_getaffinity(0, sizeof(before), &before) == 0);
	for (int i = 0; i < 6; i++) {
		char want[32];

		must_run(c, "exec", "{command: ['nproc']}");
		(void)snprintf(want, sizeof(want), "%d\n", CPU_COUNT(&before));
		must_be(c, "stdout", want);
		MUST(sched_getaffinity(0, sizeof(after), &after) == 0 && CPU_EQUAL(&before, &after));
	}
}

WITH_CALLER(a_sandbox_that_goes_is_told_with_what_was_written)
{
	pid_t child = fork();

	MUST(child >= 0);
	if (child == 0) {
		wait_marked(1);
		end_box(c->d, getppid());
		_exit(0);
	}
	must_run(c, "exec", "{command: 'echo begun; sleep $MARK'}");
	must_be(c, "reason", "lost");
	must_count(c, "exit", 125);
	MUST(strcmp(c->programs.end.error, "lost") == 0);
	MUST(waitpid(child, NULL, 0) == child);
	must_refuse(c, "exec", "{command: 'true'}", ERR_UNAVAIL, "has ended");
}

TEST(programs_need_a_box)
{
	struct arena a;
	struct err e = { 0 };
	struct buf out;
	struct jsonw w;
	struct value v;
	struct tool_ctx x = { .arena = &a };
	static const char *const tools[][2] = { { "exec", "{command:'true'}" },
						{ "shell_exec", "{cmd:['true']}" },
						{ "code_exec", "{language:'py',code:''}" },
						{ "git", "{command:'status'}" } };

	arena_init(&a, 1 << 20);
	buf_init(&out, 1 << 20);
	jsonw_init(&w, &out, 0);
	for (size_t i = 0; i < sizeof(tools) / sizeof(tools[0]); i++) {
		const struct tool *t = tools_find(str_z(tools[i][0]));

		assert_int_equal(
			json_parse(&a, str_z(tools[i][1]), &(struct json_opts){ .json5 = true }, &v, &e), 0);
		CHECK_CASE(tools_run(t, &x, &v, &w, &e) < 0 && e.kind == ERR_UNAVAIL, "%s: %s", t->name,
			   e.msg);
	}
	buf_done(&out);
	arena_done(&a);
}

TEST_MAIN()
