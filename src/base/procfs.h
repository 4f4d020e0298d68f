/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Whether /proc is there, and tells of the processes that we see. Nothing can be built without: maps of users are written there, and descriptors have
 * their names there.
 */
#pragma once

#include "base/err.h"

/* What is wrong with it, or NULL. One question to the kernel where nothing is. */
const char *procfs_fault(void);
#define PROCFS_FIX "mount -t proc proc /proc (unshare --pid --fork --mount-proc does that by itself)"

/* The same as an error, with its fix. Leaves errno as it was. */
int procfs_check(struct err *e);
