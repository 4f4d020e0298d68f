/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A program that goes on while its caller does other things (backend/jobs.h). It is given to whoever keeps the sandbox, and ends
 * with it; the `process` tool looks at it afterwards.
 */
#pragma once

#include "tools/program.h"

#include "backend/jobs.h"

/*
 * Starts it, and waits for so long for its end: then the members are those of program_run(). Otherwise `status` is "running", with
 * sessionId, pid and what it wrote so far. `timed`: the deadline is its own; otherwise it may run for as long as the sandbox.
 */
int background_run(struct tool_ctx *x, const struct program *q, uint64_t wait_ms, bool timed, struct jsonw *w,
		   struct err *e);

/* "running", "completed", "failed", "killed" */
const char *background_status(const struct jobs_info *info);
/* The members that say which one it is and how it is. */
void background_put_info(struct jsonw *w, const struct jobs_info *info);
/* The same for the result of a call that is about this one: while it runs it has no exit. */
void background_say_info(struct tool_ctx *x, struct jsonw *w, const struct jobs_info *info);

/* NULL and *e when this sandbox has no background processes. */
const struct jobs_ops *background_ops(const struct tool_ctx *x, struct err *e);
