/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The unix sockets of this network namespace that are bound to a file, as the kernel lists them (sock_diag(7)): one
 * question, no directory is searched. The names are what other processes said when they bound them.
 */
#pragma once

#include "base/arena.h"
#include "base/str.h"

struct unix_sock {
	uint32_t ino; /* of the file; the kernel cuts it to 32 bits */
	uint64_t dev; /* of its file system, major << 32 | minor */
	struct str
		name; /* as it was bound: relative to some directory, or in some other mount namespace; may be stale */
};

struct unix_socks {
	struct unix_sock *v;
	size_t n;
};

#define UNIXDIAG_MAX 10000u

/* The body of one answer, behind its netlink header. 1: *ret is filled, its name borrowed; 0: not bound to a file; -EINVAL. */
int unixdiag_parse(struct str body, struct unix_sock *ret);

/* 0; -E2BIG above UNIXDIAG_MAX; -errno where the kernel cannot list them. */
int unixdiag_list(struct arena *a, struct unix_socks *ret);
