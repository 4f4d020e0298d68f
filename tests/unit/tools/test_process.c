/* SPDX-License-Identifier: Apache-2.0 */
/* Programs that go on in the background, and the output that was too long: exec and process together, over a keeper. */
#include "programs.h"

/* A call of process on one of them. */
static void process(struct caller *c, const char *id, const char *rest)
{
	char args[512];

	(void)snprintf(args, sizeof(args), "{sessionId: '%s', %s}", id, rest);
	must_run(c, "process", args);
}

static void no_process(struct caller *c, const char *id, const char *rest, enum err_kind kind,
		       const char *words)
{
	char args[512];

	(void)snprintf(args, sizeof(args), "{sessionId: '%s', %s}", id, rest);
	must_refuse(c, "process", args, kind, words);
}

static const char *start(struct caller *c, const char *args)
{
	static char ids[8][16];
	static unsigned next;
	char *id = ids[next++ % 8];

	must_run(c, "exec", args);
	must_be(c, "status", "running");
	MUST(member(c, "pid")->i > 1 && !c->programs.end.ran);
	(void)snprintf(id, sizeof(ids[0]), "%.*s", (int)member(c, "sessionId")->s.n,
		       member(c, "sessionId")->s.p);
	return id;
}

/* Polls until its output so far ends like this. */
static void poll_until(struct caller *c, const char *id, const char *ending)
{
	static char all[1 << 16];
	size_t n = 0;
	uint64_t end = clock_deadline(20000);

	while (!str_ends((struct str){ all, n }, str_z(ending))) {
		struct str s;

		if (clock_mono_ms() >= end) {
			(void)fprintf(stderr, "'%.*s' never ends in '%s'\n", (int)n, all, ending);
			_exit(1);
		}
		process(c, id, "action: 'poll', timeout: 1000");
		s = member(c, "stdout")->s;
		MUST(n + s.n < sizeof(all));
		memcpy(all + n, s.p, s.n);
		n += s.n;
	}
}

static void wait_ended(struct caller *c, const char *id)
{
	uint64_t end = clock_deadline(20000);

	do {
		MUST(clock_mono_ms() < end);
		process(c, id, "action: 'poll', timeout: 1000");
	} while (str_eq(member(c, "status")->s, STR("running")));
}

WITH_KEPT(a_background_program_is_left_running_and_looked_after)
{
	const char *id = start(c, "{command: 'echo one; read x; echo two $x; exit 4', background: true}");

	must_run(c, "process", "{action: 'list'}");
	MUST(member(c, "sessions")->arr.n == 1);
	MUST(str_eq(value_get(&member(c, "sessions")->arr.v[0], STR("command"))->s,
		    STR("echo one; read x; echo two $x; exit 4")));
	poll_until(c, id, "one\n");
	process(c, id, "action: 'submit', data: 'here'");
	must_count(c, "written", 5);
	poll_until(c, id, "two here\n");
	wait_ended(c, id);
	must_be(c, "status", "failed");
	must_count(c, "exit", 4);
	must_be(c, "reason", "exited");
	process(c, id, "action: 'log'");
	must_be(c, "stdout", "one\ntwo here\n");
	process(c, id, "action: 'clear'");
	must_be(c, "status", "removed");
	no_process(c, id, "action: 'poll'", ERR_NOTFOUND, id);
	must_run(c, "process", "{action: 'list'}");
	MUST(member(c, "sessions")->arr.n == 0);
}

WITH_KEPT(a_background_server_answers_the_next_call_and_another_caller)
{
	const char *id =
		start(c, "{command: ['python3', '-u', '-m', 'http.server', '--bind', '127.0.0.1', '8123'],"
			 " background: true, env: {A: 'x'}}");
	struct box *other = den_connect(c->d), *own = c->programs.box;

	poll_until(c, id, "...\n");
	must_run(
		c, "exec",
		"{command: ['python3', '-c', 'import urllib.request as u; print(u.urlopen(\"http://127.0.0.1:8123/\").status)']}");
	must_be(c, "stdout", "200\n");
	c->programs.box = other;
	process(c, id, "action: 'poll'");
	must_be(c, "status", "running");
	process(c, id, "action: 'kill'");
	must_be(c, "status", "killed");
	must_be(c, "reason", "cancelled");
	c->programs.box = own;
	process(c, id, "action: 'remove'");
	(void)box_close(other);
}

