/* SPDX-License-Identifier: Apache-2.0 */
#include "check.h"
#include "reading.h"

TEST(what_json_cannot_say_is_written_as_null)
{
	static const struct reading r[] = {
		{ STR("[Infinity,-Infinity,NaN,1e999]"), STR("[null,null,null,null]") },
	};

	CHECK_READINGS(READING_JSON5, r);
}

TEST(an_integer_too_long_for_64_bits_keeps_its_digits)
{
	static const struct reading r[] = {
		{ STR("12345678901234567890123"), STR("12345678901234567890123") },
		{ STR("-98765432109876543210"), STR("-98765432109876543210") },
		{ STR("9223372036854775808"), STR("9223372036854775808") },
		{ STR("0xffffffffffffffffff"), STR("4.722366482869645e+21") },
		{ STR("+12345678901234567890123"), STR("1.2345678901234568e+22") },
		{ STR("1.5"), STR("1.5") },
		{ STR("3676470588235294208.5"), STR("3676470588235294208") },
		{ STR("1e30"), STR("1e+30") },
	};

	CHECK_READINGS(READING_JSON5, r);
}

TEST(a_tree_deeper_than_the_writer_fails_the_buffer)
{
	_cleanup_arena_ struct arena a;
	_cleanup_buf_ struct buf text, out;
	struct json_opts opts = { .name = "f", .max_depth = 500 };
	struct jsonw w;
	struct value v;
	struct err e;

	arena_init(&a, 1 << 20);
	buf_init(&text, 1 << 20);
	for (int i = 0; i < 100; i++)
		buf_puts(&text, "[{\"a\":");
	buf_puts(&text, "1");
	for (int i = 0; i < 100; i++)
		buf_puts(&text, "}]");
	assert_true(json_parse(&a, buf_str(&text), &opts, &v, &e) >= 0);
	buf_init(&out, 1 << 20);
	jsonw_init(&w, &out, 0);
	json_write(&w, &v);
	assert_true(out.failed);
}

/* A small generator: trees of every kind, always the same for one seed. */
struct maker {
	uint64_t state;
	struct arena *a;
};

static uint32_t pick(struct maker *m, uint32_t n)
{
	m->state = m->state * 6364136223846793005u + 1442695040888963407u;
	return (uint32_t)(m->state >> 33) % n;
}

static struct str make_string(struct maker *m)
{
	static const char *const piece[] = {
		"a",    "\"",   "\\",           "\n",
		"\x01", "\x7f", "\xc3\xa9",     "\xf0\x9f\x98\x80",
		"/",    "",     "\xe2\x80\xa8", "long plain text of more than sixteen bytes"
	};
	_cleanup_buf_ struct buf b;

	buf_init(&b, 4096);
	for (uint32_t i = pick(m, 6); i > 0; i--)
		buf_puts(&b, piece[pick(m, sizeof(piece) / sizeof(piece[0]))]);
	if (pick(m, 8) == 0)
		buf_putc(&b, '\0');
	return arena_str(m->a, buf_str(&b));
}

static struct value make_value(struct maker *m, unsigned depth);

static struct value make_object(struct maker *m, unsigned depth)
{
	struct value v = { .kind = VALUE_OBJ };

	v.obj.n = pick(m, 4) ? pick(m, 5) : 40;
	v.obj.m = ARENA_ARRAY(m->a, struct member, v.obj.n);
	for (size_t i = 0; i < v.obj.n; i++) {
		struct str tail = make_string(m);

		v.obj.m[i].key = arena_printf(m->a, "%zu%.*s", i, (int)tail.n, tail.p);
		v.obj.m[i].v = make_value(m, depth - 1);
	}
	return v;
}

static struct value make_array(struct maker *m, unsigned depth)
{
	struct value v = { .kind = VALUE_ARR };

	v.arr.n = pick(m, 5);
	v.arr.v = ARENA_ARRAY(m->a, struct value, v.arr.n);
	for (size_t i = 0; i < v.arr.n; i++)
		v.arr.v[i] = make_value(m, depth - 1);
	return v;
}

static double make_double(struct maker *m)
{
	static const double base[] = { 0.1,  1e300, 5e-324, 1.7976931348623157e308, 123456.789, 0x1p63,
				       -2.5, 1e21,  1e-7 };

	return base[pick(m, 9)] / (1 + pick(m, 1000));
}

static struct value make_value(struct maker *m, unsigned depth)
{
	switch (pick(m, depth > 0 ? 8 : 5)) {
	case 0:
		return (struct value){ .kind = VALUE_NULL };
	case 1:
		return (struct value){ .kind = VALUE_BOOL, .b = pick(m, 2) };
	case 2:
		return (struct value){ .kind = VALUE_INT, .i = (int64_t)(m->state << pick(m, 64)) };
	case 3:
		return (struct value){ .kind = VALUE_NUM, .num = make_double(m) };
	case 4:
		return (struct value){ .kind = VALUE_STR, .s = make_string(m) };
	case 5:
		return make_array(m, depth);
	default:
		return make_object(m, depth);
	}
}

TEST(what_is_written_reads_back_equal)
{
	for (unsigned seed = 0; seed < 3000; seed++) {
		_cleanup_arena_ struct arena a;
		_cleanup_buf_ struct buf out;
		struct maker m = { .state = seed, .a = &a };
		struct value made, again;
		struct jsonw w;
		struct err e;

		arena_init(&a, (size_t)64 << 20);
		buf_init(&out, 1 << 20);
		jsonw_init(&w, &out, seed % 3);
		made = make_value(&m, 4);
		json_write(&w, &made);
		assert_false(out.failed || a.failed);
		for (int format = READING_JSON; format <= READING_JSON5; format++) {
			if (read_text(&a, (enum reading_format)format, buf_str(&out), &again, &e) < 0)
				fail_msg("seed %u: %s", seed, e.msg);
			CHECK_CASE(value_equal(&made, &again) && value_equal(&again, &made), "seed %u: %s",
				   seed, out.p);
		}
	}
}

TEST_MAIN()
