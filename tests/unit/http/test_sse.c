/* SPDX-License-Identifier: Apache-2.0 */
#include "check.h"

#include "http/sse.h"

#include <errno.h>

/* Each event as "type|data|id;". */
static int note(void *ctx, const struct sse_event *e)
{
	struct buf *b = ctx;

	buf_put(b, e->type);
	buf_putc(b, '|');
	buf_put(b, e->data);
	buf_putc(b, '|');
	buf_put(b, e->id);
	if (e->retry_ms != SSE_NO_RETRY)
		buf_printf(b, "|%llu", (unsigned long long)e->retry_ms);
	buf_putc(b, ';');
	return 0;
}

static void check_read(struct str text, const char *want)
{
	for (size_t step = 1; step <= text.n; step++) {
		_cleanup_sse_reader_ struct sse_reader r;
		_cleanup_buf_ struct buf b;

		buf_init(&b, 4096);
		sse_reader_init(&r, 1024);
		for (size_t at = 0; at < text.n; at += step) {
			struct str piece = str_from(text, at);

			piece.n = piece.n < step ? piece.n : step;
			assert_int_equal(sse_read(&r, piece, note, &b), 0);
		}
		CHECK_STR(buf_str(&b), str_z(want));
	}
}

TEST(events_are_the_same_wherever_they_were_cut_and_however_lines_end)
{
	check_read(STR("data: a\n\ndata: b\r\n\r\ndata: c\r\rdata:d\n\n"), "|a|;|b|;|c|;|d|;");
	check_read(STR("\xef\xbb\xbf"
		       "event: tick\ndata: 1\ndata: 2\nid: 7\n\n: note\n\ndata\n\n"),
		   "tick|1\n2|7;||7;");
	check_read(STR("data: x\nretry: 250\n\nretry: 1s\ndata: y\n\n"), "|x||250;|y|;");
	check_read(STR("event: no data\n\ndata:  two\n\ndata: not whole\n"), "| two|;");
	check_read(STR("id: a\ndata: 1\n\nid: b\0c\ndata: 2\n\nid\ndata: 3\n\nunknown: x\n\n"),
		   "|1|a;|2|a;|3|;");
}

TEST(what_is_written_is_read_back_as_one_event)
{
	static const struct str datas[] = { STR(""),     STR("one"),
					    STR("a\nb"), STR("a\r\nb\rc\n"),
					    STR("\n\n"), STR("data: x\n\nevent: y") };

	for (size_t i = 0; i < sizeof(datas) / sizeof(datas[0]); i++) {
		const struct sse_event e = { .type = STR("out"),
					     .data = datas[i],
					     .id = STR("9"),
					     .has_id = true,
					     .retry_ms = SSE_NO_RETRY };
		_cleanup_sse_reader_ struct sse_reader r;
		_cleanup_buf_ struct buf b, got;
		size_t n = 0;

		buf_init(&b, 4096);
		buf_init(&got, 4096);
		sse_reader_init(&r, 1024);
		assert_int_equal(sse_write(&b, &e), 0);
		assert_int_equal(sse_write_comment(&b, STR("alive")), 0);
		assert_int_equal(sse_read(&r, buf_str(&b), note, &got), 0);
		for (size_t k = 0; k < got.n; k++)
			n += got.p[k] == ';';
		assert_int_equal(n, 1);
		assert_true(str_starts(buf_str(&got), STR("out|")) && str_ends(buf_str(&got), STR("|9;")));
	}
}

TEST(a_type_or_an_id_cannot_begin_another_line)
{
	static const struct str bad[] = { STR("a\nb"), STR("a\rb"), STR("a\0b") };

	for (size_t i = 0; i < 3; i++) {
		_cleanup_buf_ struct buf b;
		struct sse_event e = { .type = bad[i], .retry_ms = SSE_NO_RETRY };

		buf_init(&b, 4096);
		assert_int_equal(sse_write(&b, &e), -EINVAL);
		e = (struct sse_event){ .id = bad[i], .has_id = true, .retry_ms = SSE_NO_RETRY };
		assert_int_equal(sse_write(&b, &e), -EINVAL);
		assert_int_equal(sse_write_comment(&b, bad[i]), -EINVAL);
		assert_int_equal(b.n, 0);
	}
}

TEST(lines_and_events_are_bounded)
{
	static const char *const texts[] = { "data: 0123456789012345678901234567890123456789",
					     "data: 0123456789\ndata: 0123456789\ndata: 0123456789\n" };

	for (size_t i = 0; i < 2; i++) {
		_cleanup_sse_reader_ struct sse_reader r;

		sse_reader_init(&r, 30);
		assert_int_equal(sse_read(&r, str_z(texts[i]), note, NULL), -EMSGSIZE);
		assert_int_equal(sse_read(&r, STR("\n\n"), note, NULL), -EMSGSIZE);
	}
}

static int stop(void *ctx, const struct sse_event *e)
{
	(void)ctx;
	(void)e;
	return -ECANCELED;
}

TEST(who_reads_can_stop_it)
{
	_cleanup_sse_reader_ struct sse_reader r;

	sse_reader_init(&r, 100);
	assert_int_equal(sse_read(&r, STR("data: x\n\n"), stop, NULL), -ECANCELED);
}

TEST_MAIN()
