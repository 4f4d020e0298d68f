/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A rule matches its own host, and never one that it is merely the end or the beginning of. Input: a rule, a newline,
 * a host.
 */
#include "policy/policy_priv.h"

#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void expect(bool held)
{
	if (!held)
		abort();
}

static bool matches_any_port(struct str rule, struct str host)
{
	struct str head, port;
	uint64_t n = 443;

	if (str_cut_last(rule, ':', &head, &port) && rule.p[rule.n - 1] != ']')
		(void)str_to_u64(port, 65535, &n);
	return host_rule_matches(rule, host, (unsigned)n);
}

static struct str joined(struct arena *a, struct str x, struct str y)
{
	char *out = arena_alloc(a, x.n + y.n + 1, 1);

	memcpy(out, x.p, x.n);
	memcpy(out + x.n, y.p, y.n);
	return (struct str){ .p = out, .n = x.n + y.n };
}

/* The host of a rule that is valid: without "*.", brackets and port. */
static struct str host_of(struct str rule)
{
	struct str host = rule, rest;

	if (rule.p[0] == '[') {
		(void)str_cut(str_from(rule, 1), ']', &host, &rest);
		return host;
	}
	(void)str_cut_last(rule, ':', &host, &rest);
	return str_starts(host, STR("*.")) ? str_from(host, 2) : host;
}

static void check_rule(struct arena *a, struct str rule)
{
	struct str host = host_of(rule);
	bool wild = rule.p[0] == '*', fits = host.n < 200;

	if (rule.p[0] == '[') {
		expect(matches_any_port(rule, host));
		return;
	}
	expect(matches_any_port(rule, host) == !wild);
	if (!fits)
		return;
	expect(matches_any_port(rule, joined(a, STR("a."), host)) == wild);
	expect(!matches_any_port(rule, joined(a, STR("evil"), host)));
	expect(!matches_any_port(rule, joined(a, host, STR(".evil.io"))) || str_eq_nocase(host, STR("io")) ||
	       str_eq_nocase(host, STR("evil.io")));
	expect(!matches_any_port(rule, joined(a, host, STR("x"))));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	_cleanup_arena_ struct arena a;
	struct str text = { .p = (const char *)data, .n = size }, rule = text, host = { .p = "", .n = 0 },
		   tail;

	(void)str_cut(text, '\n', &rule, &host);
	arena_init(&a, 1 << 20);
	if (size > 4096)
		return 0;
	if (!host_rule_valid(rule)) {
		expect(!host_rule_matches(rule, host, 443) && !host_rule_matches(rule, host, 80));
		return 0;
	}
	check_rule(&a, rule);
	if (rule.p[0] == '[' || !matches_any_port(rule, host))
		return 0;
	if (host.p[host.n - 1] == '.')
		host.n--;
	expect(host.n >= host_of(rule).n);
	tail = str_from(host, host.n - host_of(rule).n);
	expect(str_eq_nocase(tail, host_of(rule)));
	expect(host.n == tail.n || host.p[host.n - tail.n - 1] == '.');
	return 0;
}
