/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Things of the host that will be seen inside. Each is opened once, following symlinks, and from then on named by what it
 * really is: its resolved path and its identity. The warden refuses anything else that may have taken its place.
 */
#pragma once

#include "base/arena.h"
#include "base/err.h"
#include "model/profile.h"

#include <sys/stat.h>

/* What lies at `path`, which is not copied; `st` is of it and of no link. */
struct source source_of(struct str path, const struct stat *st);
/* -ENOENT (as *e's sys_errno) when there is nothing there. The path in *ret is in the arena. */
int source_resolve(struct arena *a, struct str path, struct source *ret, struct err *e);
/* One of the system's own places, which only root can put a link into the way of: asked about by its name, in one call. */
int source_system(struct arena *a, const char *path, struct source *ret, struct err *e);
