/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The tools that creel carries out itself, each one row of a table: what it is called, what it needs, which arguments it
 * takes. A tool works on struct files or on struct box and on nothing else: it knows no policy and no path of the host, and a program
 * is run exactly as it was decided. Tools of the gateway (message, cron, …) have no row: policy decides about them, nobody runs them.
 *
 * Arguments are checked against the row before the tool sees them: an unknown one, a wrong type, a number out of range is an
 * error that says what is accepted. null is the same as not given.
 *
 * A call of a tool that runs a program is asked about first: tools_ask() says what policy has to judge (words or text, timeout),
 * and what policy made of it comes back in struct tool_programs for tools_run().
 */
#pragma once

#include "backend/backend.h"
#include "backend/files.h"
#include "base/arena.h"
#include "base/err.h"
#include "base/jsonw.h"
#include "data/value.h"
#include "model/decision.h"

enum tool_type {
	TOOL_STR = 0,
	TOOL_INT,
	TOOL_BOOL,
	TOOL_LIST,    /* of objects, whose members are `items` */
	TOOL_NUM,     /* an integer, or a number with a fraction */
	TOOL_STRS,    /* an array of strings */
	TOOL_COMMAND, /* a string for a shell, or an array of strings: the program and its arguments */
	TOOL_MAP,     /* an object whose members are strings */
	TOOL_TYPE_COUNT_
};

struct tool_arg {
	const char *name;
	const char *alias; /* other names that callers know it by, a space between two, or NULL */
	enum tool_type type;
	bool required;
	/* of a number, or of the bytes of a string, or of the items of a list; of TOOL_COMMAND and TOOL_MAP all bytes together */
	int64_t min, max;
	const char *help;
	const struct tool_arg *items;
	size_t n_items;
	const char *words; /* of a string that is one of a few: these, a space between two */
};

#define TOOL_ARGS_MAX 20

/* What was given, in the order of the rows; NULL: not given. */
struct tool_in {
	const struct value *v[TOOL_ARGS_MAX];
};

/* What policy is to judge before anything runs. Slices of the arguments, and of the arena. */
struct tool_ask {
	struct strs argv;
	struct str command; /* instead of argv: for a shell to read */
	struct str path;    /* of tools that work on one file or directory, for the log */
	bool has_timeout;
	uint64_t timeout_s;
	bool wants_elevated;
	bool passive; /* it starts no program and feeds none */
};

/* stream 1 or 2. Anything but 0 cancels the call. */
typedef int tool_output_fn(void *ctx, int stream, struct str bytes);

/* What came of a program; all zero when the tool ran none to its end. */
struct tool_end {
	bool ran; /* `end` is how it ended */
	int exit; /* for a command line: status, 128 + signal, 124 timeout, 126 not executable, 127 not found */
	char error
		[32]; /* empty: it ended with 0, or the message says all. exit_N, signal_N, timeout, cancelled, lost */
	struct box_end end; /* with what it used */
};

/* What the tools that run programs see and take besides: all of it decided. Texts are borrowed, and may hold secrets: env is copied nowhere. */
/*
 * What one program leaves for the next, whosever that is, all of it to save time: pipes that nobody has used, made while there was nothing else to do.
 * Zero is none. Kept by whoever makes the calls, one after the other; tools_forget() closes it.
 */
struct tool_memory {
	bool has_pipes;
	int pipes[2][2]; /* as collect.c makes them: ours, theirs */
};
void tools_forget(struct tool_memory *m);

struct tool_programs {
	struct box *box;
	struct tool_memory *memory;      /* NULL = none */
	struct strs argv;                /* decision.tool.argv: this is run, nothing else */
	bool own_shell;                  /* decision.tool.own_shell */
	struct strs env;                 /* NAME=value */
	struct str path;                 /* where a program without a slash is looked for */
	struct str workdir;              /* inside */
	uint64_t timeout_ms;             /* of this call, as decided; 0 = none */
	uint64_t grace_ms;               /* between TERM and KILL then; 0 = KILL at once */
	uint64_t stdout_max, stderr_max; /* bytes of the result; 0 = TOOLS_STREAM_MAX */
	uint64_t spill_max;     /* of each stream beyond that, for `process log`; 0 = TOOLS_SPILL_MAX */
	int spill_dir;          /* a directory for unnamed files; 0 or negative = in memory */
	bool apart;             /* struct box_call has it: the environment holds secrets */
	int cancel_fd;          /* the call is cancelled when it can be read; 0 or negative = none */
	tool_output_fn *output; /* what the program writes, as it comes; may be NULL */
	void *output_ctx;
	struct tool_end end; /* out */
};
#define TOOLS_STREAM_MAX 80000
#define TOOLS_SPILL_MAX ((uint64_t)8 << 20)

/* What a call may see and take. */
struct tool_ctx {
	struct files *files;
	struct arena *arena; /* of this call */
	struct str work; /* the workspace as the sandbox names it, where relative paths start: "/workspace" */
	struct str below; /* a directory in it where they start instead; empty = at its top */
	bool work_only;   /* no path may leave the workspace */
	bool durable;     /* a write that has been told is there after a power cut */
	/* limits.read, limits.read_max and limits.write of the decision; 0 = as they are by default */
	uint64_t read_bytes, read_max, write_max;
	uint64_t deadline_ms;           /* of clock_mono_ms(); 0 or CLOCK_NEVER: the tool's own bound alone */
	struct tool_programs *programs; /* NULL: tools that run programs are not available */
	/* Out: members that every result has, and that the tool has written itself. */
	bool says_end;       /* exit and reason */
	bool says_artifacts; /* artifacts */
};

struct tool {
	const char *name;
	const char *alias; /* other names, a space between two, or NULL */
	unsigned needs;    /* CAP_BIT()s */
	const struct tool_arg *args;
	size_t n_args;
	const char *limits;
	const char *help;
	int (*run)(struct tool_ctx *x, const struct tool_in *in, struct jsonw *w, struct err *e);
	/* NULL: there is nothing in the arguments that policy has to judge. */
	int (*ask)(struct arena *a, const struct tool_in *in, struct tool_ask *ret, struct err *e);
	bool looks_after; /* background processes: who may see those of all is shown them by this tool, and by no other */
};

/* By name or alias, any case; NULL when there is none. */
const struct tool *tools_find(struct str name);
size_t tools_count(void);
const struct tool *tools_at(size_t i);
/* ERR_UNAVAIL when it has a row and nothing behind it, so that nobody makes a sandbox for it. */
int tools_check_built(const struct tool *t, struct err *e);

/* Checks the arguments (an object, or NULL for none) and says what policy has to judge; nothing runs. */
int tools_ask(const struct tool *t, struct arena *a, const struct value *args, struct tool_ask *ret,
	      struct err *e);

/*
 * Checks the arguments again, does the work, and writes the tool's own members into the object that
 * `w` is in. On failure what was written has no meaning.
 */
int tools_run(const struct tool *t, struct tool_ctx *x, const struct value *args, struct jsonw *w,
	      struct err *e);

/* The result of a job as sandbox-guard names it: its exit status and its word for the error. */
struct tools_job {
	int exit;
	const char *error; /* NULL: none */
	bool takes_detail; /* "word:detail": the program, or why */
};
struct tools_job tools_job_result(const struct err *e);   /* file_read, file_write */
struct tools_job tools_shell_result(const struct err *e); /* shell_exec that did not start */
struct tools_job tools_job_end(
	const struct tool_end *end);                /* shell_exec that ran; `error` lives as long as *end */
struct tools_job tools_job_refusal(enum code code); /* what policy refused */
