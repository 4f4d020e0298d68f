/* SPDX-License-Identifier: Apache-2.0 */
/* What stands where a secret stands, whoever's it is: behind raw:, Bearer, NAME= of a name that speaks of secrets; and tokens of ours. */
#include "audit/redact.h"

#define HIDDEN "<redacted>"

static bool is_word(char c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
}

/* One word for a shell, and nothing that it would do something about: what is hidden is no command. */
static size_t value_length(struct str s)
{
	size_t n = 0;

	while (n < s.n && !strchr(" \t\r\n\"'`,;&|<>()", s.p[n]))
		n++;
	return n;
}

/* NAME=value, NAME: value, "name":"value", with a name that speaks of a secret: the bytes before the value; 0 = not. */
static size_t named(struct str s, const struct redact_marks *m)
{
	size_t n = 0, at;
	bool quoted;

	while (n < s.n && is_word(s.p[n]))
		n++;
	at = n;
	quoted = at < s.n && (s.p[at] == '"' || s.p[at] == '\'');
	at += quoted;
	/* The name last: of most words it need not be asked. */
	if (!n || at == s.n || (s.p[at] != '=' && !(s.p[at] == ':' && (quoted || m->wide))) ||
	    !m->looks_secret((struct str){ .p = s.p, .n = n }))
		return 0;
	at++;
	while (at < s.n && (s.p[at] == ' ' || s.p[at] == '"' || s.p[at] == '\'') &&
	       (quoted || m->wide || s.p[at] != ' '))
		at++;
	/* A reference tells no secret, and what is done should be seen. */
	return !m->wide && at < s.n && s.p[at] == '$' ? 0 : at;
}

/* How many bytes of `s` introduce a secret of at least *ret_least bytes; 0 = none. */
static size_t marker(struct str s, const struct redact_marks *m, size_t *ret_least)
{
	static const struct {
		const char *word;
		size_t least;
		bool wide;
	} words[] = {
		{ "raw:", 1, false }, { "bearer ", 8, false }, { "basic ", 8, true }, { "creel_", 64, false }
	};

	*ret_least = 1;
	for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++) {
		struct str word = str_z(words[i].word);

		if ((s.p[0] | 0x20) == word.p[0] && (m->wide || !words[i].wide) && s.n > word.n &&
		    str_eq_nocase((struct str){ .p = s.p, .n = word.n }, word)) {
			*ret_least = words[i].least;
			return word.n;
		}
	}
	return named(s, m);
}

/* What every mark has in it: '=' or a quote behind a name, the ends of "raw:", "bearer " and "creel_". */
bool redact_may_be_marked(const struct redact_marks *m, struct str text)
{
	char before = '\0';

	for (size_t i = 0; i < text.n; before = (char)(text.p[i++] | 0x20)) {
		char c = text.p[i];

		if (c == '=' || c == '"' || c == '\'' || (c == ':' && before == 'w') ||
		    (c == ' ' && before == 'r') || (c == '_' && before == 'l'))
			return true;
	}
	return m->wide && text.n;
}

void redact_marked(const struct redact_marks *m, struct buf *out, struct str text)
{
	size_t from = 0, i = 0;
	bool at_word = true;

	while (i < text.n) {
		size_t least = 1, n = at_word ? marker(str_from(text, i), m, &least) : 0;
		size_t value = n ? value_length(str_from(text, i + n)) : 0;

		if (value >= least) {
			buf_put(out, (struct str){ .p = text.p + from, .n = i + n - from });
			buf_puts(out, HIDDEN);
			from = i += n + value;
			at_word = false;
			continue;
		}
		at_word = !is_word(text.p[i++]);
	}
	buf_put(out, str_from(text, from));
}
