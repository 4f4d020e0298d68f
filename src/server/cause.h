/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Why something could not be done, for somebody who calls from outside: one line, cut to what an answer has room for, and without the names of the host's
 * files (C30: those are in the log, by the request's id). Pure.
 */
#pragma once

#include "base/buf.h"

enum { CAUSE_MAX = 300 };

/* Each path becomes "(path)": what follows a slash that begins a word, up to its closing quote or the end of the word. */
void cause_put(struct buf *out, struct str text);
