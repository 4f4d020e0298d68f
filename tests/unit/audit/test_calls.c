/* SPDX-License-Identifier: Apache-2.0 */
/* Calls whose caller was killed: the next who opens the log writes their end, once, and nobody else's. */
#include "logs.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/wait.h>

static struct decision decision_of(const char *request)
{
	return (struct decision){ .verdict = VERDICT_ALLOW,
				  .code = CODE_OK,
				  .request_id = str_z(request),
				  .who = { .agent = STR("main"), .session_key = STR("agent:main:x") },
				  .tool = { .name = STR("exec") } };
}

static uint64_t decide_it(struct audit *a, const char *request)
{
	static struct decision d;
	struct err e = { 0 };
	uint64_t seq = 0;

	d = decision_of(request);
	if (audit_decided(a, &d, STR(""), &seq, &e) < 0)
		fail_msg("%s", e.msg);
	return seq;
}

static void finish_it(struct audit *a, uint64_t seq)
{
	struct err e = { 0 };

	if (audit_finished(a, &(struct audit_end){ .decided = seq, .reason = "exited" }, &e) < 0)
		fail_msg("%s", e.msg);
}

/* A process that decides about `n` calls, finishes all but `open` of them, and is killed. */
static void be_killed(const struct spot *p, unsigned n, unsigned open_ones)
{
	pid_t pid = fork();
	int status;

	assert_true(pid >= 0);
	if (pid == 0) {
		struct audit *a = open_log(p, 0);

		for (unsigned i = 0; i < n; i++) {
			uint64_t seq = decide_it(a, "killed-one");

			if (i >= open_ones)
				finish_it(a, seq);
		}
		(void)raise(SIGKILL);
		_exit(1);
	}
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_true(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL);
}

static size_t count(const struct spot *p, const char *what)
{
	struct str text = spot_read(p, AUDIT_FILE), rest = text;
	size_t n = 0;

	for (const char *at; (at = memmem(rest.p, rest.n, what, strlen(what))); n++)
		rest = str_from(rest, (size_t)(at - rest.p) + 1);
	free((void *)(uintptr_t)text.p);
	return n;
}

TEST(a_call_whose_caller_was_killed_is_finished_by_the_next_who_opens_the_log)
{
	SPOT(p);

	be_killed(&p, 1, 1);
	check_whole(&p, 1);
	(void)audit_close(open_log(&p, 0));
	check_whole(&p, 2);
	assert_int_equal(count(&p,
			       "\"kind\":\"finished\",\"decided\":1,\"request\":\"killed-one\",\"session\":"
			       "\"agent:main:x\",\"tool\":\"exec\",\"reason\":\"lost\""),
			 1);
	(void)audit_close(open_log(&p, 0));
	check_whole(&p, 2); /* once */
}

TEST(calls_that_finished_and_calls_that_still_run_are_left_alone)
{
	SPOT(p);
	_cleanup_(audit_closep) struct audit *runs = open_log(&p, 0);
	uint64_t seq = decide_it(runs, "still-runs");

	be_killed(&p, 3, 0);
	check_whole(&p, 7);
	(void)audit_close(open_log(&p, 0));
	check_whole(&p, 7);
	be_killed(&p, 5, 2); /* the first two stay open */
	(void)audit_close(open_log(&p, 0));
	assert_int_equal(count(&p, "\"reason\":\"lost\""), 2);
	finish_it(runs, seq);
	(void)audit_close(open_log(&p, 0));
	assert_int_equal(count(&p, "\"reason\":\"lost\""), 2);
	check_whole(&p, 7 + 8 + 2 + 1);
}

/* What is in the file when somebody is killed between two steps: 8 bytes, the number, at the begin of a slot of 256. */
static void put_number(const struct spot *p, uint64_t from, uint64_t to)
{
	int fd = open(spot_file(p, "audit.calls"), O_RDWR | O_CLOEXEC);
	uint64_t now;
	bool found = false;

	assert_true(fd >= 0);
	for (off_t at = 0; pread(fd, &now, sizeof(now), at) == (ssize_t)sizeof(now); at += 256)
		if (now == from) {
			assert_int_equal(pwrite(fd, &to, sizeof(to), at), sizeof(to));
			found = true;
		}
	assert_int_equal(close(fd), 0);
	assert_true(found);
}

TEST(who_was_killed_before_he_knew_the_number_is_found_by_the_request)
{
	SPOT(p);

	be_killed(&p, 1, 1);
	put_number(&p, 1, UINT64_MAX);
	(void)audit_close(open_log(&p, 0));
	assert_int_equal(count(&p, "\"decided\":1,\"request\":\"killed-one\""), 1);
	check_whole(&p, 2);
}

TEST(who_was_killed_after_the_end_was_written_is_not_finished_twice)
{
	SPOT(p);
	struct audit *a;

	be_killed(&p, 1, 1);
	put_number(&p, 1, 77); /* of no record: whoever opens the log next forgets it */
	a = open_log(&p, 0);
	check_whole(&p, 1);
	finish_it(a, 1);
	(void)audit_close(a);
	be_killed(&p, 1, 1);
	put_number(&p, 3, 1); /* as if the first had finished and not said so */
	(void)audit_close(open_log(&p, 0));
	assert_int_equal(count(&p, "\"decided\":1,"), 1);
	check_whole(&p, 3);
}

TEST(a_file_of_slots_that_is_garbage_or_cannot_be_had_stops_nobody)
{
	SPOT(p);
	static char noise[256 * 256];
	struct audit *a;

	memset(noise, 0xa5, sizeof(noise));
	fill_log(&p, 1);
	spot_write(&p, "audit.calls", (struct str){ noise, sizeof(noise) });
	a = open_log(&p, 0);
	finish_it(a, decide_it(a, "goes-on"));
	(void)audit_close(a);
	assert_int_equal(count(&p, "\"reason\":\"lost\""), 0);
	assert_int_equal(unlink(spot_file(&p, "audit.calls")), 0);
	assert_int_equal(mkdir(spot_file(&p, "audit.calls"), 0700), 0);
	a = open_log(&p, 0);
	finish_it(a, decide_it(a, "goes-on-too"));
	(void)audit_close(a);
	assert_int_equal(rmdir(spot_file(&p, "audit.calls")), 0);
}

TEST_MAIN()
