/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A client's line to pid 1 of a sandbox that a keeper holds (docs/decisions/016): plain calls go over it, and nobody stands between. Everything
 * else is the keeper's, and so are calls when there is no line.
 */
#pragma once

#include "backend/backend.h"

struct line;

/* `fd` is the line's, also when this fails. */
int line_open(int fd, uint32_t number, struct str workdir, struct line **ret, struct err *e);
struct line *line_close(struct line *l); /* its calls are ended */

int line_fd(const struct line *l);
/* Whether this call may go over it, as it is now. */
bool line_takes(const struct line *l, const struct box_call *call);
/* As box_ops has them. */
int line_exec(struct line *l, const struct box_call *call, uint64_t *ret_id, struct err *e);
int line_cancel(struct line *l, uint64_t id, int signo, struct err *e);
int line_signal(struct line *l, uint64_t id, int signo, struct err *e);
/* Whether it is a number of a call on some line. */
bool line_number(uint64_t id);
/* 1 and *ret; 0: nothing to tell, or it has gone; -EAGAIN. Never waits. */
int line_hear(struct line *l, struct box_event *ret, struct err *e);
bool line_gone(const struct line *l);
uint32_t line_calls(const struct line *l); /* not heard of yet */
/* After it has gone: the next of its calls, as lost or as never begun; false when there is none left. */
bool line_lost(struct line *l, struct box_event *ret);
/* That the only one there was is certain not to have begun: there is nothing to learn from the keeper. */
bool line_unbegun(const struct line *l);
