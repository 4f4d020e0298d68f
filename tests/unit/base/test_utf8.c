/* SPDX-License-Identifier: Apache-2.0 */
#include "check.h"

#include "base/arena.h"
#include "base/buf.h"
#include "base/utf8.h"

TEST(utf8_every_code_point_encodes_and_decodes)
{
	for (uint32_t cp = 0; cp <= 0x110000; cp++) {
		char text[4];
		size_t n = utf8_encode(cp, text);
		bool valid = cp <= 0x10ffff && !(cp >= 0xd800 && cp <= 0xdfff);
		uint32_t back = 0;

		if (!valid) {
			assert_int_equal(n, 0);
			continue;
		}
		if (utf8_decode((struct str){ text, n }, &back) != (int)n || back != cp)
			fail_msg("U+%04X", cp);
		for (size_t cut = 1; cut < n; cut++)
			if (utf8_decode((struct str){ text, cut }, &back) != -(int)cut)
				fail_msg("U+%04X cut to %zu bytes", cp, cut);
	}
}

/* Table 3-7 of the Unicode standard, spelled out independently of the decoder. */
static bool pair_ok(unsigned a, unsigned b)
{
	if (a < 0xc2 || a > 0xf4 || b < 0x80 || b > 0xbf)
		return false;
	return !(a == 0xe0 && b < 0xa0) && !(a == 0xed && b > 0x9f) && !(a == 0xf0 && b < 0x90) &&
	       !(a == 0xf4 && b > 0x8f);
}

TEST(utf8_every_pair_of_leading_bytes_is_judged_by_the_standard)
{
	for (unsigned a = 0x80; a < 0x100; a++) {
		for (unsigned b = 0; b < 0x100; b++) {
			char text[4] = { (char)a, (char)b, (char)0x80, (char)0x80 };
			uint32_t cp;
			int n = utf8_decode((struct str){ text, 4 }, &cp);
			int want = !pair_ok(a, b) ? -1 : a < 0xe0 ? 2 : a < 0xf0 ? 3 : 4;

			CHECK_CASE(n == want, "%02x %02x: %d", a, b, n);
		}
	}
}

TEST(utf8_invalid_third_byte_skips_two)
{
	uint32_t cp;

	assert_int_equal(utf8_decode(STR("\xe2\x82 "), &cp), -2);
	assert_int_equal(utf8_decode(STR("\xf0\x9f\x98 "), &cp), -3);
	assert_int_equal(utf8_decode(STR("\xf5"), &cp), -1);
	assert_int_equal(utf8_decode((struct str){ 0 }, &cp), 0);
}

TEST(utf8_valid_prefix_finds_the_first_bad_byte_wherever_it_stands)
{
	char text[64];

	memset(text, 'a', sizeof(text));
	for (size_t i = 0; i < sizeof(text); i++) {
		text[i] = (char)0xff;
		assert_int_equal(utf8_valid_prefix((struct str){ text, sizeof(text) }), i);
		text[i] = 'a';
	}
	assert_true(utf8_valid((struct str){ text, sizeof(text) }));
	assert_true(utf8_valid((struct str){ 0 }));
	assert_int_equal(utf8_valid_prefix(STR("\xc3\xa9\xc3")), 2);
	assert_true(utf8_valid(STR("12345678\xe2\x82\xac\xf0\x9f\x98\x80"
				   "12345678")));
}

static void check_sanitized(struct str in, struct str want)
{
	_cleanup_buf_ struct buf b = { 0 };

	buf_init(&b, 1000);
	utf8_sanitize(in, &b);
	CHECK_STR(buf_str(&b), want);
	assert_true(utf8_valid(buf_str(&b)));
}

TEST(utf8_sanitize_replaces_each_maximal_part_once)
{
	check_sanitized(STR("ok"), STR("ok"));
	check_sanitized(STR("a\xf0\x9f\x98z"), STR("a\xef\xbf\xbdz"));
	check_sanitized(STR("\xf0\x9f\xff"), STR("\xef\xbf\xbd\xef\xbf\xbd"));
	check_sanitized(STR("\x80\x80"), STR("\xef\xbf\xbd\xef\xbf\xbd"));
	check_sanitized((struct str){ 0 }, STR(""));
}

TEST(utf8_prefix_never_cuts_a_character)
{
	struct str s = STR("a\xe2\x82\xac"
			   "b"); /* a, euro, b */

	CHECK_STR(utf8_prefix(s, 0), STR(""));
	CHECK_STR(utf8_prefix(s, 1), STR("a"));
	CHECK_STR(utf8_prefix(s, 2), STR("a"));
	CHECK_STR(utf8_prefix(s, 3), STR("a"));
	CHECK_STR(utf8_prefix(s, 4), STR("a\xe2\x82\xac"));
	CHECK_STR(utf8_prefix(s, 99), s);
}

