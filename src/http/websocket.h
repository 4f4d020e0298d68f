/* SPDX-License-Identifier: Apache-2.0 */
/*
 * WebSocket (RFC 6455): the handshake, a reader of frames and a writer. Strict: a client's frames are masked and a server's are
 * not, no reserved bit or opcode, lengths in their shortest form, control frames whole and at most 125 bytes, text is UTF-8
 * across fragments, close codes that may be sent. Messages are bounded. There are no extensions and no subprotocols.
 */
#pragma once

#include "base/buf.h"
#include "http/head.h"

#define WS_ACCEPT_BYTES 28 /* Sec-WebSocket-Accept, without a NUL */

/*
 * The request asks for a WebSocket of version 13. False with the answer in *ret: 400, or 426 when the version is another (the
 * answer then says "Sec-WebSocket-Version: 13").
 */
bool ws_handshake(const struct http_head *h, char accept[static WS_ACCEPT_BYTES], struct http_fault *ret);

/* What Sec-WebSocket-Accept has to be for this key. */
void ws_accept(struct str key, char accept[static WS_ACCEPT_BYTES]);

/* Close codes that we send. */
enum ws_code {
	WS_NO_CODE = 0, /* the frame has none */
	WS_NORMAL = 1000,
	WS_GOING_AWAY = 1001,
	WS_PROTOCOL_ERROR = 1002,
	WS_NOT_UTF8 = 1007,
	WS_POLICY = 1008,
	WS_TOO_BIG = 1009,
	WS_INTERNAL = 1011,
};

enum ws_opcode { WS_CONTINUATION = 0, WS_TEXT = 1, WS_BINARY = 2, WS_CLOSE = 8, WS_PING = 9, WS_PONG = 10 };

enum ws_event {
	WS_BAD = 0, /* close with `code` and end the connection */
	WS_MORE,    /* all was taken */
	WS_DATA,    /* a piece of a message; `is_last` with the end of it */
	WS_CONTROL, /* a whole ping, pong or close: `opcode`, the payload in *ret, of a close `code` */
};

struct ws_reader {
	enum ws_opcode
		opcode; /* of the message or control frame that was given last: never WS_CONTINUATION */
	bool is_last;
	unsigned code;
	const char *reason; /* WS_BAD: why */

	/* Private from here on. */
	bool from_client;
	uint64_t max_bytes, message_bytes, left;
	unsigned char head[14], control[125];
	uint8_t n_head, n_control;
	uint8_t state, message, frame, mask_at;
	bool fin, closed;
	uint8_t utf8_left, utf8_min, utf8_max;
};

/* from_client: we are the server. No message may be longer than max_bytes. */
void ws_reader_init(struct ws_reader *r, bool from_client, uint64_t max_bytes);

/*
 * Takes from the front of the n bytes at *in, which it unmasks in place, and moves both on. A piece (*ret) is a slice of
 * them, or of the reader for a control frame, until the next call; only the last piece of a message may be empty.
 */
enum ws_event ws_read(struct ws_reader *r, char **in, size_t *n, struct str *ret);

/* A whole frame as a server sends it. Control frames hold at most 125 bytes (-EMSGSIZE); text is not checked. */
int ws_write(struct buf *out, enum ws_opcode opcode, bool is_last, struct str payload);

/* The same as a client sends it, with four unpredictable bytes as mask. */
int ws_write_masked(struct buf *out, enum ws_opcode opcode, bool is_last, struct str payload,
		    const unsigned char mask[static 4]);

/* -EINVAL for a code that may not be sent, -EMSGSIZE for a reason above 123 bytes. */
int ws_write_close(struct buf *out, unsigned code, struct str reason);
