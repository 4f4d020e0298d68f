/* SPDX-License-Identifier: Apache-2.0 */
#include "base/num.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

/* value = 0.d1 d2 d3 ... * 10^point, as digits without leading or trailing zeros */
struct decimal {
	char digit[20];
	int n, point;
};

/* Digits, 'e', exponent: no decimal point, so no locale can change what strtod() makes of it. */
static double read_back(const struct decimal *d)
{
	char text[48];

	(void)snprintf(text, sizeof(text), "%.*se%d", d->n, d->digit, d->point - d->n);
	return strtod(text, NULL);
}

/* v rounded to n significant digits. Whatever stands between the first two digits is the locale's point. */
static struct decimal round_to(double v, int n)
{
	struct decimal d = { .n = 0 };
	char text[40];
	const char *p = text;

	(void)snprintf(text, sizeof(text), "%.*e", n - 1, v);
	for (; *p && *p != 'e'; p++)
		if (*p >= '0' && *p <= '9' && d.n < n)
			d.digit[d.n++] = *p;
	d.point = (int)strtol(p + (*p == 'e'), NULL, 10) + 1;
	while (d.n > 1 && d.digit[d.n - 1] == '0')
		d.n--;
	return d;
}

/* One unit more in the last of n places. False when a carry would run out of the front. */
static bool bump(struct decimal *d, int n)
{
	while (d->n < n)
		d->digit[d->n++] = '0';
	while (d->n > 0 && d->digit[d->n - 1] == '9')
		d->n--;
	if (d->n == 0)
		return false;
	d->digit[d->n - 1]++;
	return true;
}

/*
 * A decimal of at most 15 digits survives the trip through a normal double, so 15 places find the shortest
 * text unless it needs 16 or 17. Subnormal numbers hold fewer digits and are tried from one place on.
 */
static struct decimal shortest(double v)
{
	struct decimal d = { .n = 0 };

	for (int n = fpclassify(v) == FP_SUBNORMAL ? 1 : 15; n < 17; n++) {
		d = round_to(v, n);
		if (read_back(&d) == v)
			return d;
		/* At a power of two the gap below is half the gap above: the second nearest may fit. */
		if (bump(&d, n) && read_back(&d) == v)
			return d;
	}
	return round_to(v, 17);
}

static int lay_out(const struct decimal *d, const char *sign, char *out)
{
	static const char zeros[] = "00000000000000000000";
	int e = d->point - 1;

	if (d->point >= d->n && d->point <= 21)
		return snprintf(out, NUM_TEXT_MAX, "%s%.*s%.*s", sign, d->n, d->digit, d->point - d->n,
				zeros);
	if (d->point > 0 && d->point < d->n)
		return snprintf(out, NUM_TEXT_MAX, "%s%.*s.%.*s", sign, d->point, d->digit, d->n - d->point,
				d->digit + d->point);
	if (d->point > -6 && d->point <= 0)
		return snprintf(out, NUM_TEXT_MAX, "%s0.%.*s%.*s", sign, -d->point, zeros, d->n, d->digit);
	return snprintf(out, NUM_TEXT_MAX, "%s%c%s%.*se%+d", sign, d->digit[0], d->n > 1 ? "." : "", d->n - 1,
			d->digit + 1, e);
}

int num_format(double v, char out[static NUM_TEXT_MAX], struct str *ret)
{
	const char *sign = signbit(v) ? "-" : "";
	double abs = fabs(v);
	struct decimal d;
	int n;

	if (!isfinite(v))
		return -EDOM;
	if (abs < 9007199254740992.0 && abs == (double)(int64_t)abs) {
		n = snprintf(out, NUM_TEXT_MAX, "%s%" PRId64, sign, (int64_t)abs);
	} else {
		d = shortest(abs);
		n = lay_out(&d, sign, out);
	}
	*ret = (struct str){ .p = out, .n = (size_t)n };
	return 0;
}

