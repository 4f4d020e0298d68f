/* SPDX-License-Identifier: Apache-2.0 */
#include "check.h"

#include "base/table.h"
#include "base/utf8.h"

static void check_table(const struct table_col *cols, size_t n_cols, const struct str *cells, size_t n_cells,
			size_t max_columns, const char *want)
{
	_cleanup_arena_ struct arena a = { 0 };
	_cleanup_buf_ struct buf b = { 0 };
	struct table t;

	arena_init(&a, 1 << 20);
	buf_init(&b, 1 << 20);
	table_init(&t, &a, cols, n_cols);
	for (size_t i = 0; i < n_cells; i++)
		table_cell(&t, cells[i]);
	table_print(&t, &b, max_columns);
	assert_false(a.failed);
	assert_false(b.failed);
	CHECK_STR(buf_str(&b), str_z(want));
}

#define CHECK_TABLE(cols, cells, max, want)                                                                \
	check_table((cols), sizeof(cols) / sizeof((cols)[0]), (cells), sizeof(cells) / sizeof((cells)[0]), \
		    (max), (want))

TEST(table_columns_are_as_wide_as_their_text)
{
	static const struct table_col cols[] = { { "TOOL" }, { "N", TABLE_RIGHT }, { "WHY" } };
	static const struct str cells[] = { STR("exec"),      STR("7"),    STR("rule"),
					    STR("web_fetch"), STR("1000"), STR("") };

	CHECK_TABLE(cols, cells, 0,
		    "TOOL          N  WHY\n"
		    "exec          7  rule\n"
		    "web_fetch  1000\n");
}

TEST(table_never_ends_a_line_in_blanks)
{
	static const struct table_col cols[] = { { "A" }, { "B" }, { "C", TABLE_RIGHT } };
	static const struct str cells[] = { STR("x"), STR(""), STR(""), STR("long text"), STR(""), STR("1") };

	CHECK_TABLE(cols, cells, 0,
		    "A          B  C\n"
		    "x\n"
		    "long text     1\n");
}

TEST(table_blanks_of_the_text_itself_do_not_end_a_line_either)
{
	static const struct table_col cols[] = { { NULL }, { NULL } };
	static const struct str cells[] = { STR("a  "), STR("b "), STR("wxyz"), STR("  ") };

	CHECK_TABLE(cols, cells, 0, "a     b\nwxyz\n");
}

TEST(table_without_titles_has_no_header)
{
	static const struct table_col cols[] = { { NULL }, { NULL } };
	static const struct str cells[] = { STR("mode"), STR("all"), STR("network"), STR("none") };

	CHECK_TABLE(cols, cells, 0, "mode     all\nnetwork  none\n");
}

TEST(table_of_no_rows_is_its_header)
{
	static const struct table_col cols[] = { { "A" }, { "B" } };

	check_table(cols, 2, NULL, 0, 0, "A  B\n");
}

TEST(table_counts_display_columns_not_bytes)
{
	static const struct table_col cols[] = { { "NAME" }, { "X" } };
	static const struct str cells[] = {
		STR("\xe4\xb8\xad\xe6\x96\x87\xe5\xad\x97"),
		STR("cjk"), /* three wide characters */
		STR("e\xcc\x81t\xc3\xa9"),
		STR("combining"), /* e with acute, twice, two ways */
		STR("\xf0\x9f\x98\x80"),
		STR("emoji"),
		STR("abcdef"),
		STR("ascii"),
	};

	CHECK_TABLE(cols, cells, 0,
		    "NAME    X\n"
		    "\xe4\xb8\xad\xe6\x96\x87\xe5\xad\x97  cjk\n"
		    "e\xcc\x81t\xc3\xa9     combining\n"
		    "\xf0\x9f\x98\x80      emoji\n"
		    "abcdef  ascii\n");
}

TEST(table_shows_control_characters_instead_of_obeying_them)
{
	static const struct table_col cols[] = { { NULL }, { NULL } };
	static const struct str cells[] = { STR("a\nb\x1b[1m"), STR("x"), STR("\xff\0"), STR("y") };

	CHECK_TABLE(cols, cells, 0,
		    "a\\x0ab\\x1b[1m  x\n"
		    "\\xff\\x00       y\n");
}

TEST(table_cuts_at_a_columns_maximum)
{
	static const struct table_col cols[] = { { "A", .max_columns = 5 }, { "B" } };
	static const struct str cells[] = { STR("abcdefgh"),
					    STR("1"),
					    STR("abcde"),
					    STR("2"),
					    STR("\xe4\xb8\xad\xe6\x96\x87\xe5\xad\x97"),
					    STR("3") };

	CHECK_TABLE(cols, cells, 0,
		    "A      B\n"
		    "abcd\xe2\x80\xa6  1\n"
		    "abcde  2\n"
		    "\xe4\xb8\xad\xe6\x96\x87\xe2\x80\xa6  3\n");
}

