/* SPDX-License-Identifier: Apache-2.0 */
#include "data/yaml_priv.h"

#include "data/number_priv.h"

#include <math.h>

/* The whole list: `yes`, `no`, `on`, `off`, `y`, `n` are strings in YAML 1.2. */
struct word {
	struct str text;
	struct value value;
};

/* clang-format off */
static const struct word words[] = {
	{ { "", 0 },      { .kind = VALUE_NULL } },
	{ { "~", 1 },     { .kind = VALUE_NULL } },
	{ { "null", 4 },  { .kind = VALUE_NULL } },
	{ { "Null", 4 },  { .kind = VALUE_NULL } },
	{ { "NULL", 4 },  { .kind = VALUE_NULL } },
	{ { "true", 4 },  { .kind = VALUE_BOOL, .b = true } },
	{ { "True", 4 },  { .kind = VALUE_BOOL, .b = true } },
	{ { "TRUE", 4 },  { .kind = VALUE_BOOL, .b = true } },
	{ { "false", 5 }, { .kind = VALUE_BOOL, .b = false } },
	{ { "False", 5 }, { .kind = VALUE_BOOL, .b = false } },
	{ { "FALSE", 5 }, { .kind = VALUE_BOOL, .b = false } },
};
/* clang-format on */

static const struct word *find_word(struct str text)
{
	for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++)
		if (str_eq(words[i].text, text))
			return &words[i];
	return NULL;
}

static size_t digits_from(struct str s, size_t i)
{
	while (i < s.n && s.p[i] >= '0' && s.p[i] <= '9')
		i++;
	return i;
}

static size_t sign(struct str s)
{
	return s.n > 0 && (s.p[0] == '-' || s.p[0] == '+');
}

/* [-+] ( .digits | digits [ .digits* ] ) [ e [-+] digits ] */
static bool is_decimal(struct str s)
{
	size_t start = sign(s), i = digits_from(s, start);
	bool whole = i > start;

	if (i < s.n && s.p[i] == '.') {
		size_t fraction = i + 1;

		i = digits_from(s, fraction);
		whole |= i > fraction;
	}
	if (!whole)
		return false;
	if (i < s.n && (s.p[i] | 0x20) == 'e') {
		size_t exponent = i + 1 + sign(str_from(s, i + 1));

		i = digits_from(s, exponent);
		return i > exponent && i == s.n;
	}
	return i == s.n;
}

static bool is_all_of(struct str s, const char *set)
{
	for (size_t i = 0; i < s.n; i++)
		if (s.p[i] == '\0' || !strchr(set, s.p[i]))
			return false;
	return s.n > 0;
}

static bool infinity_or_nan(struct str s, struct value *ret)
{
	struct str rest = str_from(s, sign(s));
	bool inf = str_eq(rest, STR(".inf")) || str_eq(rest, STR(".Inf")) || str_eq(rest, STR(".INF"));
	bool nan = str_eq(s, STR(".nan")) || str_eq(s, STR(".NaN")) || str_eq(s, STR(".NAN"));

	if (!inf && !nan)
		return false;
	ret->kind = VALUE_NUM;
	ret->num = nan ? NAN : s.p[0] == '-' ? -INFINITY : INFINITY;
	return true;
}

static bool number(struct str s, struct value *ret)
{
	struct str rest = str_from(s, 2);

	if (is_decimal(s))
		number_decimal(s, ret);
	else if (str_starts(s, STR("0x")) && is_all_of(rest, "0123456789abcdefABCDEF"))
		number_radix(rest, 4, false, ret);
	else if (str_starts(s, STR("0o")) && is_all_of(rest, "01234567"))
		number_radix(rest, 3, false, ret);
	else
		return infinity_or_nan(s, ret);
	return true;
}

void yaml_plain_scalar(struct str text, struct value *ret)
{
	const struct word *w = find_word(text);

	if (w) {
		ret->kind = w->value.kind;
		ret->b = w->value.b;
	} else if (number(text, ret)) {
		ret->raw = text;
	} else {
		ret->kind = VALUE_STR;
		ret->s = text;
	}
}
