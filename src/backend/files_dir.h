/* SPDX-License-Identifier: Apache-2.0 */
/*
 * struct files over two directories of this host: what "/" means, and where relative paths start. With the host's own "/"
 * it is the files of a call that runs without a sandbox; with any other directory nothing leaves that directory.
 */
#pragma once

#include "backend/files.h"

struct files_dir {
	struct files files;
	int root, work; /* borrowed */
	bool walk;      /* where a filter refuses openat2(): every name on the way is opened by itself */
};

/* list() in parts: the directory, and one batch of its entries after the other. 0, or what `each` said, or an error. */
int files_dir_list_open(struct files *f, const char *path, unsigned flags);
struct files_batch {
	char *p;
	size_t size;
};
int files_dir_list_next(int dir, struct files_batch batch, unsigned flags, files_each *each, void *ctx,
			bool *ret_end);

void files_dir_init(struct files_dir *d, int root, int work);
