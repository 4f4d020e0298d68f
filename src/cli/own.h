/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the commands that work on creel's own files need: the configuration that says where they are, and the directories. They run in
 * creel-session, and look at the files themselves; nothing here starts or ends a sandbox.
 */
#pragma once

#include "cli/cli.h"
#include "prepare/prepare.h"

#define OWN_PATH_MAX 4096

struct own {
	struct cli *cli;
	struct facts facts;
	struct config config;
	struct diags diags;
	struct state_dir state;
};

/* Warnings go to standard error; errors in the configuration too, and *e is ERR_NONE then (session_failed()). */
int own_load(struct cli *cli, struct own *ret, struct err *e);
/* The directory of the audit log; `make`: what is above it, where it is missing. */
int own_audit_dir(struct own *o, bool make, char out[static OWN_PATH_MAX], struct err *e);

/* To record something in it. */
struct audit;
int own_audit_open(struct own *o, struct audit **ret, struct err *e);

/* ---- audit_filter.c: which records are meant ---- */

#define FILTER_OPEN_MAX 1024u
#define FILTER_KEYS_MAX 64u

struct value;
struct audit_filter {
	struct str session, agent, tool, request; /* empty = any */
	struct str since;                         /* as a record has its time; empty = ever */
	bool denied;
	/* What was learned on the way: an end names its decision, and a sandbox has a key alone. */
	uint64_t *open; /* FILTER_OPEN_MAX of them: decisions that were meant; the oldest are forgotten */
	size_t next_open;
	struct str keys[FILTER_KEYS_MAX]; /* of their sandboxes */
	size_t n_keys;
	struct arena *arena; /* of the keys */
};
/* --session, --agent, --tool, --request, --since and --denied. ERR_USAGE. */
int filter_init(struct audit_filter *f, struct cli *cli, struct err *e);
/* Records have to come in their order. */
bool filter_takes(struct audit_filter *f, uint64_t seq, const struct value *record);

/* A member of it; empty or 0 when there is none of that kind. */
struct str record_text(const struct value *record, const char *key);
int64_t record_number(const struct value *record, const char *key);

/* ---- audit_rows.c: one line for each ---- */

#define AUDIT_CELL_MAX ((size_t)128 << 10)
void audit_row_title(struct buf *out, bool bold);
void audit_row_put(struct buf *out, struct arena *a, const struct value *record);
/* The line as it stands in the log; for a terminal with everything invisible as \uNNNN, which reads the same. */
void audit_line_put(struct buf *out, struct str line, bool terminal);
