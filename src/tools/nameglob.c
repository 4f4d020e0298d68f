/* SPDX-License-Identifier: Apache-2.0 */
#include "tools/nameglob.h"

/*
 * All places of the pattern that the text so far leads to are held at once, so there is nothing to come back to.
 * A place is an offset into the pattern.
 */
struct places {
	bool at[NAMEGLOB_MAX + 1];
};

enum piece { PIECE_CHAR, PIECE_ANY, PIECE_STAR, PIECE_DIRS, PIECE_ALL, PIECE_SET };

/* One piece of the pattern: what it is, how long it is, and the character that it stands for. */
struct step {
	enum piece piece;
	size_t len;
	char c;
};

/* "[a]]", "[]a]": the end of a set, or 0 when it has none and '[' is a plain character. */
static size_t set_len(struct str p)
{
	size_t i = 1;

	if (i < p.n && (p.p[i] == '!' || p.p[i] == '^'))
		i++;
	if (i < p.n && p.p[i] == ']')
		i++;
	for (; i < p.n && p.p[i] != ']'; i++)
		if (p.p[i] == '\\' && i + 1 < p.n)
			i++;
	return i < p.n ? i + 1 : 0;
}

static struct step star_at(struct str pattern, size_t at)
{
	struct str p = str_from(pattern, at);
	bool starts = at == 0 || pattern.p[at - 1] == '/';

	if (starts && str_starts(p, STR("**/")))
		return (struct step){ PIECE_DIRS, 3, 0 };
	if (starts && str_eq(p, STR("**")))
		return (struct step){ PIECE_ALL, 2, 0 };
	return (struct step){ PIECE_STAR, 1, 0 };
}

static struct step step_at(struct str pattern, size_t at)
{
	struct str p = str_from(pattern, at);
	size_t n;

	if (p.p[0] == '*')
		return star_at(pattern, at);
	if (p.p[0] == '?')
		return (struct step){ PIECE_ANY, 1, 0 };
	if (p.p[0] == '\\' && p.n > 1)
		return (struct step){ PIECE_CHAR, 2, p.p[1] };
	n = p.p[0] == '[' ? set_len(p) : 0;
	if (n)
		return (struct step){ PIECE_SET, n, 0 };
	return (struct step){ PIECE_CHAR, 1, p.p[0] };
}

static char set_char(struct str set, size_t *i)
{
	if (set.p[*i] == '\\' && *i + 1 < set.n)
		++*i;
	return set.p[(*i)++];
}

/* `set` is what is between the brackets. '/' is in no set. */
static bool set_has(struct str set, char c)
{
	bool negated = set.n > 0 && (set.p[0] == '!' || set.p[0] == '^'), found = false;

	if (c == '/')
		return false;
	for (size_t i = negated; i < set.n;) {
		unsigned char low = (unsigned char)set_char(set, &i), high = low;

		if (i + 1 < set.n && set.p[i] == '-') {
			i++;
			high = (unsigned char)set_char(set, &i);
		}
		found |= low <= (unsigned char)c && (unsigned char)c <= high;
	}
	return found != negated;
}

/* What can be reached without a character. "**" with a '/' behind it ends only where a name begins. */
static void settle(struct str pattern, struct places *now, bool at_name)
{
	for (size_t i = 0; i < pattern.n; i++) {
		struct step s;

		if (!now->at[i])
			continue;
		s = step_at(pattern, i);
		if (s.piece == PIECE_STAR || s.piece == PIECE_ALL || (s.piece == PIECE_DIRS && at_name))
			now->at[i + s.len] = true;
	}
}

static void advance(struct str pattern, const struct places *now, char c, struct places *next)
{
	memset(next->at, 0, pattern.n + 1);
	for (size_t i = 0; i < pattern.n; i++) {
		struct step s;

		if (!now->at[i])
			continue;
		s = step_at(pattern, i);
		if (s.piece == PIECE_DIRS || s.piece == PIECE_ALL || (s.piece == PIECE_STAR && c != '/'))
			next->at[i] = true;
		if ((s.piece == PIECE_CHAR && s.c == c) || (s.piece == PIECE_ANY && c != '/') ||
		    (s.piece == PIECE_SET && set_has((struct str){ pattern.p + i + 1, s.len - 2 }, c)))
			next->at[i + s.len] = true;
	}
}

