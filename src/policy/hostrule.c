/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Destinations that a route may reach: "host", "host:port", "*.domain", "*.domain:port", "[v6]:port". Without a
 * port 80 and 443 are meant. A name is compared as a whole: a rule never matches a host that merely ends or begins
 * with its text, and "*." stands for one or more whole labels, so "*.example.com" is not "example.com" itself.
 */
#include "policy/policy_priv.h"

enum { HOST_MAX = 253, LABEL_MAX = 63, PORT_MAX = 65535 };

struct host_rule {
	struct str host; /* without "*." and brackets */
	unsigned port;   /* 0: 80 and 443 */
	bool subdomains, v6;
};

static bool is_label_char(char c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-' ||
	       c == '_';
}

static bool is_digits(struct str s)
{
	for (size_t i = 0; i < s.n; i++)
		if (s.p[i] < '0' || s.p[i] > '9')
			return false;
	return s.n > 0;
}

static bool is_label(struct str s)
{
	if (s.n == 0 || s.n > LABEL_MAX || s.p[0] == '-' || s.p[s.n - 1] == '-')
		return false;
	for (size_t i = 0; i < s.n; i++)
		if (!is_label_char(s.p[i]))
			return false;
	return true;
}

static bool is_name(struct str s, struct str *ret_last)
{
	struct str head, rest = s;

	if (s.n > HOST_MAX)
		return false;
	while (str_cut(rest, '.', &head, &rest))
		if (!is_label(head))
			return false;
	*ret_last = rest;
	return is_label(rest);
}

/* The alphabet alone; whoever connects parses the address. */
static bool is_v6(struct str s)
{
	size_t colons = 0;

	for (size_t i = 0; i < s.n; i++) {
		char c = s.p[i];

		if (c != ':' && c != '.' && !(is_label_char(c) && c != '-' && c != '_'))
			return false;
		colons += c == ':';
	}
	return colons >= 2 && s.n <= 45;
}

static bool parse_port(struct str s, unsigned *ret)
{
	uint64_t v;

	if (str_to_u64(s, PORT_MAX, &v) < 0 || v == 0)
		return false;
	*ret = (unsigned)v;
	return true;
}

static bool parse_v6(struct str rule, struct host_rule *ret)
{
	struct str host, tail;

	if (!str_cut(str_from(rule, 1), ']', &host, &tail) || !is_v6(host))
		return false;
	if (tail.n && (tail.p[0] != ':' || !parse_port(str_from(tail, 1), &ret->port)))
		return false;
	ret->host = host;
	ret->v6 = true;
	return true;
}

static bool parse(struct str rule, struct host_rule *ret)
{
	struct str port, last;

	*ret = (struct host_rule){ 0 };
	if (rule.n && rule.p[0] == '[')
		return parse_v6(rule, ret);
	ret->subdomains = str_starts(rule, STR("*."));
	if (ret->subdomains)
		rule = str_from(rule, 2);
	if (str_cut_last(rule, ':', &rule, &port) && !parse_port(port, &ret->port))
		return false;
	ret->host = rule;
	/* An address has no subdomains: "*.0.0.1" would be a rule about 127.0.0.1. */
	return is_name(rule, &last) && !(ret->subdomains && is_digits(last));
}

bool host_rule_valid(struct str rule)
{
	struct host_rule r;

	return parse(rule, &r);
}

/* The name as compared: without brackets and without the one dot that only says "from the root". */
static struct str bare_host(struct str host, bool *ret_v6)
{
	*ret_v6 = host.n > 2 && host.p[0] == '[' && host.p[host.n - 1] == ']';
	if (*ret_v6)
		return (struct str){ .p = host.p + 1, .n = host.n - 2 };
	*ret_v6 = memchr(host.p ? host.p : "", ':', host.n) != NULL;
	if (!*ret_v6 && host.n > 1 && host.p[host.n - 1] == '.')
		host.n--;
	return host;
}

bool host_rule_matches(struct str rule, struct str host, unsigned port)
{
	struct host_rule r;
	struct str last, tail;
	bool v6;

	if (!parse(rule, &r) || (r.port ? port != r.port : port != 80 && port != 443))
		return false;
	host = bare_host(host, &v6);
	if (r.v6 || v6)
		return r.v6 && v6 && str_eq_nocase(host, r.host);
	if (!is_name(host, &last))
		return false;
	if (!r.subdomains)
		return str_eq_nocase(host, r.host);

	/* The byte before the suffix must be a dot: "*.example.com" is not "evilexample.com". */
	if (host.n <= r.host.n + 1 || host.p[host.n - r.host.n - 1] != '.')
		return false;
	tail = str_from(host, host.n - r.host.n);
	return str_eq_nocase(tail, r.host);
}
