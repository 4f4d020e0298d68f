/* SPDX-License-Identifier: Apache-2.0 */
#include "check.h"
#include "reading.h"

TEST(json5_reads_its_own_short_example)
{
	static const struct reading r[] = {
		{ STR("{\n  // comments\n  unquoted: 'and you can quote me on that',\n"
		      "  singleQuotes: 'I can use \"double quotes\" here',\n"
		      "  lineBreaks: \"Look, Mom! \\\nNo \\\\n's!\",\n  hexadecimal: 0xdecaf,\n"
		      "  leadingDecimalPoint: .8675309, andTrailing: 8675309.,\n  positiveSign: +1,\n"
		      "  trailingComma: 'in objects', andIn: ['arrays',],\n  \"backwardsCompatible\": \"with JSON\",\n}\n"),
		  STR("{\"unquoted\":\"and you can quote me on that\",\"singleQuotes\":\"I can use \\\"double quotes\\\" here\","
		      "\"lineBreaks\":\"Look, Mom! No \\\\n's!\",\"hexadecimal\":912559,\"leadingDecimalPoint\":0.8675309,"
		      "\"andTrailing\":8675309,\"positiveSign\":1,\"trailingComma\":\"in objects\",\"andIn\":[\"arrays\"],"
		      "\"backwardsCompatible\":\"with JSON\"}") },
	};

	CHECK_READINGS(READING_JSON5, r);
}

TEST(json5_skips_comments_and_every_unicode_space)
{
	static const struct reading r[] = {
		{ STR("// a\n1"), STR("1") },
		{ STR("// a\r1"), STR("1") },
		{ STR("// \xc3\xa9\xe2\x80\xa8"
		      "1"),
		  STR("1") },
		{ STR("1//"), STR("1") },
		{ STR("/**/1/***/"), STR("1") },
		{ STR("/* a\n * b \xc3\xa9\r\n **/[/*,*/1/*]*/,//]\n]"), STR("[1]") },
		{ STR("\xef\xbb\xbf\v\f\xc2\xa0\xe2\x80\xa8\xe2\x80\xa9\xe1\x9a\x80\xe2\x80\x80\xe2\x80\x8a\xe2\x80\xaf"
		      "\xe2\x81\x9f\xe3\x80\x80"
		      "1"),
		  STR("1") },
		{ STR("[                                        1,\t\t                 2]"), STR("[1,2]") },
		{ STR("/"), STR("f:1:2: found the end of the text, expected '/' or '*' to begin a comment") },
		{ STR("[/]"), STR("f:1:3: found ']', expected '/' or '*' to begin a comment") },
		{ STR("1\n /* no end *"), STR("f:2:2: this comment has no end, expected '*/'") },
		{ STR("// \xff"), STR("f:1:4: byte 0xff is not valid UTF-8 here") },
		{ STR("/*\n\xc3*/"), STR("f:2:1: byte 0xc3 is not valid UTF-8 here") },
		{ STR("// only a comment"), STR("f:1:18: found the end of the text, expected a value") },
		{ STR("\xe2\x80\x8b"
		      "1"),
		  STR("f:1:1: found U+200B, expected a value") },
	};

	CHECK_READINGS(READING_JSON5, r);
}

TEST(json5_strings_have_both_quotes_and_more_escapes)
{
	static const struct reading r[] = {
		{ STR("'it''s'"), STR("f:1:5: found a single quote, expected nothing after the document") },
		{ STR("'it\\'s \"x\"'"), STR("\"it's \\\"x\\\"\"") },
		{ STR("'\\x41\\xe9\\v\\0'"), STR("\"A\xc3\xa9\\u000b\\u0000\"") },
		{ STR("'\\a\\c\\\xc3\xa9\\\xf0\x9f\x98\x80\\ '"), STR("\"ac\xc3\xa9\xf0\x9f\x98\x80 \"") },
		{ STR("'a\\\nb\\\rc\\\r\nd\\\xe2\x80\xa8"
		      "e\\\xe2\x80\xa9"
		      "f'"),
		  STR("\"abcdef\"") },
		{ STR("'\\ud83d\\\n\\ude00'"), STR("\"\xf0\x9f\x98\x80\"") },
		{ STR("'\xe2\x80\xa8\xe2\x80\xa9'"), STR("\"\\u2028\\u2029\"") },
		{ STR("'\t\x01\0'"), STR("\"\\t\\u0001\\u0000\"") },
		{ STR("'\\01'"), STR("f:1:2: octal escapes are not accepted, write \\xHH") },
		{ STR("'\\1'"), STR("f:1:2: octal escapes are not accepted, write \\xHH") },
		{ STR("'\\x4'"),
		  STR("f:1:5: found a single quote, expected two hexadecimal digits after '\\x'") },
		{ STR("'\\u{41}'"), STR("f:1:4: found '{', expected four hexadecimal digits after '\\u'") },
		{ STR("'a\nb'"), STR("f:1:3: found the end of the line, expected the closing quote") },
		{ STR("\"a'"), STR("f:1:1: this string has no closing quote") },
	};

	CHECK_READINGS(READING_JSON5, r);
}

