/* SPDX-License-Identifier: Apache-2.0 */
#include "tools/tools_priv.h"

#include "model/names.h"

#include <assert.h>

#define PATH_LONGEST (FILES_PATH_MAX - 1)
#define NUMBER_MAX ((int64_t)1 << 53) /* what JavaScript can still count to */
#define TEXT_MAX ((int64_t)1 << 30)
#define ANY 0, 0

/* clang-format off */
static const struct tool_arg read_args[] = {
	/*                     name          alias        type       needed min max           help */
	[READ_PATH]        = { "path",       "file_path", TOOL_STR,  true,  0, PATH_LONGEST,  "the file, relative to the workspace or absolute in the sandbox" },
	[READ_OFFSET]      = { "offset",     NULL,        TOOL_INT,  false, 1, NUMBER_MAX,    "the first line, from 1" },
	[READ_LIMIT]       = { "limit",      NULL,        TOOL_INT,  false, 1, NUMBER_MAX,    "how many lines" },
	[READ_BYTE_OFFSET] = { "byteOffset", NULL,        TOOL_INT,  false, 0, NUMBER_MAX,    "the first byte, from 0" },
	[READ_BYTE_LIMIT]  = { "byteLimit",  NULL,        TOOL_INT,  false, 1, NUMBER_MAX,    "how many bytes" },
};
static const struct tool_arg write_args[] = {
	[WRITE_PATH]       = { "path",       "file_path", TOOL_STR,  true,  0, PATH_LONGEST,  "the file; directories on the way are made" },
	[WRITE_CONTENT]    = { "content",    NULL,        TOOL_STR,  true,  0, TEXT_MAX,      "all that the file shall hold" },
	[WRITE_APPEND]     = { "append",     NULL,        TOOL_BOOL, false, ANY,              "put it at the end of what is there" },
};
static const struct tool_arg one_edit_args[] = {
	[ONE_EDIT_OLD]     = { "oldText",    "old_string",  TOOL_STR,  true,  0, TEXT_MAX,    "what is there, exactly" },
	[ONE_EDIT_NEW]     = { "newText",    "new_string",  TOOL_STR,  true,  0, TEXT_MAX,    "what shall be there" },
	[ONE_EDIT_ALL]     = { "replaceAll", "replace_all", TOOL_BOOL, false, ANY,            "everywhere, not at one place alone" },
};
static const struct tool_arg edit_args[] = {
	[EDIT_PATH]        = { "path",       "file_path",   TOOL_STR,  true,  0, PATH_LONGEST, "the file" },
	[EDIT_OLD]         = { "oldText",    "old_string",  TOOL_STR,  false, 0, TEXT_MAX,     "what is there, exactly, at one place" },
	[EDIT_NEW]         = { "newText",    "new_string",  TOOL_STR,  false, 0, TEXT_MAX,     "what shall be there" },
	[EDIT_ALL]         = { "replaceAll", "replace_all", TOOL_BOOL, false, ANY,             "everywhere, not at one place alone" },
	[EDIT_EDITS]       = { "edits",      NULL,          TOOL_LIST, false, 1, 1000,         "several, one after the other, all or none",
	                       one_edit_args, ONE_EDIT_N_ },
};
static const struct tool_arg patch_args[] = {
	[PATCH_INPUT]      = { "input",      "patch",     TOOL_STR,  true,  0, (int64_t)TOOLS_FILE_BYTES, "the patch: '*** Begin Patch' … '*** End Patch', or a unified diff" },
};
static const struct tool_arg ls_args[] = {
	[LS_PATH]          = { "path",       NULL,        TOOL_STR,  false, 0, PATH_LONGEST,  "the directory; the workspace unless given" },
	[LS_DEPTH]         = { "depth",      NULL,        TOOL_INT,  false, 1, 64,            "how many levels; 1 unless given, 32 with recursive" },
	[LS_RECURSIVE]     = { "recursive",  NULL,        TOOL_BOOL, false, ANY,              "directories below it, too" },
	[LS_LIMIT]         = { "limit",      NULL,        TOOL_INT,  false, 1, 10000,         "how many entries; 1000 unless given" },
};
static const struct tool_arg search_args[] = {
	[SEARCH_PATTERN]     = { "pattern",    "query",     TOOL_STR,  false, 1, 4096,         "what a line must hold: a regular expression (PCRE2)" },
	[SEARCH_PATH]        = { "path",       NULL,        TOOL_STR,  false, 0, PATH_LONGEST, "where: a directory or one file; the workspace unless given" },
	[SEARCH_GLOB]        = { "glob",       "include",   TOOL_STR,  false, 1, 1024,         "which names: *.c, src/**/*.{ts,tsx}; alone it lists the files" },
	[SEARCH_LITERAL]     = { "literal",    NULL,        TOOL_BOOL, false, ANY,             "the pattern is plain text" },
	[SEARCH_IGNORE_CASE] = { "ignoreCase", NULL,        TOOL_BOOL, false, ANY,             "upper and lower case are the same" },
	[SEARCH_CONTEXT]     = { "context",    NULL,        TOOL_INT,  false, 0, 20,           "how many lines around each match" },
	[SEARCH_LIMIT]       = { "limit",      NULL,        TOOL_INT,  false, 1, 10000,        "how many matches or files; 100 unless given" },
	[SEARCH_DEPTH]       = { "depth",      NULL,        TOOL_INT,  false, 1, 64,           "how many levels of directories; 64 unless given" },
	[SEARCH_IGNORED]     = { "ignored",    NULL,        TOOL_BOOL, false, ANY,             "also .git, node_modules and what .gitignore and .ignore name" },
	[SEARCH_BINARY]      = { "binary",     NULL,        TOOL_BOOL, false, ANY,             "also files that are no text" },
};
static const struct tool_arg file_read_args[] = {
	[FILE_READ_PATH]     = { "path",      NULL, TOOL_STR, true,  0, PATH_LONGEST,  "the file, relative to the workspace" },
	[FILE_READ_MAX]      = { "max_bytes", NULL, TOOL_INT, false, 1, 2000000,       "how many bytes; 200000 unless given" },
};
static const struct tool_arg file_write_args[] = {
	[FILE_WRITE_PATH]    = { "path",      NULL, TOOL_STR, true,  0, PATH_LONGEST,  "the file, relative to the workspace" },
	[FILE_WRITE_CONTENT] = { "content",   NULL, TOOL_STR, true,  0, 2000000,       "all that the file shall hold" },
};

