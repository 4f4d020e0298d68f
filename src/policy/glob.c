/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Two small pattern languages. Both keep only the last star to come back to, which is enough because a star may
 * swallow anything: the time is at most pattern times text, whatever the pattern.
 */
#include "policy/policy_priv.h"

#include "base/utf8.h"

static char lower(char c)
{
	return c >= 'A' && c <= 'Z' ? (char)(c + ('a' - 'A')) : c;
}

bool tool_glob_matches(struct str pattern, struct str name)
{
	size_t p = 0, n = 0, star = SIZE_MAX, resume = 0;

	while (n < name.n) {
		if (p < pattern.n && pattern.p[p] == '*') {
			star = p++;
			resume = n;
		} else if (p < pattern.n && lower(pattern.p[p]) == lower(name.p[n])) {
			p++;
			n++;
		} else if (star != SIZE_MAX) {
			p = star + 1;
			n = ++resume;
		} else {
			return false;
		}
	}
	while (p < pattern.n && pattern.p[p] == '*')
		p++;
	return p == pattern.n;
}

/* One character: a code point, or one byte where the text is not UTF-8 (told apart from every code point). */
static size_t next_char(struct str s, uint32_t *ret)
{
	int n = utf8_decode(s, ret);

	if (n > 0)
		return (size_t)n;
	*ret = 0x110000u + (unsigned char)s.p[0];
	return 1;
}

/* Where the ']' of the set that opens at `at` stands; SIZE_MAX when it never closes. A ']' in first place is a member. */
static size_t set_end(struct str pattern, size_t at)
{
	size_t i = at + 1;

	if (i < pattern.n && pattern.p[i] == '!')
		i++;
	if (i < pattern.n && pattern.p[i] == ']')
		i++;
	while (i < pattern.n && pattern.p[i] != ']')
		i++;
	return i < pattern.n ? i : SIZE_MAX;
}

/* `set` is what stands between the brackets. '-' is a range between two members, and itself elsewhere. */
static bool set_has(struct str set, uint32_t c)
{
	bool negated = set.n > 0 && set.p[0] == '!';
	bool found = false;

	if (negated)
		set = str_from(set, 1);
	while (set.n > 0) {
		uint32_t low, high;

		set = str_from(set, next_char(set, &low));
		high = low;
		if (set.n >= 2 && set.p[0] == '-') {
			set = str_from(set, 1);
			set = str_from(set, next_char(set, &high));
		}
		found = found || (low <= c && c <= high);
	}
	return found != negated;
}

/* One step of the pattern (not a star) against one character. *step is how far the pattern moves. */
static bool step_matches(struct str pattern, size_t p, uint32_t c, size_t *step)
{
	struct str rest = str_from(pattern, p);
	uint32_t literal;
	size_t end;

	if (rest.p[0] == '?') {
		*step = 1;
		return true;
	}
	if (rest.p[0] == '[') {
		end = set_end(rest, 0);
		if (end != SIZE_MAX) {
			*step = end + 1;
			return set_has((struct str){ .p = rest.p + 1, .n = end - 1 }, c);
		}
	}
	*step = next_char(rest, &literal);
	return literal == c;
}

/* How many plain ASCII characters both start with: a hundred rules mostly differ there from the key. */
static size_t common_start(struct str pattern, struct str key)
{
	size_t i = 0;

	while (i < pattern.n && i < key.n && pattern.p[i] == key.p[i] && (unsigned char)pattern.p[i] < 0x80 &&
	       pattern.p[i] != '*' && pattern.p[i] != '?' && pattern.p[i] != '[')
		i++;
	return i;
}

bool session_glob_matches(struct str pattern, struct str key)
{
	size_t p = common_start(pattern, key), k = p, star = SIZE_MAX, resume = 0, step = 0;
	uint32_t c = 0;

	while (k < key.n) {
		size_t width = next_char(str_from(key, k), &c);

		if (p < pattern.n && pattern.p[p] == '*') {
			star = p++;
			resume = k;
		} else if (p < pattern.n && step_matches(pattern, p, c, &step)) {
			p += step;
			k += width;
		} else if (star != SIZE_MAX) {
			p = star + 1;
			resume += next_char(str_from(key, resume), &c);
			k = resume;
		} else {
			return false;
		}
	}
	while (p < pattern.n && pattern.p[p] == '*')
		p++;
	return p == pattern.n;
}
