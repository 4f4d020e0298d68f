/* SPDX-License-Identifier: Apache-2.0 */
#include "data/json_priv.h"

#include "base/utf8.h"

#ifdef __SSE2__
#include <emmintrin.h>
#endif

/* The first byte that needs a look: the quote, a backslash, a control character, anything not ASCII. */
static const char *plain_end(const char *s, const char *end, char quote)
{
#ifdef __SSE2__
	const __m128i quotes = _mm_set1_epi8(quote), backslashes = _mm_set1_epi8('\\');
	const __m128i blanks = _mm_set1_epi8(' ');

	for (; end - s >= 16; s += 16) {
		__m128i block = _mm_loadu_si128((const __m128i_u *)s);
		__m128i ends =
			_mm_or_si128(_mm_cmpeq_epi8(block, quotes), _mm_cmpeq_epi8(block, backslashes));
		/* signed: bytes from 0x80 on are below the blank too */
		unsigned hits =
			(unsigned)_mm_movemask_epi8(_mm_or_si128(ends, _mm_cmplt_epi8(block, blanks)));

		if (hits)
			return s + __builtin_ctz(hits);
	}
#endif
	while (s < end && *s != quote && *s != '\\' && (signed char)*s >= ' ')
		s++;
	return s;
}

/* Copies up to the next backslash; `to` has at least as much room as there is text. */
static size_t copy_plain(char *to, const char *s, size_t n)
{
	size_t i = 0;

#ifdef __SSE2__
	for (; n - i >= 16; i += 16) {
		__m128i block = _mm_loadu_si128((const __m128i_u *)(s + i));
		unsigned hits = (unsigned)_mm_movemask_epi8(_mm_cmpeq_epi8(block, _mm_set1_epi8('\\')));

		_mm_storeu_si128((__m128i_u *)(to + i), block);
		if (hits)
			return i + (size_t)__builtin_ctz(hits);
	}
#endif
	for (; i < n && s[i] != '\\'; i++)
		to[i] = s[i];
	return i;
}

