/* SPDX-License-Identifier: Apache-2.0 */
/* What the files of the registry share: the connection, transactions that survive a damaged file, and the columns. */
#pragma once

#include "engine/registry.h"

#include "base/buf.h"
#include "base/fd.h"

#include <sqlite3.h>

enum { TOUCHED_MAX = 64 };

struct touched {
	char key[REGISTRY_KEY_MAX];
	size_t n;
	uint64_t used_ms, calls;
};

struct registry {
	char *dir, *path, *log, *sessions; /* path: of the database; log: beside it */
	int dir_fd, guard; /* guard: shared while a transaction runs, exclusive while the file is exchanged */
	sqlite3 *db;
	uint64_t dev, ino; /* of what db is open on */
	pid_t pid;
	uint32_t wait_ms;
	bool damaged; /* SQLite says so */
	bool lasting; /* what is done waits for the disk */
	char aside[96];
	struct touched *touched;
	size_t n_touched;
	uint64_t touched_since_ms; /* monotonic */
};

/* ---- registry_db.c ---- */

typedef int reg_work(struct registry *r, void *ctx, struct err *e);
/*
 * Does `work` in a transaction (or only under the guard, when nothing is written). When the file turns out to be damaged it is set
 * aside, and the work is done once more with the new one.
 */
int reg_run(struct registry *r, bool writes, reg_work *work, void *ctx, struct err *e);
/* The same, and on the disk when it returns. */
int reg_run_lasting(struct registry *r, reg_work *work, void *ctx, struct err *e);

int reg_prepare(struct registry *r, const char *sql, sqlite3_stmt **ret, struct err *e);
int reg_step(struct registry *r, sqlite3_stmt *st, struct err *e); /* 1 a row, 0 done */
int reg_exec(struct registry *r, const char *sql, struct err *e);
int reg_fail(struct registry *r, const char *what, struct err *e); /* what SQLite has to say */

static inline void reg_stmt_done(sqlite3_stmt **st)
{
	(void)sqlite3_finalize(*st);
}
#define REG_STMT(name) _cleanup_(reg_stmt_done) sqlite3_stmt *name = NULL

/* ---- registry_row.c ---- */

enum col_type { COL_TEXT = 0, COL_U64, COL_BOOT, COL_ENUM };
struct col {
	const char *name;
	enum col_type type;
	size_t at; /* in struct reg_entry */
	const struct enum_name *names;
};
extern const struct col reg_cols[];
extern const size_t reg_n_cols;

int reg_check_entry(const struct reg_entry *entry, struct err *e);
int reg_check_key(struct str key, const char *what, struct err *e);
void reg_bind_text(sqlite3_stmt *st, int at, struct str s);
void reg_bind_u64(sqlite3_stmt *st, int at, uint64_t v);
void reg_bind_entry(sqlite3_stmt *st, const struct reg_entry *entry);
struct str reg_text(sqlite3_stmt *st, int at, struct arena *a);
uint64_t reg_u64(sqlite3_stmt *st, int at);
int reg_read_entry(sqlite3_stmt *st, struct arena *a, struct reg_entry *ret, struct err *e);
/* "key, scope, …" and "?1, ?2, …" */
void reg_put_columns(struct buf *b);

/* ---- within a transaction ---- */
int reg_put_entry(struct registry *r, const struct reg_entry *entry, bool only_newer, struct err *e);
int reg_rescan(struct registry *r, uint64_t *ret_found, uint64_t *ret_unreadable, struct err *e);
bool reg_same_proc(const struct reg_proc *a, const struct reg_proc *b);
