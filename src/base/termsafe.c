/* SPDX-License-Identifier: Apache-2.0 */
#include "base/termsafe.h"

#include "base/utf8.h"

#include <assert.h>

#define ESC 0x1b
#define PARAMS_MAX 32
#define LEN(a) (sizeof(a) / sizeof((a)[0]))

/* What is done with the bytes that are held, of which the newest is the last. */
enum verdict {
	SHOW_OLD = 0, /* they are nothing without the newest, which begins something else */
	SHOW,
	PASS,
	MORE,
};

/* ---- what can be switched, and how it is normally ---- */

/* clang-format off */
static const struct mode {
	uint16_t number;
	char marker; /* '?': one of DEC's or xterm's */
	char normal; /* 'h' or 'l' */
	bool keys;   /* changes what is sent for what somebody does */
} modes[] = {
	{ 2026, '?', 'l' }, /* output held back until it is whole */
	{ 47,   '?', 'l' }, { 1047, '?', 'l' }, { 1049, '?', 'l' }, /* the alternate screen */
	{ 4,    0,   'l' }, /* insert */
	{ 1,    '?', 'l', true }, /* what the cursor keys send */
	{ 5,    '?', 'l' }, /* reverse video: the flash of a silent bell */
	{ 7,    '?', 'h' }, /* wrapping */
	{ 12,   '?', 'l' }, { 25, '?', 'h' }, /* the cursor blinks, is seen */
	{ 1000, '?', 'l', true }, { 1002, '?', 'l', true }, { 1003, '?', 'l', true }, { 1005, '?', 'l', true }, /* the mouse */
	{ 1006, '?', 'l', true }, { 1015, '?', 'l', true }, { 1016, '?', 'l', true },
	{ 1004, '?', 'l', true }, /* the focus */
	{ 1034, '?', 'h', true }, /* what Meta sends */
	{ 2004, '?', 'l', true }, /* brackets around what is pasted */
};

/* Behind the modes, in the order in which they are undone: a cursor that is given back brings its colours along. */
enum other { MARGINS = LEN(modes), G0, G1, SHIFT, KEYPAD, CURSOR, COLOUR, SWITCHED_COUNT_ };
static const char *const undo[] = {
	[MARGINS] = "\x1b" "7\x1b[r\x1b" "8", [G0] = "\x1b(B", [G1] = "\x1b)B", [SHIFT] = "\x0f",
	[KEYPAD] = "\x1b>", [CURSOR] = "\x1b[0 q", [COLOUR] = "\x1b[m",
};
static_assert(SWITCHED_COUNT_ <= 64, "one bit for each");
/* clang-format on */

static void note(struct termsafe *t, unsigned what, bool on)
{
	t->switched = on ? t->switched | 1ull << what : t->switched & ~(1ull << what);
}

/* ---- control sequences ---- */

struct csi {
	char marker, inter, final;
	bool colon;
	unsigned n, v[PARAMS_MAX]; /* one that is not given is 0 */
};

static bool all_up_to(const struct csi *s, unsigned max)
{
	for (unsigned i = 0; i < s->n; i++)
		if (s->v[i] > max)
			return false;
	return true;
}

static size_t find_mode(char marker, unsigned number)
{
	size_t i = 0;

	while (i < LEN(modes) && (modes[i].marker != marker || modes[i].number != number))
		i++;
	return i;
}

static bool move(struct termsafe *t, const struct csi *s)
{
	(void)t;
	return s->n <= (s->final == 'H' || s->final == 'f' ? 2 : 1);
}

/* 3 would erase what was on the screen before us. */
static bool erase(struct termsafe *t, const struct csi *s)
{
	(void)t;
	return s->n <= 1 && all_up_to(s, 2);
}

/* A few bytes must not become a million. */
static bool repeat(struct termsafe *t, const struct csi *s)
{
	(void)t;
	return s->n <= 1 && all_up_to(s, 999);
}

static bool colour(struct termsafe *t, const struct csi *s)
{
	note(t, COLOUR, s->n > 1 || !all_up_to(s, 0));
	return true;
}

static bool margins(struct termsafe *t, const struct csi *s)
{
	if (s->n > 2)
		return false;
	note(t, MARGINS, s->n > 0);
	return true;
}

static bool cursor(struct termsafe *t, const struct csi *s)
{
	if (s->n > 1 || !all_up_to(s, 6))
		return false;
	note(t, CURSOR, !all_up_to(s, 0));
	return true;
}

