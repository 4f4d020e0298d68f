/* SPDX-License-Identifier: Apache-2.0 */
/*
 * No unix socket that a process of the host listens on can be reached through a directory that is seen inside: connect()
 * asks neither for a network nor for a writable mount, and what listens there acts with the user's rights.
 *
 * What is only read becomes an overlay: the sockets that it shows are not those of the host. What is written through
 * cannot be one; there the kernel is asked which sockets are bound, and each that lies below is covered. Where the kernel
 * cannot say, or where a name does not lead to its socket any more, the tree is searched. What is bound later, or by
 * a process in another network namespace, is not seen: see SECURITY.md.
 */
#pragma once

#include "base/arena.h"
#include "base/err.h"
#include "model/profile.h"

#define SOCKETS_MASK_MAX 128u
#define SOCKETS_WALK_MAX 1000000u

/* Decides for each of the mounts, and fills p->masks; p has its users and root. image: the root is not the host's own. */
int sockets_hide(struct arena *a, struct profile_mount *mounts, size_t n_mounts, bool image,
		 struct profile *p, struct err *e);
