/* SPDX-License-Identifier: Apache-2.0 */
/* What is written, by whom, and into which file. What happens when it cannot be written is in test_crash.c. */
#include "logs.h"

#include "base/clock.h"
#include "data/json.h"

#include <pthread.h>
#include <signal.h>
#include <sys/file.h>
#include <sys/resource.h>

static mode_t mode_of(const char *path)
{
	struct stat st;

	assert_int_equal(stat(path, &st), 0);
	return st.st_mode & 07777;
}

static const struct decision a_decision = {
	.verdict = VERDICT_ALLOW,
	.code = CODE_OK,
	.request_id = { "req-1", 5 },
	.who = { .agent = { "main", 4 }, .session_key = { "agent:main:main", 15 }, .via = VIA_CLI },
	.tool = { .name = { "exec", 4 } },
	.place = { .place = PLACE_CONTAINER, .backend = BACKEND_NATIVE, .scope = SCOPE_SESSION },
};

TEST(a_decision_is_in_the_file_when_the_call_returns)
{
	SPOT(p);
	_cleanup_(audit_closep) struct audit *a = open_log(&p, 0);
	const struct str argv[] = { STR("ls"), STR("-l") };
	static struct decision d;
	struct err e = { 0 };
	uint64_t seq = 0;
	struct str text;

	d = a_decision;
	d.tool.argv = (struct strs){ argv, 2 };
	assert_int_equal(audit_decided(a, &d, STR("abcdef"), &seq, &e), 0);
	assert_int_equal(seq, 1);
	text = spot_read(&p, AUDIT_FILE);
	assert_non_null(strstr(text.p, "\"kind\":\"decided\",\"verdict\":\"ALLOW\",\"code\":\"ok\""));
	assert_non_null(strstr(text.p, "\"argv\":[\"ls\",\"-l\"]"));
	assert_non_null(strstr(text.p, "\"session\":\"agent:main:main\""));
	assert_non_null(strstr(text.p, "\"walls\":\"abcdef\""));
	free((void *)(uintptr_t)text.p);
	check_whole(&p, 1);
}

TEST(an_end_names_its_decision_and_what_was_refused)
{
	SPOT(p);
	_cleanup_(audit_closep) struct audit *a = open_log(&p, 0);
	const struct denial denial = { .layer = "cgroup",
				       .operation = "fork",
				       .verdict = "refused",
				       .object = STR("pids"),
				       .rule = STR("limits.pids"),
				       .count = 3 };
	const struct audit_end end = { .decided = 1,
				       .request_id = STR("req-1"),
				       .reason = "exited",
				       .exit = -1,
				       .duration_ms = 12,
				       .denials = &denial,
				       .n_denials = 1 };
	struct err e = { 0 };
	struct str text;
	uint64_t seq;

	assert_int_equal(audit_decided(a, &a_decision, STR(""), &seq, &e), 0);
	assert_int_equal(audit_finished(a, &end, &e), 0);
	text = spot_read(&p, AUDIT_FILE);
	assert_non_null(strstr(text.p, "\"kind\":\"finished\",\"decided\":1,\"request\":\"req-1\""));
	assert_non_null(strstr(text.p, "\"exit\":-1"));
	assert_non_null(strstr(text.p, "\"layer\":\"cgroup\",\"operation\":\"fork\""));
	free((void *)(uintptr_t)text.p);
	check_whole(&p, 2);
}

TEST(directory_and_files_are_ours_alone)
{
	SPOT(p);

	(void)umask(0);
	fill_log(&p, 1);
	(void)umask(022);
	assert_int_equal(mode_of(p.dir), 0700);
	assert_int_equal(mode_of(spot_file(&p, AUDIT_FILE)), 0600);
	assert_int_equal(mode_of(spot_file(&p, "audit.head")), 0600);
}

TEST(a_directory_that_others_can_enter_is_refused_with_the_fix)
{
	SPOT(p);
	const struct audit_opts o = { .dir = p.dir };
	struct audit *a = NULL;
	struct err e = { 0 };

	assert_int_equal(mkdir(p.dir, 0755), 0);
	assert_int_equal(chmod(p.dir, 0755), 0);
	assert_true(audit_open(&o, &a, &e) < 0);
	assert_non_null(strstr(e.msg, "mode 0700"));
	assert_int_equal(chmod(p.dir, 0700), 0);
	assert_int_equal(audit_open(&o, &a, &e), 0);
	audit_close(a);
}

