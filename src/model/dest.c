/* SPDX-License-Identifier: Apache-2.0 */
#include "model/dest.h"

#include <arpa/inet.h>
#include <stdio.h>

enum { HOST_MAX = 253, LABEL_MAX = 63 };

static bool is_digit(char c)
{
	return c >= '0' && c <= '9';
}

static bool is_label_char(char c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || is_digit(c) || c == '-' || c == '_';
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

/* A host whose last label is a number, in any base, is an address to some reader. */
static bool is_number(struct str label)
{
	size_t i = 0;

	if (label.n > 1 && label.p[0] == '0' && (label.p[1] == 'x' || label.p[1] == 'X'))
		return true;
	while (i < label.n && is_digit(label.p[i]))
		i++;
	return i == label.n;
}

static bool is_name(struct str s)
{
	struct str head, rest = s;

	if (s.n == 0 || s.n > HOST_MAX)
		return false;
	while (str_cut(rest, '.', &head, &rest))
		if (!is_label(head))
			return false;
	return is_label(rest) && !is_number(rest);
}

static bool parse_addr(int family, struct str s, struct dest_addr *ret)
{
	struct dest_addr a = { .n = family == AF_INET ? 4 : 16 };
	char text[INET6_ADDRSTRLEN];

	if (s.n == 0 || s.n >= sizeof(text) || memchr(s.p, '\0', s.n))
		return false;
	memcpy(text, s.p, s.n);
	text[s.n] = '\0';
	if (inet_pton(family, text, a.bytes) != 1)
		return false;
	*ret = a;
	return true;
}

static bool has_prefix(const struct dest_addr *a, const char *prefix, size_t n)
{
	return memcmp(a->bytes, prefix, n) == 0;
}

/* An IPv4 address in IPv6's clothes: mapped, "compatible", NAT64, 6to4. One thing has one spelling. */
static bool is_v4_in_v6(const struct dest_addr *a)
{
	static const char zero[12], mapped[12] = "\0\0\0\0\0\0\0\0\0\0\xff\xff", nat64[12] = "\0\x64\xff\x9b";
	static const char loopback[16] = "\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\1";

	if (a->n != 16 || has_prefix(a, loopback, 16))
		return false;
	return has_prefix(a, zero, 12) || has_prefix(a, mapped, 12) || has_prefix(a, nat64, 12) ||
	       has_prefix(a, "\x20\x02", 2);
}

bool dest_host_parse(struct str s, struct dest_host *ret)
{
	struct dest_host h = { .name = s };

	if (s.n > 2 && s.p[0] == '[' && s.p[s.n - 1] == ']') {
		h.name = (struct str){ .p = "", .n = 0 };
		if (!parse_addr(AF_INET6, (struct str){ .p = s.p + 1, .n = s.n - 2 }, &h.addr) ||
		    is_v4_in_v6(&h.addr))
			return false;
		*ret = h;
		return true;
	}
	/* inet_pton() takes four decimal numbers without leading zeros and nothing else. */
	if (parse_addr(AF_INET, s, &h.addr)) {
		h.name = (struct str){ .p = "", .n = 0 };
		*ret = h;
		return true;
	}
	if (h.name.n > 1 && h.name.p[h.name.n - 1] == '.')
		h.name.n--;
	if (!is_name(h.name))
		return false;
	*ret = h;
	return true;
}

bool dest_host_eq(const struct dest_host *a, const struct dest_host *b)
{
	if (a->addr.n || b->addr.n)
		return a->addr.n == b->addr.n && memcmp(a->addr.bytes, b->addr.bytes, a->addr.n) == 0;
	return a->name.n > 0 && str_eq_nocase(a->name, b->name);
}

/* Cuts ":port" off; *ret_port stays when there is none. */
static bool cut_port(struct str *s, uint16_t *ret_port)
{
	struct str host, port;
	uint64_t n;

	if (s->n && s->p[s->n - 1] == ']')
		return true;
	if (!str_cut_last(*s, ':', &host, &port))
		return true;
	/* Five digits at most: a port has one spelling, too. */
	if (port.n > 5 || str_to_u64(port, UINT16_MAX, &n) < 0 || n == 0 || port.p[0] == '0')
		return false;
	*s = host;
	*ret_port = (uint16_t)n;
	return true;
}

bool dest_authority_parse(struct str s, uint16_t default_port, struct dest_host *ret, uint16_t *ret_port)
{
	uint16_t port = default_port;

	if (!cut_port(&s, &port) || port == 0 || !dest_host_parse(s, ret))
		return false;
	*ret_port = port;
	return true;
}

/* Addresses that no service of anybody's is at, or that a cloud gives its secrets out at. */
static bool may_dial(const struct dest_addr *a)
{
	const unsigned char *b = a->bytes;
	static const unsigned char none[16];

	if (a->n == 4)
		return b[0] != 0 && b[0] < 224 && !(b[0] == 169 && b[1] == 254);
	return a->n == 16 && memcmp(b, none, 16) != 0 && b[0] != 0xff &&
	       !(b[0] == 0xfe && (b[1] & 0xc0) == 0x80) && !is_v4_in_v6(a);
}

static const char *parse_target(struct str text, struct dest *d)
{
	struct dest_host h;

	if (!cut_port(&text, &d->addr_port))
		return "the port of the address is not 1..65535";
	/* "::1" needs brackets where a port could follow. */
	if (!dest_host_parse(text, &h) || !h.addr.n)
		return "what follows '=' is not an address ('127.0.0.1:11434', '[::1]:11434')";
	d->addr = h.addr;
	return NULL;
}

const char *dest_parse(struct str entry, struct dest *ret)
{
	struct str name, target = { .p = "", .n = 0 };
	struct dest d = { 0 };
	bool has_target;
	const char *wrong;

	entry = str_trim(entry);
	name = entry;
	has_target = str_cut(entry, '=', &name, &target);
	if (!cut_port(&name, &d.port))
		return "the port is not 1..65535";
	if (!dest_host_parse(name, &d.host))
		return "the host is not a name, an IPv4 address or an IPv6 address in brackets";
	wrong = has_target ? parse_target(target, &d) : NULL;
	if (wrong)
		return wrong;
	if (!has_target)
		d.addr = d.host.addr;
	if (d.addr.n && !may_dial(&d.addr))
		return "no service has this address (unspecified, multicast and link-local ones are refused)";
	if (d.addr.n && !d.port)
		d.port = d.addr_port ? d.addr_port : 80;
	if (!d.addr_port)
		d.addr_port = d.port;
	*ret = d;
	return NULL;
}

bool dest_matches(const struct dest *d, const struct dest_host *host, uint16_t port)
{
	return port != 0 && (d->port == 0 || d->port == port) && dest_host_eq(&d->host, host);
}

struct str dest_addr_text(const struct dest_addr *a, char out[static DEST_TEXT_MAX])
{
	if (!inet_ntop(a->n == 4 ? AF_INET : AF_INET6, a->bytes, out, DEST_TEXT_MAX))
		out[0] = '\0';
	return str_z(out);
}

struct str dest_text(const struct dest_host *host, uint16_t port, char out[static DEST_TEXT_MAX])
{
	char text[DEST_TEXT_MAX];
	struct str s = host->addr.n ? dest_addr_text(&host->addr, text) : host->name;
	bool v6 = host->addr.n == 16;
	size_t n = 0;

	if (v6)
		out[n++] = '[';
	for (size_t i = 0; i < s.n && n < HOST_MAX + 1; i++)
		out[n++] = s.p[i] >= 'A' && s.p[i] <= 'Z' ? (char)(s.p[i] - 'A' + 'a') : s.p[i];
	if (v6)
		out[n++] = ']';
	out[n] = '\0';
	if (port)
		n += (size_t)snprintf(out + n, DEST_TEXT_MAX - n, ":%u", port);
	return (struct str){ .p = out, .n = n };
}
