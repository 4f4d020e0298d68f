/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Ignore files as git reads them: one pattern a line, '#' comments, '!' takes back, a '/' at the end is for directories alone,
 * one elsewhere ties the pattern to the directory of the file. The last line that matches decides.
 */
#pragma once

#include "base/arena.h"
#include "base/str.h"

#define IGNORE_BYTES ((size_t)256 * 1024)
#define IGNORE_RULES_MAX ((size_t)10000)

struct ignore_rule {
	struct str pattern;
	bool back, dirs_only, tied;
};

struct ignore {
	struct ignore_rule *rules;
	size_t n, cap;
};

enum ignore_verdict { IGNORE_SILENT = 0, IGNORE_YES, IGNORE_NO };

/* Adds the rules of one file: slices of `text`. What is beyond IGNORE_RULES_MAX is left out. */
void ignore_parse(struct arena *a, struct str text, struct ignore *ig);

/* `path` is relative to the directory that the file was in. */
enum ignore_verdict ignore_says(const struct ignore *ig, struct str path, bool is_dir);
