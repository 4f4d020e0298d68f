/* SPDX-License-Identifier: Apache-2.0 */
/* YAML: never deeper than 64, positions inside the text, and the tree prints as JSON that reads back equal. */
#include "data/yaml.h"
#include "value_checks.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	_cleanup_arena_ struct arena a;
	struct str text = { .p = (const char *)data, .n = size };
	struct value v;
	struct err e;

	arena_init(&a, FUZZ_ARENA_BYTES);
	if (yaml_parse(&a, text, "f", &v, &e) < 0) {
		check_error(text, &e);
		return 0;
	}
	check_print(&a, &v, check_tree(text, &v, 64));
	return 0;
}
