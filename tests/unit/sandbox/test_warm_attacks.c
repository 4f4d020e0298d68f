/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Calls that attack: their own end, pid 1, the socket that it listens on, and each other. Whether they got anywhere is judged on the
 * host, by who still runs, and by what the next call is told.
 */
#include "served.h"

#define WITH_SERVED(name)                                          \
	static void name##_body(struct served *s);                 \
	TEST(warm_##name)                                          \
	{                                                          \
		FOR_EACH_USER(user) served_run(user, name##_body); \
	}                                                          \
	static void name##_body(struct served *s)

/* words, and the mark; up to a NULL. */
static struct warm_call linger(const char *const *words)
{
	static struct str argv[16];
	struct warm_call c = shell_call("");
	size_t n = 0;

	argv[n++] = STR(ATTACKS "/linger");
	for (; *words; words++)
		argv[n++] = str_z(*words);
	argv[n++] = str_z(mark);
	c.argv = (struct strs){ argv, n };
	return c;
}
#define LINGER(...) linger((const char *const[]){ __VA_ARGS__, NULL })

static void wait_some(void)
{
	uint64_t end = clock_deadline(10000);

	while (count_marked(NULL) == 0)
		MUST(clock_mono_ms() < end && usleep(1000) == 0);
}

/* The ways to get lost. For each: the cancelled call ends whole, a bystander call does not, and the sandbox goes on. */
static const char *const ways[][8] = {
	{ "nap" },
	{ "deaf", "nap" },
	{ "daemon", "nap" },
	{ "daemon", "daemon", "hide", "nap" },
	{ "brother", "nap" },
	{ "brother", "daemon", "hide", "brother", "nap" },
	{ "daemon", "lower", "nap" },
	{ "hide", "lower", "brother", "daemon", "deaf", "nap" },
	{ "daemon", "race" },
	{ "brother", "hide", "lower", "race" },
	{ "bomb" },
	{ "hide", "deaf", "daemon", "bomb" },
};
#define N_WAYS (sizeof(ways) / sizeof(ways[0]))

WITH_SERVED(no_process_gets_lost_from_its_call)
{
	struct warm_call c = shell_call("exec sleep 1000");
	uint64_t id, bystander = begin(s, &c);
	struct err e = { 0 };

	for (size_t i = 0; i < N_WAYS; i++) {
		struct serve_event ev;

		c = linger(ways[i]);
		c.flags = SERVE_F_KEEP; /* so that nothing but the cancel ends it */
		id = begin(s, &c);
		wait_some();
		(void)usleep(20000);
		MUST(warm_cancel(&s->warm, id, 0, &e) == 0);
		do
			ev = hear_next(s);
		while (ev.id != id || (ev.msg == SERVE_EXIT && ev.reason != SERVE_CANCELLED));
		if (ev.left || count_marked(NULL)) {
			(void)fprintf(stderr, "way %zu: %u left, %d on the host\n", i, ev.left,
				      count_marked(NULL));
			_exit(1);
		}
	}
	MUST(warm_cancel(&s->warm, bystander, SIGTERM, &e) == 0);
	for (int i = 0; i < 2; i++) {
		struct serve_event ev = hear_next(s);

		MUST(ev.msg == SERVE_REPLY ? ev.value == 1
					   : ev.reason == SERVE_SIGNALED && ev.value == SIGTERM);
	}
}

WITH_SERVED(no_process_outlives_a_call_that_ends)
{
	struct warm_call c = shell_call("exec sleep 1000");

	(void)begin(s, &c);
	for (size_t i = 0; i < N_WAYS; i++) {
		uint64_t id;

		if (strcmp(ways[i][0], "nap") == 0 || strcmp(ways[i][0], "deaf") == 0 ||
		    strcmp(ways[i][0], "hide") == 0 || strcmp(ways[i][0], "bomb") == 0)
			continue; /* these have no end of their own */
		c = linger(ways[i]);
		id = begin(s, &c);
		MUST(hear_exit(s, id).left == 0);
		MUST(count_marked(NULL) == 0);
	}
}

static void check_ends_whole(struct served *s, const char *const *way, int others, bool at_once)
{
	struct warm_call c = linger(way);
	uint64_t id = begin(s, &c);
	struct serve_event ev = hear_exit(s, id);

	if (ev.left || ev.ended == 0) {
		(void)fprintf(stderr, "%s %s: %u ended, %u left\n", way[0], way[1], ev.ended, ev.left);
		_exit(1);
	}
	/* A parent of one of the others may still be on its way out. Who was to be ended and was not naps for ever. */
	if (at_once)
		MUST(count_marked(NULL) == others);
	else
		wait_marked(others);
}

static void check_all_end(struct served *s, int others, bool at_once)
{
	static const char *const left[][4] = { { "daemon", "nap" },
					       { "brother", "nap" },
					       { "hide", "daemon", "nap" } };

	for (size_t i = 0; i < sizeof(left) / sizeof(left[0]); i++)
		check_ends_whole(s, left[i], others, at_once);
}

/*
 * Whose first process lives is not looked for among those that a call has left behind. First one lives that would adopt orphans; then there is an
 * orphan whose call goes on, too; then more first processes than pid 1 reads the numbers of.
 */
WITH_SERVED(nobody_hides_behind_a_call_that_goes_on)
{
	struct warm_call c = LINGER("hide", "nap");
	uint64_t id;

	(void)begin(s, &c);
	wait_marked(1);
	check_all_end(s, 1, true);
	c = LINGER("hide", "daemon", "nap");
	c.flags = SERVE_F_KEEP;
	id = begin(s, &c);
	(void)hear_exit(s, id);
	wait_marked(2);
	check_all_end(s, 2, false);
	for (int i = 0; i < 100; i++) {
		c = shell_call("exec sleep 1000");
		(void)begin(s, &c);
	}
	check_all_end(s, 2, false);
}

/* Without the mark nobody would be found: the attack that the test is about works where no call is cancelled. */
WITH_SERVED(the_same_ways_outlive_a_call_that_is_kept)
{
	struct warm_call c = LINGER("brother", "daemon", "hide", "brother", "nap");
	uint64_t id;

	c.flags = SERVE_F_KEEP;
	id = begin(s, &c);
	(void)hear_exit(s, id);
	wait_some();
	(void)usleep(50000);
	MUST(count_marked(NULL) == 1);
}

/* A process is stopped before it is executed, and a queue of signals is full: pid 1 still serves, and keeps deadlines. */
WITH_SERVED(pid_1_is_not_held_up)
{
	struct warm_call c = LINGER("freeze");
	struct serve_event ev;
	uint64_t attacker = begin(s, &c), id;
	struct err e = { 0 };

	for (int i = 0; i < 200; i++) {
		c = shell_call("exit 7");
		c.deadline_ms = 50;
		id = begin(s, &c);
		do
			ev = hear_next(s);
		while (ev.id != id);
		MUST(ev.msg == SERVE_EXIT &&
		     (ev.value == 7 || ev.reason == SERVE_TIMEOUT || ev.value == SIGKILL));
	}
	MUST(warm_cancel(&s->warm, attacker, 0, &e) == 0);
	do
		ev = hear_next(s);
	while (ev.id != attacker);
	c = LINGER("queue");
	id = begin(s, &c);
	(void)hear_exit(s, id);
	check_run(s, "echo still here", 0, "still here\n");
}

WITH_SERVED(a_flood_of_processes_is_one_call_that_can_be_cancelled)
{
	struct warm_call c = LINGER("flood");
	struct serve_event ev;
	struct err e = { 0 };
	uint64_t id;

	c.flags = SERVE_F_KEEP;
	id = begin(s, &c);
	(void)hear_exit(s, id);
	MUST(count_marked(NULL) > 100);
	MUST(warm_cancel(&s->warm, id, 0, &e) == 0);
	ev = hear_next(s);
	MUST(ev.id == id && ev.left == 0 && count_marked(NULL) == 0);
	check_run(s, "echo still here", 0, "still here\n");
}

WITH_SERVED(neither_pid_1_nor_its_socket_can_be_reached)
{
	char out[4096];

	(void)run_call(s, LINGER("sockets"), out, sizeof(out));
	MUST(out[0] == '\0');
	(void)run_call(s, LINGER("look"), out, sizeof(out));
	MUST(!strstr(out, "warden"));
}

static struct warm_call secret_call(unsigned flags)
{
	static struct str env[1] = { { "SECRET=hunter2", 14 } };
	struct warm_call c = LINGER("nap");

	c.env = (struct strs){ env, 1 };
	c.flags = flags;
	return c;
}

static void look_around(struct served *s, unsigned flags, char *out, size_t size)
{
	struct warm_call c = LINGER("look");

	c.flags = flags;
	(void)run_call(s, c, out, size);
}

/*
 * Calls of one sandbox are one user's, and look at each other as a user's processes can: that is the control. A call that stands apart
 * sees into no other.
 */
WITH_SERVED(a_call_that_stands_apart_cannot_look_into_others)
{
	char out[4096];
	struct warm_call c = secret_call(0);

	(void)begin(s, &c);
	wait_some();
	look_around(s, 0, out, sizeof(out));
	MUST(strstr(out, "call environ\nsecret\n") && strstr(out, "call mem\n"));
	look_around(s, SERVE_F_APART, out, sizeof(out));
	MUST(strcmp(out, "") == 0);
	c = secret_call(SERVE_F_APART);
	(void)begin(s, &c);
	look_around(s, SERVE_F_APART, out, sizeof(out));
	MUST(strcmp(out, "") == 0);
}

/* ---- whoever is killed, nothing is left ---- */

static pid_t up_from_marked(int n)
{
	pid_t pid = 0;

	MUST(count_marked(&pid) > 0);
	while (n-- > 0)
		pid = parent_of(pid);
	return pid;
}

/* 0: pid 1; 1: outside */
static void kill_level(struct served *s, int level)
{
	struct warm_call c = LINGER("deaf", "nap");
	struct warm_event ev;
	struct err e = { 0 };

	(void)begin(s, &c);
	wait_some();
	MUST(kill(up_from_marked(level + 1), SIGKILL) == 0);
	while (warm_next(&s->warm, true, &ev, &e) > 0)
		(void)fd_close(ev.fd);
}

WITH_SERVED(pid_1_killed_takes_everything_with_it)
{
	kill_level(s, 0);
}

WITH_SERVED(outside_killed_takes_everything_with_it)
{
	kill_level(s, 1);
}

static void die_at_work(struct served *s)
{
	struct warm_call c = LINGER("daemon", "hide", "deaf", "nap");

	c.flags = SERVE_F_KEEP;
	(void)begin(s, &c);
	wait_some();
	(void)kill(getpid(), SIGKILL);
}

TEST(warm_the_client_killed_takes_everything_with_it)
{
	FOR_EACH_USER(user)
	{
		pid_t pid = fork();
		int status;

		assert_non_null(getenv("CREEL_WARDEN"));
		assert_true(pid >= 0);
		if (pid == 0) {
			struct served s;

			(void)snprintf(mark, sizeof(mark), "7%d.25", getppid());
			if (user && getuid() == 0)
				MUST(setgid(ORDINARY) == 0 && setuid(ORDINARY) == 0);
			served_start(&s);
			die_at_work(&s);
		}
		(void)snprintf(mark, sizeof(mark), "7%d.25", getpid());
		assert_int_equal(waitpid(pid, &status, 0), pid);
		assert_int_equal(status, SIGKILL);
		check_gone_within(1000);
	}
}

/* ---- as long as it lives ---- */

static long number_in(const char *path, const char *key)
{
	_cleanup_free_ char *text = NULL;
	size_t n = 0;
	const char *at;

	MUST(fd_read_file(path, 1 << 20, &text, &n) == 0);
	at = strstr(text, key);
	MUST(at);
	return strtol(at + strlen(key), NULL, 10);
}

static int count_fds(pid_t pid)
{
	char path[64];
	DIR *d;
	int n = 0;

	(void)snprintf(path, sizeof(path), "/proc/%d/fd", pid);
	d = opendir(path);
	while (d && readdir(d))
		n++;
	if (d)
		(void)closedir(d);
	return n;
}

WITH_SERVED(ten_thousand_calls_leave_it_as_it_was)
{
	enum { CALLS = 10000 };
	const struct str program = STR(ATTACKS "/linger");
	struct warm_call c = LINGER("nap");
	char status[64], out[64];
	struct serve_event ev;
	struct err e = { 0 };
	uint64_t id = begin(s, &c);
	long memory = 0;
	pid_t pid_1;
	int fds = 0;

	wait_some();
	pid_1 = up_from_marked(1);
	(void)snprintf(status, sizeof(status), "/proc/%d/status", pid_1);
	MUST(warm_cancel(&s->warm, id, 0, &e) == 0);
	(void)hear_exit(s, id);
	for (int i = 0; i < CALLS; i++) {
		c = shell_call("");
		c.argv = (struct strs){ &program, 1 };
		MUST(warm_exec(&s->warm, &c, &ev, &e) == 0 && ev.value == 0 && ev.reason == SERVE_EXITED);
		if (i == CALLS / 10) {
			memory = number_in(status, "VmRSS:");
			fds = count_fds(pid_1);
		}
	}
	MUST(number_in(status, "VmRSS:") <= memory + 16);
	MUST(geteuid() != 0 ||
	     (fds > 3 && count_fds(pid_1) == fds)); /* it cannot be dumped: root alone sees them */
	(void)run_call(s, shell_call("echo $$"), out, sizeof(out));
	MUST(strtol(out, NULL, 10) > CALLS); /* each was a process of this very sandbox */
}

TEST_MAIN()
