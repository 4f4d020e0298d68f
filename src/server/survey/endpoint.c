/* SPDX-License-Identifier: Apache-2.0 */
/* The URL of a service, as a configuration has it. */
#include "server/survey/remote.h"

#include "base/parse.h"
#include "http/chars.h"

#include <arpa/inet.h>

enum { URL_MAX = 1024, HOST_MAX = 253 };

static bool cut_scheme(struct str *s, bool *ret_tls)
{
	static const char *const schemes[] = { "http://", "https://" };

	for (size_t i = 0; i < 2; i++) {
		struct str scheme = str_z(schemes[i]);

		if (s->n < scheme.n || !str_eq_nocase((struct str){ s->p, scheme.n }, scheme))
			continue;
		*s = str_from(*s, scheme.n);
		*ret_tls = i == 1;
		return true;
	}
	return false;
}

static bool path_ok(struct str path)
{
	for (size_t i = 0; i < path.n; i++) {
		if (http_char(path.p[i], CHAR_PATH))
			continue;
		if (path.p[i] != '%' || i + 2 >= path.n || http_hex(path.p[i + 1]) < 0 ||
		    http_hex(path.p[i + 2]) < 0)
			return false;
	}
	return true;
}

/* Slashes at its end say nothing, and "/v1" is the API's own: with and without it the same is meant. */
static struct str base_of(struct str path)
{
	while (path.n > 0 && path.p[path.n - 1] == '/')
		path.n--;
	if (str_ends(path, STR("/v1")))
		path.n -= 3;
	while (path.n > 0 && path.p[path.n - 1] == '/')
		path.n--;
	return path;
}

static bool take_host(struct arena *a, struct str authority, struct endpoint *ret)
{
	const bool brackets = authority.n > 0 && authority.p[0] == '[';
	const uint16_t usual = ret->is_tls ? 443 : 80;
	struct in6_addr number;
	struct str host;

	if (parse_host_port(authority, usual, &host, &ret->port) < 0 || host.n > HOST_MAX)
		return false;
	ret->host = arena_str(a, host);
	if (!ret->host.p)
		return false;
	ret->is_address = inet_pton(brackets ? AF_INET6 : AF_INET, ret->host.p, &number) == 1;
	if (brackets && !ret->is_address)
		return false;
	ret->authority = arena_printf(a, brackets ? "[" STR_FMT "]" : STR_FMT, STR_ALL(host));
	if (ret->port != usual)
		ret->authority = arena_printf(a, STR_FMT ":%u", STR_ALL(ret->authority), ret->port);
	return true;
}

int endpoint_read(struct arena *a, struct str text, struct endpoint *ret, struct err *e)
{
	struct str rest = str_trim(text);
	size_t n = 0;

	*ret = (struct endpoint){ 0 };
	if (rest.n > URL_MAX)
		return err_set(e, ERR_USAGE, "it is longer than %d bytes", URL_MAX);
	if (!cut_scheme(&rest, &ret->is_tls))
		return err_set(e, ERR_USAGE, "it does not begin with http:// or https://");
	if (memchr(rest.p, '?', rest.n) || memchr(rest.p, '#', rest.n))
		return err_set(e, ERR_USAGE, "it has a query or a fragment, and is a place only");
	while (n < rest.n && rest.p[n] != '/')
		n++;
	if (memchr(rest.p, '@', n))
		return err_set(e, ERR_USAGE,
			       "it has a user name or a password in it; the key has a place of its own");
	if (!take_host(a, (struct str){ rest.p, n }, ret))
		return err_set(
			e, ERR_USAGE,
			"what follows the scheme is no host, host:port, IPv4 address or IPv6 address in brackets");
	rest = str_from(rest, n);
	if (!path_ok(rest))
		return err_set(e, ERR_USAGE, "its path has a character that no path can have");
	ret->base = base_of(rest);
	ret->shown = arena_printf(a, "%s://" STR_FMT STR_FMT, ret->is_tls ? "https" : "http",
				  STR_ALL(ret->authority), STR_ALL(ret->base));
	return ret->shown.p ? 0 : err_set(e, ERR_LIMIT, "out of memory");
}
