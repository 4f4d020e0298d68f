/* SPDX-License-Identifier: Apache-2.0 */
#include "check.h"
#include "model/dest.h"

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

/* "" = refused; else the one spelling. */
static struct str canonical(const char *text, char out[static DEST_TEXT_MAX])
{
	struct dest_host h;

	return dest_host_parse(str_z(text), &h) ? dest_text(&h, 0, out) : STR("");
}

TEST(a_host_has_one_spelling)
{
	static const struct {
		const char *text, *want;
	} t[] = {
		{ "ollama", "ollama" },           { "OLLAMA", "ollama" },
		{ "ollama.", "ollama" },          { "a.b-c.example", "a.b-c.example" },
		{ "my_service", "my_service" },   { "xn--bcher-kva.example", "xn--bcher-kva.example" },
		{ "127.0.0.1", "127.0.0.1" },     { "[::1]", "[::1]" },
		{ "[0:0:0:0:0:0:0:1]", "[::1]" }, { "[FE80::0001]", "[fe80::1]" },
		{ "1password", "1password" },     { "3com.example", "3com.example" },
	};
	char out[DEST_TEXT_MAX];

	for (size_t i = 0; i < COUNT(t); i++)
		CHECK_STR(canonical(t[i].text, out), str_z(t[i].want));
}

TEST(what_two_programs_would_read_in_two_ways_is_no_host)
{
	static const char *const bad[] = {
		"",
		".",
		"..",
		"ollama..",
		".ollama",
		"a..b",
		"-a",
		"a-",
		"a.-b",
		"a b",
		"a/b",
		"a@b",
		"a:b",
		"a%62",
		"a*",
		"*",
		"*.example",
		"\xc3\xa4",
		"a\x01",
		/* addresses that only some take for one */
		"127.1",
		"127.0.1",
		"0177.0.0.1",
		"0x7f.0.0.1",
		"0x7f000001",
		"2130706433",
		"127.0.0.1.",
		"127.0.0.01",
		"1.2.3.4.5",
		"256.0.0.1",
		"a.0x10",
		"a.9",
		/* and IPv4 in other clothes */
		"::1",
		"[]",
		"[::1",
		"[::ffff:127.0.0.1]",
		"[::127.0.0.1]",
		"[64:ff9b::7f00:1]",
		"[2002:7f00:1::]",
		"[::]",
		"[fe80::1%eth0]",
		"[127.0.0.1]",
	};
	char out[DEST_TEXT_MAX], big[260];

	for (size_t i = 0; i < COUNT(bad); i++)
		CHECK_CASE(canonical(bad[i], out).n == 0, "'%s' was taken", bad[i]);
	memset(big, 'a', sizeof(big));
	for (size_t i = 63; i < sizeof(big); i += 64)
		big[i] = '.';
	big[253] = '\0';
	assert_true(canonical(big, out).n == 253);
	big[253] = 'a';
	big[254] = '\0';
	assert_true(canonical(big, out).n == 0);
	memset(big, 'a', 64);
	big[64] = '\0';
	assert_true(canonical(big, out).n == 0);
}

TEST(a_nul_byte_ends_nothing)
{
	struct dest_host h;

	assert_false(dest_host_parse((struct str){ "127.0.0.1\0", 10 }, &h));
	assert_false(dest_host_parse((struct str){ "a\0b", 3 }, &h));
	assert_false(dest_host_parse((struct str){ "[::1\0]", 6 }, &h));
}

