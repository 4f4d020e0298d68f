/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The egress service's own door (net/message.h): clients come with the listening socket of one sandbox each, and what it may reach. The sandbox is
 * served for as long as its client's connection lives, and not a moment longer. Reads no configuration, opens no file and looks nothing up.
 */
#pragma once

#include "base/loop.h"
#include "net/proxy.h"

#define DOOR_GUESTS_MAX 512u     /* sandboxes at once */
#define DOOR_CONNECTIONS_MAX 32u /* from each */
/* What the loop needs: a guest has a connection, a deadline and a proxy with its listener, timers and connections. */
#define DOOR_SOURCES (64u + DOOR_GUESTS_MAX * (8u + 4u * DOOR_CONNECTIONS_MAX))

struct door;

struct door_opts {
	uid_t uid; /* who may come */
	int statm; /* /proc/self/statm, for a process without /proc; negative: none */
	struct proxy_opts proxy;
};

int door_new(struct loop *loop, const struct door_opts *opts, struct door **ret, struct err *e);
/* Ends all. */
struct door *door_free(struct door *d);
DEFINE_CLEANUP(door, door_free)

/* What is answered to who asks whether it lives. Copied; at most DOOR_HEALTH_MAX bytes. */
#define DOOR_HEALTH_MAX 1024u
void door_say_health(struct door *d, struct str json);

/* Takes the socket: SOCK_SEQPACKET, listening. One. */
int door_listen(struct door *d, int fd, struct err *e);

/* Takes no more guests; `done` is called when the last one has gone, which may be at once. */
void door_drain(struct door *d, loop_fn *done, void *ctx);

unsigned door_guests(const struct door *d);
