/* SPDX-License-Identifier: Apache-2.0 */
/*
 * How long a sandbox is kept: pure questions with the time as an argument. Nothing here removes anything; and what is removed after
 * asking is the sandbox alone, never a workspace.
 */
#pragma once

#include "engine/registry.h"

#define KEEP_HOT_MS ((uint64_t)5 * 60 * 1000)   /* used within: somebody is at work in it */
#define KEEP_GRACE_MS ((uint64_t)5 * 60 * 1000) /* from the warning until it is made anew */

/* ---- may the next call use it? ---- */

enum keep {
	KEEP_REFUSE =
		0, /* it sees other directories than it should, and somebody is at work in it: the call fails */
	KEEP_RECREATE, /* end it, make a new one */
	KEEP_WARN,     /* use it until until_ms, and tell that its walls have changed */
	KEEP_AS_IS,
	KEEP_COUNT_
};
extern const struct enum_name keep_names[];

struct keep_input {
	const struct reg_entry *old;
	struct str walls, mounts; /* digests of what it should be now */
	uint64_t running;         /* calls that are in it at this moment */
	uint64_t now_ms;
};
struct keep_verdict {
	enum keep keep;
	uint64_t until_ms; /* with KEEP_WARN */
	uint64_t
		warned_ms; /* to be stored with the entry (registry_set_warned) when it is another than there */
	bool tell;         /* with KEEP_WARN: for the first time */
	bool ends_calls;   /* with KEEP_RECREATE: there are some */
	const char *why;
};
void keep_decide(const struct keep_input *in, struct keep_verdict *ret);

/* ---- has it been there long enough? ---- */

enum prune { PRUNE_KEEP = 0, PRUNE_IDLE, PRUNE_OLD, PRUNE_COUNT_ };
extern const struct enum_name prune_names[];

/* backend.prune.idleHours and maxAgeDays of the entry's own agent; 0 = never. One with calls in it, and a lease, is kept. */
enum prune prune_decide(const struct reg_entry *entry, uint64_t idle_hours, uint64_t max_age_days,
			uint64_t running, uint64_t now_ms);

/* ---- leases (S4-40, S4-41, S4-48) ---- */

enum lease_use {
	LEASE_CREATE = 0, /* there is none, or its time is over */
	LEASE_REPLACE,    /* of another template: end it, create one */
	LEASE_RENEW,      /* use it, and ask for more time: less than half is left, or the clock went back */
	LEASE_REUSE,
	LEASE_USE_COUNT_
};
extern const struct enum_name lease_use_names[];

/* `old` may be NULL. */
enum lease_use lease_decide(const struct reg_lease *old, struct str template, uint64_t ttl_ms,
			    uint64_t now_ms);