bool nameglob_matches(struct str pattern, struct str path)
{
	struct places a, b, *now = &a, *next = &b, *swap;

	if (pattern.n > NAMEGLOB_MAX)
		return false;
	memset(now->at, 0, pattern.n + 1);
	now->at[0] = true;
	settle(pattern, now, true);
	for (size_t i = 0; i < path.n; i++) {
		advance(pattern, now, path.p[i], next);
		settle(pattern, next, path.p[i] == '/');
		swap = now;
		now = next;
		next = swap;
	}
	return now->at[pattern.n];
}

/* The first {…} with a comma or not, nested ones inside it. False: there is none (or it has no end, and is plain text). */
static bool find_braces(struct str p, size_t *ret_open, size_t *ret_close)
{
	size_t depth = 0;

	for (size_t i = 0; i < p.n; i++) {
		if (p.p[i] == '\\')
			i++;
		else if (p.p[i] == '{' && depth++ == 0)
			*ret_open = i;
		else if (p.p[i] == '}' && depth > 0 && --depth == 0) {
			*ret_close = i;
			return true;
		}
	}
	return false;
}

/* The end of the choice that begins at `from`: a comma of this level, or the closing brace. */
static size_t choice_end(struct str p, size_t from, size_t close)
{
	size_t depth = 0, i;

	for (i = from; i < close; i++) {
		if (p.p[i] == '\\')
			i++;
		else if (p.p[i] == '{')
			depth++;
		else if (p.p[i] == '}')
			depth--;
		else if (p.p[i] == ',' && depth == 0)
			break;
	}
	return i < close ? i : close;
}

static bool put_choice(struct nameglob *g, struct str p, size_t open, size_t close, struct str choice)
{
	size_t n = open + choice.n + (p.n - close - 1);
	char *to;

	if (g->n == NAMEGLOB_CHOICES_MAX || n > NAMEGLOB_MAX)
		return false;
	to = g->text[g->n];
	memcpy(to, p.p, open);
	memcpy(to + open, choice.p, choice.n);
	memcpy(to + open + choice.n, p.p + close + 1, p.n - close - 1);
	g->len[g->n++] = n;
	return true;
}

/* Takes the pattern number `i` apart into patterns at the end of the list; the last one takes its place. */
static bool expand(struct nameglob *g, size_t i)
{
	char copy[NAMEGLOB_MAX];
	struct str p = { .p = copy, .n = g->len[i] };
	size_t open = 0, close = 0;

	memcpy(copy, g->text[i], p.n);
	if (!find_braces(p, &open, &close))
		return true;
	for (size_t from = open + 1, end; from <= close; from = end + 1) {
		end = choice_end(p, from, close);
		if (!put_choice(g, p, open, close, (struct str){ .p = p.p + from, .n = end - from }))
			return false;
	}
	g->n--;
	if (g->n != i)
		memcpy(g->text[i], g->text[g->n], g->len[g->n]);
	g->len[i] = g->len[g->n];
	return expand(g, i);
}

int nameglob_parse(struct str pattern, struct nameglob *ret, struct err *e)
{
	if (pattern.n > NAMEGLOB_MAX)
		return err_set(e, ERR_LIMIT, "the glob has %zu bytes, and may have %zu", pattern.n,
			       NAMEGLOB_MAX);
	ret->n = 1;
	ret->len[0] = pattern.n;
	memcpy(ret->text[0], pattern.p, pattern.n);
	for (size_t i = 0; i < ret->n; i++)
		if (!expand(ret, i))
			return err_set(e, ERR_LIMIT,
				       "the glob '" STR_FMT "' stands for more than %zu patterns",
				       STR_ARG(pattern), NAMEGLOB_CHOICES_MAX);
	return 0;
}

bool nameglob_any(const struct nameglob *g, struct str path)
{
	struct str head, name = path;

	(void)str_cut_last(path, '/', &head, &name);
	for (size_t i = 0; i < g->n; i++) {
		struct str p = { .p = g->text[i], .n = g->len[i] };
		bool whole = p.n > 0 && memchr(p.p, '/', p.n);

		if (p.n > 0 && p.p[0] == '/')
			p = str_from(p, 1);
		if (nameglob_matches(p, whole ? path : name))
			return true;
	}
	return false;
}
