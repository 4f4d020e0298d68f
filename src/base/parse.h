/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Text that people write for one value: numbers, sizes, durations, switches, hosts. Every function takes the whole
 * slice or refuses it (no blanks, no rest), knows no locale, and writes its result only on success.
 * -EINVAL: not of this form. -ERANGE: of this form, but outside what the caller allows.
 */
#pragma once

#include "base/str.h"

#include <stdint.h>

/* true/false, yes/no, on/off, 1/0; ASCII case does not matter. */
int parse_bool(struct str s, bool *ret);

/* An optional '-', then decimal digits. For unsigned numbers there is str_to_u64(). */
int parse_i64(struct str s, int64_t min, int64_t max, int64_t *ret);

/* Decimal digits with an optional fraction and exponent (see num.h); never NaN, never infinite. */
int parse_double(struct str s, double min, double max, double *ret);

/*
 * "80000", "512m", "64MiB", "1.5g": k, m, g, t, p, with "b" or "ib" behind it or not, in any case, all powers of
 * 1024 as docker has them. A fraction (at most 18 digits) needs a unit and is rounded down to whole bytes.
 */
int parse_size(struct str s, uint64_t max, uint64_t *ret_bytes);

/* "250ms", "30s", "5m", "2h", "1d", and falling units in one: "1h30m". "0" alone needs no unit; the rest does. */
int parse_duration(struct str s, uint64_t max_ms, uint64_t *ret_ms);

/* The longest unit that divides it: 1536 -> "1536", 2 MiB -> "2m"; 90000 ms -> "90s". Reads back equal. */
#define PARSE_TEXT_MAX 32
struct str parse_format_size(uint64_t bytes, char out[static PARSE_TEXT_MAX]);
struct str parse_format_duration(uint64_t ms, char out[static PARSE_TEXT_MAX]);

/*
 * "host:port", "[::1]:8080", and a bare host when `default_port` is not 0. The port is 1..65535. The host is a
 * slice of `s` without brackets; only its alphabet is checked (letters, digits, '-', '.', '_'; in brackets also ':').
 */
int parse_host_port(struct str s, uint16_t default_port, struct str *ret_host, uint16_t *ret_port);

struct parse_net {
	unsigned char addr[16]; /* IPv4 in the first four bytes */
	unsigned family;        /* AF_INET or AF_INET6; 0 = none */
	unsigned prefix_bits;
};

/* "10.0.0.0/8", "::1", "fd00::/8". Bits behind the prefix must be zero: "10.0.0.1/8" is a mistake, so it is refused. */
int parse_net(struct str s, struct parse_net *ret);
bool parse_net_contains(const struct parse_net *net, const struct parse_net *addr);
