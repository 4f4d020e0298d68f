/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the writers of completion scripts share.
 */
#pragma once

#include "cli/cli.h"

/* "a b c" */
/* The command that prints the words; NULL = none. */
const char *hint_command(enum arg_hint hint);
void words_put(struct buf *out, const struct enum_name *names, char separator);
