/* SPDX-License-Identifier: Apache-2.0 */
#include "data/json_priv.h"

#include "base/utf8.h"

#ifdef __SSE2__
#include <emmintrin.h>
#endif

void json_take_newline(struct json_parser *p)
{
	if (*p->s == '\r' && p->s + 1 < p->end && p->s[1] == '\n')
		p->s++;
	p->s++;
	p->line++;
	p->line_base = p->s;
}

int json_take_utf8(struct json_parser *p, uint32_t *ret_cp)
{
	int n = utf8_decode((struct str){ .p = p->s, .n = (size_t)(p->end - p->s) }, ret_cp);

	if (n <= 0)
		return json_fail_utf8(p, p->s);
	p->s += n;
	p->line_base += n - 1;
	return 0;
}

/* Indentation: sixteen blanks at a time. */
static void skip_blanks(struct json_parser *p)
{
#ifdef __SSE2__
	while (p->end - p->s >= 16) {
		__m128i block = _mm_loadu_si128((const __m128i_u *)p->s);
		unsigned other =
			0xffffu ^ (unsigned)_mm_movemask_epi8(_mm_cmpeq_epi8(block, _mm_set1_epi8(' ')));

		if (other) {
			p->s += __builtin_ctz(other);
			return;
		}
		p->s += 16;
	}
#endif
	while (p->s < p->end && *p->s == ' ')
		p->s++;
}

static int line_comment(struct json_parser *p)
{
	uint32_t cp = 0;
	int r;

	while (p->s < p->end && *p->s != '\n' && *p->s != '\r') {
		if ((unsigned char)*p->s < 0x80) {
			p->s++;
			continue;
		}
		r = json_take_utf8(p, &cp);
		if (r < 0 || cp == 0x2028 || cp == 0x2029)
			return r;
	}
	return 0;
}

static int block_comment(struct json_parser *p, const char *start)
{
	uint32_t cp;

	while (p->s < p->end) {
		int r = 0;

		if (*p->s == '*' && p->s + 1 < p->end && p->s[1] == '/') {
			p->s += 2;
			return 0;
		}
		if (*p->s == '\n' || *p->s == '\r')
			json_take_newline(p);
		else if ((unsigned char)*p->s >= 0x80)
			r = json_take_utf8(p, &cp);
		else
			p->s++;
		if (r < 0)
			return r;
	}
	return json_fail(p, start, "this comment has no end, expected '*/'");
}

static int comment(struct json_parser *p)
{
	const char *start = p->s;
	int kind = p->end - p->s > 1 ? p->s[1] : 0;

	if (kind != '/' && kind != '*')
		return json_fail_expected(p, start + 1, "'/' or '*' to begin a comment");
	p->s += 2;
	return kind == '/' ? line_comment(p) : block_comment(p, start);
}

static bool is_space(uint32_t cp)
{
	return cp == 0xa0 || cp == 0x1680 || (cp >= 0x2000 && cp <= 0x200a) || cp == 0x2028 || cp == 0x2029 ||
	       cp == 0x202f || cp == 0x205f || cp == 0x3000 || cp == 0xfeff;
}

/* What only JSON5 skips. 1: something was skipped, 0: this is no white space. */
static int skip_json5(struct json_parser *p, int c)
{
	uint32_t cp = 0;
	int r;

	if (c == '/') {
		r = comment(p);
		return r < 0 ? r : 1;
	}
	if (c == '\v' || c == '\f') {
		p->s++;
		return 1;
	}
	if (c < 0x80 || utf8_decode((struct str){ .p = p->s, .n = (size_t)(p->end - p->s) }, &cp) < 0 ||
	    !is_space(cp))
		return 0;
	if (cp == 0xfeff && p->s == p->text)
		p->line_base++; /* the mark at the very start is no column: editors do not show it */
	return json_take_utf8(p, &cp) < 0 ? -1 : 1;
}

int json_skip_slow(struct json_parser *p)
{
	for (;;) {
		int c = json_peek(p), r;

		switch (c) {
		case ' ':
			skip_blanks(p);
			break;
		case '\t':
			p->s++;
			break;
		case '\n':
		case '\r':
			json_take_newline(p);
			break;
		default:
			r = p->json5 && c >= 0 ? skip_json5(p, c) : 0;
			if (r <= 0)
				return r;
		}
	}
}
