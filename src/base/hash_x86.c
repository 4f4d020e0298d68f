/* SPDX-License-Identifier: Apache-2.0 */
/* SHA-256 with the instructions that many processors have for it: a record of the audit log takes a fifth of the time. */
#include "base/hash_priv.h"

#if defined(__x86_64__)
#include <cpuid.h>
#include <immintrin.h>

/* Asking the processor is slow where there is a hypervisor: who hashes little does not ask. */
#define ASK_AFTER_BLOCKS 64u

enum { UNKNOWN, HAS_NONE, HAS_IT };
static unsigned char known;
static unsigned seen;

static bool ask(void)
{
	unsigned a, b, c, d;
	const unsigned ssse3_sse41 = 1u << 9 | 1u << 19;

	if (!__get_cpuid(1, &a, &b, &c, &d) || (c & ssse3_sse41) != ssse3_sse41)
		return false;
	return __get_cpuid_count(7, 0, &a, &b, &c, &d) && (b & 1u << 29);
}

/* Calls from several threads may ask twice, and hear the same. */
static bool has_it(size_t n)
{
	unsigned char k = __atomic_load_n(&known, __ATOMIC_RELAXED);

	if (k != UNKNOWN)
		return k == HAS_IT;
	if (__atomic_add_fetch(&seen, n < ASK_AFTER_BLOCKS ? (unsigned)n : ASK_AFTER_BLOCKS,
			       __ATOMIC_RELAXED) < ASK_AFTER_BLOCKS)
		return false;
	k = ask() ? HAS_IT : HAS_NONE;
	__atomic_store_n(&known, k, __ATOMIC_RELAXED);
	return k == HAS_IT;
}

struct words {
	__m128i abef, cdgh;
};

/* Four rounds with words that are there. */
__attribute__((target("sha,sse4.1"))) static inline struct words rounds(struct words s, __m128i w, unsigned i)
{
	__m128i m = _mm_add_epi32(w, _mm_loadu_si128((const __m128i *)(const void *)&sha256_k[i]));

	s.cdgh = _mm_sha256rnds2_epu32(s.cdgh, s.abef, m);
	s.abef = _mm_sha256rnds2_epu32(s.abef, s.cdgh, _mm_shuffle_epi32(m, 0x0e));
	return s;
}

/* The next four words of the schedule, from the sixteen before. */
__attribute__((target("sha,sse4.1"))) static inline __m128i next(const __m128i w[static 4], unsigned at)
{
	__m128i w0 = w[at % 4], w1 = w[(at + 1) % 4], w2 = w[(at + 2) % 4], w3 = w[(at + 3) % 4];

	return _mm_sha256msg2_epu32(_mm_add_epi32(_mm_sha256msg1_epu32(w0, w1), _mm_alignr_epi8(w3, w2, 4)),
				    w3);
}

__attribute__((target("sha,sse4.1"))) static inline void one_block(struct words *s,
								   const unsigned char *block)
{
	const __m128i big = _mm_set_epi64x(0x0c0d0e0f08090a0bLL, 0x0405060700010203LL);
	const struct words before = *s;
	__m128i w[4];

#pragma GCC unroll 4
	for (unsigned i = 0; i < 4; i++) {
		w[i] = _mm_shuffle_epi8(
			_mm_loadu_si128((const __m128i *)(const void *)(block + 16 * (size_t)i)), big);
		*s = rounds(*s, w[i], 4 * i);
	}
#pragma GCC unroll 12
	for (unsigned i = 4; i < 16; i++) {
		w[i % 4] = next(w, i);
		*s = rounds(*s, w[i % 4], 4 * i);
	}
	s->abef = _mm_add_epi32(s->abef, before.abef);
	s->cdgh = _mm_add_epi32(s->cdgh, before.cdgh);
}

__attribute__((target("sha,sse4.1"))) static void blocks_with_it(uint32_t state[static 8],
								 const unsigned char *blocks, size_t n)
{
	__m128i dcba = _mm_loadu_si128((const __m128i *)(const void *)state);
	__m128i hgfe = _mm_loadu_si128((const __m128i *)(const void *)(state + 4));
	__m128i cdab = _mm_shuffle_epi32(dcba, 0xb1), efgh = _mm_shuffle_epi32(hgfe, 0x1b);
	struct words s = { .abef = _mm_alignr_epi8(cdab, efgh, 8),
			   .cdgh = _mm_blend_epi16(efgh, cdab, 0xf0) };
	__m128i feba, dchg;

	for (size_t i = 0; i < n; i++)
		one_block(&s, blocks + 64 * i);
	feba = _mm_shuffle_epi32(s.abef, 0x1b);
	dchg = _mm_shuffle_epi32(s.cdgh, 0xb1);
	_mm_storeu_si128((__m128i *)(void *)state, _mm_blend_epi16(feba, dchg, 0xf0));
	_mm_storeu_si128((__m128i *)(void *)(state + 4), _mm_alignr_epi8(dchg, feba, 8));
}

bool sha256_fast(uint32_t state[static 8], const unsigned char *blocks, size_t n)
{
	if (!has_it(n))
		return false;
	blocks_with_it(state, blocks, n);
	return true;
}
#else
bool sha256_fast(uint32_t state[static 8], const unsigned char *blocks, size_t n)
{
	(void)state;
	(void)blocks;
	(void)n;
	return false;
}
#endif
