/* SPDX-License-Identifier: Apache-2.0 */
/* Tampering, crashes, full disks: what is found afterwards, and that nothing runs unrecorded. */
#include "logs.h"

#include <sched.h>
#include <signal.h>
#include <sys/mount.h>
#include <sys/resource.h>

/* ---- somebody was here ---- */

enum { LINES = 20 };

/* Offsets of the lines, and behind the last. */
static void find_lines(struct str text, size_t at[LINES + 1])
{
	size_t n = 0;

	at[n++] = 0;
	for (size_t i = 0; i < text.n; i++)
		if (text.p[i] == '\n' && n <= LINES)
			at[n++] = i + 1;
	assert_int_equal(n, LINES + 1);
}

TEST(each_single_line_that_is_removed_is_found)
{
	SPOT(p);
	struct str text;
	size_t at[LINES + 1];

	fill_log(&p, LINES);
	text = spot_read(&p, AUDIT_FILE);
	find_lines(text, at);
	check_whole(&p, LINES); /* the control */
	for (size_t i = 0; i < LINES; i++) {
		char *cut = malloc(text.n);
		size_t tail = text.n - at[i + 1];
		struct audit_verdict v;

		memcpy(cut, text.p, at[i]);
		memcpy(cut + at[i], text.p + at[i + 1], tail);
		spot_write(&p, AUDIT_FILE, (struct str){ cut, at[i] + tail });
		v = verify(&p);
		CHECK_CASE(v.n_findings > 0, "line %zu", i);
		free(cut);
	}
	free((void *)(uintptr_t)text.p);
}

TEST(each_byte_that_is_changed_is_found)
{
	SPOT(p);
	struct str text;

	fill_log(&p, 3);
	text = spot_read(&p, AUDIT_FILE);
	for (size_t i = 0; i < text.n; i++) {
		char *changed = malloc(text.n);
		struct audit_verdict v;

		memcpy(changed, text.p, text.n);
		changed[i] ^= 1;
		spot_write(&p, AUDIT_FILE, (struct str){ changed, text.n });
		v = verify(&p);
		CHECK_CASE(v.n_findings > 0, "byte %zu", i);
		free(changed);
	}
	free((void *)(uintptr_t)text.p);
}

TEST(two_lines_that_changed_places_are_found)
{
	SPOT(p);
	struct audit_verdict v;
	struct str text;
	size_t at[LINES + 1], a, b;
	char *out;

	fill_log(&p, LINES);
	text = spot_read(&p, AUDIT_FILE);
	find_lines(text, at);
	a = at[6] - at[5], b = at[7] - at[6];
	out = malloc(text.n);
	memcpy(out, text.p, text.n);
	memcpy(out + at[5], text.p + at[6], b);
	memcpy(out + at[5] + b, text.p + at[5], a);
	spot_write(&p, AUDIT_FILE, (struct str){ out, text.n });
	v = verify(&p);
	assert_true(has_fault(&v, AUDIT_FAULT_CHAIN));
	free(out);
	free((void *)(uintptr_t)text.p);
}

TEST(a_line_that_is_written_twice_is_found)
{
	SPOT(p);
	struct audit_verdict v;
	struct str text;
	size_t at[LINES + 1];
	_cleanup_buf_ struct buf b = { 0 };

	buf_init(&b, 1 << 20);
	fill_log(&p, LINES);
	text = spot_read(&p, AUDIT_FILE);
	find_lines(text, at);
	buf_put(&b, (struct str){ text.p, at[6] });
	buf_put(&b, (struct str){ text.p + at[5], text.n - at[5] });
	spot_write(&p, AUDIT_FILE, buf_str(&b));
	v = verify(&p);
	assert_true(has_fault(&v, AUDIT_FAULT_CHAIN));
	free((void *)(uintptr_t)text.p);
}

