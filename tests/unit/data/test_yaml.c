/* SPDX-License-Identifier: Apache-2.0 */
#include "check.h"
#include "reading.h"

#include <time.h>

/* The constructs that the athena settings file uses. */
TEST(yaml_reads_the_shapes_that_settings_files_have)
{
	static const struct reading r[] = {
		{ STR("# settings\nsandbox:\n  default_mode: light   # comment\n  rules:\n    - match: \"telegram:*\"\n"
		      "      mode: docker\n      allow: [read, 'search:x', \"*\"]\n    \n    - match: 'main'\n"
		      "      mode: none\n"),
		  STR("{\"sandbox\":{\"default_mode\":\"light\",\"rules\":[{\"match\":\"telegram:*\",\"mode\":\"docker\","
		      "\"allow\":[\"read\",\"search:x\",\"*\"]},{\"match\":\"main\",\"mode\":\"none\"}]}}") },
		{ STR("---\na: 1\n...\n"), STR("{\"a\":1}") },
		{ STR("%YAML 1.2\n---\na: 1\n"), STR("{\"a\":1}") },
		{ STR("\xef\xbb\xbf"
		      "a: 1\n"),
		  STR("{\"a\":1}") },
		{ STR("a: {b: [1, {c: d}], e: }\n"), STR("{\"a\":{\"b\":[1,{\"c\":\"d\"}],\"e\":null}}") },
		{ STR("{\"json\": [1, 2.5, null, true]}"), STR("{\"json\":[1,2.5,null,true]}") },
		{ STR("a: |\n  one\n  two\nb: >-\n  folded\n  text\n"),
		  STR("{\"a\":\"one\\ntwo\\n\",\"b\":\"folded text\"}") },
		{ STR("a: one\n  two\n"), STR("{\"a\":\"one two\"}") },
		{ STR("- 1\n- - 2\n  - 3\n- a: b\n"), STR("[1,[2,3],{\"a\":\"b\"}]") },
		{ STR("? a\n: b\n"), STR("{\"a\":\"b\"}") },
		{ STR("\"q: *\": 'it''s'\n"), STR("{\"q: *\":\"it's\"}") },
		{ STR("a: \"\\x41\\u00e9\\n\\0\"\n"), STR("{\"a\":\"A\xc3\xa9\\n\\u0000\"}") },
		{ STR("a: http://x:80/y#z\n"), STR("{\"a\":\"http://x:80/y#z\"}") },
		{ STR("a:\r\n  b: 1\r\n"), STR("{\"a\":{\"b\":1}}") },
		{ STR("just text"), STR("\"just text\"") },
	};

	CHECK_READINGS(READING_YAML, r);
}

TEST(yaml_without_content_is_an_empty_object)
{
	static const struct reading r[] = {
		{ STR(""), STR("{}") },
		{ { NULL, 0 }, STR("{}") },
		{ STR("# only a comment\n\n"), STR("{}") },
		{ STR("---\n"), STR("{}") },
		{ STR("---\n...\n"), STR("{}") },
		{ STR("null"), STR("null") },
		{ STR("''"), STR("\"\"") },
	};

	CHECK_READINGS(READING_YAML, r);
}

TEST(yaml_plain_words_are_what_the_core_schema_of_1_2_says)
{
	static const struct reading r[] = {
		{ STR("[~, null, Null, NULL, nULL]"), STR("[null,null,null,null,\"nULL\"]") },
		{ STR("[true, True, TRUE, false, False, FALSE, tRUE]"),
		  STR("[true,true,true,false,false,false,\"tRUE\"]") },
		{ STR("[yes, no, on, off, y, n, Yes, NO]"),
		  STR("[\"yes\",\"no\",\"on\",\"off\",\"y\",\"n\",\"Yes\",\"NO\"]") },
		{ STR("['true', \"1\", '~', \"\"]"), STR("[\"true\",\"1\",\"~\",\"\"]") },
		{ STR("[0, -1, +7, 010, 0x1F, 0o17, 9223372036854775807]"),
		  STR("[0,-1,7,10,31,15,9223372036854775807]") },
		{ STR("[0x, 0o8, 0xg, 0b1, -0x1, 1_000, 12:30:45, 0X1f]"),
		  STR("[\"0x\",\"0o8\",\"0xg\",\"0b1\",\"-0x1\",\"1_000\",\"12:30:45\",\"0X1f\"]") },
		{ STR("[1.5, -.5, 3., 1e3, 1E-2, +.5e1, 12e03]"), STR("[1.5,-0.5,3,1000,0.01,5,12000]") },
		{ STR("[., .e1, 1e, 1e+, +, -x, 1.2.3, 1.5x, ..., e5]"),
		  STR("[\".\",\".e1\",\"1e\",\"1e+\",\"+\",\"-x\",\"1.2.3\",\"1.5x\",\"...\",\"e5\"]") },
		{ STR("[.inf, -.Inf, +.INF, .nan, .NaN, .NAN]"), STR("[null,null,null,null,null,null]") },
		{ STR("[.iNf, .nAn, -.nan, inf]"), STR("[\".iNf\",\".nAn\",\"-.nan\",\"inf\"]") },
		{ STR("[2026-11-15, 1.2.3.4, =, 0.5Gi]"),
		  STR("[\"2026-11-15\",\"1.2.3.4\",\"=\",\"0.5Gi\"]") },
		{ STR("{1: a, true: b, ~: c, 0x10: d}"),
		  STR("{\"1\":\"a\",\"true\":\"b\",\"~\":\"c\",\"0x10\":\"d\"}") },
		{ STR("[0xffffffffffffffffffff, 0o7777777777777777777777]"),
		  STR("[1.2089258196146292e+24,73786976294838210000]") },
	};

	CHECK_READINGS(READING_YAML, r);
}

