/* SPDX-License-Identifier: Apache-2.0 */
#include "check.h"
#include "reading.h"

TEST(strict_json_reads_every_kind_of_value)
{
	static const struct reading r[] = {
		{ STR("null"), STR("null") },
		{ STR(" true "), STR("true") },
		{ STR("\tfalse\r\n"), STR("false") },
		{ STR("\"\""), STR("\"\"") },
		{ STR("\"text\""), STR("\"text\"") },
		{ STR("[]"), STR("[]") },
		{ STR("{}"), STR("{}") },
		{ STR("[1, [2, []], {\"a\": [3]}]"), STR("[1,[2,[]],{\"a\":[3]}]") },
		{ STR("{\"a\":{\"b\":null},\"\":\"empty key\"}"),
		  STR("{\"a\":{\"b\":null},\"\":\"empty key\"}") },
	};

	CHECK_READINGS(READING_JSON, r);
}

TEST(strings_keep_their_escapes_meaning)
{
	static const struct reading r[] = {
		{ STR("\"\\\"\\\\\\/\\b\\f\\n\\r\\t\""), STR("\"\\\"\\\\/\\b\\f\\n\\r\\t\"") },
		{ STR("\"\\u0041\\u00e9\\u20AC\""), STR("\"A\xc3\xa9\xe2\x82\xac\"") },
		{ STR("\"\\ud83d\\ude00\""), STR("\"\xf0\x9f\x98\x80\"") },
		{ STR("\"\\u0000\""), STR("\"\\u0000\"") },
		{ STR("\"0123456789abcdef0123456789\\n0123456789abcdef012345\\n\""),
		  STR("\"0123456789abcdef0123456789\\n0123456789abcdef012345\\n\"") },
		{ STR("{\"k\\u0065y\":1}"), STR("{\"key\":1}") },
		{ STR("\"\xc3\xa9\xe2\x82\xac\xf0\x9f\x98\x80\""),
		  STR("\"\xc3\xa9\xe2\x82\xac\xf0\x9f\x98\x80\"") },
	};

	CHECK_READINGS(READING_JSON, r);
}

/* A JavaScript client that cuts a string in the middle of an emoji sends such escapes. */
TEST(a_lone_surrogate_becomes_the_replacement_character)
{
	static const struct reading r[] = {
		{ STR("\"\\ud83d\""), STR("\"\xef\xbf\xbd\"") },
		{ STR("\"\\ude00x\""), STR("\"\xef\xbf\xbdx\"") },
		{ STR("\"\\ud83dx\\ude00\""), STR("\"\xef\xbf\xbdx\xef\xbf\xbd\"") },
		{ STR("\"\\ud83d\\ud83d\\ude00\""), STR("\"\xef\xbf\xbd\xf0\x9f\x98\x80\"") },
		{ STR("\"\\ude00\\ud83d\""), STR("\"\xef\xbf\xbd\xef\xbf\xbd\"") },
	};

	CHECK_READINGS(READING_JSON, r);
}

TEST(strict_json_refuses_what_only_json5_has)
{
	static const struct reading r[] = {
		{ STR("// x\n1"), STR("f:1:1: found '/', expected a value (strict JSON has no comments)") },
		{ STR("[1,]"),
		  STR("f:1:4: found ']', expected a value after ',' (strict JSON has no trailing comma)") },
		{ STR("{\"a\":1,}"),
		  STR("f:1:8: found '}', expected a key after ',' (strict JSON has no trailing comma)") },
		{ STR("'a'"),
		  STR("f:1:1: found a single quote, expected a value (strict JSON has double quotes only)") },
		{ STR("{a:1}"), STR("f:1:2: found 'a', expected a key in double quotes or '}'") },
		{ STR("+1"), STR("f:1:1: found '+', expected a value") },
		{ STR(".5"), STR("f:1:1: found '.', expected a value") },
		{ STR("5."),
		  STR("f:1:3: found the end of the text, expected a digit after the decimal point") },
		{ STR("0x10"), STR("f:1:2: found 'x10', expected nothing after the document") },
		{ STR("-Infinity"), STR("f:1:2: found 'Infinity', expected a digit after the sign") },
		{ STR("NaN"), STR("f:1:1: found 'NaN', expected a value") },
		{ STR("\"\\x41\""),
		  STR("f:1:3: found 'x41', expected one of \" \\ / b f n r t u after '\\'") },
		{ STR("\"\\v\""), STR("f:1:3: found 'v', expected one of \" \\ / b f n r t u after '\\'") },
		{ STR("\"a\tb\""),
		  STR("f:1:3: found a tab, expected its escape (strict JSON has no control characters in strings)") },
		{ STR("\"\\\n\""),
		  STR("f:1:3: found the end of the line, expected one of \" \\ / b f n r t u after '\\'") },
		{ STR("\"a\x02\""),
		  STR("f:1:3: found byte 0x02, expected its escape (strict JSON has no control characters in strings)") },
		{ STR("\f1"), STR("f:1:1: found byte 0x0c, expected a value") },
		{ STR("\xc2\xa0"
		      "1"),
		  STR("f:1:1: found U+00A0, expected a value") },
		{ STR("\xef\xbb\xbf[]"),
		  STR("f:1:1: found U+FEFF, expected a value (strict JSON has no byte order mark)") },
	};

	CHECK_READINGS(READING_JSON, r);
}

