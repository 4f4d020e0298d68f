/* SPDX-License-Identifier: Apache-2.0 */
#include "check.h"

#include "base/parse.h"

#include <errno.h>
#include <float.h>
#include <sys/socket.h>

#define K UINT64_C(1024)

TEST(parse_bool_takes_the_words_people_use)
{
	static const char *const yes[] = { "true", "True", "YES", "on", "1" };
	static const char *const no[] = { "false", "FALSE", "no", "Off", "0" };
	static const struct str bad[] = { STR(""),      STR("y"),     STR("2"),
					  STR("truee"), STR(" true"), STR("true\0") };
	bool v;

	for (size_t i = 0; i < 5; i++) {
		v = false;
		assert_int_equal(parse_bool(str_z(yes[i]), &v), 0);
		assert_true(v);
		assert_int_equal(parse_bool(str_z(no[i]), &v), 0);
		assert_false(v);
	}
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
		assert_int_equal(parse_bool(bad[i], &v), -EINVAL);
}

TEST(parse_i64_holds_to_its_range)
{
	static const struct {
		struct str in;
		int64_t min, max;
		int want;
		int64_t v;
	} cases[] = {
		{ STR("-9223372036854775808"), INT64_MIN, INT64_MAX, 0, INT64_MIN },
		{ STR("9223372036854775807"), INT64_MIN, INT64_MAX, 0, INT64_MAX },
		{ STR("9223372036854775808"), INT64_MIN, INT64_MAX, -ERANGE, 0 },
		{ STR("-9223372036854775809"), INT64_MIN, INT64_MAX, -ERANGE, 0 },
		{ STR("-0"), -5, 5, 0, 0 },
		{ STR("-5"), -5, 5, 0, -5 },
		{ STR("-6"), -5, 5, -ERANGE, 0 },
		{ STR("6"), -5, 5, -ERANGE, 0 },
		{ STR("-"), -5, 5, -EINVAL, 0 },
		{ STR(""), -5, 5, -EINVAL, 0 },
		{ STR("--1"), -5, 5, -EINVAL, 0 },
		{ STR("+1"), -5, 5, -EINVAL, 0 },
		{ STR("1.0"), -5, 5, -EINVAL, 0 },
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		int64_t v = 77;
		int r = parse_i64(cases[i].in, cases[i].min, cases[i].max, &v);

		CHECK_CASE(r == cases[i].want && v == (r == 0 ? cases[i].v : 77), "case %zu: %d", i, r);
	}
}

TEST(parse_double_is_finite_and_in_range)
{
	double v = 7;

	assert_int_equal(parse_double(STR("1.5"), 0, 2, &v), 0);
	assert_true(v == 1.5);
	assert_int_equal(parse_double(STR("2.5"), 0, 2, &v), -ERANGE);
	assert_int_equal(parse_double(STR("-0.1"), 0, 2, &v), -ERANGE);
	assert_int_equal(parse_double(STR("1e999"), 0, DBL_MAX, &v), -ERANGE);
	assert_int_equal(parse_double(STR("nan"), 0, 2, &v), -EINVAL);
	assert_int_equal(parse_double(STR("1,5"), 0, 2, &v), -EINVAL);
	assert_true(v == 1.5);
}

TEST(parse_size_reads_units_as_docker_does)
{
	static const struct {
		struct str in;
		uint64_t want;
	} cases[] = {
		{ STR("0"), 0 },
		{ STR("80000"), 80000 },
		{ STR("80000b"), 80000 },
		{ STR("1k"), K },
		{ STR("512m"), 512 * K * K },
		{ STR("512M"), 512 * K * K },
		{ STR("64MB"), 64 * K * K },
		{ STR("64MiB"), 64 * K * K },
		{ STR("64mib"), 64 * K * K },
		{ STR("1g"), K * K * K },
		{ STR("8GiB"), 8 * K * K * K },
		{ STR("2t"), 2 * K * K * K * K },
		{ STR("1p"), K * K * K * K * K },
		{ STR("1.5g"), 3 * K * K * K / 2 },
		{ STR("0.5k"), 512 },
		{ STR("0.001k"), 1 },
		{ STR("1.999999999999999999k"), 2047 },
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		uint64_t v = 77;

		CHECK_CASE(parse_size(cases[i].in, UINT64_MAX, &v) == 0 && v == cases[i].want,
			   "'%s' gave %llu", cases[i].in.p, (unsigned long long)v);
	}
}

