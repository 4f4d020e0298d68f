/* SPDX-License-Identifier: Apache-2.0 */
#include "data/json_priv.h"

#include "data/number_priv.h"

#include <math.h>

static bool is_digit(int c)
{
	return c >= '0' && c <= '9';
}

static bool is_hex(int c)
{
	return is_digit(c) || ((c | 0x20) >= 'a' && (c | 0x20) <= 'f');
}

static size_t digits(struct json_parser *p)
{
	const char *start = p->s;

	while (p->s < p->end && is_digit(*p->s))
		p->s++;
	return (size_t)(p->s - start);
}

static int hexadecimal(struct json_parser *p, bool minus, struct value *ret)
{
	const char *start = p->s += 2;

	while (p->s < p->end && is_hex(*p->s))
		p->s++;
	if (p->s == start)
		return json_fail_expected(p, p->s, "a hexadecimal digit");
	number_radix((struct str){ .p = start, .n = (size_t)(p->s - start) }, 4, minus, ret);
	return 0;
}

static int word(struct json_parser *p, struct str text, double v, struct value *ret)
{
	if (!str_starts((struct str){ .p = p->s, .n = (size_t)(p->end - p->s) }, text))
		return json_fail_expected(p, p->s, "a value");
	p->s += text.n;
	ret->kind = VALUE_NUM;
	ret->num = v;
	return 0;
}

/* .digits and the exponent, each optional. `whole`: digits stood before. */
static int fraction_and_exponent(struct json_parser *p, bool whole)
{
	if (json_peek(p) == '.') {
		p->s++;
		if (digits(p) == 0 && !(p->json5 && whole))
			return json_fail_expected(p, p->s, "a digit after the decimal point");
	}
	if ((json_peek(p) | 0x20) != 'e')
		return 0;
	p->s++;
	if (json_peek(p) == '+' || json_peek(p) == '-')
		p->s++;
	if (digits(p) == 0)
		return json_fail_expected(p, p->s, "a digit of the exponent");
	return 0;
}

/* Nothing that would be read as zero and nothing else: 01, 0777. */
static int leading_zero(const struct json_parser *p, const char *start)
{
	if (*start == '0' && p->s - start > 1)
		return json_fail(p, start, "a number must not begin with 0 and another digit");
	return 0;
}

/* So many digits always fit. */
enum { DIGITS_SURE = 18 };

static int decimal(struct json_parser *p, const char *sign_at, struct value *ret)
{
	const char *start = p->s;
	uint64_t m = 0;
	int r;

	for (; p->s < p->end && is_digit(*p->s); p->s++)
		m = m * 10 + (uint64_t)(*p->s - '0'); /* wraps for a long one, which is read again below */
	if (p->s == start && !(p->json5 && json_peek(p) == '.'))
		return json_fail_expected(p, p->s, start == sign_at ? "a value" : "a digit after the sign");
	r = leading_zero(p, start);
	if (r < 0)
		return r;
	if (p->s - start <= DIGITS_SURE && json_peek(p) != '.' && (json_peek(p) | 0x20) != 'e') {
		(void)number_integer(m, *sign_at == '-', ret);
		return 0;
	}
	r = fraction_and_exponent(p, p->s > start);
	if (r < 0)
		return r;
	number_decimal((struct str){ .p = sign_at, .n = (size_t)(p->s - sign_at) }, ret);
	if (p->finite && ret->kind == VALUE_NUM && !isfinite(ret->num))
		return json_fail(p, sign_at, "the number is larger than any that can be held");
	return 0;
}

static int json5_number(struct json_parser *p, const char *sign_at, struct value *ret)
{
	bool minus = *sign_at == '-';

	if (json_peek(p) == 'I')
		return word(p, STR("Infinity"), minus ? -INFINITY : INFINITY, ret);
	if (json_peek(p) == 'N')
		return word(p, STR("NaN"), NAN, ret);
	if (p->end - p->s > 1 && p->s[0] == '0' && (p->s[1] | 0x20) == 'x')
		return hexadecimal(p, minus, ret);
	return decimal(p, sign_at, ret);
}

int json_number(struct json_parser *p, struct value *ret)
{
	const char *start = p->s;
	int r;

	if (*p->s == '-' || (p->json5 && *p->s == '+'))
		p->s++;
	r = p->json5 ? json5_number(p, start, ret) : decimal(p, start, ret);
	ret->raw = (struct str){ .p = start, .n = (size_t)(p->s - start) };
	return r;
}
