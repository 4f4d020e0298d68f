/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Numbers about a service for whoever watches it: counters, gauges and histograms in memory that all processes of the service share, because
 * it is made before they are forked. Adding is one atomic instruction and never fails.
 *
 * Which numbers there are, and which words their labels can have, is one static table: nothing that a caller says can make a new one (what
 * is not in the list is counted as "other"). Each belongs to one service, so that the texts of several can be put behind each other.
 */
#pragma once

#include "base/buf.h"
#include "base/cleanup.h"
#include "base/err.h"
#include "base/str.h"

#include <stdint.h>

enum metrics_owner { METRICS_NOBODY = 0, METRICS_GUARD, METRICS_RUNNER };

/* Which list of words a label takes its value from. The last word of each is "other". */
enum metric_label {
	LABEL_NONE = 0,
	LABEL_TOOL,
	LABEL_VERDICT,   /* ok failed refused approval error lost other */
	LABEL_BACKEND,   /* as model/names has them */
	LABEL_LAYER,     /* of a denial */
	LABEL_ROUTE,     /* of HTTP: a name from the list, never a path */
	LABEL_STATUS,    /* 200, 400 … */
	LABEL_LEASE,     /* created reused recovered */
	LABEL_POOL,      /* hit miss made dropped */
	LABEL_DIRECTION, /* in out */
	LABEL_QUEUE,     /* waiting running */
	LABEL_REASON,    /* why a call was not taken */
	METRIC_LABEL_COUNT_
};

enum metric {
	/* the runner's */
	METRIC_CALLS = 0,        /* tool verdict backend */
	METRIC_CALL_SECONDS,     /* tool; histogram */
	METRIC_DENIALS,          /* layer */
	METRIC_SANDBOXES,        /* gauge: live */
	METRIC_POOL,             /* gauge: ready sandboxes */
	METRIC_POOL_EVENTS,      /* pool */
	METRIC_LEASES,           /* lease: sandboxes that stay */
	METRIC_RUNNER_REQUESTS,  /* route status */
	METRIC_RUNNER_QUEUE,     /* queue; gauge */
	METRIC_RUNNER_WORKERS,   /* gauge */
	METRIC_RUNNER_LOST,      /* workers that died */
	METRIC_RUNNER_MEMORY,    /* gauge: bytes, of all its processes */
	METRIC_RUNNER_STREAMED,  /* bytes of output passed on as it came */
	METRIC_RUNNER_CANCELLED, /* calls whose client went */
	/* the guard's */
	METRIC_GUARD_REQUESTS,    /* route status */
	METRIC_GUARD_SECONDS,     /* route; histogram */
	METRIC_GUARD_CONNECTIONS, /* gauge */
	METRIC_GUARD_QUEUE,       /* queue; gauge */
	METRIC_GUARD_REFUSED,     /* reason */
	METRIC_GUARD_MEMORY,      /* gauge */
	/* egress's, who is asked by the runner */
	METRIC_EGRESS_BYTES,    /* direction */
	METRIC_EGRESS_REQUESTS, /* verdict */
	METRIC_EGRESS_GUESTS,   /* gauge: sandboxes that are served */
	METRIC_EGRESS_MEMORY,   /* gauge */
	METRIC_COUNT_
};

struct metrics;

/* Shared with whoever is forked from here on. */
int metrics_new(enum metrics_owner owner, struct metrics **ret, struct err *e);
struct metrics *metrics_free(struct metrics *m); /* this process's view of it */
DEFINE_CLEANUP(metrics, metrics_free)

/* The place of a word among those of a label; that of "other" when it is not one of them. */
unsigned metrics_word(enum metric_label label, struct str word);
unsigned metrics_status(unsigned http_status);

/*
 * Places of words, one for each of the metric's labels, in order; the rest is 0. Out of range is "other". A metric of another service, or one
 * that is of another type, is a mistake of ours and ends the process.
 */
struct metric_at {
	enum metric metric;
	unsigned a, b, c;
};
void metrics_add(struct metrics *m, struct metric_at at, uint64_t n);
void metrics_set(struct metrics *m, struct metric_at at, uint64_t value); /* gauges */
void metrics_take(struct metrics *m, struct metric_at at,
		  uint64_t value);                       /* counters that somebody else counts */
void metrics_up(struct metrics *m, struct metric_at at); /* gauges */
void metrics_down(struct metrics *m, struct metric_at at);
void metrics_observe_us(struct metrics *m, struct metric_at at, uint64_t us); /* histograms */
uint64_t metrics_get(const struct metrics *m, struct metric_at at);           /* counters and gauges */

/* Resident bytes of a process, as /proc has them; 0 when it cannot be known. */
uint64_t metrics_resident(int pid);
/* The same by a descriptor of its statm, for a process without /proc; negative: none. */
uint64_t metrics_resident_at(int statm);

/* The text that Prometheus reads (version 0.0.4): what was never counted is left out, unless the metric has no labels. */
void metrics_write(const struct metrics *m, struct buf *out);
#define METRICS_CONTENT_TYPE "text/plain; version=0.0.4; charset=utf-8"
