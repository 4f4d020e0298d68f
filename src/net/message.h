/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What is said to the egress service: one JSON object in each message of a SOCK_SEQPACKET socket.
 *
 *	client -> egress   hello, with the listening socket of a sandbox as SCM_RIGHTS
 *	egress -> client   answer
 *	client -> egress   end
 *	egress -> client   report
 *
 * or, without a socket, and nothing else after it:
 *
 *	client -> egress   ask
 *	egress -> client   numbers
 *
 * Or, by who wants to know whether it lives: EGRESS_ASK_HEALTH, without a descriptor, and {"status":"ok","version":…,"walls":…} comes back.
 *
 * A connection is one sandbox: when either side goes, so does the socket, and everything that came over it. Pure: reads and writes texts.
 */
#pragma once

#include "base/arena.h"
#include "net/rules.h"

#define EGRESS_MESSAGE_MAX 49152u
#define EGRESS_ASK_HEALTH "{\"health\":true}" /* exactly */
#define EGRESS_SOCKET "egress.sock"           /* in the runtime directory */

struct egress_hello {
	struct str sandbox, session, request; /* for the log */
	struct str option;                    /* where the rules are written */
	struct strs rules;                    /* as net_rules_add() takes them */
};

void egress_hello_put(const struct egress_hello *h, struct buf *out);
int egress_hello_parse(struct str text, struct arena *a, struct egress_hello *ret, struct err *e);

/* An error that is ERR_NONE: it is served. */
void egress_answer_put(const struct err *refused, struct buf *out);
int egress_answer_parse(struct str text, struct err *e);

void egress_end_put(struct buf *out);
bool egress_is_end(struct str text);

void egress_report_put(const struct net_report *r, struct buf *out);
int egress_report_parse(struct str text, struct net_report *ret, struct err *e);

/* Since the service was started, with those that it serves now. */
struct egress_numbers {
	uint64_t guests; /* sandboxes that are served now */
	uint64_t requests, denials, bytes_up, bytes_down;
	uint64_t memory_bytes;
};
void egress_ask_put(struct buf *out);
bool egress_is_ask(struct str text);
void egress_numbers_put(const struct egress_numbers *n, struct buf *out);
int egress_numbers_parse(struct str text, struct egress_numbers *ret, struct err *e);
