/* SPDX-License-Identifier: Apache-2.0 */
#include "check.h"

#include "base/hash.h"

static void check_examples(void)
{
	static const struct {
		struct str in;
		const char *want;
	} cases[] = {
		{ STR(""), "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855" },
		{ STR("abc"), "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad" },
		{ STR("abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq"),
		  "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1" },
		{ STR("abcdefghbcdefghicdefghijdefghijkefghijklfghijklmghijklmnhijklmno"
		      "ijklmnopjklmnopqklmnopqrlmnopqrsmnopqrstnopqrstu"),
		  "cf5b16a778af8380036ce59e7b0492370b249b11e8f07a51afac45037afee9d1" },
		{ STR("\xbd"), "68325720aabd7c82f30f554b313d0570c95accbb7dc4b5aae11204c08ffe732b" },
		{ STR("\xc9\x8c\x8e\x55"),
		  "7abc22c0ae5af26ce93dbb94433a0e0b2e119d014f8e7f65bd56c61ccccd9504" },
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		char hex[SHA256_HEX];

		sha256_hex(cases[i].in, hex);
		assert_string_equal(hex, cases[i].want);
	}
}

TEST(sha256_matches_the_standards_examples)
{
	check_examples();
}

TEST(sha256_of_a_million_a_fed_in_odd_pieces)
{
	char chunk[997], hex[SHA256_HEX];
	unsigned char digest[SHA256_BYTES];
	size_t left = 1000000, n = 1;
	struct sha256 c;

	memset(chunk, 'a', sizeof(chunk));
	sha256_init(&c);
	while (left > 0) {
		n = n * 7 % sizeof(chunk);
		n = n < left ? n : left;
		sha256_add(&c, (struct str){ chunk, n });
		left -= n;
	}
	sha256_end(&c, digest);
	hash_to_hex(digest, sizeof(digest), hex);
	assert_string_equal(hex, "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0");
}

/* A process that has hashed much uses the processor's own instructions, where it has them. */
TEST(sha256_is_the_same_after_much_was_hashed)
{
	static const char much[1 << 16];
	char hex[SHA256_HEX];

	sha256_hex((struct str){ much, sizeof(much) }, hex);
	assert_string_equal(hex, "de2f256064a0af797747c2b97505dc0b9f3df0de4f489eac731c23ae9ca9cc31");
	check_examples();
}

/* Zero bytes of the lengths around the padding's edges (from the NIST byte-oriented samples). */
TEST(sha256_pads_right_around_the_block_edge)
{
	static const struct {
		size_t n;
		const char *want;
	} cases[] = {
		{ 55, "02779466cdec163811d078815c633f21901413081449002f24aa3e80f0b88ef7" },
		{ 56, "d4817aa5497628e7c77e6b606107042bbba3130888c5f47a375e6179be789fbb" },
		{ 57, "65a16cb7861335d5ace3c60718b5052e44660726da4cd13bb745381b235a1785" },
		{ 64, "f5a5fd42d16a20302798ef6ed309979b43003d2320d9f0e8ea9831a92759fb4b" },
		{ 1000, "541b3e9daa09b20bf85fa273e5cbd3e80185aa4ec298e765db87742b70138a53" },
	};
	static const char zeros[1000];

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		char hex[SHA256_HEX];

		sha256_hex((struct str){ zeros, cases[i].n }, hex);
		CHECK_CASE(strcmp(hex, cases[i].want) == 0, "%zu zeros: %s", cases[i].n, hex);
	}
}

TEST(sha256_is_the_same_however_the_text_is_cut)
{
	char text[200], whole[SHA256_HEX];

	for (size_t i = 0; i < sizeof(text); i++)
		text[i] = (char)(i * 7);
	sha256_hex((struct str){ text, sizeof(text) }, whole);
	for (size_t cut = 0; cut <= sizeof(text); cut++) {
		unsigned char digest[SHA256_BYTES];
		char hex[SHA256_HEX];
		struct sha256 c;

		sha256_init(&c);
		sha256_add(&c, (struct str){ text, cut });
		sha256_add(&c, (struct str){ text + cut, sizeof(text) - cut });
		sha256_end(&c, digest);
		hash_to_hex(digest, sizeof(digest), hex);
		assert_string_equal(hex, whole);
	}
}

TEST(sha256_end_leaves_nothing_of_the_input)
{
	static const struct sha256 zero;
	unsigned char digest[SHA256_BYTES];
	struct sha256 c;

	sha256_init(&c);
	sha256_add(&c, STR("a secret"));
	sha256_end(&c, digest);
	assert_memory_equal(&c, &zero, sizeof(c));
}

TEST(hash_fast_depends_on_every_byte_the_length_and_the_seed)
{
	char text[40] = { 0 };

	for (size_t n = 0; n <= sizeof(text); n++) {
		uint64_t h = hash_fast((struct str){ text, n }, 1);

		assert_true(h != hash_fast((struct str){ text, n }, 2));
		if (n > 0)
			assert_true(h != hash_fast((struct str){ text, n - 1 }, 1));
		for (size_t i = 0; i < n; i++) {
			text[i] ^= 1;
			assert_true(h != hash_fast((struct str){ text, n }, 1));
			text[i] ^= 1;
		}
		assert_true(h == hash_fast((struct str){ text, n }, 1));
	}
}

TEST(hash_fast_fills_buckets_evenly)
{
	unsigned bucket[256] = { 0 };

	for (unsigned i = 0; i < 256 * 100; i++) {
		char key[16];
		int n = snprintf(key, sizeof(key), "key%u", i);

		bucket[hash_fast((struct str){ key, (size_t)n }, 0) & 255]++;
	}
	for (unsigned i = 0; i < 256; i++)
		CHECK_CASE(bucket[i] > 50 && bucket[i] < 160, "bucket %u holds %u", i, bucket[i]);
}

TEST(hash_equal_ct_is_equality)
{
	char a[33], b[33];

	memset(a, 5, sizeof(a));
	memset(b, 5, sizeof(b));
	assert_true(hash_equal_ct((struct str){ a, 33 }, (struct str){ b, 33 }));
	assert_false(hash_equal_ct((struct str){ a, 33 }, (struct str){ b, 32 }));
	assert_true(hash_equal_ct((struct str){ 0 }, STR("")));
	for (size_t i = 0; i < sizeof(a); i++) {
		for (unsigned bit = 0; bit < 8; bit++) {
			b[i] = (char)(b[i] ^ 1 << bit);
			assert_false(hash_equal_ct((struct str){ a, 33 }, (struct str){ b, 33 }));
			b[i] = (char)(b[i] ^ 1 << bit);
		}
	}
}

TEST_MAIN()