TEST(an_error_says_where_what_was_found_and_what_was_expected)
{
	static const struct reading r[] = {
		{ STR(""), STR("f:1:1: found the end of the text, expected a value") },
		{ STR("  \n "), STR("f:2:2: found the end of the text, expected a value") },
		{ STR("["), STR("f:1:2: found the end of the text, expected a value") },
		{ STR("[1"), STR("f:1:3: found the end of the text, expected ',' or ']'") },
		{ STR("[1 2]"), STR("f:1:4: found '2', expected ',' or ']'") },
		{ STR("[1}"), STR("f:1:3: found '}', expected ',' or ']'") },
		{ STR("{\"a\" 1}"), STR("f:1:6: found '1', expected ':' after the key") },
		{ STR("{\"a\":}"), STR("f:1:6: found '}', expected a value") },
		{ STR("{\"a\":1 \"b\":2}"), STR("f:1:8: found '\"', expected ',' or '}'") },
		{ STR("{\"a\":1]"), STR("f:1:7: found ']', expected ',' or '}'") },
		{ STR("{1:2}"), STR("f:1:2: found '1', expected a key in double quotes or '}'") },
		{ STR("[1] x"), STR("f:1:5: found 'x', expected nothing after the document") },
		{ STR("True"), STR("f:1:1: found 'True', expected a value") },
		{ STR("[nul]"), STR("f:1:2: found 'nul', expected a value") },
		{ STR("undefined_and_a_long_word_after_it"),
		  STR("f:1:1: found 'undefined_and_a_long_wor', expected a value") },
		{ STR("\"abc"), STR("f:1:1: this string has no closing quote") },
		{ STR("\"abc\\"), STR("f:1:1: this string has no closing quote") },
		{ STR("\"abc\\\""), STR("f:1:1: this string has no closing quote") },
		{ STR("\"abc\ndef\""), STR("f:1:5: found the end of the line, expected the closing quote") },
		{ STR("\"\\u12\""), STR("f:1:6: found '\"', expected four hexadecimal digits after '\\u'") },
		{ STR("\"\\u12g4\""),
		  STR("f:1:6: found 'g4', expected four hexadecimal digits after '\\u'") },
		{ STR("[01]"), STR("f:1:2: a number must not begin with 0 and another digit") },
		{ STR("-"), STR("f:1:2: found the end of the text, expected a digit after the sign") },
		{ STR("-a"), STR("f:1:2: found 'a', expected a digit after the sign") },
		{ STR("1.e5"), STR("f:1:3: found 'e5', expected a digit after the decimal point") },
		{ STR("1e"), STR("f:1:3: found the end of the text, expected a digit of the exponent") },
		{ STR("1e+"), STR("f:1:4: found the end of the text, expected a digit of the exponent") },
		{ STR("1e5.5"), STR("f:1:4: found '.', expected nothing after the document") },
		{ STR("\0"), STR("f:1:1: found byte 0x00, expected a value") },
		{ STR("[1,\n 2,\n \0]"), STR("f:3:2: found byte 0x00, expected a value") },
		{ STR("[1\0]"), STR("f:1:3: found byte 0x00, expected ',' or ']'") },
		{ STR("\xe2\x80\x9cquoted\xe2\x80\x9d"), STR("f:1:1: found U+201C, expected a value") },
	};

	CHECK_READINGS(READING_JSON, r);
}