WITH_KEPT(what_a_background_program_leaves_goes_with_the_box)
{
	(void)start(c, "{command: 'setsid sleep $MARK & sleep $MARK', background: true}");
	wait_marked(2);
	/* den_run() sees that both are gone */
}

WITH_KEPT(yield_waits_for_a_while_and_then_leaves_it)
{
	const char *id;

	must_run(c, "exec", "{command: 'echo out; echo err >&2; exit 3', yieldMs: 30000}");
	must_be(c, "stdout", "out\n");
	must_be(c, "stderr", "err\n");
	must_count(c, "exit", 3);
	MUST(strcmp(c->programs.end.error, "exit_3") == 0);
	must_run(c, "exec", "{command: 'cat', stdin: 'fed', yieldMs: 30000}");
	must_be(c, "stdout", "fed");
	must_run(c, "process", "{action: 'list'}");
	MUST(member(c, "sessions")->arr.n == 0);
	must_run(c, "exec", "{command: 'seq 100000', yieldMs: 30000}");
	MUST(is_true(c, "truncated") && str_ends(member(c, "stdout")->s, STR("\n100000\n")));
	must_count(c, "stdoutBytes", 588895);
	must_refuse(c, "exec", "{command: ['no-such'], yieldMs: 30000}", ERR_NOTFOUND, "no such program");
	id = start(c, "{command: 'echo begun; sleep $MARK', yieldMs: 300}");
	must_be(c, "stdout", "begun\n");
	process(c, id, "action: 'poll'");
	must_be(c, "stdout", "");
	process(c, id, "action: 'remove'");
	wait_marked(0);
	must_run(c, "exec", "{command: 'sleep $MARK', yieldMs: 30000, timeout: 1}");
	must_be(c, "reason", "timeout");
}

WITH_KEPT(keys_and_text_reach_a_terminal)
{
	const char *id = start(
		c, "{command: ['bash', '--norc', '-i'], pty: true, background: true, env: {PS1: '$ '}}");

	poll_until(c, id, "$ ");
	process(c, id, "action: 'send-keys', literal: 'echo a-b', keys: ['Enter']");
	poll_until(c, id, "a-b\r\n$ ");
	process(c, id, "action: 'send-keys', keys: ['Up', 'Enter']");
	poll_until(c, id, "a-b\r\n$ ");
	process(c, id, "action: 'submit', data: 'sleep $MARK'");
	wait_marked(1);
	process(c, id, "action: 'send-keys', keys: ['C-c']");
	poll_until(c, id, "$ ");
	wait_marked(0);
	process(c, id, "action: 'send-keys', hex: ['65', '0x63', '68', '6f', '20', '7a', '0d']");
	poll_until(c, id, "z\r\n$ ");
	process(c, id, "action: 'paste', text: 'echo p', bracketed: false");
	process(c, id, "action: 'submit'");
	poll_until(c, id, "p\r\n$ ");
	no_process(c, id, "action: 'send-keys', keys: ['hello']", ERR_USAGE, "is no key");
	no_process(c, id, "action: 'send-keys'", ERR_USAGE, "needs 'keys'");
	process(c, id, "action: 'write', data: 'exit 7\\r', eof: true");
	wait_ended(c, id);
	must_count(c, "exit", 7);
}

WITH_KEPT(input_is_written_and_ended)
{
	const char *id = start(c, "{command: 'cat; echo end', background: true}");

	process(c, id, "action: 'write', data: 'a\\nb'");
	poll_until(c, id, "a\nb");
	no_process(c, id, "action: 'write'", ERR_USAGE, "needs 'data'");
	process(c, id, "action: 'write', data: 'c', eof: true");
	poll_until(c, id, "cend\n");
	wait_ended(c, id);
	must_be(c, "status", "completed");
	MUST(call_tool(c, "process", STR("{action: 'write', sessionId: 'p1', data: 'x'}")) < 0);
}

