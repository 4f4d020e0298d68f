/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Text that grows, up to a maximum given at birth. The first failure (maximum or
 * memory) is remembered in `failed`; later writes do nothing. Check it once, at the end.
 */
#pragma once

#include "base/cleanup.h"
#include "base/str.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct buf {
	char *p; /* always NUL-terminated when not NULL */
	size_t n, cap, max_bytes;
	bool failed;
	bool borrowed; /* p is not ours to free */
};

void buf_init(struct buf *b, size_t max_bytes);
/* The same, with memory to use first, which stays the caller's and outlives the buffer. */
void buf_init_on(struct buf *b, size_t max_bytes, void *memory, size_t size);
/* Memory for so many bytes more, at once: for who knows about how much will come. */
void buf_reserve(struct buf *b, size_t n);
void buf_done(struct buf *b);
#define _cleanup_buf_ _cleanup_(buf_done)

/* So many bytes more, for the caller to fill in before the next call; NULL and failed when there is no room. */
char *buf_take(struct buf *b, size_t n);
void buf_putc(struct buf *b, char c);
void buf_put(struct buf *b, struct str s);
void buf_puts(struct buf *b, const char *z);
void buf_put_u64(struct buf *b, uint64_t v); /* decimal */
void buf_printf(struct buf *b, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

/* For text from outside that a person will read: control characters, DEL, bidi and invalid UTF-8 become \xNN. */
void buf_put_visible(struct buf *b, struct str s);

static inline struct str buf_str(const struct buf *b)
{
	return (struct str){ .p = b->p ? b->p : "", .n = b->n };
}
