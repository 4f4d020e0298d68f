/* SPDX-License-Identifier: Apache-2.0 */
#include "reader.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	return reader_run(FORMAT_OPENCLAW_NET, NULL, data, size);
}
