/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

extern const uint32_t sha256_k[64];

/* Blocks of 64 bytes with the processor's own instructions. False: it has none, and nothing was done. */
bool sha256_fast(uint32_t state[static 8], const unsigned char *blocks, size_t n);
