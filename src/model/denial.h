/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Something that was refused, or ended, by whoever enforces it: policy, the mounts, a cgroup, the warden, creel itself. Never
 * what a program says about itself: a program that prints "Permission denied" was not denied anything.
 */
#pragma once

#include "base/jsonw.h"
#include "base/str.h"

#include <stdint.h>

struct denial {
	uint64_t time_ms; /* Unix time at which it was known */
	struct str session, tool;
	uint64_t pid;          /* as the host numbers it; 0 = the enforcer does not tell */
	struct str exe;        /* empty = the same */
	const char *operation; /* what was tried: "call", "mount", "fork", "allocate", "write", "run" */
	struct str object;     /* on what */
	const char *verdict;   /* "refused", or "killed" */
	struct str rule;       /* what says so, and where that is written */
	const char *layer;     /* who enforced it: "policy", "mounts", "cgroup", "warden", "creel" */
	struct str hint;       /* what would allow it; may be empty */
	uint64_t count;        /* how often */
};

void denial_put(struct jsonw *w, const struct denial *d);
