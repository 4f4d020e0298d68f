/* SPDX-License-Identifier: Apache-2.0 */
#include "tools/program.h"

#include "backend/jobs.h"
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
	[SEARCH_PATH]        = { "path",       NULL,        TOOL_STR,  false, 0, PATH_LONGEST, "where: a directory or one file; the workspace unless given; what is found begins with it" },
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
static const struct tool_arg exec_args[] = {
	[EXEC_COMMAND]       = { "command",    "cmd",        TOOL_COMMAND, true,  0, PROGRAM_BYTES_MAX, "what to run: a text for a shell, or the program and its arguments" },
	[EXEC_WORKDIR]       = { "workdir",    "cwd",        TOOL_STR,  false, 0, PATH_LONGEST,      "where; the workspace unless given" },
	[EXEC_ENV]           = { "env",        NULL,         TOOL_MAP,  false, 0, PROGRAM_BYTES_MAX, "more variables; not PATH, not what makes a loader or shell run something, not what policy has set" },
	[EXEC_STDIN]         = { "stdin",      "input",      TOOL_STR,  false, 0, PROGRAM_INPUT_MAX, "what it reads; nothing unless given" },
	[EXEC_TIMEOUT]       = { "timeout",    "timeout_s timeoutSeconds", TOOL_NUM, false, 0, NUMBER_MAX, "seconds, as far as policy allows" },
	[EXEC_PTY]           = { "pty",        "tty",        TOOL_BOOL, false, ANY,                  "in a terminal of its own; both streams are one then" },
	[EXEC_BACKGROUND]    = { "background", NULL,         TOOL_BOOL, false, ANY,                  "do not wait: process looks after it" },
	[EXEC_YIELD]         = { "yieldMs",    "yield_ms",   TOOL_NUM,  false, 0, 3600000,           "wait for so many milliseconds, then leave it to process" },
	[EXEC_ELEVATED]      = { "elevated",   NULL,         TOOL_BOOL, false, ANY,                  "ask for elevated execution, where policy has it" },
	[EXEC_HOST]          = { "host",       NULL,         TOOL_STR,  false, 0, 32,                "auto or sandbox" },
	[EXEC_SECURITY]      = { "security",   NULL,         TOOL_STR,  false, 0, 32,                "taken and not looked at: policy decides" },
	[EXEC_ASK]           = { "ask",        NULL,         TOOL_STR,  false, 0, 32,                "taken and not looked at: policy decides" },
};
static const struct tool_arg process_args[] = {
	[PROCESS_ACTION]      = { "action",     NULL,            TOOL_STR,  true,  1, 32,           "list, poll, log, write, submit, send-keys, paste, signal, kill, clear or remove" },
	[PROCESS_ID]          = { "sessionId",  "id session_id", TOOL_STR,  false, 0, 64,           "which one, as exec or list has told it" },
	[PROCESS_TIMEOUT]     = { "timeout",    "waitMs",        TOOL_NUM,  false, 0, NUMBER_MAX,   "poll: wait for so many milliseconds for something new; 60000 at most" },
	[PROCESS_OFFSET]      = { "offset",     NULL,            TOOL_INT,  false, 0, NUMBER_MAX,   "log: the first line, from 0" },
	[PROCESS_LIMIT]       = { "limit",      NULL,            TOOL_INT,  false, 1, NUMBER_MAX,   "log: how many lines; the last ones without offset, 200 of them unless given" },
	[PROCESS_BYTE_OFFSET] = { "byteOffset", NULL,            TOOL_INT,  false, 0, NUMBER_MAX,   "log: the first byte, from 0" },
	[PROCESS_BYTE_LIMIT]  = { "byteLimit",  NULL,            TOOL_INT,  false, 1, NUMBER_MAX,   "log: how many bytes" },
	[PROCESS_STREAM]      = { "stream",     NULL,            TOOL_STR,  false, 0, 16,           "log: stdout or stderr; both unless given" },
	[PROCESS_DATA]        = { "data",       NULL,            TOOL_STR,  false, 0, JOBS_INPUT_MAX, "write, submit: what it reads" },
	[PROCESS_EOF]         = { "eof",        NULL,            TOOL_BOOL, false, ANY,             "write: there is no more to read after it" },
	[PROCESS_KEYS]        = { "keys",       NULL,            TOOL_STRS, false, 0, 4096,         "send-keys: Enter, C-c, Up, M-x, one character …" },
	[PROCESS_HEX]         = { "hex",        NULL,            TOOL_STRS, false, 0, 4096,         "send-keys: bytes in hexadecimal, before the keys" },
	[PROCESS_LITERAL]     = { "literal",    NULL,            TOOL_STR,  false, 0, JOBS_INPUT_MAX, "send-keys: text as it is, before the bytes" },
	[PROCESS_TEXT]        = { "text",       NULL,            TOOL_STR,  false, 0, JOBS_INPUT_MAX, "paste: what is pasted" },
	[PROCESS_BRACKETED]   = { "bracketed",  NULL,            TOOL_BOOL, false, ANY,             "paste: false leaves out the marks of pasted text" },
	[PROCESS_SIGNAL]      = { "signal",     NULL,            TOOL_STR,  false, 1, 16,           "signal, kill: TERM, INT, 9 …" },
};
static const struct tool_arg shell_exec_args[] = {
	[SHELL_CMD]          = { "cmd",        NULL,         TOOL_STRS, true,  1, 65536,             "the program and its arguments" },
	[SHELL_TIMEOUT]      = { "timeout_s",  NULL,         TOOL_NUM,  false, -NUMBER_MAX, NUMBER_MAX, "seconds, brought into 1..60; 10 unless given" },
};
static const struct tool_arg code_exec_args[] = {
	[SCRIPT_LANGUAGE]    = { "language",   "lang",       TOOL_STR,  true,  1, 32,                "python, javascript or bash",
				 .words = "python javascript bash" },
	[SCRIPT_CODE]        = { "code",       NULL,         TOOL_STR,  true,  0, PROGRAM_INPUT_MAX, "the text to run" },
	[SCRIPT_ARGS]        = { "args",       NULL,         TOOL_STRS, false, 0, 4096,              "its arguments" },
	[SCRIPT_STDIN]       = { "stdin",      "input",      TOOL_STR,  false, 0, PROGRAM_INPUT_MAX, "what it reads; nothing unless given" },
	[SCRIPT_WORKDIR]     = { "workdir",    "cwd",        TOOL_STR,  false, 0, PATH_LONGEST,      "where; the workspace unless given" },
	[SCRIPT_TIMEOUT]     = { "timeout",    "timeout_s timeoutSeconds", TOOL_NUM, false, 0, NUMBER_MAX, "seconds, as far as policy allows" },
	[SCRIPT_SESSION]     = { "session",    "state",      TOOL_BOOL, false, ANY,                  "in an interpreter that stays: what was defined is there for the next call" },
	[SCRIPT_RESET]       = { "reset",      NULL,         TOOL_BOOL, false, ANY,                  "session: in a new one" },
};
static const struct tool_arg git_args[] = {
	[GIT_COMMAND]        = { "command",    "cmd args",   TOOL_COMMAND, true,  0, PROGRAM_BYTES_MAX, "git's arguments, with or without git in front" },
	[GIT_WORKDIR]        = { "workdir",    "cwd",        TOOL_STR,  false, 0, PATH_LONGEST,      "where; the workspace unless given" },
	[GIT_STDIN]          = { "stdin",      "input",      TOOL_STR,  false, 0, PROGRAM_INPUT_MAX, "what it reads; nothing unless given" },
	[GIT_TIMEOUT]        = { "timeout",    "timeout_s timeoutSeconds", TOOL_NUM, false, 0, NUMBER_MAX, "seconds, as far as policy allows" },
};
static const struct tool_arg web_fetch_args[] = {
	{ "url",         NULL,       TOOL_STR, true,  1, 8192,     "what to fetch: http or https" },
	{ "extractMode", NULL,       TOOL_STR, false, 0, 32,       "markdown or text" },
	{ "maxChars",    NULL,       TOOL_INT, false, 1, 10000000, "how much of it" },
};
static const struct tool_arg web_search_args[] = {
	{ "query",       NULL,       TOOL_STR, true,  1, 4096,     "what to look for" },
	{ "count",       "limit",    TOOL_INT, false, 1, 100,      "how many results" },
};
static const struct tool_arg browser_args[] = {
	{ "action",      NULL,       TOOL_STR, true,  1, 64,       "what to do" },
	{ "url",         "targetUrl", TOOL_STR, false, 0, 8192,    "where" },
};

