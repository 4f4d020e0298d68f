/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A decision made into a sandbox that serves calls: what it says, with what this host has, becomes a profile, the profile a plan, and the plan
 * a box, held here or by a supervisor. Decides nothing; what may be seen is asked about again under its resolved name.
 */
#pragma once

#include "backend/backend.h"
#include "engine/digest.h"
#include "model/decision.h"
#include "model/diag.h"
#include "prepare/prepare.h"
#include "sandbox/sandbox.h"

struct build_input {
	const struct decision *decision;
	const struct facts *facts;
	const struct state_dir *state;
	struct str image;  /* as said; p NULL = none */
	bool local;        /* asked for on this machine: it may know who that user is to git */
	bool passing;      /* it is for one call: what it writes to a layer goes with it */
	struct str parent; /* of its cgroups; empty = found */
};

struct build {
	struct build_input in;
	struct profile profile;
	struct digest digest;
	struct cgroup_limits limits;
	struct sandbox *early; /* begun while this was made, and taken by build_own(); NULL = none */
	int clerk_fd; /* borrowed for as long as a box of this process lives; 0 or negative = found as always */
	char private_dir[4096]; /* empty = it has no layers */
};

/*
 * The name of a key's directory. The whole of it counts, and nobody can find a second key with the same: who gets in there gets the
 * other's sandbox.
 */
#define BUILD_NAME_MAX 33
void build_name(struct str key, char out[static BUILD_NAME_MAX]);

/* layers.c: beside the private layers `id` in `dir`, whose they are and that they are used now. */
void layers_note(int dir, const char *id, struct str key);

/*
 * A warden that is begun as soon as it is decided that there will be a sandbox: it makes namespaces while the rest is looked up, and runs nothing before it has
 * a plan. What cannot be begun is left alone: whoever asks for the sandbox will hear why. *ret stays where it is; sandbox_done() lets go of it.
 */
void build_early(const struct build_input *in, int warden_fd, struct sandbox *ret);

/* Everything but starting it. Warnings about the host go to `diags`. */
int build_make(const struct build_input *in, struct arena *a, struct diags *diags, struct build *ret,
	       struct err *e);

/* What of a decision goes into the walls (or was run in them first), as bytes to compare: another decision with the same needs no other sandbox. */
void build_signature(const struct decision *d, struct buf *out);
/* The same without the key: whose it is. */
void build_walls(const struct decision *d, struct buf *out);

/* A box of this process. */
int build_own(struct build *b, int warden_fd, struct box **ret, struct err *e);

/* The same without waiting for its walls: native_stands() of backend/native.h, or build_stands(). */
int build_begin(struct build *b, int warden_fd, struct box **ret, struct err *e);
/* Waits for them. */
int build_stands(const struct build *b, struct box *box, struct err *e);

/* Several sessions have one sandbox: nothing in it may be one caller's own. */
static inline bool scope_is_shared(enum scope s)
{
	return s == SCOPE_AGENT || s == SCOPE_SHARED;
}

struct build_kept {
	struct str dir;     /* of the session */
	uint64_t idle_s;    /* 0 = never */
	struct str durable; /* what is written about it; goes to the disk a moment after */
};
/* A supervisor that keeps it; its process id. */
int build_kept(struct build *b, const struct build_kept *k, pid_t *ret_pid, struct err *e);