/* What was read so far: value = mantissa * 10^exponent while n_digits <= 19. */
struct scan {
	struct str s;
	size_t at;
	uint64_t mantissa;
	int64_t exponent;
	size_t n_digits; /* from the first that is not zero */
	bool seen;
};

static bool is_digit(const struct scan *c)
{
	return c->at < c->s.n && c->s.p[c->at] >= '0' && c->s.p[c->at] <= '9';
}

static void scan_digits(struct scan *c, bool fraction)
{
	for (; is_digit(c); c->at++) {
		unsigned digit = (unsigned)(c->s.p[c->at] - '0');

		c->seen = true;
		c->exponent -= fraction;
		if (c->n_digits == 0 && digit == 0)
			continue;
		c->n_digits++;
		c->mantissa = c->mantissa * 10 + digit; /* wraps after 19 digits: not used then */
	}
}

static bool scan_exponent(struct scan *c)
{
	bool minus = c->at < c->s.n && c->s.p[c->at] == '-';
	int64_t e = 0;

	if (c->at < c->s.n && (minus || c->s.p[c->at] == '+'))
		c->at++;
	if (!is_digit(c))
		return false;
	for (; is_digit(c); c->at++)
		if (e < INT64_C(1) << 50) /* more than any text has digits, far from overflow */
			e = e * 10 + (c->s.p[c->at] - '0');
	c->exponent += minus ? -e : e;
	return true;
}

static bool scan(struct scan *c)
{
	if (c->at < c->s.n && (c->s.p[c->at] == '-' || c->s.p[c->at] == '+'))
		c->at++;
	scan_digits(c, false);
	if (c->at < c->s.n && c->s.p[c->at] == '.') {
		c->at++;
		scan_digits(c, true);
	}
	if (!c->seen)
		return false;
	if (c->at < c->s.n && (c->s.p[c->at] | 0x20) == 'e') {
		c->at++;
		return scan_exponent(c) && c->at == c->s.n;
	}
	return c->at == c->s.n;
}

/* Exact when the mantissa and the power of ten are both doubles without rounding: one operation, one rounding. */
static bool fast_value(const struct scan *c, double *ret)
{
	/* clang-format off */
	static const double power[] = {
		1e0, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10, 1e11,
		1e12, 1e13, 1e14, 1e15, 1e16, 1e17, 1e18, 1e19, 1e20, 1e21, 1e22,
	};
	/* clang-format on */

	if (c->n_digits > 19 || c->mantissa > UINT64_C(1) << 53 || c->exponent < -22 || c->exponent > 22)
		return false;
	*ret = c->exponent < 0 ? (double)c->mantissa / power[-c->exponent]
			       : (double)c->mantissa * power[c->exponent];
	return true;
}

/* 767 digits decide the hardest tie of a double; what follows only matters as "and something more". */
enum { DIGITS_MAX = 770 };

/* The same digits once more, without the point, for a strtod() that then cannot meet the locale's. */
static __attribute__((noinline)) double slow_value(const struct scan *c)
{
	char text[DIGITS_MAX + 32];
	size_t n = 0, seen = 0;
	int64_t e;

	for (size_t i = 0; i < c->s.n && (c->s.p[i] | 0x20) != 'e'; i++) {
		char ch = c->s.p[i];

		if (ch < '0' || ch > '9' || (seen == 0 && ch == '0'))
			continue;
		seen++;
		if (n < DIGITS_MAX)
			text[n++] = ch;
		else if (ch != '0')
			text[DIGITS_MAX - 1] = '1';
	}
	e = c->exponent + (int64_t)(seen - n);
	e = e < -100000 ? -100000 : e > 100000 ? 100000 : e;
	(void)snprintf(text + n, sizeof(text) - n, "e%d", (int)e);
	return strtod(text, NULL);
}

int num_parse(struct str s, double *ret)
{
	struct scan c = { .s = s };
	double v = 0;

	if (!scan(&c))
		return -EINVAL;
	if (c.n_digits > 0 && !fast_value(&c, &v))
		v = slow_value(&c);
	*ret = s.p[0] == '-' ? -v : v;
	return 0;
}
