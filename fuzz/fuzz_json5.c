/* SPDX-License-Identifier: Apache-2.0 */
/*
 * JSON5, under both policies for duplicate keys: the tree is sound and prints back equal as strict JSON; what the
 * strict policy reads, the other reads to the same value.
 */
#include "value_checks.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	_cleanup_arena_ struct arena a;
	struct str text = { .p = (const char *)data, .n = size };
	struct json_opts opts = { .name = "f", .json5 = true };
	struct value v, last;
	struct err e;
	bool unique;

	arena_init(&a, FUZZ_ARENA_BYTES);
	unique = json_parse(&a, text, &opts, &v, &e) >= 0;
	if (!unique)
		check_error(text, &e);
	opts.dup_keys = JSON_DUP_LAST;
	if (json_parse(&a, text, &opts, &last, &e) < 0) {
		check_error(text, &e);
		assert(!unique);
		return 0;
	}
	check_print(&a, &last, check_tree(text, &last, 64));
	assert(!unique || value_equal(&v, &last));
	return 0;
}
