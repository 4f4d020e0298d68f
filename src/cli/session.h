/* SPDX-License-Identifier: Apache-2.0 */
/*
 * creel-session: the commands that work on sessions and their sandboxes. It has the tables of creel and its own half of the functions;
 * everything that it does, it asks libcreel for (creel/creel.h), and it knows nothing of the engine behind that.
 */
#pragma once

#include "cli/cli.h"
#include "data/value.h"

#include <creel/creel.h>

/* ---- session_open.c ---- */

DEFINE_CLEANUP(creel_engine, creel_engine_free)
DEFINE_CLEANUP(creel_session, creel_close)

/* With what the common options say, and flags (enum creel_engine_flag). Warnings go to standard error; an error in the configuration is told there, and *e is ERR_NONE then. */
int session_engine(struct cli *cli, unsigned flags, struct creel_engine **ret, struct err *e);
/* The status to end with when that failed: errors that were told already are no error any more. */
int session_failed(int r, const struct err *e);
/* What --session, --agent, --scope and --all choose. */
int session_filter(struct cli *cli, struct creel_filter *f, struct err *e);
/* What the library said, as an error of ours. */
int session_error(const struct creel_error *from, struct err *e);
/* NULL when it was not given; else it ends in a NUL. ERR_USAGE when it is blank or holds a NUL byte. */
int session_text(struct cli *cli, const struct arg_value *v, const char *flag, const char **ret,
		 struct err *e);
/* JSON that the library made, as a tree in cli->arena. */
int session_json(struct cli *cli, const char *json, struct value *ret, struct err *e);

/* ---- toollist.c: what there is to call ---- */

/* The array of creel_tools(). */
int toollist_load(struct cli *cli, struct creel_engine *c, struct value *ret, struct err *e);
/* creel_tool(), and the nearest name when there is none. */
int toollist_choose(struct cli *cli, struct creel_engine *c, struct str name, struct value *ret,
		    struct err *e);

/* ---- toolrow.c: one row of it ---- */

struct str tool_member(const struct value *row, const char *key); /* a text; empty when there is none */
bool tool_has_word(const struct value *list, struct str word, bool nocase);
/* The arguments, each by its name. */
const struct value *tool_properties(const struct value *tool);
const struct member *tool_argument(const struct value *tool, struct str name); /* by any of its names */
bool tool_needs(const struct value *tool, const struct member *argument);
bool tool_argument_takes(const struct member *argument, struct str type);

/* ---- toollist.c again: for people and programs ---- */

void toollist_put(struct cli *cli, const struct value *tools);
void toollist_put_help(struct buf *out, const struct value *tool);
int toollist_put_schema(struct buf *out, const struct value *tool, struct err *e);

/* ---- call_args.c ---- */

#define CALL_INPUT_MAX ((size_t)64 << 20)

/* The words behind the tool's name as one JSON object. */
int call_arguments(struct cli *cli, const struct value *tool, struct str *ret, struct err *e);

/* ---- call_output.c: output as it comes ---- */

struct output {
	struct stream *stream[3]; /* 1 and 2 */
	int failed;               /* errno of the first write that did not work */
	bool any;                 /* something came */
};
int output_open(struct cli *cli, struct output *o, struct err *e);
int output_stream(void *ctx, int stream, const char *data,
		  size_t n); /* a creel_output_fn; ctx is struct output */
void output_close(struct output *o);

/* ---- call_show.c ---- */

/* What a tool that does not stream has to say, for people. */
void call_show(struct cli *cli, const struct value *result, struct output *to);
/* One line on how it went; nothing when there is nothing to say. `told`: so many of its warnings are known already. */
void call_closing_line(const struct cli *cli, const struct value *result, bool streamed, unsigned told,
		       int status);

/* ---- columns.c: tables that stand straight ---- */

#define COLUMNS_MAX 10

struct columns {
	struct arena *arena;
	size_t n;       /* columns */
	unsigned right; /* 1 << i: numbers */
	const char *const *titles;
	struct str *cells; /* n for each row */
	size_t n_cells, cap;
	bool bold;
};
void columns_put(struct columns *c, struct str text); /* the next cell; rows are filled from the left */
void columns_print(const struct columns *c, struct buf *out);

/* "3m", "2h", "5d" and "12M", short enough for a column */
struct str short_age(struct arena *a, uint64_t now_ms, uint64_t then_ms);
struct str short_size(struct arena *a, uint64_t bytes);
/* A member that is a time; null for 0. */
void time_json(struct jsonw *w, const char *key, uint64_t ms);

/* ---- boxes.c: sandboxes that were listed ---- */

struct boxes {
	struct arena *arena;
	struct creel_sandbox *v; /* with texts of their own */
	size_t n, cap;
};
int boxes_add(void *ctx, const struct creel_sandbox *sandbox); /* a creel_sandbox_fn; ctx is struct boxes */
/* "session" where there is one, else the key */
struct str box_name(const struct creel_sandbox *b);
void box_json(struct jsonw *w, const struct creel_sandbox *b);
/* {"KEY": [...]} */
void boxes_json(struct buf *out, const char *key, const struct boxes *all);

/* ---- show.c ---- */

/* Any value as indented lines "name: value", for people. */
void show_value(struct buf *out, const struct value *v, unsigned indent);
