/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The client's end of a connection to the egress service (net/message.h): waits, with a deadline, because whoever asks runs one call at a
 * time. The sandbox is served for as long as the descriptor is open.
 */
#pragma once

#include "base/fd.h"
#include "net/message.h"

/* Hands the listener over (it stays the caller's to close). ERR_UNAVAIL: nobody is there, or it refuses; the message says how to start it. */
int egress_open(const char *path, const struct egress_hello *hello, int listener, int *ret_fd, struct err *e);

/* Ends it and hears what happened. ERR_UNAVAIL: the service has gone meanwhile, and with it what the sandbox could reach. Closes the descriptor. */
int egress_close(int fd, struct net_report *ret, struct err *e);
