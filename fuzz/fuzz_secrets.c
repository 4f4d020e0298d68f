/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What is read from a file of secrets are names of variables, each once, and slices of the text without NUL; written down in quotes it reads
 * the same. An error has a place.
 */
#include "engine/secrets.h"

#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void expect(bool held)
{
	if (!held)
		abort();
}

static void check(const struct secret *v, size_t n, const char *text, size_t size)
{
	for (size_t i = 0; i < n; i++) {
		expect(env_name_valid(v[i].name) && v[i].line > 0);
		expect(v[i].value.p >= text && v[i].value.p + v[i].value.n <= text + size);
		expect(v[i].value.n == 0 || !memchr(v[i].value.p, '\0', v[i].value.n));
		for (size_t k = 0; k < i; k++)
			expect(!str_eq(v[i].name, v[k].name));
	}
}

static void put_quoted(struct buf *b, const struct secret *s)
{
	bool single = !s->value.n || !memchr(s->value.p, '\'', s->value.n);

	buf_put(b, s->name);
	buf_puts(b, single ? "='" : "=\"");
	for (size_t i = 0; i < s->value.n; i++) {
		if (!single && strchr("\"\\$`", s->value.p[i]))
			buf_putc(b, '\\');
		buf_putc(b, s->value.p[i]);
	}
	buf_puts(b, single ? "' # x\n" : "\"\n");
}

static void check_again(const struct secret *v, size_t n)
{
	static struct secret again[SECRETS_MAX];
	_cleanup_buf_ struct buf b = { 0 };
	struct err e = { 0 };
	size_t m = 0;

	buf_init(&b, 1 << 20);
	for (size_t i = 0; i < n; i++)
		put_quoted(&b, &v[i]);
	expect(!b.failed);
	expect(secrets_parse(b.p, b.n, "again", again, SECRETS_MAX, &m, &e) == 0 && m == n);
	for (size_t i = 0; i < n; i++)
		expect(str_eq(v[i].name, again[i].name) && str_eq(v[i].value, again[i].value));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static struct secret v[SECRETS_MAX];
	char *text = malloc(size + 1);
	struct err e = { 0 };
	size_t n = 0;

	expect(text != NULL);
	memcpy(text, data, size);
	if (secrets_parse(text, size, "f", v, SECRETS_MAX, &n, &e) < 0) {
		expect(e.msg[0] == 'f' && e.msg[1] == ':' && n == 0);
	} else {
		check(v, n, text, size);
		if (n)
			check_again(v, n);
	}
	free(text);
	return 0;
}
