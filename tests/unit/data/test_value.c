/* SPDX-License-Identifier: Apache-2.0 */
#include "check.h"
#include "reading.h"

static struct value parse(struct arena *a, const char *text)
{
	struct value v = { .kind = VALUE_NULL };
	struct err e;

	if (read_text(a, READING_JSON5, str_z(text), &v, &e) < 0)
		fail_msg("%s", e.msg);
	return v;
}

TEST(every_kind_has_a_name)
{
	static const char *const want[] = { "null",   "boolean", "integer", "number",
					    "string", "array",   "object",  "unknown" };

	for (int k = 0; k <= VALUE_KIND_COUNT_; k++)
		assert_string_equal(value_kind_name((enum value_kind)k), want[k]);
}

TEST(a_member_is_found_by_key_and_by_path)
{
	_cleanup_arena_ struct arena a;
	struct value v;

	arena_init(&a, 1 << 20);
	v = parse(&a, "{a: {b: {c: 5}, d: null}, e: [1]}");
	assert_int_equal(value_path(&v, "a.b.c")->i, 5);
	assert_int_equal(value_path(&v, "a.d")->kind, VALUE_NULL);
	assert_int_equal(value_get(&v, STR("e"))->kind, VALUE_ARR);
	assert_int_equal(value_member(&v, STR("e"))->col, 27);
}

TEST(what_is_not_there_is_null)
{
	_cleanup_arena_ struct arena a;
	struct value v;

	arena_init(&a, 1 << 20);
	v = parse(&a, "{a: {b: 1}, e: [1], s: 's'}");
	assert_null(value_path(&v, "a.x"));
	assert_null(value_path(&v, "x.b"));
	assert_null(value_path(&v, "a.b.c"));
	assert_null(value_path(&v, "e.0"));
	assert_null(value_path(&v, ""));
	assert_null(value_get(NULL, STR("a")));
	assert_null(value_member(value_get(&v, STR("s")), STR("s")));
}

TEST(of_duplicate_keys_in_a_tree_made_by_hand_the_last_counts)
{
	struct member m[] = { { .key = STR("a"), .v = { .kind = VALUE_INT, .i = 1 } },
			      { .key = STR("a"), .v = { .kind = VALUE_INT, .i = 2 } } };
	struct value v = { .kind = VALUE_OBJ, .obj = { .m = m, .n = 2 } };

	assert_int_equal(value_get(&v, STR("a"))->i, 2);
}

/* Readers of config merge objects: an index that no longer fits must not hide a member. */
TEST(an_index_is_not_used_after_the_object_grew)
{
	_cleanup_arena_ struct arena a;
	struct member *more;
	struct value v;

	arena_init(&a, 1 << 20);
	v = parse(&a, "{a:1,b:1,c:1,d:1,e:1,f:1,g:1,h:1,i:1,j:1,k:1,l:1,m:1,n:1,o:1,p:1,q:1,r:1}");
	assert_non_null(v.index);
	assert_int_equal(value_get(&v, STR("r"))->i, 1);
	more = ARENA_ARRAY(&a, struct member, v.obj.n + 1);
	memcpy(more, v.obj.m, v.obj.n * sizeof(*more));
	more[v.obj.n] = (struct member){ .key = STR("z"), .v = { .kind = VALUE_INT, .i = 26 } };
	v.obj.m = more;
	v.obj.n++;
	assert_int_equal(value_get(&v, STR("z"))->i, 26);
}

TEST(equality_is_deep_and_blind_to_order_position_and_spelling)
{
	static const struct {
		const char *a, *b;
		bool equal;
	} c[] = {
		{ "null", " null", true },
		{ "true", "true", true },
		{ "true", "false", false },
		{ "1", "1.0", true },
		{ "1", "0x1", true },
		{ "1", "'1'", false },
		{ "0", "null", false },
		{ "0", "false", false },
		{ "1.5", "15e-1", true },
		{ "1.5", "1", false },
		{ "1", "1.5", false },
		{ "NaN", "NaN", true },
		{ "Infinity", "-Infinity", false },
		{ "Infinity", "1", false },
		{ "9223372036854775807", "9223372036854775808", false },
		{ "9223372036854775808", "9223372036854775808", true },
		{ "'a'", "\"\\u0061\"", true },
		{ "'a'", "'b'", false },
		{ "[1,2]", "[1,2]", true },
		{ "[1,2]", "[2,1]", false },
		{ "[1,2]", "[1,2,3]", false },
		{ "[]", "{}", false },
		{ "{a:1,b:[{}]}", "{b:[{}],a:1}", true },
		{ "{a:1}", "{a:2}", false },
		{ "{a:1}", "{b:1}", false },
		{ "{a:1}", "{a:1,b:1}", false },
		{ "{}", "{}", true },
	};
	_cleanup_arena_ struct arena arena;

	arena_init(&arena, 1 << 20);
	for (size_t i = 0; i < sizeof(c) / sizeof(c[0]); i++) {
		struct value a = parse(&arena, c[i].a), b = parse(&arena, c[i].b);

		CHECK_CASE(value_equal(&a, &b) == c[i].equal && value_equal(&b, &a) == c[i].equal,
			   "%s and %s", c[i].a, c[i].b);
	}
}

TEST_MAIN()
