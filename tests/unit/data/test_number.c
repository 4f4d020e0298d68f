/* SPDX-License-Identifier: Apache-2.0 */
#include "check.h"
#include "reading.h"

#include <locale.h>
#include <math.h>

static struct value number(struct arena *a, struct str text)
{
	struct value v = { .kind = VALUE_NULL };
	struct err e;

	if (read_text(a, READING_JSON5, text, &v, &e) < 0)
		fail_msg("%s", e.msg);
	CHECK_STR(v.raw, text);
	return v;
}

TEST(an_integer_that_fits_is_an_integer_however_it_is_written)
{
	static const struct {
		struct str text;
		int64_t want;
	} c[] = {
		{ STR("0"), 0 },
		{ STR("-0"), 0 },
		{ STR("7"), 7 },
		{ STR("+7"), 7 },
		{ STR("-42"), -42 },
		{ STR("0x10"), 16 },
		{ STR("-0XfF"), -255 },
		{ STR("1e3"), 1000 },
		{ STR("1E+3"), 1000 },
		{ STR("3."), 3 },
		{ STR("3.000"), 3 },
		{ STR("1.5e1"), 15 },
		{ STR("1000e-3"), 1 },
		{ STR("0e999999999999"), 0 },
		{ STR("0.0"), 0 },
		{ STR("100000000000000000000000e-20"), 1000 },
		{ STR("0.00000000000000000000000001e26"), 1 },
		{ STR("1.00000000000000000000000000000"), 1 },
		{ STR("123456789012345678"), 123456789012345678 },
		{ STR("1234567890123456789"), 1234567890123456789 },
		{ STR("9007199254740993"), 9007199254740993 },
		{ STR("9223372036854775807"), INT64_MAX },
		{ STR("9223372036854775807.0"), INT64_MAX },
		{ STR("922337203685477580.7e1"), INT64_MAX },
		{ STR("-9223372036854775808"), INT64_MIN },
		{ STR("0x7fffffffffffffff"), INT64_MAX },
		{ STR("-0x8000000000000000"), INT64_MIN },
		{ STR("0x00000000000000000000000000000001"), 1 },
		{ STR("1e18"), 1000000000000000000 },
	};
	_cleanup_arena_ struct arena a;

	arena_init(&a, 1 << 20);
	for (size_t i = 0; i < sizeof(c) / sizeof(c[0]); i++) {
		struct value v = number(&a, c[i].text);

		CHECK_CASE(v.kind == VALUE_INT && v.i == c[i].want, "%s: %s %lld", c[i].text.p,
			   value_kind_name(v.kind), (long long)v.i);
	}
}

TEST(any_other_number_is_the_nearest_double)
{
	static const struct {
		struct str text;
		double want;
	} c[] = {
		{ STR("0.1"), 0.1 },
		{ STR("-1.5"), -1.5 },
		{ STR(".5"), 0.5 },
		{ STR("1e-7"), 1e-7 },
		{ STR("1e19"), 1e19 },
		{ STR("9223372036854775808"), 9223372036854775808.0 },
		{ STR("-9223372036854775809"), -9223372036854775808.0 },
		{ STR("18446744073709551615"), 18446744073709551615.0 },
		{ STR("18446744073709551616"), 18446744073709551616.0 },
		{ STR("0x8000000000000000"), 0x1p63 },
		{ STR("0xffffffffffffffff"), 0x1p64 },
		{ STR("0x10000000000000000"), 0x1p64 },
		/* ties to even, and just above the tie */
		{ STR("0x10000000000000800"), 0x1p64 },
		{ STR("0x10000000000000801"), 0x1.0000000000001p64 },
		{ STR("0x100000000000008000000000000000001"), 0x1.0000000000001p128 },
		{ STR("-0x10000000000000801"), -0x1.0000000000001p64 },
		{ STR("9007199254740993.5"), 9007199254740994.0 },
		{ STR("1.7976931348623157e308"), 1.7976931348623157e308 },
		{ STR("5e-324"), 5e-324 },
		{ STR("2.4703282292062328e-324"), 5e-324 },
		{ STR("2.4703282292062327e-324"), 0 },
		{ STR("2.2250738585072011e-308"), 2.2250738585072011e-308 },
		{ STR("1e400"), INFINITY },
		{ STR("-1e400"), -INFINITY },
		{ STR("1e-400"), 0 },
		{ STR("0.0001e-99999999999999999999"), 0 },
		{ STR("Infinity"), INFINITY },
		{ STR("+Infinity"), INFINITY },
		{ STR("-Infinity"), -INFINITY },
	};
	_cleanup_arena_ struct arena a;

	arena_init(&a, 1 << 20);
	for (size_t i = 0; i < sizeof(c) / sizeof(c[0]); i++) {
		struct value v = number(&a, c[i].text);

		CHECK_CASE(v.kind == VALUE_NUM && v.num == c[i].want, "%s: %s %a, want %a", c[i].text.p,
			   value_kind_name(v.kind), v.num, c[i].want);
	}
	assert_true(isnan(number(&a, STR("NaN")).num));
	assert_true(isnan(number(&a, STR("-NaN")).num));
}

