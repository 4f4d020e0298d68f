/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What of this host a sandbox is made from: the read-only system directories, the links of a merged /usr, the handful of
 * files in /etc that programs need, the harmless devices; or the same of an image. Fills the host's part of a profile.
 */
#pragma once

#include "base/arena.h"
#include "base/err.h"
#include "model/profile.h"

/* The host's own /usr, with a synthesized /etc. */
int host_root(struct arena *a, struct profile *p, struct err *e);
/* A directory that holds a root file system. Only its top level is looked at, and none of its links is followed. */
int host_image_root(struct arena *a, struct str dir, struct profile *p, struct err *e);

/* Landlock's ABI, 0 when the kernel has none. */
uint32_t host_landlock_abi(void);