#define ARGS(rows) rows, sizeof(rows) / sizeof((rows)[0])
#define READS CAP_BIT(CAP_FS_READ)
#define WRITES CAP_BIT(CAP_FS_WRITE)

static const struct tool table[] = {
	{ "read", NULL, READS, ARGS(read_args),
	  "limits.read bytes unless told, limits.read_max at most",
	  "a part of a file, by lines or by bytes; an image as it is", tool_read },
	{ "write", NULL, WRITES, ARGS(write_args),
	  "limits.write_max bytes",
	  "the content of a file, at once: readers see the old or the new", tool_write },
	{ "edit", NULL, WRITES, ARGS(edit_args),
	  "a file of 16 MiB, 1000 edits",
	  "replaces text that is there exactly once; several edits are all made or none", tool_edit },
	{ "apply_patch", "apply-patch", WRITES, ARGS(patch_args),
	  "files of 16 MiB each, 256 of them, 128 MiB in all",
	  "a patch over several files: all of it or nothing", tool_apply_patch },
	{ "ls", NULL, READS, ARGS(ls_args),
	  "10000 entries, 64 levels",
	  "what is in a directory, sorted, with types and sizes", tool_ls },
	{ "search", NULL, READS, ARGS(search_args),
	  "10000 matches, files of 16 MiB, 10 seconds, 64 levels",
	  "lines that hold a pattern, or files by name; links are not followed", tool_search },
	{ "file_read", NULL, READS, ARGS(file_read_args),
	  "2000000 bytes", "a file of the workspace as sandbox-guard's callers ask for it", tool_file_read },
	{ "file_write", NULL, WRITES, ARGS(file_write_args),
	  "2000000 bytes", "a file of the workspace as sandbox-guard's callers give it", tool_file_write },
};
/* clang-format on */

#define CHECK_ROWS(rows, n)                                                            \
	static_assert(sizeof(rows) / sizeof((rows)[0]) == (n) && (n) <= TOOL_ARGS_MAX, \
		      "every argument has a row")
CHECK_ROWS(read_args, READ_N_);
CHECK_ROWS(write_args, WRITE_N_);
CHECK_ROWS(one_edit_args, ONE_EDIT_N_);
CHECK_ROWS(edit_args, EDIT_N_);
CHECK_ROWS(patch_args, PATCH_N_);
CHECK_ROWS(ls_args, LS_N_);
CHECK_ROWS(search_args, SEARCH_N_);
CHECK_ROWS(file_read_args, FILE_READ_N_);
CHECK_ROWS(file_write_args, FILE_WRITE_N_);

const struct tool_arg *tools_edit_rows(void)
{
	return one_edit_args;
}

size_t tools_count(void)
{
	return sizeof(table) / sizeof(table[0]);
}

const struct tool *tools_at(size_t i)
{
	return &table[i];
}

const struct tool *tools_find(struct str name)
{
	for (size_t i = 0; i < tools_count(); i++)
		if (str_eq_nocase(name, str_z(table[i].name)) || tools_has_word(table[i].alias, name, true))
			return &table[i];
	return NULL;
}
