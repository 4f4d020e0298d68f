/* SPDX-License-Identifier: Apache-2.0 */
/*
 * SHA-256 (FIPS 180-4) for names and records that must not collide, a fast seeded hash for tables in memory, and
 * comparison that takes the same time wherever two secrets differ. No other cryptography lives here.
 */
#pragma once

#include "base/str.h"

#include <stdint.h>

#define SHA256_BYTES 32
#define SHA256_HEX (SHA256_BYTES * 2 + 1) /* with NUL */

struct sha256 {
	uint32_t h[8];
	uint64_t n_bytes;
	unsigned char block[64];
};

void sha256_init(struct sha256 *c);
void sha256_add(struct sha256 *c, struct str bytes);
/* Leaves nothing of the input behind in *c. */
void sha256_end(struct sha256 *c, unsigned char out[static SHA256_BYTES]);

/* Of one slice, as lower-case hexadecimal. */
void sha256_hex(struct str bytes, char out[static SHA256_HEX]);

/* 2 * n digits and a NUL. */
void hash_to_hex(const unsigned char *bytes, size_t n, char *out);

/* For hash tables: not for anything written down. With a secret seed nobody outside can aim at one bucket. */
uint64_t hash_fast(struct str s, uint64_t seed);

/* Equal or not, in time that depends on the lengths alone. */
bool hash_equal_ct(struct str a, struct str b);