TEST(numbers_of_thousands_of_digits_are_read_exactly)
{
	_cleanup_arena_ struct arena a;
	_cleanup_buf_ struct buf zeros, tie, hex;
	struct value v;

	arena_init(&a, 1 << 20);
	buf_init(&zeros, 1 << 20);
	buf_putc(&zeros, '1');
	for (int i = 0; i < 5000; i++)
		buf_putc(&zeros, '0');
	buf_puts(&zeros, "e-4999");
	v = number(&a, buf_str(&zeros));
	assert_int_equal(v.kind, VALUE_INT);
	assert_int_equal(v.i, 10);

	/* Half a unit above 2^53: to even without the last digit, up with it. */
	buf_init(&tie, 1 << 20);
	buf_puts(&tie, "9007199254740993.");
	for (int i = 0; i < 5000; i++)
		buf_putc(&tie, '0');
	buf_putc(&tie, '1');
	v = number(&a, buf_str(&tie));
	assert_int_equal(v.kind, VALUE_NUM);
	assert_true(v.num == 9007199254740994.0);

	buf_init(&hex, 1 << 20);
	buf_puts(&hex, "0x");
	for (int i = 0; i < 5000; i++)
		buf_putc(&hex, 'f');
	v = number(&a, buf_str(&hex));
	assert_true(isinf(v.num));
}

TEST(a_number_means_the_same_under_a_locale_with_a_decimal_comma)
{
	static const char *const names[] = { "de_DE.UTF-8", "de_DE.utf8", "fr_FR.UTF-8", "ru_RU.UTF-8" };
	_cleanup_arena_ struct arena a;
	struct value v;

	/* Where none of them is installed the test still holds, under the locale there is. */
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		if (setlocale(LC_NUMERIC, names[i]))
			break;
	arena_init(&a, 1 << 20);
	v = number(&a, STR("0.30000000000000004440892098500626161694526672363281251"));
	(void)setlocale(LC_NUMERIC, "C");
	assert_true(v.num == 0.30000000000000004);
}

TEST(words_that_only_begin_like_a_number_are_refused)
{
	static const struct reading r[] = {
		{ STR("Infinit"), STR("f:1:1: found 'Infinit', expected a value") },
		{ STR("-Infinit"), STR("f:1:2: found 'Infinit', expected a value") },
		{ STR("Nan"), STR("f:1:1: found 'Nan', expected a value") },
		{ STR("0x"), STR("f:1:3: found the end of the text, expected a hexadecimal digit") },
		{ STR("0xg"), STR("f:1:3: found 'g', expected a hexadecimal digit") },
		{ STR("."),
		  STR("f:1:2: found the end of the text, expected a digit after the decimal point") },
		{ STR("+"), STR("f:1:2: found the end of the text, expected a digit after the sign") },
		{ STR("+-1"), STR("f:1:2: found '-', expected a digit after the sign") },
		{ STR("- 1"), STR("f:1:2: found ' ', expected a digit after the sign") },
		{ STR("010"), STR("f:1:1: a number must not begin with 0 and another digit") },
		{ STR("-00.5"), STR("f:1:2: a number must not begin with 0 and another digit") },
		{ STR("1.5.5"), STR("f:1:4: found '.', expected nothing after the document") },
		{ STR("0x1.8"), STR("f:1:4: found '.', expected nothing after the document") },
		{ STR("1e5e5"), STR("f:1:4: found 'e5', expected nothing after the document") },
		{ STR("1_000"), STR("f:1:2: found '_000', expected nothing after the document") },
	};

	CHECK_READINGS(READING_JSON5, r);
}

TEST_MAIN()
