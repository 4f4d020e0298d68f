/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The walls of a sandbox as two hashes: what it is built of, and what of the host it sees. Pure. A sandbox that is kept for the
 * next call is kept only while both are the same as a new one's would be. What belongs to one call (command, variables, terminal,
 * deadline) or to one sandbox (its private directory, the sockets that were there when it was made) is not in them, and no
 * value of a secret is. One that is made before its first call comes has to be what a new one would be at that moment: the third hash has
 * what may have changed on the host since, and nobody would notice in one that is in use.
 */
#pragma once

#include "base/hash.h"
#include "model/profile.h"

#include <stdbool.h>

struct digest {
	char walls[SHA256_HEX];  /* all but the mounts */
	char mounts[SHA256_HEX]; /* workspace, binds, scratch */
	char moment[SHA256_HEX]; /* sockets of the host that are covered, who commits, where calls start */
	bool covers;             /* sockets of the host: nobody knows later that it still does */
};

/*
 * All of it, and that neither covers a socket. When a socket is removed, what covers it goes with it, in every sandbox; the next one of that name often has
 * its very number, and is not covered.
 */
bool digest_same(const struct digest *a, const struct digest *b);

void digest_profile(const struct profile *p, struct digest *ret);
/* What was run in it when it was made counts as a wall. */
void digest_setup(struct str command, struct digest *ret);
