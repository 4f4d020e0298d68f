/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A second user for an ordinary user's sandbox: an id out of the ranges that /etc/subuid and /etc/subgid give, mapped by the setuid
 * programs newuidmap and newgidmap. This looks whether the host has all of it; the warden runs the programs (warden/helper.c).
 * Ranges that only a name service knows are not found.
 */
#pragma once

#include "base/err.h"
#include "base/str.h"

#include <stdbool.h>
#include <stdint.h>

struct subids {
	uint32_t uid, gid;
};

/* For the user that we are. ERR_UNAVAIL says what is missing, and ends with "; fix: " and one command. */
int subids_look(struct subids *ret, struct err *e);

/*
 * The last id of the first range that `text` (the lines "owner:first:count" of /etc/subuid) gives to the user, by name or number. The
 * last, because other programs that use ranges begin with the first.
 */
bool subids_find(struct str text, struct str name, uint32_t uid, uint32_t *ret);
