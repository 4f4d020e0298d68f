/* SPDX-License-Identifier: Apache-2.0 */
/* The agents' patch format. */
#include "patch_checks.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	return check_patch(data, size, true);
}
