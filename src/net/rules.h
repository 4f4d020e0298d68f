/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What one sandbox may reach, and what became of it: the rules that its client has sent, and the record of what they refused. Pure. A
 * host is judged by its text before anything is looked up, and nothing ever is: the rule has the address.
 */
#pragma once

#include "base/err.h"
#include "base/jsonw.h"
#include "model/dest.h"

#define NET_RULES_MAX 64u
#define NET_DENIALS_MAX 16u

struct net_rules {
	const char *option; /* where they are written: "network.internal.hosts" */
	struct dest v[NET_RULES_MAX];
	size_t n;
};

/* An entry as dest_parse() reads it, with an address. The text outlives the rules. */
int net_rules_add(struct net_rules *r, struct str entry, struct err *e);

enum net_verdict {
	NET_HOST_NOT_ALLOWED = 0,
	NET_PORT_NOT_ALLOWED, /* the host is allowed, on another port */
	NET_ALLOWED,
	NET_VERDICT_COUNT_
};
const char *net_verdict_word(enum net_verdict v); /* "host_not_allowed" */

/* *ret: the rule that allows it, or the one of the same host, or NULL. */
enum net_verdict net_judge(const struct net_rules *r, const struct dest_host *host, uint16_t port,
			   const struct dest **ret);

/* One destination that was refused, in words that can be sent. */
struct net_denial {
	uint64_t time_ms, count;
	enum net_verdict verdict;
	uint16_t port;
	char object[DEST_TEXT_MAX]; /* "host:port" */
	char rule[2 * DEST_TEXT_MAX], hint[2 * DEST_TEXT_MAX];
};
void net_denial_fill(struct net_denial *d, const struct net_rules *r, const struct dest_host *host,
		     uint16_t port, enum net_verdict v, const struct dest *near);

struct net_report {
	uint64_t requests, bytes_up,
		bytes_down; /* exchanges that were let through, and their bytes with heads */
	struct net_denial denials[NET_DENIALS_MAX]; /* one for each destination; more are only counted */
	size_t n_denials;
	uint64_t denials_lost;
};
void net_report_add(struct net_report *r, const struct net_denial *d, uint64_t now_unix_ms);
