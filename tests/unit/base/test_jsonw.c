/* SPDX-License-Identifier: Apache-2.0 */
#include "check.h"

#include "base/jsonw.h"

#include <math.h>

/* A writer on a buffer of its own, for `want` to be compared with. */
struct writer {
	struct buf b;
	struct jsonw w;
};

static void writer_done(struct writer *t)
{
	buf_done(&t->b);
}

#define WRITER(name, indent)                               \
	_cleanup_(writer_done) struct writer name = { 0 }; \
	buf_init(&name.b, 1 << 16);                        \
	jsonw_init(&name.w, &name.b, (indent))

#define CHECK_TEXT(name, want)                         \
	do {                                           \
		assert_false((name).b.failed);         \
		CHECK_STR(buf_str(&(name).b), (want)); \
	} while (0)

TEST(jsonw_places_commas_between_members_and_nowhere_else)
{
	WRITER(t, 0);
	jsonw_obj(&t.w);
	jsonw_ku64(&t.w, "a", 1);
	jsonw_karr(&t.w, "b");
	jsonw_i64(&t.w, -2);
	jsonw_obj(&t.w);
	jsonw_obj_end(&t.w);
	jsonw_arr(&t.w);
	jsonw_arr_end(&t.w);
	jsonw_null(&t.w);
	jsonw_arr_end(&t.w);
	jsonw_kobj(&t.w, "c");
	jsonw_kbool(&t.w, "d", true);
	jsonw_kbool(&t.w, "e", false);
	jsonw_obj_end(&t.w);
	jsonw_knull(&t.w, "f");
	jsonw_kz(&t.w, "g", "z");
	jsonw_obj_end(&t.w);
	CHECK_TEXT(
		t,
		STR("{\"a\":1,\"b\":[-2,{},[],null],\"c\":{\"d\":true,\"e\":false},\"f\":null,\"g\":\"z\"}"));
}

TEST(jsonw_indents_by_level_and_keeps_empty_ones_together)
{
	WRITER(t, 2);
	jsonw_obj(&t.w);
	jsonw_karr(&t.w, "a");
	jsonw_u64(&t.w, 1);
	jsonw_u64(&t.w, 2);
	jsonw_arr_end(&t.w);
	jsonw_kobj(&t.w, "b");
	jsonw_obj_end(&t.w);
	jsonw_obj_end(&t.w);
	CHECK_TEXT(t, STR("{\n  \"a\": [\n    1,\n    2\n  ],\n  \"b\": {}\n}"));
}

TEST(jsonw_level_used_again_starts_without_a_comma)
{
	WRITER(t, 0);
	jsonw_arr(&t.w);
	for (int i = 0; i < 3; i++) {
		jsonw_arr(&t.w);
		jsonw_u64(&t.w, 1);
		jsonw_arr_end(&t.w);
	}
	jsonw_arr_end(&t.w);
	CHECK_TEXT(t, STR("[[1],[1],[1]]"));
}

TEST(jsonw_escapes_what_json_requires)
{
	WRITER(t, 0);
	jsonw_str(&t.w, STR("\"\\/\b\f\n\r\t\x01\x1f\x7f\0end"));
	CHECK_TEXT(t, STR("\"\\\"\\\\/\\b\\f\\n\\r\\t\\u0001\\u001f\\u007f\\u0000end\""));
}

TEST(jsonw_escapes_what_would_act_on_a_terminal)
{
	WRITER(t, 0);
	jsonw_str(&t.w,
		  STR("a\xc2\x9b[31m\xc2\x85 \xe2\x80\xae\xe2\x81\xa6 \xe2\x80\xa8 \xc3\xa4 \xe2\x82\xac"));
	CHECK_TEXT(t, STR("\"a\\u009b[31m\\u0085 \\u202e\\u2066 \\u2028 \xc3\xa4 \xe2\x82\xac\""));
}

TEST(jsonw_escapes_keys_too)
{
	WRITER(t, 0);
	jsonw_obj(&t.w);
	jsonw_key(&t.w, STR("a\"\n\xff"));
	jsonw_null(&t.w);
	jsonw_obj_end(&t.w);
	CHECK_TEXT(t, STR("{\"a\\\"\\n\xef\xbf\xbd\":null}"));
}

TEST(jsonw_writes_invalid_utf8_as_replacement_characters)
{
	static const struct {
		struct str in, want;
	} cases[] = {
		{ STR("\xff"), STR("\"\xef\xbf\xbd\"") },
		{ STR("a\xc3\x28"), STR("\"a\xef\xbf\xbd(\"") },
		{ STR("\xe2\x82"), STR("\"\xef\xbf\xbd\"") },
		{ STR("\xed\xa0\x80"), STR("\"\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd\"") }, /* a surrogate */
		{ STR("\xc0\xaf"), STR("\"\xef\xbf\xbd\xef\xbf\xbd\"") },                 /* overlong */
		{ STR("\xe2\x82\n"), STR("\"\xef\xbf\xbd\\n\"") },
		{ STR("\xf0\x9f\x98\x80"), STR("\"\xf0\x9f\x98\x80\"") },
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		WRITER(t, 0);
		jsonw_str(&t.w, cases[i].in);
		CHECK_CASE(str_eq(buf_str(&t.b), cases[i].want), "case %zu: %s", i, t.b.p);
	}
}

