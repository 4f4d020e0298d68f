/* SPDX-License-Identifier: Apache-2.0 */
/* The entries of one directory, sorted by name, at most so many. */
#pragma once

#include "tools/tools_priv.h"

struct listing {
	struct arena arena;
	struct files_entry *v;
	size_t n, cap;
	size_t total; /* also those beyond the maximum, which are not in v */
	size_t max;
};

void listing_done(struct listing *l);
#define _cleanup_listing_ _cleanup_(listing_done)

int listing_load(struct files *f, const char *path, unsigned flags, size_t max, struct listing *ret);

/* "a" and "b" -> "a/b", "." and "b" -> "b", "/" and "b" -> "/b". False: longer than FILES_PATH_MAX; then the entry is out of reach. */
bool walk_join(char out[static FILES_PATH_MAX], const char *dir, struct str name);