TEST(parse_size_refuses_what_is_no_size)
{
	static const struct str cases[] = {
		STR(""),          STR("m"),    STR("-1m"),
		STR("+1"),        STR("1 m"),  STR(" 1m"),
		STR("1m "),       STR("1.5"),  STR("1.5b"),
		STR(".5m"),       STR("1.m"),  STR("1.2.3m"),
		STR("1x"),        STR("1mm"),  STR("1mi"),
		STR("1bb"),       STR("1ib"),  STR("1e3"),
		STR("0x10"),      STR("1m\0"), STR("1.0000000000000000000k"),
		STR("1\xc2\xb5"),
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		uint64_t v = 77;

		CHECK_CASE(parse_size(cases[i], UINT64_MAX, &v) == -EINVAL && v == 77, "case %zu '%s'", i,
			   cases[i].p);
	}
}

TEST(parse_size_knows_its_maximum_and_never_wraps)
{
	uint64_t v = 77;

	assert_int_equal(parse_size(STR("1m"), K * K, &v), 0);
	assert_int_equal(parse_size(STR("1048577"), K * K, &v), -ERANGE);
	assert_int_equal(parse_size(STR("1.5m"), K * K, &v), -ERANGE);
	assert_int_equal(parse_size(STR("16384p"), UINT64_MAX, &v), -ERANGE);
	assert_int_equal(parse_size(STR("16383.999p"), UINT64_MAX, &v), 0);
	assert_int_equal(parse_size(STR("18446744073709551615"), UINT64_MAX, &v), 0);
	assert_true(v == UINT64_MAX);
	assert_int_equal(parse_size(STR("18446744073709551616"), UINT64_MAX, &v), -ERANGE);
	assert_int_equal(parse_size(STR("99999999999999999999999k"), UINT64_MAX, &v), -ERANGE);
}

TEST(parse_duration_reads_units_and_sums)
{
	static const struct {
		struct str in;
		uint64_t want;
	} cases[] = {
		{ STR("0"), 0 },         { STR("0s"), 0 },          { STR("250ms"), 250 },
		{ STR("30s"), 30000 },   { STR("5m"), 300000 },     { STR("2h"), 7200000 },
		{ STR("1d"), 86400000 }, { STR("1h30m"), 5400000 }, { STR("1d2h3m4s5ms"), 93784005 },
		{ STR("90m"), 5400000 }, { STR("1m0s"), 60000 },
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		uint64_t v = 77;

		CHECK_CASE(parse_duration(cases[i].in, UINT64_MAX, &v) == 0 && v == cases[i].want,
			   "'%s' gave %llu", cases[i].in.p, (unsigned long long)v);
	}
}

TEST(parse_duration_wants_units_and_falling_order)
{
	static const struct str cases[] = {
		STR(""),     STR("30"),    STR("s"),    STR("00"),   STR("-1s"),   STR("1s1s"),
		STR("1s1m"), STR("1m 1s"), STR("1.5s"), STR("30S"),  STR("30sec"), STR("1s "),
		STR("1w"),   STR("1m5"),   STR("m5"),   STR("1s\0"), STR("1us"),   STR("1hm"),
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		uint64_t v = 77;

		CHECK_CASE(parse_duration(cases[i], UINT64_MAX, &v) == -EINVAL && v == 77, "case %zu '%s'", i,
			   cases[i].p);
	}
}

