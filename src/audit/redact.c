/* SPDX-License-Identifier: Apache-2.0 */
#include "audit/redact.h"

#include "base/hash.h"
#include "base/jsonw.h"

#include <errno.h>
#include <stdlib.h>

enum { FORMS_MAX = 4096, VALUE_MAX = 1 << 16 };

struct form {
	struct str name; /* both on the heap, and ours */
	struct str text;
};

struct redactor {
	struct form *v; /* longest first */
	size_t n, cap;
	bool starts[256];          /* some form begins with this byte */
	struct redact_marks marks; /* looks_secret NULL: none */
};

int redactor_new(struct redactor **ret)
{
	*ret = calloc(1, sizeof(**ret));
	return *ret ? 0 : -ENOMEM;
}

static void wipe_free(struct str s)
{
	union {
		const char *in;
		char *out;
	} p = { .in = s.p };

	if (!p.out)
		return;
	explicit_bzero(p.out, s.n);
	free(p.out);
}

struct redactor *redactor_free(struct redactor *r)
{
	if (!r)
		return NULL;
	for (size_t i = 0; i < r->n; i++) {
		wipe_free(r->v[i].name);
		wipe_free(r->v[i].text);
	}
	free(r->v);
	free(r);
	return NULL;
}

static bool copy(struct str s, struct str *ret)
{
	char *p = malloc(s.n + 1);

	if (!p)
		return false;
	if (s.n)
		memcpy(p, s.p, s.n);
	p[s.n] = '\0';
	*ret = (struct str){ .p = p, .n = s.n };
	return true;
}

static int make_room(struct redactor *r)
{
	struct form *grown;
	size_t cap = r->cap ? r->cap * 2 : 16;

	if (r->n < r->cap)
		return 0;
	if (r->n >= FORMS_MAX)
		return -ENOSPC;
	/* Not reallocarray(): libc looks realloc() up then, and saves registers that hold the value to the stack. */
	grown = realloc(r->v, cap * sizeof(*grown));
	if (!grown)
		return -ENOMEM;
	r->v = grown;
	r->cap = cap;
	return 0;
}

static int add_form(struct redactor *r, struct str name, struct str text)
{
	struct form f = { 0 };
	size_t at = 0;
	int e;

	if (text.n < REDACT_SHORTEST)
		return 0;
	for (; at < r->n && r->v[at].text.n >= text.n; at++)
		if (str_eq(r->v[at].text, text))
			return 0;
	e = make_room(r);
	if (e < 0)
		return e;
	if (!copy(name, &f.name) || !copy(text, &f.text)) {
		wipe_free(f.name);
		return -ENOMEM;
	}
	memmove(&r->v[at + 1], &r->v[at], (r->n - at) * sizeof(*r->v));
	r->v[at] = f;
	r->n++;
	r->starts[(unsigned char)text.p[0]] = true;
	return 0;
}

/* ---- how else it may be written ---- */

static void put_json(struct buf *out, struct str s)
{
	_cleanup_buf_ struct buf b = { 0 };
	struct jsonw w;

	buf_init(&b, (size_t)VALUE_MAX * 6 + 2);
	jsonw_init(&w, &b, 0);
	jsonw_str(&w, s);
	if (!b.failed && b.n > 2)
		buf_put(out, (struct str){ .p = b.p + 1, .n = b.n - 2 });
	if (b.p)
		explicit_bzero(b.p, b.n);
}

static void base64(struct buf *out, struct str s, const char *alphabet)
{
	for (size_t i = 0; i < s.n; i += 3) {
		uint32_t v = (uint32_t)(unsigned char)s.p[i] << 16;
		size_t left = s.n - i < 3 ? s.n - i : 3;

		v |= left > 1 ? (uint32_t)(unsigned char)s.p[i + 1] << 8 : 0;
		v |= left > 2 ? (uint32_t)(unsigned char)s.p[i + 2] : 0;
		for (size_t k = 0; k <= left; k++)
			buf_putc(out, alphabet[v >> (18 - 6 * k) & 63]);
	}
}