TEST(a_log_that_is_a_link_or_readable_by_others_takes_no_record)
{
	SPOT(p);
	_cleanup_(audit_closep) struct audit *a = open_log(&p, 0);
	struct err e = { 0 };

	spot_write(&p, "elsewhere", STR(""));
	assert_int_equal(symlink("elsewhere", spot_file(&p, AUDIT_FILE)), 0);
	assert_true(put_event(a, "created", &e) < 0);
	assert_non_null(strstr(e.msg, "symbolic link"));
	assert_int_equal(unlink(spot_file(&p, AUDIT_FILE)), 0);
	spot_write(&p, AUDIT_FILE, STR(""));
	assert_int_equal(chmod(spot_file(&p, AUDIT_FILE), 0640), 0);
	assert_true(put_event(a, "created", &e) < 0);
	assert_int_equal(chmod(spot_file(&p, AUDIT_FILE), 0600), 0);
	assert_int_equal(put_event(a, "created", &e), 0);
}

TEST(a_fifo_in_place_of_the_log_does_not_hang)
{
	SPOT(p);
	_cleanup_(audit_closep) struct audit *a = open_log(&p, 0);
	struct err e = { 0 };

	assert_int_equal(mkfifo(spot_file(&p, AUDIT_FILE), 0600), 0);
	assert_true(put_event(a, "created", &e) < 0);
}

TEST(the_chain_goes_on_over_openings)
{
	SPOT(p);

	for (unsigned i = 0; i < 5; i++)
		fill_log(&p, 3);
	check_whole(&p, 15);
}

TEST(a_full_file_is_closed_and_the_chain_goes_on_in_the_next)
{
	SPOT(p);
	_cleanup_(audit_closep) struct audit *a = open_log(&p, 4096), *b = open_log(&p, 4096);
	struct audit_verdict v;

	for (unsigned i = 0; i < 50; i++) {
		put_events(a, 1);
		put_events(b, 1); /* finds that the file was changed under it */
	}
	check_whole(&p, 100);
	v = verify(&p);
	assert_true(v.n_files > 5);
}

TEST(of_full_files_so_many_are_kept_and_the_log_says_which_records_went)
{
	SPOT(p);
	const struct audit_opts o = { .dir = p.dir, .max_file_bytes = 4096, .keep = 2 };
	_cleanup_(audit_closep) struct audit *a = NULL;
	struct audit_verdict v;
	struct err e = { 0 };

	assert_int_equal(audit_open(&o, &a, &e), 0);
	put_events(a, 200);
	v = verify(&p);
	if (v.n_findings)
		fail_msg("%s: %s", v.findings[0].file, v.findings[0].text);
	assert_int_equal(v.n_files, 3);
	assert_true(v.first_seq > 100);
	assert_int_equal(v.pruned_last, v.first_seq - 1);
	assert_int_equal(v.n_records, v.last.seq - v.pruned_last);
}

TEST(a_file_that_is_gone_beyond_what_the_log_says_is_found)
{
	SPOT(p);
	const struct audit_opts o = { .dir = p.dir, .max_file_bytes = 4096, .keep = 2 };
	_cleanup_(audit_closep) struct audit *a = NULL;
	struct audit_verdict v;
	struct err e = { 0 };
	char name[64];

	assert_int_equal(audit_open(&o, &a, &e), 0);
	put_events(a, 200);
	v = verify(&p);
	(void)snprintf(name, sizeof(name), "audit-%020llu.jsonl", (unsigned long long)v.first_seq);
	assert_int_equal(unlink(spot_file(&p, name)), 0);
	v = verify(&p);
	assert_int_equal(v.n_findings, 1);
	assert_int_equal(v.findings[0].fault, AUDIT_FAULT_SHORT);
}

TEST(files_with_names_of_others_are_nobodys_to_remove)
{
	SPOT(p);
	const struct audit_opts o = { .dir = p.dir, .max_file_bytes = 4096, .keep = 1 };
	_cleanup_(audit_closep) struct audit *a = NULL;
	struct err e = { 0 };

	assert_int_equal(audit_open(&o, &a, &e), 0);
	put_events(a, 1);
	spot_write(&p, "audit-00.jsonl", STR(""));
	put_events(a, 100);
	assert_int_equal(access(spot_file(&p, "audit-00.jsonl"), F_OK), 0);
	assert_true(verify(&p).n_files > 3);
}

