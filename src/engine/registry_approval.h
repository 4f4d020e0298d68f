/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Calls that wait for a person, and the answers: a table of the registry, shared by every process of this user. An approval belongs to the one call that waits
 * for it: only its waiter uses it, and only once, unless it was granted for a time; then the same call (its digest) may be made again until the time is over.
 *
 * Each change is one transaction with the record of it: `record` is called before the commit, and when it fails nothing has changed. A waiter that is gone, and whose
 * time is over, is ended by whoever looks next (registry_approval_sweep). Bounded: so many wait in all and for one session, so many that have ended are kept.
 */
#pragma once

#include "engine/registry.h"

#define APPROVAL_ID_LEN 8u
#define APPROVAL_WAITING_MAX 128u
#define APPROVAL_WAITING_SESSION_MAX 16u
#define APPROVAL_GRANTS_MAX 256u
#define APPROVAL_KEPT_MAX 256u /* that have ended */

enum approval_kind { APPROVAL_TOOL = 0, APPROVAL_HOST, APPROVAL_ELEVATED, APPROVAL_KIND_COUNT_ };
extern const struct enum_name approval_kind_names[];

enum approval_state {
	APPROVAL_DENIED = 0,
	APPROVAL_WAITING,
	APPROVAL_ALLOWED,   /* once, and not used yet */
	APPROVAL_GRANTED,   /* for a time */
	APPROVAL_USED,      /* once, and over */
	APPROVAL_EXPIRED,   /* nobody answered, or its time is over */
	APPROVAL_WITHDRAWN, /* who waited has gone */
	APPROVAL_STATE_COUNT_
};
extern const struct enum_name approval_state_names[];

struct reg_approval {
	struct str id;
	enum approval_kind kind;
	enum approval_state state;
	struct str request, session, agent, channel, chat, tool, via;
	struct str call;                        /* digest of the exact call */
	struct str command, arguments, workdir; /* for people: redacted, nothing invisible in it */
	struct str by, reason;                  /* of the answer */
	uint64_t created_ms, expires_ms, answered_ms, until_ms; /* Unix time; 0 = not */
	uint64_t
		until_boot_ms; /* clock_boot_ms() at which a grant, or the wait for an answer, is over at the latest: no jump of the wall clock moves it */
	uint64_t used;         /* times */
	struct reg_proc waiter;
};

/* Writes down what is about to change, with the row as it will be. Negative: it does not. */
typedef int approval_record(void *ctx, const struct reg_approval *row, struct err *e);

/* ERR_LIMIT when too many wait already. -EEXIST when the id is taken, with *e clear: with another one. */
int registry_approval_add(struct registry *r, const struct reg_approval *row, approval_record *record,
			  void *ctx, struct err *e);
int registry_approval_find(struct registry *r, struct str id, struct arena *a, struct reg_approval *ret,
			   struct err *e); /* ERR_NOTFOUND */
/* Oldest first. `all`: also those that have ended. */
int registry_approval_list(struct registry *r, bool all, struct arena *a, struct reg_approval **ret,
			   size_t *ret_n, struct err *e);

struct approval_change {
	struct str id;
	unsigned from; /* 1 << enum approval_state: in one of these, or nothing happens */
	enum approval_state to;
	struct str by, reason; /* empty = as it was */
	uint64_t now_ms, for_ms;
	bool uses;
};
/* 1 done, 0 when it is not there or in another state. */
int registry_approval_change(struct registry *r, const struct approval_change *c, approval_record *record,
			     void *ctx, struct err *e);
int registry_approval_has_grant(struct registry *r, struct str call,
				struct err *e); /* 1 or 0; it may be over */
/* A grant for exactly this call, used once more: 1, and *ret; 0 when there is none. It is over by the wall clock (now_ms) or by until_boot_ms, whichever is first. */
int registry_approval_use_grant(struct registry *r, struct str call, uint64_t now_ms, struct arena *a,
				struct reg_approval *ret, approval_record *record, void *ctx, struct err *e);
/* Ends what is over and forgets the oldest of what has ended. */
int registry_approval_sweep(struct registry *r, uint64_t now_ms, approval_record *record, void *ctx,
			    struct err *e);
