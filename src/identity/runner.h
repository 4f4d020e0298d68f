/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The runner's own token: what a guard has to show at the runner's door, so that reaching its socket is not enough. One text in <state>/runner.token,
 * 0600 and ours; TOOL_RUNNER_TOKEN in the environment comes first. It is no caller's token: it opens no pair.
 */
#pragma once

#include "base/err.h"
#include "base/str.h"

#define RUNNER_TOKEN_FILE "runner.token"
#define RUNNER_TOKEN_VARIABLE "TOOL_RUNNER_TOKEN"
#define RUNNER_TOKEN_MAX 256u /* with NUL */

struct runner_token {
	char text[RUNNER_TOKEN_MAX]; /* visible ASCII */
	size_t n;
};
void runner_token_wipe(struct runner_token *t);
#define _cleanup_runner_token_ _cleanup_(runner_token_wipe)

static inline struct str runner_token_str(const struct runner_token *t)
{
	return (struct str){ .p = t->text, .n = t->n };
}

/*
 * `from_environ` is the variable's value, NULL when there is none; `state_dir` is open, `path` its name for messages. ERR_NOTFOUND when there is no
 * token at all: the message names the command that makes one.
 */
int runner_token_find(int state_dir, const char *path, const char *from_environ, struct runner_token *ret,
		      struct err *e);
/* Makes a new one of 256 random bits, in place of an old one. */
int runner_token_make(int state_dir, const char *path, struct runner_token *ret, struct err *e);