#define ALNUM "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789"

static void put_base64(struct buf *out, struct str s)
{
	base64(out, s, ALNUM "+/");
}

static void put_base64url(struct buf *out, struct str s)
{
	base64(out, s, ALNUM "-_");
}

static void percent(struct buf *out, struct str s, const char *digits)
{
	for (size_t i = 0; i < s.n; i++) {
		unsigned char c = (unsigned char)s.p[i];

		if (c && strchr(ALNUM "-._~", c)) {
			buf_putc(out, (char)c);
			continue;
		}
		buf_putc(out, '%');
		buf_putc(out, digits[c >> 4]);
		buf_putc(out, digits[c & 15]);
	}
}

static void put_percent(struct buf *out, struct str s)
{
	percent(out, s, "0123456789ABCDEF");
}

static void put_percent_lower(struct buf *out, struct str s)
{
	percent(out, s, "0123456789abcdef");
}

static void put_hex(struct buf *out, struct str s)
{
	for (size_t i = 0; i < s.n; i++) {
		buf_putc(out, "0123456789abcdef"[(unsigned char)s.p[i] >> 4]);
		buf_putc(out, "0123456789abcdef"[(unsigned char)s.p[i] & 15]);
	}
}

static void (*const forms[])(struct buf *, struct str) = {
	buf_put, put_json, put_base64, put_base64url, put_percent, put_percent_lower, put_hex,
};

int redactor_add(struct redactor *r, struct str name, struct str value)
{
	int e = 0;

	if (value.n < REDACT_SHORTEST)
		return 0;
	if (value.n > VALUE_MAX)
		return -ENOSPC;
	for (size_t i = 0; e == 0 && i < sizeof(forms) / sizeof(forms[0]); i++) {
		struct buf b;

		buf_init(&b, (size_t)VALUE_MAX * 6 + 2);
		forms[i](&b, value);
		e = b.failed ? -ENOMEM : add_form(r, name, buf_str(&b));
		if (b.p)
			explicit_bzero(b.p, b.n);
		buf_done(&b);
	}
	return e;
}

/* ---- looking ---- */

static const struct form *match(const struct redactor *r, struct str at)
{
	if (!r->starts[(unsigned char)at.p[0]])
		return NULL;
	for (size_t i = 0; i < r->n; i++)
		if (str_starts(at, r->v[i].text))
			return &r->v[i];
	return NULL;
}

void redactor_mark(struct redactor *r, const struct redact_marks *m)
{
	r->marks = *m;
}

static void put_known(const struct redactor *r, struct buf *out, struct str text)
{
	size_t from = 0, i = 0;

	while (r && r->n && i < text.n) {
		const struct form *f = match(r, str_from(text, i));

		if (!f) {
			i++;
			continue;
		}
		buf_put(out, (struct str){ .p = text.p + from, .n = i - from });
		buf_puts(out, "${");
		buf_put(out, f->name);
		buf_putc(out, '}');
		i += f->text.n;
		from = i;
	}
	buf_put(out, str_from(text, from));
}

void redact_put(const struct redactor *r, struct buf *out, struct str text)
{
	_cleanup_buf_ struct buf known = { 0 };

	if (!r || !r->marks.looks_secret) {
		put_known(r, out, text);
		return;
	}
	buf_init(&known, out->max_bytes);
	put_known(r, &known, text);
	out->failed |= known.failed;
	redact_marked(&r->marks, out, buf_str(&known));
}

bool redact_may_change(const struct redactor *r, struct str text)
{
	return r &&
	       ((r->marks.looks_secret && redact_may_be_marked(&r->marks, text)) || redact_finds(r, text));
}

bool redact_finds(const struct redactor *r, struct str text)
{
	for (size_t i = 0; r && r->n && i < text.n; i++)
		if (match(r, str_from(text, i)))
			return true;
	return false;
}
