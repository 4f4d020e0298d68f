/* SPDX-License-Identifier: Apache-2.0 */
#include "tools/near.h"

#include "tools/tools_priv.h"

#define PLACES_MAX 8
#define LOOSE_MAX 5
#define ALIKE_LEAST 8

static bool is_blank(char c)
{
	return c == ' ' || c == '\t' || c == '\n' || c == '\r' || c == '\f' || c == '\v';
}

static char fold(char c, bool no_case)
{
	return no_case && c >= 'A' && c <= 'Z' ? (char)(c + ('a' - 'A')) : c;
}

size_t near_line(struct str file, size_t at)
{
	size_t line = 1;

	for (size_t i = 0; i < at && i < file.n; i++)
		line += file.p[i] == '\n';
	return line;
}

void near_put_places(struct str file, struct str wanted, struct buf *out)
{
	const char *p = file.p, *end = file.p + file.n;
	unsigned n = 0;

	while ((p = memmem(p, (size_t)(end - p), wanted.p, wanted.n))) {
		if (n == PLACES_MAX) {
			buf_puts(out, " …");
			break;
		}
		buf_printf(out, "%s%zu", n++ ? ", " : "lines ", near_line(file, (size_t)(p - file.p)));
		p += wanted.n;
	}
}

/* Without any white space. Caller frees. */
static int squeeze(struct str s, bool no_case, struct text *ret)
{
	char *p = malloc(s.n + 1);
	size_t n = 0;

	if (!p)
		return -ENOMEM;
	for (size_t i = 0; i < s.n; i++)
		if (!is_blank(s.p[i]))
			p[n++] = fold(s.p[i], no_case);
	p[n] = '\0';
	*ret = (struct text){ .p = p, .n = n };
	return 0;
}

/* The line of the character that is number `at` among those that are not blank. */
static size_t line_of_squeezed(struct str file, size_t at)
{
	size_t line = 1, seen = 0;

	for (size_t i = 0; i < file.n; i++) {
		if (file.p[i] == '\n')
			line++;
		else if (!is_blank(file.p[i]) && seen++ == at)
			break;
	}
	return line;
}

static unsigned put_loose(struct str file, struct str wanted, bool no_case, const char *how, struct buf *out)
{
	_cleanup_text_ struct text hay = { 0 }, needle = { 0 };
	const char *p;
	unsigned n = 0;

	if (squeeze(file, no_case, &hay) < 0 || squeeze(wanted, no_case, &needle) < 0 || needle.n == 0)
		return 0;
	for (p = hay.p; n < LOOSE_MAX && (p = memmem(p, (size_t)(hay.p + hay.n - p), needle.p, needle.n));
	     p += needle.n)
		buf_printf(out, "%s%zu", n++ ? ", " : "; near: line ",
			   line_of_squeezed(file, (size_t)(p - hay.p)));
	if (n)
		buf_printf(out, " differs in %s alone", how);
	return n;
}

/* The longest line of what was wanted: the one that says most about where it was thought to be. */
static struct str longest_line(struct str wanted)
{
	struct str rest = wanted, line, best = { 0 };

	while (text_next_line(&rest, &line)) {
		line = str_trim(line);
		if (line.n > best.n)
			best = line;
	}
	return best;
}

/* How many bytes at the beginning and at the end of both are the same. */
static size_t alike(struct str a, struct str b)
{
	size_t most = a.n < b.n ? a.n : b.n, head = 0, tail = 0;

	while (head < most && a.p[head] == b.p[head])
		head++;
	while (tail < most - head && a.p[a.n - 1 - tail] == b.p[b.n - 1 - tail])
		tail++;
	return head + tail;
}

/* The line that has most of it, if that is two thirds of both at least: a word was misspelt, or has changed. */
static void put_alike(struct str file, struct str wanted, struct buf *out)
{
	struct str rest = file, line;
	size_t best = 0, at = 0;

	for (size_t number = 1; text_next_line(&rest, &line); number++) {
		size_t n = alike(str_trim(line), wanted), longer = str_trim(line).n;

		longer = longer > wanted.n ? longer : wanted.n;
		if (n > best && n * 3 >= longer * 2) {
			best = n;
			at = number;
		}
	}
	if (at)
		buf_printf(out, "; most like it is line %zu", at);
}

void near_put(struct str file, struct str wanted, struct buf *out)
{
	struct str line = longest_line(wanted);

	if (put_loose(file, wanted, false, "white space", out) ||
	    put_loose(file, wanted, true, "white space or upper and lower case", out))
		return;
	if (line.n >= 4 && memmem(file.p, file.n, line.p, line.n)) {
		buf_printf(out, "; its line '" STR_FMT "' is there, at ", STR_ARG(line));
		near_put_places(file, line, out);
	} else if (line.n >= ALIKE_LEAST) {
		put_alike(file, line, out);
	}
}
