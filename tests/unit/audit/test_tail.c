/* SPDX-License-Identifier: Apache-2.0 */
/* Who watches the log sees each record once and in order, whatever happens to its files meanwhile. */
#include "logs.h"

#define ALL UINT64_MAX

static struct audit_tail *open_tail(const struct spot *p, uint64_t back)
{
	struct audit_tail *t = NULL;
	struct err e = { 0 };

	if (audit_tail_open(p->dir, back, &t, &e) < 0)
		fail_msg("%s", e.msg);
	return t;
}

/* The number of the next record; 0 when there is none now. */
static uint64_t next(struct audit_tail *t)
{
	_cleanup_arena_ struct arena a = { 0 };
	struct audit_record rec = { 0 };
	struct err e = { 0 };
	int r;

	arena_init(&a, (size_t)8 << 20);
	r = audit_tail_next(t, &a, &rec, &e);
	if (r < 0)
		fail_msg("%s", e.msg);
	return r ? rec.seq : 0;
}

static void expect_next(struct audit_tail *t, uint64_t first, uint64_t last)
{
	for (uint64_t i = first; i <= last; i++)
		assert_int_equal(next(t), i);
	assert_int_equal(next(t), 0);
}

TEST(records_come_once_and_as_they_are_written)
{
	SPOT(p);
	_cleanup_(audit_closep) struct audit *a = open_log(&p, 0);
	_cleanup_(audit_tail_closep) struct audit_tail *t = open_tail(&p, ALL);

	assert_int_equal(next(t), 0); /* there is no file yet */
	put_events(a, 3);
	expect_next(t, 1, 3);
	put_events(a, 2);
	expect_next(t, 4, 5);
}

TEST(a_watcher_goes_with_the_log_from_file_to_file)
{
	SPOT(p);
	_cleanup_(audit_closep) struct audit *a = open_log(&p, 1500);
	_cleanup_(audit_tail_closep) struct audit_tail *t = open_tail(&p, ALL);

	put_events(a, 1);
	expect_next(t, 1, 1);
	put_events(a, 40); /* several files further */
	expect_next(t, 2, 41);
	for (unsigned i = 42; i < 80; i++) {
		put_events(a, 1);
		expect_next(t, i, i);
	}
}

TEST(a_watcher_begins_with_whole_records_near_the_end)
{
	SPOT(p);
	_cleanup_(audit_tail_closep) struct audit_tail *t = NULL;
	uint64_t first;

	fill_log(&p, 20);
	t = open_tail(&p, 1000);
	first = next(t);
	assert_true(first > 10 && first <= 20);
	assert_int_equal(audit_tail_skipped(t), 0);
	if (first < 20)
		expect_next(t, first + 1, 20);
}

TEST(a_line_that_is_not_whole_is_waited_for_and_what_is_no_record_is_passed_over)
{
	SPOT(p);
	_cleanup_(audit_tail_closep) struct audit_tail *t = NULL;
	_cleanup_buf_ struct buf half = { 0 };
	struct str text;

	fill_log(&p, 3);
	text = spot_read(&p, AUDIT_FILE);
	buf_init(&half, 1 << 20);
	buf_put(&half, (struct str){ text.p, text.n - 20 });
	spot_write(&p, AUDIT_FILE, buf_str(&half));
	t = open_tail(&p, ALL);
	expect_next(t, 1, 2);
	assert_int_equal(next(t), 0);
	spot_write(&p, AUDIT_FILE, text);
	expect_next(t, 3, 3);
	buf_put(&half, str_from(text, text.n - 20));
	buf_puts(&half, "no record\n");
	spot_write(&p, AUDIT_FILE, buf_str(&half));
	assert_int_equal(next(t), 0);
	assert_int_equal(audit_tail_skipped(t), 1);
	free((void *)(uintptr_t)text.p);
}

TEST(a_file_that_others_can_read_is_not_read)
{
	SPOT(p);
	struct audit_tail *t = NULL;
	struct err e = { 0 };

	fill_log(&p, 1);
	assert_int_equal(chmod(spot_file(&p, AUDIT_FILE), 0644), 0);
	assert_true(audit_tail_open(p.dir, ALL, &t, &e) < 0);
	assert_int_equal(e.kind, ERR_UNAVAIL);
}

TEST_MAIN()
