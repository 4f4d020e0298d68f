/* SPDX-License-Identifier: Apache-2.0 */
#include "check.h"

#include "base/num.h"

#include <errno.h>
#include <math.h>

static uint64_t next_random(void)
{
	static uint64_t x = 88172645463325252u;

	x ^= x << 13;
	x ^= x >> 7;
	x ^= x << 17;
	return x;
}

static double from_bits(uint64_t bits)
{
	double d;

	memcpy(&d, &bits, sizeof(d));
	return d;
}

static uint64_t bits_of(double d)
{
	uint64_t bits;

	memcpy(&bits, &d, sizeof(bits));
	return bits;
}

TEST(num_is_written_as_javascript_does)
{
	static const struct {
		double v;
		const char *want;
	} cases[] = {
		{ 0, "0" },
		{ -0.0, "-0" },
		{ 1, "1" },
		{ -1.5, "-1.5" },
		{ 0.1, "0.1" },
		{ 0.3, "0.3" },
		{ 0.1 + 0.2, "0.30000000000000004" },
		{ 1.0 / 3, "0.3333333333333333" },
		{ 100, "100" },
		{ 1e20, "100000000000000000000" },
		{ 123456789012345680000.0, "123456789012345680000" },
		{ 1e21, "1e+21" },
		{ 1.5e300, "1.5e+300" },
		{ 0.000001, "0.000001" },
		{ 0.0000012, "0.0000012" },
		{ 1e-7, "1e-7" },
		{ 1.5e-7, "1.5e-7" },
		{ 9007199254740991, "9007199254740991" },
		{ 9007199254740992, "9007199254740992" },
		{ 5e-324, "5e-324" },
		{ 2.2250738585072014e-308, "2.2250738585072014e-308" },
		{ 1.7976931348623157e308, "1.7976931348623157e+308" },
		{ 0x1p-44,
		  "5.684341886080802e-14" }, /* the nearest 16 digits do not read back; their neighbour does */
		{ 4.35, "4.35" },
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		char out[NUM_TEXT_MAX];
		struct str s;

		assert_int_equal(num_format(cases[i].v, out, &s), 0);
		CHECK_CASE(str_eq(s, str_z(cases[i].want)), "got %s, want %s", out, cases[i].want);
	}
}

TEST(num_refuses_what_json_cannot_say)
{
	char out[NUM_TEXT_MAX] = "old";
	struct str s = STR("old");

	assert_int_equal(num_format((double)NAN, out, &s), -EDOM);
	assert_int_equal(num_format((double)INFINITY, out, &s), -EDOM);
	assert_int_equal(num_format((double)-INFINITY, out, &s), -EDOM);
	CHECK_STR(s, STR("old"));
}

/* Every bit pattern is as likely as any other; subnormals and powers of two get extra turns. */
TEST(num_reads_back_as_the_same_bits)
{
	for (unsigned i = 0; i < 60000; i++) {
		uint64_t bits = next_random();
		char out[NUM_TEXT_MAX];
		double v, back;
		struct str s;

		bits = i % 8 == 0 ? bits >> 12 : i % 8 == 1 ? bits & UINT64_C(0xfff0000000000000) : bits;
		v = from_bits(bits);
		if (!isfinite(v))
			continue;
		assert_int_equal(num_format(v, out, &s), 0);
		assert_int_equal(num_parse(s, &back), 0);
		CHECK_CASE(bits_of(back) == bits, "%a became %s became %a", v, out, back);
		CHECK_CASE(bits_of(strtod(out, NULL)) == bits, "strtod of %s", out);
	}
}

/* Digits from the first to the last that is not zero. */
static size_t significant(struct str s)
{
	size_t n = 0, last = 0;

	for (size_t i = 0; i < s.n && s.p[i] != 'e'; i++) {
		if (s.p[i] < '0' || s.p[i] > '9' || (n == 0 && s.p[i] == '0'))
			continue;
		n++;
		last = s.p[i] == '0' ? last : n;
	}
	return last;
}

