/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Lines: sockets of processes of the host that have calls here without asking who holds the sandbox for each (docs/decisions/016). A table of fixed
 * size; who does not listen is kept waiting alone, and is asked for nothing more meanwhile.
 */
#pragma once

#include "sandbox/warden/request.h"
#include "sandbox/warden/warden.h"

#include <linux/poll.h>

struct line {
	uint64_t highest; /* of its calls */
	uint32_t number;  /* 0 = the slot is free */
	int fd;
	bool deaf;       /* until it can be written to again */
	bool has_unsaid; /* that a call could not start */
	struct serve_event unsaid;
};

/* 0, -EAGAIN: there are enough; -EPERM: this host's limits do not tell so high numbers apart (mark.c). `fd` is the line's from now on when it is 0. */
long line_add(const struct warden *w, uint32_t number, int fd);
/* Its calls are ended. */
void line_drop(struct line *l);
void lines_drop(void);

/* How a call ended, or that it could not start, to whoever asked for it. -EAGAIN: not now; whoever has gone has heard all. */
long event_say(const struct serve_event *e);
/* The same of one that has no place in the table of calls: it is kept. */
void line_answer(uint64_t id, const struct serve_event *e);
/* Where the number of the last call of this kind is kept. */
uint64_t *highest_of(uint64_t id);

/* Microseconds since a call came or ended on one. */
uint64_t lines_unused(void);

/* Fills `p`, and returns how many. Then, whatever each is ready for is done, but for requests: the next one that has one, or NULL. */
unsigned lines_poll(struct pollfd p[static SERVE_LINES_MAX]);
struct line *lines_next(const struct pollfd *p, unsigned n, unsigned *at);