static int hex_digit(char c)
{
	if (c >= '0' && c <= '9')
		return c - '0';
	c |= 0x20;
	return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

/* `n` hexadecimal digits at `s`. Negative with the error set when there are fewer. */
static int read_hex(const struct json_parser *p, const char *s, const char *end, int n)
{
	int v = 0;

	for (int i = 0; i < n; i++) {
		int d = s + i < end ? hex_digit(s[i]) : -1;

		if (d < 0)
			return json_fail_expected(p, s + i,
						  n == 4 ? "four hexadecimal digits after '\\u'"
							 : "two hexadecimal digits after '\\x'");
		v = v * 16 + d;
	}
	return v;
}

/* Text of a string or key with its escapes resolved. */
struct unescape {
	const struct json_parser *p;
	const char *s, *end;
	char *out;
	size_t n;
	size_t high_end; /* where the U+FFFD of a high surrogate ended */
	uint32_t high;
};

static void put(struct unescape *u, uint32_t cp)
{
	u->n += utf8_encode(cp, u->out + u->n);
}

/*
 * A pair of surrogates is one character, also when a line continuation stands between the two. A lone one, as
 * JavaScript sends when it cuts an emoji in half, is U+FFFD.
 */
static void put_utf16(struct unescape *u, uint32_t unit)
{
	if (unit >= 0xdc00 && unit <= 0xdfff && u->high && u->high_end == u->n) {
		u->n -= 3;
		put(u, 0x10000 + ((u->high - 0xd800) << 10) + (unit - 0xdc00));
		u->high = 0;
		return;
	}
	put(u, unit >= 0xd800 && unit <= 0xdfff ? UTF8_REPLACEMENT : unit);
	u->high = unit >= 0xd800 && unit <= 0xdbff ? unit : 0;
	u->high_end = u->n;
}

static int hex_escape(struct unescape *u, int n_digits)
{
	int v = read_hex(u->p, u->s + 2, u->end, n_digits);

	if (v < 0)
		return v;
	u->s += 2 + n_digits;
	put_utf16(u, (uint32_t)v);
	return 0;
}

/* Zero: there is no such escape of one letter. */
static char letter_escape(char c, bool json5)
{
	/* clang-format off */
	static const char json[128] = {
		['"'] = '"', ['\\'] = '\\', ['/'] = '/', ['b'] = '\b',
		['f'] = '\f', ['n'] = '\n', ['r'] = '\r', ['t'] = '\t',
	};
	/* clang-format on */

	if ((signed char)c < 0)
		return 0;
	if (json[(unsigned char)c])
		return json[(unsigned char)c];
	return json5 && c == 'v' ? '\v' : 0;
}

/* Backslash and line end: nothing at all. 0 when this is something else. */
static size_t continuation(const char *s, const char *end)
{
	struct str rest = { .p = s, .n = (size_t)(end - s) };

	if (str_starts(rest, STR("\r\n")))
		return 2;
	if (s < end && (*s == '\n' || *s == '\r'))
		return 1;
	if (str_starts(rest, STR("\xe2\x80\xa8")) || str_starts(rest, STR("\xe2\x80\xa9")))
		return 3;
	return 0;
}

/* What only JSON5 has: \x41, \0, line continuation, and any other character for itself. */
static int json5_escape(struct unescape *u)
{
	char c = u->s[1];
	size_t skip = continuation(u->s + 1, u->end);
	bool digit_follows = u->end - u->s > 2 && u->s[2] >= '0' && u->s[2] <= '9';

	if (c == 'x')
		return hex_escape(u, 2);
	if ((c >= '1' && c <= '9') || (c == '0' && digit_follows))
		return json_fail(u->p, u->s, "octal escapes are not accepted, write \\xHH");
	u->s += 1 + skip;
	if (skip > 0)
		return 0;
	if (c == '0') {
		u->out[u->n++] = '\0';
		u->s++;
	} else {
		u->out[u->n++] = *u->s++; /* the rest of a longer character is copied as plain text */
	}
	return 0;
}

/* u->s stands at a backslash, which is never the last byte. */
static int escape(struct unescape *u)
{
	char c = letter_escape(u->s[1], u->p->json5);

	if (c) {
		u->out[u->n++] = c;
		u->s += 2;
		return 0;
	}
	if (u->s[1] == 'u')
		return hex_escape(u, 4);
	if (u->p->json5)
		return json5_escape(u);
	return json_fail_expected(u->p, u->s + 1, "one of \" \\ / b f n r t u after '\\'");
}

/* An escape is never shorter than what it stands for, so the length of the source is room enough. */
static int unescape(struct json_parser *p, struct str raw, struct str *ret)
{
	struct unescape u = { .p = p, .s = raw.p, .end = raw.p + raw.n };

	u.out = arena_alloc(p->tree.arena, raw.n, 1);
	if (!u.out)
		return json_fail_limit(p, raw.p, "the document needs more memory than its maximum of",
				       p->tree.arena->max_bytes);
	while (u.s < u.end) {
		size_t n = copy_plain(u.out + u.n, u.s, (size_t)(u.end - u.s));
		int r;

		u.s += n;
		u.n += n;
		if (u.s == u.end)
			break;
		r = escape(&u);
		if (r < 0)
			return r;
	}
	*ret = (struct str){ .p = u.out, .n = u.n };
	return 0;
}

/* Moves past a backslash and what must not be taken for the end of the string. */
static void pass_escape(struct json_parser *p)
{
	p->s++;
	if (p->s == p->end || (unsigned char)*p->s >= 0x80)
		return;
	if (*p->s == '\n' || *p->s == '\r')
		json_take_newline(p);
	else
		p->s++;
}

static int control_character(struct json_parser *p)
{
	if (*p->s == '\n' || *p->s == '\r')
		return json_fail_expected(p, p->s, "the closing quote");
	if (!p->json5)
		return json_fail_expected(p, p->s,
					  "its escape (strict JSON has no control characters in strings)");
	p->s++;
	return 0;
}

int json_string(struct json_parser *p, struct str *ret)
{
	const char *start = p->s + 1;
	char quote = *p->s++;
	bool escaped = false;
	uint32_t cp;
	int r = 0;

	for (;;) {
		p->s = plain_end(p->s, p->end, quote);
		if (p->s == p->end)
			return json_fail(p, start - 1, "this string has no closing quote");
		if (*p->s == quote)
			break;
		if ((unsigned char)*p->s >= 0x80) {
			r = json_take_utf8(p, &cp);
		} else if (*p->s == '\\') {
			escaped = true;
			pass_escape(p);
		} else {
			r = control_character(p);
		}
		if (r < 0)
			return r;
	}
	*ret = (struct str){ .p = start, .n = (size_t)(p->s++ - start) };
	return escaped ? unescape(p, *ret, ret) : 0;
}

static bool is_ascii_letter(uint32_t c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' || c == '$';
}

static bool is_key_character(uint32_t cp, bool first)
{
	if (cp < 0x80)
		return is_ascii_letter(cp) || (!first && cp >= '0' && cp <= '9');
	if (first)
		return unicode_is_id_start(cp);
	return cp == 0x200c || cp == 0x200d || unicode_is_id_continue(cp);
}

/* \uXXXX in a bare key, which must stand for a character that could be written there itself. */
static int key_escape(struct json_parser *p, bool first)
{
	int v;

	if (p->end - p->s < 2 || p->s[1] != 'u')
		return json_fail_expected(p, p->s + 1, "'u' after '\\' in a key without quotes");
	v = read_hex(p, p->s + 2, p->end, 4);
	if (v < 0)
		return v;
	if (!is_key_character((uint32_t)v, first))
		return json_fail(p, p->s, "this escape is no letter of a key without quotes");
	p->s += 6;
	return 1;
}

/* 1: one character of the key is taken; 0: the key ends here. */
static int key_character(struct json_parser *p, bool first)
{
	struct str rest = { .p = p->s, .n = (size_t)(p->end - p->s) };
	uint32_t cp = 0;

	if (rest.n > 0 && *p->s == '\\')
		return key_escape(p, first);
	if (utf8_decode(rest, &cp) <= 0 || !is_key_character(cp, first))
		return 0;
	if (cp >= 0x80)
		return json_take_utf8(p, &cp) < 0 ? -1 : 1;
	p->s++;
	return 1;
}

int json_bare_key(struct json_parser *p, struct str *ret)
{
	const char *start = p->s;
	bool escaped = false;
	int r;

	do {
		escaped |= json_peek(p) == '\\';
		r = key_character(p, p->s == start);
	} while (r > 0);
	if (r < 0)
		return r;
	if (p->s == start)
		return json_fail_expected(p, start, "a key or '}'");
	*ret = (struct str){ .p = start, .n = (size_t)(p->s - start) };
	return escaped ? unescape(p, *ret, ret) : 0;
}
