/* SPDX-License-Identifier: Apache-2.0 */
/* Every line is one -e. See config_checks.h for what must hold. */
#include "config_checks.h"

#define SETS_MAX 32

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	_cleanup_arena_ struct arena a = { 0 };
	struct str rest = { .p = (const char *)data, .n = size }, sets[SETS_MAX];
	const struct config *c;
	size_t n = 0;

	while (n < SETS_MAX && rest.n) {
		if (!str_cut(rest, '\n', &sets[n], &rest)) {
			sets[n] = rest;
			rest = (struct str){ 0 };
		}
		n++;
	}
	arena_init(&a, FUZZ_ARENA_BYTES);
	c = check_load(&a, FORMAT_CREEL, NULL, (struct strs){ .v = sets, .n = n });
	if (c)
		check_shown(c, &a);
	return 0;
}
