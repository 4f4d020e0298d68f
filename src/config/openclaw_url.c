/* SPDX-License-Identifier: Apache-2.0 */
/*
 * URLs, as far as upstream's checks look at them: is it one, which scheme, which host, what follows. The rules are
 * those of browsers; host names beyond ASCII are let through as they are.
 */
#include "config/openclaw_shape_priv.h"

#include "base/parse.h"

static bool is_alpha(char c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

static bool is_digit(char c)
{
	return c >= '0' && c <= '9';
}

static bool is_special(struct str scheme)
{
	static const char *const words[] = { "http", "https", "ws", "wss", "ftp" };

	for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++)
		if (str_eq_nocase(scheme, str_z(words[i])))
			return true;
	return false;
}

static bool cut_scheme(struct str s, struct str *ret_scheme, struct str *ret_rest)
{
	size_t n = 0;

	while (n < s.n && (is_alpha(s.p[n]) || (n > 0 && (is_digit(s.p[n]) || memchr("+-.", s.p[n], 3)))))
		n++;
	if (n == 0 || n == s.n || s.p[n] != ':')
		return false;
	*ret_scheme = (struct str){ s.p, n };
	*ret_rest = str_from(s, n + 1);
	return true;
}

/* A last part of digits makes a host an address of four numbers; fewer are stretched. */
static bool numbers_ok(struct str host)
{
	struct str head, last, part, rest = host;
	size_t parts = 0;
	int64_t n;

	if (!str_cut_last(host, '.', &head, &last))
		last = host;
	for (size_t i = 0; i < last.n; i++)
		if (!is_digit(last.p[i]))
			return true;
	if (last.n == 0)
		return true;
	for (bool more = true; more; parts++) {
		more = str_cut(rest, '.', &part, &rest);
		part = more ? part : rest;
		if (parse_i64(part, 0, more ? 255 : UINT32_MAX, &n) < 0)
			return false;
	}
	return parts <= 4;
}

static bool bracketed_ok(struct str host)
{
	struct parse_net net;

	return host.n > 2 && host.p[host.n - 1] == ']' &&
	       parse_net((struct str){ host.p + 1, host.n - 2 }, &net) == 0 && memchr(host.p, ':', host.n);
}

static bool host_ok(struct str host)
{
	if (host.n == 0)
		return false;
	if (host.p[0] == '[')
		return bracketed_ok(host);
	for (size_t i = 0; i < host.n; i++)
		if ((unsigned char)host.p[i] <= ' ' || host.p[i] == 0x7f ||
		    strchr("\"#%/:<>?@[\\]^`{|}", host.p[i]))
			return false;
	return numbers_ok(host);
}

/* "host:port"; the colons of an address in brackets do not count. */
static bool cut_port(struct str *host)
{
	struct str name, port;
	int64_t n;

	if (host->n == 0 || host->p[host->n - 1] == ']' || !str_cut_last(*host, ':', &name, &port))
		return true;
	*host = name;
	return port.n == 0 || parse_i64(port, 0, 65535, &n) == 0;
}

bool oc_url_parse(struct str text, struct oc_url *ret)
{
	struct str rest, login;
	size_t n = 0;

	*ret = (struct oc_url){ 0 };
	text = oc_trim(text);
	if (!cut_scheme(text, &ret->scheme, &rest))
		return false;
	if (!is_special(ret->scheme))
		return true;
	while (rest.n > 0 && (rest.p[0] == '/' || rest.p[0] == '\\'))
		rest = str_from(rest, 1);
	while (n < rest.n && !memchr("/\\?#", rest.p[n], 4))
		n++;
	ret->host = (struct str){ rest.p, n };
	ret->rest = str_from(rest, n);
	ret->has_login = str_cut_last(ret->host, '@', &login, &ret->host);
	return cut_port(&ret->host) && host_ok(ret->host);
}

bool oc_url_is_http(const struct oc_url *u)
{
	return str_eq_nocase(u->scheme, STR("http")) || str_eq_nocase(u->scheme, STR("https"));
}

/* Nothing but scheme and host. */
bool oc_url_is_origin(const struct oc_url *u)
{
	return oc_url_is_http(u) && !u->has_login && (u->rest.n == 0 || str_eq(u->rest, STR("/")));
}

bool oc_url_is_local(const struct oc_url *u)
{
	return str_eq_nocase(u->host, STR("localhost")) || str_eq(u->host, STR("127.0.0.1")) ||
	       str_eq(u->host, STR("[::1]"));
}
