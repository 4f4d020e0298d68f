/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One program in a box, from its start to its end: feeds what it is to read, takes what it writes on both streams at the same time,
 * hands it on as it comes, and keeps what fits. Memory is bounded whatever the program does. Its end is the end: nobody waits for
 * what else may hold its streams. When it is cancelled or late its whole tree is ended, and what it wrote until then is kept.
 *
 * Waits for the program, and runs no other call meanwhile. Decides nothing.
 */
#pragma once

#include "tools/capture.h"
#include "tools/tool.h"

#include "backend/backend.h"

struct collect_spec {
	struct box_call call;       /* its stdio is made here */
	struct tool_memory *memory; /* NULL = none */
	bool has_input;             /* otherwise /dev/null; a terminal is told the end of input either way */
	struct str input;
	size_t out_max, err_max; /* bytes that are kept */
	uint64_t spill_max;      /* 0 = nothing beyond */
	int spill_dir;           /* negative = in memory */
	int cancel_fd;           /* negative = none */
	tool_output_fn *
		output; /* may block: the program waits then, and nothing is lost; its deadline does not wait */
	void *ctx;
};

struct collected {
	struct capture out, err; /* a terminal has only `out` */
	struct box_end end;
	struct err lost; /* why, when the box has gone with it */
};
void collected_done(struct collected *c);
#define _cleanup_collected_ _cleanup_(collected_done)

/* 0 when it has run, however it ended. Negative: it did not start (as BOX_FAILED says), or we could not take its output. */
int collect_run(struct box *b, const struct collect_spec *spec, struct collected *ret, struct err *e);
