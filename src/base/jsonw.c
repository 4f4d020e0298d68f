/* SPDX-License-Identifier: Apache-2.0 */
#include "base/jsonw.h"

#include "base/num.h"
#include "base/utf8.h"

#include <inttypes.h>

void jsonw_init(struct jsonw *w, struct buf *out, unsigned indent)
{
	*w = (struct jsonw){ .out = out, .indent = indent };
}

static uint64_t level_bit(const struct jsonw *w)
{
	return w->depth > 0 ? UINT64_C(1) << (w->depth - 1) : 0;
}

static void new_line(struct jsonw *w)
{
	if (w->indent == 0)
		return;
	buf_putc(w->out, '\n');
	for (unsigned i = 0; i < w->depth * w->indent; i++)
		buf_putc(w->out, ' ');
}

/* Before a key, or a value in an array: the comma if one is due, and the line. */
static void next_item(struct jsonw *w)
{
	if (w->depth == 0)
		return;
	if (w->has_member & level_bit(w))
		buf_putc(w->out, ',');
	w->has_member |= level_bit(w);
	new_line(w);
}

static void before_value(struct jsonw *w)
{
	if (!w->after_key)
		next_item(w);
	w->after_key = false;
}

static void open_level(struct jsonw *w, char c)
{
	before_value(w);
	if (w->depth == JSONW_MAX_DEPTH) {
		w->out->failed = true;
		return;
	}
	buf_putc(w->out, c);
	w->depth++;
	w->has_member &= ~level_bit(w);
}

static void close_level(struct jsonw *w, char c)
{
	bool had_members = w->has_member & level_bit(w);

	if (w->depth == 0) {
		w->out->failed = true;
		return;
	}
	w->depth--;
	if (had_members)
		new_line(w);
	buf_putc(w->out, c);
}

void jsonw_obj(struct jsonw *w)
{
	open_level(w, '{');
}

void jsonw_obj_end(struct jsonw *w)
{
	close_level(w, '}');
}

void jsonw_arr(struct jsonw *w)
{
	open_level(w, '[');
}

void jsonw_arr_end(struct jsonw *w)
{
	close_level(w, ']');
}

static void put_escape(struct buf *out, uint32_t c)
{
	static const char name[] = { ['\b'] = 'b', ['\t'] = 't', ['\n'] = 'n', ['\f'] = 'f',
				     ['\r'] = 'r', ['"'] = '"',  ['\\'] = '\\' };

	if (c < sizeof(name) && name[c])
		buf_put(out, (struct str){ .p = (const char[]){ '\\', name[c] }, .n = 2 });
	else
		buf_printf(out, "\\u%04" PRIx32, c);
}

/* In each of the eight bytes: is it below 0x20, above 0x7e, a quote or a backslash? 0 = none is. */
static uint64_t odd_among(uint64_t v)
{
	const uint64_t ones = UINT64_C(0x0101010101010101), high = ones << 7;
	uint64_t quote = v ^ (ones * '"'), slash = v ^ (ones * '\\');

	/* A borrow from a byte to the next begins only where there is something odd already. */
	return (v | (v + ones) | (v - ones * 0x20) | ((quote - ones) & ~quote) | ((slash - ones) & ~slash)) &
	       high;
}

/* How many bytes at the front are printable ASCII that stands for itself: usually all. */
static size_t plain_prefix(struct str s)
{
	size_t i = 0;
	uint64_t v;

	for (; s.n - i >= sizeof(v); i += sizeof(v)) {
		memcpy(&v, s.p + i, sizeof(v));
		if (odd_among(v))
			break;
	}
	while (i < s.n && s.p[i] >= 0x20 && s.p[i] < 0x7f && s.p[i] != '"' && s.p[i] != '\\')
		i++;
	return i;
}

/* How many bytes after those are text beyond ASCII that stands for itself, or no text at all, which U+FFFD stands for. */
static size_t other_prefix(struct str s)
{
	size_t i = 0;

	while (i < s.n && (unsigned char)s.p[i] >= 0x80) {
		uint32_t cp = 0;
		int n = utf8_decode(str_from(s, i), &cp);

		if (n > 0 && !utf8_is_visible(cp))
			break;
		i += (size_t)(n < 0 ? -n : n);
	}
	return i;
}