TEST(parse_duration_knows_its_maximum_and_never_wraps)
{
	uint64_t v = 77;

	assert_int_equal(parse_duration(STR("60s"), 60000, &v), 0);
	assert_int_equal(parse_duration(STR("60001ms"), 60000, &v), -ERANGE);
	assert_int_equal(parse_duration(STR("213503982335d"), UINT64_MAX, &v), -ERANGE);
	assert_int_equal(parse_duration(STR("213503982334d18446744073709551615ms"), UINT64_MAX, &v), -ERANGE);
	assert_int_equal(parse_duration(STR("99999999999999999999s"), UINT64_MAX, &v), -ERANGE);
	assert_int_equal(parse_duration(STR("99999999999999999999sx"), UINT64_MAX, &v), -EINVAL);
	assert_int_equal(v, 60000);
}

TEST(parse_formats_sizes_and_durations_that_read_back)
{
	static const uint64_t sizes[] = { 0,     1,           1023,          1024,      1536,
					  80000, 512 * K * K, 3 * K * K * K, UINT64_MAX };
	static const uint64_t times[] = { 0,     1,     999,     1000,     1500,      30000,
					  60000, 90000, 3600000, 86400000, UINT64_MAX };
	char out[PARSE_TEXT_MAX];
	uint64_t v;

	for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
		assert_int_equal(parse_size(parse_format_size(sizes[i], out), UINT64_MAX, &v), 0);
		assert_true(v == sizes[i]);
	}
	for (size_t i = 0; i < sizeof(times) / sizeof(times[0]); i++) {
		assert_int_equal(parse_duration(parse_format_duration(times[i], out), UINT64_MAX, &v), 0);
		assert_true(v == times[i]);
	}
	CHECK_STR(parse_format_size(512 * K * K, out), STR("512m"));
	CHECK_STR(parse_format_size(1536, out), STR("1536"));
	CHECK_STR(parse_format_size(0, out), STR("0"));
	CHECK_STR(parse_format_duration(90000, out), STR("90s"));
	CHECK_STR(parse_format_duration(300000, out), STR("5m"));
	CHECK_STR(parse_format_duration(0, out), STR("0s"));
}

TEST(parse_host_port_splits_names_and_addresses)
{
	static const struct {
		struct str in;
		uint16_t fallback;
		const char *host;
		uint16_t port;
	} cases[] = {
		{ STR("example.com:443"), 0, "example.com", 443 },
		{ STR("127.0.0.1:8080"), 0, "127.0.0.1", 8080 },
		{ STR("[::1]:8080"), 0, "::1", 8080 },
		{ STR("[fd00::1]"), 443, "fd00::1", 443 },
		{ STR("[::ffff:1.2.3.4]:1"), 0, "::ffff:1.2.3.4", 1 },
		{ STR("host"), 80, "host", 80 },
		{ STR("my_service-1:65535"), 0, "my_service-1", 65535 },
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct str host;
		uint16_t port;

		CHECK_CASE(parse_host_port(cases[i].in, cases[i].fallback, &host, &port) == 0, "'%s'",
			   cases[i].in.p);
		CHECK_STR(host, str_z(cases[i].host));
		assert_int_equal(port, cases[i].port);
	}
}

TEST(parse_host_port_refuses_the_rest)
{
	static const struct {
		struct str in;
		int want;
	} cases[] = {
		{ STR(""), -EINVAL },         { STR("host"), -EINVAL },     { STR("host:"), -EINVAL },
		{ STR(":80"), -EINVAL },      { STR("host:0"), -ERANGE },   { STR("host:65536"), -ERANGE },
		{ STR("host:80x"), -EINVAL }, { STR("::1:80"), -EINVAL },   { STR("[::1"), -EINVAL },
		{ STR("[::1]80"), -EINVAL },  { STR("[::1]:"), -EINVAL },   { STR("[]:80"), -EINVAL },
		{ STR("a b:80"), -EINVAL },   { STR("a/b:80"), -EINVAL },   { STR("u@h:80"), -EINVAL },
		{ STR("h\0x:80"), -EINVAL },  { STR("[a_b]:80"), -EINVAL }, { STR("h\xc3\xa9:80"), -EINVAL },
	};
	char longest[300];

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct str host = STR("old");
		uint16_t port = 7;

		CHECK_CASE(parse_host_port(cases[i].in, 0, &host, &port) == cases[i].want, "case %zu '%s'", i,
			   cases[i].in.p);
		CHECK_STR(host, STR("old"));
		assert_int_equal(port, 7);
	}
	memset(longest, 'a', sizeof(longest));
	assert_int_equal(
		parse_host_port((struct str){ longest, 254 }, 80, &(struct str){ 0 }, &(uint16_t){ 0 }),
		-EINVAL);
	assert_int_equal(
		parse_host_port((struct str){ longest, 253 }, 80, &(struct str){ 0 }, &(uint16_t){ 0 }), 0);
}

