/* SPDX-License-Identifier: Apache-2.0 */
#include "check.h"

#include "base/cleanup.h"

#include <errno.h>
#include <limits.h>

static const struct str none = { .p = NULL, .n = 0 };

TEST(str_empty_slices_are_equal_wherever_they_point)
{
	assert_true(str_eq(none, STR("")));
	assert_true(str_eq_nocase(none, STR("")));
	assert_int_equal(str_cmp(none, STR("")), 0);
	assert_true(str_starts(STR("abc"), none));
	assert_true(str_starts(none, none));
	assert_true(str_ends(STR("abc"), none));
	assert_true(str_ends(none, none));
}

TEST(str_eq_looks_past_a_nul)
{
	assert_false(str_eq(STR("a\0b"), STR("a\0c")));
	assert_true(str_eq(STR("a\0b"), STR("a\0b")));
	assert_false(str_eq(STR("a"), STR("a\0")));
}

TEST(str_nocase_folds_ascii_only)
{
	assert_true(str_eq_nocase(STR("ReadOnly"), STR("readONLY")));
	assert_false(str_eq_nocase(STR("[a"), STR("{a"))); /* 0x5b and 0x7b differ by the same bit */
	assert_false(str_eq_nocase(STR("@"), STR("`")));
	assert_false(str_eq_nocase(STR("\xc3\x84"), STR("\xc3\xa4"))); /* capital and small a umlaut */
	assert_false(str_eq_nocase(STR("a"), STR("ab")));
}

TEST(str_cmp_orders_bytes_and_puts_the_prefix_first)
{
	assert_true(str_cmp(STR("a"), STR("b")) < 0);
	assert_true(str_cmp(STR("a"), STR("ab")) < 0);
	assert_true(str_cmp(STR("ab"), STR("a")) > 0);
	assert_true(str_cmp(STR("\xff"), STR("a")) > 0); /* unsigned */
	assert_true(str_cmp(STR("a\0b"), STR("a\0a")) > 0);
	assert_int_equal(str_cmp(STR("x"), STR("x")), 0);
}

TEST(str_starts_and_ends_need_the_whole_word)
{
	assert_true(str_starts(STR("group:fs"), STR("group:")));
	assert_false(str_starts(STR("grou"), STR("group:")));
	assert_true(str_ends(STR("a.json5"), STR(".json5")));
	assert_false(str_ends(STR("json5"), STR(".json5")));
}

TEST(str_from_never_leaves_the_slice)
{
	struct str s = STR("abc");

	CHECK_STR(str_from(s, 0), STR("abc"));
	CHECK_STR(str_from(s, 2), STR("c"));
	CHECK_STR(str_from(s, 3), STR(""));
	CHECK_STR(str_from(s, SIZE_MAX), STR(""));
	assert_ptr_equal(str_from(s, 99).p, s.p + 3);
}

TEST(str_trim_takes_blanks_from_both_ends_only)
{
	CHECK_STR(str_trim(STR(" \t a b\r\n ")), STR("a b"));
	CHECK_STR(str_trim(STR(" \t\r\n")), STR(""));
	CHECK_STR(str_trim(none), STR(""));
	CHECK_STR(str_trim(STR("\0 ")), STR("\0"));
}

TEST(str_cut_splits_at_the_first_and_cut_last_at_the_last)
{
	struct str head, tail;

	assert_true(str_cut(STR("a:b:c"), ':', &head, &tail));
	CHECK_STR(head, STR("a"));
	CHECK_STR(tail, STR("b:c"));
	assert_true(str_cut_last(STR("a:b:c"), ':', &head, &tail));
	CHECK_STR(head, STR("a:b"));
	CHECK_STR(tail, STR("c"));
	assert_true(str_cut(STR(":"), ':', &head, &tail));
	CHECK_STR(head, STR(""));
	CHECK_STR(tail, STR(""));
}

TEST(str_cut_without_the_separator_writes_nothing)
{
	struct str head = STR("old"), tail = STR("old");

	assert_false(str_cut(STR("abc"), ':', &head, &tail));
	assert_false(str_cut_last(none, ':', &head, &tail));
	CHECK_STR(head, STR("old"));
	CHECK_STR(tail, STR("old"));
}

