/* SPDX-License-Identifier: Apache-2.0 */
/* The far side of a CONNECT: bytes to a server and from it, bounded, with a deadline. Knows nothing of what they mean. */
#pragma once

#include "base/err.h"
#include "base/loop.h"
#include "base/str.h"

struct tunnel;

/* After `end` nothing else is called. Any of them may free the tunnel. */
struct tunnel_handler {
	void (*open)(void *ctx);                   /* connected */
	void (*data)(void *ctx, struct str piece); /* may pause */
	void (*room)(void *ctx);                   /* again, after tunnel_write() had said 1 */
	void (*half)(void *ctx);                   /* the server sends no more, and still takes what comes */
	void (*end)(void *ctx, const struct err *e); /* e->kind is ERR_NONE when both sides have ended it */
};

struct tunnel_opts {
	uint64_t connect_ms, idle_ms;
	uint64_t half_ms; /* without a byte to a server that sends no more */
};

/* Takes the fd (on its way or connected), also when it fails. */
int tunnel_new(struct loop *loop, int fd, const struct tunnel_opts *opts, const struct tunnel_handler *h,
	       void *ctx, struct tunnel **ret, struct err *e);
struct tunnel *tunnel_free(struct tunnel *t);

/* Takes all of it, at most TUNNEL_PIECE_MAX bytes. 1 when the next one had better wait for `room`; -ENOSPC when it does not fit. */
#define TUNNEL_PIECE_MAX 65536u
int tunnel_write(struct tunnel *t, struct str piece);
/* Nothing more comes, which the server is told when it has the rest. */
void tunnel_finish(struct tunnel *t);
/* Stops reading, and goes on. */
void tunnel_pause(struct tunnel *t, bool paused);
