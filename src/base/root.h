/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Root is who is the host's root. Uid 0 in a user namespace that somebody else has made, as in a container of an ordinary user's or after his `unshare -r`, is a
 * user like others: there he is called 0, and has a few users more, or none. And the host's root is that under any name that a namespace gives him.
 */
#pragma once

#include <stdbool.h>

/* Where nobody can tell, uid 0 is: what only root can do is then refused by the kernel, and told. */
bool root_of_host(void);

/* Whether we have the name that the kernel shows for all who have none here (65534 in a user namespace): what belongs to them looks like ours. */
bool strangers_look_ours(void);
