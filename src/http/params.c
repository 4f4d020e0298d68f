/* SPDX-License-Identifier: Apache-2.0 */
#include "http/params.h"

#include "http/chars.h"

#include <errno.h>

static int quoted(struct str *rest, struct str *ret)
{
	struct str inner;

	if (!str_cut(str_from(*rest, 1), '"', &inner, rest) || memchr(inner.p, '\\', inner.n) ||
	    http_span_field(inner) != inner.n)
		return -EINVAL;
	*ret = inner;
	return 1;
}

int http_param_next(struct str *rest, struct str *ret_name, struct str *ret_value)
{
	struct str s = http_trim(*rest);
	size_t n;
	int r = 1;

	if (s.n == 0)
		return 0;
	if (s.p[0] != ';')
		return -EINVAL;
	s = http_trim(str_from(s, 1));
	n = http_span_of(s, CHAR_TOKEN);
	if (n == 0 || n == s.n || s.p[n] != '=')
		return -EINVAL;
	*ret_name = (struct str){ s.p, n };
	s = str_from(s, n + 1);
	if (s.n > 0 && s.p[0] == '"') {
		r = quoted(&s, ret_value);
	} else {
		n = http_span_of(s, CHAR_TOKEN);
		*ret_value = (struct str){ s.p, n };
		s = str_from(s, n);
		r = n > 0 ? 1 : -EINVAL;
	}
	*rest = s;
	return r;
}
