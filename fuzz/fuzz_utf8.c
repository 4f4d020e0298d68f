/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Whatever is given: decoding moves on and stays inside; what decodes encodes to the same bytes; sanitized text is
 * valid, and valid text is not changed; visible text and JSON hold no control character; a prefix is a prefix; a table
 * prints exactly the lines it has rows for.
 */
#include "base/jsonw.h"
#include "base/table.h"
#include "base/utf8.h"
#include "check.h"

static void check_decode(struct str s)
{
	bool valid = true, want = utf8_valid(s);

	while (s.n > 0) {
		uint32_t cp = 0;
		int n = utf8_decode(s, &cp);
		size_t step = (size_t)(n < 0 ? -n : n);
		char text[4];

		CHECK(n != 0 && step <= s.n && step <= 4);
		CHECK(n < 0 || (utf8_encode(cp, text) == step && memcmp(text, s.p, step) == 0));
		valid = valid && n > 0;
		s = str_from(s, step);
	}
	CHECK(valid == want);
}

static bool has_control(struct str s)
{
	for (size_t i = 0; i < s.n; i++)
		if ((unsigned char)s.p[i] < 0x20 || s.p[i] == 0x7f)
			return true;
	return false;
}

static void check_texts(struct str s)
{
	_cleanup_buf_ struct buf clean = { 0 }, shown = { 0 }, json = { 0 };
	struct jsonw w;

	buf_init(&clean, s.n * 3);
	utf8_sanitize(s, &clean);
	CHECK(!clean.failed && utf8_valid(buf_str(&clean)));
	CHECK(utf8_valid(s) == str_eq(s, buf_str(&clean)));
	CHECK(utf8_columns(s) == utf8_columns(buf_str(&clean)));

	buf_init(&shown, s.n * 4);
	buf_put_visible(&shown, s);
	CHECK(!shown.failed && utf8_valid(buf_str(&shown)) && !has_control(buf_str(&shown)));

	buf_init(&json, s.n * 6 + 2);
	jsonw_init(&w, &json, 0);
	jsonw_str(&w, s);
	CHECK(!json.failed && utf8_valid(buf_str(&json)) && !has_control(buf_str(&json)));
	CHECK(json.n >= 2 && json.p[0] == '"' && json.p[json.n - 1] == '"');
}

static void check_prefix(struct str s)
{
	bool valid = utf8_valid(s);

	for (size_t max = 0; max <= s.n && max < 64; max++) {
		struct str p = utf8_prefix(s, max);

		CHECK(p.p == s.p && p.n <= max && p.n + 4 > max);
		CHECK(!valid || utf8_valid(p));
	}
}

static void check_table(struct str s)
{
	static const struct table_col cols[] = { { "A", .wrap = true },
						 { "B", TABLE_RIGHT, .max_columns = 9 } };
	_cleanup_arena_ struct arena a = { 0 };
	_cleanup_buf_ struct buf out = { 0 };
	struct str rest, line;
	struct table t;

	arena_init(&a, 1 << 20);
	buf_init(&out, 8 << 20);
	table_init(&t, &a, cols, 2);
	table_row(&t, (const struct str[]){ s, s });
	table_print(&t, &out, 40);
	CHECK(!a.failed && !out.failed);
	for (rest = buf_str(&out); str_cut(rest, '\n', &line, &rest);) {
		CHECK(!has_control(line) && utf8_columns(line) <= 40);
		CHECK(line.n == 0 || line.p[line.n - 1] != ' ');
	}
	CHECK(rest.n == 0);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct str s = { .p = (const char *)data, .n = size };

	if (size > 4096)
		return 0;
	check_decode(s);
	check_texts(s);
	check_prefix(s);
	check_table(s);
	return 0;
}
