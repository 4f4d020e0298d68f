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
};

void files_dir_init(struct files_dir *d, int root, int work);
