/* SPDX-License-Identifier: Apache-2.0 */
/* Both modes read the same text; upstream's verdict and the documents' differ, the property does not. */
#include "reader.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	(void)reader_run(FORMAT_OPENCLAW, "openclaw-2026.9", data, size);
	return reader_run(FORMAT_OPENCLAW, NULL, data, size);
}