TEST(table_wraps_at_blanks_and_aligns_what_follows)
{
	static const struct table_col cols[] = { { "KEY" },
						 { "WHY", .max_columns = 10, .wrap = true },
						 { "N", TABLE_RIGHT } };
	static const struct str cells[] = { STR("mode"), STR("because the rule says so"), STR("5") };

	CHECK_TABLE(cols, cells, 0,
		    "KEY   WHY         N\n"
		    "mode  because     5\n"
		    "      the rule\n"
		    "      says so\n");
}

TEST(table_wraps_a_word_longer_than_the_column_hard)
{
	static const struct table_col cols[] = { { NULL, .max_columns = 4, .wrap = true } };
	static const struct str cells[] = { STR("abcdefghij kl") };

	CHECK_TABLE(cols, cells, 0, "abcd\nefgh\nij\nkl\n");
}

TEST(table_wide_character_in_a_column_of_one_still_ends)
{
	static const struct table_col cols[] = { { NULL, .max_columns = 1, .wrap = true } };
	static const struct str cells[] = { STR("\xe4\xb8\xad\xe6\x96\x87") };

	CHECK_TABLE(cols, cells, 0, "\xe4\xb8\xad\n\xe6\x96\x87\n");
}

TEST(table_too_wide_takes_from_the_wrapping_column_first)
{
	static const struct table_col cols[] = { { NULL }, { NULL, .wrap = true } };
	static const struct str cells[] = { STR("a-key-that-stays"), STR("some words that can go below") };

	CHECK_TABLE(cols, cells, 30,
		    "a-key-that-stays  some words\n"
		    "                  that can go\n"
		    "                  below\n");
}

TEST(table_too_wide_without_wrapping_cuts_the_widest)
{
	static const struct table_col cols[] = { { NULL }, { NULL } };
	static const struct str cells[] = { STR("short"), STR("abcdefghijklmnopqrstuvwxyz") };

	CHECK_TABLE(cols, cells, 20, "short  abcdefghijkl\xe2\x80\xa6\n");
}

TEST(table_never_exceeds_its_width_while_columns_can_shrink)
{
	_cleanup_arena_ struct arena a = { 0 };
	static const struct table_col cols[] = { { "A" }, { "B", .wrap = true }, { "C", TABLE_RIGHT } };

	arena_init(&a, 8 << 20);
	for (size_t max = 28; max < 120; max++) {
		_cleanup_buf_ struct buf b = { 0 };
		struct str rest, line;
		struct table t;

		buf_init(&b, 1 << 20);
		table_init(&t, &a, cols, 3);
		for (int i = 0; i < 5; i++)
			table_row(&t, (const struct str[]){
					      STR("a name of some length"),
					      STR("words and words \xe4\xb8\xad\xe6\x96\x87 and words"),
					      STR("123456789012345678901234") });
		table_print(&t, &b, max);
		for (rest = buf_str(&b); str_cut(rest, '\n', &line, &rest);)
			CHECK_CASE(utf8_columns(line) <= max, "%zu: '%.*s'", max, (int)line.n, line.p);
		assert_int_equal(rest.n, 0);
	}
	assert_false(a.failed);
}

TEST(table_row_left_incomplete_is_printed_as_far_as_it_goes)
{
	static const struct table_col cols[] = { { NULL }, { NULL }, { NULL } };
	static const struct str cells[] = { STR("a"), STR("b"), STR("c"), STR("d") };

	CHECK_TABLE(cols, cells, 0, "a  b  c\nd\n");
}

TEST(table_printf_formats_a_cell)
{
	_cleanup_arena_ struct arena a = { 0 };
	_cleanup_buf_ struct buf b = { 0 };
	static const struct table_col cols[] = { { NULL } };
	struct table t;

	arena_init(&a, 1000);
	buf_init(&b, 1000);
	table_init(&t, &a, cols, 1);
	table_printf(&t, "%d of %s", 3, "four");
	table_print(&t, &b, 0);
	CHECK_STR(buf_str(&b), STR("3 of four\n"));
}

TEST(table_in_a_full_arena_fails_it_and_prints_without_a_crash)
{
	_cleanup_arena_ struct arena a = { 0 };
	_cleanup_buf_ struct buf b = { 0 };
	static const struct table_col cols[] = { { NULL }, { NULL } };
	struct table t;

	arena_init(&a, 200);
	buf_init(&b, 1000);
	table_init(&t, &a, cols, 2);
	for (int i = 0; i < 50; i++)
		table_cell(&t, STR("some text"));
	assert_true(a.failed);
	table_print(&t, &b, 0);
}

TEST_MAIN()