#define ARGS(rows) rows, sizeof(rows) / sizeof((rows)[0])
#define READS CAP_BIT(CAP_FS_READ)
#define WRITES CAP_BIT(CAP_FS_WRITE)
#define RUNS CAP_BIT(CAP_PROC_EXEC)

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
	{ "exec", "bash shell execute", RUNS, ARGS(exec_args),
	  "limits.stdout_max and limits.stderr_max bytes, limits.timeout_max_s; stdin of 64 MiB",
	  "runs a command; of too much output the first three quarters and the last quarter are told, and process log has the rest", tool_exec, tool_exec_ask },
	{ "process", NULL, RUNS, ARGS(process_args),
	  "64 that run, 256 that have ended, 8 MiB of each log; limits.stdout_max bytes at once",
	  "looks after programs that exec left running, and pages through output that was too long", tool_process, tool_process_ask, true },
	{ "shell_exec", NULL, RUNS, ARGS(shell_exec_args),
	  "80000 characters of each stream, 60 seconds",
	  "runs a program as sandbox-guard's callers ask for it: no shell, in the workspace", tool_shell_exec, tool_shell_exec_ask },
	{ "code_exec", NULL, RUNS, ARGS(code_exec_args),
	  "as exec; code of 64 MiB, with session 1 MiB",
	  "runs a text with python3, node or bash", tool_code_exec, tool_code_exec_ask },
	{ "git", NULL, RUNS | CAP_BIT(CAP_VCS), ARGS(git_args),
	  "as exec",
	  "runs git; that it must not push is advice: the wall is no network and no credentials", tool_git, tool_git_ask },
	{ "web_fetch", NULL, CAP_BIT(CAP_NET) | CAP_BIT(CAP_API), ARGS(web_fetch_args),
	  "none", "a page of the web; not available in this build", tool_unavailable },
	{ "web_search", NULL, CAP_BIT(CAP_NET) | CAP_BIT(CAP_API), ARGS(web_search_args),
	  "none", "a search of the web; not available in this build", tool_unavailable },
	{ "browser", NULL, CAP_BIT(CAP_BROWSER), ARGS(browser_args),
	  "none", "a browser; not available in this build", tool_unavailable },
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
CHECK_ROWS(exec_args, EXEC_N_);
CHECK_ROWS(process_args, PROCESS_N_);
CHECK_ROWS(shell_exec_args, SHELL_N_);
CHECK_ROWS(code_exec_args, SCRIPT_N_);
CHECK_ROWS(git_args, GIT_N_);

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