TEST(an_old_file_that_is_gone_is_found)
{
	SPOT(p);
	_cleanup_(audit_closep) struct audit *a = open_log(&p, 4096);
	struct audit_verify_opts o = { .dir = p.dir };
	struct audit_verdict v;
	struct err e = { 0 };

	put_events(a, 50);
	assert_int_equal(unlink(spot_file(&p, "audit-00000000000000000001.jsonl")), 0);
	v = verify(&p);
	assert_true(has_fault(&v, AUDIT_FAULT_SHORT));
	o.first_seq = v.first_seq; /* taken away on purpose */
	assert_int_equal(audit_verify(&o, &v, &e), 0);
	assert_int_equal(v.n_findings, 0);
}

struct writer {
	const struct spot *p;
	unsigned n;
	uint64_t max_bytes, keep;
};

static void write_many(void *ctx)
{
	const struct writer *w = ctx;
	const struct audit_opts o = {
		.dir = w->p->dir, .max_file_bytes = w->max_bytes, .keep = w->keep, .lock_ms = 60000
	};
	struct audit *a = NULL;
	struct err e = { 0 };

	if (audit_open(&o, &a, &e) < 0)
		_exit(2);
	for (unsigned i = 0; i < w->n; i++)
		if (put_event(a, "created", &e) < 0)
			_exit(3);
	audit_close(a);
}

static void start_writers(pid_t *pids, unsigned n, struct writer *w)
{
	for (unsigned i = 0; i < n; i++) {
		pids[i] = fork();
		assert_true(pids[i] >= 0);
		if (pids[i] == 0) {
			write_many(w);
			_exit(0);
		}
	}
}

TEST(eight_processes_write_one_chain)
{
	SPOT(p);
	struct writer w = { .p = &p, .n = 250, .max_bytes = 64 << 10 };
	pid_t pids[8];

	start_writers(pids, 8, &w);
	for (unsigned i = 0; i < 8; i++) {
		int status;

		assert_int_equal(waitpid(pids[i], &status, 0), pids[i]);
		assert_true(WIFEXITED(status) && WEXITSTATUS(status) == 0);
	}
	check_whole(&p, 2000);
}

TEST(eight_processes_that_keep_some_files_lose_no_other_record)
{
	SPOT(p);
	struct writer w = { .p = &p, .n = 250, .max_bytes = 16 << 10, .keep = 3 };
	struct audit_verdict v;
	pid_t pids[8];

	start_writers(pids, 8, &w);
	for (unsigned i = 0; i < 8; i++) {
		int status;

		assert_int_equal(waitpid(pids[i], &status, 0), pids[i]);
		assert_true(WIFEXITED(status) && WEXITSTATUS(status) == 0);
	}
	v = verify(&p);
	if (v.n_findings)
		fail_msg("%s: %s", v.findings[0].file, v.findings[0].text);
	assert_int_equal(v.n_files, 4);
	assert_int_equal(v.pruned_last, v.first_seq - 1);
	assert_int_equal(v.n_records, v.last.seq - v.pruned_last);
	assert_true(v.last.seq > 2000);
}

/* Some of them die in the middle, wherever that is; every record that was there stays, and nothing is hidden. */
TEST(writers_that_are_killed_leave_a_chain_that_holds)
{
	SPOT(p);
	struct audit_verdict v;

	for (unsigned round = 0; round < 10; round++) {
		struct writer w = { .p = &p, .n = 1000000, .max_bytes = 256 << 10 };
		pid_t pids[4];

		start_writers(pids, 4, &w);
		usleep(5000 + 3000 * round);
		for (unsigned i = 0; i < 4; i++)
			assert_int_equal(kill(pids[i], SIGKILL), 0);
		for (unsigned i = 0; i < 4; i++)
			assert_int_equal(waitpid(pids[i], NULL, 0), pids[i]);
	}
	fill_log(&p, 1);
	v = verify(&p);
	if (v.n_findings)
		fail_msg("%s:%llu: %s", v.findings[0].file, (unsigned long long)v.findings[0].line,
			 v.findings[0].text);
	assert_true(v.n_records > 10);
}

static uint64_t jumping(void)
{
	static unsigned n;
	static const uint64_t times[] = { UINT64_C(1800000000000), 5, UINT64_C(4000000000000), 0,
					  UINT64_MAX };

	return times[n++ % 5];
}

