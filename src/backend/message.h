/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One message over a SOCK_SEQPACKET socket: a head, a body behind it, and descriptors. A body that is too large for a message lies in
 * a sealed memfd, the last descriptor. Knows nothing of what is said.
 */
#pragma once

#include "base/fd.h"
#include "base/str.h"

#define MESSAGE_FDS_MAX 4u
#define MESSAGE_WAIT 1 /* otherwise -EAGAIN */

struct message_fds {
	int v[MESSAGE_FDS_MAX];
	size_t n;
	bool unheard; /* taken: the other side has gone, and has not heard what was said last */
};
void message_close(struct message_fds *fds);
#define _cleanup_fds_ _cleanup_(message_close)

/* Whole or not at all; never waits: -EAGAIN. The descriptors stay the caller's. */
int message_send(int fd, struct str head, struct str body, const struct message_fds *fds);

/*
 * How many bytes came, of head and body together; 0 when the other side has gone. -EMSGSIZE: more than fits; -EMFILE: no room for its
 * descriptors, and only the rest of it was taken. The descriptors are the caller's.
 */
ssize_t message_take(int fd, unsigned flags, void *head, size_t head_size, void *body, size_t body_size,
		     struct message_fds *ret);

/* A memfd with these bytes that nobody can change any more. */
int message_seal(struct str bytes);
/* Such a one with exactly so many bytes, mapped. -EINVAL when it is none. */
int message_map(int fd, size_t size, struct str *ret);
void message_unmap(struct str *mapped);