TEST(each_length_to_which_the_log_is_cut_is_found)
{
	SPOT(p);
	struct str text;

	fill_log(&p, 3);
	text = spot_read(&p, AUDIT_FILE);
	for (size_t n = 0; n < text.n; n++) {
		struct audit_verdict v;

		spot_write(&p, AUDIT_FILE, (struct str){ text.p, n });
		v = verify(&p);
		CHECK_CASE(has_fault(&v, AUDIT_FAULT_SHORT), "cut to %zu", n);
	}
	free((void *)(uintptr_t)text.p);
}

TEST(what_was_cut_off_stays_found_when_the_log_goes_on)
{
	SPOT(p);
	struct audit_verdict v;
	struct str text;
	size_t at[LINES + 1];

	fill_log(&p, LINES);
	text = spot_read(&p, AUDIT_FILE);
	find_lines(text, at);
	spot_write(&p, AUDIT_FILE, (struct str){ text.p, at[10] });
	fill_log(&p, 5);
	free((void *)(uintptr_t)text.p);
	v = verify(&p);
	assert_true(has_fault(&v, AUDIT_FAULT_LOST));
	assert_int_equal(v.n_findings, 1);
	text = spot_read(&p, AUDIT_FILE);
	assert_non_null(strstr(text.p, "\"kind\":\"lost\",\"first\":11,\"last\":20"));
	free((void *)(uintptr_t)text.p);
}

TEST(a_log_that_was_removed_is_told_in_the_new_one)
{
	SPOT(p);
	_cleanup_(audit_closep) struct audit *a = open_log(&p, 0);
	struct audit_verdict v;

	put_events(a, 4);
	assert_int_equal(unlink(spot_file(&p, AUDIT_FILE)), 0);
	put_events(a, 1); /* not into the file that has no name */
	v = verify(&p);
	assert_int_equal(v.last.seq, 6);
	assert_true(has_fault(&v, AUDIT_FAULT_LOST));
}

TEST(a_head_that_is_gone_is_found_and_told_in_the_log)
{
	SPOT(p);
	struct audit_verdict v;
	struct str text;

	fill_log(&p, 4);
	assert_int_equal(unlink(spot_file(&p, "audit.head")), 0);
	v = verify(&p);
	assert_true(has_fault(&v, AUDIT_FAULT_FILE));
	fill_log(&p, 1);
	check_whole(&p, 6);
	text = spot_read(&p, AUDIT_FILE);
	assert_non_null(strstr(text.p, "\"kind\":\"recovered\""));
	free((void *)(uintptr_t)text.p);
}

/* As long as one, and nothing in it: what a power cut leaves of a file. */
static const char nothing[142];

TEST(a_garbled_head_is_no_reason_to_write_nonsense)
{
	static const struct str heads[] = {
		{ .p = nothing, .n = sizeof(nothing) },
		STR("creel-audit 1 "),
		STR("\n"),
		STR("creel-audit 1 99999999999999999999 0 0 0\n"),
		STR("creel-audit 1 00000000000000000005 00000000000000000000 00000000000000000000 0000000000000000000000000000000000000000000000000000000000000000\n"),
		STR("creel-audit 1 18446744073709551615 00000000000000000000 00000000000000000001 0000000000000000000000000000000000000000000000000000000000000000\n"),
	};

	for (size_t i = 0; i < sizeof(heads) / sizeof(heads[0]); i++) {
		SPOT(p);
		struct audit_verdict v;

		fill_log(&p, 4);
		spot_write(&p, "audit.head", heads[i]);
		v = verify(&p);
		CHECK_CASE(v.n_findings > 0, "case %zu counts as whole", i);
		fill_log(&p, 1);
		v = verify(&p);
		CHECK_CASE(v.n_findings == 0 && v.last.seq == 6, "case %zu: %s", i, v.findings[0].text);
	}
}

TEST(a_chain_that_was_made_anew_is_found_with_an_anchor)
{
	SPOT(p);
	struct audit_anchor anchor;
	struct audit_verify_opts o = { .dir = p.dir, .anchors = &anchor, .n_anchors = 1 };
	struct audit_verdict v;
	struct err e = { 0 };
	struct audit *a = open_log(&p, 0);

	put_events(a, 5);
	audit_last(a, &anchor);
	audit_close(a);
	fill_log(&p, 5);
	assert_int_equal(audit_verify(&o, &v, &e), 0);
	assert_int_equal(v.n_findings, 0);
	assert_int_equal(unlink(spot_file(&p, AUDIT_FILE)), 0);
	assert_int_equal(unlink(spot_file(&p, "audit.head")), 0);
	fill_log(&p, 10);
	check_whole(&p, 10); /* by itself it looks fine */
	assert_int_equal(audit_verify(&o, &v, &e), 0);
	assert_true(has_fault(&v, AUDIT_FAULT_SHORT));
}

