/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Frames in pieces: messages, control frames and the refusal do not depend on where they were cut; a message is never longer than
 * allowed, and one of text is UTF-8. The first byte says whose frames they are, the second how long the pieces are.
 */
#include "check.h"

#include "base/utf8.h"
#include "http/websocket.h"

enum { MESSAGE_MAX = 300 };

/* All that was told, by kind: a piece of a message may come before or behind the control frame that arrives with it. */
struct told {
	struct buf data, message, control;
	unsigned code;
	bool bad, text_bad;
};

static void tell(struct told *t, const struct ws_reader *r, enum ws_event e, struct str piece)
{
	if (e == WS_CONTROL) {
		CHECK(piece.n <= 125 && r->opcode >= WS_CLOSE);
		CHECK(r->opcode != WS_CLOSE || piece.n < 2 || utf8_valid(str_from(piece, 2)));
		buf_printf(&t->control, "%d %u %zu:", (int)r->opcode, r->opcode == WS_CLOSE ? r->code : 0,
			   t->data.n);
		buf_put(&t->control, piece);
		return;
	}
	CHECK(r->opcode == WS_TEXT || r->opcode == WS_BINARY);
	CHECK(piece.n > 0 || r->is_last);
	buf_put(&t->data, piece);
	buf_put(&t->message, piece);
	CHECK(t->message.n <= MESSAGE_MAX);
	if (!r->is_last)
		return;
	CHECK(r->opcode != WS_TEXT || utf8_valid(buf_str(&t->message)));
	t->message.n = 0;
}

static void run(struct str s, size_t step, bool from_client, struct told *t)
{
	struct ws_reader r;

	buf_init(&t->data, 1 << 20);
	buf_init(&t->message, 1 << 20);
	buf_init(&t->control, 1 << 20);
	ws_reader_init(&r, from_client, MESSAGE_MAX);
	while (s.n > 0 && !t->bad) {
		size_t n = s.n < step ? s.n : step;
		char *copy = malloc(n), *in = copy;
		struct str piece = { 0 };
		enum ws_event e;

		CHECK(copy);
		memcpy(copy, s.p, n);
		s = str_from(s, n);
		while ((e = ws_read(&r, &in, &n, &piece)) > WS_MORE)
			tell(t, &r, e, piece);
		CHECK(e == WS_BAD || n == 0);
		t->bad = e == WS_BAD;
		t->code = t->bad ? r.code : 0;
		CHECK(!t->bad || r.reason);
		free(copy);
	}
}

static void told_done(struct told *t)
{
	buf_done(&t->data);
	buf_done(&t->message);
	buf_done(&t->control);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct told whole = { 0 }, cut = { 0 };
	struct str s;

	if (size < 2 || size > 4096)
		return 0;
	s = (struct str){ .p = (const char *)data + 2, .n = size - 2 };
	run(s, SIZE_MAX, data[0] & 1, &whole);
	run(s, (size_t)data[1] + 1, data[0] & 1, &cut);
	CHECK(whole.bad == cut.bad && whole.code == cut.code);
	CHECK(str_eq(buf_str(&whole.control), buf_str(&cut.control)));
	/* What is not UTF-8 takes the piece that it is in with it. */
	if (whole.code != WS_NOT_UTF8)
		CHECK(str_eq(buf_str(&whole.data), buf_str(&cut.data)));
	told_done(&whole);
	told_done(&cut);
	return 0;
}
