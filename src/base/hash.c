/* SPDX-License-Identifier: Apache-2.0 */
#include "base/hash.h"
#include "base/hash_priv.h"

#include <endian.h>

/* clang-format off */
const uint32_t sha256_k[64] = {
	0x428a2f98, 0x71374491, 0xb5c0fbcf, 0xe9b5dba5, 0x3956c25b, 0x59f111f1, 0x923f82a4, 0xab1c5ed5,
	0xd807aa98, 0x12835b01, 0x243185be, 0x550c7dc3, 0x72be5d74, 0x80deb1fe, 0x9bdc06a7, 0xc19bf174,
	0xe49b69c1, 0xefbe4786, 0x0fc19dc6, 0x240ca1cc, 0x2de92c6f, 0x4a7484aa, 0x5cb0a9dc, 0x76f988da,
	0x983e5152, 0xa831c66d, 0xb00327c8, 0xbf597fc7, 0xc6e00bf3, 0xd5a79147, 0x06ca6351, 0x14292967,
	0x27b70a85, 0x2e1b2138, 0x4d2c6dfc, 0x53380d13, 0x650a7354, 0x766a0abb, 0x81c2c92e, 0x92722c85,
	0xa2bfe8a1, 0xa81a664b, 0xc24b8b70, 0xc76c51a3, 0xd192e819, 0xd6990624, 0xf40e3585, 0x106aa070,
	0x19a4c116, 0x1e376c08, 0x2748774c, 0x34b0bcb5, 0x391c0cb3, 0x4ed8aa4a, 0x5b9cca4f, 0x682e6ff3,
	0x748f82ee, 0x78a5636f, 0x84c87814, 0x8cc70208, 0x90befffa, 0xa4506ceb, 0xbef9a3f7, 0xc67178f2,
};
static const uint32_t h0[8] = {
	0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a, 0x510e527f, 0x9b05688c, 0x1f83d9ab, 0x5be0cd19,
};
/* clang-format on */

static uint32_t rotr(uint32_t x, unsigned n)
{
	return x >> n | x << (32 - n);
}

static void schedule(uint32_t w[static 64], const unsigned char *block)
{
	for (size_t i = 0; i < 16; i++) {
		uint32_t be;

		memcpy(&be, block + i * 4, sizeof(be));
		w[i] = be32toh(be);
	}
	for (unsigned i = 16; i < 64; i++) {
		uint32_t s0 = rotr(w[i - 15], 7) ^ rotr(w[i - 15], 18) ^ w[i - 15] >> 3;
		uint32_t s1 = rotr(w[i - 2], 17) ^ rotr(w[i - 2], 19) ^ w[i - 2] >> 10;

		w[i] = w[i - 16] + s0 + w[i - 7] + s1;
	}
}

/* One round. The standard moves a..h down one place; here the names move instead, and only two values change. */
#define ROUND(a, b, c, d, e, f, g, h, i)                                                      \
	do {                                                                                  \
		uint32_t s1_ = rotr(e, 6) ^ rotr(e, 11) ^ rotr(e, 25);                        \
		uint32_t t1_ = (h) + s1_ + (((e) & (f)) ^ (~(e) & (g))) + sha256_k[i] + w[i]; \
		uint32_t s0_ = rotr(a, 2) ^ rotr(a, 13) ^ rotr(a, 22);                        \
		(d) += t1_;                                                                   \
		(h) = t1_ + s0_ + (((a) & (b)) ^ ((a) & (c)) ^ ((b) & (c)));                  \
	} while (0)

static void compress(uint32_t state[static 8], const unsigned char *block)
{
	uint32_t a = state[0], b = state[1], c = state[2], d = state[3];
	uint32_t e = state[4], f = state[5], g = state[6], h = state[7];
	uint32_t w[64];

	schedule(w, block);
	for (unsigned i = 0; i < 64; i += 8) {
		ROUND(a, b, c, d, e, f, g, h, i);
		ROUND(h, a, b, c, d, e, f, g, i + 1);
		ROUND(g, h, a, b, c, d, e, f, i + 2);
		ROUND(f, g, h, a, b, c, d, e, i + 3);
		ROUND(e, f, g, h, a, b, c, d, i + 4);
		ROUND(d, e, f, g, h, a, b, c, i + 5);
		ROUND(c, d, e, f, g, h, a, b, i + 6);
		ROUND(b, c, d, e, f, g, h, a, i + 7);
	}
	state[0] += a;
	state[1] += b;
	state[2] += c;
	state[3] += d;
	state[4] += e;
	state[5] += f;
	state[6] += g;
	state[7] += h;
}

