/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The proxy of one sandbox: strict HTTP (absolute form, and CONNECT) on a socket that listens inside it, to what its rules name and nothing
 * else. A name is judged before anything else happens and never looked up; what is dialled is the address of the rule that was judged by.
 *
 * One exchange at a time on a connection, each with a connection of its own to the server. No redirect is followed: where it leads is for the
 * sandbox to ask, and to be refused. Nothing is cached, repeated or kept; what waits in either direction is bounded, and whoever is slow holds up
 * nobody but the other side of the same exchange. Who ends its half of a tunnel still gets what the other side sends.
 */
#pragma once

#include "base/loop.h"
#include "net/rules.h"

struct proxy;

struct proxy_opts {
	unsigned max_connections; /* from the sandbox; 0: 64 */
	/* Milliseconds; 0: the default. */
	uint64_t connect_ms; /* to the server, and for it to take a byte; 10 s */
	uint64_t
		answer_ms; /* for the head of its answer; 10 min: models think long, and the call has a deadline */
	uint64_t idle_ms; /* without a byte in a body or a tunnel; 10 min */
	uint64_t half_ms; /* without a byte to a server that has ended its half of a tunnel; 30 s */
};

/* rules and report outlive the proxy. The loop needs room for four sources per connection. */
int proxy_new(struct loop *loop, const struct proxy_opts *opts, const struct net_rules *rules,
	      struct net_report *report, struct proxy **ret, struct err *e);
/* Ends all connections at once. */
struct proxy *proxy_free(struct proxy *p);
DEFINE_CLEANUP(proxy, proxy_free)

/* Takes the socket, also when it fails. */
int proxy_listen(struct proxy *p, int fd, struct err *e);
