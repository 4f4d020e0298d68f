/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The body of a message, as its head has framed it: by length, in chunks, or until the connection ends. Reads what has come,
 * gives back slices of it, keeps no bytes. Chunks are read strictly: no white space, no sign, no "0x", CR LF alone; their
 * extensions and the trailer are checked, bounded and dropped.
 */
#pragma once

#include "http/head.h"

enum http_piece {
	HTTP_PIECE_BAD = 0, /* see fault */
	HTTP_PIECE_MORE,    /* all was taken; come back with more */
	HTTP_PIECE_DATA,
	HTTP_PIECE_END, /* what was not taken belongs to the next message */
};

/* Extensions of all chunks together, and the trailer: who sends more than this sends it to be a burden. */
enum { HTTP_EXTENSION_BYTES_MAX = 1024, HTTP_TRAILER_BYTES_MAX = 4096 };

struct http_body {
	enum http_framing framing;
	uint64_t left;  /* of the body or of this chunk */
	uint64_t total; /* bytes given back so far */
	uint64_t max_bytes;
	struct http_fault fault;

	/* Private from here on. */
	unsigned bad_status;
	uint8_t state, digits;
	uint16_t extension_bytes, trailer_bytes;
};

void http_body_init(struct http_body *b, const struct http_head *h);

/* Takes from the front of *in. With HTTP_PIECE_DATA, *ret is a slice of it, never empty. */
enum http_piece http_body_next(struct http_body *b, struct str *in, struct str *ret);

/* The connection has ended: true when the body had, too. */
bool http_body_ends_here(const struct http_body *b);