/* The first code point of `s`, which has to be escaped. DEL, the C1 controls and the marks that turn text around are
 * allowed raw, but a terminal should not get them. */
static size_t put_escaped(struct buf *out, struct str s)
{
	uint32_t cp = 0;
	int n = utf8_decode(s, &cp);

	put_escape(out, cp);
	return (size_t)n;
}

/* Text that stands for itself, between quotes; where the next byte goes. */
static char *copy_quoted(char *at, struct str s)
{
	*at++ = '"';
	if (s.n)
		memcpy(at, s.p, s.n);
	at[s.n] = '"';
	return at + s.n + 1;
}

static void put_quoted(struct buf *out, struct str s)
{
	if (plain_prefix(s) == s.n) {
		char *at = buf_take(out, s.n + 2);

		if (at)
			(void)copy_quoted(at, s);
		return;
	}
	buf_putc(out, '"');
	while (s.n) {
		size_t plain = plain_prefix(s), other = other_prefix(str_from(s, plain));

		buf_put(out, (struct str){ .p = s.p, .n = plain });
		utf8_sanitize((struct str){ .p = s.p + plain, .n = other }, out);
		s = str_from(s, plain + other);
		if (s.n && plain + other == 0)
			s = str_from(s, put_escaped(out, s));
	}
	buf_putc(out, '"');
}

/* Nearly every key: one piece, with the comma before it and the colon behind. */
static void put_key(struct jsonw *w, struct str key)
{
	bool comma = w->depth > 0 && w->has_member & level_bit(w);
	char *at = buf_take(w->out, key.n + 3 + comma);

	w->has_member |= level_bit(w);
	w->after_key = true;
	if (!at)
		return;
	if (comma)
		*at++ = ',';
	*copy_quoted(at, key) = ':';
}

void jsonw_key(struct jsonw *w, struct str key)
{
	if (w->indent == 0 && plain_prefix(key) == key.n) {
		put_key(w, key);
		return;
	}
	next_item(w);
	put_quoted(w->out, key);
	buf_put(w->out, w->indent ? STR(": ") : STR(":"));
	w->after_key = true;
}

void jsonw_str(struct jsonw *w, struct str s)
{
	before_value(w);
	put_quoted(w->out, s);
}

void jsonw_i64(struct jsonw *w, int64_t v)
{
	before_value(w);
	if (v < 0)
		buf_putc(w->out, '-');
	buf_put_u64(w->out, v < 0 ? -(uint64_t)v : (uint64_t)v);
}

void jsonw_u64(struct jsonw *w, uint64_t v)
{
	before_value(w);
	buf_put_u64(w->out, v);
}

void jsonw_num(struct jsonw *w, double v)
{
	char text[NUM_TEXT_MAX];
	struct str s = STR("null");

	(void)num_format(v, text, &s); /* refuses NaN and infinities, and leaves s alone then */
	jsonw_raw(w, s);
}

void jsonw_bool(struct jsonw *w, bool v)
{
	jsonw_raw(w, v ? STR("true") : STR("false"));
}

void jsonw_null(struct jsonw *w)
{
	jsonw_raw(w, STR("null"));
}

void jsonw_raw(struct jsonw *w, struct str json)
{
	before_value(w);
	buf_put(w->out, json);
}

void jsonw_kstr(struct jsonw *w, const char *key, struct str s)
{
	jsonw_key(w, str_z(key));
	jsonw_str(w, s);
}

void jsonw_kz(struct jsonw *w, const char *key, const char *z)
{
	jsonw_kstr(w, key, str_z(z));
}

void jsonw_ku64(struct jsonw *w, const char *key, uint64_t v)
{
	jsonw_key(w, str_z(key));
	jsonw_u64(w, v);
}

void jsonw_kbool(struct jsonw *w, const char *key, bool v)
{
	jsonw_key(w, str_z(key));
	jsonw_bool(w, v);
}

void jsonw_knull(struct jsonw *w, const char *key)
{
	jsonw_key(w, str_z(key));
	jsonw_null(w);
}

void jsonw_kobj(struct jsonw *w, const char *key)
{
	jsonw_key(w, str_z(key));
	jsonw_obj(w);
}

void jsonw_karr(struct jsonw *w, const char *key)
{
	jsonw_key(w, str_z(key));
	jsonw_arr(w);
}