TEST(jsonw_numbers_at_the_edges)
{
	WRITER(t, 0);
	jsonw_arr(&t.w);
	jsonw_i64(&t.w, INT64_MIN);
	jsonw_u64(&t.w, UINT64_MAX);
	jsonw_num(&t.w, 0.1);
	jsonw_num(&t.w, 1e21);
	jsonw_num(&t.w, (double)NAN);
	jsonw_num(&t.w, (double)INFINITY);
	jsonw_num(&t.w, (double)-INFINITY);
	jsonw_arr_end(&t.w);
	CHECK_TEXT(t, STR("[-9223372036854775808,18446744073709551615,0.1,1e+21,null,null,null]"));
}

TEST(jsonw_raw_takes_part_in_the_commas)
{
	WRITER(t, 0);
	jsonw_arr(&t.w);
	jsonw_raw(&t.w, STR("{\"x\":1}"));
	jsonw_raw(&t.w, STR("2"));
	jsonw_arr_end(&t.w);
	CHECK_TEXT(t, STR("[{\"x\":1},2]"));
}

TEST(jsonw_top_level_may_be_a_scalar)
{
	WRITER(t, 2);
	jsonw_str(&t.w, STR(""));
	CHECK_TEXT(t, STR("\"\""));
}

TEST(jsonw_goes_exactly_as_deep_as_it_says)
{
	WRITER(t, 0);
	for (unsigned i = 0; i < JSONW_MAX_DEPTH; i++) {
		jsonw_arr(&t.w);
		if (i > 0)
			continue;
		jsonw_u64(&t.w, 1);
	}
	jsonw_u64(&t.w, 1);
	jsonw_u64(&t.w, 2);
	for (unsigned i = 0; i < JSONW_MAX_DEPTH; i++)
		jsonw_arr_end(&t.w);
	assert_false(t.b.failed);
	assert_non_null(strstr(t.b.p, "[1,2]"));
	assert_int_equal(t.b.n, 2 * JSONW_MAX_DEPTH + strlen("1,1,2"));
}

TEST(jsonw_one_level_too_deep_fails_the_buffer)
{
	WRITER(t, 0);
	for (unsigned i = 0; i <= JSONW_MAX_DEPTH; i++)
		jsonw_arr(&t.w);
	assert_true(t.b.failed);
	for (unsigned i = 0; i <= JSONW_MAX_DEPTH; i++)
		jsonw_arr_end(&t.w);
	assert_true(t.b.failed);
}

TEST(jsonw_end_without_a_beginning_fails_the_buffer)
{
	WRITER(t, 0);
	jsonw_obj_end(&t.w);
	assert_true(t.b.failed);
}

/* What one byte becomes, wherever it stands: the plain ones are looked at eight at a time. */
static void put_one(struct buf *b, unsigned char c)
{
	static const char short_names[] = { ['\b'] = 'b', ['\t'] = 't', ['\n'] = 'n', ['\f'] = 'f',
					    ['\r'] = 'r', ['"'] = '"',  ['\\'] = '\\' };

	if (c < sizeof(short_names) && short_names[c])
		buf_printf(b, "\\%c", short_names[c]);
	else if (c < 0x20 || c == 0x7f)
		buf_printf(b, "\\u%04x", (unsigned)c);
	else if (c >= 0x80)
		buf_puts(b, "\xef\xbf\xbd");
	else
		buf_putc(b, (char)c);
}

TEST(jsonw_every_byte_is_seen_in_every_place)
{
	for (unsigned c = 0; c < 256; c++)
		for (unsigned at = 0; at < 19; at++) {
			_cleanup_buf_ struct buf want = { 0 };
			char text[19];
			WRITER(t, 0);

			buf_init(&want, 256);
			memset(text, 'x', sizeof(text));
			text[at] = (char)c;
			buf_printf(&want, "\"%.*s", (int)at, text);
			put_one(&want, (unsigned char)c);
			buf_printf(&want, "%.*s\"", (int)(sizeof(text) - at - 1), text + at + 1);
			jsonw_str(&t.w, (struct str){ .p = text, .n = sizeof(text) });
			CHECK_CASE(str_eq(buf_str(&t.b), buf_str(&want)), "byte %u at %u", c, at);
		}
}

TEST(jsonw_full_buffer_is_reported_not_cut_quietly)
{
	WRITER(t, 0);
	buf_done(&t.b);
	buf_init(&t.b, 10);
	jsonw_str(&t.w, STR("0123456789"));
	assert_true(t.b.failed);
}

TEST_MAIN()
