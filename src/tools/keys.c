/* SPDX-License-Identifier: Apache-2.0 */
#include "tools/keys.h"

#include "base/utf8.h"

#include <stdio.h>

#define ESC "\x1b"
#define PASTE_BEGIN ESC "[200~"
#define PASTE_END ESC "[201~"

/* `sends` is what it sends alone; with a modifier, "ESC [ 5 ~" is "ESC [ 5 ; m ~", and "ESC [ A" is "ESC [ 1 ; m A". */
/* clang-format off */
static const struct key {
	const char *name, *sends;
	bool modifiable;
} keys[] = {
	{ "enter", "\r", false },    { "return", "\r", false },    { "tab", "\t", false },       { "escape", ESC, false },
	{ "esc", ESC, false },       { "space", " ", false },      { "backspace", "\x7f", false }, { "bspace", "\x7f", false },
	{ "btab", ESC "[Z", false },
	{ "up", ESC "[A", true },    { "down", ESC "[B", true },   { "right", ESC "[C", true },  { "left", ESC "[D", true },
	{ "home", ESC "[1~", true }, { "insert", ESC "[2~", true }, { "ic", ESC "[2~", true },   { "delete", ESC "[3~", true },
	{ "del", ESC "[3~", true },  { "dc", ESC "[3~", true },    { "end", ESC "[4~", true },   { "pageup", ESC "[5~", true },
	{ "pgup", ESC "[5~", true }, { "ppage", ESC "[5~", true }, { "pagedown", ESC "[6~", true }, { "pgdn", ESC "[6~", true },
	{ "npage", ESC "[6~", true },
	{ "f1", ESC "OP", false },   { "f2", ESC "OQ", false },    { "f3", ESC "OR", false },    { "f4", ESC "OS", false },
	{ "f5", ESC "[15~", true },  { "f6", ESC "[17~", true },   { "f7", ESC "[18~", true },   { "f8", ESC "[19~", true },
	{ "f9", ESC "[20~", true },  { "f10", ESC "[21~", true },  { "f11", ESC "[23~", true },  { "f12", ESC "[24~", true },
	{ "kp0", ESC "Op", false },  { "kp1", ESC "Oq", false },   { "kp2", ESC "Or", false },   { "kp3", ESC "Os", false },
	{ "kp4", ESC "Ot", false },  { "kp5", ESC "Ou", false },   { "kp6", ESC "Ov", false },   { "kp7", ESC "Ow", false },
	{ "kp8", ESC "Ox", false },  { "kp9", ESC "Oy", false },   { "kp/", ESC "Oo", false },   { "kp*", ESC "Oj", false },
	{ "kp-", ESC "Om", false },  { "kp+", ESC "Ok", false },   { "kp.", ESC "On", false },   { "kpenter", ESC "OM", false },
};
/* clang-format on */

enum { SHIFT = 1, ALT = 2, CONTROL = 4 };

static const struct key *find(struct str name)
{
	for (size_t i = 0; i < sizeof(keys) / sizeof(keys[0]); i++)
		if (str_eq_nocase(str_z(keys[i].name), name))
			return &keys[i];
	return NULL;
}

/* Takes the prefixes off. "C-" alone is no prefix of anything. */
static unsigned take_modifiers(struct str *name)
{
	unsigned found = 0;

	while (name->n > 2 && name->p[1] == '-') {
		char c = name->p[0];

		if (c == 'C' || c == 'c')
			found |= CONTROL;
		else if (c == 'M' || c == 'm')
			found |= ALT;
		else if (c == 'S' || c == 's')
			found |= SHIFT;
		else
			break;
		*name = str_from(*name, 2);
	}
	return found;
}

static void put_modified(const struct key *k, unsigned modifiers, struct buf *out)
{
	struct str sends = str_z(k->sends);

	if (!k->modifiable || !modifiers) {
		if (modifiers & ALT)
			buf_puts(out, ESC);
		buf_put(out, sends);
		return;
	}
	/* ESC [ … and the last byte says which key it is */
	buf_put(out, (struct str){ .p = sends.p, .n = sends.n - 1 });
	buf_printf(out, "%s;%u%c", sends.n == 3 ? "1" : "", modifiers + 1, sends.p[sends.n - 1]);
}

/* What control makes of a character, or -1. */
static int control_of(char c)
{
	if (c == '?')
		return 0x7f;
	if (c >= 'a' && c <= 'z')
		c = (char)(c - 'a' + 'A');
	return c >= '@' && c <= '_' ? c & 0x1f : -1;
}

/* One code point, as it is or modified. */
static int put_character(struct str c, unsigned modifiers, struct buf *out, struct err *e)
{
	char byte = c.p[0];
	int with_control = control_of(byte);

	if (modifiers & ALT)
		buf_puts(out, ESC);
	if (modifiers & CONTROL) {
		if (c.n > 1 || with_control < 0)
			return err_set(e, ERR_USAGE, "there is no C-" STR_FMT " on a terminal", STR_ARG(c));
		buf_putc(out, (char)with_control);
	} else if (modifiers & SHIFT && byte >= 'a' && byte <= 'z')
		buf_putc(out, (char)(byte - 'a' + 'A'));
	else
		buf_put(out, c);
	return 0;
}

int keys_put(struct str name, struct buf *out, struct err *e)
{
	struct str said = name, base = name;
	unsigned modifiers = take_modifiers(&base);
	const struct key *k = find(base);
	uint32_t cp;

	if (name.n == 2 && name.p[0] == '^')
		return put_character(str_from(name, 1), CONTROL, out, e);
	if (k && modifiers & SHIFT && str_eq(str_z(k->name), STR("tab")))
		k = find(STR("btab"));
	if (k) {
		put_modified(k, modifiers, out);
		return 0;
	}
	if (base.n > 0 && utf8_decode(base, &cp) == (int)base.n)
		return put_character(base, modifiers, out, e);
	return err_set(e, ERR_USAGE,
		       "'" STR_FMT
		       "' is no key; keys are one character, Enter, Tab, Escape, Up, F5, C-c, M-x …; "
		       "text goes into 'literal'",
		       STR_ARG(said));
}

static int digit(char c)
{
	if (c >= '0' && c <= '9')
		return c - '0';
	if (c >= 'a' && c <= 'f')
		return c - 'a' + 10;
	return c >= 'A' && c <= 'F' ? c - 'A' + 10 : -1;
}

int keys_put_hex(struct str digits, struct buf *out, struct err *e)
{
	struct str s = str_trim(digits);
	int value = 0;

	if (str_starts(s, STR("0x")) || str_starts(s, STR("0X")))
		s = str_from(s, 2);
	if (s.n < 1 || s.n > 2 || digit(s.p[0]) < 0 || digit(s.p[s.n - 1]) < 0)
		return err_set(e, ERR_USAGE, "'" STR_FMT "' is no byte: one or two hexadecimal digits are",
			       STR_ARG(digits));
	for (size_t i = 0; i < s.n; i++)
		value = value * 16 + digit(s.p[i]);
	buf_putc(out, (char)value);
	return 0;
}

void keys_put_paste(struct str text, struct buf *out)
{
	struct str piece;

	buf_puts(out, PASTE_BEGIN);
	while (str_cut(text, '\x1b', &piece, &text))
		buf_put(out, piece);
	buf_put(out, text);
	buf_puts(out, PASTE_END);
}
