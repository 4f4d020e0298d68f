/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Starts a keeper: a small process (creel-keeper) that holds one sandbox for as long as it is used, whoever comes and goes. It
 * listens on DIR/socket, where backend/kept.h finds it, and goes when it was idle for long enough, when it is told to (SIGTERM,
 * or a box's `stop`), or when the sandbox ends; then the sandbox, its cgroup, its logs and the socket are gone.
 * One that is killed takes everything in its sandbox with it at once, and leaves the socket's name alone.
 *
 * Nothing is inherited but what is named here. There is one keeper per directory: who starts a second one is told ERR_LIMIT.
 */
#pragma once

#include "base/err.h"
#include "base/str.h"
#include "sandbox/cgroup.h"

#include <sys/types.h>

struct keeper_spec {
	struct str plan;       /* as native.h has it */
	struct str dir;        /* of this session: there already, 0700, ours */
	struct cgroup *cgroup; /* the keeper's from now on, also when it fails; NULL = none */
	struct str workdir;    /* inside */
	uint64_t
		idle_s; /* no call and no job for so long, and nobody asked for anything: it goes; 0 = never */
	struct str
		durable; /* a file, by its absolute name, that is on the disk a moment after: what was written of this sandbox; empty = none */
	uint64_t log_bytes;  /* of one stream of a background job; 0 = 8 MiB */
	uint64_t logs_bytes; /* of all logs together; 0 = 256 MiB */
	int keeper_fd;       /* the program, borrowed; 0 or negative = found as always */
};

struct keeper_started {
	pid_t pid; /* no child of ours */
	char walls[65];
	uint32_t probes, landlock_abi;
};

/* Waits until its walls stand and it listens; at most half a minute. The error is that of the wall that does not stand. */
int keeper_start(const struct keeper_spec *spec, struct keeper_started *ret, struct err *e);
