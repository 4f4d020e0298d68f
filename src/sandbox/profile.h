/* SPDX-License-Identifier: Apache-2.0 */
/*
 * decision + this host -> profile. Everything that the decision names is opened here, once, and asked about again under its
 * resolved name; what is missing and may be missing is left out and said so. Nothing is created in the user's tree.
 */
#pragma once

#include "base/arena.h"
#include "base/err.h"
#include "model/decision.h"
#include "model/diag.h"
#include "model/profile.h"

/* 0 is what is asked about most. */
enum source_use {
	SOURCE_BIND = 0,
	SOURCE_BIND_WRITTEN, /* one that is writable */
	SOURCE_SHOWN,        /* a workspace that the host's files are safe in */
	SOURCE_WRITTEN,      /* one with access rw */
	SOURCE_IMAGE,        /* the root of a sandbox */
};

struct profile_input {
	const struct decision *decision;
	struct strs argv, env;  /* NAME=value, ready */
	bool serve;             /* neither: calls are made later (sandbox/warm.h) */
	struct str image;       /* a directory that holds a root; empty = the host's own /usr */
	struct str private_dir; /* the warden makes it: upper and work of overlays lie in it */
	bool private_stays;     /* and uses one that is there, and leaves it there */
	struct str gitconfig;   /* for /etc/gitconfig, where the decision grants git */
	struct profile_tty tty;
	uint32_t uid, gid; /* of whoever asked */
	bool root;         /* and he is root_of_host() */
	/* May this resolved path be seen inside, as a bind or as a workspace? False with *why filled when not. */
	bool (*allowed)(void *ctx, struct str resolved, enum source_use use, struct str *why);
	void *ctx;
};

int profile_make(const struct profile_input *in, struct arena *a, struct diags *warnings, struct profile *ret,
		 struct err *e);
