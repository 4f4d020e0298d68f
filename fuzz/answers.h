/* SPDX-License-Identifier: Apache-2.0 */
/* What a server has answered, and whether it is the same as another time. */
#pragma once

#include "check.h"

#include "base/buf.h"
#include "http/server_priv.h"

#include <string.h>

enum { ANSWERS_MAX = 1 << 20 };

/* 100 Continue is sent when the body is not there yet, so it depends on where the request was cut. */
static inline void drop_continue(struct buf *b)
{
	const struct str text = STR("HTTP/1.1 100 Continue\r\n\r\n");
	char *at;

	while (b->p && (at = memmem(b->p, b->n, text.p, text.n))) {
		memmove(at, at + text.n, b->n - text.n - (size_t)(at - b->p));
		b->n -= text.n;
	}
}

static inline void check_same_answers(struct buf *a, struct buf *b)
{
	drop_continue(a);
	drop_continue(b);
	CHECK(str_eq(buf_str(a), buf_str(b)));
}
