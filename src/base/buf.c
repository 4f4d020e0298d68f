/* SPDX-License-Identifier: Apache-2.0 */
#include "base/buf.h"

#include "base/utf8.h"

#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>

void buf_init(struct buf *b, size_t max_bytes)
{
	/* One byte stays for the NUL, so the arithmetic below cannot wrap. */
	*b = (struct buf){ .max_bytes = max_bytes < SIZE_MAX / 2 ? max_bytes : SIZE_MAX / 2 };
}

void buf_init_on(struct buf *b, size_t max_bytes, void *memory, size_t size)
{
	buf_init(b, max_bytes);
	b->p = memory;
	b->cap = size < b->max_bytes ? size : b->max_bytes;
	b->borrowed = true;
	if (b->cap)
		b->p[0] = '\0';
}

void buf_done(struct buf *b)
{
	if (!b->borrowed)
		free(b->p);
	*b = (struct buf){ .max_bytes = b->max_bytes };
}

static bool grow(struct buf *b, size_t need)
{
	size_t cap = b->cap < 64 ? 64 : b->cap;
	char *p;

	while (cap < need)
		cap *= 2;
	if (cap > b->max_bytes + 1)
		cap = b->max_bytes + 1;
	p = realloc(b->borrowed ? NULL : b->p, cap);
	if (!p)
		return false;
	if (b->borrowed && b->n)
		memcpy(p, b->p, b->n + 1);
	b->borrowed = false;
	b->p = p;
	b->cap = cap;
	return true;
}

/* Room for n bytes and the NUL, or false and the buffer is failed. */
static bool reserve(struct buf *b, size_t n)
{
	if (b->failed)
		return false;
	if (n > b->max_bytes - b->n || (b->n + n + 1 > b->cap && !grow(b, b->n + n + 1))) {
		b->failed = true;
		return false;
	}
	return true;
}

void buf_reserve(struct buf *b, size_t n)
{
	size_t left = b->max_bytes - b->n;

	if (reserve(b, n < left ? n : left))
		b->p[b->n] = '\0';
}

char *buf_take(struct buf *b, size_t n)
{
	char *p;

	if (!reserve(b, n))
		return NULL;
	p = b->p + b->n;
	b->n += n;
	b->p[b->n] = '\0';
	return p;
}

void buf_putc(struct buf *b, char c)
{
	if (!reserve(b, 1))
		return;
	b->p[b->n++] = c;
	b->p[b->n] = '\0';
}

void buf_put(struct buf *b, struct str s)
{
	if (s.n == 0 || !reserve(b, s.n))
		return;
	memcpy(b->p + b->n, s.p, s.n);
	b->n += s.n;
	b->p[b->n] = '\0';
}

void buf_puts(struct buf *b, const char *z)
{
	buf_put(b, str_z(z));
}

void buf_put_u64(struct buf *b, uint64_t v)
{
	char text[20];
	size_t at = sizeof(text);

	do {
		text[--at] = (char)('0' + v % 10);
		v /= 10;
	} while (v);
	buf_put(b, (struct str){ .p = text + at, .n = sizeof(text) - at });
}

void buf_printf(struct buf *b, const char *fmt, ...)
{
	va_list ap, again;
	char text[256]; /* most are short, and need not be made twice */
	int n;

	va_start(ap, fmt);
	va_copy(again, ap);
	n = vsnprintf(text, sizeof(text), fmt, ap);
	if (n < 0)
		b->failed = true;
	else if ((size_t)n < sizeof(text))
		buf_put(b, (struct str){ .p = text, .n = (size_t)n });
	else if (reserve(b, (size_t)n)) {
		(void)vsnprintf(b->p + b->n, (size_t)n + 1, fmt, again);
		b->n += (size_t)n;
	}
	va_end(again);
	va_end(ap);
}

static void put_hex(struct buf *b, struct str bytes)
{
	static const char digit[] = "0123456789abcdef";

	for (size_t i = 0; i < bytes.n; i++) {
		unsigned char c = (unsigned char)bytes.p[i];
		const char text[4] = { '\\', 'x', digit[c >> 4], digit[c & 15] };

		buf_put(b, (struct str){ .p = text, .n = sizeof(text) });
	}
}

void buf_put_visible(struct buf *b, struct str s)
{
	while (s.n > 0 && !b->failed) {
		uint32_t cp = 0;
		int n = utf8_decode(s, &cp);
		struct str piece = { .p = s.p, .n = (size_t)(n < 0 ? -n : n) };

		if (n > 0 && utf8_is_visible(cp))
			buf_put(b, piece);
		else
			put_hex(b, piece);
		s = str_from(s, piece.n);
	}
}
