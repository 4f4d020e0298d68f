/* SPDX-License-Identifier: Apache-2.0 */
/* "host:target[:options]": splitting only. Whether a bind is allowed is decided by policy. */
#include "config/config_priv.h"

static bool is_letter(char c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

/* Bytes of "C:\" or "C:/" whose colon does not separate anything. */
static size_t drive_prefix(struct str s)
{
	return s.n >= 3 && is_letter(s.p[0]) && s.p[1] == ':' && (s.p[2] == '\\' || s.p[2] == '/') ? 2 : 0;
}

static bool says_ro(struct str options)
{
	struct str one, rest = options;

	do {
		if (!str_cut(rest, ',', &one, &rest)) {
			one = rest;
			rest = (struct str){ 0 };
		}
		if (str_eq_nocase(str_trim(one), STR("ro")))
			return true;
	} while (rest.n);
	return false;
}

bool bind_parse(struct str text, struct bind *ret)
{
	size_t skip = drive_prefix(text);
	struct str head, tail;

	if (str_trim(text).n == 0)
		return false;
	*ret = (struct bind){ .raw = text, .source = text };
	if (!str_cut(str_from(text, skip), ':', &head, &tail))
		return true;
	ret->source = (struct str){ .p = text.p, .n = skip + head.n };
	ret->target = tail;
	(void)str_cut(tail, ':', &ret->target, &ret->options);
	ret->readonly = says_ro(ret->options);
	return true;
}
