/* SPDX-License-Identifier: Apache-2.0 */
#include "check.h"

#include "tools/keys.h"

static struct str keys_of(const char *name, struct err *e)
{
	static struct buf b;

	buf_done(&b);
	buf_init(&b, 64);
	*e = (struct err){ 0 };
	if (keys_put(str_z(name), &b, e) < 0)
		return STR("(refused)");
	return buf_str(&b);
}

TEST(keys_send_what_xterm_sends)
{
	static const char *const rows[][2] = {
		{ "Enter", "\r" },
		{ "RETURN", "\r" },
		{ "tab", "\t" },
		{ "Escape", "\x1b" },
		{ "Space", " " },
		{ "BSpace", "\x7f" },
		{ "Up", "\x1b[A" },
		{ "Left", "\x1b[D" },
		{ "Home", "\x1b[1~" },
		{ "PgDn", "\x1b[6~" },
		{ "Delete", "\x1b[3~" },
		{ "F1", "\x1bOP" },
		{ "F12", "\x1b[24~" },
		{ "C-c", "\x03" },
		{ "c-C", "\x03" },
		{ "^d", "\x04" },
		{ "^[", "\x1b" },
		{ "C-?", "\x7f" },
		{ "M-x", "\x1bx" },
		{ "M-Enter", "\x1b\r" },
		{ "C-M-a", "\x1b\x01" },
		{ "S-Tab", "\x1b[Z" },
		{ "S-a", "A" },
		{ "C-Up", "\x1b[1;5A" },
		{ "S-Right", "\x1b[1;2C" },
		{ "C-S-PageUp", "\x1b[5;6~" },
		{ "M-Delete", "\x1b[3;3~" },
		{ "S-F5", "\x1b[15;2~" },
		{ "a", "a" },
		{ "-", "-" },
		{ "^", "^" },
		{ "é", "é" },
		{ "M-é", "\x1bé" },
		{ "kpEnter", "\x1bOM" },
		{ "C--", NULL },
		{ "hello", NULL },
		{ "", NULL },
		{ "C-", NULL },
		{ "X-a", NULL },
		{ "C-é", NULL },
		{ "^é", NULL },
		{ "C-hello", NULL },
		{ "\xff", NULL },
		{ "C-1", NULL },
	};
	struct err e;

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct str got = keys_of(rows[i][0], &e);

		CHECK_CASE(str_eq(got, str_z(rows[i][1] ? rows[i][1] : "(refused)")), "%s: '%s' %s",
			   rows[i][0], got.p, e.msg);
		assert_int_equal(e.kind, rows[i][1] ? ERR_NONE : ERR_USAGE);
	}
}

TEST(a_byte_is_one_or_two_hexadecimal_digits)
{
	static const struct {
		const char *digits;
		int want;
	} rows[] = { { "1b", 0x1b }, { "0x0D", 13 }, { " 7 ", 7 }, { "FF", 255 }, { "0", 0 },  { "", -1 },
		     { "0x", -1 },   { "100", -1 },  { "g", -1 },  { "1g", -1 },  { "-1", -1 } };

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		_cleanup_buf_ struct buf b = { 0 };
		struct err e = { 0 };
		int r;

		buf_init(&b, 8);
		r = keys_put_hex(str_z(rows[i].digits), &b, &e);
		CHECK_CASE((r < 0) == (rows[i].want < 0), "'%s': %s", rows[i].digits, e.msg);
		if (r >= 0)
			CHECK_CASE(b.n == 1 && (unsigned char)b.p[0] == rows[i].want, "'%s'", rows[i].digits);
	}
}

TEST(pasted_text_cannot_end_its_own_paste)
{
	_cleanup_buf_ struct buf b = { 0 };

	buf_init(&b, 256);
	keys_put_paste(STR("a\x1b[20\x1b[201~1~rm -rf\r"), &b);
	CHECK_STR(buf_str(&b), STR("\x1b[200~a[20[201~1~rm -rf\r\x1b[201~"));
}

TEST_MAIN()
