/* SPDX-License-Identifier: Apache-2.0 */
#include "tools/ignore.h"

#include "tools/nameglob.h"

/* Blanks at the end go, unless the last is written "\ ". */
static struct str without_blanks(struct str s)
{
	if (s.n > 0 && s.p[s.n - 1] == '\r')
		s.n--;
	while (s.n > 0 && (s.p[s.n - 1] == ' ' || s.p[s.n - 1] == '\t') && !(s.n > 1 && s.p[s.n - 2] == '\\'))
		s.n--;
	return s;
}

static bool parse_rule(struct str line, struct ignore_rule *ret)
{
	struct ignore_rule r = { .pattern = without_blanks(line) };

	if (r.pattern.n == 0 || r.pattern.p[0] == '#')
		return false;
	if (r.pattern.p[0] == '!') {
		r.back = true;
		r.pattern = str_from(r.pattern, 1);
	}
	if (r.pattern.n > 0 && r.pattern.p[r.pattern.n - 1] == '/') {
		r.dirs_only = true;
		r.pattern.n--;
	}
	r.tied = r.pattern.n > 0 && memchr(r.pattern.p, '/', r.pattern.n);
	if (r.pattern.n > 0 && r.pattern.p[0] == '/')
		r.pattern = str_from(r.pattern, 1);
	*ret = r;
	return r.pattern.n > 0 && r.pattern.n <= NAMEGLOB_MAX;
}

void ignore_parse(struct arena *a, struct str text, struct ignore *ig)
{
	while (text.n > 0 && ig->n < IGNORE_RULES_MAX) {
		const char *nl = memchr(text.p, '\n', text.n);
		struct str line = { .p = text.p, .n = nl ? (size_t)(nl - text.p) : text.n };
		struct ignore_rule rule, *v = ig->rules;

		text = str_from(text, line.n + (nl != NULL));
		if (!parse_rule(line, &rule))
			continue;
		if (ig->n == ig->cap) {
			v = arena_grow(a, v, ig->n, &ig->cap, sizeof(*v), alignof(struct ignore_rule));
			if (!v)
				return;
			ig->rules = v;
		}
		ig->rules[ig->n++] = rule;
	}
}

enum ignore_verdict ignore_says(const struct ignore *ig, struct str path, bool is_dir)
{
	struct str head, name = path;

	(void)str_cut_last(path, '/', &head, &name);
	for (size_t i = ig->n; i-- > 0;) {
		const struct ignore_rule *r = &ig->rules[i];

		if ((!r->dirs_only || is_dir) && nameglob_matches(r->pattern, r->tied ? path : name))
			return r->back ? IGNORE_NO : IGNORE_YES;
	}
	return IGNORE_SILENT;
}
