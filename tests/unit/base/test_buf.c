/* SPDX-License-Identifier: Apache-2.0 */
#include "check.h"

#include "base/buf.h"

__attribute__((visibility("default"))) const char *__asan_default_options(void);
const char *__asan_default_options(void)
{
	return "allocator_may_return_null=1";
}

TEST(buf_of_nothing_is_an_empty_slice)
{
	_cleanup_buf_ struct buf b = { 0 };

	buf_init(&b, 10);
	CHECK_STR(buf_str(&b), STR(""));
	assert_non_null(buf_str(&b).p);
}

TEST(buf_appends_in_order_and_ends_in_nul)
{
	_cleanup_buf_ struct buf b = { 0 };

	buf_init(&b, 1000);
	buf_puts(&b, "a");
	buf_put(&b, STR("b\0c"));
	buf_putc(&b, 'd');
	buf_printf(&b, "%d%s", 5, "e");
	CHECK_STR(buf_str(&b), STR("ab\0cd5e"));
	assert_int_equal(b.p[b.n], '\0');
	assert_false(b.failed);
}

TEST(buf_grows_past_many_doublings)
{
	_cleanup_buf_ struct buf b = { 0 };

	buf_init(&b, 1 << 20);
	for (int i = 0; i < 100000; i++)
		buf_putc(&b, (char)('a' + i % 26));
	assert_int_equal(b.n, 100000);
	for (size_t i = 0; i < b.n; i++)
		assert_int_equal(b.p[i], 'a' + (int)(i % 26));
}

TEST(buf_takes_exactly_its_maximum)
{
	_cleanup_buf_ struct buf b = { 0 };

	buf_init(&b, 5);
	buf_puts(&b, "12345");
	assert_false(b.failed);
	CHECK_STR(buf_str(&b), STR("12345"));
	buf_putc(&b, '6');
	assert_true(b.failed);
	CHECK_STR(buf_str(&b), STR("12345"));
}

TEST(buf_that_failed_ignores_what_would_still_fit)
{
	_cleanup_buf_ struct buf b = { 0 };

	buf_init(&b, 5);
	buf_puts(&b, "123");
	buf_puts(&b, "456");
	buf_puts(&b, "7");
	buf_printf(&b, "%d", 8);
	assert_true(b.failed);
	CHECK_STR(buf_str(&b), STR("123")); /* not "1237": a hole in the middle would be worse than an end */
}

TEST(buf_printf_beyond_the_maximum_fails)
{
	_cleanup_buf_ struct buf b = { 0 };

	buf_init(&b, 50);
	buf_printf(&b, "%051d", 1);
	assert_true(b.failed);
	assert_int_equal(b.n, 0);
}

TEST(buf_with_no_bound_but_memory_fails_when_memory_does)
{
	_cleanup_buf_ struct buf b = { 0 };
	char c = 'x';

	buf_init(&b, SIZE_MAX);
	buf_putc(&b, c);
	/* The slice is a lie, and must never be looked at: reserving comes first. */
	buf_put(&b, (struct str){ .p = &c, .n = SIZE_MAX / 4 });
	assert_true(b.failed);
	CHECK_STR(buf_str(&b), STR("x"));
	buf_put(&b, (struct str){ .p = &c, .n = SIZE_MAX });
	assert_int_equal(b.n, 1);
}

TEST(buf_done_forgets_the_text_and_the_failure)
{
	struct buf b;

	buf_init(&b, 2);
	buf_puts(&b, "abc");
	buf_done(&b);
	assert_false(b.failed);
	buf_puts(&b, "ab");
	CHECK_STR(buf_str(&b), STR("ab"));
	buf_done(&b);
}

TEST(buf_visible_shows_what_a_terminal_would_obey)
{
	static const struct {
		struct str in, want;
	} cases[] = {
		{ STR("plain ~"), STR("plain ~") },
		{ STR("a\nb\tc\r"), STR("a\\x0ab\\x09c\\x0d") },
		{ STR("\x1b[31m"), STR("\\x1b[31m") },
		{ STR("a\0b"), STR("a\\x00b") },
		{ STR("\x7f"), STR("\\x7f") },
		{ STR("\xc2\x9b"), STR("\\xc2\\x9b") },            /* C1: CSI */
		{ STR("\xe2\x80\xae"), STR("\\xe2\\x80\\xae") },   /* right-to-left override */
		{ STR("\xe2\x81\xa6x"), STR("\\xe2\\x81\\xa6x") }, /* isolate */
		{ STR("\xd8\x9c"), STR("\\xd8\\x9c") },            /* arabic letter mark */
		{ STR("\xe2\x80\xa8"), STR("\\xe2\\x80\\xa8") },   /* line separator */
		{ STR("\xff\xc3"), STR("\\xff\\xc3") },            /* not UTF-8 */
		{ STR("\xe2\x82"), STR("\\xe2\\x82") },            /* cut off */
		{ STR("gr\xc3\xbc\xc3\x9f\x65"), STR("gr\xc3\xbc\xc3\x9f\x65") },
		{ STR("\xf0\x9f\x98\x80"), STR("\xf0\x9f\x98\x80") },
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		_cleanup_buf_ struct buf b = { 0 };

		buf_init(&b, 1000);
		buf_put_visible(&b, cases[i].in);
		CHECK_CASE(str_eq(buf_str(&b), cases[i].want), "case %zu: '%s'", i, b.p);
	}
}

TEST(buf_take_is_filled_by_the_caller)
{
	_cleanup_buf_ struct buf b = { 0 };
	char *p;

	buf_init(&b, 10);
	buf_puts(&b, "ab");
	p = buf_take(&b, 3);
	assert_non_null(p);
	memcpy(p, "cde", 3);
	CHECK_STR(buf_str(&b), STR("abcde"));
	assert_int_equal(b.p[5], '\0');
	assert_non_null(buf_take(&b, 5));
	assert_false(b.failed);
	assert_null(buf_take(&b, 1));
	assert_true(b.failed);
}

TEST(buf_reserve_changes_nothing_that_can_be_seen)
{
	_cleanup_buf_ struct buf b = { 0 };

	buf_init(&b, 100);
	buf_reserve(&b, 1000); /* more than ever */
	assert_false(b.failed);
	CHECK_STR(buf_str(&b), STR(""));
	assert_int_equal(b.p[0], '\0');
	assert_true(b.cap > 100);
	buf_puts(&b, "ab");
	buf_reserve(&b, 10);
	CHECK_STR(buf_str(&b), STR("ab"));
}

TEST_MAIN()
