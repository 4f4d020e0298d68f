/* SPDX-License-Identifier: Apache-2.0 */
/* What the two halves of cgroup.h share: files, names, and where a v2 group can be made (cgroup_v2.c). */
#pragma once

#include "sandbox/cgroup.h"

#define CGROUP_PERIOD_US 100000u

extern const char *const cgroup_controller[]; /* in the order of CGROUP_MEMORY, CGROUP_PIDS, CGROUP_CPU */

int cgroup_put(const char *dir, const char *file, const char *text);
int cgroup_put_u64(const char *dir, const char *file, uint64_t v);
/* The file's text; empty when it cannot be read. */
void cgroup_get(const char *dir, const char *file, char *out, size_t size);
/*
 * Our own group in the hierarchy with this controller ("" = v2), as /proc/self/cgroup has it. A group outside our cgroup
 * namespace is written as "/..": it has no path here.
 */
int cgroup_own(const struct cgroup_host *h, const char *name, char *out, size_t size);
/* A new group below `parent`; its path is left in `out`, which is empty on failure. CGROUP_NONE: one that nobody is told of. */
int cgroup_make(const struct cgroup_host *h, enum cgroup_version version, const char *parent,
		char out[static CGROUP_PATH_MAX]);
uint64_t cgroup_quota_us(const struct cgroup_limits *l);

/* Finds a place for a group with these limits, and makes it. *seen: limits that one of the places could have given. */
bool cgroup_v2_may(const struct cgroup_host *h);
bool cgroup_v2_find(const struct cgroup_host *h, const struct cgroup_limits *l, struct cgroup *c,
		    unsigned *seen);
int cgroup_v2_below(const struct cgroup_host *h, const struct cgroup_limits *l, struct str parent,
		    struct cgroup *c, struct err *e);
bool cgroup_v2_settle(const struct cgroup_host *h, struct cgroup *c);
/* Back to where we were, when we had made room for it. */
void cgroup_v2_return(const struct cgroup *c);
