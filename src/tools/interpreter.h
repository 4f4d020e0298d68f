/* SPDX-License-Identifier: Apache-2.0 */
/*
 * An interpreter that stays: names, imports and the working directory of one code_exec are there for the next. It is a background
 * process of the sandbox (backend/jobs.h), one for each language, and ends with it. Code goes in over its standard input, one text
 * after the other; each answer comes between two marks (tools/frame.h). Several callers at once are served one after the other.
 *
 * A call that is late is interrupted (SIGINT) and the state is kept; only an interpreter that does not care is killed, which is told.
 */
#pragma once

#include "tools/background.h"

struct interpreter {
	const char *name;   /* "python": what it is found by */
	const char *driver; /* the text that runs the texts */
};

/* Runs `code` in the one that is there, or in a new one, which x->programs->argv starts. `reset`: always in a new one. */
int interpreter_run(struct tool_ctx *x, const struct interpreter *i, struct str code, bool reset,
		    struct jsonw *w, struct err *e);

/* What reads texts in each language: "NONCE BYTES\n" and so many bytes. */
extern const char interpreter_python[], interpreter_node[], interpreter_bash[];
