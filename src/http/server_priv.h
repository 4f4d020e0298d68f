/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the files of the server share. server.c accepts and counts, conn.c reads and keeps time, knock.c finds out who is still there, answer.c writes.
 *
 * A connection is its exchange: there is one at a time. The handler is called from inside and may end the exchange there, so a
 * connection that is to go is marked dead, and freed when the outermost conn_leave() is reached.
 */
#pragma once

#include "http/server.h"
#include "http/write.h"

enum {
	LISTENERS_MAX = 8,
	BODY_WINDOW = 16384, /* bytes of a body that are read at once */
	LINGER_MS = 2000, /* how long what a client still sends is dropped, so that it can read our answer */
	LINGER_BYTES = 262144,
	FRESH_MS = 2000,       /* how long who has just come may take to ask when we are about to end */
	ACCEPT_PAUSE_MS = 100, /* when the system has no descriptor left */
};

enum conn_phase {
	CONN_HEAD = 0, /* waits for a request, or has a part of one */
	CONN_EXCHANGE,
	CONN_FLUSH, /* the last answer is complete; ends when it is sent */
	CONN_LINGER,
};

enum answer_state { ANSWER_NONE = 0, ANSWER_BEGUN, ANSWER_ENDED };

struct conn_list {
	struct http_exchange *first, *last;
};

/* The place in one list. */
struct conn_link {
	struct http_exchange *prev, *next;
};

struct http_exchange {
	struct http_server *server;
	struct conn_link all, idle;
	int fd;
	const struct http_transport *via;
	void *state; /* of it */
	struct loop_id source, timer;
	uint32_t events; /* what epoll was asked for */
	bool unwanted;   /* and has told of, though nobody wanted it any more */
	unsigned depth;  /* of calls that may end it */
	enum conn_phase phase;
	bool dead, is_idle, eof;
	bool in_event; /* the loop has called, not the handler */
	bool turn;     /* there is work for a turn of the loop */
	bool broken, resumed;
	bool asked; /* there was a request on this connection */
	bool half;  /* the client sends no more than what is here, and may wait for its answer */
	bool half_out, told_half; /* after an upgrade: nothing more is written; the client knows */

	/* In: the head and, behind it, what has come and was not taken. */
	char *in;
	size_t n_in, cap_in, at_in;
	struct http_field *fields;
	unsigned cap_fields;
	bool settled; /* as long as the exchange is */
	struct http_head head;
	struct http_body body;
	bool body_done, paused;

	/* Out. */
	struct buf out;
	size_t at_out;
	enum answer_state answer;
	bool chunked, no_body, keep, upgraded, wants_room;
	bool live;     /* the answer is events, as they come */
	unsigned told; /* bytes of the status line that were sent early */
	unsigned knocks;
	bool sized; /* the answer's length was said; `owed` of it have not come yet */
	uint64_t owed;

	uint64_t since_ms;     /* idle, or the head's first byte, or the last byte of a body, or lingering */
	uint64_t body_from_ms; /* what a client that sends a byte each millisecond would have begun at */
	uint64_t wrote_ms;     /* when the client last took something */
	uint64_t
		knock_ms; /* when to look whether a client that sends no more is still there; CLOCK_NEVER: not */
	uint64_t armed_ms; /* what the timer is set to; CLOCK_NEVER: none */
	size_t lingered;
	void *data;
	struct http_peer peer;
};

struct listener {
	struct http_server *server;
	int fd;
	const struct http_transport *via;
	struct loop_id source;
};

struct http_server {
	struct loop *loop;
	struct http_server_opts opts;
	const struct http_handler *handler;
	void *ctx;
	struct listener listener[LISTENERS_MAX];
	unsigned n_listeners, n_conns;
	struct conn_list all, idle;
	bool accepting, draining;
	struct loop_id pause_timer, drain_timer, done_timer;
	loop_fn *done;
	void *done_ctx;
};

/* server.c */
void server_list_add(struct conn_list *l, struct http_exchange *c, bool idle);
void server_list_remove(struct conn_list *l, struct http_exchange *c, bool idle);
void server_has_room(struct http_server *s);  /* somebody is idle, and could make room */
void server_conn_gone(struct http_server *s); /* one less */

/* conn.c: takes the fd. Negative errno when there is no memory or no room in the loop. */
int conn_new(struct http_server *s, int fd, const struct http_transport *via);
/* conn_in.c: room for n more bytes, the head's slices follow; no more than it holds; n bytes behind the head away, which have been handed on. */
bool conn_reserve(struct http_exchange *c, size_t n);
void conn_shrink(struct http_exchange *c);
void conn_drop(struct http_exchange *c, size_t n);
void conn_enter(struct http_exchange *c);
void conn_leave(struct http_exchange *c); /* *c may be no more after this */
void conn_fail(struct http_exchange *c);  /* tells the handler, ends the connection */

/* knock.c */
#define HTTP_ANSWER_START "HTTP/1.1 "
void conn_half(struct http_exchange *c); /* the client has ended its half, behind a whole request */
void conn_knock(struct http_exchange *c);
void conn_half_upgraded(struct http_exchange *c); /* the same, of what is no HTTP any more */

/* answer.c */
void answer_early(struct http_exchange *c, char byte);                /* of what comes next anyway */
void answer_refuse(struct http_exchange *c, struct http_fault fault); /* and end the connection */
void answer_continue(struct http_exchange *c);
bool answer_flush(struct http_exchange *c);          /* false: the connection has failed */
bool answer_has_room(const struct http_exchange *c); /* and the handler waits for it */
static inline size_t answer_waiting(const struct http_exchange *c)
{
	return c->out.n - c->at_out;
}