TEST(a_line_ends_with_lf_cr_or_both_and_columns_count_characters)
{
	static const struct reading r[] = {
		{ STR("[\n\n  x]"), STR("f:3:3: found 'x', expected a value") },
		{ STR("[\r\n\r\n  x]"), STR("f:3:3: found 'x', expected a value") },
		{ STR("[\r\r  x]"), STR("f:3:3: found 'x', expected a value") },
		{ STR("[\n\r x]"), STR("f:3:2: found 'x', expected a value") },
		{ STR("[\"\xc3\xa9\xf0\x9f\x98\x80\", x]"), STR("f:1:8: found 'x', expected a value") },
		{ STR("\r"), STR("f:2:1: found the end of the text, expected a value") },
	};

	CHECK_READINGS(READING_JSON, r);
}

TEST(invalid_utf8_is_refused_with_its_position)
{
	static const struct reading r[] = {
		{ STR("\"a\xff\""), STR("f:1:3: byte 0xff is not valid UTF-8 here") },
		{ STR("\"\xc3\xa9\x80\""), STR("f:1:3: byte 0x80 is not valid UTF-8 here") },
		{ STR("\"\xed\xa0\x80\""), STR("f:1:2: byte 0xed is not valid UTF-8 here") },
		{ STR("\"\xc0\xaf\""), STR("f:1:2: byte 0xc0 is not valid UTF-8 here") },
		{ STR("\"\xf4\x90\x80\x80\""), STR("f:1:2: byte 0xf4 is not valid UTF-8 here") },
		{ STR("\"\xe2\x82"), STR("f:1:2: byte 0xe2 is not valid UTF-8 here") },
		{ STR("{\"\xe2\x28\":1}"), STR("f:1:3: byte 0xe2 is not valid UTF-8 here") },
		{ STR("[\xfe]"), STR("f:1:2: byte 0xfe is not valid UTF-8 here") },
		{ STR("[1]\xff\xfe"), STR("f:1:4: byte 0xff is not valid UTF-8 here") },
	};

	CHECK_READINGS(READING_JSON, r);
}

TEST(duplicate_keys_are_refused_at_the_second_one)
{
	static const struct reading r[] = {
		{ STR("{\"a\":1,\n \"b\":2,\n \"a\":3}"), STR("f:3:2: duplicate key 'a', first at 1:2") },
		{ STR("{\"a\":1,\"\\u0061\":2}"), STR("f:1:8: duplicate key 'a', first at 1:2") },
		{ STR("{\"\":1,\"\":2}"), STR("f:1:7: duplicate key '', first at 1:2") },
		{ STR("{\"\\u001b[31m\\n\":1,\"\\u001b[31m\\n\":2}"),
		  STR("f:1:19: duplicate key '\\x1b[31m\\x0a', first at 1:2") },
		{ STR("{\"a\":{\"a\":1},\"b\":{\"a\":1}}"), STR("{\"a\":{\"a\":1},\"b\":{\"a\":1}}") },
	};

	CHECK_READINGS(READING_JSON, r);
}

static struct value parse_with(struct arena *a, struct str text, struct json_opts opts)
{
	struct err e = { .kind = ERR_NONE };
	struct value v = { .kind = VALUE_KIND_COUNT_ };

	arena_init(a, (size_t)64 << 20);
	if (json_parse(a, text, &opts, &v, &e) < 0)
		fail_msg("%s", e.msg);
	return v;
}

TEST(every_value_and_key_knows_its_line_and_column)
{
	_cleanup_arena_ struct arena a;
	struct value v = parse_with(&a, STR("{\n  \"\xc3\xa9\": [1,\n   true],\n\t\"b\" : {\"c\": \"x\"}\n}"),
				    (struct json_opts){ .name = NULL });
	const struct member *first = &v.obj.m[0], *second = &v.obj.m[1];

	assert_int_equal(v.line, 1);
	assert_int_equal(v.col, 1);
	assert_int_equal(first->line, 2);
	assert_int_equal(first->col, 3);
	assert_int_equal(first->v.line, 2);
	assert_int_equal(first->v.col, 8);
	assert_int_equal(first->v.arr.v[0].col, 9);
	assert_int_equal(first->v.arr.v[1].line, 3);
	assert_int_equal(first->v.arr.v[1].col, 4);
	assert_int_equal(second->line, 4);
	assert_int_equal(second->col, 2);
	assert_int_equal(second->v.col, 8);
	assert_int_equal(second->v.obj.m[0].col, 9);
	assert_int_equal(second->v.obj.m[0].v.col, 14);
}

TEST(a_string_without_escapes_is_a_slice_of_the_text)
{
	static const char text[] = "[\"plain\", \"esc\\n\"]";
	_cleanup_arena_ struct arena a;
	struct value v = parse_with(&a, str_z(text), (struct json_opts){ .name = "f" });

	assert_ptr_equal(v.arr.v[0].s.p, text + 2);
	CHECK_STR(v.arr.v[0].s, STR("plain"));
	CHECK_STR(v.arr.v[1].s, STR("esc\n"));
}

