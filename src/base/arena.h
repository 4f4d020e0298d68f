/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Memory that lives and dies as one: a request, a parsed document, a loaded config.
 *
 * Every arena has a maximum given at birth. An allocation that fails (the maximum,
 * or the system) returns NULL and sets `failed`, and so does every one after it: code that builds
 * many small strings may check once at the end instead of after every piece. What
 * must not happen is that a failed arena's result is used: check `failed`.
 */
#pragma once

#include "base/cleanup.h"
#include "base/str.h"

#include <stdalign.h>
#include <stdbool.h>
#include <stddef.h>

struct arena_block;

struct arena {
	struct arena_block *head;
	char *next, *end; /* free room in the head block */
	size_t used_bytes;
	size_t max_bytes;
	bool failed;
};

/* Cannot fail: nothing is allocated before the first use. */
void arena_init(struct arena *a, size_t max_bytes);
/* The same, with zeroed memory to use first, which stays the caller's and outlives the arena. */
void arena_init_on(struct arena *a, size_t max_bytes, void *memory, size_t size);
/* The same, with memory that another arena, which is done, has used `used` bytes of. */
void arena_init_again(struct arena *a, size_t max_bytes, void *memory, size_t size, size_t used);
void arena_done(struct arena *a);
#define _cleanup_arena_ _cleanup_(arena_done)

/* Zeroed memory, aligned to `align` (a power of two). NULL on failure. n == 0 gives a valid pointer. */
void *arena_alloc(struct arena *a, size_t n, size_t align);

#define ARENA_NEW(a, type) ((type *)arena_alloc((a), sizeof(type), alignof(type)))
#define ARENA_ARRAY(a, type, count) ((type *)arena_alloc_array((a), (count), sizeof(type), alignof(type)))
void *arena_alloc_array(struct arena *a, size_t count, size_t size, size_t align);

/* Copies end in a NUL that is not counted, so a copy without inner NUL can go to a system call. Empty on failure. */
struct str arena_str(struct arena *a, struct str s);
struct str arena_printf(struct arena *a, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

/*
 * Room for one more element in an array that grows inside the arena (the old copy is left behind, so the
 * cost is at most twice the final size). Returns the new array, or NULL (failed is set).
 * `*cap` is 0 at first.
 */
void *arena_grow(struct arena *a, void *items, size_t n, size_t *cap, size_t size, size_t align);
