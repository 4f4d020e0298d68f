/* SPDX-License-Identifier: Apache-2.0 */
#include "check.h"

#include "data/json.h"
#include "server/wire.h"

#define RUN(rest)                                                                                                                          \
	"{\"agent\":\"g-coder\",\"scope\":{\"type\":\"telegram\",\"chat_id\":\"C\"},\"tool\":\"file_read\",\"args\":{\"path\":\"a\"}" rest \
	"}"

static bool run(struct arena *a, const char *body, bool strict, struct wire_call *ret, struct wire_fault *f)
{
	arena_init(a, (size_t)16 << 20);
	return wire_read_run(a, str_z(body), strict, ret, f);
}

TEST(s2_5_policy_of_the_caller_is_dropped_and_told)
{
	_cleanup_arena_ struct arena a = { 0 };
	_cleanup_buf_ struct buf text = { 0 };
	struct wire_call c;
	struct wire_fault f;
	struct jsonw w;

	assert_true(run(&a, RUN(",\"policy\":{\"fs\":{\"mode\":\"rw\"}},\"trust\":\"none\""), false, &c, &f));
	assert_true(c.has_policy);
	buf_init(&text, 4096);
	jsonw_init(&w, &text, 0);
	wire_write_run(&w, &c);
	CHECK_STR(buf_str(&text), STR(RUN("")));
}

TEST(s2_22_the_runner_takes_no_member_that_the_guard_does_not_write)
{
	static const char *const bodies[] = {
		RUN(",\"policy\":{}"),
		RUN(",\"trust\":\"none\""),
		RUN(",\"session\":\"agent:main:main\""),
		RUN(",\"timeout_s\":60"),
		"{\"agent\":\"a\",\"scope\":{\"type\":\"t\",\"chat_id\":\"c\",\"workspace\":\"/\"},\"tool\":\"t\",\"args\":{}}",
	};

	for (size_t i = 0; i < sizeof(bodies) / sizeof(bodies[0]); i++) {
		_cleanup_arena_ struct arena a = { 0 };
		struct wire_call c;
		struct wire_fault f;

		CHECK_CASE(!run(&a, bodies[i], true, &c, &f) && f.status == 422, "%s", bodies[i]);
	}
}

TEST(bodies_that_are_no_request_of_s2_are_422)
{
	static const char *const bodies[] = {
		"",
		"{",
		"[]",
		"null",
		"{}",
		"{\"agent\":\"a\"}",
		"{\"agent\":\"a\",\"scope\":{},\"tool\":\"t\",\"args\":{}}",
		"{\"agent\":\"a\",\"scope\":{\"type\":\"t\",\"chat_id\":5},\"tool\":\"t\",\"args\":{}}",
		"{\"agent\":\"a\",\"scope\":{\"type\":\"t\",\"chat_id\":\"c\"},\"tool\":\"t\",\"args\":[]}",
		"{\"agent\":\"a\",\"scope\":{\"type\":\"t\",\"chat_id\":\"c\"},\"tool\":\"t\"}",
		"{\"agent\":\"a\\n\",\"scope\":{\"type\":\"t\",\"chat_id\":\"c\"},\"tool\":\"t\",\"args\":{}}",
		"{\"agent\":\"a\",\"agent\":\"b\",\"scope\":{\"type\":\"t\",\"chat_id\":\"c\"},\"tool\":\"t\",\"args\":{}}",
		RUN(",\"request_id\":7"),
		RUN(",\"surprise\":1"),
	};

	for (size_t i = 0; i < sizeof(bodies) / sizeof(bodies[0]); i++) {
		_cleanup_arena_ struct arena a = { 0 };
		struct wire_call c;
		struct wire_fault f;

		CHECK_CASE(!run(&a, bodies[i], false, &c, &f) && f.status == 422 && f.text[0], "%s",
			   bodies[i]);
	}
}

TEST(what_is_too_large_is_413)
{
	_cleanup_arena_ struct arena a = { 0 };
	_cleanup_buf_ struct buf text = { 0 };
	struct wire_call c;
	struct wire_fault f;

	arena_init(&a, (size_t)256 << 20);
	buf_init(&text, (size_t)32 << 20);
	buf_puts(&text, "{\"agent\":\"");
	while (text.n <= WIRE_BODY_MAX)
		buf_puts(&text, "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa");
	buf_puts(&text, "\"}");
	assert_false(wire_read_run(&a, buf_str(&text), false, &c, &f));
	assert_int_equal(f.status, 413);
	assert_false(wire_read_call(&a, buf_str(&text), false, &c, &f));
	assert_int_equal(f.status, 413);
}

TEST(a_call_says_whom_it_is_for)
{
	_cleanup_arena_ struct arena a = { 0 };
	struct wire_call c;
	struct wire_fault f;

	arena_init(&a, (size_t)16 << 20);
	assert_false(wire_read_call(&a, STR("{\"agent\":\"a\",\"tool\":\"exec\"}"), false, &c, &f));
	assert_int_equal(f.status, 422);
	assert_true(wire_read_call(&a, STR("{\"session\":\"agent:a:b\",\"tool\":\"exec\",\"timeout_s\":5}"),
				   true, &c, &f));
	CHECK_STR(c.session, STR("agent:a:b"));
	assert_int_equal(c.timeout_s, 5);
	assert_false(wire_read_call(&a, STR("{\"session\":\"agent:a:b\",\"tool\":\"exec\",\"timeout_s\":0}"),
				    true, &c, &f));
}

/* Infinity has no JSON: the runner would be told null. */
TEST(a_number_that_could_not_be_written_anew_is_refused)
{
	static const char *const numbers[] = { "1e400", "-1e400", "123456789012e300" };

	for (size_t i = 0; i < sizeof(numbers) / sizeof(numbers[0]); i++) {
		_cleanup_arena_ struct arena a = { 0 };
		struct wire_call c;
		struct wire_fault f;
		char body[256];

		(void)snprintf(body, sizeof(body),
			       "{\"session\":\"agent:main:main\",\"tool\":\"read\",\"args\":{\"n\":[%s]}}",
			       numbers[i]);
		arena_init(&a, (size_t)1 << 20);
		CHECK_CASE(!wire_read_call(&a, str_z(body), false, &c, &f) && f.status == 422, "%s",
			   numbers[i]);
	}
}

TEST(ids_are_uuids_and_differ)
{
	char one[WIRE_UUID_MAX], two[WIRE_UUID_MAX];

	assert_true(wire_uuid(one) && wire_uuid(two));
	assert_int_equal(strlen(one), 36);
	assert_int_equal(one[14], '4');
	assert_true(strchr("89ab", one[19]) != NULL);
	assert_string_not_equal(one, two);
}

TEST_MAIN()
