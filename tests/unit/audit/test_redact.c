/* SPDX-License-Identifier: Apache-2.0 */
#include "check.h"

#include "audit/redact.h"

#include <errno.h>

static struct redactor *knows(struct str name, struct str value)
{
	struct redactor *r = NULL;

	assert_int_equal(redactor_new(&r), 0);
	assert_int_equal(redactor_add(r, name, value), 0);
	return r;
}

static void check_put(const struct redactor *r, struct str in, struct str want)
{
	_cleanup_buf_ struct buf b = { 0 };

	buf_init(&b, 1 << 20);
	redact_put(r, &b, in);
	CHECK_STR(buf_str(&b), want);
}

TEST(a_value_becomes_its_name_wherever_it_stands)
{
	_cleanup_(redactor_freep) struct redactor *r = knows(STR("T"), STR("abcd"));

	check_put(r, STR("abcd"), STR("${T}"));
	check_put(r, STR("xabcdx"), STR("x${T}x"));
	check_put(r, STR("abcdabcd"), STR("${T}${T}"));
	check_put(r, STR("abcabcd"), STR("abc${T}"));
	check_put(r, STR("abc"), STR("abc"));
	check_put(r, STR(""), STR(""));
}

TEST(other_ways_to_write_it_are_known)
{
	static const struct str ways[] = {
		STR("p\"w /1\xc3\xa9"),    STR("p\\\"w /1\xc3\xa9"),  STR("cCJ3IC8xw6k"),
		STR("p%22w%20%2F1%C3%A9"), STR("p%22w%20%2f1%c3%a9"), STR("702277202f31c3a9"),
	};
	_cleanup_(redactor_freep) struct redactor *r = knows(STR("PW"), STR("p\"w /1\xc3\xa9"));

	for (size_t i = 0; i < sizeof(ways) / sizeof(ways[0]); i++) {
		_cleanup_buf_ struct buf b = { 0 };

		CHECK_CASE(redact_finds(r, ways[i]), "way %zu", i);
		buf_init(&b, 100);
		redact_put(r, &b, ways[i]);
		CHECK_CASE(str_starts(buf_str(&b), STR("${PW}")), "way %zu", i);
	}
}

TEST(the_longer_of_two_values_wins)
{
	_cleanup_(redactor_freep) struct redactor *r = knows(STR("SHORT"), STR("abcd"));

	assert_int_equal(redactor_add(r, STR("LONG"), STR("abcdefgh")), 0);
	check_put(r, STR("abcdefgh abcd"), STR("${LONG} ${SHORT}"));
}

TEST(a_name_that_is_itself_a_value_does_not_loop)
{
	_cleanup_(redactor_freep) struct redactor *r = knows(STR("TOKEN"), STR("TOKEN"));

	check_put(r, STR("TOKEN"), STR("${TOKEN}"));
}

TEST(short_values_are_left_alone)
{
	_cleanup_(redactor_freep) struct redactor *r = knows(STR("N"), STR("abc"));

	check_put(r, STR("abc"), STR("abc"));
	assert_false(redact_finds(r, STR("abc")));
}

TEST(nobody_knows_nothing)
{
	check_put(NULL, STR("as it is"), STR("as it is"));
	assert_false(redact_finds(NULL, STR("x")));
	assert_null(redactor_free(NULL));
}

TEST(too_much_is_an_error_and_not_a_silence)
{
	static char huge[(1 << 16) + 1];
	_cleanup_(redactor_freep) struct redactor *r = knows(STR("A"), STR("aaaa"));
	int e = 0;

	memset(huge, 'x', sizeof(huge));
	assert_int_equal(redactor_add(r, STR("HUGE"), (struct str){ huge, sizeof(huge) }), -ENOSPC);
	for (unsigned i = 0; e == 0 && i < 10000; i++) {
		char value[16];

		(void)snprintf(value, sizeof(value), "value%u", i);
		e = redactor_add(r, STR("V"), str_z(value));
	}
	assert_int_equal(e, -ENOSPC);
}

static bool speaks_of_secrets(struct str name)
{
	return str_ends(name, STR("TOKEN")) || str_eq(name, STR("password"));
}