TEST(a_clock_that_jumps_changes_no_order)
{
	SPOT(p);
	const struct audit_opts o = { .dir = p.dir, .now_ms = jumping };
	_cleanup_(audit_closep) struct audit *a = NULL;
	struct err e = { 0 };

	assert_int_equal(audit_open(&o, &a, &e), 0);
	put_events(a, 20);
	check_whole(&p, 20);
}

static void use_after_fork(void *ctx)
{
	struct err e = { 0 };

	_exit(put_event(ctx, "created", &e) < 0 && e.kind == ERR_BUG ? 0 : 1);
}

TEST(a_handle_of_before_a_fork_is_refused)
{
	SPOT(p);
	_cleanup_(audit_closep) struct audit *a = open_log(&p, 0);

	put_events(a, 1);
	assert_int_equal(spot_fork(use_after_fork, a), 0);
	put_events(a, 1);
	check_whole(&p, 2);
}

TEST(a_lock_that_somebody_keeps_is_not_waited_for_for_ever)
{
	SPOT(p);
	const struct audit_opts o = { .dir = p.dir, .lock_ms = 50 };
	_cleanup_(audit_closep) struct audit *a = NULL;
	_cleanup_close_ int fd = FD_NONE;
	struct err e = { 0 };

	assert_int_equal(audit_open(&o, &a, &e), 0);
	fd = open(spot_file(&p, "audit.head"), O_RDWR | O_CLOEXEC);
	assert_int_equal(flock(fd, LOCK_EX), 0);
	assert_true(put_event(a, "created", &e) < 0);
	assert_int_equal(e.kind, ERR_UNAVAIL);
	assert_int_equal(flock(fd, LOCK_UN), 0);
	assert_int_equal(put_event(a, "created", &e), 0);
	check_whole(&p, 1);
}

/* Keeps the lock for `rounds` of 20 ms, and writes into the head in each, as those do who have it one after the other. */
struct keeper_of_the_lock {
	const char *head;
	int rounds, ready[2];
};

static void *keep_the_lock(void *ctx)
{
	const struct keeper_of_the_lock *k = ctx;
	int fd = open(k->head, O_RDWR | O_CLOEXEC);
	char was, is;

	if (fd < 0 || pread(fd, &was, 1, 20) != 1 || flock(fd, LOCK_EX) < 0 ||
	    write(k->ready[1], "x", 1) != 1)
		abort();
	for (int i = 0; i < k->rounds; i++) {
		is = (char)('a' + i % 26);
		if (pwrite(fd, &is, 1, 20) != 1)
			abort();
		usleep(20000);
	}
	if (pwrite(fd, &was, 1, 20) != 1)
		abort();
	close(fd);
	return NULL;
}

static int put_beside(const struct audit_opts *o, struct keeper_of_the_lock *k, struct err *e)
{
	_cleanup_(audit_closep) struct audit *a = NULL;
	pthread_t t;
	char c;
	int r;

	assert_int_equal(audit_open(o, &a, e), 0);
	put_events(a, 1);
	assert_int_equal(pipe(k->ready), 0);
	assert_int_equal(pthread_create(&t, NULL, keep_the_lock, k), 0);
	assert_int_equal(read(k->ready[0], &c, 1), 1);
	r = put_event(a, "created", e);
	assert_int_equal(pthread_join(t, NULL), 0);
	close(k->ready[0]);
	close(k->ready[1]);
	return r;
}

TEST(where_others_write_one_waits_longer_and_not_for_ever)
{
	SPOT(p);
	const struct audit_opts o = { .dir = p.dir, .lock_ms = 100 };
	struct keeper_of_the_lock some = { .rounds = 20 }, many = { .rounds = 150 };
	struct err e = { 0 };

	some.head = many.head = spot_file(&p, "audit.head");
	assert_int_equal(put_beside(&o, &some, &e), 0);
	assert_true(put_beside(&o, &many, &e) < 0);
	assert_int_equal(e.kind, ERR_UNAVAIL);
	check_whole(&p, 3);
}

TEST(a_sync_is_due_after_a_record_and_not_after_a_sync)
{
	SPOT(p);
	_cleanup_(audit_closep) struct audit *a = open_log(&p, 0);
	struct err e = { 0 };

	assert_true(audit_sync_deadline(a) == CLOCK_NEVER);
	put_events(a, 1);
	assert_true(audit_sync_deadline(a) <= clock_mono_ms() + 1001);
	assert_int_equal(audit_sync(a, &e), 0);
	assert_true(audit_sync_deadline(a) == CLOCK_NEVER);
}