TEST(yaml_refuses_what_could_hide_or_run_something)
{
	static const struct reading r[] = {
		{ STR("a: &x 1\nb: *x\n"),
		  STR("f:1:4: anchor 'x' is not accepted, write the value where it is used") },
		{ STR("a: &x [1]\n"),
		  STR("f:1:4: anchor 'x' is not accepted, write the value where it is used") },
		{ STR("a: &x {b: 1}\n"),
		  STR("f:1:4: anchor 'x' is not accepted, write the value where it is used") },
		{ STR("&k a: 1\n"),
		  STR("f:1:1: anchor 'k' is not accepted, write the value where it is used") },
		{ STR("a: *x\n"), STR("f:1:4: alias 'x' is not accepted, write the value where it is used") },
		{ STR("*x : 1\n"),
		  STR("f:1:1: alias 'x' is not accepted, write the value where it is used") },
		{ STR("a: !!python/object:os.system 'ls'\n"),
		  STR("f:1:4: tag 'tag:yaml.org,2002:python/object:os.system' is not accepted, write the plain value") },
		{ STR("a: !!str 1\n"),
		  STR("f:1:4: tag 'tag:yaml.org,2002:str' is not accepted, write the plain value") },
		{ STR("a: !x [1]\n"), STR("f:1:4: tag '!x' is not accepted, write the plain value") },
		{ STR("a: !x {b: 1}\n"), STR("f:1:4: tag '!x' is not accepted, write the plain value") },
		{ STR("a: !%1b%5b31m 1\n"),
		  STR("f:1:4: tag '!\\x1b[31m' is not accepted, write the plain value") },
		{ STR("%TAG ! tag:x,1:\n---\na: 1\n"), STR("f:1:1: tag directives are not accepted") },
		{ STR("a:\n  <<: {b: 1}\n"),
		  STR("f:2:3: merge key '<<' is not accepted, write the keys where they are used") },
		{ STR("'<<': 1\n"), STR("{\"<<\":1}") },
		{ STR("a: 1\n---\nb: 2\n"), STR("f:2:1: found a second document, expected one") },
		{ STR("? [a, b]\n: 1\n"), STR("f:1:3: found a list as a key, expected a string") },
		{ STR("{{a: 1}: 2}\n"), STR("f:1:2: found a map as a key, expected a string") },
		{ STR("a: 1\n?\n: 2\n"), STR("f:2:2: found no key, expected one before ':'") },
		{ STR("a: 1\nb: 2\n'a': 3\n"), STR("f:3:1: duplicate key 'a', first at 1:1") },
	};

	CHECK_READINGS(READING_YAML, r);
}

TEST(yaml_mistakes_are_told_with_line_and_column)
{
	static const struct reading r[] = {
		{ STR("a: [1, 2\nb: 3\n"),
		  STR("f:2:2: did not find expected ',' or ']', while parsing a flow sequence from line 1 on") },
		{ STR("a: 'x\n"),
		  STR("f:2:1: found unexpected end of stream, while scanning a quoted scalar from line 1 on") },
		{ STR("[1,"), STR("f:1:4: did not find expected node content, while parsing a flow node") },
		{ STR("a: b: c\n"), STR("f:1:5: mapping values are not allowed in this context") },
		{ STR("a: @x\n"),
		  STR("f:1:4: found character that cannot start any token, while scanning for the next token") },
		{ STR("a:\n\t- b\n"),
		  STR("f:2:1: found character that cannot start any token, while scanning for the next token") },
		{ STR("a: \xff\n"), STR("f:1:4: byte 0xff is not valid UTF-8 here") },
		{ STR("a: 1\nb: \0\n"), STR("f:2:4: found byte 0x00, expected text") },
		{ STR("a: 1\nb: \x01\n"), STR("f:2:4: control characters are not allowed (byte 0x01)") },
		{ STR("a: \"\\ud800\"\n"),
		  STR("f:1:7: found invalid Unicode character escape code, while parsing a quoted scalar") },
	};

	CHECK_READINGS(READING_YAML, r);
}

