/* SPDX-License-Identifier: Apache-2.0 */
#include "http/websocket.h"

#include <errno.h>

enum { CONTROL_MAX = 125, STATE_HEAD = 0, STATE_PAYLOAD, STATE_BAD };
enum { FIN = 0x80, RESERVED = 0x70, MASKED = 0x80 };

void ws_reader_init(struct ws_reader *r, bool from_client, uint64_t max_bytes)
{
	*r = (struct ws_reader){ .from_client = from_client, .max_bytes = max_bytes };
}

static enum ws_event bad(struct ws_reader *r, enum ws_code code, const char *reason)
{
	r->state = STATE_BAD;
	r->code = code;
	r->reason = reason;
	return WS_BAD;
}

static bool is_control(unsigned opcode)
{
	return opcode >= WS_CLOSE;
}

/* RFC 6455 section 7.4, and the codes that IANA has added. */
static bool code_ok(unsigned code)
{
	return (code >= 1000 && code <= 1003) || (code >= 1007 && code <= 1014) ||
	       (code >= 3000 && code <= 4999);
}

/* How many bytes the head of this frame has, as far as two bytes can tell. */
static size_t head_bytes(const struct ws_reader *r)
{
	unsigned n = r->head[1] & 0x7f;

	return (n == 127 ? 10u : n == 126 ? 4u : 2u) + (r->from_client ? 4u : 0u);
}

/* Of the first two bytes. NULL, or what is wrong. */
static const char *head_fault(const struct ws_reader *r)
{
	unsigned opcode = r->head[0] & 0x0f;
	bool masked = r->head[1] & MASKED;

	if (r->closed)
		return "a frame follows the close frame";
	if (r->head[0] & RESERVED)
		return "a reserved bit is set";
	if (opcode > WS_PONG || (opcode > WS_BINARY && opcode < WS_CLOSE))
		return "the opcode is unknown";
	if (masked != r->from_client)
		return masked ? "a server's frame is masked" : "a client's frame is not masked";
	if (is_control(opcode) && (!(r->head[0] & FIN) || (r->head[1] & 0x7f) > CONTROL_MAX))
		return "a control frame is fragmented or longer than 125 bytes";
	if (opcode == WS_CONTINUATION && r->message == 0)
		return "a continuation continues nothing";
	if ((opcode == WS_TEXT || opcode == WS_BINARY) && r->message != 0)
		return "a message begins inside another";
	return NULL;
}

static uint64_t big_endian(const unsigned char *p, size_t n)
{
	uint64_t v = 0;

	for (size_t i = 0; i < n; i++)
		v = v << 8 | p[i];
	return v;
}

static enum ws_event begin_frame(struct ws_reader *r)
{
	unsigned n = r->head[1] & 0x7f;

	r->left = n == 127 ? big_endian(r->head + 2, 8) : n == 126 ? big_endian(r->head + 2, 2) : n;
	if ((n == 126 && r->left < 126) || (n == 127 && (r->left <= UINT16_MAX || r->left > INT64_MAX)))
		return bad(r, WS_PROTOCOL_ERROR, "a length is not in its shortest form");
	r->frame = r->head[0] & 0x0f;
	r->fin = r->head[0] & FIN;
	r->mask_at = 0;
	r->n_control = 0;
	r->state = STATE_PAYLOAD;
	if (is_control(r->frame))
		return WS_MORE;
	if (r->frame != WS_CONTINUATION)
		r->message = r->frame;
	if (r->left > r->max_bytes - r->message_bytes)
		return bad(r, WS_TOO_BIG, "the message is longer than is taken");
	r->message_bytes += r->left;
	return WS_MORE;
}

/* WS_MORE also when the head is whole: then the state is another. */
static enum ws_event read_head(struct ws_reader *r, char **in, size_t *n)
{
	while (*n > 0) {
		r->head[r->n_head++] = (unsigned char)**in;
		++*in;
		--*n;
		if (r->n_head == 2) {
			const char *fault = head_fault(r);

			if (fault)
				return bad(r, WS_PROTOCOL_ERROR, fault);
		}
		if (r->n_head >= 2 && r->n_head == head_bytes(r)) {
			r->n_head = 0;
			return begin_frame(r);
		}
	}
	return WS_MORE;
}

static void unmask(struct ws_reader *r, char *p, size_t n)
{
	const unsigned char *mask = r->head + head_bytes(r) - 4;

	if (!r->from_client)
		return;
	for (size_t i = 0; i < n; i++)
		p[i] = (char)((unsigned char)p[i] ^ mask[(r->mask_at + i) & 3]);
	r->mask_at = (uint8_t)((r->mask_at + n) & 3);
}

/* RFC 3629, byte by byte, so that a code point may lie across fragments. */
static bool utf8_go_on(struct ws_reader *r, struct str s)
{
	for (size_t i = 0; i < s.n; i++) {
		unsigned char c = (unsigned char)s.p[i];

		if (r->utf8_left > 0) {
			if (c < r->utf8_min || c > r->utf8_max)
				return false;
			r->utf8_left--;
			r->utf8_min = 0x80;
			r->utf8_max = 0xbf;
			continue;
		}
		if (c < 0x80)
			continue;
		if (c < 0xc2 || c > 0xf4)
			return false;
		r->utf8_left = c < 0xe0 ? 1 : c < 0xf0 ? 2 : 3;
		r->utf8_min = c == 0xe0 ? 0xa0 : c == 0xf0 ? 0x90 : 0x80;
		r->utf8_max = c == 0xed ? 0x9f : c == 0xf4 ? 0x8f : 0xbf;
	}
	return true;
}

