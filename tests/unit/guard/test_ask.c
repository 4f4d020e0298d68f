/* SPDX-License-Identifier: Apache-2.0 */
/* What the guard reads of bodies by itself. */
#include "check.h"

#include "server/guard/ask.h"

static bool pairing(struct arena *a, const char *body, struct wire_fault *f)
{
	struct ask_pairing q;

	return ask_read_pairing(a, str_z(body), &q, f);
}

TEST(a_member_that_nobody_knows_is_named_and_so_is_one_that_is_missing)
{
	static const struct {
		const char *body, *text;
	} cases[] = {
		{ "{\"channel\":\"t\",\"user\":\"u\",\"oops\":1}",
		  "oops: is not known here; accepted: channel, user, name, message" },
		{ "{\"channel\":\"t\"}", "user: is missing" },
		{ "{\"channel\":\"t\",\"user\":null}", "user: has to be a text" },
		{ "{\"channel\":\"t\",\"user\":7}", "user: has to be a text" },
		{ "{\"channel\":\"t\",\"user\":\"u\",\"\\u001b[31m\":1}",
		  "\\x1b[31m: is not known here; accepted: channel, user, name, message" },
		{ "[]", "body: has to be an object" },
	};
	_cleanup_arena_ struct arena a = { 0 };

	arena_init(&a, 1 << 20);
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct wire_fault f = { 0 };

		assert_false(pairing(&a, cases[i].body, &f));
		assert_int_equal(f.status, 422);
		assert_string_equal(f.text, cases[i].text);
	}
}

TEST(an_answer_is_allow_or_deny_and_nothing_else)
{
	_cleanup_arena_ struct arena a = { 0 };
	struct wire_fault f = { 0 };
	struct ask_answer q;

	arena_init(&a, 1 << 20);
	assert_true(ask_read_answer(&a, STR("{\"answer\":\"allow\",\"for_s\":60}"), &q, &f));
	assert_true(q.for_s.said && q.for_s.n == 60);
	assert_false(ask_read_answer(&a, STR("{\"answer\":\"Allow\"}"), &q, &f));
	assert_false(ask_read_answer(&a, STR("{\"answer\":\"allow\",\"for_s\":-1}"), &q, &f));
	assert_false(ask_read_answer(&a, STR("{\"answer\":\"allow\",\"for_s\":86401}"), &q, &f));
	assert_false(ask_read_answer(&a, STR("{}"), &q, &f));
}

TEST(d2_4_a_timeout_of_any_size_is_a_number_that_policy_brings_into_its_range)
{
	static const struct {
		const char *timeout;
		uint64_t n;
	} cases[] = { { "5", 5 },         { "-3", 0 },     { "2.9", 2 },
		      { "1e300", 86400 }, { "-1e300", 0 }, { "99999999999999", 86400 } };
	_cleanup_arena_ struct arena a = { 0 };
	char body[256];

	arena_init(&a, 1 << 20);
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct wire_fault f = { 0 };
		struct wire_call c;
		struct ask_s2 s2;

		(void)snprintf(
			body, sizeof(body),
			"{\"agent\":\"a\",\"scope\":{\"type\":\"t\",\"chat_id\":\"1\"},\"tool\":\"shell_exec\","
			"\"args\":{\"cmd\":[\"x\"],\"timeout_s\":%s}}",
			cases[i].timeout);
		assert_true(wire_read_run(&a, str_z(body), false, &c, &f));
		assert_true(ask_check_s2(&a, &c, &s2, &f));
		CHECK_CASE(s2.timeout_s.said && s2.timeout_s.n == cases[i].n, "%s", cases[i].timeout);
	}
}

TEST_MAIN()
