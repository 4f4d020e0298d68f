/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Events of a box that came while somebody waited for something else: kept in their order, up to a maximum, until next() asks for
 * them. There is one descriptor to wait on, which can be read when the box's own can, or when there is something here.
 */
#pragma once

#include "backend/backend.h"

#define EVENTS_MAX 1024u /* more than the calls of a box can say */

struct events {
	struct box_event *v;
	size_t first, n, cap;
	int wait; /* an epoll of the other two */
	int bell; /* an eventfd */
	bool rung;
};
#define EVENTS_NONE ((struct events){ .wait = FD_NONE, .bell = FD_NONE })

/* `fd` is what the box hears from; borrowed. */
int events_init(struct events *q, int fd);
/* One more, until it is closed. */
int events_watch(struct events *q, int fd);
void events_done(struct events *q); /* closes what the events carry */

/* The descriptor that an event carries is the queue's from now on, also when this fails (-ENOBUFS, -ENOMEM). */
int events_put(struct events *q, const struct box_event *ev);
bool events_take(struct events *q, struct box_event *ret);
/* From now on it can be read for ever: there is an end to be heard of. */
void events_ring(struct events *q);
