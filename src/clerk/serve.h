/* SPDX-License-Identifier: Apache-2.0 */
/* What the clerk does with a request. It remembers the stages and lists that were begun, in tables of fixed size. */
#pragma once

#include "backend/files_dir.h"
#include "clerk/request.h"

struct answer {
	struct clerk_reply head;
	char entries[CLERK_MESSAGE_MAX - sizeof(struct clerk_reply)];
	int fd;    /* to send, or FD_NONE */
	bool give; /* it is not ours any more afterwards */
};

struct list {
	int dir; /* FD_NONE: free */
	unsigned flags;
};

struct clerk {
	struct files_dir dir;
	struct files_stage stages[CLERK_STAGES_MAX];
	bool taken[CLERK_STAGES_MAX];
	struct list lists[CLERK_LISTS_MAX];
	struct answer answer;
};

/* "/" and where relative paths start, both borrowed. */
void clerk_init(struct clerk *c, int root, int work);
/* c->answer is filled; its fd is to be closed after it was sent, when `give` says so. */
void clerk_serve(struct clerk *c, const struct request *r);
/* Everything that was begun and not ended. */
void clerk_done(struct clerk *c);
