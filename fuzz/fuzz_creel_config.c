/* SPDX-License-Identifier: Apache-2.0 */
/* The canonical file. See config_checks.h for what must hold. */
#include "config_checks.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	_cleanup_arena_ struct arena a = { 0 };
	const struct str text = { .p = (const char *)data, .n = size };
	const struct config *c;

	arena_init(&a, FUZZ_ARENA_BYTES);
	c = check_load(&a, FORMAT_CREEL, &text, (struct strs){ 0 });
	if (c)
		check_shown(c, &a);
	return 0;
}
