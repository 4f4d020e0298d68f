/* SPDX-License-Identifier: Apache-2.0 */
#include "check.h"
#include "reading.h"

#include <time.h>

static void repeat(struct buf *b, const char *piece, size_t n)
{
	buf_init(b, (size_t)64 << 20);
	for (size_t i = 0; i < n; i++)
		buf_puts(b, piece);
}

static struct err refused(struct str text, struct json_opts opts, size_t arena_bytes)
{
	_cleanup_arena_ struct arena a;
	struct err e = { .kind = ERR_NONE };
	struct value v;

	arena_init(&a, arena_bytes);
	opts.name = "f";
	if (json_parse(&a, text, &opts, &v, &e) >= 0)
		fail_msg("accepted");
	return e;
}

TEST(nesting_up_to_the_maximum_is_read_and_one_more_is_refused)
{
	_cleanup_arena_ struct arena a;
	_cleanup_buf_ struct buf open, close;
	struct json_opts opts = { .name = "f" };
	struct value v;
	struct err e;

	repeat(&open, "[", 64);
	repeat(&close, "]", 64);
	buf_put(&open, buf_str(&close));
	arena_init(&a, 1 << 20);
	assert_true(json_parse(&a, buf_str(&open), &opts, &v, &e) >= 0);
	opts.max_depth = 63;
	assert_true(json_parse(&a, buf_str(&open), &opts, &v, &e) < 0);
	assert_int_equal(e.kind, ERR_LIMIT);
	assert_string_equal(e.msg, "f:1:64: nesting deeper than the maximum of 63");
}

TEST(a_hundred_thousand_brackets_are_refused_at_the_maximum)
{
	static const char *const pieces[] = { "[", "{\"a\":", "[{\"a\":" };

	for (size_t i = 0; i < sizeof(pieces) / sizeof(pieces[0]); i++) {
		_cleanup_buf_ struct buf b;
		struct err e;

		repeat(&b, pieces[i], 100000);
		e = refused(buf_str(&b), (struct json_opts){ .max_depth = 0 }, 1 << 20);
		assert_int_equal(e.kind, ERR_LIMIT);
		assert_non_null(strstr(e.msg, ": nesting deeper than the maximum of 64"));
	}
}

/* value_equal() and json_write() recurse, so no caller can ask for a tree that would overrun the stack. */
TEST(no_option_allows_nesting_beyond_the_hard_maximum)
{
	_cleanup_buf_ struct buf b;
	struct err e;

	repeat(&b, "[", 100000);
	e = refused(buf_str(&b), (struct json_opts){ .max_depth = 1000000 }, 1 << 20);
	assert_string_equal(e.msg, "f:1:513: nesting deeper than the maximum of 512");
}

TEST(a_text_longer_than_the_maximum_is_refused_unread)
{
	_cleanup_buf_ struct buf b, blanks;
	struct err e;

	repeat(&b, "[1, 2, 3, 4, 5]\n", 10 * (1 << 20) / 16);
	e = refused(buf_str(&b), (struct json_opts){ .max_bytes = 1 << 20 }, 1 << 20);
	assert_int_equal(e.kind, ERR_LIMIT);
	assert_string_equal(e.msg, "f:1:1: the text is longer than the maximum in bytes of 1048576");

	repeat(&blanks, " ", (16 << 20) + 1);
	e = refused(buf_str(&blanks), (struct json_opts){ .max_bytes = 0 }, 1 << 20);
	assert_string_equal(e.msg, "f:1:1: the text is longer than the maximum in bytes of 16777216");
}

TEST(more_values_than_the_maximum_are_refused)
{
	_cleanup_arena_ struct arena a;
	struct json_opts opts = { .name = "f", .max_values = 4 };
	struct value v;
	struct err e;

	arena_init(&a, 1 << 20);
	assert_true(json_parse(&a, STR("[1,{\"a\":2}]"), &opts, &v, &e) >= 0);
	assert_true(json_parse(&a, STR("[1,{\"a\":2},3]"), &opts, &v, &e) < 0);
	assert_int_equal(e.kind, ERR_LIMIT);
	assert_string_equal(e.msg, "f:1:12: more values than the maximum of 4");
}

TEST(a_million_values_is_the_default_maximum)
{
	_cleanup_buf_ struct buf b;
	struct err e;

	repeat(&b, "[", 1);
	for (int i = 0; i < 1000000; i++)
		buf_puts(&b, "1,");
	buf_puts(&b, "1]");
	e = refused(buf_str(&b), (struct json_opts){ .max_values = 0 }, (size_t)512 << 20);
	assert_string_equal(e.msg, "f:1:2000000: more values than the maximum of 1000000");
}

TEST(an_arena_that_is_too_small_gives_a_limit_error_wherever_it_ends)
{
	_cleanup_buf_ struct buf keys;
	static const char *const texts[] = { "[1,2,3,4]", "{\"a\":1}",
					     "\"0123456789012345678901234567890123456789\\n\"" };

	for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
		struct err e = refused(str_z(texts[i]), (struct json_opts){ .max_depth = 0 }, 40);

		assert_int_equal(e.kind, ERR_LIMIT);
		assert_non_null(strstr(e.msg, "the document needs more memory than its maximum of 40"));
	}
	/* room for the members, none for their index; then for the first index, not for the one without duplicates */
	buf_init(&keys, 1 << 20);
	buf_putc(&keys, '{');
	for (int i = 0; i < 100; i++)
		buf_printf(&keys, "\"k%d\":1,", i);
	buf_puts(&keys, "\"k0\":2}");
	for (size_t room = 101 * sizeof(struct member); room < 101 * sizeof(struct member) + 1400;
	     room += 900)
		assert_int_equal(
			refused(buf_str(&keys), (struct json_opts){ .dup_keys = JSON_DUP_LAST }, room).kind,
			ERR_LIMIT);
}

static double now(void)
{
	struct timespec t;

	(void)clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
	return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

/* Each of these is a few megabytes that must cost milliseconds; the bound is for a slow machine under ASan. */
TEST(hostile_texts_cost_no_more_than_their_size)
{
	static const char *const pieces[] = { "[],",      "\"\\u0041\",", "/**/ ", "\r\n", "\xc3\xa9",
					      "\"\": 0,", "0123456789",   "\\",    "1e",   "//\n" };

	for (size_t i = 0; i < sizeof(pieces) / sizeof(pieces[0]); i++) {
		_cleanup_buf_ struct buf b, out = { .p = NULL };
		double start = now();

		repeat(&b, "[", 1);
		for (int k = 0; k < 200000; k++)
			buf_puts(&b, pieces[i]);
		start = now();
		(void)outcome(&out, READING_JSON5, buf_str(&b));
		CHECK_CASE(now() - start < 2.0, "'%s': %f s", pieces[i], now() - start);
	}
}

TEST_MAIN()
