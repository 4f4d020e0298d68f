/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The way to the runner: connections that are kept while they are of use, one request at a time on each. Nothing is sent twice: a request whose
 * connection failed may have been carried out. Ending an errand before its answer is whole ends the connection, and with that the call.
 */
#pragma once

#include "http/client.h"

struct link;
struct errand;

struct link_opts {
	struct str
		address; /* "unix:PATH" or "IP:PORT"; the path may be relative to where the process stands */
	const char *refused; /* why it is not to be reached at all; NULL: it is */
	bool ours;           /* only when it is a process of our own user that answers (unix:) */
	struct str token;    /* the runner's; kept, and wiped in the end */
	unsigned max_idle;   /* connections that are kept */
	uint64_t idle_ms;    /* for how long */
	uint64_t last_ms;    /* and the one used last, whose worker may have something ready */
};
int link_new(struct loop *loop, const struct link_opts *o, struct link **ret, struct err *e);
struct link *link_free(struct link *l); /* after its errands */
DEFINE_CLEANUP(link, link_free)

/* Either end or fail is called, once, and the errand is no more after it. None of them from inside link_send(). */
struct errand_handler {
	void (*head)(void *ctx, struct errand *r, const struct http_head *head);
	void (*body)(void *ctx, struct errand *r, struct str piece);
	void (*end)(void *ctx);
	void (*fail)(void *ctx, const struct err *e);
};

struct errand_request {
	struct str method, target, body;
	struct str caller_token;          /* X-Creel-Token; empty: none */
	struct str accept, last_event_id; /* empty: none */
	uint64_t answer_ms, body_ms;
	/* Whose it is: of the connections that wait, the one that the same had last is taken, whose worker still has his session open. 0: any. */
	uint64_t whose;
};
int link_send(struct link *l, const struct errand_request *q, const struct errand_handler *h, void *ctx,
	      struct errand **ret, struct err *e);
/* Nothing is called any more. */
void errand_cancel(struct errand *r);
void errand_pause(struct errand *r, bool paused);
