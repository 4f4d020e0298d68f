/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Whatever is printed: what comes out is UTF-8 without a control character but the harmless ones, every ESC in it begins one
 * of the sequences spelled out here, independently of the filter; it is the same however the input is cut, has nothing
 * left to be changed, is never shorter than the input, and never longer than it was said to be.
 */
#include "base/termsafe.h"
#include "base/utf8.h"
#include "check.h"

/* The length of the harmless sequence at the front; 0 = none. */
static size_t harmless_csi(struct str s)
{
	size_t n = 2, digits;

	if (n < s.n && s.p[n] == '?')
		n++;
	digits = strspn(s.p + n, "0123456789;:");
	n += digits;
	CHECK(n < s.n && n < TERMSAFE_HELD);
	if (s.p[2] == '?')
		return strchr("hl", s.p[n]) ? n + 1 : 0;
	if (s.p[n] == ' ' || s.p[n] == '!')
		return n + 1 < s.n && s.p[n + 1] == (s.p[n] == ' ' ? 'q' : 'p') ? n + 2 : 0;
	if (s.p[n] == 't')
		return strtoul(s.p + 2, NULL, 10) == 22 || strtoul(s.p + 2, NULL, 10) == 23 ? n + 1 : 0;
	if (s.p[n] == 'J')
		return memchr(s.p + 2, '3', digits) ? 0 : n + 1;
	return strchr("@ABCDEFGHIKLMPSTXZ`abdefhlmrsu", s.p[n]) ? n + 1 : 0;
}

static size_t harmless(struct str s)
{
	CHECK(s.n >= 2);
	if (s.p[1] == '[')
		return harmless_csi(s);
	if (s.p[1] == '(' || s.p[1] == ')')
		return s.n > 2 && strchr("0B", s.p[2]) ? 3 : 0;
	return strchr("78DEM=>", s.p[1]) ? 2 : 0;
}

static void check_safe(struct str s)
{
	while (s.n) {
		uint32_t cp = 0;
		int n = utf8_decode(s, &cp);

		CHECK(n > 0 && (cp < 0x7f || cp >= 0xa0));
		if (cp == 0x1b)
			n = (int)harmless(s);
		else
			CHECK(cp >= 0x20 || (cp && strchr("\a\b\t\n\r\x0e\x0f", (int)cp)));
		CHECK(n > 0);
		s = str_from(s, (size_t)n);
	}
}

static void through(struct termsafe t, struct str in, size_t step, bool end, struct buf *out)
{
	buf_init(out, TERMSAFE_ROOM(in.n));
	for (; in.n; in = str_from(in, step)) {
		termsafe_put(&t, (struct str){ .p = in.p, .n = in.n < step ? in.n : step }, out);
		CHECK(t.n < TERMSAFE_HELD);
	}
	if (end)
		termsafe_end(&t, out);
	CHECK(!out->failed && (!end || t.switched == 0));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	_cleanup_buf_ struct buf whole = { 0 }, cut = { 0 }, again = { 0 };
	struct termsafe t = { 0 };
	struct str s;

	if (size < 1 || size > 4096)
		return 0;
	t.keys = data[0] & 1;
	t.ascii = data[0] & 4;
	s = (struct str){ .p = (const char *)data + 1, .n = size - 1 };
	through(t, s, 4096, true, &whole);
	through(t, s, 1 + data[0] / 8u, true, &cut);
	CHECK(str_eq(buf_str(&whole), buf_str(&cut)));
	CHECK(whole.n >= s.n);
	check_safe(buf_str(&whole));
	t.keys = true; /* the end may switch back what whoever is typed to had switched */
	through(t, buf_str(&whole), 4096, false, &again);
	CHECK(str_eq(buf_str(&whole), buf_str(&again)));
	return 0;
}