TEST(json5_keys_need_no_quotes_when_they_are_identifiers)
{
	static const struct reading r[] = {
		{ STR("{a:1,$:2,_:3,a1$_:4}"), STR("{\"a\":1,\"$\":2,\"_\":3,\"a1$_\":4}") },
		{ STR("{null:1,true:2,while:3,Infinity:4}"),
		  STR("{\"null\":1,\"true\":2,\"while\":3,\"Infinity\":4}") },
		{ STR("{'single':1,\"double\":2}"), STR("{\"single\":1,\"double\":2}") },
		{ STR("{\xc3\xa9t\xc3\xa9:1,\xe5\xad\x97:2,\xf0\x90\x90\x80:3}"),
		  STR("{\"\xc3\xa9t\xc3\xa9\":1,\"\xe5\xad\x97\":2,\"\xf0\x90\x90\x80\":3}") },
		{ STR("{a\xcc\x81:1,b\xe2\x80\x8c\xe2\x80\x8d:2,c\xe2\x80\xbf:3}"),
		  STR("{\"a\xcc\x81\":1,\"b\xe2\x80\x8c\xe2\x80\x8d\":2,\"c\xe2\x80\xbf\":3}") },
		{ STR("{\\u0061b\\u0063:1}"), STR("{\"abc\":1}") },
		{ STR("{__proto__:1}"), STR("{\"__proto__\":1}") },
		{ STR("{1a:1}"), STR("f:1:2: found '1a', expected a key or '}'") },
		{ STR("{-:1}"), STR("f:1:2: found '-', expected a key or '}'") },
		{ STR("{\xcc\x81:1}"), STR("f:1:2: found U+0301, expected a key or '}'") },
		{ STR("{a\xe2\x82\xac:1}"), STR("f:1:3: found U+20AC, expected ':' after the key") },
		{ STR("{\xff:1}"), STR("f:1:2: byte 0xff is not valid UTF-8 here") },
		{ STR("{\\u0030:1}"), STR("f:1:2: this escape is no letter of a key without quotes") },
		{ STR("{a\\u002d:1}"), STR("f:1:3: this escape is no letter of a key without quotes") },
		{ STR("{\\ud83d:1}"), STR("f:1:2: this escape is no letter of a key without quotes") },
		{ STR("{a\\x41:1}"),
		  STR("f:1:4: found 'x41', expected 'u' after '\\' in a key without quotes") },
		{ STR("{a\\"),
		  STR("f:1:4: found the end of the text, expected 'u' after '\\' in a key without quotes") },
		{ STR("{\\u00:1}"), STR("f:1:6: found ':', expected four hexadecimal digits after '\\u'") },
		{ STR("{,}"), STR("f:1:2: found ',', expected a key or '}'") },
		{ STR("{a:1,,}"), STR("f:1:6: found ',', expected a key or '}'") },
		{ STR("{a:1 b:2}"), STR("f:1:6: found 'b', expected ',' or '}'") },
		{ STR("{a"), STR("f:1:3: found the end of the text, expected ':' after the key") },
		{ STR("{a/"),
		  STR("f:1:4: found the end of the text, expected '/' or '*' to begin a comment") },
		{ STR("{a:1/"),
		  STR("f:1:6: found the end of the text, expected '/' or '*' to begin a comment") },
		{ STR("{a:1,/"),
		  STR("f:1:7: found the end of the text, expected '/' or '*' to begin a comment") },
		{ STR("1 /x"), STR("f:1:4: found 'x', expected '/' or '*' to begin a comment") },
		{ STR("[,]"), STR("f:1:2: found ',', expected a value") },
		{ STR("[1,,]"), STR("f:1:4: found ',', expected a value") },
		{ STR("[1,2,]"), STR("[1,2]") },
		{ STR("{a:1,}"), STR("{\"a\":1}") },
	};

	CHECK_READINGS(READING_JSON5, r);
}

TEST(json5_positions_stay_right_across_continuations_comments_and_marks)
{
	static const struct reading r[] = {
		{ STR("\xef\xbb\xbf?"), STR("f:1:1: found '?', expected a value") },
		{ STR("['a\\\nb', ?]"), STR("f:2:5: found '?', expected a value") },
		{ STR("['\\\xc3\xa9', ?]"), STR("f:1:8: found '?', expected a value") },
		{ STR("[/*\r\n\xc3\xa9*/ ?]"), STR("f:2:5: found '?', expected a value") },
	};
	_cleanup_arena_ struct arena a;
	struct value v;
	struct err e;

	CHECK_READINGS(READING_JSON5, r);
	arena_init(&a, 1 << 20);
	assert_true(read_text(&a, READING_JSON5,
			      STR("\xef\xbb\xbf{'\\\xc3\xa9\\\r\n': /*\xc3\xa9\n*/ 1, \xc3\xa9\\u0061: 2}"),
			      &v, &e) >= 0);
	assert_int_equal(v.col, 1);
	assert_int_equal(v.obj.m[0].col, 2);
	assert_int_equal(v.obj.m[0].v.line, 3);
	assert_int_equal(v.obj.m[0].v.col, 4);
	assert_int_equal(v.obj.m[1].col, 7);
	assert_int_equal(v.obj.m[1].v.col, 16);
}

TEST_MAIN()
