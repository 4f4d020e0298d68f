/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a keeper is started with: descriptors at fixed numbers, and a sealed memfd with a struct keeper_boot, the plan, the directory
 * where calls start, and the file that is to be on the disk. It answers once, over a pipe.
 */
#pragma once

#include "base/err.h"
#include "sandbox/cgroup.h"

#define KEEPER_BOOT_MAX (6u << 20)

enum keeper_fd {
	KEEPER_FD_SPEC = 3,
	KEEPER_FD_READY = 4,
	KEEPER_FD_DIR = 5,   /* of the session */
	KEEPER_FD_GROUP = 6, /* cgroup v2 directory, when there is one */
};

struct keeper_boot {
	uint32_t version, plan, workdir; /* version; bytes */
	uint32_t group_version, group_have;
	uint64_t idle_s, log_bytes, logs_bytes;
	char group[3][CGROUP_PATH_MAX], group_aside[CGROUP_PATH_MAX];
	uint32_t durable, pad; /* bytes */
};

struct keeper_ready {
	int32_t pid;
	uint32_t probes, landlock_abi;
	char walls[68];
	struct err err; /* ERR_NONE: it listens */
};

/* Reads what keeper_start() wrote. The slices point into `bytes`. -EINVAL when it is something else. */
int keeper_boot_read(struct str bytes, struct keeper_boot *ret, struct str *ret_plan, struct str *ret_workdir,
		     struct str *ret_durable);
