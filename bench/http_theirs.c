/* SPDX-License-Identifier: Apache-2.0 */
#include "http_theirs.h"

#include <http_parser.h>

enum { FIELDS = 64 };

/* What a user of http_parser has to do to have the same: where the target and the fields are. */
struct noted {
	struct str target;
	struct str part[2 * FIELDS];
	size_t n;
	bool done;
};

static int on_target(http_parser *p, const char *at, size_t n)
{
	((struct noted *)p->data)->target = (struct str){ at, n };
	return 0;
}

static int on_part(http_parser *p, const char *at, size_t n)
{
	struct noted *t = p->data;

	if (t->n == 2 * FIELDS)
		return 1;
	t->part[t->n++] = (struct str){ at, n };
	return 0;
}

static int on_done(http_parser *p)
{
	((struct noted *)p->data)->done = true;
	return 0;
}

bool http_theirs(struct str text)
{
	static const http_parser_settings settings = { .on_url = on_target,
						       .on_header_field = on_part,
						       .on_header_value = on_part,
						       .on_headers_complete = on_done };
	static struct noted noted;
	http_parser p;

	noted.n = 0;
	noted.done = false;
	http_parser_init(&p, HTTP_REQUEST);
	p.data = &noted;
	return http_parser_execute(&p, &settings, text.p, text.n) == text.n && noted.done;
}