TEST(with_last_wins_a_duplicate_keeps_the_first_place_and_the_last_value)
{
	_cleanup_arena_ struct arena a;
	_cleanup_buf_ struct buf out;
	struct value v = parse_with(&a, STR("{\"a\":1,\"b\":2,\"a\":3,\"c\":4,\"b\":5,\"a\":6}"),
				    (struct json_opts){ .dup_keys = JSON_DUP_LAST });
	struct jsonw w;

	buf_init(&out, 4096);
	jsonw_init(&w, &out, 0);
	json_write(&w, &v);
	CHECK_STR(buf_str(&out), STR("{\"a\":6,\"b\":5,\"c\":4}"));
	assert_int_equal(v.obj.m[0].v.col, 36);
}

/* {"k0":0,"k1":1,...}; with `again` that key stands twice. */
static void many_keys(struct buf *b, unsigned n, const char *again)
{
	buf_init(b, (size_t)16 << 20);
	buf_putc(b, '{');
	for (unsigned i = 0; i < n; i++)
		buf_printf(b, "%s\"k%u\":%u", i ? "," : "", i, i);
	if (again)
		buf_printf(b, ",\"%s\":-1", again);
	buf_putc(b, '}');
}

TEST(a_hundred_thousand_keys_are_read_and_found_quickly)
{
	_cleanup_arena_ struct arena a;
	_cleanup_buf_ struct buf b;
	struct value v;

	many_keys(&b, 100000, NULL);
	v = parse_with(&a, buf_str(&b), (struct json_opts){ .name = "f" });
	assert_int_equal(v.obj.n, 100000);
	/* One by one this would be five thousand million comparisons. */
	for (unsigned i = 0; i < 100000; i++) {
		char key[16];

		(void)snprintf(key, sizeof(key), "k%u", i);
		assert_int_equal(value_get(&v, str_z(key))->i, i);
	}
	assert_null(value_get(&v, STR("k100000")));
}

TEST(a_duplicate_among_many_keys_is_found_in_both_policies)
{
	static const unsigned sizes[] = { 15, 16, 17, 100, 5000 };

	for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
		_cleanup_arena_ struct arena a;
		_cleanup_buf_ struct buf b, out = { .p = NULL };
		struct value v;
		struct str got;

		many_keys(&b, sizes[i], "k3");
		got = outcome(&out, READING_JSON, buf_str(&b));
		CHECK_CASE(memmem(got.p, got.n, "duplicate key 'k3', first at 1:23", 33), "%u: %.*s",
			   sizes[i], (int)got.n, got.p);
		v = parse_with(&a, buf_str(&b), (struct json_opts){ .dup_keys = JSON_DUP_LAST });
		assert_int_equal(v.obj.n, sizes[i]);
		CHECK_STR(v.obj.m[3].key, STR("k3"));
		assert_int_equal(v.obj.m[3].v.i, -1);
		assert_int_equal(value_get(&v, STR("k3"))->i, -1);
		assert_int_equal(value_get(&v, STR("k14"))->i, 14);
	}
}

TEST(of_several_duplicates_the_first_in_the_text_is_reported)
{
	_cleanup_buf_ struct buf b, out = { .p = NULL };
	struct str got;

	many_keys(&b, 50, "k9");
	b.n--; /* the closing brace */
	buf_puts(&b, ",\"k1\":0,\"k9\":0}");
	got = outcome(&out, READING_JSON, buf_str(&b));
	CHECK_CASE(memmem(got.p, got.n, "duplicate key 'k9'", 18), "%.*s", (int)got.n, got.p);
}

/* Keys that FNV-1a of 32 bits cannot tell apart ("costarring" and "liquid") among enough others for an index. */
TEST(keys_whose_hashes_collide_stay_different_keys)
{
	_cleanup_arena_ struct arena a;
	_cleanup_buf_ struct buf b;
	struct value v;

	many_keys(&b, 30, "costarring");
	b.n--;
	buf_puts(&b, ",\"liquid\":-2}");
	v = parse_with(&a, buf_str(&b), (struct json_opts){ .name = "f" });
	assert_int_equal(v.obj.n, 32);
	assert_int_equal(value_get(&v, STR("costarring"))->i, -1);
	assert_int_equal(value_get(&v, STR("liquid"))->i, -2);
}

TEST_MAIN()
