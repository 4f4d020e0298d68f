/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A box that a keeper holds (backend/keeper.h), reached over its socket. The standard streams of a call go through as descriptors: what
 * it writes never passes the keeper. Each client hears of its own calls alone; when it goes, by whatever way, its foreground calls are
 * ended as whole trees, and background jobs (backend/jobs.h) go on.
 */
#pragma once

#include "backend/backend.h"

/* ERR_NOTFOUND: nobody listens in `dir` (no keeper was started, or it has gone). ERR_DENIED: it is not ours. */
int kept_open(struct str dir, struct box **ret, struct err *e);
/* The same for who does not want to wait long for its answers: ERR_LIMIT after so long. */
int kept_open_hasty(struct str dir, uint64_t answer_ms, struct box **ret, struct err *e);
/* The process at the other end; 0 when it cannot be seen from here. */
pid_t kept_peer(const struct box *b);
