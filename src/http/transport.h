/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What carries the bytes of a connection: a socket as it is, or something around it (tls/). The server and its codec know nothing else of it. No
 * function waits; the descriptor is the server's, which closes it.
 */
#pragma once

#include "http/listen.h"

#include <sys/types.h>

struct http_transport {
	void *ctx; /* of `begin` */
	/* For an accepted socket; *ret is what the others are called with. NULL: there is nothing to remember. */
	int (*begin)(void *ctx, int fd, const struct http_peer *peer, void **ret);
	/* Bytes, 0 when the peer has ended its half, -EAGAIN; -EPROTO when it speaks something else, other errors when it has gone. */
	ssize_t (*read)(void *state, int fd, void *to, size_t n);
	ssize_t (*write)(void *state, int fd, const void *from, size_t n);
	/* EPOLLIN or EPOLLOUT: what a read (or write) that said -EAGAIN waits for. NULL: what one would think. */
	uint32_t (*wants)(const void *state, bool writing);
	/* There is something to read that no event will tell of. NULL: never. */
	bool (*pending)(const void *state);
	/* Both sides have agreed on how to speak. NULL: there is nothing to agree on. */
	bool (*is_open)(const void *state);
	/* Nothing more will be written. Negative: the peer is not there to hear it. */
	int (*end)(void *state, int fd);
	/* Before the descriptor is closed. `clean`: all that was to be said has been said. NULL: as `begin`. */
	void (*close)(void *state, bool clean);
};

/* The socket as it is. */
extern const struct http_transport http_plain;
