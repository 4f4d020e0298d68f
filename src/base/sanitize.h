/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the address sanitizer has to be told where memory is cut up or left by hand. Nothing in a plain build.
 */
#pragma once

#if defined(__SANITIZE_ADDRESS__)
#define SANITIZE_ADDRESS_ON 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define SANITIZE_ADDRESS_ON 1
#endif
#endif

#ifdef SANITIZE_ADDRESS_ON
#include <sanitizer/asan_interface.h>
#define SANITIZE_POISON(p, n) ASAN_POISON_MEMORY_REGION((p), (n))
#define SANITIZE_UNPOISON(p, n) ASAN_UNPOISON_MEMORY_REGION((p), (n))
#else
#define SANITIZE_POISON(p, n) ((void)(p), (void)(n))
#define SANITIZE_UNPOISON(p, n) ((void)(p), (void)(n))
#endif
