/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a sandbox left in the upper layer of an overlay: which paths were added, changed or removed. Reads the layer alone;
 * never follows a link, never leaves it, and takes nothing in it for true but what the file system says.
 */
#pragma once

#include "base/arena.h"
#include "base/err.h"
#include "base/str.h"

#include <stdbool.h>

enum change_kind { CHANGE_NONE = 0, CHANGE_ADDED, CHANGE_MODIFIED, CHANGE_REMOVED };
const char *change_kind_name(enum change_kind k); /* "added", "modified", "removed" */

struct change {
	enum change_kind kind;
	struct str path; /* relative to the workspace */
	bool is_dir;
};

#define CHANGES_MAX 10000 /* more are counted, not kept */

struct changes {
	struct change *v;
	size_t n, cap;
	size_t total;
	/* That all of it takes on the disk; each name of a file that has several takes its share. */
	uint64_t bytes, files;
	bool incomplete; /* something could not be read or lies too deep: there is more */
};

/*
 * `lower` tells added from modified; FD_NONE = everything is added. A directory that its owner may not read, or one nested too
 * deep, hides nothing else: it is left out, and incomplete says so.
 */
int changes_read(struct arena *a, int upper, int lower, struct changes *ret, struct err *e);
