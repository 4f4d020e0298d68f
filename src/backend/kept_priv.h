/* SPDX-License-Identifier: Apache-2.0 */
/* What the parts of a kept box share: the connection, and questions that are waited for. */
#pragma once

#include "backend/asked.h"
#include "backend/events.h"
#include "backend/files_wire.h"
#include "backend/kept.h"
#include "backend/kept_line.h"
#include "backend/message.h"
#include "backend/wire_keeper.h"
#include "base/buf.h"

struct kept {
	struct box box;
	int socket;
	struct events later;
	struct asked asked;
	uint64_t last_id, last_question;
	uint64_t answer_ms; /* that an answer may take by itself */
	bool gone;
	struct err why;
	uint64_t sent; /* messages */
	uint64_t exec; /* the last call that was asked for, with message number exec_sent */
	uint64_t exec_sent;
	bool unheard;                 /* it went without hearing the last one */
	struct files_wire *wire;      /* NULL until somebody asks for files */
	struct line *line;            /* NULL: calls go through the keeper */
	bool called, line_asked;      /* there was a call; a line was asked for, once */
	char body[KEEPER_INLINE_MAX]; /* of what came last */
};

struct kept *kept_of(const struct box *b);

struct kept_reply {
	struct keeper_event head;
	struct str body;   /* in the connection's buffer, until something else is heard, or in `mapped` */
	struct str mapped; /* when it was large */
	int fd;            /* that it carries */
};
#define KEPT_REPLY_NONE ((struct kept_reply){ .fd = FD_NONE })
void kept_reply_done(struct kept_reply *r);
#define _cleanup_reply_ _cleanup_(kept_reply_done)

/* 1 and *ret; 0 when there was nothing to tell, or an answer came; -EAGAIN when there is nothing yet. */
int kept_hear(struct kept *k, bool wait, struct box_event *ret, struct kept_reply *ret_reply, struct err *e);
/* Sends; a body that is too large for a message goes into a memfd behind the descriptors. -EAGAIN when nothing can be sent now. */
int kept_send(struct kept *k, struct keeper_request *h, struct str body, struct message_fds *fds,
	      struct err *e);

/* Asks and waits for the answer, wait_ms longer than an answer takes by itself. An answer that is an error is in *e. */
int kept_ask(struct kept *k, struct keeper_request *h, struct str body, struct message_fds *fds,
	     uint64_t wait_ms, struct kept_reply *ret, struct err *e);

/* The same for next(): also of the line. */
int kept_hear_any(struct kept *k, bool wait, struct box_event *ret, struct err *e);
/* Everything that the line has said and the keeper says of its calls becomes an event, and there is no line any more. */
int kept_settle_line(struct kept *k, struct err *e);

/* The body of a call, and the text of a job when it has one (p is not NULL). ERR_USAGE, ERR_LIMIT. */
int kept_put_call(struct buf *b, const struct box_call *call, struct str text, struct keeper_request *h,
		  struct err *e);

extern const struct jobs_ops kept_jobs;
