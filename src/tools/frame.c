/* SPDX-License-Identifier: Apache-2.0 */
#include "tools/frame.h"

#include <stdio.h>

void frame_init(struct frame *f, struct str nonce)
{
	int n = (int)(nonce.n < FRAME_NONCE_MAX ? nonce.n : FRAME_NONCE_MAX);

	*f = (struct frame){ 0 };
	/* NUL stands in front, and nowhere else in a mark: a byte that does not match cannot be inside another mark. */
	f->n_begin = 1 + (size_t)snprintf(f->begin + 1, FRAME_MARK_MAX - 1, "creel-begin %.*s\n", n, nonce.p);
	f->n_end = 1 + (size_t)snprintf(f->end + 1, FRAME_MARK_MAX - 1, "creel-end %.*s ", n, nonce.p);
}

/* Takes bytes off the front that belong to the mark, or a run that does not. What was no mark after all is emitted when we are inside. */
static int match(struct frame *f, const char *mark, size_t n_mark, struct str *bytes, frame_emit *emit,
		 void *ctx)
{
	bool inside = f->state == FRAME_INSIDE;
	const char *nul;
	size_t n;
	int r = 0;

	if (f->matched > 0 && bytes->p[0] == mark[f->matched]) {
		f->matched++;
		*bytes = str_from(*bytes, 1);
		if (f->matched == n_mark) {
			f->matched = 0;
			f->state = inside ? FRAME_STATUS : FRAME_INSIDE;
		}
		return 0;
	}
	if (f->matched > 0) {
		n = f->matched;
		f->matched = 0;
		return inside ? emit(ctx, (struct str){ .p = mark, .n = n }) : 0;
	}
	nul = memchr(bytes->p, '\0', bytes->n);
	n = nul ? (size_t)(nul - bytes->p) : bytes->n;
	if (n > 0 && inside)
		r = emit(ctx, (struct str){ .p = bytes->p, .n = n });
	f->matched = nul != NULL;
	*bytes = str_from(*bytes, n + (nul != NULL));
	return r;
}

static void take_status(struct frame *f, struct str *bytes)
{
	char c = bytes->p[0];

	*bytes = str_from(*bytes, 1);
	if (c >= '0' && c <= '9')
		f->status = (f->status * 10 + (unsigned)(c - '0')) % 1000;
	else
		f->state = FRAME_AFTER;
}

int frame_put(struct frame *f, struct str bytes, frame_emit *emit, void *ctx)
{
	int r = 0;

	while (r == 0 && bytes.n > 0 && f->state != FRAME_AFTER) {
		if (f->state == FRAME_BEFORE)
			r = match(f, f->begin, f->n_begin, &bytes, emit, ctx);
		else if (f->state == FRAME_INSIDE)
			r = match(f, f->end, f->n_end, &bytes, emit, ctx);
		else
			take_status(f, &bytes);
	}
	return r;
}

void frame_gap(struct frame *f)
{
	f->matched = 0;
	if (f->state == FRAME_BEFORE)
		f->state = FRAME_INSIDE;
}
