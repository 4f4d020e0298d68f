/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Patches as plain data: what shall become of which files. Two formats are read into it, the agents' ("*** Begin Patch") and
 * unified diffs, git's included. Parsing looks at no file; fitting a hunk into a text looks at nothing else.
 */
#pragma once

#include "base/arena.h"
#include "base/err.h"
#include "base/str.h"

#include <sys/types.h>

#define PATCH_FILES_MAX ((size_t)256)
#define PATCH_LINES_MAX ((size_t)1000000)

enum patch_op { PATCH_UPDATE = 0, PATCH_ADD, PATCH_DELETE };

struct patch_line {
	char kind;       /* ' ', '-', '+' */
	bool bare;       /* an empty line that should have been ' ' */
	struct str text; /* without line end */
};

struct patch_hunk {
	unsigned at_line; /* of the patch, from 1: for messages */
	size_t start;     /* the line of the old file, from 1; 0 = not said */
	struct str *find; /* lines to be found before it, one after the other: the agents' "@@ …" */
	size_t n_find, find_cap;
	struct patch_line *lines;
	size_t n_lines, lines_cap;
	bool at_end;             /* the agents' "*** End of File" */
	bool old_open, new_open; /* the last line has no newline */
};

struct patch_file {
	enum patch_op op;
	unsigned at_line;
	struct str path;
	struct str to; /* moved there; p == NULL: stays */
	bool has_mode;
	mode_t mode; /* 0644 or 0755 */
	bool exact;  /* line numbers and counts were given: a unified diff */
	struct patch_hunk *hunks;
	size_t n_hunks, hunks_cap;
};

struct patch {
	struct patch_file *files;
	size_t n_files, files_cap;
};

/* Whichever of the two it is. Slices of `text`, or of the arena. ERR_USAGE names the line. */
int patch_parse(struct arena *a, struct str text, struct patch *ret, struct err *e);
int patch_parse_agent(struct arena *a, struct str text, struct patch *ret, struct err *e);
int patch_parse_diff(struct arena *a, struct str text, struct patch *ret, struct err *e);

/* The text after the file's hunks, in the arena. ERR_USAGE names the hunk and what does not fit. */
int patch_fit(struct arena *a, const struct patch_file *f, struct str old, struct str *ret, struct err *e);

/* For the parsers: NULL when there is no memory, or too many. */
struct patch_file *patch_add_file(struct arena *a, struct patch *p);
struct patch_hunk *patch_add_hunk(struct arena *a, struct patch_file *f);
bool patch_add_line(struct arena *a, struct patch_hunk *h, char kind, struct str text);

/* The lines of a patch, one by one, without CR and LF at their ends. */
struct patch_reader {
	struct str rest, line;
	unsigned number; /* of `line`, from 1 */
	bool back;       /* the line is to be read again */
};
bool patch_next(struct patch_reader *r);
void patch_unread(struct patch_reader *r);
