/* SPDX-License-Identifier: Apache-2.0 */
/* The half of parse.h that is about hosts and networks. */
#include "base/parse.h"

#include <arpa/inet.h>
#include <errno.h>

static bool host_char_ok(char c, bool brackets)
{
	return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '-' ||
	       c == '.' || (brackets ? c == ':' : c == '_');
}

static bool host_ok(struct str host, bool brackets)
{
	if (host.n == 0 || host.n > 253)
		return false;
	for (size_t i = 0; i < host.n; i++)
		if (!host_char_ok(host.p[i], brackets))
			return false;
	return true;
}

/* "[host]" or "[host]:port": the two pieces, port empty when there is none. */
static int cut_brackets(struct str s, struct str *host, struct str *port)
{
	if (!str_cut(str_from(s, 1), ']', host, port))
		return -EINVAL;
	if (port->n == 0)
		return 0;
	if (port->p[0] != ':' || port->n == 1)
		return -EINVAL;
	*port = str_from(*port, 1);
	return 0;
}

int parse_host_port(struct str s, uint16_t default_port, struct str *ret_host, uint16_t *ret_port)
{
	bool brackets = s.n > 0 && s.p[0] == '[';
	struct str host = s, port = STR("");
	uint64_t number = default_port;
	int r = 0;

	if (brackets)
		r = cut_brackets(s, &host, &port);
	else if (str_cut(s, ':', &host, &port) && port.n == 0)
		r = -EINVAL; /* "host:" */
	if (r < 0 || !host_ok(host, brackets))
		return -EINVAL;
	if (port.n > 0)
		r = str_to_u64(port, UINT16_MAX, &number);
	if (r < 0)
		return r;
	if (number == 0)
		return port.n > 0 ? -ERANGE : -EINVAL;
	*ret_host = host;
	*ret_port = (uint16_t)number;
	return 0;
}

static bool rest_is_zero(const struct parse_net *net, unsigned all_bits)
{
	for (unsigned bit = net->prefix_bits; bit < all_bits; bit++)
		if (net->addr[bit / 8] & (0x80u >> bit % 8))
			return false;
	return true;
}

int parse_net(struct str s, struct parse_net *ret)
{
	struct parse_net net = { .family = AF_INET };
	char text[INET6_ADDRSTRLEN];
	struct str addr = s, bits = STR("");
	bool has_bits = str_cut(s, '/', &addr, &bits);
	unsigned all_bits;
	uint64_t v;

	if (addr.n == 0 || addr.n >= sizeof(text) || memchr(addr.p, '\0', addr.n))
		return -EINVAL;
	memcpy(text, addr.p, addr.n);
	text[addr.n] = '\0';
	if (memchr(text, ':', addr.n))
		net.family = AF_INET6;
	if (inet_pton((int)net.family, text, net.addr) != 1)
		return -EINVAL;
	all_bits = net.family == AF_INET ? 32 : 128;
	v = all_bits;
	if (has_bits) {
		int r = str_to_u64(bits, all_bits, &v);

		if (r < 0)
			return r;
	}
	net.prefix_bits = (unsigned)v;
	if (!rest_is_zero(&net, all_bits))
		return -EINVAL;
	*ret = net;
	return 0;
}

bool parse_net_contains(const struct parse_net *net, const struct parse_net *addr)
{
	unsigned whole = net->prefix_bits / 8, rest = net->prefix_bits % 8;
	unsigned char mask = (unsigned char)(0xff00u >> rest);

	if (net->family == 0 || net->family != addr->family || addr->prefix_bits < net->prefix_bits)
		return false;
	if (memcmp(net->addr, addr->addr, whole) != 0)
		return false;
	return rest == 0 || ((net->addr[whole] ^ addr->addr[whole]) & mask) == 0;
}
