/* SPDX-License-Identifier: Apache-2.0 */
/* What is read as a file of tokens is within its limits, and written and read again it is the same. An error has a place. */
#include "check.h"

#include "identity/tokens.h"

static void check_again(const struct tokens *t)
{
	_cleanup_arena_ struct arena a = { 0 };
	_cleanup_buf_ struct buf text = { 0 }, twice = { 0 };
	struct tokens again = { 0 };
	struct err e = { 0 };

	arena_init(&a, (size_t)64 << 20);
	buf_init(&text, TOKENS_FILE_MAX);
	buf_init(&twice, TOKENS_FILE_MAX);
	tokens_write(&text, t);
	CHECK(!text.failed && tokens_parse(&a, buf_str(&text), "again", &again, &e) == 0);
	tokens_write(&twice, &again);
	CHECK(str_eq(buf_str(&text), buf_str(&twice)));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct str in = { .p = (const char *)data, .n = size };
	_cleanup_arena_ struct arena a = { 0 };
	struct token_entry bound = { 0 };
	struct tokens t = { 0 };
	struct err e = { 0 };
	size_t found = 0;

	arena_init(&a, (size_t)64 << 20);
	if (tokens_parse(&a, in, "f", &t, &e) < 0) {
		CHECK(e.msg[0] == 'f' && e.msg[1] == ':' && t.n == 0);
	} else {
		CHECK(t.n <= TOKENS_MAX);
		for (size_t i = 0; i < t.n; i++)
			CHECK(t.v[i].all_pairs ? t.v[i].n_pairs == 0
					       : t.v[i].n_pairs > 0 && t.v[i].n_pairs <= TOKEN_PAIRS_MAX);
		CHECK(tokens_find(&t, in, 0, &found) ==
		      TOKEN_UNKNOWN); /* a file does not hold its own hash */
		check_again(&t);
	}
	e = (struct err){ 0 };
	CHECK(token_pairs_parse(&a, in, &bound, &e) == 0 || e.kind == ERR_USAGE || e.kind == ERR_LIMIT);
	return 0;
}
