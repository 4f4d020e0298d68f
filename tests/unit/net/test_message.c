/* SPDX-License-Identifier: Apache-2.0 */
#include "check.h"

#include "net/message.h"

static int parse_hello(const char *text, struct egress_hello *h, struct arena *a, struct err *e)
{
	arena_init(a, 1 << 20);
	return egress_hello_parse(str_z(text), a, h, e);
}

TEST(a_hello_is_read_as_it_was_written)
{
	static const struct str rules[] = { { "ollama:11434=127.0.0.1", 22 }, { "b=[::1]:7", 9 } };
	const struct egress_hello h = { .sandbox = STR("box \"1\""),
					.session = STR("agent:main:x"),
					.request = STR("r-1"),
					.option = STR("network.internal.hosts"),
					.rules = { rules, 2 } };
	struct egress_hello got;
	struct err e = { 0 };
	struct arena a;
	struct buf out;

	buf_init(&out, EGRESS_MESSAGE_MAX);
	egress_hello_put(&h, &out);
	CHECK_CASE(parse_hello(out.p, &got, &a, &e) == 0, "%s", e.msg);
	CHECK_STR(got.sandbox, h.sandbox);
	CHECK_STR(got.session, h.session);
	CHECK_STR(got.request, h.request);
	CHECK_STR(got.option, h.option);
	assert_int_equal(got.rules.n, 2);
	CHECK_STR(got.rules.v[1], rules[1]);
	arena_done(&a);
	buf_done(&out);
}

TEST(what_is_no_hello_is_refused)
{
	static const char *const bad[] = {
		"",
		"[]",
		"{}",
		"null",
		"{\"sandbox\":\"a\",\"session\":\"b\",\"request\":\"c\",\"option\":\"d\"}",
		"{\"sandbox\":\"a\",\"session\":\"b\",\"request\":\"c\",\"option\":\"d\",\"rules\":[1]}",
		"{\"sandbox\":\"a\",\"session\":\"b\",\"request\":\"c\",\"option\":\"d\",\"rules\":\"e\"}",
		"{\"sandbox\":1,\"session\":\"b\",\"request\":\"c\",\"option\":\"d\",\"rules\":[]}",
		"{\"sandbox\":\"a\\u0000\",\"session\":\"b\",\"request\":\"c\",\"option\":\"d\",\"rules\":[]}",
		"{\"sandbox\":\"a\",\"sandbox\":\"a\",\"session\":\"b\",\"request\":\"c\",\"option\":\"d\",\"rules\":[]}",
	};

	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		struct egress_hello h;
		struct err e = { 0 };
		struct arena a;

		CHECK_CASE(parse_hello(bad[i], &h, &a, &e) < 0 && e.kind == ERR_PROTO, "'%s' was taken",
			   bad[i]);
		arena_done(&a);
	}
}

TEST(a_rule_without_an_address_is_none)
{
	struct net_rules r = { .option = "o" };
	struct err e = { 0 };

	assert_true(net_rules_add(&r, STR("ollama:11434"), &e) < 0);
	assert_true(net_rules_add(&r, STR("ollama=localhost"), &e) < 0);
	assert_true(net_rules_add(&r, STR("m=169.254.169.254"), &e) < 0);
	assert_int_equal(r.n, 0);
	for (unsigned i = 0; i < NET_RULES_MAX; i++)
		assert_int_equal(net_rules_add(&r, STR("a=127.0.0.1"), &e), 0);
	assert_true(net_rules_add(&r, STR("a=127.0.0.1"), &e) < 0 && e.kind == ERR_LIMIT);
}

static enum net_verdict judge(const struct net_rules *r, const char *authority)
{
	const struct dest *rule;
	struct dest_host h;
	uint16_t port;

	assert_true(dest_authority_parse(str_z(authority), 80, &h, &port));
	return net_judge(r, &h, port, &rule);
}

TEST(no_rule_lets_nobody_through_and_one_rule_one_host_and_port)
{
	struct net_rules r = { .option = "o" };
	struct err e = { 0 };

	assert_int_equal(judge(&r, "ollama"), NET_HOST_NOT_ALLOWED);
	assert_int_equal(net_rules_add(&r, STR("ollama:11434=127.0.0.1"), &e), 0);
	assert_int_equal(net_rules_add(&r, STR("ollama:80=127.0.0.1"), &e), 0);
	assert_int_equal(judge(&r, "ollama:11434"), NET_ALLOWED);
	assert_int_equal(judge(&r, "Ollama."), NET_ALLOWED);
	assert_int_equal(judge(&r, "ollama:443"), NET_PORT_NOT_ALLOWED);
	assert_int_equal(judge(&r, "127.0.0.1:80"), NET_HOST_NOT_ALLOWED);
	assert_int_equal(judge(&r, "ollama.example:80"), NET_HOST_NOT_ALLOWED);
}

