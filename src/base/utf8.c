/* SPDX-License-Identifier: Apache-2.0 */
#include "base/utf8.h"

#include "base/buf.h"

/* What the second byte may be, by first byte: this is where overlong forms and surrogates are refused. */
static void second_range(unsigned char lead, unsigned char *lo, unsigned char *hi)
{
	*lo = lead == 0xe0 ? 0xa0 : lead == 0xf0 ? 0x90 : 0x80;
	*hi = lead == 0xed ? 0x9f : lead == 0xf4 ? 0x8f : 0xbf;
}

static int length_of(unsigned char lead)
{
	if (lead < 0xc2)
		return 0; /* a continuation byte, or the overlong C0 and C1 */
	return lead < 0xe0 ? 2 : lead < 0xf0 ? 3 : lead < 0xf5 ? 4 : 0;
}

int utf8_decode(struct str s, uint32_t *ret_cp)
{
	const unsigned char *p = (const unsigned char *)s.p;
	unsigned char lo, hi;
	uint32_t cp;
	int n, i;

	if (s.n == 0)
		return 0;
	if (p[0] < 0x80) {
		*ret_cp = p[0];
		return 1;
	}
	n = length_of(p[0]);
	if (n == 0)
		return -1;
	second_range(p[0], &lo, &hi);
	cp = p[0] & (0x7fu >> n);
	for (i = 1; i < n; i++, lo = 0x80, hi = 0xbf) {
		if ((size_t)i >= s.n || p[i] < lo || p[i] > hi)
			return -i;
		cp = cp << 6 | (p[i] & 0x3fu);
	}
	*ret_cp = cp;
	return n;
}

size_t utf8_encode(uint32_t cp, char out[static 4])
{
	static const unsigned char mark[] = { 0, 0, 0xc0, 0xe0, 0xf0 };
	size_t n = cp < 0x80 ? 1 : cp < 0x800 ? 2 : cp < 0x10000 ? 3 : 4;

	if (cp > 0x10ffff || (cp >= 0xd800 && cp <= 0xdfff))
		return 0;
	for (size_t i = n - 1; i > 0; i--, cp >>= 6)
		out[i] = (char)(0x80 | (cp & 0x3f));
	out[0] = (char)(mark[n] | cp);
	return n;
}

/* Bytes below 0x80 at the front, eight at a time while it lasts. */
static size_t ascii_prefix(const char *p, size_t n)
{
	size_t i = 0;
	uint64_t word;

	for (; i + sizeof(word) <= n; i += sizeof(word)) {
		memcpy(&word, p + i, sizeof(word));
		if (word & UINT64_C(0x8080808080808080))
			break;
	}
	while (i < n && (unsigned char)p[i] < 0x80)
		i++;
	return i;
}

size_t utf8_valid_prefix(struct str s)
{
	size_t i = 0;

	while (i < s.n) {
		uint32_t cp;
		int n;

		i += ascii_prefix(s.p + i, s.n - i);
		n = utf8_decode(str_from(s, i), &cp);
		if (n < 0)
			break;
		i += (size_t)n;
	}
	return i;
}

struct str utf8_prefix(struct str s, size_t max_bytes)
{
	size_t n = max_bytes;

	if (s.n <= max_bytes)
		return s;
	/* At most three steps back: text that is not UTF-8 has no better place to be cut. */
	while (n > 0 && max_bytes - n < 3 && ((unsigned char)s.p[n] & 0xc0) == 0x80)
		n--;
	if (((unsigned char)s.p[n] & 0xc0) == 0x80)
		n = max_bytes;
	return (struct str){ .p = s.p, .n = n };
}

void utf8_sanitize(struct str s, struct buf *out)
{
	while (s.n > 0 && !out->failed) {
		size_t good = utf8_valid_prefix(s);
		uint32_t cp;
		int n;

		buf_put(out, (struct str){ .p = s.p, .n = good });
		s = str_from(s, good);
		n = utf8_decode(s, &cp);
		if (n < 0) {
			buf_puts(out, "\xef\xbf\xbd");
			s = str_from(s, (size_t)-n);
		}
	}
}

bool utf8_is_visible(uint32_t cp)
{
	if (cp < 0xa0)
		return cp >= 0x20 && cp < 0x7f;
	if (cp == 0x61c || cp == 0xfeff)
		return false;
	/* 200e/f marks, 2028/9 line and paragraph ends, 202a..e embeddings, 2066..9 isolates */
	return !(cp >= 0x200e && cp <= 0x200f) && !(cp >= 0x2028 && cp <= 0x202e) &&
	       !(cp >= 0x2066 && cp <= 0x2069);
}
