/* SPDX-License-Identifier: Apache-2.0 */
/* What the tools share. */
#pragma once

#include "tools/tool.h"

/* A file that is edited, patched or searched is held in memory whole. */
#define TOOLS_FILE_BYTES ((size_t)16 << 20)

/* What struct tool_ctx says when it says nothing: the defaults of the options. */
#define TOOLS_READ_BYTES 200000
#define TOOLS_READ_MAX 2000000
#define TOOLS_WRITE_MAX 2000000

/* The rows of table.c, by number. */
enum { READ_PATH, READ_OFFSET, READ_LIMIT, READ_BYTE_OFFSET, READ_BYTE_LIMIT, READ_N_ };
enum { WRITE_PATH, WRITE_CONTENT, WRITE_APPEND, WRITE_N_ };
enum { EDIT_PATH, EDIT_OLD, EDIT_NEW, EDIT_ALL, EDIT_EDITS, EDIT_N_ };
enum { ONE_EDIT_OLD, ONE_EDIT_NEW, ONE_EDIT_ALL, ONE_EDIT_N_ };
enum { PATCH_INPUT, PATCH_N_ };
enum { LS_PATH, LS_DEPTH, LS_RECURSIVE, LS_LIMIT, LS_N_ };
enum {
	SEARCH_PATTERN,
	SEARCH_PATH,
	SEARCH_GLOB,
	SEARCH_LITERAL,
	SEARCH_IGNORE_CASE,
	SEARCH_CONTEXT,
	SEARCH_LIMIT,
	SEARCH_DEPTH,
	SEARCH_IGNORED,
	SEARCH_BINARY,
	SEARCH_N_
};
enum { FILE_READ_PATH, FILE_READ_MAX, FILE_READ_N_ };
enum { FILE_WRITE_PATH, FILE_WRITE_CONTENT, FILE_WRITE_N_ };
enum {
	EXEC_COMMAND,
	EXEC_WORKDIR,
	EXEC_ENV,
	EXEC_STDIN,
	EXEC_TIMEOUT,
	EXEC_PTY,
	EXEC_BACKGROUND,
	EXEC_YIELD,
	EXEC_ELEVATED,
	EXEC_HOST,
	EXEC_SECURITY,
	EXEC_ASK,
	EXEC_N_
};
enum {
	PROCESS_ACTION,
	PROCESS_ID,
	PROCESS_TIMEOUT,
	PROCESS_OFFSET,
	PROCESS_LIMIT,
	PROCESS_BYTE_OFFSET,
	PROCESS_BYTE_LIMIT,
	PROCESS_STREAM,
	PROCESS_DATA,
	PROCESS_EOF,
	PROCESS_KEYS,
	PROCESS_HEX,
	PROCESS_LITERAL,
	PROCESS_TEXT,
	PROCESS_BRACKETED,
	PROCESS_SIGNAL,
	PROCESS_N_
};
enum { SHELL_CMD, SHELL_TIMEOUT, SHELL_N_ };
enum {
	SCRIPT_LANGUAGE,
	SCRIPT_CODE,
	SCRIPT_ARGS,
	SCRIPT_STDIN,
	SCRIPT_WORKDIR,
	SCRIPT_TIMEOUT,
	SCRIPT_SESSION,
	SCRIPT_RESET,
	SCRIPT_N_
};
enum { GIT_COMMAND, GIT_WORKDIR, GIT_STDIN, GIT_TIMEOUT, GIT_N_ };

