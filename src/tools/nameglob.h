/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Patterns for names of files, as .gitignore has them: '*' and '?' stop at '/', "**" as a whole part crosses it, [a-z] and
 * [!a-z] are sets, '\' takes the next character as it is, {a,b} is either (not in ignore files). Matching takes at most pattern
 * times text steps, whatever the pattern.
 */
#pragma once

#include "base/err.h"
#include "base/str.h"

#include <stdbool.h>

#define NAMEGLOB_MAX ((size_t)1024)
#define NAMEGLOB_CHOICES_MAX ((size_t)64)

/* The whole of `path`, which has no '/' in front. A pattern that is too long matches nothing. */
bool nameglob_matches(struct str pattern, struct str path);

/* A pattern without braces (or {a,b} taken apart); without a '/' but at its end it is about the last name alone. */
struct nameglob {
	char text[NAMEGLOB_CHOICES_MAX][NAMEGLOB_MAX]; /* too large for the stack */
	size_t len[NAMEGLOB_CHOICES_MAX];
	size_t n;
};
int nameglob_parse(struct str pattern, struct nameglob *ret, struct err *e);
bool nameglob_any(const struct nameglob *g, struct str path);