TEST(yaml_values_and_keys_know_their_place)
{
	_cleanup_arena_ struct arena a;
	struct value v;
	struct err e;

	arena_init(&a, 1 << 20);
	assert_true(yaml_parse(&a, STR("# c\na:\n  - \xc3\xa9: x\n    y: 2\n"), "f", &v, &e) >= 0);
	assert_int_equal(v.obj.m[0].line, 2);
	assert_int_equal(v.obj.m[0].col, 1);
	assert_int_equal(v.obj.m[0].v.arr.v[0].line, 3);
	assert_int_equal(v.obj.m[0].v.arr.v[0].col, 5);
	assert_int_equal(v.obj.m[0].v.arr.v[0].obj.m[0].v.col, 8);
	assert_int_equal(v.obj.m[0].v.arr.v[0].obj.m[1].line, 4);
	assert_int_equal(v.obj.m[0].v.arr.v[0].obj.m[1].v.col, 8);
	CHECK_STR(v.obj.m[0].v.arr.v[0].obj.m[1].v.raw, STR("2"));
}

static double now(void)
{
	struct timespec t;

	(void)clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
	return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

static void check_refused_quickly(const char *piece, size_t n, const char *want)
{
	_cleanup_buf_ struct buf b, out = { .p = NULL };
	struct str got;
	double start;

	buf_init(&b, (size_t)4 << 20);
	for (size_t i = 0; i < n; i++)
		buf_puts(&b, piece);
	start = now();
	got = outcome(&out, READING_YAML, buf_str(&b));
	CHECK_CASE(strstr(got.p, want), "'%s': %s", piece, got.p);
	CHECK_CASE(now() - start < 2.0, "'%s': %f s", piece, now() - start);
}

TEST(yaml_bombs_are_refused_before_they_cost_anything)
{
	check_refused_quickly("[", 100000, "f:1:65: nesting deeper than the maximum of 64");
	check_refused_quickly("[", 1 << 20, "nesting deeper than the maximum of 64");
	check_refused_quickly("{a: ", 100000, "nesting deeper than the maximum of 64");
	check_refused_quickly("- ", 100000, "nesting deeper than the maximum of 64");
	check_refused_quickly("[\n", 100000, "nesting deeper than the maximum of 64");
	check_refused_quickly("? ", 100000, "found a map as a key, expected a string");
	check_refused_quickly("a: 0123456789abcdef\n", 100000,
			      "f:1:1: the text is longer than the maximum in bytes of 1048576");
	check_refused_quickly("a: &a [*a,*a]\n", 1000, "anchor 'a' is not accepted");
}

TEST(yaml_nesting_up_to_the_maximum_is_read)
{
	_cleanup_buf_ struct buf b, out = { .p = NULL };

	buf_init(&b, 1 << 20);
	for (int i = 0; i < 64; i++)
		buf_putc(&b, '[');
	for (int i = 0; i < 64; i++)
		buf_putc(&b, ']');
	CHECK_STR(outcome(&out, READING_YAML, buf_str(&b)), buf_str(&b));
}

TEST(yaml_brackets_inside_text_are_not_nesting)
{
	_cleanup_buf_ struct buf b, out = { .p = NULL };

	buf_init(&b, 1 << 20);
	buf_puts(&b, "# ");
	for (int i = 0; i < 500; i++)
		buf_putc(&b, '[');
	buf_puts(&b, "\na: '");
	for (int i = 0; i < 500; i++)
		buf_putc(&b, '{');
	buf_puts(&b, "'\n");
	assert_int_equal(outcome(&out, READING_YAML, buf_str(&b)).n, 508);
}

TEST(yaml_with_many_keys_finds_a_duplicate)
{
	_cleanup_buf_ struct buf b, out = { .p = NULL };

	buf_init(&b, 1 << 20);
	for (int i = 0; i < 20000; i++)
		buf_printf(&b, "key%d: %d\n", i, i);
	buf_puts(&b, "key77: again\n");
	CHECK_STR(outcome(&out, READING_YAML, buf_str(&b)),
		  STR("f:20001:1: duplicate key 'key77', first at 78:1"));
}

TEST(yaml_that_does_not_fit_the_arena_is_a_limit_error)
{
	static const char *const texts[] = { "a: 1\n", "[1, 2, 3]",
					     "a text that is longer than the arena is" };

	for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
		_cleanup_arena_ struct arena a;
		struct value v;
		struct err e;

		arena_init(&a, 20);
		assert_true(yaml_parse(&a, str_z(texts[i]), NULL, &v, &e) < 0);
		assert_int_equal(e.kind, ERR_LIMIT);
		CHECK_CASE(strstr(e.msg, "the document needs more memory than its maximum of 20"), "%s",
			   e.msg);
	}
}

TEST_MAIN()