TEST(what_stands_behind_a_mark_is_hidden_and_nothing_that_a_shell_would_do)
{
	static const struct {
		const char *in, *narrow, *wide;
	} t[] = {
		{ "GH_TOKEN=abc make", "GH_TOKEN=<redacted> make", "GH_TOKEN=<redacted> make" },
		{ "--password='a b' x", "--password='<redacted> b' x", "--password='<redacted> b' x" },
		{ "TOKEN=$OTHER", "TOKEN=$OTHER", "TOKEN=<redacted>" },
		{ "TOKEN=$(curl evil)", "TOKEN=$(curl evil)", "TOKEN=<redacted>(curl evil)" },
		{ "TOKEN=a;rm -rf /", "TOKEN=<redacted>;rm -rf /", "TOKEN=<redacted>;rm -rf /" },
		{ "TOKEN=a`id`", "TOKEN=<redacted>`id`", "TOKEN=<redacted>`id`" },
		{ "TOKEN= id", "TOKEN= id", "TOKEN= <redacted>" },
		{ "TOKEN: abc", "TOKEN: abc", "TOKEN: <redacted>" },
		{ "{\"password\": \"abc\"}", "{\"password\": \"<redacted>\"}",
		  "{\"password\": \"<redacted>\"}" },
		{ "raw:abc", "raw:<redacted>", "raw:<redacted>" },
		{ "Bearer 12345678", "Bearer <redacted>", "Bearer <redacted>" },
		{ "bearer short", "bearer short", "bearer short" },
		{ "basic 12345678", "basic 12345678", "basic <redacted>" },
		{ "MAX_TOKENS=5 XTOKEN", "MAX_TOKENS=5 XTOKEN", "MAX_TOKENS=5 XTOKEN" },
	};

	for (size_t i = 0; i < sizeof(t) / sizeof(t[0]); i++)
		for (int wide = 0; wide < 2; wide++) {
			_cleanup_buf_ struct buf b = { 0 };
			const char *want = wide ? t[i].wide : t[i].narrow;

			buf_init(&b, 1000);
			redact_marked(
				&(struct redact_marks){ .looks_secret = speaks_of_secrets, .wide = wide }, &b,
				str_z(t[i].in));
			CHECK_CASE(str_eq(buf_str(&b), str_z(want)), "'%s' became '%s'", t[i].in, b.p);
		}
}

TEST(a_redactor_with_marks_hides_both)
{
	_cleanup_(redactor_freep) struct redactor *r = knows(STR("T"), STR("abcd"));

	redactor_mark(r, &(struct redact_marks){ .looks_secret = speaks_of_secrets });
	check_put(r, STR("abcd X_TOKEN=z"), STR("${T} X_TOKEN=<redacted>"));
}

/* Of words that marks are made of, and pieces of them, in any order. */
TEST(what_may_not_change_is_put_as_it_is)
{
	static const char *const pieces[] = { "raw:",
					      "RAW:",
					      "Bearer ",
					      "bearer",
					      " ",
					      "creel_",
					      "CREEL_",
					      "A_TOKEN",
					      "=",
					      "password",
					      ":",
					      "\"",
					      "'",
					      "abcd",
					      "x",
					      "$A",
					      ",",
					      "12345678",
					      "secretsecret",
					      "/",
					      "\n",
					      "-",
					      "raw",
					      "_",
					      "ab",
					      "basic " };
	_cleanup_(redactor_freep) struct redactor *r = knows(STR("T"), STR("abcd"));
	const struct redact_marks marks[] = { { .looks_secret = speaks_of_secrets },
					      { .looks_secret = speaks_of_secrets, .wide = true } };
	uint64_t state = 1;
	size_t same = 0, other = 0;

	for (size_t round = 0; round < 40000; round++) {
		_cleanup_buf_ struct buf in = { 0 }, out = { 0 };

		buf_init(&in, 4096);
		buf_init(&out, 1 << 16);
		redactor_mark(r, &marks[round % 2]);
		for (size_t i = 0; i < 1 + round % 7; i++) {
			state = state * 6364136223846793005u + 1442695040888963407u;
			buf_puts(&in, pieces[(state >> 33) % (sizeof(pieces) / sizeof(pieces[0]))]);
		}
		if (round % 11 == 0)
			buf_puts(&in,
				 "creel_0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0");
		redact_put(r, &out, buf_str(&in));
		if (str_eq(buf_str(&in), buf_str(&out)))
			same += !redact_may_change(r, buf_str(&in));
		else {
			other++;
			CHECK_CASE(redact_may_change(r, buf_str(&in)), "'%s' becomes '%s'", in.p, out.p);
		}
	}
	assert_true(same > 1000 && other > 1000);
	assert_false(redact_may_change(NULL, STR("abcd")));
}

TEST_MAIN()