WITH_KEPT(streams_of_a_background_program_can_be_opened_by_name)
{
	const char *id =
		start(c, "{command: 'cat /dev/stdin > /dev/stdout; echo e > /dev/stderr', background: true}");

	process(c, id, "action: 'write', data: 'x', eof: true");
	wait_ended(c, id);
	process(c, id, "action: 'log'");
	must_be(c, "stdout", "x");
	must_be(c, "stderr", "e\n");
}

WITH_KEPT(signals_reach_it_by_name_and_number)
{
	const char *id = start(
		c,
		"{command: 'trap \"echo got\" USR1; trap \"exit 5\" TERM; echo up; while :; do sleep 0.05; done', background: true}");

	poll_until(c, id, "up\n");
	process(c, id, "action: 'signal', signal: 'SIGUSR1'");
	poll_until(c, id, "got\n");
	process(c, id, "action: 'kill', signal: '10'");
	poll_until(c, id, "got\n");
	no_process(c, id, "action: 'signal', signal: 'NOPE'", ERR_USAGE, "and must be HUP");
	no_process(c, id, "action: 'signal', signal: '0'", ERR_USAGE, "and must be HUP");
	no_process(c, id, "action: 'clear'", ERR_USAGE, "still runs");
	process(c, id, "action: 'signal'");
	wait_ended(c, id);
	must_count(c, "exit", 5);
}

WITH_KEPT(logs_are_paged_by_lines_and_by_bytes)
{
	const char *id = start(c, "{command: 'seq 1000; echo oops >&2', background: true}");

	wait_ended(c, id);
	process(c, id, "action: 'log'");
	MUST(str_starts(member(c, "stdout")->s, STR("801\n")) &&
	     str_ends(member(c, "stdout")->s, STR("\n1000\n")));
	must_count(c, "stdoutOffset", 800);
	must_count(c, "stdoutLines", 1000);
	must_be(c, "stderr", "oops\n");
	MUST(is_true(c, "stdoutTruncated") && !is_true(c, "stderrTruncated"));
	process(c, id, "action: 'log', offset: 10, limit: 2, stream: 'stdout'");
	must_be(c, "stdout", "11\n12\n");
	MUST(!value_get(&c->result, STR("stderr")));
	process(c, id, "action: 'log', limit: 2, stream: 'stdout'");
	must_be(c, "stdout", "999\n1000\n");
	process(c, id, "action: 'log', offset: 998");
	must_be(c, "stdout", "999\n1000\n");
	process(c, id, "action: 'log', offset: 5000");
	must_be(c, "stdout", "");
	process(c, id, "action: 'log', byteOffset: 2, byteLimit: 4, stream: 'stdout'");
	must_be(c, "stdout", "2\n3\n");
	must_count(c, "stdoutNextOffset", 6);
	must_count(c, "stdoutBytes", 3893);
	process(c, id, "action: 'log', byteOffset: 9999, stream: 'stdout'");
	must_be(c, "stdout", "");
	c->programs.stdout_max = 10;
	process(c, id, "action: 'log', offset: 0");
	must_be(c, "stdout", "1\n2\n3\n4\n5\n");
	MUST(is_true(c, "stdoutTruncated"));
	no_process(c, id, "action: 'log', offset: -1", ERR_USAGE, "must be 0..");
	no_process(c, id, "action: 'log', byteOffset: -1", ERR_USAGE, "must be 0..");
	no_process(c, id, "action: 'log', limit: 0", ERR_USAGE, "must be 1..");
	no_process(c, id, "action: 'log', stream: 'x'", ERR_USAGE, "stdout or stderr");
}

WITH_KEPT(bytes_of_a_log_are_cut_between_code_points)
{
	const char *id = start(c, "{command: 'printf a€€b', background: true}");

	wait_ended(c, id);
	process(c, id, "action: 'log', byteOffset: 0, byteLimit: 3");
	must_be(c, "stdout", "a");
	must_count(c, "stdoutNextOffset", 1);
	process(c, id, "action: 'log', byteOffset: 1, byteLimit: 6");
	must_be(c, "stdout", "€€");
	process(c, id, "action: 'log', byteOffset: 7");
	must_be(c, "stdout", "b");
}

