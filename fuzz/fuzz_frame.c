/* SPDX-License-Identifier: Apache-2.0 */
/* Answers of an interpreter that stays, in pieces: what comes out does not depend on where the pieces were cut. */
#include "check.h"

#include "base/buf.h"
#include "tools/frame.h"

static int collect(void *ctx, struct str bytes)
{
	buf_put(ctx, bytes);
	return 0;
}

static struct frame run(struct str s, size_t step, struct buf *out)
{
	struct frame f;

	frame_init(&f, STR("abc"));
	while (s.n > 0) {
		size_t n = step < s.n ? step : s.n;

		CHECK(frame_put(&f, (struct str){ .p = s.p, .n = n }, collect, out) == 0);
		s = str_from(s, n);
	}
	return f;
}

/* By looking at all of it at once. */
static void reference(struct str s, struct buf *out)
{
	const char *begin = memmem(s.p, s.n, "\0creel-begin abc\n", 17), *end;
	struct str in;

	if (!begin)
		return;
	in = str_from(s, (size_t)(begin - s.p) + 17);
	end = memmem(in.p, in.n, "\0creel-end abc ", 15);
	buf_put(out, end ? (struct str){ .p = in.p, .n = (size_t)(end - in.p) } : in);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct str s = { .p = (const char *)data + 1, .n = size ? size - 1 : 0 };
	struct buf whole, pieces, want;
	struct frame a, b;

	if (size == 0)
		return 0;
	buf_init(&whole, size + 64);
	buf_init(&pieces, size + 64);
	buf_init(&want, size + 64);
	a = run(s, SIZE_MAX, &whole);
	b = run(s, (size_t)data[0] + 1, &pieces);
	reference(s, &want);
	CHECK(a.state == b.state && a.status == b.status && a.matched == b.matched && a.status < 1000);
	CHECK(str_eq(buf_str(&whole), buf_str(&pieces)));
	/* What may be the begin of the end mark is held back. */
	if (a.state == FRAME_INSIDE && a.matched)
		buf_put(&whole, (struct str){ .p = a.end, .n = a.matched });
	CHECK(str_eq(buf_str(&whole), buf_str(&want)));
	buf_done(&whole);
	buf_done(&pieces);
	buf_done(&want);
	return 0;
}
