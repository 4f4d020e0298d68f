/* SPDX-License-Identifier: Apache-2.0 */
/* What the files about mounts share. */
#pragma once

#include "policy/policy_priv.h"

/* Appends, or replaces the mount that has the same target. False: refused, or out of memory. */
bool mount_add(struct ctx *x, size_t *cap, const struct mount *m);

/* The vault and the binds, each checked; the first that may not be bound refuses the call. */
bool binds_add(struct ctx *x, struct str ws_target, size_t *cap);

/* mounts_upstream.c: workdir and mounts as OpenClaw's explain lists them. The directories are known by then. */
bool mounts_upstream(struct ctx *x);
