/* SPDX-License-Identifier: Apache-2.0 */
#include "base/arena.h"

#include "base/sanitize.h"

#include <assert.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>

/* Under ASan every piece is followed by a gap nobody may touch, so an overrun inside the arena is seen too. */
#ifdef SANITIZE_ADDRESS_ON
enum { GAP = 16 };
#else
enum { GAP = 0 };
#endif

#define BLOCK_FIRST ((size_t)4 << 10)
#define BLOCK_LARGEST ((size_t)1 << 20)

struct arena_block {
	struct arena_block *next;
	size_t size; /* of data */
	alignas(max_align_t) char data[];
};

void arena_init(struct arena *a, size_t max_bytes)
{
	*a = (struct arena){ .max_bytes = max_bytes };
}

void arena_init_on(struct arena *a, size_t max_bytes, void *memory, size_t size)
{
	arena_init(a, max_bytes);
	a->next = memory;
	a->end = a->next + size;
	SANITIZE_POISON(memory, size);
}

void arena_init_again(struct arena *a, size_t max_bytes, void *memory, size_t size, size_t used)
{
	SANITIZE_UNPOISON(memory, size);
	memset(memory, 0, used);
	arena_init_on(a, max_bytes, memory, size);
}

void arena_done(struct arena *a)
{
	struct arena_block *next;

	for (struct arena_block *b = a->head; b; b = next) {
		next = b->next;
		SANITIZE_UNPOISON(b->data, b->size);
		free(b);
	}
	*a = (struct arena){ .max_bytes = a->max_bytes };
}

static void *fail(struct arena *a)
{
	a->failed = true;
	a->next = a->end = NULL;
	return NULL;
}

/* calloc() because fresh memory from the kernel is zero already, and no byte of an arena is handed out twice. */
static struct arena_block *block_new(size_t size)
{
	struct arena_block *b;

	if (size > SIZE_MAX - sizeof(*b))
		return NULL;
	b = calloc(1, sizeof(*b) + size);
	if (!b)
		return NULL;
	b->size = size;
	SANITIZE_POISON(b->data, size);
	return b;
}

static size_t padding(const char *p, size_t align)
{
	return -(uintptr_t)p & (align - 1);
}

/* A piece too big to share: its own block, behind the head, whose room stays in use. */
static void *alloc_alone(struct arena *a, size_t n, size_t align)
{
	struct arena_block *b = block_new(n + align);
	char *p;

	if (!b)
		return fail(a);
	if (a->head) {
		b->next = a->head->next;
		a->head->next = b;
	} else {
		a->head = b;
	}
	a->used_bytes += n;
	p = b->data + padding(b->data, align);
	SANITIZE_UNPOISON(p, n);
	return p;
}

static bool open_block(struct arena *a)
{
	size_t size = BLOCK_FIRST;
	struct arena_block *b;

	if (a->next && a->head)
		size = a->head->size < BLOCK_LARGEST ? a->head->size * 2 : BLOCK_LARGEST;
	b = block_new(size);
	if (!b)
		return false;
	b->next = a->head;
	a->head = b;
	a->next = b->data;
	a->end = b->data + size;
	return true;
}

/* From the head block. NULL when it has no room; that is no failure yet. */
static inline void *bump(struct arena *a, size_t n, size_t align)
{
	size_t room = (size_t)(a->end - a->next), pad = padding(a->next, align);
	char *p;

	if (n > room || room - n < pad + GAP)
		return NULL;
	p = a->next + pad;
	a->next = p + n + GAP;
	a->used_bytes += n;
	SANITIZE_UNPOISON(p, n);
	return p;
}

/* Out of line, so that the common case stays small. */
static __attribute__((noinline)) void *alloc_slow(struct arena *a, size_t n, size_t align)
{
	size_t shared_max = (a->next && a->head ? a->head->size : BLOCK_FIRST) / 4;

	if (a->failed || n > a->max_bytes - a->used_bytes || n > SIZE_MAX / 4 || align > SIZE_MAX / 4)
		return fail(a);
	if (n + align + GAP > shared_max)
		return alloc_alone(a, n, align);
	if (!open_block(a))
		return fail(a);
	return bump(a, n, align);
}

void *arena_alloc(struct arena *a, size_t n, size_t align)
{
	void *p = NULL;

	assert(align > 0 && (align & (align - 1)) == 0);
	n += n == 0; /* so that no two pieces share an address */
	if (n <= a->max_bytes - a->used_bytes)
		p = bump(a, n, align);
	return p ? p : alloc_slow(a, n, align);
}

void *arena_alloc_array(struct arena *a, size_t count, size_t size, size_t align)
{
	size_t n;

	if (__builtin_mul_overflow(count, size, &n))
		return fail(a);
	return arena_alloc(a, n, align);
}

struct str arena_str(struct arena *a, struct str s)
{
	char *p = s.n < SIZE_MAX ? arena_alloc(a, s.n + 1, 1) : fail(a);

	if (!p)
		return (struct str){ .p = "", .n = 0 };
	if (s.n > 0)
		memcpy(p, s.p, s.n);
	return (struct str){ .p = p, .n = s.n };
}

struct str arena_printf(struct arena *a, const char *fmt, ...)
{
	va_list ap, again;
	char text[256], *p = NULL; /* most are short, and need not be made twice */
	int n;

	va_start(ap, fmt);
	va_copy(again, ap);
	n = vsnprintf(text, sizeof(text), fmt, ap);
	if (n >= 0)
		p = arena_alloc(a, (size_t)n + 1, 1);
	else
		(void)fail(a);
	if (p && (size_t)n < sizeof(text))
		memcpy(p, text, (size_t)n + 1);
	else if (p)
		(void)vsnprintf(p, (size_t)n + 1, fmt, again);
	va_end(again);
	va_end(ap);
	return p ? (struct str){ .p = p, .n = (size_t)n } : (struct str){ .p = "", .n = 0 };
}

void *arena_grow(struct arena *a, void *items, size_t n, size_t *cap, size_t size, size_t align)
{
	size_t more;
	void *grown;

	if (n < *cap)
		return items;
	if (__builtin_mul_overflow(*cap, (size_t)2, &more))
		return fail(a);
	more = more < 8 ? 8 : more;
	grown = arena_alloc_array(a, more, size, align);
	if (!grown)
		return NULL;
	if (n > 0)
		memcpy(grown, items, n * size);
	*cap = more;
	return grown;
}
