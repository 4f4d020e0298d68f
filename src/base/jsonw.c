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

/*
 * How many bytes of s have to be escaped, 0 = none. DEL, the C1 controls and the marks that turn text around are
 * allowed raw, but a terminal should not get them.
 */
static size_t to_escape(struct str s, uint32_t *ret_cp)
{
	unsigned char c = (unsigned char)s.p[0];
	int n = 1;

	*ret_cp = c;
	if (c < 0x80)
		return c < 0x20 || c == '"' || c == '\\' || c == 0x7f;
	n = utf8_decode(s, ret_cp);
	return n > 0 && !utf8_is_visible(*ret_cp) ? (size_t)n : 0;
}

/* How many bytes at the front are printable ASCII that stands for itself: usually all. */
static size_t plain_prefix(struct str s)
{
	size_t i = 0;

	while (i < s.n && s.p[i] >= 0x20 && s.p[i] < 0x7f && s.p[i] != '"' && s.p[i] != '\\')
		i++;
	return i;
}

static void put_quoted(struct buf *out, struct str s)
{
	size_t from = 0, plain = plain_prefix(s);

	buf_putc(out, '"');
	buf_put(out, (struct str){ .p = s.p, .n = plain });
	s = str_from(s, plain);
	for (size_t i = 0, n; i < s.n; i += n ? n : 1) {
		uint32_t cp;

		n = to_escape(str_from(s, i), &cp);
		if (n == 0)
			continue;
		utf8_sanitize((struct str){ .p = s.p + from, .n = i - from }, out);
		put_escape(out, cp);
		from = i + n;
	}
	utf8_sanitize(str_from(s, from), out);
	buf_putc(out, '"');
}

void jsonw_key(struct jsonw *w, struct str key)
{
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
