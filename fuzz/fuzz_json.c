/* SPDX-License-Identifier: Apache-2.0 */
/* Strict JSON: the tree is sound, prints back equal, and JSON5 reads the same text to the same value. */
#include "value_checks.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	_cleanup_arena_ struct arena a;
	struct str text = { .p = (const char *)data, .n = size };
	const struct json_opts strict = { .name = "f" }, json5 = { .name = "f", .json5 = true };
	struct value v, relaxed;
	struct err e;

	arena_init(&a, FUZZ_ARENA_BYTES);
	if (json_parse(&a, text, &strict, &v, &e) < 0) {
		check_error(text, &e);
		return 0;
	}
	check_print(&a, &v, check_tree(text, &v, 64));
	assert(json_parse(&a, text, &json5, &relaxed, &e) >= 0);
	assert(value_equal(&v, &relaxed));
	return 0;
}
