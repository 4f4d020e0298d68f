/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What is taken for one simple command is certainly one: without quotes it holds no byte that a shell acts on, and
 * its words, quoted one by one, come out as the same words again.
 */
#include "base/buf.h"
#include "policy/policy_priv.h"

#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void expect(bool held)
{
	if (!held)
		abort();
}

static void put_quoted(struct buf *b, struct str word)
{
	buf_putc(b, '\'');
	for (size_t i = 0; i < word.n; i++)
		if (word.p[i] == '\'')
			buf_puts(b, "'\\''");
		else
			buf_putc(b, word.p[i]);
	buf_puts(b, "' ");
}

static void check_round_trip(struct arena *a, struct strs argv)
{
	_cleanup_buf_ struct buf b = { 0 };
	struct strs again = { 0 };

	buf_init(&b, 1 << 20);
	for (size_t i = 0; i < argv.n; i++)
		put_quoted(&b, argv.v[i]);
	if (b.failed || b.n > 128 << 10)
		return; /* quoting made it longer than the splitter takes */
	expect(command_split(a, buf_str(&b), &again) == COMMAND_SIMPLE);
	expect(again.n == argv.n);
	for (size_t i = 0; i < argv.n; i++)
		expect(str_eq(again.v[i], argv.v[i]));
}

/* An oracle of its own for text without quotes: split at blanks, and nothing in it means anything. */
static void check_plain(struct str text, struct strs argv)
{
	size_t word = 0, at = 0;

	for (size_t i = 0; i < text.n; i++)
		if (strchr("'\"\\", text.p[i]) && text.p[i])
			return;
	while (at < text.n) {
		size_t n = 0;

		if (text.p[at] == ' ' || text.p[at] == '\t') {
			at++;
			continue;
		}
		while (at + n < text.n && text.p[at + n] != ' ' && text.p[at + n] != '\t')
			n++;
		expect(word < argv.n && str_eq(argv.v[word], (struct str){ .p = text.p + at, .n = n }));
		expect(text.p[at] != '~' && text.p[at] != '#');
		word++;
		at += n;
	}
	expect(word == argv.n);
	for (size_t i = 0; i < text.n; i++)
		expect(text.p[i] && !strchr(";&|`$()<>{}*?[\n\r", text.p[i]));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	_cleanup_arena_ struct arena a;
	struct str text = { .p = (const char *)data, .n = size };
	struct strs argv = { 0 };

	arena_init(&a, 8 << 20);
	if (command_split(&a, text, &argv) == COMMAND_COMPLEX)
		return 0;
	expect(argv.n > 0 && argv.v[0].n > 0);
	for (size_t i = 0; i < argv.n; i++)
		for (size_t k = 0; k < argv.v[i].n; k++)
			expect((unsigned char)argv.v[i].p[k] >= 0x20 || argv.v[i].p[k] == '\t');
	check_plain(text, argv);
	check_round_trip(&a, argv);
	return 0;
}
