/* SPDX-License-Identifier: Apache-2.0 */
#include "base/str.h"

#include <errno.h>
#include <limits.h>
#include <stdlib.h>

static bool is_blank(char c)
{
	return c == ' ' || c == '\t' || c == '\r' || c == '\n';
}

struct str str_trim(struct str s)
{
	while (s.n > 0 && is_blank(s.p[0])) {
		s.p++;
		s.n--;
	}
	while (s.n > 0 && is_blank(s.p[s.n - 1]))
		s.n--;
	return s;
}

static unsigned char lower(char c)
{
	unsigned char u = (unsigned char)c;

	return u >= 'A' && u <= 'Z' ? (unsigned char)(u + ('a' - 'A')) : u;
}

bool strs_eq(struct strs a, struct strs b)
{
	if (a.n != b.n)
		return false;
	for (size_t i = 0; i < a.n; i++)
		if (!str_eq(a.v[i], b.v[i]))
			return false;
	return true;
}

bool str_eq_nocase(struct str a, struct str b)
{
	if (a.n != b.n)
		return false;
	for (size_t i = 0; i < a.n; i++)
		if (lower(a.p[i]) != lower(b.p[i]))
			return false;
	return true;
}

int str_cmp(struct str a, struct str b)
{
	size_t n = a.n < b.n ? a.n : b.n;
	int c = n > 0 ? memcmp(a.p, b.p, n) : 0;

	return c != 0 ? c : (a.n > b.n) - (a.n < b.n);
}

/* Longer words are nobody's typing mistake, and the rows can live on the stack. */
enum { DISTANCE_MAX_LEN = 64 };

static unsigned min3(unsigned a, unsigned b, unsigned c)
{
	unsigned ab = a < b ? a : b;

	return ab < c ? ab : c;
}

static bool is_swap(struct str a, struct str b, size_t i, size_t j)
{
	return i > 1 && j > 1 && a.p[i - 1] == b.p[j - 2] && a.p[i - 2] == b.p[j - 1];
}

unsigned str_distance(struct str a, struct str b, unsigned max)
{
	unsigned row[3][DISTANCE_MAX_LEN + 1]; /* i - 2, i - 1, i, taken round */
	unsigned d;

	if (a.n > DISTANCE_MAX_LEN || b.n > DISTANCE_MAX_LEN)
		return str_eq(a, b) ? 0 : max + (max < UINT_MAX);
	for (size_t j = 0; j <= b.n; j++)
		row[0][j] = (unsigned)j;
	for (size_t i = 1; i <= a.n; i++) {
		unsigned *cur = row[i % 3];
		const unsigned *prev = row[(i + 2) % 3], *prev2 = row[(i + 1) % 3];

		cur[0] = (unsigned)i;
		for (size_t j = 1; j <= b.n; j++) {
			cur[j] = min3(prev[j] + 1, cur[j - 1] + 1, prev[j - 1] + (a.p[i - 1] != b.p[j - 1]));
			if (is_swap(a, b, i, j) && prev2[j - 2] + 1 < cur[j])
				cur[j] = prev2[j - 2] + 1;
		}
	}
	d = row[a.n % 3][b.n];
	return d <= max ? d : max + (max < UINT_MAX);
}

static bool cut_at(struct str s, const char *at, struct str *ret_head, struct str *ret_tail)
{
	size_t head;

	if (!at)
		return false;
	head = (size_t)(at - s.p);
	*ret_head = (struct str){ .p = s.p, .n = head };
	*ret_tail = (struct str){ .p = at + 1, .n = s.n - head - 1 };
	return true;
}

bool str_cut(struct str s, char sep, struct str *ret_head, struct str *ret_tail)
{
	return cut_at(s, s.n ? memchr(s.p, sep, s.n) : NULL, ret_head, ret_tail);
}

bool str_cut_last(struct str s, char sep, struct str *ret_head, struct str *ret_tail)
{
	return cut_at(s, s.n ? memrchr(s.p, sep, s.n) : NULL, ret_head, ret_tail);
}

int str_to_u64(struct str s, uint64_t max, uint64_t *ret)
{
	uint64_t v = 0;

	if (s.n == 0)
		return -EINVAL;
	for (size_t i = 0; i < s.n; i++) {
		unsigned digit = (unsigned char)s.p[i] - (unsigned)'0';

		if (digit > 9)
			return -EINVAL;
		if (__builtin_mul_overflow(v, 10u, &v) || __builtin_add_overflow(v, digit, &v) || v > max)
			return -ERANGE;
	}
	*ret = v;
	return 0;
}

int str_dupz(struct str s, char **ret)
{
	char *z;

	if (s.n > 0 && memchr(s.p, '\0', s.n))
		return -EINVAL;
	z = malloc(s.n + 1);
	if (!z)
		return -ENOMEM;
	if (s.n > 0)
		memcpy(z, s.p, s.n);
	z[s.n] = '\0';
	*ret = z;
	return 0;
}

struct str str_put(char **at, struct str s)
{
	struct str copy = { .p = *at, .n = s.n };

	if (s.n > 0)
		memcpy(*at, s.p, s.n);
	*at += s.n;
	return copy;
}
