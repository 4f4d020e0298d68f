/* SPDX-License-Identifier: Apache-2.0 */
/* docs/openapi.json as it was when the program was built. */
#pragma once

#include <stddef.h>

extern const char guard_openapi[];
extern const size_t guard_openapi_n;