/* ---- crashes ---- */

TEST(a_torn_last_line_is_kept_told_and_followed)
{
	static const struct str tails[] = { STR("{\"seq\":4,\"ti"), STR("{"), STR("\0\0\0\0\0\0\0"),
					    STR("{\"seq\":4}") };

	for (size_t i = 0; i < sizeof(tails) / sizeof(tails[0]); i++) {
		SPOT(p);
		struct audit_verdict v;
		int fd;

		fill_log(&p, 3);
		fd = open(spot_file(&p, AUDIT_FILE), O_WRONLY | O_APPEND | O_CLOEXEC);
		assert_int_equal(fd_write_all(fd, tails[i]), 0);
		fd_close(fd);
		v = verify(&p);
		assert_true(has_fault(&v, AUDIT_FAULT_GARBLED));
		fill_log(&p, 2);
		v = verify(&p);
		CHECK_CASE(v.n_findings == 0, "case %zu: %s", i, v.findings[0].text);
		assert_int_equal(v.n_repaired, 1);
		assert_int_equal(v.last.seq, 6);
	}
}

TEST(a_torn_line_longer_than_any_record_is_told_too)
{
	SPOT(p);
	static char zeros[200000];
	struct audit_verdict v;
	int fd;

	fill_log(&p, 3);
	fd = open(spot_file(&p, AUDIT_FILE), O_WRONLY | O_APPEND | O_CLOEXEC);
	assert_int_equal(fd_write_all(fd, (struct str){ zeros, sizeof(zeros) }), 0);
	fd_close(fd);
	fill_log(&p, 2);
	v = verify(&p);
	assert_int_equal(v.n_findings, 0);
	assert_int_equal(v.n_repaired, 1);
}

/* Killed between the line and the head: the head is one record behind. */
TEST(a_head_that_is_behind_catches_up)
{
	SPOT(p);
	struct str head;

	fill_log(&p, 3);
	head = spot_read(&p, "audit.head");
	fill_log(&p, 2);
	spot_write(&p, "audit.head", head);
	check_whole(&p, 5);
	fill_log(&p, 1);
	check_whole(&p, 6);
	free((void *)(uintptr_t)head.p);
}

/* Killed between renaming the full file and making the next. */
TEST(a_rotation_that_was_cut_short_is_finished)
{
	SPOT(p);
	char old[100];

	fill_log(&p, 3);
	(void)snprintf(old, sizeof(old), "%s", spot_file(&p, "audit-00000000000000000001.jsonl"));
	assert_int_equal(rename(spot_file(&p, AUDIT_FILE), old), 0);
	fill_log(&p, 2);
	check_whole(&p, 5);
}

/* Then another, who had the full file open, was killed between its line and the head. */
TEST(a_record_that_came_after_a_cut_rotation_is_not_lost)
{
	SPOT(p);
	char old[100];
	struct str head;

	fill_log(&p, 3);
	head = spot_read(&p, "audit.head");
	fill_log(&p, 1);
	spot_write(&p, "audit.head", head);
	(void)snprintf(old, sizeof(old), "%s", spot_file(&p, "audit-00000000000000000001.jsonl"));
	assert_int_equal(rename(spot_file(&p, AUDIT_FILE), old), 0);
	fill_log(&p, 2);
	check_whole(&p, 6);
	free((void *)(uintptr_t)head.p);
}

