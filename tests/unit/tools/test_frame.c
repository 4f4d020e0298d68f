/* SPDX-License-Identifier: Apache-2.0 */
#include "check.h"

#include "base/buf.h"
#include "tools/frame.h"

static int collect(void *ctx, struct str bytes)
{
	buf_put(ctx, bytes);
	return 0;
}

/* The same in pieces of every size. */
static void check(struct str stream, enum frame_state state, unsigned status, struct str want)
{
	for (size_t step = 1; step <= stream.n; step++) {
		_cleanup_buf_ struct buf got = { 0 };
		struct frame f;

		buf_init(&got, 1 << 16);
		frame_init(&f, STR("abc"));
		for (size_t at = 0; at < stream.n; at += step)
			assert_int_equal(
				frame_put(&f,
					  (struct str){ .p = stream.p + at,
							.n = step < stream.n - at ? step : stream.n - at },
					  collect, &got),
				0);
		CHECK_CASE(f.state == state && f.status == status, "step %zu: state %u, status %u", step,
			   (unsigned)f.state, f.status);
		CHECK_STR(buf_str(&got), want);
	}
}

TEST(an_answer_stands_between_its_marks)
{
	check(STR("noise\0creel-begin abc\nanswer\n\0creel-end abc 17\nmore"), FRAME_AFTER, 17,
	      STR("answer\n"));
	check(STR("\0creel-begin abc\n\0creel-end abc 0\n"), FRAME_AFTER, 0, STR(""));
	check(STR("\0creel-begin abc\nunfinished"), FRAME_INSIDE, 0, STR("unfinished"));
	check(STR("nothing of ours"), FRAME_BEFORE, 0, STR(""));
}

TEST(marks_of_others_are_output)
{
	check(STR("\0creel-begin abd\nx\0creel-end abd 1\n"), FRAME_BEFORE, 0, STR(""));
	check(STR("\0creel-begin abc\nx\0creel-end abd 1\ny\0creel-end abc 2\n"), FRAME_AFTER, 2,
	      STR("x\0creel-end abd 1\ny"));
	check(STR("\0\0creel-begin abc\n\0\0\0creel-end abc 3\n"), FRAME_AFTER, 3, STR("\0\0"));
	check(STR("\0creel-begin abc\n\0cre\0creel-end abc 3\n"), FRAME_AFTER, 3, STR("\0cre"));
}

TEST(after_a_gap_everything_is_the_answer)
{
	_cleanup_buf_ struct buf got = { 0 };
	struct frame f;

	buf_init(&got, 1 << 10);
	frame_init(&f, STR("abc"));
	assert_int_equal(frame_put(&f, STR("lost\0creel-be"), collect, &got), 0);
	frame_gap(&f);
	assert_int_equal(frame_put(&f, STR("rest\0creel-end abc 9\n"), collect, &got), 0);
	assert_int_equal(f.state, FRAME_AFTER);
	assert_int_equal(f.status, 9);
	CHECK_STR(buf_str(&got), STR("rest"));
}

TEST_MAIN()