WITH_KEPT(a_poll_does_not_cut_a_character_in_two)
{
	const char *id = start(
		c,
		"{command: \"printf '\\\\342\\\\202'; sleep 0.2; printf '\\\\254'; sleep $MARK\", background: true}");
	uint64_t end = clock_deadline(10000);

	do {
		MUST(clock_mono_ms() < end);
		process(c, id, "action: 'poll', timeout: 10000");
	} while (member(c, "stdout")->s.n == 0);
	must_be(c, "stdout", "€");
}

WITH_KEPT(output_that_was_too_long_can_be_read_afterwards)
{
	char args[160];
	char id[16];

	must_run(c, "exec", "{command: 'seq 200000; echo e >&2; exit 6'}");
	MUST(is_true(c, "stdoutTruncated"));
	(void)snprintf(id, sizeof(id), "%.*s", (int)member(c, "log")->s.n, member(c, "log")->s.p);
	(void)snprintf(args, sizeof(args), "process log %s has them", id);
	MUST(memmem(member(c, "stdout")->s.p, member(c, "stdout")->s.n, args, strlen(args)));
	process(c, id, "action: 'log', offset: 123456, limit: 2");
	must_be(c, "stdout", "123457\n123458\n");
	must_count(c, "stdoutLines", 200000);
	must_count(c, "exit", 6);
	MUST(is_true(c, "outputOnly"));
	/* No more than the bound is kept, from the first byte on. */
	c->programs.spill_max = 100000;
	must_run(c, "exec", "{command: 'seq 200000'}");
	must_count(c, "stdoutBytes", 1288895);
	(void)snprintf(id, sizeof(id), "%.*s", (int)member(c, "log")->s.n, member(c, "log")->s.p);
	process(c, id, "action: 'log', byteOffset: 0, byteLimit: 4");
	must_be(c, "stdout", "1\n2\n");
	must_count(c, "stdoutBytes", 100000);
}

WITH_KEPT(unknown_ids_and_actions_are_errors)
{
	must_refuse(c, "process", "{}", ERR_USAGE, "'action' is missing");
	must_refuse(c, "process", "{action: 'fly'}", ERR_USAGE, "there are list, poll, log");
	must_refuse(c, "process", "{action: 'poll'}", ERR_USAGE, "needs 'sessionId'");
	no_process(c, "p99", "action: 'poll'", ERR_NOTFOUND, "p99");
	no_process(c, "../../etc/passwd", "action: 'log'", ERR_NOTFOUND, "passwd");
	no_process(c, "p\\u0000", "action: 'kill'", ERR_NOTFOUND, "p");
	must_refuse(c, "exec", "{command: ['no-such'], background: true}", ERR_NOTFOUND, "no such program");
	MUST(c->programs.end.exit == 127);
	must_refuse(c, "exec", "{command: 'true', workdir: 'gone', background: true}", ERR_USAGE,
		    "no such directory");
}

/* Each in a process of its own, with a connection of its own, and with its own output back. */
static void one_of_fifty(const struct den *d, int i)
{
	struct den mine = { .kind = KEPT, .box = den_connect(d) };
	CALLER(c, &mine);
	char args[160], want[64];

	(void)snprintf(args, sizeof(args), "{command: 'seq %d 20000; echo %d; cat; exit %d', stdin: 'in %d'}",
		       i, i, i, i);
	for (int k = 0; k < 3; k++) {
		must_run(&c, "exec", args);
		must_count(&c, "exit", i);
		(void)snprintf(want, sizeof(want), "\n%d\nin %d", i, i);
		MUST(str_ends(member(&c, "stdout")->s, str_z(want)));
	}
	(void)box_close(mine.box);
}

WITH_KEPT(fifty_at_once_get_their_own_output)
{
	int status, bad = 0;

	for (int i = 1; i <= 50; i++) {
		pid_t pid = fork();

		MUST(pid >= 0);
		if (pid == 0) {
			one_of_fifty(c->d, i);
			_exit(0);
		}
	}
	for (int i = 1; i <= 50; i++) {
		MUST(wait(&status) > 0);
		bad += status != 0;
	}
	MUST(bad == 0);
}

TEST_MAIN()
