/* SPDX-License-Identifier: Apache-2.0 */
/* What every target opens with. CHECK is not assert(): a build without assertions still has to find what is wrong. */
#pragma once

#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define CHECK(cond)              \
	do {                     \
		if (!(cond))     \
			abort(); \
	} while (0)
