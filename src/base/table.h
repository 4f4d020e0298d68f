/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Plain-text tables for people: columns as wide as what is in them, by display width (a CJK character takes two
 * columns, a combining mark none), two spaces between, no trailing blanks. Control characters and invalid bytes are
 * shown as \xNN, so text from outside cannot move the cursor or fake a row. Not for programs: those get JSON.
 */
#pragma once

#include "base/arena.h"
#include "base/buf.h"

enum table_align { TABLE_LEFT = 0, TABLE_RIGHT };

struct table_col {
	const char *title; /* a literal; no header is printed when every title is NULL */
	enum table_align align;
	size_t max_columns; /* 0 = as wide as its text */
	bool wrap;          /* break too long text at blanks; otherwise it is cut and ends in "…" */
};

struct table {
	struct arena *arena;
	const struct table_col *cols;
	size_t n_cols;
	struct str *cells; /* row by row, already made visible */
	size_t n_cells, cap;
};

/* Cells are copied into the arena. `cols` must outlive the table. Check a->failed at the end. */
void table_init(struct table *t, struct arena *a, const struct table_col *cols, size_t n_cols);

/* The next cell, left to right; after the last column a new row begins. */
void table_cell(struct table *t, struct str text);
void table_printf(struct table *t, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

/* A row of n_cols cells. */
void table_row(struct table *t, const struct str *cells);

/* When the whole is wider than max_columns (0 = no limit), the widest wrapping or else the widest column gives way. */
void table_print(const struct table *t, struct buf *out, size_t max_columns);
