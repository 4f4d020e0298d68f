/* SPDX-License-Identifier: Apache-2.0 */
#include "tools/match.h"

#include "base/cleanup.h"

#include <errno.h>

#define PCRE2_CODE_UNIT_WIDTH 8
#include <pcre2.h>

/* "^(a+)+$" on forty letters reaches the first in some milliseconds. */
#define STEPS_MAX 500000u
#define DEPTH_MAX 10000u
#define HEAP_KIB 4096u

struct match {
	bool literal, no_case;
	struct str text;
	pcre2_code *code;
	pcre2_match_data *data;
	pcre2_match_context *limits;
};

struct match *match_free(struct match *m)
{
	if (!m)
		return NULL;
	pcre2_match_context_free(m->limits);
	pcre2_match_data_free(m->data);
	pcre2_code_free(m->code);
	free(m);
	return NULL;
}
DEFINE_CLEANUP(match, match_free)

static int compile(struct match *m, struct str pattern, struct err *e)
{
	/* \C could split a character, and (*LIMIT_MATCH=…) inside a pattern can only lower what is set below. */
	uint32_t flags = PCRE2_UTF | PCRE2_MATCH_INVALID_UTF | PCRE2_NEVER_BACKSLASH_C |
			 (m->no_case ? PCRE2_CASELESS : 0);
	int code = 0;
	PCRE2_SIZE at = 0;

	m->code = pcre2_compile((PCRE2_SPTR)pattern.p, pattern.n, flags, &code, &at, NULL);
	if (!m->code) {
		unsigned char text[128] = "";

		(void)pcre2_get_error_message(code, text, sizeof(text));
		return err_set(e, ERR_USAGE,
			       "search: the pattern '" STR_FMT
			       "' is no regular expression: %s at byte %zu; give literal for plain text",
			       STR_ARG(pattern), (const char *)text, (size_t)at);
	}
	m->data = pcre2_match_data_create(1, NULL);
	m->limits = pcre2_match_context_create(NULL);
	if (!m->data || !m->limits)
		return err_sys(e, ENOMEM, "search");
	(void)pcre2_set_match_limit(m->limits, STEPS_MAX);
	(void)pcre2_set_depth_limit(m->limits, DEPTH_MAX);
	(void)pcre2_set_heap_limit(m->limits, HEAP_KIB);
	return 0;
}

int match_new(struct str pattern, bool literal, bool no_case, struct match **ret, struct err *e)
{
	_cleanup_(match_freep) struct match *m = calloc(1, sizeof(*m));
	int r;

	if (!m)
		return err_sys(e, ENOMEM, "search");
	m->literal = literal;
	m->no_case = no_case;
	m->text = pattern;
	r = literal ? 0 : compile(m, pattern, e);
	if (r < 0)
		return r;
	*ret = TAKE_PTR(m);
	return 0;
}

static const char *find_text(const struct match *m, struct str line)
{
	if (!m->no_case)
		return memmem(line.p, line.n, m->text.p, m->text.n);
	for (size_t i = 0; i + m->text.n <= line.n; i++)
		if (str_eq_nocase((struct str){ line.p + i, m->text.n }, m->text))
			return line.p + i;
	return NULL;
}

int match_find(struct match *m, struct str line, size_t *ret_from, size_t *ret_to)
{
	const PCRE2_SIZE *place;
	int r;

	if (m->literal) {
		const char *at = find_text(m, line);

		if (!at)
			return 0;
		*ret_from = (size_t)(at - line.p);
		*ret_to = *ret_from + m->text.n;
		return 1;
	}
	r = pcre2_match(m->code, (PCRE2_SPTR)line.p, line.n, 0, 0, m->data, m->limits);
	if (r == PCRE2_ERROR_MATCHLIMIT || r == PCRE2_ERROR_DEPTHLIMIT || r == PCRE2_ERROR_HEAPLIMIT)
		return -ELOOP;
	if (r < 0)
		return r == PCRE2_ERROR_NOMEMORY ? -ENOMEM : 0;
	place = pcre2_get_ovector_pointer(m->data);
	/* \K can put the start behind the end. */
	*ret_from = place[0] <= place[1] ? place[0] : place[1];
	*ret_to = place[1];
	return 1;
}

bool match_may(const struct match *m, struct str text)
{
	return !m->literal || m->no_case || find_text(m, text);
}
