/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Where a sandbox may go through the proxy: one host, one port, and the address that is behind them. Pure, without memory of its
 * own; policy, engine and proxy read the same text with this and nothing else, so none of them understands it differently.
 *
 * There is no wildcard here and nothing is looked up. A host is a name or an address in the one spelling that everybody reads
 * alike: what only some programs take for an address ("0x7f.1", "127.1", "2130706433", "0177.0.0.1", "::ffff:127.0.0.1") is refused,
 * and so is every byte that is not ASCII.
 */
#pragma once

#include "base/str.h"

#include <stdint.h>

struct dest_addr {
	unsigned char bytes[16];
	unsigned n; /* 4 or 16; 0 = none */
};

struct dest_host {
	struct str
		name; /* a slice of what was read, without the dot that only says "from the root"; empty for an address */
	struct dest_addr addr; /* the host is an address */
};

struct dest {
	struct dest_host host;
	uint16_t port;         /* 0 = any; only without an address */
	struct dest_addr addr; /* what is dialled; n = 0: nobody has said */
	uint16_t addr_port;
};

/* A name, an IPv4 address, or an IPv6 address in brackets. Without a port. */
bool dest_host_parse(struct str s, struct dest_host *ret);
bool dest_host_eq(const struct dest_host *a, const struct dest_host *b);

/* "host:port"; without a port `default_port`, unless that is 0. */
bool dest_authority_parse(struct str s, uint16_t default_port, struct dest_host *ret, uint16_t *ret_port);

/*
 * "name[:port][=address[:port]]", an entry of network.internal.hosts. The address may not be one that no service has (unspecified,
 * multicast, link-local: the metadata services of clouds). Without a port of its own an entry has that of its address, or 80. A host that is
 * an address needs no other. NULL, or what is wrong with it: a literal.
 */
const char *dest_parse(struct str entry, struct dest *ret);

bool dest_matches(const struct dest *d, const struct dest_host *host, uint16_t port);

/* "ollama:11434", "[::1]:80", "ollama" where the port is 0: small letters, the one spelling. */
#define DEST_TEXT_MAX 264
struct str dest_text(const struct dest_host *host, uint16_t port, char out[static DEST_TEXT_MAX]);
/* "127.0.0.1", "::1", without brackets and port, as a socket takes it. */
struct str dest_addr_text(const struct dest_addr *a, char out[static DEST_TEXT_MAX]);
