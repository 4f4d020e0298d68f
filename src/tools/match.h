/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a line must hold: plain text, or a regular expression by PCRE2 with bounds on how much it may try, how deep it may go and
 * how much memory it may take. A pattern that would take for ever ends as an error, and is not compiled to machine code.
 */
#pragma once

#include "base/err.h"
#include "base/str.h"

struct match;

/* A plain text that ignores case does so for ASCII alone. */
int match_new(struct str pattern, bool literal, bool no_case, struct match **ret, struct err *e);
struct match *match_free(struct match *m);

/* 1: *ret_from..*ret_to is the first place. 0: nowhere. -ELOOP: the pattern tries too much on this line. */
int match_find(struct match *m, struct str line, size_t *ret_from, size_t *ret_to);

/* False: nothing in `text` can match. True says nothing. */
bool match_may(const struct match *m, struct str text);
