/* SPDX-License-Identifier: Apache-2.0 */
#include "http/chars.h"

enum {
	F_ = CHAR_FIELD,
	TF = CHAR_TOKEN | CHAR_FIELD,
	FP = CHAR_FIELD | CHAR_PATH,
	TP = CHAR_TOKEN | CHAR_FIELD | CHAR_PATH,
	XP = TP | CHAR_HEX,
	DP = XP | CHAR_DIGIT,
};

/* clang-format off */
const unsigned char http_chars[256] = {
	['\t'] = F_,
	[' '] = F_, ['!'] = TP, ['"'] = F_, ['#'] = TF, ['$'] = TP, ['%'] = TF, ['&'] = TP, ['\''] = TP,
	['('] = FP, [')'] = FP, ['*'] = TP, ['+'] = TP, [','] = FP, ['-'] = TP, ['.'] = TP, ['/'] = FP,
	['0' ... '9'] = DP,
	[':'] = FP, [';'] = FP, ['<'] = F_, ['='] = FP, ['>'] = F_, ['?'] = FP, ['@'] = FP,
	['A' ... 'F'] = XP, ['G' ... 'Z'] = TP,
	['['] = F_, ['\\'] = F_, [']'] = F_, ['^'] = TF, ['_'] = TP, ['`'] = TF,
	['a' ... 'f'] = XP, ['g' ... 'z'] = TP,
	['{'] = F_, ['|'] = TF, ['}'] = F_, ['~'] = TP,
	[0x80 ... 0xff] = F_,
};
/* clang-format on */

size_t http_span_of(struct str s, unsigned char_class)
{
	size_t i = 0;

	while (i < s.n && http_char(s.p[i], char_class))
		i++;
	return i;
}

size_t http_span_field(struct str s)
{
	const uint64_t ones = UINT64_MAX / 255, high = ones * 0x80;
	size_t i = 0;

	/* A word without a byte below 0x20 and without 0x7f needs no table. False alarms only cost the slow way. */
	for (; i + 8 <= s.n; i += 8) {
		uint64_t w, del;

		memcpy(&w, s.p + i, 8);
		del = w ^ (ones * 0x7f);
		if ((((w - ones * 0x20) & ~w) | ((del - ones) & ~del)) & high) {
			size_t n = http_span_of((struct str){ s.p + i, 8 }, CHAR_FIELD);

			if (n < 8)
				return i + n;
		}
	}
	return i + http_span_of(str_from(s, i), CHAR_FIELD);
}

bool http_all(struct str s, unsigned char_class)
{
	return s.n > 0 && http_span_of(s, char_class) == s.n;
}

int http_hex(char c)
{
	if (!http_char(c, CHAR_HEX))
		return -1;
	return http_char(c, CHAR_DIGIT) ? c - '0' : (c | 0x20) - 'a' + 10;
}

static bool is_blank(char c)
{
	return c == ' ' || c == '\t';
}

struct str http_trim(struct str s)
{
	while (s.n > 0 && is_blank(s.p[0]))
		s = str_from(s, 1);
	while (s.n > 0 && is_blank(s.p[s.n - 1]))
		s.n--;
	return s;
}

bool http_list_next(struct str *rest, struct str *ret)
{
	while (rest->n > 0) {
		struct str item, tail;

		if (!str_cut(*rest, ',', &item, &tail)) {
			item = *rest;
			tail = str_from(*rest, rest->n);
		}
		*rest = tail;
		item = http_trim(item);
		if (item.n > 0) {
			*ret = item;
			return true;
		}
	}
	return false;
}
