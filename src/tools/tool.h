/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The tools that creel carries out itself, each one row of a table: what it is called, what it needs, which arguments it
 * takes. A tool works on struct files and on nothing else: it knows no sandbox, no policy and no path of the host.
 *
 * Arguments are checked against the row before the tool sees them: an unknown one, a wrong type, a number out of range is an
 * error that says what is accepted. null is the same as not given.
 */
#pragma once

#include "backend/files.h"
#include "base/arena.h"
#include "base/err.h"
#include "base/jsonw.h"
#include "data/value.h"

enum tool_type {
	TOOL_STR = 0,
	TOOL_INT,
	TOOL_BOOL,
	TOOL_LIST, /* of objects, whose members are `items` */
};

struct tool_arg {
	const char *name;
	const char *alias; /* another name that callers know it by, or NULL */
	enum tool_type type;
	bool required;
	int64_t min, max; /* of an integer, or of the bytes of a string, or of the items of a list */
	const char *help;
	const struct tool_arg *items;
	size_t n_items;
};

#define TOOL_ARGS_MAX 12

/* What was given, in the order of the rows; NULL: not given. */
struct tool_in {
	const struct value *v[TOOL_ARGS_MAX];
};

/* What a call may see and take. */
struct tool_ctx {
	struct files *files;
	struct arena *arena; /* of this call */
	struct str work; /* the workspace as the sandbox names it, where relative paths start: "/workspace" */
	bool work_only;  /* no path may leave the workspace */
	bool durable;    /* a write that has been told is there after a power cut */
	/* limits.read, limits.read_max and limits.write of the decision; 0 = as they are by default */
	uint64_t read_bytes, read_max, write_max;
	uint64_t deadline_ms; /* of clock_mono_ms(); 0 or CLOCK_NEVER: the tool's own bound alone */
};

struct tool {
	const char *name;
	const char *alias; /* or NULL */
	unsigned needs;    /* CAP_BIT()s */
	const struct tool_arg *args;
	size_t n_args;
	const char *limits;
	const char *help;
	int (*run)(struct tool_ctx *x, const struct tool_in *in, struct jsonw *w, struct err *e);
};

/* By name or alias, any case; NULL when there is none. */
const struct tool *tools_find(struct str name);
size_t tools_count(void);
const struct tool *tools_at(size_t i);

/*
 * Checks the arguments (an object, or NULL for none), does the work, and writes the tool's own members into the object that
 * `w` is in. On failure what was written has no meaning.
 */
int tools_run(const struct tool *t, struct tool_ctx *x, const struct value *args, struct jsonw *w,
	      struct err *e);

/* The result of a job as sandbox-guard names it: its exit status and its word for the error. */
struct tools_job {
	int exit;
	const char *error; /* NULL: none */
};
struct tools_job tools_job_result(const struct err *e);
