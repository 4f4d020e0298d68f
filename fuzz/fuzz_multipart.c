/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A form in pieces: its parts do not depend on where it was cut; no data holds the boundary; what is not taken stays bounded. The
 * first line is the Content-Type, the first byte how long the pieces are.
 */
#include "check.h"

#include "base/buf.h"
#include "http/multipart.h"

enum { PARTS_MAX = 5 };

static void tell(struct buf *out, const struct multipart *m, enum multipart_event e, struct str piece)
{
	if (e == MULTIPART_PART) {
		buf_puts(out, "[");
		buf_put(out, m->name);
		buf_putc(out, '/');
		buf_put(out, m->filename);
		buf_printf(out, "/%d/", m->has_filename);
		buf_put(out, m->type);
		buf_putc(out, ':');
	} else if (e == MULTIPART_DATA) {
		CHECK(piece.n > 0);
		buf_put(out, piece);
	} else {
		buf_puts(out, "]");
	}
}

static enum multipart_event run(struct multipart m, struct str s, size_t step, struct buf *out)
{
	size_t given = 0;
	struct str in = { s.p, 0 };

	for (;;) {
		struct str piece = { 0 };
		enum multipart_event e = multipart_next(&m, &in, &piece);
		size_t more;

		CHECK(in.p >= s.p && in.p + in.n == s.p + given);
		if (e == MULTIPART_BAD || ((e == MULTIPART_MORE || e == MULTIPART_END) && given == s.n)) {
			CHECK(e != MULTIPART_BAD || m.reason);
			return e;
		}
		if (e != MULTIPART_MORE && e != MULTIPART_END) {
			tell(out, &m, e, piece);
			continue;
		}
		CHECK(in.n < MULTIPART_HEAD_MAX);
		more = s.n - given < step ? s.n - given : step;
		given += more;
		in.n += more;
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct str s, type;
	enum multipart_event e;
	struct multipart m;
	struct buf a, b;

	if (size < 2)
		return 0;
	s = (struct str){ .p = (const char *)data + 1, .n = size - 1 };
	if (!str_cut(s, '\n', &type, &s) || multipart_init(&m, type, PARTS_MAX) < 0)
		return 0;
	buf_init(&a, 1 << 20);
	buf_init(&b, 1 << 20);
	e = run(m, s, SIZE_MAX, &a);
	CHECK(run(m, s, (size_t)data[0] + 1, &b) == e);
	if (e != MULTIPART_BAD)
		CHECK(str_eq(buf_str(&a), buf_str(&b)));
	buf_done(&a);
	buf_done(&b);
	return 0;
}