/* Only the title's own stack, which terminfo has in the sequences for the alternate screen; all else reports or resizes. */
static bool title_stack(struct termsafe *t, const struct csi *s)
{
	(void)t;
	return s->n >= 1 && s->n <= 3 && (s->v[0] == 22 || s->v[0] == 23) && (s->n < 2 || s->v[1] <= 2) &&
	       (s->n < 3 || s->v[2] == 0);
}

static bool bare(struct termsafe *t, const struct csi *s)
{
	(void)t;
	return s->n == 0;
}

static bool set_modes(struct termsafe *t, const struct csi *s)
{
	for (unsigned i = 0; i < s->n; i++) {
		size_t at = find_mode(s->marker, s->v[i]);

		if (at == LEN(modes) || (modes[at].keys && !t->keys))
			return false;
	}
	for (unsigned i = 0; i < s->n; i++) {
		size_t at = find_mode(s->marker, s->v[i]);

		note(t, (unsigned)at, modes[at].normal != s->final);
	}
	return s->n > 0;
}

/* clang-format off */
static const struct rule {
	char marker, inter;
	const char *finals;
	bool (*allowed)(struct termsafe *t, const struct csi *s);
} rules[] = {
	{ 0,   0,   "@ABCDEFGHILMPSTXZ`adef", move },
	{ 0,   0,   "JK", erase },
	{ 0,   0,   "b",  repeat },
	{ 0,   0,   "m",  colour },
	{ 0,   0,   "r",  margins },
	{ 0,   0,   "su", bare },
	{ 0,   0,   "t",  title_stack },
	{ 0,   0,   "hl", set_modes },
	{ '?', 0,   "hl", set_modes },
	{ 0,   ' ', "q",  cursor },
	{ 0,   '!', "p",  bare },
};
/* clang-format on */

static bool is_digit(char c)
{
	return c >= '0' && c <= '9';
}

/* The numbers between ESC [ and the rest; false when they are no plain list. */
static bool read_numbers(struct str *s, struct csi *ret)
{
	unsigned digits = 0;

	while (s->n && (is_digit(s->p[0]) || s->p[0] == ';' || s->p[0] == ':')) {
		ret->n = ret->n ? ret->n : 1;
		if (is_digit(s->p[0])) {
			ret->v[ret->n - 1] = ret->v[ret->n - 1] * 10 + (unsigned)(s->p[0] - '0');
			if (++digits > 5)
				return false;
		} else {
			ret->colon = ret->colon || s->p[0] == ':';
			digits = 0;
			if (++ret->n > PARAMS_MAX)
				return false;
		}
		*s = str_from(*s, 1);
	}
	return true;
}

static bool read_csi(struct str s, struct csi *ret)
{
	*ret = (struct csi){ .final = s.p[s.n - 1] };
	s = (struct str){ .p = s.p + 2, .n = s.n - 3 };
	if (s.n && s.p[0] >= '<' && s.p[0] <= '?') {
		ret->marker = s.p[0];
		s = str_from(s, 1);
	}
	if (!read_numbers(&s, ret))
		return false;
	if (s.n == 1)
		ret->inter = s.p[0];
	return s.n <= 1 && (!ret->colon || ret->final == 'm');
}

static bool csi_allowed(struct termsafe *t, struct str held)
{
	struct csi s;

	if (!read_csi(held, &s))
		return false;
	for (size_t i = 0; i < LEN(rules); i++)
		if (rules[i].marker == s.marker && rules[i].inter == s.inter &&
		    strchr(rules[i].finals, s.final))
			return rules[i].allowed(t, &s);
	return false;
}

static enum verdict judge_csi(struct termsafe *t, unsigned char c)
{
	if (c < 0x20 || c > 0x7e)
		return SHOW_OLD;
	if (c < 0x40)
		return t->n < TERMSAFE_HELD ? MORE : SHOW;
	return csi_allowed(t, (struct str){ .p = t->held, .n = t->n }) ? PASS : SHOW;
}

/* ---- escape sequences ---- */

/* ESC ( and ESC ): letters, or the lines of boxes. */
static enum verdict judge_charset(struct termsafe *t, unsigned char c)
{
	if (c != '0' && c != 'B')
		return c < 0x20 || c > 0x7e ? SHOW_OLD : SHOW;
	note(t, t->held[1] == '(' ? G0 : G1, c == '0');
	return PASS;
}

