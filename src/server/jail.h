/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A service locks itself in before it takes the first connection. What its bytes could be made to do is then bounded by what is left: the sockets that
 * it has, a few directories, and the system calls of sandbox/filter_service.c. Two steps, because some files have to be opened in between:
 *
 *	jail_root()   namespaces, an empty root with the named directories at their own paths; everything but 0, 1, 2 and `keep` is closed
 *	... open token stores and so on, by their paths ...
 *	jail_seal()   no capabilities, Landlock, limits, seccomp; then it tries what must be refused
 *
 * A wall that cannot be built is an error that names it and the fix: the service does not start. Nothing here is optional. The process keeps its user:
 * root too, because the files that it needs are root's; but as a user of a namespace of its own, without one capability and without a way to get any,
 * which owns nothing but what is in the jail. The process must have one thread.
 */
#pragma once

#include "base/buf.h"
#include "base/err.h"

#include <stdint.h>

struct jail_dir {
	const char *path; /* absolute, without links */
	bool writable;
};

struct jail_opts {
	const struct jail_dir *dirs;
	size_t n_dirs;
	const int *keep; /* descriptors that stay open */
	size_t n_keep;
	bool tcp; /* it has to reach something over TCP: keeps the network; listening sockets that it has work either way */
};

enum jail_wall {
	JAIL_USER = 0, /* a user namespace of its own */
	JAIL_MOUNTS,   /* a root with nothing but its directories */
	JAIL_IPC,      /* own IPC and host name */
	JAIL_NETWORK,  /* no network but the sockets that it was given */
	JAIL_PRIVS,    /* no_new_privs, no capabilities */
	JAIL_LANDLOCK, /* files a second time */
	JAIL_SECCOMP,  /* no program, no process, no executable memory, no signal to anybody */
	JAIL_NO_DUMP,  /* neither core nor debugger */
	JAIL_WALL_COUNT_
};

struct jail_walls {
	bool held[JAIL_WALL_COUNT_]; /* namespaces: the kernel has made them; the others: tried from inside */
	unsigned landlock_abi;
};

/* *walls begins here; jail_seal() adds the rest, and fails unless all hold (with `tcp`: all but the network). */
int jail_root(const struct jail_opts *o, struct jail_walls *walls, struct err *e);
int jail_seal(const struct jail_opts *o, struct jail_walls *walls, struct err *e);

/* {"user":true,...}: for /health. */
void jail_walls_json(const struct jail_walls *w, struct buf *out);
const char *jail_wall_name(enum jail_wall w);