TEST(num_text_has_no_more_digits_than_it_needs)
{
	for (unsigned i = 0; i < 20000; i++) {
		double v = from_bits(next_random());
		char text[48], out[NUM_TEXT_MAX];
		struct str s;
		int n = 0;

		v = i % 2 ? v : (double)(next_random() % 100000) / 1000; /* short ones too */
		if (!isfinite(v) || v == 0)
			continue;
		do /* the fewest digits with which libc's rounding reads back */
			(void)snprintf(text, sizeof(text), "%.*e", n++, v);
		while (bits_of(strtod(text, NULL)) != bits_of(v));
		assert_int_equal(num_format(v, out, &s), 0);
		CHECK_CASE(significant(s) <= (size_t)n, "%s for %s", out, text);
	}
}

TEST(num_parses_what_strtod_does_and_agrees_with_it)
{
	static const char *const cases[] = {
		"0",
		"-0",
		"1",
		"+1",
		"1.",
		".5",
		"1e5",
		"1E+5",
		"1e-5",
		"00012",
		"123456789012345678901234567890",
		"9007199254740993",
		"9007199254740992.999999999999999999999999",
		"9007199254740993.000000000000000000000001",
		"2.2250738585072011e-308",
		"2.4703282292062327e-324",
		"2.4703282292062328e-324",
		"1e-400",
		"1e400",
		"-1e400",
		"1e99999999999999999999",
		"0e99999999999999999999",
		"1e-99999999999999999999",
		"0.000000000000000000000000000000000000000000000000001e51",
		"179769313486231580793728971405301e276",
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		double v = 0;

		CHECK_CASE(num_parse(str_z(cases[i]), &v) == 0, "%s refused", cases[i]);
		CHECK_CASE(bits_of(v) == bits_of(strtod(cases[i], NULL)), "%s gave %a", cases[i], v);
	}
}

TEST(num_parse_agrees_with_strtod_on_random_digits)
{
	for (unsigned i = 0; i < 20000; i++) {
		char text[64];
		double v;

		(void)snprintf(text, sizeof(text), "%llu.%0*llue%d",
			       (unsigned long long)(next_random() >> i % 60), (int)(i % 20 + 1),
			       (unsigned long long)(next_random() >> i % 50),
			       (int)(next_random() % 680) - 345);
		assert_int_equal(num_parse(str_z(text), &v), 0);
		CHECK_CASE(bits_of(v) == bits_of(strtod(text, NULL)), "%s gave %a", text, v);
	}
}

/* Half way between two doubles, then a nudge a thousand digits later: only exact arithmetic tells them apart. */
TEST(num_parse_sees_a_digit_far_behind_the_tie)
{
	char text[1300] = "9007199254740993.";
	double tie, above;
	size_t n = strlen(text);

	memset(text + n, '0', 1100);
	assert_int_equal(num_parse((struct str){ text, n + 1100 }, &tie), 0);
	text[n + 1099] = '1';
	assert_int_equal(num_parse((struct str){ text, n + 1100 }, &above), 0);
	assert_true(tie == 9007199254740992.0);
	assert_true(above == 9007199254740994.0);
}

TEST(num_parse_takes_a_thousand_digits_before_the_point)
{
	char text[1100];
	double v;

	memset(text, '0', sizeof(text));
	text[0] = '1';
	assert_int_equal(num_parse((struct str){ text, 301 }, &v), 0);
	assert_true(v == 1e300);
	memcpy(text + 1000, "e-900", 5);
	assert_int_equal(num_parse((struct str){ text, 1005 }, &v), 0);
	assert_true(v == 1e99);
}

TEST(num_parse_refuses_everything_else_and_writes_nothing)
{
	static const struct str cases[] = { STR(""),      STR("-"),    STR("+"),   STR("."),   STR("e5"),
					    STR("1e"),    STR("1e+"),  STR("1e-"), STR(" 1"),  STR("1 "),
					    STR("1x"),    STR("0x10"), STR("inf"), STR("nan"), STR("1..2"),
					    STR("1e5.0"), STR("--1"),  STR("1\0"), STR("1,5"), STR("+-1"),
					    STR(".e1") };

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		double v = 7;

		CHECK_CASE(num_parse(cases[i], &v) == -EINVAL, "case %zu accepted", i);
		assert_true(v == 7);
	}
}

TEST_MAIN()
