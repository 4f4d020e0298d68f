/* SPDX-License-Identifier: Apache-2.0 */
#include "model/diag.h"

#include <stdarg.h>
#include <stdio.h>

#define DIAG_TEXT_MAX 1024

static __attribute__((format(printf, 2, 0))) struct str format(struct arena *a, const char *fmt, va_list ap)
{
	char text[DIAG_TEXT_MAX];
	int n = vsnprintf(text, sizeof(text), fmt, ap);

	if (n < 0)
		return (struct str){ 0 };
	return arena_str(
		a, (struct str){ .p = text, .n = (size_t)n < sizeof(text) ? (size_t)n : sizeof(text) - 1 });
}

static struct diag *next_slot(struct diags *d)
{
	struct diag *grown;

	if (d->n >= DIAGS_MAX)
		return NULL;
	if (d->n == d->cap) {
		grown = arena_grow(d->arena, d->v, d->n, &d->cap, sizeof(*d->v), alignof(struct diag));
		if (!grown)
			return NULL;
		d->v = grown;
	}
	return &d->v[d->n];
}

void diag_add(struct diags *d, enum severity s, const char *code, const struct origin *o, struct str key,
	      const char *fmt, ...)
{
	struct diag *slot = next_slot(d);
	va_list ap;

	d->n_errors += s == SEVERITY_ERROR;
	d->n_warnings += s == SEVERITY_WARN;
	if (!slot) {
		d->n_dropped++;
		return;
	}
	*slot = (struct diag){ .severity = s, .code = code, .origin = *o, .key = arena_str(d->arena, key) };
	va_start(ap, fmt);
	slot->text = format(d->arena, fmt, ap);
	va_end(ap);
	d->n++;
}

void diag_fix(struct diags *d, const char *fmt, ...)
{
	va_list ap;

	if (d->n == 0 || d->n_dropped)
		return; /* the one it belongs to was not kept */
	va_start(ap, fmt);
	d->v[d->n - 1].fix = format(d->arena, fmt, ap);
	va_end(ap);
}

void diag_put(struct buf *out, const struct diag *d)
{
	static const char *const word[] = {
		[SEVERITY_ERROR] = "",
		[SEVERITY_WARN] = "warning: ",
		[SEVERITY_INFO] = "note: ",
	};

	if (d->origin.kind != ORIGIN_BUILTIN) {
		origin_put(out, &d->origin);
		buf_puts(out, ": ");
	}
	buf_puts(out, word[d->severity]);
	if (d->key.n) {
		buf_put_visible(out, d->key);
		buf_puts(out, ": ");
	}
	buf_put_visible(out, d->text);
	buf_putc(out, '\n');
	if (d->fix.n) {
		buf_puts(out, "\tfix: ");
		buf_put_visible(out, d->fix);
		buf_putc(out, '\n');
	}
}
