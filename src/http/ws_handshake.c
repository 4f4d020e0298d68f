/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The handshake of RFC 6455 section 4. It wants SHA-1 of one short text: not to keep anything secret, only to show that the
 * server speaks WebSocket. So these lines are here, and not in base/hash.h, and no library is linked for them.
 */
#include "http/chars.h"
#include "http/websocket.h"

#include <endian.h>

enum { KEY_BYTES = 24, SHA1_BYTES = 20, SHA1_BLOCK = 64 };

static uint32_t rotate(uint32_t v, unsigned n)
{
	return v << n | v >> (32 - n);
}

static void sha1_block(uint32_t h[static 5], const unsigned char block[static SHA1_BLOCK])
{
	uint32_t w[80], a = h[0], b = h[1], c = h[2], d = h[3], e = h[4];

	for (size_t i = 0; i < 16; i++) {
		memcpy(&w[i], block + 4 * i, 4);
		w[i] = be32toh(w[i]);
	}
	for (size_t i = 16; i < 80; i++)
		w[i] = rotate(w[i - 3] ^ w[i - 8] ^ w[i - 14] ^ w[i - 16], 1);
	for (size_t i = 0; i < 80; i++) {
		static const uint32_t constant[] = { 0x5a827999, 0x6ed9eba1, 0x8f1bbcdc, 0xca62c1d6 };
		uint32_t mix = i < 20              ? (b & c) | (~b & d)
			       : i >= 40 && i < 60 ? (b & c) | (b & d) | (c & d)
						   : b ^ c ^ d;
		uint32_t next = rotate(a, 5) + mix + e + constant[i / 20] + w[i];

		e = d;
		d = c;
		c = rotate(b, 30);
		b = a;
		a = next;
	}
	h[0] += a;
	h[1] += b;
	h[2] += c;
	h[3] += d;
	h[4] += e;
}

/* Of at most 119 bytes: two blocks. */
static void sha1_short(struct str s, unsigned char out[static SHA1_BYTES])
{
	uint32_t h[5] = { 0x67452301, 0xefcdab89, 0x98badcfe, 0x10325476, 0xc3d2e1f0 };
	unsigned char block[2 * SHA1_BLOCK] = { 0 };
	size_t n = s.n < SHA1_BLOCK - 8 ? SHA1_BLOCK : 2 * SHA1_BLOCK;
	uint64_t bits = htobe64((uint64_t)s.n * 8);

	memcpy(block, s.p, s.n);
	block[s.n] = 0x80;
	memcpy(block + n - 8, &bits, 8);
	for (size_t i = 0; i < n; i += SHA1_BLOCK)
		sha1_block(h, block + i);
	for (size_t i = 0; i < 5; i++) {
		uint32_t word = htobe32(h[i]);

		memcpy(out + 4 * i, &word, 4);
	}
}

static const char base64[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

void ws_accept(struct str key, char accept[static WS_ACCEPT_BYTES])
{
	static const char guid[] = "258EAFA5-E914-47DA-95CA-C5AB0DC85B11";
	unsigned char digest[SHA1_BYTES + 1] = { 0 };
	char text[KEY_BYTES + sizeof(guid) - 1];

	key.n = key.n < KEY_BYTES ? key.n : KEY_BYTES;
	memcpy(text, key.p, key.n);
	memcpy(text + key.n, guid, sizeof(guid) - 1);
	sha1_short((struct str){ text, key.n + sizeof(guid) - 1 }, digest);
	for (size_t i = 0; i < SHA1_BYTES; i += 3) {
		uint32_t word = (uint32_t)digest[i] << 16 | (uint32_t)digest[i + 1] << 8 |
				(i + 2 < SHA1_BYTES ? digest[i + 2] : 0u);

		for (size_t k = 0; k < 4; k++)
			accept[i / 3 * 4 + k] = base64[word >> (18 - 6 * k) & 63];
	}
	accept[WS_ACCEPT_BYTES - 1] = '=';
}

/* Sixteen bytes in base64: 22 digits, of which the last has four bits that are zero, and "==". */
static bool key_ok(struct str key)
{
	if (key.n != KEY_BYTES || key.p[22] != '=' || key.p[23] != '=')
		return false;
	for (size_t i = 0; i < 22; i++)
		if (!memchr(base64, key.p[i], 64))
			return false;
	return memchr("AQgw", key.p[21], 4);
}

static bool fault(struct http_fault *ret, unsigned status, const char *reason)
{
	*ret = (struct http_fault){ .status = status, .reason = reason };
	return false;
}

bool ws_handshake(const struct http_head *h, char accept[static WS_ACCEPT_BYTES], struct http_fault *ret)
{
	struct str upgrade, version, key;

	if (h->method != HTTP_GET || !h->wants_upgrade || h->framing != HTTP_NO_BODY ||
	    http_head_one(h, STR("upgrade"), &upgrade) < 0 || !str_eq_nocase(upgrade, STR("websocket")))
		return fault(ret, 400, "the request does not ask for a WebSocket");
	if (http_head_one(h, STR("sec-websocket-version"), &version) < 0 || !str_eq(version, STR("13")))
		return fault(ret, 426, "Sec-WebSocket-Version is not 13");
	if (http_head_one(h, STR("sec-websocket-key"), &key) < 0 || !key_ok(key))
		return fault(ret, 400, "Sec-WebSocket-Key is not 16 bytes in base64");
	ws_accept(key, accept);
	return true;
}
