/* SPDX-License-Identifier: Apache-2.0 */
#include "walls.h"

static bool matches(const char *rule, const char *host, unsigned port)
{
	return host_rule_matches(str_z(rule), str_z(host), port);
}

TEST(a_rule_matches_its_own_host_on_the_web_ports)
{
	assert_true(matches("example.com", "example.com", 443));
	assert_true(matches("example.com", "example.com", 80));
	assert_false(matches("example.com", "example.com", 22));
}

TEST(a_rule_with_a_port_matches_that_port_alone)
{
	assert_true(matches("example.com:8443", "example.com", 8443));
	assert_false(matches("example.com:8443", "example.com", 443));
}

TEST(a_name_is_compared_whole_and_without_case)
{
	assert_true(matches("Example.COM", "eXample.com", 443));
	assert_true(matches("example.com", "example.com.", 443));
	assert_false(matches("example.com", "www.example.com", 443));
	assert_false(matches("example.com", "evilexample.com", 443));
	assert_false(matches("example.com", "example.com.evil.io", 443));
	assert_false(matches("example.com", "example.co", 443));
	assert_false(matches("example.com", "", 443));
	assert_false(matches("example.com", ".", 443));
	assert_false(matches("example.com", "example.com..", 443));
}

TEST(a_wildcard_needs_a_whole_label)
{
	assert_true(matches("*.example.com", "a.example.com", 443));
	assert_true(matches("*.example.com", "a.b.example.com", 443));
	assert_true(matches("*.example.com:444", "a.example.com", 444));
	assert_false(matches("*.example.com", "example.com", 443));
	assert_false(matches("*.example.com", ".example.com", 443));
	assert_false(matches("*.example.com", "evilexample.com", 443));
	assert_false(matches("*.example.com", "a.example.com.attacker.io", 443));
	assert_false(matches("*.example.com", "a_example.com", 443));
}

TEST(addresses_match_exactly_and_have_no_subdomains)
{
	assert_true(matches("127.0.0.1:8080", "127.0.0.1", 8080));
	assert_false(host_rule_valid(STR("*.0.0.1")));
	assert_false(matches("*.0.0.1", "127.0.0.1", 443));
	assert_true(matches("[::1]:8080", "::1", 8080));
	assert_true(matches("[FE80::1]", "[fe80::1]", 443));
	assert_false(matches("[::1]", "::2", 443));
	assert_false(matches("[::1]", "localhost", 443));
	assert_false(matches("localhost", "::1", 443));
}

TEST(what_is_not_a_host_is_not_a_rule)
{
	static const char *const bad[] = { "",        "*",    "*.",      "*.*.com", "a*.com", "a b",
					   "a..b",    ".a",   "a.",      "-a.com",  "a-.com", "http://a",
					   "a/b",     "a:0",  "a:65536", "a:x",     "a:",     ":80",
					   "a:80:90", "[::1", "[::1]x",  "[::1]:0", "[a]",    "[:z-:]",
					   "user@a",  "a,b" };

	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
		CHECK_CASE(!host_rule_valid(str_z(bad[i])), "taken: '%s'", bad[i]);
}

TEST(the_shapes_that_the_manual_names_are_rules)
{
	static const char *const good[] = { "a",       "a.b", "a:1",      "a.b:65535", "*.b",
					    "*.b.c:8", "x_y", "10.0.0.1", "[::1]",     "[fe80::1]:9" };

	for (size_t i = 0; i < sizeof(good) / sizeof(good[0]); i++)
		CHECK_CASE(host_rule_valid(str_z(good[i])), "refused: '%s'", good[i]);
}

TEST(labels_and_names_have_the_lengths_of_dns)
{
	char label[65], name[256];

	memset(label, 'a', sizeof(label));
	assert_true(host_rule_valid((struct str){ .p = label, .n = 63 }));
	assert_false(host_rule_valid((struct str){ .p = label, .n = 64 }));
	for (size_t i = 0; i < sizeof(name); i++)
		name[i] = i % 2 ? '.' : 'a';
	assert_true(host_rule_valid((struct str){ .p = name, .n = 253 }));
	assert_false(host_rule_valid((struct str){ .p = name, .n = 255 }));
}

TEST_MAIN()