TEST(a_report_is_read_as_it_was_written)
{
	static struct net_report r, got;
	struct net_denial d = { .count = 1,
				.verdict = NET_PORT_NOT_ALLOWED,
				.port = 22,
				.object = "h:22",
				.rule = "o: h:80",
				.hint = "x" };
	struct err e = { 0 };
	struct buf out;

	r.requests = 3;
	r.bytes_up = 4;
	r.bytes_down = 5000000000;
	r.denials_lost = 6;
	net_report_add(&r, &d, 7);
	net_report_add(&r, &d, 8);
	buf_init(&out, EGRESS_MESSAGE_MAX);
	egress_report_put(&r, &out);
	CHECK_CASE(egress_report_parse(buf_str(&out), &got, &e) == 0, "%s", e.msg);
	assert_int_equal(got.requests, 3);
	assert_int_equal(got.bytes_up, 4);
	assert_int_equal(got.bytes_down, 5000000000);
	assert_int_equal(got.denials_lost, 6);
	assert_int_equal(got.n_denials, 1);
	assert_int_equal(got.denials[0].count, 2);
	assert_int_equal(got.denials[0].time_ms, 7);
	assert_int_equal(got.denials[0].verdict, NET_PORT_NOT_ALLOWED);
	assert_string_equal(got.denials[0].object, "h:22");
	assert_string_equal(got.denials[0].rule, "o: h:80");
	buf_done(&out);
}

TEST(the_largest_report_fits_in_a_message)
{
	static struct net_report r, got;
	struct err e = { 0 };
	struct buf out;

	for (size_t i = 0; i < NET_DENIALS_MAX; i++) {
		r.denials[i].time_ms = r.denials[i].count = INT64_MAX;
		memset(r.denials[i].object, 'a', DEST_TEXT_MAX - 1);
		memset(r.denials[i].rule, 'b', 511);
		memset(r.denials[i].hint, 'c', 511);
	}
	r.n_denials = NET_DENIALS_MAX;
	buf_init(&out, EGRESS_MESSAGE_MAX);
	egress_report_put(&r, &out);
	assert_false(out.failed);
	CHECK_CASE(egress_report_parse(buf_str(&out), &got, &e) == 0, "%s", e.msg);
	buf_done(&out);
}

TEST(an_answer_says_yes_or_why_not)
{
	struct err no = { 0 }, e = { 0 };
	struct buf out;

	buf_init(&out, 4096);
	egress_answer_put(&no, &out);
	assert_int_equal(egress_answer_parse(buf_str(&out), &e), 0);
	(void)err_set(&no, ERR_LIMIT, "too many");
	out.n = 0;
	egress_answer_put(&no, &out);
	assert_true(egress_answer_parse(buf_str(&out), &e) < 0 && e.kind == ERR_UNAVAIL);
	assert_string_equal(e.msg, "too many");
	assert_true(egress_answer_parse(STR("{\"ok\":1}"), &e) < 0);
	assert_true(egress_answer_parse(STR(""), &e) < 0);
	out.n = 0;
	egress_end_put(&out);
	assert_true(egress_is_end(buf_str(&out)));
	assert_false(egress_is_end(STR("{}")));
	buf_done(&out);
}

TEST(numbers_are_read_as_they_were_written_and_nothing_else_is)
{
	static const char *const bad[] = {
		"", "{}", "[]", "{\"guests\":-1}", "{\"guests\":1}", "{\"guests\":\"1\"}"
	};
	const struct egress_numbers n = { 1, 2, 3, 4, 5, 6 };
	_cleanup_buf_ struct buf text = { 0 };
	struct egress_numbers got;
	struct err e = { 0 };

	buf_init(&text, 1024);
	egress_numbers_put(&n, &text);
	assert_int_equal(egress_numbers_parse(buf_str(&text), &got, &e), 0);
	assert_memory_equal(&n, &got, sizeof(n));
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
		CHECK_CASE(egress_numbers_parse(str_z(bad[i]), &got, &e) < 0 && e.kind == ERR_PROTO, "%s",
			   bad[i]);
	text.n = 0;
	egress_ask_put(&text);
	assert_true(egress_is_ask(buf_str(&text)));
	assert_false(egress_is_end(buf_str(&text)));
}

TEST_MAIN()