/* Or amid its line. Who has the new, empty file open already goes on as well. */
TEST(a_line_that_was_torn_after_a_cut_rotation_is_told_of_and_nothing_is_lost)
{
	SPOT(p);
	_cleanup_(audit_closep) struct audit *early = NULL;
	char old[100], log[100];
	struct str text;
	FILE *f;

	fill_log(&p, 3);
	(void)snprintf(old, sizeof(old), "%s", spot_file(&p, "audit-00000000000000000001.jsonl"));
	(void)snprintf(log, sizeof(log), "%s", spot_file(&p, AUDIT_FILE));
	assert_int_equal(rename(log, old), 0);
	f = fopen(old, "ae");
	assert_non_null(f);
	assert_true(fputs("{\"seq\":4,\"ti", f) >= 0 && fclose(f) == 0);
	spot_write(&p, AUDIT_FILE, STR(""));
	early = open_log(&p, 0);
	put_events(early, 1);
	fill_log(&p, 1);
	put_events(early, 1);
	assert_int_equal(access(old, F_OK), -1);
	check_whole(&p, 7);
	text = spot_read(&p, AUDIT_FILE);
	assert_non_null(strstr(text.p, "\"repaired\""));
	assert_null(strstr(text.p, "\"lost\""));
	free((void *)(uintptr_t)text.p);
}

/* ---- no room ---- */

TEST(a_record_that_does_not_fit_is_an_error_and_leaves_nothing)
{
	SPOT(p);
	_cleanup_(audit_closep) struct audit *a = open_log(&p, 0);
	struct rlimit old, small;
	struct err e = { 0 };
	struct stat st, after;

	put_events(a, 3);
	assert_int_equal(stat(spot_file(&p, AUDIT_FILE), &st), 0);
	assert_int_equal(getrlimit(RLIMIT_FSIZE, &old), 0);
	(void)signal(SIGXFSZ, SIG_IGN);
	small = (struct rlimit){ .rlim_cur = (rlim_t)st.st_size + 50, .rlim_max = old.rlim_max };
	assert_int_equal(setrlimit(RLIMIT_FSIZE, &small), 0);
	for (unsigned i = 0; i < 3; i++)
		assert_true(put_event(a, "created", &e) < 0);
	assert_int_equal(setrlimit(RLIMIT_FSIZE, &old), 0);
	assert_int_equal(stat(spot_file(&p, AUDIT_FILE), &after), 0);
	assert_int_equal(after.st_size, st.st_size);
	put_events(a, 1);
	check_whole(&p, 4);
}

static void fill_small_disk(void *ctx)
{
	const struct spot *p = ctx;
	struct audit *a = NULL;
	struct err e = { 0 };
	unsigned written = 0;
	struct audit_verdict v;

	if (unshare(CLONE_NEWNS) < 0 || mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) < 0 ||
	    mount("t", p->path, "tmpfs", 0, "size=64k,mode=0700") < 0)
		_exit(77);
	if (audit_open(&(struct audit_opts){ .dir = p->dir, .max_file_bytes = 16 << 10 }, &a, &e) < 0)
		_exit(2);
	while (put_event(a, "created", &e) == 0)
		written++;
	if (e.sys_errno != ENOSPC || written < 20)
		_exit(3);
	/* Again and again: each is refused, none is half there. */
	for (unsigned i = 0; i < 10; i++)
		if (put_event(a, "created", &e) == 0)
			_exit(4);
	if (audit_verify(&(struct audit_verify_opts){ .dir = p->dir }, &v, &e) < 0 || v.n_findings ||
	    v.n_records != written)
		_exit(5);
	if (mount("t", p->path, "tmpfs", MS_REMOUNT, "size=1m") < 0 || put_event(a, "created", &e) < 0)
		_exit(6);
	audit_close(a);
	if (audit_verify(&(struct audit_verify_opts){ .dir = p->dir }, &v, &e) < 0 || v.n_findings ||
	    v.n_records != written + 1)
		_exit(7);
}

TEST(a_disk_that_is_full_refuses_every_record_until_there_is_room)
{
	SPOT(p);
	int status = spot_fork(fill_small_disk, &p);

	if (status == 77 && !getenv("CREEL_MUST_WORK"))
		skip(); /* mounting needs root */
	assert_int_equal(status, 0);
}

TEST_MAIN()
