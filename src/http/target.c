/* SPDX-License-Identifier: Apache-2.0 */
#include "http/chars.h"
#include "http/head_priv.h"

#include "base/parse.h"

bool head_host_ok(struct str host, bool needs_port)
{
	struct str name;
	uint16_t port;

	return parse_host_port(host, needs_port ? 0 : 80, &name, &port) == 0;
}

bool head_same_host(const struct http_head *h)
{
	uint16_t standard = h->is_https ? 443 : 80, wanted, port;
	struct str name, host;

	if (parse_host_port(http_head_slice(h, h->authority), standard, &name, &wanted) < 0)
		return false;
	/* CONNECT always names its port, and many clients then leave it out of Host. */
	if (h->form == HTTP_AUTHORITY)
		standard = wanted;
	return parse_host_port(http_head_slice(h, h->host), standard, &host, &port) == 0 && port == wanted &&
	       str_eq_nocase(name, host);
}

/* Path and query: every byte as RFC 3986 has it, and each '%' before two digits. */
static bool path_ok(struct str s)
{
	size_t i = 0;

	for (;;) {
		i += http_span_of(str_from(s, i), CHAR_PATH);
		if (i == s.n)
			return true;
		if (s.p[i] != '%' || s.n - i < 3 || http_hex(s.p[i + 1]) < 0 || http_hex(s.p[i + 2]) < 0)
			return false;
		i += 3;
	}
}

static enum http_result set_path(struct http_head *h, struct str s)
{
	struct str path = s, query = { 0 };

	if (!path_ok(s))
		return head_bad(h, 400,
				"the target has a byte that no URI may have, or a '%' without two digits");
	h->has_query = str_cut(s, '?', &path, &query);
	h->path = head_span(h, path);
	if (h->has_query)
		h->query = head_span(h, query);
	return HTTP_DONE;
}

static enum http_result absolute(struct http_head *h, struct str rest)
{
	size_t n = 0;
	struct str authority;

	while (n < rest.n && rest.p[n] != '/' && rest.p[n] != '?')
		n++;
	authority = (struct str){ rest.p, n };
	if (!head_host_ok(authority, false))
		return head_bad(h, 400, "the target's host is not 'host' or 'host:port'");
	h->form = HTTP_ABSOLUTE;
	h->authority = head_span(h, authority);
	return set_path(h, str_from(rest, n));
}

enum http_result head_target(struct http_head *h, struct str target)
{
	const struct str http = STR("http://"), https = STR("https://");

	if (h->method == HTTP_CONNECT) {
		if (!head_host_ok(target, true))
			return head_bad(h, 400, "the target of CONNECT is not 'host:port'");
		h->form = HTTP_AUTHORITY;
		h->authority = h->target;
		return HTTP_DONE;
	}
	if (target.p[0] == '/') {
		h->form = HTTP_ORIGIN;
		return set_path(h, target);
	}
	if (str_eq(target, STR("*")) && h->method == HTTP_OPTIONS) {
		h->form = HTTP_ASTERISK;
		return HTTP_DONE;
	}
	h->is_https = target.n >= https.n && str_eq_nocase((struct str){ target.p, https.n }, https);
	if (h->is_https)
		return absolute(h, str_from(target, https.n));
	if (target.n >= http.n && str_eq_nocase((struct str){ target.p, http.n }, http))
		return absolute(h, str_from(target, http.n));
	return head_bad(h, 400, "the target is neither a path nor an http address");
}