TEST(str_to_u64_takes_digits_and_nothing_else)
{
	static const struct {
		struct str in;
		uint64_t max;
		int want;
		uint64_t v;
	} cases[] = {
		{ STR("0"), 10, 0, 0 },
		{ STR("007"), 10, 0, 7 },
		{ STR("10"), 10, 0, 10 },
		{ STR("11"), 10, -ERANGE, 0 },
		{ STR("18446744073709551615"), UINT64_MAX, 0, UINT64_MAX },
		{ STR("18446744073709551616"), UINT64_MAX, -ERANGE, 0 },
		{ STR("99999999999999999999999"), UINT64_MAX, -ERANGE, 0 },
		{ STR(""), 10, -EINVAL, 0 },
		{ STR("-1"), 10, -EINVAL, 0 },
		{ STR("+1"), 10, -EINVAL, 0 },
		{ STR(" 1"), 10, -EINVAL, 0 },
		{ STR("1 "), 10, -EINVAL, 0 },
		{ STR("1\0"), 10, -EINVAL, 0 },
		{ STR("0x1"), 10, -EINVAL, 0 },
		{ STR("\xd9\xa1"), 10, -EINVAL, 0 }, /* an arabic digit */
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		uint64_t v = 77;
		int r = str_to_u64(cases[i].in, cases[i].max, &v);

		CHECK_CASE(r == cases[i].want, "case %zu: %d", i, r);
		CHECK_CASE(v == (r == 0 ? cases[i].v : 77), "case %zu: value", i);
	}
}

TEST(str_dupz_refuses_an_inner_nul)
{
	_cleanup_free_ char *z = NULL;

	assert_int_equal(str_dupz(STR("a\0b"), &z), -EINVAL);
	assert_null(z);
	assert_int_equal(str_dupz(STR("ab"), &z), 0);
	assert_string_equal(z, "ab");
}

TEST(str_dupz_of_nothing_is_an_empty_string)
{
	_cleanup_free_ char *z = NULL;

	assert_int_equal(str_dupz(none, &z), 0);
	assert_string_equal(z, "");
}

TEST(str_put_copies_one_behind_the_other)
{
	char room[] = "........", *at = room;
	struct str a = str_put(&at, STR("ab")), b = str_put(&at, none), c = str_put(&at, STR("c\0d"));

	assert_ptr_equal(a.p, room);
	assert_true(str_eq(a, STR("ab")) && b.n == 0 && str_eq(c, STR("c\0d")));
	assert_ptr_equal(at, room + 5);
	assert_memory_equal(room, "abc\0d...", sizeof(room));
}

TEST(str_distance_counts_each_kind_of_edit_once)
{
	assert_int_equal(str_distance(STR("mode"), STR("mode"), 9), 0);
	assert_int_equal(str_distance(STR("mode"), STR("modes"), 9), 1);
	assert_int_equal(str_distance(STR("mode"), STR("mod"), 9), 1);
	assert_int_equal(str_distance(STR("mode"), STR("made"), 9), 1);
	assert_int_equal(str_distance(STR("mode"), STR("mdoe"), 9), 1);
	assert_int_equal(str_distance(STR("kitten"), STR("sitting"), 9), 3);
	assert_int_equal(str_distance(STR(""), STR("abc"), 9), 3);
	assert_int_equal(str_distance(STR("ca"), STR("abc"), 9), 3);
}

TEST(str_distance_stops_above_the_maximum)
{
	assert_int_equal(str_distance(STR("abcdef"), STR("uvwxyz"), 2), 3);
	assert_int_equal(str_distance(STR("abc"), STR("xyz"), UINT_MAX), 3);
	assert_int_equal(str_distance(STR("a"), STR("b"), 0), 1);
}

TEST(str_distance_calls_long_words_far_unless_equal)
{
	char a[65], b[65];

	memset(a, 'x', sizeof(a));
	memset(b, 'x', sizeof(b));
	assert_int_equal(str_distance((struct str){ a, 65 }, (struct str){ b, 65 }, 3), 0);
	b[0] = 'y';
	assert_int_equal(str_distance((struct str){ a, 65 }, (struct str){ b, 65 }, 3), 4);
	assert_int_equal(str_distance((struct str){ a, 64 }, (struct str){ b, 64 }, 3), 1);
}

TEST(str_distance_is_symmetric)
{
	static const char *const word[] = {
		"", "a", "ab", "ba", "abc", "acb", "network", "newtork", "nework"
	};

	for (size_t i = 0; i < sizeof(word) / sizeof(word[0]); i++)
		for (size_t k = 0; k < sizeof(word) / sizeof(word[0]); k++)
			assert_int_equal(str_distance(str_z(word[i]), str_z(word[k]), 20),
					 str_distance(str_z(word[k]), str_z(word[i]), 20));
}

TEST_MAIN()
