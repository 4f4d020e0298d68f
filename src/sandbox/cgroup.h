/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The cgroup of one sandbox: memory, processes, processor time, and killing the whole tree. cgroup v2 where this process may
 * make a group (root, or a delegated subtree such as a systemd user service), cgroup v1 controllers where only those exist.
 *
 * A sandbox is born into its v2 group. Into v1 groups it has to be moved, which can take milliseconds, so v1 is used only
 * for limits that somebody asked for.
 */
#pragma once

#include "base/err.h"
#include "base/str.h"

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

enum { CGROUP_MEMORY = 1, CGROUP_PIDS = 2, CGROUP_CPU = 4 };

struct cgroup_limits {
	unsigned must; /* asked for by policy or flag: missing = refuse */
	uint64_t memory, pids;
	double cpus;
	bool stays; /* what takes too much memory ends, and not everything in the group with it */
};

enum cgroup_version { CGROUP_NONE = 0, CGROUP_V1, CGROUP_V2 };

#define CGROUP_PATH_MAX 1024
struct cgroup {
	enum cgroup_version version;
	unsigned have;                /* limits that are really in force */
	char dir[3][CGROUP_PATH_MAX]; /* v2: dir[0]; v1: memory, pids, cpu; empty = not used */
	char aside
		[CGROUP_PATH_MAX]; /* v2: the group that we went into to make room; empty = we are where we were */
	int fd;                    /* v2: to be born in */
};
#define CGROUP_EMPTY ((struct cgroup){ .fd = -EBADF })

struct cgroup_stat {
	uint64_t oom_kills, pids_refused, throttled_us, cpu_us, memory_peak, memory_now;
};

/*
 * Never an error for limits that nobody insists on: `have` says what could be had. ERR_UNAVAIL names what is missing and
 * the command that helps. `parent`: a directory to make the group in; empty = find one.
 */
int cgroup_new(const struct cgroup_limits *l, struct str parent, struct cgroup *ret, struct err *e);
/* The same, with somebody who is told of each group before it is made, and removes them if we are killed. */
struct cgroup_heir {
	int (*tell)(void *ctx, enum cgroup_version version, const char *dir); /* 0 or a negative errno */
	void *ctx;
	pid_t pid; /* our child, where we are: goes with us when we make room */
};
int cgroup_new_for(const struct cgroup_heir *heir, const struct cgroup_limits *l, struct str parent,
		   struct cgroup *ret, struct err *e);
const char *cgroup_fix(void);                      /* what this user can do to get one */
int cgroup_add(const struct cgroup *c, pid_t pid); /* v1; nothing to do for v2 */
void cgroup_stat(const struct cgroup *c, struct cgroup_stat *ret);
/* Kills what is in it and removes it. Also after the tree has gone by itself. */
void cgroup_done(struct cgroup *c);
#define _cleanup_cgroup_ _cleanup_(cgroup_done)

/*
 * For one that starts others and stays: when it is alone in a v2 group of its own, as a service with Delegate=yes is at first, it goes into
 * a group below, and groups with limits can be made beside. False: it stays where it is. cgroup_done() goes back, if nobody is left there.
 */
bool cgroup_settle(struct cgroup *ret);

/* Whether cgroup v2 may have a place for us: it has limits to give, and some group above us can be written to. */
bool cgroup_v2_possible(void);

/* Where cgroups are found and how one is made; tests bring a tree of their own. */
struct cgroup_host {
	const char *root;                  /* /sys/fs/cgroup */
	const char *self;                  /* /proc/self/cgroup */
	int (*make_dir)(const char *path); /* 0 or a negative errno */
	const struct cgroup_heir *heir;    /* NULL = none */
};
int cgroup_new_on(const struct cgroup_host *h, const struct cgroup_limits *l, struct str parent,
		  struct cgroup *ret, struct err *e);
/*
 * Removes empty groups in this directory whose creel is dead, when they are older than `age_s` seconds. One in 64 runs does it:
 * only a creel and a warden that were killed together leave one behind.
 */
void cgroup_sweep(const char *dir, unsigned age_s);
