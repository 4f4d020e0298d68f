/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the tools that run programs share: where a program starts, what environment it has, and how its end is told.
 * What is run is what was decided (struct tool_programs); a caller can only add variables that nobody decided about.
 */
#pragma once

#include "tools/collect.h"
#include "tools/tools_priv.h"

#define PROGRAM_ARG_MAX ((int64_t)131071) /* of one argument, as the kernel has it */
#define PROGRAM_BYTES_MAX ((int64_t)2 << 20)
#define PROGRAM_INPUT_MAX ((int64_t)64 << 20)
#define PROGRAM_ENV_MAX 256

/* What a call asks for besides. */
struct program {
	struct str cwd;          /* empty = the workspace; relative to it, or absolute inside */
	const struct value *env; /* TOOL_MAP, or NULL */
	bool has_input;
	struct str input;
	bool pty;
	size_t characters; /* not 0: only the front of each stream, of so many characters, as sandbox-guard cuts it */
};

/* The call as it was decided, with what `q` adds; its texts are in the arena. ERR_UNAVAIL when there is no box. */
int program_call(struct tool_ctx *x, const struct program *q, struct box_call *ret, struct err *e);

/* Runs it to its end, writes its members, and says in x->programs->end what came of it. */
int program_run(struct tool_ctx *x, const struct program *q, struct jsonw *w, struct err *e);

/* How it ended, for x->programs->end and the members exit, reason, signal. */
void program_end(struct tool_programs *p, const struct box_end *end);
void program_failed(struct tool_programs *p, const struct err *e); /* it did not even start */
void program_put_end(struct jsonw *w, const struct tool_programs *p);
void program_say_end(struct tool_ctx *x, struct jsonw *w); /* as the end of the call itself */

/* One stream: KEY, KEYBytes, KEYTruncated. `log`: who has the rest; empty = nobody. */
void program_put_stream(struct jsonw *w, const char *key, const struct capture *c, struct str log);

/* For policy: the words of an array of strings, each fit for the kernel. */
int program_words(struct arena *a, const struct value *v, struct strs *ret, struct err *e);
