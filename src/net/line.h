/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The client's end of a connection to the egress service (net/message.h): waits, with a deadline, because whoever asks runs one call at a
 * time. The sandbox is served for as long as the descriptor is open.
 */
#pragma once

#include "base/fd.h"
#include "net/message.h"

/* First, so that nothing else is begun in vain. ERR_UNAVAIL: nobody is there; the message says how to start it. */
int egress_connect(const char *path, int *ret_fd, struct err *e);

/* Hands the listener over (it stays the caller's to close). ERR_UNAVAIL: it refuses, or has gone. */
int egress_hand_over(int fd, const struct egress_hello *hello, int listener, struct err *e);

/* Ends it and hears what happened. ERR_UNAVAIL: the service has gone meanwhile, and with it what the sandbox could reach. Closes the descriptor. */
int egress_close(int fd, struct net_report *ret, struct err *e);

/* What the service has done so far. Waits for a second at most. */
int egress_ask(const char *path, struct egress_numbers *ret, struct err *e);
