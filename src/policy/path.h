/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Paths as text. Nothing here asks the file system: "the same path" means the same after normalising, and whoever
 * opens it must check again what the links on the way made of it.
 */
#pragma once

#include "base/arena.h"
#include "base/str.h"
#include "model/request.h"

/*
 * "//", "." and ".." are folded, a trailing slash goes. An absolute path never climbs above "/" and so never keeps a
 * ".."; a relative one keeps those it starts with. The empty path and "a/.." are ".".
 */
struct str path_normalise(struct arena *a, struct str path);

/* Trimmed; "~" and "~/x" by facts.home; made absolute against facts.cwd; normalised. "~user" is an ordinary name. */
struct str path_expand(struct arena *a, const struct facts *f, struct str path);

/* With one slash between them. */
struct str path_join(struct arena *a, struct str dir, struct str name);

/* `path` is `dir` or below it; both normalised. "/work" does not hold "/work-evil". */
bool path_within(struct str dir, struct str path);

/* What follows the last slash; empty for "/". */
struct str path_base(struct str path);

static inline bool path_is_absolute(struct str path)
{
	return path.n > 0 && path.p[0] == '/';
}

/* "C:\x", "c:/x" and what the \\?\ prefix turns into one: not a path of this system. */
bool path_is_windows(struct str path);
