/* SPDX-License-Identifier: Apache-2.0 */
#include "data/number_priv.h"

#include "base/num.h"

#include <math.h>

bool number_integer(uint64_t magnitude, bool minus, struct value *ret)
{
	if (magnitude <= INT64_MAX || (minus && magnitude == UINT64_C(1) << 63)) {
		ret->kind = VALUE_INT;
		ret->i = minus ? (int64_t)(0 - magnitude) : (int64_t)magnitude;
		return true;
	}
	ret->kind = VALUE_NUM;
	ret->num = minus ? -(double)magnitude : (double)magnitude;
	return false;
}

/* magnitude * 10^exponent, exactly: all digits are in the magnitude unless `lost`. */
struct decimal {
	uint64_t magnitude;
	int64_t exponent;
	bool lost; /* a digit other than zero did not fit */
};

/* Ten times this and nine still fits. */
#define MAGNITUDE_FULL ((UINT64_MAX - 9) / 10)

static void add_digit(struct decimal *d, char c, bool fraction)
{
	if (d->magnitude <= MAGNITUDE_FULL) {
		d->magnitude = d->magnitude * 10 + (uint64_t)(c - '0');
		d->exponent -= fraction;
	} else {
		d->lost |= c != '0';
		d->exponent += !fraction;
	}
}

static bool is_digit(struct str s, size_t i)
{
	return i < s.n && s.p[i] >= '0' && s.p[i] <= '9';
}

static int64_t read_exponent(struct str s, size_t i)
{
	bool minus = i < s.n && s.p[i] == '-';
	int64_t e = 0;

	if (i < s.n && (minus || s.p[i] == '+'))
		i++;
	for (; is_digit(s, i); i++)
		if (e < INT32_MAX) /* larger than any text is long */
			e = e * 10 + (s.p[i] - '0');
	return minus ? -e : e;
}

static struct decimal read_decimal(struct str s)
{
	struct decimal d = { .magnitude = 0 };
	size_t i = s.n > 0 && (s.p[0] == '-' || s.p[0] == '+');

	for (; is_digit(s, i); i++)
		add_digit(&d, s.p[i], false);
	if (i < s.n && s.p[i] == '.')
		for (i++; is_digit(s, i); i++)
			add_digit(&d, s.p[i], true);
	if (i < s.n)
		d.exponent += read_exponent(s, i + 1);
	return d;
}

/* False when the value is no integer of 64 bits: 1.5, 1e400, 0.1e-3. */
static bool to_integer(struct decimal *d)
{
	if (d->magnitude == 0)
		return !d->lost;
	for (; d->exponent < 0; d->exponent++, d->magnitude /= 10)
		if (d->magnitude % 10 != 0)
			return false;
	for (; d->exponent > 0; d->exponent--)
		if (__builtin_mul_overflow(d->magnitude, UINT64_C(10), &d->magnitude))
			return false;
	return !d->lost;
}

void number_decimal(struct str text, struct value *ret)
{
	struct decimal d = read_decimal(text);

	if (to_integer(&d) && number_integer(d.magnitude, text.p[0] == '-', ret))
		return;
	ret->kind = VALUE_NUM;
	ret->num = 0;
	(void)num_parse(text, &ret->num); /* the caller has checked the grammar */
}

static unsigned digit_value(char c)
{
	return c <= '9' ? (unsigned)(c - '0') : (unsigned)((c | 0x20) - 'a' + 10);
}

void number_radix(struct str digits, unsigned bits, bool minus, struct value *ret)
{
	uint64_t m = 0;
	bool sticky = false;
	int shift = 0;

	for (size_t i = 0; i < digits.n; i++) {
		if (m >> (64 - bits) == 0) {
			m = m << bits | digit_value(digits.p[i]);
			continue;
		}
		/* 61 bits are left at least: one bit for all the rest is enough to round right. */
		sticky |= digits.p[i] != '0';
		if (shift < 1 << 20)
			shift += (int)bits;
	}
	if (shift == 0) {
		(void)number_integer(m, minus, ret);
		return;
	}
	ret->kind = VALUE_NUM;
	ret->num = ldexp((double)(m | sticky), shift);
	ret->num = minus ? -ret->num : ret->num;
}