TEST(a_log_that_is_new_is_waited_for_and_an_old_one_can_be_handed_over)
{
	SPOT(p);
	struct audit *a = open_log(&p, 0);

	put_events(a, 1);
	audit_hand_over(a); /* its name is not on the disk: a sync is due still */
	assert_true(audit_sync_deadline(a) != CLOCK_NEVER);
	(void)audit_close(a);

	a = open_log(&p, 0);
	put_events(a, 1);
	audit_hand_over(a);
	assert_true(audit_sync_deadline(a) == CLOCK_NEVER);
	(void)audit_close(a);
	check_whole(&p, 2);
}

TEST(no_secret_is_in_any_record_however_it_is_written)
{
	SPOT(p);
	_cleanup_(redactor_freep) struct redactor *red = NULL;
	_cleanup_(audit_closep) struct audit *a = NULL;
	const struct str argv[] = { STR("curl"), STR("-H"), STR("Authorization: Bearer s3cr\"t-value/42"),
				    STR("czNjciJ0LXZhbHVlLzQy") };
	static struct decision d;
	struct err e = { 0 };
	struct str text;
	uint64_t seq;

	d = a_decision;
	assert_int_equal(redactor_new(&red), 0);
	assert_int_equal(redactor_add(red, STR("GH_TOKEN"), STR("s3cr\"t-value/42")), 0);
	assert_int_equal(audit_open(&(struct audit_opts){ .dir = p.dir, .redactor = red }, &a, &e), 0);
	d.tool.argv = (struct strs){ argv, 4 };
	d.message = STR("bad token s3cr%22t-value%2F42");
	assert_int_equal(audit_decided(a, &d, STR(""), &seq, &e), 0);
	text = spot_read(&p, AUDIT_FILE);
	assert_null(strstr(text.p, "t-value"));
	assert_null(strstr(text.p, "czNjciJ0LXZhbHVl"));
	assert_non_null(strstr(text.p, "Bearer ${GH_TOKEN}"));
	free((void *)(uintptr_t)text.p);
	check_whole(&p, 1);
}

TEST(a_secret_at_the_edge_of_the_cut_is_not_half_written)
{
	SPOT(p);
	_cleanup_(redactor_freep) struct redactor *red = NULL;
	_cleanup_(audit_closep) struct audit *a = NULL;
	char long_text[600];
	static struct decision d;
	struct err e = { 0 };
	struct str text;
	uint64_t seq;

	d = a_decision;
	memset(long_text, 'x', sizeof(long_text));
	memcpy(long_text + 500, "hunter2-hunter2-hunter2", 23);
	assert_int_equal(redactor_new(&red), 0);
	assert_int_equal(redactor_add(red, STR("PW"), STR("hunter2-hunter2-hunter2")), 0);
	assert_int_equal(audit_open(&(struct audit_opts){ .dir = p.dir, .redactor = red }, &a, &e), 0);
	d.message = (struct str){ long_text, sizeof(long_text) };
	assert_int_equal(audit_decided(a, &d, STR(""), &seq, &e), 0);
	text = spot_read(&p, AUDIT_FILE);
	assert_null(strstr(text.p, "hunt"));
	free((void *)(uintptr_t)text.p);
}

TEST(arguments_of_megabytes_and_of_any_bytes_make_one_small_line)
{
	SPOT(p);
	_cleanup_(audit_closep) struct audit *a = open_log(&p, 0);
	static char huge[3 << 20];
	static struct str argv[500];
	static struct decision d;
	struct err e = { 0 };
	struct stat st;
	uint64_t seq;

	d = a_decision;
	memset(huge, '\n', sizeof(huge));
	memcpy(huge, "a\0b\x80\xff\"\\\xe2\x82", 9);
	for (size_t i = 0; i < 500; i++)
		argv[i] = (struct str){ huge, i == 1 ? sizeof(huge) : 9 };
	d.tool.argv = (struct strs){ argv, 500 };
	d.message = (struct str){ huge, sizeof(huge) };
	assert_int_equal(audit_decided(a, &d, STR(""), &seq, &e), 0);
	assert_int_equal(stat(spot_file(&p, AUDIT_FILE), &st), 0);
	assert_true((size_t)st.st_size < AUDIT_LINE_MAX);
	check_whole(&p, 1);
}

TEST_MAIN()
