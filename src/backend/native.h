/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A box of this host, held by this very process: a warden that serves (sandbox/warm.h). It ends with whoever holds it. Nothing is
 * decided here: the plan was made before, and the walls that it asks for stand, or there is no box.
 *
 * Who wants a box that outlives him asks a keeper for one (backend/keeper.h, backend/kept.h).
 */
#pragma once

#include "backend/backend.h"
#include "sandbox/cgroup.h"
#include "sandbox/sandbox.h"

struct native_spec {
	struct str plan; /* as the warden takes it, of a profile that serves */
	struct cgroup *
		cgroup; /* the box's from now on, also when it fails: *cgroup is CGROUP_EMPTY afterwards; NULL = none */
	struct str workdir; /* inside: where a call without cwd starts, and relative paths of files */
	int warden_fd;      /* borrowed; 0 or negative = found as always */
	struct sandbox *
		early; /* begun for it, without streams, and its from now on: SANDBOX_NONE afterwards; NULL = none */
	int clerk_fd; /* made by clerk_open_program(); borrowed until close; the same */
};

/* Waits until the walls stand. An error names the wall that does not. */
int native_open(const struct native_spec *spec, struct box **ret, struct err *e);
/* The same without waiting: until native_stands() has said so, it can be asked for nothing but its pid, and closed. */
int native_begin(const struct native_spec *spec, struct box **ret, struct err *e);
/* 1: its walls stand. 0: not yet (only without `wait`). */
int native_stands(struct box *b, bool wait, struct err *e);

/* One more clerk in it (backend/clerk.h), for whoever is given the socket; nothing is told of its call, which can be cancelled. */
int native_clerk(struct box *b, int *ret_socket, uint64_t *ret_id, struct err *e);

/*
 * A line to its pid 1 for whoever is given the socket (sandbox/wire_serve.h); `number` is nobody else's, 1 to SERVE_LINE_LAST. ERR_LIMIT: there are
 * enough. Waits for pid 1, as ops->stat() does.
 */
int native_line(struct box *b, uint32_t number, int *ret_socket, struct err *e);
/* Where a call without a directory starts. */
struct str native_workdir(const struct box *b);
/* Hangs up on all lines if none was used for so long: 1. 0: one was, *ret_unused_ms ago. */
int native_retire(struct box *b, uint64_t idle_ms, uint64_t *ret_unused_ms, struct err *e);

/* Of the process that everything in it ends with. */
pid_t native_pid(const struct box *b);

/* The socket of profile.proxy_port, which listens inside; the caller's from now on. Negative: there is none, or it was taken. */
int native_take_listener(struct box *b);
