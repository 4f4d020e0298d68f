/* SPDX-License-Identifier: Apache-2.0 */
#include "base/parse.h"

#include "base/num.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>

int parse_bool(struct str s, bool *ret)
{
	/* clang-format off */
	static const struct {
		const char *word;
		bool v;
	} words[] = {
		{ "true", true }, { "false", false }, { "yes", true }, { "no", false },
		{ "on", true },   { "off", false },   { "1", true },   { "0", false },
	};
	/* clang-format on */

	for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++) {
		if (!str_eq_nocase(s, str_z(words[i].word)))
			continue;
		*ret = words[i].v;
		return 0;
	}
	return -EINVAL;
}

int parse_i64(struct str s, int64_t min, int64_t max, int64_t *ret)
{
	bool minus = s.n > 0 && s.p[0] == '-';
	uint64_t abs;
	int64_t v;
	int r = str_to_u64(str_from(s, minus), (uint64_t)INT64_MAX + minus, &abs);

	if (r < 0)
		return r;
	v = minus ? (int64_t)-abs : (int64_t)abs;
	if (v < min || v > max)
		return -ERANGE;
	*ret = v;
	return 0;
}

int parse_double(struct str s, double min, double max, double *ret)
{
	double v;
	int r = num_parse(s, &v);

	if (r < 0)
		return r;
	if (!isfinite(v) || v < min || v > max)
		return -ERANGE;
	*ret = v;
	return 0;
}

/* Splits "1.5mib" into number and unit, at the first byte that is neither digit nor point. */
static void split_unit(struct str s, struct str *ret_number, struct str *ret_unit)
{
	size_t n = 0;

	while (n < s.n && ((s.p[n] >= '0' && s.p[n] <= '9') || s.p[n] == '.'))
		n++;
	*ret_number = (struct str){ .p = s.p, .n = n };
	*ret_unit = str_from(s, n);
}

static int size_shift(struct str unit, unsigned *ret_shift)
{
	static const char letters[] = "kmgtp";
	const char *at;

	if (unit.n == 0 || str_eq_nocase(unit, STR("b"))) {
		*ret_shift = 0;
		return 0;
	}
	at = memchr(letters, unit.p[0] | 0x20, sizeof(letters) - 1);
	unit = str_from(unit, 1);
	if (!at || !(unit.n == 0 || str_eq_nocase(unit, STR("b")) || str_eq_nocase(unit, STR("ib"))))
		return -EINVAL;
	*ret_shift = 10 * (unsigned)(at - letters + 1);
	return 0;
}

/* 0.digits of one unit, in whole bytes rounded down, without passing through a double. */
static int fraction_bytes(struct str digits, unsigned shift, uint64_t *ret)
{
	uint64_t num, den = 1;
	int r;

	if (digits.n == 0 || digits.n > 18)
		return -EINVAL;
	r = str_to_u64(digits, UINT64_MAX, &num);
	for (size_t i = 0; i < digits.n; i++)
		den *= 10;
	if (r == 0)
		*ret = (uint64_t)(((unsigned __int128)num << shift) / den);
	return r;
}

int parse_size(struct str s, uint64_t max, uint64_t *ret_bytes)
{
	struct str number, unit, whole, rest;
	uint64_t v, fraction = 0;
	unsigned shift;
	bool dotted;
	int r;

	split_unit(s, &number, &unit);
	r = size_shift(unit, &shift);
	if (r < 0)
		return r;
	dotted = str_cut(number, '.', &whole, &rest);
	if (!dotted)
		whole = number;
	if (dotted && shift == 0)
		return -EINVAL;
	if (dotted && (r = fraction_bytes(rest, shift, &fraction)) < 0)
		return r;
	r = str_to_u64(whole, UINT64_MAX, &v);
	if (r < 0)
		return r;
	if (v > UINT64_MAX >> shift || v << shift > max || fraction > max - (v << shift))
		return -ERANGE;
	*ret_bytes = (v << shift) + fraction;
	return 0;
}

/* clang-format off */
static const struct {
	const char *name;
	uint64_t ms;
} durations[] = { /* longest first */
	{ "d", 86400000 }, { "h", 3600000 }, { "m", 60000 }, { "s", 1000 }, { "ms", 1 },
};
/* clang-format on */
enum { N_DURATIONS = sizeof(durations) / sizeof(durations[0]) };

static size_t duration_unit(struct str unit)
{
	size_t i = 0;

	while (i < N_DURATIONS && !str_eq(unit, str_z(durations[i].name)))
		i++;
	return i;
}

/* "30s" off the front of *s. `*smallest` is the index of the last unit: the next one must be smaller. */
static int duration_part(struct str *s, size_t *smallest, uint64_t *ret_ms)
{
	struct str number, unit;
	size_t i, n = 0;
	uint64_t v;
	int r;

	split_unit(*s, &number, &unit);
	while (n < unit.n && unit.p[n] >= 'a' && unit.p[n] <= 'z')
		n++;
	*s = str_from(unit, n);
	i = duration_unit((struct str){ .p = unit.p, .n = n });
	if (i == N_DURATIONS || i < *smallest)
		return -EINVAL;
	r = str_to_u64(number, UINT64_MAX, &v);
	if (r < 0)
		return r;
	*smallest = i + 1;
	return __builtin_mul_overflow(v, durations[i].ms, ret_ms) ? -ERANGE : 0;
}

int parse_duration(struct str s, uint64_t max_ms, uint64_t *ret_ms)
{
	uint64_t total = 0, part = 0;
	size_t smallest = 0;
	bool over = false;

	if (s.n == 0)
		return -EINVAL;
	if (str_eq(s, STR("0")))
		s = str_from(s, 1);
	while (s.n > 0) {
		int r = duration_part(&s, &smallest, &part);

		if (r == -EINVAL)
			return r; /* also behind a part that is too big: "not of this form" comes first */
		over = over || r < 0 || __builtin_add_overflow(total, part, &total);
	}
	if (over || total > max_ms)
		return -ERANGE;
	*ret_ms = total;
	return 0;
}

struct str parse_format_size(uint64_t bytes, char out[static PARSE_TEXT_MAX])
{
	static const char letters[] = "kmgtp";
	unsigned unit = 0;
	int n;

	while (bytes > 0 && bytes % 1024 == 0 && unit < sizeof(letters) - 1) {
		bytes /= 1024;
		unit++;
	}
	n = snprintf(out, PARSE_TEXT_MAX, "%" PRIu64 "%.*s", bytes, unit > 0,
		     letters + (unit ? unit - 1 : 0));
	return (struct str){ .p = out, .n = (size_t)n };
}

struct str parse_format_duration(uint64_t ms, char out[static PARSE_TEXT_MAX])
{
	size_t i = 0;
	int n;

	while (ms % durations[i].ms != 0 || (ms == 0 && i < 3))
		i++;
	n = snprintf(out, PARSE_TEXT_MAX, "%" PRIu64 "%s", ms / durations[i].ms, durations[i].name);
	return (struct str){ .p = out, .n = (size_t)n };
}