TEST(utf8_prefix_of_garbage_keeps_its_length)
{
	CHECK_STR(utf8_prefix(STR("\x80\x80\x80\x80\x80\x80\x80"), 5), STR("\x80\x80\x80\x80\x80"));
	CHECK_STR(utf8_prefix(STR("\x80\x80\x80"), 2), STR("\x80\x80"));
}

TEST(utf8_width_of_what_people_write)
{
	static const struct {
		uint32_t cp;
		unsigned width;
	} cases[] = {
		{ 'a', 1 },     { ' ', 1 },      { 0, 0 },      { 0x1b, 0 },   { 0x7f, 0 },   { 0xe9, 1 },
		{ 0xad, 1 },    { 0x301, 0 },    { 0x200b, 0 }, { 0x200d, 0 }, { 0xfe0f, 0 }, { 0x4e2d, 2 },
		{ 0x3042, 2 },  { 0xac00, 2 },   { 0x1160, 0 }, { 0xff21, 2 }, { 0xff71, 1 }, { 0x1f600, 2 },
		{ 0x1f9d1, 2 }, { 0x20000, 2 },  { 0x2500, 1 }, { 0x2713, 1 }, { 0x2026, 1 }, { 0x3099, 0 },
		{ 0x05b0, 0 },  { 0x10ffff, 1 }, { 0xfffd, 1 }, { 0x3000, 2 }, { 0x20ac, 1 }, { 0xe0100, 0 },
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
		CHECK_CASE(utf8_width(cases[i].cp) == cases[i].width, "U+%04X: %u", cases[i].cp,
			   utf8_width(cases[i].cp));
}

TEST(utf8_columns_adds_up_and_counts_garbage_as_one)
{
	assert_int_equal(utf8_columns(STR("abc")), 3);
	assert_int_equal(utf8_columns(STR("\xe4\xb8\xad\xe6\x96\x87")), 4);
	assert_int_equal(utf8_columns(STR("e\xcc\x81")), 1);
	assert_int_equal(utf8_columns(STR("\xff\xfe")), 2);
	assert_int_equal(utf8_columns((struct str){ 0 }), 0);
}

TEST(utf8_is_visible_refuses_every_control_and_bidi_character)
{
	for (uint32_t cp = 0; cp < 0xa0; cp++)
		assert_int_equal(utf8_is_visible(cp), cp >= 0x20 && cp < 0x7f);
	for (uint32_t cp = 0x2066; cp <= 0x2069; cp++)
		assert_false(utf8_is_visible(cp));
	for (uint32_t cp = 0x2028; cp <= 0x202e; cp++)
		assert_false(utf8_is_visible(cp));
	assert_false(utf8_is_visible(0x200e));
	assert_false(utf8_is_visible(0x200f));
	assert_false(utf8_is_visible(0x61c));
	assert_true(utf8_is_visible(0xe9));
	assert_true(utf8_is_visible(0x1f600));
}

static void lowered(const char *text, const char *want)
{
	_cleanup_arena_ struct arena a = { 0 };
	struct str got;

	arena_init(&a, 1 << 16);
	got = utf8_lower(&a, str_z(text));
	if (!str_eq(got, str_z(want)))
		fail_msg("%s became " STR_FMT ", not %s", text, STR_ARG(got), want);
}

TEST(utf8_lower_knows_every_script_with_cases)
{
	lowered("", "");
	lowered("Group:UI", "group:ui");
	lowered("ÀÉÞß×÷", "àéþß×÷");
	lowered("ŸĀŽ", "ÿāž");
	lowered("ДЁЯ", "дёя");
	lowered("ԱՖ", "աֆ");
	lowered("Ⅷ Ⓐ ＡＺ", "ⅷ ⓐ ａｚ");
	lowered("\u212a\u2126\u1e9e", "k\u03c9\u00df"); /* Kelvin, Ohm, capital sharp s */
	lowered("\U00010400\U0001e921", "\U00010428\U0001e943");
	lowered("Aß中あ😀", "aß中あ😀");
}

TEST(utf8_lower_writes_a_dotted_i_as_two_and_grows_by_half)
{
	lowered("\u0130\u0130\u0130", "i\u0307i\u0307i\u0307");
	lowered("\u023a\u023e\u023a\u023e", "\u2c65\u2c66\u2c65\u2c66");
}

TEST(utf8_lower_ends_a_greek_word_with_the_final_sigma)
{
	lowered("ΟΔΟΣ", "οδος");
	lowered("ΣΟΣ ΣΑΣ", "σος σας");
	lowered("Σ", "σ");
	lowered("ΑΣ'", "ας'");
	lowered("ΑΣ'Α", "ασ'α");
	lowered("Α\u0301Σ", "α\u0301ς");
	lowered("1Σ", "1σ");
	lowered("\u0130Σ", "i\u0307ς");
}

TEST(utf8_lower_leaves_bytes_that_are_no_text)
{
	lowered("A\xff\xc3Z\xe2\x84", "a\xff\xc3z\xe2\x84");
}

TEST_MAIN()