static enum verdict judge_second(struct termsafe *t, unsigned char c)
{
	if (c < 0x20 || c > 0x7e)
		return SHOW_OLD;
	if (strchr("[()", c))
		return MORE;
	if (c != '=' && c != '>')
		return strchr("78DEM", c) ? PASS : SHOW;
	if (t->keys)
		note(t, KEYPAD, c == '=');
	return t->keys ? PASS : SHOW;
}

static enum verdict judge_escape(struct termsafe *t, unsigned char c)
{
	if (t->n == 2)
		return judge_second(t, c);
	return t->held[1] == '[' ? judge_csi(t, c) : judge_charset(t, c);
}

/* ---- characters ---- */

static unsigned utf8_length(unsigned char lead)
{
	return lead >= 0xc2 && lead <= 0xdf   ? 2
	       : lead >= 0xe0 && lead <= 0xef ? 3
	       : lead >= 0xf0 && lead <= 0xf4 ? 4
					      : 0;
}

/* U+0080 to U+009F are control characters, in two bytes. */
static enum verdict judge_utf8(const struct termsafe *t)
{
	uint32_t cp = 0;
	int n = utf8_decode((struct str){ .p = t->held, .n = t->n }, &cp);

	if (n > 0)
		return cp >= 0xa0 ? PASS : SHOW;
	if (-n < t->n)
		return SHOW_OLD;
	return t->n < utf8_length((unsigned char)t->held[0]) ? MORE : SHOW;
}

static enum verdict judge_first(struct termsafe *t, unsigned char c)
{
	if (c >= 0x80)
		return t->ascii ? SHOW : judge_utf8(t);
	if (c == ESC)
		return MORE;
	if (c == 0x0e || c == 0x0f)
		note(t, SHIFT, c == 0x0e);
	return (c >= 0x20 && c < 0x7f) || (c >= '\a' && c <= '\n') || c == '\r' || c == 0x0e || c == 0x0f
		       ? PASS
		       : SHOW;
}

/* ---- all of it ---- */

static void show(struct buf *out, unsigned char c)
{
	static const char digit[] = "0123456789abcdef";
	const char hex[] = { '\\', 'x', digit[c >> 4], digit[c & 15] }, caret[] = { '^', (char)(c ^ 0x40) };

	if (c >= 0x80)
		buf_put(out, (struct str){ .p = hex, .n = sizeof(hex) });
	else if (c < 0x20 || c == 0x7f)
		buf_put(out, (struct str){ .p = caret, .n = sizeof(caret) });
	else
		buf_putc(out, (char)c);
}

static void show_held(struct termsafe *t, size_t n, struct buf *out)
{
	for (size_t i = 0; i < n; i++)
		show(out, (unsigned char)t->held[i]);
	t->n = 0;
}

static enum verdict judge(struct termsafe *t, unsigned char c)
{
	if (t->n == 1)
		return judge_first(t, c);
	return t->held[0] == ESC ? judge_escape(t, c) : judge_utf8(t);
}

static void take(struct termsafe *t, unsigned char c, struct buf *out)
{
	enum verdict v;

	t->held[t->n++] = (char)c;
	v = judge(t, c);
	if (v == SHOW_OLD) {
		show_held(t, t->n - 1u, out);
		t->held[t->n++] = (char)c;
		v = judge(t, c);
	}
	if (v == PASS) {
		buf_put(out, (struct str){ .p = t->held, .n = t->n });
		t->n = 0;
	} else if (v != MORE) {
		show_held(t, t->n, out);
	}
}

static size_t plain_prefix(struct str s)
{
	size_t i = 0;

	while (i < s.n && s.p[i] >= 0x20 && s.p[i] < 0x7f)
		i++;
	return i;
}

void termsafe_put(struct termsafe *t, struct str in, struct buf *out)
{
	while (in.n > 0) {
		size_t plain = t->n ? 0 : plain_prefix(in);

		buf_put(out, (struct str){ .p = in.p, .n = plain });
		in = str_from(in, plain);
		if (in.n > 0) {
			take(t, (unsigned char)in.p[0], out);
			in = str_from(in, 1);
		}
	}
}

void termsafe_end(struct termsafe *t, struct buf *out)
{
	show_held(t, t->n, out);
	for (unsigned i = 0; i < SWITCHED_COUNT_; i++) {
		if (!(t->switched >> i & 1))
			continue;
		if (i < LEN(modes))
			buf_printf(out, "\x1b[%s%u%c", modes[i].marker ? "?" : "", modes[i].number,
				   modes[i].normal);
		else
			buf_puts(out, undo[i]);
	}
	t->switched = 0;
}