TEST(parse_net_reads_both_families)
{
	struct parse_net n;

	assert_int_equal(parse_net(STR("10.0.0.0/8"), &n), 0);
	assert_int_equal(n.family, AF_INET);
	assert_int_equal(n.prefix_bits, 8);
	assert_int_equal(n.addr[0], 10);
	assert_int_equal(parse_net(STR("127.0.0.1"), &n), 0);
	assert_int_equal(n.prefix_bits, 32);
	assert_int_equal(parse_net(STR("::1"), &n), 0);
	assert_int_equal(n.family, AF_INET6);
	assert_int_equal(n.prefix_bits, 128);
	assert_int_equal(parse_net(STR("0.0.0.0/0"), &n), 0);
	assert_int_equal(n.prefix_bits, 0);
}

TEST(parse_net_refuses_mistakes)
{
	static const struct {
		struct str in;
		int want;
	} cases[] = {
		{ STR(""), -EINVAL },
		{ STR("10.0.0.1/8"), -EINVAL },
		{ STR("10.0.0.0/33"), -ERANGE },
		{ STR("::/129"), -ERANGE },
		{ STR("10.0.0/8"), -EINVAL },
		{ STR("010.0.0.0/8"), -EINVAL },
		{ STR("10.0.0.0/"), -EINVAL },
		{ STR("/8"), -EINVAL },
		{ STR("10.0.0.0/-1"), -EINVAL },
		{ STR("10.0.0.0\0/8"), -EINVAL },
		{ STR("fe80::1%eth0"), -EINVAL },
		{ STR("host/8"), -EINVAL },
		{ STR("10.0.0.0/8/8"), -EINVAL },
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct parse_net n = { .family = 7 };

		CHECK_CASE(parse_net(cases[i].in, &n) == cases[i].want && n.family == 7, "case %zu '%s'", i,
			   cases[i].in.p);
	}
}

static bool contains(const char *net, const char *addr)
{
	struct parse_net n, a;

	assert_int_equal(parse_net(str_z(net), &n), 0);
	assert_int_equal(parse_net(str_z(addr), &a), 0);
	return parse_net_contains(&n, &a);
}

TEST(parse_net_contains_by_prefix_and_family)
{
	struct parse_net none = { 0 }, a;

	assert_true(contains("10.0.0.0/8", "10.255.0.1"));
	assert_false(contains("10.0.0.0/8", "11.0.0.1"));
	assert_true(contains("172.16.0.0/12", "172.31.255.255"));
	assert_false(contains("172.16.0.0/12", "172.32.0.0"));
	assert_true(contains("0.0.0.0/0", "8.8.8.8"));
	assert_false(contains("0.0.0.0/0", "::1"));
	assert_true(contains("fd00::/8", "fd12::1"));
	assert_true(contains("10.0.0.0/8", "10.1.0.0/16"));
	assert_false(contains("10.1.0.0/16", "10.0.0.0/8"));
	assert_true(contains("127.0.0.1", "127.0.0.1"));
	assert_int_equal(parse_net(STR("1.2.3.4"), &a), 0);
	assert_false(parse_net_contains(&none, &a));
	assert_false(parse_net_contains(&none, &none));
}

TEST_MAIN()
