/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Session and tool patterns against a matcher that fills the whole table of pattern position by text position: slow,
 * without a single star to come back to, and so wrong in other places if it is wrong.
 *
 * Input: one byte for the length of the pattern, the pattern, the text.
 */
#include "base/utf8.h"
#include "policy/policy_priv.h"

#include <assert.h>

#define MAX 96

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static size_t char_at(struct str s, size_t at, uint32_t *ret)
{
	int n = utf8_decode(str_from(s, at), ret);

	if (n > 0)
		return (size_t)n;
	*ret = 0x200000u + (unsigned char)s.p[at];
	return 1;
}

/* The step at `p`: its width in the pattern, and whether it takes the character. */
static bool step(struct str pat, size_t p, uint32_t c, size_t *width)
{
	size_t open = p + 1, first, close;
	bool negated, found = false;
	uint32_t literal;

	if (pat.p[p] == '?') {
		*width = 1;
		return true;
	}
	*width = char_at(pat, p, &literal);
	if (pat.p[p] != '[')
		return literal == c;
	negated = open < pat.n && pat.p[open] == '!';
	first = open + negated;
	for (close = first + (first < pat.n && pat.p[first] == ']'); close < pat.n && pat.p[close] != ']';)
		close++;
	if (close >= pat.n)
		return literal == c;
	*width = close + 1 - p;
	for (size_t i = first; i < close;) {
		struct str set = { .p = pat.p, .n = close };
		uint32_t low, high;

		i += char_at(set, i, &low);
		high = low;
		if (i + 1 < close && pat.p[i] == '-')
			i += 1 + char_at(set, i + 1, &high);
		found |= low <= c && c <= high;
	}
	return found != negated;
}

static bool session_reference(struct str pat, struct str key)
{
	static bool can[MAX + 2][MAX + 2];

	memset(can, 0, sizeof(can));
	can[pat.n][key.n] = true;
	for (size_t p = pat.n + 1; p-- > 0;)
		for (size_t k = key.n + 1; k-- > 0;) {
			size_t width = 1, wide = 1;
			uint32_t c = 0;

			if (p == pat.n)
				continue;
			if (k < key.n)
				wide = char_at(key, k, &c);
			if (pat.p[p] == '*')
				can[p][k] = can[p + 1][k] || (k < key.n && can[p][k + wide]);
			else
				can[p][k] = k < key.n && step(pat, p, c, &width) && can[p + width][k + wide];
		}
	return can[0][0];
}

static char lower(char c)
{
	return c >= 'A' && c <= 'Z' ? (char)(c + 32) : c;
}

static bool tool_reference(struct str pat, struct str name)
{
	static bool can[MAX + 2][MAX + 2];

	memset(can, 0, sizeof(can));
	can[pat.n][name.n] = true;
	for (size_t p = pat.n; p-- > 0;)
		for (size_t n = name.n + 1; n-- > 0;)
			can[p][n] = pat.p[p] == '*' ? can[p + 1][n] || (n < name.n && can[p][n + 1])
						    : n < name.n && lower(pat.p[p]) == lower(name.p[n]) &&
							      can[p + 1][n + 1];
	return can[0][0];
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct str all, pattern, text;

	if (size < 1)
		return 0;
	all = (struct str){ .p = (const char *)data + 1, .n = size - 1 };
	pattern = (struct str){ .p = all.p, .n = data[0] < all.n ? data[0] : all.n };
	text = str_from(all, pattern.n);
	if (pattern.n > MAX || text.n > MAX)
		return 0;
	assert(session_glob_matches(pattern, text) == session_reference(pattern, text));
	assert(tool_glob_matches(pattern, text) == tool_reference(pattern, text));
	return 0;
}