/* want: "HOST ADDRESS PORT", or what is wrong */
TEST(an_entry_says_one_host_one_port_and_one_address)
{
	static const struct {
		const char *entry, *host, *addr;
		unsigned addr_port;
	} t[] = {
		{ "ollama:11434=127.0.0.1:9000", "ollama:11434", "127.0.0.1", 9000 },
		{ "ollama:11434=127.0.0.1", "ollama:11434", "127.0.0.1", 11434 },
		{ "ollama=127.0.0.1:11434", "ollama:11434", "127.0.0.1", 11434 },
		{ "ollama=127.0.0.1", "ollama:80", "127.0.0.1", 80 },
		{ "  ollama=10.1.2.3  ", "ollama:80", "10.1.2.3", 80 },
		{ "ollama=[::1]:7", "ollama:7", "::1", 7 },
		{ "ollama:7=[fd00::1]", "ollama:7", "fd00::1", 7 },
		{ "[::1]:7", "[::1]:7", "::1", 7 },
		{ "127.0.0.1:11434", "127.0.0.1:11434", "127.0.0.1", 11434 },
		{ "127.0.0.1", "127.0.0.1:80", "127.0.0.1", 80 },
		{ "127.0.0.1:1=10.0.0.1:2", "127.0.0.1:1", "10.0.0.1", 2 },
		{ "ollama", "ollama", "", 0 },
		{ "ollama:11434", "ollama:11434", "", 11434 },
	};
	char out[DEST_TEXT_MAX];

	for (size_t i = 0; i < COUNT(t); i++) {
		struct dest d;
		const char *wrong = dest_parse(str_z(t[i].entry), &d);

		CHECK_CASE(!wrong, "'%s': %s", t[i].entry, wrong);
		CHECK_STR(dest_text(&d.host, d.port, out), str_z(t[i].host));
		CHECK_STR(d.addr.n ? dest_addr_text(&d.addr, out) : STR(""), str_z(t[i].addr));
		assert_int_equal(d.addr_port, t[i].addr_port);
	}
}

TEST(an_entry_names_no_second_name_and_no_address_of_nobody)
{
	static const char *const bad[] = {
		"",
		"=",
		"=127.0.0.1",
		"ollama=",
		"ollama=localhost",
		"ollama=other:80",
		"ollama=127.1",
		"ollama=::1",
		"ollama=[::ffff:127.0.0.1]:80",
		"ollama=127.0.0.1=127.0.0.2",
		"ollama:0=127.0.0.1",
		"ollama:65536",
		"ollama:080=127.0.0.1",
		"ollama:http",
		"ollama:",
		"ollama=127.0.0.1:0",
		"ollama=127.0.0.1:",
		"*=127.0.0.1",
		"*.a=127.0.0.1",
		"http://ollama",
		"ollama/",
		/* link-local: where clouds give their secrets out */
		"meta=169.254.169.254",
		"169.254.169.254:80",
		"meta=[fe80::1]",
		"a=0.0.0.0",
		"a=0.1.2.3",
		"a=224.0.0.1",
		"a=255.255.255.255",
		"a=[ff02::1]",
		"a=[::]",
	};

	for (size_t i = 0; i < COUNT(bad); i++) {
		struct dest d;

		CHECK_CASE(dest_parse(str_z(bad[i]), &d) != NULL, "'%s' was taken", bad[i]);
	}
}

static bool matches(const char *entry, const char *authority)
{
	struct dest d;
	struct dest_host h;
	uint16_t port;

	assert_null(dest_parse(str_z(entry), &d));
	return dest_authority_parse(str_z(authority), 80, &h, &port) && dest_matches(&d, &h, port);
}

TEST(a_rule_matches_its_own_host_and_port_and_nothing_else)
{
	assert_true(matches("ollama:11434=127.0.0.1", "ollama:11434"));
	assert_true(matches("ollama:11434=127.0.0.1", "OLLAMA.:11434"));
	assert_false(matches("ollama:11434=127.0.0.1", "ollama"));
	assert_false(matches("ollama:11434=127.0.0.1", "ollama:11435"));
	assert_false(matches("ollama:11434=127.0.0.1", "127.0.0.1:11434"));
	assert_false(matches("ollama:11434=127.0.0.1", "xollama:11434"));
	assert_false(matches("ollama:11434=127.0.0.1", "ollama.example:11434"));
	assert_false(matches("ollama:11434=127.0.0.1", "a.ollama:11434"));
	assert_true(matches("ollama=127.0.0.1", "ollama:80"));
	assert_true(matches("[::1]:80", "[0::1]:80"));
	assert_true(matches("[::1]:80", "[::1]"));
	assert_false(matches("[::1]:80", "[::2]:80"));
	assert_false(matches("127.0.0.1", "[::1]"));
	assert_true(matches("ollama", "ollama:1")); /* no address: any port, and nothing is there */
}

TEST_MAIN()
