/* SPDX-License-Identifier: Apache-2.0 */
/*
 * An HTTP/1.1 client on base's loop: one connection (http/listen.h opens it), one request at a time, used again where both sides
 * keep it. The answer is read as strictly as a request is. It follows no redirect, keeps no cookie, looks up no name, repeats
 * nothing, and has no TLS. It stops reading while it is paused.
 */
#pragma once

#include "base/loop.h"
#include "http/body.h"
#include "http/listen.h"

struct http_client;

/* Of each request either `end` or `fail` is called, once. Any of them may free the client. */
struct http_client_handler {
	void (*head)(void *ctx,
		     struct http_client *c); /* of the final answer; NULL: nobody wants it before the end */
	void (*body)(void *ctx, struct http_client *c, struct str piece); /* NULL: dropped */
	void (*end)(void *ctx, struct http_client *c);
	/* The connection is of no use any more. ERR_PROTO: the answer was malformed or cut off; ERR_LIMIT: a deadline or size. */
	void (*fail)(void *ctx, struct http_client *c, const struct err *e);
	/* There is room again, after http_client_write() had said 1. */
	void (*room)(void *ctx, struct http_client *c);
};

struct http_client_opts {
	struct http_limits limits; /* of the answer; zero: the default */
	unsigned max_fields;       /* 0: 64 */
	size_t request_bytes;      /* that may wait to be sent; 0: 8 MiB and a head */
	/* Milliseconds; 0: the default. */
	uint64_t send_ms;   /* without a byte taken by the server, the connect included; 10 s */
	uint64_t answer_ms; /* from the request's last byte to the end of the answer's head; 60 s */
	uint64_t body_ms;   /* without a byte of the answer's body; 60 s */
};

/* Takes the fd, also when it fails. The handler and ctx outlive the client. */
int http_client_new(struct loop *loop, int fd, const struct http_client_opts *opts,
		    const struct http_client_handler *handler, void *ctx, struct http_client **ret,
		    struct err *e);
/* Ends the connection; nothing is called. */
struct http_client *http_client_free(struct http_client *c);
DEFINE_CLEANUP(http_client, http_client_free)

struct http_client_field {
	struct str name, value;
};

/* A body of no bytes is sent with a length of 0 where the method has one. Refused while a request is under way. */
int http_client_send(struct http_client *c, struct str method, struct str target, struct str host,
		     const struct http_client_field *fields, size_t n_fields, struct str body, struct err *e);

/* For the requests from here on; 0: as it was. A call that may take long, or a stream that may be silent, has deadlines of its own. */
void http_client_patience(struct http_client *c, uint64_t answer_ms, uint64_t body_ms);

/* A request whose body is not there yet, by pieces. */
struct http_client_request {
	struct str method, target, host;
	const struct http_client_field *fields;
	size_t n_fields;
	enum http_framing framing; /* HTTP_NO_BODY: none follows, and nothing below is called */
	uint64_t length;           /* HTTP_LENGTH */
	bool close;                /* say that the connection is not used again */
};
int http_client_begin(struct http_client *c, const struct http_client_request *r, struct err *e);
/*
 * Takes all of it. 1 when so much waits that it is better to wait for `room`; -ENOSPC when it is more than may wait, -EINVAL when it is
 * more than was said to come: the connection is of no use then, and nothing is called. What comes after an early answer is dropped.
 */
int http_client_write(struct http_client *c, struct str piece);
/* The body is whole. -EINVAL when less came than was said. */
int http_client_finish(struct http_client *c);

/* From `head` to the end of `end`. */
const struct http_head *http_client_head(const struct http_client *c);

/* Stops reading the body, and goes on. */
void http_client_pause(struct http_client *c, bool paused);

/* No request is under way, and none of them has shown that the server is gone. */
bool http_client_is_idle(const struct http_client *c);
/*
 * The next request may be sent; looks at the socket, whether the server has ended it. It may still do so at any time: then that request
 * fails.
 */
bool http_client_is_ready(const struct http_client *c);
