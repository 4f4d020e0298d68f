/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A stream of events in pieces: what comes out does not depend on where it was cut; each event that was read, written again, is read
 * as the same event and no other.
 */
#include "check.h"

#include "http/sse.h"

enum { EVENT_MAX = 200 };

struct seen {
	struct buf text;
	struct sse_event want;
	size_t n;
	bool again;
};

static int on_same(void *ctx, const struct sse_event *e)
{
	struct seen *s = ctx;

	CHECK(str_eq(e->type, s->want.type) && str_eq(e->data, s->want.data) &&
	      e->retry_ms == s->want.retry_ms);
	CHECK(e->has_id == s->want.has_id && (!e->has_id || str_eq(e->id, s->want.id)));
	s->n++;
	return 0;
}

static void check_again(const struct sse_event *e)
{
	struct seen same = { .want = *e };
	struct sse_reader r;
	struct buf b;

	/* A type or id may hold a NUL, which the writer does not write. */
	buf_init(&b, 8192);
	if (sse_write(&b, e) == 0) {
		sse_reader_init(&r, 8192);
		CHECK(!b.failed && sse_read(&r, buf_str(&b), on_same, &same) == 0 && same.n == 1);
		sse_reader_done(&r);
	}
	buf_done(&b);
}

static int on_event(void *ctx, const struct sse_event *e)
{
	struct seen *s = ctx;

	CHECK(e->data.n <= EVENT_MAX && e->type.n <= EVENT_MAX && e->id.n <= EVENT_MAX);
	buf_put(&s->text, e->type);
	buf_putc(&s->text, '\1');
	buf_put(&s->text, e->data);
	buf_putc(&s->text, '\2');
	buf_put(&s->text, e->id);
	buf_printf(&s->text, "\3%d %llu\n", e->has_id, (unsigned long long)e->retry_ms);
	if (s->again)
		check_again(e);
	return 0;
}

static int run(struct str s, size_t step, struct seen *seen)
{
	struct sse_reader r;
	int result = 0;

	buf_init(&seen->text, 1 << 20);
	sse_reader_init(&r, EVENT_MAX);
	while (s.n > 0 && result == 0) {
		size_t n = s.n < step ? s.n : step;

		result = sse_read(&r, (struct str){ s.p, n }, on_event, seen);
		s = str_from(s, n);
	}
	sse_reader_done(&r);
	return result;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct seen whole = { .again = true }, cut = { 0 };
	struct str s;

	if (size == 0 || size > 4096)
		return 0;
	s = (struct str){ .p = (const char *)data + 1, .n = size - 1 };
	CHECK(run(s, SIZE_MAX, &whole) == run(s, (size_t)data[0] + 1, &cut));
	CHECK(str_eq(buf_str(&whole.text), buf_str(&cut.text)));
	buf_done(&whole.text);
	buf_done(&cut.text);
	return 0;
}