int tool_read(struct tool_ctx *x, const struct tool_in *in, struct jsonw *w, struct err *e);
int tool_write(struct tool_ctx *x, const struct tool_in *in, struct jsonw *w, struct err *e);
int tool_edit(struct tool_ctx *x, const struct tool_in *in, struct jsonw *w, struct err *e);
int tool_apply_patch(struct tool_ctx *x, const struct tool_in *in, struct jsonw *w, struct err *e);
int tool_ls(struct tool_ctx *x, const struct tool_in *in, struct jsonw *w, struct err *e);
int tool_search(struct tool_ctx *x, const struct tool_in *in, struct jsonw *w, struct err *e);
int tool_file_read(struct tool_ctx *x, const struct tool_in *in, struct jsonw *w, struct err *e);
int tool_file_write(struct tool_ctx *x, const struct tool_in *in, struct jsonw *w, struct err *e);
int tool_exec(struct tool_ctx *x, const struct tool_in *in, struct jsonw *w, struct err *e);
int tool_exec_ask(struct arena *a, const struct tool_in *in, struct tool_ask *ret, struct err *e);
int tool_process_ask(struct arena *a, const struct tool_in *in, struct tool_ask *ret, struct err *e);
int tool_shell_exec(struct tool_ctx *x, const struct tool_in *in, struct jsonw *w, struct err *e);
int tool_shell_exec_ask(struct arena *a, const struct tool_in *in, struct tool_ask *ret, struct err *e);
int tool_code_exec(struct tool_ctx *x, const struct tool_in *in, struct jsonw *w, struct err *e);
int tool_code_exec_ask(struct arena *a, const struct tool_in *in, struct tool_ask *ret, struct err *e);
int tool_git(struct tool_ctx *x, const struct tool_in *in, struct jsonw *w, struct err *e);
int tool_git_ask(struct arena *a, const struct tool_in *in, struct tool_ask *ret, struct err *e);
int tool_process(struct tool_ctx *x, const struct tool_in *in, struct jsonw *w, struct err *e);
int tool_unavailable(struct tool_ctx *x, const struct tool_in *in, struct jsonw *w, struct err *e);

/* table.c: the rows of one of edit's edits */
const struct tool_arg *tools_edit_rows(void);

/* args.c. `where` names whose arguments they are. Absent: an empty slice with p == NULL, `def`, false. */
int tools_check_args(const char *where, const struct tool_arg *rows, size_t n_rows, const struct value *args,
		     struct tool_in *ret, struct err *e);
struct str tools_str(const struct tool_in *in, size_t row);
int64_t tools_int(const struct tool_in *in, size_t row, int64_t def);
bool tools_bool(const struct tool_in *in, size_t row);
/* Is it one of `words`, which have a space between two? NULL has none. */
bool tools_has_word(const char *words, struct str name, bool nocase);

/* path.c: what to hand to struct files, in the arena; and an errno of struct files in words: "cannot read 'a': …". */
int tools_path(struct tool_ctx *x, struct str said, const char **ret, struct err *e);
int tools_say(struct err *e, int r, const char *verb, struct str said);

/* What the call has made or told: one of `artifacts`, and the whole member for one file alone. */
void tools_put_artifact(struct jsonw *w, struct str path, const char *type);
void tools_say_artifact(struct tool_ctx *x, struct jsonw *w, struct str path, const char *type);

/* text.c */
struct text {
	char *p; /* with a NUL behind it */
	size_t n;
};
void text_done(struct text *t);
#define _cleanup_text_ _cleanup_(text_done)
static inline struct str text_str(const struct text *t)
{
	return (struct str){ .p = t->p ? t->p : "", .n = t->n };
}
/* From `at` until the end or `max` bytes, whichever comes first; `size` is where the end is expected to be. */
int text_read(int fd, uint64_t at, size_t max, uint64_t size, struct text *ret);
/* The same of what struct files has got, wherever it lies; and the front of it, after which nothing but its end may be asked for. */
int content_part(const struct files_content *c, uint64_t at, size_t max, struct text *ret);
int content_take(struct files_content *c, size_t max, struct text *ret);
void content_done(struct files_content *c);
#define CONTENT_NONE ((struct files_content){ .fd = FD_NONE })
#define _cleanup_content_ _cleanup_(content_done)
/* A whole file for editing; ERR_LIMIT when it has more than TOOLS_FILE_BYTES. */
int tools_load(struct tool_ctx *x, struct str said, const char *path, struct text *ret,
	       struct files_stat *ret_st, struct err *e);
size_t text_count_lines(struct str s); /* a last line without newline counts */
/* The next line with its newline, off the front of *rest; false at the end. */
bool text_next_line(struct str *rest, struct str *ret);
/* Lines end in CR LF, all of them, and there is at least one. */
bool text_is_crlf(struct str s);
/* How many bytes at the end begin a code point whose rest is not there, and how many that rest has. */
size_t text_stump(struct str s, size_t *ret_missing);
void text_put_base64(struct jsonw *w, struct str bytes);

/* write.c */
int tools_check_write(const struct tool_ctx *x, struct str said, struct str content,
		      struct err *e); /* its size */
/* The new content of a file that was read as `seen` (NULL: whatever is there), atomically. */
int tools_replace(struct tool_ctx *x, struct str said, const char *path, struct str content,
		  const struct files_stat *seen, bool *ret_created, struct err *e);

/* mime.c: by content alone; never by name. */
struct mime {
	const char *name;
	bool text, image;
};
struct mime mime_of(struct str head);

bool tools_late(const struct tool_ctx *x);
