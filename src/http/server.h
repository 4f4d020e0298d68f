/* SPDX-License-Identifier: Apache-2.0 */
/*
 * An HTTP/1.1 server on base's loop, for sockets that somebody has opened. Everything is bounded: connections, the bytes that wait
 * in each direction, and each wait (for a head, a body, the next request, a client that does not read).
 *
 * One exchange (request and answer) at a time on a connection; requests that are pipelined wait in the socket. The head is checked
 * by http/head.h before any function of the handler sees it, and what is refused there is answered here. A client may end
 * its half of the connection behind its request, and gets its answer; `gone` is for those who are no more there (http/knock.c). A function of the handler is never called from inside a call that
 * the handler makes from elsewhere (another event of the loop). There is no TLS, no routing and no log here: what carries the bytes is
 * http/transport.h.
 */
#pragma once

#include "base/loop.h"
#include "http/body.h"
#include "http/listen.h"
#include "http/transport.h"

struct http_server;
struct http_exchange; /* lives until its answer is complete or `gone` was called */

struct http_handler {
	/* The head is whole; the body has not been read. It may be answered at once, or later. */
	void (*request)(void *ctx, struct http_exchange *x);
	/* A piece of the body, in order. NULL: bodies are read and dropped. With an upgrade: what the client sends. */
	void (*body)(void *ctx, struct http_exchange *x, struct str piece);
	/* The body is whole (also when there is none). Mostly here the answer is made. NULL: request does it. */
	void (*whole)(void *ctx, struct http_exchange *x);
	/* There is room again, after http_answer_write() had said -EAGAIN. */
	void (*room)(void *ctx, struct http_exchange *x);
	/* After an upgrade: the client sends no more, and still takes what comes. NULL: that ends it. */
	void (*half)(void *ctx, struct http_exchange *x);
	/* The client has gone, or a deadline has passed, before the answer was complete. The exchange is no more after this. */
	void (*gone)(void *ctx, struct http_exchange *x);
};

struct http_server_opts {
	struct http_limits limits; /* zero: the default */
	unsigned max_fields;       /* 0: 64 */
	unsigned max_connections;  /* 0: 1024 */
	size_t output_bytes;       /* of an answer that wait to be sent, per connection; 0: 256 KiB */
	/* Milliseconds; 0: the default. */
	uint64_t head_ms; /* from the first byte of a head to its last, and until a transport is open; 10 s */
	uint64_t idle_ms; /* from an answer, or the accept, to the first byte of a request; 60 s */
	uint64_t body_ms; /* without a byte of the body, and behind a rate of 1000 bytes per second; 30 s */
	uint64_t write_ms; /* without a byte taken by a client that has an answer waiting; 30 s */
};

/* The handler and ctx outlive the server. The loop needs room for two sources per connection. */
int http_server_new(struct loop *loop, const struct http_server_opts *opts,
		    const struct http_handler *handler, void *ctx, struct http_server **ret, struct err *e);
/* Ends all connections at once; `gone` is called for each exchange. Never from a function of the handler. */
struct http_server *http_server_free(struct http_server *s);
DEFINE_CLEANUP(http_server, http_server_free)

/* Takes the listening socket, which becomes the server's. At most 8. */
int http_server_listen(struct http_server *s, int fd, struct err *e);
/* The same, with what carries the bytes of its connections; it outlives the server. */
int http_server_listen_via(struct http_server *s, int fd, const struct http_transport *via, struct err *e);
/* Takes a connection that somebody else has accepted: who has to look at its peer first, or takes one at a time. -EMFILE when all are in use. */
int http_server_adopt(struct http_server *s, int fd);

/*
 * Accepts no more, ends idle connections and lets the others finish what they have begun; after `ms` they are ended. Who has only just
 * connected may still ask: that takes two seconds at most. `done` is called once, when the last one has gone.
 */
void http_server_drain(struct http_server *s, uint64_t ms, loop_fn *done, void *ctx);

unsigned http_server_connections(const struct http_server *s);

/* The exchange. The head's slices are good for as long as it lives. */
const struct http_head *http_exchange_head(const struct http_exchange *x);
const struct http_peer *http_exchange_peer(const struct http_exchange *x);
void http_exchange_set(struct http_exchange *x, void *data); /* what the handler wants to remember */
void *http_exchange_get(const struct http_exchange *x);

/* The connection ends with this answer, whatever the client would like. Before the answer begins. */
void http_exchange_last(struct http_exchange *x);

/* The answer may take days: of the request nothing but its head is kept, and no room for more. Its slices move. Nothing happens before the body is whole. */
void http_exchange_settle(struct http_exchange *x);

/* Stops reading the body, and goes on: for a handler that cannot keep up. */
void http_exchange_pause(struct http_exchange *x, bool paused);

struct http_answer_field {
	struct str name, value;
};

/*
 * The whole answer. Afterwards the exchange is no more, as after http_answer_end(). -EINVAL when a field cannot be sent, -ENOSPC
 * when it is more than output_bytes: then nothing was sent, and another answer is possible.
 */
int http_answer(struct http_exchange *x, unsigned status, const struct http_answer_field *fields,
		size_t n_fields, struct str body);

/*
 * An answer in pieces. write: all or nothing; -EAGAIN when so much waits that there is no room for it (see room), -EMSGSIZE when it
 * could never fit, -EPIPE when the connection has failed (`gone` follows).
 */
int http_answer_begin(struct http_exchange *x, unsigned status, const struct http_answer_field *fields,
		      size_t n_fields);
/* The same with a length that is known: exactly so many bytes have to be written before the end, or the connection is ended with it. */
int http_answer_begin_sized(struct http_exchange *x, unsigned status, const struct http_answer_field *fields,
			    size_t n_fields, uint64_t length);
int http_answer_write(struct http_exchange *x, struct str piece);
void http_answer_end(struct http_exchange *x);

/* Ends the connection in the middle of an answer, so that the client sees that it is not whole. */
void http_answer_abort(struct http_exchange *x);

/*
 * 101 (or 200 to CONNECT): from here on the connection is bytes in both directions, through http_answer_write() and body();
 * http_answer_end() ends it.
 */
int http_answer_upgrade(struct http_exchange *x, unsigned status, const struct http_answer_field *fields,
			size_t n_fields);
/* Then: nothing more is written, which the client is told when it has the rest; it may go on sending. */
void http_answer_half(struct http_exchange *x);