void sha256_init(struct sha256 *c)
{
	*c = (struct sha256){ .n_bytes = 0 };
	memcpy(c->h, h0, sizeof(h0));
}

static void compress_all(struct sha256 *c, const char *p, size_t n)
{
	const unsigned char *blocks = (const unsigned char *)p;

	if (n == 0 || sha256_fast(c->h, blocks, n))
		return;
	for (size_t i = 0; i < n; i++)
		compress(c->h, blocks + i * sizeof(c->block));
}

void sha256_add(struct sha256 *c, struct str bytes)
{
	size_t at = c->n_bytes % sizeof(c->block), room = sizeof(c->block) - at, whole;

	if (bytes.n == 0)
		return;
	c->n_bytes += bytes.n;
	if (at && bytes.n >= room) {
		memcpy(c->block + at, bytes.p, room);
		compress_all(c, (const char *)c->block, 1);
		bytes = str_from(bytes, room);
		at = 0;
	}
	if (at == 0) {
		whole = bytes.n / sizeof(c->block);
		compress_all(c, bytes.p, whole);
		bytes = str_from(bytes, whole * sizeof(c->block));
	}
	memcpy(c->block + at, bytes.p, bytes.n);
}

void sha256_end(struct sha256 *c, unsigned char out[static SHA256_BYTES])
{
	static const char pad[64] = { (char)0x80 };
	uint64_t n_bits = htobe64(c->n_bytes * 8);
	size_t at = c->n_bytes % sizeof(c->block);

	sha256_add(c, (struct str){ .p = pad, .n = at < 56 ? 56 - at : 120 - at });
	sha256_add(c, (struct str){ .p = (const char *)&n_bits, .n = sizeof(n_bits) });
	for (size_t i = 0; i < 8; i++) {
		uint32_t be = htobe32(c->h[i]);

		memcpy(out + i * 4, &be, sizeof(be));
	}
	explicit_bzero(c, sizeof(*c));
}

void hash_to_hex(const unsigned char *bytes, size_t n, char *out)
{
	static const char digit[] = "0123456789abcdef";

	for (size_t i = 0; i < n; i++) {
		out[2 * i] = digit[bytes[i] >> 4];
		out[2 * i + 1] = digit[bytes[i] & 15];
	}
	out[2 * n] = '\0';
}

void sha256_hex(struct str bytes, char out[static SHA256_HEX])
{
	unsigned char digest[SHA256_BYTES];
	struct sha256 c;

	sha256_init(&c);
	sha256_add(&c, bytes);
	sha256_end(&c, digest);
	hash_to_hex(digest, sizeof(digest), out);
}

/* Both halves of the 128-bit product: every input bit reaches every output bit in one multiplication. */
static uint64_t mix(uint64_t a, uint64_t b)
{
	unsigned __int128 m = (unsigned __int128)a * b;

	return (uint64_t)m ^ (uint64_t)(m >> 64);
}

uint64_t hash_fast(struct str s, uint64_t seed)
{
	const uint64_t odd1 = UINT64_C(0x9e3779b97f4a7c15), odd2 = UINT64_C(0xd1b54a32d192ed03);
	uint64_t h = seed ^ mix(s.n ^ odd1, odd2), word = 0;

	for (; s.n >= sizeof(word); s = str_from(s, sizeof(word))) {
		memcpy(&word, s.p, sizeof(word));
		h = mix(h ^ word ^ odd1, odd2);
	}
	word = 0;
	if (s.n > 0)
		memcpy(&word, s.p, s.n);
	return mix(h ^ word ^ odd2, odd1);
}

bool hash_equal_ct(struct str a, struct str b)
{
	volatile unsigned char diff = 0;

	if (a.n != b.n)
		return false;
	for (size_t i = 0; i < a.n; i++)
		diff = (unsigned char)(diff | ((unsigned char)a.p[i] ^ (unsigned char)b.p[i]));
	return diff == 0;
}
