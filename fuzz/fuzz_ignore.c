/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Ignore files and the patterns in them, against a matcher that fills the whole table of pattern place by text place from the
 * end, and so is wrong in other places if it is wrong.
 *
 * Input: one byte for the length of the path, the path, the ignore file.
 */
#include "base/arena.h"
#include "tools/ignore.h"
#include "tools/nameglob.h"

#include <assert.h>

#define MAX 64

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* Behind the set that begins at `p`, or 0; and whether `c` is in it. */
static size_t set_at(struct str pat, size_t p, char c, bool *has)
{
	size_t i = p + 1, first;
	bool negated = i < pat.n && (pat.p[i] == '!' || pat.p[i] == '^'), found = false;

	i += negated;
	for (first = i; i < pat.n && (pat.p[i] != ']' || i == first);) {
		unsigned char low, high;

		i += pat.p[i] == '\\' && i + 1 < pat.n;
		low = high = (unsigned char)pat.p[i++];
		if (i + 1 < pat.n && pat.p[i] == '-' && pat.p[i + 1] != ']') {
			i++;
			i += pat.p[i] == '\\' && i + 1 < pat.n;
			high = (unsigned char)pat.p[i++];
		}
		found |= low <= (unsigned char)c && (unsigned char)c <= high;
	}
	*has = c != '/' && found != negated;
	return i < pat.n ? i + 1 : 0;
}

static bool reference(struct str pat, struct str path)
{
	static bool can[MAX + 4][MAX + 2];

	memset(can, 0, sizeof(can));
	can[pat.n][path.n] = true;
	for (size_t p = pat.n; p-- > 0;)
		for (size_t t = path.n + 1; t-- > 0;) {
			bool more = t < path.n, begins = p == 0 || pat.p[p - 1] == '/', has = false;
			char c = more ? path.p[t] : '\0';
			struct str rest = str_from(pat, p);
			size_t end;

			if (begins && str_starts(rest, STR("**/")))
				can[p][t] = ((t == 0 || path.p[t - 1] == '/') && can[p + 3][t]) ||
					    (more && can[p][t + 1]);
			else if (begins && str_eq(rest, STR("**")))
				can[p][t] = true;
			else if (rest.p[0] == '*')
				can[p][t] = can[p + 1][t] || (more && c != '/' && can[p][t + 1]);
			else if (rest.p[0] == '?')
				can[p][t] = more && c != '/' && can[p + 1][t + 1];
			else if (rest.p[0] == '\\' && rest.n > 1)
				can[p][t] = more && c == rest.p[1] && can[p + 2][t + 1];
			else if (rest.p[0] == '[' && (end = set_at(pat, p, c, &has)))
				can[p][t] = more && has && can[end][t + 1];
			else
				can[p][t] = more && c == rest.p[0] && can[p + 1][t + 1];
		}
	return can[0][0];
}

static void check_rules(struct str text, struct str path)
{
	_cleanup_arena_ struct arena a = { 0 };
	struct ignore ig = { 0 };

	arena_init(&a, 1 << 24);
	ignore_parse(&a, text, &ig);
	for (size_t i = 0; i < ig.n; i++) {
		const struct ignore_rule *r = &ig.rules[i];

		assert(r->pattern.n > 0 && r->pattern.p >= text.p &&
		       r->pattern.p + r->pattern.n <= text.p + text.n);
		if (r->pattern.n <= MAX)
			assert(nameglob_matches(r->pattern, path) == reference(r->pattern, path));
	}
	(void)ignore_says(&ig, path, true);
	/* Nothing is ignored for a directory alone that would be taken back for a file. */
	if (ig.n == 0)
		assert(ignore_says(&ig, path, false) == IGNORE_SILENT);
}

static void check_choices(struct str text, struct str path)
{
	static struct nameglob g;
	struct err e = { 0 };
	int r = nameglob_parse(text, &g, &e);

	assert(r == 0 || e.kind == ERR_LIMIT);
	if (r < 0)
		return;
	assert(g.n > 0 && g.n <= NAMEGLOB_CHOICES_MAX);
	for (size_t i = 0; i < g.n; i++)
		assert(g.len[i] <= NAMEGLOB_MAX);
	(void)nameglob_any(&g, path);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct str all, path, text;

	if (size < 1)
		return 0;
	all = (struct str){ .p = (const char *)data + 1, .n = size - 1 };
	path = (struct str){ .p = all.p, .n = data[0] < all.n ? data[0] : all.n };
	text = str_from(all, path.n);
	if (path.n > MAX)
		return 0;
	check_rules(text, path);
	check_choices(text, path);
	return 0;
}
