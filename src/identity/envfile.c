/* SPDX-License-Identifier: Apache-2.0 */
#include "identity/envfile.h"

enum { VALUE_MAX = 255 };

static bool is_visible(struct str s)
{
	for (size_t i = 0; i < s.n; i++)
		if (s.p[i] <= ' ' || s.p[i] > '~')
			return false;
	return s.n <= VALUE_MAX;
}

/* 'x' and "x" are x; a quote that is not closed, or stands inside, is not accepted. */
static bool unquote(struct str *s)
{
	char q = s->n ? s->p[0] : '\0';

	if (q == '\'' || q == '"') {
		if (s->n < 2 || s->p[s->n - 1] != q)
			return false;
		*s = (struct str){ s->p + 1, s->n - 2 };
	}
	return s->n == 0 || (!memchr(s->p, '\'', s->n) && !memchr(s->p, '"', s->n));
}

static bool is_assignment(struct str line, struct str name, struct str *ret)
{
	struct str key, value;

	line = str_trim(line);
	if (str_starts(line, STR("export ")))
		line = str_trim(str_from(line, sizeof("export ") - 1));
	if (!str_cut(line, '=', &key, &value) || !str_eq(str_trim(key), name))
		return false;
	*ret = str_trim(value);
	return true;
}

int envfile_find(struct str text, const char *file, struct str name, struct str *ret, struct err *e)
{
	struct str line, value;
	unsigned number = 0;
	bool more = true;

	*ret = (struct str){ 0 };
	while (more) {
		more = str_cut(text, '\n', &line, &text);
		if (!more)
			line = text;
		number++;
		if (!is_assignment(line, name, &value))
			continue;
		if (!unquote(&value) || !is_visible(value))
			return err_set(
				e, ERR_USAGE,
				"%s:%u: " STR_FMT
				" is not accepted: a token has 1 to %d visible ASCII characters, in quotes or not, and "
				"no blanks",
				file, number, STR_ARG(name), VALUE_MAX);
		*ret = value;
	}
	return ret->n > 0;
}