static enum ws_event read_data(struct ws_reader *r, char **in, size_t *n, struct str *ret)
{
	size_t take = r->left < *n ? (size_t)r->left : *n;

	if (take == 0 && r->left > 0)
		return WS_MORE;
	unmask(r, *in, take);
	*ret = (struct str){ .p = *in, .n = take };
	*in += take;
	*n -= take;
	r->left -= take;
	r->opcode = (enum ws_opcode)r->message;
	r->is_last = r->left == 0 && r->fin;
	if (r->left == 0)
		r->state = STATE_HEAD;
	if (r->message == WS_TEXT && (!utf8_go_on(r, *ret) || (r->is_last && r->utf8_left > 0)))
		return bad(r, WS_NOT_UTF8, "a text message is not UTF-8");
	if (r->is_last) {
		r->message = 0;
		r->message_bytes = 0;
	}
	/* The empty end of a fragment that is not the last is no news. */
	return take > 0 || r->is_last ? WS_DATA : WS_MORE;
}

static enum ws_event on_close(struct ws_reader *r)
{
	struct ws_reader text = { 0 };

	r->closed = true;
	r->code = WS_NO_CODE;
	if (r->n_control == 0)
		return WS_CONTROL;
	if (r->n_control == 1)
		return bad(r, WS_PROTOCOL_ERROR, "half a close code");
	r->code = (unsigned)big_endian(r->control, 2);
	if (!code_ok(r->code))
		return bad(r, WS_PROTOCOL_ERROR, "a close code that may not be sent");
	if (!utf8_go_on(&text, (struct str){ (const char *)r->control + 2, r->n_control - 2u }) ||
	    text.utf8_left > 0)
		return bad(r, WS_NOT_UTF8, "the reason of a close frame is not UTF-8");
	return WS_CONTROL;
}

static enum ws_event read_control(struct ws_reader *r, char **in, size_t *n, struct str *ret)
{
	size_t take = r->left < *n ? (size_t)r->left : *n;

	unmask(r, *in, take);
	memcpy(r->control + r->n_control, *in, take);
	r->n_control = (uint8_t)(r->n_control + take);
	*in += take;
	*n -= take;
	r->left -= take;
	if (r->left > 0)
		return WS_MORE;
	r->state = STATE_HEAD;
	r->opcode = (enum ws_opcode)r->frame;
	*ret = (struct str){ .p = (const char *)r->control, .n = r->n_control };
	return r->frame == WS_CLOSE ? on_close(r) : WS_CONTROL;
}

enum ws_event ws_read(struct ws_reader *r, char **in, size_t *n, struct str *ret)
{
	for (;;) {
		bool in_head = r->state == STATE_HEAD;
		enum ws_event e;

		if (r->state == STATE_BAD)
			return WS_BAD;
		if (in_head && *n == 0)
			return WS_MORE;
		if (in_head)
			e = read_head(r, in, n);
		else
			e = is_control(r->frame) ? read_control(r, in, n, ret) : read_data(r, in, n, ret);
		if (e != WS_MORE || (*n == 0 && (r->state == STATE_HEAD || r->left > 0)))
			return e;
	}
}

static void put_head(struct buf *out, enum ws_opcode opcode, bool is_last, size_t n, unsigned masked)
{
	unsigned length = n < 126 ? (unsigned)n : n <= UINT16_MAX ? 126 : 127;

	buf_putc(out, (char)((is_last ? FIN : 0u) | (unsigned)opcode));
	buf_putc(out, (char)(masked | length));
	for (int shift = length == 127 ? 56 : length == 126 ? 8 : -1; shift >= 0; shift -= 8)
		buf_putc(out, (char)(n >> shift & 0xff));
}

int ws_write(struct buf *out, enum ws_opcode opcode, bool is_last, struct str payload)
{
	if (is_control(opcode) && (payload.n > CONTROL_MAX || !is_last))
		return -EMSGSIZE;
	put_head(out, opcode, is_last, payload.n, 0);
	buf_put(out, payload);
	return out->failed ? -ENOSPC : 0;
}

int ws_write_masked(struct buf *out, enum ws_opcode opcode, bool is_last, struct str payload,
		    const unsigned char mask[static 4])
{
	size_t at;

	if (is_control(opcode) && (payload.n > CONTROL_MAX || !is_last))
		return -EMSGSIZE;
	put_head(out, opcode, is_last, payload.n, MASKED);
	buf_put(out, (struct str){ (const char *)mask, 4 });
	at = out->n;
	buf_put(out, payload);
	if (out->failed)
		return -ENOSPC;
	for (size_t i = 0; i < payload.n; i++)
		out->p[at + i] = (char)((unsigned char)out->p[at + i] ^ mask[i & 3]);
	return 0;
}

int ws_write_close(struct buf *out, unsigned code, struct str reason)
{
	char text[CONTROL_MAX];

	if (!code_ok(code))
		return -EINVAL;
	if (reason.n > CONTROL_MAX - 2)
		return -EMSGSIZE;
	text[0] = (char)(code >> 8);
	text[1] = (char)(code & 0xff);
	if (reason.n > 0)
		memcpy(text + 2, reason.p, reason.n);
	return ws_write(out, WS_CLOSE, true, (struct str){ text, reason.n + 2 });
}
